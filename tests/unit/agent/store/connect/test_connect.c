/* SPDX-License-Identifier: Apache-2.0 */
/* What headers of Connect say, errors, and compressed bodies. */
#include <string.h>
#include <zlib.h>

#include "agent/push/connect_error.h"
#include "agent/store/connect/connect.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct codec_row {
	const char *text;
	int codec; /* -1: none */
	const char *answer;
};

static const struct codec_row codec_rows[] = {
	{ "application/proto", CONNECT_PROTO, "application/proto" },
	{ "application/json", CONNECT_JSON, "application/json" },
	{ "APPLICATION/JSON", CONNECT_JSON, "application/json" },
	{ " application/json ", CONNECT_JSON, "application/json" },
	{ "application/json; charset=utf-8", CONNECT_JSON_UTF8, "application/json; charset=utf-8" },
	{ "application/json;charset=UTF-8", CONNECT_JSON_UTF8, "application/json; charset=utf-8" },
	{ "application/json; charset=\"utf-8\"", CONNECT_JSON_UTF8,
	  "application/json; charset=utf-8" },
	{ "application/json; charset=latin1", -1, NULL },
	{ "application/proto; charset=utf-8", -1, NULL },
	{ "application/jsonx", -1, NULL },
	{ "application/x-protobuf", -1, NULL },
	{ "application/grpc", -1, NULL },
	{ "text/plain", -1, NULL },
	{ ";", -1, NULL },
	{ "", -1, NULL },
	{ NULL, -1, NULL },
};

static void test_codecs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codec_rows); i++) {
		const struct codec_row *row = &codec_rows[i];
		enum connect_codec codec;
		bool known = connect_parse_codec(row->text, &codec);

		assert_int_equal(known, row->codec >= 0);
		if (!known)
			continue;
		assert_int_equal((int)codec, row->codec);
		assert_string_equal(connect_content_type(codec), row->answer);
	}
}

struct timeout_row {
	const char *text;
	bool ok;
	uint64_t ms;
};

static const struct timeout_row timeout_rows[] = {
	{ NULL, true, UINT64_MAX },  { "0", true, 0 },
	{ "1500", true, 1500 },	     { "9999999999", true, 9999999999 },
	{ "10000000000", false, 0 }, { "", false, 0 },
	{ "abc", false, 0 },	     { "-1", false, 0 },
	{ "1.5", false, 0 },
};

static void test_timeouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(timeout_rows); i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(200);
		uint64_t ms = 7;

		assert_int_equal(connect_parse_timeout(timeout_rows[i].text, &why, &ms),
				 timeout_rows[i].ok);
		assert_int_equal(why.len == 0, timeout_rows[i].ok);
		assert_int_equal(ms, timeout_rows[i].ok ? timeout_rows[i].ms : 7);
	}
}

static void test_encodings(void **state)
{
	(void)state;
	assert_int_equal(connect_parse_encoding(NULL), CONNECT_IDENTITY);
	assert_int_equal(connect_parse_encoding(""), CONNECT_IDENTITY);
	assert_int_equal(connect_parse_encoding("identity"), CONNECT_IDENTITY);
	assert_int_equal(connect_parse_encoding("gzip"), CONNECT_GZIP);
	assert_int_equal(connect_parse_encoding("zstd"), CONNECT_ENCODING_UNKNOWN);
	assert_int_equal(connect_parse_encoding("gzip, gzip"), CONNECT_ENCODING_UNKNOWN);
}

/* The other side of this agent understands each of them. */
static void test_errors(void **state)
{
	(void)state;
	for (enum rpc_code code = RPC_ok + 1; code < RPC_CODE_MAX; code++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct connect_error error;

		assert_int_equal(connect_put_error(&out, code, "a \"reason\""), 0);
		assert_true(connect_error_parse((struct str){ out.data, out.len }, &error));
		assert_string_equal(connect_code_name(error.code), rpc_code_name(code));
		assert_string_equal(error.message, "a \"reason\"");
		assert_true(rpc_code_status(code) >= 400);
	}
	assert_int_equal(rpc_code_status(RPC_ok), 200);
	assert_int_equal(rpc_code_status(RPC_unimplemented), 501);
	assert_int_equal(rpc_code_status(RPC_resource_exhausted), 429);
	assert_int_equal(rpc_code_status(RPC_canceled), 499);
}

static void test_error_without_words(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1000);

	(void)state;
	assert_int_equal(connect_put_error(&out, RPC_internal, ""), 0);
	assert_string_equal(buf_str(&out), "{\"code\":\"internal\"}");
}

static size_t gzip(const void *bytes, size_t n, uint8_t *out, size_t room)
{
	z_stream z = { .next_in = (Bytef *)bytes,
		       .avail_in = (uInt)n,
		       .next_out = out,
		       .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&z);
	return room - z.avail_out;
}

static void test_inflate(void **state)
{
	static char zeros[200000];
	static uint8_t packed[200000];
	_cleanup_buf_ struct buf room = BUF_INIT(sizeof(zeros)),
				 little = BUF_INIT(sizeof(zeros) - 1);
	size_t n = gzip(zeros, sizeof(zeros), packed, sizeof(packed));

	(void)state;
	assert_int_equal(connect_inflate(packed, n, &room), CONNECT_INFLATED);
	assert_int_equal(room.len, sizeof(zeros));
	assert_memory_equal(room.data, zeros, sizeof(zeros));
	assert_int_equal(connect_inflate(packed, n, &little), CONNECT_INFLATE_TOO_LARGE);
	for (size_t cut = 0; cut < n; cut += 7) {
		buf_reset(&room);
		assert_int_equal(connect_inflate(packed, cut, &room), CONNECT_INFLATE_BROKEN);
	}
	/* Nothing may follow. */
	packed[n] = 0;
	buf_reset(&room);
	assert_int_equal(connect_inflate(packed, n + 1, &room), CONNECT_INFLATE_BROKEN);
	packed[0] = 0;
	assert_int_equal(connect_inflate(packed, n, &room), CONNECT_INFLATE_BROKEN);
}

static const struct unit_test tests[] = {
	TEST(test_codecs),
	TEST(test_timeouts),
	TEST(test_encodings),
	TEST(test_errors),
	TEST(test_error_without_words),
	TEST(test_inflate),
};

TEST_MAIN(tests)
