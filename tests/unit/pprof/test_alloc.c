/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out at every possible place: no leak, no crash, and a repeated call works. */
#include <errno.h>
#include <string.h>

#include "pprof/pprof.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define N_SAMPLES 150

static struct pprof_options some_options(void)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;

	options.period = 10309278;
	options.time_ns = 1;
	return options;
}

/* Repeats what failed for want of memory, once and from the same random state, when told to. */
static int add_samples(struct pprof_builder *b, bool repeat)
{
	struct pprof_random random = { .state = 3,
				       .n_functions = 900,
				       .max_depth = 40,
				       .max_labels = 3,
				       .max_value = 1000,
				       .strange = true };

	for (int i = 0; i < N_SAMPLES; i++) {
		struct pprof_random before = random;
		int r = pprof_random_add(&random, b);

		if (r == -ENOMEM && repeat) {
			random = before;
			r = pprof_random_add(&random, b);
		}
		if (r != 0)
			return r;
	}
	return 0;
}

typedef int (*encode_fn)(const struct pprof_builder *b, struct pprof_bytes *ret_bytes);

static int build(encode_fn encode, bool repeat, struct pprof_bytes *ret_bytes)
{
	struct pprof_options options = some_options();
	struct pprof_builder *b = NULL;
	int r = pprof_builder_new(&options, &b);

	if (r == -ENOMEM && repeat)
		r = pprof_builder_new(&options, &b);
	if (r == 0)
		r = add_samples(b, repeat);
	if (r == 0)
		r = encode(b, ret_bytes);
	if (r == -ENOMEM && repeat)
		r = encode(b, ret_bytes);
	pprof_builder_free(b);
	return r;
}

struct row {
	const char *name;
	encode_fn encode;
	bool repeat;
};

static void test_nth_allocation_fails(void **state)
{
	const struct row *row = *state;
	struct pprof_bytes expected, bytes;
	size_t nth;

	assert_int_equal(build(row->encode, false, &expected), 0);
	for (nth = 1;; nth++) {
		bytes = (struct pprof_bytes){ 0 };
		alloc_fail_arm(nth);
		int r = build(row->encode, row->repeat, &bytes);

		if (!alloc_fail_disarm()) {
			pprof_bytes_fini(&bytes);
			break;
		}
		if (row->repeat)
			assert_int_equal(r, 0);
		/* Only giving back unused memory at the end may fail unnoticed. */
		if (r == 0) {
			assert_int_equal(bytes.n, expected.n);
			assert_memory_equal(bytes.data, expected.data, bytes.n);
			pprof_bytes_fini(&bytes);
		} else {
			assert_int_equal(r, -ENOMEM);
			assert_null(bytes.data);
		}
	}
	/* Enough to have gone through the growth of every table. */
	assert_in_range(nth, 50, 1000);
	pprof_bytes_fini(&expected);
}

static struct row rows[] = {
	{ "plain, give up", pprof_builder_encode_plain, false },
	{ "plain, repeat", pprof_builder_encode_plain, true },
	{ "gzip, give up", pprof_builder_encode, false },
	{ "gzip, repeat", pprof_builder_encode, true },
};

static const struct unit_test tests[] = {
	TEST_ROWS(test_nth_allocation_fails, rows, name),
};

TEST_MAIN(tests)
