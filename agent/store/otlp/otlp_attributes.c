/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes as labels. */
#include "agent/store/otlp/otlp_attributes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/store/otlp/otlp_message.h"
#include "agent/target/label_sanitizer.h"
#include "agent/util/label_name.h"
#include "agent/util/macro.h"

#define SERVICE_NAME "service.name"
#define SERVICE_LABEL "service_name"
#define EXECUTABLE_NAME "process.executable.name"
#define UNKNOWN_SERVICE "unknown_service"
/* A sign and 19 digits. */
#define INT_TEXT_BYTES 21

typedef Otlp__Profiles__ProfilesDictionary dictionary;

/* Texts and whole numbers, as the server takes them; "" for others; NULL: no memory. */
static const char *value_text(const dictionary *d, const Otlp__Profiles__AnyValue *v,
			      struct arena *arena)
{
	char text[INT_TEXT_BYTES];

	if (!v)
		return "";
	switch ((int)v->value_case) {
	case OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE:
		return v->string_value;
	case OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX:
		return otlp_message_text(d, v->string_value_strindex);
	case OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE:
		(void)snprintf(text, sizeof(text), "%" PRId64, v->int_value);
		return arena_strndup(arena, text, strlen(text));
	default:
		return "";
	}
}

static const char *key_text(const dictionary *d, const Otlp__Profiles__KeyValue *kv)
{
	return *kv->key ? kv->key : otlp_message_text(d, kv->key_strindex);
}

struct collecting {
	const dictionary *d;
	struct arena *arena;
	struct label items[LABEL_SANITIZER_ITEMS_MAX];
	size_t n;
	const char *service, *executable; /* NULL: none */
};

/* What is beyond the room for labels of a target is beyond that of a series by far. */
static int collect(struct collecting *c, Otlp__Profiles__KeyValue *const *items, size_t n)
{
	for (size_t i = 0; i < n && c->n + 1 < ARRAY_SIZE(c->items); i++) {
		const char *key = key_text(c->d, items[i]);
		const char *value = value_text(c->d, items[i]->value, c->arena);

		if (!value)
			return -ENOMEM;
		if (strcmp(key, SERVICE_NAME) == 0)
			c->service = *value ? value : NULL;
		else
			c->items[c->n++] = (struct label){ key, value };
		if (strcmp(key, EXECUTABLE_NAME) == 0 && *value)
			c->executable = value;
	}
	return 0;
}

static const char *name_service(struct collecting *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LABEL_VALUE_MAX + 1);

	if (c->service)
		return c->service;
	(void)buf_printf(&text, UNKNOWN_SERVICE "%s%.1000s", c->executable ? ":" : "",
			 c->executable ? c->executable : "");
	return text.failed ? NULL : arena_strndup(c->arena, text.data, text.len);
}

int otlp_series_labels(const dictionary *d, const Otlp__Profiles__ResourceProfiles *resource,
		       const Otlp__Profiles__ScopeProfiles *scope, struct arena *arena,
		       struct labels **ret_labels)
{
	struct collecting c = { .d = d, .arena = arena };
	struct label_sanitizer_report report;
	int r = 0;

	if (scope->scope)
		r = collect(&c, scope->scope->attributes, scope->scope->n_attributes);
	/* Of a resource and a scope with the same name the resource's is the last, which wins. */
	if (r == 0 && resource->resource)
		r = collect(&c, resource->resource->attributes, resource->resource->n_attributes);
	if (r < 0)
		return r;
	const char *service = name_service(&c);
	if (!service)
		return -ENOMEM;
	c.items[c.n++] = (struct label){ SERVICE_LABEL, service };
	return label_sanitizer_clean(c.items, c.n, &report, ret_labels);
}

int otlp_series_named(struct labels *labels, const char *service, const char *name,
		      struct labels **ret_labels)
{
	struct label items[LABELS_MAX + 2];
	size_t n = 0;

	for (; n < labels->n && n < LABELS_MAX; n++)
		items[n] = labels->items[n];
	items[n++] = (struct label){ "__name__", name };
	if (service)
		items[n++] = (struct label){ SERVICE_LABEL, service };
	return labels_derive(labels, items, n, ret_labels);
}

int otlp_attributes_init(struct otlp_attributes *a, const dictionary *d, struct arena *arena)
{
	size_t n_bytes = (d->n_attribute_table + 1) * sizeof(*a->labels);

	*a = (struct otlp_attributes){ .d = d, .arena = arena };
	a->labels = arena_alloc(arena, n_bytes);
	if (!a->labels)
		return -ENOMEM;
	memset(a->labels, 0, n_bytes);
	return 0;
}

const char *otlp_sample_service(const struct otlp_attributes *a, const Otlp__Profiles__Sample *s)
{
	for (size_t i = 0; i < s->n_attribute_indices; i++) {
		size_t at = (size_t)s->attribute_indices[i];

		if (at >= a->d->n_attribute_table)
			continue;
		const Otlp__Profiles__KeyValueAndUnit *kv = a->d->attribute_table[at];

		if (strcmp(otlp_message_text(a->d, kv->key_strindex), SERVICE_NAME) != 0)
			continue;
		const char *value = value_text(a->d, kv->value, a->arena);
		if (value && *value)
			return value;
	}
	return NULL;
}

/* A name that servers take, and a value that is not too long; the service is the series'. */
static int make_label(struct otlp_attributes *a, size_t at)
{
	const Otlp__Profiles__KeyValueAndUnit *kv = a->d->attribute_table[at];
	const char *key = otlp_message_text(a->d, kv->key_strindex);
	const char *value = value_text(a->d, kv->value, a->arena);
	char name[LABEL_NAME_MAX + 1] = "_";
	bool is_digit = *key >= '0' && *key <= '9';

	if (!value)
		return -ENOMEM;
	a->labels[at].is_made = true;
	label_name_repair(name + is_digit, sizeof(name) - is_digit, key, false);
	if (!*key || !*value || strcmp(key, SERVICE_NAME) == 0 || strlen(value) > LABEL_VALUE_MAX ||
	    !label_name_is_valid(name) || strncmp(name, "__", 2) == 0)
		return 0;
	a->labels[at].name = arena_strndup(a->arena, name, strlen(name));
	a->labels[at].value = value;
	return a->labels[at].name ? 0 : -ENOMEM;
}

static void put_hex(const ProtobufCBinaryData *id, char *text)
{
	for (size_t i = 0; i < id->len; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", id->data[i]);
}

static bool is_zero(const ProtobufCBinaryData *id)
{
	for (size_t i = 0; i < id->len; i++)
		if (id->data[i])
			return false;
	return true;
}

/* A span without a trace is none, and the other way round. */
static size_t put_link(struct otlp_attributes *a, int32_t index, struct pprof_label *labels)
{
	if (index == 0)
		return 0;
	const Otlp__Profiles__Link *l = a->d->link_table[index];

	if (is_zero(&l->trace_id) || is_zero(&l->span_id))
		return 0;
	put_hex(&l->trace_id, a->link.trace_id);
	put_hex(&l->span_id, a->link.span_id);
	labels[0] = (struct pprof_label){ .key = "trace_id", .str = a->link.trace_id };
	labels[1] = (struct pprof_label){ .key = "span_id", .str = a->link.span_id };
	return 2;
}

int otlp_sample_labels(struct otlp_attributes *a, const Otlp__Profiles__Sample *s, size_t max,
		       struct pprof_label *labels)
{
	size_t n = put_link(a, s->link_index, labels), n_link = n;

	for (size_t i = 0; i < s->n_attribute_indices && n < n_link + max; i++) {
		size_t at = (size_t)s->attribute_indices[i];

		if (at >= a->d->n_attribute_table)
			continue;
		if (!a->labels[at].is_made && make_label(a, at) < 0)
			return -ENOMEM;
		if (a->labels[at].name)
			labels[n++] = (struct pprof_label){ .key = a->labels[at].name,
							    .str = a->labels[at].value };
	}
	return (int)n;
}
