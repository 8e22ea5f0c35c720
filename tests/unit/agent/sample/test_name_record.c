/* SPDX-License-Identifier: Apache-2.0 */
/* Records that tell names of functions: what is accepted, and that nothing is believed that does not fit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/name_record.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

#define HEAD offsetof(struct wire_name, file)
#define WHOLE sizeof(struct wire_name)

struct row {
	const char *name;
	size_t bytes; /* that there are */
	uint32_t n_bytes;
	uint8_t type;
	uint16_t n_name;
	uint16_t n_file;
	int expected;
};

static const struct row rows[] = {
	{ "empty", 0, HEAD, WIRE_NAME, 0, 0, -EBADMSG },
	{ "record_only", sizeof(struct wire_record), HEAD, WIRE_NAME, 0, 0, -EBADMSG },
	{ "byte_short_of_a_head", HEAD - 1, HEAD - 1, WIRE_NAME, 0, 0, -EBADMSG },
	{ "head_only", HEAD, HEAD, WIRE_NAME, 0, 0, 0 },
	{ "name", HEAD, HEAD, WIRE_NAME, 5, 0, 0 },
	{ "longest_name", HEAD, HEAD, WIRE_NAME, WIRE_NAME_BYTES, 0, 0 },
	{ "name_too_long", WHOLE, WHOLE, WIRE_NAME, WIRE_NAME_BYTES + 1, 0, -EBADMSG },
	{ "all_ones_name", WHOLE, WHOLE, WIRE_NAME, UINT16_MAX, 0, -EBADMSG },
	{ "file", HEAD + 8, HEAD + 8, WIRE_NAME, 5, 8, 0 },
	{ "file_padded", HEAD + 8, HEAD + 8, WIRE_NAME, 5, 3, 0 },
	{ "file_beyond_the_record", HEAD + 8, HEAD + 8, WIRE_NAME, 5, 9, -EBADMSG },
	{ "file_without_room", HEAD, HEAD, WIRE_NAME, 5, 1, -EBADMSG },
	{ "longest_file", WHOLE, WHOLE, WIRE_NAME, WIRE_NAME_BYTES, WIRE_NAME_BYTES, 0 },
	{ "file_byte_beyond_the_record", WHOLE - 1, WHOLE - 1, WIRE_NAME, 1, WIRE_NAME_BYTES,
	  -EBADMSG },
	{ "file_too_long", WHOLE + 8, WHOLE + 8, WIRE_NAME, 1, WIRE_NAME_BYTES + 1, -EBADMSG },
	{ "all_ones_file", 70000, 70000, WIRE_NAME, 1, UINT16_MAX, -EBADMSG },
	/* What the ring holds behind the record is not part of it. */
	{ "room_behind", HEAD + 64, HEAD, WIRE_NAME, 1, 0, 0 },
	{ "file_behind_its_end", HEAD + 64, HEAD, WIRE_NAME, 1, 8, -EBADMSG },
	{ "record_shorter_than_a_head", WHOLE, HEAD - 8, WIRE_NAME, 1, 0, -EBADMSG },
	{ "record_of_no_bytes", WHOLE, 0, WIRE_NAME, 1, 0, -EBADMSG },
	{ "ends_behind_the_ring's", HEAD, HEAD + 1, WIRE_NAME, 1, 0, -EBADMSG },
	{ "all_ones_bytes", WHOLE, UINT32_MAX, WIRE_NAME, 1, 0, -EBADMSG },
	{ "sample", WHOLE, WHOLE, WIRE_SAMPLE, 1, 0, -EBADMSG },
	{ "no_type", WHOLE, WHOLE, 0, 1, 0, -EBADMSG },
	{ "unknown_type", WHOLE, WHOLE, WIRE_NAME + 1, 1, 0, -EBADMSG },
};

/* Of exactly so many bytes, so that the sanitizer sees each one that is read behind them. */
static void *make_record(const struct row *row)
{
	const struct wire_name head = { .record = { .n_bytes = row->n_bytes, .type = row->type },
					.n_name = row->n_name,
					.n_file = row->n_file };
	unsigned char *bytes = malloc(row->bytes ? row->bytes : 1);

	assert_non_null(bytes);
	memset(bytes, 'x', row->bytes);
	memcpy(bytes, &head, MIN_OF(row->bytes, offsetof(struct wire_name, name)));
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
	/* All that it promises is there. */
	for (uint16_t i = 0; name && i < name->n_name; i++)
		sum += (unsigned char)name->name[i];
	for (uint16_t i = 0; name && i < name->n_file; i++)
		sum += (unsigned char)name->file[i];
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] =
			(struct CMUnitTest){ rows[i].name, test_row, NULL, NULL, (void *)&rows[i] };
	return cmocka_run_group_tests_name("agent/sample/name_record", tests, NULL, NULL);
}
