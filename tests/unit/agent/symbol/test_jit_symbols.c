/* SPDX-License-Identifier: Apache-2.0 */
/* Names of memory without a file: by the process's own word, by what the kernel calls it; within a ceiling. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/symbol/store.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/symbol/jitdump_write.h"

#define MAX_BYTES ((size_t)1 << 20)
#define N_FILES 24

struct fixture {
	struct telemetry *telemetry;
	struct symbol_store *store;
	struct jit_files files[N_FILES];
	struct frames frames;
};

static void set_up(struct fixture *f)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;

	assert_int_equal(telemetry_new(&f->telemetry), 0);
	o.max_bytes = MAX_BYTES;
	o.kallsyms_path = "/nonexistent";
	o.telemetry = f->telemetry;
	assert_int_equal(symbol_store_new(&o, &f->store), 0);
	for (size_t i = 0; i < N_FILES; i++)
		f->files[i] = (struct jit_files){ .n_refs = 1, .map_fd = -1, .dump_fd = -1 };
	symbol_store_begin(f->store);
}

static void tear_down(struct fixture *f)
{
	symbol_store_end(f->store);
	symbol_store_free(f->store);
	telemetry_free(f->telemetry);
	for (size_t i = 0; i < N_FILES; i++) {
		(void)close(f->files[i].map_fd);
		(void)close(f->files[i].dump_fd);
	}
}

FIXTURE(struct fixture, set_up, tear_down)

static void next_interval(struct fixture *f)
{
	symbol_store_end(f->store);
	symbol_store_begin(f->store);
}

static int make_file(const void *content, size_t n, struct file_key *ret_key)
{
	struct stat st;
	int fd = memfd_create("jit", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, n), n);
	assert_int_equal(fstat(fd, &st), 0);
	*ret_key = (struct file_key){ st.st_dev, st.st_ino };
	return fd;
}

static struct jit_files *make_map(struct fixture *f, size_t i, const char *text)
{
	f->files[i].map_fd = make_file(text, strlen(text), &f->files[i].map);
	return &f->files[i];
}

static void append(const struct jit_files *j, const char *text)
{
	assert_int_equal(write(j->map_fd, text, strlen(text)), strlen(text));
}

static const char *name_in(struct fixture *f, const struct jit_files *j, uint64_t pc,
			   const char *memory)
{
	symbol_resolve_anon(f->store, j, pc, NULL, memory, &f->frames);
	assert_int_equal(f->frames.n, 1);
	assert_string_equal(f->frames.items[0].file, "");
	assert_int_equal(f->frames.items[0].object->kind, FRAME_OBJECT_ANON);
	return f->frames.items[0].function;
}

static void test_by_kind(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(name_in(f, NULL, 0, NULL), "[jit]");
	assert_string_equal(name_in(f, NULL, 0, "[heap]"), "[heap]");
	assert_string_equal(name_in(f, NULL, 0, "[anon:v8]"), "[anon:v8]");
	assert_string_equal(f->frames.items[0].object->path, "[jit]");
}

static void test_perf_map(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_map(f, 0, "1000 10 LazyCompile:~foo file.js:12\n");

	assert_string_equal(name_in(f, j, 0x1004, "[anon:v8]"), "LazyCompile:~foo file.js:12");
	assert_string_equal(f->frames.items[0].object->path, "[jit]");
	assert_string_equal(name_in(f, j, 0x1010, "[anon:v8]"), "[anon:v8]");
	assert_string_equal(name_in(f, j, 0x1010, NULL), "[jit]");
}

static void test_processes_have_their_own(void **state)
{
	struct fixture *f = *state;
	struct jit_files *a = make_map(f, 0, "1000 10 of_a\n");
	struct jit_files *b = make_map(f, 1, "1000 10 of_b\n");

	for (int i = 0; i < 2; i++) {
		assert_string_equal(name_in(f, a, 0x1000, NULL), "of_a");
		assert_string_equal(name_in(f, b, 0x1000, NULL), "of_b");
	}
}

/* What is written during an interval shows in the next one. */
static void test_growth(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_map(f, 0, "1000 10 a\n");

	assert_string_equal(name_in(f, j, 0x1000, NULL), "a");
	append(j, "1000 10 b\n2000 10 c\n");
	assert_string_equal(name_in(f, j, 0x2000, NULL), "[jit]");
	next_interval(f);
	assert_string_equal(name_in(f, j, 0x1000, NULL), "b");
	assert_string_equal(name_in(f, j, 0x2000, NULL), "c");
}

static const char *name_at(struct fixture *f, const struct jit_files *j, uint64_t pc,
			   struct jit_moment at)
{
	symbol_resolve_anon(f->store, j, pc, &at, NULL, &f->frames);
	return f->frames.items[0].function;
}

/* An address that was used twice in one interval has both names. */
static void test_by_moment(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_map(f, 0, "1000 10 first\n");
	_cleanup_buf_ struct buf dump = BUF_INIT(4096);

	append(j, "1000 10 second\n");
	assert_string_equal(name_at(f, j, 0x1000, (struct jit_moment){ .map_bytes = 14 }), "first");
	assert_string_equal(name_at(f, j, 0x1000, (struct jit_moment){ .map_bytes = 29 }),
			    "second");
	assert_string_equal(name_at(f, j, 0x1000, (struct jit_moment){ 0 }), "second");
	put_header(&dump, JITDUMP_MAGIC, 1, 1);
	put_load(&dump, 0x1000, 16, 1, "third");
	put_load(&dump, 0x1000, 16, 2, "fourth");
	dump.data[40 + 8] = 10;
	dump.data[40 + 62 + 16 + 8] = 20;
	j = &f->files[1];
	j->dump_fd = make_file(dump.data, dump.len, &j->dump);
	assert_string_equal(name_at(f, j, 0x1000, (struct jit_moment){ .time_ns = 19 }), "third");
	assert_string_equal(name_at(f, j, 0x1000, (struct jit_moment){ .time_ns = 20 }), "fourth");
}

/* Files that were waited for and never came. */
static void test_nothing_told(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(name_in(f, &f->files[0], 0x1000, "[anon:v8]"), "[anon:v8]");
	assert_string_equal(name_in(f, &f->files[0], 0x1000, NULL), "[jit]");
	assert_int_equal(symbol_store_jit_bytes(f->store), 0);
}

static void test_jitdump_is_better(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_map(f, 0, "1000 10 by_map\n2000 10 only_in_map\n");
	_cleanup_buf_ struct buf dump = BUF_INIT(4096);

	put_header(&dump, JITDUMP_MAGIC, 1, 1);
	put_load(&dump, 0x1000, 16, 1, "by_dump");
	j->dump_fd = make_file(dump.data, dump.len, &j->dump);
	assert_string_equal(name_in(f, j, 0x1000, NULL), "by_dump");
	assert_string_equal(name_in(f, j, 0x2000, NULL), "only_in_map");
	assert_string_equal(name_in(f, j, 0x3000, NULL), "[jit]");
}

static void test_foreign_bytes_are_cleaned(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j =
		make_map(f, 0, "1000 10 a\xff\x01z\n2000 10 gr\xc3\xbc\xc3\x9f\x65\n");

	assert_string_equal(name_in(f, j, 0x1000, NULL), "a\xef\xbf\xbd?z");
	assert_string_equal(name_in(f, j, 0x2000, NULL), "gr\xc3\xbc\xc3\x9f\x65");
}

static void test_names_outlive_the_file(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_map(f, 0, "1000 10 a\n");
	const char *name = name_in(f, j, 0x1000, NULL);

	assert_int_equal(ftruncate(j->map_fd, 0), 0);
	assert_string_equal(name_in(f, j, 0x1000, NULL), "[jit]");
	assert_string_equal(name, "a");
	next_interval(f);
	assert_string_equal(name_in(f, j, 0x1000, NULL), "[jit]");
}

static struct jit_files *make_large_map(struct fixture *f, size_t i, unsigned int n)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)16 << 20);

	for (unsigned int k = 0; k < n; k++)
		assert_int_equal(buf_printf(&text, "%x 10 p%zu_f%u\n", 0x100000 + k * 16, i, k), 0);
	return make_map(f, i, buf_str(&text));
}

static void check_ceiling(const struct fixture *f)
{
	assert_true(symbol_store_jit_bytes(f->store) <= MAX_BYTES / SYMBOL_STORE_JIT_SHARE);
}

/* Of more functions than there is room for, the newest. */
static void test_ceiling_of_one(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_large_map(f, 0, 50000);

	assert_string_equal(name_in(f, j, 0x100000 + 49999 * 16, NULL), "p0_f49999");
	assert_string_equal(name_in(f, j, 0x100000, NULL), "[jit]");
	assert_true(telemetry_get(f->telemetry, TELEMETRY_jit_functions_dropped) > 0);
	check_ceiling(f);
}

/* 24 processes of 60 KB in 256 KB: each has its names when it is asked alone, and none is more than the ceiling. */
static void test_ceiling_of_many(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_FILES; i++)
		(void)make_large_map(f, i, 2500);
	for (size_t i = 0; i < N_FILES; i++) {
		char expected[32];

		next_interval(f);
		(void)snprintf(expected, sizeof(expected), "p%zu_f2499", i);
		assert_string_equal(name_in(f, &f->files[i], 0x100000 + 2499 * 16, NULL), expected);
		check_ceiling(f);
	}
	assert_true(telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions) > 0);
	next_interval(f);
	size_t n_named = 0;
	uint64_t n_evicted = 0;
	for (size_t i = 0; i < 2 * N_FILES; i++) {
		/* What is in use stays: nobody is read again and again. */
		if (i == N_FILES)
			n_evicted = telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions);
		const char *name = name_in(f, &f->files[i % N_FILES], 0x100000 + 2499 * 16, NULL);

		n_named += name[0] == 'p';
		check_ceiling(f);
	}
	assert_true(n_named >= 4);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions), n_evicted);
}

/* A file that grows while another one has the memory. */
static void test_ceiling_when_both_grow(void **state)
{
	struct fixture *f = *state;
	struct jit_files *a = make_map(f, 0, "1000 10 a\n"), *b = make_map(f, 1, "1000 10 b\n");
	char line[64];

	for (unsigned int round = 0; round < 6; round++) {
		assert_string_equal(name_in(f, a, 0x1000, NULL), "a");
		assert_string_equal(name_in(f, b, 0x1000, NULL), "b");
		check_ceiling(f);
		for (unsigned int i = 0; i < 2000; i++) {
			(void)snprintf(line, sizeof(line), "%x 10 f\n",
				       (round * 2000 + i) * 16 + 0x10000);
			append(a, line);
			append(b, line);
		}
		append(a, "1000 10 a\n");
		append(b, "1000 10 b\n");
		next_interval(f);
	}
}

static void test_idle_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct jit_files *j = make_large_map(f, 0, 1000);

	(void)name_in(f, j, 0x100000, NULL);
	size_t held = symbol_store_jit_bytes(f->store);
	assert_true(held > 1000 * 16);
	for (int i = 0; i < 7; i++)
		next_interval(f);
	assert_int_equal(symbol_store_jit_bytes(f->store), held);
	for (int i = 0; i < 3; i++)
		next_interval(f);
	assert_int_equal(symbol_store_jit_bytes(f->store), 0);
	assert_string_equal(name_in(f, j, 0x100000, NULL), "p0_f0");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_by_kind),
	FIXTURE_TEST(test_perf_map),
	FIXTURE_TEST(test_processes_have_their_own),
	FIXTURE_TEST(test_growth),
	FIXTURE_TEST(test_by_moment),
	FIXTURE_TEST(test_nothing_told),
	FIXTURE_TEST(test_jitdump_is_better),
	FIXTURE_TEST(test_foreign_bytes_are_cleaned),
	FIXTURE_TEST(test_names_outlive_the_file),
	FIXTURE_TEST(test_ceiling_of_one),
	FIXTURE_TEST(test_ceiling_of_many),
	FIXTURE_TEST(test_ceiling_when_both_grow),
	FIXTURE_TEST(test_idle_is_forgotten),
};

TEST_MAIN(tests)
