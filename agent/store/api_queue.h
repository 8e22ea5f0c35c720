/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the store that take a while: one at a time in the worker, the others wait their turn. Inside of the read API.
 *
 *	put ──► waits ──► view taken ──► run (worker) ──► end (loop)
 *
 * One at a time, so that the worker's other jobs (files of the store) are never behind a row of queries.
 */
#ifndef XAGENT_AGENT_STORE_API_QUEUE_H
#define XAGENT_AGENT_STORE_API_QUEUE_H

#include "agent/http/server.h"
#include "agent/store/connect.h"
#include "agent/store/store.h"
#include "agent/util/arena.h"

/* A dashboard asks a dozen questions at once, several people look at one; and half of the server's connections stay free for others. */
#define API_MAX_WAITING 32
#define API_MAX_WHY_BYTES 2048

/* Embedded in a question. */
struct api_job {
	struct worker_job worker_job;
	struct list node; /* of those that wait */
	struct api_queue *queue;
	struct http_later *later;
	uint64_t deadline_ns; /* monotonic; UINT64_MAX: none */
	int64_t start_ms, end_ms;
	struct store_view view;		   /* what the store has between them */
	void (*run)(struct api_job *job);  /* worker; fills the answer */
	void (*free)(struct api_job *job); /* loop thread; api_job_fini() and its own things */
	/* The answer. */
	enum rpc_code code;
	struct buf why;		  /* a sentence; for anything but RPC_ok */
	const char *content_type; /* of the body; static */
	struct buf body;
};

/* An answer without anything in it, RPC_ok; the functions and the times are the caller's to set. */
void api_job_init(struct api_job *job);
void api_job_fini(struct api_job *job);

/* Sets code and sentence; returns the code. */
enum rpc_code api_job_fail(struct api_job *job, enum rpc_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for what a function of ours returned: -ENOMEM, -ENOBUFS. */
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
