/* SPDX-License-Identifier: Apache-2.0 */
/* What a process's table tells of threads and of classes of objects, by what real builds have there; builds that lack something, and processes that lie. */
#include <errno.h>
#include <string.h>

#include "agent/runtimes/hotspot/more.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define NONE HOTSPOT_NONE
#define TABLE_AT 0x7f0000001000
#define STATIC_AT 0x7f0000100000

/* As Debian's 8, 17 and 27 have them in memory; of static members, where they lie behind another. */
enum { JDK_8, JDK_17, JDK_27, JDK_MAX };

static const uint16_t values[HOTSPOT_MORE_MAX][JDK_MAX] = {
	[HOTSPOT_THREADS] = { NONE, 8, 16 },
	[HOTSPOT_THREADS_8] = { 24, NONE, NONE },
	[HOTSPOT_CLASS_BASE] = { NONE, NONE, 32 },
	[HOTSPOT_CLASS_BASE_17] = { NONE, 40, NONE },
	[HOTSPOT_CLASS_BASE_8] = { 48, NONE, NONE },
	[HOTSPOT_CLASS_SHIFT] = { NONE, NONE, 56 },
	[HOTSPOT_CLASS_SHIFT_17] = { NONE, 64, NONE },
	[HOTSPOT_CLASS_SHIFT_8] = { 72, NONE, NONE },
	[HOTSPOT_LIST_LENGTH] = { NONE, 4, 4 },
	[HOTSPOT_LIST_THREADS] = { NONE, 16, 16 },
	[HOTSPOT_THREAD_NEXT] = { 560, NONE, NONE },
	[HOTSPOT_THREAD_SYSTEM] = { NONE, NONE, 992 },
	[HOTSPOT_THREAD_SYSTEM_8] = { 392, 560, NONE },
	[HOTSPOT_SYSTEM_NUMBER] = { 216, 208, 12 },
	[HOTSPOT_THREAD_STACK] = { 424, 592, 1024 },
	[HOTSPOT_THREAD_STACK_BYTES] = { 432, 600, 1032 },
	[HOTSPOT_THREAD_ANCHOR] = { 576, 656, 1128 },
	[HOTSPOT_ANCHOR_SP] = { 0, 0, 0 },
	[HOTSPOT_ANCHOR_PC] = { 8, 8, 8 },
	[HOTSPOT_ANCHOR_FP] = { 16, 16, 16 },
	[HOTSPOT_WRAPPER_ANCHOR] = { 32, 32, 32 },
	[HOTSPOT_CLASS_POOL] = { 216, 232, 224 },
	[HOTSPOT_DEOPT] = { NONE, NONE, 176 },
	[HOTSPOT_DEOPT_23] = { NONE, NONE, NONE },
	[HOTSPOT_DEOPT_9] = { NONE, 128, NONE },
	[HOTSPOT_DEOPT_8] = { 148, NONE, NONE },
	[HOTSPOT_DEOPT_HANDLE] = { NONE, NONE, NONE },
	[HOTSPOT_DEOPT_HANDLE_9] = { NONE, 136, NONE },
	[HOTSPOT_DEOPT_HANDLE_8] = { 152, NONE, NONE },
	[HOTSPOT_DEOPT_PLACE] = { 200, 300, 200 },
};

struct table {
	struct hotspot_entry entries[HOTSPOT_MORE_MAX];
};

/* A file whose entries are in the order of the fields, and the table of a process that has it. */
static struct hotspot_more made(int jdk, struct table *ret_table)
{
	struct hotspot_more m = { 0 };

	memset(ret_table, 0, sizeof(*ret_table));
	for (size_t i = 0; i < HOTSPOT_MORE_MAX; i++) {
		struct hotspot_entry *e = &ret_table->entries[i];

		m.at[i] = values[i][jdk] == NONE ? NONE : (uint16_t)i;
		e->is_static = i < HOTSPOT_LIST_LENGTH;
		if (e->is_static)
			e->address = STATIC_AT + values[i][jdk];
		else
			e->offset = values[i][jdk];
	}
	return m;
}

static int read_table(void *data, uint64_t addr, void *dst, size_t n)
{
	uint64_t off = addr - TABLE_AT;

	if (off > sizeof(struct table) || n > sizeof(struct table) - off)
		return -EFAULT;
	memcpy(dst, (const char *)data + off, n);
	return 0;
}

static struct hotspot_more read_more(const struct hotspot_more *of_file, struct table *table)
{
	const struct runtime_memory memory = { .read = read_table, .data = table };
	struct hotspot_more m;

	hotspot_more_read(of_file, TABLE_AT, &memory, &m);
	return m;
}

static void test_builds(void **state)
{
	static const uint64_t threads[] = { 24, 8, 16 }, bases[] = { 48, 40, 32 },
			      shifts[] = { 72, 64, 56 };

	(void)state;
	for (int jdk = 0; jdk < JDK_MAX; jdk++) {
		struct table table;
		struct hotspot_more of_file = made(jdk, &table), m = read_more(&of_file, &table);

		assert_int_equal(m.threads_at, STATIC_AT + threads[jdk]);
		assert_int_equal(m.class_base_at, STATIC_AT + bases[jdk]);
		assert_int_equal(m.class_shift_at, STATIC_AT + shifts[jdk]);
		assert_int_equal(m.at[HOTSPOT_THREAD_NEXT], values[HOTSPOT_THREAD_NEXT][jdk]);
		assert_int_equal(m.at[HOTSPOT_THREAD_SYSTEM],
				 values[jdk == JDK_27 ? HOTSPOT_THREAD_SYSTEM
						      : HOTSPOT_THREAD_SYSTEM_8][jdk]);
		assert_int_equal(m.at[HOTSPOT_THREAD_ANCHOR], values[HOTSPOT_THREAD_ANCHOR][jdk]);
	}
}

/* The array of threads is what counts where there is one, besides their own list. */
static void test_both_lists(void **state)
{
	struct table table;
	struct hotspot_more of_file = made(JDK_17, &table), m;

	(void)state;
	of_file.at[HOTSPOT_THREAD_NEXT] = HOTSPOT_THREAD_NEXT;
	m = read_more(&of_file, &table);
	assert_int_equal(m.at[HOTSPOT_THREAD_NEXT], NONE);
	assert_int_equal(m.threads_at, STATIC_AT + 8);
}

/* One place has the distance of the handler, whatever the build calls it; those whose code has its address have another. */
static void test_given_up_code(void **state)
{
	static const uint16_t handlers[][4] = {
		{ 148, NONE, 152, NONE },
		{ NONE, 128, NONE, 136 },
		{ 176, NONE, NONE, NONE },
	};
	struct hotspot_more of_file, m;
	struct table table;

	(void)state;
	for (int jdk = 0; jdk < JDK_MAX; jdk++) {
		of_file = made(jdk, &table);
		m = read_more(&of_file, &table);
		assert_int_equal(m.at[HOTSPOT_DEOPT], handlers[jdk][0]);
		assert_int_equal(m.at[HOTSPOT_DEOPT_9], handlers[jdk][1]);
		assert_int_equal(m.at[HOTSPOT_DEOPT_HANDLE], handlers[jdk][2]);
		assert_int_equal(m.at[HOTSPOT_DEOPT_HANDLE_9], handlers[jdk][3]);
		assert_int_equal(m.at[HOTSPOT_DEOPT_PLACE], values[HOTSPOT_DEOPT_PLACE][jdk]);
	}
	/* 23 to 25 */
	of_file.at[HOTSPOT_DEOPT_23] = HOTSPOT_DEOPT;
	of_file.at[HOTSPOT_DEOPT] = NONE;
	m = read_more(&of_file, &table);
	assert_int_equal(m.at[HOTSPOT_DEOPT], 176);
}

/* One entry that the file does not have, or that the process has another one in place of. */
static void test_missing(void **state)
{
	static const struct {
		uint8_t field;
		bool has_threads, has_classes;
	} rows[] = {
		{ HOTSPOT_THREADS, false, true },	{ HOTSPOT_LIST_LENGTH, false, true },
		{ HOTSPOT_THREAD_SYSTEM, false, true }, { HOTSPOT_SYSTEM_NUMBER, false, true },
		{ HOTSPOT_ANCHOR_FP, false, true },	{ HOTSPOT_WRAPPER_ANCHOR, false, true },
		{ HOTSPOT_CLASS_BASE, true, false },	{ HOTSPOT_CLASS_SHIFT, true, false },
		{ HOTSPOT_CLASS_POOL, true, false },
	};
	static const struct hotspot_entry lies[] = {
		{ .is_static = 1 },
		{ .is_static = 0, .offset = UINT64_MAX },
		{ .is_static = 0, .offset = 8193, .address = STATIC_AT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct table table;
		struct hotspot_more of_file = made(JDK_27, &table), m;

		of_file.at[rows[i].field] = NONE;
		m = read_more(&of_file, &table);
		assert_int_equal(m.threads_at != 0, rows[i].has_threads);
		assert_int_equal(m.class_base_at != 0, rows[i].has_classes);
		of_file.at[rows[i].field] = rows[i].field;
		for (size_t k = 0; k < ARRAY_SIZE(lies); k++) {
			table.entries[rows[i].field] = lies[k];
			m = read_more(&of_file, &table);
			assert_int_equal(m.threads_at != 0, rows[i].has_threads);
			assert_int_equal(m.class_base_at != 0, rows[i].has_classes);
		}
	}
}

/* A table that cannot be read tells nothing. */
static void test_not_there(void **state)
{
	struct table table;
	struct hotspot_more of_file = made(JDK_27, &table), m;
	const struct runtime_memory memory = { .read = read_table, .data = &table };

	(void)state;
	hotspot_more_read(&of_file, TABLE_AT - 0x100000, &memory, &m);
	assert_int_equal(m.threads_at, 0);
	assert_int_equal(m.class_base_at, 0);
}

static const struct unit_test tests[] = {
	TEST(test_builds),
	TEST(test_both_lists),
	TEST(test_given_up_code),
	TEST(test_missing),
	TEST(test_not_there),
};

TEST_MAIN(tests)
