/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids: notes made by hand, and programs of gcc and go. */
#include <errno.h>
#include <string.h>

#include "agent/object/build_id.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define GNU(descsz)                \
	"\4\0\0\0" descsz "\0\0\0" \
	"\3\0\0\0"                 \
	"GNU\0"
#define GO(descsz)                 \
	"\4\0\0\0" descsz "\0\0\0" \
	"\4\0\0\0"                 \
	"Go\0\0"
#define ROW(name, align, notes, gnu, go)                       \
	{                                                      \
		name, align, notes, sizeof(notes) - 1, gnu, go \
	}

struct row {
	const char *name;
	size_t align;
	const char *notes;
	size_t n;
	const char *gnu;
	const char *go;
};

static struct row rows[] = {
	ROW("empty", 4, "", "", ""),
	ROW("gnu", 4, GNU("\4") "\xde\xad\xbe\xef", "deadbeef", ""),
	ROW("go", 4, GO("\5") "ab/cd\0\0\0", "", "ab/cd"),
	ROW("both", 4, GO("\2") "xy\0\0" GNU("\2") "\1\2", "0102", "xy"),
	ROW("first of two", 4, GNU("\1") "\1\0\0\0" GNU("\1") "\2\0\0\0", "01", ""),
	ROW("another note before, eight bytes aligned", 8,
	    "\4\0\0\0\x10\0\0\0\5\0\0\0GNU\0ABCDEFGHIJKLMNOP" GNU("\2") "\xab\xcd", "abcd", ""),
	ROW("not padded at the end", 4, GNU("\3") "\1\2\3", "010203", ""),
	ROW("empty id", 4, GNU("\0"), "", ""),
	ROW("too long", 4,
	    GNU("\x41") "0123456789012345678901234567890123456789012345678901234567890123456789",
	    "", ""),
	ROW("longest", 4,
	    GNU("\x40") "0000000000000000000000000000000000000000000000000000000000000000",
	    "30303030303030303030303030303030303030303030303030303030303030303030303030303030"
	    "303030303030303030303030303030303030303030303030",
	    ""),
	ROW("cut head", 4, "\4\0\0\0\4\0\0", "", ""),
	ROW("cut content", 4, GNU("\4") "\1\2", "", ""),
	ROW("huge sizes", 4, "\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0", "", ""),
	ROW("another owner", 4, "\4\0\0\0\1\0\0\0\3\0\0\0GNX\0\1\0\0\0", "", ""),
	ROW("another type", 4, "\4\0\0\0\1\0\0\0\1\0\0\0GNU\0\1\0\0\0", "", ""),
	ROW("go id with a blank", 4, GO("\3") "a b\0", "", ""),
};

static void parses(void **state)
{
	const struct row *row = *state;
	struct build_id id = { "", "" };
	char *notes = malloc(row->n + 1);

	/* A block of exactly this size, for AddressSanitizer. */
	assert_non_null(notes);
	notes = realloc(notes, row->n ? row->n : 1);
	assert_non_null(notes);
	memcpy(notes, row->notes, row->n);
	build_id_parse_notes(notes, row->n, row->align, &id);
	assert_string_equal(id.gnu, row->gnu);
	assert_string_equal(id.go, row->go);
	assert_string_equal(build_id_text(&id), row->gnu[0] ? row->gnu : row->go);
	free(notes);
}

static void of_gcc(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct build_id id;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "a.c", "int main(void) { return 0; }\n"));
	if (!fixture_run(&dir, "gcc -Wl,--build-id=0x0123456789abcdef -o a a.c && gcc "
			       "-Wl,--build-id=none -o b a.c")) {
		fixture_dir_fini(&dir);
		printf("skip: no gcc\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "a", path), &file), 0);
	assert_int_equal(build_id_read(file.elf, &id), 0);
	assert_string_equal(id.gnu, "0123456789abcdef");
	fixture_elf_close(&file);
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "b", path), &file), 0);
	assert_int_equal(build_id_read(file.elf, &id), 0);
	assert_string_equal(build_id_text(&id), "");
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void of_go(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct build_id id;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "a.go", "package main\nfunc main() {}\n"));
	if (!fixture_run(&dir, "HOME=${HOME:-/root} GOFLAGS=-mod=mod go build -ldflags '-s -w "
			       "-buildid=some/build-id -B none' -o a a.go")) {
		fixture_dir_fini(&dir);
		printf("skip: no go, or one without -B none\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "a", path), &file), 0);
	assert_int_equal(build_id_read(file.elf, &id), 0);
	assert_string_equal(build_id_text(&id), "some/build-id");
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(parses, rows, name),
	TEST(of_gcc),
	TEST(of_go),
};

TEST_MAIN(tests)
