/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when the last of some processes has ended.
 *
 * One is waited for at a time: whichever ends last, all have ended when the last of the list has been found ended. So thousands of
 * pids need one descriptor.
 */
#include "agent/cli/profile/watch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/util/clock.h"

struct watch {
	struct loop *loop;
	const uint32_t *pids;
	size_t n;
	size_t at; /* those before it have ended */
	int fd;
	struct loop_io *io;
	struct loop_timer *end_timer; /* calls from the loop even if all had ended before */
	void (*on_end)(void *data);
	void *data;
};

static void wait_for_next(struct watch *w);

static void on_one_ended(uint32_t events, void *data)
{
	struct watch *w = data;

	assert(w->at < w->n);
	(void)events;
	w->at++;
	wait_for_next(w);
}

static void on_all_ended(void *data)
{
	struct watch *w = data;

	w->on_end(w->data);
}

static void stop_waiting(struct watch *w)
{
	loop_io_free(w->io);
	w->io = NULL;
	cleanup_close_p(&w->fd);
	w->fd = -1;
}

static void wait_for_next(struct watch *w)
{
	stop_waiting(w);
	for (; w->at < w->n; w->at++) {
		w->fd = (int)syscall(SYS_pidfd_open, w->pids[w->at], 0);
		if (w->fd < 0 && errno == ESRCH)
			continue;
		/* Where it cannot be waited for, profiling ends by ^C or time. */
		if (w->fd >= 0)
			(void)loop_io_new(w->loop, w->fd, EPOLLIN, on_one_ended, w, &w->io);
		return;
	}
	loop_timer_arm(w->end_timer, clock_mono_ns());
}

int watch_new(struct loop *loop, const uint32_t *pids, size_t n, void (*on_end)(void *data),
	      void *data, struct watch **ret_watch)
{
	_cleanup_(watch_freep) struct watch *w = malloc(sizeof(*w));

	assert(on_end && (n == 0 || pids));
	if (!w)
		return -ENOMEM;
	*w = (struct watch){
		.loop = loop, .pids = pids, .n = n, .fd = -1, .on_end = on_end, .data = data
	};
	int r = loop_timer_new(loop, on_all_ended, w, &w->end_timer);
	if (r < 0)
		return r;
	wait_for_next(w);
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	stop_waiting(w);
	loop_timer_free(w->end_timer);
	free(w);
}
