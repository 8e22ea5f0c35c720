/* SPDX-License-Identifier: Apache-2.0 */
/* Table test of what an answer of gRPC means, and which headers there are. */
#include <string.h>

#include "agent/push/otlp_grpc.h"
#include "agent/push/protocol.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define GRPC "application/grpc"
#define EMPTY "\0\0\0\0\0"
/* partial_success { rejected_profiles: 2 error_message: "too old" } */
#define REJECTED "\0\0\0\0\x0d\x0a\x0b\x08\x02\x12\x07too old"
/* A google.rpc.Status with a RetryInfo, in base64. */
#define RETRY_INFO "CAgSA2xvdxouCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgIKAA"
/* The same two, gzip'd. */
#define EMPTY_GZIP             \
	"\x01\x00\x00\x00\x14" \
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"
#define REJECTED_GZIP                                                                              \
	"\x01\x00\x00\x00\x21"                                                                     \
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xe3\xe2\xe6\x60\x12\x62\x2f\xc9\xcf\x57\xc8\xcf" \
	"\x49\x01\x00\xde\xdd\xb5\xe8\x0d\x00\x00\x00"
#define BYTES(text)                      \
	{                                \
		(text), sizeof(text) - 1 \
	}

static const struct row {
	const char *name;
	struct grpc_answer answer;
	bool no_retry_on_429;
	enum push_verdict verdict;
	const char *reason;
} rows[] = {
	{ "OK", { 200, GRPC, "0", "", "", BYTES(EMPTY) }, false, PUSH_SENT, "" },
	{ "OK of another codec's name",
	  { 200, GRPC "+proto", "0", "", "", BYTES(EMPTY) },
	  false,
	  PUSH_SENT,
	  "" },
	{ "rejected",
	  { 200, GRPC, "0", "", "", BYTES(REJECTED) },
	  false,
	  PUSH_DROP,
	  "200, but 2 profiles were rejected: too old" },
	{ "no message",
	  { 200, GRPC, "0", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "half a message",
	  { 200, GRPC, "0", "", "", BYTES("\0\0\0\0\x01") },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "two messages",
	  { 200, GRPC, "0", "", "", BYTES(EMPTY EMPTY) },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "gzip'd", { 200, GRPC, "0", "", "", BYTES(EMPTY_GZIP) }, false, PUSH_SENT, "" },
	{ "rejected, gzip'd",
	  { 200, GRPC, "0", "", "", BYTES(REJECTED_GZIP) },
	  false,
	  PUSH_DROP,
	  "200, but 2 profiles were rejected: too old" },
	{ "half of it gzip'd",
	  { 200, GRPC, "0", "", "", BYTES("\x01\0\0\0\x02\x1f\x8b") },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "not gzip'd",
	  { 200, GRPC, "0", "", "", BYTES("\x01\0\0\0\0") },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "packed otherwise",
	  { 200, GRPC, "0", "", "", BYTES("\x02\0\0\0\0") },
	  false,
	  PUSH_RETRY,
	  "OK, but the answer cannot be read" },
	{ "no status",
	  { 200, GRPC, "", "", "", BYTES(EMPTY) },
	  false,
	  PUSH_RETRY,
	  "the answer ends without a status" },
	{ "no number",
	  { 200, GRPC, "x", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "the answer ends without a status" },
	{ "CANCELLED", { 200, GRPC, "1", "", "", BYTES("") }, false, PUSH_RETRY, "CANCELLED: " },
	{ "UNKNOWN",
	  { 200, GRPC, "2", "a%20b%", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "UNKNOWN: a b%" },
	{ "INVALID_ARGUMENT",
	  { 200, GRPC, "3", "x%1b%ff", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "INVALID_ARGUMENT: x?\xef\xbf\xbd" },
	{ "DEADLINE_EXCEEDED",
	  { 200, GRPC, "4", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "DEADLINE_EXCEEDED: " },
	{ "PERMISSION_DENIED",
	  { 200, GRPC, "7", "", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "PERMISSION_DENIED: " },
	{ "UNKNOWN of Pyroscope's limit",
	  { 200, GRPC, "2", "failed to make a GRPC request: x: resource_exhausted: y", "",
	    BYTES("") },
	  false,
	  PUSH_RETRY,
	  "UNKNOWN: failed to make a GRPC request: x: resource_exhausted: y" },
	{ "UNKNOWN of Pyroscope's limit, not wanted",
	  { 200, GRPC, "2", "failed to make a GRPC request: x: resource_exhausted: y", "",
	    BYTES("") },
	  true,
	  PUSH_DROP,
	  "UNKNOWN: failed to make a GRPC request: x: resource_exhausted: y" },
	{ "exhausted for good",
	  { 200, GRPC, "8", "", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "RESOURCE_EXHAUSTED: " },
	{ "exhausted for now",
	  { 200, GRPC, "8", "low", RETRY_INFO, BYTES("") },
	  false,
	  PUSH_RETRY,
	  "RESOURCE_EXHAUSTED: low" },
	{ "exhausted, not wanted",
	  { 200, GRPC, "8", "low", RETRY_INFO, BYTES("") },
	  true,
	  PUSH_DROP,
	  "RESOURCE_EXHAUSTED: low" },
	{ "exhausted, of other words",
	  { 200, GRPC, "8", "low", "CAgSA2xvdw", BYTES("") },
	  false,
	  PUSH_DROP,
	  "RESOURCE_EXHAUSTED: low" },
	{ "exhausted, no base64",
	  { 200, GRPC, "8", "low", "\x01*", BYTES("") },
	  false,
	  PUSH_DROP,
	  "RESOURCE_EXHAUSTED: low" },
	{ "ABORTED", { 200, GRPC, "10", "", "", BYTES("") }, false, PUSH_RETRY, "ABORTED: " },
	{ "OUT_OF_RANGE",
	  { 200, GRPC, "11", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "OUT_OF_RANGE: " },
	{ "UNIMPLEMENTED",
	  { 200, GRPC, "12", "", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "UNIMPLEMENTED: " },
	{ "INTERNAL", { 200, GRPC, "13", "", "", BYTES("") }, false, PUSH_DROP, "INTERNAL: " },
	{ "UNAVAILABLE",
	  { 200, GRPC, "14", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "UNAVAILABLE: " },
	{ "DATA_LOSS", { 200, GRPC, "15", "", "", BYTES("") }, false, PUSH_RETRY, "DATA_LOSS: " },
	{ "a status nobody knows",
	  { 200, GRPC, "77", "", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "unknown status: " },
	{ "a page",
	  { 200, "text/html", "0", "", "", BYTES("<html>") },
	  false,
	  PUSH_DROP,
	  "200, but the answer is not gRPC's (content type \"text/html\")" },
	{ "nothing of it",
	  { 200, "", "", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "200, but the answer is not gRPC's (content type \"\")" },
	{ "404",
	  { 404, "", "", "", "", BYTES("") },
	  false,
	  PUSH_DROP,
	  "404, but the answer is not gRPC's (content type \"\")" },
	{ "429",
	  { 429, "", "", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "429, but the answer is not gRPC's (content type \"\")" },
	{ "502",
	  { 502, "text/html", "", "", "", BYTES("") },
	  false,
	  PUSH_RETRY,
	  "502, but the answer is not gRPC's (content type \"text/html\")" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct push_reason reason;

	assert_int_equal(grpc_answer_judge(&row->answer, !row->no_retry_on_429, &reason),
			 row->verdict);
	assert_string_equal(reason.text, row->reason);
}

/* Nobody answered. */
static void test_no_answer(void **state)
{
	const struct http_result result = { .outcome = HTTP_BROKEN,
					    .content_type = "",
					    .retry_after = "",
					    .body = "",
					    .error = "why" };
	struct push_reason reason;

	(void)state;
	assert_int_equal(push_otlp_grpc.judge(&result, true, &reason), PUSH_RETRY);
	assert_string_equal(reason.text, "why");
}

static void test_headers(void **state)
{
	static const struct {
		uint64_t ns;
		const char *timeout;
	} timeouts[] = { { 0, "1m" }, { 5 * NS_PER_S, "5000m" }, { UINT64_MAX, "99999999m" } };
	struct push_headers h;

	(void)state;
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
		push_otlp_grpc.headers(timeouts[i].ns, &h);
		assert_int_equal(h.n, 3);
		assert_string_equal(h.items[0].value, GRPC);
		assert_string_equal(h.items[1].name, "TE");
		assert_string_equal(h.items[1].value, "trailers");
		assert_string_equal(h.items[2].value, timeouts[i].timeout);
	}
	push_otlp_grpc_gzip.headers(1, &h);
	assert_int_equal(h.n, 4);
	assert_string_equal(h.items[3].name, "grpc-encoding");
	assert_string_equal(h.items[3].value, "gzip");
	assert_true(push_otlp_grpc.only_http2 && push_otlp_grpc_gzip.only_http2);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_no_answer),
	TEST(test_headers),
};

TEST_MAIN(tests)
