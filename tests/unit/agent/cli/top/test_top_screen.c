/* SPDX-License-Identifier: Apache-2.0 */
/* A view as lines: tables, and screens of many sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/top/top_screen.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define HZ 100

static void add(struct top_view_row *row, const char *name, const char *of, uint64_t self,
		uint64_t total)
{
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	(void)snprintf(row->of, sizeof(row->of), "%s", of);
	row->self = self;
	row->total = total;
}

/* Of two seconds: 100 samples at 100 Hz, half a CPU. */
static struct top_view *make_view(void)
{
	struct top_view *v = calloc(1, sizeof(*v));

	assert_non_null(v);
	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	v->total = 100;
	v->period_ns = NS_PER_S / HZ;
	v->elapsed_ns = 2 * NS_PER_S;
	v->end_real_ns = 12345 * NS_PER_S;
	v->n_services = v->n_all_services = 2;
	v->n_functions = 3;
	v->n_all_functions = 7;
	add(&v->services[0], "java", "java.util.TimSort.sort", 75, 75);
	add(&v->services[1], "größe-größe-größe-größe-größe", "f", 25, 25);
	add(&v->functions[0], "java.util.TimSort.sort", "TimSort.java", 60, 75);
	add(&v->functions[1], "main", "a.out", 40, 100);
	add(&v->functions[2], "[jit]", "", 0, 10);
	return v;
}

static struct top_screen make_screen(const struct top_view *v)
{
	return (struct top_screen){ .view = v,
				    .event = { EVENT_CPU, NULL },
				    .subject = "all processes",
				    .hz = HZ,
				    .interval_ns = 2 * NS_PER_S,
				    .n_cpus = 4,
				    .n_services = 2,
				    .n_functions = 3 };
}

static void check(const struct top_screen *s, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	top_screen_put(s, &out);
	assert_string_equal(buf_str(&out), expected);
}

static void table(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);

	(void)state;
	check(&s, "03:25:45  all processes: CPU time, 100 Hz, every 2 s\n"
		  "0.50 of 4 CPUs busy\n"
		  "\n"
		  "  SHARE     CPUS  SERVICE                   ITS HOTTEST FUNCTION\n"
		  "  75.0%     0.38  java                      java.util.TimSort.sort\n"
		  "  25.0%     0.12  größe-größe-größe-größe-  f\n"
		  "\n"
		  "   SELF    TOTAL  FUNCTION (OBJECT)\n"
		  "  60.0%    75.0%  java.util.TimSort.sort  (TimSort.java)\n"
		  "  40.0%   100.0%  main  (a.out)\n"
		  "   0.0%    10.0%  [jit]\n"
		  "… and 4 more functions\n");
	s.shows = TOP_SERVICES;
	s.n_services = 1;
	s.n_lost = 3;
	check(&s, "03:25:45  all processes: CPU time, 100 Hz, every 2 s\n"
		  "0.50 of 4 CPUs busy, 3 samples lost: a lower -F helps\n"
		  "\n"
		  "  SHARE     CPUS  SERVICE                   ITS HOTTEST FUNCTION\n"
		  "  75.0%     0.38  java                      java.util.TimSort.sort\n"
		  "… and 1 more service\n");
	free(v);
}

static void other_events(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);

	(void)state;
	s.shows = TOP_SERVICES;
	s.n_services = 1;
	v->n_all_services = 1;
	s.event = (struct event_text){ EVENT_OFF_CPU, NULL };
	v->total = 8 * NS_PER_S;
	v->services[0].self = 6 * NS_PER_S;
	check(&s, "03:25:45  all processes: Off-CPU time, every 2 s\n"
		  "4.00 threads did not run\n"
		  "\n"
		  "  SHARE  THREADS  SERVICE                   ITS HOTTEST FUNCTION\n"
		  "  75.0%     3.00  java                      java.util.TimSort.sort\n");
	s.event = (struct event_text){ EVENT_TRACEPOINT, "sched:sched_switch" };
	v->total = 4000;
	v->services[0].self = 1000;
	check(&s, "03:25:45  all processes: hits of sched:sched_switch, every 2 s\n"
		  "2000.0 hits a second\n"
		  "\n"
		  "  SHARE A SECOND  SERVICE                   ITS HOTTEST FUNCTION\n"
		  "  25.0%   500.00  java                      java.util.TimSort.sort\n");
	free(v);
}

/* Nothing was sampled; or the first interval is not over. */
static void nothing(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(NULL);

	(void)state;
	check(&s, "all processes: CPU time, 100 Hz, every 2 s\n"
		  "the first interval is not over\n");
	v->total = v->n_services = v->n_functions = v->n_all_services = v->n_all_functions = 0;
	v->elapsed_ns = 0;
	s.view = v;
	check(&s, "03:25:45  all processes: CPU time, 100 Hz, every 2 s\n"
		  "0.00 of 4 CPUs busy\n"
		  "\n"
		  "  SHARE     CPUS  SERVICE                   ITS HOTTEST FUNCTION\n"
		  "\n"
		  "   SELF    TOTAL  FUNCTION (OBJECT)\n");
	free(v);
}

/* A line of characters has more bytes. */
static size_t width_of(const char *line, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += (line[i] & 0xc0) != 0x80;
	return width;
}

/* However small it is, nothing wraps or scrolls. */
static void every_size(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);

	(void)state;
	v->n_services = TOP_VIEW_SERVICES;
	v->n_functions = TOP_VIEW_FUNCTIONS;
	for (size_t i = 2; i < TOP_VIEW_FUNCTIONS; i++)
		v->functions[i] = v->functions[i % 2];
	for (size_t i = 2; i < TOP_VIEW_SERVICES; i++)
		v->services[i] = v->services[1];
	for (s.rows = 1; s.rows < 60; s.rows++) {
		for (s.columns = 1; s.columns < 100; s.columns += 7) {
			_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
			size_t n_lines = 1;

			s.shows = (enum top_shows)(s.columns % 3);
			top_screen_put(&s, &out);
			const char *line = buf_str(&out);
			for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
				assert_true(width_of(line, (size_t)(end - line)) <= s.columns);
				n_lines++;
			}
			assert_true(width_of(line, strlen(line)) <= s.columns);
			assert_int_equal(n_lines, s.rows);
		}
	}
	free(v);
}

static void fills_80_by_24(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	(void)state;
	s.rows = 24;
	s.columns = 80;
	top_screen_put(&s, &out);
	assert_non_null(strstr(buf_str(&out), "\n   0.0%    10.0%  [jit]\nq ends  s services"));
	assert_null(strstr(buf_str(&out), "more functions"));
	free(v);
}

/* What is waited for is a line of its own, the largest part first, and takes a row from the tables. */
static void test_reasons(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	(void)state;
	s.event = (struct event_text){ EVENT_WALL, NULL };
	v->reasons[WAIT_UNKNOWN] = 20;
	v->reasons[WAIT_SLEEP] = 50;
	v->reasons[WAIT_LOCK] = 30;
	top_screen_put(&s, &out);
	assert_non_null(
		strstr(buf_str(&out), "\nfor: sleep 50.0%, lock 30.0%, running 20.0%\n\n  SHARE"));
	buf_reset(&out);
	s.rows = 10;
	s.columns = 20;
	top_screen_put(&s, &out);
	assert_non_null(strstr(buf_str(&out), "\nfor: sleep 50.0%, lo\n"));
	size_t n_lines = 0;
	for (const char *c = buf_str(&out); *c; c++)
		n_lines += *c == '\n';
	assert_int_equal(n_lines, s.rows - 1);
	/* CPU time has none, and neither have waits whose reasons were not told. */
	memset(v->reasons, 0, sizeof(v->reasons));
	v->reasons[WAIT_UNKNOWN] = 100;
	buf_reset(&out);
	top_screen_put(&s, &out);
	assert_null(strstr(buf_str(&out), "for:"));
	free(v);
}

/* Who has ended waits is another one, behind that. */
static void test_wakers(void **state)
{
	struct top_view *v = make_view();
	struct top_screen s = make_screen(v);
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	(void)state;
	s.event = (struct event_text){ EVENT_OFF_CPU, NULL };
	v->reasons[WAIT_SLEEP] = 100;
	v->n_wakers = 2;
	add(&v->wakers[0], "nginx", "", 0, 60);
	add(&v->wakers[1], "interrupt", "", 0, 30);
	s.rows = 9;
	s.columns = 80;
	top_screen_put(&s, &out);
	assert_non_null(strstr(buf_str(&out),
			       "\nfor: sleep 100.0%\nby: nginx 60.0%, interrupt 30.0%\n\n"));
	size_t n_lines = 0;
	for (const char *c = buf_str(&out); *c; c++)
		n_lines += *c == '\n';
	assert_int_equal(n_lines, s.rows - 1);
	free(v);
}

static const struct unit_test tests[] = {
	TEST(test_wakers),
	TEST(test_reasons), TEST(table),      TEST(other_events),
	TEST(nothing),	    TEST(every_size), TEST(fills_80_by_24),
};

TEST_MAIN(tests)
