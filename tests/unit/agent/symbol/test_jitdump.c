/* SPDX-License-Identifier: Apache-2.0 */
/* Jitdumps: loads and moves, files that grow, end in the middle, or are none. */
#include <stdlib.h>

#include "agent/symbol/jitdump.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/symbol/jitdump_write.h"

#define MAX_BYTES ((size_t)1 << 20)

struct fixture {
	struct jitdump dump;
	struct buf file;
	uint64_t n_read;
};

static void set_up(struct fixture *f)
{
	jitdump_init(&f->dump, MAX_BYTES);
	buf_init(&f->file, (size_t)64 << 20);
	put_header(&f->file, JITDUMP_MAGIC, 1, 99);
}

static void tear_down(struct fixture *f)
{
	jitdump_fini(&f->dump);
	buf_fini(&f->file);
}

FIXTURE(struct fixture, set_up, tear_down)

static int read_prefix(struct fixture *f, size_t n, uint64_t max_read)
{
	struct bytes b = bytes_from_memory(buf_str(&f->file), n);

	return jitdump_read(&f->dump, &b, max_read, &f->n_read);
}

static void read_all(struct fixture *f)
{
	assert_int_equal(read_prefix(f, f->file.len, UINT64_MAX), 0);
}

#define NOW_NS 1000000

static void check_at(const struct fixture *f, uint64_t pc, uint64_t at_ns, const char *expected)
{
	struct bytes b = bytes_from_memory(buf_str(&f->file), f->file.len);
	_cleanup_buf_ struct buf name = BUF_INIT(JITDUMP_MAX_NAME_BYTES);
	int r = jitdump_name(&f->dump, &b, pc, at_ns, NOW_NS, &name);

	assert_int_equal(r, expected ? 0 : JITDUMP_NONE);
	assert_string_equal(buf_str(&name), expected ? expected : "");
}

static void check(const struct fixture *f, uint64_t pc, const char *expected)
{
	check_at(f, pc, 0, expected);
}

static void test_loads(void **state)
{
	struct fixture *f = *state;

	put_debug_info(&f->file, 0x1000);
	put_load(&f->file, 0x1000, 16, 1, "first");
	put_load(&f->file, 0x2000, 5000, 2, "second one");
	put_record(&f->file, 4, 3);
	assert_int_equal(buf_append(&f->file, "xyz", 3), 0);
	put_record(&f->file, 77, 0);
	put_load(&f->file, 0x1008, 4, 3, "third");
	put_close(&f->file);
	read_all(f);
	check(f, 0x1007, "first");
	check(f, 0x1008, "third");
	check(f, 0x100c, "first");
	check(f, 0x1010, NULL);
	check(f, 0x2000 + 4999, "second one");
}

static void test_moves(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "first");
	put_load(&f->file, 0x2000, 16, 2, "second");
	put_move(&f->file, 0x1000, 0x2000, 16, 1);
	put_move(&f->file, 0x7000, 0x8000, 16, 12345);
	read_all(f);
	check(f, 0x2000, "first");
	check(f, 0x8000, NULL);
}

/* Indices that come again, or out of order, are no reason to lose the function. */
static void test_indices_out_of_order(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 5, "five");
	put_load(&f->file, 0x2000, 16, 3, "three");
	put_load(&f->file, 0x3000, 16, 5, "five again");
	put_move(&f->file, 0x1000, 0x4000, 16, 5);
	read_all(f);
	check(f, 0x2000, "three");
	check(f, 0x3000, "five again");
	check(f, 0x4000, "five");
}

/* Cut at each place: whole records hold, and the rest follows when it is there. */
static void test_every_prefix(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "first");
	size_t first_end = f->file.len;
	put_load(&f->file, 0x2000, 16, 2, "second");
	for (size_t n = 0; n <= f->file.len; n++) {
		jitdump_fini(&f->dump);
		jitdump_init(&f->dump, MAX_BYTES);
		assert_int_equal(read_prefix(f, n, UINT64_MAX), n < 40 ? JITDUMP_FOREIGN : 0);
		check(f, 0x1000, n >= first_end ? "first" : NULL);
		check(f, 0x2000, n == f->file.len ? "second" : NULL);
		read_all(f);
		check(f, 0x1000, "first");
		check(f, 0x2000, "second");
	}
}

static void test_growth_in_pieces(void **state)
{
	struct fixture *f = *state;
	int n_reads = 0;

	for (uint64_t i = 0; i < 1000; i++)
		put_load(&f->file, 0x1000 + i * 16, 16, i, i == 999 ? "last" : "some");
	do {
		assert_int_equal(read_prefix(f, f->file.len, 10000), 0);
		assert_true(f->n_read <= 10000 + 512);
	} while (f->n_read && ++n_reads < 100);
	assert_true(n_reads > 5 && n_reads < 100);
	check(f, 0x1000, "some");
	check(f, 0x1000 + 999 * 16, "last");
}

static void test_other_file_is_read_anew(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "first");
	read_all(f);
	buf_reset(&f->file);
	put_header(&f->file, JITDUMP_MAGIC, 1, 100);
	put_load(&f->file, 0x2000, 16, 1, "second");
	put_load(&f->file, 0x3000, 16, 2, "third");
	read_all(f);
	check(f, 0x1000, NULL);
	check(f, 0x2000, "second");
	check(f, 0x3000, "third");
}

/* Nobody knows where the next one would begin. */
static void test_malformed_record_ends(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "first");
	put_u32(&f->file, 0);
	put_u32(&f->file, 20);
	put_u64(&f->file, 0);
	put_load(&f->file, 0x2000, 16, 2, "second");
	read_all(f);
	check(f, 0x1000, "first");
	check(f, 0x2000, NULL);
	put_load(&f->file, 0x3000, 16, 3, "third");
	read_all(f);
	check(f, 0x3000, NULL);
}

static void test_no_name(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "");
	read_all(f);
	check(f, 0x1000, NULL);
}

static void test_file_that_changed_gives_no_name(void **state)
{
	struct fixture *f = *state;

	put_load(&f->file, 0x1000, 16, 1, "first");
	read_all(f);
	f->file.data[40] = 7;
	check(f, 0x1000, NULL);
	f->file.len = 60;
	check(f, 0x1000, NULL);
}

static void test_long_name_is_cut(void **state)
{
	char name[3 * JITDUMP_MAX_NAME_BYTES];
	struct fixture *f = *state;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	put_load(&f->file, 0x1000, 16, 1, name);
	read_all(f);
	name[JITDUMP_MAX_NAME_BYTES] = '\0';
	check(f, 0x1000, name);
}

static void test_foreign(void **state)
{
	static const struct {
		uint32_t magic, version;
	} rows[] = {
		{ 0x4454694A, 1 }, { 0x464c457f, 1 }, { JITDUMP_MAGIC, 2 }, { JITDUMP_MAGIC, 0 }
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&f->file);
		put_header(&f->file, rows[i].magic, rows[i].version, 1);
		put_load(&f->file, 0x1000, 16, 1, "first");
		assert_int_equal(read_prefix(f, f->file.len, UINT64_MAX), JITDUMP_FOREIGN);
		check(f, 0x1000, NULL);
	}
}

static void test_ceiling(void **state)
{
	struct fixture *f = *state;

	jitdump_set_max(&f->dump, 4000);
	for (uint64_t i = 0; i < 1000; i++)
		put_load(&f->file, 0x1000 + i * 16, 16, i, i == 999 ? "last" : "some");
	put_move(&f->file, 0, 0x100000, 16, 999);
	read_all(f);
	assert_true(jitdump_bytes(&f->dump) <= 4000);
	assert_true(f->dump.ranges.n_dropped >= 900);
	check(f, 0x1000, NULL);
	check(f, 0x1000 + 999 * 16, "last");
	check(f, 0x100000, "last");
}

static void put_load_at(struct fixture *f, uint64_t time_ns, uint64_t begin, uint64_t index,
			const char *name)
{
	size_t at = f->file.len + 8;

	put_load(&f->file, begin, 16, index, name);
	memcpy(f->file.data + at, &time_ns, sizeof(time_ns));
}

/* One address, used again and again, a move among them: by the records' times. */
static void test_by_time(void **state)
{
	struct fixture *f = *state;

	put_load_at(f, 100, 0x1000, 1, "first");
	read_all(f);
	put_load_at(f, 200, 0x1008, 2, "second");
	put_load_at(f, 210, 0x5000, 3, "moved");
	size_t move = f->file.len + 8;
	put_move(&f->file, 0x5000, 0x1000, 16, 3);
	memcpy(f->file.data + move, &(uint64_t){ 300 }, 8);
	put_load_at(f, 400, 0x1000, 4, "last");
	read_all(f);
	check_at(f, 0x100a, 199, "first");
	check_at(f, 0x100a, 200, "second");
	check_at(f, 0x1004, 299, "first");
	check_at(f, 0x1004, 300, "moved");
	check_at(f, 0x100a, 399, "moved");
	check_at(f, 0x1004, 400, "last");
	check_at(f, 0x1004, 0, "last");
	/* Told late is better than not at all. */
	check_at(f, 0x1004, 50, "last");
}

/* Times of another clock say nothing of ours. */
static void test_other_clocks(void **state)
{
	struct fixture *f = *state;

	put_load_at(f, NOW_NS + 1, 0x1000, 1, "first");
	put_load_at(f, NOW_NS + 2, 0x1000, 2, "last");
	read_all(f);
	check_at(f, 0x1000, 500, "last");
	buf_reset(&f->file);
	put_header(&f->file, JITDUMP_MAGIC, 1, 2);
	put_load_at(f, 100, 0x1000, 1, "first");
	put_load_at(f, 200, 0x1000, 2, "last");
	f->file.data[32] |= 1;
	read_all(f);
	check_at(f, 0x1000, 150, "last");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_loads),
	FIXTURE_TEST(test_moves),
	FIXTURE_TEST(test_indices_out_of_order),
	FIXTURE_TEST(test_every_prefix),
	FIXTURE_TEST(test_growth_in_pieces),
	FIXTURE_TEST(test_other_file_is_read_anew),
	FIXTURE_TEST(test_malformed_record_ends),
	FIXTURE_TEST(test_no_name),
	FIXTURE_TEST(test_file_that_changed_gives_no_name),
	FIXTURE_TEST(test_long_name_is_cut),
	FIXTURE_TEST(test_foreign),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_by_time),
	FIXTURE_TEST(test_other_clocks),
};

TEST_MAIN(tests)
