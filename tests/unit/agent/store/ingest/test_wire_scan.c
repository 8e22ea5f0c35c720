/* SPDX-License-Identifier: Apache-2.0 */
/* Messages counted before they are unpacked: a table of bytes, and never more memory than the library takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/querier.pb-c.h"
#include "agent/store/ingest/wire_scan.h"
#include "agent/util/cleanup.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"

#define PUSH &push__v1__push_request__descriptor
#define PROFILE &perftools__profiles__profile__descriptor
#define DIFF &querier__v1__diff_request__descriptor

struct row {
	const char *name;
	const ProtobufCMessageDescriptor *descriptor;
	const char *bytes;
	size_t n;
	bool sound;
	size_t n_elements;
};

#define ROW(name, descriptor, bytes, ...)                             \
	{                                                             \
		name, descriptor, bytes, sizeof(bytes) - 1, __VA_ARGS__ \
	}

static const struct row rows[] = {
	ROW("nothing is one message", PUSH, "", true, 1),
	ROW("three empty series", PUSH, "\x0a\x00\x0a\x00\x0a\x00", true, 4),
	ROW("a series with a label of two texts", PUSH, "\x0a\x08\x0a\x06\x0a\x01" "a\x12\x01" "b",
	    true, 5),
	ROW("a profile in a series", PUSH, "\x0a\x06\x12\x04\x0a\x02" "xy", true, 4),
	ROW("texts of a table", PROFILE, "\x32\x00\x32\x01" "a", true, 3),
	ROW("packed numbers", PROFILE, "\x12\x06\x0a\x04\x01\x80\x01\x02", true, 5),
	ROW("the same one by one", PROFILE, "\x12\x06\x08\x01\x08\x80\x01\x02", false, 0),
	ROW("numbers one by one", PROFILE, "\x12\x04\x08\x01\x08\x02", true, 4),
	ROW("a number is no element", PROFILE, "\x48\x05", true, 1),
	ROW("unknown fields are", PROFILE, "\xf8\x07\x05\xf8\x07\x06\xfa\x07\x01x", true, 4),
	ROW("unknown numbers of fixed size", PROFILE, "\xf9\x07" "12345678\xfd\x07" "1234", true, 3),
	ROW("field 0", PROFILE, "\x00\x00", false, 0),
	ROW("messages of messages", DIFF, "\x0a\x04\x3a\x02\x0a\x00", true, 4),
	ROW("cut in a tag", PUSH, "\x8a", false, 0),
	ROW("cut before a length", PUSH, "\x0a", false, 0),
	ROW("longer than there is", PUSH, "\x0a\x01", false, 0),
	ROW("as long as nothing can be", PUSH, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false,
	    0),
	ROW("a varint that does not end", PUSH, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	    false, 0),
	ROW("cut in eight bytes", PROFILE, "\xf9\x07" "1234567", false, 0),
	ROW("cut in four bytes", PROFILE, "\xfd\x07" "123", false, 0),
	ROW("a group", PROFILE, "\x0b\x0c", false, 0),
	ROW("a field beyond all", PROFILE, "\xf8\xff\xff\xff\xff\x01\x00", false, 0),
};

static void *count_alloc(void *data, size_t n)
{
	*(size_t *)data += n;
	return malloc(n ? n : 1);
}

static void count_free(void *data, void *p)
{
	(void)data;
	free(p);
}

/* What protobuf-c takes for it. */
static size_t unpacked_bytes(const ProtobufCMessageDescriptor *d, const uint8_t *bytes, size_t n)
{
	size_t n_bytes = 0;
	ProtobufCAllocator allocator = { count_alloc, count_free, &n_bytes };
	ProtobufCMessage *message = protobuf_c_message_unpack(d, &allocator, n, bytes);

	assert_non_null(message);
	protobuf_c_message_free_unpacked(message, &allocator);
	return n_bytes;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	const uint8_t *bytes = (const uint8_t *)row->bytes;
	struct wire_scan scan = { 0 };

	assert_int_equal(wire_scan(row->descriptor, bytes, row->n, &scan), row->sound);
	assert_int_equal(scan.n_elements, row->n_elements);
	if (row->sound)
		assert_true(scan.n_bytes <= unpacked_bytes(row->descriptor, bytes, row->n));
}

/* Half of what it takes and more: what is counted tells what it will be. */
static void test_bytes(void **state)
{
	struct made_profile made;
	struct wire_scan scan;
	char stack[64];
	size_t n;

	(void)state;
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1);
	for (int i = 0; i < 500; i++) {
		(void)snprintf(stack, sizeof(stack), "main;f%d;g%d;h", i / 10, i);
		made_profile_sample(&made, stack, (const int64_t[]){ i + 1 }, "thread=a");
	}
	_cleanup_free_ uint8_t *bytes = made_profile_pack(&made, &n);

	made_profile_fini(&made);
	assert_true(wire_scan(PROFILE, bytes, n, &scan));
	size_t taken = unpacked_bytes(PROFILE, bytes, n);

	assert_true(scan.n_bytes <= taken);
	assert_true(scan.n_bytes > taken / 2);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_bytes),
};

TEST_MAIN(tests)
