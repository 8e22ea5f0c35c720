/* SPDX-License-Identifier: Apache-2.0 */
/* Table test of what an answer to OTLP over HTTP means, and which headers there are. */
#include <string.h>

#include "agent/push/protocol.h"
#include "tests/support/unit.h"

#define PROTO "application/x-protobuf"
#define JSON "application/json"
#define HTML "text/html; charset=utf-8"
/* partial_success { rejected_profiles: 2 error_message: "too old" }, and without a number. */
#define REJECTED "\x0a\x0b\x08\x02\x12\x07too old"
#define WARNED "\x0a\x09\x12\x07too old"
/* google.rpc.Status { code: 3 message: "bad" } */
#define STATUS             \
	"\x08\x03\x12\x03" \
	"bad"

#define WRAPPED "failed to make a GRPC request: push series with index 0 and id 1 failed: "
#define LIMIT WRAPPED "resource_exhausted: push rate limit (4.0 MiB) exceeded while adding 1.4 MiB"
#define AWAY WRAPPED "at least 1 live replicas required, could only find 0"
#define INVALID WRAPPED "invalid_argument: profile is outside of the window"

static const struct row {
	const char *name;
	enum http_outcome outcome;
	unsigned int status;
	const char *type;
	const char *body;
	bool no_retry_on_429;
	enum push_verdict verdict;
	const char *reason;
} rows[] = {
	{ "200", HTTP_DONE, 200, PROTO, "", false, PUSH_SENT, "" },
	{ "200 of Pyroscope", HTTP_DONE, 200, "application/protobuf; x=y", "", false, PUSH_SENT,
	  "" },
	{ "202 json", HTTP_DONE, 202, JSON, "{}", false, PUSH_SENT, "" },
	{ "warned", HTTP_DONE, 200, PROTO, WARNED, false, PUSH_SENT, "" },
	{ "rejected", HTTP_DONE, 200, PROTO, REJECTED, false, PUSH_DROP,
	  "200, but 2 profiles were rejected: too old" },
	{ "rejected in json", HTTP_DONE, 200, JSON,
	  "{\"partialSuccess\":{\"rejectedProfiles\":\"3\",\"errorMessage\":\"x\\u0007\"}}", false,
	  PUSH_DROP, "200, but 3 profiles were rejected: x?" },
	{ "rejected in json, as a number", HTTP_DONE, 200, JSON,
	  "{\"partialSuccess\":{\"rejectedProfiles\":1}}", false, PUSH_DROP,
	  "200, but 1 profiles were rejected: " },
	{ "warned in json", HTTP_DONE, 200, JSON, "{\"partialSuccess\":{\"errorMessage\":\"x\"}}",
	  false, PUSH_SENT, "" },
	{ "no message", HTTP_DONE, 200, PROTO, "\x0a\xff", false, PUSH_RETRY,
	  "200, but the answer cannot be read" },
	{ "no json", HTTP_DONE, 200, JSON, "[", false, PUSH_RETRY,
	  "200, but the answer cannot be read" },
	{ "200 html", HTTP_DONE, 200, HTML, "<html>", false, PUSH_DROP,
	  "200, but the answer is not OTLP's (content type \"text/html; charset=utf-8\")" },
	{ "200 without type", HTTP_DONE, 200, "", "", false, PUSH_RETRY,
	  "200, but the answer is not OTLP's (content type \"\")" },
	{ "301", HTTP_DONE, 301, "", "", false, PUSH_DROP,
	  "301: redirected, which was not followed" },
	{ "400 status", HTTP_DONE, 400, PROTO, STATUS, false, PUSH_DROP, "400: bad" },
	{ "400 no status", HTTP_DONE, 400, PROTO, "\xff", false, PUSH_DROP, "400" },
	{ "400 text", HTTP_DONE, 400, "text/plain", "Failed to parse\nmore", false, PUSH_DROP,
	  "400: Failed to parse" },
	{ "401", HTTP_DONE, 401, HTML, "<html>", false, PUSH_DROP, "401" },
	{ "404", HTTP_DONE, 404, "text/plain", "404 page not found\n", false, PUSH_DROP,
	  "404: 404 page not found" },
	{ "408", HTTP_DONE, 408, "", "", false, PUSH_DROP, "408" },
	{ "413", HTTP_DONE, 413, "", "", false, PUSH_DROP, "413" },
	{ "415", HTTP_DONE, 415, "", "", false, PUSH_DROP, "415" },
	{ "429", HTTP_DONE, 429, "", "", false, PUSH_RETRY, "429" },
	{ "429 not wanted", HTTP_DONE, 429, "", "", true, PUSH_DROP, "429" },
	{ "500", HTTP_DONE, 500, "", "", false, PUSH_DROP, "500" },
	{ "500 of Pyroscope's limit", HTTP_DONE, 500, "text/plain", LIMIT, false, PUSH_RETRY,
	  "500: " LIMIT },
	{ "500 of Pyroscope's limit, not wanted", HTTP_DONE, 500, "text/plain", LIMIT, true,
	  PUSH_DROP, "500: " LIMIT },
	{ "500 of a part that is away", HTTP_DONE, 500, "text/plain", AWAY, true, PUSH_RETRY,
	  "500: " AWAY },
	{ "500 for good", HTTP_DONE, 500, "text/plain", INVALID, false, PUSH_DROP,
	  "500: " INVALID },
	{ "500 of others", HTTP_DONE, 500, "text/plain", "x: resource_exhausted: y", false,
	  PUSH_DROP, "500: x: resource_exhausted: y" },
	{ "501", HTTP_DONE, 501, "", "", false, PUSH_DROP, "501" },
	{ "502", HTTP_DONE, 502, HTML, "<html>", false, PUSH_RETRY, "502" },
	{ "503", HTTP_DONE, 503, "", "", false, PUSH_RETRY, "503" },
	{ "504", HTTP_DONE, 504, "", "", false, PUSH_RETRY, "504" },
	{ "505", HTTP_DONE, 505, "", "", false, PUSH_DROP, "505" },
	{ "timeout", HTTP_TIMEOUT, 0, "", "", false, PUSH_RETRY, "why" },
	{ "connect", HTTP_CONNECT_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "tls", HTTP_TLS_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "reset", HTTP_BROKEN, 200, PROTO, "", false, PUSH_RETRY, "why" },
	{ "too large a page", HTTP_TOO_LARGE, 200, HTML, "<", false, PUSH_DROP,
	  "200, but the answer is not OTLP's (content type \"text/html; charset=utf-8\")" },
	{ "hostile text", HTTP_DONE, 400, "text/plain", "a\x1b[31m\xff", false, PUSH_DROP,
	  "400: a?[31m\xef\xbf\xbd" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	const struct http_result result = { .outcome = row->outcome,
					    .status = row->status,
					    .content_type = row->type,
					    .retry_after = "",
					    .body = row->body,
					    .n_body = strlen(row->body),
					    .error = "why" };
	struct push_reason reason;

	assert_int_equal(push_otlp_http.judge(&result, !row->no_retry_on_429, &reason),
			 row->verdict);
	assert_string_equal(reason.text, row->reason);
}

static void test_headers(void **state)
{
	struct push_headers h;

	(void)state;
	push_otlp_http.headers(1, &h);
	assert_int_equal(h.n, 1);
	assert_string_equal(h.items[0].value, PROTO);
	push_otlp_http_gzip.headers(1, &h);
	assert_int_equal(h.n, 2);
	assert_string_equal(h.items[1].name, "Content-Encoding");
	assert_string_equal(h.items[1].value, "gzip");
	assert_true(push_header_is_ours(&push_otlp_http, "content-encoding"));
	assert_false(push_header_is_ours(&push_otlp_http, "X-Scope-OrgID"));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_headers),
};

TEST_MAIN(tests)
