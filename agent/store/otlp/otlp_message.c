/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to a checked message. */
#include "agent/store/otlp/otlp_message.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/store/connect/connect.h"
#include "agent/store/ingest/wire_scan.h"

#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES 8

typedef Otlp__Profiles__ProfilesDictionary dictionary;

static int refuse(struct buf *why, int outcome, const char *text)
{
	(void)buf_append_str(why, text);
	return outcome;
}

/* ---- references ---- */

struct checking {
	const dictionary *d;
	struct read_budget *budget;
	struct buf *why;
	bool sound, canceled;
};

static bool goes_on(struct checking *c)
{
	c->canceled = c->canceled || !read_budget_goes_on(c->budget);
	return c->sound && !c->canceled;
}

static void check(struct checking *c, const char *what, int64_t index, size_t n)
{
	if (index >= 0 && (index == 0 || (uint64_t)index < n))
		return;
	if (c->sound)
		(void)buf_printf(c->why, "%s %" PRId64 " is not in its table, which has %zu", what,
				 index, n);
	c->sound = false;
}

static void check_text(struct checking *c, int32_t index)
{
	check(c, "string", index, c->d->n_string_table);
}

static void check_attributes(struct checking *c, const int32_t *indices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(c, "attribute", indices[i], c->d->n_attribute_table);
}

static void check_value(struct checking *c, const Otlp__Profiles__AnyValue *v)
{
	if (v && v->value_case == OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX)
		check_text(c, v->string_value_strindex);
}

static void check_key_values(struct checking *c, Otlp__Profiles__KeyValue *const *items, size_t n)
{
	for (size_t i = 0; i < n && goes_on(c); i++) {
		check_text(c, items[i]->key_strindex);
		check_value(c, items[i]->value);
	}
}

static void check_functions(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_function_table && goes_on(c); i++) {
		const Otlp__Profiles__Function *f = c->d->function_table[i];

		check_text(c, f->name_strindex);
		check_text(c, f->system_name_strindex);
		check_text(c, f->filename_strindex);
	}
}

static void check_mappings(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_mapping_table && goes_on(c); i++) {
		const Otlp__Profiles__Mapping *m = c->d->mapping_table[i];

		check_text(c, m->filename_strindex);
		check_attributes(c, m->attribute_indices, m->n_attribute_indices);
	}
}

static void check_locations(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_location_table && goes_on(c); i++) {
		const Otlp__Profiles__Location *l = c->d->location_table[i];

		check(c, "mapping", l->mapping_index, c->d->n_mapping_table);
		check_attributes(c, l->attribute_indices, l->n_attribute_indices);
		for (size_t k = 0; k < l->n_lines; k++)
			check(c, "function", l->lines[k]->function_index, c->d->n_function_table);
	}
}

static void check_stacks(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_stack_table && goes_on(c); i++) {
		const Otlp__Profiles__Stack *s = c->d->stack_table[i];

		for (size_t k = 0; k < s->n_location_indices; k++)
			check(c, "location", s->location_indices[k], c->d->n_location_table);
	}
}

static void check_attribute_table(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_attribute_table && goes_on(c); i++) {
		check_text(c, c->d->attribute_table[i]->key_strindex);
		check_text(c, c->d->attribute_table[i]->unit_strindex);
		check_value(c, c->d->attribute_table[i]->value);
	}
}

/* The zero value has no ids. */
static void check_links(struct checking *c)
{
	for (size_t i = 0; i < c->d->n_link_table && goes_on(c); i++) {
		const Otlp__Profiles__Link *l = c->d->link_table[i];

		if (l->trace_id.len == 0 && l->span_id.len == 0)
			continue;
		if (l->trace_id.len == TRACE_ID_BYTES && l->span_id.len == SPAN_ID_BYTES)
			continue;
		(void)buf_append_str(c->why, "a link has ids of a wrong length");
		c->sound = false;
	}
}

static void check_dictionary(struct checking *c)
{
	if (c->d->n_string_table > 0 && *c->d->string_table[0]) {
		(void)buf_append_str(c->why, "the first string is not empty");
		c->sound = false;
	}
	check_functions(c);
	check_mappings(c);
	check_locations(c);
	check_stacks(c);
	check_attribute_table(c);
	check_links(c);
}

static void check_type(struct checking *c, const Otlp__Profiles__ValueType *type)
{
	if (!type)
		return;
	check_text(c, type->type_strindex);
	check_text(c, type->unit_strindex);
}

/* One of both numbers, or as many of both. */
static void check_shape(struct checking *c, const Otlp__Profiles__Sample *s)
{
	size_t n_times = s->n_timestamps_unix_nano;

	if (s->n_values > 0 ? n_times == 0 || n_times == s->n_values : n_times > 0)
		return;
	if (c->sound)
		(void)buf_printf(c->why, "a sample has %zu values and %zu times", s->n_values,
				 n_times);
	c->sound = false;
}

static void check_profile(struct checking *c, const Otlp__Profiles__Profile *p)
{
	check_type(c, p->sample_type);
	check_type(c, p->period_type);
	for (size_t i = 0; i < p->n_samples && goes_on(c); i++) {
		const Otlp__Profiles__Sample *s = p->samples[i];

		check(c, "stack", s->stack_index, c->d->n_stack_table);
		check(c, "link", s->link_index, c->d->n_link_table);
		check_attributes(c, s->attribute_indices, s->n_attribute_indices);
		check_shape(c, s);
	}
}

static void check_scope(struct checking *c, const Otlp__Profiles__ScopeProfiles *s)
{
	if (s->scope)
		check_key_values(c, s->scope->attributes, s->scope->n_attributes);
	for (size_t i = 0; i < s->n_profiles && goes_on(c); i++)
		check_profile(c, s->profiles[i]);
}

static int check_request(const Otlp__Profiles__ExportProfilesServiceRequest *r,
			 struct read_budget *budget, struct buf *why)
{
	static const dictionary no_dictionary = OTLP__PROFILES__PROFILES_DICTIONARY__INIT;
	struct checking c = { r->dictionary ? r->dictionary : &no_dictionary, budget, why, true,
			      false };

	check_dictionary(&c);
	for (size_t i = 0; i < r->n_resource_profiles && goes_on(&c); i++) {
		const Otlp__Profiles__ResourceProfiles *p = r->resource_profiles[i];

		if (p->resource)
			check_key_values(&c, p->resource->attributes, p->resource->n_attributes);
		for (size_t k = 0; k < p->n_scope_profiles && goes_on(&c); k++)
			check_scope(&c, p->scope_profiles[k]);
	}
	if (c.canceled)
		return -ECANCELED;
	return c.sound ? OTLP_READ : OTLP_READ_BROKEN;
}

/* ---- bytes ---- */

/* Sentences of an inner reader are made ours. */
static int read_json(struct otlp_message *m, const void *bytes, size_t n,
		     struct read_budget *budget, struct buf *why)
{
	const struct proto_json_options options = { .max_values = OTLP_JSON_MAX_VALUES,
						    .hex_bytes = true };
	ProtobufCMessage *message = NULL;
	size_t n_values;
	int r = proto_json_read_with(&otlp__profiles__export_profiles_service_request__descriptor,
				     &options, &m->budget, (struct str){ bytes, n }, why, &n_values,
				     &message);

	m->request = (void *)message;
	if (m->budget.exhausted)
		return refuse(why, OTLP_READ_TOO_LARGE, "the request takes too much memory");
	if (m->budget.too_many)
		return OTLP_READ_TOO_LARGE;
	if (r != PROTO_JSON_READ)
		return r < 0 ? r : OTLP_READ_BROKEN;
	if (!read_budget_take_elements(budget, n_values))
		return -ECANCELED;
	return check_request(m->request, budget, why);
}

static int unpack(struct otlp_message *m, const void *bytes, size_t n, struct read_budget *budget,
		  struct buf *why)
{
	const ProtobufCMessageDescriptor *d =
		&otlp__profiles__export_profiles_service_request__descriptor;
	struct wire_scan scan;

	if (!wire_scan(d, bytes, n, &scan))
		return refuse(why, OTLP_READ_BROKEN, "not a request for profiles");
	if (!read_budget_take_elements(budget, scan.n_elements))
		return -ECANCELED;
	if (scan.n_bytes > OTLP_MESSAGE_MAX_BYTES)
		return refuse(why, OTLP_READ_TOO_LARGE, "the request takes too much memory");
	m->request = (void *)protobuf_c_message_unpack(d, &m->budget.allocator, n, bytes);
	if (!m->request && m->budget.exhausted)
		return refuse(why, OTLP_READ_TOO_LARGE, "the request takes too much memory");
	if (!m->request)
		return refuse(why, OTLP_READ_BROKEN, "not a request for profiles");
	if (!proto_is_utf8(&m->request->base))
		return refuse(why, OTLP_READ_BROKEN, "a text is not UTF-8");
	return check_request(m->request, budget, why);
}

static int read_plain(struct otlp_message *m, const struct otlp_bytes *bytes, struct str plain,
		      struct read_budget *budget, struct buf *why)
{
	return bytes->is_json ? read_json(m, plain.p, plain.n, budget, why)
			      : unpack(m, plain.p, plain.n, budget, why);
}

static int inflate_and_unpack(struct otlp_message *m, const struct otlp_bytes *bytes,
			      struct read_budget *budget, struct buf *why)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(bytes->max_plain_bytes);
	int r = connect_inflate(bytes->data, bytes->n, &plain);

	if (r < 0)
		return r;
	if (!read_budget_take_inflated(budget, plain.len))
		return -ECANCELED;
	if (r == CONNECT_INFLATE_BROKEN)
		return refuse(why, OTLP_READ_BROKEN, "the body is not gzip");
	if (r == CONNECT_INFLATE_TOO_LARGE)
		return refuse(why, OTLP_READ_TOO_LARGE, "the request is too large");
	return read_plain(m, bytes, (struct str){ buf_str(&plain), plain.len }, budget, why);
}

int otlp_message_open(struct otlp_message *m, const struct otlp_bytes *bytes,
		      struct read_budget *budget, struct buf *why)
{
	m->request = NULL;
	proto_budget_init(&m->budget, OTLP_MESSAGE_MAX_BYTES);
	if (bytes->is_gzip)
		return inflate_and_unpack(m, bytes, budget, why);
	if (bytes->n > bytes->max_plain_bytes)
		return refuse(why, OTLP_READ_TOO_LARGE, "the request is too large");
	return read_plain(m, bytes, (struct str){ bytes->data, bytes->n }, budget, why);
}

void otlp_message_fini(struct otlp_message *m)
{
	if (m->request)
		protobuf_c_message_free_unpacked(&m->request->base, &m->budget.allocator);
	m->request = NULL;
}

const char *otlp_message_text(const dictionary *d, int32_t index)
{
	return (size_t)index < d->n_string_table ? d->string_table[index] : "";
}
