/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a method of the read API. */
#include "agent/store/api_rpc.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

void rpc_call_init(struct rpc_call *call, const struct rpc_method *method, enum connect_codec codec)
{
	memset(call, 0, sizeof(*call));
	api_job_init(&call->job);
	call->method = method;
	call->codec = codec;
	proto_budget_init(&call->budget, method->max_bytes * RPC_UNPACKED_FACTOR);
	arena_init(&call->arena, RPC_MAX_ANSWER_BYTES);
}

void rpc_call_fini(struct rpc_call *call)
{
	if (call->request)
		protobuf_c_message_free_unpacked(call->request, &call->budget.allocator);
	arena_fini(&call->arena);
	api_job_fini(&call->job);
}

static enum rpc_code fail_unmarshal(struct rpc_call *call, const char *why)
{
	if (call->budget.exhausted)
		return api_job_fail(&call->job, RPC_resource_exhausted,
				    "unmarshal message: it would take too much memory");
	return api_job_fail(&call->job, RPC_invalid_argument, "unmarshal message: %s", why);
}

static enum rpc_code unpack_proto(struct rpc_call *call, struct str bytes)
{
	call->request = protobuf_c_message_unpack(call->method->request, &call->budget.allocator,
						  bytes.n, (const uint8_t *)bytes.p);
	if (!call->request)
		return fail_unmarshal(call, "not the protobuf of such a message");
	if (!proto_is_utf8(call->request))
		return fail_unmarshal(call, "a text is not UTF-8");
	return RPC_ok;
}

static enum rpc_code unpack_json(struct rpc_call *call, struct str text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(API_MAX_WHY_BYTES);
	int r = proto_json_read(call->method->request, &call->budget, text, &why, &call->request);

	if (r == PROTO_JSON_READ)
		return RPC_ok;
	return fail_unmarshal(call, r < 0 ? strerrordesc_np(-r) : buf_str(&why));
}

static enum rpc_code unpack(struct rpc_call *call, struct str bytes)
{
	if (bytes.n > call->method->max_bytes)
		return api_job_fail(&call->job, RPC_resource_exhausted,
				    "message size %zu is larger than %zu", bytes.n,
				    call->method->max_bytes);
	return call->codec == CONNECT_PROTO ? unpack_proto(call, bytes) : unpack_json(call, bytes);
}

static enum rpc_code inflate_and_unpack(struct rpc_call *call, const void *bytes, size_t n)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(call->method->max_bytes);
	int r = connect_inflate(bytes, n, &plain);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	switch ((enum connect_inflate_outcome)r) {
	case CONNECT_INFLATED:
		return unpack(call, (struct str){ buf_str(&plain), plain.len });
	case CONNECT_INFLATE_BROKEN:
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "decompress: the body is not gzip");
	case CONNECT_INFLATE_TOO_LARGE:
		break;
	}
	return api_job_fail(&call->job, RPC_resource_exhausted,
			    "message size after decompression is larger than %zu",
			    call->method->max_bytes);
}

enum rpc_code rpc_call_decode(struct rpc_call *call, const void *bytes, size_t n, bool gzip)
{
	/* As the real server: nothing is not compressed. */
	if (gzip && n > 0)
		return inflate_and_unpack(call, bytes, n);
	return unpack(call, (struct str){ bytes, n });
}

static enum rpc_code pack(struct rpc_call *call, const ProtobufCMessage *message)
{
	struct buf *body = &call->job.body;
	size_t n = protobuf_c_message_get_packed_size(message);
	int r = buf_reserve(body, n);

	if (r < 0)
		return api_job_fail_errno(&call->job, r);
	if (n > 0)
		body->len += protobuf_c_message_pack(message, (uint8_t *)body->data + body->len);
	return RPC_ok;
}

enum rpc_code rpc_call_answer(struct rpc_call *call, const ProtobufCMessage *message)
{
	call->job.content_type = connect_content_type(call->codec);
	if (call->codec == CONNECT_PROTO)
		return pack(call, message);
	int r = proto_json_write(message, &call->job.body);
	return r < 0 ? api_job_fail_errno(&call->job, r) : RPC_ok;
}

void *rpc_call_alloc(struct rpc_call *call, size_t n_items, size_t item_bytes)
{
	size_t n;
	void *p = NULL;

	if (!__builtin_mul_overflow(n_items, item_bytes, &n))
		p = arena_alloc(&call->arena, n);
	if (p)
		memset(p, 0, n);
	else
		(void)api_job_fail_errno(&call->job, -ENOBUFS);
	return p;
}

static void job_run(struct api_job *job)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	(void)call->method->run(call);
}

static void job_free(struct api_job *job)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	rpc_call_fini(call);
	free(call);
}

/* What the headers say besides the codec. */
static enum rpc_code read_headers(struct rpc_call *call, const struct http_call *http,
				  bool *ret_gzip)
{
	const char *version = http_call_header(http, "Connect-Protocol-Version");
	const char *content_encoding = http_call_header(http, "Content-Encoding");
	enum connect_encoding encoding = connect_parse_encoding(content_encoding);
	_cleanup_buf_ struct buf why = BUF_INIT(API_MAX_WHY_BYTES);
	uint64_t ms;

	if (version && strcmp(version, "1") != 0)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "Connect-Protocol-Version must be \"1\": got \"%s\"", version);
	if (!connect_parse_timeout(http_call_header(http, "Connect-Timeout-Ms"), &why, &ms))
		return api_job_fail(&call->job, RPC_invalid_argument, "%s", buf_str(&why));
	if (ms != UINT64_MAX)
		call->job.deadline_ns = clock_mono_ns() + ms * NS_PER_MS;
	if (encoding == CONNECT_ENCODING_UNKNOWN)
		return api_job_fail(&call->job, RPC_unimplemented,
				    "unknown compression \"%s\": supported encodings are gzip",
				    content_encoding);
	*ret_gzip = encoding == CONNECT_GZIP;
	return RPC_ok;
}

static enum rpc_code prepare(struct rpc_call *call, const struct http_call *http)
{
	bool gzip = false;
	size_t n;
	const void *body = http_call_body(http, &n);
	enum rpc_code code = read_headers(call, http, &gzip);

	if (code == RPC_ok)
		code = rpc_call_decode(call, body, n, gzip);
	if (code == RPC_ok)
		code = call->method->check(call);
	return code;
}

static void refuse_type(struct http_answer *answer)
{
	answer->status = 415;
	http_answer_add_header(answer, "Accept-Post", CONNECT_ACCEPT_POST);
	(void)buf_append_str(&answer->body, "unsupported media type\n");
}

void rpc_handle(const struct rpc_method *method, struct store *store, struct api_queue *queue,
		int64_t now_ms, const struct http_call *http, struct http_answer *answer)
{
	enum connect_codec codec;

	if (!connect_parse_codec(http_call_header(http, "Content-Type"), &codec)) {
		refuse_type(answer);
		return;
	}
	struct rpc_call *call = malloc(sizeof(*call));
	if (!call) {
		answer->body.failed = true;
		return;
	}
	rpc_call_init(call, method, codec);
	call->now_ms = now_ms;
	call->job.run = job_run;
	call->job.free = job_free;
	if (prepare(call, http) == RPC_ok && method->run) {
		api_queue_put(queue, &call->job, http, answer);
		return;
	}
	if (call->job.code == RPC_ok)
		(void)method->at_once(call, store);
	api_job_answer(&call->job, answer);
	job_free(&call->job);
}
