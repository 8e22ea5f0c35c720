/* SPDX-License-Identifier: Apache-2.0 */
/* Records that tell names of functions: what is accepted, and that nothing is believed that does not fit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/name_record.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define HEAD offsetof(struct wire_name, texts)
#define WHOLE sizeof(struct wire_name)

struct row {
	const char *name;
	size_t bytes; /* that there are */
	uint32_t n_bytes;
	uint8_t type;
	uint16_t n_scope, n_name, n_file, n_lines;
	uint8_t encoding;
	int expected;
	uint16_t signature_at;
};

#define LONGEST WIRE_SCOPE_BYTES, WIRE_NAME_BYTES, WIRE_FILE_BYTES, WIRE_LINES_BYTES

static const struct row rows[] = {
	{ "empty", 0, HEAD, WIRE_NAME, 0, 0, 0, 0, 0, -EBADMSG, 0 },
	{ "record_only", sizeof(struct wire_record), HEAD, WIRE_NAME, 0, 0, 0, 0, 0, -EBADMSG, 0 },
	{ "byte_short_of_a_head", HEAD - 1, HEAD - 1, WIRE_NAME, 0, 0, 0, 0, 0, -EBADMSG, 0 },
	{ "head_only", HEAD, HEAD, WIRE_NAME, 0, 0, 0, 0, 0, 0, 0 },
	{ "name", HEAD + 8, HEAD + 8, WIRE_NAME, 0, 5, 0, 0, 0, 0, 0 },
	{ "all_four", HEAD + 16, HEAD + 16, WIRE_NAME, 3, 5, 4, 4, 0, 0, 0 },
	{ "all_four_and_a_byte", HEAD + 16, HEAD + 16, WIRE_NAME, 3, 5, 4, 5, 0, -EBADMSG, 0 },
	{ "longest", WHOLE, WHOLE, WIRE_NAME, LONGEST, 0, 0, 0 },
	{ "longest_but_a_byte", WHOLE - 1, WHOLE - 1, WIRE_NAME, LONGEST, 0, -EBADMSG, 0 },
	{ "scope_too_long", WHOLE, WHOLE, WIRE_NAME, WIRE_SCOPE_BYTES + 1, 0, 0, 0, 0, -EBADMSG,
	  0 },
	{ "name_too_long", WHOLE, WHOLE, WIRE_NAME, 0, WIRE_NAME_BYTES + 1, 0, 0, 0, -EBADMSG, 0 },
	{ "file_too_long", WHOLE, WHOLE, WIRE_NAME, 0, 1, WIRE_FILE_BYTES + 1, 0, 0, -EBADMSG, 0 },
	{ "lines_too_long", WHOLE, WHOLE, WIRE_NAME, 0, 1, 0, WIRE_LINES_BYTES + 1, 0, -EBADMSG,
	  0 },
	{ "all_ones", 300000, 300000, WIRE_NAME, UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX, 0,
	  -EBADMSG, 0 },
	{ "file_beyond_the_record", HEAD + 8, HEAD + 8, WIRE_NAME, 0, 5, 4, 0, 0, -EBADMSG, 0 },
	{ "lines_beyond_the_record", HEAD + 8, HEAD + 8, WIRE_NAME, 0, 5, 0, 4, 0, -EBADMSG, 0 },
	/* What the ring holds behind the record is not part of it. */
	{ "room_behind", HEAD + 64, HEAD + 8, WIRE_NAME, 0, 1, 0, 0, 0, 0, 0 },
	{ "file_behind_its_end", HEAD + 64, HEAD, WIRE_NAME, 0, 0, 8, 0, 0, -EBADMSG, 0 },
	{ "record_shorter_than_a_head", WHOLE, HEAD - 8, WIRE_NAME, 0, 0, 0, 0, 0, -EBADMSG, 0 },
	{ "record_of_no_bytes", WHOLE, 0, WIRE_NAME, 0, 1, 0, 0, 0, -EBADMSG, 0 },
	{ "ends_behind_the_ring's", HEAD, HEAD + 1, WIRE_NAME, 0, 0, 0, 0, 0, -EBADMSG, 0 },
	{ "all_ones_bytes", WHOLE, UINT32_MAX, WIRE_NAME, 0, 1, 0, 0, 0, -EBADMSG, 0 },
	{ "last_encoding", WHOLE, WHOLE, WIRE_NAME, 4, 4, 4, 0, WIRE_JAVA_CLASS, 0, 0 },
	{ "no_encoding", WHOLE, WHOLE, WIRE_NAME, 4, 4, 4, 0, WIRE_ENCODING_MAX, -EBADMSG, 0 },
	{ "sample", WHOLE, WHOLE, WIRE_SAMPLE, 0, 1, 0, 0, 0, -EBADMSG, 0 },
	{ "arguments", HEAD + 8, HEAD + 8, WIRE_NAME, 0, 5, 0, 0, 0, 0, 5 },
	{ "arguments_behind_the_name", HEAD + 8, HEAD + 8, WIRE_NAME, 0, 5, 0, 0, 0, -EBADMSG, 6 },
	{ "no_type", WHOLE, WHOLE, 0, 0, 1, 0, 0, 0, -EBADMSG, 0 },
	{ "unknown_type", WHOLE, WHOLE, WIRE_NAME + 1, 0, 1, 0, 0, 0, -EBADMSG, 0 },
};

/* Of exactly so many bytes, so that the sanitizer sees each one that is read behind them. */
static void *make_record(const struct row *row)
{
	const struct wire_name head = { .record = { .n_bytes = row->n_bytes, .type = row->type },
					.n_scope = row->n_scope,
					.n_name = row->n_name,
					.n_file = row->n_file,
					.n_lines = row->n_lines,
					.signature_at = row->signature_at,
					.scope_encoding = row->encoding,
					.name_encoding = row->encoding,
					.file_encoding = row->encoding };
	unsigned char *bytes = malloc(row->bytes ? row->bytes : 1);

	assert_non_null(bytes);
	memset(bytes, 'x', row->bytes);
	memcpy(bytes, &head, MIN_OF(row->bytes, HEAD));
	return bytes;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_free_ void *bytes = make_record(row);
	const struct wire_name *name = NULL;
	volatile unsigned int sum = 0;

	assert_int_equal(name_record_parse(bytes, row->bytes, &name), row->expected);
	assert_ptr_equal(name, row->expected < 0 ? NULL : bytes);
	if (!name)
		return;
	/* All that it promises is there. */
	for (uint32_t i = 0;
	     i < (uint32_t)name->n_scope + name->n_name + name->n_file + name->n_lines; i++)
		sum += (unsigned char)name->texts[i];
}

static void test_compiled_tier(void **state)
{
	struct wire_name head = { .record = { .n_bytes = HEAD, .type = WIRE_NAME },
				  .compiled_tier = WIRE_TIER_LAST };
	const struct wire_name *name = NULL;

	(void)state;
	assert_int_equal(name_record_parse(&head, HEAD, &name), 0);
	head.compiled_tier = WIRE_TIER_LAST + 1;
	assert_int_equal(name_record_parse(&head, HEAD, &name), -EBADMSG);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_compiled_tier),
};

TEST_MAIN(tests)
