/* SPDX-License-Identifier: Apache-2.0 */
/* Go's functions taken out of gaps: a hand-made table, and a program linked by the system's linker. */
#include "agent/object/nocfi/nocfi_go.h"
#include "agent/object/nocfi/nocfi_unwind.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_fixture.h"

#define SECTIONS_OFF 0x3800
#define NAMES_OFF 0x3a00
#define CODE_BYTES 0x20

/* One depth for all of the function. */
#define ALL_OF_IT                   \
	{                           \
		0x02, CODE_BYTES, 0 \
	}

static const struct go_func funcs[] = {
	{ "main.a", "c3", CODE_BYTES, 0, ALL_OF_IT, false },
	{ "main.b", "c3", CODE_BYTES, 0, ALL_OF_IT, false },
	{ "work", "c3", CODE_BYTES, 0, { 0 }, true },
	{ "main.c", "c3", CODE_BYTES, 0, ALL_OF_IT, false },
};

static void put_section(struct go_image *image, int i, uint32_t name, uint32_t type, uint64_t off,
			uint64_t n_bytes)
{
	const Elf64_Shdr shdr = {
		.sh_name = name, .sh_type = type, .sh_offset = off, .sh_size = n_bytes
	};

	memcpy(image->bytes + SECTIONS_OFF + (size_t)i * sizeof(shdr), &shdr, sizeof(shdr));
}

/* One section of that name, over the table. */
static void put_sections(struct go_image *image, const char *name)
{
	Elf64_Ehdr ehdr;

	memcpy(&ehdr, image->bytes, sizeof(ehdr));
	ehdr.e_shoff = SECTIONS_OFF;
	ehdr.e_shentsize = sizeof(Elf64_Shdr);
	ehdr.e_shnum = 3;
	ehdr.e_shstrndx = 2;
	memcpy(image->bytes, &ehdr, sizeof(ehdr));
	memcpy(image->bytes + NAMES_OFF + 1, name, strlen(name) + 1);
	put_section(image, 0, 0, SHT_NULL, 0, 0);
	put_section(image, 1, 1, SHT_PROGBITS, GO_TABLE_OFF, 0x1000);
	put_section(image, 2, 0, SHT_STRTAB, NAMES_OFF, 0x40);
}

struct made_row {
	const char *name;
	const char *section; /* NULL: no section table */
	bool is_all;
	bool is_cut;
};

static struct made_row made_rows[] = {
	{ "table among other data", ".go.buildinfo", false, true },
	{ "nothing says that it is Go's", ".data.rel.ro", false, false },
	{ "table in its section", ".gopclntab", true, true },
	{ "table in its section, of a PIE", ".data.rel.ro.gopclntab", true, true },
	{ "no sections", NULL, false, false },
};

static void check_cut(const struct nocfi_ranges *gaps)
{
	assert_int_equal(gaps->n, 3);
	/* In front of all, the C function, behind all. */
	assert_int_equal(gaps->items[0].end, GO_TEXT_VADDR);
	assert_int_equal(gaps->items[1].begin, GO_TEXT_VADDR + 2 * CODE_BYTES);
	assert_int_equal(gaps->items[1].end, GO_TEXT_VADDR + 3 * CODE_BYTES);
	assert_int_equal(gaps->items[2].begin, GO_TEXT_VADDR + 4 * CODE_BYTES);
}

static void made_table(void **state)
{
	const struct made_row *row = *state;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct nocfi_ranges gaps = { 0 };
	struct go_image image;

	go_image_make(&image, EM_X86_64, GO_1_20, GO_TEXT_VADDR, funcs, ARRAY_SIZE(funcs));
	if (row->section)
		put_sections(&image, row->section);
	assert_int_equal(elf_new(bytes_from_memory(image.bytes, sizeof(image.bytes)), &elf), 0);
	assert_true(elf_load_sections(elf) >= 0);
	assert_int_equal(nocfi_go_is_all(elf), row->is_all);
	assert_int_equal(
		nocfi_ranges_add(&gaps, GO_TEXT_VADDR - 0x10, GO_TEXT_VADDR + 5 * CODE_BYTES), 0);
	assert_int_equal(nocfi_go_cut(elf, &gaps), 0);
	if (row->is_cut)
		check_cut(&gaps);
	else
		assert_int_equal(gaps.n, 1);
	nocfi_ranges_fini(&gaps);
}

/* C code that nothing covers, beside Go's. */
static const char program_text[] =
	"package main\n"
	"/*\n#cgo CFLAGS: -fno-asynchronous-unwind-tables -fno-exceptions\n"
	"int back(int);\n"
	"static int work(int n) { volatile int s = 0; for (int i = 0; i < 10; i++) s += back(n + "
	"i); "
	"return s; }\n*/\n"
	"import \"C\"\nimport \"fmt\"\n"
	"//export back\nfunc back(n C.int) C.int { return n * 2 }\n"
	"func main() { fmt.Println(C.work(4)) }\n";

/* The linkers of some versions make the table a section of its own: another name, and it is one among others. */
#define RENAME "objcopy --rename-section .gopclntab=.rodata.rest program && nm program > symbols"

static uint64_t address_of(const struct fixture_dir *dir, const char *pattern)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "awk '$3 ~ /^%s$/ { print $1 }' symbols", pattern);
	return fixture_hex(dir, command);
}

static void check_gaps(struct elf *elf, uint64_t of_go, uint64_t of_c)
{
	struct nocfi_ranges gaps = { 0 };

	assert_true(elf_load_sections(elf) >= 0);
	assert_false(nocfi_go_is_all(elf));
	assert_int_equal(nocfi_gaps_find(elf, &gaps), 0);
	assert_non_null(nocfi_ranges_at(&gaps, of_go));
	assert_non_null(nocfi_ranges_at(&gaps, of_c));
	assert_int_equal(nocfi_go_cut(elf, &gaps), 0);
	assert_null(nocfi_ranges_at(&gaps, of_go));
	assert_non_null(nocfi_ranges_at(&gaps, of_c));
	nocfi_ranges_fini(&gaps);
}

static void check_rules(struct elf *elf, uint64_t of_go, uint64_t of_c)
{
	struct unwind_source *source = NULL;
	struct unwind_rule rule;

	assert_int_equal(nocfi_unwind_new(elf, &source), 0);
	assert_int_equal(source->rule_at(source, of_go, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(source->rule_at(source, of_c, &rule), 0);
	assert_int_equal(rule.cfa, RULE_CFA_REG);
	assert_int_equal(rule.cfa_reg, RULE_X86_RSP);
	assert_int_equal(rule.cfa_off, 8);
	source->free(source);
}

static void linked_by_the_system(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	if (!go_build(&dir, program_text, "-buildmode=pie -ldflags=-linkmode=external") ||
	    !fixture_run(&dir, RENAME)) {
		print_message("no Go compiler, no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	uint64_t of_go = address_of(&dir, "main[.]main");
	uint64_t of_c = address_of(&dir, "_cgo_[0-9a-f]*_Cfunc_work");
	assert_int_not_equal(of_go, 0);
	assert_int_not_equal(of_c, 0);
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "program", path), &file), 0);
	if (elf_machine(file.elf) == EM_X86_64) {
		check_gaps(file.elf, of_go, of_c);
		check_rules(file.elf, of_go, of_c);
	} else {
		print_message("another machine's compiler\n");
	}
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(made_table, made_rows, name),
	TEST(linked_by_the_system),
};

TEST_MAIN(tests)
