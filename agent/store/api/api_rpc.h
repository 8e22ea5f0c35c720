/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a method of the read API, from bytes to message and back. Inside of the read API. */
#ifndef XAGENT_AGENT_STORE_API_API_RPC_H
#define XAGENT_AGENT_STORE_API_API_RPC_H

#include "agent/store/api/api_queue.h"
#include "agent/store/connect/proto_json.h"

/* Of a request once it is inflated: names, matchers and times. */
#define RPC_MAX_QUERY_BYTES ((size_t)1 << 20)
/* Pyroscope takes a profile of 4 MiB before compression, and some at once. */
#define RPC_MAX_PUSH_BYTES ((size_t)8 << 20)
/* Messages, texts and numbers of a request, in either codec; a message takes some 100 bytes, so that is what they take at most besides their
 * texts. A push of 1,000 series with ten labels has 34,000. */
#define RPC_MAX_ELEMENTS PROTO_JSON_MAX_VALUES
#define RPC_ELEMENT_BYTES 128

struct rpc_call;
struct settings;

struct rpc_method {
	const char *path;
	const ProtobufCMessageDescriptor *request;
	size_t max_bytes;
	/* Worker: RPC_ok and the time it is about in job.start_ms and job.end_ms, or api_job_fail(). */
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
	struct buf received; /* as it came, until it is decoded */
	bool is_gzip;
	struct proto_budget budget;
	size_t n_inflated_bytes; /* that came out of its compression, whatever became of it */
	size_t n_elements;
	ProtobufCMessage *request;
	struct arena arena; /* for the answer's message; in the account of the job */
	int64_t now_ms;
	struct settings *settings; /* of the API; of at_once alone */
};

/* Encodes it. RPC_ok or a failure. */
enum rpc_code rpc_call_answer(struct rpc_call *call, const ProtobufCMessage *message);

/* NULL and api_job_fail() when the answer would be too large. Zeroed. */
void *rpc_call_alloc(struct rpc_call *call, size_t n_items, size_t item_bytes);

/* An HTTP handler's work for one method. now_ms: Unix time. */
void rpc_handle(const struct rpc_method *method, struct api_queue *queue, struct settings *settings,
		int64_t now_ms, const struct http_call *call, struct http_answer *answer);

/* What the headers say of the codec; false: it is answered, the type is nobody's. */
bool rpc_read_codec(const struct http_call *http, struct http_answer *answer,
		    enum connect_codec *ret_codec);
/* Headers and body of a request: what the loop does of reading it. RPC_ok, or api_job_fail(). */
enum rpc_code rpc_call_receive(struct rpc_call *call, const struct http_call *http);

/* From the bytes of a request to a message. RPC_ok (call->request), or api_job_fail(). Any thread, pure. */
enum rpc_code rpc_call_decode(struct rpc_call *call, const void *bytes, size_t n, bool gzip);
/* Of what was received, which is freed. */
enum rpc_code rpc_call_decode_received(struct rpc_call *call);
void rpc_call_init(struct rpc_call *call, const struct rpc_method *method,
		   enum connect_codec codec);
void rpc_call_fini(struct rpc_call *call);

#endif
