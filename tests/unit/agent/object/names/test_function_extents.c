/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of stripped files: from where to where they reach, with the linker's table and without. */
#include <errno.h>
#include <string.h>

#include "agent/object/names/function_extents.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

static const char source[] =
	"static __attribute__((noinline, aligned(64))) int hidden(int x) { return x * 3 + 1; }\n"
	"static __attribute__((noinline, aligned(64))) int other(int x) { return x * 5 + 2; }\n"
	"__attribute__((noinline, aligned(64))) int shown(int x) { return hidden(x) + other(x); "
	"}\n";

#define GCC "gcc -g -O1 -nostdlib -shared -fPIC -o full p.c"
/* Entries of the table, behind its head of 12 bytes, in the wrong order. */
#define SPOIL                                                                     \
	" && off=$(readelf -WS p | awk '/ .eh_frame_hdr /{print \"0x\"$(NF-6)}')" \
	" && printf '\\377\\377\\377\\177' | dd of=p bs=1 seek=$((off + 12)) conv=notrunc"

static struct row {
	const char *name;
	const char *prepare; /* shell: makes `full` and the stripped p */
	size_t max_bytes;
	bool is_known;
} rows[] = {
	{ "the linker's table", GCC " && strip -s -o p full", 65536, true },
	{ "no table", GCC " -Wl,--no-eh-frame-hdr && strip -s -o p full", 65536, true },
	{ "a table out of order", GCC " && strip -s -o p full" SPOIL, 65536, true },
	{ "no table, no room", GCC " -Wl,--no-eh-frame-hdr && strip -s -o p full", 32, false },
	{ "no unwind information",
	  GCC " -fno-asynchronous-unwind-tables -fno-exceptions && strip -s -o p full", 65536,
	  false },
};

struct function {
	uint64_t begin;
	uint64_t n_bytes;
};

static struct function function_of(const struct fixture_dir *dir, const char *name)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "nm -S full | grep ' [tT] %s$'", name);
	struct function f = { .begin = fixture_hex(dir, command) };
	(void)snprintf(command, sizeof(command), "nm -S full | grep ' [tT] %s$' | cut -d' ' -f2",
		       name);
	f.n_bytes = fixture_hex(dir, command);
	assert_true(f.begin && f.n_bytes);
	return f;
}

static void check_function(struct function_extents *e, const struct function *f)
{
	struct function_extent extent;

	for (uint64_t i = 0; i < f->n_bytes; i++) {
		assert_int_equal(function_extents_find(e, f->begin + i, &extent), 0);
		assert_true(extent.is_function);
		assert_int_equal(extent.begin, f->begin);
		assert_int_equal(extent.end, f->begin + f->n_bytes);
	}
}

/* What lies between is nobody's, and reaches no further than its neighbours. */
static void check_gap(struct function_extents *e, const struct function *before, uint64_t end)
{
	struct function_extent extent;
	uint64_t begin = before->begin + before->n_bytes;

	assert_true(begin < end);
	assert_int_equal(function_extents_find(e, begin, &extent), 0);
	assert_false(extent.is_function);
	assert_int_equal(extent.begin, begin);
	assert_int_equal(extent.end, end);
	assert_int_equal(function_extents_find(e, 1, &extent), 0);
	assert_false(extent.is_function);
}

static void check_file(const struct row *row, const struct fixture_dir *dir, struct elf *elf)
{
	_cleanup_(function_extents_freep) struct function_extents *e = NULL;
	const struct function hidden = function_of(dir, "hidden"),
			      other = function_of(dir, "other"), shown = function_of(dir, "shown");
	struct function_extent extent;
	int r = function_extents_new(elf, row->max_bytes, &e);

	if (r == 0 && !row->is_known)
		r = function_extents_find(e, hidden.begin, &extent);
	assert_int_equal(r, row->is_known ? 0 : FUNCTION_EXTENTS_NONE);
	if (!row->is_known)
		return;
	assert_int_equal(function_extents_find(e, hidden.begin, &extent), 0);
	size_t at_first = function_extents_bytes(e);
	check_function(e, &hidden);
	check_function(e, &other);
	check_function(e, &shown);
	check_gap(e, &hidden, other.begin);
	check_gap(e, &shown, UINT64_MAX);
	assert_int_equal(function_extents_bytes(e), at_first);
}

static void tells_functions(void **state)
{
	const struct row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c", source));
	if (!fixture_run(&dir, row->prepare)) {
		print_message("no gcc or binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
	check_file(row, &dir, file.elf);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(tells_functions, rows, name),
};

TEST_MAIN(tests)
