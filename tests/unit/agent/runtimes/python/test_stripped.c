/* SPDX-License-Identifier: Apache-2.0 */
/* PyCode_Type in files that have no symbols: as gcc links them, and among what looks alike. */
#include <errno.h>
#include <string.h>

#include "agent/runtimes/python/stripped.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* Its object header has 16 bytes, or 32; MANY more of the same sizes, and other names, lie before it. */
static const char source[] = "struct type { long header[HEADER_WORDS]; long size; const char "
			     "*name; long basic, item; };\n"
			     "__attribute__((section(\".PyRuntime\"))) long runtime[4] = { 1 };\n"
			     "struct type many[MANY + 1] = { [0 ... MANY] = { { 1 }, 0, \"codes\", "
			     "200, MANY ? 2 : 3 } };\n"
			     "struct type other = { { 1 }, 0, \"code\", 208, 2 };\n"
			     "struct type code_type = { { 1 }, 0, NAME, 200, 2 };\n"
			     "int main(void) { return (int)(runtime[0] + many[0].item + other.item "
			     "+ code_type.item); }\n";

struct row {
	const char *name;
	const char *flags;
	unsigned int header_words;
	bool is_found;
};

#define PLAIN " -DMANY=0 -DNAME='\"code\"'"

static struct row rows[] = {
	{ "static", "-static -no-pie -fno-pie" PLAIN, 2, true },
	{ "static, position independent", "-static-pie -fPIE" PLAIN, 2, true },
	{ "shared library", "-shared -fPIC" PLAIN, 2, true },
	{ "free-threaded", "-static -no-pie -fno-pie" PLAIN, 4, true },
	{ "behind some that look alike", "-static-pie -fPIE -DMANY=1 -DNAME='\"code\"'", 2, true },
	{ "behind too many", "-static-pie -fPIE -DMANY=8 -DNAME='\"code\"'", 2, false },
	{ "no name", "-static-pie -fPIE -DMANY=0 -DNAME=0", 2, false },
	{ "longer name", "-static-pie -fPIE -DMANY=0 -DNAME='\"code object\"'", 2, false },
	{ "name in no segment", "-no-pie -fno-pie -static -DMANY=0 -DNAME='(char *)16'", 2, false },
};

static void test_code_type(void **state)
{
	const struct row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	char command[512], path[FIXTURE_PATH_BYTES];
	uint64_t at = 0, type_off = 8 * (row->header_words - 1);

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "made.c", source));
	(void)snprintf(command, sizeof(command),
		       "gcc -O1 -fno-toplevel-reorder %s -DHEADER_WORDS=%u -o made made.c && "
		       "nm made > names && strip -s made",
		       row->flags, row->header_words);
	if (!fixture_run(&dir, command)) {
		fixture_dir_fini(&dir);
		printf("skip: gcc cannot link: %s\n", row->flags);
		skip();
	}
	uint64_t expected = fixture_hex(&dir, "grep ' code_type$' names");
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "made", path), &file), 0);
	assert_int_equal(elf_load_sections(file.elf), 0);
	assert_true(python_stripped_runtime(file.elf, &at));
	assert_int_equal(at, fixture_hex(&dir, "grep ' runtime$' names"));
	assert_int_equal(python_stripped_code_type(file.elf, 200, type_off, &at), row->is_found);
	if (row->is_found)
		assert_int_equal(at, expected);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void test_no_section(void **state)
{
	struct fixture_elf file;
	uint64_t at;

	(void)state;
	assert_int_equal(fixture_elf_open("/proc/self/exe", &file), 0);
	assert_int_equal(elf_load_sections(file.elf), 0);
	assert_false(python_stripped_runtime(file.elf, &at));
	assert_false(python_stripped_code_type(file.elf, 123456789, 8, &at));
	fixture_elf_close(&file);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_code_type, rows, name),
	TEST(test_no_section),
};

TEST_MAIN(tests)
