/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of an interval that are in files, each once and by their value, which begins with the file's id: so that names are asked for
 * file by file.
 *
 * Most frames of a stack are those of a stack shortly before, and are left out when they come: what is put in order is a tenth.
 */
#ifndef XAGENT_AGENT_PROFILE_FRAME_ORDER_H
#define XAGENT_AGENT_PROFILE_FRAME_ORDER_H

#include <stddef.h>

#include "agent/profile/interval.h"

/* 8 KiB, so that they stay in the first cache. */
#define FRAME_ORDER_SEEN_BITS 10

struct frame_order {
	struct frame_ref *items; /* owned */
	size_t n;
	size_t cap;
	struct frame_ref *seen; /* owned: some of the items, by a hash */
};

/* 0 or -ENOMEM. `max_bytes` is for the items. */
int frame_order_init(struct frame_order *order, size_t max_bytes);
void frame_order_fini(struct frame_order *order);
/* Once. As many as there is room for. */
void frame_order_collect(struct frame_order *order, const struct interval *interval);

#endif
