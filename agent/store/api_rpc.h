/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a method of the read API, from bytes to message and back. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_RPC_H
#define XAGENT_AGENT_STORE_API_RPC_H

#include "agent/store/api_queue.h"
#include "agent/store/proto_json.h"

/* Of a request once it is inflated: names, matchers and times. */
#define RPC_MAX_QUERY_BYTES ((size_t)1 << 20)
/* Pyroscope takes a profile of 4 MiB before compression, and some at once. */
#define RPC_MAX_PUSH_BYTES ((size_t)16 << 20)
/* What a request takes as a message, as a multiple of its bytes; a message of two bytes takes 40 and a pointer. */
#define RPC_UNPACKED_FACTOR 32
/* Of an answer while it is made. */
#define RPC_MAX_ANSWER_BYTES ((size_t)128 << 20)

struct rpc_call;

struct rpc_method {
	const char *path;
	const ProtobufCMessageDescriptor *request;
	size_t max_bytes;
	/* Loop thread: RPC_ok and the time it is about in job.start_ms and job.end_ms, or api_job_fail(). */
	enum rpc_code (*check)(struct rpc_call *call);
	/* Worker: RPC_ok and rpc_call_answer(), or api_job_fail(). */
	enum rpc_code (*run)(struct rpc_call *call);
	/* Instead of run, for what is answered at once: loop thread, with the store. */
	enum rpc_code (*at_once)(struct rpc_call *call, struct store *store);
};

struct rpc_call {
	struct api_job job;
	const struct rpc_method *method;
	enum connect_codec codec;
	struct proto_budget budget;
	ProtobufCMessage *request;
	struct arena arena; /* for the answer's message */
	int64_t now_ms;
};

/* Encodes it. RPC_ok or a failure. */
enum rpc_code rpc_call_answer(struct rpc_call *call, const ProtobufCMessage *message);

/* NULL and api_job_fail() when the answer would be too large. Zeroed. */
void *rpc_call_alloc(struct rpc_call *call, size_t n_items, size_t item_bytes);

/* An HTTP handler's work for one method. now_ms: Unix time. */
void rpc_handle(const struct rpc_method *method, struct store *store, struct api_queue *queue,
		int64_t now_ms, const struct http_call *call, struct http_answer *answer);

/* From the bytes of a request to a message, as rpc_handle() does it. RPC_ok (call->request), or api_job_fail(). Pure. */
enum rpc_code rpc_call_decode(struct rpc_call *call, const void *bytes, size_t n, bool gzip);
/* For rpc_call_decode() alone. */
void rpc_call_init(struct rpc_call *call, const struct rpc_method *method,
		   enum connect_codec codec);
void rpc_call_fini(struct rpc_call *call);

#endif
