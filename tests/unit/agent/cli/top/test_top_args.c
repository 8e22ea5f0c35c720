/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of `xagent top`'s words: argv in, what was understood or the error out. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/cli/top/top_args.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_WORDS 8

static const struct row {
	const char *name;
	const char *words[MAX_WORDS];
	const char *expected; /* see show(); or, when it begins with '!', the error */
} rows[] = {
	{ "nothing", { NULL }, "all processes 97 Hz, 2.0 s, 20 rows" },
	{ "a pid", { "-p", "4711" }, "pid 4711 97 Hz, 2.0 s, 20 rows" },
	{ "cpus", { "-c", "0-1" }, "all processes on CPU 0-1 97 Hz, 2.0 s, 20 rows" },
	{ "both", { "-e", "wall" }, "all processes 97 Hz, 2.0 s, 20 rows" },
	{ "waiting", { "-e", "off_cpu" }, "all processes 1000 Hz, 2.0 s, 20 rows" },
	{ "rates and times",
	  { "-F", "499", "-i", "500ms", "-n", "5", "-d", "10" },
	  "all processes 499 Hz, 0.5 s, 5 rows, ends after 10.0 s" },
	{ "help", { "--help", "words", "do", "not", "matter" }, "help" },
	{ "no rows", { "-n", "0" }, "!-n wants a number from 1 to 200, not \"0\"" },
	{ "too short",
	  { "-i", "0.01" },
	  "!-i wants a time from 0.1 on, such as 2 or 500ms, not \"0.01\"" },
	{ "a word", { "10" }, "!unexpected word \"10\"" },
	{ "a command",
	  { "--", "make" },
	  "!there is no command to run: use xagent profile -- COMMAND" },
	{ "half and half",
	  { "-U", "-K" },
	  "!-U and -K exclude each other: leave out both for user and kernel stacks" },
	{ "the last event",
	  { "-e", "off_cpu", "-e", "cpu" },
	  "all processes 97 Hz, 2.0 s, 20 rows" },
	{ "several events",
	  { "-e", "cpu,off_cpu" },
	  "!-e wants one of " EVENT_TEXT_NAMES ", not \"cpu,off_cpu\"" },
	{ "who ends waits",
	  { "-e", "wall", "--off-cpu-waker" },
	  "all processes 97 Hz, 2.0 s, 20 rows, with wakers" },
	{ "who ends what is no wait",
	  { "-e", "locks", "--off-cpu-waker" },
	  "!--off-cpu-waker is about waits: it goes with --event off_cpu or wall" },
	{ "CPUs of waiting",
	  { "-e", "off_cpu", "-c", "0" },
	  "!-c is about timer ticks: it goes with --event cpu only" },
};

static void show(const struct top_args *a, struct buf *out)
{
	if (a->profile.help) {
		(void)buf_append_str(out, "help");
		return;
	}
	profile_args_subject(&a->profile, out);
	(void)buf_printf(out, " %" PRIu32 " Hz, %.1f s, %" PRIu32 " rows",
			 event_list_has_ticks(&a->profile.events) ? a->profile.hz
								  : a->profile.limit_hz,
			 (double)a->interval_ns / NS_PER_S, a->n_rows);
	if (a->profile.off_cpu_waker)
		(void)buf_append_str(out, ", with wakers");
	if (a->profile.duration_ns)
		(void)buf_printf(out, ", ends after %.1f s",
				 (double)a->profile.duration_ns / NS_PER_S);
}

static void parsed(void **state)
{
	const struct row *row = *state;
	_cleanup_top_args_ struct top_args a = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	char *argv[MAX_WORDS + 2] = { (char *)"top" };
	int argc = 1;

	for (size_t i = 0; i < MAX_WORDS && row->words[i]; i++)
		argv[argc++] = (char *)row->words[i];
	if (*row->expected == '!') {
		assert_int_equal(top_args_parse(argc, argv, &a, &out), -EINVAL);
		assert_string_equal(buf_str(&out), row->expected + 1);
		return;
	}
	assert_int_equal(top_args_parse(argc, argv, &a, &out), 0);
	assert_int_equal(out.len, 0);
	show(&a, &out);
	assert_string_equal(buf_str(&out), row->expected);
}

static void every_flag_has_its_line(void **state)
{
	static const char *const names[] = { "--pid",	   "--tid",	 "--cpu",    "--cgroup",
					     "--event",	   "--user",	 "--kernel", "--frequency",
					     "--interval", "--duration", "--rows",   "--verbose",
					     "--help" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_non_null(strstr(top_help_text(), names[i]));
}

static const struct unit_test tests[] = {
	TEST_ROWS(parsed, rows, name),
	TEST(every_flag_has_its_line),
};

TEST_MAIN(tests)
