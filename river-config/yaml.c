/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML's nodes to values: aliases followed, merge keys merged.
 *
 * Aliases make a small text a large value. How large is bounded as in the reference: the share of
 * nodes that are there because of an alias must not be overwhelming, the less so the more there are;
 * and the arena has a ceiling.
 */
#include "river-config/yaml.h"

#include <errno.h>
#include <string.h>

#include "river-config/print.h"
#include "river-config/vec.h"

/* Below these nobody asks for the share. */
#define ALIASED_FREE 100
#define DECODED_FREE 1000

/* The share that may come from aliases is 99 % up to LOW nodes, and 10 % from HIGH on. */
#define RATIO_LOW 400000
#define RATIO_HIGH 4000000

#define OTHER_MAP "map[interface {}]interface {}"

struct decoder {
	struct river_arena *arena;
	size_t n_decoded;
	size_t n_aliased; /* of these, below an alias */
	unsigned int alias_depth;
	unsigned int depth;
	struct river_text mistakes; /* found, while the rest is still looked at */
	const char *problem;
};

static int decode(struct decoder *d, struct river_yaml_node *node, struct river_value **ret_value);
static int collect(struct decoder *d, struct river_yaml_node *node, struct river_vec *members);

static int __attribute__((format(printf, 2, 3))) fail(struct decoder *d, const char *fmt, ...)
{
	struct river_text t = RIVER_TEXT_INIT(d->arena);
	va_list ap;

	va_start(ap, fmt);
	river_text_str(&t, "yaml: ");
	river_text_vprintf(&t, fmt, ap);
	va_end(ap);
	d->problem = river_text_take(&t);
	return d->problem ? RIVER_INVALID : -ENOMEM;
}

static double allowed_share(size_t n)
{
	if (n <= RATIO_LOW)
		return 0.99;
	if (n >= RATIO_HIGH)
		return 0.10;
	return 0.99 - 0.89 * ((double)(n - RATIO_LOW) / (RATIO_HIGH - RATIO_LOW));
}

static int count_node(struct decoder *d)
{
	d->n_decoded++;
	d->n_aliased += d->alias_depth > 0;
	if (d->n_aliased > ALIASED_FREE && d->n_decoded > DECODED_FREE &&
	    (double)d->n_aliased / (double)d->n_decoded > allowed_share(d->n_decoded))
		return fail(d, "document contains excessive aliasing");
	return RIVER_OK;
}

static int enter(struct decoder *d)
{
	if (d->depth > RIVER_DEPTH_MAX)
		return fail(d, "exceeded max depth of %d", RIVER_DEPTH_MAX);
	d->depth++;
	return RIVER_OK;
}

static int enter_alias(struct decoder *d, struct river_yaml_node *alias)
{
	if (alias->entered)
		return fail(d, "anchor '%s' value contains itself", alias->text);
	alias->entered = true;
	d->alias_depth++;
	return RIVER_OK;
}

static void leave_alias(struct decoder *d, struct river_yaml_node *alias)
{
	d->alias_depth--;
	alias->entered = false;
}

static int decode_alias(struct decoder *d, struct river_yaml_node *node,
			struct river_value **ret_value)
{
	int r = enter_alias(d, node);

	if (r != RIVER_OK)
		return r;
	r = decode(d, node->target, ret_value);
	leave_alias(d, node);
	return r;
}

static int decode_sequence(struct decoder *d, struct river_yaml_node *node,
			   struct river_value **ret_value)
{
	struct river_value **items =
		river_arena_alloc(d->arena, node->n_items * sizeof(struct river_value *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < node->n_items; i++) {
		int r = decode(d, node->items[i], &items[i]);

		if (r != RIVER_OK)
			return r;
	}
	*ret_value = river_value_wrap_array(d->arena, items, node->n_items);
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static bool is_merge(const struct river_yaml_node *key)
{
	if (key->kind != RIVER_YAML_SCALAR || key->len != 2 || memcmp(key->text, "<<", 2) != 0)
		return false;
	return key->tag ? strcmp(key->tag, "!!merge") == 0 : !key->quoted;
}

/* Whether all keys are texts. */
static bool is_text_map(struct decoder *d, const struct river_yaml_node *node)
{
	for (size_t i = 0; i < node->n_items; i += 2) {
		const struct river_yaml_node *key = river_yaml_resolve(node->items[i]);
		enum river_yaml_type type = RIVER_YAML_NULL;

		if (key->kind == RIVER_YAML_SCALAR)
			type = river_yaml_scalar_type(key, d->arena);
		if (type != RIVER_YAML_STRING && type != RIVER_YAML_MERGE)
			return false;
	}
	return true;
}

static int bad_key(struct decoder *d, const struct river_value *key)
{
	struct river_text t = RIVER_TEXT_INIT(d->arena);

	river_print_value(&t, key, RIVER_LAYOUT_LINE);
	return river_text_take(&t) ? fail(d, "invalid map key: %s", t.data) : -ENOMEM;
}

static int collect_pair(struct decoder *d, struct river_yaml_node *key,
			struct river_yaml_node *value, struct river_vec *members)
{
	const struct river_yaml_node *text = river_yaml_resolve(key);
	struct river_object_member member = { .key = text->text, .key_len = text->len };
	struct river_value *key_value;
	int r = decode(d, key, &key_value);

	if (r != RIVER_OK)
		return r;
	if (key_value->type == RIVER_TYPE_ARRAY || key_value->type == RIVER_TYPE_OBJECT)
		return bad_key(d, key_value);
	/* A map that has a key of another type turns up here when it is merged, or is opaque. */
	if (text->kind != RIVER_YAML_SCALAR)
		return fail(d, "invalid map key: %s", OTHER_MAP);
	r = decode(d, value, &member.value);
	return r == RIVER_OK ? river_vec_push(members, d->arena, &member) : r;
}

static int merge_one(struct decoder *d, struct river_yaml_node *node, struct river_vec *members)
{
	bool is_alias = node->kind == RIVER_YAML_ALIAS;
	int r;

	if (river_yaml_resolve(node)->kind != RIVER_YAML_MAPPING)
		return fail(d, "map merge requires map or sequence of maps as the value");
	r = is_alias ? enter_alias(d, node) : RIVER_OK;
	if (r != RIVER_OK)
		return r;
	r = collect(d, is_alias ? node->target : node, members);
	if (is_alias)
		leave_alias(d, node);
	return r;
}

static int merge(struct decoder *d, struct river_yaml_node *node, struct river_vec *members)
{
	int r = RIVER_OK;

	if (node->kind != RIVER_YAML_SEQUENCE)
		return merge_one(d, node, members);
	for (size_t i = 0; i < node->n_items && r == RIVER_OK; i++)
		r = merge_one(d, node->items[i], members);
	return r;
}

/* Members in the order of their right: a map's own, then what is merged into it. */
static int collect(struct decoder *d, struct river_yaml_node *node, struct river_vec *members)
{
	size_t n_mistakes = d->mistakes.len;
	struct river_yaml_node *merged = NULL;
	int r = count_node(d);

	if (r == RIVER_OK)
		r = enter(d);
	if (r == RIVER_OK)
		r = river_yaml_check_keys(node, d->arena, &d->mistakes);
	if (r == RIVER_OK && d->mistakes.len > n_mistakes) {
		d->depth--;
		return RIVER_OK;
	}
	for (size_t i = 0; r == RIVER_OK && i + 1 < node->n_items; i += 2) {
		if (is_merge(node->items[i]))
			merged = node->items[i + 1];
		else
			r = collect_pair(d, node->items[i], node->items[i + 1], members);
	}
	if (r == RIVER_OK && merged)
		r = merge(d, merged, members);
	d->depth--;
	return r;
}

/* The last of equal keys is the one that stays, so the rightful ones come last. */
static void reverse(struct river_object_member *members, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct river_object_member member = members[i];

		members[i] = members[n - 1 - i];
		members[n - 1 - i] = member;
	}
}

static int decode_mapping(struct decoder *d, struct river_yaml_node *node,
			  struct river_value **ret_value)
{
	struct river_vec members = RIVER_VEC_INIT(struct river_object_member);
	int r = collect(d, node, &members);

	if (r != RIVER_OK)
		return r;
	if (is_text_map(d, node)) {
		reverse(members.data, members.n_items);
		*ret_value = river_value_wrap_object(d->arena, members.data, members.n_items);
	} else {
		*ret_value = (struct river_value *)river_value_capsule(d->arena, OTHER_MAP, NULL);
	}
	return *ret_value ? RIVER_OK : -ENOMEM;
}

static int decode_kind(struct decoder *d, struct river_yaml_node *node,
		       struct river_value **ret_value)
{
	switch (node->kind) {
	case RIVER_YAML_SCALAR:
		return river_yaml_scalar(node, d->arena, ret_value, &d->problem);
	case RIVER_YAML_SEQUENCE:
		return decode_sequence(d, node, ret_value);
	case RIVER_YAML_ALIAS:
		return decode_alias(d, node, ret_value);
	case RIVER_YAML_MAPPING:
		break;
	}
	return -EINVAL;
}

static int decode(struct decoder *d, struct river_yaml_node *node, struct river_value **ret_value)
{
	int r;

	/* It counts itself, as it does when it is merged. */
	if (node->kind == RIVER_YAML_MAPPING)
		return decode_mapping(d, node, ret_value);
	r = count_node(d);
	if (r == RIVER_OK)
		r = enter(d);
	if (r != RIVER_OK)
		return r;
	r = decode_kind(d, node, ret_value);
	d->depth--;
	return r;
}

static int report_mistakes(struct decoder *d)
{
	return river_text_take(&d->mistakes) ? fail(d, "unmarshal errors:%s", d->mistakes.data)
					     : -ENOMEM;
}

int river_yaml_read(const char *s, size_t n, struct river_arena *arena,
		    struct river_value **ret_value, const char **ret_problem)
{
	struct decoder d = { .arena = arena, .mistakes = RIVER_TEXT_INIT(arena) };
	struct river_yaml_node *node;
	struct river_yaml_problem problem;
	int r = river_yaml_parse(s, n, SIZE_MAX, arena, &node, &problem);

	if (r == RIVER_INVALID)
		r = fail(&d, "line %zu: %s", problem.line, problem.text);
	if (r == RIVER_INVALID)
		*ret_problem = d.problem;
	if (r != RIVER_OK)
		return r;
	if (!node) {
		*ret_value = river_value_new(arena, RIVER_TYPE_NULL);
		return *ret_value ? RIVER_OK : -ENOMEM;
	}
	r = decode(&d, node, ret_value);
	if (r == RIVER_OK && (d.mistakes.len > 0 || d.mistakes.failed))
		r = report_mistakes(&d);
	if (r == RIVER_INVALID)
		*ret_problem = d.problem;
	return r;
}
