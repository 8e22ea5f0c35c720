/* SPDX-License-Identifier: Apache-2.0 */
/* Events in words: lists of them, parts of names of files. */
#include <errno.h>

#include "agent/sample/event_text.h"
#include "tests/support/unit.h"

struct row {
	const char *text;
	const char *parts; /* of files' names, with a blank before each; NULL: refused */
};

static const struct row rows[] = {
	{ "cpu", " cpu" },
	{ "off_cpu,cpu", " off_cpu cpu" },
	{ "cpu,cpu", " cpu" },
	{ "wall,off_cpu,locks,faults,run_queue,syscalls,tcp,cpu",
	  " wall off_cpu locks faults run_queue syscalls tcp cpu" },
	{ "tracepoint:syscalls:sys_enter_read", " syscalls.sys_enter_read" },
	{ "tracepoint:a:b,cpu,tracepoint:a:c,tracepoint:a:b", " a.b cpu a.c" },
	{ "", NULL },
	{ ",", NULL },
	{ "cpu,", NULL },
	{ ",cpu", NULL },
	{ "cpu,,tcp", NULL },
	{ "cpu tcp", NULL },
	{ "CPU", NULL },
	{ "cpu,disk", NULL },
	{ "tracepoint", NULL },
	{ "tracepoint:a", NULL },
	{ "tracepoint:../a:b", NULL },
	{ "cpu:a:b", NULL },
};

static void test_list(void **state)
{
	const struct row *row = *state;
	_cleanup_event_list_ struct event_list list = { 0 };
	_cleanup_buf_ struct buf got = BUF_INIT(4096);
	int r = event_list_parse(row->text, &list);

	assert_int_equal(r, row->parts ? 0 : -EINVAL);
	for (size_t i = 0; r == 0 && i < list.n; i++) {
		(void)buf_append_char(&got, ' ');
		event_text_file_part(&list.items[i], &got);
	}
	if (row->parts)
		assert_string_equal(buf_str(&got), row->parts);
}

/* Behind those that are there. */
static void test_more(void **state)
{
	_cleanup_event_list_ struct event_list list = { 0 };

	(void)state;
	assert_int_equal(event_list_parse("locks", &list), 0);
	assert_false(event_list_has_ticks(&list));
	assert_true(event_list_has_others(&list));
	assert_int_equal(event_list_parse("cpu,locks", &list), 0);
	assert_int_equal(list.n, 2);
	assert_true(event_list_has_ticks(&list) && event_list_has(&list, EVENT_LOCKS));
	assert_false(event_list_has(&list, EVENT_WALL));
}

/* Series are told by their event; those of tracepoints by their number, too. */
static void test_find(void **state)
{
	_cleanup_event_list_ struct event_list list = { 0 };

	(void)state;
	assert_int_equal(event_list_parse("tracepoint:a:b,cpu,tracepoint:a:c", &list), 0);
	assert_int_equal(event_list_find(&list, EVENT_TRACEPOINT, 1), 0);
	assert_int_equal(event_list_find(&list, EVENT_CPU, EVENT_SOURCE_TICKS), 1);
	assert_int_equal(event_list_find(&list, EVENT_TRACEPOINT, 2), 2);
	assert_int_equal(event_list_find(&list, EVENT_TRACEPOINT, 3), list.n);
	assert_int_equal(event_list_find(&list, EVENT_TRACEPOINT, 0), list.n);
	assert_int_equal(event_list_find(&list, EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU), list.n);
}

static void test_most_tracepoints(void **state)
{
	_cleanup_event_list_ struct event_list list = { 0 };
	_cleanup_buf_ struct buf name = BUF_INIT(256);

	(void)state;
	for (int i = 0; i <= EVENT_MAX_TRACEPOINTS; i++) {
		buf_reset(&name);
		(void)buf_printf(&name, "tracepoint:a:b%d", i);
		assert_int_equal(event_list_parse(buf_str(&name), &list),
				 i < EVENT_MAX_TRACEPOINTS ? 0 : -E2BIG);
	}
	assert_int_equal(list.n, EVENT_MAX_TRACEPOINTS);
	assert_int_equal(event_list_parse("cpu", &list), 0);
}

/* By OTLP a profile is called by its period's type, or that of its value: no two events' are one. */
static void test_periods(void **state)
{
	(void)state;
	for (enum event a = 0; a < EVENT_MAX; a++)
		for (enum event b = 0; b < a; b++) {
			const struct event_value *of_a = &event_type(a)->period;
			const struct event_value *of_b = &event_type(b)->period;

			assert_string_not_equal(of_a->type, of_b->type);
			for (size_t i = 0; i < event_n_values(b) && !*of_b->type; i++)
				assert_string_not_equal(of_a->type, event_type(b)->values[i].type);
		}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_list, rows, text), TEST(test_more),    TEST(test_find),
	TEST(test_most_tracepoints),	  TEST(test_periods),
};

TEST_MAIN(tests)
