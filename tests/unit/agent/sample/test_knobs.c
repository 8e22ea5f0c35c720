/* SPDX-License-Identifier: Apache-2.0 */
/* How large the ring is. */
#include "agent/sample/knobs.h"
#include "tests/support/unit.h"

#define MIB ((size_t)1 << 20)

struct row {
	const char *name;
	struct sampler_options options;
	size_t n_cpus;
	size_t expected;
};

static const struct row rows[] = {
	{ "ticks_at_the_usual_rate", { 0 }, 2, MIB },
	{ "ticks_at_another_rate", { .hz = 970 }, 2, 16 * MIB },
	{ "more_cpus", { 0 }, 16, 8 * MIB },
	/* Each may bring SAMPLER_PROBE_HZ beside the ticks. */
	{ "a_tracepoint", { .n_tracepoints = 1 }, 2, 16 * MIB },
	{ "two_tracepoints", { .n_tracepoints = 2 }, 2, 32 * MIB },
	{ "a_tracepoint_alone", { .n_tracepoints = 1, .no_ticks = true, .hz = 5000 }, 2, 16 * MIB },
	{ "no_more_than_is_allowed", { .n_tracepoints = 1, .ring_bytes = 4 * MIB }, 2, 4 * MIB },
	{ "rounded_down", { .n_tracepoints = 1, .ring_bytes = 7 * MIB }, 2, 4 * MIB },
	{ "no_less_than_the_least", { .n_tracepoints = 1, .ring_bytes = 1 }, 2, MIB },
	{ "no_more_than_the_most", { .n_tracepoints = 31 }, 128, 64 * MIB },
};

static void test_row(void **state)
{
	const struct row *row = *state;

	assert_int_equal(knobs_ring_bytes(&row->options, row->n_cpus), row->expected);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
