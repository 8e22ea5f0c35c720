/* SPDX-License-Identifier: Apache-2.0 */
/* A request of OTLP profiles as pprof of one series each. */
#include "agent/store/otlp/otlp_read.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/store/otlp/otlp_attributes.h"
#include "agent/store/otlp/otlp_message.h"
#include "agent/store/otlp/otlp_stacks.h"
#include "agent/store/otlp/otlp_type.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Of what is kept while one request is read: places of rows, labels, the order of samples. */
#define ARENA_MAX_BYTES ((size_t)64 << 20)

typedef Otlp__Profiles__Profile profile_message;
typedef Otlp__Profiles__Sample sample_message;

/* A sample, and the service that it says it is of; NULL: that of its resource. */
struct placed {
	const sample_message *sample;
	const char *service;
};

struct reading {
	const Otlp__Profiles__ProfilesDictionary *d;
	uint64_t now_ns;
	struct read_budget *budget;
	struct buf *why;
	struct otlp_profiles *out;
	size_t cap; /* of out->items */
	struct arena arena;
	struct otlp_stacks stacks;
	struct otlp_attributes attributes;
	struct placed *order;
	size_t n_order; /* its room */
};

/* One profile of one series, while it is filled. */
struct filling {
	struct reading *r;
	const struct otlp_type *type;
	uint64_t type_hash;
	struct labels *labels;
	struct pprof_builder *b;
	uint64_t time_ns;
	int64_t duration_ns;
};

/* ---- what is finished ---- */

static int reserve(struct reading *r)
{
	size_t cap = MAX_OF(2 * r->cap, (size_t)16);

	if (r->out->n < r->cap)
		return 0;
	struct otlp_series *items = reallocarray(r->out->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	r->out->items = items;
	r->cap = cap;
	return 0;
}

/* A store would take one of the same series and millisecond for one that was sent again: then it is behind all that follow that one. */
static void find_time(struct filling *f)
{
	const struct otlp_profiles *out = f->r->out;
	uint64_t ms = f->time_ns / NS_PER_MS, last_ms = 0;
	bool is_taken = false;

	for (size_t i = 0; i < out->n; i++) {
		uint64_t other_ms = out->items[i].time_ns / NS_PER_MS;

		if (out->items[i].type != f->type_hash || other_ms < ms ||
		    other_ms > ms + OTLP_READ_MAX_SERIES ||
		    !labels_equal(out->items[i].labels, f->labels))
			continue;
		is_taken |= other_ms == ms;
		last_ms = MAX_OF(last_ms, other_ms);
	}
	if (is_taken)
		f->time_ns += (last_ms - ms + 1) * NS_PER_MS;
}

static int append(struct filling *f, struct pprof_bytes *bytes)
{
	struct otlp_profiles *out = f->r->out;
	struct otlp_series *series = &out->items[out->n];
	size_t n = bytes->n;
	uint8_t *data = bytes->data;

	bytes->data = NULL;
	*series = (struct otlp_series){ .time_ns = f->time_ns, .type = f->type_hash };
	int r = shared_bytes_new(data, n, &series->pprof);
	if (r < 0)
		return r;
	series->labels = labels_ref(f->labels);
	out->n_bytes += n;
	out->n++;
	return 0;
}

static int finish(struct filling *f)
{
	_cleanup_(pprof_bytes_fini) struct pprof_bytes bytes = { 0 };
	int r = 0;

	if (f->b && pprof_builder_n_samples(f->b) > 0) {
		r = reserve(f->r);
		r = r < 0 ? r : pprof_builder_encode(f->b, &bytes);
		r = r < 0 ? r : append(f, &bytes);
	}
	pprof_builder_free(f->b);
	f->b = NULL;
	return r;
}

/* ---- samples ---- */

/* Each part of a large profile has a time of its own. */
static int begin(struct filling *f)
{
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;

	if (f->r->out->n >= OTLP_READ_MAX_SERIES) {
		(void)buf_printf(f->r->why, "more than %d profiles in one request",
				 OTLP_READ_MAX_SERIES);
		return OTLP_READ_TOO_LARGE;
	}
	find_time(f);
	o.value_types[0] = (struct pprof_value_type){ f->type->type, f->type->unit };
	o.period_type = (struct pprof_value_type){ f->type->period_type, f->type->period_unit };
	o.period = f->type->period;
	o.time_ns = (int64_t)f->time_ns;
	o.duration_ns = f->duration_ns;
	int r = pprof_builder_new(&o, &f->b);

	if (r == 0)
		otlp_stacks_begin(&f->r->stacks, f->b);
	return r;
}

static int refuse(struct reading *r, const char *text)
{
	(void)buf_append_str(r->why, text);
	return OTLP_READ_BROKEN;
}

/* Of all its observations; of times alone each is 1. */
static bool sum_values(const sample_message *s, int64_t multiplier, int64_t *ret_value)
{
	int64_t sum = s->n_values > 0 ? 0 : (int64_t)s->n_timestamps_unix_nano;

	for (size_t i = 0; i < s->n_values; i++)
		if (__builtin_add_overflow(sum, s->values[i], &sum))
			return false;
	return !__builtin_mul_overflow(sum, multiplier, ret_value);
}

static int put_sample(struct filling *f, const sample_message *s, int64_t value)
{
	struct pprof_label labels[OTLP_SAMPLE_MAX_LABELS];
	uint64_t ids[OTLP_STACK_MAX];
	size_t n_ids;
	int r = otlp_stacks_locations(&f->r->stacks, s->stack_index, ids, &n_ids);

	if (r != 0)
		return r;
	int n_labels = otlp_sample_labels(&f->r->attributes, s, LABELS_MAX - f->labels->n, labels);

	return n_labels < 0
		       ? n_labels
		       : pprof_builder_sample(f->b, ids, n_ids, &value, labels, (size_t)n_labels);
}

/* What one builder has no room for goes into the next; what an empty one has no room for is too large. */
static int add_sample(struct filling *f, const sample_message *s)
{
	int64_t value;

	if (!read_budget_goes_on(f->r->budget))
		return -ECANCELED;
	if (!sum_values(s, f->type->multiplier, &value))
		return refuse(f->r, "the values of a sample have a sum that is no number");
	/* Servers keep neither; a sample of nothing says nothing. */
	if (value <= 0)
		return 0;
	int r = f->b ? put_sample(f, s, value) : PPROF_FULL;
	if (r != PPROF_FULL)
		return r;
	r = finish(f);
	r = r != 0 ? r : begin(f);
	if (r != 0)
		return r;
	r = put_sample(f, s, value);
	return r == PPROF_FULL
		       ? refuse(f->r,
				"the names of one sample are more than a profile has room for")
		       : r;
}

/* Samples of one service. */
static int read_samples(struct filling *f, const struct placed *samples, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = add_sample(f, samples[i].sample);
	if (r == 0)
		r = finish(f);
	pprof_builder_free(f->b);
	f->b = NULL;
	return r;
}

/* ---- profiles ---- */

static int compare_services(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (!x->service || !y->service)
		return (x->service != NULL) - (y->service != NULL);
	return strcmp(x->service, y->service);
}

static int place_samples(struct reading *r, const profile_message *p, bool *ret_services)
{
	*ret_services = false;
	if (p->n_samples > r->n_order) {
		free(r->order);
		r->order = reallocarray(NULL, p->n_samples, sizeof(*r->order));
		r->n_order = r->order ? p->n_samples : 0;
	}
	if (!r->order)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_samples; i++) {
		const char *service = otlp_sample_service(&r->attributes, p->samples[i]);

		r->order[i] = (struct placed){ p->samples[i], service };
		*ret_services |= service != NULL;
	}
	return 0;
}

/* The end of the interval; 0 is no time. False: beyond what numbers hold. */
static bool take_time(const struct reading *r, const profile_message *p, struct filling *f)
{
	uint64_t end = r->now_ns;

	if (p->duration_nano > INT64_MAX ||
	    (p->time_unix_nano > 0 &&
	     __builtin_add_overflow(p->time_unix_nano, p->duration_nano, &end)))
		return false;
	f->time_ns = end;
	f->duration_ns = (int64_t)p->duration_nano;
	/* Room for parts of it that follow each other. */
	return end <= INT64_MAX - OTLP_READ_MAX_SERIES * NS_PER_MS;
}

static int read_services(struct filling *f, struct labels *base, size_t n)
{
	struct reading *r = f->r;

	for (size_t i = 0, end; i < n; i = end) {
		_cleanup_(labels_unrefp) struct labels *labels = NULL;
		uint64_t time_ns = f->time_ns;

		for (end = i + 1; end < n; end++)
			if (compare_services(&r->order[i], &r->order[end]) != 0)
				break;
		int result = otlp_series_named(base, r->order[i].service, f->type->name, &labels);
		if (result < 0)
			return result;
		f->labels = labels;
		result = read_samples(f, r->order + i, end - i);
		if (result != 0)
			return result;
		f->time_ns = time_ns;
	}
	return 0;
}

static int read_profile(struct reading *r, const profile_message *p, struct labels *base)
{
	struct otlp_type type;
	struct filling f = { .r = r, .type = &type };
	bool services;

	r->out->n_profiles++;
	r->out->n_samples += p->n_samples;
	if (p->n_samples == 0)
		return 0;
	if (!otlp_type_of(r->d, p, &type))
		return refuse(r, "a profile has no type, or one without a name or a unit");
	if (!take_time(r, p, &f))
		return refuse(r, "the time of a profile is none");
	f.type_hash = otlp_type_hash(&type);
	int result = place_samples(r, p, &services);
	if (result < 0)
		return result;
	if (services)
		qsort(r->order, p->n_samples, sizeof(*r->order), compare_services);
	return read_services(&f, base, p->n_samples);
}

static int read_scope(struct reading *r, const Otlp__Profiles__ResourceProfiles *resource,
		      const Otlp__Profiles__ScopeProfiles *scope)
{
	_cleanup_(labels_unrefp) struct labels *base = NULL;
	int result = otlp_series_labels(r->d, resource, scope, &r->arena, &base);

	if (result < 0)
		return result;
	for (size_t i = 0; i < scope->n_profiles; i++) {
		result = read_budget_goes_on_now(r->budget)
				 ? read_profile(r, scope->profiles[i], base)
				 : -ECANCELED;
		if (result != 0)
			return result;
	}
	return 0;
}

static int read_request(struct reading *r,
			const Otlp__Profiles__ExportProfilesServiceRequest *request)
{
	int result = otlp_stacks_init(&r->stacks, r->d, &r->arena);

	result = result < 0 ? result : otlp_attributes_init(&r->attributes, r->d, &r->arena);
	for (size_t i = 0; i < request->n_resource_profiles && result == 0; i++) {
		const Otlp__Profiles__ResourceProfiles *resource = request->resource_profiles[i];

		for (size_t k = 0; k < resource->n_scope_profiles && result == 0; k++)
			result = read_budget_goes_on_now(r->budget)
					 ? read_scope(r, resource, resource->scope_profiles[k])
					 : -ECANCELED;
	}
	return result;
}

int otlp_read(const struct otlp_bytes *bytes, uint64_t now_ns, struct read_budget *budget,
	      struct buf *why, struct otlp_profiles *ret_profiles)
{
	static const Otlp__Profiles__ProfilesDictionary nothing =
		OTLP__PROFILES__PROFILES_DICTIONARY__INIT;
	_cleanup_(otlp_message_fini) struct otlp_message m = { 0 };
	struct reading r = { .now_ns = now_ns, .budget = budget, .why = why, .out = ret_profiles };

	assert(why);
	*ret_profiles = (struct otlp_profiles){ 0 };
	int result = otlp_message_open(&m, bytes, budget, why);
	if (result != OTLP_READ)
		return result;
	r.d = m.request->dictionary ? m.request->dictionary : &nothing;
	arena_init(&r.arena, ARENA_MAX_BYTES);
	result = read_request(&r, m.request);
	arena_fini(&r.arena);
	free(r.order);
	if (result != 0)
		otlp_profiles_fini(ret_profiles);
	return result;
}

void otlp_profiles_fini(struct otlp_profiles *p)
{
	for (size_t i = 0; i < p->n; i++) {
		labels_unref(p->items[i].labels);
		shared_bytes_unref(p->items[i].pprof);
	}
	free(p->items);
	*p = (struct otlp_profiles){ 0 };
}
