/* SPDX-License-Identifier: Apache-2.0 */
/* What a person asks of `xagent top`. */
#include "agent/cli/top/top_args.h"

#include <errno.h>

#include "agent/cli/options.h"
#include "agent/cli/values.h"
#include "agent/sample/sampler.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define DEFAULT_INTERVAL_NS (2 * NS_PER_S)
#define MIN_INTERVAL_NS (100 * NS_PER_MS)

/* Each flag below has its line here. */
static const char help[] =
	"xagent top: which services and functions are busy, again and again\n"
	"\n"
	"Usage:\n"
	"  xagent top [FLAGS]     until q or ^C; where standard output is no terminal, as tables\n"
	"\n"
	"Whom (all given filters must hold; they work in the kernel):\n"
	"  -p, --pid PID,…        these processes\n"
	"  -t, --tid TID,…        these threads\n"
	"  -c, --cpu LIST         these CPUs: 0 or 0-3,8\n"
	"      --cgroup PATH      a cgroup2 directory and those below\n"
	"\n"
	"What:\n"
	"  -e, --event EVENT      as of xagent profile: cpu (the default), off_cpu: who waits and "
	"where,\n"
	"                         wall: both together; tcp: which connections there are, one line "
	"each;\n"
	"                         locks, faults, run_queue, syscalls, block_io, rss; or\n"
	"                         tracepoint:GROUP:NAME: who comes by\n"
	"      --off-cpu-waker    of off_cpu and wall: who ended the waits\n"
	"  -U, --user             user stacks only\n"
	"  -K, --kernel           kernel stacks only\n"
	"  -F, --frequency HZ     samples a second and CPU (97); of other events at most so many "
	"(1000)\n"
	"  -i, --interval TIME    what one screen tells of: 2 (the default), 0.5, 1m\n"
	"  -d, --duration TIME    ends by itself\n"
	"  -n, --rows N           functions in a table (20), and half as many services\n"
	"\n"
	"Other:\n"
	"  -v, --verbose          log at level debug\n"
	"  -h, --help             this text\n"
	"\n"
	"Keys: q ends, s services, f functions, b both, p holds the screen and goes on.\n"
	"SELF is what a function spends itself, TOTAL what it and those that it calls spend.\n"
	"\n"
	"Examples:\n"
	"  xagent top\n"
	"  xagent top -e off_cpu -p 4711\n"
	"  xagent top -d 10 -i 5 -n 5 > busy.txt\n";

const char *top_help_text(void)
{
	return help;
}

static int parse_event(const char *value, void *member)
{
	struct event_list *list = member;

	/* The last one: a screen is of one. */
	event_list_fini(list);
	int r = event_list_parse(value, list);
	return r == 0 && list->n > 1 ? -EINVAL : r;
}

static int parse_interval(const char *value, void *member)
{
	uint64_t ns;
	int r = cli_parse_duration(value, &ns);

	if (r < 0)
		return r;
	if (ns < MIN_INTERVAL_NS)
		return -EINVAL;
	*(uint64_t *)member = ns;
	return 0;
}

static int parse_rows(const char *value, void *member)
{
	uint64_t n;
	int r = str_parse_u64(str_from(value), 10, TOP_MAX_ROWS, &n);

	if (r < 0)
		return r;
	if (n == 0)
		return -EINVAL;
	*(uint32_t *)member = (uint32_t)n;
	return 0;
}

#define AT(member) offsetof(struct top_args, member)

static const struct cli_flag flags[] = {
	{ "pid", 'p', CLI_PARSED, AT(profile.pids), "process ids such as 4711 or 4711,4712",
	  cli_parse_ids },
	{ "tid", 't', CLI_PARSED, AT(profile.tids), "thread ids such as 4711 or 4711,4712",
	  cli_parse_ids },
	{ "cpu", 'c', CLI_PARSED, AT(profile.cpus), "CPU numbers such as 0 or 0-3,8",
	  cli_parse_cpus },
	{ "cgroup", 0, CLI_PARSED, AT(profile.cgroup), "a directory of the cgroup2 hierarchy",
	  cli_parse_path },
	{ "event", 'e', CLI_PARSED, AT(profile.events), "one of " EVENT_TEXT_NAMES, parse_event },
	{ "off-cpu-waker", 0, CLI_SWITCH, AT(profile.off_cpu_waker), NULL, NULL },
	{ "user", 'U', CLI_SWITCH, AT(profile.user_only), NULL, NULL },
	{ "kernel", 'K', CLI_SWITCH, AT(profile.kernel_only), NULL, NULL },
	{ "frequency", 'F', CLI_PARSED, AT(profile.hz), "samples a second and CPU, from 1 to 10000",
	  cli_parse_hz },
	{ "interval", 'i', CLI_PARSED, AT(interval_ns), "a time from 0.1 on, such as 2 or 500ms",
	  parse_interval },
	{ "duration", 'd', CLI_PARSED, AT(profile.duration_ns),
	  "a time above 0 such as 10, 1.5, 500ms or 2m", cli_parse_duration },
	{ "rows", 'n', CLI_PARSED, AT(n_rows), "a number from 1 to 200", parse_rows },
	{ "verbose", 'v', CLI_SWITCH, AT(profile.verbose), NULL, NULL },
	{ "help", 'h', CLI_SWITCH, AT(profile.help), NULL, NULL },
};

static int fail(struct buf *why, const char *text)
{
	(void)buf_append_str(why, text);
	return -EINVAL;
}

static int check(const struct profile_args *a, struct buf *why)
{
	if (a->user_only && a->kernel_only)
		return fail(
			why,
			"-U and -K exclude each other: leave out both for user and kernel stacks");
	if (event_list_has_others(&a->events) && a->cpus.n > 0)
		return fail(why, "-c is about timer ticks: it goes with --event cpu only");
	return profile_args_check_waker(a, why);
}

static int take_words(const struct cli_words *words, struct buf *why)
{
	if (words->rest)
		return fail(why, "there is no command to run: use xagent profile -- COMMAND");
	if (words->n == 0)
		return 0;
	(void)buf_printf(why, "unexpected word \"%s\"", words->items[0]);
	return -EINVAL;
}

int top_args_parse(int argc, char **argv, struct top_args *ret_args, struct buf *why)
{
	_cleanup_top_args_ struct top_args a = { .profile.demangle = DEMANGLE_SIMPLIFIED,
						 .profile.off_cpu_reason = REASON_LABEL,
						 .interval_ns = DEFAULT_INTERVAL_NS,
						 .n_rows = TOP_DEFAULT_ROWS };
	_cleanup_words_ struct cli_words words = { 0 };
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &words, why);

	if (r == 0 && !a.profile.help)
		r = take_words(&words, why);
	if (r == 0 && !a.profile.help)
		r = check(&a.profile, why);
	if (r < 0)
		return r;
	profile_args_settle_rates(&a.profile);
	*ret_args = a;
	a = (struct top_args){ 0 };
	return 0;
}

void top_args_fini(struct top_args *a)
{
	profile_args_fini(&a->profile);
}
