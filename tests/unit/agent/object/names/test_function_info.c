/* SPDX-License-Identifier: Apache-2.0 */
/* Which source names a function: of whole files, stripped ones with and without their debug files, and of what lies between. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/debug_file.h"
#include "agent/object/names/function_info.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define ID "0123456789abcdef0123456789abcdef01234567"
#define BY_ID_DIR "root/usr/lib/debug/.build-id/01"
#define BY_ID BY_ID_DIR "/23456789abcdef0123456789abcdef01234567.debug"

static const char source[] =
	"static __attribute__((noinline)) int hidden(int x) { return x * 3 + 1; }\n"
	"static __attribute__((noinline)) int other(int x) { return x * 5 + 2; }\n"
	"__attribute__((noinline)) int shown(int x) { return hidden(x) + other(x); }\n";

/* `full` has all symbols, `stripped` none but the dynamic linker's; p.debug is what was taken away. */
#define BUILD                                                                        \
	"mkdir -p root/opt " BY_ID_DIR " && "                                        \
	"gcc -g -O1 -nostdlib -shared -fPIC -Wl,--build-id=0x" ID " -o full p.c && " \
	"objcopy --only-keep-debug full p.debug && strip -s -o stripped full && "    \
	"objcopy --remove-section=.note.gnu.build-id stripped anonymous && "         \
	"objcopy --remove-section=.note.gnu.build-id p.debug anonymous.debug && "

/* As distributions make it: the functions that are not in .dynsym, packed. */
#define MINIDEBUG                                                                                \
	"nm -D full --format=posix --defined-only | cut -d' ' -f1 | sort > dynamic && "          \
	"nm full --format=posix --defined-only | grep -i ' t ' | cut -d' ' -f1 | sort > all && " \
	"comm -13 dynamic all > keep && "                                                        \
	"objcopy -S --remove-section=.comment --keep-symbols=keep p.debug mini && xz mini && "   \
	"objcopy --add-section .gnu_debugdata=mini.xz stripped root/opt/p"

struct expected {
	const char *function;
	const char *by; /* title of its source; NULL: it has no name */
};

struct row {
	const char *name;
	const char *prepare; /* shell, in the directory: makes root/opt/p */
	struct expected expected[3];
};

#define ALL(by)                                    \
	{                                          \
		{ "hidden", by }, { "other", by }, \
		{                                  \
			"shown", by                \
		}                                  \
	}
#define DYNAMIC_ONLY                                   \
	{                                              \
		{ "hidden", NULL }, { "other", NULL }, \
		{                                      \
			"shown", ".dynsym"             \
		}                                      \
	}

static struct row rows[] = {
	{ "own symbols", "cp full root/opt/p", ALL(".symtab") },
	{ "own symbols before the debug file's", "cp full root/opt/p && cp p.debug " BY_ID,
	  ALL(".symtab") },
	{ "stripped", "cp stripped root/opt/p", DYNAMIC_ONLY },
	{ "debug file by build id", "cp stripped root/opt/p && cp p.debug " BY_ID,
	  ALL("debug file") },
	{ "debug file of another build",
	  "cp stripped root/opt/p && gcc -g -nostdlib -shared -fPIC -Wl,--build-id=0xff -o x p.c "
	  "&& "
	  "cp x " BY_ID,
	  DYNAMIC_ONLY },
	{ "debug file by link",
	  "objcopy --add-gnu-debuglink=anonymous.debug anonymous root/opt/p && "
	  "cp anonymous.debug root/opt/",
	  ALL("debug file") },
	{ "debug file by link, wrong sum",
	  "objcopy --add-gnu-debuglink=anonymous.debug anonymous root/opt/p && "
	  "cp anonymous.debug root/opt/ && printf x >> root/opt/anonymous.debug",
	  DYNAMIC_ONLY },
	{ "debug file, lines packed by zlib",
	  "cp stripped root/opt/p && objcopy --compress-debug-sections=zlib p.debug " BY_ID,
	  ALL("debug file") },
	{ "debug file, lines packed by zstd",
	  "cp stripped root/opt/p && objcopy --compress-debug-sections=zstd p.debug " BY_ID,
	  ALL("debug file") },
	{ "own symbols, lines packed by zlib",
	  "objcopy --compress-debug-sections=zlib full root/opt/p", ALL(".symtab") },
	{ "MiniDebugInfo",
	  MINIDEBUG,
	  { { "hidden", ".gnu_debugdata" },
	    { "other", ".gnu_debugdata" },
	    { "shown", ".dynsym" } } },
	{ "debug file before MiniDebugInfo", MINIDEBUG " && cp p.debug " BY_ID, ALL("debug file") },
	{ "MiniDebugInfo that is damaged",
	  MINIDEBUG " && head -c 50 mini.xz > bad && "
		    "objcopy --update-section .gnu_debugdata=bad root/opt/p",
	  DYNAMIC_ONLY },
	{ "one symbol kept, the rest in the debug file",
	  "objcopy --strip-all --keep-symbol=hidden full root/opt/p && cp p.debug " BY_ID,
	  { { "hidden", ".symtab" }, { "other", "debug file" }, { "shown", ".symtab" } } },
	{ "one symbol kept, no debug file",
	  "objcopy --strip-all --keep-symbol=hidden full root/opt/p",
	  { { "hidden", ".symtab" }, { "other", NULL }, { "shown", ".symtab" } } },
};

/* An object and what belongs to it. */
struct files {
	struct fixture_elf object;
	int debug_fd;
	struct elf *debug;
	struct function_info *info;
};

static void open_files(const struct fixture_dir *dir, struct files *f)
{
	char path[FIXTURE_PATH_BYTES];
	struct bytes bytes;

	*f = (struct files){ .debug_fd = -1 };
	_cleanup_close_ int root_fd =
		open(fixture_path(dir, "root", path), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fixture_elf_open(fixture_path(dir, "root/opt/p", path), &f->object), 0);
	if (debug_file_open(f->object.elf, root_fd, "/opt/p", &f->debug_fd) == 0) {
		assert_int_equal(bytes_from_fd(f->debug_fd, &bytes), 0);
		assert_int_equal(elf_new(bytes, &f->debug), 0);
	}
	assert_int_equal(function_info_new(&f->info), 0);
}

static void close_files(struct files *f)
{
	function_info_free(f->info);
	elf_free(f->debug);
	fixture_elf_close(&f->object);
	if (f->debug_fd >= 0)
		(void)close(f->debug_fd);
}

static struct function_files files_of(const struct files *f)
{
	return (struct function_files){ .elf = f->object.elf,
					.debug = f->debug,
					.max_bytes = (size_t)1 << 20 };
}

static uint64_t address_of(const struct fixture_dir *dir, const char *function)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "nm full | grep ' [tT] %s$'", function);
	uint64_t vaddr = fixture_hex(dir, command);
	assert_true(vaddr != 0);
	return vaddr;
}

static void check(struct files *f, uint64_t vaddr, const struct expected *expected)
{
	_cleanup_buf_ struct buf name = BUF_INIT(256);
	struct function_files files = files_of(f);
	struct function_answer answer;
	int r = function_info_find(f->info, &files, vaddr, &answer);

	assert_true(vaddr >= answer.piece.begin && vaddr < answer.piece.end);
	assert_int_equal(r, expected->by ? 0 : FUNCTION_INFO_NONE);
	if (!expected->by)
		return;
	assert_string_equal(function_kind_title(answer.kind), expected->by);
	assert_int_equal(function_info_name(f->info, &answer, &name), 0);
	assert_string_equal(buf_str(&name), expected->function);
}

static void chooses(void **state)
{
	const struct row *row = *state;
	struct fixture_dir dir;
	char command[2048];
	struct files f;

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c", source));
	(void)snprintf(command, sizeof(command), BUILD "%s", row->prepare);
	if (!fixture_run(&dir, command)) {
		print_message("no gcc, binutils or xz, or without zstd\n");
		fixture_dir_fini(&dir);
		skip();
	}
	open_files(&dir, &f);
	/* The second round, without and again with sources, must not differ. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(row->expected); i++) {
			uint64_t vaddr = address_of(&dir, row->expected[i].function);

			check(&f, vaddr, &row->expected[i]);
			check(&f, vaddr + 1, &row->expected[i]);
		}
		assert_true(function_info_is_loaded(f.info));
		assert_true(function_info_bytes(f.info) > 0);
		function_info_drop(f.info);
		assert_false(function_info_is_loaded(f.info));
	}
	close_files(&f);
	fixture_dir_fini(&dir);
}

static void go_program(void **state)
{
	static const char *const builds[] = { "", "-ldflags='-s -w'" };
	struct fixture_dir dir;
	struct files f;
	char command[512];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.go",
				  "package main\n"
				  "//go:noinline\nfunc shown(x int) int { return x * 3 }\n"
				  "func main() { println(shown(4)) }\n"));
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		(void)snprintf(command, sizeof(command),
			       "mkdir -p root/opt && %s go build -o full p.go && "
			       "%s go build %s -o root/opt/p p.go",
			       "GO111MODULE=off CGO_ENABLED=0", "GO111MODULE=off CGO_ENABLED=0",
			       builds[i]);
		if (!fixture_run(&dir, command)) {
			print_message("no Go\n");
			fixture_dir_fini(&dir);
			skip();
		}
		open_files(&dir, &f);
		check(&f, address_of(&dir, "main.shown"),
		      &(struct expected){ "main.shown", "Go tables" });
		close_files(&f);
	}
	fixture_dir_fini(&dir);
}

/*
 * What has no size reaches to where something else begins or ends, in whichever table. The file's own table has `loose` without a
 * size; the debug file has also `sized` behind it.
 */
static void guesses(void **state)
{
	struct fixture_dir dir;
	struct files f;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.s",
				  ".text\n.type loose,@function\nloose: .skip 32,0x90\n"
				  ".type sized,@function\nsized: .skip 16,0x90\n.size sized,16\n"
				  ".skip 16,0x90\n"));
	if (!fixture_run(&dir, "mkdir -p root/opt " BY_ID_DIR " && "
			       "gcc -nostdlib -shared -Wl,--build-id=0x" ID " -o full p.s && "
			       "objcopy --only-keep-debug full " BY_ID " && "
			       "objcopy --strip-symbol=sized full root/opt/p")) {
		print_message("no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	open_files(&dir, &f);
	assert_non_null(f.debug);
	uint64_t loose = address_of(&dir, "loose");
	check(&f, loose + 31, &(struct expected){ "loose", ".symtab" });
	check(&f, loose + 32, &(struct expected){ "sized", "debug file" });
	check(&f, loose + 47, &(struct expected){ "sized", "debug file" });
	check(&f, loose + 48, &(struct expected){ NULL, NULL });
	close_files(&f);
	fixture_dir_fini(&dir);
}

/* In a stripped program a symbol without a size is followed by hidden functions: what unwind information tells of them bounds it. */
static void guess_before_hidden_functions(void **state)
{
	struct fixture_dir dir;
	struct files f;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(
		&dir, "p.s",
		".text\n.globl loose\n.type loose,@function\nloose: .skip 16,0x90\n"
		".globl described\n.type described,@function\n.cfi_startproc\n.skip 4,0x90\n"
		"described: .skip 12,0x90\n.cfi_endproc\n"
		"hidden: .cfi_startproc\n.skip 16,0x90\n.cfi_endproc\n.skip 16,0x90\n"));
	if (!fixture_run(&dir, "mkdir -p root/opt && gcc -nostdlib -shared -o full p.s && "
			       "strip -s -o root/opt/p full")) {
		print_message("no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	open_files(&dir, &f);
	uint64_t loose = address_of(&dir, "loose");
	check(&f, loose + 15, &(struct expected){ "loose", ".dynsym" });
	check(&f, loose + 16, &(struct expected){ NULL, NULL });
	check(&f, loose + 20, &(struct expected){ "described", ".dynsym" });
	check(&f, loose + 31, &(struct expected){ "described", ".dynsym" });
	check(&f, loose + 32, &(struct expected){ NULL, NULL });
	check(&f, loose + 47, &(struct expected){ NULL, NULL });
	check(&f, loose + 48, &(struct expected){ NULL, NULL });
	close_files(&f);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(chooses, rows, name),
	TEST(guesses),
	TEST(guess_before_hidden_functions),
	TEST(go_program),
};

TEST_MAIN(tests)
