/* SPDX-License-Identifier: Apache-2.0 */
/* One request from its handler to its answer. Inside of agent/receive. */
#ifndef XAGENT_AGENT_RECEIVE_RECEIVE_JOB_H
#define XAGENT_AGENT_RECEIVE_RECEIVE_JOB_H

#include <stdatomic.h>

#include "agent/http/grpc/grpc_server.h"
#include "agent/receive/ingest_request.h"
#include "agent/receive/otlp_request.h"
#include "agent/store/api/push_message.h"

/* What reading one request may cost; as a push to the store. */
#define RECEIVE_MAX_INFLATED ((size_t)64 << 20)
#define RECEIVE_MAX_ELEMENTS ((size_t)16 << 20)
#define RECEIVE_MAX_CPU_NS (5 * NS_PER_S)

struct receive_job {
	struct worker_job worker_job;
	struct receiving *receiving; /* borrowed */
	struct http_later *later;    /* NULL: it is not asked for, or came by gRPC */
	struct grpc_call *grpc;
	bool is_push, is_otlp;
	struct rpc_call call; /* of a Push */
	struct otlp_headers otlp;
	struct ingest_query query; /* of /ingest; texts are in the arena */
	struct arena texts;
	struct buf body;
	struct receive_items items;
	struct receive_verdict verdict;
	const atomic_bool *stop; /* borrowed */
};

/* *ret_job is NULL where it is answered already. 0 or -ENOMEM. */
int receive_job_push(const struct http_call *call, struct http_answer *answer,
		     struct receive_job **ret_job);
int receive_job_ingest(const struct http_call *call, struct receive_job **ret_job);
int receive_job_otlp(const struct http_call *call, size_t max_plain_bytes,
		     struct receive_job **ret_job);
/* Takes the call, which is answered with the job. NULL: no memory. */
struct receive_job *receive_job_grpc(struct grpc_call *call, size_t max_plain_bytes);
void receive_job_free(struct receive_job *job);

/* Any thread: from bytes to items, or a verdict. */
void receive_job_read(struct receive_job *job);
/* What is wrong with it besides its bytes. */
void receive_job_refuse(struct receive_job *job, enum receive_refusal refusal, unsigned int status,
			const char *why);
void receive_job_answer(struct receive_job *job, struct http_answer *answer);

#endif
