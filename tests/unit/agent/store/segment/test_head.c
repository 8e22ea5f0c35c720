/* SPDX-License-Identifier: Apache-2.0 */
/* The growing segment: what goes in comes out of the image again, however it is merged, and never does it take more than it may. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/head.h"
#include "agent/store/segment/segment_image.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

#define T0 INT64_C(1700000000000)
#define SLOT_MS 1000

static struct head *new_head(size_t max_bytes)
{
	const struct head_options options = { .max_bytes = max_bytes,
					      .slot_ms = SLOT_MS,
					      .seed = 7 };
	struct head *h;

	assert_int_equal(head_new(&options, &h), 0);
	return h;
}

static int try_text(struct head *h, const char *before, unsigned int i, uint32_t *ret_text)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%s%u", before, i);

	return head_text(h, text, (size_t)n, ret_text);
}

static int try_node(struct head *h, uint32_t parent, unsigned int function, uint32_t *ret_node)
{
	struct segment_function f = { 0 };
	struct segment_line line = { .line = function };
	struct segment_location l = { .lines = &line, .n_lines = 1, .mapping = SEGMENT_NONE };
	uint32_t at;
	int r = try_text(h, "function_", function, &f.name);

	r = r < 0 ? r : head_function(h, &f, &line.function);
	r = r < 0 ? r : head_location(h, &l, &at);
	return r < 0 ? r : head_node(h, (struct segment_node){ parent, at }, ret_node);
}

static int try_series(struct head *h, unsigned int number, uint32_t *ret_series)
{
	struct segment_label l;
	int r = head_text(h, "service_name", strlen("service_name"), &l.name);

	r = r < 0 ? r : try_text(h, "service-", number, &l.value);
	return r < 0 ? r : head_series(h, &l, 1, ret_series);
}

static struct segment *encode(struct head *h)
{
	struct segment *s;
	uint8_t *image;
	size_t n;

	assert_int_equal(head_encode(h, &image, &n), 0);
	assert_int_equal(segment_new(image, n, &s), SEGMENT_OPENED);
	return s;
}

/* What should be there: sums by series, slot and node; nodes are numbered as they were made. */
#define N_SERIES 5
#define N_SLOTS 12
#define N_NODES 200
struct model {
	uint64_t random;
	int64_t values[N_SERIES][N_SLOTS][N_NODES + 1];
	int64_t last_ms[N_SERIES][N_SLOTS];
	uint32_t n_profiles[N_SERIES][N_SLOTS];
	int64_t times_ms[N_SERIES][N_SLOTS][SLOT_MS];
};

static unsigned int below(struct model *m, unsigned int n)
{
	m->random = hash_u64(m->random + 1);
	return (unsigned int)(m->random % n);
}

/* A tree in which many nodes have the same function. */
static void make_nodes(struct head *h, struct model *m)
{
	for (uint32_t i = 1; i <= N_NODES; i++) {
		uint32_t id;

		do
			assert_int_equal(try_node(h, below(m, i), below(m, 50), &id), 0);
		while (id < i);
		assert_int_equal(id, i);
	}
}

static bool take_time(struct model *m, unsigned int series, unsigned int slot, int64_t time_ms)
{
	uint32_t *n = &m->n_profiles[series][slot];

	for (uint32_t i = 0; i < *n; i++)
		if (m->times_ms[series][slot][i] == time_ms)
			return false;
	m->times_ms[series][slot][(*n)++] = time_ms;
	if (time_ms > m->last_ms[series][slot])
		m->last_ms[series][slot] = time_ms;
	return true;
}

static void put_profile(struct head *h, struct model *m)
{
	struct head_sample samples[N_NODES];
	unsigned int number = below(m, N_SERIES), slot = below(m, N_SLOTS);
	int64_t time_ms = T0 + slot * SLOT_MS + below(m, 40), unit = below(m, 3) ? 10309278 : 1;
	uint32_t series;
	size_t n = 0;

	assert_int_equal(try_series(h, number, &series), 0);
	bool fresh = take_time(m, number, slot, time_ms);
	assert_int_equal(head_has(h, series, time_ms), !fresh);
	if (!fresh)
		return;
	for (uint32_t i = 1; i <= N_NODES; i++) {
		if (below(m, 4) && i < N_NODES)
			continue;
		samples[n++] = (struct head_sample){ i, unit * (1 + below(m, 300)) };
		m->values[number][slot][i] += samples[n - 1].value;
	}
	assert_int_equal(head_put(h, series, time_ms, 5, samples, n), 0);
}

static void check_slot(const struct segment *s, size_t at, const struct model *m,
		       unsigned int series)
{
	int64_t values[N_NODES + 1] = { 0 }, total = 0;
	struct segment_slot slot;
	uint32_t n = 0;

	segment_slot(s, at, &slot);
	size_t number = (size_t)(slot.time_ms - T0) / SLOT_MS;

	segment_add_slot(s, at, values);
	assert_memory_equal(values, m->values[series][number], sizeof(values));
	for (size_t i = 0; i <= N_NODES; i++) {
		total += values[i];
		n += values[i] > 0;
	}
	assert_int_equal(slot.total, total);
	assert_int_equal(slot.n_samples, n);
	assert_int_equal(slot.time_ms, m->last_ms[series][number]);
	assert_int_equal(slot.n_profiles, m->n_profiles[series][number]);
}

static void check_model(const struct segment *s, const struct model *m)
{
	uint64_t n_slots = 0, n_expected = 0;

	for (size_t i = 0; i < segment_n_series(s); i++) {
		const char *name = segment_series_label(s, i, "service_name");
		unsigned int series = (unsigned int)(name[strlen("service-")] - '0');
		struct segment_series x;

		segment_series(s, i, &x);
		assert_int_equal(x.period, 5);
		for (size_t j = 0; j < x.n_slots; j++)
			check_slot(s, x.first_slot + j, m, series);
		n_slots += x.n_slots;
	}
	for (size_t i = 0; i < N_SERIES; i++)
		for (size_t j = 0; j < N_SLOTS; j++)
			n_expected += m->n_profiles[i][j] > 0;
	assert_int_equal(n_slots, n_expected);
}

static void test_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct head *h = new_head(1 << 24);
		struct model *m = calloc(1, sizeof(*m));

		assert_non_null(m);
		m->random = seed;
		make_nodes(h, m);
		for (int i = 1; i <= 200; i++) {
			put_profile(h, m);
			if (i != 1 && i % 50)
				continue;
			struct segment *s = encode(h);

			check_model(s, m);
			segment_unref(s);
		}
		free(m);
		head_free(h);
	}
}

static void test_same_again(void **state)
{
	struct head *h = new_head(1 << 20);
	struct segment_mapping a = { .start = 1, .has_lines = true },
			       b = { .start = 1, .has_inlines = true };
	struct segment_line line = { .line = 3 };
	struct segment_location plain = { .mapping = 0, .address = 5 }, lined = {
		.lines = &line, .n_lines = 1, .mapping = 0, .address = 5
	};
	uint32_t first, second, other;

	(void)state;
	assert_int_equal(head_text(h, "ab", 2, &first), 0);
	assert_int_equal(head_text(h, "abc", 2, &second), 0);
	assert_int_equal(head_text(h, "a", 1, &other), 0);
	assert_int_equal(first, second);
	assert_int_not_equal(first, other);
	assert_int_equal(head_text(h, "", 0, &other), 0);
	assert_int_equal(other, 0);
	assert_int_equal(head_mapping(h, &a, &first), 0);
	assert_int_equal(head_mapping(h, &a, &second), 0);
	assert_int_equal(head_mapping(h, &b, &other), 0);
	assert_int_equal(first, second);
	assert_int_not_equal(first, other);
	assert_int_equal(head_function(h, &(struct segment_function){ 0 }, &line.function), 0);
	assert_int_equal(head_location(h, &plain, &first), 0);
	assert_int_equal(head_location(h, &lined, &other), 0);
	assert_int_equal(head_location(h, &plain, &second), 0);
	assert_int_equal(first, second);
	assert_int_not_equal(first, other);
	head_free(h);
}

/* Series that never got a profile are not there. */
static void test_empty_series(void **state)
{
	struct head *h = new_head(1 << 20);
	struct head_stats stats;
	uint32_t node, idle, busy;

	(void)state;
	assert_int_equal(try_node(h, SEGMENT_ROOT, 1, &node), 0);
	assert_int_equal(try_series(h, 1, &idle), 0);
	assert_int_equal(try_series(h, 2, &busy), 0);
	assert_false(head_has(h, busy, T0));
	assert_int_equal(head_put(h, busy, T0, 0, &(struct head_sample){ node, 1 }, 1), 0);
	assert_true(head_has(h, busy, T0));
	assert_false(head_has(h, busy, T0 + 1));
	assert_false(head_has(h, idle, T0));
	head_stats(h, &stats);
	assert_int_equal(stats.n_series, 1);
	assert_int_equal(stats.n_profiles, 1);
	assert_int_equal(stats.n_samples, 1);
	struct segment *s = encode(h);

	assert_int_equal(segment_n_series(s), 1);
	segment_unref(s);
	head_free(h);
}

static void test_large_values(void **state)
{
	struct head *h = new_head(1 << 20);
	const struct head_sample samples[] = { { 1, INT64_MAX }, { 2, INT64_MAX - 1 } };
	int64_t values[3] = { 0 };
	struct segment_slot slot;
	uint32_t node, series;

	(void)state;
	assert_int_equal(try_node(h, SEGMENT_ROOT, 1, &node), 0);
	assert_int_equal(try_node(h, node, 2, &node), 0);
	assert_int_equal(try_series(h, 1, &series), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(head_put(h, series, T0 + i, 0, samples, 2), 0);
	struct segment *s = encode(h);

	segment_slot(s, 0, &slot);
	assert_true(slot.total == INT64_MAX);
	segment_add_slot(s, 0, values);
	assert_true(values[1] == INT64_MAX && values[2] == INT64_MAX);
	segment_unref(s);
	head_free(h);
}

/* CPU time in multiples of a period takes a byte a value, and nodes made together another. */
static void test_two_bytes_a_sample(void **state)
{
	struct head *h = new_head(1 << 22);
	struct head_sample samples[100];
	uint32_t node, series;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(samples); i++) {
		assert_int_equal(try_node(h, SEGMENT_ROOT, i, &node), 0);
		samples[i] = (struct head_sample){ node, INT64_C(10309278) * (1 + i) };
	}
	assert_int_equal(try_series(h, 1, &series), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(
			head_put(h, series, T0 + i * 15000, 10309278, samples, ARRAY_SIZE(samples)),
			0);
	struct segment *s = encode(h);

	assert_true(s->header->counts[IMAGE_DATA] <= 100 * (16 + 2 * ARRAY_SIZE(samples)));
	segment_unref(s);
	head_free(h);
}

static int fill(struct head *h, unsigned int i)
{
	struct head_sample sample = { 0, 1 };
	uint32_t series;
	int r = try_node(h, i % 7, i, &sample.node);

	r = r < 0 ? r : try_series(h, i, &series);
	if (r < 0 || !head_has_room(h, head_put_bytes(h, series, T0 + i * 100, 1)))
		return r < 0 ? r : -ENOBUFS;
	return head_put(h, series, T0 + i * 100, 1, &sample, 1);
}

static void test_ceiling(void **state)
{
	(void)state;
	for (size_t max = 64 << 10; max <= 1 << 20; max *= 4) {
		struct head *h = new_head(max);
		struct head_stats stats;
		unsigned int n = 0;
		int r;

		while ((r = fill(h, n)) == 0 && n < 100000)
			n++;
		assert_int_equal(r, -ENOBUFS);
		assert_true(n > max / 2000);
		head_stats(h, &stats);
		assert_true(stats.bytes <= max);
		struct segment *s = encode(h);

		assert_int_equal(s->header->n_profiles, n);
		assert_true(segment_bytes(s) <= max);
		segment_unref(s);
		head_free(h);
	}
}

static size_t bytes_of(const struct head *h)
{
	struct head_stats stats;

	head_stats(h, &stats);
	return stats.bytes;
}

static void put_within_bytes(struct head *h, uint32_t series, int64_t time_ms,
			     const struct head_sample *samples, size_t n)
{
	size_t before = bytes_of(h), most = head_put_bytes(h, series, time_ms, n);

	assert_int_equal(head_put(h, series, time_ms, 1, samples, n), 0);
	assert_true(bytes_of(h) - before <= most);
}

/* First slots, a long list of slots that grows by half, times that double, and one value that takes the unit from all others. */
static void test_put_bytes(void **state)
{
	struct head *h = new_head(1 << 22);
	struct head_sample samples[500];
	uint32_t node, series;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(samples); i++) {
		assert_int_equal(try_node(h, SEGMENT_ROOT, i, &node), 0);
		samples[i] = (struct head_sample){ node, INT64_C(1) << 54 };
	}
	assert_int_equal(try_series(h, 1, &series), 0);
	for (int i = 0; i < 200; i++)
		put_within_bytes(h, series, T0 + i * SLOT_MS, samples, 1);
	for (int i = 1; i < 200; i++)
		put_within_bytes(h, series, T0 + i, samples, 1);
	put_within_bytes(h, series, T0 + 1000 * SLOT_MS, samples, ARRAY_SIZE(samples));
	samples[0].value = 1;
	put_within_bytes(h, series, T0 + 1000 * SLOT_MS + 1, samples, 1);
	head_free(h);
}

static int intern_some(struct head *h, unsigned int first, unsigned int n)
{
	const struct segment_mapping mapping = { .start = first + 1 };
	struct segment_location bare = { .address = first + 7 };
	uint32_t id;
	int r = head_mapping(h, &mapping, &bare.mapping);

	r = r < 0 ? r : head_location(h, &bare, &id);
	for (unsigned int i = first; i < first + n && r == 0; i++) {
		r = try_node(h, SEGMENT_ROOT, i, &id);
		r = r < 0 ? r : try_series(h, i, &id);
	}
	return r;
}

static void assert_same_image(struct head *a, struct head *b)
{
	_cleanup_free_ uint8_t *x = NULL, *y = NULL;
	size_t n_x, n_y;

	assert_int_equal(head_encode(a, &x, &n_x), 0);
	assert_int_equal(head_encode(b, &y, &n_y), 0);
	assert_int_equal(n_x, n_y);
	assert_memory_equal(x, y, n_x);
}

/* What was interned since goes again, with its memory, and what was there before is found as before; also when nothing was. */
static void test_rollback(void **state)
{
	static const unsigned int n_before[] = { 0, 3, 1000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(n_before); i++) {
		struct head *h = new_head(1 << 22), *other = new_head(1 << 22);
		struct head_mark mark;

		for (unsigned int j = 0; j < n_before[i]; j++) {
			assert_int_equal(fill(h, j), 0);
			assert_int_equal(fill(other, j), 0);
		}
		size_t bytes = bytes_of(h);

		for (int round = 0; round < 3; round++) {
			head_mark(h, &mark);
			assert_int_equal(intern_some(h, 5000, round == 1 ? 100000 : 5),
					 round == 1 ? -ENOBUFS : 0);
			head_rollback(h, &mark);
			assert_int_equal(bytes_of(h), bytes);
		}
		for (unsigned int j = 0; j < 1100; j++) {
			assert_int_equal(fill(h, j), 0);
			assert_int_equal(fill(other, j), 0);
		}
		assert_same_image(h, other);
		assert_int_equal(bytes_of(h), bytes_of(other));
		head_free(h);
		head_free(other);
	}
}

static int case_of_allocations(void)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = SLOT_MS, .seed = 7 };
	_cleanup_(head_freep) struct head *h = NULL;
	_cleanup_free_ uint8_t *image = NULL;
	size_t n;
	int r = head_new(&options, &h);

	for (unsigned int i = 0; i < 60 && r == 0; i++)
		r = fill(h, i / 3);
	return r < 0 ? r : head_encode(h, &image, &n);
}

static void test_no_memory(void **state)
{
	size_t nth = 1;

	(void)state;
	for (;; nth++) {
		alloc_fail_arm(nth);
		int r = case_of_allocations();

		if (!alloc_fail_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		/* One that only gives back what is left may fail unnoticed. */
		assert_true(r == -ENOMEM || r == 0);
	}
	assert_true(nth > 30);
}

static const struct unit_test tests[] = {
	TEST(test_model),
	TEST(test_same_again),
	TEST(test_empty_series),
	TEST(test_large_values),
	TEST(test_two_bytes_a_sample),
	TEST(test_ceiling),
	TEST(test_put_bytes),
	TEST(test_rollback),
	TEST(test_no_memory),
};

TEST_MAIN(tests)
