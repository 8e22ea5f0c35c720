/* SPDX-License-Identifier: Apache-2.0 */
/* Which process has ended, told from exits of threads. */
#include "agent/process/thread_groups.h"

#include <errno.h>

#include "agent/process/proc.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

struct life {
	struct hash_node node;
	struct list doubt; /* in lives.doubts while rechecks are due */
	uint64_t exit_ns;  /* of the exit that is in doubt */
	uint32_t pid;
	uint32_t n_threads;    /* 0: not known, and the leader has exited */
	unsigned int rechecks; /* made */
};

struct thread_groups {
	const char *proc_root;
	size_t max;
	struct hash_table by_pid;
	struct list doubts;
};

int thread_groups_new(const char *proc_root, size_t max, struct thread_groups **ret_thread_groups)
{
	struct thread_groups *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->proc_root = proc_root;
	l->max = max;
	list_init(&l->doubts);
	*ret_thread_groups = l;
	return 0;
}

static struct life *life_find(struct thread_groups *l, uint32_t pid)
{
	HASH_FOREACH_MATCH (&l->by_pid, hash_u64(pid), node) {
		struct life *life = CONTAINER_OF(node, struct life, node);

		if (life->pid == pid)
			return life;
	}
	return NULL;
}

static void life_end(struct thread_groups *l, struct life *life)
{
	hash_remove(&l->by_pid, &life->node);
	list_remove(&life->doubt);
	free(life);
}

/* Found or made, never in doubt; NULL when the table is full. */
static struct life *life_get(struct thread_groups *l, uint32_t pid)
{
	struct life *life = life_find(l, pid);

	if (life) {
		list_remove(&life->doubt);
		return life;
	}
	if (l->by_pid.n >= l->max)
		return NULL;
	life = calloc(1, sizeof(*life));
	if (!life)
		return NULL;
	life->pid = pid;
	list_init(&life->doubt);
	if (hash_insert(&l->by_pid, &life->node, hash_u64(pid)) < 0) {
		free(life);
		return NULL;
	}
	return life;
}

void thread_groups_forget(struct thread_groups *l)
{
	HASH_FOREACH (&l->by_pid, node)
		life_end(l, CONTAINER_OF(node, struct life, node));
}

void thread_groups_free(struct thread_groups *l)
{
	if (!l)
		return;
	thread_groups_forget(l);
	hash_fini(&l->by_pid);
	free(l);
}

void thread_groups_fork(struct thread_groups *l, uint32_t pid)
{
	struct life *life = life_get(l, pid);

	if (life)
		life->n_threads = 1;
}

void thread_groups_exec(struct thread_groups *l, uint32_t pid)
{
	thread_groups_fork(l, pid);
}

void thread_groups_thread_start(struct thread_groups *l, uint32_t pid)
{
	struct life *life = life_find(l, pid);

	if (life && life->n_threads > 0)
		life->n_threads++;
}

/* An uncounted process: /proc knows, later. Its entry stays while it lives on without its leader,
 * so that exits of its other threads are looked at. */
static bool put_in_doubt(struct thread_groups *l, uint32_t pid, uint64_t time_ns)
{
	struct life *life = life_get(l, pid);

	if (!life)
		return proc_has_ended(l->proc_root, pid, time_ns);
	life->n_threads = 0;
	life->exit_ns = time_ns;
	life->rechecks = 0;
	list_push_back(&l->doubts, &life->doubt);
	return false;
}

bool thread_groups_thread_exit(struct thread_groups *l, uint32_t pid, uint32_t tid,
			       uint64_t time_ns)
{
	struct life *life = life_find(l, pid);

	if (life && life->n_threads > 0) {
		if (--life->n_threads > 0)
			return false;
		life_end(l, life);
		return true;
	}
	return life || tid == pid ? put_in_doubt(l, pid, time_ns) : false;
}

static uint64_t recheck_due_ns(const struct life *life)
{
	uint64_t delay_ns = THREAD_GROUPS_RECHECK_NS;

	for (unsigned int i = 0; i < life->rechecks; i++)
		delay_ns *= 10;
	return life->exit_ns + delay_ns;
}

void thread_groups_recheck(struct thread_groups *l, uint64_t now_ns,
			   void (*fn)(uint32_t pid, void *data), void *data)
{
	LIST_FOREACH (&l->doubts, node) {
		struct life *life = LIST_ENTRY(node, struct life, doubt);
		uint32_t pid = life->pid;

		if (now_ns < recheck_due_ns(life))
			continue;
		if (proc_has_ended(l->proc_root, pid, life->exit_ns)) {
			life_end(l, life);
			fn(pid, data);
		} else if (++life->rechecks == THREAD_GROUPS_RECHECKS) {
			list_remove(&life->doubt);
		}
	}
}

size_t thread_groups_n(const struct thread_groups *l)
{
	return l->by_pid.n;
}
