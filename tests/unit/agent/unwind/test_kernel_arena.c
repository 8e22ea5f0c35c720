/* SPDX-License-Identifier: Apache-2.0 */
/* The arena, in plain memory and in real BPF maps. */
#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/unwind/kernel_arena.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define WORDS (WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES)
/* All of a segment; of the first one, which lacks a word. */
#define MOST WIRE_SEGMENT_WORDS
#define FIRST_MOST (MOST - 1)

static struct kernel_arena *make(uint32_t max_segments, uint64_t *reuse_count)
{
	struct kernel_arena_options o = { -1, max_segments, reuse_count };
	struct kernel_arena *a = NULL;

	assert_int_equal(kernel_arena_new(&o, &a), 0);
	return a;
}

static uint32_t take(struct kernel_arena *a, uint32_t n_words)
{
	uint32_t at = 0;

	assert_int_equal(kernel_arena_take(a, n_words, &at), 0);
	assert_int_not_equal(at, 0);
	/* Within one segment, and not its last word. */
	assert_int_equal(at / WORDS, (at + n_words) / WORDS);
	return at;
}

static void grows_to_its_ceiling(void **state)
{
	struct kernel_arena *a = make(2, NULL);
	uint32_t at = 77;

	(void)state;
	assert_int_equal(kernel_arena_size_bytes(a), 0);
	assert_null(kernel_arena_segment(a, 0));
	(void)take(a, WORDS / 2);
	assert_int_equal(kernel_arena_size_bytes(a), WIRE_SEGMENT_BYTES);
	(void)take(a, WORDS / 2);
	assert_int_equal(kernel_arena_size_bytes(a), 2 * WIRE_SEGMENT_BYTES);
	(void)take(a, FIRST_MOST - WORDS / 2);
	(void)take(a, MOST - WORDS / 2);
	assert_int_equal(kernel_arena_used_bytes(a), (FIRST_MOST + MOST) * 8);
	assert_int_equal(kernel_arena_take(a, 1, &at), -ENOSPC);
	assert_int_equal(at, 77);
	assert_non_null(kernel_arena_segment(a, 1));
	assert_null(kernel_arena_segment(a, 2));
	assert_null(kernel_arena_segment(a, UINT32_MAX));
	kernel_arena_free(a);
	kernel_arena_free(NULL);
}

static void no_more_than_a_segment(void **state)
{
	struct kernel_arena *a = make(4, NULL);
	uint32_t at;

	(void)state;
	assert_int_equal(kernel_arena_take(a, MOST + 1, &at), -ENOSPC);
	assert_int_equal(kernel_arena_take(a, UINT32_MAX, &at), -ENOSPC);
	assert_int_equal(kernel_arena_size_bytes(a), 0);
	/* The first segment lacks a word. */
	assert_int_equal(take(a, MOST), WORDS);
	(void)take(a, FIRST_MOST);
	kernel_arena_free(a);
	a = make(0, NULL);
	assert_int_equal(kernel_arena_take(a, 1, &at), -ENOSPC);
	kernel_arena_free(a);
	/* More segments than there are numbers for are not made. */
	a = make(UINT32_MAX, NULL);
	(void)take(a, 1);
	kernel_arena_free(a);
}

static void pointer_and_segment_agree(void **state)
{
	struct kernel_arena *a = make(2, NULL);

	(void)state;
	(void)take(a, WORDS - 10);
	uint32_t at = take(a, 20);
	uint64_t value = 0x1122334455667788;
	memcpy(kernel_arena_ptr(a, at), &value, sizeof(value));
	assert_int_equal(at / WORDS, 1);
	assert_memory_equal(kernel_arena_segment(a, 1) + (size_t)(at % WORDS) * 8, &value,
			    sizeof(value));
	kernel_arena_free(a);
}

static void waits_for_the_grace_time(void **state)
{
	uint64_t reuse = 5;
	struct kernel_arena *a = make(1, &reuse);
	uint32_t at;

	(void)state;
	uint32_t first = take(a, FIRST_MOST);
	uint64_t before_ns = clock_mono_ns();
	kernel_arena_give(a, first, FIRST_MOST);
	assert_int_equal(kernel_arena_used_bytes(a), FIRST_MOST * 8);
	assert_int_equal(kernel_arena_take(a, 1, &at), -ENOSPC);
	kernel_arena_reclaim(a, before_ns + KERNEL_ARENA_GRACE_NS - 1);
	assert_int_equal(kernel_arena_take(a, 1, &at), -ENOSPC);
	assert_int_equal(reuse, 5);
	kernel_arena_reclaim(a, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
	assert_int_equal(reuse, 6);
	assert_int_equal(kernel_arena_used_bytes(a), 0);
	/* Nothing was waiting: nothing is reused. */
	kernel_arena_reclaim(a, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
	assert_int_equal(reuse, 6);
	(void)take(a, FIRST_MOST);
	kernel_arena_free(a);
}

static void unseen_is_free_at_once(void **state)
{
	uint64_t reuse = 0;
	struct kernel_arena *a = make(1, &reuse);

	(void)state;
	uint32_t at = take(a, FIRST_MOST);
	kernel_arena_give_unseen(a, at, FIRST_MOST);
	assert_int_equal(kernel_arena_used_bytes(a), 0);
	assert_int_equal(take(a, FIRST_MOST), at);
	assert_int_equal(reuse, 0);
	kernel_arena_free(a);
}

/* Pieces of all sizes come and go; none overlaps another, and in the end all is free. */
static void pieces_come_and_go(void **state)
{
	enum { N = 300 };
	struct piece {
		uint32_t at;
		uint32_t n;
	} pieces[N] = { 0 };
	struct kernel_arena *a = make(3, NULL);
	uint32_t random = 7;
	uint64_t used = 0;

	(void)state;
	for (uint32_t round = 0; round < 20000; round++) {
		random = random * 1664525 + 1013904223;
		struct piece *p = &pieces[(random >> 8) % N];
		uint32_t n = 1 + (random >> 20) % 1500;

		if (p->n) {
			const uint32_t *words = kernel_arena_ptr(a, p->at);

			for (uint32_t i = 0; i < p->n * 2; i++)
				assert_int_equal(words[i], p->at);
			used -= p->n;
			if (round % 3)
				kernel_arena_give(a, p->at, p->n);
			else
				kernel_arena_give_unseen(a, p->at, p->n);
			p->n = 0;
		} else if (kernel_arena_take(a, n, &p->at) == 0) {
			uint32_t *words = kernel_arena_ptr(a, p->at);

			p->n = n;
			used += n;
			for (uint32_t i = 0; i < n * 2; i++)
				words[i] = p->at;
		}
		if (round % 50 == 0) {
			kernel_arena_reclaim(a, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
			assert_int_equal(kernel_arena_used_bytes(a), used * 8);
		}
	}
	for (uint32_t i = 0; i < N; i++)
		if (pieces[i].n)
			kernel_arena_give(a, pieces[i].at, pieces[i].n);
	kernel_arena_reclaim(a, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
	assert_int_equal(kernel_arena_used_bytes(a), 0);
	(void)take(a, FIRST_MOST);
	(void)take(a, MOST);
	(void)take(a, MOST);
	kernel_arena_free(a);
}

static int make_segments_map(uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_inner", sizeof(uint32_t),
				   WIRE_SEGMENT_BYTES, 1, &mmapable);
	LIBBPF_OPTS(bpf_map_create_opts, outer, .inner_map_fd = (uint32_t)inner);
	int fd = -1;

	if (inner >= 0)
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "t_segments", sizeof(uint32_t),
				    sizeof(uint32_t), n, &outer);
	cleanup_close_p(&inner);
	return fd;
}

/* What is stored by plain stores is what the kernel's look-up finds. */
static void real_maps(void **state)
{
	_cleanup_close_ int segments_fd = make_segments_map(2);
	struct kernel_arena *a = NULL;
	uint32_t index = 1, id = 0, key = 0, at;

	(void)state;
	if (segments_fd < 0) {
		printf("skip: bpf(2) refuses to make maps: %s\n", strerror(errno));
		skip();
	}
	struct kernel_arena_options o = { segments_fd, 8, NULL };
	assert_int_equal(kernel_arena_new(&o, &a), 0);
	assert_int_not_equal(bpf_map_lookup_elem(segments_fd, &index, &id), 0);
	(void)take(a, FIRST_MOST);
	at = take(a, 16);
	memset(kernel_arena_ptr(a, at), 0x5a, 16 * 8);
	assert_int_equal(bpf_map_lookup_elem(segments_fd, &index, &id), 0);
	_cleanup_close_ int fd = bpf_map_get_fd_by_id(id);
	char *value = malloc(WIRE_SEGMENT_BYTES);
	assert_non_null(value);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, value), 0);
	assert_memory_equal(value, kernel_arena_segment(a, 1), WIRE_SEGMENT_BYTES);
	free(value);
	/* The array of maps is full before the ceiling is reached. */
	(void)take(a, MOST - 16);
	assert_true(kernel_arena_take(a, 1, &at) < 0);
	assert_int_equal(kernel_arena_size_bytes(a), 2 * WIRE_SEGMENT_BYTES);
	kernel_arena_free(a);
	assert_int_not_equal(bpf_map_lookup_elem(segments_fd, &index, &id), 0);
}

static const struct unit_test tests[] = {
	TEST(grows_to_its_ceiling),
	TEST(no_more_than_a_segment),
	TEST(pointer_and_segment_agree),
	TEST(waits_for_the_grace_time),
	TEST(unseen_is_free_at_once),
	TEST(pieces_come_and_go),
	TEST(real_maps),
};

TEST_MAIN(tests)
