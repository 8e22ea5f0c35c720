/* SPDX-License-Identifier: Apache-2.0 */
/* The request's bytes, against the wire format written down by hand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/encode.h"
#include "agent/util/cleanup.h"
#include "tests/support/unit.h"

static struct push_profile *make(const struct push_labels *labels, const char *bytes, size_t n)
{
	struct shared_bytes *shared = NULL;
	struct push_profile *p = NULL;
	uint8_t *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	assert_int_equal(shared_bytes_new(copy, n, &shared), 0);
	assert_int_equal(push_profile_new(labels, shared, &p), 0);
	shared_bytes_unref(shared);
	return p;
}

static void assert_body(const struct push_labels *labels, const char *bytes, size_t n,
			const uint8_t *expected, size_t n_expected)
{
	_cleanup_(push_profile_unrefp) struct push_profile *p = make(labels, bytes, n);
	_cleanup_buf_ struct buf sent = BUF_INIT(1 << 20);
	_cleanup_push_body_ struct push_body body;

	push_body_init(&body);
	assert_int_equal(push_encode((const struct push_profile *const[]){ p }, 1, &body), 0);
	assert_int_equal(push_body_close(&body), 0);
	for (size_t i = 0; i < body.n_pieces; i++)
		assert_int_equal(buf_append(&sent, body.pieces[i].data, body.pieces[i].n), 0);
	assert_int_equal(body.n, n_expected);
	assert_int_equal(sent.len, n_expected);
	assert_memory_equal(buf_str(&sent), expected, n_expected);
	/* What is behind the head is the profile itself, not a copy. */
	assert_int_equal(body.n_pieces, 2);
	assert_ptr_equal(body.pieces[1].data, p->bytes->data);
}

static void test_bytes(void **state)
{
	/* PushRequest{1: RawProfileSeries{1: LabelPair{1:"a" 2:"bc"}, 2: RawSample{1: 0x1f 0x00}}}
	 */
	static const uint8_t expected[] = { 0x0a, 0x0f, 0x0a, 0x07, 0x0a, 0x01, 'a',  0x12, 0x02,
					    'b',  'c',	0x12, 0x04, 0x0a, 0x02, 0x1f, 0x00 };
	const struct push_labels labels = { .items = { { "a", "bc" } }, .n = 1 };

	(void)state;
	assert_body(&labels, "\x1f\x00", 2, expected, sizeof(expected));
}

static void test_no_labels(void **state)
{
	static const uint8_t expected[] = { 0x0a, 0x05, 0x12, 0x03, 0x0a, 0x01, 'x' };
	const struct push_labels labels = { .n = 0 };

	(void)state;
	assert_body(&labels, "x", 1, expected, sizeof(expected));
}

/* The longest labels there are. */
static void test_longest_labels(void **state)
{
	static char names[PUSH_MAX_LABELS][PUSH_MAX_LABEL_NAME_BYTES + 1];
	static char value[PUSH_MAX_LABEL_VALUE_BYTES + 1];
	struct push_labels labels = { .n = PUSH_MAX_LABELS };
	_cleanup_push_body_ struct push_body body;

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	for (size_t i = 0; i < labels.n; i++) {
		memset(names[i], 'n', sizeof(names[i]) - 1);
		labels.items[i] = (struct push_label){ names[i], value };
	}
	_cleanup_(push_profile_unrefp) struct push_profile *p = make(&labels, "x", 1);
	push_body_init(&body);
	assert_int_equal(push_encode((const struct push_profile *const[]){ p }, 1, &body), 0);
	assert_int_equal(push_body_close(&body), 0);
	assert_true(body.n > sizeof(names));
}

static void test_ceiling(void **state)
{
	const struct push_labels labels = { .n = 0 };
	struct shared_bytes *shared = NULL;
	struct push_profile *p = NULL;

	(void)state;
	assert_int_equal(shared_bytes_new(calloc(1, PUSH_MAX_PROFILE_BYTES + 1),
					  PUSH_MAX_PROFILE_BYTES + 1, &shared),
			 0);
	assert_int_equal(push_profile_new(&labels, shared, &p), -EMSGSIZE);
	assert_null(p);
	shared->n--;
	assert_int_equal(push_profile_new(&labels, shared, &p), 0);
	push_profile_unref(p);
	assert_int_equal(shared->n_refs, 1);
	shared_bytes_unref(shared);
}

/* More than there is room for is no body. */
static void test_body_bounds(void **state)
{
	static const char zeros[PUSH_BODY_MAX_OWN_BYTES + 1];
	const struct shared_bytes shared = { .data = (const uint8_t *)"s", .n = 1 };
	struct push_body body;

	(void)state;
	push_body_init(&body);
	push_body_add(&body, zeros, sizeof(zeros));
	assert_int_equal(push_body_close(&body), -ENOMEM);
	push_body_fini(&body);
	push_body_init(&body);
	for (size_t i = 0; i <= PUSH_BODY_MAX_PIECES; i++)
		push_body_add_shared(&body, &shared);
	assert_int_equal(push_body_close(&body), -ENOMEM);
	push_body_fini(&body);
}

static const struct unit_test tests[] = {
	TEST(test_bytes),
	TEST(test_no_labels),
	TEST(test_longest_labels),
	TEST(test_ceiling),
	TEST(test_body_bounds),
};

TEST_MAIN(tests)
