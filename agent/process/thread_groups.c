/* SPDX-License-Identifier: Apache-2.0 */
/* Which process has ended, told from exits of threads. */
#include "agent/process/thread_groups.h"

#include <errno.h>

#include "agent/process/proc.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

struct thread_group {
	struct hash_node node;
	struct list recheck; /* in thread_groups.rechecks while rechecks are due */
	uint64_t exit_ns;    /* of the exit that is to be rechecked */
	uint32_t pid;
	uint32_t n_threads;	 /* 0: not known, and the leader has exited */
	unsigned int n_rechecks; /* made */
};

struct thread_groups {
	const char *proc_root;
	size_t max;
	struct hash_table by_pid;
	struct list rechecks;
};

int thread_groups_new(const char *proc_root, size_t max, struct thread_groups **ret_thread_groups)
{
	struct thread_groups *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->proc_root = proc_root;
	t->max = max;
	list_init(&t->rechecks);
	*ret_thread_groups = t;
	return 0;
}

static struct thread_group *group_find(struct thread_groups *t, uint32_t pid)
{
	HASH_FOREACH_MATCH (&t->by_pid, hash_u64(pid), node) {
		struct thread_group *group = CONTAINER_OF(node, struct thread_group, node);

		if (group->pid == pid)
			return group;
	}
	return NULL;
}

static void group_end(struct thread_groups *t, struct thread_group *group)
{
	hash_remove(&t->by_pid, &group->node);
	list_remove(&group->recheck);
	free(group);
}

/* Found or made, with no recheck due; NULL when the table is full. */
static struct thread_group *group_get(struct thread_groups *t, uint32_t pid)
{
	struct thread_group *group = group_find(t, pid);

	if (group) {
		list_remove(&group->recheck);
		return group;
	}
	if (t->by_pid.n >= t->max)
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->pid = pid;
	list_init(&group->recheck);
	if (hash_insert(&t->by_pid, &group->node, hash_u64(pid)) < 0) {
		free(group);
		return NULL;
	}
	return group;
}

void thread_groups_forget(struct thread_groups *t)
{
	HASH_FOREACH (&t->by_pid, node)
		group_end(t, CONTAINER_OF(node, struct thread_group, node));
}

void thread_groups_free(struct thread_groups *t)
{
	if (!t)
		return;
	thread_groups_forget(t);
	hash_fini(&t->by_pid);
	free(t);
}

void thread_groups_fork(struct thread_groups *t, uint32_t pid)
{
	struct thread_group *group = group_get(t, pid);

	if (group)
		group->n_threads = 1;
}

void thread_groups_exec(struct thread_groups *t, uint32_t pid)
{
	thread_groups_fork(t, pid);
}

void thread_groups_thread_start(struct thread_groups *t, uint32_t pid)
{
	struct thread_group *group = group_find(t, pid);

	if (group && group->n_threads > 0)
		group->n_threads++;
}

/* An uncounted process: /proc knows, later. Its entry stays while it lives on without its leader,
 * so that exits of its other threads are looked at. */
static bool recheck_later(struct thread_groups *t, uint32_t pid, uint64_t time_ns)
{
	struct thread_group *group = group_get(t, pid);

	if (!group)
		return proc_has_ended(t->proc_root, pid, time_ns);
	group->n_threads = 0;
	group->exit_ns = time_ns;
	group->n_rechecks = 0;
	list_push_back(&t->rechecks, &group->recheck);
	return false;
}

bool thread_groups_thread_exit(struct thread_groups *t, uint32_t pid, uint32_t tid,
			       uint64_t time_ns)
{
	struct thread_group *group = group_find(t, pid);

	if (group && group->n_threads > 0) {
		if (--group->n_threads > 0)
			return false;
		group_end(t, group);
		return true;
	}
	return group || tid == pid ? recheck_later(t, pid, time_ns) : false;
}

static uint64_t recheck_due_ns(const struct thread_group *group)
{
	uint64_t delay_ns = THREAD_GROUPS_RECHECK_NS;

	for (unsigned int i = 0; i < group->n_rechecks; i++)
		delay_ns *= 10;
	return group->exit_ns + delay_ns;
}

void thread_groups_recheck(struct thread_groups *t, uint64_t now_ns,
			   void (*fn)(uint32_t pid, void *data), void *data)
{
	LIST_FOREACH (&t->rechecks, node) {
		struct thread_group *group = LIST_ENTRY(node, struct thread_group, recheck);
		uint32_t pid = group->pid;

		if (now_ns < recheck_due_ns(group))
			continue;
		if (proc_has_ended(t->proc_root, pid, group->exit_ns)) {
			group_end(t, group);
			fn(pid, data);
		} else if (++group->n_rechecks == THREAD_GROUPS_RECHECKS) {
			list_remove(&group->recheck);
		}
	}
}

size_t thread_groups_n(const struct thread_groups *t)
{
	return t->by_pid.n;
}
