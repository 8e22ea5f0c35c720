/* SPDX-License-Identifier: Apache-2.0 */
/* Table test of what an answer means. */
#include <string.h>

#include "agent/push/verdict.h"
#include "tests/support/unit.h"

#define PROTO "application/proto"
#define JSON "application/json"
#define HTML "text/html; charset=utf-8"

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
	{ "200 proto", HTTP_DONE, 200, PROTO, "", false, PUSH_SENT, "" },
	{ "200 json", HTTP_DONE, 200, "application/json; charset=utf-8", "{}", false, PUSH_SENT,
	  "" },
	{ "200 html", HTTP_DONE, 200, HTML, "<html>", false, PUSH_DROP,
	  "200, but the answer is not Pyroscope's (content type \"text/html; charset=utf-8\")" },
	{ "200 without type", HTTP_DONE, 200, "", "", false, PUSH_RETRY,
	  "200, but the answer is not Pyroscope's (content type \"\")" },
	{ "301", HTTP_DONE, 301, "", "", false, PUSH_DROP,
	  "301: redirected, which was not followed" },
	{ "400", HTTP_DONE, 400, JSON,
	  "{\"code\":\"invalid_argument\",\"message\":\"no profiles received\"}", false, PUSH_DROP,
	  "400 invalid_argument: no profiles received" },
	{ "400 of a proxy", HTTP_DONE, 400, HTML, "<html>", false, PUSH_DROP,
	  "400 (content type \"text/html; charset=utf-8\")" },
	{ "400 saying unavailable", HTTP_DONE, 400, JSON, "{\"code\":\"unavailable\"}", false,
	  PUSH_DROP, "400 unavailable: " },
	{ "401", HTTP_DONE, 401, JSON, "{\"code\":\"unauthenticated\",\"message\":\"no org id\"}",
	  false, PUSH_DROP, "401 unauthenticated: no org id" },
	{ "401 text", HTTP_DONE, 401, "text/plain", "Unauthorized\nmore", false, PUSH_DROP,
	  "401: Unauthorized" },
	{ "403", HTTP_DONE, 403, HTML, "", false, PUSH_DROP,
	  "403 (content type \"text/html; charset=utf-8\")" },
	{ "404", HTTP_DONE, 404, "text/plain", "404 page not found\n", false, PUSH_DROP,
	  "404: 404 page not found" },
	{ "408", HTTP_DONE, 408, "", "", false, PUSH_RETRY, "408 (content type \"\")" },
	{ "409", HTTP_DONE, 409, JSON, "{\"code\":\"already_exists\",\"message\":\"x\"}", false,
	  PUSH_DROP, "409 already_exists: x" },
	{ "409 aborted", HTTP_DONE, 409, JSON, "{\"code\":\"aborted\",\"message\":\"x\"}", false,
	  PUSH_RETRY, "409 aborted: x" },
	{ "413", HTTP_DONE, 413, HTML, "", false, PUSH_DROP,
	  "413 (content type \"text/html; charset=utf-8\")" },
	{ "422", HTTP_DONE, 422, "", "", false, PUSH_DROP, "422 (content type \"\")" },
	{ "429", HTTP_DONE, 429, JSON, "{\"code\":\"resource_exhausted\",\"message\":\"rate\"}",
	  false, PUSH_RETRY, "429 resource_exhausted: rate" },
	{ "429 not wanted", HTTP_DONE, 429, JSON,
	  "{\"code\":\"resource_exhausted\",\"message\":\"rate\"}", true, PUSH_DROP,
	  "429 resource_exhausted: rate" },
	{ "429 of a proxy, not wanted", HTTP_DONE, 429, "", "", true, PUSH_DROP,
	  "429 (content type \"\")" },
	{ "499", HTTP_DONE, 499, JSON, "{\"code\":\"canceled\"}", false, PUSH_DROP,
	  "499 canceled: " },
	{ "500", HTTP_DONE, 500, JSON, "{\"code\":\"unknown\",\"message\":\"panic\"}", false,
	  PUSH_RETRY, "500 unknown: panic" },
	{ "501", HTTP_DONE, 501, JSON, "{\"code\":\"unimplemented\",\"message\":\"m\"}", false,
	  PUSH_DROP, "501 unimplemented: m" },
	{ "502", HTTP_DONE, 502, HTML, "<html>", false, PUSH_RETRY,
	  "502 (content type \"text/html; charset=utf-8\")" },
	{ "503", HTTP_DONE, 503, "", "", false, PUSH_RETRY, "503 (content type \"\")" },
	{ "504", HTTP_DONE, 504, "", "", false, PUSH_RETRY, "504 (content type \"\")" },
	{ "505", HTTP_DONE, 505, "", "", false, PUSH_DROP, "505 (content type \"\")" },
	{ "520", HTTP_DONE, 520, "", "", false, PUSH_RETRY, "520 (content type \"\")" },
	{ "0", HTTP_DONE, 0, "", "", false, PUSH_RETRY, "why" },
	{ "999", HTTP_DONE, 999, "", "", false, PUSH_DROP, "999 (content type \"\")" },
	{ "timeout", HTTP_TIMEOUT, 0, "", "", false, PUSH_RETRY, "why" },
	{ "timeout after the status", HTTP_TIMEOUT, 200, PROTO, "", false, PUSH_RETRY, "why" },
	{ "resolve", HTTP_RESOLVE_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "connect", HTTP_CONNECT_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "tls", HTTP_TLS_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "broken", HTTP_BROKEN, 200, PROTO, "", false, PUSH_RETRY, "why" },
	{ "stopped", HTTP_STOPPED, 200, PROTO, "", false, PUSH_RETRY, "why" },
	{ "failed", HTTP_FAILED, 0, "", "", false, PUSH_RETRY, "why" },
	{ "too large a refusal", HTTP_TOO_LARGE, 400, HTML, "<html>", false, PUSH_DROP,
	  "400 (content type \"text/html; charset=utf-8\")" },
	{ "too large an error", HTTP_TOO_LARGE, 500, "", "", false, PUSH_RETRY,
	  "500 (content type \"\")" },
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

	assert_int_equal(push_judge(&result, !row->no_retry_on_429, &reason), row->verdict);
	assert_string_equal(reason.text, row->reason);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
