/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: segments, what is free in each of them, and what waits until no walk reads it any more.
 *
 *	take ──► in use ──► give ──► waiting, a queue in the order of giving ──(grace time)──► free
 */
#include "agent/unwind/kernel_arena.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/unwind/extent.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Between the first places of two segments. */
#define SEGMENT_WORDS (WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES)
/* Larger than every size that is asked for. */
#define NOTHING_FAILED UINT32_MAX
#define WAITING_MIN 64

struct segment {
	char *memory; /* owned: a mapping, or of the heap */
	struct extents extents;
	uint32_t failed_words; /* the smallest size that found no gap here since the last return */
};

/* A range that a walk may still be reading. */
struct waiting {
	uint32_t at;
	uint32_t n_words;
	uint64_t given_ns;
};

struct kernel_arena {
	struct kernel_arena_options options;
	struct segment *segments; /* options.max_segments */
	uint32_t n_segments;
	struct waiting *waiting; /* [first_waiting, n_waiting), owned */
	size_t first_waiting;
	size_t n_waiting;
	size_t cap_waiting;
	uint64_t used_words;
};

int kernel_arena_new(const struct kernel_arena_options *o, struct kernel_arena **ret_arena)
{
	_cleanup_(kernel_arena_freep) struct kernel_arena *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->options = *o;
	a->options.max_segments = MIN_OF(o->max_segments, WIRE_MAX_SEGMENTS);
	a->segments = calloc(MAX_OF(a->options.max_segments, 1u), sizeof(*a->segments));
	if (!a->segments)
		return -ENOMEM;
	*ret_arena = TAKE_PTR(a);
	return 0;
}

static void segment_fini(const struct kernel_arena *a, struct segment *s, uint32_t index)
{
	extents_fini(&s->extents);
	if (a->options.segments_fd < 0) {
		free(s->memory);
		return;
	}
	/* The kernel half may outlive us; without its entry the memory does not. */
	(void)bpf_map_delete_elem(a->options.segments_fd, &index);
	(void)munmap(s->memory, WIRE_SEGMENT_BYTES);
}

void kernel_arena_free(struct kernel_arena *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->n_segments; i++)
		segment_fini(a, &a->segments[i], i);
	free(a->segments);
	free(a->waiting);
	free(a);
}

static int memory_new(char **ret_memory)
{
	char *memory = calloc(1, WIRE_SEGMENT_BYTES);

	if (!memory)
		return -ENOMEM;
	*ret_memory = memory;
	return 0;
}

/* A memory-mapped array, made known to the kernel half. The mapping and the array of maps keep it, so its descriptor can go. */
static int map_new(int segments_fd, uint32_t index, char **ret_memory)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t),
						WIRE_SEGMENT_BYTES, 1, &mmapable);

	if (fd < 0)
		return -errno;
	char *memory = mmap(NULL, WIRE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	if (bpf_map_update_elem(segments_fd, &index, &fd, BPF_ANY) < 0) {
		int r = -errno;

		(void)munmap(memory, WIRE_SEGMENT_BYTES);
		return r;
	}
	*ret_memory = memory;
	return 0;
}

static int segment_init(const struct kernel_arena *a, struct segment *s, uint32_t index)
{
	uint32_t zero;
	int r = extents_init(&s->extents, WIRE_SEGMENT_WORDS);

	/* Place 0 means "nowhere". */
	if (r == 0 && index == 0)
		r = extents_take(&s->extents, 1, &zero);
	if (r == 0 && a->options.segments_fd < 0)
		r = memory_new(&s->memory);
	else if (r == 0)
		r = map_new(a->options.segments_fd, index, &s->memory);
	if (r < 0)
		extents_fini(&s->extents);
	s->failed_words = NOTHING_FAILED;
	return r;
}

static int segment_add(struct kernel_arena *a)
{
	struct segment s = { 0 };

	if (a->n_segments == a->options.max_segments)
		return -ENOSPC;
	int r = segment_init(a, &s, a->n_segments);
	if (r < 0)
		return r;
	a->segments[a->n_segments] = s;
	/* Whoever looks a segment up on another thread sees it whole. */
	__atomic_store_n(&a->n_segments, a->n_segments + 1, __ATOMIC_RELEASE);
	return 0;
}

static bool segment_take(struct segment *s, uint32_t n_words, uint32_t *ret_first)
{
	if (n_words >= s->failed_words)
		return false;
	if (extents_take(&s->extents, n_words, ret_first) == 0)
		return true;
	s->failed_words = n_words;
	return false;
}

static bool take_from_any(struct kernel_arena *a, uint32_t n_words, uint32_t *ret_at)
{
	uint32_t first;

	for (uint32_t i = 0; i < a->n_segments; i++)
		if (segment_take(&a->segments[i], n_words, &first)) {
			*ret_at = i * SEGMENT_WORDS + first;
			a->used_words += n_words;
			return true;
		}
	return false;
}

int kernel_arena_take(struct kernel_arena *a, uint32_t n_words, uint32_t *ret_at)
{
	int r;

	assert(n_words > 0);
	if (n_words > WIRE_SEGMENT_WORDS)
		return -ENOSPC;
	/* The first segment lacks a word, so a size may need the second one. */
	while (!take_from_any(a, n_words, ret_at)) {
		r = segment_add(a);
		if (r < 0)
			return r;
	}
	return 0;
}

void kernel_arena_give_unseen(struct kernel_arena *a, uint32_t at, uint32_t n_words)
{
	struct segment *s = &a->segments[at / SEGMENT_WORDS];

	assert(at % SEGMENT_WORDS + n_words <= WIRE_SEGMENT_WORDS);
	a->used_words -= n_words;
	/* Without memory for the bookkeeping the range stays unusable; all else goes on. */
	(void)extents_give(&s->extents, at % SEGMENT_WORDS, n_words);
	s->failed_words = NOTHING_FAILED;
}

/* Parts of a table lie side by side and are given back one after another. */
static bool waiting_extend(struct kernel_arena *a, uint32_t at, uint32_t n_words, uint64_t now_ns)
{
	struct waiting *last;

	if (a->n_waiting == a->first_waiting)
		return false;
	last = &a->waiting[a->n_waiting - 1];
	if (last->at + last->n_words != at || last->at / SEGMENT_WORDS != at / SEGMENT_WORDS)
		return false;
	last->n_words += n_words;
	last->given_ns = now_ns;
	return true;
}

static int waiting_reserve(struct kernel_arena *a)
{
	if (a->n_waiting < a->cap_waiting)
		return 0;
	if (a->first_waiting > a->n_waiting / 2) {
		memmove(a->waiting, a->waiting + a->first_waiting,
			(a->n_waiting - a->first_waiting) * sizeof(*a->waiting));
		a->n_waiting -= a->first_waiting;
		a->first_waiting = 0;
		return 0;
	}
	size_t cap = MAX_OF(a->cap_waiting * 2, (size_t)WAITING_MIN);
	struct waiting *grown = reallocarray(a->waiting, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	a->waiting = grown;
	a->cap_waiting = cap;
	return 0;
}

void kernel_arena_give(struct kernel_arena *a, uint32_t at, uint32_t n_words)
{
	uint64_t now_ns = clock_mono_ns();

	assert(at % SEGMENT_WORDS + n_words <= WIRE_SEGMENT_WORDS);
	if (waiting_extend(a, at, n_words, now_ns))
		return;
	/* What cannot be queued is never used again, rather than too early. */
	if (waiting_reserve(a) < 0)
		return;
	a->waiting[a->n_waiting++] = (struct waiting){ at, n_words, now_ns };
}

/* The walk reads the count before and behind what it reads here, so the count must be seen raised before new contents are. */
static void raise_reuse_count(const struct kernel_arena *a)
{
	if (!a->options.reuse_count)
		return;
	__atomic_add_fetch(a->options.reuse_count, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void kernel_arena_reclaim(struct kernel_arena *a, uint64_t now_ns)
{
	size_t first = a->first_waiting;

	while (a->first_waiting < a->n_waiting &&
	       a->waiting[a->first_waiting].given_ns + KERNEL_ARENA_GRACE_NS <= now_ns)
		a->first_waiting++;
	if (a->first_waiting == first)
		return;
	raise_reuse_count(a);
	for (size_t i = first; i < a->first_waiting; i++)
		kernel_arena_give_unseen(a, a->waiting[i].at, a->waiting[i].n_words);
	if (a->first_waiting == a->n_waiting)
		a->first_waiting = a->n_waiting = 0;
}

const char *kernel_arena_segment(const struct kernel_arena *a, uint32_t index)
{
	return index < __atomic_load_n(&a->n_segments, __ATOMIC_ACQUIRE) ? a->segments[index].memory
									 : NULL;
}

void *kernel_arena_ptr(const struct kernel_arena *a, uint32_t at)
{
	return a->segments[at / SEGMENT_WORDS].memory +
	       (size_t)(at % SEGMENT_WORDS) * WIRE_WORD_BYTES;
}

uint64_t kernel_arena_waiting_words(const struct kernel_arena *a)
{
	uint64_t n = 0;

	for (size_t i = a->first_waiting; i < a->n_waiting; i++)
		n += a->waiting[i].n_words;
	return n;
}

uint64_t kernel_arena_used_bytes(const struct kernel_arena *a)
{
	return a->used_words * WIRE_WORD_BYTES;
}

uint64_t kernel_arena_size_bytes(const struct kernel_arena *a)
{
	return (uint64_t)a->n_segments * WIRE_SEGMENT_BYTES;
}
