/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of what is said at the end and meanwhile. */
#include "agent/cli/profile/report.h"
#include "tests/support/unit.h"

#define S 1000000000ULL

static uint32_t pid = 4711;
static char *command[] = { (char *)"/bin/make", NULL };

struct row {
	const char *name;
	struct profile_args args;
	struct report report;
	const char *expected;
};

static const struct row rows[] = {
	{ "to standard output",
	  { .format = PROFILE_TABLE },
	  { .hz = 97, .elapsed_ns = 6300000000, .n_samples = 612 },
	  "xagent: 612 samples in 6.3 s at 97 Hz\n" },
	{ "one sample",
	  { .format = PROFILE_TABLE, .output = "t" },
	  { .hz = 1, .elapsed_ns = S, .n_samples = 1, .n_parts = 1 },
	  "xagent: 1 sample in 1.0 s at 1 Hz, written to t\n"
	  "xagent: read it: less t\n" },
	{ "pprof",
	  { .format = PROFILE_PPROF, .output = "cpu.pb.gz" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 1 },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to cpu.pb.gz\n"
	  "xagent: look at it: go tool pprof -http=: cpu.pb.gz\n" },
	{ "folded",
	  { .format = PROFILE_FOLDED, .output = "a" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 1 },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to a\n"
	  "xagent: draw it: flamegraph.pl a > a.svg\n" },
	{ "html",
	  { .format = PROFILE_HTML, .output = "a.html" },
	  { .hz = 97,
	    .elapsed_ns = 2 * S,
	    .n_samples = 5,
	    .n_parts = 1,
	    .path = "/tmp/x y/a.html" },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to a.html\n"
	  "xagent: open it in a browser: file:///tmp/x%20y/a.html\n" },
	{ "losses come before how to look at it",
	  { .format = PROFILE_SVG, .output = "a.svg" },
	  { .hz = 97,
	    .elapsed_ns = 2 * S,
	    .n_samples = 5,
	    .n_ring_lost = 2,
	    .n_parts = 1,
	    .path = "/a.svg" },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to a.svg\n"
	  "xagent: 2 samples lost: the ring buffer was full; a lower -F helps\n"
	  "xagent: open it in a browser: file:///a.svg\n" },
	{ "an empty graph",
	  { .format = PROFILE_HTML, .output = "a.html", .command = command },
	  { .hz = 100, .elapsed_ns = 2 * S, .n_parts = 1, .path = "/a.html" },
	  "xagent: 0 samples: make used no CPU while being profiled, or less than 10 ms (1/100 "
	  "s); a.html has none\n" },
	{ "a device",
	  { .format = PROFILE_FOLDED, .output = "/dev/null" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 1 },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to /dev/null\n" },
	{ "parts",
	  { .format = PROFILE_PPROF, .output = "a" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 3 },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to a and 2 more files (.2 …)\n"
	  "xagent: look at it: go tool pprof -http=: a a.*\n" },
	{ "two parts",
	  { .format = PROFILE_PPROF, .output = "a" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 2 },
	  "xagent: 5 samples in 2.0 s at 97 Hz, written to a and 1 more file (.2 …)\n"
	  "xagent: look at it: go tool pprof -http=: a a.*\n" },
	{ "not written",
	  { .format = PROFILE_PPROF, .output = "a" },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_dropped = 5 },
	  "xagent: 0 samples in 2.0 s at 97 Hz, a was not written\n"
	  "xagent: 5 samples left out: there was no memory for them\n" },
	{ "losses",
	  { .format = PROFILE_FOLDED },
	  { .hz = 97,
	    .elapsed_ns = S,
	    .n_samples = 9,
	    .n_ring_lost = 1,
	    .n_dropped = 1,
	    .kernel_hidden = true },
	  "xagent: 9 samples in 1.0 s at 97 Hz\n"
	  "xagent: 1 sample lost: the ring buffer was full; a lower -F helps\n"
	  "xagent: 1 sample left out: there was no memory for them\n"
	  "xagent: names of kernel functions are hidden, shown as [kernel]: set "
	  "kernel.kptr_restrict to 0 or 1, and run with CAP_SYSLOG\n" },
	{ "hidden names that nobody wanted",
	  { .format = PROFILE_FOLDED, .user_only = true },
	  { .hz = 97, .elapsed_ns = S, .n_samples = 9, .kernel_hidden = true },
	  "xagent: 9 samples in 1.0 s at 97 Hz\n" },
	{ "nothing of a pid",
	  { .pids = { &pid, 1 }, .output = "a" },
	  { .hz = 97, .elapsed_ns = S, .n_parts = 1 },
	  "xagent: 0 samples: pid 4711 used no CPU while being profiled, or less than 10.3 ms "
	  "(1/97 s); a has none\n" },
	{ "nothing of a tid in the kernel",
	  { .tids = { &pid, 1 }, .kernel_only = true },
	  { .hz = 100, .elapsed_ns = S },
	  "xagent: 0 samples: tid 4711 used no CPU in the kernel while being profiled, or less "
	  "than 10 ms (1/100 s)\n" },
	{ "nothing of a cgroup in user code",
	  { .cgroup = "/a", .user_only = true },
	  { .hz = 100, .elapsed_ns = S },
	  "xagent: 0 samples: cgroup /a used no CPU in user code while being profiled, or less "
	  "than 10 ms (1/100 s)\n" },
	{ "nothing of a command",
	  { .command = command },
	  { .hz = 100, .elapsed_ns = S },
	  "xagent: 0 samples: make used no CPU while being profiled, or less than 10 ms (1/100 "
	  "s)\n" },
	{ "nothing of several events",
	  { .format = PROFILE_HTML,
	    .output = "a.html",
	    .events = { .items = { { EVENT_OFF_CPU, NULL }, { EVENT_LOCKS, NULL } }, .n = 2 } },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_parts = 2 },
	  "xagent: 0 samples: all processes had none of these events in 2 s\n" },
	{ "several events, each in its file",
	  { .format = PROFILE_HTML,
	    .output = "a.html",
	    .events = { .items = { { EVENT_CPU, NULL }, { EVENT_LOCKS, NULL } }, .n = 2 } },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 2 },
	  "xagent: 5 samples in 2.0 s at 97 Hz\n" },
	{ "several events in one file",
	  { .format = PROFILE_TABLE,
	    .output = "t",
	    .events = { .items = { { EVENT_OFF_CPU, NULL }, { EVENT_LOCKS, NULL } }, .n = 2 } },
	  { .hz = 97, .elapsed_ns = 2 * S, .n_samples = 5, .n_parts = 1 },
	  "xagent: 5 samples in 2.0 s, written to t\n"
	  "xagent: read it: less t\n" },
	{ "nothing at all",
	  { .output = "a" },
	  { .hz = 100, .elapsed_ns = 20000000 },
	  "xagent: 0 samples: all processes used no CPU in 0.02 s: all was idle; a was not "
	  "written\n" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	struct report r = row->report;
	struct profile_args args = row->args;

	if (args.events.n == 0)
		args.events.n = 1;
	r.args = &args;
	report_end(&r, &out);
	assert_string_equal(buf_str(&out), row->expected);
}

static void test_progress(void **state)
{
	const struct profile_args a = { .pids = { &pid, 1 }, .events.n = 1 };
	const struct report r = {
		.args = &a, .hz = 97, .elapsed_ns = 3210000000, .n_samples = 612
	};
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	report_progress(&r, &out);
	assert_string_equal(buf_str(&out), "3.2s  612 samples  pid 4711, 97 Hz, ^C to end");
}

/* Of each event, how to look at its file; one that was refused has none. */
static void test_files(void **state)
{
	const struct event_text e = { EVENT_OFF_CPU, NULL };
	const struct profile_args a = { .format = PROFILE_PPROF };
	const struct report r = { .args = &a };
	const struct report_file f = { .event = &e, .file = "a.off_cpu.pb.gz", .n_parts = 1 };
	const struct report_file none = { .event = &e, .file = "a.off_cpu.pb.gz" };
	const struct report_file missing = { .event = &e, .file = "a", .is_missing = true };
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	report_put_file(&r, &f, &out);
	report_put_file(&r, &none, &out);
	report_put_file(&r, &missing, &out);
	assert_string_equal(
		buf_str(&out),
		"xagent: Off-CPU time: look at it: go tool pprof -http=: a.off_cpu.pb.gz\n"
		"xagent: Off-CPU time: 0 samples, a.off_cpu.pb.gz was not written\n");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_files),
	TEST(test_progress),
};

TEST_MAIN(tests)
