/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a sample, as the open interval knows them, and what comes before them: who has ended a wait, what was waited for, a system call, a connection. */
#include "agent/profile/session_private.h"

#include <string.h>

#include "agent/symbol/debug_open.h"
#include "agent/util/clock.h"

struct frame_ref *session_frames(struct session *s)
{
	return s->stacks.frames + WAKER_MAX_FRAMES + 1;
}

/* What was waited for. Before it whoever has ended the wait. */
static struct frame_ref *innermost(struct session *s)
{
	return session_frames(s) - 1;
}

static struct mapped_file *find_file(const struct mappings *m, uint32_t id)
{
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file && m->items[i].file->id == id)
			return m->items[i].file;
	return NULL;
}

void session_keep_files(struct session *s, struct process *p, uint32_t generation)
{
	for (uint32_t i = 0; i < s->stacks.user.n; i++) {
		uint32_t id = frame_ref_file_id(s->stacks.user.frames[i]);
		struct mapped_file *f;

		if (!id || interval_file(s->interval, id))
			continue;
		f = find_file(p->mappings, id);
		if (!f)
			f = find_file(p->mappings_ahead, id);
		if (!f)
			f = find_file(tables_mappings(s->unwind.tables, p->pid, generation), id);
		if (!f || interval_add_file(s->interval, f) < 0)
			continue;
		if (f->fd < 0 && !f->vdso)
			(void)process_open_file(s->processes.table, p, f);
		debug_open(f, p->pid, clock_mono_ns(), s->options.worker);
	}
}

/* A frame of the sample as the interval knows it. */
static int frame_of(struct session *s, const struct sample *sample, struct process *p,
		    struct frame_ref frame, struct frame_ref *ret_frame)
{
	if (frame_ref_kind(frame) == FRAME_KIND_MEMORY)
		return session_anon_frame(s, p, frame_ref_value(frame), sample->head->time_ns,
					  ret_frame);
	if (frame_ref_kind(frame) == FRAME_KIND_RUNTIME)
		return session_code_frame(s, p, sample->head,
					  &s->stacks.user.runtime[frame_ref_value(frame)],
					  ret_frame);
	*ret_frame = frame;
	return 0;
}

/* The kernel reports return addresses for all but the interrupted function. */
static void take_kernel_frames(const struct sample *sample, struct frame_ref *ret_frames)
{
	for (uint16_t i = 0; i < sample->n_kernel; i++)
		ret_frames[i] =
			frame_ref_of(FRAME_KIND_KERNEL, sample->kernel_frames[i] - (i > 0 ? 1 : 0));
}

int session_take_frames(struct session *s, const struct sample *sample, struct process *p)
{
	struct frame_ref *user = session_frames(s) + sample->n_kernel;
	int r = 0;

	take_kernel_frames(sample, session_frames(s));
	for (uint32_t i = 0; i < s->stacks.user.n && r == 0; i++)
		r = frame_of(s, sample, p, s->stacks.user.frames[i], &user[i]);
	return r;
}

int session_take_compiled(struct session *s, const struct sample *sample, struct process *p,
			 struct samples *one)
{
	const struct wire_runtime_frame f = { .function = sample->head->compiled,
					      .print = sample->head->compiled_print,
					      .position = UINT32_MAX };

	if (!f.function || one->n_user >= WIRE_MAX_USER_FRAMES)
		return 0;
	int r = session_code_frame(s, p, sample->head, &f,
				   session_frames(s) + one->n_kernel + one->n_user);
	one->n_user += r == 0;
	return r;
}

/* A system call's own frame; its error is told by a label. */
static struct frame_ref *put_call(struct session *s, struct samples *to, uint32_t call)
{
	to->reason = WAIT_UNKNOWN;
	to->error = WIRE_CALL_ERROR(call);
	to->n_kernel++;
	*innermost(s) = frame_ref_of(FRAME_KIND_CALL, WIRE_CALL_NUMBER(call));
	return innermost(s);
}

/* It is there already. */
static struct frame_ref *put_connection(struct session *s, struct samples *to, uint32_t reason)
{
	to->reason = WAIT_UNKNOWN;
	to->error = WIRE_CALL_ERROR(reason);
	to->n_kernel++;
	return innermost(s);
}

/* Told by labels. */
static struct frame_ref *put_io(struct session *s, struct samples *to, uint32_t io)
{
	to->reason = WAIT_UNKNOWN;
	to->io = io;
	to->device = session_io_device(s, io);
	return innermost(s) + 1;
}

int session_take_connection(struct session *s, const struct sample *sample, struct process *p)
{
	struct tcp_connection c = { .ends = *sample->connection,
				    .kind = WIRE_CALL_NUMBER(sample->head->reason),
				    .error = WIRE_CALL_ERROR(sample->head->reason),
				    .pid = p->pid };
	const char *comm = process_identity(s->processes.table, p)->comm;

	c.ends.zero = 0;
	memcpy(c.comm, comm, strnlen(comm, sizeof(c.comm)));
	if (!s->options.connections)
		c = tcp_connection_peer(&c);
	return interval_connection_frame(s->interval, &c, innermost(s));
}

/* As its innermost frame. The frames that there are. */
static struct frame_ref *put_reason(struct session *s, struct samples *to, uint32_t reason)
{
	bool is_frame = s->interval->tagging.reason == REASON_FRAME && reason != WAIT_UNKNOWN;

	to->reason = reason;
	to->n_kernel += is_frame;
	*innermost(s) = frame_ref_of(FRAME_KIND_WAIT, reason);
	return is_frame ? innermost(s) : innermost(s) + 1;
}

/* Before `frames`. The time that it could have run is none of the waker's. The frames that there are. */
static struct frame_ref *put_waker(struct session *s, struct samples *to, uint32_t reason,
				   struct frame_ref *frames)
{
	const struct waker *w = reason != WAIT_READY ? s->stacks.waker : NULL;

	if (!w)
		return frames;
	memcpy(frames - w->n, w->frames, w->n * sizeof(*frames));
	to->n_kernel += (uint16_t)w->n;
	return frames - w->n;
}

struct frame_ref *session_put_what(struct session *s, struct samples *to, uint32_t reason)
{
	switch (to->event) {
	case EVENT_SYSCALLS:
		return put_call(s, to, reason);
	case EVENT_TCP:
		return put_connection(s, to, reason);
	case EVENT_BLOCK_IO:
		return put_io(s, to, reason);
	default:
		return put_waker(s, to, reason, put_reason(s, to, reason));
	}
}
