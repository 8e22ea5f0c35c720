/* SPDX-License-Identifier: Apache-2.0 */
/* Waits whose sample comes when they begin: each end adds to the stack of its sample, the sample is counted once, and one of which nothing is told is counted, too. */
#include <stdlib.h>
#include <string.h>

#include "agent/profile/session_private.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#define ID(tid, ns) WIRE_HELD_ID(tid, ns)

struct fixture {
	struct session session;
	struct labels *labels;
	struct frame_ref frame;
};

static struct interval *new_interval(size_t max_bytes)
{
	struct interval *i = NULL;

	assert_int_equal(interval_new(1, max_bytes, &i), 0);
	i->tagging.reason = REASON_FRAME;
	return i;
}

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->labels = make_service("waits");
	f->frame = frame_ref_of(FRAME_KIND_KERNEL, FN(1));
	assert_int_equal(telemetry_new(&f->session.options.telemetry), 0);
	assert_int_equal(process_table_new(
				 &(struct process_table_options){
					 .telemetry = f->session.options.telemetry },
				 &f->session.processes.table),
			 0);
	f->session.interval = new_interval(1 << 20);
}

static void teardown(struct fixture *f)
{
	session_held_close(&f->session);
	interval_free(f->session.interval);
	process_table_free(f->session.processes.table);
	telemetry_free(f->session.options.telemetry);
	labels_unref(f->labels);
}

static uint64_t count_of(const struct fixture *f, enum telemetry_counter counter)
{
	return telemetry_get(f->session.options.telemetry, counter);
}

/* As add_sample.c does it. */
static void hold(struct fixture *f, uint64_t id)
{
	static const int64_t none[EVENT_MAX_VALUES];
	const struct wire_sample head = { .record = { .event = EVENT_OFF_CPU,
						      .source = EVENT_SOURCE_OFF_CPU },
					  .values = { [WIRE_VALUE_ID] = id },
					  .reason = WAIT_SLEEP,
					  .flags = WIRE_HELD };
	const struct sample sample = { .head = &head };
	bool is_new;

	assert_int_equal(interval_add(f->session.interval,
				      &(struct samples){ .labels = f->labels,
							 .event = EVENT_OFF_CPU,
							 .source = EVENT_SOURCE_OFF_CPU,
							 .values = none,
							 .frames = &f->frame,
							 .n_kernel = 1 },
				      &is_new),
			 0);
	session_hold(&f->session, &sample);
}

static void end(struct fixture *f, uint64_t id, uint64_t ns, uint64_t ready_ns, bool goes_on)
{
	const struct wire_end e = { .record = { .type = WIRE_END, .event = EVENT_OFF_CPU },
				    .id = id,
				    .values = { ns, ns > 0 && !goes_on,
						[WIRE_VALUE_READY] = ready_ns },
				    .goes_on = goes_on };

	session_wait_end(&f->session, &e);
}

/* Time of the stacks that end in what was waited for. */
static int64_t ns_for(const struct fixture *f, enum wait_reason reason)
{
	const struct frame_ref leaf = frame_ref_of(FRAME_KIND_WAIT, reason);
	const struct series *series =
		interval_series(f->session.interval, f->labels, EVENT_SOURCE_OFF_CPU);
	int64_t ns = 0;

	for (const struct stack *s = series ? series->stacks : NULL; s; s = s->next)
		if (frame_ref_equal(s->frames[0], leaf))
			ns += stack_values_const(s)[0];
	return ns;
}

static void next_interval(struct fixture *f, size_t max_bytes)
{
	struct interval *next = new_interval(max_bytes);

	session_held_look(&f->session);
	session_held_carry(&f->session, next);
	interval_free(f->session.interval);
	f->session.interval = next;
}

static void test_parts(void **state)
{
	struct fixture *f = *state;
	uint64_t id = ID(7, 1000);

	hold(f, id);
	assert_int_equal(session_n_waiting(&f->session), 1);
	assert_true(stack_is_empty(f->session.interval->last));
	end(f, id, 500, 0, true);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 500);
	assert_int_equal(f->session.interval->n_samples, 1);
	end(f, id, 300, 100, true);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 700);
	assert_int_equal(ns_for(f, WAIT_READY), 100);
	/* Counted once, and here. */
	assert_int_equal(f->session.interval->n_samples, 1);
	assert_int_equal(session_n_waiting(&f->session), 1);
	next_interval(f, 1 << 20);
	end(f, id, 40, 0, false);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 40);
	assert_int_equal(f->session.interval->n_samples, 0);
	/* It is over. */
	end(f, id, 40, 0, false);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 40);
	assert_int_equal(count_of(f, TELEMETRY_samples_dropped_unended), 0);
	assert_int_equal(count_of(f, TELEMETRY_ends_missing), 0);
}

/* Ends of nobody, of another wait of the thread, of another event; and more than there can be. */
static void test_forged_ends(void **state)
{
	struct fixture *f = *state;
	const struct wire_end other = { .record = { .type = WIRE_END, .event = EVENT_RUN_QUEUE },
					.id = ID(7, 1000),
					.values = { 1, 1 } };

	end(f, ID(7, 1000), 500, 0, false);
	hold(f, ID(7, 1000));
	end(f, ID(7, 1001), 500, 0, false);
	end(f, ID(8, 1000), 500, 0, false);
	session_wait_end(&f->session, &other);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 0);
	end(f, ID(7, 1000), UINT64_MAX, UINT64_MAX, true);
	end(f, ID(7, 1000), UINT64_MAX, 0, false);
	assert_int_equal(ns_for(f, WAIT_SLEEP), INT64_MAX);
	assert_int_equal(session_n_waiting(&f->session), 1);
}

/* A thread waits for one thing at a time. */
static void test_an_end_was_lost(void **state)
{
	struct fixture *f = *state;

	hold(f, ID(7, 1000));
	hold(f, ID(7, 2000));
	assert_int_equal(count_of(f, TELEMETRY_ends_missing), 1);
	assert_int_equal(count_of(f, TELEMETRY_samples_dropped_unended), 1);
	end(f, ID(7, 1000), 500, 0, false);
	end(f, ID(7, 2000), 20, 0, false);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 20);
	/* The stack of the same wait once more. */
	hold(f, ID(7, 3000));
	hold(f, ID(7, 3000));
	assert_int_equal(count_of(f, TELEMETRY_ends_missing), 1);
	/* Nothing is told. */
	end(f, ID(7, 3000), 0, 0, false);
	assert_int_equal(count_of(f, TELEMETRY_samples_dropped_unended), 3);
	assert_int_equal(session_n_waiting(&f->session), 1);
}

/* A stack that finds no room in the next interval: what would have been told is. */
static void test_no_room(void **state)
{
	struct fixture *f = *state;

	hold(f, ID(7, 1000));
	end(f, ID(7, 1000), 500, 0, true);
	next_interval(f, 64);
	assert_int_equal(count_of(f, TELEMETRY_ends_missing), 1);
	end(f, ID(7, 1000), 500, 0, false);
	assert_int_equal(ns_for(f, WAIT_SLEEP), 0);
	assert_int_equal(session_n_waiting(&f->session), 0);
}

static int setup_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	setup(f);
	*state = f;
	return 0;
}

static int teardown_fixture(void **state)
{
	teardown(*state);
	free(*state);
	return 0;
}

static const struct unit_test tests[] = {
	TEST_WITH(test_parts, setup_fixture, teardown_fixture),
	TEST_WITH(test_forged_ends, setup_fixture, teardown_fixture),
	TEST_WITH(test_an_end_was_lost, setup_fixture, teardown_fixture),
	TEST_WITH(test_no_room, setup_fixture, teardown_fixture),
};

TEST_MAIN(tests)
