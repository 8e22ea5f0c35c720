/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: life and death of its entries.
 *
 * Events and /proc are two views of one history, and /proc is always ahead: it shows now, while
 * events come in rounds. So each process keeps the time before /proc was looked at, and an event
 * older than that is already part of what was seen: it is not applied.
 */
#include "agent/process/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Start times of stat are in ticks of 10 ms; fork events come a little after the start time was
 * taken. */
#define PROCESS_START_SLACK_NS (50 * NS_PER_MS)

int process_table_new(const struct process_table_options *o, struct process_table **ret_table)
{
	_cleanup_(process_table_freep) struct process_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	list_init(&t->lru);
	list_init(&t->jit_files);
	t->telemetry = o->telemetry;
	t->cgroups = o->cgroups;
	t->hooks = o->hooks;
	t->no_mappings = o->no_mappings;
	t->max_processes = o->max_processes ? o->max_processes : PROCESS_MAX_DEFAULT;
	t->max_processes = MAX_OF(t->max_processes, (size_t)PROCESS_MAX_LEAST);
	t->proc_root = strdup(o->proc_root ? o->proc_root : "/proc");
	if (!t->proc_root)
		return -ENOMEM;
	t->cgroups_shown = process_cgroups_are_shown(t->proc_root);
	int r = file_table_new(&(struct file_table_options){ 0 }, &t->files);
	if (r < 0)
		return r;
	*ret_table = TAKE_PTR(t);
	return 0;
}

static void process_free(struct process *p)
{
	mappings_unref(p->mappings);
	process_drop_ahead(p);
	mapped_file_unref(p->exe_file);
	remapped_texts_free(p->remapped_texts);
	process_identity_fini(&p->identity);
	free(p);
}

struct process *process_ref(struct process *p)
{
	p->n_refs++;
	return p;
}

/* A loop, not a recursion: chains of parents are as long as a process tree is deep. */
void process_unref(struct process *p)
{
	while (p) {
		struct process *parent = p->parent;

		assert(p->n_refs > 0);
		if (--p->n_refs > 0)
			return;
		process_free(p);
		p = parent;
	}
}

static void process_set_parent(struct process *p, struct process *parent)
{
	struct process *old = p->parent;

	p->parent = parent ? process_ref(parent) : NULL;
	process_unref(old);
}

struct process *process_table_find(struct process_table *t, uint32_t pid)
{
	HASH_FOREACH_MATCH (&t->by_pid, hash_u64(pid), node) {
		struct process *p = CONTAINER_OF(node, struct process, node);

		if (p->pid == pid)
			return p;
	}
	return NULL;
}

/*
 * An ended process that its children still point to shall not hold a chain of ended ancestors (a
 * program that forks and exits again and again makes an endless one): who has an identity needs no
 * parent any more, who has none looks past ended ones without.
 */
static void shorten_ancestry(struct process *p)
{
	if (p->identity_loaded)
		process_set_parent(p, NULL);
	while (p->parent && p->parent->exited && !p->parent->identity_loaded)
		process_set_parent(p, p->parent->parent);
}

static void process_forget(struct process_table *t, struct process *p)
{
	hash_remove(&t->by_pid, &p->node);
	list_remove(&p->lru);
	shorten_ancestry(p);
	if (t->hooks.on_exit)
		t->hooks.on_exit(p, t->hooks.data);
	process_unref(p);
}

void process_end(struct process_table *t, struct process *p, uint64_t time_ns)
{
	p->exited = true;
	p->exit_ns = time_ns;
	process_forget(t, p);
}

void process_table_free(struct process_table *t)
{
	if (!t)
		return;
	while (!list_empty(&t->lru))
		process_forget(t, LIST_ENTRY(t->lru.next, struct process, lru));
	process_release_jit_files(t);
	hash_fini(&t->by_pid);
	file_table_free(t->files);
	free(t->proc_root);
	free(t);
}

static void evict(struct process_table *t)
{
	while (t->by_pid.n > t->max_processes) {
		process_forget(t, LIST_ENTRY(t->lru.next, struct process, lru));
		telemetry_count(t->telemetry, TELEMETRY_process_evictions, 1);
	}
}

struct process *process_add(struct process_table *t, uint32_t pid, uint64_t start_ns)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->start_ns = start_ns;
	p->n_refs = 1;
	p->trust = t->trust;
	p->losses = t->losses;
	process_identity_init(&p->identity);
	if (hash_insert(&t->by_pid, &p->node, hash_u64(pid)) < 0) {
		process_free(p);
		return NULL;
	}
	list_push_back(&t->lru, &p->lru);
	evict(t);
	return p;
}

/* Out of the table it is in no list. */
void process_touch(struct process_table *t, struct process *p)
{
	if (list_empty(&p->lru))
		return;
	list_remove(&p->lru);
	list_push_back(&t->lru, &p->lru);
}

static void apply_fork(struct process_table *t, const struct process_event *ev)
{
	struct process *parent = process_table_find(t, ev->parent_pid);
	struct process *p = process_table_find(t, ev->pid);

	if (p && ev->time_ns < p->proc_read_ns) {
		p->fork_seen = true;
		p->parent_pid = ev->parent_pid;
		if (parent && !p->parent && p != parent)
			process_set_parent(p, parent);
		return;
	}
	/* Its exit was not seen. */
	if (p)
		process_end(t, p, ev->time_ns);
	if (parent == p)
		parent = NULL;
	if (parent)
		process_touch(t, parent); /* the new entry must not evict it */
	p = process_add(t, ev->pid, ev->time_ns);
	if (!p)
		return;
	p->parent_pid = ev->parent_pid;
	p->fork_seen = true;
	process_set_parent(p, parent);
	if (!parent)
		return;
	process_catch_up(t, parent, ev->time_ns);
	/* What was read of the parent after the fork may be another image's: the child is read itself, or borrows, when sampled. */
	if (ev->time_ns >= parent->maps_read_ns)
		process_inherit_mappings(t, p, parent);
}

static void apply_exec(struct process_table *t, const struct process_event *ev)
{
	struct process *p = process_table_find(t, ev->pid);

	/* Born before us, but from here on all of its mappings come by events. */
	if (!p)
		p = process_add(t, ev->pid, ev->time_ns);
	if (p)
		process_apply_exec(t, p, ev);
}

static void apply_exit(struct process_table *t, const struct process_event *ev)
{
	struct process *p = process_table_find(t, ev->pid);

	if (p && ev->time_ns >= p->proc_read_ns)
		process_end(t, p, ev->time_ns);
}

void process_table_apply(struct process_table *t, const struct process_event *ev)
{
	struct process *p;

	switch (ev->kind) {
	case PROCESS_EVENT_FORK:
		apply_fork(t, ev);
		break;
	case PROCESS_EVENT_EXEC:
		apply_exec(t, ev);
		break;
	case PROCESS_EVENT_MMAP:
		p = process_table_find(t, ev->pid);
		if (p)
			process_apply_mmap(t, p, ev);
		break;
	case PROCESS_EVENT_EXIT:
		apply_exit(t, ev);
		break;
	case PROCESS_EVENT_LOST:
		t->losses++;
		break;
	case PROCESS_EVENT_FLOOD:
		process_apply_flood(t, ev);
		break;
	}
}

void process_table_distrust(struct process_table *t)
{
	t->trust++;
}

static bool is_same(const struct process *p, const struct proc *proc)
{
	if (p->start_ticks)
		return p->start_ticks == proc->start_ticks;
	/* A start that was seen is exact, one taken from an exec is an upper bound. */
	return proc->start_ns <= p->start_ns + PROCESS_START_SLACK_NS;
}

bool process_confirm(struct process *p, const struct proc *proc)
{
	if (!is_same(p, proc))
		return false;
	p->start_ticks = proc->start_ticks;
	if (!p->fork_seen) {
		p->start_ns = proc->start_ns;
		p->parent_pid = proc->parent_pid;
	}
	return true;
}

static int load_maps(struct process_table *t, struct process *p, const struct proc *proc)
{
	int r = t->no_mappings ? 0 : process_read_maps(t, p, proc);

	p->maps_tried = true;
	if (r < 0)
		telemetry_count(t->telemetry, TELEMETRY_process_read_errors, 1);
	return r;
}

static struct process *make_from_proc(struct process_table *t, uint32_t pid)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	uint64_t now_ns = clock_mono_ns();
	int r = proc_open(t->proc_root, pid, &proc);
	struct process *p = process_add(t, pid, r < 0 ? now_ns : proc.start_ns);

	if (!p)
		return NULL;
	if (r < 0) {
		p->maps_tried = true;
		if (process_error_passes(r))
			process_put_off(p);
		telemetry_count(t->telemetry, TELEMETRY_process_read_errors, 1);
		return p;
	}
	(void)process_confirm(p, &proc);
	p->proc_read_ns = now_ns;
	if (process_error_passes(load_maps(t, p, &proc)))
		process_put_off(p);
	return p;
}

struct process *process_parent(struct process_table *t, struct process *p)
{
	/* What /proc says may be who adopted it: init, a service manager, a container's shim. Only
	 * a fork tells its origin. */
	if (p->parent || !p->fork_seen || p->parent_pid == 0 || p->parent_pid == p->pid)
		return p->parent;
	struct process *parent = process_table_find(t, p->parent_pid);
	if (!parent)
		parent = make_from_proc(t, p->parent_pid);
	if (!parent || parent->start_ns > p->start_ns)
		return NULL;
	process_set_parent(p, parent);
	return parent;
}

struct process *process_reread(struct process_table *t, struct process *p)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	uint64_t now_ns = clock_mono_ns();

	process_note_reread(t, p, now_ns);
	int r = proc_open(t->proc_root, p->pid, &proc);
	if (r < 0) {
		telemetry_count(t->telemetry, TELEMETRY_process_read_errors, 1);
		p->maps_tried = true;
		if (process_error_passes(r))
			process_put_off(p);
		return p;
	}
	if (!process_confirm(p, &proc)) {
		process_end(t, p, now_ns);
		return NULL;
	}
	p->proc_read_ns = now_ns;
	p->exec_missed = true;
	r = load_maps(t, p, &proc);
	process_note_reread(t, p, now_ns);
	if (process_error_passes(r))
		process_put_off(p);
	if (process_exe_changed(p, &proc)) {
		process_unload_identity(p);
		p->exec_count++;
		if (t->hooks.on_exec)
			t->hooks.on_exec(p, t->hooks.data);
	}
	return p;
}

static void hint_comm(struct process *p, const char *comm)
{
	if (comm && !p->comm_hint[0])
		str_copy_utf8(p->comm_hint, sizeof(p->comm_hint), str_from(comm));
}

struct process *process_table_get(struct process_table *t, uint32_t pid, const char *comm)
{
	return process_table_get_at(t, pid, comm, UINT64_MAX);
}

struct process *process_table_get_at(struct process_table *t, uint32_t pid, const char *comm,
				     uint64_t time_ns)
{
	struct process *p = process_table_find(t, pid);

	if (p) {
		process_touch(t, p);
		process_catch_up(t, p, time_ns);
	}
	/* After an exec that was seen every mapping comes by an event: /proc shows what is mapped now, not what was when it was sampled. */
	if (p && (process_is_outdated(t, p) || (!p->mappings && !p->maps_tried && !p->exec_ns)))
		p = process_reread(t, p);
	if (!p)
		p = make_from_proc(t, pid);
	if (!p)
		return NULL;
	hint_comm(p, comm);
	process_catch_up(t, p, time_ns);
	if (!p->mappings && !t->no_mappings)
		process_borrow_mappings(t, p);
	if (p->remapped_texts)
		process_check_text(t, p);
	process_retry_identity(t, p);
	return p;
}

int process_list_pids(const struct process_table *t, uint32_t **ret_pids, size_t *ret_n)
{
	return proc_list_pids(t->proc_root, ret_pids, ret_n);
}

size_t process_table_n(const struct process_table *t)
{
	return t->by_pid.n;
}
