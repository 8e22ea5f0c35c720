/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of a JSON path: text to tree. One function a level of precedence. */
#include <string.h>

#include "river-config/json_path_parse.h"
#include "river-config/number.h"

/* Loosest first; RIVER_FILTER_CONSTANT ends a list. */
static const struct operator
{
	const char *text;
	enum river_filter_op op;
	unsigned int level;
}
operators[] = {
	{ "||", RIVER_FILTER_OR, 0 },	   { "&&", RIVER_FILTER_AND, 1 },
	{ "==", RIVER_FILTER_EQ, 2 },	   { "!=", RIVER_FILTER_NE, 2 },
	{ "<=", RIVER_FILTER_LE, 2 },	   { ">=", RIVER_FILTER_GE, 2 },
	{ "<", RIVER_FILTER_LT, 2 },	   { ">", RIVER_FILTER_GT, 2 },
	{ "=~", RIVER_FILTER_MATCHES, 2 }, { "~=", RIVER_FILTER_MATCHES, 2 },
	{ "in", RIVER_FILTER_IN, 2 },	   { "empty", RIVER_FILTER_EMPTY, 2 },
	{ "has", RIVER_FILTER_HAS, 2 },	   { "exists", RIVER_FILTER_HAS, 2 },
	{ "+", RIVER_FILTER_ADD, 3 },	   { "-", RIVER_FILTER_SUB, 3 },
	{ "*", RIVER_FILTER_MUL, 4 },	   { "/", RIVER_FILTER_DIV, 4 },
};
#define LEVELS 5

static bool parse_or(struct river_path_parser *p, struct river_path_filter **ret);
static bool parse_level(struct river_path_parser *p, unsigned int level,
			struct river_path_filter **ret);
static bool parse_unary(struct river_path_parser *p, struct river_path_filter **ret);

static struct river_path_filter *filter_new(struct river_path_parser *p, enum river_filter_op op)
{
	struct river_path_filter *f = river_arena_alloc(p->arena, sizeof(*f));

	if (f)
		f->op = op;
	else
		p->failed = true;
	return f;
}

static unsigned int height_of(const struct river_path_filter *f)
{
	return f ? f->height : 0;
}

/* Every operator over its operands; the tree's height is what evaluation recurses over. */
static bool join(struct river_path_parser *p, enum river_filter_op op,
		 const struct river_path_filter *left, const struct river_path_filter *right,
		 struct river_path_filter **ret)
{
	unsigned int height =
		height_of(left) > height_of(right) ? height_of(left) : height_of(right);
	struct river_path_filter *f = filter_new(p, op);

	if (!f)
		return false;
	if (height >= RIVER_DEPTH_MAX)
		return river_path_fail(p, "nested deeper than %d levels", RIVER_DEPTH_MAX);
	f->left = left;
	f->right = right;
	f->height = height + 1;
	*ret = f;
	return true;
}

static bool is_at(const struct river_path_parser *p, const char *text)
{
	size_t n = strlen(text);

	return p->n - p->i >= n && memcmp(p->s + p->i, text, n) == 0;
}

static bool constant(struct river_path_parser *p, const struct river_value *v,
		     struct river_path_filter **ret)
{
	*ret = v ? filter_new(p, RIVER_FILTER_CONSTANT) : NULL;
	p->failed = !*ret;
	if (*ret)
		(*ret)->constant = v;
	return *ret;
}

static bool parse_word(struct river_path_parser *p, const char *word, const struct river_value *v,
		       struct river_path_filter **ret)
{
	if (!is_at(p, word))
		return river_path_fail(p, "expected %s", word);
	p->i += strlen(word);
	return constant(p, v, ret);
}

static bool parse_nothing(struct river_path_parser *p, struct river_path_filter **ret)
{
	if (!is_at(p, "Nothing"))
		return river_path_fail(p, "expected Nothing");
	p->i += strlen("Nothing");
	*ret = filter_new(p, RIVER_FILTER_NOTHING);
	return *ret;
}

static size_t digits_len(const struct river_path_parser *p, size_t i)
{
	size_t n = 0;

	while (i + n < p->n && p->s[i + n] >= '0' && p->s[i + n] <= '9')
		n++;
	return n;
}

/* An integer, or a float if there is a point or an exponent. */
static bool parse_number(struct river_path_parser *p, struct river_path_filter **ret)
{
	size_t begin = p->i, n = p->s[p->i] == '-', fraction = 0, exponent = 0;
	int64_t integer;
	double value;

	n += digits_len(p, begin + n);
	if (begin + n < p->n && p->s[begin + n] == '.')
		fraction = 1 + digits_len(p, begin + n + 1);
	n += fraction;
	if (begin + n < p->n && (p->s[begin + n] == 'e' || p->s[begin + n] == 'E')) {
		exponent = 1;
		if (begin + n + 1 < p->n &&
		    (p->s[begin + n + 1] == '+' || p->s[begin + n + 1] == '-'))
			exponent++;
		exponent += digits_len(p, begin + n + exponent);
	}
	n += exponent;
	p->i += n;
	if (fraction + exponent == 0 && river_parse_int(p->s + begin, n, 10, &integer))
		return constant(p, river_value_int(p->arena, integer), ret);
	if (fraction + exponent == 0)
		return river_path_fail(p, "strconv.ParseInt: parsing \"%.*s\": %s",
				       (int)(n < 64 ? n : 64), p->s + begin,
				       n > 1 ? "value out of range" : "invalid syntax");
	if (!river_parse_float(p->s + begin, n, &value))
		return river_path_fail(p, "expected a number");
	return constant(p, river_value_float(p->arena, value), ret);
}

static bool parse_text(struct river_path_parser *p, struct river_path_filter **ret)
{
	struct river_text t = RIVER_TEXT_INIT(p->arena);

	if (!river_path_text(p, river_path_take(p), &t))
		return false;
	return constant(p, river_value_wrap_text(p->arena, river_text_take(&t), t.len), ret);
}

/* Between slashes; a backslash and what follows are the pattern's. */
static bool parse_pattern(struct river_path_parser *p, struct river_path_filter **ret)
{
	size_t begin = ++p->i;
	const char *problem;

	while (p->i < p->n && p->s[p->i] != '/')
		p->i += p->s[p->i] == '\\' ? 2 : 1;
	if (p->i >= p->n) {
		p->i = p->n;
		return river_path_fail(p, "not terminated");
	}
	problem = river_regex_check(p->s + begin, p->i - begin, p->arena);
	p->i++;
	if (problem)
		return river_path_fail(p, "%s", problem);
	return constant(p, river_value_string(p->arena, p->s + begin, p->i - 1 - begin), ret);
}

static bool parse_path(struct river_path_parser *p, struct river_path_filter **ret)
{
	struct river_path path = { 0 };
	unsigned int height = 0;

	if (!river_path_fragments(p, &path))
		return false;
	for (size_t i = 0; i < path.n_fragments; i++)
		if (height_of(path.fragments[i].filter) > height)
			height = path.fragments[i].filter->height;
	if (height >= RIVER_DEPTH_MAX)
		return river_path_fail(p, "nested deeper than %d levels", RIVER_DEPTH_MAX);
	*ret = filter_new(p, RIVER_FILTER_PATH);
	if (*ret) {
		(*ret)->path = path;
		(*ret)->height = height + 1;
	}
	return *ret;
}

static bool parse_group(struct river_path_parser *p, struct river_path_filter **ret)
{
	p->i++;
	if (!parse_or(p, ret))
		return false;
	if (river_path_peek_past_blanks(p) != ')')
		return river_path_fail(p, "not terminated");
	p->i++;
	return true;
}

static bool parse_not(struct river_path_parser *p, struct river_path_filter **ret)
{
	struct river_path_filter *operand;

	p->i++;
	return parse_unary(p, &operand) && join(p, RIVER_FILTER_NOT, operand, NULL, ret);
}

/* Constants between brackets; what is none counts as null. */
static bool parse_list(struct river_path_parser *p, struct river_path_filter **ret)
{
	struct river_vec items = RIVER_VEC_INIT(struct river_value *);
	char c = ',';

	p->i++;
	if (river_path_peek_past_blanks(p) == ']')
		c = river_path_take(p);
	while (c == ',') {
		const struct river_value *item = river_value_null(p->arena);
		struct river_path_filter *f;

		if (!parse_or(p, &f))
			return false;
		if (f->op == RIVER_FILTER_CONSTANT)
			item = f->constant;
		if (!item || river_vec_push(&items, p->arena, &item) < 0)
			p->failed = true;
		c = river_path_take_past_blanks(p);
	}
	if (c != ']')
		return river_path_fail(p, "expected a comma or an array close");
	return !p->failed &&
	       constant(p, river_value_wrap_array(p->arena, items.data, items.n_items), ret);
}

static bool parse_function(struct river_path_parser *p, const char *name, enum river_filter_op op,
			   struct river_path_filter **ret)
{
	struct river_path_filter *left, *right = NULL;

	if (!is_at(p, name) || p->n - p->i == strlen(name) || p->s[p->i + strlen(name)] != '(')
		return river_path_fail(p, "expected a %s function", name);
	p->i += strlen(name) + 1;
	if (!parse_or(p, &left))
		return false;
	if (river_path_peek_past_blanks(p) == ',') {
		p->i++;
		if (!parse_or(p, &right))
			return false;
	}
	if (river_path_peek_past_blanks(p) != ')')
		return river_path_fail(p, "not terminated");
	p->i++;
	return join(p, op, left, right, ret);
}

static bool parse_operand(struct river_path_parser *p, struct river_path_filter **ret)
{
	char c = river_path_peek_past_blanks(p);

	if (c == '-' || (c >= '0' && c <= '9'))
		return parse_number(p, ret);
	switch (c) {
	case '!':
		return parse_not(p, ret);
	case '\'':
	case '"':
		return parse_text(p, ret);
	case 'n':
		return parse_word(p, "null", river_value_null(p->arena), ret);
	case 't':
		return parse_word(p, "true", river_value_bool(p->arena, true), ret);
	case 'f':
		return parse_word(p, "false", river_value_bool(p->arena, false), ret);
	case 'N':
		return parse_nothing(p, ret);
	case '@':
	case '$':
		return parse_path(p, ret);
	case '(':
		return parse_group(p, ret);
	case '[':
		return parse_list(p, ret);
	case '/':
		return parse_pattern(p, ret);
	case 'l':
		return parse_function(p, "length", RIVER_FILTER_LENGTH, ret);
	case 'c':
		return parse_function(p, "count", RIVER_FILTER_COUNT, ret);
	case 'm':
		return parse_function(p, "match", RIVER_FILTER_MATCH, ret);
	case 's':
		return parse_function(p, "search", RIVER_FILTER_SEARCH, ret);
	default:
		return river_path_fail(p, "expected a value");
	}
}

static bool parse_unary(struct river_path_parser *p, struct river_path_filter **ret)
{
	bool good;

	if (p->depth >= RIVER_DEPTH_MAX)
		return river_path_fail(p, "nested deeper than %d levels", RIVER_DEPTH_MAX);
	p->depth++;
	good = parse_operand(p, ret);
	p->depth--;
	return good;
}

static const struct operator* operator_at(struct river_path_parser *p, unsigned int level)
{
	river_path_peek_past_blanks(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (is_at(p, operators[i].text))
			return operators[i].level == level ? &operators[i] : NULL;
	return NULL;
}

static bool parse_chain(struct river_path_parser *p, unsigned int level,
			struct river_path_filter **ret)
{
	const struct operator* op;

	while ((op = operator_at(p, level))) {
		struct river_path_filter *right;

		p->i += strlen(op->text);
		if (!parse_level(p, level + 1, &right) || !join(p, op->op, *ret, right, ret))
			return false;
	}
	return true;
}

static bool parse_level(struct river_path_parser *p, unsigned int level,
			struct river_path_filter **ret)
{
	if (level == LEVELS)
		return parse_unary(p, ret);
	return parse_level(p, level + 1, ret) && parse_chain(p, level, ret);
}

/* The operator that is none, as long as it looks like one. */
static bool bad_operator(struct river_path_parser *p)
{
	size_t begin = p->i;

	while (p->i < p->n && p->s[p->i] && strchr("!&*+-/<=>|~", p->s[p->i]))
		p->i++;
	if (p->i == p->n)
		return river_path_fail(p, "equation not terminated");
	return river_path_fail(p, "'%.*s' is not a valid operation",
			       (int)(p->i - begin < 64 ? p->i - begin : 64), p->s + begin);
}

/* A whole expression: what follows ends it. */
static bool parse_or(struct river_path_parser *p, struct river_path_filter **ret)
{
	char c;

	if (!parse_level(p, 0, ret))
		return false;
	c = river_path_peek_past_blanks(p);
	return c == ']' || c == '\0' || c == ')' || c == ',' || bad_operator(p);
}

bool river_path_filter(struct river_path_parser *p, const struct river_path_filter **ret)
{
	struct river_path_filter *f = NULL;
	bool good = parse_or(p, &f);

	*ret = f;
	return good;
}
