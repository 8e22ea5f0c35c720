/* SPDX-License-Identifier: Apache-2.0 */
/* What was sampled in one interval. */
#include "agent/profile/interval.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/saturate.h"

int interval_new(uint64_t cpu_period_ns, size_t max_bytes, struct interval **ret_interval)
{
	_cleanup_(interval_freep) struct interval *i = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	arena_init(&i->arena, max_bytes);
	for (enum event e = 0; e < EVENT_MAX; e++)
		i->periods[e] = 1;
	i->periods[EVENT_CPU] = cpu_period_ns;
	i->begin_real_ns = clock_real_ns();
	*ret_interval = TAKE_PTR(i);
	return 0;
}

void interval_end_after(struct interval *i, uint64_t last_profile_ns)
{
	uint64_t earliest_ms = last_profile_ns / NS_PER_MS + 1;

	if (i->end_real_ns / NS_PER_MS < earliest_ms)
		i->end_real_ns = earliest_ms * NS_PER_MS;
}

void interval_free(struct interval *i)
{
	if (!i)
		return;
	for (struct series *s = i->series; s; s = s->next)
		labels_unref(s->labels);
	for (size_t f = 0; f < i->n_files; f++)
		mapped_file_unref(i->files[f]);
	anon_table_fini(&i->anon);
	code_table_fini(&i->code);
	free(i->files);
	hash_fini(&i->stacks);
	hash_fini(&i->by_labels);
	hash_fini(&i->tags);
	arena_fini(&i->arena);
	free(i);
}

/* Sets are interned by their makers, so the pointer is the common case; equal sets from two makers are one series all the same. */
struct series *interval_series(const struct interval *i, const struct labels *labels,
			       uint16_t source)
{
	HASH_FOREACH_MATCH (&i->by_labels, series_hash(labels, source), node) {
		struct series *s = CONTAINER_OF(node, struct series, node);

		if (s->source == source && (s->labels == labels || labels_equal(s->labels, labels)))
			return s;
	}
	return NULL;
}

static struct series *series_get(struct interval *i, const struct samples *of)
{
	struct series *s = interval_series(i, of->labels, of->source);

	if (s)
		return s;
	s = arena_alloc(&i->arena, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct series){ .next = i->series, .event = of->event, .source = of->source };
	if (hash_insert(&i->by_labels, &s->node, series_hash(of->labels, of->source)) < 0)
		return NULL;
	s->labels = labels_ref(of->labels);
	i->series = s;
	i->n_series++;
	return s;
}

struct stack_key {
	uint64_t hash;
	struct series *series;
	const struct sample_tag *tag;
	const struct samples *samples;
};

static size_t frames_bytes(const struct samples *of)
{
	return ((size_t)of->n_kernel + of->n_user) * sizeof(struct frame_ref);
}

static bool stack_is(const struct stack *s, const struct stack_key *k)
{
	const struct samples *with = k->samples;

	return s->series == k->series && s->tag == k->tag && s->n_kernel == with->n_kernel &&
	       s->n_user == with->n_user &&
	       memcmp(s->frames, with->frames, frames_bytes(with)) == 0;
}

static struct stack *stack_find(const struct interval *i, const struct stack_key *k)
{
	HASH_FOREACH_MATCH (&i->stacks, k->hash, node) {
		struct stack *s = CONTAINER_OF(node, struct stack, node);

		if (stack_is(s, k))
			return s;
	}
	return NULL;
}

static struct stack *stack_new(struct interval *i, const struct stack_key *k)
{
	const struct samples *of = k->samples;
	size_t n_values = event_n_values(of->event);
	struct stack *s =
		arena_alloc(&i->arena, sizeof(*s) + frames_bytes(of) + n_values * sizeof(int64_t));

	if (!s || hash_insert(&i->stacks, &s->node, k->hash) < 0)
		return NULL;
	*s = (struct stack){ .node = s->node,
			     .series = k->series,
			     .tag = k->tag,
			     .n_kernel = of->n_kernel,
			     .n_user = of->n_user,
			     .next = k->series->stacks };
	memcpy(s->frames, of->frames, frames_bytes(of));
	memset(stack_values(s), 0, n_values * sizeof(int64_t));
	k->series->stacks = s;
	k->series->n_stacks++;
	i->n_stacks++;
	return s;
}

static uint64_t hash_of(const struct stack_key *k)
{
	const struct samples *of = k->samples;
	uint64_t hash = (uintptr_t)k->series ^ hash_u64((uintptr_t)k->tag);

	return hash_bytes(of->frames, frames_bytes(of), hash + of->n_kernel);
}

static int get_tag(struct interval *i, const struct samples *samples,
		   const struct sample_tag **ret_tag)
{
	struct tagging want = i->tagging;

	if (!tagging_wants_any(want) && !samples->error && !samples->io)
		return 0;
	const struct sample_tag of = {
		.pid = want.pid ? samples->pid : 0,
		.comm = want.comm != COMM_NONE && samples->comm ? samples->comm : "",
		.reason = want.reason == REASON_LABEL ? samples->reason : WAIT_UNKNOWN,
		.thread = want.thread && samples->thread ? samples->thread : "",
		.tier = want.tier ? samples->tier : WIRE_TIER_NONE,
		.error = samples->error,
		.io = samples->io,
		.device = samples->device,
	};
	return tag_get(&i->tags, &i->arena, &of, ret_tag);
}

static void stack_add(struct stack *s, const struct samples *samples)
{
	int64_t *sums = stack_values(s);

	s->count += samples->count;
	s->n_again += samples->n_again;
	for (size_t v = 0; v < event_n_values(samples->event); v++)
		sums[v] = saturate_add(sums[v], samples->values[v]);
}

int interval_add(struct interval *i, const struct samples *samples, bool *ret_is_new)
{
	struct stack_key k = { .series = series_get(i, samples), .samples = samples };

	assert(samples->labels && samples->event < EVENT_MAX);
	assert(samples->source < EVENT_ALL_SOURCES);
	if (get_tag(i, samples, &k.tag) < 0)
		return -ENOMEM;
	if (!k.series)
		return -ENOMEM;
	k.hash = hash_of(&k);
	struct stack *s = stack_find(i, &k);
	bool is_new = !s;
	if (is_new)
		s = stack_new(i, &k);
	if (!s)
		return -ENOMEM;
	*ret_is_new = is_new;
	stack_add(s, samples);
	i->last = s;
	k.series->n_samples += samples->count;
	k.series->n_again += samples->n_again;
	i->n_samples += samples->count - samples->n_again;
	return 0;
}

const char *series_name(const struct series *s)
{
	const char *name = labels_get(s->labels, "service_name");

	return name ? name : "process";
}

/* Where the id is, or would be. */
static size_t file_index(const struct interval *i, uint32_t id)
{
	size_t lo = 0;
	size_t hi = i->n_files;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (i->files[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct mapped_file *interval_file(const struct interval *i, uint32_t id)
{
	size_t at = file_index(i, id);

	return at < i->n_files && i->files[at]->id == id ? i->files[at] : NULL;
}

int interval_add_file(struct interval *i, struct mapped_file *f)
{
	size_t at = file_index(i, f->id);

	if (at < i->n_files && i->files[at]->id == f->id)
		return 0;
	struct mapped_file **files =
		reallocarray(i->files, i->n_files + 1, sizeof(struct mapped_file *));
	if (!files)
		return -ENOMEM;
	i->files = files;
	memmove(&files[at + 1], &files[at], (i->n_files - at) * sizeof(struct mapped_file *));
	files[at] = mapped_file_ref(f);
	i->n_files++;
	return 0;
}

int interval_anon_frame(struct interval *i, const struct anon_place *place,
			struct frame_ref *ret_frame)
{
	uint32_t index;
	int r = anon_table_get(&i->anon, &i->arena, place, &index);

	if (r < 0)
		return r;
	*ret_frame = frame_ref_of(FRAME_KIND_PLACE, index);
	return 0;
}

const struct anon_place *interval_anon(const struct interval *i, struct frame_ref frame)
{
	return frame_ref_kind(frame) == FRAME_KIND_PLACE
		       ? anon_table_at(&i->anon, frame_ref_value(frame))
		       : NULL;
}

int interval_code_frame(struct interval *i, const struct code_place *code,
			struct frame_ref *ret_frame)
{
	uint32_t index;
	int r = code_table_get(&i->code, &i->arena, code, &index);

	if (r < 0)
		return r;
	*ret_frame = frame_ref_of(FRAME_KIND_CODE, index);
	return 0;
}

const struct code_place *interval_code(const struct interval *i, struct frame_ref frame)
{
	return frame_ref_kind(frame) == FRAME_KIND_CODE
		       ? code_table_at(&i->code, frame_ref_value(frame))
		       : NULL;
}

int interval_connection_frame(struct interval *i, const struct tcp_connection *connection,
			      struct frame_ref *ret_frame)
{
	uint32_t index;
	int r = tcp_table_get(&i->connections, &i->arena, connection, &index);

	if (r < 0)
		return r;
	*ret_frame = frame_ref_of(FRAME_KIND_CONNECTION, index);
	return 0;
}

const struct tcp_connection *interval_connection(const struct interval *i, struct frame_ref frame)
{
	return frame_ref_kind(frame) == FRAME_KIND_CONNECTION
		       ? tcp_table_at(&i->connections, frame_ref_value(frame))
		       : NULL;
}

int interval_waker_frame(struct interval *i, const struct waker_name *name,
			 struct frame_ref *ret_frame)
{
	uint32_t index = WAKER_INTERRUPT;
	int r = name->comm[0] ? waker_names_get(&i->wakers, &i->arena, name, &index) : 0;

	if (r < 0)
		return r;
	*ret_frame = frame_ref_of(FRAME_KIND_WAKER, index);
	return 0;
}

const struct waker_name *interval_waker(const struct interval *i, struct frame_ref frame)
{
	return frame_ref_kind(frame) == FRAME_KIND_WAKER
		       ? waker_names_at(&i->wakers, frame_ref_value(frame))
		       : NULL;
}
