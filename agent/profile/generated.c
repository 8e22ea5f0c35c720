/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in code that processes make at run time, as an interval keeps them.
 *
 * What a process tells of its code is read when the interval is over, by the worker. Until then two things are kept with an address: which
 * files tell it, also those that are not there yet, and how much they told, for addresses that are used again. That makes more stacks
 * than there are, so it ends where the interval gets full: equal places are one then.
 */
#include "agent/profile/session_private.h"

/* Of an interval's memory; what is left is for stacks. */
#define ROOM_SHARE 4
/* Intervals without files of names, since an exec, that a process is waited for. Who tells at all does so when it begins to generate. */
#define MAX_WAITS 2

static bool has_room(const struct session *s)
{
	return s->interval->arena.used_bytes < s->interval->arena.max_bytes / ROOM_SHARE;
}

static void stop_waiting(struct process_state *k)
{
	jit_files_unref(k->jit_wait);
	k->jit_wait = NULL;
	list_remove(&k->waiting);
}

static void forget(struct process_state *k)
{
	stop_waiting(k);
	jit_files_unref(k->jit);
	k->jit = NULL;
	k->jit_round = 0;
	k->n_jit_waits = 0;
}

/* Looked for at the first sample in memory without a file, and at the first one of each interval again: they may be others by now. */
static struct jit_files *jit_of(struct session *s, struct process *p, struct process_state *k)
{
	if (k->jit_interval != s->intervals.n_closed + 1 || k->jit_exec != p->exec_count) {
		if (k->jit_exec != p->exec_count)
			forget(k);
		jit_files_refresh(s->processes.table, p, &k->jit);
		k->jit_round = 0;
		k->jit_interval = s->intervals.n_closed + 1;
		k->jit_exec = p->exec_count;
	}
	if (k->jit || k->jit_wait)
		return k->jit ? k->jit : k->jit_wait;
	if (k->n_jit_waits < MAX_WAITS && jit_files_wait(s->processes.table, &k->jit_wait) == 0)
		list_push_back(&s->waiting, &k->waiting);
	return k->jit_wait;
}

/* Once a round of samples, however many there are. */
static struct jit_moment moment_of(const struct session *s, struct process_state *k,
				   const struct jit_files *jit, uint64_t time_ns)
{
	if (k->jit_round != s->reading.n_rounds) {
		k->jit_moment = jit_files_moment(jit, time_ns);
		k->jit_round = s->reading.n_rounds;
	}
	return k->jit_moment;
}

int session_anon_frame(struct session *s, struct process *p, uint64_t pc, uint64_t time_ns,
		       struct frame_ref *ret_frame)
{
	const struct mapping *m = mappings_find(p->mappings, pc);
	struct anon_place place = { .memory = m ? m->name : NULL };
	struct process_state *k = p->user;

	place.jit = jit_of(s, p, k);
	if (place.jit && place.jit == k->jit_wait && !has_room(s))
		place.jit = NULL;
	if (place.jit)
		place.pc = pc;
	if (place.jit && has_room(s))
		place.at = moment_of(s, k, place.jit, time_ns);
	return interval_anon_frame(s->interval, &place, ret_frame);
}

void session_look_for_names(struct session *s)
{
	LIST_FOREACH (&s->waiting, node) {
		struct process_state *k = LIST_ENTRY(node, struct process_state, waiting);

		if (jit_files_arrive(s->processes.table, k->process, k->jit_wait) && !k->jit)
			k->jit = jit_files_ref(k->jit_wait);
		else
			k->n_jit_waits++;
		stop_waiting(k);
	}
}
