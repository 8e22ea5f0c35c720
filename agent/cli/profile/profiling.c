/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of `xagent profile`.
 *
 *	fork command → loop, signals, worker → cgroup of the command → session → exec → loop → stop → result, report → command's end
 *
 * The result is written when the session hands over its interval; a graph, once it has handed over the last one.
 */
#include "agent/cli/profile/profiling.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/priority.h"
#include "agent/cli/profile/command.h"
#include "agent/cli/profile/progress.h"
#include "agent/cli/profile/report.h"
#include "agent/cli/profile/results.h"
#include "agent/cli/profile/sampling.h"
#include "agent/cli/profile/scope.h"
#include "agent/cli/profile/watch.h"
#include "agent/component/ebpf/host_report.h"
#include "agent/profile/session.h"
#include "agent/unwind/user_stack.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/version.h"

#define MESSAGE_MAX_BYTES 8192
/* A path may be PATH_MAX bytes, three times as many in a URL, and is named several times. */
#define REPORT_MAX_BYTES (16 * PATH_MAX)
/* One interval is built at a time; a second may wait. */
#define MAX_JOBS 5
/* Shells' codes for a command that is not there, and for one that cannot be executed. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

struct profiling {
	const struct profile_args *args;
	struct report report;
	struct results results;
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct session *session;
	struct command *command; /* NULL: none */
	struct scope scope;
	struct watch *watch; /* of --pid */
	struct loop_io *command_io;
	struct loop_timer *end_timer;
	struct loop_timer *progress_timer;
	struct progress progress;
	uint64_t began_ns;
	bool sampling, interrupted;
	bool discard; /* there is to be no result */
	int write_error;
};

static void say(const struct buf *text)
{
	(void)fprintf(stderr, "xagent: %s\n", buf_str(text));
}

static int match(struct process_table *processes, struct process *p, void *data,
		 struct labels **ret_labels)
{
	struct profiling *x = data;

	if (!scope_has(&x->scope, processes, p))
		return SESSION_SKIP;
	return sampling_labels(processes, p, x->args->idle, ret_labels);
}

static void on_interval(const struct interval *interval, struct build *build, void *data)
{
	struct profiling *x = data;
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);

	(void)interval;
	x->report.n_samples += build->summary.n_samples;
	x->report.kernel_hidden |= build->summary.kernel_hidden;
	progress_clear(&x->progress);
	if (build->summary.failed_file[0])
		(void)fprintf(stderr, "xagent: %s: debug information could not be read\n",
			      build->summary.failed_file);
	if (!x->discard && x->write_error == 0)
		x->write_error = results_write(&x->results, build, &why);
	if (why.len)
		say(&why);
	/* The first error is said once; there is nothing left to sample for. */
	if (x->write_error < 0)
		loop_quit(x->loop, 0);
}

static void end_sampling(void *data)
{
	struct profiling *x = data;

	if (x->sampling)
		loop_quit(x->loop, 0);
}

static void on_command_end(uint32_t events, void *data)
{
	struct profiling *x = data;

	(void)events;
	loop_io_free(x->command_io);
	x->command_io = NULL;
	loop_quit(x->loop, 0);
}

/* The next ^C finds the default action. */
static void make_interrupt_deadly(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	(void)signal(SIGINT, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* While it samples the command may be in a control group of ours, which is to be removed first. */
static void interrupt(struct profiling *x)
{
	x->interrupted = true;
	if (!x->sampling)
		make_interrupt_deadly();
}

/* ^C of a terminal has reached the command already; other signals are sent to us alone. */
static void on_signal(int signo, void *data)
{
	struct profiling *x = data;

	if (signo == SIGINT)
		interrupt(x);
	else if (x->command)
		command_signal(x->command, signo);
	end_sampling(x);
}

static void update_report(struct profiling *x)
{
	x->report.elapsed_ns = clock_mono_ns() - x->began_ns;
}

static void on_progress(void *data)
{
	struct profiling *x = data;
	_cleanup_buf_ struct buf text = BUF_INIT(MESSAGE_MAX_BYTES);
	struct report now;

	update_report(x);
	now = x->report;
	now.n_samples += session_n_waiting(x->session);
	report_progress(&now, &text);
	progress_show(&x->progress, buf_str(&text));
	loop_timer_arm(x->progress_timer, clock_mono_ns() + NS_PER_S);
}

/* Before anything that the command should not inherit. */
static int fork_command(struct profiling *x, struct buf *why)
{
	int r = x->args->command ? command_new(x->args->command, &x->command) : 0;

	if (r < 0)
		(void)buf_printf(why, "cannot start %s: %s", x->args->command[0], strerror(-r));
	/* A reader that went away is an error of write(2), and a command that died early one too. */
	(void)signal(SIGPIPE, SIG_IGN);
	return r;
}

/* With whose end the run ends: the command, or the processes that were asked for. */
static int watch_subjects(struct profiling *x)
{
	int r = 0;

	if (x->command)
		r = loop_io_new(x->loop, command_fd(x->command), EPOLLIN, on_command_end, x,
				&x->command_io);
	if (r < 0 || x->args->pids.n == 0)
		return r;
	return watch_new(x->loop, x->args->pids.ids, x->args->pids.n, end_sampling, x, &x->watch);
}

static int open_loop(struct profiling *x)
{
	sigset_t set;
	int r = loop_new(&x->loop);

	if (r < 0)
		return r;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	r = loop_signals_new(x->loop, &set, on_signal, x);
	if (r < 0)
		return r;
	r = worker_new(x->loop, MAX_JOBS, &x->worker);
	if (r < 0)
		return r;
	r = telemetry_new(&x->telemetry);
	if (r < 0)
		return r;
	r = loop_timer_new(x->loop, end_sampling, x, &x->end_timer);
	if (r < 0)
		return r;
	r = loop_timer_new(x->loop, on_progress, x, &x->progress_timer);
	if (r < 0)
		return r;
	return watch_subjects(x);
}

/* A command of some seconds that was asked for lines may hold what they need: compressed debug information is inflated whole, and a
 * distribution's of the C library alone takes 11 MiB. */
#define LINES_MEMORY_LIMIT_BYTES ((size_t)512 << 20)

static size_t memory_limit_bytes(const struct profile_args *a)
{
	return a->memory_limit_bytes || !a->lines ? a->memory_limit_bytes
						  : LINES_MEMORY_LIMIT_BYTES;
}

static bool is_sampled(const struct profiling *x, enum event event)
{
	struct session_wall_sums sums;

	return event_is_derived(event) ? session_wall_sums(x->session, &sums)
				       : sampler_limit_hz(session_sampler(x->session), event) > 0;
}

/* The kernel has refused them: it was said then. */
static void find_missing(struct profiling *x)
{
	for (size_t i = 0; i < x->results.n; i++)
		if (!is_sampled(x, x->args->events.items[i].event))
			results_miss(&x->results, i);
}

static int open_session(struct profiling *x, struct buf *why)
{
	struct session_options o = {
		.sampler = sampling_options(x->args, x->report.hz, scope_cgroup_fd(&x->scope)),
		.demangle = x->args->demangle,
		.tagging = { .reason = x->args->off_cpu_reason,
			     .thread = x->args->thread_names,
			     .tier = x->args->hotspot_tiers },
		.lines = x->args->lines,
		.columns = x->args->columns,
		.inlines = x->args->lines,
		.debuginfod = { .urls = x->args->debuginfod.items,
				.n_urls = x->args->debuginfod.n,
				.cache_dir = x->args->debuginfod_cache },
		.memory_limit_bytes = memory_limit_bytes(x->args),
		.build = results_build_fn(&x->results),
		.build_data = results_build_data(&x->results),
		.hooks = { .match = match, .on_interval = on_interval, .data = x },
		.loop = x->loop,
		.worker = x->worker,
		.telemetry = x->telemetry,
	};

	sampling_wall(x->args, &o);
	int r = session_new(&o, why, &x->session);
	if (r == 0)
		find_missing(x);
	return r;
}

/* Of the whole host, or of a control group, some processes may be hidden from the agent; those named by number are not. */
static void say_unseen(const struct profile_args *a)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MESSAGE_MAX_BYTES);
	struct host_view view;

	if (a->pids.n || a->tids.n || a->command)
		return;
	host_report_read(&view);
	host_report_health(&view, true, &text);
	if (text.len)
		say(&text);
}

static int open_parts(struct profiling *x, struct buf *why)
{
	int r = fork_command(x, why);

	if (r < 0)
		return r;
	r = results_init(&x->results, x->args);
	if (r == 0)
		r = results_check(&x->results, why);
	if (r < 0)
		return r;
	/* After the command, whose priority is its own. */
	priority_raise();
	r = open_loop(x);
	if (r < 0)
		return r;
	r = scope_open(&x->scope, x->args, x->command ? command_pid(x->command) : 0, why);
	if (r < 0)
		return r;
	say_unseen(x->args);
	return open_session(x, why);
}

static int profiling_open(struct profiling *x, struct buf *why)
{
	int r = open_parts(x, why);

	if (r < 0 && why->len == 0)
		(void)buf_printf(why, "cannot start profiling: %s", strerror(-r));
	return r;
}

static void profiling_fini(struct profiling *x)
{
	x->discard = true;
	session_free(x->session);
	watch_free(x->watch);
	loop_io_free(x->command_io);
	loop_timer_free(x->end_timer);
	loop_timer_free(x->progress_timer);
	/* Its processes are let out before it is waited for. */
	scope_fini(&x->scope);
	command_free(x->command);
	worker_free(x->worker);
	loop_free(x->loop);
	telemetry_free(x->telemetry);
	results_fini(&x->results);
}

static void print_verifier_line(const char *program, uint64_t instructions, void *data)
{
	(void)data;
	(void)fprintf(stderr, "verifier program=%s instructions=%" PRIu64 "\n", program,
		      instructions);
}

/* A command that writes to this terminal has it for itself: it gets one line before it begins. */
static void begin_progress(struct profiling *x)
{
	_cleanup_buf_ struct buf subject = BUF_INIT(MESSAGE_MAX_BYTES);

	if (!progress_is_possible(STDERR_FILENO))
		return;
	if (!x->command || !isatty(STDOUT_FILENO)) {
		on_progress(x);
		return;
	}
	profile_args_subject(x->args, &subject);
	profile_args_rate(x->args, ", ", x->report.hz, &subject);
	(void)fprintf(stderr, "xagent: profiling %s, ^C to end\n", buf_str(&subject));
}

/* 0, or the exit code for a command that did not come to be. */
static int start_command(struct profiling *x)
{
	int r = x->command ? command_go(x->command) : 0;

	if (r == 0)
		return 0;
	/* It was interrupted while it waited. */
	if (r == -ECHILD)
		return command_exit_code(x->command);
	(void)fprintf(stderr, "xagent: cannot execute %s: %s\n", x->args->command[0], strerror(-r));
	return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void sample(struct profiling *x)
{
	x->sampling = true;
	if (x->args->duration_ns)
		loop_timer_arm(x->end_timer, x->began_ns + x->args->duration_ns);
	(void)loop_run(x->loop);
	x->sampling = false;
	loop_timer_disarm(x->end_timer);
	loop_timer_disarm(x->progress_timer);
	update_report(x);
	/* Who waits is looked at once more, as part of the command. */
	session_end_sampling(x->session);
	/* While the result is made a second ^C may end us: nothing is to be left behind. */
	scope_release_command(&x->scope);
	if (x->interrupted)
		make_interrupt_deadly();
	session_stop(x->session);
}

static void count_losses(struct profiling *x)
{
	struct wire_counters counters[EVENT_MAX];

	x->report.n_ring_lost = 0;
	if (sampler_counters(session_sampler(x->session), counters) == 0)
		for (enum event e = 0; e < EVENT_MAX; e++)
			x->report.n_ring_lost += counters[e].lost - counters[e].lost_unseen;
	x->report.n_dropped = telemetry_get(x->telemetry, TELEMETRY_samples_dropped_memory) +
			      telemetry_get(x->telemetry, TELEMETRY_samples_dropped_malformed) +
			      telemetry_get(x->telemetry, TELEMETRY_samples_dropped_encode);
}

/* Kernel threads and stacks that nobody asked for have no user half. */
static void count_stacks(struct profiling *x)
{
	const uint64_t *ends = session_stack_ends(x->session);

	for (int end = 0; end < STOP_REASON_MAX; end++) {
		if (end == STOP_REASON_NO_USER)
			continue;
		x->report.n_user_stacks += ends[end];
		if (stop_reason_is_complete((enum stop_reason)end))
			x->report.n_complete += ends[end];
	}
}

static void end_result(struct profiling *x)
{
	_cleanup_buf_ struct buf subject = BUF_INIT(MESSAGE_MAX_BYTES);
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	char host[HOST_NAME_MAX + 1] = "";

	profile_args_subject(x->args, &subject);
	(void)gethostname(host, sizeof(host) - 1);
	x->write_error = results_end(&x->results,
				     &(struct flame_facts){ .subject = buf_str(&subject),
							    .host = host,
							    .end_real_ns = clock_real_ns(),
							    .elapsed_ns = x->report.elapsed_ns,
							    .hz = x->report.hz,
							    .exporter = "xagent " XAGENT_VERSION },
				     &why);
	if (why.len)
		say(&why);
}

/* Of several events where each has a file of its own. */
static void report_files(const struct profiling *x, struct buf *text)
{
	for (size_t i = 0; i < x->results.n; i++) {
		const struct results_part *part = &x->results.parts[i];
		_cleanup_free_ char *path = part->file ? realpath(part->file, NULL) : NULL;
		const struct report_file file = { .event = &x->args->events.items[i],
						  .file = part->file,
						  .path = path,
						  .n_parts = part->result.n_files,
						  .is_missing = part->is_missing };

		if (part->file)
			report_put_file(&x->report, &file, text);
	}
}

static int report_result(struct profiling *x)
{
	_cleanup_buf_ struct buf text = BUF_INIT(REPORT_MAX_BYTES);
	_cleanup_free_ char *path = NULL;

	progress_clear(&x->progress);
	if (x->write_error == 0)
		end_result(x);
	if (x->write_error < 0)
		return CLI_EXIT_FAILURE;
	count_losses(x);
	count_stacks(x);
	x->report.n_parts = results_n_files(&x->results);
	path = x->args->output ? realpath(x->args->output, NULL) : NULL;
	x->report.path = path;
	report_end(&x->report, &text);
	report_files(x, &text);
	(void)fputs(buf_str(&text), stderr);
	x->report.path = NULL;
	return x->report.n_parts == 0 ? CLI_EXIT_FAILURE : 0;
}

static int finish_command(struct profiling *x)
{
	while (x->command_io)
		if (loop_run(x->loop) < 0)
			break;
	return command_exit_code(x->command);
}

static int profiling_do(struct profiling *x)
{
	if (x->args->verifier_stats)
		sampler_verifier_stats(session_sampler(x->session), print_verifier_line, NULL);
	x->began_ns = clock_mono_ns();
	begin_progress(x);
	int code = start_command(x);
	if (code) {
		progress_clear(&x->progress);
		return code;
	}
	sample(x);
	code = report_result(x);
	int command_code = x->command ? finish_command(x) : 0;
	return code ? code : command_code;
}

int profiling_run(const struct profile_args *a, uint32_t hz)
{
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	struct profiling x = {
		.args = a,
		.report = { .args = a, .hz = hz },
		.scope = SCOPE_INIT,
		.progress = { .fd = STDERR_FILENO },
	};
	int code = CLI_EXIT_FAILURE;

	if (profiling_open(&x, &why) < 0)
		say(&why);
	else
		code = profiling_do(&x);
	profiling_fini(&x);
	return code;
}
