/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of `discovery.process`. */
#include "agent/target/discovery_process.h"

#include <string.h>

#include "agent/target/container_join.h"
#include "agent/target/selector.h"
#include "agent/target/username.h"
#include "agent/util/macro.h"

/* A process that was looked at. */
struct found {
	uint32_t pid;
	uint32_t exec_count; /* of the table that told of it */
	uint64_t start_ns;
	struct labels *labels; /* NULL: it is no target (a kernel thread) */
	struct labels *joined; /* NULL: to be made */
	const struct labels *container; /* what it was joined with, or NULL; borrowed from `joined` */
	bool sampled;	       /* the sampler told of it: more than a scan sees */
	bool listed;	       /* by /proc, in the scan that is under way */
	bool told;	       /* as it is here, to those who use the targets */
	bool gone;	       /* stays until it was told */
};

struct discovery_process {
	struct discover_config config;
	struct process_table *processes;
	struct username_cache usernames;
	struct container_join join;
	struct found *
		found; /* ascending by pid and start: those that had the pid before may be untold yet */
	size_t n_found;
	size_t cap_found;
	size_t n_skipped;
};

int discovery_process_new(const struct discover_config *config, struct process_table *processes,
			  struct discovery_process **ret_discovery)
{
	_cleanup_(discovery_process_freep) struct discovery_process *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->config = *config;
	d->processes = processes;
	username_cache_init(&d->usernames);
	int r = container_join_init(&d->join, NULL, 0);
	if (r < 0)
		return r;
	*ret_discovery = TAKE_PTR(d);
	return 0;
}

static void found_fini(struct found *f)
{
	labels_unref(f->labels);
	labels_unref(f->joined);
}

void discovery_process_free(struct discovery_process *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_found; i++)
		found_fini(&d->found[i]);
	free(d->found);
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

static void found_unjoin(struct found *f)
{
	labels_unref(f->joined);
	f->joined = NULL;
	f->container = NULL;
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
	for (size_t i = 0; i < d->n_found; i++)
		if (!is_joined(d, &d->found[i]))
			found_unjoin(&d->found[i]);
	return 0;
}

/* Where the process is, or belongs. */
static size_t found_place(const struct discovery_process *d, uint32_t pid, uint64_t start_ns)
{
	size_t low = 0, high = d->n_found;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct found *f = &d->found[mid];

		if (f->pid < pid || (f->pid == pid && f->start_ns < start_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool found_at(const struct discovery_process *d, size_t at, uint32_t pid)
{
	return at < d->n_found && d->found[at].pid == pid;
}

/* The process, or NULL. Two tables may have its start a little apart. */
static struct found *found_find(struct discovery_process *d, uint32_t pid, uint64_t start_ns)
{
	uint64_t from_ns = start_ns - MIN_OF(start_ns, (uint64_t)SELECTOR_START_SLACK_NS);
	size_t at = found_place(d, pid, from_ns);

	return found_at(d, at, pid) && d->found[at].start_ns <= start_ns + SELECTOR_START_SLACK_NS
		       ? &d->found[at]
		       : NULL;
}

static int reserve_found(struct discovery_process *d)
{
	size_t cap = MAX_OF(d->cap_found * 2, (size_t)64);

	if (d->n_found < d->cap_found)
		return 0;
	struct found *grown = realloc(d->found, cap * sizeof(grown[0]));
	if (!grown)
		return -ENOMEM;
	d->found = grown;
	d->cap_found = cap;
	return 0;
}

static void found_remove(struct discovery_process *d, size_t at)
{
	found_fini(&d->found[at]);
	d->n_found--;
	memmove(&d->found[at], &d->found[at + 1], (d->n_found - at) * sizeof(d->found[0]));
}

/* Consumes the labels of `f`, also when it fails. */
static int found_insert(struct discovery_process *d, size_t at, struct found *f)
{
	if (d->n_found >= DISCOVERY_PROCESS_MAX) {
		d->n_skipped++;
		found_fini(f);
		return DISCOVERY_SAME;
	}
	int r = reserve_found(d);
	if (r < 0) {
		found_fini(f);
		return r;
	}
	memmove(&d->found[at + 1], &d->found[at], (d->n_found - at) * sizeof(d->found[0]));
	d->found[at] = *f;
	d->n_found++;
	return f->labels ? DISCOVERY_CHANGED : DISCOVERY_SAME;
}

static int found_replace(struct found *old, struct found *f)
{
	bool same = old->labels == f->labels ||
		    (old->labels && f->labels && labels_equal(old->labels, f->labels));

	f->told = same && old->told;
	found_fini(old);
	*old = *f;
	return same ? DISCOVERY_SAME : DISCOVERY_CHANGED;
}

static int make_labels(struct discovery_process *d, struct process_table *processes,
		       struct process *p, struct labels **ret_labels)
{
	const struct process_identity *id = process_identity(processes, p);

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
	struct found *known = found_find(d, p->pid, p->start_ns);

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
		return found_insert(d, found_place(d, p->pid, p->start_ns), &fresh);
	fresh.gone = known->gone;
	return found_replace(known, &fresh);
}

int discovery_process_on_sample(struct discovery_process *d, struct process_table *processes,
				struct process *p)
{
	int r = look_at_process(d, processes, p, true);
	const struct found *f = r < 0 ? NULL : found_find(d, p->pid, p->start_ns);

	return f && f->labels && !f->told ? DISCOVERY_CHANGED : r;
}

/* The sampler knows of one that lives whatever there is to know, and tells of its exec and exit. */
static struct found *find_sampled(struct discovery_process *d, uint32_t pid)
{
	for (size_t at = found_place(d, pid, 0); found_at(d, at, pid); at++)
		if (d->found[at].sampled && !d->found[at].gone)
			return &d->found[at];
	return NULL;
}

static int look_at(struct discovery_process *d, uint32_t pid)
{
	struct found *f = find_sampled(d, pid);
	int r = DISCOVERY_SAME;

	if (!f) {
		struct process *p = process_table_get(d->processes, pid, NULL);

		r = p ? look_at_process(d, d->processes, p, false) : -ENOMEM;
		f = r < 0 ? NULL : found_find(d, pid, p->start_ns);
	}
	if (f)
		f->listed = true;
	return r;
}

/* Forgets those that are not listed, unless they have ended untold. */
static int keep_listed(struct discovery_process *d)
{
	int outcome = DISCOVERY_SAME;
	size_t kept = 0;

	for (size_t i = 0; i < d->n_found; i++) {
		struct found *f = &d->found[i];

		if (f->listed || (f->gone && f->labels && !f->told)) {
			f->listed = false;
			d->found[kept++] = *f;
			continue;
		}
		if (f->labels)
			outcome = DISCOVERY_CHANGED;
		found_fini(f);
	}
	d->n_found = kept;
	return outcome;
}

/* First of all: they make room. */
static int forget_ended(struct discovery_process *d, const uint32_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t at = found_place(d, pids[i], 0); found_at(d, at, pids[i]); at++)
			d->found[at].listed = true;
	return keep_listed(d);
}

int discovery_process_scan(struct discovery_process *d)
{
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;
	int r = process_list_pids(d->processes, &pids, &n);

	if (r < 0)
		return r;
	d->n_skipped = 0;
	int outcome = forget_ended(d, pids, n);
	for (size_t i = 0; i < n; i++) {
		r = look_at(d, pids[i]);
		if (r < 0)
			return r;
		outcome = MAX_OF(outcome, r);
	}
	/* Who had the pid of another one before. */
	r = keep_listed(d);
	return MAX_OF(outcome, r);
}

void discovery_process_on_exit(struct discovery_process *d, uint32_t pid)
{
	for (size_t at = found_place(d, pid, 0); found_at(d, at, pid);) {
		struct found *f = &d->found[at];

		f->gone = true;
		if (f->labels && !f->told)
			at++;
		else
			found_remove(d, at);
	}
}

void discovery_process_told(struct discovery_process *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_found; i++) {
		struct found *f = &d->found[i];

		if (f->gone && f->told) {
			found_fini(f);
			continue;
		}
		f->told = true;
		d->found[kept++] = *f;
	}
	d->n_found = kept;
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
	size_t n_max = d->join.n + d->n_found, n;
	struct labels **targets = calloc(MAX_OF(n_max, (size_t)1), sizeof(targets[0]));
	struct labels *joined;
	int r;

	if (!targets)
		return -ENOMEM;
	n = append_join(&d->join, false, targets);
	for (size_t i = 0; i < d->n_found; i++) {
		if (!d->found[i].labels)
			continue;
		r = join_found(d, &d->found[i], &joined);
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
	return d->n_skipped;
}
