/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the store: one at a time in the worker, the others wait their turn. Inside of the read API.
 *
 *	put ──► waits ──► prepare (worker) ──► view taken ──► run (worker) ──► end (loop)
 *
 * What costs by its content is in the worker: reading the question, answering it, compressing the answer.
 *
 * One at a time, so that the worker's other jobs (files of the store) are never behind a row of queries.
 */
#ifndef XAGENT_AGENT_STORE_API_API_QUEUE_H
#define XAGENT_AGENT_STORE_API_API_QUEUE_H

#include <stdatomic.h>

#include "agent/http/server.h"
#include "agent/store/connect/connect.h"
#include "agent/store/query/query_memory.h"
#include "agent/store/store.h"
#include "agent/util/arena.h"

/* A dashboard asks a dozen questions at once, several people look at one; the server has room for who waits besides its other
 * connections. */
#define API_MAX_WAITING 32
#define API_MAX_WHY_BYTES 2048
/* Of one answer, before it is compressed: a tree of a million nodes is 30 MB of JSON. */
#define API_MAX_ANSWER_BYTES ((size_t)32 << 20)
/* Told to whom there is no room for: seconds. Queries and pushes take less. */
#define API_RETRY_AFTER "1"

/* Embedded in a question. */
struct api_job {
	struct worker_job worker_job;
	struct list node; /* of those that wait */
	struct api_queue *queue;
	struct http_later *later;
	uint64_t deadline_ns; /* monotonic; UINT64_MAX: none */
	bool takes_gzip;      /* the client */
	int64_t start_ms, end_ms;
	struct store_view_request wanted;
	bool waits_for_view;
	struct query_memory memory; /* of the answer while it is made; QUERY_MAX_BYTES */
	struct store_view view;	    /* what the store has between start and end */
	const atomic_bool *stop;    /* the answer is not wanted any more; NULL: it always is */
	void (*prepare)(struct api_job *job); /* worker; sets the times. NULL: they are set */
	void (*run)(struct api_job *job);     /* worker; fills the answer */
	/* Instead of run, for what is answered at once: loop thread. */
	void (*at_once)(struct api_job *job, struct store *store);
	void (*free)(struct api_job *job); /* loop thread; api_job_fini() and its own things */
	/* The answer. */
	enum rpc_code code;
	enum store_request_refusal refusal; /* STORE_REQUEST_TAKEN: no ceiling was met */
	const char *retry_after;	    /* seconds; static; NULL: none */
	bool is_answered;		    /* it is in the HTTP answer */
	struct buf why;			    /* a sentence; for anything but RPC_ok */
	const char *content_type;	    /* of the body; static */
	struct buf body;
};

/* An answer without anything in it, RPC_ok; the functions and the times are the caller's to set. */
void api_job_init(struct api_job *job);
void api_job_fini(struct api_job *job);

/* Sets code and sentence; returns the code. */
enum rpc_code api_job_fail(struct api_job *job, enum rpc_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a ceiling of requests. */
enum rpc_code api_job_refuse(struct api_job *job, enum store_request_refusal refusal,
			     const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for what a function of ours returned: -ENOMEM, -ENOBUFS, -ETIMEDOUT, -ECANCELED. */
enum rpc_code api_job_fail_errno(struct api_job *job, int error);

/* Fills an HTTP answer from the job's. */
void api_job_answer(struct api_job *job, struct http_answer *answer);

struct api_queue;
int api_queue_new(struct store *store, struct worker *worker, struct api_queue **ret_queue);
/* Waits for the one that runs; the others are answered `unavailable`. NULL-safe. */
void api_queue_free(struct api_queue *q);
DEFINE_CLEANUP(struct api_queue *, api_queue_free);

/* Consumes the job. It is answered later, or here and now when there is no room. */
void api_queue_put(struct api_queue *q, struct api_job *job, const struct http_call *call,
		   struct http_answer *answer);

#endif
