/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Push: profiles of another agent into the store.
 *
 *	bytes ──► message ──► labels of a series ──► its profiles, one after the other ──► labels of the next …
 *
 * Each step is a task of the store's ingest thread, so that pushes take turns and this agent's own profiles go before them. All steps together
 * have one budget. As in the real server each series is for itself: what is good is kept although the request failed, and the answer tells of
 * what was not. Inside of agent/store. Loop thread.
 */
#ifndef XAGENT_AGENT_STORE_API_PUSH_H
#define XAGENT_AGENT_STORE_API_PUSH_H

#include "agent/store/api/push_message.h"

/* Of all layers of one request: its own compression, and that of its profiles, of which the real server takes 4 MiB each. Some 0.2 s. */
#define PUSH_MAX_INFLATED_BYTES ((size_t)64 << 20)
/* Of its profiles: numbers of locations for the most part. One of 4 MiB has four million at the most. */
#define PUSH_MAX_ELEMENTS ((size_t)16 << 20)
/* Of the thread that reads it; the largest profile that is kept takes 0.2 s. */
#define PUSH_MAX_CPU_NS (5 * NS_PER_S)

struct push {
	struct rpc_call call; /* with what was received */
	struct store *store;
	struct read_budget budget;
	struct store_task task; /* reading the message, and labels */
	struct store_put put;
	size_t series, sample; /* at hand */
	struct labels *labels; /* of the series */
	int result;	       /* of the series: 0, -EINVAL with the last reason in `why`, -errno */
	struct buf why, reason, sentences;
	void (*done)(struct push *push); /* call.job has the answer; may end the push */
	void (*read)(
		struct push *push); /* the message is there, or will never be; NULL: nobody asks */
};

/* `stop` may be set by the loop thread at any time: then it ends soon, with `unavailable`; NULL: never. It must not move. */
void push_init(struct push *p, struct store *store, enum connect_codec codec,
	       const atomic_bool *stop);
void push_fini(struct push *p);

/* From call.received on; `done` is called from the loop. */
void push_begin(struct push *p);

#endif
