/* SPDX-License-Identifier: Apache-2.0 */
/* What the entries of a process's table say, by what real builds have there, and processes that lie. */
#include <errno.h>
#include <string.h>

#include "agent/runtimes/hotspot/layout.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define NONE HOTSPOT_NONE
#define TABLE_AT 0x1000
#define BASE 0x7f0000000000
#define STATIC_AT 0x7f0000100000

/* As Debian's 8, 17 and 27 have them in memory; of static members, where they lie behind another. */
enum { JDK_8, JDK_17, JDK_27, JDK_MAX };

static const uint16_t values[HOTSPOT_FIELD_MAX][JDK_MAX] = {
	[HOTSPOT_HEAPS] = { NONE, 0, 8 },
	[HOTSPOT_HEAP] = { 0, NONE, NONE },
	[HOTSPOT_LOW_BOUND] = { NONE, 32, 48 },
	[HOTSPOT_HIGH_BOUND] = { NONE, 24, 40 },
	[HOTSPOT_ARRAY_LENGTH] = { 0, NONE, NONE },
	[HOTSPOT_ARRAY_LENGTH_16] = { NONE, 0, 0 },
	[HOTSPOT_ARRAY_DATA] = { 24, 8, 8 },
	[HOTSPOT_HEAP_MEMORY] = { 0, 8, 0 },
	[HOTSPOT_HEAP_SEGMAP] = { 112, 120, 112 },
	[HOTSPOT_HEAP_SHIFT] = { 248, 256, 248 },
	[HOTSPOT_BLOCK_USED] = { 8, 8, 4 },
	[HOTSPOT_BLOCK_LENGTH] = { 0, 0, 0 },
	[HOTSPOT_SPACE_LOW] = { 16, 16, 16 },
	[HOTSPOT_SPACE_HIGH] = { 24, 24, 24 },
	[HOTSPOT_BLOB_NAME] = { 8, 96, 8 },
	[HOTSPOT_BLOB_FRAME_BYTES] = { 44, 28, 44 },
	[HOTSPOT_BLOB_COMPLETE] = { 36, 20, 54 },
	[HOTSPOT_BLOB_CODE] = { NONE, 32, NONE },
	[HOTSPOT_BLOB_CODE_OFFSET] = { 32, NONE, 36 },
	[HOTSPOT_NMETHOD_METHOD] = { 64, NONE, 80 },
	[HOTSPOT_NMETHOD_METHOD_9] = { NONE, 112, NONE },
	[HOTSPOT_NMETHOD_SCOPES] = { 176, NONE, 192 },
	[HOTSPOT_NMETHOD_SCOPES_9] = { NONE, 120, NONE },
	[HOTSPOT_NMETHOD_PLACES] = { 180, 268, 188 },
	[HOTSPOT_NMETHOD_PLACES_END] = { 184, 272, NONE },
	[HOTSPOT_NMETHOD_METADATA] = { 172, 260, NONE },
	[HOTSPOT_NMETHOD_IMMUTABLE] = { NONE, NONE, 96 },
	[HOTSPOT_NMETHOD_NUMBER] = { 204, 304, 204 },
	[HOTSPOT_BLOB_MUTABLE] = { NONE, NONE, 16 },
	[HOTSPOT_BLOB_RELOCATION] = { 28, NONE, 28 },
	[HOTSPOT_METHOD_CONST] = { 8, 8, 8 },
	[HOTSPOT_CONST_POOL] = { 8, 8, 8 },
	[HOTSPOT_CONST_CODE_BYTES] = { 32, 32, 34 },
	[HOTSPOT_CONST_NAME] = { 34, 34, 36 },
	[HOTSPOT_CONST_SIGNATURE] = { 36, 36, 38 },
	[HOTSPOT_CONST_NUMBER] = { 38, 38, 40 },
	[HOTSPOT_CONST_SIZE] = { 24, 24, 24 },
	[HOTSPOT_CONST_FLAGS] = { 28, 28, NONE },
	[HOTSPOT_CONST_FLAGS_21] = { NONE, NONE, 28 },
	[HOTSPOT_POOL_SOURCE] = { NONE, 54, 54 },
	[HOTSPOT_KLASS_SOURCE] = { 222, NONE, NONE },
	[HOTSPOT_POOL_HOLDER] = { 24, 24, 24 },
	[HOTSPOT_POOL_LENGTH] = { 60, 60, 68 },
	[HOTSPOT_KLASS_NAME] = { 16, 24, 24 },
	[HOTSPOT_SYMBOL_LENGTH] = { 0, 4, 4 },
	[HOTSPOT_SYMBOL_BODY] = { NONE, 6, 6 },
	[HOTSPOT_SYMBOL_BODY_8] = { 8, 6, 6 },
};

struct table {
	struct hotspot_entry entries[HOTSPOT_FIELD_MAX];
};

static bool is_static(size_t field)
{
	return field < HOTSPOT_ARRAY_LENGTH;
}

/* A file whose entries are in the order of the fields, and the table of a process that has it. */
static struct hotspot_layout made(int jdk, struct table *ret_table)
{
	struct hotspot_layout l = { .table_at = TABLE_AT,
				    .major = 17,
				    .const_bytes = 48,
				    .pool_bytes = 72,
				    .block_bytes = 16 };

	memset(ret_table, 0, sizeof(*ret_table));
	for (size_t i = 0; i < HOTSPOT_FIELD_MAX; i++) {
		struct hotspot_entry *e = &ret_table->entries[i];

		l.at[i] = values[i][jdk] == NONE ? NONE : (uint16_t)i;
		e->is_static = is_static(i);
		if (is_static(i))
			e->address = STATIC_AT + values[i][jdk];
		else
			e->offset = values[i][jdk];
	}
	return l;
}

static int read_table(void *data, uint64_t addr, void *dst, size_t n)
{
	uint64_t off = addr - TABLE_AT - BASE;

	if (off > sizeof(struct table) || n > sizeof(struct table) - off)
		return -EFAULT;
	memcpy(dst, (const char *)data + off, n);
	return 0;
}

static bool read_layout(const struct hotspot_layout *of_file, struct table *table,
			struct hotspot_layout *ret_layout)
{
	const struct runtime_memory memory = { .read = read_table, .data = table };

	return hotspot_layout_read(of_file, BASE, &memory, ret_layout);
}

static void test_known(void **state)
{
	(void)state;
	for (int jdk = 0; jdk < JDK_MAX; jdk++) {
		struct table table;
		struct hotspot_layout of_file = made(jdk, &table), l;

		assert_true(hotspot_layout_is_known(&of_file));
		assert_true(read_layout(&of_file, &table, &l));
		assert_true(l.is_supported);
		assert_true(l.has_scopes);
		assert_true(l.has_lines);
		for (size_t i = HOTSPOT_ARRAY_LENGTH; i < HOTSPOT_FIELD_MAX; i++)
			if (values[i][jdk] != NONE)
				assert_int_equal(l.at[i], values[i][jdk]);
		assert_int_equal(l.heaps_at, STATIC_AT + (jdk == JDK_27 ? 8 : 0));
		assert_int_equal(l.low_at != 0, jdk != JDK_8);
		assert_int_equal(l.at[HOTSPOT_NMETHOD_METHOD],
				 jdk == JDK_17 ? 112 : values[HOTSPOT_NMETHOD_METHOD][jdk]);
		assert_int_equal(l.at[HOTSPOT_ARRAY_LENGTH], 0);
		assert_int_equal(l.at[HOTSPOT_CONST_FLAGS], 28);
		assert_int_not_equal(l.at[HOTSPOT_SYMBOL_BODY], NONE);
	}
}

/* Without one of what leads to them inlined methods are not told, and all others are. */
static void test_scopes(void **state)
{
	static const struct {
		int jdk;
		enum hotspot_field field;
	} missing[] = {
		{ JDK_8, HOTSPOT_NMETHOD_SCOPES },     { JDK_8, HOTSPOT_NMETHOD_METADATA },
		{ JDK_8, HOTSPOT_NMETHOD_NUMBER },     { JDK_17, HOTSPOT_NMETHOD_SCOPES_9 },
		{ JDK_17, HOTSPOT_NMETHOD_PLACES },    { JDK_17, HOTSPOT_NMETHOD_PLACES_END },
		{ JDK_27, HOTSPOT_NMETHOD_IMMUTABLE }, { JDK_27, HOTSPOT_NMETHOD_SCOPES },
		{ JDK_27, HOTSPOT_BLOB_MUTABLE },      { JDK_27, HOTSPOT_BLOB_RELOCATION },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		struct table table;
		struct hotspot_layout of_file = made(missing[i].jdk, &table), l;

		of_file.at[missing[i].field] = NONE;
		assert_true(hotspot_layout_is_known(&of_file));
		assert_true(read_layout(&of_file, &table, &l));
		assert_false(l.has_scopes);
	}
}

/* Without one of what leads to a method's table of lines it is not looked for. */
static void test_lines(void **state)
{
	static const uint16_t needed[] = { HOTSPOT_CONST_SIZE, HOTSPOT_CONST_FLAGS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		struct table table;
		struct hotspot_layout of_file = made(JDK_17, &table), l;

		of_file.at[needed[i]] = NONE;
		assert_true(hotspot_layout_is_known(&of_file));
		assert_true(read_layout(&of_file, &table, &l));
		assert_true(l.is_supported);
		assert_false(l.has_lines);
	}
}

/* A field that is not in the file. */
static void test_unknown_file(void **state)
{
	static const struct {
		enum hotspot_field field;
		bool is_known;
	} rows[] = {
		{ HOTSPOT_HEAPS, false },
		{ HOTSPOT_LOW_BOUND, false },
		{ HOTSPOT_NMETHOD_METHOD, false },
		{ HOTSPOT_KLASS_NAME, false },
		{ HOTSPOT_BLOB_CODE_OFFSET, false },
		{ HOTSPOT_SYMBOL_BODY, true },
		{ HOTSPOT_BLOCK_USED, true },
		{ HOTSPOT_BLOCK_LENGTH, true },
		{ HOTSPOT_SYMBOL_LENGTH, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct table table;
		struct hotspot_layout of_file = made(JDK_27, &table);

		of_file.at[rows[i].field] = NONE;
		assert_int_equal(hotspot_layout_is_known(&of_file), rows[i].is_known);
	}
}

static void test_versions(void **state)
{
	static const struct {
		uint8_t major;
		bool is_known;
	} rows[] = { { 0, false }, { 7, false }, { 8, true }, { 27, true }, { 28, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct table table;
		struct hotspot_layout of_file = made(JDK_17, &table);

		of_file.major = rows[i].major;
		assert_int_equal(hotspot_layout_is_known(&of_file), rows[i].is_known);
	}
}

/* One entry of the process's table is another one. */
static void test_liar(void **state)
{
	static const struct {
		enum hotspot_field field;
		struct hotspot_entry entry;
	} rows[] = {
		{ HOTSPOT_HEAPS, { .is_static = 1 } },
		{ HOTSPOT_HEAPS, { .address = STATIC_AT } },
		{ HOTSPOT_METHOD_CONST, { .offset = 0 } },
		{ HOTSPOT_METHOD_CONST, { .offset = UINT64_MAX } },
		{ HOTSPOT_METHOD_CONST, { .is_static = 1, .offset = 8 } },
		{ HOTSPOT_CONST_NAME, { .offset = 57 } },
		{ HOTSPOT_BLOB_NAME, { .offset = 249 } },
		{ HOTSPOT_NMETHOD_METHOD_9, { .offset = 256 } },
		{ HOTSPOT_POOL_LENGTH, { .offset = 513 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct table table;
		struct hotspot_layout of_file = made(JDK_17, &table), l;

		table.entries[rows[i].field] = rows[i].entry;
		assert_false(read_layout(&of_file, &table, &l));
	}
}

/* Where a block says that it is in use, and how long, lies in its header, or is not known. */
static void test_block(void **state)
{
	static const struct {
		uint64_t offset;
		uint16_t known;
	} rows[] = { { 0, 0 }, { 15, 15 }, { 16, NONE }, { 512, NONE } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct table table;
		struct hotspot_layout of_file = made(JDK_17, &table), l;

		table.entries[HOTSPOT_BLOCK_USED].offset = rows[i].offset;
		table.entries[HOTSPOT_BLOCK_LENGTH].offset = rows[i].offset;
		assert_true(read_layout(&of_file, &table, &l));
		assert_int_equal(l.at[HOTSPOT_BLOCK_USED], rows[i].known);
		assert_int_equal(l.at[HOTSPOT_BLOCK_LENGTH], rows[i].known);
	}
}

/* Before its constructors have run, and where it cannot be read. */
static void test_not_yet(void **state)
{
	struct table table;
	struct hotspot_layout of_file = made(JDK_17, &table), l;

	(void)state;
	for (size_t i = 0; i < HOTSPOT_FIELD_MAX; i++)
		table.entries[i].offset = 0;
	assert_false(read_layout(&of_file, &table, &l));
	of_file = made(JDK_17, &table);
	of_file.table_at -= sizeof(struct hotspot_entry);
	assert_false(read_layout(&of_file, &table, &l));
}

static const struct unit_test tests[] = {
	TEST(test_known),    TEST(test_scopes), TEST(test_lines),   TEST(test_unknown_file),
	TEST(test_versions), TEST(test_liar),	TEST(test_block),   TEST(test_not_yet),
};

TEST_MAIN(tests)
