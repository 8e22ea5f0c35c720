/* SPDX-License-Identifier: Apache-2.0 */
/* Records that tell how long something took: what is accepted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/end_record.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define WHOLE sizeof(struct wire_end)

static const struct row {
	const char *name;
	size_t bytes; /* that there are */
	struct wire_record record;
	int expected;
} rows[] = {
	{ "empty", 0, { WHOLE, WIRE_END, EVENT_BLOCK_IO, 0 }, -EBADMSG },
	{ "byte_short", WHOLE - 1, { WHOLE, WIRE_END, EVENT_BLOCK_IO, 0 }, -EBADMSG },
	{ "whole", WHOLE, { WHOLE, WIRE_END, EVENT_BLOCK_IO, 0 }, 0 },
	/* The ring rounds up to 8 bytes. */
	{ "room_behind", WHOLE + 8, { WHOLE, WIRE_END, EVENT_BLOCK_IO, 0 }, 0 },
	{ "ends_behind_the_ring's", WHOLE, { WHOLE + 8, WIRE_END, EVENT_BLOCK_IO, 0 }, -EBADMSG },
	{ "ends_early", WHOLE, { WHOLE - 8, WIRE_END, EVENT_BLOCK_IO, 0 }, -EBADMSG },
	{ "sample", WHOLE, { WHOLE, WIRE_SAMPLE, EVENT_BLOCK_IO, 0 }, -EBADMSG },
	{ "of_a_wait", WHOLE, { WHOLE, WIRE_END, EVENT_OFF_CPU, 0 }, 0 },
	{ "of_a_wait_for_a_CPU", WHOLE, { WHOLE, WIRE_END, EVENT_RUN_QUEUE, 0 }, 0 },
	{ "another_event", WHOLE, { WHOLE, WIRE_END, EVENT_CPU, 0 }, -EBADMSG },
	{ "unknown_event", WHOLE, { WHOLE, WIRE_END, EVENT_MAX, 0 }, -EBADMSG },
};

/* Of exactly so many bytes, so that the sanitizer sees each one that is read behind them. */
static void test_row(void **state)
{
	const struct row *row = *state;
	const struct wire_end whole = { .record = row->record, .id = 7, .values = { 42 } };
	_cleanup_free_ uint8_t *bytes = calloc(1, row->bytes ? row->bytes : 1);
	const struct wire_end *end = NULL;

	assert_non_null(bytes);
	memcpy(bytes, &whole, MIN_OF(row->bytes, sizeof(whole)));
	assert_int_equal(end_record_parse(bytes, row->bytes, &end), row->expected);
	if (row->expected < 0)
		return;
	assert_int_equal(end->id, 7);
	assert_int_equal(end->values[0], 42);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
