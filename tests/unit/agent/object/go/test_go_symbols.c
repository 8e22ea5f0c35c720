/* SPDX-License-Identifier: Apache-2.0 */
/* Go's symbols out of hand-made tables of each layout, whole, damaged and at their ceilings. */
#include <errno.h>
#include <string.h>

#include "agent/object/go/go_symbols.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_symbols_fixture.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define LEAF "main.leaf[...].func1"
#define MID "main.(*T[...]).mid"

/* A program in memory, and what was asked of it. */
struct context {
	struct go_image image;
	struct elf *elf;
	struct go_symbols *symbols;
	struct arena strings;
	struct source_frames frames;
};

static int context_open(struct context *w, const void *bytes, size_t n)
{
	arena_init(&w->strings, ARENA_BYTES);
	assert_int_equal(elf_new(bytes_from_memory(bytes, n), &w->elf), 0);
	return go_symbols_new(w->elf, &w->symbols);
}

static void context_close(struct context *w)
{
	go_symbols_free(w->symbols);
	elf_free(w->elf);
	arena_fini(&w->strings);
}

static void expect(struct context *w, uint64_t at, const struct source_frame *want, uint32_t n)
{
	assert_int_equal(go_symbols_frames(w->symbols, GO_TEXT_VADDR + at, &w->strings, &w->frames),
			 0);
	assert_int_equal(w->frames.n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(w->frames.items[i].function, want[i].function);
		assert_string_equal(w->frames.items[i].file, want[i].file);
		assert_int_equal(w->frames.items[i].line, want[i].line);
	}
}

struct layout_row {
	const char *name;
	uint16_t machine;
	uint32_t magic;
	uint64_t text;
};

static struct layout_row layout_rows[] = {
	{ "1.16", EM_X86_64, GO_1_16, 0 },
	{ "1.18", EM_X86_64, GO_1_18, GO_TEXT_VADDR },
	{ "1.20", EM_X86_64, GO_1_20, GO_TEXT_VADDR },
	{ "1.26", EM_X86_64, GO_1_20, 0 },
	{ "1.16 on AArch64", EM_AARCH64, GO_1_16, 0 },
	{ "1.26 on AArch64", EM_AARCH64, GO_1_20, 0 },
};

static void frames_of_layout(void **state)
{
	static const struct source_frame in_leaf[] = { { LEAF, "/src/leaf.go", 700 },
						       { MID, "main.go", 52 },
						       { "main.outer", "main.go", 10 } };
	static const struct source_frame in_mid[] = { { MID, "main.go", 52 },
						      { "main.outer", "main.go", 10 } };
	static const struct source_frame in_outer[] = { { "main.outer", "main.go", 13 } };
	/* Brackets are no type arguments there. */
	static const struct source_frame in_leaf_1_16[] = {
		{ "main.leaf[go.shape.[]int,main.T[string]].func1", "/src/leaf.go", 700 },
		{ MID, "main.go", 52 },
		{ "main.outer", "main.go", 10 }
	};
	const struct layout_row *row = *state;
	struct context w = { 0 };

	go_symbols_image(&w.image, row->machine, row->magic, row->text);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	expect(&w, 16, row->magic == GO_1_16 ? in_leaf_1_16 : in_leaf, 3);
	expect(&w, 31, row->magic == GO_1_16 ? in_leaf_1_16 : in_leaf, 3);
	expect(&w, 32, in_mid, 2);
	expect(&w, 47, in_mid, 2);
	expect(&w, 48, in_outer, 1);
	expect(&w, 255, in_outer, 1);
	/* Moved to another descriptor, here the same memory. */
	elf_set_fd(w.elf, -1);
	expect(&w, 40, in_mid, 2);
	assert_int_equal(go_symbols_frames(w.symbols, GO_TEXT_VADDR + 0x190, &w.strings, &w.frames),
			 GOPCLNTAB_NONE);
	context_close(&w);
}

static void finds_and_names(void **state)
{
	static const struct {
		uint64_t at;
		uint64_t begin;
		uint64_t end;
		const char *name;
	} want[] = {
		{ 0, 0, 0x100, "main.outer" },	       { 0xff, 0, 0x100, "main.outer" },
		{ 0x100, 0x100, 0x140, LEAF },	       { 0x140, 0x140, 0x180, MID },
		{ 0x180, 0x180, 0x1c0, "c_function" }, { 0x1bf, 0x180, 0x1c0, "c_function" },
	};
	struct context w = { 0 };
	struct go_function f;

	(void)state;
	go_symbols_image(&w.image, EM_X86_64, GO_1_20, 0);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		_cleanup_buf_ struct buf name = BUF_INIT(256);

		assert_int_equal(buf_append_str(&name, "go:"), 0);
		assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR + want[i].at, &f), 0);
		assert_int_equal(f.begin, GO_TEXT_VADDR + want[i].begin);
		assert_int_equal(f.end, GO_TEXT_VADDR + want[i].end);
		assert_int_equal(go_symbols_name(w.symbols, &f, &name), 0);
		assert_string_equal(buf_str(&name) + 3, want[i].name);
	}
	assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR - 1, &f), GOPCLNTAB_NONE);
	assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR + 0x1c0, &f), GOPCLNTAB_NONE);
	assert_int_equal(go_symbols_find(w.symbols, 0, &f), GOPCLNTAB_NONE);
	assert_int_equal(go_symbols_find(w.symbols, UINT64_MAX, &f), GOPCLNTAB_NONE);
	_cleanup_buf_ struct buf small = BUF_INIT(4);
	assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR, &f), 0);
	assert_int_equal(go_symbols_name(w.symbols, &f, &small), -ENOBUFS);
	f.index = 4;
	assert_int_equal(go_symbols_name(w.symbols, &f, &small), GOPCLNTAB_NONE);
	assert_true(go_symbols_bytes(w.symbols) < 150000);
	context_close(&w);
}

/* Names of one function, as they are printed. */
struct name_row {
	const char *raw;
	const char *printed;
};

static struct name_row name_rows[] = {
	{ "main.f", "main.f" },
	{ "main.f[int]", "main.f[...]" },
	{ "main.f[...]", "main.f[...]" },
	{ "main.f[a[b],c].func1", "main.f[...].func1" },
	{ "type:.eq.[2]string", "type:.eq.[...]string" },
	{ "main.f[]", "main.f[...]" },
	{ "main.f[", "main.f[" },
	{ "main.f]", "main.f]" },
	{ "]main.f[", "]main.f[" },
	{ "[]", "[...]" },
};

static void prints_name(void **state)
{
	const struct name_row *row = *state;
	const struct go_func func = { .name = row->raw, .n_bytes = 64, .values = { 2, 64, 0 } };
	_cleanup_buf_ struct buf name = BUF_INIT(256);
	struct context w = { 0 };
	struct go_function f;

	go_image_make(&w.image, EM_X86_64, GO_1_20, 0, &func, 1);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR, &f), 0);
	assert_int_equal(go_symbols_name(w.symbols, &f, &name), 0);
	assert_string_equal(buf_str(&name), row->printed);
	context_close(&w);
}

/* A word of a good table replaced, and what is then said of an address in main.leaf. */
struct damage_row {
	const char *name;
	uint64_t off;
	uint64_t value;
	size_t n;
	uint32_t n_frames;
	struct source_frame last;
};

#define RECORD (GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORD_AT)
#define PCFILE (RECORD + 20)
#define CALL(i) (GO_TABLE_OFF + GO_TREE_AT + (i)*16)
#define UNKNOWN                     \
	{                           \
		"main.outer", "", 0 \
	}

static struct damage_row damage_rows[] = {
	{ "called from itself", CALL(1) + 8, 20, 4, 2, UNKNOWN },
	{ "called from outside", CALL(1) + 8, 0x100, 4, 1, UNKNOWN },
	{ "called from before", CALL(1) + 8, UINT32_MAX, 4, 1, UNKNOWN },
	{ "outer one called from outside", CALL(0) + 8, 0x1000, 4, 2, UNKNOWN },
	{ "name outside", CALL(1) + 4, 0x100000, 4, 1, UNKNOWN },
	{ "name is empty", CALL(1) + 4, 10, 4, 1, UNKNOWN },
	{ "no trees", GO_MODULE_OFF + 320, 0, 8, 1, UNKNOWN },
	{ "trees elsewhere", GO_MODULE_OFF + 320, 0x800000, 8, 1, UNKNOWN },
	{ "trees at the end of numbers", GO_MODULE_OFF + 320, UINT64_MAX - 0x100, 8, 1, UNKNOWN },
	{ "no tree", RECORD + 44 + 16 + 12, UINT32_MAX, 4, 1, UNKNOWN },
	{ "no calls", RECORD + 44 + 8, 0, 4, 1, { "main.outer", "/src/leaf.go", 700 } },
	{ "too few tables", PCFILE + 8, 2, 4, 1, { "main.outer", "/src/leaf.go", 700 } },
	{ "tables without end", PCFILE + 8, UINT32_MAX, 4, 1, UNKNOWN },
	{ "too little data", RECORD + 43, 3, 1, 1, { "main.outer", "/src/leaf.go", 700 } },
	{ "calls behind the values",
	  RECORD + 44 + 8,
	  0x10000,
	  4,
	  1,
	  { "main.outer", "/src/leaf.go", 700 } },
	{ "no files", PCFILE, 0, 4, 3, UNKNOWN },
	/* Where a number is that would be good: the caller of the first call. */
	{ "unit outside", PCFILE + 12, (GO_TREE_AT + 8 - GO_UNITS_AT) / 4 - 1, 4, 3, UNKNOWN },
	{ "unit at the end of numbers", PCFILE + 12, UINT32_MAX, 4, 3, UNKNOWN },
	{ "file dropped", PCFILE + 12, 3, 4, 3, UNKNOWN },
	{ "file outside", GO_TABLE_OFF + GO_UNITS_AT + 12, 0x1000, 4, 3, UNKNOWN },
	{ "file is empty", GO_TABLE_OFF + GO_UNITS_AT + 12, 0, 4, 3, UNKNOWN },
	{ "function's name outside", RECORD + 4, 0x100000, 4, 3, { "", "main.go", 10 } },
};

static void says_what_is_left(void **state)
{
	const struct damage_row *row = *state;
	struct context w = { 0 };

	go_symbols_image(&w.image, EM_X86_64, GO_1_20, GO_TEXT_VADDR);
	go_put(&w.image, row->off, row->value, row->n);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	/* Where there is no tree, the function does not get the line of what was inlined. */
	assert_int_equal(go_symbols_frames(w.symbols, GO_TEXT_VADDR + 20, &w.strings, &w.frames),
			 0);
	assert_int_equal(w.frames.n, row->n_frames);
	const struct source_frame *last = &w.frames.items[w.frames.n - 1];
	assert_string_equal(last->function, row->last.function);
	assert_string_equal(last->file, row->last.file);
	assert_int_equal(last->line, row->last.line);
	context_close(&w);
}

static void no_lines(void **state)
{
	struct context w = { .frames.n = 7 };

	(void)state;
	go_symbols_image(&w.image, EM_X86_64, GO_1_20, 0);
	go_put(&w.image, PCFILE + 4, 0, 4);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	assert_int_equal(go_symbols_frames(w.symbols, GO_TEXT_VADDR, &w.strings, &w.frames),
			 GOPCLNTAB_NONE);
	assert_int_equal(w.frames.n, 7);
	context_close(&w);
}

static void arena_is_full(void **state)
{
	struct context w = { .frames.n = 7 };

	(void)state;
	go_symbols_image(&w.image, EM_X86_64, GO_1_20, 0);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	w.strings.max_bytes = 16;
	assert_int_equal(go_symbols_frames(w.symbols, GO_TEXT_VADDR, &w.strings, &w.frames),
			 -ENOMEM);
	assert_int_equal(w.frames.n, 7);
	context_close(&w);
}

/* Functions in no order: what is found holds the address. */
static void no_order(void **state)
{
	struct context w = { 0 };
	struct go_function f;

	(void)state;
	go_symbols_image(&w.image, EM_X86_64, GO_1_20, 0);
	go_put(&w.image, GO_TABLE_OFF + GO_FUNCS_AT + 8, 0x300, 4);
	assert_int_equal(context_open(&w, &w.image, sizeof(w.image)), 0);
	assert_int_equal(go_symbols_find(w.symbols, GO_TEXT_VADDR, &f), GOPCLNTAB_NONE);
	for (uint64_t at = 0; at < 0x1c0; at++)
		if (go_symbols_find(w.symbols, GO_TEXT_VADDR + at, &f) == 0)
			assert_true(f.begin <= GO_TEXT_VADDR + at && GO_TEXT_VADDR + at < f.end);
	context_close(&w);
}

/* One function of as many lines as bytes. */
#define MANY_TEXT_BYTES ((uint64_t)1 << 20)
#define MANY_FUNCS_AT ((uint64_t)0x280000)
#define MANY_BYTES ((size_t)4 << 20)

static void make_many(struct go_image *image, unsigned char *bytes)
{
	const uint64_t table_bytes = MANY_FUNCS_AT + 0xc00;
	Elf64_Phdr *phdrs = (void *)(bytes + sizeof(Elf64_Ehdr));

	go_symbols_image(image, EM_X86_64, GO_1_20, GO_TEXT_VADDR);
	go_put(image, PCFILE + 4, 0x1000, 4);
	go_put(image, RECORD + 44 + 8, 0, 4);
	/* A single function, up to the end of the text. */
	go_put(image, GO_TABLE_OFF + 8, 1, 8);
	go_put(image, GO_TABLE_OFF + GO_FUNCS_AT + 8, MANY_TEXT_BYTES, 4);
	go_put(image, GO_TABLE_OFF + 64, MANY_FUNCS_AT, 8);
	go_put(image, GO_TABLE_OFF + GO_VALUES_AT + GO_FILE_VALUES + 1, 0, 1);
	memcpy(bytes, image->bytes, sizeof(image->bytes));
	memcpy(bytes + GO_TABLE_OFF + MANY_FUNCS_AT, image->bytes + GO_TABLE_OFF + GO_FUNCS_AT,
	       0xc00);
	for (uint64_t i = 0; i < MANY_TEXT_BYTES; i++) {
		bytes[GO_TABLE_OFF + GO_VALUES_AT + 0x1000 + i * 2] = 2; /* one line more */
		bytes[GO_TABLE_OFF + GO_VALUES_AT + 0x1000 + i * 2 + 1] = 1;
	}
	/* The file of all: file 1. */
	memcpy(bytes + GO_TABLE_OFF + GO_VALUES_AT + GO_FILE_VALUES, "\x04\xff\xff\x7f", 5);
	phdrs[0].p_filesz = phdrs[0].p_memsz = MANY_TEXT_BYTES;
	phdrs[1].p_filesz = phdrs[1].p_memsz = table_bytes;
}

static void ceiling_of_steps(void **state)
{
	static const struct source_frame first[] = { { "main.outer", "main.go", 0 } };
	static const struct source_frame last[] = { { "main.outer", "main.go",
						      GO_SYMBOLS_MAX_STEPS - 3 } };
	static const struct source_frame none[] = { { "main.outer", "", 0 } };
	_cleanup_free_ unsigned char *bytes = calloc(1, MANY_BYTES);
	struct context w = { 0 };

	(void)state;
	assert_non_null(bytes);
	make_many(&w.image, bytes);
	assert_int_equal(context_open(&w, bytes, MANY_BYTES), 0);
	expect(&w, 0, first, 1);
	/* One step for the file. */
	expect(&w, GO_SYMBOLS_MAX_STEPS - 3, last, 1);
	expect(&w, GO_SYMBOLS_MAX_STEPS - 1, none, 1);
	expect(&w, MANY_TEXT_BYTES - 1, none, 1);
	context_close(&w);
}

static void not_go(void **state)
{
	struct go_symbols *symbols = NULL;
	struct fixture_elf file;

	(void)state;
	assert_int_equal(fixture_elf_open("/proc/self/exe", &file), 0);
	assert_int_equal(go_symbols_new(file.elf, &symbols), GOPCLNTAB_NONE);
	assert_null(symbols);
	go_symbols_free(symbols);
	fixture_elf_close(&file);
}

static const struct unit_test tests[] = {
	TEST_ROWS(frames_of_layout, layout_rows, name),
	TEST_ROWS(prints_name, name_rows, raw),
	TEST_ROWS(says_what_is_left, damage_rows, name),
	TEST(finds_and_names),
	TEST(no_lines),
	TEST(arena_is_full),
	TEST(no_order),
	TEST(ceiling_of_steps),
	TEST(not_go),
};

TEST_MAIN(tests)
