/* SPDX-License-Identifier: Apache-2.0 */
/* Ring buffer records: what is accepted, and that nothing is believed that does not fit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/sample.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define WHOLE ((size_t)-1)
#define HEAD sizeof(struct wire_sample)
#define USER_UNWOUND sizeof(struct wire_user_unwound)
#define CONNECTION (HEAD + sizeof(struct wire_connection))

struct row {
	const char *name;
	struct wire_sample head;
	size_t bytes; /* WHOLE: as many as the head promises */
	int expected;
};

static const struct row rows[] = {
	{ "empty", { .end = 0 }, 0, -EBADMSG },
	{ "half_a_head", { .end = 0 }, HEAD / 2, -EBADMSG },
	{ "head_only", { .end = STOP_REASON_NO_USER }, HEAD, 0 },
	{ "kernel_frames", { .n_kernel = 3 }, WHOLE, 0 },
	{ "user_frames", { .n_user = 5 }, WHOLE, 0 },
	{ "user_unwound", { .flags = WIRE_USER_UNWOUND, .n_user = 1, .stack_words = 8 }, WHOLE, 0 },
	{ "user_unwound_without_copy", { .flags = WIRE_USER_UNWOUND }, HEAD + USER_UNWOUND, 0 },
	{ "user_unwound_without_registers", { .flags = WIRE_USER_UNWOUND }, HEAD, -EBADMSG },
	{ "stack_words_without_user_unwound", { .stack_words = 8 }, HEAD, 0 },
	{ "most_kernel_frames", { .n_kernel = WIRE_MAX_KERNEL_FRAMES }, WHOLE, 0 },
	{ "too_many_kernel_frames", { .n_kernel = WIRE_MAX_KERNEL_FRAMES + 1 }, WHOLE, -EBADMSG },
	{ "all_ones_kernel_frames", { .n_kernel = UINT16_MAX }, HEAD, -EBADMSG },
	{ "most_native_frames", { .n_user = WIRE_MAX_USER_FRAMES }, WHOLE, 0 },
	{ "most_user_words", { .n_user = WIRE_MAX_USER_WORDS }, WHOLE, 0 },
	{ "too_many_user_words", { .n_user = WIRE_MAX_USER_WORDS + 1 }, WHOLE, -EBADMSG },
	{ "all_ones_user_frames", { .n_user = UINT16_MAX }, HEAD, -EBADMSG },
	{ "most_stack_words",
	  { .flags = WIRE_USER_UNWOUND, .stack_words = WIRE_MAX_STACK_BYTES / 8 },
	  WHOLE,
	  0 },
	{ "too_many_stack_words",
	  { .flags = WIRE_USER_UNWOUND, .stack_words = WIRE_MAX_STACK_BYTES / 8 + 1 },
	  WHOLE,
	  -EBADMSG },
	{ "last_end", { .end = STOP_REASON_MAX - 1 }, HEAD, 0 },
	{ "unknown_end", { .end = STOP_REASON_MAX }, HEAD, -EBADMSG },
	{ "all_ones_end", { .end = UINT8_MAX }, HEAD, -EBADMSG },
	/* The ring rounds up to 8 bytes. */
	{ "padding_behind", { .n_user = 1 }, HEAD + 16, 0 },
	{ "room_behind", { .record = { HEAD + 8, WIRE_SAMPLE, 0, 0 }, .n_user = 1 }, HEAD + 64, 0 },
	{ "frames_behind_its_end",
	  { .record = { HEAD, WIRE_SAMPLE, 0, 0 }, .n_user = 1 },
	  HEAD + 64,
	  -EBADMSG },
	{ "ends_behind_the_ring's", { .record = { HEAD + 8, WIRE_SAMPLE, 0, 0 } }, HEAD, -EBADMSG },
	{ "name", { .record = { HEAD, WIRE_NAME, 0, 0 } }, HEAD, -EBADMSG },
	{ "another_kind", { .record = { HEAD, WIRE_NAME + 1, 0, 0 } }, HEAD, -EBADMSG },
	{ "event", { .record = { HEAD, WIRE_SAMPLE, EVENT_SYSCALLS, 7 } }, HEAD, 0 },
	{ "connection",
	  { .record = { CONNECTION, WIRE_SAMPLE, EVENT_TCP, 7 },
	    .n_kernel = WIRE_CONNECTION_WORDS,
	    .reason = WIRE_CALL(WIRE_TCP_RETRANSMIT, WIRE_MAX_ERROR) },
	  CONNECTION,
	  0 },
	{ "no_connection",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_TCP, 7 }, .reason = WIRE_TCP_CONNECT },
	  HEAD,
	  -EBADMSG },
	{ "connection_and_frames",
	  { .record = { CONNECTION + 8, WIRE_SAMPLE, EVENT_TCP, 7 },
	    .n_kernel = WIRE_CONNECTION_WORDS + 1,
	    .reason = WIRE_TCP_CONNECT },
	  CONNECTION + 8,
	  -EBADMSG },
	{ "connection_of_no_kind",
	  { .record = { CONNECTION, WIRE_SAMPLE, EVENT_TCP, 7 },
	    .n_kernel = WIRE_CONNECTION_WORDS },
	  CONNECTION,
	  -EBADMSG },
	{ "connection_of_an_unknown_kind",
	  { .record = { CONNECTION, WIRE_SAMPLE, EVENT_TCP, 7 },
	    .n_kernel = WIRE_CONNECTION_WORDS,
	    .reason = WIRE_TCP_RETRANSMIT + 1 },
	  CONNECTION,
	  -EBADMSG },
	{ "last_source", { .record = { HEAD, WIRE_SAMPLE, 0, EVENT_MAX_SOURCES - 1 } }, HEAD, 0 },
	{ "unknown_source",
	  { .record = { HEAD, WIRE_SAMPLE, 0, EVENT_MAX_SOURCES } },
	  HEAD,
	  -EBADMSG },
	{ "last_tier", { .tier = WIRE_TIER_NATIVE }, HEAD, 0 },
	{ "unknown_tier", { .tier = WIRE_TIERS }, HEAD, -EBADMSG },
	{ "last_reason", { .reason = WAIT_REASON_MAX - 1 }, HEAD, 0 },
	{ "unknown_reason", { .reason = WAIT_REASON_MAX }, HEAD, -EBADMSG },
	{ "last_call",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_SYSCALLS, 0 },
	    .reason = WIRE_CALL(WIRE_CALL_UNKNOWN, WIRE_MAX_ERROR) },
	  HEAD,
	  0 },
	{ "unknown_call",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_SYSCALLS, 0 },
	    .reason = WIRE_CALL(WIRE_CALL_UNKNOWN + 1, 0) },
	  HEAD,
	  -EBADMSG },
	{ "unknown_error",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_SYSCALLS, 0 },
	    .reason = WIRE_CALL(0, WIRE_MAX_ERROR + 1) },
	  HEAD,
	  -EBADMSG },
	{ "last_io",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_BLOCK_IO, 0 },
	    .reason = WIRE_IO(WIRE_IO_OTHER, 511, 1048575) },
	  HEAD,
	  0 },
	{ "no_io",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_BLOCK_IO, 0 }, .reason = WIRE_IO(0, 8, 0) },
	  HEAD,
	  -EBADMSG },
	{ "unknown_io",
	  { .record = { HEAD, WIRE_SAMPLE, EVENT_BLOCK_IO, 0 },
	    .reason = WIRE_IO(WIRE_IO_MAX, 8, 0) },
	  HEAD,
	  -EBADMSG },
	{ "unknown_event", { .record = { HEAD, WIRE_SAMPLE, EVENT_MAX, 0 } }, HEAD, -EBADMSG },
};

static size_t promised_bytes(const struct wire_sample *head)
{
	return HEAD + 8 * ((size_t)head->n_kernel + head->n_user) +
	       (head->flags & WIRE_USER_UNWOUND ? USER_UNWOUND + sample_stack_bytes(head) : 0);
}

/* What begins a record of n bytes, where a row has nothing else to say. */
static struct wire_record record_of(const struct wire_sample *head, size_t n)
{
	return head->record.type
		       ? head->record
		       : (struct wire_record){ .n_bytes = (uint32_t)n, .type = WIRE_SAMPLE };
}

/* A record of exactly n bytes, so that the sanitizer sees each one that is read behind it. */
static void *make_record(const struct wire_sample *head, uint32_t n_right, size_t n)
{
	struct wire_record record = record_of(head, n);
	size_t user_unwound = HEAD + 8 * ((size_t)head->n_kernel + head->n_user);
	unsigned char *bytes = calloc(1, n ? n : 1);

	assert_non_null(bytes);
	for (size_t i = HEAD; i < n; i++)
		bytes[i] = (unsigned char)i;
	memcpy(bytes, head, n < HEAD ? n : HEAD);
	memcpy(bytes, &record, n < sizeof(record) ? n : sizeof(record));
	if (head->flags & WIRE_USER_UNWOUND && n >= user_unwound + USER_UNWOUND) {
		memcpy(bytes + user_unwound + offsetof(struct wire_user_unwound, n_right), &n_right,
		       sizeof(n_right));
		memset(bytes + user_unwound + offsetof(struct wire_user_unwound, pieces), 0,
		       sizeof(((struct wire_user_unwound *)0)->pieces));
	}
	return bytes;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	size_t n = row->bytes == WHOLE ? promised_bytes(&row->head) : row->bytes;
	_cleanup_free_ void *bytes = make_record(&row->head, 0, n);
	struct sample s = { .head = NULL };

	assert_int_equal(sample_parse(bytes, n, &s), row->expected);
	if (row->expected < 0) {
		assert_null(s.head);
		return;
	}
	assert_ptr_equal(s.head, bytes);
	assert_ptr_equal(s.kernel_frames, (char *)bytes + HEAD);
	assert_ptr_equal(s.user_frames, s.kernel_frames + row->head.n_kernel);
	if (row->head.flags & WIRE_USER_UNWOUND) {
		assert_ptr_equal(s.user_unwound, s.user_frames + row->head.n_user);
		assert_ptr_equal(s.stack, (const char *)s.user_unwound + USER_UNWOUND);
	} else {
		assert_null(s.user_unwound);
		assert_null(s.stack);
	}
}

static void test_truncated_everywhere(void **state)
{
	const struct wire_sample head = {
		.n_kernel = 2, .n_user = 3, .flags = WIRE_USER_UNWOUND, .stack_words = 3
	};
	size_t whole = promised_bytes(&head);
	struct sample s = { .head = NULL };

	(void)state;
	for (size_t n = 0; n < whole; n++) {
		_cleanup_free_ void *bytes = make_record(&head, 0, n);

		assert_int_equal(sample_parse(bytes, n, &s), -EBADMSG);
		assert_null(s.head);
	}
	_cleanup_free_ void *bytes = make_record(&head, 0, whole);
	assert_int_equal(sample_parse(bytes, whole, &s), 0);
}

/* Who has woken up a thread is no sample, and is of off-CPU time; what else there is to it is checked as a sample's. */
static void test_wakers(void **state)
{
	static const struct {
		struct wire_sample head;
		int expected;
	} waker_rows[] = {
		{ { .record = { HEAD, WIRE_WAKER, EVENT_OFF_CPU, 0 } }, 0 },
		{ { .record = { HEAD + 8, WIRE_WAKER, EVENT_OFF_CPU, 0 }, .n_kernel = 1 }, 0 },
		{ { .record = { HEAD, WIRE_WAKER, EVENT_OFF_CPU, 0 }, .n_kernel = 1 }, -EBADMSG },
		{ { .record = { HEAD, WIRE_WAKER, EVENT_CPU, 0 } }, -EBADMSG },
		{ { .record = { HEAD, WIRE_WAKER, EVENT_MAX, 0 } }, -EBADMSG },
		{ { .record = { HEAD, WIRE_SAMPLE, EVENT_OFF_CPU, 0 } }, -EBADMSG },
		{ { .record = { HEAD, WIRE_END, EVENT_OFF_CPU, 0 } }, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waker_rows); i++) {
		size_t n = waker_rows[i].head.record.n_bytes;
		_cleanup_free_ void *bytes = make_record(&waker_rows[i].head, 0, n);
		struct sample s = { .head = NULL };

		assert_int_equal(waker_parse(bytes, n, &s), waker_rows[i].expected);
	}
}

struct right_row {
	const char *name;
	uint16_t n_user;
	uint32_t n_right;
	int expected;
};

static const struct right_row right_rows[] = {
	{ "goes_on_from_the_leaf", 3, 0, 0 },
	{ "goes_on_from_the_last", 3, 2, 0 },
	{ "goes_on_behind_the_last", 3, 3, 0 },
	{ "goes_on_from_nowhere", 3, 4, -EBADMSG },
	{ "goes_on_without_frames", 0, 1, -EBADMSG },
	{ "goes_on_behind_the_most", WIRE_MAX_USER_WORDS, WIRE_MAX_USER_WORDS, 0 },
	{ "all_ones_right", WIRE_MAX_USER_WORDS, UINT32_MAX, -EBADMSG },
};

/* The agent goes on from a frame that is there. */
static void test_right(void **state)
{
	const struct right_row *row = *state;
	const struct wire_sample head = { .flags = WIRE_USER_UNWOUND,
					  .n_kernel = 1,
					  .n_user = row->n_user };
	size_t n = promised_bytes(&head);
	_cleanup_free_ void *bytes = make_record(&head, row->n_right, n);
	struct sample s = { .head = NULL };

	assert_int_equal(sample_parse(bytes, n, &s), row->expected);
	assert_true(row->expected < 0 ? !s.head : s.user_unwound->n_right == row->n_right);
}

/* What is of another stack is part of the copy. */
static void test_pieces(void **state)
{
	static const struct {
		uint16_t stack_words;
		uint64_t n_bytes[WIRE_USER_UNWOUND_PIECES];
		int expected;
	} piece_rows[] = {
		{ 0, { 0, 0 }, 0 },
		{ 4, { 0, 0 }, 0 },
		{ 4, { 8, 0 }, 0 },
		{ 4, { 32, 0 }, 0 },
		{ 4, { 40, 0 }, -EBADMSG },
		{ 0, { 8, 0 }, -EBADMSG },
		{ 4, { 12, 0 }, -EBADMSG },
		{ 4, { UINT64_MAX - 7, 0 }, -EBADMSG },
		{ 4, { 0, 32 }, 0 },
		{ 4, { 16, 16 }, 0 },
		{ 4, { 16, 24 }, -EBADMSG },
		{ 4, { 8, 12 }, -EBADMSG },
		{ 4, { 8, UINT64_MAX - 7 }, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(piece_rows); i++) {
		const struct wire_sample head = { .flags = WIRE_USER_UNWOUND,
						  .n_user = 1,
						  .stack_words = piece_rows[i].stack_words };
		size_t n = promised_bytes(&head);
		_cleanup_free_ uint8_t *bytes = make_record(&head, 0, n);
		struct wire_user_unwound *user_unwound =
			(struct wire_user_unwound *)(bytes + HEAD + 8);
		struct sample s;

		for (size_t k = 0; k < WIRE_USER_UNWOUND_PIECES; k++)
			user_unwound->pieces[k].n_bytes = piece_rows[i].n_bytes[k];
		assert_int_equal(sample_parse(bytes, n, &s), piece_rows[i].expected);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_right, right_rows, name),
	TEST(test_truncated_everywhere),
	TEST(test_pieces),
	TEST(test_wakers),
};

TEST_MAIN(tests)
