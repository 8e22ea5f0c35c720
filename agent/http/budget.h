/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that requests may hold together; for the server. Loop thread. */
#ifndef XAGENT_AGENT_HTTP_BUDGET_H
#define XAGENT_AGENT_HTTP_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct http_budget {
	size_t max;
	size_t used; /* at most max */
};

static inline bool http_budget_has(const struct http_budget *b, size_t n)
{
	return n <= b->max - b->used;
}

static inline bool http_budget_take(struct http_budget *b, size_t n)
{
	if (!http_budget_has(b, n))
		return false;
	b->used += n;
	return true;
}

/* What was taken. */
static inline void http_budget_give(struct http_budget *b, size_t n)
{
	b->used -= n;
}

#endif
