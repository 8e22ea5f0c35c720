/* SPDX-License-Identifier: Apache-2.0 */
/* A request of OTLP profiles for tests. */
#include "tests/support/made_otlp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *take(struct made_otlp *m, size_t n)
{
	void *p = arena_alloc(&m->arena, n);

	assert(p);
	return memset(p, 0, n);
}

/* One more row of a table of MADE_OTLP_MAX. */
#define ADD(m, owner, table, type, prefix)                                                   \
	({                                                                                   \
		type *row_ = take((m), sizeof(*row_));                                       \
		if (!(owner)->table)                                                         \
			(owner)->table = take((m), MADE_OTLP_MAX * sizeof(*(owner)->table)); \
		assert((owner)->n_##table < MADE_OTLP_MAX);                                  \
		prefix##__init(row_);                                                        \
		(owner)->table[(owner)->n_##table++] = row_;                                 \
		row_;                                                                        \
	})

int32_t made_otlp_text(struct made_otlp *m, const char *text)
{
	Otlp__Profiles__ProfilesDictionary *d = &m->dictionary;

	for (size_t i = 0; i < d->n_string_table; i++)
		if (strcmp(d->string_table[i], text) == 0)
			return (int32_t)i;
	assert(d->n_string_table < MADE_OTLP_MAX);
	d->string_table[d->n_string_table] = arena_strndup(&m->arena, text, strlen(text));
	return (int32_t)d->n_string_table++;
}

static void take_int(struct made_otlp *m, size_t *n, int32_t **items, int32_t value)
{
	if (!*items)
		*items = take(m, MADE_OTLP_MAX * sizeof(**items));
	assert(*n < MADE_OTLP_MAX);
	(*items)[(*n)++] = value;
}

static Otlp__Profiles__AnyValue *text_value(struct made_otlp *m, const char *value)
{
	Otlp__Profiles__AnyValue *v = take(m, sizeof(*v));

	otlp__profiles__any_value__init(v);
	v->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE;
	v->string_value = arena_strndup(&m->arena, value, strlen(value));
	return v;
}

Otlp__Profiles__KeyValue *made_otlp_resource(struct made_otlp *m, const char *key,
					     const char *value)
{
	Otlp__Profiles__KeyValue *kv = ADD(m, m->resource->resource, attributes,
					   Otlp__Profiles__KeyValue, otlp__profiles__key_value);

	kv->key = arena_strndup(&m->arena, key, strlen(key));
	kv->value = text_value(m, value);
	return kv;
}

Otlp__Profiles__KeyValue *made_otlp_scope(struct made_otlp *m, const char *key, const char *value)
{
	Otlp__Profiles__KeyValue *kv = ADD(m, m->scope->scope, attributes, Otlp__Profiles__KeyValue,
					   otlp__profiles__key_value);

	kv->key = arena_strndup(&m->arena, key, strlen(key));
	kv->value = text_value(m, value);
	return kv;
}

Otlp__Profiles__KeyValueAndUnit *made_otlp_attribute(struct made_otlp *m, size_t sample,
						     const char *key, const char *value)
{
	Otlp__Profiles__KeyValueAndUnit *kv =
		ADD(m, &m->dictionary, attribute_table, Otlp__Profiles__KeyValueAndUnit,
		    otlp__profiles__key_value_and_unit);
	Otlp__Profiles__Sample *s = m->profile->samples[sample];

	kv->key_strindex = made_otlp_text(m, key);
	kv->value = text_value(m, value);
	take_int(m, &s->n_attribute_indices, &s->attribute_indices,
		 (int32_t)m->dictionary.n_attribute_table - 1);
	return kv;
}

Otlp__Profiles__Sample *made_otlp_sample(struct made_otlp *m, Otlp__Profiles__Profile *p,
					 int32_t stack, int64_t value)
{
	Otlp__Profiles__Sample *s =
		ADD(m, p, samples, Otlp__Profiles__Sample, otlp__profiles__sample);

	s->stack_index = stack;
	s->values = take(m, MADE_OTLP_MAX * sizeof(*s->values));
	s->values[0] = value;
	s->n_values = 1;
	s->timestamps_unix_nano = take(m, MADE_OTLP_MAX * sizeof(*s->timestamps_unix_nano));
	return s;
}

static Otlp__Profiles__ValueType *value_type(struct made_otlp *m, const char *type,
					     const char *unit)
{
	Otlp__Profiles__ValueType *t = take(m, sizeof(*t));

	otlp__profiles__value_type__init(t);
	t->type_strindex = made_otlp_text(m, type);
	t->unit_strindex = made_otlp_text(m, unit);
	return t;
}

Otlp__Profiles__Profile *made_otlp_profile(struct made_otlp *m, const char *type, const char *unit,
					   const char *period_type, const char *period_unit,
					   int64_t period)
{
	Otlp__Profiles__Profile *p =
		ADD(m, m->scope, profiles, Otlp__Profiles__Profile, otlp__profiles__profile);

	p->time_unix_nano = MADE_OTLP_TIME_NS;
	p->duration_nano = MADE_OTLP_DURATION_NS;
	p->sample_type = value_type(m, type, unit);
	if (period_type)
		p->period_type = value_type(m, period_type, period_unit);
	p->period = period;
	return p;
}

static void add_location(struct made_otlp *m, uint64_t address, int32_t function, int64_t line)
{
	Otlp__Profiles__Location *l = ADD(m, &m->dictionary, location_table,
					  Otlp__Profiles__Location, otlp__profiles__location);

	l->mapping_index = address ? 1 : 0;
	l->address = address;
	if (!function)
		return;
	Otlp__Profiles__Line *x = ADD(m, l, lines, Otlp__Profiles__Line, otlp__profiles__line);

	x->function_index = function;
	x->line = line;
}

static void add_function(struct made_otlp *m, const char *name)
{
	Otlp__Profiles__Function *f = ADD(m, &m->dictionary, function_table,
					  Otlp__Profiles__Function, otlp__profiles__function);

	f->name_strindex = made_otlp_text(m, name);
	f->filename_strindex = *name ? made_otlp_text(m, "a.c") : 0;
}

static void add_stack(struct made_otlp *m, const int32_t *locations, size_t n)
{
	Otlp__Profiles__Stack *s =
		ADD(m, &m->dictionary, stack_table, Otlp__Profiles__Stack, otlp__profiles__stack);

	for (size_t i = 0; i < n; i++)
		take_int(m, &s->n_location_indices, &s->location_indices, locations[i]);
}

static void add_tables(struct made_otlp *m)
{
	Otlp__Profiles__Mapping *mapping;

	(void)ADD(m, &m->dictionary, mapping_table, Otlp__Profiles__Mapping,
		  otlp__profiles__mapping);
	mapping = ADD(m, &m->dictionary, mapping_table, Otlp__Profiles__Mapping,
		      otlp__profiles__mapping);
	mapping->memory_start = 0x1000;
	mapping->memory_limit = 0x9000;
	mapping->filename_strindex = made_otlp_text(m, "/bin/made");
	(void)ADD(m, &m->dictionary, link_table, Otlp__Profiles__Link, otlp__profiles__link);
	(void)ADD(m, &m->dictionary, attribute_table, Otlp__Profiles__KeyValueAndUnit,
		  otlp__profiles__key_value_and_unit);
	add_function(m, "");
	add_function(m, "main");
	add_function(m, "work");
	add_location(m, 0, 0, 0);
	add_location(m, 0x1010, 1, 7);
	add_location(m, 0x1020, 2, 8);
	add_location(m, 0x1030, 0, 0);
	add_stack(m, NULL, 0);
	add_stack(m, (const int32_t[]){ 2, 1 }, 2);
	add_stack(m, (const int32_t[]){ 3, 2, 1 }, 3);
}

void made_otlp_init(struct made_otlp *m)
{
	memset(m, 0, sizeof(*m));
	arena_init(&m->arena, (size_t)1 << 20);
	otlp__profiles__export_profiles_service_request__init(&m->request);
	otlp__profiles__profiles_dictionary__init(&m->dictionary);
	m->request.dictionary = &m->dictionary;
	m->dictionary.string_table = take(m, MADE_OTLP_MAX * sizeof(char *));
	(void)made_otlp_text(m, "");
	add_tables(m);
	m->resource = ADD(m, &m->request, resource_profiles, Otlp__Profiles__ResourceProfiles,
			  otlp__profiles__resource_profiles);
	m->resource->resource = take(m, sizeof(*m->resource->resource));
	otlp__profiles__resource__init(m->resource->resource);
	m->scope = ADD(m, m->resource, scope_profiles, Otlp__Profiles__ScopeProfiles,
		       otlp__profiles__scope_profiles);
	m->scope->scope = take(m, sizeof(*m->scope->scope));
	otlp__profiles__instrumentation_scope__init(m->scope->scope);
	m->profile = made_otlp_profile(m, "samples", "count", "cpu", "nanoseconds", 10000000);
	(void)made_otlp_sample(m, m->profile, 1, 5);
	(void)made_otlp_sample(m, m->profile, 2, 2);
}

void made_otlp_fini(struct made_otlp *m)
{
	arena_fini(&m->arena);
}

uint8_t *made_otlp_pack(const struct made_otlp *m, size_t *ret_n)
{
	size_t n = protobuf_c_message_get_packed_size(&m->request.base);
	uint8_t *bytes = malloc(n + 1);

	assert(bytes);
	*ret_n = protobuf_c_message_pack(&m->request.base, bytes);
	return bytes;
}
