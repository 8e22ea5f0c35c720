/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of this agent itself, and the same as bytes: the same heads, the same refusals. */
#include <string.h>

#include "agent/store/ingest/ingest.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define NOW_MS INT64_C(1700000000000)
#define HOUR_MS INT64_C(3600000)

struct row {
	const char *name;
	struct label labels[3];
	size_t n_labels;
	int64_t age_ms;
	size_t n_samples;
	size_t max_labels; /* of a sample */
	bool strange;
	int outcome;
};

#define SERIES { { "__name__", "process_cpu" }, { "service_name", "demo" } }, 2

static const struct row rows[] = {
	{ "one sample", SERIES, 0, 1, 0, false, INGEST_OPENED },
	{ "no sample", SERIES, 0, 0, 0, false, INGEST_OPENED },
	{ "many", SERIES, 1000, 4000, 0, false, INGEST_OPENED },
	{ "series by labels of samples", SERIES, 1000, 1000, 4, false, INGEST_OPENED },
	{ "addresses and odd names", SERIES, 1000, 500, 4, true, INGEST_OPENED },
	{ "no service", { { "__name__", "n" }, { "a.b", "c" } }, 2, 0, 9, 0, false, INGEST_OPENED },
	{ "no name", { { "service_name", "s" } }, 1, 0, 9, 0, false, INGEST_REFUSED_LABELS },
	{ "wrong name",
	  { { "__name__", "n" }, { "a-b", "c" } },
	  2,
	  0,
	  9,
	  0,
	  false,
	  INGEST_REFUSED_LABELS },
	{ "too old", SERIES, 2 * HOUR_MS, 9, 0, false, INGEST_REFUSED_WINDOW },
	{ "too new", SERIES, -HOUR_MS, 9, 0, false, INGEST_REFUSED_WINDOW },
	{ "too many samples", SERIES, 0, 16500, 0, false, INGEST_REFUSED_SAMPLES },
	{ "too large", SERIES, 0, 60000, 0, false, INGEST_REFUSED_SIZE },
};

static struct profile *make(const struct row *row)
{
	struct pprof_random random = { .state = 7,
				       .n_functions = 3000,
				       .max_depth = 30,
				       .max_labels = row->max_labels,
				       .max_value = 1000,
				       .strange = row->strange };
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;
	struct pprof_builder *b = NULL;
	struct labels *labels = NULL;
	struct profile *p = NULL;

	o.period = 10;
	o.time_ns = (NOW_MS - row->age_ms) * 1000000;
	o.max_samples = SIZE_MAX;
	o.max_bytes = PPROF_MAX_MAX_BYTES;
	assert_int_equal(pprof_builder_new(&o, &b), 0);
	for (size_t i = 0; i < row->n_samples; i++)
		assert_int_equal(pprof_random_add(&random, b), 0);
	assert_int_equal(labels_new(row->labels, row->n_labels, &labels), 0);
	assert_int_equal(profile_new(&b, labels, row->n_samples, (uint64_t)o.time_ns, &p), 0);
	labels_unref(labels);
	return p;
}

struct kept {
	uint8_t *image;
	size_t n;
	struct ingest_result first, again;
};

/* All that there is to know of what came in: the head's image. */
static void put_twice(struct ingest *in, struct kept *ret)
{
	const struct head_options options = { .max_bytes = 64 << 20, .slot_ms = 1000, .seed = 3 };
	_cleanup_(head_freep) struct head *h = NULL;

	*ret = (struct kept){ 0 };
	assert_int_equal(head_new(&options, &h), 0);
	assert_int_equal(ingest_put(in, h, NULL, 0, &ret->first), 0);
	assert_int_equal(ingest_put(in, h, NULL, 0, &ret->again), 0);
	assert_int_equal(ret->again.n_kept, 0);
	assert_int_equal(ret->again.n_repeated, ret->first.n_kept);
	if (ret->first.n_kept > 0)
		assert_int_equal(head_encode(h, &ret->image, &ret->n), 0);
}

static void compare_kept(struct ingest *own, struct ingest *pushed)
{
	struct kept a, b;

	assert_int_equal(ingest_time_ms(own), ingest_time_ms(pushed));
	put_twice(own, &a);
	put_twice(pushed, &b);
	assert_int_equal(a.first.n_kept, b.first.n_kept);
	assert_int_equal(a.n, b.n);
	if (a.n > 0)
		assert_memory_equal(a.image, b.image, a.n);
	free(a.image);
	free(b.image);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why_own = BUF_INIT(10000), why_pushed = BUF_INIT(10000);
	_cleanup_(ingest_freep) struct ingest *own = NULL, *pushed = NULL;
	_cleanup_(profile_unrefp) struct profile *p = make(row);

	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	const struct shared_bytes *pprof = profile_form(p, FORM_PPROF);
	assert_int_equal(ingest_open_profile(p, NOW_MS, NOW_MS - HOUR_MS, &why_own, &own),
			 row->outcome);
	assert_int_equal(ingest_open(p->labels, pprof->data, pprof->n, NOW_MS, NOW_MS - HOUR_MS,
				     NULL, &why_pushed, &pushed),
			 row->outcome);
	assert_string_equal(buf_str(&why_own), buf_str(&why_pushed));
	if (row->outcome == INGEST_OPENED)
		compare_kept(own, pushed);
}

static int put_of_age(struct head *h, int64_t age_ms, struct ingest_result *ret_result)
{
	const struct row row = { .labels = { { "__name__", "n" }, { "service_name", "s" } },
				 .n_labels = 2,
				 .age_ms = age_ms,
				 .n_samples = 1 };
	_cleanup_buf_ struct buf why = BUF_INIT(10000);
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	_cleanup_(profile_unrefp) struct profile *p = make(&row);

	assert_int_equal(ingest_open_profile(p, NOW_MS, 0, &why, &in), INGEST_OPENED);
	return ingest_put(in, h, NULL, 0, ret_result);
}

/* Times in an image have 32 bits: after a clock was set by years, another head is needed. */
static void test_times_too_far_apart(void **state)
{
	const struct head_options options = { .max_bytes = 64 << 20, .slot_ms = 1000, .seed = 3 };
	_cleanup_(head_freep) struct head *h = NULL;
	_cleanup_(segment_unrefp) struct segment *s = NULL;
	struct ingest_result result;
	uint8_t *image;
	size_t n;

	(void)state;
	assert_int_equal(head_new(&options, &h), 0);
	assert_int_equal(put_of_age(h, UINT32_MAX, &result), 0);
	assert_int_equal(put_of_age(h, -1, &result), -ENOBUFS);
	assert_int_equal(put_of_age(h, 0, &result), 0);
	assert_int_equal(put_of_age(h, (int64_t)UINT32_MAX + 1, &result), -ENOBUFS);
	assert_int_equal(head_encode(h, &image, &n), 0);
	assert_int_equal(segment_new(image, n, &s), SEGMENT_OPENED);
	assert_int_equal(segment_first_ms(s), NOW_MS - UINT32_MAX);
	assert_int_equal(segment_last_ms(s), NOW_MS);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_times_too_far_apart),
};

TEST_MAIN(tests)
