/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that cost more than the loop may spend in one turn: they are made on a thread of their own, one after the other.
 *
 *	put ──► waits ──► look (loop) ──► make (worker) ──► sent
 *	                   ▲     └─ in pieces ──┘
 *
 * `look` takes what only the loop thread has: rows of plain values, or references to what never changes. It is called once in a turn of the
 * loop, which goes on with everything else before the next one; a piece that would take more than a millisecond or two is cut. `make` does
 * what costs by content: looking into /proc, sorting, writing JSON or text, compressing. An answer may need both several times.
 *
 * One answer at a time, so that the loop is asked for pieces of one only, whoever asks for how many. Loop thread, but `make`.
 */
#ifndef XAGENT_AGENT_HTTP_ANSWER_QUEUE_H
#define XAGENT_AGENT_HTTP_ANSWER_QUEUE_H

#include <stdatomic.h>

#include "agent/http/server.h"
#include "agent/util/list.h"
#include "agent/util/worker.h"

/* More than people and their tools ask at once. The server has room for who waits besides its other connections, see daemon.c. */
#define ANSWER_QUEUE_MAX_WAITING 32

enum answer_step {
	ANSWER_LOOK, /* again, in the next turn of the loop */
	ANSWER_MAKE,
	ANSWER_SEND,
};

struct answer_queue;

/* Embedded in the caller's, which lives until free(). */
struct answer_job {
	/* Loop thread, when its turn has come, and again after each make(): what comes next. */
	enum answer_step (*look)(struct answer_job *job, struct http_answer *answer);
	/* The worker; the answer is nobody else's meanwhile. For who takes gzip it is compressed afterwards, if that is worth it: nothing may be
	 * appended to a body of ENCODING_MIN_BYTES any more, neither by look() nor by another make(), which is not called again then. */
	void (*make)(struct answer_job *job, struct http_answer *answer);
	void (*free)(struct answer_job *job); /* loop thread */
	/* Set by answer_queue_put(). */
	const atomic_bool *stop; /* nobody wants it any more: make() should return */
	struct worker_job worker_job;
	struct list node; /* of those that wait */
	struct answer_queue *queue;
	struct http_later *later;
	bool takes_gzip; /* the client */
};

/* 0 or -errno. */
int answer_queue_new(struct loop *loop, struct telemetry *telemetry,
		     struct answer_queue **ret_queue);
/* Waits for the one that is being made; it and the others are answered 503. Looks at nothing any more. NULL-safe. */
void answer_queue_free(struct answer_queue *q);
DEFINE_CLEANUP(struct answer_queue *, answer_queue_free);

/* Consumes the job. It is answered later; or here and now, when too many wait: 503, counted as queue_full. */
void answer_queue_put(struct answer_queue *q, struct answer_job *job, const struct http_call *call,
		      struct http_answer *answer);

#endif
