/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows of each sampled process. */
#include "agent/profile/process_state.h"

#include <stdlib.h>

struct process_state *process_state_get(struct process *p)
{
	struct process_state *k = p->user;

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->process = p;
	list_init(&k->node);
	list_init(&k->waiting);
	wall_process_init(&k->wall);
	p->user = k;
	return k;
}

void process_state_free(struct process_state *k)
{
	if (!k)
		return;
	list_remove(&k->node);
	list_remove(&k->waiting);
	java_vm_free(k->java);
	wall_process_fini(&k->wall);
	labels_unref(k->labels);
	jit_files_unref(k->jit);
	jit_files_unref(k->jit_wait);
	free(k);
}

void exited_processes_init(struct exited_processes *g)
{
	list_init(&g->list);
	g->n = 0;
}

static void exited_processes_drop(struct exited_processes *g, struct process_state *k)
{
	struct process *p = k->process;

	g->n--;
	p->user = NULL;
	process_state_free(k);
	process_unref(p);
}

void exited_processes_fini(struct exited_processes *g)
{
	LIST_FOREACH (&g->list, node)
		exited_processes_drop(g, LIST_ENTRY(node, struct process_state, node));
}

void exited_processes_add(struct exited_processes *g, struct process *p)
{
	struct process_state *k = p->user;

	if (!k)
		return;
	if (g->n >= EXITED_PROCESSES_MAX)
		exited_processes_drop(g, LIST_ENTRY(g->list.next, struct process_state, node));
	list_remove(&k->node);
	k->process = process_ref(p);
	k->dirty = false;
	k->exited = true;
	list_push_back(&g->list, &k->node);
	g->n++;
}

struct process *exited_processes_find(const struct exited_processes *g, uint32_t pid)
{
	for (const struct list *node = g->list.prev; node != &g->list; node = node->prev) {
		const struct process_state *k = CONTAINER_OF(node, struct process_state, node);

		if (k->process->pid == pid)
			return k->process;
	}
	return NULL;
}

void exited_processes_sweep(struct exited_processes *g, uint64_t now_ns)
{
	LIST_FOREACH (&g->list, node) {
		struct process_state *k = LIST_ENTRY(node, struct process_state, node);

		if (k->process->exit_ns + EXITED_PROCESSES_NS > now_ns)
			break;
		exited_processes_drop(g, k);
	}
}
