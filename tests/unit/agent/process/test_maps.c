/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps. */
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "agent/process/maps.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define RANGE "7f0000001000-7f0000003000 "

struct row {
	const char *name;
	const char *line;
	enum maps_outcome outcome;
	enum mapping_kind kind;
	const char *path;
	bool deleted;
};

static const struct row rows[] = {
	{ "file", RANGE "r-xp 00002000 fe:00 247026                     /usr/bin/cat", MAPS_ENTRY,
	  MAPPING_FILE, "/usr/bin/cat", false },
	{ "writable", RANGE "rwxp 00002000 fe:00 247026 /usr/bin/cat", MAPS_ENTRY, MAPPING_FILE,
	  "/usr/bin/cat", false },
	{ "execute only", RANGE "--xp 00002000 fe:00 247026 /usr/bin/cat", MAPS_ENTRY, MAPPING_FILE,
	  "/usr/bin/cat", false },
	{ "shared", RANGE "r-xs 00002000 fe:00 247026 /usr/bin/cat", MAPS_ENTRY, MAPPING_FILE,
	  "/usr/bin/cat", false },
	{ "data", RANGE "rw-p 00002000 fe:00 247026 /usr/bin/cat", MAPS_FILE_DATA, MAPPING_FILE,
	  "/usr/bin/cat", false },
	{ "no access", RANGE "---p 00002000 fe:00 247026 /usr/bin/cat", MAPS_FILE_DATA,
	  MAPPING_FILE, "/usr/bin/cat", false },
	{ "anonymous data", RANGE "rw-p 00000000 00:00 0", MAPS_SKIPPED, 0, NULL, false },
	{ "shared memory", RANGE "rw-s 00002000 00:01 99 /dev/zero (deleted)", MAPS_SKIPPED, 0,
	  NULL, false },
	{ "the kernel's data", RANGE "r--p 00000000 00:00 0 [vvar]", MAPS_SKIPPED, 0, NULL, false },
	{ "blanks in the path", RANGE "r-xp 00002000 fe:00 247026 /opt/my app/x y", MAPS_ENTRY,
	  MAPPING_FILE, "/opt/my app/x y", false },
	{ "newline in the path", RANGE "r-xp 00002000 fe:00 247026 /opt/a\\012b", MAPS_ENTRY,
	  MAPPING_FILE, "/opt/a\nb", false },
	{ "backslashes are literal", RANGE "r-xp 00002000 fe:00 247026 /opt/a\\b\\01", MAPS_ENTRY,
	  MAPPING_FILE, "/opt/a\\b\\01", false },
	{ "deleted", RANGE "r-xp 00002000 fe:00 247026 /opt/a (deleted)", MAPS_ENTRY, MAPPING_FILE,
	  "/opt/a", true },
	{ "memfd", RANGE "r-xp 00002000 00:01 99 /memfd:jit (deleted)", MAPS_ENTRY, MAPPING_FILE,
	  "/memfd:jit", true },
	{ "huge page file", RANGE "r-xp 00002000 00:0f 99 /dev/hugepages/text", MAPS_ENTRY,
	  MAPPING_FILE, "/dev/hugepages/text", false },
	{ "anonymous huge page", RANGE "r-xp 00002000 00:0f 99 /anon_hugepage (deleted)",
	  MAPS_ENTRY, MAPPING_ANON, "", true },
	{ "dev zero", RANGE "r-xs 00002000 00:01 99 /dev/zero (deleted)", MAPS_ENTRY, MAPPING_ANON,
	  "", true },
	{ "system v", RANGE "r-xs 00002000 00:01 99 /SYSV00000000 (deleted)", MAPS_ENTRY,
	  MAPPING_ANON, "", true },
	{ "anonymous", RANGE "rwxp 00000000 00:00 0", MAPS_ENTRY, MAPPING_ANON, "", false },
	{ "anonymous with blank", RANGE "rwxp 00000000 00:00 0 ", MAPS_ENTRY, MAPPING_ANON, "",
	  false },
	{ "anonymous of perf", RANGE "rwxp 00000000 00:00 0 //anon", MAPS_ENTRY, MAPPING_ANON, "",
	  false },
	{ "named anonymous", RANGE "rwxp 00000000 00:00 0 [anon:v8]", MAPS_ENTRY, MAPPING_ANON, "",
	  false },
	{ "heap", RANGE "rwxp 00000000 00:00 0 [heap]", MAPS_ENTRY, MAPPING_ANON, "", false },
	{ "stack", RANGE "rwxp 00000000 00:00 0 [stack]", MAPS_ENTRY, MAPPING_ANON, "", false },
	{ "uprobes", RANGE "--xp 00000000 00:00 0 [uprobes]", MAPS_ENTRY, MAPPING_ANON, "", false },
	{ "vdso", RANGE "r-xp 00000000 00:00 0 [vdso]", MAPS_ENTRY, MAPPING_VDSO, "", false },
	{ "path without inode", RANGE "r-xp 00000000 00:00 0 /odd", MAPS_ENTRY, MAPPING_ANON, "",
	  false },
	{ "inode without path", RANGE "r-xp 00000000 00:10 7 //toolong", MAPS_ENTRY, MAPPING_FILE,
	  "", false },
	{ "inode with an odd name", RANGE "r-xp 00000000 00:10 7 anon_inode:[x]", MAPS_ENTRY,
	  MAPPING_FILE, "", false },
	{ "vsyscall", "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
	  MAPS_SKIPPED, 0, NULL, false },
	{ "above user space", "ffffffffff700000-ffffffffff701000 r-xp 00000000 00:00 0",
	  MAPS_SKIPPED, 0, NULL, false },
	{ "empty range", "1000-1000 r-xp 00000000 00:00 0", MAPS_MALFORMED, 0, NULL, false },
	{ "backward range", "2000-1000 r-xp 00000000 00:00 0", MAPS_MALFORMED, 0, NULL, false },
	{ "too many digits", "10000000000000000-20000000000000000 r-xp 00000000 00:00 0",
	  MAPS_MALFORMED, 0, NULL, false },
	{ "no range", "r-xp 00000000 00:00 0", MAPS_MALFORMED, 0, NULL, false },
	{ "short permissions", RANGE "r-x 00000000 00:00 0", MAPS_MALFORMED, 0, NULL, false },
	{ "cut after permissions", RANGE "r-xp", MAPS_MALFORMED, 0, NULL, false },
	{ "cut after the offset", RANGE "r-xp 00000000", MAPS_MALFORMED, 0, NULL, false },
	{ "cut in the device", RANGE "r-xp 00000000 00", MAPS_MALFORMED, 0, NULL, false },
	{ "no inode", RANGE "r-xp 00000000 00:00 ", MAPS_MALFORMED, 0, NULL, false },
	{ "letters after the inode", RANGE "r-xp 00000000 00:00 0x", MAPS_MALFORMED, 0, NULL,
	  false },
	{ "empty", "", MAPS_MALFORMED, 0, NULL, false },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	char path[MAPPING_PATH_MAX];
	struct maps_entry e;

	assert_int_equal(maps_parse_line(str_from(row->line), path, &e), row->outcome);
	if (row->outcome != MAPS_ENTRY && row->outcome != MAPS_FILE_DATA)
		return;
	assert_int_equal(e.executable, row->outcome == MAPS_ENTRY);
	assert_int_equal(e.begin, 0x7f0000001000);
	assert_int_equal(e.end, 0x7f0000003000);
	assert_int_equal(e.kind, row->kind);
	assert_int_equal(e.deleted, row->deleted);
	assert_true(str_eq(e.path, str_from(row->path)));
}

static void test_numbers(void **state)
{
	char path[MAPPING_PATH_MAX];
	struct maps_entry e;

	(void)state;
	assert_int_equal(
		maps_parse_line(str_from("1000-ffff r-xp 12345678f 103:0a 18446744073709551615 /x"),
				path, &e),
		MAPS_ENTRY);
	assert_int_equal(e.file_off, 0x12345678fULL);
	assert_int_equal(e.dev, makedev(0x103, 0x0a));
	assert_int_equal(e.inode, UINT64_MAX);
}

/* What memory without a file is called. */
static void test_names(void **state)
{
	static const struct {
		const char *line, *name;
	} of[] = {
		{ RANGE "r-xp 00000000 00:00 0", "" },
		{ RANGE "rwxp 00000000 00:00 0                          [heap]", "[heap]" },
		{ RANGE "rwxp 00000000 00:00 0 [stack]", "[stack]" },
		{ RANGE "rwxp 00000000 00:00 0 [anon:v8 code]", "[anon:v8 code]" },
		{ RANGE "r-xs 00002000 00:01 99 /dev/zero (deleted)", "" },
		{ RANGE "r-xs 00002000 00:01 99 /memfd:doublemapper (deleted)", "" },
		{ RANGE "r-xs 00002000 00:01 99 /SYSV00000000 (deleted)", "" },
	};
	char path[MAPPING_PATH_MAX];
	struct maps_entry e;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		assert_int_equal(maps_parse_line(str_from(of[i].line), path, &e), MAPS_ENTRY);
		assert_int_equal(e.kind, MAPPING_ANON);
		assert_true(str_eq(e.name, str_from(of[i].name)));
	}
	assert_int_equal(maps_parse_line(STR_LIT(RANGE "r-xp 00000000 00:00 0 [vdso]"), path, &e),
			 MAPS_ENTRY);
	assert_int_equal(e.name.n, 0);
}

static bool count_entry(const struct maps_entry *entry, void *data)
{
	size_t *n = data;

	assert_true(entry->begin < entry->end);
	(*n)++;
	return *n != 3;
}

static void test_text(void **state)
{
	size_t n = 0;

	(void)state;
	assert_int_equal(
		maps_parse(STR_LIT("1000-2000 r-xp 0 0:0 0\ngarbage\n2000-3000 r--p 0 0:0 0\n"
				   "3000-4000 r-xp 0 0:0 0\n\n"),
			   count_entry, &n),
		1);
	assert_int_equal(n, 2);
	n = 0;
	assert_int_equal(maps_parse(STR_LIT("1000-2000 r-xp 0 0:0 0\n2000-3000 r-xp 0 0:0 0\n"
					    "3000-4000 r-xp 0 0:0 0\n5000-6000 r-xp 0 0:0 0\n"),
				    count_entry, &n),
			 0);
	assert_int_equal(n, 3);
}

static bool count_all(const struct maps_entry *entry, void *data)
{
	size_t *n = data;

	(void)entry;
	(*n)++;
	return true;
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
	size_t n = 0;

	(void)state;
	for (unsigned int i = 1; i <= MAPPINGS_MAX + 10; i++)
		assert_int_equal(buf_printf(&b, "%x000-%x800 r-xp 0 0:0 0\n", i, i), 0);
	assert_int_equal(maps_parse((struct str){ buf_str(&b), b.len }, count_all, &n), 0);
	assert_int_equal(n, MAPPINGS_MAX);
}

static bool count_executable(const struct maps_entry *entry, void *data)
{
	size_t *n = data;

	n[entry->executable]++;
	return true;
}

/* Data of files is told, but takes no place of code. */
static void test_ceiling_is_of_code(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 20);
	size_t n[2] = { 0, 0 };

	(void)state;
	for (unsigned int i = 1; i <= MAPPINGS_MAX + 10; i++)
		assert_int_equal(buf_printf(&b, "%x000-%x800 r--p 0 8:1 5 /x\n", i, i), 0);
	assert_int_equal(buf_printf(&b, "7f000000-7f001000 r-xp 0 8:1 5 /x\n"), 0);
	assert_int_equal(maps_parse((struct str){ buf_str(&b), b.len }, count_executable, n), 0);
	assert_int_equal(n[0], MAPPINGS_MAX + 10);
	assert_int_equal(n[1], 1);
}

static void test_long_path(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);
	char path[MAPPING_PATH_MAX];
	struct maps_entry e;

	(void)state;
	(void)buf_append_str(&b, RANGE "r-xp 0 1:1 1 /");
	size_t prefix = b.len;
	while (b.len < prefix + MAPPING_PATH_MAX - 2)
		(void)buf_append_char(&b, 'x');
	assert_int_equal(maps_parse_line((struct str){ buf_str(&b), b.len }, path, &e), MAPS_ENTRY);
	assert_int_equal(e.path.n, MAPPING_PATH_MAX - 1);
	(void)buf_append_char(&b, 'x');
	assert_int_equal(maps_parse_line((struct str){ buf_str(&b), b.len }, path, &e),
			 MAPS_MALFORMED);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_numbers),
	TEST(test_names),
	TEST(test_text),
	TEST(test_ceiling),
	TEST(test_ceiling_is_of_code),
	TEST(test_long_path),
};

TEST_MAIN(tests)
