/* SPDX-License-Identifier: Apache-2.0 */
/* Table test of the Connect error body. */
#include <stdlib.h>

#include "agent/push/connect_error.h"
#include "agent/util/cleanup.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name;
	const char *input;
	bool ok;
	enum connect_code code;
	const char *message;
} rows[] = {
	{ "usual", "{\"code\":\"invalid_argument\",\"message\":\"bad labels\"}", true,
	  CONNECT_invalid_argument, "bad labels" },
	{ "details",
	  "{\"code\":\"resource_exhausted\",\"message\":\"m\",\"details\":[{\"type\":\"t\","
	  "\"value\":\"v\"}]}",
	  true, CONNECT_resource_exhausted, "m" },
	{ "no message", "{\"code\":\"aborted\"}", true, CONNECT_aborted, "" },
	{ "unknown code", "{\"code\":\"whatever\",\"message\":\"m\"}", true, CONNECT_NONE, "m" },
	{ "name of none", "{\"code\":\"none\"}", true, CONNECT_NONE, "" },
	{ "message no string", "{\"code\":\"unknown\",\"message\":7}", true, CONNECT_unknown, "" },
	{ "control characters", "{\"code\":\"internal\",\"message\":\"a\\nb\\u0000c\"}", true,
	  CONNECT_internal, "a?b?c" },
	{ "code no string", "{\"code\":3,\"message\":\"m\"}", false, 0, NULL },
	{ "no code", "{\"message\":\"m\"}", false, 0, NULL },
	{ "array", "[\"code\"]", false, 0, NULL },
	{ "string", "\"code\"", false, 0, NULL },
	{ "empty", "", false, 0, NULL },
	{ "html", "<html><body>503</body></html>", false, 0, NULL },
	{ "cut", "{\"code\":\"internal\"", false, 0, NULL },
	{ "trailing garbage", "{\"code\":\"internal\"}x", false, 0, NULL },
	{ "not utf-8", "{\"code\":\"internal\",\"message\":\"\xff\"}", false, 0, NULL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct connect_error error = { .code = CONNECT_data_loss };

	assert_int_equal(connect_error_parse(str_from(row->input), &error), row->ok);
	assert_int_equal(error.code, row->ok ? row->code : CONNECT_data_loss);
	if (row->ok)
		assert_string_equal(error.message, row->message);
}

static void test_depth(void **state)
{
	_cleanup_free_ char *text = calloc(1, CONNECT_ERROR_MAX_BYTES);
	struct connect_error error;

	(void)state;
	assert_non_null(text);
	memset(text, '[', CONNECT_ERROR_MAX_BYTES);
	assert_false(connect_error_parse((struct str){ text, CONNECT_ERROR_MAX_BYTES }, &error));
}

static void test_lengths(void **state)
{
	static const char head[] = "{\"code\":\"internal\",\"message\":\"";
	_cleanup_free_ char *text = malloc(CONNECT_ERROR_MAX_BYTES + 1);
	struct connect_error error;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', CONNECT_ERROR_MAX_BYTES + 1);
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + CONNECT_ERROR_MAX_BYTES - 2, "\"} ", 3);
	assert_false(
		connect_error_parse((struct str){ text, CONNECT_ERROR_MAX_BYTES + 1 }, &error));
	assert_true(connect_error_parse((struct str){ text, CONNECT_ERROR_MAX_BYTES }, &error));
	assert_int_equal(strlen(error.message), CONNECT_ERROR_MAX_MESSAGE - 1);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(connect_code_name(CONNECT_deadline_exceeded), "deadline_exceeded");
	assert_string_equal(connect_code_name(CONNECT_CODE_MAX), "none");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_depth),
	TEST(test_lengths),
	TEST(test_names),
};

TEST_MAIN(tests)
