/* SPDX-License-Identifier: Apache-2.0 */
/* Who has woken up a thread: which waker is whose, what it is called, and what of its stack is shown. */
#include "agent/profile/waker_frame.h"
#include "agent/profile/waker_table.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "agent/profile/top_table.h"
#include "agent/util/macro.h"

static struct frame_ref frame(uint64_t i)
{
	return frame_ref_of(FRAME_KIND_KERNEL, FN(i));
}

static size_t put(struct waker_table *t, uint64_t id, size_t n)
{
	struct frame_ref frames[WAKER_MAX_FRAMES];
	size_t n_lost = SIZE_MAX;

	for (size_t i = 0; i < n; i++)
		frames[i] = frame(i);
	assert_int_equal(waker_table_put(t, id, frames, n, &n_lost), 0);
	return n_lost;
}

static void test_each_is_taken_once(void **state)
{
	struct waker_table t = { { NULL } };

	(void)state;
	assert_null(waker_table_take(&t, 7));
	assert_int_equal(put(&t, 7, 3), 0);
	assert_int_equal(put(&t, 8, WAKER_MAX_FRAMES), 0);
	assert_null(waker_table_take(&t, 9));
	struct waker *w = waker_table_take(&t, 7);
	assert_non_null(w);
	assert_int_equal(w->id, 7);
	assert_int_equal(w->n, 3);
	assert_true(frame_ref_equal(w->frames[2], frame(2)));
	free(w);
	assert_null(waker_table_take(&t, 7));
	assert_int_equal(waker_table_clear(&t), 1);
	assert_int_equal(waker_table_clear(&t), 0);
	assert_null(waker_table_take(&t, 8));
}

/* However many come that nobody asks for, there are no more than places, and each that goes is told. */
static void test_it_does_not_grow(void **state)
{
	struct waker_table t = { { NULL } };
	size_t n_lost = 0, n_left;

	(void)state;
	for (uint64_t id = 2; id < 100002; id++)
		n_lost += put(&t, id, 1);
	n_left = waker_table_clear(&t);
	assert_in_range(n_left, 1, WAKER_TABLE_PLACES);
	assert_int_equal(n_lost + n_left, 100000);
}

static void assert_text(const char *comm, bool has_names, const char *expected)
{
	struct waker_name name = waker_name_of(comm);
	_cleanup_buf_ struct buf text = BUF_INIT(64);
	_cleanup_buf_ struct buf doubtful = BUF_INIT(64);

	waker_name_text(&name, has_names, &text);
	assert_string_equal(buf_str(&text), expected);
	/* Whose functions in the kernel are not all known is as doubtful as with hidden names. */
	buf_reset(&text);
	waker_name_text(&name, false, &text);
	name.is_doubtful = 1;
	waker_name_text(&name, has_names, &doubtful);
	assert_string_equal(buf_str(&doubtful), buf_str(&text));
}

static void test_names(void **state)
{
	(void)state;
	assert_text("nginx", true, "[woken by nginx]");
	assert_text("nginx", false, "[woken while nginx ran]");
	assert_text("", true, "[woken by interrupt]");
	assert_text("", false, "[woken by interrupt]");
	assert_text("a\033[2J\nb", true, "[woken by a?[2J?b]");
	assert_text("longer than a name may be", true, "[woken by longer than a na]");
}

static void assert_name_in(const char *text, const char *expected)
{
	struct str name = waker_name_in(text);

	assert_int_equal(name.n, strlen(expected));
	assert_memory_equal(name.n ? name.p : "", expected, name.n);
}

static void test_names_in_texts(void **state)
{
	(void)state;
	assert_name_in("[woken by nginx]", "nginx");
	assert_name_in("[woken by interrupt]", "interrupt");
	assert_name_in("[woken by a]b]", "a]b");
	assert_name_in("[woken while nginx ran]", "while nginx ran");
	assert_name_in("[sleep]", "");
	assert_name_in("woken by nginx", "");
}

static void test_entries_of_interrupts(void **state)
{
	static const struct {
		const char *function;
		bool is_entry;
	} rows[] = {
		{ "asm_sysvec_apic_timer_interrupt", true },
		{ "asm_common_interrupt", true },
		{ "el1h_64_irq", true },
		{ "fred_extint", true },
		/* Whoever has a page fault, or is served by a softirq in its own system call, does it itself. */
		{ "asm_exc_page_fault", false },
		{ "entry_SYSCALL_64_after_hwframe", false },
		{ "__do_softirq", false },
		{ "sysvec_apic_timer_interrupt", false },
		{ "el0t_64_sync", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(waker_is_interrupt_entry(rows[i].function), rows[i].is_entry);
}

/* Functions of a kernel of which one is the entry of an interrupt, and one what calls programs at a tracepoint. */
#define ENTRY 5
#define TRACER 6

static int setup_entry(void **state)
{
	static const char *const names[N_FUNCTIONS] = {
		[ENTRY] = "asm_common_interrupt",
		[TRACER] = "__traceiter_sched_waking",
	};

	return context_setup_names(state, names);
}

/* A wait in fn100, called by fn101, that `n` frames have ended, outermost first; USER is a frame of a process. */
#define USER 1000

static const struct stack *add_wait(struct context *w, const char *comm, const unsigned int *waker,
				    size_t n)
{
	const struct waker_name name = waker_name_of(comm);
	struct frame_ref frames[WAKER_MAX_FRAMES + 3];
	const int64_t values[EVENT_MAX_VALUES] = { 1000, 1 };
	bool is_new;

	for (size_t i = 0; i < n; i++)
		frames[i] = waker[i] < USER ? frame(waker[i]) : frame_ref_of(FRAME_KIND_UNKNOWN, 0);
	assert_int_equal(interval_waker_frame(w->interval, &name, &frames[n]), 0);
	frames[n + 1] = frame(100);
	frames[n + 2] = frame(101);
	const struct samples one = { .labels = w->web,
				     .event = EVENT_OFF_CPU,
				     .source = EVENT_SOURCE_OFF_CPU,
				     .values = values,
				     .frames = frames,
				     .n_kernel = (uint16_t)(n + 3),
				     .count = 1 };
	assert_int_equal(interval_add(w->interval, &one, &is_new), 0);
	return w->interval->last;
}

/* The functions, leaf first: "a b c". */
static void assert_stack(struct context *w, const struct stack *stack, const char *expected,
			 uint32_t leaf)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	struct named_stack named;

	assert_int_equal(namer_stack(w->namer, stack, &named), 0);
	for (uint32_t i = 0; i < named.n; i++)
		(void)buf_printf(&text, "%s%s", i > 0 ? " " : "",
				 named.items[i]->items[0].function);
	assert_string_equal(buf_str(&text), expected);
	assert_int_equal(named.leaf, leaf);
	assert_int_equal(namer_leaf(w->namer, stack, &named), 0);
	assert_int_equal(named.n, 1);
	assert_string_equal(named.items[0]->items[0].function,
			    strstr(expected, "[kernel]") ? "[kernel]" : "fn100");
}

static void test_a_process_has_its_stack(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { USER, 11, 12 };

	namer_name_all(w->namer);
	assert_stack(w, add_wait(w, "nginx", frames, ARRAY_SIZE(frames)),
		     "[unknown] fn011 fn012 [woken by nginx] fn100 fn101", 4);
}

/* What was interrupted is not the waker, whoever it is. */
static void test_an_interrupt_has_its_own(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { USER, 11, ENTRY, 12, 13 };
	static const char expected[] =
		"asm_common_interrupt fn012 fn013 [woken by interrupt] fn100 fn101";

	assert_stack(w, add_wait(w, "nginx", frames, ARRAY_SIZE(frames)), expected, 4);
	assert_stack(w, add_wait(w, "other", frames + 1, ARRAY_SIZE(frames) - 1), expected, 4);
	assert_stack(w, add_wait(w, "", frames + 1, ARRAY_SIZE(frames) - 1), expected, 4);
}

/* That others look at wake-ups, too, is none of the waker's functions. */
static void test_what_calls_the_program_is_left_out(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { 11, TRACER }, alone[] = { TRACER };

	assert_stack(w, add_wait(w, "nginx", frames, ARRAY_SIZE(frames)),
		     "fn011 [woken by nginx] fn100 fn101", 2);
	assert_stack(w, add_wait(w, "nginx", alone, ARRAY_SIZE(alone)),
		     "[woken by nginx] fn100 fn101", 1);
}

static void test_no_frames_at_all(void **state)
{
	struct context *w = *state;

	assert_stack(w, add_wait(w, "nginx", NULL, 0), "[woken by nginx] fn100 fn101", 1);
}

/* They are needed to know who it is, and are not shown. */
static void test_frames_of_the_kernel_are_not_wanted(void **state)
{
	struct context *w = *state;
	const unsigned int own[] = { USER, 11, 12 }, interrupt[] = { 11, ENTRY, 12 };

	w->interval->no_kernel = true;
	assert_stack(w, add_wait(w, "nginx", own, ARRAY_SIZE(own)),
		     "[unknown] [woken by nginx] fn100 fn101", 2);
	assert_stack(w, add_wait(w, "nginx", interrupt, ARRAY_SIZE(interrupt)),
		     "[woken by interrupt] fn100 fn101", 1);
}

/* Where the kernel's functions have no names it may have been an interrupt. */
static void test_hidden_names(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { USER, ENTRY, 12 };

	assert_stack(w, add_wait(w, "nginx", frames, ARRAY_SIZE(frames)),
		     "[unknown] [kernel] [woken while nginx ran] [kernel]", 3);
}

/* A table of functions counts the wait where the thread waited. */
static void test_self_time_is_the_waiters(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { 11, 12 };
	struct top_table top;

	add_wait(w, "nginx", frames, ARRAY_SIZE(frames));
	top_table_init(&top, (size_t)1 << 20);
	assert_int_equal(top_table_add_series(&top, w->interval->series, w->namer), 0);
	assert_string_equal(top_table_by_self(&top)->function, "fn100");
	assert_int_equal(top_table_by_self(&top)->self, 1000);
	top_table_fini(&top);
}

/* A series that moves to another interval takes names along. */
static void test_carried(void **state)
{
	struct context *w = *state;
	const unsigned int frames[] = { 11 };
	_cleanup_(interval_freep) struct interval *next = NULL;
	_cleanup_(namer_freep) struct namer *namer = NULL;
	struct named_stack named;
	uint64_t n;

	add_wait(w, "nginx", frames, ARRAY_SIZE(frames));
	add_wait(w, "", frames, ARRAY_SIZE(frames));
	assert_int_equal(interval_new(PERIOD_NS, (size_t)1 << 20, &next), 0);
	assert_int_equal(interval_carry(next, w->interval, w->interval->series, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(namer_new(next, w->store, (size_t)1 << 20, &namer), 0);
	assert_int_equal(namer_stack(namer, next->series->stacks, &named), 0);
	assert_string_equal(named.items[1]->items[0].function, "[woken by nginx]");
	assert_int_equal(namer_stack(namer, next->series->stacks->next, &named), 0);
	assert_string_equal(named.items[1]->items[0].function, "[woken by interrupt]");
}

#define TEST_ENTRY(function) \
	cmocka_unit_test_setup_teardown(function, setup_entry, context_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_taken_once),
		cmocka_unit_test(test_it_does_not_grow),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_in_texts),
		cmocka_unit_test(test_entries_of_interrupts),
		TEST_ENTRY(test_a_process_has_its_stack),
		TEST_ENTRY(test_an_interrupt_has_its_own),
		TEST_ENTRY(test_what_calls_the_program_is_left_out),
		TEST_ENTRY(test_no_frames_at_all),
		TEST_ENTRY(test_frames_of_the_kernel_are_not_wanted),
		TEST_ENTRY(test_self_time_is_the_waiters),
		TEST_ENTRY(test_carried),
		cmocka_unit_test_setup_teardown(test_hidden_names, context_setup_hidden,
						context_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
