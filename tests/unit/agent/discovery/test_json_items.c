/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a list, in whatever pieces it comes. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/json_items.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_ITEM_BYTES 40
#define PAD_40 "0123456789012345678901234567890123456789"

static const struct row {
	const char *name;
	const char *text;
	int result;	  /* of feeding, else of the end */
	const char *seen; /* the values of "a" */
	const char *rest; /* NULL: there is none */
	size_t n_too_large;
} rows[] = {
	{ "a list", "{\"kind\":\"L\",\"items\":[{\"a\":1},{\"a\":2}],\"m\":{\"v\":\"3\"}}", 0,
	  "1 2 ", "{\"kind\":\"L\",\"items\":[],\"m\":{\"v\":\"3\"}}", 0 },
	{ "laid out", "\n{\n \"items\" : [\n  {\n   \"a\" : 1\n  } ,\r\n\t{ \"a\":2 }\n ] \n}\n", 0,
	  "1 2 ", "{\"items\":[]}", 0 },
	{ "no items", "{\"items\":[],\"k\":1}", 0, "", "{\"items\":[],\"k\":1}", 0 },
	{ "null instead", "{\"items\":null}", 0, "", "{\"items\":null}", 0 },
	{ "brackets in items", "{\"items\":[{\"a\":1,\"b\":[{},[{}]]},{\"a\":2}]}", 0, "1 2 ",
	  "{\"items\":[]}", 0 },
	{ "brackets and quotes in texts",
	  "{\"x\":\"]}{\\\"[\",\"items\":[{\"a\":1,\"b\":\"}]\\\\\"},{\"a\":2,\"b\":\"\\\"}\"}]}",
	  0, "1 2 ", "{\"x\":\"]}{\\\"[\",\"items\":[]}", 0 },
	{ "items deeper down are none",
	  "{\"m\":{\"items\":[{\"a\":1}]},\"n\":[{\"items\":[{\"a\":2}]}],\"items\":[{\"a\":3}]}",
	  0, "3 ", "{\"m\":{\"items\":[{\"a\":1}]},\"n\":[{\"items\":[{\"a\":2}]}],\"items\":[]}",
	  0 },
	{ "other arrays at the top",
	  "{\"itemsx\":[{\"a\":1}],\"item\":[{\"a\":2}],\"b\":\"items\"}", 0, "",
	  "{\"itemsx\":[{\"a\":1}],\"item\":[{\"a\":2}],\"b\":\"items\"}", 0 },
	{ "one too large", "{\"items\":[{\"a\":1},{\"b\":\"" PAD_40 "\"},{\"a\":2}]}", 0, "1 2 ",
	  "{\"items\":[]}", 1 },
	{ "as large as may be", "{\"items\":[{\"a\":1,\"b\":\"34567890123456789012345678\"}]}", 0,
	  "1 ", "{\"items\":[]}", 0 },
	{ "told to stop", "{\"items\":[{\"a\":1},{\"a\":-7},{\"a\":2}]}", -7, "1 -7 ", NULL, 0 },
	{ "an item that is no JSON", "{\"items\":[{\"a\":1},{a}]}", -EBADMSG, "1 ", NULL, 0 },
	{ "an item that is no object", "{\"items\":[{\"a\":1},5]}", -EBADMSG, "1 ", NULL, 0 },
	{ "an item that is an array", "{\"items\":[[{\"a\":1}]]}", -EBADMSG, "", NULL, 0 },
	{ "a text among the items", "{\"items\":[\"{\"]}", -EBADMSG, "", NULL, 0 },
	{ "a wrong bracket ends the items", "{\"items\":[{\"a\":1}}", -EBADMSG, "1 ", NULL, 0 },
	{ "a bracket too many", "{\"items\":[]}}", -EBADMSG, "", NULL, 0 },
	{ "not whole: in an item", "{\"items\":[{\"a\":1},{\"a\":", -EBADMSG, "1 ", NULL, 0 },
	{ "not whole: behind the items", "{\"items\":[{\"a\":1}]", -EBADMSG, "1 ", NULL, 0 },
	{ "not whole: in a text", "{\"k\":\"v", -EBADMSG, "", NULL, 0 },
	{ "nothing", "", -EBADMSG, "", NULL, 0 },
	{ "no JSON", "<html></html>", -EBADMSG, "", NULL, 0 },
	{ "an array", "[{\"a\":1}]", -EBADMSG, "", NULL, 0 },
	{ "two answers", "{\"items\":[]}{\"items\":[]}", -EBADMSG, "", NULL, 0 },
};

static int take(json_t *item, void *data)
{
	json_int_t a = json_integer_value(json_object_get(item, "a"));

	(void)buf_printf(data, "%d ", (int)a);
	return a < 0 ? (int)a : 0;
}

static int feed_in_pieces(struct json_items *s, const char *text, size_t n_piece, struct buf *seen)
{
	size_t n = strlen(text);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i += n_piece)
		r = json_items_feed(s, text + i, MIN_OF(n_piece, n - i), take, seen);
	return r;
}

static void assert_rest(json_t *rest, const char *expected)
{
	_cleanup_free_ char *text = json_dumps(rest, JSON_COMPACT);

	assert_string_equal(text, expected);
	json_decref(rest);
}

static void check(struct json_items *s, const struct row *row, size_t n_piece)
{
	_cleanup_buf_ struct buf seen = BUF_INIT(1024);
	json_t *rest = NULL;
	int r = feed_in_pieces(s, row->text, n_piece, &seen);

	if (r == 0)
		r = json_items_end(s, &rest);
	assert_int_equal(r, row->result);
	assert_string_equal(buf_str(&seen), row->seen);
	assert_int_equal(!rest, !row->rest);
	if (rest)
		assert_rest(rest, row->rest);
}

/* In pieces of every size, each time twice: what one answer leaves behind must not trouble the next. */
static void test_row(void **state)
{
	const struct row *row = *state;

	for (size_t n_piece = 1; n_piece <= strlen(row->text) + 1; n_piece++) {
		struct json_items s;

		json_items_init(&s, MAX_ITEM_BYTES);
		check(&s, row, n_piece);
		json_items_reset(&s);
		check(&s, row, n_piece);
		assert_int_equal(s.n_too_large, 2 * row->n_too_large);
		json_items_fini(&s);
	}
}

static void test_too_much_beside(void **state)
{
	_cleanup_free_ char *pad = malloc(JSON_ITEMS_MAX_REST_BYTES);
	struct json_items s;

	(void)state;
	assert_non_null(pad);
	memset(pad, 'x', JSON_ITEMS_MAX_REST_BYTES);
	json_items_init(&s, MAX_ITEM_BYTES);
	assert_int_equal(json_items_feed(&s, "{\"", 2, take, NULL), 0);
	assert_int_equal(json_items_feed(&s, pad, JSON_ITEMS_MAX_REST_BYTES, take, NULL),
			 -EMSGSIZE);
	json_items_fini(&s);
}

static const struct unit_test tests[] = {
	TEST(test_too_much_beside),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
