/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of a JSON path: text to tree, and whether it is true for a value. */
#include <string.h>

#include "river-config/json.h"
#include "river-config/json_path.h"

static bool parse_or(struct river_path_parser *p, const struct river_path_filter **ret);
static bool parse_condition(struct river_path_parser *p, const struct river_path_filter **ret);

static bool add(struct river_path_parser *p, const struct river_path_filter *filter,
		const struct river_path_filter **ret)
{
	struct river_path_filter *f = river_arena_alloc(p->arena, sizeof(*f));

	p->failed |= !f;
	if (f)
		*f = *filter;
	*ret = f;
	return f;
}

/* A path of one value: names and numbers only. */
static bool parse_path(struct river_path_parser *p, struct river_path_operand *operand)
{
	operand->from_root = p->s[p->i++] == '$';
	p->in_filter = true;
	if (!river_path_fragments(p, &operand->path))
		return false;
	p->in_filter = false;
	for (size_t i = 0; i < operand->path.n_fragments; i++)
		if (operand->path.fragments[i].kind != RIVER_PATH_UNION ||
		    operand->path.fragments[i].n_items != 1)
			return river_path_fail(p,
					       "a path in a filter is of single names and numbers");
	return true;
}

/* Numbers, true, false, null: as in JSON. */
static bool parse_word(struct river_path_parser *p, struct river_path_operand *operand)
{
	const char *problem = NULL;
	struct river_value *value;
	size_t n = 0;

	while (p->i + n < p->n && p->s[p->i + n] && !strchr(" ()[]=!<>&|,'\"", p->s[p->i + n]))
		n++;
	int r = river_json_read(p->s + p->i, n, RIVER_JSON_INTEGERS, p->arena, &value, &problem);
	if (r == RIVER_INVALID)
		return river_path_fail(p, "expected a path, a number, a text, true, false or null");
	p->failed |= r < 0;
	p->i += n;
	operand->constant = value;
	return !p->failed;
}

static bool parse_operand(struct river_path_parser *p, struct river_path_operand *operand)
{
	char c = river_path_peek(p);
	const char *text;
	size_t len;

	if (c == '$' || c == '@')
		return parse_path(p, operand);
	if (c != '\'' && c != '"')
		return parse_word(p, operand);
	text = river_path_text(p, &len);
	operand->constant = text ? river_value_wrap_text(p->arena, text, len) : NULL;
	p->failed |= text && !operand->constant;
	return operand->constant;
}

static bool parse_comparison(struct river_path_parser *p, const struct river_path_filter **ret)
{
	static const struct {
		const char *text;
		enum river_filter_op op;
	} operators[] = { { "==", RIVER_FILTER_EQ }, { "!=", RIVER_FILTER_NE },
			  { "<=", RIVER_FILTER_LE }, { ">=", RIVER_FILTER_GE },
			  { "<", RIVER_FILTER_LT },  { ">", RIVER_FILTER_GT } };
	struct river_path_filter f = { .op = RIVER_FILTER_FOUND };

	if (!parse_operand(p, &f.a))
		return false;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (f.op == RIVER_FILTER_FOUND && river_path_accept(p, operators[i].text))
			f.op = operators[i].op;
	if (f.op != RIVER_FILTER_FOUND && !parse_operand(p, &f.b))
		return false;
	if (f.op == RIVER_FILTER_FOUND && (f.a.constant || !strchr(")]&|", river_path_peek(p))))
		return river_path_fail(p, "expected ==, !=, <, <=, > or >=");
	return add(p, &f, ret);
}

static bool parse_condition(struct river_path_parser *p, const struct river_path_filter **ret)
{
	struct river_path_filter f = { .op = RIVER_FILTER_NOT };

	if (++p->n_conditions > RIVER_DEPTH_MAX)
		return river_path_fail(p, "more than %d conditions", RIVER_DEPTH_MAX);
	if (river_path_accept(p, "!"))
		return parse_condition(p, &f.left) && add(p, &f, ret);
	if (!river_path_accept(p, "("))
		return parse_comparison(p, ret);
	if (!parse_or(p, ret))
		return false;
	return river_path_accept(p, ")") || river_path_fail(p, "expected )");
}

static bool parse_and(struct river_path_parser *p, const struct river_path_filter **ret)
{
	struct river_path_filter f = { .op = RIVER_FILTER_AND };

	if (!parse_condition(p, ret))
		return false;
	while (river_path_accept(p, "&&")) {
		f.left = *ret;
		if (!parse_condition(p, &f.right) || !add(p, &f, ret))
			return false;
	}
	return true;
}

static bool parse_or(struct river_path_parser *p, const struct river_path_filter **ret)
{
	struct river_path_filter f = { .op = RIVER_FILTER_OR };

	if (!parse_and(p, ret))
		return false;
	while (river_path_accept(p, "||")) {
		f.left = *ret;
		if (!parse_and(p, &f.right) || !add(p, &f, ret))
			return false;
	}
	return true;
}

bool river_path_filter(struct river_path_parser *p, const struct river_path_filter **ret)
{
	if (p->in_filter)
		return river_path_fail(p, "a path in a filter is of single names and numbers");
	return parse_or(p, ret);
}

/* NULL: nothing. */
static const struct river_value *value_of(struct river_path_search *search,
					  const struct river_path_operand *operand,
					  const struct river_value *v)
{
	if (operand->constant)
		return operand->constant;
	v = operand->from_root ? search->root : v;
	for (size_t i = 0; v && i < operand->path.n_fragments; i++)
		v = river_path_step(search) ? river_path_pick(v, operand->path.fragments[i].items)
					    : NULL;
	return v;
}

static bool is_float(const struct river_value *v)
{
	return v->number_kind == RIVER_NUMBER_FLOAT;
}

static int compare_text(const struct river_value *a, const struct river_value *b)
{
	size_t n = a->string.len < b->string.len ? a->string.len : b->string.len;
	int r = memcmp(a->string.text, b->string.text, n);

	return r ? r : (a->string.len > b->string.len) - (a->string.len < b->string.len);
}

/* Both numbers or both texts; all else has no order. */
static bool are_in_order(enum river_filter_op op, const struct river_value *a,
			 const struct river_value *b)
{
	int r;

	if (a->type != b->type || (a->type != RIVER_TYPE_NUMBER && a->type != RIVER_TYPE_STRING))
		return false;
	if (a->type == RIVER_TYPE_STRING) {
		r = compare_text(a, b);
	} else if (is_float(a) || is_float(b)) {
		double x = river_value_get_float(a), y = river_value_get_float(b);

		r = (x > y) - (x < y);
	} else {
		r = (a->int_value > b->int_value) - (a->int_value < b->int_value);
	}
	return op == RIVER_FILTER_LT   ? r < 0
	       : op == RIVER_FILTER_LE ? r <= 0
	       : op == RIVER_FILTER_GT ? r > 0
				       : r >= 0;
}

static bool compare(struct river_path_search *search, const struct river_path_filter *f,
		    const struct river_value *v)
{
	const struct river_value *a = value_of(search, &f->a, v), *b = value_of(search, &f->b, v);
	bool equal = a && b ? river_value_equal(a, b) : !a && !b;

	if (f->op == RIVER_FILTER_EQ || f->op == RIVER_FILTER_NE)
		return equal == (f->op == RIVER_FILTER_EQ);
	return a && b && are_in_order(f->op, a, b);
}

bool river_path_matches(struct river_path_search *search, const struct river_path_filter *f,
			const struct river_value *v)
{
	if (!river_path_step(search))
		return false;
	switch (f->op) {
	case RIVER_FILTER_OR:
		return river_path_matches(search, f->left, v) ||
		       river_path_matches(search, f->right, v);
	case RIVER_FILTER_AND:
		return river_path_matches(search, f->left, v) &&
		       river_path_matches(search, f->right, v);
	case RIVER_FILTER_NOT:
		return !river_path_matches(search, f->left, v);
	case RIVER_FILTER_FOUND:
		return value_of(search, &f->a, v) != NULL;
	default:
		return compare(search, f, v);
	}
}
