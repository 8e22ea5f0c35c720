/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the GNU C library without a symbol: by what an exported one jumps to, and nothing else. */
#include <errno.h>
#include <stdio.h>

#include "agent/object/names/libc_functions.h"
#include "agent/object/names/libc_source.h"
#include "agent/object/names/symbol_by_name.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define VERSION "const char *gnu_get_libc_version(void) { return \"2.36\"; }\n"
/* Exported only so that the test knows where it is; they call it as one of their own. */
#define SLOW(name)                                                                      \
	"__attribute__((noinline, visibility(\"protected\"))) int " name "(int *x)\n" \
	"{ for (volatile int i = *x; i > 0; i--) *x += i; return *x; }\n"
#define CALLS(name, slow) "int " name "(int *x) { if (*x > 7) return 0; return " slow "(x); }\n"

static const struct row {
	const char *name;
	const char *source;
	const char *expected; /* of "slow"; NULL: it has no name */
} rows[] = {
	{ "one jump", VERSION SLOW("slow") CALLS("sem_wait", "slow"), "__new_sem_wait_slow64" },
	{ "two of one name", VERSION SLOW("slow") CALLS("sem_wait", "slow") CALLS("sem_timedwait", "slow"),
	  "__new_sem_wait_slow64" },
	{ "each its own", VERSION SLOW("slow") SLOW("other") CALLS("sem_wait", "other") CALLS("pthread_join", "slow"),
	  "__pthread_clockjoin_ex" },
	{ "two names for one", VERSION SLOW("slow") CALLS("sem_wait", "slow") CALLS("pthread_join", "slow"), NULL },
	{ "jumps to two", VERSION SLOW("slow") SLOW("other")
	  "int sem_wait(int *x) { if (*x > 7) return other(x); return slow(x); }\n", NULL },
	{ "a call is no jump", VERSION SLOW("slow") "int sem_wait(int *x) { return slow(x) + 1; }\n", NULL },
	{ "another function", VERSION SLOW("slow") CALLS("sem_post", "slow"), NULL },
	{ "another library", SLOW("slow") CALLS("sem_wait", "slow"), NULL },
};

static void assert_named(struct elf *elf, const char *expected)
{
	struct libc_function found[LIBC_FUNCTIONS_MAX];
	const char *name = NULL;
	struct symbol slow;

	assert_int_equal(elf_load_sections(elf), 0);
	assert_true(symbol_by_name(elf, "slow", &slow));
	for (size_t i = 0, n = libc_functions_find(elf, found); i < n; i++) {
		assert_true(i == 0 || found[i].begin > found[i - 1].begin);
		if (found[i].begin == slow.value)
			name = found[i].name;
	}
	if (expected)
		assert_string_equal(name ? name : "", expected);
	else
		assert_null(name);
}

/* To its end, as unwind information has it. */
static void assert_source(struct elf *elf, const char *expected)
{
	_cleanup_buf_ struct buf name = BUF_INIT(64);
	struct function_source *source = NULL;
	struct function_piece piece;
	struct symbol slow;

	assert_true(symbol_by_name(elf, "slow", &slow));
	assert_int_equal(libc_source_new(elf, 65536, &source), expected ? 0 : FUNCTION_SOURCE_NONE);
	if (!expected)
		return;
	assert_int_equal(source->find(source, slow.value + slow.size_bytes - 1, &piece), 0);
	assert_int_equal(piece.function_begin, slow.value);
	assert_int_equal(piece.function_end, slow.value + slow.size_bytes);
	assert_int_equal(source->name(source, &piece, &name), 0);
	assert_string_equal(buf_str(&name), expected);
	assert_int_equal(source->find(source, slow.value + slow.size_bytes, &piece), FUNCTION_SOURCE_NONE);
	assert_true(piece.begin <= slow.value + slow.size_bytes && piece.end > slow.value + slow.size_bytes);
	source->free(source);
}

static void test_file(void **state)
{
	const struct row *row = *state;
	char path[FIXTURE_PATH_BYTES];
	struct fixture_elf file;
	struct fixture_dir dir;

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c", row->source));
	if (!fixture_run(&dir, "gcc -O2 -nostdlib -shared -fPIC -fno-ipa-icf -s -o p p.c")) {
		print_message("no gcc\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
	assert_named(file.elf, row->expected);
	assert_source(file.elf, row->expected);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_file, rows, name),
};

TEST_MAIN(tests)
