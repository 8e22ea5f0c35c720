/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop.
 *
 * Timers live in a sorted list: there are a few dozen at most, so an insert that walks is cheaper than a heap that must be explained.
 * epoll_wait's timeout is the time to the first of them, rounded up to a millisecond, so that a timer never fires early.
 */
#include "agent/util/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include "agent/util/clock.h"
#include "agent/util/list.h"

#define LOOP_EVENTS_A_ROUND 64

struct loop {
	int epoll_fd;
	bool quit;
	int code;
	unsigned int
		depth; /* of loop_run_once() calls: a callback may run the loop to wait for something */
	uint64_t round;	    /* number of the latest loop_run_once() call */
	struct loop_stats stats;
	struct list timers; /* armed ones, by time */
	struct list dead;   /* loop_io freed in this round */
	int signal_fd;
	struct loop_io *signal_io;
	loop_signal_fn signal_fn;
	void *signal_data;
};

struct loop_io {
	struct loop *loop;
	int fd;
	bool freed;
	struct list node;
	loop_io_fn fn;
	void *data;
};

struct loop_timer {
	struct loop *loop;
	uint64_t at_ns;
	uint64_t armed_round;
	struct list node;
	loop_timer_fn fn;
	void *data;
};

int loop_new(struct loop **ret_loop)
{
	_cleanup_free_ struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return -ENOMEM;
	list_init(&loop->timers);
	list_init(&loop->dead);
	loop->signal_fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	*ret_loop = TAKE_PTR(loop);
	return 0;
}

static void loop_bury(struct loop *loop)
{
	LIST_FOREACH (&loop->dead, node) {
		list_remove(node);
		free(LIST_ENTRY(node, struct loop_io, node));
	}
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	loop_io_free(loop->signal_io);
	cleanup_close_p(&loop->signal_fd);
	loop_bury(loop);
	cleanup_close_p(&loop->epoll_fd);
	free(loop);
}

static int loop_timeout_ms(const struct loop *loop, int limit_ms)
{
	if (list_empty(&loop->timers))
		return limit_ms;
	const struct loop_timer *first = LIST_ENTRY(loop->timers.next, struct loop_timer, node);
	uint64_t now = clock_mono_ns();
	if (first->at_ns <= now)
		return 0;
	uint64_t ms = (first->at_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	if (limit_ms >= 0 && ms > (uint64_t)limit_ms)
		return limit_ms;
	return ms > 3600000 ? 3600000 : (int)ms;
}

static struct loop_timer *loop_first_due(struct loop *loop, uint64_t now_ns, uint64_t round)
{
	LIST_FOREACH (&loop->timers, node) {
		struct loop_timer *t = LIST_ENTRY(node, struct loop_timer, node);

		if (t->at_ns > now_ns)
			break;
		if (t->armed_round < round)
			return t;
	}
	return NULL;
}

/* Only timers that were armed before the round began: one that arms itself for the past cannot starve the descriptors. */
static void loop_fire_timers(struct loop *loop, uint64_t round)
{
	uint64_t now = clock_mono_ns();

	for (struct loop_timer *t; (t = loop_first_due(loop, now, round));) {
		list_remove(&t->node);
		t->fn(t->data);
	}
}

int loop_run_once(struct loop *loop, int timeout_ms)
{
	struct epoll_event events[LOOP_EVENTS_A_ROUND];
	int n = epoll_wait(loop->epoll_fd, events, LOOP_EVENTS_A_ROUND,
			   loop_timeout_ms(loop, timeout_ms));

	if (n < 0 && errno != EINTR)
		return -errno;
	uint64_t round = ++loop->round;
	loop->depth++;
	for (int i = 0; i < n; i++) {
		struct loop_io *io = events[i].data.ptr;

		if (!io->freed)
			io->fn(events[i].events, io->data);
	}
	loop_fire_timers(loop, round);
	/* An outer round may still hold events of what was freed here. */
	if (--loop->depth == 0)
		loop_bury(loop);
	return 0;
}

static void loop_note_turn(struct loop *loop, uint64_t begin_ns)
{
	loop->stats.n_turns++;
	if (clock_thread_ns() - begin_ns > LOOP_LONG_TURN_NS)
		loop->stats.n_long++;
}

struct loop_stats loop_get_stats(const struct loop *loop)
{
	return loop->stats;
}

int loop_run(struct loop *loop)
{
	loop->quit = false;
	while (!loop->quit) {
		uint64_t begin_ns = clock_thread_ns();
		int r = loop_run_once(loop, -1);

		if (r < 0)
			return r;
		loop_note_turn(loop, begin_ns);
	}
	return loop->code;
}

void loop_quit(struct loop *loop, int code)
{
	loop->quit = true;
	loop->code = code;
}

int loop_io_new(struct loop *loop, int fd, uint32_t events, loop_io_fn fn, void *data,
		struct loop_io **ret_io)
{
	_cleanup_free_ struct loop_io *io = calloc(1, sizeof(*io));
	struct epoll_event ev = { .events = events };

	if (!io)
		return -ENOMEM;
	*io = (struct loop_io){ .loop = loop, .fd = fd, .fn = fn, .data = data };
	list_init(&io->node);
	ev.data.ptr = io;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	*ret_io = TAKE_PTR(io);
	return 0;
}

int loop_io_set_events(struct loop_io *io, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = io };

	return epoll_ctl(io->loop->epoll_fd, EPOLL_CTL_MOD, io->fd, &ev) < 0 ? -errno : 0;
}

void loop_io_free(struct loop_io *io)
{
	if (!io)
		return;
	(void)epoll_ctl(io->loop->epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
	io->freed = true;
	list_push_back(&io->loop->dead, &io->node);
}

int loop_timer_new(struct loop *loop, loop_timer_fn fn, void *data, struct loop_timer **ret_timer)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct loop_timer){ .loop = loop, .fn = fn, .data = data };
	list_init(&t->node);
	*ret_timer = t;
	return 0;
}

void loop_timer_arm(struct loop_timer *timer, uint64_t at_mono_ns)
{
	struct list *before = &timer->loop->timers;

	list_remove(&timer->node);
	timer->at_ns = at_mono_ns;
	timer->armed_round = timer->loop->round;
	LIST_FOREACH (&timer->loop->timers, node) {
		if (LIST_ENTRY(node, struct loop_timer, node)->at_ns > at_mono_ns) {
			before = node;
			break;
		}
	}
	list_push_back(before, &timer->node);
}

void loop_timer_disarm(struct loop_timer *timer)
{
	if (timer)
		list_remove(&timer->node);
}

void loop_timer_free(struct loop_timer *timer)
{
	if (!timer)
		return;
	list_remove(&timer->node);
	free(timer);
}

static void loop_on_signal(uint32_t events, void *data)
{
	struct loop *loop = data;
	struct signalfd_siginfo info;

	(void)events;
	if (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		loop->signal_fn((int)info.ssi_signo, loop->signal_data);
}

int loop_signals_new(struct loop *loop, const sigset_t *set, loop_signal_fn fn, void *data)
{
	if (sigprocmask(SIG_BLOCK, set, NULL) < 0)
		return -errno;
	loop->signal_fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signal_fd < 0)
		return -errno;
	loop->signal_fn = fn;
	loop->signal_data = data;
	return loop_io_new(loop, loop->signal_fd, EPOLLIN, loop_on_signal, loop, &loop->signal_io);
}
