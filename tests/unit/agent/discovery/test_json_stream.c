/* SPDX-License-Identifier: Apache-2.0 */
/* Objects one after the other, in whatever pieces they come. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/json_stream.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_BYTES 32

static const struct row {
	const char *name;
	const char *text;
	int result;
	const char *seen; /* the values of "a", up to the failure */
} rows[] = {
	{ "nothing", "", 0, "" },
	{ "one", "{\"a\":1}\n", 0, "1 " },
	{ "two", "{\"a\":1}\n{\"a\":2}\n", 0, "1 2 " },
	{ "blank lines, blanks, carriage returns", "\n \n\r\n  {\"a\":1} \r\n\n{\"a\":2}\n\n", 0,
	  "1 2 " },
	{ "not whole yet", "{\"a\":1}\n{\"a\":2", 0, "1 " },
	{ "a line that is no JSON", "{\"a\":1}\nfoo\n{\"a\":2}\n", -EBADMSG, "1 " },
	{ "an array", "[1]\n", -EBADMSG, "" },
	{ "two in one line", "{\"a\":1}{\"a\":2}\n", -EBADMSG, "" },
	{ "an object in two lines", "{\"a\":\n1}\n", -EBADMSG, "" },
	{ "as large as may be", "{\"a\":1,\"b\":\"23456789012345678\"}\n", 0, "1 " },
	{ "too large", "{\"a\":1,\"b\":\"2345678901234567890\"}\n", -EMSGSIZE, "" },
	{ "too large, without an end", "{\"a\":1,\"b\":\"23456789012345678901234567890", -EMSGSIZE,
	  "" },
	{ "told to stop", "{\"a\":1}\n{\"a\":-7}\n{\"a\":2}\n", -7, "1 -7 " },
};

static int take(json_t *object, void *data)
{
	json_int_t a = json_integer_value(json_object_get(object, "a"));

	(void)buf_printf(data, "%d ", (int)a);
	return a < 0 ? (int)a : 0;
}

static int feed_in_pieces(struct json_stream *s, const char *text, size_t n_piece, struct buf *seen)
{
	size_t n = strlen(text);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i += n_piece)
		r = json_stream_feed(s, text + i, MIN_OF(n_piece, n - i), take, seen);
	return r;
}

static void test_row(void **state)
{
	const struct row *row = *state;

	for (size_t n_piece = 1; n_piece <= strlen(row->text) + 1; n_piece++) {
		_cleanup_buf_ struct buf seen = BUF_INIT(1024);
		struct json_stream s;

		json_stream_init(&s, MAX_BYTES);
		assert_int_equal(feed_in_pieces(&s, row->text, n_piece, &seen), row->result);
		assert_string_equal(buf_str(&seen), row->seen);
		json_stream_fini(&s);
	}
}

static void test_reset(void **state)
{
	_cleanup_buf_ struct buf seen = BUF_INIT(1024);
	struct json_stream s;

	(void)state;
	json_stream_init(&s, MAX_BYTES);
	assert_int_equal(json_stream_feed(&s, "{\"a\":", 5, take, &seen), 0);
	json_stream_reset(&s);
	assert_int_equal(json_stream_feed(&s, "{\"a\":2}\n", 8, take, &seen), 0);
	assert_string_equal(buf_str(&seen), "2 ");
	json_stream_fini(&s);
}

static const struct unit_test tests[] = {
	TEST(test_reset),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
