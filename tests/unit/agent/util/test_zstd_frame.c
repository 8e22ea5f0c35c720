/* SPDX-License-Identifier: Apache-2.0 */
/* What was packed comes back, and nothing else does. */
#include <errno.h>
#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/zstd_frame.h"
#include "tests/support/unit.h"

#define TEXT "the same bytes, the same bytes, the same bytes"

static void assert_refused(const uint8_t *frame, size_t n_frame, size_t max_bytes)
{
	uint8_t *data = NULL;
	size_t n;

	assert_int_equal(zstd_frame_unpack(frame, n_frame, max_bytes, &data, &n), -EBADMSG);
	assert_null(data);
}

static void test_round_trip_and_damage(void **state)
{
	_cleanup_free_ uint8_t *frame = NULL, *data = NULL;
	size_t n_frame, n;

	(void)state;
	assert_int_equal(zstd_frame_pack((const uint8_t *)TEXT, sizeof(TEXT), 1, &frame, &n_frame),
			 0);
	assert_int_equal(zstd_frame_unpack(frame, n_frame, sizeof(TEXT), &data, &n), 0);
	assert_int_equal(n, sizeof(TEXT));
	assert_memory_equal(data, TEXT, n);
	assert_refused(frame, n_frame, sizeof(TEXT) - 1);
	for (size_t cut = 0; cut < n_frame; cut++)
		assert_refused(frame, cut, sizeof(TEXT));
	frame[n_frame - 1] ^= 1;
	assert_refused(frame, n_frame, sizeof(TEXT));
}

static const struct unit_test tests[] = {
	TEST(test_round_trip_and_damage),
};

TEST_MAIN(tests)
