/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which series the samples of a process go to.
 *
 * The answer may take a moment: a container engine reports a container a little after its start. Until then the samples of such a process are
 * kept under a placeholder, a label set of its own for each process. A series replaces the placeholder before the interval is delivered.
 */
#include "agent/profile/session_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/util/macro.h"

/* As many at once; each keeps a process, some KiB. The interval is closed early when there are more. */
#define MAX_UNDECIDED 2048

/* A process may be undecided more than once in an interval, after an exec of another program. */
struct undecided {
	struct list node;
	struct process *process;    /* a reference */
	struct labels *placeholder; /* a reference */
	struct labels *labels;	    /* a reference: what it turned out to be; NULL: not known yet */
};

static void undecided_free(struct undecided *u)
{
	struct process_state *k = u->process->user;

	if (k && k->undecided == u) {
		k->undecided = NULL;
		k->decided = false;
	}
	list_remove(&u->node);
	labels_unref(u->placeholder);
	labels_unref(u->labels);
	process_unref(u->process);
	free(u);
}

/* UINT64_MAX has 20 digits. */
#define NUMBER_BYTES 21

/* Equal to no other set: names of series are never like this. */
static int placeholder_new(const struct undecided *u, struct labels **ret_labels)
{
	char who[NUMBER_BYTES];

	(void)snprintf(who, sizeof(who), "%" PRIuPTR, (uintptr_t)u);
	return labels_new(&(struct label){ "__undecided__", who }, 1, ret_labels);
}

static int undecided_new(struct session *s, struct process *p, struct undecided **ret_undecided)
{
	struct undecided *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	list_init(&u->node);
	int r = placeholder_new(u, &u->placeholder);
	if (r < 0) {
		free(u);
		return r;
	}
	u->process = process_ref(p);
	list_push_back(&s->matching.undecided, &u->node);
	s->matching.n_undecided++;
	*ret_undecided = u;
	return 0;
}

/* After an exec it is somebody else. */
static int decide_later(struct session *s, struct process *p, struct process_state *k,
			struct labels **ret_labels)
{
	struct undecided *u = k->exec_count == p->exec_count ? k->undecided : NULL;
	int r = u ? 0 : undecided_new(s, p, &u);

	if (r < 0)
		return r;
	k->undecided = u;
	*ret_labels = labels_ref(u->placeholder);
	return 0;
}

static int decide(struct session *s, struct process *p, struct process_state *k)
{
	struct labels *labels = NULL;
	int r = s->options.hooks.match(s->processes.table, p, s->options.hooks.data, &labels);

	if (r == SESSION_LATER) {
		labels_unref(TAKE_PTR(labels));
		r = decide_later(s, p, k, &labels);
	} else if (r >= 0) {
		k->undecided = NULL;
	}
	if (r < 0)
		return r;
	labels_unref(k->labels);
	k->labels = labels;
	k->decided = true;
	k->exec_count = p->exec_count;
	k->epoch = s->matching.epoch;
	return 0;
}

/* A refusal is of one process in one control group: who is moved is asked for again. Those without a number cannot be told apart there. */
static void tell_kernel(struct session *s, struct process *p, struct process_state *k,
			uint64_t cgroup_id)
{
	if (k->labels) {
		k->refused = false;
	} else if (!k->exited && p->pid &&
		   tables_refuse(s->unwind.tables, p->pid, cgroup_id) == 0) {
		k->refused = true;
		k->published = true;
	}
}

int session_decide(struct session *s, struct process *p, uint64_t cgroup_id,
		   struct labels **ret_labels)
{
	struct process_state *k = process_state_get(p);
	bool is_current =
		k && k->decided && k->exec_count == p->exec_count && k->epoch == s->matching.epoch;
	int r = is_current ? 0 : k ? decide(s, p, k) : -ENOMEM;

	if (r < 0)
		return r;
	tell_kernel(s, p, k, cgroup_id);
	*ret_labels = k->labels;
	return 0;
}

static void drop(struct session *s, struct series *series)
{
	telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_no_target,
			interval_drop(s->interval, series));
}

/* Nobody has said anything: another interval, if there is one. */
static void carry(struct session *s, struct series *series, struct interval *next)
{
	uint64_t n_carried;

	(void)interval_carry(next, s->interval, series, &n_carried);
	telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory,
			interval_drop(s->interval, series) - n_carried);
}

static void settle_series(struct session *s, struct series *series, struct labels *labels)
{
	if (!labels)
		drop(s, series);
	else if (interval_relabel(s->interval, series, labels) < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory,
				interval_drop(s->interval, series));
}

static int match_again(struct session *s, const struct undecided *u, struct labels **ret_labels)
{
	*ret_labels = NULL;
	return s->options.hooks.match(s->processes.table, u->process, s->options.hooks.data,
				      ret_labels);
}

/* Targets are others now: for some it is the answer, and may be gone again when the interval closes, as the process may be. */
static void match_undecided(struct session *s)
{
	LIST_FOREACH (&s->matching.undecided, node) {
		struct undecided *u = LIST_ENTRY(node, struct undecided, node);
		struct labels *labels = NULL;

		if (u->labels)
			continue;
		if (match_again(s, u, &labels) == 0)
			u->labels = TAKE_PTR(labels);
		labels_unref(labels);
	}
}

void session_rematch(struct session *s)
{
	s->matching.epoch++;
	tables_forgive(s->unwind.tables);
	match_undecided(s);
}

/* True when it is decided now. */
static bool settle(struct session *s, struct undecided *u, struct interval *next)
{
	bool later = !u->labels && match_again(s, u, &u->labels) == SESSION_LATER && next;

	for (uint16_t source = 0; source < EVENT_ALL_SOURCES; source++) {
		struct series *series = interval_series(s->interval, u->placeholder, source);

		if (series && later)
			carry(s, series, next);
		else if (series)
			settle_series(s, series, u->labels);
	}
	if (later)
		labels_unref(TAKE_PTR(u->labels));
	return !later;
}

bool session_is_full_of_undecided(const struct session *s)
{
	return s->matching.n_undecided >= MAX_UNDECIDED;
}

void session_settle_undecided(struct session *s, struct interval *next)
{
	LIST_FOREACH (&s->matching.undecided, node) {
		struct undecided *u = LIST_ENTRY(node, struct undecided, node);

		if (settle(s, u, next))
			undecided_free(u);
	}
	s->matching.n_undecided = 0;
}

void session_forget_undecided(struct session *s)
{
	LIST_FOREACH (&s->matching.undecided, node)
		undecided_free(LIST_ENTRY(node, struct undecided, node));
}
