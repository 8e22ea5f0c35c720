/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of expressions. */
#include <elf.h>
#include <stdlib.h>

#include "agent/object/cfi/cfi_expression.h"
#include "tests/support/unit.h"

#define CODE(...) .code = { __VA_ARGS__ }, .n = sizeof((uint8_t[]){ __VA_ARGS__ })
#define PLT(literal) 0x77, 8, 0x80, 0, 0x3f, 0x1a, literal, 0x2a, 0x33, 0x24, 0x22

struct expression_row {
	const char *name;
	uint8_t code[24];
	size_t n;
	enum cfi_expression_shape shape;
	uint64_t reg;
	int64_t off;
	int32_t add;
};

static struct expression_row expression_rows[] = {
	{ .name = "empty" },
	{ .name = "breg6 16", CODE(0x76, 16), .shape = CFI_EXPRESSION_REG, .reg = 6, .off = 16 },
	{ .name = "breg31 −128",
	  CODE(0x8f, 0x80, 0x7f),
	  .shape = CFI_EXPRESSION_REG,
	  .reg = 31,
	  .off = -128 },
	{ .name = "bregx 10 8",
	  CODE(0x92, 10, 8),
	  .shape = CFI_EXPRESSION_REG,
	  .reg = 10,
	  .off = 8 },
	{ .name = "breg7 8, plus_uconst 8",
	  CODE(0x77, 8, 0x23, 8),
	  .shape = CFI_EXPRESSION_REG,
	  .reg = 7,
	  .off = 16 },
	{ .name = "two plus_uconst",
	  CODE(0x77, 0x78, 0x23, 8, 0x23, 4),
	  .shape = CFI_EXPRESSION_REG,
	  .reg = 7,
	  .off = 4 },
	{ .name = "breg6 −8, deref",
	  CODE(0x76, 0x78, 0x06),
	  .shape = CFI_EXPRESSION_DEREF,
	  .reg = 6,
	  .off = -8 },
	{ .name = "breg7 0, plus_uconst 160, deref",
	  CODE(0x77, 0, 0x23, 0xa0, 1, 0x06),
	  .shape = CFI_EXPRESSION_DEREF,
	  .reg = 7,
	  .off = 160 },
	{ .name = "deref, plus_uconst",
	  CODE(0x77, 40, 0x06, 0x23, 8),
	  .shape = CFI_EXPRESSION_DEREF,
	  .reg = 7,
	  .off = 40,
	  .add = 8 },
	{ .name = "deref, plus_uconst beyond 2^31",
	  CODE(0x77, 40, 0x06, 0x23, 0xff, 0xff, 0xff, 0xff, 0x0f) },
	{ .name = "deref, plus_uconst, more", CODE(0x77, 40, 0x06, 0x23, 8, 0x06) },
	{ .name = "deref, truncated plus_uconst", CODE(0x77, 40, 0x06, 0x23) },
	{ .name = "deref twice", CODE(0x77, 40, 0x06, 0x06) },
	{ .name = "deref alone", CODE(0x06) },
	{ .name = "two registers", CODE(0x77, 0, 0x76, 0) },
	{ .name = "plus_uconst beyond 2^63",
	  CODE(0x77, 0, 0x23, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1) },
	{ .name = "sum beyond 2^63",
	  CODE(0x77, 1, 0x23, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f) },
	{ .name = "truncated offset", CODE(0x77, 0x80) },
	{ .name = "no offset", CODE(0x77) },
	{ .name = "truncated register", CODE(0x92, 0x80) },
	{ .name = "PLT 11", CODE(PLT(0x3b)), .shape = CFI_EXPRESSION_PLT, .reg = 7, .off = 11 },
	{ .name = "PLT 10", CODE(PLT(0x3a)), .shape = CFI_EXPRESSION_PLT, .reg = 7, .off = 10 },
	{ .name = "PLT 9", CODE(PLT(0x39)), .shape = CFI_EXPRESSION_PLT, .reg = 7, .off = 9 },
	{ .name = "PLT with another literal", CODE(PLT(0x50)) },
	{ .name = "PLT of rbp", CODE(0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22) },
	{ .name = "PLT from rsp + 16",
	  CODE(0x77, 16, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22) },
	{ .name = "PLT with a shift by 4",
	  CODE(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24, 0x22) },
	{ .name = "PLT and more", CODE(PLT(0x3b), 0x06) },
	{ .name = "PLT cut", CODE(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24) },
};

static void classifies(void **state)
{
	const struct expression_row *row = *state;
	/* A block of its own, so that a read behind it is seen. */
	uint8_t *code = malloc(row->n + 1);
	struct cfi_cursor c = { .at = code + 1, .end = code + 1 + row->n };

	memcpy(code + 1, row->code, row->n);
	struct cfi_expression e = cfi_expression(dwarf_abi(EM_X86_64), c);
	free(code);
	assert_int_equal(e.shape, row->shape);
	if (row->shape == CFI_EXPRESSION_OTHER)
		return;
	assert_int_equal(e.reg, row->reg);
	assert_int_equal(e.off, row->off);
	assert_int_equal(e.add, row->add);
}

static const struct unit_test tests[] = {
	TEST_ROWS(classifies, expression_rows, name),
};

TEST_MAIN(tests)
