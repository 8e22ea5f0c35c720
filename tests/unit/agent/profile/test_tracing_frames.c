/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls a program at a tracepoint is none of the thread's functions. */
#include "agent/profile/tracing_frames.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include "agent/util/buf.h"

static void test_functions(void **state)
{
	static const struct {
		const char *function;
		bool is_tracing;
	} rows[] = {
		{ "__traceiter_sched_exit_tp", true },
		{ "__bpf_trace_tcp_set_state", true },
		{ "bpf_trace_run2", true },
		{ "bpf_trampoline_6442549714", true },
		{ "__bpf_prog_enter_recur", true },
		{ "bpf_prog_6deef7357e7b4530_off_cpu_in", true },
		{ "__schedule", false },
		{ "trace_call_bpf", false },
		{ "bpf_map_update_elem", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(tracing_function(rows[i].function), rows[i].is_tracing);
}

#define TRACER 6
#define RUNNER 7

static int setup(void **state)
{
	static const char *const names[N_FUNCTIONS] = {
		[TRACER] = "__traceiter_sched_exit_tp",
		[RUNNER] = "__bpf_trace_sched_exit_tp",
	};

	return context_setup_names(state, names);
}

struct row {
	const char *name;
	enum event event;
	uint16_t source;
	unsigned int kernel[4]; /* functions, leaf first; 0 ends them */
	bool has_reason;
	const char *stack; /* leaf first */
	const char *leaf;
};

static const struct row rows[] = {
	{ "none", EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, { 100, 101 }, false, "fn100 fn101 [unknown]", "fn100" },
	{ "one", EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, { TRACER, 100 }, false, "fn100 [unknown]", "fn100" },
	{ "two", EVENT_TCP, EVENT_SOURCE_TCP, { RUNNER, TRACER, 100 }, false, "fn100 [unknown]", "fn100" },
	{ "behind a reason", EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, { TRACER, 100 }, true, "[sleep] fn100 [unknown]", "[sleep]" },
	{ "further out", EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, { 100, TRACER, 101 }, false, "fn100 __traceiter_sched_exit_tp fn101 [unknown]", "fn100" },
	{ "nothing else", EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, { TRACER }, false, "[unknown]", "[unknown]" },
	/* A tick can hit it. */
	{ "CPU time", EVENT_CPU, 0, { TRACER, 100 }, false, "__traceiter_sched_exit_tp fn100 [unknown]", "__traceiter_sched_exit_tp" },
};

static const struct stack *add(struct context *w, const struct row *row)
{
	struct frame_ref frames[ARRAY_SIZE(row->kernel) + 2];
	const int64_t values[EVENT_MAX_VALUES] = { 1000, 1 };
	uint16_t n = 0;
	bool is_new;

	if (row->has_reason)
		frames[n++] = frame_ref_of(FRAME_KIND_WAIT, WAIT_SLEEP);
	for (size_t i = 0; i < ARRAY_SIZE(row->kernel) && row->kernel[i]; i++)
		frames[n++] = kernel_frame(FN(row->kernel[i]));
	frames[n] = UNKNOWN;
	const struct samples one = { .labels = w->web,
				     .event = row->event,
				     .source = row->source,
				     .values = values,
				     .frames = frames,
				     .n_kernel = n,
				     .n_user = 1,
				     .count = 1 };
	assert_int_equal(interval_add(w->interval, &one, &is_new), 0);
	return w->interval->last;
}

static void test_stacks(void **state)
{
	struct context *w = *state;
	struct named_stack named;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1024);
		const struct stack *stack = add(w, &rows[i]);

		assert_int_equal(namer_stack(w->namer, stack, &named), 0);
		for (uint32_t k = 0; k < named.n; k++)
			(void)buf_printf(&text, "%s%s", k > 0 ? " " : "",
					 named.items[k]->items[0].function);
		assert_string_equal(buf_str(&text), rows[i].stack);
		assert_int_equal(namer_leaf(w->namer, stack, &named), 0);
		assert_int_equal(named.n, 1);
		assert_string_equal(named.items[0]->items[0].function, rows[i].leaf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test_setup_teardown(test_stacks, setup, context_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
