/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over gRPC, unary calls: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
#include "agent/push/otlp_grpc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <zlib.h>

#include "agent/push/otlp_answer.h"
#include "agent/push/otlp_body.h"
#include "agent/push/protocol.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define CONTENT_TYPE "application/grpc"
#define FRAME_BYTES 5
#define TEXT_MAX_BYTES 512
/* A few words. */
#define MESSAGE_MAX_BYTES 8192
/* The largest, and gzip around it. */
#define GZIP_WINDOW_BITS (15 + 16)
/* Eight digits at most, says the protocol. */
#define MAX_TIMEOUT_MS ((uint64_t)99999999)

enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_STATUS_MAX = 17,
};

static const char *const status_names[GRPC_STATUS_MAX] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

static void plain_headers(uint64_t timeout_ns, struct push_headers *h)
{
	uint64_t ms = timeout_ns / NS_PER_MS;

	(void)snprintf(h->text, sizeof(h->text), "%" PRIu64 "m",
		       MIN_OF(MAX_OF(ms, (uint64_t)1), MAX_TIMEOUT_MS));
	h->n = 0;
	h->items[h->n++] = (struct http_header){ "Content-Type", CONTENT_TYPE };
	h->items[h->n++] = (struct http_header){ "TE", "trailers" };
	h->items[h->n++] = (struct http_header){ "grpc-timeout", h->text };
}

static void gzip_headers(uint64_t timeout_ns, struct push_headers *h)
{
	plain_headers(timeout_ns, h);
	h->items[h->n++] = (struct http_header){ "grpc-encoding", "gzip" };
}

static int encode_plain(const struct push_profile *const *profiles, size_t n,
			struct push_body *body)
{
	(void)n;
	return otlp_body(profiles[0], false, true, body);
}

static int encode_gzip(const struct push_profile *const *profiles, size_t n, struct push_body *body)
{
	(void)n;
	return otlp_body(profiles[0], true, true, body);
}

/* Percent-encoded; what is no such sequence stays. */
static void put_message(const char *message, char *out, size_t n_out)
{
	char text[TEXT_MAX_BYTES];
	size_t n = 0;

	for (; *message && n + 1 < sizeof(text); message++) {
		uint64_t c;

		if (message[0] == '%' && message[1] && message[2] &&
		    str_parse_u64((struct str){ message + 1, 2 }, 16, 0xff, &c) == 0) {
			text[n++] = (char)c;
			message += 2;
		} else {
			text[n++] = message[0];
		}
	}
	str_copy_utf8(out, n_out, (struct str){ text, n });
}

/* A google.rpc.Status in base64 that has one names its type. */
static bool has_retry_info(const char *details)
{
	static const char type[] = "google.rpc.RetryInfo";
	_cleanup_buf_ struct buf padded = BUF_INIT((size_t)64 << 10);
	gnutls_datum_t plain = { 0 };

	(void)buf_append_str(&padded, details);
	while (padded.len % 4 != 0 && !padded.failed)
		(void)buf_append_char(&padded, '=');
	const gnutls_datum_t coded = { (unsigned char *)padded.data, (unsigned int)padded.len };
	if (padded.len == 0 || padded.failed || gnutls_base64_decode2(&coded, &plain) < 0)
		return false;
	bool has = memmem(plain.data, plain.size, type, sizeof(type) - 1) != NULL;
	gnutls_free(plain.data);
	return has;
}

static bool is_temporary(const struct grpc_answer *a, const char *text, uint64_t status,
			 bool retry_when_exhausted)
{
	switch (status) {
	case GRPC_CANCELLED:
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_ABORTED:
	case GRPC_OUT_OF_RANGE:
	case GRPC_UNAVAILABLE:
	case GRPC_DATA_LOSS:
		return true;
	case GRPC_UNKNOWN:
		return otlp_is_later(text, retry_when_exhausted);
	case GRPC_RESOURCE_EXHAUSTED:
		return retry_when_exhausted && has_retry_info(a->details);
	default:
		return false;
	}
}

static enum push_verdict judge_refusal(const struct grpc_answer *a, uint64_t status,
				       bool retry_when_exhausted, struct push_reason *reason)
{
	char text[TEXT_MAX_BYTES];

	put_message(a->message, text, sizeof(text));
	(void)snprintf(reason->text, sizeof(reason->text), "%s: %s",
		       status < GRPC_STATUS_MAX ? status_names[status] : "unknown status", text);
	return is_temporary(a, text, status, retry_when_exhausted) ? PUSH_RETRY : PUSH_DROP;
}

static enum push_verdict unreadable(struct push_reason *reason)
{
	(void)snprintf(reason->text, sizeof(reason->text), "OK, but the answer cannot be read");
	return PUSH_RETRY;
}

/* False: not exactly one member of gzip, or too much of it. */
static bool inflate_message(struct str packed, char *out, size_t *n)
{
	z_stream z = { .next_in = (Bytef *)packed.p,
		       .avail_in = (uInt)packed.n,
		       .next_out = (Bytef *)out,
		       .avail_out = (uInt)*n };

	if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		return false;
	bool ended = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0;
	*n -= z.avail_out;
	(void)inflateEnd(&z);
	return ended;
}

/* grpc-go answers a gzip'd message with one, whatever the client has said of itself. */
static enum push_verdict judge_packed(struct str message, struct push_reason *reason)
{
	char plain[MESSAGE_MAX_BYTES];
	size_t n = sizeof(plain);

	return inflate_message(message, plain, &n)
		       ? otlp_answer_judge((struct str){ plain, n }, reason)
		       : unreadable(reason);
}

/* One message. */
static enum push_verdict judge_message(struct str body, struct push_reason *reason)
{
	const uint8_t *p = (const uint8_t *)body.p;
	struct str message;

	if (body.n < FRAME_BYTES || p[0] > 1 ||
	    ((size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4]) !=
		    body.n - FRAME_BYTES)
		return unreadable(reason);
	message = (struct str){ body.p + FRAME_BYTES, body.n - FRAME_BYTES };
	return p[0] ? judge_packed(message, reason) : otlp_answer_judge(message, reason);
}

/* As gRPC has it for what proxies say. */
static enum push_verdict judge_http(const struct grpc_answer *a, struct push_reason *reason)
{
	char type[64];

	str_copy_utf8(type, sizeof(type), str_from(a->content_type));
	(void)snprintf(reason->text, sizeof(reason->text),
		       "%u, but the answer is not gRPC's (content type \"%s\")", a->http_status,
		       type);
	switch (a->http_status) {
	case 429:
	case 502 ... 504:
		return PUSH_RETRY;
	default:
		return *type || a->http_status != 200 ? PUSH_DROP : PUSH_RETRY;
	}
}

static bool is_grpc(const struct grpc_answer *a)
{
	return push_content_type_is(a->content_type, CONTENT_TYPE) ||
	       push_content_type_is(a->content_type, CONTENT_TYPE "+proto");
}

enum push_verdict grpc_answer_judge(const struct grpc_answer *a, bool retry_when_exhausted,
				    struct push_reason *ret_reason)
{
	uint64_t status;

	if (a->http_status != 200 || !is_grpc(a))
		return judge_http(a, ret_reason);
	if (str_parse_u64(str_from(a->status), 10, UINT32_MAX, &status) < 0) {
		(void)snprintf(ret_reason->text, sizeof(ret_reason->text),
			       "the answer ends without a status");
		return PUSH_RETRY;
	}
	return status == GRPC_OK ? judge_message(a->body, ret_reason)
				 : judge_refusal(a, status, retry_when_exhausted, ret_reason);
}

static enum push_verdict judge(const struct http_result *result, bool retry_on_http_429,
			       struct push_reason *ret_reason)
{
	const struct grpc_answer answer = {
		.http_status = result->status,
		.content_type = result->content_type,
		.status = http_result_trailer(result, "grpc-status"),
		.message = http_result_trailer(result, "grpc-message"),
		.details = http_result_trailer(result, "grpc-status-details-bin"),
		.body = { result->body, result->n_body },
	};

	if (push_has_answer(result))
		return grpc_answer_judge(&answer, retry_on_http_429, ret_reason);
	str_copy_utf8(ret_reason->text, sizeof(ret_reason->text), str_from(result->error));
	return PUSH_RETRY;
}

#define OTLP_GRPC(HEADERS, ENCODE)                                                    \
	{                                                                             \
		.server = "OTLP server",                                              \
		.path = "/opentelemetry.proto.collector.profiles.v1development."      \
			"ProfilesService/Export",                                     \
		.only_http2 = true, .headers = HEADERS, .batch = 1, .encode = ENCODE, \
		.judge = judge                                                        \
	}

const struct push_protocol push_otlp_grpc = OTLP_GRPC(plain_headers, encode_plain);
const struct push_protocol push_otlp_grpc_gzip = OTLP_GRPC(gzip_headers, encode_gzip);
