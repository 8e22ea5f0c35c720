/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
#include "agent/push/otlp_answer.h"
#include "agent/push/otlp_body.h"
#include "agent/push/protocol.h"

#define PROTOBUF "application/x-protobuf"
#define TEXT_MAX_BYTES 512

static void plain_headers(uint64_t timeout_ns, struct push_headers *h)
{
	(void)timeout_ns;
	h->n = 0;
	h->items[h->n++] = (struct http_header){ "Content-Type", PROTOBUF };
}

static void gzip_headers(uint64_t timeout_ns, struct push_headers *h)
{
	plain_headers(timeout_ns, h);
	h->items[h->n++] = (struct http_header){ "Content-Encoding", "gzip" };
}

static int encode_plain(const struct push_profile *const *profiles, size_t n,
			struct push_body *body)
{
	(void)n;
	return otlp_body(profiles[0], false, false, body);
}

static int encode_gzip(const struct push_profile *const *profiles, size_t n, struct push_body *body)
{
	(void)n;
	return otlp_body(profiles[0], true, false, body);
}

static bool is_protobuf(const struct http_result *result)
{
	return push_content_type_is(result->content_type, PROTOBUF) ||
	       push_content_type_is(result->content_type, "application/protobuf");
}

/* Any other server says 200 as well: a page to log in at would swallow profiles. One whose headers were cut off has no type. */
static enum push_verdict judge_success(const struct http_result *result, struct push_reason *reason)
{
	struct str body = { result->body, result->n_body };
	char type[64];

	if (is_protobuf(result))
		return otlp_answer_judge(body, reason);
	if (push_content_type_is(result->content_type, "application/json"))
		return otlp_answer_judge_json(body, reason);
	str_copy_utf8(type, sizeof(type), str_from(result->content_type));
	(void)snprintf(reason->text, sizeof(reason->text),
		       "%u, but the answer is not OTLP's (content type \"%s\")", result->status,
		       type);
	return *type ? PUSH_DROP : PUSH_RETRY;
}

/* `text` is what it says; "": nothing. */
static void explain(const struct http_result *result, char text[static TEXT_MAX_BYTES],
		    struct push_reason *reason)
{
	struct str body = { result->body, result->n_body };
	*text = '\0';
	if (!is_protobuf(result) || !otlp_status_text(body, text, TEXT_MAX_BYTES))
		push_quote_text(result, text, TEXT_MAX_BYTES);
	if (*text)
		(void)snprintf(reason->text, sizeof(reason->text), "%u: %s", result->status, text);
	else
		(void)snprintf(reason->text, sizeof(reason->text), "%u%s", result->status,
			       result->status / 100 == 3 ? ": redirected, which was not followed"
							 : "");
}

/* What is sent again is said by the protocol: these, and nothing else but what Pyroscope says in other words. */
static enum push_verdict judge(const struct http_result *result, bool retry_on_http_429,
			       struct push_reason *ret_reason)
{
	char text[TEXT_MAX_BYTES];

	if (!push_has_answer(result)) {
		str_copy_utf8(ret_reason->text, sizeof(ret_reason->text), str_from(result->error));
		return PUSH_RETRY;
	}
	if (result->status / 100 == 2)
		return judge_success(result, ret_reason);
	explain(result, text, ret_reason);
	switch (result->status) {
	case 429:
		return retry_on_http_429 ? PUSH_RETRY : PUSH_DROP;
	case 500:
		return otlp_is_later(text, retry_on_http_429) ? PUSH_RETRY : PUSH_DROP;
	case 502 ... 504:
		return PUSH_RETRY;
	default:
		return PUSH_DROP;
	}
}

#define OTLP_HTTP(HEADERS, ENCODE)                                                              \
	{                                                                                       \
		.server = "OTLP server", .path = "/v1development/profiles", .headers = HEADERS, \
		.batch = 1, .encode = ENCODE, .judge = judge                                    \
	}

const struct push_protocol push_otlp_http = OTLP_HTTP(plain_headers, encode_plain);
const struct push_protocol push_otlp_http_gzip = OTLP_HTTP(gzip_headers, encode_gzip);
