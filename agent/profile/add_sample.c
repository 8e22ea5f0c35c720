/* SPDX-License-Identifier: Apache-2.0 */
/* A sample becomes a part of the open interval: of its event's profile, of that of wall-clock time (wall.h), or of both. */
#include "agent/profile/session_private.h"

#include <stdlib.h>
#include <string.h>

#include "agent/symbol/debug_open.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

static struct mapped_file *find_file(const struct mappings *m, uint32_t id)
{
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file && m->items[i].file->id == id)
			return m->items[i].file;
	return NULL;
}

/* While the process lives its files can be opened; names are looked up when the interval is over. */
static void keep_files(struct session *s, struct process *p, uint32_t generation)
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

/* Room for the innermost frame, for what was waited for. Behind it the stack, before it whoever has ended the wait. */
static struct frame_ref *innermost(struct session *s)
{
	return s->stacks.frames + WAKER_MAX_FRAMES;
}

static int take_frames(struct session *s, const struct sample *sample, struct process *p)
{
	struct frame_ref *user = innermost(s) + 1 + sample->n_kernel;
	int r = 0;

	take_kernel_frames(sample, innermost(s) + 1);
	for (uint32_t i = 0; i < s->stacks.user.n && r == 0; i++)
		r = frame_of(s, sample, p, s->stacks.user.frames[i], &user[i]);
	return r;
}

/* A timer tick is worth what lies between two of them; the values of other events are in their units already. */
static void values_of(const struct interval *i, const struct wire_sample *head,
		      int64_t ret_values[EVENT_MAX_VALUES])
{
	int64_t unit = head->record.event == EVENT_CPU ? (int64_t)i->periods[EVENT_CPU] : 1;

	for (size_t v = 0; v < EVENT_MAX_VALUES; v++) {
		int64_t value = (int64_t)MIN_OF(head->values[v], (uint64_t)INT64_MAX);

		if (__builtin_mul_overflow(value, unit, &ret_values[v]))
			ret_values[v] = INT64_MAX;
	}
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

static int take_connection(struct session *s, const struct sample *sample, struct process *p)
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

static int add_part(struct session *s, const struct samples *part, uint32_t reason,
		    bool *ret_is_new)
{
	struct samples with = *part;
	bool is_new = false;

	if (with.event == EVENT_SYSCALLS)
		with.frames = put_call(s, &with, reason);
	else if (with.event == EVENT_TCP)
		with.frames = put_connection(s, &with, reason);
	else if (with.event == EVENT_BLOCK_IO)
		with.frames = put_io(s, &with, reason);
	else
		with.frames = put_waker(s, &with, reason, put_reason(s, &with, reason));
	int r = interval_add(s->interval, &with, &is_new);
	*ret_is_new |= is_new;
	return r;
}

static int add_one(struct session *s, const struct samples *one, bool *ret_is_new);

/* The same once more, with the other sign: its stacks are there, so that cannot fail. */
static void take_back(struct session *s, const struct samples *one)
{
	int64_t values[EVENT_MAX_VALUES];
	struct samples back = *one;
	bool is_new;

	for (size_t v = 0; v < EVENT_MAX_VALUES; v++)
		values[v] = -one->values[v];
	back.values = values;
	back.count = -one->count;
	back.n_again = -one->n_again;
	(void)add_one(s, &back, &is_new);
}

/* Of a wait, for how long it could have run. A value that is larger than the sum it is part of comes from no kernel half of ours. */
static int64_t ready_ns(const struct samples *one)
{
	int64_t all = one->values[0], ready = one->values[WIRE_VALUE_READY];

	if (one->event != EVENT_OFF_CPU && one->event != EVENT_WALL)
		return 0;
	return ready > 0 ? (ready <= all ? ready : 0) : (ready >= all ? ready : 0);
}

/* A wait of two parts: what was waited for, and a CPU. Each has a stack of its own, the wait itself counts with the former. Both or none. */
static int add_both(struct session *s, const struct samples *wait, int64_t ready, bool *ret_is_new)
{
	const int64_t waited[EVENT_MAX_VALUES] = { wait->values[0] - ready, wait->values[1] };
	const int64_t other[EVENT_MAX_VALUES] = { ready }, back[EVENT_MAX_VALUES] = { -ready };
	struct samples part = *wait;

	part.values = other;
	part.count = part.n_again = 0;
	int r = add_part(s, &part, WAIT_READY, ret_is_new);
	if (r < 0)
		return r;
	part.values = waited;
	part.count = wait->count;
	part.n_again = wait->n_again;
	r = add_part(s, &part, wait->reason, ret_is_new);
	if (r == 0)
		return 0;
	part.values = back;
	part.count = part.n_again = 0;
	(void)add_part(s, &part, WAIT_READY, ret_is_new);
	return r;
}

static int add_one(struct session *s, const struct samples *one, bool *ret_is_new)
{
	int64_t ready = ready_ns(one);

	return ready ? add_both(s, one, ready, ret_is_new)
		     : add_part(s, one, one->reason, ret_is_new);
}

/* To the profile of its event and to that of wall-clock time, which it counts in once. Both or none. */
static int add_twice(struct session *s, const struct samples *one, const struct samples *wall,
		     bool *ret_is_new)
{
	int r = add_one(s, one, ret_is_new);

	if (r < 0)
		return r;
	r = add_one(s, wall, ret_is_new);
	if (r < 0)
		take_back(s, one);
	return r;
}

/* `p` may be NULL: it was a wait of a process that is gone. */
static int add_to_wall(struct session *s, const struct wire_sample *head, struct process *p,
		       const struct samples *one, bool *ret_is_new)
{
	bool is_only = session_wall_is_all(s, one->event);
	int64_t values[EVENT_MAX_VALUES];
	struct samples wall = *one;

	memcpy(values, one->values, sizeof(values));
	if (one->event == EVENT_CPU)
		values[0] = session_wall_tick_ns(s, p);
	wall.event = EVENT_WALL;
	wall.source = EVENT_SOURCE_WALL;
	wall.values = values;
	wall.n_again = is_only ? 0 : wall.count;
	int r = is_only ? add_one(s, &wall, ret_is_new) : add_twice(s, one, &wall, ret_is_new);
	if (r == 0 && p)
		session_wall_count(s, head, p, values[0], ready_ns(&wall));
	return r;
}

static int add_where_wanted(struct session *s, const struct wire_sample *head, struct process *p,
			    const struct samples *one, bool *ret_is_new)
{
	return session_wall_has(s, one->event) ? add_to_wall(s, head, p, one, ret_is_new)
					       : add_one(s, one, ret_is_new);
}

/* A wait that has just begun: its stack alone, without what was waited for, for which it is to be found again. */
static int add_held(struct session *s, const struct sample *sample, const struct samples *one,
		    bool *ret_is_new)
{
	static const int64_t none[EVENT_MAX_VALUES];
	struct samples held = *one;

	held.values = none;
	held.count = 0;
	held.frames = innermost(s) + 1;
	if (session_wall_is_all(s, one->event)) {
		held.event = EVENT_WALL;
		held.source = EVENT_SOURCE_WALL;
	}
	int r = interval_add(s->interval, &held, ret_is_new);
	if (r == 0)
		session_hold(s, sample);
	return r;
}

int session_add_values(struct session *s, const struct wire_sample *head,
		       const struct samples *one)
{
	struct process *p = process_table_find(s->processes.table, head->pid);
	struct samples with = *one;
	bool is_new = false;

	with.frames = innermost(s) + 1;
	memcpy(innermost(s) + 1, one->frames,
	       ((size_t)one->n_kernel + one->n_user) * sizeof(*one->frames));
	return add_where_wanted(s, head, p, &with, &is_new);
}

/* What the thread compiles becomes its outermost frame. */
static int take_compiled(struct session *s, const struct sample *sample, struct process *p,
			 struct samples *one)
{
	const struct wire_runtime_frame f = { .function = sample->head->compiled,
					      .print = sample->head->compiled_print,
					      .position = UINT32_MAX };

	if (!f.function || one->n_user >= WIRE_MAX_USER_FRAMES)
		return 0;
	int r = session_code_frame(s, p, sample->head, &f,
				   innermost(s) + 1 + one->n_kernel + one->n_user);
	one->n_user += r == 0;
	return r;
}

/* NULL: it is not known, or not wanted. */
static const char *thread_name(struct session *s, const struct wire_sample *head)
{
	const struct code_key key = { .pid = head->pid,
				      .exec_id = head->exec_id,
				      .function = head->thread_name };
	const struct code_name *name =
		head->thread_name ? code_names_find(s->runtimes.code_names, &key) : NULL;

	return name ? name->function : NULL;
}

static int add_once(struct session *s, const struct sample *sample, struct process *p,
		    struct labels *labels, bool *ret_is_new)
{
	int64_t values[EVENT_MAX_VALUES];
	struct samples one = {
		.labels = labels,
		.event = sample->head->record.event,
		.source = sample->head->record.source,
		.values = values,
		.n_kernel = sample->n_kernel,
		.n_user = (uint16_t)s->stacks.user.n,
		.count = 1,
		.reason = sample->head->reason,
		.pid = p->pid,
		.comm = s->interval->tagging.comm != COMM_NONE
				? process_identity(s->processes.table, p)->comm
				: NULL,
		.thread = thread_name(s, sample->head),
		.tier = sample->head->tier,
	};
	int r = take_frames(s, sample, p);

	if (r == 0)
		r = take_compiled(s, sample, p, &one);

	values_of(s->interval, sample->head, values);
	if (r == 0 && sample->connection)
		r = take_connection(s, sample, p);
	if (r < 0)
		return r;
	if (sample->head->flags & WIRE_HELD)
		return add_held(s, sample, &one, ret_is_new);
	r = add_where_wanted(s, sample->head, p, &one, ret_is_new);
	if (r == 0 && one.event == EVENT_BLOCK_IO)
		session_io_begin(s, sample);
	return r;
}

/* The interval has used up its memory: it goes out early, and who was undecided in it may not be any more. */
static int add_to_next(struct session *s, const struct sample *sample, struct process *p,
		       bool *ret_is_new)
{
	struct labels *labels = NULL;
	int r = session_close_interval(s);

	if (r < 0)
		return r;
	r = session_decide(s, p, sample->head->cgroup_id, &labels);
	if (r < 0)
		return r;
	if (!labels) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_no_target, 1);
		return 0;
	}
	return add_once(s, sample, p, labels, ret_is_new);
}

void session_add_sample(struct session *s, const struct sample *sample, struct process *p,
			struct labels *labels)
{
	bool is_new = false;

	if (!(sample->head->flags & WIRE_HELD))
		s->stacks.waker = session_waker_of(s, sample->head->record.event,
						   sample->head->values[WIRE_VALUE_WAKER]);
	int r = add_once(s, sample, p, labels, &is_new);
	/* Its frames are those of this interval. */
	free(TAKE_PTR(s->stacks.waker));
	if (r < 0)
		r = add_to_next(s, sample, p, &is_new);
	if (r < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory, 1);
	else if (is_new)
		keep_files(s, p, sample->head->generation);
}

void session_add_waker(struct session *s, const struct sample *sample, struct process *p)
{
	int r = take_frames(s, sample, p);

	if (r == 0)
		r = session_keep_waker(s, sample, p, innermost(s) + 1,
				       (size_t)sample->n_kernel + s->stacks.user.n);
	if (r < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_wakers_unused, 1);
	else
		keep_files(s, p, sample->head->generation);
}
