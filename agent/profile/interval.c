/* SPDX-License-Identifier: Apache-2.0 */
/* What was sampled in one interval. */
#include "agent/profile/interval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"

#define INTERVAL_MIN_SLOTS 256

int interval_new(uint64_t period_ns, size_t max_bytes, struct interval **ret_interval)
{
	_cleanup_(interval_freep) struct interval *i = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	arena_init(&i->arena, max_bytes);
	i->period_ns = period_ns;
	i->begin_real_ns = clock_real_ns();
	i->n_slots = INTERVAL_MIN_SLOTS;
	i->slots = calloc(i->n_slots, sizeof(*i->slots));
	if (!i->slots)
		return -ENOMEM;
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
	free(i->files);
	free(i->slots);
	hash_fini(&i->by_labels);
	arena_fini(&i->arena);
	free(i);
}

/* Sets are interned by their makers, so the pointer is the common case; equal sets from two makers are one series all the same. */
static struct series *series_find(const struct interval *i, const struct labels *labels)
{
	HASH_FOREACH_MATCH (&i->by_labels, labels->hash, node) {
		struct series *s = CONTAINER_OF(node, struct series, node);

		if (s->labels == labels || labels_equal(s->labels, labels))
			return s;
	}
	return NULL;
}

static struct series *series_get(struct interval *i, struct labels *labels)
{
	struct series *s = series_find(i, labels);

	if (s)
		return s;
	s = arena_alloc(&i->arena, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct series){ .next = i->series };
	if (hash_insert(&i->by_labels, &s->node, labels->hash) < 0)
		return NULL;
	s->labels = labels_ref(labels);
	i->series = s;
	i->n_series++;
	return s;
}

static int slots_grow(struct interval *i)
{
	size_t n = i->n_slots * 2;
	struct stack **slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t at = 0; at < i->n_slots; at++) {
		struct stack *s = i->slots[at];
		size_t to = s ? s->hash & (n - 1) : 0;

		if (!s)
			continue;
		while (slots[to])
			to = (to + 1) & (n - 1);
		slots[to] = s;
	}
	free(i->slots);
	i->slots = slots;
	i->n_slots = n;
	return 0;
}

struct stack_key {
	uint64_t hash;
	const struct series *series;
	const uint64_t *kernel;
	const uint64_t *user;
	uint16_t n_kernel;
	uint16_t n_user;
};

static bool stack_is(const struct stack *s, const struct stack_key *k)
{
	return s->hash == k->hash && s->series == k->series && s->n_kernel == k->n_kernel &&
	       s->n_user == k->n_user &&
	       memcmp(s->frames, k->kernel, k->n_kernel * sizeof(uint64_t)) == 0 &&
	       memcmp(s->frames + k->n_kernel, k->user, k->n_user * sizeof(uint64_t)) == 0;
}

static struct stack **slot_of(const struct interval *i, const struct stack_key *k)
{
	size_t at = k->hash & (i->n_slots - 1);

	while (i->slots[at] && !stack_is(i->slots[at], k))
		at = (at + 1) & (i->n_slots - 1);
	return &i->slots[at];
}

static struct stack *stack_new(struct interval *i, struct series *series, const struct stack_key *k)
{
	size_t n = (size_t)k->n_kernel + k->n_user;
	struct stack *s = arena_alloc(&i->arena, sizeof(*s) + n * sizeof(uint64_t));

	if (!s)
		return NULL;
	*s = (struct stack){ .hash = k->hash,
			     .series = series,
			     .n_kernel = k->n_kernel,
			     .n_user = k->n_user,
			     .next = series->stacks };
	memcpy(s->frames, k->kernel, k->n_kernel * sizeof(uint64_t));
	memcpy(s->frames + k->n_kernel, k->user, k->n_user * sizeof(uint64_t));
	series->stacks = s;
	series->n_stacks++;
	i->n_stacks++;
	return s;
}

int interval_add(struct interval *i, struct labels *labels, const uint64_t *kernel_frames,
		 uint16_t n_kernel, const uint64_t *user_frames, uint16_t n_user, bool *ret_is_new)
{
	struct series *series = series_get(i, labels);
	struct stack_key k = { .series = series,
			       .kernel = kernel_frames,
			       .user = user_frames,
			       .n_kernel = n_kernel,
			       .n_user = n_user };

	if (!series || (i->n_stacks * 2 >= i->n_slots && slots_grow(i) < 0))
		return -ENOMEM;
	k.hash = hash_bytes(kernel_frames, n_kernel * sizeof(uint64_t), (uintptr_t)series);
	k.hash = hash_bytes(user_frames, n_user * sizeof(uint64_t), k.hash);
	struct stack **slot = slot_of(i, &k);
	bool is_new = !*slot;
	if (is_new)
		*slot = stack_new(i, series, &k);
	if (!*slot)
		return -ENOMEM;
	*ret_is_new = is_new;
	(*slot)->count++;
	series->n_samples++;
	i->n_samples++;
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

int interval_anon_frame(struct interval *i, const struct anon_place *place, uint64_t *ret_frame)
{
	uint32_t index;
	int r = anon_table_get(&i->anon, &i->arena, place, &index);

	if (r < 0)
		return r;
	*ret_frame = FRAME_ANON + index;
	return 0;
}

const struct anon_place *interval_anon(const struct interval *i, uint64_t frame)
{
	return frame >= FRAME_ANON && frame - FRAME_ANON < i->anon.n
		       ? &i->anon.items[frame - FRAME_ANON]
		       : NULL;
}
