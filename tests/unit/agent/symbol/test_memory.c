/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out at each allocation in turn: no crash, no leak, and always a name. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/process/file_table.h"
#include "agent/symbol/store.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* More allocations than one pass makes. */
#define MAX_ALLOCATIONS 500

static int resolve_some(const char *kallsyms, const struct mapped_file *file, size_t *ret_named)
{
	struct symbol_store_options options = SYMBOL_STORE_OPTIONS_INIT;
	_cleanup_(symbol_store_freep) struct symbol_store *store = NULL;
	struct frames frames;

	options.kallsyms_path = kallsyms;
	int r = symbol_store_new(&options, &store);
	if (r < 0)
		return r;
	symbol_store_begin(store);
	for (uint64_t file_off = 0; file_off < 0x3000; file_off += 0x40) {
		symbol_resolve_user(store, file, file_off, &frames);
		assert_int_equal(frames.n, 1);
		assert_true(frames.items[0].function[0] != '\0');
		*ret_named += strcmp(frames.items[0].function, "only_function") == 0;
	}
	symbol_resolve_kernel(store, 0xffffffff81000010, &frames);
	assert_true(frames.items[0].function[0] != '\0');
	*ret_named += strcmp(frames.items[0].function, "a_function") == 0;
	symbol_store_end(store);
	return 0;
}

static void every_allocation_fails_once(void **state)
{
	struct fixture_dir dir;
	char path[FIXTURE_PATH_BYTES], kallsyms[FIXTURE_PATH_BYTES];
	struct mapped_file file = { .id = 1, .path = path, .fd = -1, .n_refs = 1 };
	size_t n_whole = 0;
	size_t nth = 1;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(
		fixture_write(&dir, "kallsyms",
			      "ffffffff81000000 T a_function.isra.0\nffffffff81000100 T g\t[m]\n"));
	assert_true(fixture_write(&dir, "a.c", "int only_function(int x) { return x; }\n"));
	if (!fixture_run(&dir, "gcc -shared -fPIC -nostdlib -falign-functions=64 -o a.so a.c")) {
		fixture_dir_fini(&dir);
		printf("skip: no gcc\n");
		skip();
	}
	(void)fixture_path(&dir, "kallsyms", kallsyms);
	int fd = open(fixture_path(&dir, "a.so", path), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	mapped_file_take_fd(&file, fd);
	assert_int_equal(resolve_some(kallsyms, &file, &n_whole), 0);
	assert_true(n_whole >= 2);
	for (; nth < MAX_ALLOCATIONS; nth++) {
		size_t n = 0;

		alloc_fail_arm(nth);
		int r = resolve_some(kallsyms, &file, &n);
		if (!alloc_fail_disarm())
			break;
		assert_true(r == 0 || r == -ENOMEM);
		assert_true(n <= n_whole);
	}
	assert_true(nth > 20 && nth < MAX_ALLOCATIONS);
	(void)close(file.fd);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST(every_allocation_fails_once),
};

TEST_MAIN(tests)
