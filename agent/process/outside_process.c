/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that have no number in our pid namespace. */
#include "agent/process/outside_process.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/process_private.h"

/* U+FFFD is three bytes. */
#define UTF8_WORST 3
/* No control group has this number: kernfs counts from 1. */
#define KERNEL_THREADS 0

struct outside_process {
	struct hash_node node;	 /* by cgroup_id */
	struct list lru;	 /* the least recently sampled first */
	uint64_t cgroup_id;	 /* KERNEL_THREADS: all of them */
	struct process *process; /* a reference */
};

struct outside_processes {
	struct outside_processes_options options;
	struct hash_table by_cgroup;
	struct list lru;
};

int outside_processes_new(const struct outside_processes_options *o,
			  struct outside_processes **ret_outside_processes)
{
	struct outside_processes *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	if (s->options.max == 0)
		s->options.max = OUTSIDE_PROCESSES_MAX;
	list_init(&s->lru);
	*ret_outside_processes = s;
	return 0;
}

static void outside_process_free(struct outside_process *one)
{
	if (one->process)
		process_unref(one->process);
	free(one);
}

static void forget(struct outside_processes *s, struct outside_process *one)
{
	hash_remove(&s->by_cgroup, &one->node);
	list_remove(&one->lru);
	if (s->options.on_forget)
		s->options.on_forget(one->process, s->options.data);
	outside_process_free(one);
}

void outside_processes_free(struct outside_processes *s)
{
	if (!s)
		return;
	LIST_FOREACH (&s->lru, node)
		forget(s, LIST_ENTRY(node, struct outside_process, lru));
	hash_fini(&s->by_cgroup);
	free(s);
}

static struct outside_process *find(const struct outside_processes *s, uint64_t cgroup_id)
{
	HASH_FOREACH_MATCH (&s->by_cgroup, hash_u64(cgroup_id), node) {
		struct outside_process *one = CONTAINER_OF(node, struct outside_process, node);

		if (one->cgroup_id == cgroup_id)
			return one;
	}
	return NULL;
}

/* Freed with the identity. Without memory it stays what it is. */
static void set_text(char **text, struct str s)
{
	size_t room = s.n * UTF8_WORST + 1;
	char *copy = malloc(room);

	if (!copy)
		return;
	str_copy_utf8(copy, room, s);
	*text = copy;
}

/* As a line of /proc/PID/cgroup, which is what control groups are read from. */
static void learn_cgroup(struct cgroup_tree *tree, uint64_t cgroup_id, struct process_identity *id)
{
	_cleanup_buf_ struct buf line = BUF_INIT(PATH_MAX + sizeof("0::"));
	struct str path;

	(void)buf_append_str(&line, "0::");
	size_t begin = line.len;
	if (cgroup_tree_path(tree, cgroup_id, &line) < 0)
		return;
	cgroup_parse((struct str){ line.data, line.len }, &id->cgroup);
	path = (struct str){ line.data + begin, line.len - begin };
	set_text(&id->cgroup_path, path);
}

static struct process *process_make(const struct outside_processes *s, uint64_t cgroup_id)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->n_refs = 1;
	p->cgroup_id = cgroup_id;
	list_init(&p->lru);
	process_identity_init(&p->identity);
	p->identity_loaded = true;
	p->identity.kernel_thread = cgroup_id == KERNEL_THREADS;
	if (!p->identity.kernel_thread)
		set_text(&p->identity.comm, STR_LIT(OUTSIDE_PROCESS_NAME));
	if (!p->identity.kernel_thread && s->options.tree)
		learn_cgroup(s->options.tree, cgroup_id, &p->identity);
	return p;
}

static struct outside_process *add(struct outside_processes *s, uint64_t cgroup_id)
{
	struct outside_process *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->cgroup_id = cgroup_id;
	one->process = process_make(s, cgroup_id);
	if (!one->process || hash_insert(&s->by_cgroup, &one->node, hash_u64(cgroup_id)) < 0) {
		outside_process_free(one);
		return NULL;
	}
	list_push_back(&s->lru, &one->lru);
	if (s->by_cgroup.n > s->options.max)
		forget(s, LIST_ENTRY(s->lru.next, struct outside_process, lru));
	return one;
}

struct process *outside_processes_get(struct outside_processes *s, uint64_t cgroup_id,
				      bool kernel_thread)
{
	uint64_t id = kernel_thread ? KERNEL_THREADS : cgroup_id;
	struct outside_process *one = find(s, id);

	if (!kernel_thread)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_outside_pid_namespace, 1);
	if (!one)
		return (one = add(s, id)) ? one->process : NULL;
	list_remove(&one->lru);
	list_push_back(&s->lru, &one->lru);
	return one->process;
}
