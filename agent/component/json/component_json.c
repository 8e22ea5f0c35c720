/* SPDX-License-Identifier: Apache-2.0 */
/* Components of the graph as JSON. */
#include "agent/component/json/component_json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/component/json/body_json.h"
#include "agent/util/clock.h"

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

static bool refers(const struct component_row *from, const struct component_row *to)
{
	for (size_t i = 0; i < from->n_deps; i++)
		if (from->deps[i] == to->self)
			return true;
	return false;
}

/* Configuration blocks are no components, here and in the list. */
static bool is_edge(const struct component_row *from, const struct component_row *to)
{
	return from->is_shown && to->is_shown && strcmp(from->module_id, to->module_id) == 0 &&
	       refers(from, to);
}

static int add_id(json_t *array, const struct component_row *row)
{
	return json_array_append_new(array, text_json(row->local_id, strlen(row->local_id)));
}

/* In order of evaluation; `receivers_only`: those that export any. */
static int add_to(json_t *array, const struct component_snapshot *s, const struct component_row *row,
		  bool receivers_only)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < s->n; k++)
		if (is_edge(row, &s->rows[k]) &&
		    (!receivers_only || s->rows[k].exports_receivers))
			r = add_id(array, &s->rows[k]);
	return r;
}

static int add_by(json_t *array, const struct component_snapshot *s, const struct component_row *row)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < s->n; k++)
		if (is_edge(&s->rows[k], row))
			r = add_id(array, &s->rows[k]);
	return r;
}

/* Takes the array: NULL when it failed. */
static json_t *unless_failed(json_t *array, int r)
{
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *to_json(const struct component_snapshot *s, const struct component_row *row)
{
	json_t *array = json_array();

	return unless_failed(array, add_to(array, s, row, false));
}

static json_t *by_json(const struct component_snapshot *s, const struct component_row *row)
{
	json_t *array = json_array();

	return unless_failed(array, add_by(array, s, row));
}

/* Data flows to whose receiver is referred to, and to who refers to what is exported. */
static json_t *flow_json(const struct component_snapshot *s, const struct component_row *row)
{
	json_t *array = json_array();
	int r = add_to(array, s, row, true);

	if (r == 0 && row->exports_data)
		r = add_by(array, s, row);
	return unless_failed(array, r);
}

static json_t *modules_json(const struct component_row *row)
{
	json_t *modules = json_array();
	int r = 0;

	for (size_t i = 0; r == 0 && i < row->n_modules; i++)
		r = json_array_append_new(modules,
					  text_json(row->modules[i], strlen(row->modules[i])));
	return unless_failed(modules, r);
}

static json_t *health_json(const struct health *health)
{
	char updated[TIME_TEXT_BYTES];

	put_time(health->updated_real_ns, updated);
	return json_pack("{s:s, s:o, s:s}", "state", health_state_text(health->state), "message",
			 text_json(health->message, strlen(health->message)), "updatedTime",
			 updated);
}

static json_t *arguments_json(const struct component_detail *d)
{
	if (d->schema && d->args)
		return body_json(d->schema, d->args);
	return body_json_of_object(d->args_object);
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

static int put_bodies(json_t *object, const struct component_detail *d)
{
	int r = put_unless_empty(object, "arguments", arguments_json(d));

	if (r < 0)
		return r;
	r = put_unless_empty(object, "exports", body_json_of_object(d->exports));
	if (r < 0)
		return r;
	return put_unless_empty(object, "debugInfo", body_json_of_object(d->info));
}

static int put_identity(json_t *object, const struct component_row *row)
{
	int r = json_object_set_new(object, "name", json_string(row->name));

	r |= json_object_set_new(object, "type", json_string("block"));
	r |= json_object_set_new(object, "localID",
				 text_json(row->local_id, strlen(row->local_id)));
	r |= json_object_set_new(object, "moduleID",
				 text_json(row->module_id, strlen(row->module_id)));
	if (*row->label)
		r |= json_object_set_new(object, "label",
					 text_json(row->label, strlen(row->label)));
	return r;
}

static int put_all(json_t *object, const struct component_snapshot *s, size_t i)
{
	const struct component_row *row = &s->rows[i];
	int r = put_identity(object, row);

	r |= json_object_set_new(object, "referencesTo", to_json(s, row));
	r |= json_object_set_new(object, "referencedBy", by_json(s, row));
	r |= json_object_set_new(object, "dataFlowEdgesTo", flow_json(s, row));
	r |= json_object_set_new(object, "health", health_json(&row->health));
	r |= json_object_set_new(object, "original", json_string(""));
	if (r == 0 && s->details[i])
		r = put_bodies(object, s->details[i]);
	r |= put_unless_empty(object, "createdModuleIDs", modules_json(row));
	r |= json_object_set_new(object, "liveDebuggingEnabled", json_false());
	return r;
}

json_t *component_json(const struct component_snapshot *s, size_t i)
{
	assert(i < s->n);

	json_t *object = json_object();

	if (!object || put_all(object, s, i) == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *components_json(const struct component_snapshot *s, const char *module_id)
{
	json_t *list = json_array();
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n; i++)
		if (s->rows[i].is_shown &&
		    (!module_id || strcmp(s->rows[i].module_id, module_id) == 0))
			r = json_array_append_new(list, component_json(s, i));
	return unless_failed(list, r);
}
