/* SPDX-License-Identifier: Apache-2.0 */
/* What files of the same content share, what a small budget keeps, when negative answers are looked at again, and what comes later. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/dwarf/client_internal.h"
#include "agent/dwarf/server.h"
#include "agent/process/file_table.h"
#include "agent/symbol/debuginfod.h"
#include "agent/symbol/object_symbols.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define MAX_FILES 24
/* 0: the clock's value for "never". */
#define BEGIN_NS NS_PER_S

struct fixture {
	struct fixture_dir dir;
	struct telemetry *telemetry;
	struct arena names;
	struct object_symbols *symbols;
	struct dwarf_client *dwarf;
	struct mapped_file files[MAX_FILES];
	size_t n_files;
	uint64_t now_ns;
	/* The server's answer. */
	int fetched;
	char fetched_path[FIXTURE_PATH_BYTES];
	int n_fetches;
};

static int fetch(void *data, const char *build_id, int *ret_fd)
{
	struct fixture *f = data;

	assert_string_equal(build_id, "abcdef01");
	f->n_fetches++;
	if (f->fetched == 0)
		*ret_fd = open(f->fetched_path, O_RDONLY | O_CLOEXEC);
	return f->fetched;
}

static void set_up(struct fixture *f)
{
	assert_true(fixture_dir_init(&f->dir));
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(dwarf_client_new(f->telemetry, &f->dwarf), 0);
	arena_init(&f->names, (size_t)1 << 20);
	f->now_ns = BEGIN_NS;
}

static void tear_down(struct fixture *f)
{
	object_symbols_free(f->symbols);
	dwarf_client_free(f->dwarf);
	arena_fini(&f->names);
	telemetry_free(f->telemetry);
	for (size_t i = 0; i < f->n_files; i++) {
		free(f->files[i].path);
		(void)close(f->files[i].fd);
		if (f->files[i].has_debug)
			(void)close(f->files[i].debug_fd);
	}
	fixture_dir_fini(&f->dir);
}

FIXTURE(struct fixture, set_up, tear_down)

static void make(struct fixture *f, struct elf_symbols_options options)
{
	options.telemetry = f->telemetry;
	options.dwarf = f->dwarf;
	options.demangle = DEMANGLE_SIMPLIFIED;
	if (!options.max_bytes)
		options.max_bytes = (size_t)8 << 20;
	assert_int_equal(object_symbols_new(&options, &f->names, &f->symbols), 0);
}

static const char source[] =
	"static __attribute__((noinline)) int hidden(int x) { return x * 3 + 1; }\n"
	"static inline __attribute__((always_inline)) int folded(int x) {\n"
	"	return hidden(x) + 1;\n"
	"}\n"
	"__attribute__((noinline)) int shown(int x) { return folded(x) - 2; }\n"
	/* 200 more, so that an index has some size. */
	"#define F(n) int f##n(int x) { return x + n; }\n"
	"#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) "
	"F(n##9)\n"
	"#define H(n) T(n##0) T(n##1) T(n##2) T(n##3) T(n##4) T(n##5) T(n##6) T(n##7) T(n##8) "
	"T(n##9)\n"
	"H(1) H(2)\n";

static void build(struct fixture *f, const char *and_then)
{
	char command[1024];

	assert_true(fixture_write(&f->dir, "p.c", source));
	(void)snprintf(command, sizeof(command),
		       "gcc -g -O1 -nostdlib -shared -fPIC -Wl,-z,noseparate-code "
		       "-Wl,--build-id=0xabcdef01 -o full p.c && strip -s -o stripped full && "
		       "objcopy --only-keep-debug full p.debug && %s",
		       and_then);
	if (!fixture_run(&f->dir, command)) {
		print_message("no gcc, or no binutils\n");
		skip();
	}
}

static void open_file(struct fixture *f, struct mapped_file *file, const char *name)
{
	char path[FIXTURE_PATH_BYTES];
	int fd = open(fixture_path(&f->dir, name, path), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	mapped_file_take_fd(file, fd);
}

static struct mapped_file *add(struct fixture *f, const char *name)
{
	struct mapped_file *file = &f->files[f->n_files++];
	struct stat st;

	*file = (struct mapped_file){
		.id = (uint32_t)f->n_files, .path = strdup(name), .fd = -1, .n_refs = 1
	};
	assert_non_null(file->path);
	open_file(f, file, name);
	assert_int_equal(fstat(file->fd, &st), 0);
	file->key = (struct file_key){ st.st_dev, st.st_ino };
	return file;
}

static void add_debug(struct fixture *f, struct mapped_file *file, const char *name)
{
	char path[FIXTURE_PATH_BYTES];

	file->debug_fd = open(fixture_path(&f->dir, name, path), O_RDONLY | O_CLOEXEC);
	assert_true(file->debug_fd >= 0);
	file->has_debug = true;
}

/* Without separate code the file offset is the address. */
static uint64_t place_of(struct fixture *f, const char *function)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "nm full | grep ' [tT] %s$'", function);
	return fixture_hex(&f->dir, command);
}

static void begin(struct fixture *f)
{
	object_symbols_begin(f->symbols, f->now_ns);
}

/* NULL: no name. */
static const char *name_of(struct fixture *f, const struct mapped_file *file, uint64_t file_off)
{
	struct frames frames;

	if (!object_symbols_resolve(f->symbols, file, file_off, &frames))
		return NULL;
	assert_string_equal(frames.items[0].object->path, file->path);
	return frames.items[frames.n - 1].function;
}

static void expect(struct fixture *f, const struct mapped_file *file, const char *function,
		   const char *expected)
{
	const char *name = name_of(f, file, place_of(f, function));

	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
}

/* Containers have copies of one file: one is read. */
static void equal_files_share(void **state)
{
	struct fixture *f = *state;

	make(f, (struct elf_symbols_options){ 0 });
	build(f, "cp full copy");
	const struct mapped_file *one = add(f, "full");
	const struct mapped_file *two = add(f, "copy");
	begin(f);
	const char *name = name_of(f, one, place_of(f, "hidden"));
	assert_string_equal(name, "hidden");
	assert_ptr_equal(name_of(f, two, place_of(f, "hidden")), name);
	assert_int_equal(object_symbols_n_shared_elf_symbols(f->symbols), 1);
	object_symbols_end(f->symbols);
	/* It outlives the descriptor it was read through. */
	(void)close(f->files[0].fd);
	f->files[0].fd = -1;
	begin(f);
	expect(f, one, "hidden", "hidden");
	expect(f, two, "shown", "shown");
	object_symbols_end(f->symbols);
	open_file(f, &f->files[0], "full");
}

/* Whoever writes another's build id into a file of the same size and layout names nobody's functions but his own. */
static void forged_build_id(void **state)
{
	struct fixture *f = *state;
	struct stat a, b;

	make(f, (struct elf_symbols_options){ 0 });
	build(f, "sed 's/hidden/wicked/g' full > forged");
	const struct mapped_file *forged = add(f, "forged");
	const struct mapped_file *full = add(f, "full");
	assert_int_equal(fstat(forged->fd, &a), 0);
	assert_int_equal(fstat(full->fd, &b), 0);
	assert_int_equal(a.st_size, b.st_size);
	begin(f);
	expect(f, forged, "hidden", "wicked");
	expect(f, full, "hidden", "hidden");
	assert_int_equal(object_symbols_n_shared_elf_symbols(f->symbols), 2);
	object_symbols_end(f->symbols);
}

/* Nor does a debug file that only one container has. */
static void forged_debug_file(void **state)
{
	struct fixture *f = *state;

	make(f, (struct elf_symbols_options){ 0 });
	build(f, "sed 's/hidden/wicked/g' p.debug > forged.debug && cp stripped copy && "
		 "cp stripped third && cp p.debug same.debug");
	struct mapped_file *one = add(f, "stripped");
	struct mapped_file *two = add(f, "copy");
	struct mapped_file *three = add(f, "third");
	add_debug(f, one, "forged.debug");
	add_debug(f, two, "p.debug");
	add_debug(f, three, "same.debug");
	begin(f);
	expect(f, one, "hidden", "wicked");
	expect(f, two, "hidden", "hidden");
	expect(f, three, "hidden", "hidden");
	assert_int_equal(object_symbols_n_shared_elf_symbols(f->symbols), 2);
	object_symbols_end(f->symbols);
}

/* A debug file that comes later is used; one that is closed again is missed only where nothing is known. */
static void debug_file_comes_and_goes(void **state)
{
	struct fixture *f = *state;

	make(f, (struct elf_symbols_options){ 0 });
	build(f, "true");
	struct mapped_file *file = add(f, "stripped");
	begin(f);
	expect(f, file, "hidden", NULL);
	expect(f, file, "shown", "shown");
	object_symbols_end(f->symbols);
	add_debug(f, file, "p.debug");
	begin(f);
	expect(f, file, "hidden", "hidden");
	object_symbols_end(f->symbols);
	(void)close(file->debug_fd);
	file->has_debug = false;
	begin(f);
	expect(f, file, "hidden", "hidden");
	expect(f, file, "shown", "shown");
	object_symbols_end(f->symbols);
	add_debug(f, file, "p.debug");
	begin(f);
	expect(f, file, "hidden", "hidden");
	object_symbols_end(f->symbols);
}

/* Nothing is asked of the server twice within minutes, but what it has not answered yet. */
static void server_answers_later(void **state)
{
	struct fixture *f = *state;

	make(f, (struct elf_symbols_options){ .fetch = fetch, .fetch_data = f });
	build(f, "true");
	struct mapped_file *file = add(f, "stripped");
	(void)fixture_path(&f->dir, "p.debug", f->fetched_path);
	f->fetched = DEBUGINFOD_PENDING;
	for (int i = 0; i < 3; i++) {
		begin(f);
		expect(f, file, "hidden", NULL);
		object_symbols_end(f->symbols);
	}
	assert_int_equal(f->n_fetches, 3);
	f->fetched = DEBUGINFOD_NONE;
	for (int i = 0; i < 3; i++) {
		begin(f);
		expect(f, file, "hidden", NULL);
		object_symbols_end(f->symbols);
	}
	assert_int_equal(f->n_fetches, 4);
	f->fetched = 0;
	begin(f);
	expect(f, file, "hidden", NULL);
	object_symbols_end(f->symbols);
	f->now_ns += ELF_SYMBOLS_NEGATIVE_NS;
	begin(f);
	expect(f, file, "hidden", "hidden");
	expect(f, file, "shown", "shown");
	object_symbols_end(f->symbols);
	assert_int_equal(f->n_fetches, 5);
}

/* What was no ELF file is looked at again after a while. */
static void no_elf_file_expires(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *file;

	make(f, (struct elf_symbols_options){ 0 });
	build(f, "echo text > later");
	file = add(f, "later");
	begin(f);
	expect(f, file, "shown", NULL);
	object_symbols_end(f->symbols);
	(void)close(file->fd);
	file->fd = -1;
	open_file(f, file, "full");
	f->now_ns += ELF_SYMBOLS_NEGATIVE_NS;
	begin(f);
	expect(f, file, "shown", "shown");
	object_symbols_end(f->symbols);
}

/* Functions that are sampled in each interval need no index: none is built again. */
static void known_functions_need_no_index(void **state)
{
	enum { N = 20, MAX = 40 * 1024 };
	struct fixture *f = *state;
	char command[128], name[32];

	make(f, (struct elf_symbols_options){ .max_bytes = MAX });
	build(f, "true");
	for (int i = 0; i < N; i++) {
		(void)snprintf(command, sizeof(command),
			       "cp full c%d && head -c %d /dev/zero >> c%d", i, i + 1, i);
		assert_true(fixture_run(&f->dir, command));
		(void)snprintf(name, sizeof(name), "c%d", i);
		(void)add(f, name);
	}
	uint64_t hidden = place_of(f, "hidden");
	uint64_t evictions = 0;
	for (int round = 0; round < 4; round++) {
		begin(f);
		for (int i = 0; i < N; i++)
			assert_string_equal(name_of(f, &f->files[i], hidden), "hidden");
		object_symbols_end(f->symbols);
		assert_true(object_symbols_bytes(f->symbols) <= MAX);
		if (round > 0)
			assert_int_equal(
				telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions),
				evictions);
		evictions = telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions);
	}
	assert_true(evictions > 0);
}

/* Lines and inlined functions, of the file itself and of its debug file; the second time from what is known. */
static void lines_and_inlined_functions(void **state)
{
	struct fixture *f = *state;
	struct frames frames;

	make(f, (struct elf_symbols_options){ .lines = true, .inlines = true });
	build(f, "true");
	struct mapped_file *full = add(f, "full");
	struct mapped_file *stripped = add(f, "stripped");
	add_debug(f, stripped, "p.debug");
	const struct mapped_file *files[] = { full, stripped };
	uint64_t folded_at = fixture_hex(
		&f->dir, "objdump -d --disassemble=shown full | grep call | cut -d: -f1");
	assert_true(folded_at != 0);
	for (int round = 0; round < 2; round++) {
		begin(f);
		for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
			assert_true(object_symbols_resolve(f->symbols, files[i], folded_at,
							   &frames));
			assert_int_equal(frames.n, 2);
			assert_string_equal(frames.items[0].function, "folded");
			assert_int_equal(frames.items[0].line, 3);
			assert_string_equal(frames.items[1].function, "shown");
			assert_int_equal(frames.items[1].line, 5);
			assert_non_null(strstr(frames.items[1].file, "p.c"));
			assert_ptr_equal(frames.items[0].object, frames.items[1].object);
		}
		object_symbols_end(f->symbols);
	}
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_frames_without_lines), 0);
}

/* Lines without inlined functions: that of the function itself. */
static void lines_alone(void **state)
{
	struct fixture *f = *state;
	struct frames frames;

	make(f, (struct elf_symbols_options){ .lines = true });
	build(f, "strip -g -o plain full");
	uint64_t folded_at = fixture_hex(
		&f->dir, "objdump -d --disassemble=shown full | grep call | cut -d: -f1");
	const struct mapped_file *full = add(f, "full");
	const struct mapped_file *plain = add(f, "plain");
	begin(f);
	assert_true(object_symbols_resolve(f->symbols, full, folded_at, &frames));
	assert_int_equal(frames.n, 1);
	assert_string_equal(frames.items[0].function, "shown");
	assert_int_equal(frames.items[0].line, 5);
	/* Nobody knows lines: the plain name stays. */
	assert_true(object_symbols_resolve(f->symbols, plain, folded_at, &frames));
	assert_int_equal(frames.n, 1);
	assert_string_equal(frames.items[0].function, "shown");
	assert_string_equal(frames.items[0].file, "");
	assert_int_equal(frames.items[0].line, 0);
	object_symbols_end(f->symbols);
}

/* What is known costs no time; what is not is left for later, and not remembered as missing. */
static void no_time_for_lines(void **state)
{
	struct fixture *f = *state;
	const struct elf_symbols_options options = { .lines = true,
						     .dwarf = f->dwarf,
						     .max_bytes = (size_t)8 << 20 };
	const struct line_answer *answer = NULL;
	struct elf_symbols *elf_symbols = NULL;
	struct elf *elf = NULL;
	struct bytes bytes;

	build(f, "true");
	const struct elf_symbols_access access = { add(f, "full")->fd, -1, "", 1, BEGIN_NS };
	uint64_t shown = place_of(f, "shown");
	uint64_t left_ns = 0;
	assert_int_equal(bytes_from_fd(access.fd, &bytes), 0);
	assert_int_equal(elf_new(bytes, &elf), 0);
	assert_int_equal(elf_symbols_new(elf, NULL, &elf_symbols), 0);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer),
		ELF_SYMBOLS_NO_TIME);
	left_ns = NS_PER_S;
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer), 0);
	assert_true(left_ns < NS_PER_S);
	left_ns = 0;
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer), 0);
	assert_int_equal(answer->frames[answer->n - 1].line, 5);
	assert_true(elf_symbols_bytes(elf_symbols) > elf_symbols->lines.bytes);
	elf_symbols_free(elf_symbols);
}

/* A file whose reader died is asked again when ELF_SYMBOLS_NEGATIVE_NS are over, by the caller's clock, and not a moment before. */
static void failed_lines_expire(void **state)
{
	struct fixture *f = *state;
	const struct elf_symbols_options options = { .lines = true,
						     .dwarf = f->dwarf,
						     .max_bytes = (size_t)8 << 20 };
	const struct line_answer *answer = NULL;
	uint64_t left_ns = 60 * NS_PER_S;
	struct elf_symbols *elf_symbols = NULL;
	struct elf *elf = NULL;
	struct bytes bytes;

	build(f, "true");
	struct elf_symbols_access access = { add(f, "full")->fd, -1, "", 1, BEGIN_NS };
	uint64_t shown = place_of(f, "shown"), hidden = place_of(f, "hidden");
	assert_int_equal(bytes_from_fd(access.fd, &bytes), 0);
	assert_int_equal(elf_new(bytes, &elf), 0);
	assert_int_equal(elf_symbols_new(elf, NULL, &elf_symbols), 0);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer), 0);
	assert_int_equal(kill(elf_symbols->reader->pid, SIGKILL), 0);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, hidden, &left_ns, &answer),
		ELF_SYMBOLS_FAILED);
	access.now_ns = BEGIN_NS + ELF_SYMBOLS_NEGATIVE_NS - 1;
	elf_symbols_expire(elf_symbols, access.now_ns);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, hidden, &left_ns, &answer),
		ELF_SYMBOLS_NO_NAME);
	assert_null(elf_symbols->reader);
	/* What it had said before stays. */
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer), 0);
	access.now_ns++;
	elf_symbols_expire(elf_symbols, access.now_ns);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, hidden, &left_ns, &answer), 0);
	assert_int_equal(answer->frames[answer->n - 1].line, 1);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_dwarf_helper_crashed), 1);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_dwarf_helper_held_back), 0);
	elf_symbols_free(elf_symbols);
}

/* Not to be read once: that is neither kept for the address nor for the file. */
static void unread_lines_are_looked_for_again(void **state)
{
	struct fixture *f = *state;
	const struct elf_symbols_options options = { .lines = true,
						     .dwarf = f->dwarf,
						     .max_bytes = (size_t)8 << 20 };
	struct elf_symbols_options no_dwarf = options;
	const struct line_answer *answer = NULL;
	uint64_t left_ns = 60 * NS_PER_S;
	struct elf_symbols *elf_symbols = NULL;
	struct elf *elf = NULL;
	struct bytes bytes;

	build(f, "true");
	struct elf_symbols_access access = { add(f, "full")->fd, -1, "", 1, BEGIN_NS };
	struct elf_symbols_access broken = access;
	uint64_t shown = place_of(f, "shown"), hidden = place_of(f, "hidden");
	/* Its first page is never there: EIO. */
	_cleanup_close_ int unreadable = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_true(unreadable >= 0);
	broken.fd = unreadable;
	no_dwarf.dwarf = NULL;
	assert_int_equal(bytes_from_fd(access.fd, &bytes), 0);
	assert_int_equal(elf_new(bytes, &elf), 0);
	assert_int_equal(elf_symbols_new(elf, NULL, &elf_symbols), 0);
	/* It is no Go file, as is known from then on: nothing but DWARF is asked. */
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &no_dwarf, &access, hidden, &left_ns, &answer),
		ELF_SYMBOLS_NO_NAME);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &broken, shown, &left_ns, &answer),
		ELF_SYMBOLS_NO_NAME);
	assert_null(elf_symbols->reader);
	assert_false(elf_symbols->is_readerless);
	assert_int_equal(
		elf_symbols_lines(elf_symbols, &options, &access, shown, &left_ns, &answer), 0);
	elf_symbols_free(elf_symbols);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(equal_files_share),
	FIXTURE_TEST(forged_build_id),
	FIXTURE_TEST(forged_debug_file),
	FIXTURE_TEST(debug_file_comes_and_goes),
	FIXTURE_TEST(server_answers_later),
	FIXTURE_TEST(no_elf_file_expires),
	FIXTURE_TEST(known_functions_need_no_index),
	FIXTURE_TEST(lines_and_inlined_functions),
	FIXTURE_TEST(lines_alone),
	FIXTURE_TEST(no_time_for_lines),
	FIXTURE_TEST(failed_lines_expire),
	FIXTURE_TEST(unread_lines_are_looked_for_again),
};

int main(int argc, char **argv)
{
	if (dwarf_server_is_meant(argc, argv))
		dwarf_server_run();
	return RUN_TESTS(tests);
}
