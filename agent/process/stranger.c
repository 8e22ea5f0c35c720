/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that have no number in our pid namespace. */
#include "agent/process/stranger.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/process_private.h"

/* U+FFFD is three bytes. */
#define UTF8_WORST 3
/* No control group has this number: kernfs counts from 1. */
#define KERNEL_THREADS 0

struct stranger {
	struct hash_node node;	 /* by cgroup_id */
	struct list lru;	 /* the least recently sampled first */
	uint64_t cgroup_id;	 /* KERNEL_THREADS: all of them */
	struct process *process; /* a reference */
};

struct strangers {
	struct strangers_options options;
	struct hash_table by_cgroup;
	struct list lru;
};

int strangers_new(const struct strangers_options *o, struct strangers **ret_strangers)
{
	struct strangers *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	if (s->options.max == 0)
		s->options.max = STRANGERS_MAX;
	list_init(&s->lru);
	*ret_strangers = s;
	return 0;
}

static void stranger_free(struct stranger *one)
{
	if (one->process)
		process_unref(one->process);
	free(one);
}

static void forget(struct strangers *s, struct stranger *one)
{
	hash_remove(&s->by_cgroup, &one->node);
	list_remove(&one->lru);
	if (s->options.on_forget)
		s->options.on_forget(one->process, s->options.data);
	stranger_free(one);
}

void strangers_free(struct strangers *s)
{
	if (!s)
		return;
	LIST_FOREACH (&s->lru, node)
		forget(s, LIST_ENTRY(node, struct stranger, lru));
	hash_fini(&s->by_cgroup);
	free(s);
}

static struct stranger *find(const struct strangers *s, uint64_t cgroup_id)
{
	HASH_FOREACH_MATCH (&s->by_cgroup, hash_u64(cgroup_id), node) {
		struct stranger *one = CONTAINER_OF(node, struct stranger, node);

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

static struct process *process_make(const struct strangers *s, uint64_t cgroup_id)
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
		set_text(&p->identity.comm, STR_LIT(STRANGER_NAME));
	if (!p->identity.kernel_thread && s->options.tree)
		learn_cgroup(s->options.tree, cgroup_id, &p->identity);
	return p;
}

static struct stranger *add(struct strangers *s, uint64_t cgroup_id)
{
	struct stranger *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->cgroup_id = cgroup_id;
	one->process = process_make(s, cgroup_id);
	if (!one->process || hash_insert(&s->by_cgroup, &one->node, hash_u64(cgroup_id)) < 0) {
		stranger_free(one);
		return NULL;
	}
	list_push_back(&s->lru, &one->lru);
	if (s->by_cgroup.n > s->options.max)
		forget(s, LIST_ENTRY(s->lru.next, struct stranger, lru));
	return one;
}

struct process *strangers_get(struct strangers *s, uint64_t cgroup_id, bool kernel_thread)
{
	uint64_t id = kernel_thread ? KERNEL_THREADS : cgroup_id;
	struct stranger *one = find(s, id);

	if (!kernel_thread)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_outside_pid_namespace, 1);
	if (!one)
		return (one = add(s, id)) ? one->process : NULL;
	list_remove(&one->lru);
	list_push_back(&s->lru, &one->lru);
	return one->process;
}
