/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading one request may cost, over all its layers together: a few kilobytes can unpack to gigabytes, and each layer by itself looks
 * small. Inside of agent/store.
 *
 * One user at a time; `stop` may be set by another thread at any moment.
 */
#ifndef XAGENT_AGENT_STORE_INGEST_READ_BUDGET_H
#define XAGENT_AGENT_STORE_INGEST_READ_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, value of the label `reason`): why a request was refused as a whole, or in the middle. */
#define STORE_REQUEST_REFUSALS(X)                                                \
	X(QUEUE, "queue_full")	      /* too many wait already */                \
	X(SIZE, "message_size")	      /* of the message, received or inflated */ \
	X(INFLATED, "inflated_bytes") /* of all its layers together */           \
	X(ELEMENTS, "elements")	      /* messages, texts and numbers */          \
	X(MEMORY, "memory")	      /* while it is unpacked */                 \
	X(TIME, "time")		      /* of the thread that reads it */          \
	X(QUERY, "query_memory")      /* what the answer takes while it is made */

enum store_request_refusal {
	STORE_REQUEST_TAKEN,
#define STORE_REQUEST_ENUM(name, text) STORE_REQUEST_##name,
	STORE_REQUEST_REFUSALS(STORE_REQUEST_ENUM)
#undef STORE_REQUEST_ENUM
		STORE_REQUEST_MAX
};

enum read_budget_state {
	READ_BUDGET_LEFT,
	READ_BUDGET_INFLATED, /* bytes that came out of gzip */
	READ_BUDGET_ELEMENTS, /* messages, texts and numbers */
	READ_BUDGET_TIME,     /* of the thread that reads it */
	READ_BUDGET_STOPPED,  /* nobody wants it any more */
};

struct read_budget_options {
	size_t inflated_bytes;
	size_t elements;
	uint64_t cpu_ns;	 /* 0: as long as it takes */
	const atomic_bool *stop; /* borrowed; NULL: nobody stops it */
};

struct read_budget {
	struct read_budget_options left;
	uint64_t begin_cpu_ns; /* of the part of the work that runs */
	unsigned int n_looks;
	bool timed;
	enum read_budget_state state; /* the first that was used up */
};

void read_budget_init(struct read_budget *b, const struct read_budget_options *options);

/* Around each part of the work, on the thread that does it; the time between the parts is free. */
void read_budget_begin(struct read_budget *b);
void read_budget_end(struct read_budget *b);

/* False: that was too much; then it stays so, whatever is asked. */
bool read_budget_take_inflated(struct read_budget *b, size_t n);
bool read_budget_take_elements(struct read_budget *b, size_t n);
/* Whether to go on; cheap enough for each turn of a loop. */
bool read_budget_goes_on(struct read_budget *b);
/* The same, for a loop whose turns take long. */
bool read_budget_goes_on_now(struct read_budget *b);

#endif
