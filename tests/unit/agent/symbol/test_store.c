/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol store: names out of files, the vDSO and the kernel, its budget, its last resorts. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/object/vdso.h"
#include "agent/process/file_table.h"
#include "agent/symbol/store.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

struct fixture {
	struct fixture_dir dir;
	struct telemetry *telemetry;
	struct symbol_store *store;
	struct mapped_file files[40];
	size_t n_files;
};

static const char kernel_text[] = "ffffffff81000000 T _text\n"
				  "ffffffff81000100 T vfs_read\n"
				  "ffffffff81000200 t do_something.isra.0\n"
				  "ffffffff81000300 T _etext\n"
				  "ffffffffc0100000 t nft_do_chain\t[nf_tables]\n"
				  "ffffffffc0200000 t bpf_prog_0123456789abcdef_x\t[bpf]\n"
				  "ffffffffc0300000 t _RNvCs1_6kernel4init\t[rust_module]\n";

static void make_store(struct fixture *f, size_t max_bytes, const char *kallsyms)
{
	struct symbol_store_options options = SYMBOL_STORE_OPTIONS_INIT;

	options.max_bytes = max_bytes;
	options.kallsyms_path = kallsyms;
	options.telemetry = f->telemetry;
	assert_int_equal(symbol_store_new(&options, &f->store), 0);
}

static void set_up(struct fixture *f)
{
	assert_true(fixture_dir_init(&f->dir));
	assert_int_equal(telemetry_new(&f->telemetry), 0);
}

static void tear_down(struct fixture *f)
{
	symbol_store_free(f->store);
	telemetry_free(f->telemetry);
	for (size_t i = 0; i < f->n_files; i++) {
		free(f->files[i].path);
		if (f->files[i].fd >= 0)
			(void)close(f->files[i].fd);
	}
	fixture_dir_fini(&f->dir);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct mapped_file *add_file(struct fixture *f, const char *path, const char *shown_path)
{
	struct mapped_file *file = &f->files[f->n_files++];
	struct stat st = { 0 };

	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*file = (struct mapped_file){ .id = (uint32_t)f->n_files, .fd = -1, .n_refs = 1 };
	if (fd >= 0) {
		mapped_file_take_fd(file, fd);
		assert_int_equal(fstat(file->fd, &st), 0);
	}
	file->key = (struct file_key){ st.st_dev, st.st_ino };
	file->path = strdup(shown_path);
	assert_non_null(file->path);
	return file;
}

static const char cxx_source[] = "#include <vector>\n"
				 "namespace shapes {\n"
				 "template <class T> __attribute__((noinline)) int "
				 "area(std::vector<T> v) { return (int)v.size(); }\n"
				 "}\n"
				 "extern \"C\" __attribute__((noinline)) int plain(int x) { return "
				 "shapes::area(std::vector<int>(x)); }\n"
				 "int main(int argc, char **) { return plain(argc); }\n";

static struct mapped_file *build(struct fixture *f)
{
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_write(&f->dir, "a.cc", cxx_source));
	if (!fixture_run(&f->dir, "g++ -O1 -no-pie -Wl,-z,noseparate-code "
				  "-Wl,--build-id=0xabcdef01 -o prog a.cc")) {
		printf("skip: no g++\n");
		skip();
	}
	return add_file(f, fixture_path(&f->dir, "prog", path), "/usr/bin/prog");
}

/* Without PIE and with one file page of head, offsets are addresses − 0x400000. */
static uint64_t offset_of(struct fixture *f, const char *symbol)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "nm prog | grep ' [TtW] %s'", symbol);
	return fixture_hex(&f->dir, command) - 0x400000;
}

static void names_functions_of_a_file(void **state)
{
	struct fixture *f = *state;
	struct frames first, second;

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	struct mapped_file *file = build(f);
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, file, offset_of(f, "plain") + 1, &first);
	assert_int_equal(first.n, 1);
	assert_string_equal(first.items[0].function, "plain");
	assert_string_equal(first.items[0].file, "");
	assert_int_equal(first.items[0].line, 0);
	assert_int_equal(first.items[0].object->kind, FRAME_OBJECT_FILE);
	assert_string_equal(first.items[0].object->path, "/usr/bin/prog");
	assert_string_equal(first.items[0].object->build_id, "abcdef01");
	symbol_resolve_user(f->store, file, offset_of(f, "_ZN6shapes4area"), &second);
	assert_string_equal(second.items[0].function, "shapes::area");
	/* Made once: the same string for another address of the function. */
	struct frames again;
	symbol_resolve_user(f->store, file, offset_of(f, "plain") + 3, &again);
	assert_ptr_equal(again.items[0].function, first.items[0].function);
	symbol_store_end(f->store);
	assert_true(symbol_store_object_bytes(f->store) > 0);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_frames_unresolved), 0);

	symbol_store_set_demangle(f->store, DEMANGLE_FULL);
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, file, offset_of(f, "_ZN6shapes4area"), &second);
	assert_string_equal(second.items[0].function,
			    "int shapes::area<int>(std::vector<int, std::allocator<int> >)");
	symbol_store_end(f->store);
	symbol_store_set_demangle(f->store, DEMANGLE_NONE);
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, file, offset_of(f, "_ZN6shapes4area"), &second);
	assert_true(
		str_starts_with(str_from(second.items[0].function), STR_LIT("_ZN6shapes4area")));
	symbol_store_end(f->store);
}

static void last_resorts_in_a_file(void **state)
{
	struct fixture *f = *state;
	struct frames frames;
	char path[FIXTURE_PATH_BYTES];

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	struct mapped_file *prog = build(f);
	assert_true(fixture_write(&f->dir, "garbage", "\177ELF but nothing else"));
	assert_true(fixture_write(&f->dir, "text", "#!/bin/sh\n"));
	struct mapped_file *garbage =
		add_file(f, fixture_path(&f->dir, "garbage", path), "/opt/garbage");
	struct mapped_file *text = add_file(f, fixture_path(&f->dir, "text", path), "te\xfft");
	struct mapped_file *closed = add_file(f, "/nonexistent", "/lib/closed.so");
	struct mapped_file *nameless = add_file(f, "/nonexistent", "/dir/");
	struct mapped_file *pathless = add_file(f, "/nonexistent", "");

	symbol_store_begin(f->store);
	/* ELF header: in the page of the executable segment, but no function. */
	symbol_resolve_user(f->store, prog, 0x10, &frames);
	assert_string_equal(frames.items[0].function, "prog+0x400010");
	symbol_resolve_user(f->store, prog, 0x7fffffff, &frames);
	assert_string_equal(frames.items[0].function, "prog+0x7fffffff");
	symbol_resolve_user(f->store, garbage, 0x1234, &frames);
	assert_string_equal(frames.items[0].function, "garbage+0x1234");
	symbol_resolve_user(f->store, garbage, 0x1235, &frames);
	symbol_resolve_user(f->store, text, 0, &frames);
	assert_string_equal(frames.items[0].function, "te\xef\xbf\xbdt+0x0");
	symbol_resolve_user(f->store, closed, UINT64_MAX, &frames);
	assert_string_equal(frames.items[0].function, "closed.so+0xffffffffffffffff");
	assert_string_equal(frames.items[0].object->build_id, "");
	symbol_resolve_user(f->store, nameless, 1, &frames);
	assert_string_equal(frames.items[0].function, "/dir/+0x1");
	symbol_resolve_user(f->store, pathless, 1, &frames);
	assert_string_equal(frames.items[0].function, "[unknown]+0x1");
	symbol_store_end(f->store);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_objects_malformed), 1);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_frames_unresolved), 8);

	/* A file that could not be opened at first can be later. */
	mapped_file_take_fd(closed,
			    open(fixture_path(&f->dir, "prog", path), O_RDONLY | O_CLOEXEC));
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, closed, offset_of(f, "plain"), &frames);
	assert_string_equal(frames.items[0].function, "plain");
	symbol_store_end(f->store);
}

/* Of a file that tells no names a function is still one box. */
static void nameless_function_goes_by_its_begin(void **state)
{
	struct fixture *f = *state;
	struct frames first, second, other;
	char path[FIXTURE_PATH_BYTES], expected[64];

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	(void)build(f);
	assert_true(fixture_run(&f->dir, "strip -s -o stripped prog"));
	struct mapped_file *file =
		add_file(f, fixture_path(&f->dir, "stripped", path), "/usr/bin/stripped");
	uint64_t plain = offset_of(f, "plain");
	uint64_t area = offset_of(f, "_ZN6shapes4area");
	(void)snprintf(expected, sizeof(expected), "stripped+0x%" PRIx64, plain + 0x400000);
	for (int round = 0; round < 2; round++) {
		symbol_store_begin(f->store);
		symbol_resolve_user(f->store, file, plain + 5, &first);
		symbol_resolve_user(f->store, file, area, &other);
		symbol_resolve_user(f->store, file, plain, &second);
		assert_string_equal(first.items[0].function, expected);
		assert_string_equal(second.items[0].function, expected);
		assert_string_not_equal(other.items[0].function, expected);
		symbol_store_end(f->store);
	}
}

static void names_beyond_the_interval_ceiling(void **state)
{
	struct fixture *f = *state;
	struct frames frames;
	size_t cut = 0;

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	struct mapped_file *closed = add_file(f, "/nonexistent", "/lib/closed.so");
	symbol_store_begin(f->store);
	for (uint64_t i = 0; i < SYMBOL_STORE_INTERVAL_BYTES / 16; i++) {
		symbol_resolve_user(f->store, closed, i, &frames);
		cut += strcmp(frames.items[0].function, "closed.so") == 0;
	}
	assert_true(cut > 0);
	symbol_store_end(f->store);
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, closed, 5, &frames);
	assert_string_equal(frames.items[0].function, "closed.so+0x5");
	symbol_store_end(f->store);
}

static void constant_frames(void **state)
{
	struct fixture *f = *state;
	struct frames frames;

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	symbol_store_begin(f->store);
	symbol_resolve_anon(f->store, NULL, 0x1234, NULL, NULL, &frames);
	assert_int_equal(frames.n, 1);
	assert_string_equal(frames.items[0].function, "[jit]");
	assert_string_equal(frames.items[0].object->path, "[anon]");
	symbol_resolve_kernel(f->store, 0x1234, &frames);
	assert_int_equal(frames.n, 1);
	assert_string_equal(frames.items[0].function, "[kernel]");
	assert_string_equal(frames.items[0].object->path, "[kernel]");
	symbol_store_end(f->store);
}

/* An address of a process is not looked for among the kernel's, which are not even read for it. */
static void kernel_is_asked_for_its_own(void **state)
{
	struct fixture *f = *state;
	char path[FIXTURE_PATH_BYTES];
	struct frames frames;

	assert_true(fixture_write(&f->dir, "kallsyms", kernel_text));
	make_store(f, SYMBOL_STORE_MAX_BYTES, fixture_path(&f->dir, "kallsyms", path));
	symbol_store_begin(f->store);
	symbol_resolve_anon(f->store, NULL, 0xffffffff81000110, NULL, NULL, &frames);
	assert_string_equal(frames.items[0].function, "[jit]");
	symbol_store_end(f->store);
	assert_int_equal(symbol_store_kernel_bytes(f->store), 0);
}

static void kernel_names(void **state)
{
	struct fixture *f = *state;
	char path[FIXTURE_PATH_BYTES];
	struct frames frames;
	static const struct {
		uint64_t pc;
		const char *function;
		const char *object;
	} rows[] = {
		{ 0xffffffff81000110, "vfs_read", "[kernel]" },
		{ 0xffffffff81000210, "do_something", "[kernel]" },
		{ 0xffffffffc0100001, "nft_do_chain", "[nf_tables]" },
		{ 0xffffffffc0200001, "bpf_prog_0123456789abcdef_x", "[bpf]" },
		{ 0xffffffffc0300001, "kernel::init", "[rust_module]" },
		{ 0xffffffff81000300, "[kernel]", "[kernel]" },
		{ 0, "[kernel]", "[kernel]" },
	};

	assert_true(fixture_write(&f->dir, "kallsyms", kernel_text));
	make_store(f, SYMBOL_STORE_MAX_BYTES, fixture_path(&f->dir, "kallsyms", path));
	assert_int_equal(symbol_store_kernel_bytes(f->store), 0);
	symbol_store_begin(f->store);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		symbol_resolve_kernel(f->store, rows[i].pc, &frames);
		assert_string_equal(frames.items[0].function, rows[i].function);
		assert_string_equal(frames.items[0].object->path, rows[i].object);
		assert_int_equal(frames.items[0].object->kind, FRAME_OBJECT_KERNEL);
	}
	symbol_store_end(f->store);
	assert_false(symbol_store_kernel_hidden(f->store));
	assert_true(symbol_store_kernel_bytes(f->store) > 0);
}

/* More functions than there is room for: those are not named by their neighbours, and the loss is counted, once. */
static void kernel_beyond_its_share(void **state)
{
	struct fixture *f = *state;
	struct symbol_store_options options = SYMBOL_STORE_OPTIONS_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)4 << 20);
	char path[FIXTURE_PATH_BYTES];
	struct frames frames;
	char name[64];

	for (unsigned int i = 0; i < 40000; i++)
		assert_int_equal(buf_printf(&text, "%016llx t function_%08x_%08x\n",
					    0xffffffff81000000ULL + i * 64ULL, i, i * 2654435761u),
				 0);
	assert_true(fixture_write(&f->dir, "kallsyms", buf_str(&text)));
	options.kallsyms_path = fixture_path(&f->dir, "kallsyms", path);
	options.kernel_bytes = (size_t)64 << 10;
	options.telemetry = f->telemetry;
	assert_int_equal(symbol_store_new(&options, &f->store), 0);
	for (int interval = 0; interval < 2; interval++) {
		size_t n_nameless = 0;

		symbol_store_begin(f->store);
		for (unsigned int i = 0; i < 40000; i++) {
			(void)snprintf(name, sizeof(name), "function_%08x_%08x", i,
				       i * 2654435761u);
			symbol_resolve_kernel(f->store, 0xffffffff81000001ULL + i * 64ULL, &frames);
			if (strcmp(frames.items[0].function, name) != 0) {
				assert_string_equal(frames.items[0].function, "[kernel]");
				n_nameless++;
			}
		}
		symbol_store_end(f->store);
		assert_in_range(n_nameless, 1, 39999);
		assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_kernel_functions_dropped),
				 n_nameless);
		assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_kernel_symbols_read), 1);
	}
}

static void hidden_kernel(void **state)
{
	struct fixture *f = *state;
	char path[FIXTURE_PATH_BYTES];
	struct frames frames;

	assert_true(fixture_write(&f->dir, "kallsyms",
				  "0000000000000000 T _text\n0000000000000000 T vfs_read\n"));
	make_store(f, SYMBOL_STORE_MAX_BYTES, fixture_path(&f->dir, "kallsyms", path));
	assert_false(symbol_store_kernel_hidden(f->store));
	symbol_store_begin(f->store);
	symbol_resolve_kernel(f->store, 0xffffffff81000110, &frames);
	assert_string_equal(frames.items[0].function, "[kernel]");
	symbol_store_end(f->store);
	assert_true(symbol_store_kernel_hidden(f->store));
}

static void vdso_names(void **state)
{
	struct fixture *f = *state;
	struct frames frames;
	struct bytes image;
	struct elf *elf = NULL;

	if (vdso_image(&image) < 0) {
		printf("skip: no vDSO\n");
		skip();
	}
	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	struct mapped_file *vdso = add_file(f, "/nonexistent", "[vdso]");
	vdso->vdso = true;
	/* Where the vDSO has clock_gettime is told by its own dynamic symbols: try every 16 bytes
	 * for it. */
	assert_int_equal(elf_new(image, &elf), 0);
	elf_free(elf);
	size_t n_named = 0;
	bool clock_gettime_found = false;
	symbol_store_begin(f->store);
	for (uint64_t off = 0; off < image.size; off += 16) {
		symbol_resolve_user(f->store, vdso, off, &frames);
		if (strchr(frames.items[0].function, '+'))
			continue;
		n_named++;
		clock_gettime_found |= strstr(frames.items[0].function, "clock_gettime") != NULL;
		assert_int_equal(frames.items[0].object->kind, FRAME_OBJECT_VDSO);
		assert_string_equal(frames.items[0].object->path, "[vdso]");
	}
	symbol_store_end(f->store);
	assert_true(n_named > 0);
	assert_true(clock_gettime_found);
}

/* A budget that holds no index: every name is right nevertheless, and stays valid in its interval.
 */
static void budget_is_kept(void **state)
{
	enum { N = 30, MAX = 16 * 1024 };
	struct fixture *f = *state;
	struct frames frames[N];
	char name[32], command[128], path[FIXTURE_PATH_BYTES];

	make_store(f, MAX, "/nonexistent");
	(void)build(f);
	uint64_t plain = offset_of(f, "plain");
	for (int i = 0; i < N; i++) {
		/* Equal ones would share what is known of them. */
		(void)snprintf(command, sizeof(command),
			       "cp prog copy%d && head -c %d /dev/zero >> copy%d", i, i, i);
		assert_true(fixture_run(&f->dir, command));
		(void)snprintf(name, sizeof(name), "copy%d", i);
		(void)add_file(f, fixture_path(&f->dir, name, path), path);
	}
	for (int round = 0; round < 3; round++) {
		symbol_store_begin(f->store);
		for (int i = 0; i < N; i++)
			symbol_resolve_user(f->store, &f->files[1 + i], plain, &frames[i]);
		for (int i = 0; i < N; i++) {
			assert_string_equal(frames[i].items[0].function, "plain");
			assert_string_equal(frames[i].items[0].object->path, f->files[1 + i].path);
		}
		symbol_store_end(f->store);
		assert_true(symbol_store_object_bytes(f->store) <= MAX);
	}
	assert_true(telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions) > N);
}

static void replaced_file_is_read_again(void **state)
{
	struct fixture *f = *state;
	struct frames frames;
	char path[FIXTURE_PATH_BYTES];

	make_store(f, SYMBOL_STORE_MAX_BYTES, "/nonexistent");
	struct mapped_file *file = build(f);
	uint64_t plain = offset_of(f, "plain");
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, file, plain, &frames);
	assert_string_equal(frames.items[0].function, "plain");
	symbol_store_end(f->store);
	/* Cut short and overwritten in place: the same inode. */
	assert_int_equal(truncate(fixture_path(&f->dir, "prog", path), 100), 0);
	symbol_store_begin(f->store);
	symbol_resolve_user(f->store, file, plain, &frames);
	assert_true(str_starts_with(str_from(frames.items[0].function), STR_LIT("prog+0x")));
	symbol_store_end(f->store);
	assert_true(fixture_run(&f->dir, "g++ -O1 -no-pie -Wl,-z,noseparate-code -Dplain=changed "
					 "-o new a.cc && cat new > prog"));
	symbol_store_begin(f->store);
	/* Whoever maps it now has another file; what was mapped before is gone. */
	symbol_resolve_user(f->store, add_file(f, path, "/usr/bin/prog"), offset_of(f, "changed"),
			    &frames);
	assert_string_equal(frames.items[0].function, "changed");
	symbol_store_end(f->store);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(names_functions_of_a_file),
	FIXTURE_TEST(last_resorts_in_a_file),
	FIXTURE_TEST(nameless_function_goes_by_its_begin),
	FIXTURE_TEST(names_beyond_the_interval_ceiling),
	FIXTURE_TEST(constant_frames),
	FIXTURE_TEST(kernel_is_asked_for_its_own),
	FIXTURE_TEST(kernel_names),
	FIXTURE_TEST(kernel_beyond_its_share),
	FIXTURE_TEST(hidden_kernel),
	FIXTURE_TEST(vdso_names),
	FIXTURE_TEST(budget_is_kept),
	FIXTURE_TEST(replaced_file_is_read_again),
};

TEST_MAIN(tests)
