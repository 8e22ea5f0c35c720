/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: recursive descent, one function a production, the production above it. This half has
 * the machine and the statements; expression.c has the expressions.
 *
 * It never gives up: after a mistake it skips to where a statement or an expression may begin
 * again. A mistake on the line of the previous one is most likely its echo and is not reported. Two
 * things do end it at once: nesting beyond RIVER_DEPTH_MAX and memory.
 */
#include "river-config/parser.h"

#include <errno.h>
#include <string.h>

#include "river-config/text.h"
#include "river-config/unicode.h"

/* Offsets are 32 bits wide. */
#define PARSE_BYTES_MAX ((size_t)1 << 30)

void *river_parser_alloc(struct river_parser *p, size_t n)
{
	void *memory = river_arena_alloc(p->arena, n);

	if (!memory) {
		p->failed = true;
		p->token.kind = RIVER_TOKEN_EOF;
	}
	return memory;
}

char *river_parser_strndup(struct river_parser *p, const char *s, size_t n)
{
	char *copy = river_parser_alloc(p, n + 1);

	if (copy && n)
		memcpy(copy, s, n);
	return copy;
}

void river_parser_push(struct river_parser *p, struct river_vec *v, const void *item)
{
	if (river_vec_push(v, p->arena, item) < 0) {
		p->failed = true;
		p->token.kind = RIVER_TOKEN_EOF;
	}
}

/*
 * Carriage returns go: a comment must not look different in a file with other line ends. One between
 * a star and a slash stays, else it would end a block comment that it does not end.
 */
static size_t drop_carriage_returns(char *text, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool splits = kept > 2 && text[kept - 1] == '*' && i + 1 < n && text[i + 1] == '/';

		if (text[i] != '\r' || (splits && text[1] == '*'))
			text[kept++] = text[i];
	}
	return kept;
}

static void add_comment(struct river_parser *p)
{
	char *text = river_parser_strndup(p, p->token.text, p->token.len);
	struct river_comment comment = { .text = text, .range = river_parser_range(p, &p->token) };

	if (!text)
		return;
	text[drop_carriage_returns(text, p->token.len)] = '\0';
	river_parser_push(p, &p->comments, &comment);
}

void river_parser_next(struct river_parser *p)
{
	if (p->failed || p->stopped) {
		p->token.kind = RIVER_TOKEN_EOF;
		return;
	}
	p->token = river_scanner_next(&p->scanner);
	while (p->token.kind == RIVER_TOKEN_COMMENT && !p->failed) {
		add_comment(p);
		p->token = river_scanner_next(&p->scanner);
	}
}

void river_parser_error_at(struct river_parser *p, const struct river_range *range, const char *fmt,
			   ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (river_diag_vadd(p->diags, RIVER_SEVERITY_ERROR, range, fmt, ap) < 0)
		p->failed = true;
	va_end(ap);
}

void river_parser_error(struct river_parser *p, const char *fmt, ...)
{
	struct river_range range = { .file = p->file, .start = p->token.start };
	va_list ap;

	if (p->stopped || p->failed || p->error_line == range.start.line)
		return;
	p->error_line = range.start.line;
	va_start(ap, fmt);
	if (river_diag_vadd(p->diags, RIVER_SEVERITY_ERROR, &range, fmt, ap) < 0)
		p->failed = true;
	va_end(ap);
}

void river_parser_too_deep(struct river_parser *p)
{
	struct river_range range = { .file = p->file, .start = p->token.start };

	if (!p->stopped)
		river_parser_error_at(p, &range, "nesting is deeper than %d levels",
				      RIVER_DEPTH_MAX);
	p->stopped = true;
	p->token.kind = RIVER_TOKEN_EOF;
}

bool river_parser_enter(struct river_parser *p)
{
	if (p->depth >= RIVER_DEPTH_MAX) {
		river_parser_too_deep(p);
		return false;
	}
	p->depth++;
	return true;
}

struct river_token river_parser_expect(struct river_parser *p, enum river_token_kind kind)
{
	struct river_token token = p->token;

	if (token.kind != kind)
		river_parser_error(p, "expected %s, got %s", river_token_name(kind),
				   river_token_name(token.kind));
	river_parser_next(p);
	return token;
}

void river_parser_skip_to(struct river_parser *p, enum river_token_kind kind)
{
	while (!river_parser_at(p, kind) && !river_parser_at(p, RIVER_TOKEN_EOF))
		river_parser_next(p);
}

/*
 * To the terminator of this statement: one inside brackets that were opened on the way does not
 * count.
 */
void river_parser_skip_stmt(struct river_parser *p)
{
	long curly = 0, brack = 0, paren = 0;

	while (!river_parser_at(p, RIVER_TOKEN_EOF)) {
		curly += river_parser_at(p, RIVER_TOKEN_LCURLY) -
			 river_parser_at(p, RIVER_TOKEN_RCURLY);
		brack += river_parser_at(p, RIVER_TOKEN_LBRACK) -
			 river_parser_at(p, RIVER_TOKEN_RBRACK);
		paren += river_parser_at(p, RIVER_TOKEN_LPAREN) -
			 river_parser_at(p, RIVER_TOKEN_RPAREN);
		if (river_parser_at(p, RIVER_TOKEN_TERMINATOR) && curly <= 0 && brack <= 0 &&
		    paren <= 0)
			return;
		river_parser_next(p);
	}
}

struct river_range river_parser_range(const struct river_parser *p, const struct river_token *token)
{
	return (struct river_range){ .file = p->file, .start = token->start, .end = token->end };
}

struct river_ident river_parser_ident(struct river_parser *p, const struct river_token *token)
{
	return (struct river_ident){
		.text = river_parser_strndup(p, token->text, token->len),
		.range = river_parser_range(p, token),
	};
}

/* What stands before "=" or "{". */
struct stmt_head {
	struct river_vec parts; /* struct river_ident */
	struct river_token label;
	const char *label_text;
	bool has_label;
};

static void error_label(struct river_parser *p, const char *problem, const char *text, size_t len)
{
	struct river_text t = RIVER_TEXT_INIT(p->arena);
	const char *quoted;

	river_text_quote(&t, text, len);
	quoted = river_text_take(&t);
	if (quoted)
		river_parser_error(p, "expected block label to be a %s, but got %s", problem,
				   quoted);
	else
		p->failed = true;
}

/* "" is no label. The quotes go, escape sequences stay: an identifier has none. */
static void parse_label(struct river_parser *p, struct stmt_head *head)
{
	struct river_token token = p->token;

	if (token.kind != RIVER_TOKEN_STRING) {
		river_parser_error(p, "expected block label, got %s", river_token_name(token.kind));
		river_parser_next(p);
		return;
	}
	if (token.text[0] != '"')
		error_label(p, "double quoted string", token.text, token.len);
	if (token.len > 2) {
		head->label_text = river_parser_strndup(p, token.text + 1, token.len - 2);
		if (!river_is_identifier(token.text + 1, token.len - 2))
			error_label(p, "valid identifier", token.text + 1, token.len - 2);
	}
	head->label = token;
	head->has_label = true;
	river_parser_next(p);
}

/* identifier { "." identifier } [ label ] */
static bool parse_head(struct river_parser *p, struct stmt_head *head)
{
	struct river_ident part;

	do {
		if (head->parts.n_items > 0)
			river_parser_next(p);
		if (!river_parser_at(p, RIVER_TOKEN_IDENT)) {
			river_parser_error(p, "expected identifier, got %s",
					   river_token_name(p->token.kind));
			if (head->parts.n_items == 0)
				return false;
			continue;
		}
		part = river_parser_ident(p, &p->token);
		if (!part.text)
			return false;
		river_parser_push(p, &head->parts, &part);
		river_parser_next(p);
	} while (river_parser_at(p, RIVER_TOKEN_DOT));
	if (!river_parser_at(p, RIVER_TOKEN_ASSIGN) && !river_parser_at(p, RIVER_TOKEN_LCURLY))
		parse_label(p, head);
	return !p->failed;
}

static const char *join_parts(struct river_parser *p, const struct river_vec *parts)
{
	const struct river_ident *idents = parts->data;
	struct river_text t = RIVER_TEXT_INIT(p->arena);
	const char *joined;

	for (size_t i = 0; i < parts->n_items; i++) {
		if (i > 0)
			river_text_char(&t, '.');
		river_text_str(&t, idents[i].text);
	}
	joined = river_text_take(&t);
	if (!joined)
		p->failed = true;
	return joined;
}

static struct river_stmt *new_stmt(struct river_parser *p, enum river_stmt_kind kind,
				   const struct stmt_head *head)
{
	struct river_stmt *stmt = river_parser_alloc(p, sizeof(*stmt));
	const struct river_ident *parts = head->parts.data;

	if (!stmt)
		return NULL;
	stmt->kind = kind;
	stmt->name = join_parts(p, &head->parts);
	stmt->name_range = parts[0].range;
	stmt->name_range.end = parts[head->parts.n_items - 1].range.end;
	stmt->range = stmt->name_range;
	return stmt->name ? stmt : NULL;
}

/* Where n bytes from a position end; the reference measures a name by its parts and dots. */
static struct river_pos pos_of_last(const struct river_parser *p, struct river_pos pos, size_t n)
{
	for (; n > 1 && pos.offset + 1 < p->scanner.len; n--) {
		bool newline = p->scanner.text[pos.offset++] == '\n';

		pos.line += newline;
		pos.column = newline ? 1 : pos.column + 1;
	}
	return pos;
}

/* head "=" Expression, of which the head must be one identifier. */
static struct river_stmt *parse_attribute(struct river_parser *p, const struct stmt_head *head)
{
	struct river_stmt *stmt = new_stmt(p, RIVER_STMT_ATTRIBUTE, head);
	const struct river_ident *parts = head->parts.data;
	struct river_range label;

	if (!stmt)
		return NULL;
	river_parser_next(p);
	if (head->parts.n_items != 1) {
		stmt->name_range.end = pos_of_last(p, stmt->name_range.start, strlen(stmt->name));
		river_parser_error_at(
			p, &stmt->name_range,
			"attribute names may only consist of a single identifier with no \".\"");
	} else if (head->has_label) {
		label = river_parser_range(p, &head->label);
		river_parser_error_at(p, &label, "attribute names may not have labels");
	}
	stmt->name = parts[0].text;
	stmt->name_range = parts[0].range;
	stmt->value = river_parser_expr(p);
	if (!stmt->value || p->stopped)
		return NULL;
	stmt->range.end = stmt->value->range.end;
	return stmt;
}

/* head "{" Body "}" */
static struct river_stmt *parse_block(struct river_parser *p, const struct stmt_head *head)
{
	struct river_stmt *stmt = new_stmt(p, RIVER_STMT_BLOCK, head);
	struct river_token open;

	if (!stmt || !river_parser_enter(p))
		return NULL;
	stmt->parts = head->parts.data;
	stmt->n_parts = head->parts.n_items;
	stmt->label = head->label_text;
	if (head->has_label)
		stmt->label_range = river_parser_range(p, &head->label);
	open = river_parser_expect(p, RIVER_TOKEN_LCURLY);
	stmt->head_range = stmt->name_range;
	stmt->head_range.end = open.end;
	river_parser_body(p, RIVER_TOKEN_RCURLY, &stmt->body);
	stmt->range.end = river_parser_expect(p, RIVER_TOKEN_RCURLY).end;
	p->depth--;
	return stmt;
}

/* Attribute | Block; NULL after a mistake. */
static struct river_stmt *parse_stmt(struct river_parser *p)
{
	struct stmt_head head = { .parts = RIVER_VEC_INIT(struct river_ident) };

	if (!parse_head(p, &head)) {
		river_parser_skip_to(p, RIVER_TOKEN_IDENT);
		return NULL;
	}
	if (river_parser_at(p, RIVER_TOKEN_ASSIGN))
		return parse_attribute(p, &head);
	if (river_parser_at(p, RIVER_TOKEN_LCURLY))
		return parse_block(p, &head);
	river_parser_error(p, "expected %sblock body, got %s",
			   head.parts.n_items == 1 && !head.label_text ? "attribute assignment or "
								       : "",
			   river_token_name(p->token.kind));
	river_parser_skip_to(p, RIVER_TOKEN_IDENT);
	return NULL;
}

/* [ Statement { TERMINATOR Statement } ] */
void river_parser_body(struct river_parser *p, enum river_token_kind until,
		       struct river_body *ret_body)
{
	struct river_vec stmts = RIVER_VEC_INIT(const struct river_stmt *);

	while (!river_parser_at(p, until) && !river_parser_at(p, RIVER_TOKEN_EOF)) {
		const struct river_stmt *stmt = parse_stmt(p);

		if (stmt)
			river_parser_push(p, &stmts, &stmt);
		if (river_parser_at(p, until))
			break;
		if (!river_parser_at(p, RIVER_TOKEN_TERMINATOR)) {
			river_parser_error(p, "expected %s, got %s",
					   river_token_name(RIVER_TOKEN_TERMINATOR),
					   river_token_name(p->token.kind));
			river_parser_skip_stmt(p);
		}
		river_parser_next(p);
	}
	ret_body->stmts = stmts.data;
	ret_body->n_stmts = stmts.n_items;
}

static int parser_init(struct river_parser *p, const char *name, const char *text, size_t len,
		       struct river_arena *arena, struct river_diags *diags)
{
	*p = (struct river_parser){
		.arena = arena,
		.diags = diags,
		.file = river_arena_strndup(arena, name, strlen(name)),
		.comments = RIVER_VEC_INIT(struct river_comment),
	};
	if (!p->file)
		return -ENOMEM;
	if (len >= PARSE_BYTES_MAX) {
		struct river_range range = { .file = p->file };
		int r = river_diag_add(diags, RIVER_SEVERITY_ERROR, &range,
				       "file is larger than 1 GiB");

		return r < 0 ? r : RIVER_INVALID;
	}
	river_scanner_init(&p->scanner, p->file, len ? text : "", len, diags);
	river_parser_next(p);
	return RIVER_OK;
}

static int parser_result(const struct river_parser *p, size_t n_errors)
{
	if (p->failed || p->scanner.failed)
		return -ENOMEM;
	return p->diags->n_errors > n_errors ? RIVER_INVALID : RIVER_OK;
}

int river_parse(const char *name, const char *text, size_t len, struct river_arena *arena,
		struct river_diags *diags, const struct river_file **ret_file)
{
	struct river_file *file = river_arena_alloc(arena, sizeof(*file));
	size_t n_errors = diags->n_errors;
	struct river_parser p;
	int r;

	if (!file)
		return -ENOMEM;
	r = parser_init(&p, name, text, len, arena, diags);
	if (r < 0)
		return r;
	file->name = p.file;
	if (r == RIVER_OK) {
		river_parser_body(&p, RIVER_TOKEN_EOF, &file->body);
		file->comments = p.comments.data;
		file->n_comments = p.comments.n_items;
		r = parser_result(&p, n_errors);
		if (r < 0)
			return r;
	}
	*ret_file = file;
	return r;
}

int river_parse_expr(const char *name, const char *text, size_t len, struct river_arena *arena,
		     struct river_diags *diags, const struct river_expr **ret_expr)
{
	size_t n_errors = diags->n_errors;
	const struct river_expr *e;
	struct river_parser p;
	int r;

	r = parser_init(&p, name, text, len, arena, diags);
	if (r != RIVER_OK)
		return r;
	e = river_parser_expr(&p);
	if (!river_parser_at(&p, RIVER_TOKEN_EOF))
		river_parser_expect(&p, RIVER_TOKEN_TERMINATOR);
	r = parser_result(&p, n_errors);
	if (r == RIVER_OK)
		*ret_expr = e;
	return r;
}

int river_file_require_blocks(const struct river_file *file, struct river_diags *diags)
{
	int result = RIVER_OK;

	for (size_t i = 0; i < file->body.n_stmts; i++) {
		const struct river_stmt *stmt = file->body.stmts[i];

		if (stmt->kind != RIVER_STMT_ATTRIBUTE)
			continue;
		if (river_diag_add(diags, RIVER_SEVERITY_ERROR, &stmt->name_range,
				   "unrecognized attribute %s", stmt->name) < 0)
			return -ENOMEM;
		result = RIVER_INVALID;
	}
	return result;
}

const struct river_range *river_expr_range(const struct river_expr *e)
{
	return &e->range;
}
