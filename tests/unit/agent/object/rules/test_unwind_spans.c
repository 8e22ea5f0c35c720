/* SPDX-License-Identifier: Apache-2.0 */
/* Spans in order: equal begins keep theirs, overlaps are cut, ceilings hold. */
#include <errno.h>
#include <stdlib.h>

#include "agent/object/rules/unwind_source.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

#define ROOM 8

struct spans_row {
	const char *name;
	struct unwind_span in[ROOM]; /* up to the first without bytes */
	struct unwind_span out[ROOM];
	uint64_t n_overlaps;
};

static struct spans_row spans_rows[] = {
	{ "none", { { 0 } }, { { 0 } }, 0 },
	{ "one", { { 16, 16, 1 } }, { { 16, 16, 1 } }, 0 },
	{ "in order", { { 0, 16, 1 }, { 16, 16, 2 } }, { { 0, 16, 1 }, { 16, 16, 2 } }, 0 },
	{ "backwards",
	  { { 64, 16, 1 }, { 32, 16, 2 }, { 0, 16, 3 } },
	  { { 0, 16, 3 }, { 32, 16, 2 }, { 64, 16, 1 } },
	  0 },
	{ "far apart",
	  { { 0xffffffff00000000, 16, 1 }, { 16, 16, 2 }, { 0x7f0000000000, 16, 3 } },
	  { { 16, 16, 2 }, { 0x7f0000000000, 16, 3 }, { 0xffffffff00000000, 16, 1 } },
	  0 },
	{ "equal: the first wins", { { 0, 16, 1 }, { 0, 16, 2 } }, { { 0, 16, 1 } }, 1 },
	{ "equal, unordered: the first wins",
	  { { 32, 16, 1 }, { 0, 8, 2 }, { 0, 16, 3 } },
	  { { 0, 8, 2 }, { 8, 8, 3 }, { 32, 16, 1 } },
	  1 },
	{ "overlap: the second is cut",
	  { { 0, 16, 1 }, { 8, 16, 2 } },
	  { { 0, 16, 1 }, { 16, 8, 2 } },
	  1 },
	{ "inside",
	  { { 0, 32, 1 }, { 8, 8, 2 }, { 32, 8, 3 } },
	  { { 0, 32, 1 }, { 32, 8, 3 } },
	  1 },
	{ "cut behind something inside",
	  { { 0, 32, 1 }, { 8, 8, 2 }, { 24, 16, 3 } },
	  { { 0, 32, 1 }, { 32, 8, 3 } },
	  2 },
	{ "at the end of addresses",
	  { { UINT64_MAX - 8, 16, 1 }, { UINT64_MAX - 4, 16, 2 } },
	  { { UINT64_MAX - 8, 8, 1 } },
	  1 },
};

static void finishes(void **state)
{
	const struct spans_row *row = *state;
	struct unwind_spans spans = { .max_bytes = 4096 };
	struct unwind_source_stats stats = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < ROOM && row->in[i].n_bytes; i++)
		assert_int_equal(unwind_spans_add(&spans, &row->in[i]), 0);
	while (n < ROOM && row->out[n].n_bytes)
		n++;
	assert_int_equal(unwind_spans_finish(&spans, &stats), 0);
	assert_int_equal(spans.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(spans.items[i].begin, row->out[i].begin);
		assert_int_equal(spans.items[i].n_bytes, row->out[i].n_bytes);
		assert_int_equal(spans.items[i].ref, row->out[i].ref);
	}
	assert_int_equal(stats.n_overlaps, row->n_overlaps);
	unwind_spans_fini(&spans);
	assert_null(spans.items);
	assert_int_equal(spans.max_bytes, 4096);
}

static void keeps_its_ceiling(void **state)
{
	enum { N = 1000 };
	struct unwind_spans spans = { .max_bytes = N * sizeof(struct unwind_span) + 8 };
	struct unwind_span span = { 0, 1, 0 };

	(void)state;
	for (; span.begin < N; span.begin++)
		assert_int_equal(unwind_spans_add(&spans, &span), 0);
	assert_int_equal(unwind_spans_add(&spans, &span), UNWIND_SOURCE_TOO_LARGE);
	assert_int_equal(spans.n, N);
	assert_true(spans.cap * sizeof(span) <= spans.max_bytes);
	unwind_spans_fini(&spans);
}

static int compare(const void *a, const void *b)
{
	const struct unwind_span *x = a;
	const struct unwind_span *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

/* Spans of one byte: nothing but equal ones is cut. */
static void sorts_like_qsort(void **state)
{
	enum { N = 20000 };
	struct unwind_spans spans = { .max_bytes = (size_t)1 << 20 };
	struct unwind_span *expected = calloc(N, sizeof(*expected));
	struct unwind_source_stats stats = { 0 };
	uint64_t random = 1;
	size_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		expected[i] = (struct unwind_span){ random >> (i % 3 ? 40 : 10), 1, i };
		assert_int_equal(unwind_spans_add(&spans, &expected[i]), 0);
	}
	qsort(expected, N, sizeof(*expected), compare);
	assert_int_equal(unwind_spans_finish(&spans, &stats), 0);
	for (size_t i = 0; i < N; i++) {
		if (i > 0 && expected[i].begin == expected[i - 1].begin)
			continue;
		assert_int_equal(spans.items[at].begin, expected[i].begin);
		assert_int_equal(spans.items[at++].ref, expected[i].ref);
	}
	assert_int_equal(at, spans.n);
	assert_int_equal(stats.n_overlaps, N - spans.n);
	unwind_spans_fini(&spans);
	free(expected);
}

static int add_and_finish(void)
{
	struct unwind_spans spans = { .max_bytes = 65536 };
	struct unwind_source_stats stats = { 0 };
	int r = 0;

	for (uint32_t i = 600; r == 0 && i > 0; i--)
		r = unwind_spans_add(&spans, &(struct unwind_span){ i, 1, i });
	if (r == 0)
		r = unwind_spans_finish(&spans, &stats);
	unwind_spans_fini(&spans);
	return r;
}

static void survives_no_memory(void **state)
{
	size_t nth = 1;

	(void)state;
	for (;; nth++) {
		alloc_fail_arm(nth);
		int r = add_and_finish();
		if (!alloc_fail_disarm())
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(nth > 3);
}

static const struct unit_test tests[] = {
	TEST_ROWS(finishes, spans_rows, name),
	TEST(keeps_its_ceiling),
	TEST(sorts_like_qsort),
	TEST(survives_no_memory),
};

TEST_MAIN(tests)
