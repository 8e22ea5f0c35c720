/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of `discovery.process`. */
#include "agent/discovery/discovery_process.h"

#include <stdlib.h>

#include "agent/discovery/container_join.h"
#include "agent/discovery/found_processes.h"
#include "agent/discovery/username.h"
#include "agent/util/macro.h"

struct discovery_process {
	struct discover_config config;
	struct process_table *processes;
	struct username_cache usernames;
	struct container_join join;
	struct found_processes found;
};

int discovery_process_new(const struct discover_config *config, struct process_table *processes,
			  struct discovery_process **ret_discovery)
{
	_cleanup_(discovery_process_freep) struct discovery_process *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->config = *config;
	d->processes = processes;
	d->found.max = DISCOVERY_PROCESS_MAX;
	username_cache_init(&d->usernames);
	int r = container_join_init(&d->join, NULL, 0);
	if (r < 0)
		return r;
	*ret_discovery = TAKE_PTR(d);
	return 0;
}

void discovery_process_free(struct discovery_process *d)
{
	if (!d)
		return;
	found_processes_fini(&d->found);
	container_join_fini(&d->join);
	username_cache_fini(&d->usernames);
	free(d);
}

static struct labels *find_container(const struct discovery_process *d, const struct found *f)
{
	const char *id = labels_get(f->labels, "__container_id__");

	return id ? container_join_find(&d->join, id) : NULL;
}

/* As it would be joined now: of thousands of containers, one has changed. */
static bool is_joined(const struct discovery_process *d, const struct found *f)
{
	const struct labels *container = f->joined ? find_container(d, f) : NULL;

	if (!f->joined || !container || !f->container)
		return f->joined && !container && !f->container;
	return labels_equal(container, f->container);
}

int discovery_process_set_join(struct discovery_process *d, struct labels *const *join, size_t n)
{
	struct container_join fresh;

	if (n > DISCOVERY_JOIN_MAX)
		return -E2BIG;
	int r = container_join_init(&fresh, join, n);
	if (r < 0)
		return r;
	container_join_fini(&d->join);
	d->join = fresh;
	for (size_t i = 0; i < d->found.n; i++)
		if (!is_joined(d, &d->found.items[i]))
			found_unjoin(&d->found.items[i]);
	return 0;
}

static int make_labels(struct discovery_process *d, struct process_table *processes,
		       struct process *p, struct labels **ret_labels)
{
	const struct process_identity *id = process_identity_whole(processes, p);

	if (!process_target_wanted(id)) {
		*ret_labels = NULL;
		return 0;
	}
	const char *username = d->config.username ? username_get(&d->usernames, id->uid) : "";
	return process_target_labels(p, &d->config, username, ret_labels);
}

/* Whether its target is another one now. */
static int look_at_process(struct discovery_process *d, struct process_table *processes,
			   struct process *p, bool sampled)
{
	struct found *known = found_find(&d->found, p->pid, p->start_ns);

	if (known && known->exec_count == p->exec_count && known->sampled == sampled)
		return DISCOVERY_SAME;
	struct found fresh = { .pid = p->pid,
			       .exec_count = p->exec_count,
			       .start_ns = known ? known->start_ns : p->start_ns,
			       .sampled = sampled };
	int r = make_labels(d, processes, p, &fresh.labels);
	if (r < 0)
		return r;
	if (!known)
		return found_insert(&d->found, &fresh);
	fresh.gone = known->gone;
	return found_replace(known, &fresh);
}

int discovery_process_on_sample(struct discovery_process *d, struct process_table *processes,
				struct process *p)
{
	int r = look_at_process(d, processes, p, true);
	const struct found *f = r < 0 ? NULL : found_find(&d->found, p->pid, p->start_ns);

	return f && f->labels && !f->told ? DISCOVERY_CHANGED : r;
}

/* The sampler knows of one that lives whatever there is to know, and tells of its exec and exit. */
static struct found *find_sampled(struct discovery_process *d, uint32_t pid)
{
	for (size_t at = found_first(&d->found, pid); found_is_of(&d->found, at, pid); at++)
		if (d->found.items[at].sampled && !d->found.items[at].gone)
			return &d->found.items[at];
	return NULL;
}

static int look_at(struct discovery_process *d, uint32_t pid)
{
	struct found *f = find_sampled(d, pid);
	int r = DISCOVERY_SAME;

	if (!f) {
		struct process *p = process_table_get(d->processes, pid, NULL);

		r = p ? look_at_process(d, d->processes, p, false) : -ENOMEM;
		f = r < 0 ? NULL : found_find(&d->found, pid, p->start_ns);
	}
	if (f)
		f->listed = true;
	return r;
}

/* Who has ended untold stays, too. */
static bool keep_listed(struct found *f)
{
	bool keep = f->listed || (f->gone && f->labels && !f->told);

	f->listed = false;
	return keep;
}

/* First of all: they make room. */
static int forget_ended(struct discovery_process *d, const uint32_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t at = found_first(&d->found, pids[i]);
		     found_is_of(&d->found, at, pids[i]); at++)
			d->found.items[at].listed = true;
	return found_keep(&d->found, keep_listed);
}

int discovery_process_scan(struct discovery_process *d)
{
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;
	int r = process_list_pids(d->processes, &pids, &n);

	if (r < 0)
		return r;
	d->found.n_skipped = 0;
	int outcome = forget_ended(d, pids, n);
	for (size_t i = 0; i < n; i++) {
		r = look_at(d, pids[i]);
		if (r < 0)
			return r;
		outcome = MAX_OF(outcome, r);
	}
	/* Who had the pid of another one before. */
	r = found_keep(&d->found, keep_listed);
	return MAX_OF(outcome, r);
}

void discovery_process_on_exit(struct discovery_process *d, uint32_t pid)
{
	for (size_t at = found_first(&d->found, pid); found_is_of(&d->found, at, pid);) {
		struct found *f = &d->found.items[at];

		f->gone = true;
		if (f->labels && !f->told)
			at++;
		else
			found_remove(&d->found, at);
	}
}

static bool keep_told(struct found *f)
{
	bool keep = !f->gone || !f->told;

	f->told = true;
	return keep;
}

void discovery_process_told(struct discovery_process *d)
{
	(void)found_keep(&d->found, keep_told);
}

/* f->joined, borrowed; NULL in *ret_joined when the container's own target has to do. */
static int join_found(struct discovery_process *d, struct found *f, struct labels **ret_joined)
{
	if (!f->joined) {
		struct labels *container = find_container(d, f);
		int r = 0;

		if (container)
			r = labels_merge(f->labels, container, &f->joined);
		else
			f->joined = labels_ref(f->labels);
		if (r < 0 && r != -E2BIG)
			return r;
		f->container = f->joined ? container : NULL;
	}
	*ret_joined = f->joined;
	return 0;
}

static size_t append_join(const struct container_join *j, bool with_id, struct labels **at)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		if (!!j->items[i].id == with_id)
			at[n++] = labels_ref(j->items[i].labels);
	return n;
}

int discovery_process_targets(struct discovery_process *d, struct labels ***ret_targets,
			      size_t *ret_n)
{
	size_t n_max = d->join.n + d->found.n, n;
	struct labels **targets = calloc(MAX_OF(n_max, (size_t)1), sizeof(targets[0]));
	struct labels *joined;
	int r;

	if (!targets)
		return -ENOMEM;
	n = append_join(&d->join, false, targets);
	for (size_t i = 0; i < d->found.n; i++) {
		if (!d->found.items[i].labels)
			continue;
		r = join_found(d, &d->found.items[i], &joined);
		if (r < 0) {
			labels_array_free(targets, n);
			return r;
		}
		if (joined)
			targets[n++] = labels_ref(joined);
	}
	n += append_join(&d->join, true, targets + n);
	*ret_targets = targets;
	*ret_n = n;
	return 0;
}

size_t discovery_process_n_skipped(const struct discovery_process *d)
{
	return d->found.n_skipped;
}
