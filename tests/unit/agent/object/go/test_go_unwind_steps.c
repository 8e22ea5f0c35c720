/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rules of Go programs while they run: stepped through instruction by instruction, rules compared with what calls left behind. */
#include <errno.h>
#include <stdio.h>

#include "agent/object/go/go_unwind.h"
#include "agent/object/go/gopclntab.h"
#include "tests/support/step_oracle.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_fixture.h"

struct subject {
	struct unwind_source *source;
	struct gopclntab *table;
	struct buf name;
};

static int subject_rule_at(void *data, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct subject *s = data;

	return s->source->rule_at(s->source, vaddr, ret_rule);
}

static bool subject_func(struct subject *s, uint64_t vaddr, struct gopclntab_func *func)
{
	uint32_t index;

	return gopclntab_find(s->table, vaddr, &index) == 0 &&
	       gopclntab_func(s->table, index, func) == 0;
}

static uint64_t subject_function_of(void *data, uint64_t vaddr)
{
	struct gopclntab_func func;

	return subject_func(data, vaddr, &func) && func.pcsp ? func.begin : 0;
}

static const char *subject_name_of(void *data, uint64_t vaddr)
{
	struct subject *s = data;
	struct gopclntab_func func;

	buf_reset(&s->name);
	if (subject_func(s, vaddr, &func))
		(void)gopclntab_name(s->table, &func, &s->name);
	return buf_str(&s->name);
}

struct step_row {
	const char *name;
	const char *options;
	bool cgo;
};

/* Of some 500,000: the start of the runtime, and calls of C code and back. */
#define STEPS 120000

static struct step_row step_rows[] = {
	{ "stepped through, plain", "-ldflags='-s -w'", false },
	/* Static, or most steps would be the dynamic linker's. */
	{ "stepped through, with C", "-ldflags='-linkmode=external -extldflags=-static'", true },
};

static void stepped(void **state)
{
	const struct step_row *row = *state;
	struct subject s = { .name = BUF_INIT(GOPCLNTAB_MAX_NAME_BYTES) };
	char path[FIXTURE_PATH_BYTES];
	char *argv[] = { path, NULL };
	struct step_oracle oracle = { .argv = argv,
				      .max_steps = STEPS,
				      .max_printed = 20,
				      .data = &s,
				      .rule_at = subject_rule_at,
				      .function_of = subject_function_of,
				      .name_of = subject_name_of,
				      .base_vaddr = 0x400000 };
	struct step_report report;
	struct fixture_dir dir;
	struct fixture_elf file;

	assert_true(fixture_dir_init(&dir));
	if (!go_build(&dir, row->cgo ? go_cgo_program : go_program, row->options)) {
		fixture_dir_fini(&dir);
		printf("skip: no go, or it cannot build this\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "program", path), &file), 0);
	assert_int_equal(go_unwind_new(file.elf, &s.source), 0);
	assert_int_equal(gopclntab_new(file.elf, &s.table), 0);
	int r = step_oracle_run(&oracle, &report);
	s.source->free(s.source);
	gopclntab_free(s.table);
	buf_fini(&s.name);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
	if (r == -EPERM || r == -ENOSYS) {
		printf("skip: no ptrace here\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(report.n_checked > 20000);
	assert_true(report.n_pcs > 2000);
	assert_true(report.n_switched > 0);
	assert_int_equal(report.n_wrong_cfa, 0);
	assert_int_equal(report.n_wrong_ra, 0);
	assert_int_equal(report.n_wrong_fp, 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(stepped, step_rows, name),
};

TEST_MAIN(tests)
