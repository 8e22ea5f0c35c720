/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `xagent top`.
 *
 *	loop, signals, worker → session → screen → (interval → view → screen)… → stop
 */
#include "agent/cli/top/top.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/priority.h"
#include "agent/cli/profile/profile.h"
#include "agent/cli/profile/progress.h"
#include "agent/cli/profile/sampling.h"
#include "agent/cli/profile/scope.h"
#include "agent/cli/profile/watch.h"
#include "agent/cli/top/terminal.h"
#include "agent/cli/top/top_screen.h"
#include "agent/cli/top/top_view.h"
#include "agent/profile/session.h"
#include "agent/util/clock.h"
#include "agent/util/cpus.h"
#include "agent/util/file.h"
#include "agent/util/log.h"

#define MESSAGE_MAX_BYTES 8192
#define SCREEN_MAX_BYTES ((size_t)1 << 20)
#define SUBJECT_MAX_BYTES 1024
/* One interval is built at a time; a second may wait. */
#define MAX_JOBS 5

struct top {
	const struct top_args *args;
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct session *session;
	struct scope scope;
	struct watch *watch; /* of --pid */
	struct loop_timer *end_timer;
	struct loop_io *keys;
	struct terminal terminal;
	struct top_screen screen;
	struct top_view *view; /* owned: what the screen shows */
	struct buf subject;
	uint64_t n_lost; /* so far */
	bool is_ending;	 /* what is left is of a part of an interval, and not shown */
	int write_error;
};

static void say(const struct buf *text)
{
	(void)fprintf(stderr, "xagent: %s\n", buf_str(text));
}

static int match(struct process_table *processes, struct process *p, void *data,
		 struct labels **ret_labels)
{
	struct top *x = data;

	if (!scope_has(&x->scope, processes, p))
		return SESSION_SKIP;
	return sampling_labels(processes, p, false, ret_labels);
}

static void draw_screen(struct top *x, const struct buf *text)
{
	int r = x->terminal.is_open ? terminal_draw(&x->terminal, buf_str(text))
				    : file_write_fd(STDOUT_FILENO, text->data, text->len);

	/* Who reads has gone, or the disk is full: there is nothing to go on for. */
	if (r < 0) {
		x->write_error = r;
		x->is_ending = true;
		loop_quit(x->loop, 0);
	}
}

static void draw(struct top *x)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SCREEN_MAX_BYTES);

	if (x->terminal.is_open)
		terminal_size(&x->terminal, &x->screen.rows, &x->screen.columns);
	x->screen.view = x->view;
	top_screen_put(&x->screen, &text);
	/* Tables follow each other. */
	if (!x->terminal.is_open)
		(void)buf_append_char(&text, '\n');
	draw_screen(x, &text);
}

/* Since the last time it was asked for. */
static uint64_t lost_since(struct top *x)
{
	struct wire_counters counters[EVENT_MAX];
	uint64_t before = x->n_lost, now = 0;

	if (sampler_counters(session_sampler(x->session), counters) < 0)
		return 0;
	for (enum event e = 0; e < EVENT_MAX; e++)
		now += counters[e].lost - counters[e].lost_unseen;
	x->n_lost = now;
	return now - before;
}

static void take_view(struct top *x, struct build *build)
{
	struct built *b = build->first;

	if (!b || b->n_bytes != sizeof(*x->view))
		return;
	free(x->view);
	x->view = (struct top_view *)(void *)b->bytes;
	b->bytes = NULL;
}

static void on_interval(const struct interval *interval, struct build *build, void *data)
{
	struct top *x = data;

	(void)interval;
	if (x->screen.is_held || x->is_ending)
		return;
	take_view(x, build);
	if (!x->view)
		return;
	x->screen.n_lost = lost_since(x) + build->summary.n_failed;
	draw(x);
}

static void on_key(struct top *x, char key)
{
	switch (key) {
	case 'q':
	case 'Q':
		loop_quit(x->loop, 0);
		return;
	case 's':
		x->screen.shows = TOP_SERVICES;
		break;
	case 'f':
		x->screen.shows = TOP_FUNCTIONS;
		break;
	case 'b':
		x->screen.shows = TOP_BOTH;
		break;
	case 'p':
		x->screen.is_held = !x->screen.is_held;
		break;
	default:
		return;
	}
	draw(x);
}

static void on_keys(uint32_t events, void *data)
{
	struct top *x = data;
	char keys[32];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	/* The terminal has gone. */
	if (n <= 0 && events & (EPOLLHUP | EPOLLERR)) {
		loop_quit(x->loop, 0);
		return;
	}
	for (ssize_t i = 0; i < n; i++)
		on_key(x, keys[i]);
}

static void end(void *data)
{
	struct top *x = data;

	loop_quit(x->loop, 0);
}

static void on_signal(int signo, void *data)
{
	struct top *x = data;

	if (signo != SIGWINCH)
		end(x);
	else if (x->terminal.is_open)
		draw(x);
}

static int open_loop(struct top *x)
{
	const struct profile_args *a = &x->args->profile;
	sigset_t set;
	int r = loop_new(&x->loop);

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	(void)signal(SIGPIPE, SIG_IGN);
	if (r == 0)
		r = loop_signals_new(x->loop, &set, on_signal, x);
	if (r == 0)
		r = worker_new(x->loop, MAX_JOBS, &x->worker);
	if (r == 0)
		r = telemetry_new(&x->telemetry);
	if (r == 0)
		r = loop_timer_new(x->loop, end, x, &x->end_timer);
	if (r == 0 && a->pids.n)
		r = watch_new(x->loop, a->pids.ids, a->pids.n, end, x, &x->watch);
	return r;
}

static int open_session(struct top *x, struct buf *why)
{
	const struct profile_args *a = &x->args->profile;
	struct session_options o = {
		.sampler = sampling_options(a, x->screen.hz, scope_cgroup_fd(&x->scope)),
		.interval_ns = x->args->interval_ns,
		.demangle = a->demangle,
		.tagging = { .reason = a->off_cpu_reason },
		.build = top_view_build,
		.connections = true,
		.hooks = { .match = match, .on_interval = on_interval, .data = x },
		.loop = x->loop,
		.worker = x->worker,
		.telemetry = x->telemetry,
	};

	sampling_wall(a, &o);
	return session_new(&o, why, &x->session);
}

static int open_parts(struct top *x, struct buf *why)
{
	const struct profile_args *a = &x->args->profile;
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = cpus_online(&online);

	x->screen.n_cpus = r == 0 && !a->cpus.n ? online.n : a->cpus.n;
	profile_args_subject(a, &x->subject);
	x->screen.subject = buf_str(&x->subject);
	priority_raise();
	r = open_loop(x);
	if (r == 0)
		r = scope_open(&x->scope, a, 0, why);
	if (r == 0)
		r = open_session(x, why);
	if (r < 0 && why->len == 0)
		(void)buf_printf(why, "cannot start profiling: %s", strerror(-r));
	return r;
}

static int open_terminal(struct top *x)
{
	int r;

	if (!progress_is_possible(STDOUT_FILENO))
		return 0;
	r = terminal_open(&x->terminal, STDIN_FILENO, STDOUT_FILENO);
	if (r == 0 && x->terminal.has_keys)
		r = loop_io_new(x->loop, STDIN_FILENO, EPOLLIN, on_keys, x, &x->keys);
	if (r == 0)
		draw(x);
	return r;
}

static void top_fini(struct top *x)
{
	session_free(x->session);
	terminal_close(&x->terminal);
	watch_free(x->watch);
	loop_io_free(x->keys);
	loop_timer_free(x->end_timer);
	scope_fini(&x->scope);
	worker_free(x->worker);
	loop_free(x->loop);
	telemetry_free(x->telemetry);
	free(x->view);
	buf_fini(&x->subject);
}

static int run(struct top *x)
{
	int r = open_terminal(x);

	if (r == 0) {
		if (x->args->profile.duration_ns)
			loop_timer_arm(x->end_timer,
				       clock_mono_ns() + x->args->profile.duration_ns);
		(void)loop_run(x->loop);
		r = x->write_error;
	}
	terminal_close(&x->terminal);
	x->is_ending = true;
	session_stop(x->session);
	if (r < 0 && r != -EPIPE)
		(void)fprintf(stderr, "xagent: cannot write to standard output: %s\n",
			      strerror(-r));
	return r < 0 ? CLI_EXIT_FAILURE : 0;
}

int top_run(const struct top_args *a, uint32_t hz)
{
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	struct top x = {
		.args = a,
		.scope = SCOPE_INIT,
		.subject = BUF_INIT(SUBJECT_MAX_BYTES),
		.screen = { .event = a->profile.events.items[0],
			    .hz = hz,
			    .interval_ns = a->interval_ns,
			    .n_functions = a->n_rows,
			    .n_services = (a->n_rows + 1) / 2 },
	};
	int code = CLI_EXIT_FAILURE;

	if (open_parts(&x, &why) < 0)
		say(&why);
	else
		code = run(&x);
	top_fini(&x);
	return code;
}

int cli_top(int argc, char **argv)
{
	_cleanup_top_args_ struct top_args a = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	_cleanup_buf_ struct buf note = BUF_INIT(MESSAGE_MAX_BYTES);
	int r = top_args_parse(argc, argv, &a, &why);

	if (r < 0)
		return cli_usage_error("top", &why);
	if (a.profile.help)
		return fputs(top_help_text(), stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	log_configure(a.profile.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	r = profile_check(&a.profile, &why);
	if (r < 0) {
		say(&why);
		return CLI_EXIT_FAILURE;
	}
	uint32_t hz = event_list_has_ticks(&a.profile.events)
			      ? profile_clamp_hz(a.profile.hz, &note)
			      : a.profile.hz;
	if (note.len)
		say(&note);
	return top_run(&a, hz);
}
