/* SPDX-License-Identifier: Apache-2.0 */
/* A component of the graph as JSON. */
#include "agent/component/component_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/component/body_json.h"
#include "agent/util/clock.h"
#include "agent/util/str.h"

/* "2026-11-22T03:50:56.123456789Z" */
#define TIME_TEXT_BYTES 40

/* RFC 3339 as Go's encoder spells it: without the last zeros of the fraction. */
static void put_time(uint64_t real_ns, char text[static TIME_TEXT_BYTES])
{
	time_t s = (time_t)(real_ns / NS_PER_S);
	struct tm tm;
	int n;

	(void)gmtime_r(&s, &tm);
	n = (int)strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	n += snprintf(text + n, TIME_TEXT_BYTES - (size_t)n, ".%09u",
		      (unsigned int)(real_ns % NS_PER_S));
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	(void)snprintf(text + n, TIME_TEXT_BYTES - (size_t)n, "Z");
}

struct ids {
	const struct graph *g;
	json_t *array;
};

static int add_id(void *ctx, size_t i)
{
	struct ids *ids = ctx;
	struct graph_view view;

	graph_view(ids->g, i, &view);
	/* Configuration blocks are no components, here and in the list. */
	if (view.class != GRAPH_COMPONENT)
		return 0;
	return json_array_append_new(ids->array, text_json(view.local_id, strlen(view.local_id)));
}

static json_t *references_json(const struct graph *g, size_t i, enum graph_direction direction)
{
	struct ids ids = { .g = g, .array = json_array() };

	if (!ids.array || graph_each_reference(g, i, direction, add_id, &ids) == 0)
		return ids.array;
	json_decref(ids.array);
	return NULL;
}

/* Whether it exports receivers, or data. */
static bool exports_any(const struct graph *g, size_t i, bool receivers)
{
	const struct river_value *exports = NULL;
	struct river_arena arena;
	bool found = false;

	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	if (graph_exports(g, i, &arena, &exports) < 0)
		exports = NULL;
	for (size_t k = 0; exports && !found && k < river_value_len(exports); k++) {
		const struct river_value *v = river_value_member(exports, k);
		bool is_receiver = river_value_type(v) == RIVER_TYPE_CAPSULE &&
				   !river_value_is_secret(v);

		found = is_receiver == receivers;
	}
	river_arena_fini(&arena);
	return found;
}

static int add_receiver(void *ctx, size_t i)
{
	const struct ids *ids = ctx;

	return exports_any(ids->g, i, true) ? add_id(ctx, i) : 0;
}

/* Data flows to whose receiver is referred to, and to who refers to what is exported. */
static json_t *flow_json(const struct graph *g, size_t i)
{
	struct ids ids = { .g = g, .array = json_array() };
	int r = ids.array ? graph_each_reference(g, i, GRAPH_TO, add_receiver, &ids) : -1;

	if (r == 0 && exports_any(g, i, false))
		r = graph_each_reference(g, i, GRAPH_BY, add_id, &ids);
	if (r == 0)
		return ids.array;
	json_decref(ids.array);
	return NULL;
}

static int add_module(void *ctx, const char *module_id)
{
	return json_array_append_new(ctx, text_json(module_id, strlen(module_id)));
}

static json_t *modules_json(const struct graph *g, size_t i)
{
	json_t *modules = json_array();

	if (!modules || graph_each_module(g, i, add_module, modules) == 0)
		return modules;
	json_decref(modules);
	return NULL;
}

static json_t *health_json(const struct health *health)
{
	char updated[TIME_TEXT_BYTES];

	put_time(health->updated_real_ns, updated);
	return json_pack("{s:s, s:o, s:s}", "state", health_state_text(health->state), "message",
			 text_json(health->message, strlen(health->message)), "updatedTime",
			 updated);
}

static json_t *arguments_json(const struct graph_view *view)
{
	if (view->schema && view->args)
		return body_json(view->schema, view->args);
	return body_json_of_object(view->args_object);
}

static json_t *exports_json(const struct graph *g, size_t i)
{
	const struct river_value *exports = NULL;
	struct river_arena arena;
	json_t *body = NULL;

	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	if (graph_exports(g, i, &arena, &exports) == 0)
		body = body_json_of_object(exports);
	river_arena_fini(&arena);
	return body;
}

static json_t *debug_json(const struct component *c)
{
	const struct river_value *info = NULL;
	struct river_arena arena;
	json_t *body = NULL;

	if (!c->kind || !c->kind->debug_info)
		return json_array();
	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	if (c->kind->debug_info((struct component *)c, &arena, &info) == 0)
		body = body_json_of_object(info);
	river_arena_fini(&arena);
	return body;
}

/* Takes `value`; one that is empty is left out. */
static int put_unless_empty(json_t *object, const char *key, json_t *value)
{
	if (value && json_array_size(value) == 0) {
		json_decref(value);
		return 0;
	}
	return json_object_set_new(object, key, value);
}

static int put_bodies(json_t *object, const struct graph *g, size_t i,
		      const struct graph_view *view)
{
	int r = put_unless_empty(object, "arguments", arguments_json(view));

	if (r == 0)
		r = put_unless_empty(object, "exports", exports_json(g, i));
	return r == 0 ? put_unless_empty(object, "debugInfo", debug_json(view->c)) : r;
}

static int put_identity(json_t *object, const struct graph_view *view)
{
	int r = json_object_set_new(object, "name", json_string(view->name));

	r |= json_object_set_new(object, "type", json_string("block"));
	r |= json_object_set_new(object, "localID",
				 text_json(view->local_id, strlen(view->local_id)));
	r |= json_object_set_new(object, "moduleID",
				 text_json(view->module_id, strlen(view->module_id)));
	if (view->c->label && *view->c->label)
		r |= json_object_set_new(object, "label",
					 text_json(view->c->label, strlen(view->c->label)));
	return r;
}

static int put_all(json_t *object, const struct graph *g, size_t i, bool detail)
{
	struct graph_view view;
	int r;

	graph_view(g, i, &view);
	r = put_identity(object, &view);
	r |= json_object_set_new(object, "referencesTo", references_json(g, i, GRAPH_TO));
	r |= json_object_set_new(object, "referencedBy", references_json(g, i, GRAPH_BY));
	r |= json_object_set_new(object, "dataFlowEdgesTo", flow_json(g, i));
	r |= json_object_set_new(object, "health", health_json(&view.c->health));
	r |= json_object_set_new(object, "original", json_string(""));
	if (r == 0 && detail)
		r = put_bodies(object, g, i, &view);
	r |= put_unless_empty(object, "createdModuleIDs", modules_json(g, i));
	r |= json_object_set_new(object, "liveDebuggingEnabled", json_false());
	return r;
}

json_t *component_json(const struct graph *g, size_t i, bool detail)
{
	json_t *object = json_object();

	if (!object || put_all(object, g, i, detail) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static bool is_listed(const struct graph *g, size_t i, const char *module_id)
{
	struct graph_view view;

	graph_view(g, i, &view);
	return view.class == GRAPH_COMPONENT &&
	       (!module_id || strcmp(view.module_id, module_id) == 0);
}

json_t *components_json(const struct graph *g, const char *module_id, bool detail)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < graph_n(g); i++) {
		if (!is_listed(g, i, module_id) ||
		    json_array_append_new(list, component_json(g, i, detail)) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}
