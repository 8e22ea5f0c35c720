/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of one request, as they will be handed on. Made on a worker. Inside of agent/receive, but for what `deliver` gets. */
#ifndef XAGENT_AGENT_RECEIVE_ITEMS_H
#define XAGENT_AGENT_RECEIVE_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/target/label.h"
#include "agent/util/shared_bytes.h"

/* One of a Push, or what a file of speedscope becomes. */
#define RECEIVE_MAX_ITEMS 1024

struct receive_item {
	struct labels *labels;	    /* a reference */
	struct shared_bytes *pprof; /* a reference */
	uint64_t time_ns;
};

struct receive_items {
	struct receive_item *items;
	size_t n, cap;
	size_t n_bytes; /* of all profiles */
};

/* Takes `data` in any case. 0, -ENOMEM, -E2BIG. */
int receive_items_add(struct receive_items *list, struct labels *labels, uint8_t *data, size_t n,
		      uint64_t time_ns);
/* Takes references. The same results. */
int receive_items_share(struct receive_items *list, struct labels *labels,
			struct shared_bytes *pprof, uint64_t time_ns);
void receive_items_fini(struct receive_items *list);

#endif
