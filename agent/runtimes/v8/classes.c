/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of methods, by the source. A level is what lies in one pair of brackets. */
#include "agent/runtimes/v8/classes.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

#define MAX_LEVELS 512
#define MAX_CLASSES 4096
#define MAX_METHODS 16384
#define NONE UINT32_MAX

enum place {
	AT_STATEMENT, /* a statement begins */
	AT_OPERAND,
	AT_VALUE, /* behind an operand, or a name */
	AT_BODY,  /* behind the parameters of a function */
};

enum level_kind {
	LEVEL_BLOCK, /* of statements; bodies of functions, too */
	LEVEL_OBJECT,
	LEVEL_CLASS,
	LEVEL_CALL, /* parentheses */
	LEVEL_CONDITION,
	LEVEL_PARAMETERS,
	LEVEL_BRACKET,
	LEVEL_TEMPLATE,
};

/* What is behind a closing brace. */
enum behind {
	BEHIND_STATEMENT, /* the next statement */
	BEHIND_VALUE,
	BEHIND_ARROW,  /* a value that nothing can be done with */
	BEHIND_MEMBER, /* the next member of a class or an object */
};

struct level {
	enum level_kind kind;
	enum behind behind;
	uint32_t
		method; /* whose parameters or body it is; of a class, of which the present field's value is an expression */
	/* Of what lies in it: */
	bool is_in_key;	      /* names of members */
	uint32_t n_questions; /* that wait for their colon */
	uint32_t class;	      /* before its body */
	enum behind behind_class;
	bool is_function; /* before its parameters */
	enum behind behind_function;
	uint32_t own_class; /* LEVEL_CLASS */
};

/* What a token leaves for the next one alone. */
struct outlook {
	bool is_unsure;	    /* a slash there is not understood */
	bool is_declared;   /* AT_OPERAND: functions and classes are declarations all the same */
	bool is_restricted; /* a new line is the end of the statement */
	bool is_condition;  /* parentheses there are no call's */
	bool is_member;	    /* behind a dot */
	bool is_arrow;
	bool is_class_name; /* that comes next */
	bool is_async;	    /* the word, which has stood … */
	enum place async_place;
	bool async_declared;
	struct source_part name;     /* a variable's */
	struct source_part assigned; /* the variable before "=" */
	struct source_part field;    /* of a class, whose value begins */
	uint32_t field_at;	     /* where: before "async"; plus one */
	uint32_t arrow; /* a field's function whose parameters, or arrow, were before; plus one */
};

struct parser {
	const struct source *source;
	enum place place;
	struct outlook was, next;
	struct source_part key, before_key; /* words before a method's parameters; no bytes: none */
	struct level body;		    /* AT_BODY: whose */
	uint32_t last_end;		    /* of the token before */
	uint32_t n_levels;
	uint32_t n_classes;
	size_t n_methods, max_methods;
	size_t most; /* methods that are kept */
	struct class_method *methods;
	struct source_part classes[MAX_CLASSES]; /* their names */
	struct level levels[MAX_LEVELS];
};

static struct level *top(struct parser *p)
{
	return &p->levels[p->n_levels - 1];
}

static bool push(struct parser *p, enum level_kind kind, enum behind behind, uint32_t method)
{
	if (p->n_levels == MAX_LEVELS)
		return false;
	p->n_levels++;
	*top(p) = (struct level){
		.kind = kind, .behind = behind, .method = method, .class = NONE, .own_class = NONE
	};
	return true;
}

static bool is_finished(const struct level *l)
{
	return l->n_questions == 0 && l->class == NONE && !l->is_function;
}

static bool is_of_members(const struct level *l)
{
	return l->kind == LEVEL_CLASS || l->kind == LEVEL_OBJECT;
}

static void go(struct parser *p, enum place place)
{
	p->place = place;
}

/* A function that is one expression ends with the field. */
static void end_expression(struct parser *p, struct level *l)
{
	if (l->kind != LEVEL_CLASS || l->method == NONE)
		return;
	p->methods[l->method].place.end = p->last_end;
	l->method = NONE;
}

static void next_member(struct parser *p)
{
	struct level *l = top(p);

	end_expression(p, l);
	l->is_in_key = true;
	p->key = p->before_key = (struct source_part){ 0 };
	go(p, l->kind == LEVEL_CLASS ? AT_VALUE : AT_OPERAND);
}

/* Of a function or a class whose keyword is the next token. */
static bool declaration(const struct parser *p, bool is_behind_newline, enum behind *ret_behind)
{
	bool is_async = p->was.is_async && !is_behind_newline;
	enum place place = is_async ? p->was.async_place : p->place;
	bool is_declared = is_async ? p->was.async_declared : p->was.is_declared;

	/* A value is over only where the line is. */
	if (is_behind_newline ? place == AT_OPERAND && p->was.is_unsure
			      : place == AT_VALUE && !is_async)
		return false;
	*ret_behind = place == AT_OPERAND && !is_declared ? BEHIND_VALUE : BEHIND_STATEMENT;
	return true;
}

static bool on_function(struct parser *p, const struct token *t)
{
	struct level *l = top(p);

	if (!declaration(p, t->is_behind_newline, &l->behind_function) || l->is_function)
		return false;
	l->is_function = true;
	go(p, AT_VALUE);
	return true;
}

static bool on_class(struct parser *p, const struct token *t)
{
	struct level *l = top(p);

	if (!declaration(p, t->is_behind_newline, &l->behind_class) || l->class != NONE ||
	    p->n_classes == MAX_CLASSES)
		return false;
	l->class = p->n_classes++;
	p->classes[l->class] = p->was.assigned;
	p->next.is_class_name = true;
	go(p, AT_VALUE);
	return true;
}

enum word {
	WORD_OPERATOR,	 /* an operand follows, or a pattern */
	WORD_CONDITION,	 /* parentheses follow, and a statement */
	WORD_STATEMENT,	 /* a statement follows */
	WORD_CATCH,	 /* both */
	WORD_VALUE,	 /* it is an operand */
	WORD_RETURN,	 /* an operand may follow in the same line */
	WORD_BREAK,	 /* a label, likewise */
	WORD_MAYBE,	 /* a name to some programs */
	WORD_DECLARATOR, /* a declaration follows, or an operand */
	WORD_FUNCTION,
	WORD_CLASS,
	WORD_ASYNC,
	WORD_NAME,
};

static enum word word_of(const struct source *s, const struct token *t)
{
	static const struct {
		const char *word;
		enum word is;
	} words[] = {
		{ "typeof", WORD_OPERATOR },	{ "instanceof", WORD_OPERATOR },
		{ "in", WORD_OPERATOR },	{ "new", WORD_OPERATOR },
		{ "delete", WORD_OPERATOR },	{ "void", WORD_OPERATOR },
		{ "throw", WORD_OPERATOR },	{ "case", WORD_OPERATOR },
		{ "extends", WORD_OPERATOR },	{ "var", WORD_OPERATOR },
		{ "const", WORD_OPERATOR },	{ "if", WORD_CONDITION },
		{ "while", WORD_CONDITION },	{ "for", WORD_CONDITION },
		{ "with", WORD_CONDITION },	{ "switch", WORD_CONDITION },
		{ "else", WORD_STATEMENT },	{ "do", WORD_STATEMENT },
		{ "try", WORD_STATEMENT },	{ "finally", WORD_STATEMENT },
		{ "catch", WORD_CATCH },	{ "return", WORD_RETURN },
		{ "break", WORD_BREAK },	{ "continue", WORD_BREAK },
		{ "debugger", WORD_BREAK },	{ "yield", WORD_MAYBE },
		{ "await", WORD_MAYBE },	{ "of", WORD_MAYBE },
		{ "let", WORD_MAYBE },		{ "import", WORD_MAYBE },
		{ "default", WORD_DECLARATOR }, { "export", WORD_DECLARATOR },
		{ "function", WORD_FUNCTION },	{ "class", WORD_CLASS },
		{ "async", WORD_ASYNC },	{ "this", WORD_VALUE },
		{ "null", WORD_VALUE },		{ "true", WORD_VALUE },
		{ "false", WORD_VALUE },	{ "super", WORD_VALUE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (source_is(s, t, words[i].word))
			return words[i].is;
	return WORD_NAME;
}

/* What a word, of none that is the beginning of anything larger, makes of what follows. */
static void take_word(struct parser *p, enum word word, const struct token *t)
{
	p->next.is_unsure = word == WORD_MAYBE || word == WORD_BREAK || word == WORD_DECLARATOR;
	p->next.is_declared = word == WORD_DECLARATOR;
	p->next.is_restricted = word == WORD_RETURN || word == WORD_BREAK;
	/* "for await (" */
	p->next.is_condition = word == WORD_CONDITION || word == WORD_CATCH ||
			       (p->was.is_condition && source_is(p->source, t, "await"));
	go(p, word == WORD_STATEMENT || word == WORD_CATCH		      ? AT_STATEMENT
	      : word == WORD_NAME || word == WORD_VALUE || word == WORD_BREAK ? AT_VALUE
									      : AT_OPERAND);
	if (word == WORD_NAME && !t->is_escaped)
		p->next.name = (struct source_part){ t->begin, t->end };
}

/* A name of a member, or a word before one. */
static void on_key(struct parser *p, const struct token *t)
{
	bool is_name = (t->kind == TOKEN_WORD || t->kind == TOKEN_PRIVATE) && !t->is_escaped;

	p->before_key = p->key;
	p->key = (struct source_part){ 0 };
	if (is_name)
		p->key = (struct source_part){ t->begin, t->end };
	else
		p->before_key = p->key;
	go(p, AT_VALUE);
}

static const char *accessor_of(const struct parser *p)
{
	const struct token t = { .kind = TOKEN_WORD,
				 .begin = p->before_key.begin,
				 .end = p->before_key.end };

	if (source_is(p->source, &t, "get"))
		return "get ";
	return source_is(p->source, &t, "set") ? "set " : "";
}

/* The method whose parameters begin there, if its name and its class's can be told; else NONE. False: there is no memory. */
static bool add_method(struct parser *p, uint32_t at, struct source_part name, const char *before,
		       uint32_t *ret_method)
{
	struct level *l = top(p);
	struct source_part of =
		l->own_class == NONE ? (struct source_part){ 0 } : p->classes[l->own_class];

	if (p->was.field_at)
		at = p->was.field_at - 1;
	*ret_method = NONE;
	if (name.begin == name.end || of.begin == of.end || p->n_methods == p->most)
		return true;
	if (p->n_methods == p->max_methods) {
		size_t max = MIN_OF(MAX_OF(2 * p->max_methods, (size_t)16), p->most);
		struct class_method *more = realloc(p->methods, max * sizeof(*more));

		if (!more)
			return false;
		p->methods = more;
		p->max_methods = max;
	}
	*ret_method = (uint32_t)p->n_methods++;
	p->methods[*ret_method] = (struct class_method){
		.place = { at, 0 }, .name = name, .of = of, .before = before
	};
	return true;
}

/* The value of a field may be a function of one parameter. */
static bool on_parameter(struct parser *p, const struct token *t)
{
	uint32_t method = NONE;

	if (!add_method(p, t->begin, p->was.field, "", &method))
		return false;
	p->next.arrow = method == NONE ? 0 : method + 1;
	return true;
}

static bool on_word(struct parser *p, const struct token *t)
{
	enum word word = word_of(p->source, t);
	struct level *l = top(p);

	if (p->was.is_class_name && !source_is(p->source, t, "extends")) {
		p->classes[l->class] = t->is_escaped ? (struct source_part){ 0 }
						     : (struct source_part){ t->begin, t->end };
		go(p, AT_VALUE);
		return true;
	}
	/* A function's name may be one of those. */
	if (p->was.is_member || (l->is_function && p->place == AT_VALUE)) {
		go(p, AT_VALUE);
		return true;
	}
	if (word == WORD_FUNCTION)
		return on_function(p, t);
	if (word == WORD_CLASS)
		return on_class(p, t);
	if (word == WORD_ASYNC) {
		p->next.async_place = p->place;
		p->next.async_declared = p->was.is_declared;
		p->next.is_async = true;
		p->next.field = p->was.field;
		p->next.field_at = t->begin + 1;
		take_word(p, WORD_NAME, t);
		return true;
	}
	take_word(p, word, t);
	return word != WORD_NAME || on_parameter(p, t);
}

static bool open_parenthesis(struct parser *p, const struct token *t)
{
	struct level *l = top(p);
	uint32_t method = NONE;

	if (is_of_members(l) && l->is_in_key) {
		if (!add_method(p, t->begin, p->key, accessor_of(p), &method) ||
		    !push(p, LEVEL_PARAMETERS, BEHIND_MEMBER, method))
			return false;
	} else if (l->is_function) {
		l->is_function = false;
		if (!push(p, LEVEL_PARAMETERS, l->behind_function, NONE))
			return false;
	} else if (!add_method(p, t->begin, p->was.field, "", &method) ||
		   !push(p, p->was.is_condition ? LEVEL_CONDITION : LEVEL_CALL, BEHIND_VALUE,
			 method)) {
		return false;
	}
	go(p, AT_OPERAND);
	return true;
}

static bool close_parenthesis(struct parser *p)
{
	struct level l = *top(p);

	if (!is_finished(&l))
		return false;
	p->n_levels--;
	switch (l.kind) {
	case LEVEL_PARAMETERS:
		p->body = l;
		go(p, AT_BODY);
		return true;
	case LEVEL_CONDITION:
		go(p, AT_STATEMENT);
		return true;
	case LEVEL_CALL:
		p->next.arrow = l.method == NONE ? 0 : l.method + 1;
		go(p, AT_VALUE);
		return true;
	default:
		return false;
	}
}

/* The body of a class, or, before it, an object that the class extends. */
static bool open_class(struct parser *p)
{
	struct level *l = top(p);
	uint32_t class = l->class;

	l->class = NONE;
	if (!push(p, LEVEL_CLASS, l->behind_class, NONE))
		return false;
	top(p)->own_class = class;
	next_member(p);
	return true;
}

static bool open_object(struct parser *p)
{
	if (!push(p, LEVEL_OBJECT, p->was.is_declared ? BEHIND_ARROW : BEHIND_VALUE, NONE))
		return false;
	next_member(p);
	return true;
}

static bool open_block(struct parser *p, enum behind behind, uint32_t method)
{
	if (!push(p, LEVEL_BLOCK, behind, method))
		return false;
	go(p, AT_STATEMENT);
	return true;
}

static bool open_brace(struct parser *p, const struct token *t)
{
	const struct level *l = top(p);
	const struct token key = { .kind = TOKEN_WORD, .begin = p->key.begin, .end = p->key.end };

	if (p->place == AT_BODY)
		return open_block(p, p->body.behind, p->body.method);
	if (p->was.is_arrow)
		return open_block(p, BEHIND_ARROW, p->was.arrow ? p->was.arrow - 1 : NONE);
	if (l->class != NONE && p->place == AT_VALUE)
		return open_class(p);
	if (l->kind == LEVEL_CLASS && l->is_in_key)
		return source_is(p->source, &key, "static") && open_block(p, BEHIND_MEMBER, NONE);
	if (p->place == AT_STATEMENT)
		return open_block(p, BEHIND_STATEMENT, NONE);
	if (p->place == AT_OPERAND)
		return !(p->was.is_unsure && t->is_behind_newline) && open_object(p);
	return t->is_behind_newline && l->kind == LEVEL_BLOCK &&
	       open_block(p, BEHIND_STATEMENT, NONE);
}

static bool rest_of_template(struct parser *p, uint32_t *at)
{
	struct token t = token_template_rest(p->source, at);

	go(p, t.kind == TOKEN_TEMPLATE ? AT_VALUE : AT_OPERAND);
	return t.kind == TOKEN_TEMPLATE ||
	       (t.kind == TOKEN_TEMPLATE_OPEN && push(p, LEVEL_TEMPLATE, BEHIND_VALUE, NONE));
}

static void go_behind(struct parser *p, enum behind behind)
{
	go(p, behind == BEHIND_STATEMENT ? AT_STATEMENT : AT_VALUE);
	p->next.is_unsure = behind == BEHIND_ARROW || behind == BEHIND_MEMBER;
	if (behind != BEHIND_MEMBER)
		return;
	if (top(p)->kind == LEVEL_CLASS)
		next_member(p);
	else
		top(p)->is_in_key = false;
}

static bool close_brace(struct parser *p, const struct token *t, uint32_t *at)
{
	struct level l = *top(p);

	if (!is_finished(&l) || p->n_levels == 1)
		return false;
	end_expression(p, &l);
	p->n_levels--;
	if (l.kind == LEVEL_TEMPLATE)
		return rest_of_template(p, at);
	if (l.kind != LEVEL_BLOCK && !is_of_members(&l))
		return false;
	if (l.method != NONE)
		p->methods[l.method].place.end = t->end;
	go_behind(p, l.behind);
	return true;
}

static bool on_colon(struct parser *p)
{
	struct level *l = top(p);

	go(p, AT_OPERAND);
	if (l->kind == LEVEL_OBJECT && l->is_in_key) {
		l->is_in_key = false;
		return true;
	}
	if (l->n_questions) {
		l->n_questions--;
		return true;
	}
	/* Behind a label, or a case. */
	go(p, AT_STATEMENT);
	return l->kind == LEVEL_BLOCK;
}

static bool on_semicolon(struct parser *p)
{
	struct level *l = top(p);

	if (!is_finished(l))
		return false;
	if (l->kind == LEVEL_CLASS)
		next_member(p);
	else
		go(p, l->kind == LEVEL_BLOCK ? AT_STATEMENT : AT_OPERAND);
	return l->kind == LEVEL_CLASS || l->kind == LEVEL_BLOCK || l->kind == LEVEL_CONDITION;
}

static bool on_comma(struct parser *p)
{
	if (top(p)->kind == LEVEL_OBJECT)
		next_member(p);
	else
		go(p, AT_OPERAND);
	return top(p)->kind != LEVEL_CLASS;
}

static void on_assign(struct parser *p)
{
	struct level *l = top(p);

	if (l->kind == LEVEL_CLASS && l->is_in_key)
		p->next.field = p->key;
	p->next.assigned = is_of_members(l) && l->is_in_key ? p->key : p->was.name;
	l->is_in_key = false;
	go(p, AT_OPERAND);
}

/* Behind "++" the same is expected as before: an operand, or, where it was a value, something that goes on with it. */
static void on_increment(struct parser *p, const struct token *t)
{
	if (p->place == AT_STATEMENT || (p->place == AT_VALUE && t->is_behind_newline))
		go(p, AT_OPERAND);
	p->next.is_unsure = p->was.is_unsure;
}

static bool on_bracket(struct parser *p, uint32_t sign)
{
	if (sign == '[') {
		go(p, AT_OPERAND);
		return push(p, LEVEL_BRACKET, BEHIND_VALUE, NONE);
	}
	if (top(p)->kind != LEVEL_BRACKET || !is_finished(top(p)))
		return false;
	p->n_levels--;
	p->key = p->before_key = (struct source_part){ 0 };
	go(p, AT_VALUE);
	return true;
}

static bool on_other_sign(struct parser *p, const struct token *t)
{
	switch (t->sign) {
	case '?':
		top(p)->n_questions++;
		break;
	case SIGN_ARROW:
		p->next.is_arrow = true;
		p->next.arrow = p->was.arrow;
		break;
	case SIGN_DOTS:
		top(p)->is_in_key = false;
		break;
	case '.':
	case SIGN_CHAIN:
		p->next.is_member = true;
		go(p, AT_VALUE);
		return true;
	default:
		return false;
	}
	go(p, AT_OPERAND);
	return true;
}

static bool on_sign(struct parser *p, const struct token *t, uint32_t *at)
{
	switch (t->sign) {
	case '(':
		return open_parenthesis(p, t);
	case ')':
		return close_parenthesis(p);
	case '{':
		return open_brace(p, t);
	case '}':
		return close_brace(p, t, at);
	case '[':
	case ']':
		return on_bracket(p, t->sign);
	case ':':
		return on_colon(p);
	case ';':
		return on_semicolon(p);
	case ',':
		return on_comma(p);
	case '=':
		on_assign(p);
		return true;
	case SIGN_INCREMENT:
	case SIGN_DECREMENT:
		on_increment(p, t);
		return true;
	default:
		return on_other_sign(p, t);
	}
}

static bool on_operator(struct parser *p, const struct token *t)
{
	struct level *l = top(p);
	bool is_asterisk = t->end == t->begin + 1 && source_char(p->source, t->begin) == '*';

	/* A generator's */
	if (is_of_members(l) && l->is_in_key) {
		p->key = p->before_key = (struct source_part){ 0 };
		return is_asterisk;
	}
	if (l->is_function)
		return is_asterisk;
	go(p, AT_OPERAND);
	return true;
}

static bool may_be_key(const struct token *t)
{
	return t->kind == TOKEN_WORD || t->kind == TOKEN_PRIVATE || t->kind == TOKEN_STRING ||
	       t->kind == TOKEN_NUMBER;
}

/* A field of a class ends where the next member begins in a new line. */
static void end_field(struct parser *p, const struct token *t)
{
	bool goes_on = source_is(p->source, t, "in") || source_is(p->source, t, "instanceof");
	const struct level *l = top(p);

	if (l->kind == LEVEL_CLASS && !l->is_in_key && is_finished(l) && p->place == AT_VALUE &&
	    !p->was.is_member && t->is_behind_newline && may_be_key(t) && !goes_on)
		next_member(p);
}

static bool on_token(struct parser *p, const struct token *t, uint32_t *at)
{
	const struct level *l = top(p);

	if (p->place == AT_BODY && t->sign != '{')
		return false;
	if (is_of_members(l) && l->is_in_key && may_be_key(t)) {
		on_key(p, t);
		return true;
	}
	switch (t->kind) {
	case TOKEN_WORD:
		return on_word(p, t);
	case TOKEN_SIGN:
		return on_sign(p, t, at);
	case TOKEN_OPERATOR:
		return on_operator(p, t);
	case TOKEN_TEMPLATE_OPEN:
		go(p, AT_OPERAND);
		return push(p, LEVEL_TEMPLATE, BEHIND_VALUE, NONE);
	case TOKEN_BAD:
	case TOKEN_END:
		return false;
	default:
		go(p, AT_VALUE);
		return !(is_of_members(l) && l->is_in_key);
	}
}

static enum slash slash_of(const struct parser *p)
{
	if (p->next.is_unsure)
		return SLASH_UNSURE;
	return p->place == AT_VALUE ? SLASH_DIVIDES : SLASH_BEGINS;
}

static bool read_all(struct parser *p)
{
	for (uint32_t at = 0;;) {
		struct token t = token_next(p->source, &at, slash_of(p));

		p->was = p->next;
		p->next = (struct outlook){ 0 };
		if (p->was.is_restricted && t.is_behind_newline)
			go(p, AT_STATEMENT);
		if (p->was.arrow && p->was.is_arrow && t.sign != '{')
			top(p)->method = p->was.arrow - 1;
		end_field(p, &t);
		if (t.kind == TOKEN_END)
			return p->n_levels == 1 && is_finished(top(p)) && p->place != AT_BODY;
		if (!on_token(p, &t, &at))
			return false;
		p->last_end = at;
	}
}

/* What turned out to be no function has no end. */
static size_t drop_others(struct class_method *methods, size_t n)
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++)
		if (methods[i].place.end)
			methods[n_left++] = methods[i];
	return n_left;
}

int class_methods_read(const struct source *source, size_t max_bytes,
		       struct class_methods *ret_methods)
{
	_cleanup_free_ struct parser *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->source = source;
	p->most = MIN_OF(max_bytes / sizeof(struct class_method), (size_t)MAX_METHODS);
	(void)push(p, LEVEL_BLOCK, BEHIND_STATEMENT, NONE);
	if (!read_all(p)) {
		free(p->methods);
		return -EINVAL;
	}
	*ret_methods = (struct class_methods){ p->methods, drop_others(p->methods, p->n_methods) };
	return 0;
}
