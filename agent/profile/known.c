/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows of each sampled process. */
#include "agent/profile/known.h"

#include <stdlib.h>

struct known *known_get(struct process *p)
{
	struct known *k = p->user;

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->process = p;
	list_init(&k->node);
	list_init(&k->waiting);
	p->user = k;
	return k;
}

void known_free(struct known *k)
{
	if (!k)
		return;
	list_remove(&k->node);
	list_remove(&k->waiting);
	labels_unref(k->labels);
	jit_files_unref(k->jit);
	jit_files_unref(k->jit_wait);
	free(k);
}

void graveyard_init(struct graveyard *g)
{
	list_init(&g->list);
	g->n = 0;
}

static void graveyard_drop(struct graveyard *g, struct known *k)
{
	struct process *p = k->process;

	g->n--;
	p->user = NULL;
	known_free(k);
	process_unref(p);
}

void graveyard_fini(struct graveyard *g)
{
	LIST_FOREACH (&g->list, node)
		graveyard_drop(g, LIST_ENTRY(node, struct known, node));
}

void graveyard_bury(struct graveyard *g, struct process *p)
{
	struct known *k = p->user;

	if (!k)
		return;
	if (g->n >= GRAVEYARD_MAX)
		graveyard_drop(g, LIST_ENTRY(g->list.next, struct known, node));
	list_remove(&k->node);
	k->process = process_ref(p);
	k->dirty = false;
	k->buried = true;
	list_push_back(&g->list, &k->node);
	g->n++;
}

struct process *graveyard_find(const struct graveyard *g, uint32_t pid)
{
	for (const struct list *node = g->list.prev; node != &g->list; node = node->prev) {
		const struct known *k = CONTAINER_OF(node, struct known, node);

		if (k->process->pid == pid)
			return k->process;
	}
	return NULL;
}

void graveyard_sweep(struct graveyard *g, uint64_t now_ns)
{
	LIST_FOREACH (&g->list, node) {
		struct known *k = LIST_ENTRY(node, struct known, node);

		if (k->process->exit_ns + GRAVEYARD_NS > now_ns)
			break;
		graveyard_drop(g, k);
	}
}
