/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a request, and why it was refused. Pure. */
#ifndef XAGENT_AGENT_RECEIVE_REFUSED_H
#define XAGENT_AGENT_RECEIVE_REFUSED_H

#include "agent/util/buf.h"

/* X(NAME, value of the label `reason`) */
#define RECEIVE_REFUSALS(X)                                                 \
	X(METADATA, "metadata")	      /* its name or headers */             \
	X(MALFORMED, "malformed")     /* not what it says it is */          \
	X(UNSUPPORTED, "unsupported") /* a format that nobody here reads */ \
	X(LIMITS, "limits")	      /* larger than servers take */        \
	X(BUDGET, "budget")	      /* it takes too much to read */       \
	X(QUEUE_FULL, "queue_full")   /* too many wait to be read */        \
	X(RECEIVERS_FULL, "receivers_full")                                 \
	X(LATE, "late") /* its sender has left, or wanted it sooner */      \
	X(MEMORY, "memory")

enum receive_refusal {
	RECEIVE_TAKEN,
#define RECEIVE_REFUSAL_ENUM(NAME, text) RECEIVE_REFUSED_##NAME,
	RECEIVE_REFUSALS(RECEIVE_REFUSAL_ENUM)
#undef RECEIVE_REFUSAL_ENUM
		RECEIVE_REFUSAL_MAX
};

#define RECEIVE_MAX_WHY 2048

struct receive_verdict {
	enum receive_refusal refusal;
	unsigned int status; /* of HTTP */
	struct buf why;	     /* a sentence */
};

#define RECEIVE_VERDICT_INIT \
	((struct receive_verdict){ .status = 200, .why = BUF_INIT(RECEIVE_MAX_WHY) })

static inline void receive_verdict_set(struct receive_verdict *v, enum receive_refusal refusal,
				       unsigned int status)
{
	v->refusal = refusal;
	v->status = status;
}

#endif
