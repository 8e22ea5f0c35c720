/* SPDX-License-Identifier: Apache-2.0 */
/* Names of profiles, as a Pyroscope server gives them to what comes by OTLP. */
#include "agent/store/otlp/otlp_type.h"

#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/store/otlp/otlp_message.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

static bool is_called(const char *type, const char *unit, const char *other_type,
		      const char *other_unit)
{
	return strcmp(type, other_type) == 0 && strcmp(unit, other_unit) == 0;
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Samples between which so much CPU time lies are that time. */
static void make_cpu_time(struct otlp_type *t)
{
	t->name = "process_cpu";
	t->type = "cpu";
	t->unit = "nanoseconds";
	t->multiplier = t->period;
}

static bool is_memory(const struct otlp_type *t)
{
	return is_called(t->period_type, t->period_unit, "space", "bytes") &&
	       (starts_with(t->type, "alloc_") || starts_with(t->type, "inuse_"));
}

/* A profile of Go that was called by name where others have what is between its samples (agent/encode/otlp.c). */
static void restore_period(struct otlp_type *t)
{
	static const struct {
		const char *name, *unit, *period_type;
	} rows[] = {
		{ "memory", "bytes", "space" },
		{ "mutex", "count", "contentions" },
		{ "block", "count", "contentions" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_called(t->period_type, t->period_unit, rows[i].name, rows[i].unit)) {
			t->period_type = rows[i].period_type;
			return;
		}
}

/* Servers take no dash in a type. */
static bool is_sound(const struct otlp_type *t)
{
	return *t->type && *t->unit && !strchr(t->type, '-');
}

bool otlp_type_of(const Otlp__Profiles__ProfilesDictionary *d, const Otlp__Profiles__Profile *p,
		  struct otlp_type *ret_type)
{
	struct otlp_type t = { .period_type = "",
			       .period_unit = "",
			       .period = MAX_OF(p->period, (int64_t)1),
			       .multiplier = 1 };

	if (!p->sample_type)
		return false;
	t.type = otlp_message_text(d, p->sample_type->type_strindex);
	t.unit = otlp_message_text(d, p->sample_type->unit_strindex);
	if (p->period_type) {
		t.period_type = otlp_message_text(d, p->period_type->type_strindex);
		t.period_unit = otlp_message_text(d, p->period_type->unit_strindex);
	}
	if (!*t.period_type || !*t.period_unit)
		t.period_type = t.period_unit = "";
	t.name = *t.period_type ? t.period_type : t.type;
	if (is_called(t.type, t.unit, "samples", "count") &&
	    is_called(t.period_type, t.period_unit, "cpu", "nanoseconds") && p->period > 0)
		make_cpu_time(&t);
	else if (is_called(t.type, t.unit, "cpu", "nanoseconds"))
		t.name = "process_cpu";
	else if (is_memory(&t))
		t.name = "memory";
	else
		restore_period(&t);
	*ret_type = t;
	return is_sound(&t);
}

uint64_t otlp_type_hash(const struct otlp_type *t)
{
	const char *const texts[] = { t->name, t->type, t->unit, t->period_type, t->period_unit };
	uint64_t h = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		h = hash_bytes(texts[i], strlen(texts[i]) + 1, h);
	return h;
}
