/* SPDX-License-Identifier: Apache-2.0 */
/* What a person asks of `xagent profile`. */
#include "agent/cli/profile/profile_args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/duration.h"
#include "agent/cli/options.h"
#include "agent/profile/budget.h"
#include "agent/sample/sampler.h"
#include "agent/util/macro.h"
#include "agent/util/size.h"
#include "agent/util/str.h"

/* So many ids are spelled out in a line of text. */
#define SUBJECT_IDS 3
#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)

/* Each flag below has its line here. */
static const char help[] =
	"xagent profile: where CPU time goes, or a tracepoint is hit, now, without a server\n"
	"\n"
	"Usage:\n"
	"  xagent profile [FLAGS]                the whole host, until ^C\n"
	"  xagent profile [FLAGS] -- COMMAND     COMMAND and all that it starts, until it ends\n"
	"\n"
	"Whom (all given filters must hold; they work in the kernel):\n"
	"  -p, --pid PID,…        these processes; ends when the last of them does\n"
	"  -t, --tid TID,…        these threads\n"
	"  -c, --cpu LIST         these CPUs: 0 or 0-3,8\n"
	"      --cgroup PATH      a cgroup2 directory and those below: absolute, or as in "
	"/proc/PID/cgroup\n"
	"  -a, --all              with COMMAND: the whole host while it runs\n"
	"  -I, --idle             idle CPUs too, as process \"idle\"\n"
	"With -p, -t, --cgroup or -a a COMMAND only says how long: -p 4711 -- sleep 10.\n"
	"\n"
	"What:\n"
	"  -e, --event EVENT,…    cpu (the default), off_cpu: how long threads do not run,\n"
	"                         wall: both together, threads × time,\n"
	"                         locks: how long they wait for locks,\n"
	"                         faults: page faults,\n"
	"                         run_queue: how long threads that could run do not,\n"
	"                         syscalls: how long system calls take,\n"
	"                         tcp: connections made, accepted, sent again on,\n"
	"                         block_io: how long disks take, and for how many bytes,\n"
	"                         rss: by how many bytes resident memory grows; or\n"
	"                         tracepoint:GROUP:NAME: each hit of it, by stack. Of several each "
	"has\n"
	"                         a profile of its own\n"
	"      --off-cpu-reason HOW  what is waited for: frame (the default, the innermost one), "
	"label, none\n"
	"      --off-cpu-waker    who ended each wait: its stack behind the innermost frame\n"
	"  -U, --user             user stacks only\n"
	"  -K, --kernel           kernel stacks only\n"
	"  -F, --frequency HZ     samples a second and CPU (97; at most 10000); of other events at "
	"most\n"
	"                         so many (1000), which stand for all\n"
	"  -d, --duration TIME    10, 1.5, 500ms, 2m; a COMMAND is then left to end by itself\n"
	"      --demangle MODE    none, simplified (the default), templates, full\n"
	"      --lines            files, lines and inlined functions too, where a program or its "
	"debug\n"
	"                         file has them: for pprof; elsewhere inlined functions only\n"
	"      --columns          with --lines: columns too, of JavaScript\n"
	"      --interpreter-frames  functions of an interpreter's loop beside those that it runs\n"
	"      --async-frames     functions that await the running one (asyncio, Node.js)\n"
	"      --thread-names     label thread_name: what Java, or else the kernel, calls the "
	"thread\n"
	"      --hotspot-tiers    label tier: how the innermost method of Java is run\n"
	"      --hotspot-arguments  types of arguments and results in names of Java's methods\n"
	"      --debuginfod URL   a server that has debug files which this host lacks; may repeat\n"
	"      --debuginfod-cache DIR  where they are kept (~/.cache/xagent/debuginfod)\n"
	"\n"
	"Result (the last line says how to look at it):\n"
	"  -o, --output FILE      - or no -o: standard output. FILE is replaced once the result is "
	"complete\n"
	"  -f, --format FORMAT    table       the hottest functions: to read\n"
	"                         html        a flame graph to search and zoom in: one file, for a "
	"browser\n"
	"                         svg         a flame graph as a picture: for a browser, a "
	"document\n"
	"                         pprof       gzip'd profile.proto: for go tool pprof, Pyroscope, "
	"Grafana\n"
	"                         speedscope  JSON: for https://www.speedscope.app\n"
	"                         otlp        profiles of OpenTelemetry (v1development): for its "
	"collector\n"
	"                         folded      process;outermost;…;innermost count: for flame graph "
	"tools\n"
	"                         Without -f the name of FILE says it: .html, .svg, .pb.gz or "
	".pprof,\n"
	"                         .speedscope.json, .otlp, else folded. Without -o: table on a "
	"terminal, else\n"
	"                         folded; html, svg, pprof, speedscope and otlp are nothing for a "
	"terminal and\n"
	"                         go to xagent.html, xagent.svg, xagent.pb.gz, "
	"xagent.speedscope.json,\n"
	"                         xagent.otlp. Of several events table, speedscope and otlp have "
	"all in\n"
	"                         one; of others there is a file for each: FILE.html becomes\n"
	"                         FILE.cpu.html, FILE.off_cpu.html …\n"
	"\n"
	"Other:\n"
	"      --memory-limit SIZE  64MiB (the default; with --lines 512MiB): unwind tables, "
	"symbols\n"
	"                         and stacks together\n"
	"      --verifier-stats   instructions that the kernel's verifier processed\n"
	"  -v, --verbose          log at level debug\n"
	"  -h, --help             this text\n"
	"\n"
	"^C and SIGTERM end early and still write the result; a second ^C ends at once. SIGTERM is "
	"passed on\n"
	"to COMMAND. Exit code: 0, COMMAND's own (128 + signal when it was killed, 127 when it was "
	"not found,\n"
	"126 when it could not be executed), or 1 when nothing could be profiled or written.\n"
	"\n"
	"Examples:\n"
	"  xagent profile -d 10                           the hottest functions of this host\n"
	"  xagent profile -f html -d 10                   its flame graph, in xagent.html\n"
	"  xagent profile -F 499 -o make.html -- make     what a build does\n"
	"  xagent profile -p 4711 -d 30 -o cpu.pb.gz      then: go tool pprof -http=: cpu.pb.gz\n"
	"  xagent profile --cgroup system.slice/nginx.service -d 10\n"
	"  xagent profile -e off_cpu -p 4711 -d 10        what it waits for\n"
	"  xagent profile -e wall -p 4711 -d 10           what its threads do, or wait for\n"
	"  xagent profile -e cpu,off_cpu,locks -o app.html -p 4711 -d 10   all at once\n"
	"  xagent profile -e tracepoint:syscalls:sys_enter_fsync -d 30   who calls fsync\n"
	"  xagent profile -K -c 0 -d 5                    what the kernel does on CPU 0\n"
	"  xagent profile -f folded -d 10 | flamegraph.pl > host.svg\n";

const char *profile_help_text(void)
{
	return help;
}

static int parse_format(const char *value, void *member)
{
	return profile_format_parse(value, member) ? 0 : -EINVAL;
}

static int parse_demangle(const char *value, void *member)
{
	return demangle_mode_parse(str_from(value), member) ? 0 : -EINVAL;
}

static int parse_reason(const char *value, void *member)
{
	return reason_use_parse(value, member) ? 0 : -EINVAL;
}

static int parse_event(const char *value, void *member)
{
	return event_list_parse(value, member);
}

static int parse_url(const char *value, void *member)
{
	struct url_list *l = member;

	if (!debuginfod_url_is_valid(value))
		return -EINVAL;
	if (l->n == DEBUGINFOD_MAX_URLS)
		return -E2BIG;
	l->items[l->n++] = value;
	return 0;
}

static int parse_memory_limit(const char *value, void *member)
{
	uint64_t bytes = 0;

	if (size_parse(str_from(value), &bytes) < 0 || bytes < BUDGET_MIN_BYTES ||
	    bytes > BUDGET_MAX_BYTES)
		return -EINVAL;
	*(size_t *)member = bytes;
	return 0;
}

#define AT(member) offsetof(struct profile_args, member)

static const struct cli_flag flags[] = {
	{ "pid", 'p', CLI_PARSED, AT(pids), "process ids such as 4711 or 4711,4712",
	  cli_parse_ids },
	{ "tid", 't', CLI_PARSED, AT(tids), "thread ids such as 4711 or 4711,4712", cli_parse_ids },
	{ "cpu", 'c', CLI_PARSED, AT(cpus), "CPU numbers such as 0 or 0-3,8", cli_parse_cpus },
	{ "cgroup", 0, CLI_PARSED, AT(cgroup), "a directory of the cgroup2 hierarchy",
	  cli_parse_path },
	{ "all", 'a', CLI_SWITCH, AT(all), NULL, NULL },
	{ "idle", 'I', CLI_SWITCH, AT(idle), NULL, NULL },
	{ "user", 'U', CLI_SWITCH, AT(user_only), NULL, NULL },
	{ "kernel", 'K', CLI_SWITCH, AT(kernel_only), NULL, NULL },
	{ "event", 'e', CLI_PARSED, AT(events), EVENT_TEXT_NAMES, parse_event },
	{ "off-cpu-reason", 0, CLI_PARSED, AT(off_cpu_reason), "frame, label or none",
	  parse_reason },
	{ "off-cpu-waker", 0, CLI_SWITCH, AT(off_cpu_waker), NULL, NULL },
	{ "frequency", 'F', CLI_PARSED, AT(hz),
	  "samples a second and CPU, from 1 to " TEXT_OF_VALUE(SAMPLER_MAX_HZ), cli_parse_hz },
	{ "duration", 'd', CLI_PARSED, AT(duration_ns),
	  "a time above 0 such as 10, 1.5, 500ms or 2m", cli_parse_duration },
	{ "format", 'f', CLI_PARSED, AT(format), PROFILE_FORMAT_NAMES, parse_format },
	{ "output", 'o', CLI_PARSED, AT(output), "a file, or - for standard output",
	  cli_parse_path },
	{ "demangle", 0, CLI_PARSED, AT(demangle), "none, simplified, templates or full",
	  parse_demangle },
	{ "lines", 0, CLI_SWITCH, AT(lines), NULL, NULL },
	{ "columns", 0, CLI_SWITCH, AT(columns), NULL, NULL },
	{ "interpreter-frames", 0, CLI_SWITCH, AT(interpreter_frames), NULL, NULL },
	{ "async-frames", 0, CLI_SWITCH, AT(async_frames), NULL, NULL },
	{ "thread-names", 0, CLI_SWITCH, AT(thread_names), NULL, NULL },
	{ "hotspot-tiers", 0, CLI_SWITCH, AT(hotspot_tiers), NULL, NULL },
	{ "hotspot-arguments", 0, CLI_SWITCH, AT(hotspot_arguments), NULL, NULL },
	{ "debuginfod", 0, CLI_PARSED, AT(debuginfod),
	  "a server such as https://debuginfod.debian.net, at most 8 times", parse_url },
	{ "debuginfod-cache", 0, CLI_PARSED, AT(debuginfod_cache), "a directory", cli_parse_path },
	{ "memory-limit", 0, CLI_PARSED, AT(memory_limit_bytes), "a size from 8MiB to 2GiB",
	  parse_memory_limit },
	{ "verifier-stats", 0, CLI_SWITCH, AT(verifier_stats), NULL, NULL },
	{ "verbose", 'v', CLI_SWITCH, AT(verbose), NULL, NULL },
	{ "help", 'h', CLI_SWITCH, AT(help), NULL, NULL },
};

void profile_args_fini(struct profile_args *a)
{
	free(a->pids.ids);
	free(a->tids.ids);
	cpus_fini(&a->cpus);
	event_list_fini(&a->events);
	*a = (struct profile_args){ 0 };
}

static int fail(struct buf *why, const char *text)
{
	(void)buf_append_str(why, text);
	return -EINVAL;
}

static int fail_word(struct buf *why, const char *word)
{
	uint64_t ns;

	(void)buf_printf(why, "unexpected word \"%s\": ", word);
	if (duration_parse(str_from(word), &ns) == 0)
		return fail(why, "a duration is given by -d");
	return fail(why, "a command follows --, as in xagent profile -- COMMAND");
}

static int take_words(struct profile_args *a, const struct cli_words *words, struct buf *why)
{
	if (words->n > 0)
		return fail_word(why, words->items[0]);
	a->command = words->rest;
	if (a->command && (!a->command[0] || !*a->command[0]))
		return fail(why, "-- wants a command after it");
	return 0;
}

static int fail_terminal(struct buf *why, enum profile_format format)
{
	(void)buf_printf(why, "%s is no text for a terminal: give it a file, as in -o %s",
			 profile_format_name(format), profile_format_own_file(format));
	return -EINVAL;
}

/* Several events, where there is room for one. */
static int fail_several(struct buf *why, enum profile_format format)
{
	(void)buf_printf(
		why,
		"%s on standard output is of one event: with -o FILE each event has a file "
		"of its own; or -f table, speedscope or otlp, which hold several",
		profile_format_name(format));
	return -EINVAL;
}

int profile_args_check_waker(const struct profile_args *a, struct buf *why)
{
	if (!a->off_cpu_waker || event_list_has(&a->events, EVENT_OFF_CPU) ||
	    event_list_has(&a->events, EVENT_WALL))
		return 0;
	return fail(why,
		    "--off-cpu-waker is about waits: it goes with --event off_cpu or wall");
}

static int check(const struct profile_args *a, bool stdout_is_tty, struct buf *why)
{
	if (a->user_only && a->kernel_only)
		return fail(
			why,
			"-U and -K exclude each other: leave out both for user and kernel stacks");
	if (event_list_has_others(&a->events) && (a->idle || a->cpus.n > 0))
		return fail(why, "-I and -c are about timer ticks: they go with --event cpu only");
	if (profile_args_check_waker(a, why) < 0)
		return -EINVAL;
	if (a->all && (a->pids.n > 0 || a->tids.n > 0 || a->cgroup))
		return fail(why, "-a and the filters -p, -t and --cgroup exclude each other");
	if (!a->output && stdout_is_tty && profile_format_own_file(a->format))
		return fail_terminal(why, a->format);
	if (!a->output && a->events.n > 1 && profile_format_is_of_one_event(a->format))
		return fail_several(why, a->format);
	return 0;
}

static enum profile_format choose_format(const struct profile_args *a, bool stdout_is_tty)
{
	if (a->output)
		return profile_format_of_file(a->output);
	return stdout_is_tty || a->events.n > 1 ? PROFILE_TABLE : PROFILE_FOLDED;
}

void profile_args_settle_rates(struct profile_args *a)
{
	if (a->events.n == 0)
		a->events.items[a->events.n++] = (struct event_text){ EVENT_CPU, NULL };
	a->limit_hz = a->hz ? a->hz : SAMPLER_PROBE_HZ;
	if (!a->hz)
		a->hz = SAMPLER_DEFAULT_HZ;
	for (size_t i = 0; i < ARRAY_SIZE(a->tracepoint_hz); i++)
		a->tracepoint_hz[i] = a->limit_hz;
}

/* `-o -` is no file, the format follows from where the result goes, and where that is left open a terminal gets what it can show. */
static void settle(struct profile_args *a, bool stdout_is_tty)
{
	bool anywhere = !a->output;

	if (a->output && strcmp(a->output, "-") == 0)
		a->output = NULL;
	profile_args_settle_rates(a);
	if (a->format == PROFILE_FORMAT_UNSET)
		a->format = choose_format(a, stdout_is_tty);
	if (anywhere && stdout_is_tty)
		a->output = profile_format_own_file(a->format);
}

int profile_args_parse(int argc, char **argv, bool stdout_is_tty, struct profile_args *ret_args,
		       struct buf *why)
{
	_cleanup_profile_args_ struct profile_args a = { .demangle = DEMANGLE_SIMPLIFIED,
							 .off_cpu_reason = REASON_FRAME };
	_cleanup_words_ struct cli_words words = { 0 };
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &words, why);

	if (r < 0)
		return r;
	if (!a.help) {
		r = take_words(&a, &words, why);
		if (r < 0)
			return r;
		settle(&a, stdout_is_tty);
		r = check(&a, stdout_is_tty, why);
		if (r < 0)
			return r;
	}
	*ret_args = a;
	a = (struct profile_args){ 0 };
	return 0;
}

bool profile_args_is_command_only(const struct profile_args *a)
{
	return a->command && !a->all && a->pids.n == 0 && a->tids.n == 0 && !a->cgroup;
}

static void put_ids(struct buf *out, const char *what, const struct id_list *l)
{
	if (l->n == 0)
		return;
	(void)buf_printf(out, "%s%s%s ", out->len ? ", " : "", what, l->n == 1 ? "" : "s");
	for (size_t i = 0; i < l->n && i < SUBJECT_IDS; i++)
		(void)buf_printf(out, "%s%" PRIu32, i ? "," : "", l->ids[i]);
	if (l->n > SUBJECT_IDS)
		(void)buf_printf(out, " and %zu more", l->n - SUBJECT_IDS);
}

/* 0,1,2,5 as "0-2,5". */
static void put_cpus(struct buf *out, const struct cpus *c)
{
	if (c->n == 0)
		return;
	(void)buf_printf(out, " on CPU ");
	for (size_t i = 0, last; i < c->n; i = last + 1) {
		for (last = i; last + 1 < c->n && c->ids[last + 1] == c->ids[last] + 1;)
			last++;
		(void)buf_printf(out, "%s%u", i ? "," : "", c->ids[i]);
		if (last > i)
			(void)buf_printf(out, "-%u", c->ids[last]);
	}
}

void profile_args_rate(const struct profile_args *a, const char *before, uint32_t hz,
		       struct buf *out)
{
	if (event_list_has_ticks(&a->events))
		(void)buf_printf(out, "%s%" PRIu32 " Hz", before, hz);
}

void profile_args_subject(const struct profile_args *a, struct buf *out)
{
	put_ids(out, "pid", &a->pids);
	put_ids(out, "tid", &a->tids);
	if (a->cgroup)
		(void)buf_printf(out, "%scgroup %s", out->len ? ", " : "", a->cgroup);
	if (profile_args_is_command_only(a)) {
		struct str name = str_basename(str_from(a->command[0]));

		(void)buf_printf(out, "%.*s", (int)name.n, name.p);
	} else if (out->len == 0) {
		(void)buf_append_str(out, "all processes");
	}
	put_cpus(out, &a->cpus);
}
