/* SPDX-License-Identifier: Apache-2.0 */
/* A sample becomes a part of the open interval: of its event's profile, of that of wall-clock time (wall.h), or of both. */
#include "agent/profile/session_private.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

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

static int add_part(struct session *s, const struct samples *part, uint32_t reason,
		    bool *ret_is_new)
{
	struct samples with = *part;
	bool is_new = false;

	with.frames = session_put_what(s, &with, reason);
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
	held.frames = session_frames(s);
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

	with.frames = session_frames(s);
	memcpy(session_frames(s), one->frames,
	       ((size_t)one->n_kernel + one->n_user) * sizeof(*one->frames));
	return add_where_wanted(s, head, p, &with, &is_new);
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
	int r = session_take_frames(s, sample, p);

	if (r == 0)
		r = session_take_compiled(s, sample, p, &one);

	values_of(s->interval, sample->head, values);
	if (r == 0 && sample->connection)
		r = session_take_connection(s, sample, p);
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
		session_keep_files(s, p, sample->head->generation);
}

void session_add_waker(struct session *s, const struct sample *sample, struct process *p)
{
	int r = session_take_frames(s, sample, p);

	if (r == 0)
		r = session_keep_waker(s, sample, p, session_frames(s),
				       (size_t)sample->n_kernel + s->stacks.user.n);
	if (r < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_wakers_unused, 1);
	else
		session_keep_files(s, p, sample->head->generation);
}
