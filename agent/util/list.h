/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive doubly linked ring. The head is a node that holds nothing; a node that is in no list points to itself. */
#ifndef XAGENT_AGENT_UTIL_LIST_H
#define XAGENT_AGENT_UTIL_LIST_H

#include <stdbool.h>

#include "agent/util/macro.h"

struct list {
	struct list *next;
	struct list *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

static inline void list_push_back(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_push_front(struct list *head, struct list *node)
{
	list_push_back(head->next, node);
}

/* Safe against removal of the current node. */
#define LIST_FOREACH(head, node)                                                           \
	for (struct list *node = (head)->next, *node##_next_ = node->next; node != (head); \
	     node = node##_next_, node##_next_ = node->next)

#define LIST_ENTRY(node, type, member) CONTAINER_OF(node, type, member)

#endif
