/* SPDX-License-Identifier: Apache-2.0 */
/* Perf maps: lines as they are written, and files that grow, are cut, rewritten, or change while they are read. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/symbol/perf_map.h"
#include "tests/support/unit.h"

struct line_row {
	const char *title;
	const char *line;
	uint64_t begin;
	uint64_t n_bytes;
	const char *name; /* NULL: no line */
};

static const struct line_row line_rows[] = {
	{ "node", "3f2a11c0 1c4 JS:*foo file:///srv/x.js:3:10", 0x3f2a11c0, 0x1c4,
	  "JS:*foo file:///srv/x.js:3:10" },
	{ "node, older", "1f00 20 LazyCompile:~foo file.js:12", 0x1f00, 0x20,
	  "LazyCompile:~foo file.js:12" },
	{ "Java", "7f12c0000480 80 Lcom/foo/Bar;::method", 0x7f12c0000480, 0x80,
	  "Lcom/foo/Bar;::method" },
	{ "Python", "7f0011223344 b py::f:/srv/my file.py", 0x7f0011223344, 0xb,
	  "py::f:/srv/my file.py" },
	{ "0x", "0x1000 0x10 f", 0x1000, 0x10, "f" },
	{ "capitals", "0X1A00 AB f", 0x1a00, 0xab, "f" },
	{ "leading zeros", "00000000DEAD0000 00000010 f", 0xdead0000, 0x10, "f" },
	{ "tabs and more blanks", "  1000\t10 \t a  b ", 0x1000, 0x10, "a  b" },
	{ "carriage return", "1000 10 f\r", 0x1000, 0x10, "f" },
	{ "largest", "ffffffffffffffff ffffffffffffffff f", UINT64_MAX, UINT64_MAX, "f" },
	{ "empty", "", 0, 0, NULL },
	{ "no name", "1000 10", 0, 0, NULL },
	{ "blank name", "1000 10  \r", 0, 0, NULL },
	{ "no size", "1000 f", 0, 0, NULL },
	{ "no number", "start 10 f", 0, 0, NULL },
	{ "only 0x", "0x 10 f", 0, 0, NULL },
	{ "too large", "10000000000000000 10 f", 0, 0, NULL },
	{ "negative", "-1000 10 f", 0, 0, NULL },
	{ "stuck together", "1000:10 f", 0, 0, NULL },
};

static void test_line(void **state)
{
	const struct line_row *row = *state;
	struct perf_map_line l;

	assert_int_equal(perf_map_parse_line(str_from(row->line), &l), row->name != NULL);
	if (!row->name)
		return;
	assert_int_equal(l.begin, row->begin);
	assert_int_equal(l.n_bytes, row->n_bytes);
	assert_true(str_eq(l.name, str_from(row->name)));
}

#define MAX_BYTES ((size_t)1 << 20)
#define ALL UINT64_MAX

struct fixture {
	struct perf_map map;
	struct buf file;
	uint64_t n_read;
};

static void set_up(struct fixture *f)
{
	perf_map_init(&f->map, MAX_BYTES);
	buf_init(&f->file, (size_t)64 << 20);
}

static void tear_down(struct fixture *f)
{
	perf_map_fini(&f->map);
	buf_fini(&f->file);
}

FIXTURE(struct fixture, set_up, tear_down)

static void write_text(struct fixture *f, const char *text)
{
	assert_int_equal(buf_append_str(&f->file, text), 0);
}

static void rewrite(struct fixture *f, const char *text)
{
	buf_reset(&f->file);
	write_text(f, text);
}

static struct bytes bytes_of(const struct fixture *f)
{
	return bytes_from_memory(buf_str(&f->file), f->file.len);
}

static void read_up_to(struct fixture *f, uint64_t max_read)
{
	struct bytes b = bytes_of(f);

	assert_int_equal(perf_map_read(&f->map, &b, max_read, &f->n_read), 0);
}

static void check_at(const struct fixture *f, uint64_t pc, uint64_t n_bytes, const char *expected)
{
	_cleanup_buf_ struct buf name = BUF_INIT(PERF_MAP_MAX_NAME_BYTES);
	struct bytes b = bytes_of(f);
	int r = perf_map_name(&f->map, &b, pc, n_bytes, &name);

	assert_int_equal(r, expected ? 0 : PERF_MAP_NONE);
	assert_string_equal(buf_str(&name), expected ? expected : "");
}

static void check(const struct fixture *f, uint64_t pc, const char *expected)
{
	check_at(f, pc, 0, expected);
}

static void test_names(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 first\nrubbish\n\n2000 20 second one\r\n");
	read_up_to(f, ALL);
	check(f, 0x1000, "first");
	check(f, 0x100f, "first");
	check(f, 0x1010, NULL);
	check(f, 0x201f, "second one");
}

static void test_later_line_holds(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 100 old\n1040 10 new\n");
	read_up_to(f, ALL);
	check(f, 0x103f, "old");
	check(f, 0x1040, "new");
	check(f, 0x1050, "old");
	write_text(f, "1000 100 newest\n");
	read_up_to(f, ALL);
	check(f, 0x1040, "newest");
}

/* A sample is older than what the file says by the time when it is named. */
static void test_by_size(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 100 old\n");
	size_t one = f->file.len;
	write_text(f, "1040 10 new\n");
	size_t two = f->file.len;
	read_up_to(f, ALL);
	write_text(f, "1000 100 newest\n9000 10 late\n");
	read_up_to(f, ALL);
	check_at(f, 0x1044, one, "old");
	check_at(f, 0x1044, two, "new");
	check_at(f, 0x1004, two, "old");
	check_at(f, 0x1044, f->file.len, "newest");
	check_at(f, 0x1044, 0, "newest");
	/* Written late is better than not at all. */
	check_at(f, 0x9000, one, "late");
}

static void test_growth_is_read_once(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 a\n2000 10 b\n");
	read_up_to(f, ALL);
	assert_int_equal(f->n_read, f->file.len);
	write_text(f, "3000 10 c\n");
	read_up_to(f, ALL);
	assert_int_equal(f->n_read, 10);
	read_up_to(f, ALL);
	assert_int_equal(f->n_read, 0);
	check(f, 0x1000, "a");
	check(f, 0x3000, "c");
}

static void test_partial_last_line_waits(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 a\n2000 10 lo");
	read_up_to(f, ALL);
	check(f, 0x2000, NULL);
	write_text(f, "ng name\n");
	read_up_to(f, ALL);
	check(f, 0x2000, "long name");
}

static void test_cut_file_is_read_anew(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 a\n2000 10 b\n");
	read_up_to(f, ALL);
	rewrite(f, "3000 10 c\n");
	read_up_to(f, ALL);
	check(f, 0x1000, NULL);
	check(f, 0x3000, "c");
}

/* As long as before, or longer. */
static void test_rewritten_file_is_read_anew(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 a\n2000 10 b\n");
	read_up_to(f, ALL);
	rewrite(f, "3000 10 c\n4000 10 d\n5000 10 e\n");
	read_up_to(f, ALL);
	check(f, 0x1000, NULL);
	check(f, 0x3000, "c");
	check(f, 0x5000, "e");
}

/* Between the index and the name. */
static void test_changed_line_gives_no_name(void **state)
{
	struct fixture *f = *state;

	write_text(f, "1000 10 a\n");
	read_up_to(f, ALL);
	rewrite(f, "7000 10 b\n");
	check(f, 0x1000, NULL);
	rewrite(f, "");
	check(f, 0x1000, NULL);
}

static void test_long_name_is_cut(void **state)
{
	char name[3 * PERF_MAP_MAX_NAME_BYTES];
	struct fixture *f = *state;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	write_text(f, "1000 10 ");
	write_text(f, name);
	write_text(f, "\n2000 10 b\n");
	read_up_to(f, ALL);
	name[PERF_MAP_MAX_NAME_BYTES] = '\0';
	check(f, 0x1000, name);
	check(f, 0x2000, "b");
}

/* A line without an end, as a program would write to use up our memory. */
static void test_endless_line_is_passed_over(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20000; i++)
		write_text(f, "1000 10 abc ");
	read_up_to(f, ALL);
	assert_int_equal(f->n_read, f->file.len);
	check(f, 0x1000, NULL);
	write_text(f, "1000 10 x\n2000 10 b\n");
	read_up_to(f, ALL);
	check(f, 0x1000, NULL);
	check(f, 0x2000, "b");
}

static void write_lines(struct fixture *f, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		assert_int_equal(buf_printf(&f->file, "%x 10 f%u\n", 0x100000 + i * 16, i), 0);
}

static void test_the_end_of_a_large_file(void **state)
{
	struct fixture *f = *state;

	write_lines(f, 0, 100000);
	read_up_to(f, 100000);
	assert_true(f->n_read >= 100000 && f->n_read < 200000);
	check(f, 0x100000, NULL);
	check(f, 0x100000 + 99999 * 16, "f99999");
	assert_true(f->map.ranges.n_dropped > 0);
	/* It goes on from there, in pieces when much has come. */
	write_lines(f, 100000, 200000);
	for (int i = 0; i < 100 && f->n_read; i++)
		read_up_to(f, 100000);
	check(f, 0x100000 + 100000 * 16, NULL);
	check(f, 0x100000 + 199999 * 16, "f199999");
	assert_true(perf_map_bytes(&f->map) <= MAX_BYTES);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_line, line_rows, title),
	FIXTURE_TEST(test_names),
	FIXTURE_TEST(test_later_line_holds),
	FIXTURE_TEST(test_by_size),
	FIXTURE_TEST(test_growth_is_read_once),
	FIXTURE_TEST(test_partial_last_line_waits),
	FIXTURE_TEST(test_cut_file_is_read_anew),
	FIXTURE_TEST(test_rewritten_file_is_read_anew),
	FIXTURE_TEST(test_changed_line_gives_no_name),
	FIXTURE_TEST(test_long_name_is_cut),
	FIXTURE_TEST(test_endless_line_is_passed_over),
	FIXTURE_TEST(test_the_end_of_a_large_file),
};

TEST_MAIN(tests)
