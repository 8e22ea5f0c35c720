/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as Prometheus' discovery by files and by HTTP lists them. */
#include "agent/discovery/target_groups.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "agent/discovery/yaml_json.h"
#include "agent/util/label_name.h"

/* Besides those of its group a target has its address and its origin. */
#define GROUP_LABELS_MAX (LABELS_RAW_MAX - 2)

struct reader {
	enum target_groups_format format;
	const struct label *origin;
	struct buf *why;
	struct target_list *list;
	size_t i_group;
};

/* A group's members, borrowed; NULL: none. */
struct group {
	const json_t *targets, *labels;
};

static const char *type_text(const json_t *json)
{
	static const char *const texts[] = {
		[JSON_OBJECT] = "a mapping", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a text",
		[JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
	};

	return texts[json_typeof(json)];
}

/* Counted from 1, as a person does. */
static int wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int wrong(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	(void)buf_printf(r->why, "group %zu: ", r->i_group + 1);
	va_start(ap, fmt);
	(void)buf_vprintf(r->why, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* What is left out of a label set is one that is "", so null is. */
static int read_label(struct reader *r, const char *name, const json_t *value, struct label *label)
{
	if (!label_name_is_valid(name))
		return wrong(r, "\"%.200s\" is not a valid label name", name);
	if (!json_is_string(value) && !json_is_null(value))
		return wrong(r, "label %.200s is %s, expected a text", name, type_text(value));
	*label = (struct label){ name, json_is_null(value) ? "" : json_string_value(value) };
	return 0;
}

/* `items` has room for GROUP_LABELS_MAX. */
static int read_labels(struct reader *r, const json_t *object, struct label *items, size_t *ret_n)
{
	const char *name;
	json_t *value;
	size_t n = 0;

	if (!json_is_object(object) && object)
		return wrong(r, "labels is %s, expected a mapping", type_text(object));
	if (json_object_size(object) > GROUP_LABELS_MAX)
		return wrong(r, "more than %d labels", GROUP_LABELS_MAX);
	json_object_foreach((json_t *)object, name, value)
	{
		int error = read_label(r, name, value, &items[n]);

		if (error < 0)
			return error;
		n++;
	}
	*ret_n = n;
	return 0;
}

/* Of equal names the last wins: what a target is called is not the labels' to say. */
static int add_target(struct reader *r, struct label *items, size_t n, const char *address)
{
	struct labels *labels = NULL;

	items[n] = *r->origin;
	items[n + 1] = (struct label){ "__address__", address };
	int error = labels_new(items, n + 2, &labels);
	if (error == 0)
		error = target_list_add(r->list, labels);
	if (error == -E2BIG)
		(void)wrong(r, "more than %d targets", TARGET_LIST_MAX);
	return error;
}

static int add_targets(struct reader *r, const struct group *g, struct label *items, size_t n)
{
	size_t n_targets = json_array_size(g->targets);
	int error = 0;

	if (!json_is_array(g->targets) && g->targets)
		return wrong(r, "targets is %s, expected a list", type_text(g->targets));
	for (size_t i = 0; error == 0 && i < n_targets; i++) {
		const json_t *address = json_array_get(g->targets, i);

		if (json_is_string(address))
			error = add_target(r, items, n, json_string_value(address));
		else
			error = wrong(r, "target %zu is %s, expected a text", i + 1,
				      type_text(address));
	}
	return error;
}

static bool is_key(const struct reader *r, const char *key, const char *wanted)
{
	/* Who writes JSON may write Targets: Go's decoder takes it. */
	return r->format == TARGET_GROUPS_JSON ? strcasecmp(key, wanted) == 0
					       : strcmp(key, wanted) == 0;
}

static int find_members(struct reader *r, const json_t *object, struct group *g)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		const json_t *given = json_is_null(value) ? NULL : value;

		if (is_key(r, key, "targets"))
			g->targets = given;
		else if (is_key(r, key, "labels"))
			g->labels = given;
		else
			return wrong(r, "unknown field \"%.200s\", expected targets and labels",
				     key);
	}
	return 0;
}

static int read_group(struct reader *r, const json_t *object)
{
	struct label items[LABELS_RAW_MAX];
	struct group g = { 0 };
	size_t n = 0;

	if (json_is_null(object))
		return wrong(r, "nil target group item found");
	if (!json_is_object(object))
		return wrong(r, "is %s, expected a mapping with targets and labels",
			     type_text(object));
	int error = find_members(r, object, &g);
	if (error == 0)
		error = read_labels(r, g.labels, items, &n);
	return error < 0 ? error : add_targets(r, &g, items, n);
}

static int read_groups(struct reader *r, const json_t *root)
{
	int error = 0;

	if (json_is_null(root))
		return 0;
	if (!json_is_array(root)) {
		(void)buf_printf(r->why, "this is %s, expected a list of target groups",
				 type_text(root));
		return -EINVAL;
	}
	for (; error == 0 && r->i_group < json_array_size(root); r->i_group++)
		error = read_group(r, json_array_get(root, r->i_group));
	return error;
}

static int json_read(struct str text, struct buf *why, json_t **ret_json)
{
	json_error_t error;

	if (str_trim(text).n == 0) {
		(void)buf_append_str(why, "this is empty, expected a list of target groups");
		return -EINVAL;
	}
	json_t *json = json_loadb(text.p, text.n, JSON_DECODE_ANY, &error);

	if (json) {
		*ret_json = json;
		return 0;
	}
	if (json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	(void)buf_printf(why, "line %d, column %d: %s", error.line, error.column, error.text);
	return -EINVAL;
}

int target_groups_read(struct str text, enum target_groups_format format,
		       const struct label *origin, struct buf *why, struct target_list *list)
{
	struct reader r = { .format = format, .origin = origin, .why = why, .list = list };
	json_t *root = NULL;
	int error = format == TARGET_GROUPS_JSON
			    ? json_read(text, why, &root)
			    : yaml_to_json(text.p ? text.p : "", text.n, why, &root);

	if (error == 0)
		error = read_groups(&r, root);
	json_decref(root);
	return error;
}
