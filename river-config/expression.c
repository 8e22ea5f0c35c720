/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's other half: expressions, one function a production, the production above it. */
#include "river-config/parser.h"

/* To where an expression that could not be understood must have ended. */
static void skip_expr(struct river_parser *p)
{
	while (!river_parser_at(p, RIVER_TOKEN_TERMINATOR) &&
	       !river_parser_at(p, RIVER_TOKEN_RPAREN) && !river_parser_at(p, RIVER_TOKEN_RBRACK) &&
	       !river_parser_at(p, RIVER_TOKEN_RCURLY) && !river_parser_at(p, RIVER_TOKEN_COMMA) &&
	       !river_parser_at(p, RIVER_TOKEN_EOF))
		river_parser_next(p);
}

static struct river_expr *new_expr(struct river_parser *p, enum river_expr_kind kind,
				   struct river_pos start, struct river_pos end)
{
	struct river_expr *e = river_parser_alloc(p, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = kind;
	e->height = 1;
	e->range = (struct river_range){ .file = p->file, .start = start, .end = end };
	return e;
}

/*
 * Chains such as a.b.c and 1 + 2 + 3 grow downwards without recursion here, so trees are measured,
 * too.
 */
static void set_height(struct river_parser *p, struct river_expr *e, const struct river_expr *child)
{
	if (!child)
		return;
	if (child->height >= e->height)
		e->height = child->height + 1;
	if (e->height > RIVER_DEPTH_MAX)
		river_parser_too_deep(p);
}

static struct river_expr *new_literal(struct river_parser *p, enum river_token_kind kind,
				      const char *text, size_t len, const struct river_token *token)
{
	struct river_expr *e = new_expr(p, RIVER_EXPR_LITERAL, token->start, token->end);

	if (!e)
		return NULL;
	e->op = kind;
	e->literal.text = river_parser_strndup(p, text, len);
	e->literal.len = len;
	return e->literal.text ? e : NULL;
}

/* [ Expression { "," Expression } [ "," ] ] */
static void parse_expr_list(struct river_parser *p, enum river_token_kind until,
			    struct river_vec *items)
{
	while (!river_parser_at(p, until) && !river_parser_at(p, RIVER_TOKEN_EOF)) {
		const struct river_expr *item = river_parser_expr(p);

		if (item)
			river_parser_push(p, items, &item);
		if (river_parser_at(p, until))
			break;
		if (!river_parser_at(p, RIVER_TOKEN_COMMA))
			river_parser_error(p, "missing ',' in expression list");
		river_parser_next(p);
	}
}

/* "[" list "]" */
static const struct river_expr *parse_array(struct river_parser *p)
{
	struct river_vec items = RIVER_VEC_INIT(const struct river_expr *);
	struct river_token open = river_parser_expect(p, RIVER_TOKEN_LBRACK), close;
	struct river_expr *e;

	parse_expr_list(p, RIVER_TOKEN_RBRACK, &items);
	close = river_parser_expect(p, RIVER_TOKEN_RBRACK);
	e = new_expr(p, RIVER_EXPR_ARRAY, open.start, close.end);
	if (!e)
		return NULL;
	e->array.items = items.data;
	e->array.n_items = items.n_items;
	for (size_t i = 0; i < items.n_items; i++)
		set_height(p, e, e->array.items[i]);
	return e;
}

/* (identifier | STRING) "=" Expression. A key "" keeps its quotes, as the reference has it. */
static bool parse_field(struct river_parser *p, struct river_object_field *ret_field)
{
	struct river_object_field field = { .key = { .text = "" } };

	if (river_parser_at(p, RIVER_TOKEN_STRING) || river_parser_at(p, RIVER_TOKEN_IDENT)) {
		struct river_token key = p->token;

		bool quoted = river_parser_at(p, RIVER_TOKEN_STRING) && key.len > 2;

		field.quote = quoted ? key.text[0] : 0;
		field.key.range = river_parser_range(p, &key);
		field.key.text = river_parser_strndup(p, key.text + quoted, key.len - 2 * quoted);
		river_parser_next(p);
	} else {
		river_parser_error(p, "expected field name (string or identifier), got %s",
				   river_token_name(p->token.kind));
		river_parser_skip_to(p, RIVER_TOKEN_ASSIGN);
	}
	river_parser_expect(p, RIVER_TOKEN_ASSIGN);
	field.value = river_parser_expr(p);
	*ret_field = field;
	return field.key.text && field.value;
}

static void parse_field_list(struct river_parser *p, struct river_vec *fields)
{
	while (!river_parser_at(p, RIVER_TOKEN_RCURLY) && !river_parser_at(p, RIVER_TOKEN_EOF)) {
		struct river_object_field field;

		if (parse_field(p, &field))
			river_parser_push(p, fields, &field);
		if (river_parser_at(p, RIVER_TOKEN_RCURLY))
			break;
		if (!river_parser_at(p, RIVER_TOKEN_COMMA))
			river_parser_error(p, "missing ',' in field list");
		river_parser_next(p);
	}
}

/* "{" [ Field { "," Field } [ "," ] ] "}" */
static const struct river_expr *parse_object(struct river_parser *p)
{
	struct river_vec fields = RIVER_VEC_INIT(struct river_object_field);
	struct river_token open = river_parser_expect(p, RIVER_TOKEN_LCURLY), close;
	struct river_expr *e;

	parse_field_list(p, &fields);
	close = river_parser_expect(p, RIVER_TOKEN_RCURLY);
	e = new_expr(p, RIVER_EXPR_OBJECT, open.start, close.end);
	if (!e)
		return NULL;
	e->object.fields = fields.data;
	e->object.n_fields = fields.n_items;
	for (size_t i = 0; i < fields.n_items; i++)
		set_height(p, e, e->object.fields[i].value);
	return e;
}

/* "(" Expression ")" */
static const struct river_expr *parse_paren(struct river_parser *p)
{
	struct river_token open = river_parser_expect(p, RIVER_TOKEN_LPAREN), close;
	const struct river_expr *inner = river_parser_expr(p);
	struct river_expr *e;

	close = river_parser_expect(p, RIVER_TOKEN_RPAREN);
	e = inner ? new_expr(p, RIVER_EXPR_PAREN, open.start, close.end) : NULL;
	if (!e)
		return NULL;
	e->inner = inner;
	set_height(p, e, inner);
	return e;
}

static const struct river_expr *parse_ident(struct river_parser *p)
{
	struct river_token token = p->token;
	struct river_expr *e = new_expr(p, RIVER_EXPR_IDENT, token.start, token.end);

	river_parser_next(p);
	if (!e)
		return NULL;
	e->ident = river_parser_strndup(p, token.text, token.len);
	return e->ident ? e : NULL;
}

static const struct river_expr *parse_literal(struct river_parser *p)
{
	struct river_token token = p->token;

	river_parser_next(p);
	return new_literal(p, token.kind, token.text, token.len, &token);
}

/* A null stands for what could not be understood. */
static const struct river_expr *parse_nothing(struct river_parser *p)
{
	struct river_token token = p->token;

	river_parser_error(p, "expected expression, got %s", river_token_name(token.kind));
	skip_expr(p);
	return new_literal(p, RIVER_TOKEN_NULL, "null", 4, &token);
}

/* identifier | STRING | NUMBER | FLOAT | BOOL | NULL | "(" Expression ")" | Array | Object */
static const struct river_expr *parse_operand(struct river_parser *p)
{
	switch (p->token.kind) {
	case RIVER_TOKEN_IDENT:
		return parse_ident(p);
	case RIVER_TOKEN_STRING:
	case RIVER_TOKEN_NUMBER:
	case RIVER_TOKEN_FLOAT:
	case RIVER_TOKEN_BOOL:
	case RIVER_TOKEN_NULL:
		return parse_literal(p);
	case RIVER_TOKEN_LPAREN:
		return parse_paren(p);
	case RIVER_TOKEN_LBRACK:
		return parse_array(p);
	case RIVER_TOKEN_LCURLY:
		return parse_object(p);
	default:
		return parse_nothing(p);
	}
}

/* "." identifier */
static const struct river_expr *parse_access(struct river_parser *p, const struct river_expr *of)
{
	struct river_token name;
	struct river_expr *e;

	river_parser_expect(p, RIVER_TOKEN_DOT);
	name = river_parser_expect(p, RIVER_TOKEN_IDENT);
	e = new_expr(p, RIVER_EXPR_ACCESS, of->range.start, name.end);
	if (!e)
		return NULL;
	e->access.of = of;
	e->access.name = river_parser_ident(p, &name);
	set_height(p, e, of);
	return e->access.name.text ? e : NULL;
}

/* "[" Expression "]" */
static const struct river_expr *parse_index(struct river_parser *p, const struct river_expr *of)
{
	const struct river_expr *index;
	struct river_token open, close;
	struct river_expr *e;

	open = river_parser_expect(p, RIVER_TOKEN_LBRACK);
	index = river_parser_expr(p);
	close = river_parser_expect(p, RIVER_TOKEN_RBRACK);
	e = index ? new_expr(p, RIVER_EXPR_INDEX, of->range.start, close.end) : NULL;
	if (!e)
		return NULL;
	e->index.of = of;
	e->index.index = index;
	e->index.open_pos = open.start;
	set_height(p, e, of);
	set_height(p, e, index);
	return e;
}

/* "(" [ list ] ")" */
static const struct river_expr *parse_call(struct river_parser *p,
					   const struct river_expr *function)
{
	struct river_vec args = RIVER_VEC_INIT(const struct river_expr *);
	struct river_token open, close;
	struct river_expr *e;

	open = river_parser_expect(p, RIVER_TOKEN_LPAREN);
	parse_expr_list(p, RIVER_TOKEN_RPAREN, &args);
	close = river_parser_expect(p, RIVER_TOKEN_RPAREN);
	e = new_expr(p, RIVER_EXPR_CALL, function->range.start, close.end);
	if (!e)
		return NULL;
	e->call.function = function;
	e->call.args = args.data;
	e->call.n_args = args.n_items;
	e->call.open_pos = open.start;
	set_height(p, e, function);
	for (size_t i = 0; i < args.n_items; i++)
		set_height(p, e, e->call.args[i]);
	return e;
}

/*
 * An expression followed by [label] "{" Body "}": someone took an attribute for a block. False
 * where it is no such thing; the rest of the statement is skipped then.
 */
static bool parse_misplaced_block(struct river_parser *p, const struct river_expr *e)
{
	struct river_range range = { .file = p->file, .start = e->range.start };
	struct river_token token;
	struct river_body body;

	if (river_parser_at(p, RIVER_TOKEN_STRING))
		river_parser_next(p);
	token = river_parser_expect(p, RIVER_TOKEN_LCURLY);
	if (token.kind == RIVER_TOKEN_LCURLY) {
		river_parser_body(p, RIVER_TOKEN_RCURLY, &body);
		token = river_parser_expect(p, RIVER_TOKEN_RCURLY);
		if (token.kind == RIVER_TOKEN_RCURLY) {
			range.end = token.end;
			river_parser_error_at(p, &range, "cannot use a block as an expression");
			return true;
		}
	}
	river_parser_skip_stmt(p);
	return false;
}

/* Operand { "." identifier | "[" Expression "]" | "(" [ list ] ")" } */
static const struct river_expr *parse_primary(struct river_parser *p)
{
	const struct river_expr *e = parse_operand(p);

	while (e) {
		switch (p->token.kind) {
		case RIVER_TOKEN_DOT:
			e = parse_access(p, e);
			break;
		case RIVER_TOKEN_LBRACK:
			e = parse_index(p, e);
			break;
		case RIVER_TOKEN_LPAREN:
			e = parse_call(p, e);
			break;
		case RIVER_TOKEN_STRING:
		case RIVER_TOKEN_LCURLY:
			if (!parse_misplaced_block(p, e))
				return e;
			break;
		default:
			return e;
		}
	}
	return NULL;
}

/* ("!" | "-") Unary | Primary */
static const struct river_expr *parse_unary(struct river_parser *p)
{
	struct river_token op = p->token;
	const struct river_expr *inner;
	struct river_expr *e;

	if (op.kind != RIVER_TOKEN_NOT && op.kind != RIVER_TOKEN_SUB)
		return parse_primary(p);
	if (!river_parser_enter(p))
		return NULL;
	river_parser_next(p);
	inner = parse_unary(p);
	p->depth--;
	e = inner ? new_expr(p, RIVER_EXPR_UNARY, op.start, inner->range.end) : NULL;
	if (!e)
		return NULL;
	e->op = op.kind;
	e->inner = inner;
	set_height(p, e, inner);
	return e;
}

static const struct river_expr *new_binary(struct river_parser *p, const struct river_token *op,
					   const struct river_expr *left,
					   const struct river_expr *right)
{
	struct river_expr *e;

	e = right ? new_expr(p, RIVER_EXPR_BINARY, left->range.start, right->range.end) : NULL;
	if (!e)
		return NULL;
	e->op = op->kind;
	e->binary.op_pos = op->start;
	e->binary.left = left;
	e->binary.right = right;
	set_height(p, e, left);
	set_height(p, e, right);
	return e;
}

/*
 * Unary { operator Unary }, of operators that bind at least as tight as `precedence`; "^" alone
 * associates to the right.
 */
static const struct river_expr *parse_binary(struct river_parser *p, unsigned int precedence)
{
	const struct river_expr *left = NULL;

	if (!river_parser_enter(p))
		return NULL;
	left = parse_unary(p);
	while (left) {
		struct river_token op = p->token;
		unsigned int found = river_token_precedence(op.kind);

		if (found < precedence || found == 0)
			break;
		river_parser_next(p);
		left = new_binary(p, &op, left,
				  parse_binary(p, found + (op.kind != RIVER_TOKEN_POW)));
	}
	p->depth--;
	return left;
}

const struct river_expr *river_parser_expr(struct river_parser *p)
{
	return parse_binary(p, 1);
}
