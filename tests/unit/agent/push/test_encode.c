/* SPDX-License-Identifier: Apache-2.0 */
/* The request's bytes, against the wire format written down by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "agent/push/encode.h"
#include "agent/util/cleanup.h"

static void test_bytes(void **state)
{
	/* PushRequest{1: RawProfileSeries{1: LabelPair{1:"a" 2:"bc"}, 2: RawSample{1: 0x1f 0x00}}}
	 */
	static const uint8_t expected[] = { 0x0a, 0x0f, 0x0a, 0x07, 0x0a, 0x01, 'a',  0x12, 0x02,
					    'b',  'c',	0x12, 0x04, 0x0a, 0x02, 0x1f, 0x00 };
	const struct push_labels labels = { .items = { { "a", "bc" } }, .n = 1 };
	_cleanup_free_ uint8_t *body = NULL;
	size_t n;

	(void)state;
	assert_int_equal(push_encode(&labels, "\x1f\x00", 2, &body, &n), 0);
	assert_int_equal(n, sizeof(expected));
	assert_memory_equal(body, expected, n);
}

static void test_no_labels(void **state)
{
	static const uint8_t expected[] = { 0x0a, 0x05, 0x12, 0x03, 0x0a, 0x01, 'x' };
	const struct push_labels labels = { .n = 0 };
	_cleanup_free_ uint8_t *body = NULL;
	size_t n;

	(void)state;
	assert_int_equal(push_encode(&labels, "x", 1, &body, &n), 0);
	assert_int_equal(n, sizeof(expected));
	assert_memory_equal(body, expected, n);
}

static void test_ceiling(void **state)
{
	const struct push_labels labels = { .n = 0 };
	_cleanup_free_ uint8_t *pprof = calloc(1, PUSH_MAX_PPROF_BYTES + 1);
	_cleanup_free_ uint8_t *body = NULL;
	size_t n = 0;

	(void)state;
	assert_non_null(pprof);
	assert_int_equal(push_encode(&labels, pprof, PUSH_MAX_PPROF_BYTES + 1, &body, &n),
			 -EMSGSIZE);
	assert_null(body);
	assert_int_equal(push_encode(&labels, pprof, PUSH_MAX_PPROF_BYTES, &body, &n), 0);
	assert_true(n > PUSH_MAX_PPROF_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bytes),
					    cmocka_unit_test(test_no_labels),
					    cmocka_unit_test(test_ceiling) };

	return cmocka_run_group_tests_name("agent/push/encode", tests, NULL, NULL);
}
