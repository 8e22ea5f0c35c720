/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a method of the read API. */
#include "agent/store/api/api_rpc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/wire_scan.h"
#include "agent/util/macro.h"

static size_t rpc_max_unpacked(const struct rpc_method *method)
{
	return 2 * method->max_bytes + (size_t)RPC_MAX_ELEMENTS * RPC_ELEMENT_BYTES;
}

void rpc_call_init(struct rpc_call *call, const struct rpc_method *method, enum connect_codec codec)
{
	memset(call, 0, sizeof(*call));
	api_job_init(&call->job);
	call->method = method;
	call->codec = codec;
	/* The elements are counted before anything is unpacked; texts are in it once more. */
	proto_budget_init(&call->budget, rpc_max_unpacked(method));
	arena_init(&call->arena, SIZE_MAX);
}

void rpc_call_fini(struct rpc_call *call)
{
	if (call->request)
		protobuf_c_message_free_unpacked(call->request, &call->budget.allocator);
	buf_fini(&call->received);
	arena_fini(&call->arena);
	api_job_fini(&call->job);
}

static enum rpc_code fail_unmarshal(struct rpc_call *call, const char *why)
{
	if (call->budget.exhausted)
		return api_job_refuse(&call->job, STORE_REQUEST_MEMORY,
				      "unmarshal message: it would take too much memory");
	if (call->budget.too_many)
		return api_job_refuse(&call->job, STORE_REQUEST_ELEMENTS, "unmarshal message: %s",
				      why);
	return api_job_fail(&call->job, RPC_invalid_argument, "unmarshal message: %s", why);
}

/* protobuf-c takes memory for each of them before anybody can look at one. */
static enum rpc_code count_elements(struct rpc_call *call, struct str bytes)
{
	struct wire_scan scan;

	if (!wire_scan(call->method->request, (const uint8_t *)bytes.p, bytes.n, &scan))
		return fail_unmarshal(call, "not the protobuf of such a message");
	call->n_elements = scan.n_elements;
	if (scan.n_elements > RPC_MAX_ELEMENTS)
		return api_job_refuse(&call->job, STORE_REQUEST_ELEMENTS,
				      "unmarshal message: more than %d values", RPC_MAX_ELEMENTS);
	return RPC_ok;
}

static enum rpc_code unpack_proto(struct rpc_call *call, struct str bytes)
{
	enum rpc_code code = count_elements(call, bytes);

	if (code != RPC_ok)
		return code;
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
		return api_job_refuse(&call->job, STORE_REQUEST_SIZE,
				      "message size %zu is larger than %zu", bytes.n,
				      call->method->max_bytes);
	return call->codec == CONNECT_PROTO ? unpack_proto(call, bytes) : unpack_json(call, bytes);
}

static enum rpc_code inflate_and_unpack(struct rpc_call *call, const void *bytes, size_t n)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(call->method->max_bytes);
	int r = connect_inflate(bytes, n, &plain);

	call->n_inflated_bytes = plain.len;
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
	return api_job_refuse(&call->job, STORE_REQUEST_SIZE,
			      "message size after decompression is larger than %zu",
			      call->method->max_bytes);
}

enum rpc_code rpc_call_decode(struct rpc_call *call, const void *bytes, size_t n, bool gzip)
{
	assert(!call->request);
	/* As the real server: nothing is not compressed. */
	if (gzip && n > 0)
		return inflate_and_unpack(call, bytes, n);
	return unpack(call, (struct str){ bytes, n });
}

enum rpc_code rpc_call_decode_received(struct rpc_call *call)
{
	_cleanup_buf_ struct buf received = call->received;

	call->received = BUF_INIT(0);
	return rpc_call_decode(call, buf_str(&received), received.len, call->is_gzip);
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
	size_t n, before = call->arena.used_bytes;
	void *p = NULL;

	if (!__builtin_mul_overflow(n_items, item_bytes, &n) &&
	    n <= query_memory_left(&call->job.memory))
		p = arena_alloc(&call->arena, n);
	/* The last chunk may be a little more than there was left. */
	if (p && query_memory_take(&call->job.memory, call->arena.used_bytes - before))
		return memset(p, 0, n);
	(void)api_job_fail_errno(&call->job, -ENOBUFS);
	return NULL;
}

static void job_prepare(struct api_job *job)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	if (rpc_call_decode_received(call) == RPC_ok)
		(void)call->method->check(call);
}

static void job_run(struct api_job *job)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	(void)call->method->run(call);
}

static void job_at_once(struct api_job *job, struct store *store)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	(void)call->method->at_once(call, store);
}

static void job_free(struct api_job *job)
{
	struct rpc_call *call = CONTAINER_OF(job, struct rpc_call, job);

	rpc_call_fini(call);
	free(call);
}

/* What the headers say besides the codec. */
static enum rpc_code read_headers(struct rpc_call *call, const struct http_call *http)
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
	call->is_gzip = encoding == CONNECT_GZIP;
	return RPC_ok;
}

enum rpc_code rpc_call_receive(struct rpc_call *call, const struct http_call *http)
{
	enum rpc_code code = read_headers(call, http);

	if (code == RPC_ok)
		http_call_take_body(http, &call->received);
	return code;
}

bool rpc_read_codec(const struct http_call *http, struct http_answer *answer,
		    enum connect_codec *ret_codec)
{
	if (connect_parse_codec(http_call_header(http, "Content-Type"), ret_codec))
		return true;
	answer->status = 415;
	http_answer_add_header(answer, "Accept-Post", CONNECT_ACCEPT_POST);
	(void)buf_append_str(&answer->body, "unsupported media type\n");
	return false;
}

void rpc_handle(const struct rpc_method *method, struct api_queue *queue, struct settings *settings,
		int64_t now_ms, const struct http_call *http, struct http_answer *answer)
{
	enum connect_codec codec;

	if (!rpc_read_codec(http, answer, &codec))
		return;
	struct rpc_call *call = malloc(sizeof(*call));
	if (!call) {
		answer->body.failed = true;
		return;
	}
	rpc_call_init(call, method, codec);
	call->now_ms = now_ms;
	call->settings = settings;
	call->job.prepare = job_prepare;
	call->job.run = job_run;
	call->job.at_once = method->at_once ? job_at_once : NULL;
	call->job.free = job_free;
	if (rpc_call_receive(call, http) == RPC_ok) {
		api_queue_put(queue, &call->job, http, answer);
		return;
	}
	api_job_answer(&call->job, answer);
	job_free(&call->job);
}
