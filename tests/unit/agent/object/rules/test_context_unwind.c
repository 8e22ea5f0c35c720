/* SPDX-License-Identifier: Apache-2.0 */
/* The code that coroutines return to: known by its bytes, found by makecontext, and trusted more than its call frame information. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/object/rules/context_unwind.h"
#include "agent/object/rules/unwind_info.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

struct code_row {
	const char *name;
	const char *code;
	size_t n;
	bool is_end;
};

#define CODE(name, code, is_end)                     \
	{                                            \
		name, code, sizeof(code) - 1, is_end \
	}

#define ENDBR "\xf3\x0f\x1e\xfa"
#define MOV_RSP "\x48\x89\xdc"
#define MOV_RSP_OTHER "\x48\x8b\xe3"
#define LOAD "\x48\x8b\x3c\x24"
#define POP "\x5f"
#define TEST_RDI "\x48\x85\xff"
#define JE "\x74\x08"
#define REST "\xe8\x00\x10\x00\x00\x48\x89\xc7\xe8\x00\x20\x00\x00\xf4"

static struct code_row code_rows[] = {
	CODE("glibc", MOV_RSP LOAD TEST_RDI JE REST, true),
	CODE("with control flow enforcement", ENDBR MOV_RSP LOAD TEST_RDI JE REST, true),
	CODE("older, by a pop", MOV_RSP POP TEST_RDI JE REST, true),
	CODE("the other encoding", MOV_RSP_OTHER LOAD TEST_RDI JE REST, true),
	/* mov %rax, %rsp */
	CODE("another register", "\x48\x89\xc4" LOAD TEST_RDI JE REST, false),
	CODE("without the test", MOV_RSP LOAD JE REST, false),
	CODE("without the branch", MOV_RSP LOAD TEST_RDI REST, false),
	CODE("a return before the test", MOV_RSP "\xc3" LOAD TEST_RDI JE REST, false),
	CODE("cut in the test", MOV_RSP LOAD "\x48\x85", false),
	CODE("cut in the branch", MOV_RSP LOAD TEST_RDI "\x74", false),
	CODE("nothing", "", false),
};

static void knows_the_bytes(void **state)
{
	const struct code_row *row = *state;
	uint8_t *code = malloc(row->n + 1);

	assert_non_null(code);
	memcpy(code, row->code, row->n);
	assert_int_equal(context_unwind_is_end(code, row->n), row->is_end);
	free(code);
}

/* As glibc has it: an FDE that says nothing. An address before it that is data, and one that is other code. */
#define SOURCE(take)                                                                            \
	".text\n.globl makecontext\n.type makecontext, @function\n"                             \
	"makecontext: lea data(%rip), %rsi\n lea other(%rip), %rsi\n " take " ret\n"            \
	".size makecontext, . - makecontext\n"                                                  \
	"other: ret\n .balign 16\n"                                                             \
	".globl after, before\n.hidden start\n.globl start\n"                                   \
	"before: .cfi_startproc\n nop\n ret\n .cfi_endproc\n .balign 16\n"                      \
	"start: .cfi_startproc\n mov %rbx, %rsp\n mov (%rsp), %rdi\n test %rdi, %rdi\n je 1f\n" \
	" call other\n mov %rax, %rdi\n1: call other\n hlt\n .cfi_endproc\n .balign 16\n"       \
	"after: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"                                    \
	".globl _start\n_start: hlt\n.section .rodata\ndata: .long 0\n"

struct program_row {
	const char *name;
	const char *source;
	const char *build; /* p of p.s; q has the symbols */
	bool found;
};

static struct program_row program_rows[] = {
	{ "library", SOURCE("lea start(%rip), %rdi\n"),
	  "gcc -nostdlib -shared -Wl,--eh-frame-hdr -o q p.s && cp q p", true },
	{ "stripped library", SOURCE("lea start(%rip), %rdi\n"),
	  "gcc -nostdlib -shared -Wl,--eh-frame-hdr -o q p.s && strip -o p q", true },
	{ "static program", SOURCE("mov $start, %edi\n"),
	  "gcc -nostdlib -static -Wl,--eh-frame-hdr -o q p.s && cp q p", true },
	{ "static program that stores it", SOURCE("movq $start, (%rdi)\n"),
	  "gcc -nostdlib -static -Wl,--eh-frame-hdr -o q p.s && cp q p", true },
	/* Nothing tells what its code is. */
	{ "stripped static program", SOURCE("lea start(%rip), %rdi\n"),
	  "gcc -nostdlib -static -Wl,--eh-frame-hdr -o q p.s && strip -o p q", false },
	{ "library whose makecontext takes nothing", SOURCE(""),
	  "gcc -nostdlib -shared -Wl,--eh-frame-hdr -o q p.s && cp q p", false },
};

static uint64_t address_of(const struct fixture_dir *dir, const char *symbol)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "nm q | awk '$3 == \"%s\" { print $1 }'", symbol);
	return fixture_hex(dir, command);
}

static uint8_t ra_at(struct unwind_info *info, uint64_t vaddr)
{
	struct unwind_rule rule;

	assert_int_equal(unwind_info_rule_at(info, vaddr, &rule), 0);
	assert_int_not_equal(rule.cfa, RULE_CFA_NONE);
	return rule.ra;
}

static bool build(const struct fixture_dir *dir, const struct program_row *row)
{
	return fixture_write(dir, "p.s", row->source) && fixture_run(dir, row->build);
}

static void finds_the_end(void **state)
{
	const struct program_row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	struct unwind_info *info = NULL;

	assert_true(fixture_dir_init(&dir));
	if (!build(&dir, row)) {
		print_message("no gcc for x86-64\n");
		fixture_dir_fini(&dir);
		skip();
	}
	uint64_t start = address_of(&dir, "start");
	assert_int_not_equal(start, 0);
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
	assert_int_equal(unwind_info_new(file.elf, NULL, &info), 0);
	for (uint64_t at = 0; at < 26; at++)
		assert_int_equal(ra_at(info, start + at),
				 row->found ? RULE_RA_UNDEFINED : RULE_RA_CFA);
	assert_int_equal(ra_at(info, address_of(&dir, "before")), RULE_RA_CFA);
	assert_int_equal(ra_at(info, address_of(&dir, "after")), RULE_RA_CFA);
	unwind_info_free(info);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

/* Rows for the kernel half are what single look-ups say. */
static void tells_rows(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	struct unwind_source *source = NULL;
	struct unwind_spans spans = { .max_bytes = 4096 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_rule rule;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	if (!build(&dir, &program_rows[0])) {
		print_message("no gcc for x86-64\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
	assert_int_equal(context_unwind_new(file.elf, &source), 0);
	assert_int_equal(source->spans(source, &spans, &stats), 0);
	assert_int_equal(spans.n, 1);
	assert_int_equal(spans.items[0].begin, address_of(&dir, "start"));
	assert_int_equal(spans.items[0].n_bytes, 26);
	assert_int_equal(source->rule_at(source, spans.items[0].begin - 1, &rule),
			 UNWIND_SOURCE_NONE);
	assert_int_equal(source->rule_at(source, spans.items[0].begin + 26, &rule),
			 UNWIND_SOURCE_NONE);
	unwind_spans_fini(&spans);
	source->free(source);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const char many_source[] =
	".text\n.macro f n\n.globl function_\\n\n.type function_\\n, @function\n"
	"function_\\n: ret\n.size function_\\n, . - function_\\n\n.endm\n"
	".altmacro\n.set i, 0\n.rept 300\n f %i\n.set i, i + 1\n.endr\n"
	".globl __function_7\n__function_7: nop\n";

/* By the hash table and by the table of all symbols: each name its own value. */
static void finds_symbols(void **state)
{
	static const char *const builds[] = { "gcc -nostdlib -shared -o q p.s && cp q p",
					      "gcc -nostdlib -static -Wl,-e0 -o q p.s && cp q p" };
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	struct symbol symbol;
	char name[32];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	for (size_t b = 0; b < ARRAY_SIZE(builds); b++) {
		if (!fixture_write(&dir, "p.s", many_source) || !fixture_run(&dir, builds[b])) {
			print_message("no gcc for x86-64\n");
			fixture_dir_fini(&dir);
			skip();
		}
		assert_int_equal(fixture_elf_open(fixture_path(&dir, "p", path), &file), 0);
		assert_true(elf_load_sections(file.elf) >= 0);
		uint64_t first = address_of(&dir, "function_0");
		for (unsigned int i = 0; i < 300; i++) {
			(void)snprintf(name, sizeof(name), "function_%u", i);
			assert_true(symbol_by_name(file.elf, name, &symbol));
			assert_int_equal(symbol.value, first + i);
			assert_int_equal(symbol.size_bytes, 1);
		}
		assert_false(symbol_by_name(file.elf, "function_300", &symbol));
		assert_false(symbol_by_name(file.elf, "function_", &symbol));
		fixture_elf_close(&file);
	}
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(knows_the_bytes, code_rows, name),
	TEST_ROWS(finds_the_end, program_rows, name),
	TEST(tells_rows),
	TEST(finds_symbols),
};

TEST_MAIN(tests)
