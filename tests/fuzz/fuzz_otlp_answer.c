/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to OTLP: whatever a server or a proxy sends, the verdict is one, and the reason short, printable UTF-8. The first byte says what the
 * rest is.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/push/otlp_grpc.h"
#include "agent/push/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX_BYTES 4096

static void check(enum push_verdict verdict, const struct push_reason *reason)
{
	struct str s = str_from(reason->text);

	assert(verdict == PUSH_SENT || verdict == PUSH_RETRY || verdict == PUSH_DROP);
	assert((verdict == PUSH_SENT) == (s.n == 0));
	assert(s.n < sizeof(reason->text) && str_is_utf8(s));
	for (size_t i = 0; i < s.n; i++)
		assert((unsigned char)s.p[i] >= ' ');
}

/* A body of HTTP. */
static void judge_http(struct str body, bool refused)
{
	static const char *const types[] = { "application/x-protobuf", "application/json",
					     "text/plain" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct http_result result = { .outcome = HTTP_DONE,
						    .status = refused ? 400 : 200,
						    .content_type = types[i],
						    .retry_after = "",
						    .body = body.p,
						    .n_body = body.n,
						    .error = "" };
		struct push_reason reason;

		check(push_otlp_http.judge(&result, true, &reason), &reason);
	}
}

/* A body of gRPC, or a text that stands where status, message and details do. */
static void judge_grpc(struct str body, bool as_text)
{
	char text[TEXT_MAX_BYTES];
	struct push_reason reason;
	struct grpc_answer answer = { .http_status = 200,
				      .content_type = "application/grpc",
				      .status = "0",
				      .message = "",
				      .details = "",
				      .body = body };

	if (as_text) {
		size_t n = body.n < sizeof(text) ? body.n : sizeof(text) - 1;

		memcpy(text, body.p, n);
		text[n] = '\0';
		answer.status = "8";
		answer.message = answer.details = text;
		answer.body = (struct str){ "", 0 };
	}
	check(grpc_answer_judge(&answer, true, &reason), &reason);
	if (as_text) {
		answer.status = answer.content_type = text;
		check(grpc_answer_judge(&answer, true, &reason), &reason);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str body = { size > 1 ? (const char *)data + 1 : "", size > 1 ? size - 1 : 0 };

	if (size == 0)
		return 0;
	switch (data[0] & 3) {
	case 0:
	case 1:
		judge_http(body, data[0] & 1);
		break;
	default:
		judge_grpc(body, data[0] & 1);
		break;
	}
	return 0;
}
