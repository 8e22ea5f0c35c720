/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a profile of /ingest. */
#include "agent/receive/ingest_labels.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "agent/push/relay.h"
#include "agent/util/macro.h"

/* Those of the name, and __name__, __delta__, pyroscope_spy, service_name, app_name, profile_name. */
#define MAX_ITEMS (LABELS_MAX + 6)
/* More would be no list of types. */
#define CONFIG_MAX_BYTES ((size_t)64 << 10)

struct list {
	struct label items[MAX_ITEMS];
	size_t n;
	char app[LABEL_VALUE_MAX + 1], profile_name[LABEL_VALUE_MAX + 1];
};

static void add(struct list *l, const char *name, const char *value)
{
	l->items[l->n++] = (struct label){ name, value };
}

static void add_text(struct list *l, const char *name, struct str value, char *copy)
{
	size_t n = MIN_OF(value.n, (size_t)LABEL_VALUE_MAX);

	memcpy(copy, value.p, n);
	copy[n] = '\0';
	add(l, name, copy);
}

/* Labels that begin with "__" are the server's, and its components'. */
static void add_name(struct list *l, const struct ingest_name *name)
{
	for (size_t i = 0; i < name->n; i++)
		if (strncmp(name->items[i].name, "__", 2) != 0)
			add(l, name->items[i].name, name->items[i].value);
}

int ingest_labels_make(const struct ingest_labels_options *o, struct labels **ret_labels)
{
	bool has_service = ingest_name_label(o->name, "service_name");
	struct list l = { .n = 0 };

	add(&l, "__name__", o->metric);
	if (o->relay) {
		add(&l, PUSH_RELAY_LABEL, o->relay);
	} else {
		add(&l, "__delta__", "false");
		add(&l, "pyroscope_spy", o->spy);
	}
	if (!has_service)
		add_text(&l, "service_name", o->app, l.app);
	else if (o->keeps_app && !ingest_name_label(o->name, "app_name"))
		add_text(&l, "app_name", o->app, l.app);
	add_name(&l, o->name);
	if (o->profile_name.p && o->profile_name.n > 0)
		add_text(&l, "profile_name", o->profile_name, l.profile_name);
	return labels_new(l.items, l.n, ret_labels);
}

/* ---- __name__ of a pprof ---- */

/* Go's types, where a client says nothing about them. */
static const struct {
	const char *type, *name;
} names[] = {
	{ "samples", "cpu" },
	{ "goroutine", "goroutines" },
	{ "contentions", "mutex_count" },
	{ "delay", "mutex_duration" },
};

static const char *config_name(const json_t *config, const char *type)
{
	const json_t *name = json_object_get(json_object_get(config, type), "display-name");

	return name && json_is_string(name) && *json_string_value(name) ? json_string_value(name)
									: type;
}

static const char *default_name(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].type, type) == 0)
			return names[i].name;
	return type;
}

/* NULL: the name tells of no group. */
static const char *group_of(const char *name)
{
	if (strstr(name, "cpu"))
		return "process_cpu";
	if (strstr(name, "alloc_") || strstr(name, "inuse_") || strcmp(name, "space") == 0 ||
	    strcmp(name, "objects") == 0)
		return "memory";
	if (strstr(name, "mutex_"))
		return "mutex";
	if (strstr(name, "block_"))
		return "block";
	return strstr(name, "goroutines") ? "goroutines" : NULL;
}

static bool has_wall(struct str types)
{
	struct str type;

	while (str_split(&types, '\n', &type))
		if (str_eq(type, STR_LIT("wall")))
			return true;
	return false;
}

static void choose(struct str types, const json_t *config, struct buf *out)
{
	char text[LABEL_VALUE_MAX + 1];
	const char *name = "";
	struct str type;

	while (str_split(&types, '\n', &type)) {
		if (type.n == 0 || type.n > LABEL_VALUE_MAX)
			continue;
		memcpy(text, type.p, type.n);
		text[type.n] = '\0';
		name = config ? config_name(config, text) : default_name(text);
		if (!group_of(name))
			continue;
		(void)buf_append_str(out, group_of(name));
		return;
	}
	(void)buf_append_str(out, name);
}

void ingest_labels_metric(struct str types, struct str config, struct buf *ret_metric)
{
	json_error_t error;
	json_t *root = config.n > 0 && config.n <= CONFIG_MAX_BYTES
			       ? json_loadb(config.p, config.n, 0, &error)
			       : NULL;

	if (has_wall(types))
		(void)buf_append_str(ret_metric, "wall");
	else
		choose(types, json_is_object(root) ? root : NULL, ret_metric);
	json_decref(root);
}
