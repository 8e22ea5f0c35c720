/* SPDX-License-Identifier: Apache-2.0 */
/* Go's function table: hand-made ones of each layout, whole and damaged, and those of built programs against nm. */
#include <errno.h>
#include <string.h>

#include "agent/object/go/gopclntab.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_fixture.h"

/* Depths 0 for 1 byte, 8 for 3, 0x208 for 300 (two numbers of two bytes), 0 for the rest. */
#define TWO_BYTE_VALUES                                                                \
	{                                                                              \
		0x02, 0x01, 0x10, 0x03, 0x80, 0x08, 0xac, 0x02, 0x8f, 0x08, 0x10, 0x00 \
	}

static const struct go_func funcs[] = {
	{ .name = "main.first", .n_bytes = 0x200, .flags = 4, .values = TWO_BYTE_VALUES },
	{ .name = "main.second", .n_bytes = 0x40, .values = { 0x02, 0x40, 0x00 } },
	{ .name = "c_function", .n_bytes = 0x40, .no_values = true },
};

struct layout_row {
	const char *name;
	uint16_t machine;
	uint32_t magic;
	uint64_t text;
	enum gopclntab_version version;
};

static struct layout_row layout_rows[] = {
	{ "1.16", EM_X86_64, GO_1_16, 0, GOPCLNTAB_1_16 },
	{ "1.18", EM_X86_64, GO_1_18, GO_TEXT_VADDR, GOPCLNTAB_1_18 },
	{ "1.20", EM_X86_64, GO_1_20, GO_TEXT_VADDR, GOPCLNTAB_1_20 },
	{ "1.26", EM_X86_64, GO_1_20, 0, GOPCLNTAB_1_20 },
	{ "1.18, text relocated elsewhere", EM_X86_64, GO_1_18, 0, GOPCLNTAB_1_18 },
	{ "1.26 on AArch64", EM_AARCH64, GO_1_20, 0, GOPCLNTAB_1_20 },
};

static void open_image(const struct go_image *image, struct elf **ret_elf)
{
	assert_int_equal(elf_new(bytes_from_memory(image->bytes, sizeof(image->bytes)), ret_elf),
			 0);
}

static void check_name(struct gopclntab *table, uint64_t vaddr, const char *want)
{
	_cleanup_buf_ struct buf name = BUF_INIT(4096);
	struct gopclntab_func func;
	uint32_t index;

	assert_int_equal(gopclntab_find(table, vaddr, &index), 0);
	assert_int_equal(gopclntab_func(table, index, &func), 0);
	assert_true(vaddr >= func.begin && vaddr < func.end);
	assert_int_equal(gopclntab_name(table, &func, &name), 0);
	assert_string_equal(buf_str(&name), want);
}

static void reads_layout(void **state)
{
	const struct layout_row *row = *state;
	struct go_image image;
	struct gopclntab *table = NULL;
	struct gopclntab_func func;
	struct elf *elf = NULL;
	uint32_t index;

	go_image_make(&image, row->machine, row->magic, row->text, funcs, ARRAY_SIZE(funcs));
	open_image(&image, &elf);
	assert_int_equal(gopclntab_new(elf, &table), 0);
	assert_int_equal(gopclntab_version(table), row->version);
	assert_int_equal(gopclntab_vaddr(table), GO_TABLE_VADDR);
	assert_int_equal(gopclntab_n_funcs(table), ARRAY_SIZE(funcs));
	assert_int_equal(gopclntab_func(table, 0, &func), 0);
	assert_int_equal(func.begin, GO_TEXT_VADDR);
	assert_int_equal(func.end, GO_TEXT_VADDR + 0x200);
	assert_int_equal(func.flags, GOPCLNTAB_ASSEMBLY);
	assert_int_equal(gopclntab_func(table, 2, &func), 0);
	assert_int_equal(func.pcsp, 0);
	assert_int_equal(gopclntab_func(table, 3, &func), GOPCLNTAB_NONE);
	check_name(table, GO_TEXT_VADDR, "main.first");
	check_name(table, GO_TEXT_VADDR + 0x1ff, "main.first");
	check_name(table, GO_TEXT_VADDR + 0x200, "main.second");
	check_name(table, GO_TEXT_VADDR + 0x27f, "c_function");
	assert_int_equal(gopclntab_find(table, GO_TEXT_VADDR - 1, &index), GOPCLNTAB_NONE);
	assert_int_equal(gopclntab_find(table, GO_TEXT_VADDR + 0x280, &index), GOPCLNTAB_NONE);
	gopclntab_free(table);
	elf_free(elf);
}

static void reads_values(void **state)
{
	static const struct gopclntab_range want[] = {
		{ GO_TEXT_VADDR, GO_TEXT_VADDR + 1, 0 },
		{ GO_TEXT_VADDR + 1, GO_TEXT_VADDR + 4, 8 },
		{ GO_TEXT_VADDR + 4, GO_TEXT_VADDR + 304, 520 },
		{ GO_TEXT_VADDR + 304, GO_TEXT_VADDR + 320, 520 - 520 },
	};
	struct go_image image;
	struct gopclntab *table = NULL;
	struct gopclntab_func func;
	struct gopclntab_values values;
	struct gopclntab_range range;
	struct elf *elf = NULL;

	(void)state;
	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, funcs, ARRAY_SIZE(funcs));
	open_image(&image, &elf);
	assert_int_equal(gopclntab_new(elf, &table), 0);
	assert_int_equal(gopclntab_func(table, 0, &func), 0);
	gopclntab_values_init(table, &func, func.pcsp, &values);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(gopclntab_values_next(table, &values, &range), 0);
		assert_int_equal(range.begin, want[i].begin);
		assert_int_equal(range.end, want[i].end);
		assert_int_equal(range.value, want[i].value);
	}
	assert_int_equal(gopclntab_values_next(table, &values, &range), GOPCLNTAB_NONE);
	gopclntab_free(table);
	elf_free(elf);
}

/* One word of a good table replaced. */
struct damage_row {
	const char *name;
	uint64_t off;
	uint64_t value;
	size_t n;
};

static struct damage_row damage_rows[] = {
	{ "magic", GO_TABLE_OFF, 0xfffffff2, 4 },
	{ "magic of Go 1.2", GO_TABLE_OFF, 0xfffffffb, 4 },
	{ "zeros", GO_TABLE_OFF + 4, 1, 1 },
	{ "instruction size", GO_TABLE_OFF + 6, 4, 1 },
	{ "pointer size", GO_TABLE_OFF + 7, 4, 1 },
	{ "no function", GO_TABLE_OFF + 8, 0, 8 },
	{ "more functions than the ceiling", GO_TABLE_OFF + 8, GOPCLNTAB_MAX_FUNCS + 1, 8 },
	{ "more functions than room", GO_TABLE_OFF + 8, 0x1000 / 8, 8 },
	{ "names in the header", GO_TABLE_OFF + 32, 8, 8 },
	{ "parts out of order", GO_TABLE_OFF + 56, 0x7f, 8 },
	{ "functab behind the end", GO_TABLE_OFF + 64, 0x2000, 8 },
	{ "functab at the end of numbers", GO_TABLE_OFF + 64, UINT64_MAX - 4, 8 },
	{ "first record says another entry", GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORDS_AT, 8, 4 },
	{ "first record outside", GO_TABLE_OFF + GO_FUNCS_AT + 4, 0xfffffff0, 4 },
	{ "end before the begin", GO_TABLE_OFF + GO_FUNCS_AT + 24, 0, 4 },
	{ "end behind the text", GO_TABLE_OFF + GO_FUNCS_AT + 24, 0x2000, 4 },
	{ "text elsewhere", GO_TABLE_OFF + 24, 0x700000, 8 },
	{ "text at the end of numbers", GO_TABLE_OFF + 24, UINT64_MAX - 8, 8 },
};

static void refuses_damaged(void **state)
{
	const struct damage_row *row = *state;
	struct go_image image;
	struct gopclntab *table = NULL;
	struct elf *elf = NULL;

	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, funcs, ARRAY_SIZE(funcs));
	go_put(&image, row->off, row->value, row->n);
	open_image(&image, &elf);
	assert_int_equal(gopclntab_new(elf, &table), GOPCLNTAB_NONE);
	assert_null(table);
	elf_free(elf);
}

static void needs_moduledata(void **state)
{
	struct go_image image;
	struct gopclntab *table = NULL;
	struct elf *elf = NULL;

	(void)state;
	/* Words that only look like one: the functions are elsewhere. */
	go_image_make(&image, EM_X86_64, GO_1_20, 0, funcs, ARRAY_SIZE(funcs));
	go_put(&image, GO_MODULE_OFF + 160, GO_TEXT_VADDR + 16, 8);
	open_image(&image, &elf);
	assert_int_equal(gopclntab_new(elf, &table), GOPCLNTAB_NONE);
	elf_free(elf);
}

#define MODULE_AT 0x400 /* in the last segment, which begins at 0x3000 */
#define RELA_AT 0x800
#define DYNAMIC_AT 0xe00

/* A moduledata whose words are in relocations only, behind words that look like the begin of one. */
static void put_relocated_module(struct go_image *image, size_t n_decoys)
{
	const uint64_t text_end = GO_TEXT_VADDR + 0x280;
	const uint64_t words[][2] = { { 160, GO_TEXT_VADDR },
				      { 168, text_end },
				      { 176, GO_TEXT_VADDR } };
	const uint64_t dynamic[] = { DT_RELA,	0x403000 + RELA_AT,
				     DT_RELASZ, ARRAY_SIZE(words) * sizeof(Elf64_Rela),
				     DT_NULL,	0 };
	Elf64_Phdr *phdr = (Elf64_Phdr *)(image->bytes + sizeof(Elf64_Ehdr)) + 3;

	memset(image->bytes + 0x3000, 0, 0x1000);
	for (size_t i = 0; i < n_decoys; i++)
		go_put(image, 0x3010 + i * 8, GO_TABLE_VADDR, 8);
	go_put(image, 0x3000 + MODULE_AT, GO_TABLE_VADDR, 8);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const Elf64_Rela rela = { 0x403000 + MODULE_AT + words[i][0], R_X86_64_RELATIVE,
					  (int64_t)words[i][1] };

		memcpy(image->bytes + 0x3000 + RELA_AT + i * sizeof(rela), &rela, sizeof(rela));
	}
	memcpy(image->bytes + 0x3000 + DYNAMIC_AT, dynamic, sizeof(dynamic));
	go_put_segment(image, 3, PF_R | PF_W, 0x3000 + DYNAMIC_AT, 0x403000 + DYNAMIC_AT);
	phdr->p_type = PT_DYNAMIC;
	phdr->p_filesz = phdr->p_memsz = sizeof(dynamic);
	((Elf64_Ehdr *)image->bytes)->e_phnum = 4;
}

/* Looking through all relocations takes its time, so that it is done a few times only. */
static void ceiling_of_rounds(void **state)
{
	static const struct {
		size_t n_decoys;
		int result;
	} rows[] = { { 0, 0 }, { 3, 0 }, { 4, GOPCLNTAB_NONE } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct go_image image;
		struct gopclntab *table = NULL;
		struct elf *elf = NULL;

		go_image_make(&image, EM_X86_64, GO_1_20, 0, funcs, ARRAY_SIZE(funcs));
		put_relocated_module(&image, rows[i].n_decoys);
		open_image(&image, &elf);
		assert_int_equal(gopclntab_new(elf, &table), rows[i].result);
		if (table)
			check_name(table, GO_TEXT_VADDR, "main.first");
		gopclntab_free(table);
		elf_free(elf);
	}
}

static void name_leaves_nothing_behind(void **state)
{
	_cleanup_buf_ struct buf name = BUF_INIT(8);
	struct go_image image;
	struct gopclntab *table = NULL;
	struct gopclntab_func func;
	struct elf *elf = NULL;

	(void)state;
	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, funcs, ARRAY_SIZE(funcs));
	open_image(&image, &elf);
	assert_int_equal(gopclntab_new(elf, &table), 0);
	assert_int_equal(gopclntab_func(table, 0, &func), 0);
	assert_int_equal(gopclntab_name(table, &func, &name), -ENOBUFS);
	assert_string_equal(buf_str(&name), "");
	func.name_off = 0xffffff00;
	assert_int_equal(gopclntab_name(table, &func, &name), GOPCLNTAB_NONE);
	gopclntab_free(table);
	elf_free(elf);
}

struct build_row {
	const char *name;
	const char *options;
	const char *change; /* of the program, after its symbols were listed */
	bool cgo;
};

/* Without section headers: their place and number in the ELF header are zeroed. */
#define NO_SECTIONS                                                                       \
	"printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=program bs=1 seek=40 conv=notrunc && " \
	"printf '\\0\\0\\0\\0' | dd of=program bs=1 seek=60 conv=notrunc"

static struct build_row build_rows[] = {
	{ "plain", "", "true", false },
	{ "stripped", "", "strip program", false },
	{ "position independent", "-buildmode=pie", "true", false },
	{ "without section headers", "", "strip program && " NO_SECTIONS, false },
	{ "position independent without section headers", "-buildmode=pie",
	  "strip program && " NO_SECTIONS, false },
	{ "with C", "", "true", true },
	{ "with C, position independent, stripped", "-buildmode=pie", "strip program", true },
};

/* Go functions of nm are found by their addresses. */
static size_t compare_with_nm(struct gopclntab *table, const struct fixture_dir *dir)
{
	char path[FIXTURE_PATH_BYTES], line[8192];
	size_t n = 0;
	FILE *f = fopen(fixture_path(dir, "symbols", path), "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t vaddr = strtoull(line, &end, 16);

		line[strcspn(line, "\n")] = '\0';
		if (strlen(end) < 4 || strncmp(end + 3, "main.", 5) != 0 || strchr(end, '['))
			continue;
		char *abi = strstr(end, ".abi");
		if (abi)
			*abi = '\0';
		check_name(table, vaddr, end + 3);
		n++;
	}
	(void)fclose(f);
	return n;
}

static void built(void **state)
{
	const struct build_row *row = *state;
	struct gopclntab *table = NULL;
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_dir_init(&dir));
	if (!go_build(&dir, row->cgo ? go_cgo_program : go_program, row->options) ||
	    !fixture_run(&dir, "nm program | grep -E ' [tT] ' > symbols") ||
	    !fixture_run(&dir, row->change)) {
		fixture_dir_fini(&dir);
		printf("skip: no go, or it cannot build this\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "program", path), &file), 0);
	assert_int_equal(gopclntab_new(file.elf, &table), 0);
	assert_true(gopclntab_n_funcs(table) > 1000);
	assert_true(compare_with_nm(table, &dir) >= 2);
	gopclntab_free(table);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void not_go(void **state)
{
	struct gopclntab *table = NULL;
	struct fixture_elf file;

	(void)state;
	assert_int_equal(fixture_elf_open("/proc/self/exe", &file), 0);
	assert_int_equal(gopclntab_new(file.elf, &table), GOPCLNTAB_NONE);
	fixture_elf_close(&file);
}

static const struct unit_test tests[] = {
	TEST_ROWS(reads_layout, layout_rows, name),
	TEST_ROWS(refuses_damaged, damage_rows, name),
	TEST_ROWS(built, build_rows, name),
	TEST(reads_values),
	TEST(needs_moduledata),
	TEST(ceiling_of_rounds),
	TEST(name_leaves_nothing_behind),
	TEST(not_go),
};

TEST_MAIN(tests)
