/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has woken up a thread, beside its wait. The record of the waker comes first (bpf/events/off_cpu_waker.bpf.h), and is a stack like a sample's. It is kept until the sample of the wait
 * comes, and put behind that one's innermost frame, with its own innermost one next to it: where both meet is the wake-up.
 */
#include "agent/profile/session_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

static void count(const struct session *s, enum telemetry_counter counter, size_t n)
{
	telemetry_count(s->options.telemetry, counter, n);
}

/* Whoever it is, with a name or none. */
static int name_frame(struct session *s, const struct sample *sample, struct process *p,
		      struct frame_ref *ret_frame)
{
	bool is_idle = sample->head->flags & WIRE_IDLE;
	const char *comm = is_idle ? "" : process_identity(s->processes.table, p)->comm;
	struct waker_name name = waker_name_of(is_idle || *comm ? comm : "?");

	name.is_doubtful = sample->n_kernel == 0 || sample->n_kernel == WIRE_MAX_KERNEL_FRAMES;
	return interval_waker_frame(s->interval, &name, ret_frame);
}

/* `from` is leaf first. The outermost ones go where there are too many. */
static size_t turn(const struct frame_ref *from, size_t n_frames, struct frame_ref *to)
{
	size_t n = MIN_OF(n_frames, (size_t)WAKER_MAX_FRAMES - 1);

	for (size_t i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
	if (n < n_frames)
		to[0] = frame_ref_of(FRAME_KIND_END, STOP_REASON_DEPTH);
	return n;
}

int session_keep_waker(struct session *s, const struct sample *sample, struct process *p,
		       const struct frame_ref *from, size_t n_frames)
{
	struct frame_ref frames[WAKER_MAX_FRAMES];
	size_t n = turn(from, n_frames, frames), n_lost = 0;
	int r = name_frame(s, sample, p, &frames[n]);

	if (r == 0 && !s->wakers)
		s->wakers = calloc(1, sizeof(*s->wakers));
	if (r == 0 && !s->wakers)
		r = -ENOMEM;
	if (r == 0)
		r = waker_table_put(s->wakers, sample->head->values[WIRE_VALUE_WAKER], frames,
				    n + 1, &n_lost);
	count(s, TELEMETRY_wakers_unused, n_lost);
	return r;
}

struct waker *session_waker_of(struct session *s, enum event event, uint64_t id)
{
	struct waker *w = NULL;

	if (event != EVENT_OFF_CPU || id == WIRE_WAKER_NONE)
		return NULL;
	if (s->wakers && id != WIRE_WAKER_UNTOLD)
		w = waker_table_take(s->wakers, id);
	count(s, w ? TELEMETRY_wakers_joined : TELEMETRY_wakers_missing, 1);
	return w;
}

void session_forget_wakers(struct session *s)
{
	if (s->wakers)
		count(s, TELEMETRY_wakers_unused, waker_table_clear(s->wakers));
}

void session_close_wakers(struct session *s)
{
	session_forget_wakers(s);
	free(TAKE_PTR(s->wakers));
}
