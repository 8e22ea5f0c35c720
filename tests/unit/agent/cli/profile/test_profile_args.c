/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of `xagent profile`'s words: argv in, what was understood or the error out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/profile/profile_args.h"
#include "agent/sample/sampler.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_WORDS 12

struct row {
	const char *name;
	const char *words[MAX_WORDS];
	const char *expected; /* see show(); or, when it begins with '!', the error */
	bool tty;
};

static const struct row rows[] = {
	{ "nothing", { NULL }, "all processes; 97 Hz; folded to -", false },
	{ "nothing on a terminal", { NULL }, "all processes; 97 Hz; table to -", true },
	{ "a pid", { "-p", "4711" }, "pid 4711; 97 Hz; folded to -", false },
	{ "pids", { "-p", "1,2", "--pid=3" }, "pids 1,2,3; 97 Hz; folded to -", false },
	{ "many pids", { "-p1,2,3,4,5" }, "pids 1,2,3 and 2 more; 97 Hz; folded to -", false },
	{ "pids and tids", { "-p", "1", "-t", "2" }, "pid 1, tid 2; 97 Hz; folded to -", false },
	{ "highest pid", { "-p", "4294967295" }, "pid 4294967295; 97 Hz; folded to -", false },
	{ "a cpu", { "-c", "0" }, "all processes on CPU 0; 97 Hz; folded to -", false },
	{ "cpus", { "-c", "0-1,3" }, "all processes on CPU 0-1,3; 97 Hz; folded to -", false },
	{ "last cpus win",
	  { "-c", "7", "-c", "2,1" },
	  "all processes on CPU 1-2; 97 Hz; folded to -",
	  false },
	{ "cgroup", { "--cgroup", "a/b" }, "cgroup a/b; 97 Hz; folded to -", false },
	{ "pid and cgroup",
	  { "--cgroup=/a", "-p1" },
	  "pid 1, cgroup /a; 97 Hz; folded to -",
	  false },
	{ "switches",
	  { "-UI", "-v" },
	  "all processes; 97 Hz; folded to -; user idle verbose",
	  false },
	{ "kernel", { "-K" }, "all processes; 97 Hz; folded to -; kernel", false },
	{ "verifier",
	  { "--verifier-stats" },
	  "all processes; 97 Hz; folded to -; verifier",
	  false },
	{ "help", { "--help", "words", "do", "not", "matter" }, "help", false },
	{ "an event", { "-e", "cpu" }, "all processes; 97 Hz; folded to -", false },
	{ "events",
	  { "-e", "off_cpu,cpu" },
	  "all processes; 97 Hz; table to -; Off-CPU time, CPU time",
	  false },
	{ "each event once",
	  { "-e", "cpu,cpu,locks", "-e", "locks,cpu" },
	  "all processes; 97 Hz; table to -; CPU time, Waits for locks",
	  false },
	{ "the same event twice is one",
	  { "-e", "cpu,cpu" },
	  "all processes; 97 Hz; folded to -",
	  false },
	{ "wall and a part of it",
	  { "-e", "wall,off_cpu", "-o", "a.otlp" },
	  "all processes; 97 Hz; otlp to a.otlp; Wall-clock time, Off-CPU time",
	  false },
	{ "tracepoints",
	  { "-e", "tracepoint:a:b,tracepoint:c:d,tracepoint:a:b", "-o", "x.html" },
	  "all processes; 1000 Hz; html to x.html; hits of a:b, hits of c:d",
	  false },
	{ "events in a graph on a terminal",
	  { "-e", "cpu,tcp", "-f", "svg" },
	  "all processes; 97 Hz; svg to xagent.svg; CPU time, TCP connections",
	  true },
	{ "events in pprof to a pipe",
	  { "-e", "cpu,tcp", "-f", "pprof" },
	  "!pprof on standard output is of one event: with -o FILE each event has a file of its "
	  "own; "
	  "or -f table, speedscope or otlp, which hold several",
	  false },
	{ "events in folded to dash",
	  { "-e", "cpu,tcp", "-f", "folded", "-o", "-" },
	  "!folded on standard output is of one event: with -o FILE each event has a file of its "
	  "own; "
	  "or -f table, speedscope or otlp, which hold several",
	  true },
	{ "events in speedscope to a pipe",
	  { "-e", "cpu,tcp", "-f", "speedscope" },
	  "all processes; 97 Hz; speedscope to -; CPU time, TCP connections",
	  false },
	{ "no such event",
	  { "-e", "cpu,disk" },
	  "!-e wants " EVENT_TEXT_NAMES ", not \"cpu,disk\"",
	  false },
	{ "an empty event",
	  { "-e", "cpu," },
	  "!-e wants " EVENT_TEXT_NAMES ", not \"cpu,\"",
	  false },
	{ "idle with events",
	  { "-I", "-e", "cpu,off_cpu" },
	  "!-I and -c are about timer ticks: they go with --event cpu only",
	  false },
	{ "a tracepoint",
	  { "--event=tracepoint:sched:sched_switch" },
	  "all processes; 1000 Hz; folded to -; hits of sched:sched_switch",
	  false },
	{ "a tracepoint without its group",
	  { "-e", "tracepoint:sched_switch" },
	  "!-e wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or "
	  "tracepoint:GROUP:NAME, not "
	  "\"tracepoint:sched_switch\"",
	  false },
	{ "a tracepoint of no name",
	  { "-e", "tracepoint" },
	  "!-e wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or "
	  "tracepoint:GROUP:NAME, not \"tracepoint\"",
	  false },
	{ "a path",
	  { "-e", "tracepoint:..:id" },
	  "!-e wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or "
	  "tracepoint:GROUP:NAME, not "
	  "\"tracepoint:..:id\"",
	  false },
	{ "cpu with a source",
	  { "-e", "cpu:0" },
	  "!-e wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or "
	  "tracepoint:GROUP:NAME, not \"cpu:0\"",
	  false },
	{ "wall-clock time has the rate of ticks",
	  { "-e", "wall" },
	  "all processes; 97 Hz; folded to -; Wall-clock time",
	  false },
	{ "a reason that there is not",
	  { "-e", "off_cpu", "--off-cpu-reason", "both" },
	  "!--off-cpu-reason wants frame, label or none, not \"both\"",
	  false },
	{ "wakers of off-CPU time",
	  { "-e", "off_cpu", "--off-cpu-waker" },
	  "all processes; 1000 Hz; folded to -; wakers; Off-CPU time",
	  false },
	{ "wakers of wall-clock time",
	  { "-e", "cpu,wall", "--off-cpu-waker" },
	  "all processes; 97 Hz; table to -; wakers; CPU time, Wall-clock time",
	  false },
	{ "wakers of nothing that waits",
	  { "-e", "cpu", "--off-cpu-waker" },
	  "!--off-cpu-waker is about waits: it goes with --event off_cpu or wall",
	  false },
	{ "ticks of a CPU, and a tracepoint",
	  { "-e", "tracepoint:a:b", "-c", "0" },
	  "!-I and -c are about timer ticks: they go with --event cpu only",
	  false },
	{ "frequency", { "-F", "10000" }, "all processes; 10000 Hz; folded to -", false },
	{ "duration", { "-d", "1.5" }, "all processes; 97 Hz; folded to -; 1500 ms", false },
	{ "Go's duration",
	  { "--duration=2m" },
	  "all processes; 97 Hz; folded to -; 120000 ms",
	  false },
	{ "demangle",
	  { "--demangle", "full" },
	  "all processes; 97 Hz; folded to -; demangle full",
	  false },
	{ "lines", { "--lines" }, "all processes; 97 Hz; folded to -; lines", false },
	{ "frames of interpreters",
	  { "--interpreter-frames" },
	  "all processes; 97 Hz; folded to -; frames of loops",
	  false },
	{ "frames of tasks",
	  { "--async-frames" },
	  "all processes; 97 Hz; folded to -; frames of tasks",
	  false },
	{ "arguments of methods",
	  { "--hotspot-arguments" },
	  "all processes; 97 Hz; folded to -; arguments",
	  false },
	{ "columns",
	  { "--lines", "--columns" },
	  "all processes; 97 Hz; folded to -; lines columns",
	  false },
	{ "names of threads",
	  { "--thread-names" },
	  "all processes; 97 Hz; folded to -; threads",
	  false },
	{ "tiers", { "--hotspot-tiers" }, "all processes; 97 Hz; folded to -; tiers", false },
	{ "no lines", { "--lines", "--lines=false" }, "all processes; 97 Hz; folded to -", false },
	{ "debuginfod",
	  { "--debuginfod=http://a:1", "--debuginfod", "https://b/x", "--debuginfod-cache=/c" },
	  "all processes; 97 Hz; folded to -; asks http://a:1; asks https://b/x; keeps in /c",
	  false },
	{ "debuginfod without a scheme",
	  { "--debuginfod=debuginfod.debian.net" },
	  "!--debuginfod wants a server such as https://debuginfod.debian.net, at most 8 times, "
	  "not "
	  "\"debuginfod.debian.net\"",
	  false },
	{ "debuginfod, nine servers",
	  { "--debuginfod=http://1", "--debuginfod=http://2", "--debuginfod=http://3",
	    "--debuginfod=http://4", "--debuginfod=http://5", "--debuginfod=http://6",
	    "--debuginfod=http://7", "--debuginfod=http://8", "--debuginfod=http://9" },
	  "!--debuginfod wants a server such as https://debuginfod.debian.net, at most 8 times, "
	  "not "
	  "\"http://9\"",
	  false },
	{ "memory limit",
	  { "--memory-limit", "8MiB" },
	  "all processes; 97 Hz; folded to -; limit 8388608",
	  false },
	{ "largest memory limit",
	  { "--memory-limit=2G" },
	  "all processes; 97 Hz; folded to -; limit 2147483648",
	  false },
	{ "memory limit in bytes, twice",
	  { "--memory-limit=1GiB", "--memory-limit=100000000" },
	  "all processes; 97 Hz; folded to -; limit 100000000",
	  false },
	{ "pprof by name", { "-o", "x.pb.gz" }, "all processes; 97 Hz; pprof to x.pb.gz", true },
	{ "pprof by other name",
	  { "-o", "x.pprof" },
	  "all processes; 97 Hz; pprof to x.pprof",
	  true },
	{ "folded by name",
	  { "-o", "x.folded" },
	  "all processes; 97 Hz; folded to x.folded",
	  true },
	{ "folded by text name", { "-o", "x.txt" }, "all processes; 97 Hz; folded to x.txt", true },
	{ "folded by any name", { "-o", "x" }, "all processes; 97 Hz; folded to x", true },
	{ "html by name", { "-o", "x.html" }, "all processes; 97 Hz; html to x.html", false },
	{ "html by short name", { "-o", "x.htm" }, "all processes; 97 Hz; html to x.htm", true },
	{ "svg by name", { "-o", "a/x.svg" }, "all processes; 97 Hz; svg to a/x.svg", true },
	{ "speedscope by name",
	  { "-o", "x.speedscope.json" },
	  "all processes; 97 Hz; speedscope to x.speedscope.json",
	  true },
	{ "otlp by name", { "-o", "x.otlp" }, "all processes; 97 Hz; otlp to x.otlp", true },
	{ "no name of a format",
	  { "-o", "x.json" },
	  "all processes; 97 Hz; folded to x.json",
	  true },
	{ "a name is no end", { "-o", "svg" }, "all processes; 97 Hz; folded to svg", true },
	{ "asked for wins",
	  { "-o", "x.pb.gz", "-f", "table" },
	  "all processes; 97 Hz; table to x.pb.gz",
	  true },
	{ "dash is standard output", { "-o", "-" }, "all processes; 97 Hz; folded to -", false },
	{ "dash on a terminal", { "-o", "-" }, "all processes; 97 Hz; table to -", true },
	{ "folded on a terminal", { "-f", "folded" }, "all processes; 97 Hz; folded to -", true },
	{ "html on a terminal",
	  { "-f", "html" },
	  "all processes; 97 Hz; html to xagent.html",
	  true },
	{ "svg on a terminal", { "-f", "svg" }, "all processes; 97 Hz; svg to xagent.svg", true },
	{ "pprof on a terminal",
	  { "-f", "pprof" },
	  "all processes; 97 Hz; pprof to xagent.pb.gz",
	  true },
	{ "speedscope on a terminal",
	  { "-f", "speedscope" },
	  "all processes; 97 Hz; speedscope to xagent.speedscope.json",
	  true },
	{ "html to a pipe", { "-f", "html" }, "all processes; 97 Hz; html to -", false },
	{ "svg to a pipe", { "-f", "svg", "-o", "-" }, "all processes; 97 Hz; svg to -", false },
	{ "pprof to a pipe", { "-f", "pprof" }, "all processes; 97 Hz; pprof to -", false },
	{ "command",
	  { "--", "/usr/bin/make", "-j", "-d" },
	  "make; 97 Hz; folded to -; runs /usr/bin/make -j -d",
	  false },
	{ "command on a cpu",
	  { "-c1", "--", "a" },
	  "a on CPU 1; 97 Hz; folded to -; runs a",
	  false },
	{ "whole host while",
	  { "-a", "--", "a" },
	  "all processes; 97 Hz; folded to -; runs a",
	  false },
	{ "pid while",
	  { "-p1", "--", "sleep", "1" },
	  "pid 1; 97 Hz; folded to -; runs sleep 1",
	  false },
	{ "cgroup while",
	  { "--cgroup", "/a", "--", "b" },
	  "cgroup /a; 97 Hz; folded to -; runs b",
	  false },

	{ "pid is a name",
	  { "-p", "nginx" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"nginx\"",
	  false },
	{ "pid with a letter",
	  { "-p", "12x" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"12x\"",
	  false },
	{ "pid 0",
	  { "-p", "0" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"0\"",
	  false },
	{ "pid below 0",
	  { "-p", "-1" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"-1\"",
	  false },
	{ "pid too high",
	  { "-p", "4294967296" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"4294967296\"",
	  false },
	{ "no pid",
	  { "-p", "" },
	  "!-p wants process ids such as 4711 or 4711,4712, not \"\"",
	  false },
	{ "empty pid",
	  { "-t", "1,,2" },
	  "!-t wants thread ids such as 4711 or 4711,4712, not \"1,,2\"",
	  false },
	{ "pid and comma",
	  { "-t", "1," },
	  "!-t wants thread ids such as 4711 or 4711,4712, not \"1,\"",
	  false },
	{ "no cpu", { "-c", "" }, "!-c wants CPU numbers such as 0 or 0-3,8, not \"\"", false },
	{ "cpu too high",
	  { "-c", "99999" },
	  "!-c wants CPU numbers such as 0 or 0-3,8, not \"99999\"",
	  false },
	{ "cpus backwards",
	  { "-c", "3-1" },
	  "!-c wants CPU numbers such as 0 or 0-3,8, not \"3-1\"",
	  false },
	{ "no cgroup",
	  { "--cgroup=" },
	  "!--cgroup wants a directory of the cgroup2 hierarchy, not \"\"",
	  false },
	{ "frequency 0",
	  { "-F0" },
	  "!-F wants samples a second and CPU, from 1 to 10000, not \"0\"",
	  false },
	{ "frequency too high",
	  { "-F", "10001" },
	  "!-F wants samples a second and CPU, from 1 to 10000, not \"10001\"",
	  false },
	{ "frequency below 0",
	  { "-F", "-5" },
	  "!-F wants samples a second and CPU, from 1 to 10000, not \"-5\"",
	  false },
	{ "duration 0",
	  { "-d", "0" },
	  "!-d wants a time above 0 such as 10, 1.5, 500ms or 2m, not \"0\"",
	  false },
	{ "no duration",
	  { "-d", "x" },
	  "!-d wants a time above 0 such as 10, 1.5, 500ms or 2m, not \"x\"",
	  false },
	{ "duration missing",
	  { "-d" },
	  "!-d wants a time above 0 such as 10, 1.5, 500ms or 2m",
	  false },
	{ "format",
	  { "-f", "png" },
	  "!-f wants folded, pprof, table, html, svg, speedscope or otlp, not \"png\"",
	  false },
	{ "empty format",
	  { "-f", "" },
	  "!-f wants folded, pprof, table, html, svg, speedscope or otlp, not \"\"",
	  false },
	{ "no output",
	  { "-o", "" },
	  "!-o wants a file, or - for standard output, not \"\"",
	  false },
	{ "demangle mode",
	  { "--demangle=c++" },
	  "!--demangle wants none, simplified, templates or full, not \"c++\"",
	  false },
	{ "memory limit too small",
	  { "--memory-limit=8388607" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"8388607\"",
	  false },
	{ "memory limit too large",
	  { "--memory-limit=2049MiB" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"2049MiB\"",
	  false },
	{ "memory limit beyond 64 bits",
	  { "--memory-limit=99999999999GiB" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"99999999999GiB\"",
	  false },
	{ "memory limit below 0",
	  { "--memory-limit=-64MiB" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"-64MiB\"",
	  false },
	{ "memory limit of a part",
	  { "--memory-limit=64.5MiB" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"64.5MiB\"",
	  false },
	{ "memory limit is a word",
	  { "--memory-limit", "much" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"much\"",
	  false },
	{ "no memory limit",
	  { "--memory-limit=" },
	  "!--memory-limit wants a size from 8MiB to 2GiB, not \"\"",
	  false },
	{ "memory limit missing",
	  { "--memory-limit" },
	  "!--memory-limit wants a size from 8MiB to 2GiB",
	  false },
	{ "user and kernel",
	  { "-U", "-K" },
	  "!-U and -K exclude each other: leave out both for user and kernel stacks",
	  false },
	{ "all and pid",
	  { "-a", "-p1" },
	  "!-a and the filters -p, -t and --cgroup exclude each other",
	  false },
	{ "all and tid",
	  { "-a", "-t1" },
	  "!-a and the filters -p, -t and --cgroup exclude each other",
	  false },
	{ "all and cgroup",
	  { "-a", "--cgroup", "a" },
	  "!-a and the filters -p, -t and --cgroup exclude each other",
	  false },
	{ "pprof to dash on a terminal",
	  { "-f", "pprof", "-o", "-" },
	  "!pprof is no text for a terminal: give it a file, as in -o xagent.pb.gz",
	  true },
	{ "html to dash on a terminal",
	  { "-o", "-", "-f", "html" },
	  "!html is no text for a terminal: give it a file, as in -o xagent.html",
	  true },
	{ "command without dashes",
	  { "make" },
	  "!unexpected word \"make\": a command follows --, as in xagent profile -- COMMAND",
	  false },
	{ "bcc's duration", { "10" }, "!unexpected word \"10\": a duration is given by -d", false },
	{ "word before the command",
	  { "x", "--", "make" },
	  "!unexpected word \"x\": a command follows --, as in xagent profile -- COMMAND",
	  false },
	{ "no command", { "--" }, "!-- wants a command after it", false },
	{ "empty command", { "--", "" }, "!-- wants a command after it", false },
	{ "unknown",
	  { "--frequnecy=1" },
	  "!unknown flag --frequnecy, did you mean --frequency?",
	  false },
};

static void show_more(struct buf *b, const struct profile_args *a)
{
	if (a->user_only || a->kernel_only || a->idle || a->verbose || a->verifier_stats)
		(void)buf_append_str(b, ";");
	(void)buf_printf(b, "%s%s%s%s%s", a->user_only ? " user" : "",
			 a->kernel_only ? " kernel" : "", a->idle ? " idle" : "",
			 a->verbose ? " verbose" : "", a->verifier_stats ? " verifier" : "");
	if (a->duration_ns)
		(void)buf_printf(b, "; %" PRIu64 " ms", a->duration_ns / 1000000);
	if (a->demangle != DEMANGLE_SIMPLIFIED)
		(void)buf_printf(b, "; demangle %s", demangle_mode_text(a->demangle));
	if (a->memory_limit_bytes)
		(void)buf_printf(b, "; limit %zu", a->memory_limit_bytes);
	if (a->lines)
		(void)buf_append_str(b, "; lines");
	if (a->columns)
		(void)buf_append_str(b, " columns");
	if (a->hotspot_arguments)
		(void)buf_append_str(b, "; arguments");
	if (a->thread_names)
		(void)buf_append_str(b, "; threads");
	if (a->off_cpu_waker)
		(void)buf_append_str(b, "; wakers");
	if (a->hotspot_tiers)
		(void)buf_append_str(b, "; tiers");
	if (a->interpreter_frames || a->async_frames)
		(void)buf_printf(b, "; frames of%s%s", a->interpreter_frames ? " loops" : "",
				 a->async_frames ? " tasks" : "");
	for (size_t i = 0; i < a->debuginfod.n; i++)
		(void)buf_printf(b, "; asks %s", a->debuginfod.items[i]);
	if (a->debuginfod_cache)
		(void)buf_printf(b, "; keeps in %s", a->debuginfod_cache);
	if (a->command)
		(void)buf_append_str(b, "; runs");
	for (size_t i = 0; a->command && a->command[i]; i++)
		(void)buf_printf(b, " %s", a->command[i]);
}

static void show(struct buf *b, const struct profile_args *a)
{
	_cleanup_buf_ struct buf subject = BUF_INIT(4096);

	if (a->help) {
		(void)buf_append_str(b, "help");
		return;
	}
	profile_args_subject(a, &subject);
	(void)buf_printf(b, "%s; %" PRIu32 " Hz; %s to %s", buf_str(&subject),
			 event_list_has_ticks(&a->events) ? a->hz : a->limit_hz,
			 profile_format_name(a->format), a->output ? a->output : "-");
	show_more(b, a);
	if (!event_list_has_others(&a->events))
		return;
	for (size_t i = 0; i < a->events.n; i++) {
		(void)buf_append_str(b, i ? ", " : "; ");
		event_text_what(&a->events.items[i], b);
	}
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_profile_args_ struct profile_args a = { 0 };
	_cleanup_buf_ struct buf got = BUF_INIT(4096);
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	char *argv[MAX_WORDS + 2] = { (char *)"profile" };
	int argc = 1;

	for (; row->words[argc - 1]; argc++)
		argv[argc] = (char *)row->words[argc - 1];
	int r = profile_args_parse(argc, argv, row->tty, &a, &why);
	if (row->expected[0] == '!') {
		assert_int_equal(r, -EINVAL);
		assert_string_equal(buf_str(&why), row->expected + 1);
		return;
	}
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	show(&got, &a);
	assert_string_equal(buf_str(&got), row->expected);
}

static void test_most_pids(void **state)
{
	_cleanup_buf_ struct buf ids = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	_cleanup_profile_args_ struct profile_args a = { 0 };

	(void)state;
	for (int i = 1; i <= SAMPLER_MAX_FILTERS; i++)
		assert_int_equal(buf_printf(&ids, "%s%d", i > 1 ? "," : "", i), 0);
	char *argv[] = { (char *)"profile", (char *)"-p", ids.data, NULL, NULL, NULL };
	assert_int_equal(profile_args_parse(3, argv, false, &a, &why), 0);
	assert_int_equal(a.pids.n, SAMPLER_MAX_FILTERS);
	profile_args_fini(&a);
	argv[3] = (char *)"-p";
	argv[4] = (char *)"9";
	assert_int_equal(profile_args_parse(5, argv, false, &a, &why), -EINVAL);
}

static void test_command_only(void **state)
{
	char *command[] = { (char *)"make", NULL };
	uint32_t id = 1;

	(void)state;
	assert_false(profile_args_is_command_only(&(struct profile_args){ 0 }));
	assert_true(profile_args_is_command_only(&(struct profile_args){ .command = command }));
	assert_false(profile_args_is_command_only(
		&(struct profile_args){ .command = command, .all = true }));
	assert_false(profile_args_is_command_only(
		&(struct profile_args){ .command = command, .cgroup = "a" }));
	assert_false(profile_args_is_command_only(
		&(struct profile_args){ .command = command, .tids = { &id, 1 } }));
}

/* Every flag is in the help text. */
static void test_help(void **state)
{
	static const char *const names[] = { "-p, --pid",      "-t, --tid",	"-c, --cpu",
					     "--cgroup",       "-a, --all",	"-I, --idle",
					     "-U, --user",     "-K, --kernel",	"-F, --frequency",
					     "-d, --duration", "-f, --format",	"-o, --output",
					     "--demangle",     "-v, --verbose", "--verifier-stats",
					     "--memory-limit" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_non_null(strstr(profile_help_text(), names[i]));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_most_pids),
	TEST(test_command_only),
	TEST(test_help),
};

TEST_MAIN(tests)
