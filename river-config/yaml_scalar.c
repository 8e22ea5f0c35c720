/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a YAML scalar is.
 *
 * The rules are those of Go's yaml.v3, which are those of YAML 1.2's core schema and some of 1.1's:
 * underscores and binary numbers, a leading 0 for octal, dates. "yes" and "on" are texts.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "river-config/base64.h"
#include "river-config/number.h"
#include "river-config/yaml.h"

/* A number is not longer than this; what is, is a text or was one in the first place. */
#define NUMBER_BYTES 1024

static const char *const type_tags[] = {
	[RIVER_YAML_NULL] = "!!null",
	[RIVER_YAML_BOOL] = "!!bool",
	[RIVER_YAML_INT] = "!!int",
	[RIVER_YAML_FLOAT] = "!!float",
	[RIVER_YAML_TIMESTAMP] = "!!timestamp",
	[RIVER_YAML_STRING] = "!!str",
	[RIVER_YAML_MERGE] = "!!merge",
};

struct scalar {
	enum river_yaml_type type;
	struct river_value number;
	bool boolean;
};

static const struct word {
	const char *text;
	enum river_yaml_type type;
	double value;
} words[] = {
	{ "", RIVER_YAML_NULL, 0 },
	{ "~", RIVER_YAML_NULL, 0 },
	{ "null", RIVER_YAML_NULL, 0 },
	{ "Null", RIVER_YAML_NULL, 0 },
	{ "NULL", RIVER_YAML_NULL, 0 },
	{ "true", RIVER_YAML_BOOL, 1 },
	{ "True", RIVER_YAML_BOOL, 1 },
	{ "TRUE", RIVER_YAML_BOOL, 1 },
	{ "false", RIVER_YAML_BOOL, 0 },
	{ "False", RIVER_YAML_BOOL, 0 },
	{ "FALSE", RIVER_YAML_BOOL, 0 },
	{ ".nan", RIVER_YAML_FLOAT, NAN },
	{ ".NaN", RIVER_YAML_FLOAT, NAN },
	{ ".NAN", RIVER_YAML_FLOAT, NAN },
	{ ".inf", RIVER_YAML_FLOAT, INFINITY },
	{ ".Inf", RIVER_YAML_FLOAT, INFINITY },
	{ ".INF", RIVER_YAML_FLOAT, INFINITY },
	{ "+.inf", RIVER_YAML_FLOAT, INFINITY },
	{ "+.Inf", RIVER_YAML_FLOAT, INFINITY },
	{ "+.INF", RIVER_YAML_FLOAT, INFINITY },
	{ "-.inf", RIVER_YAML_FLOAT, -INFINITY },
	{ "-.Inf", RIVER_YAML_FLOAT, -INFINITY },
	{ "-.INF", RIVER_YAML_FLOAT, -INFINITY },
};

static bool set_float(struct scalar *out, double value)
{
	out->type = RIVER_YAML_FLOAT;
	out->number.number_kind = RIVER_NUMBER_FLOAT;
	out->number.float_value = value;
	return true;
}

static bool resolve_word(const char *s, size_t n, struct scalar *out)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].text) != n || memcmp(words[i].text, s, n) != 0)
			continue;
		if (words[i].type == RIVER_YAML_FLOAT)
			set_float(out, words[i].value);
		out->type = words[i].type;
		out->boolean = words[i].value > 0;
		return true;
	}
	return false;
}

static unsigned int take_base(const char **s, size_t *n)
{
	unsigned int base = 10;

	if (*n < 2 || (*s)[0] != '0')
		return base;
	base = (*s)[1] == 'x' || (*s)[1] == 'X' ? 16 : (*s)[1] == 'b' || (*s)[1] == 'B' ? 2 : 8;
	/* "0o17" and "017". */
	if (base == 8 && (*s)[1] != 'o' && (*s)[1] != 'O') {
		*s += 1;
		*n -= 1;
		return base;
	}
	*s += 2;
	*n -= 2;
	return base;
}

static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

static bool parse_magnitude(const char *s, size_t n, uint64_t *ret)
{
	unsigned int base = take_base(&s, &n);
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int digit = digit_value(s[i]);

		if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret = value;
	return n > 0;
}

/* Without a sign up to 64 bits. */
static bool resolve_int(const char *s, size_t n, struct scalar *out)
{
	bool negative = s[0] == '-', has_sign = negative || s[0] == '+';
	uint64_t limit = (uint64_t)INT64_MAX + negative, value;

	if (!parse_magnitude(s + has_sign, n - has_sign, &value) || (value > limit && has_sign))
		return false;
	out->type = RIVER_YAML_INT;
	out->number.number_kind = value > limit ? RIVER_NUMBER_UINT : RIVER_NUMBER_INT;
	out->number.uint_value = negative ? 0 - value : value;
	return true;
}

static bool resolve_number(const char *s, size_t n, struct scalar *out)
{
	char plain[NUMBER_BYTES];
	size_t len = 0;
	double value;

	if (n >= sizeof(plain))
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] != '_')
			plain[len++] = s[i];
	if (len > 0 && resolve_int(plain, len, out))
		return true;
	return river_parse_float(plain, len, &value) && set_float(out, value);
}

static bool is_timestamp(const char *s, size_t n, struct river_arena *arena)
{
	struct river_text ignored = RIVER_TEXT_INIT(arena);

	return n <= NUMBER_BYTES && river_yaml_timestamp(s, n, &ignored);
}

/* `with_dates`: the tag is a timestamp's, or there is none. */
static void resolve(const char *s, size_t n, bool with_dates, struct river_arena *arena,
		    struct scalar *out)
{
	double value;

	*out = (struct scalar){ .type = RIVER_YAML_STRING,
				.number = { .type = RIVER_TYPE_NUMBER } };
	if (resolve_word(s, n, out))
		return;
	if (s[0] == '.') {
		if (river_parse_float(s, n, &value))
			set_float(out, value);
		return;
	}
	if (!strchr("+-0123456789", s[0]))
		return;
	if (with_dates && is_timestamp(s, n, arena))
		out->type = RIVER_YAML_TIMESTAMP;
	else
		resolve_number(s, n, out);
}

static bool is_tag(const struct river_yaml_node *node, enum river_yaml_type type)
{
	return node->tag && strcmp(node->tag, type_tags[type]) == 0;
}

static bool is_resolvable(const struct river_yaml_node *node)
{
	return !node->tag || is_tag(node, RIVER_YAML_NULL) || is_tag(node, RIVER_YAML_BOOL) ||
	       is_tag(node, RIVER_YAML_INT) || is_tag(node, RIVER_YAML_FLOAT) ||
	       is_tag(node, RIVER_YAML_TIMESTAMP);
}

enum river_yaml_type river_yaml_scalar_type(const struct river_yaml_node *node,
					    struct river_arena *arena)
{
	struct scalar scalar;

	if (!node->tag && !node->quoted && node->len == 2 && memcmp(node->text, "<<", 2) == 0)
		return RIVER_YAML_MERGE;
	for (int type = 0; node->tag && type <= RIVER_YAML_MERGE; type++)
		if (is_tag(node, (enum river_yaml_type)type))
			return (enum river_yaml_type)type;
	/* Tags of the user's own make a key that is no text, too. */
	if (node->tag)
		return RIVER_YAML_NULL;
	if (node->quoted)
		return RIVER_YAML_STRING;
	resolve(node->text, node->len, true, arena, &scalar);
	return scalar.type;
}

static int mismatch(const struct river_yaml_node *node, enum river_yaml_type type,
		    struct river_arena *arena, const char **ret_problem)
{
	struct river_text t = RIVER_TEXT_INIT(arena);

	river_text_printf(&t, "yaml: cannot decode %s `%s` as a %s", type_tags[type], node->text,
			  node->tag);
	*ret_problem = river_text_take(&t);
	return *ret_problem ? RIVER_INVALID : -ENOMEM;
}

static int binary_value(const struct river_yaml_node *node, struct river_arena *arena,
			struct river_value **ret_value, const char **ret_problem)
{
	struct river_text t = RIVER_TEXT_INIT(arena);
	size_t ignored;

	if (!river_base64_decode(&t, node->text, node->len, RIVER_BASE64_STANDARD, &ignored)) {
		*ret_problem = "yaml: !!binary value contains invalid base64 data";
		return RIVER_INVALID;
	}
	*ret_value = river_value_wrap_text(arena, river_text_take(&t), t.len);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static struct river_value *number_value(const struct scalar *scalar, bool as_float,
					struct river_arena *arena)
{
	if (as_float)
		return (struct river_value *)river_value_float(
			arena, river_value_as_double(&scalar->number));
	return river_value_alias(arena, &scalar->number);
}

static struct river_value *timestamp_value(const struct river_yaml_node *node,
					   struct river_arena *arena)
{
	struct river_text t = RIVER_TEXT_INIT(arena);

	river_yaml_timestamp(node->text, node->len, &t);
	return river_value_wrap_text(arena, river_text_take(&t), t.len);
}

static struct river_value *value_of(const struct river_yaml_node *node, const struct scalar *scalar,
				    struct river_arena *arena)
{
	switch (scalar->type) {
	case RIVER_YAML_NULL:
		return river_value_new(arena, RIVER_TYPE_NULL);
	case RIVER_YAML_BOOL:
		return (struct river_value *)river_value_bool(arena, scalar->boolean);
	case RIVER_YAML_INT:
	case RIVER_YAML_FLOAT:
		return number_value(scalar, is_tag(node, RIVER_YAML_FLOAT), arena);
	case RIVER_YAML_TIMESTAMP:
		return timestamp_value(node, arena);
	case RIVER_YAML_STRING:
	case RIVER_YAML_MERGE:
		break;
	}
	return river_value_new_string(arena, node->text, node->len);
}

/* An integer will do for a float, unless it takes 64 bits. */
static bool is_wanted(const struct river_yaml_node *node, const struct scalar *scalar)
{
	return !node->tag || is_tag(node, scalar->type) ||
	       (is_tag(node, RIVER_YAML_FLOAT) && scalar->type == RIVER_YAML_INT &&
		scalar->number.number_kind == RIVER_NUMBER_INT);
}

int river_yaml_scalar(const struct river_yaml_node *node, struct river_arena *arena,
		      struct river_value **ret_value, const char **ret_problem)
{
	struct scalar scalar = { .type = RIVER_YAML_STRING };

	if (node->tag && strcmp(node->tag, "!!binary") == 0)
		return binary_value(node, arena, ret_value, ret_problem);
	if (is_resolvable(node) && (node->tag || !node->quoted))
		resolve(node->text, node->len, !node->tag || is_tag(node, RIVER_YAML_TIMESTAMP),
			arena, &scalar);
	if (is_resolvable(node) && !is_wanted(node, &scalar))
		return mismatch(node, scalar.type, arena, ret_problem);
	*ret_value = value_of(node, &scalar, arena);
	return *ret_value ? RIVER_OK : -ENOMEM;
}
