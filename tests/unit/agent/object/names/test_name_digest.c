/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of what names are read from: which changes of a file change it. */
#include <errno.h>
#include <stdio.h>

#include "agent/object/names/name_digest.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

static const struct siphash_key key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };

static uint64_t digest_of(const struct fixture_dir *dir, const char *name,
			  const struct siphash_key *by, bool with_lines)
{
	char path[FIXTURE_PATH_BYTES];
	struct fixture_elf file;
	uint64_t digest = 0;

	assert_int_equal(fixture_elf_open(fixture_path(dir, name, path), &file), 0);
	assert_int_equal(name_digest(file.elf, by, 0, with_lines, &digest), 0);
	fixture_elf_close(&file);
	return digest;
}

static void tells_files_apart(void **state)
{
	static const struct {
		const char *command; /* makes `other` of `full` */
		bool is_equal;
		bool is_equal_with_lines;
	} rows[] = {
		{ "cp full other", true, true },
		{ "sed 's/function/Function/g' full > other", false, false },
		{ "cp full other && printf x >> other", false, false },
		{ "objcopy --strip-symbol=function full other", false, false },
		{ "cp full other && "
		  "off=$(readelf -WS full | awk '/ .eh_frame /{print \"0x\"$(NF-6)}') && "
		  "printf x | dd of=other bs=1 seek=$((off + 20)) conv=notrunc",
		  false, false },
		{ "sed 's/in_lines_only/IN_LINES_ONLY/g' full > other", true, false },
	};
	const struct siphash_key another = { { 1, 2 } };
	struct fixture_dir dir;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c",
				  "struct in_lines_only { int x; };\n"
				  "int function(struct in_lines_only *p) { return p->x; }\n"));
	if (!fixture_run(&dir, "gcc -g -nostdlib -shared -fPIC -o full p.c")) {
		print_message("no gcc\n");
		fixture_dir_fini(&dir);
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(fixture_run(&dir, rows[i].command));
		assert_int_equal(digest_of(&dir, "other", &key, false) ==
					 digest_of(&dir, "full", &key, false),
				 rows[i].is_equal);
		assert_int_equal(digest_of(&dir, "other", &key, true) ==
					 digest_of(&dir, "full", &key, true),
				 rows[i].is_equal_with_lines);
	}
	assert_true(digest_of(&dir, "full", &key, false) !=
		    digest_of(&dir, "full", &another, false));
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST(tells_files_apart),
};

TEST_MAIN(tests)
