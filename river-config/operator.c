/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators. A table says which types an operator takes; arithmetic wraps silently like the
 * reference's.
 */
#include "river-config/operator.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "river-config/text.h"

#define BIT(type) (1U << (type))
#define NUMBERS BIT(RIVER_TYPE_NUMBER)
#define ORDERED (NUMBERS | BIT(RIVER_TYPE_STRING))
#define ADDABLE (ORDERED | BIT(RIVER_TYPE_CAPSULE))
#define BOOLS BIT(RIVER_TYPE_BOOL)

/* Types an operator takes; 0: all. */
static const unsigned int operand_types[RIVER_TOKEN_MAX] = {
	[RIVER_TOKEN_OR] = BOOLS,    [RIVER_TOKEN_AND] = BOOLS,	  [RIVER_TOKEN_LT] = ORDERED,
	[RIVER_TOKEN_LTE] = ORDERED, [RIVER_TOKEN_GT] = ORDERED,  [RIVER_TOKEN_GTE] = ORDERED,
	[RIVER_TOKEN_ADD] = ADDABLE, [RIVER_TOKEN_SUB] = NUMBERS, [RIVER_TOKEN_MUL] = NUMBERS,
	[RIVER_TOKEN_DIV] = NUMBERS, [RIVER_TOKEN_MOD] = NUMBERS, [RIVER_TOKEN_POW] = NUMBERS,
};

static int error_operand(struct river_error *err, enum river_token_kind op, unsigned int allowed,
			 const struct river_value *v)
{
	struct river_text types = RIVER_TEXT_INIT(err->arena);
	const char *text;

	for (unsigned int type = 0; type < RIVER_TYPE_MAX; type++) {
		if (!(allowed & BIT(type)))
			continue;
		river_text_str(&types, types.len ? " " : "");
		river_text_str(&types, river_type_name(type));
	}
	text = river_text_take(&types);
	if (!text)
		return -ENOMEM;
	return river_error_set(err, v, "should be one of [%s] for binop %s, got %s", text,
			       river_token_name(op), river_type_name(v->type));
}

/* Left operand, right operand, then both together: the order in which the reference complains. */
static int check_operands(enum river_token_kind op, const struct river_value *left,
			  const struct river_value *right, struct river_error *err)
{
	unsigned int allowed = operand_types[op];

	if (!(allowed & BIT(left->type)))
		return error_operand(err, op, allowed, left);
	if (!(allowed & BIT(right->type)))
		return error_operand(err, op, allowed, right);
	if (river_value_has_text(left) && river_value_has_text(right))
		return RIVER_OK;
	if (left->type != right->type)
		return river_error_type(err, right, left->type);
	/* Only secrets among the capsules can be added. */
	if (left->type == RIVER_TYPE_CAPSULE)
		return error_operand(err, op, ORDERED, river_value_has_text(left) ? right : left);
	return RIVER_OK;
}

static struct river_value *concat_texts(struct river_arena *a, const struct river_value *left,
					const struct river_value *right)
{
	size_t left_len = left->string.len, len;
	char *text = NULL;

	if (!__builtin_add_overflow(left_len, right->string.len, &len) && len < SIZE_MAX)
		text = river_arena_alloc(a, len + 1);
	if (!text)
		return NULL;
	memcpy(text, left->string.text, left_len);
	memcpy(text + left_len, right->string.text, right->string.len);
	return river_value_wrap_text(a, text, len);
}

/* A secret makes everything secret; an optional one keeps what it knows. */
static struct river_value *add_texts(struct river_arena *a, const struct river_value *left,
				     const struct river_value *right)
{
	bool secret = river_value_is_capsule(left, RIVER_CAPSULE_SECRET) ||
		      river_value_is_capsule(right, RIVER_CAPSULE_SECRET);
	struct river_value *v = concat_texts(a, left, right);

	if (!v || (left->type == RIVER_TYPE_STRING && right->type == RIVER_TYPE_STRING))
		return v;
	v->type = RIVER_TYPE_CAPSULE;
	v->capsule_kind = secret ? RIVER_CAPSULE_SECRET : RIVER_CAPSULE_OPTIONAL_SECRET;
	v->string.is_secret = river_value_is_secret(left) || river_value_is_secret(right);
	return v;
}

static double float_arithmetic(enum river_token_kind op, double a, double b)
{
	switch (op) {
	case RIVER_TOKEN_ADD:
		return a + b;
	case RIVER_TOKEN_SUB:
		return a - b;
	case RIVER_TOKEN_MUL:
		return a * b;
	case RIVER_TOKEN_DIV:
		return a / b;
	case RIVER_TOKEN_MOD:
		return fmod(a, b);
	default:
		return pow(a, b);
	}
}

/* By squaring, modulo 2^64: what repeated multiplication that wraps yields. */
static uint64_t integer_power(uint64_t base, uint64_t exponent)
{
	uint64_t result = 1;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result *= base;
		base *= base;
	}
	return result;
}

/* INT64_MIN / -1 wraps to itself instead of trapping. */
static uint64_t int_divide(enum river_token_kind op, int64_t a, int64_t b)
{
	if (b == -1)
		return op == RIVER_TOKEN_DIV ? 0 - (uint64_t)a : 0;
	return (uint64_t)(op == RIVER_TOKEN_DIV ? a / b : a % b);
}

/*
 * Both kinds on their bits; only division and powers care about the sign. A negative exponent
 * leaves the base as it is.
 */
static uint64_t integer_arithmetic(enum river_token_kind op, bool is_signed, uint64_t a, uint64_t b)
{
	switch (op) {
	case RIVER_TOKEN_ADD:
		return a + b;
	case RIVER_TOKEN_SUB:
		return a - b;
	case RIVER_TOKEN_MUL:
		return a * b;
	case RIVER_TOKEN_DIV:
	case RIVER_TOKEN_MOD:
		if (is_signed)
			return int_divide(op, (int64_t)a, (int64_t)b);
		return op == RIVER_TOKEN_DIV ? a / b : a % b;
	default:
		return is_signed && (int64_t)b < 0 ? a : integer_power(a, b);
	}
}

static enum river_number_kind common_kind(const struct river_value *left,
					  const struct river_value *right)
{
	return left->number_kind > right->number_kind ? left->number_kind : right->number_kind;
}

static int arithmetic(enum river_token_kind op, const struct river_value *left,
		      const struct river_value *right, struct river_error *err,
		      struct river_value **ret_value)
{
	enum river_number_kind kind = common_kind(left, right);
	struct river_value *v;

	if ((op == RIVER_TOKEN_DIV || op == RIVER_TOKEN_MOD) && river_value_as_double(right) == 0)
		return river_error_set(err, right, "divide by zero error");
	v = river_value_new(err->arena, RIVER_TYPE_NUMBER);
	if (!v)
		return -ENOMEM;
	v->number_kind = kind;
	if (kind == RIVER_NUMBER_FLOAT)
		v->float_value = float_arithmetic(op, river_value_as_double(left),
						  river_value_as_double(right));
	else
		v->uint_value = integer_arithmetic(op, kind == RIVER_NUMBER_INT, left->uint_value,
						   right->uint_value);
	*ret_value = v;
	return RIVER_OK;
}

static int text_order(const struct river_value *a, const struct river_value *b)
{
	size_t n = a->string.len < b->string.len ? a->string.len : b->string.len;
	int r = memcmp(a->string.text, b->string.text, n);

	return r ? r : (a->string.len > b->string.len) - (a->string.len < b->string.len);
}

/* Less -1, equal 0, greater 1; 2 where a NaN makes every comparison false. */
static int order(const struct river_value *a, const struct river_value *b)
{
	double x, y;

	if (a->type == RIVER_TYPE_STRING)
		return text_order(a, b);
	switch (common_kind(a, b)) {
	case RIVER_NUMBER_UINT:
		return (a->uint_value > b->uint_value) - (a->uint_value < b->uint_value);
	case RIVER_NUMBER_INT:
		return (a->int_value > b->int_value) - (a->int_value < b->int_value);
	case RIVER_NUMBER_FLOAT:
		break;
	}
	x = river_value_as_double(a);
	y = river_value_as_double(b);
	return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

static bool compare(enum river_token_kind op, const struct river_value *left,
		    const struct river_value *right)
{
	int r = order(left, right);

	if (left->type == RIVER_TYPE_NUMBER && r == 2)
		return false;
	switch (op) {
	case RIVER_TOKEN_LT:
		return r < 0;
	case RIVER_TOKEN_LTE:
		return r <= 0;
	case RIVER_TOKEN_GT:
		return r > 0;
	default:
		return r >= 0;
	}
}

static bool logic(enum river_token_kind op, const struct river_value *left,
		  const struct river_value *right)
{
	switch (op) {
	case RIVER_TOKEN_OR:
		return left->boolean || right->boolean;
	case RIVER_TOKEN_AND:
		return left->boolean && right->boolean;
	case RIVER_TOKEN_EQ:
		return river_value_equal(left, right);
	case RIVER_TOKEN_NEQ:
		return !river_value_equal(left, right);
	default:
		return compare(op, left, right);
	}
}

/* An optional secret that is none counts as the string it holds. */
static const struct river_value *unwrap(const struct river_value *v, struct river_value *plain)
{
	if (!river_value_is_capsule(v, RIVER_CAPSULE_OPTIONAL_SECRET) || v->string.is_secret)
		return v;
	*plain = *v;
	plain->type = RIVER_TYPE_STRING;
	return plain;
}

int river_operator_binary(enum river_token_kind op, const struct river_value *left,
			  const struct river_value *right, struct river_error *err,
			  struct river_value **ret_value)
{
	struct river_value plain_left, plain_right;
	int r = RIVER_OK;

	left = unwrap(left, &plain_left);
	right = unwrap(right, &plain_right);
	if (operand_types[op])
		r = check_operands(op, left, right, err);
	if (r != RIVER_OK)
		return r;
	if (op == RIVER_TOKEN_ADD && river_value_has_text(left))
		*ret_value = add_texts(err->arena, left, right);
	else if (operand_types[op] == NUMBERS || op == RIVER_TOKEN_ADD)
		return arithmetic(op, left, right, err, ret_value);
	else
		*ret_value =
			(struct river_value *)river_value_bool(err->arena, logic(op, left, right));
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int negate(const struct river_value *operand, struct river_error *err,
		  struct river_value **ret_value)
{
	struct river_value *v = river_value_alias(err->arena, operand);

	if (!v)
		return -ENOMEM;
	if (v->number_kind == RIVER_NUMBER_FLOAT) {
		v->float_value = -v->float_value;
	} else {
		v->number_kind = RIVER_NUMBER_INT;
		v->uint_value = 0 - v->uint_value;
	}
	*ret_value = v;
	return RIVER_OK;
}

int river_operator_unary(enum river_token_kind op, const struct river_value *operand,
			 struct river_error *err, struct river_value **ret_value)
{
	enum river_type type = op == RIVER_TOKEN_NOT ? RIVER_TYPE_BOOL : RIVER_TYPE_NUMBER;

	if (operand->type != type)
		return river_error_type(err, operand, type);
	if (op == RIVER_TOKEN_SUB)
		return negate(operand, err, ret_value);
	*ret_value = (struct river_value *)river_value_bool(err->arena, !operand->boolean);
	return *ret_value ? RIVER_OK : -ENOMEM;
}
