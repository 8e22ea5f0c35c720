/* SPDX-License-Identifier: Apache-2.0 */
/* Every call frame instruction, as rows of a function of 64 bytes. */
#include "tests/support/unit.h"
#include "tests/unit/agent/object/cfi/cfi_fixture.h"

#define BEGIN 0x2000
#define N_BYTES 64

#define BYTES(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

/* x86-64: CFA = rsp + off, RA at CFA − 8, frame pointer as it was; and with more. */
#define SP(off, ...)                                                                           \
	{                                                                                      \
		.cfa = RULE_CFA_REG, .cfa_reg = 7, .cfa_off = (off), .ra_off = -8, __VA_ARGS__ \
	}
#define CFA(reg, off, ...)                                                                         \
	{                                                                                          \
		.cfa = RULE_CFA_REG, .cfa_reg = (reg), .cfa_off = (off), .ra_off = -8, __VA_ARGS__ \
	}
#define DEREF(reg, off, ...)                                                             \
	{                                                                                \
		.cfa = RULE_CFA_DEREF, .cfa_reg = (reg), .cfa_off = (off), .ra_off = -8, \
		__VA_ARGS__                                                              \
	}
/* AArch64: CFA = sp + off, RA in x30. */
#define LINK(off, ...)                                                                   \
	{                                                                                \
		.cfa = RULE_CFA_REG, .cfa_reg = 31, .cfa_off = (off), .ra = RULE_RA_REG, \
		.ra_reg = 30, __VA_ARGS__                                                \
	}
#define ARM(reg, off, ...)                                                           \
	{                                                                            \
		.cfa = RULE_CFA_REG, .cfa_reg = (reg), .cfa_off = (off), __VA_ARGS__ \
	}
#define NONE                         \
	{                            \
		.cfa = RULE_CFA_NONE \
	}
#define FP_AT(off) .fp = RULE_FP_CFA, .fp_off = (off)

struct program_row {
	const char *name;
	uint8_t program[96];
	size_t n_program;
	struct {
		uint32_t off;
		struct unwind_rule rule;
	} rows[5];
	size_t n_rows;
	uint64_t n_bad_fdes;
	uint64_t n_unrepresentable;
	uint16_t machine; /* 0: x86-64 */
};

static struct program_row program_rows[] = {
	{ "no instructions", BYTES(0), { { 0, SP(8) } }, .n_rows = 1 },
	{ "nop", BYTES(0x00, 0x00), { { 0, SP(8) } }, .n_rows = 1 },
	{ "advance_loc, def_cfa_offset",
	  BYTES(0x44, 0x0e, 16),
	  { { 0, SP(8) }, { 4, SP(16) } },
	  .n_rows = 2 },
	{ "advance_loc by 0 makes no row",
	  BYTES(0x40, 0x0e, 16, 0x40, 0x0e, 24),
	  { { 0, SP(24) } },
	  .n_rows = 1 },
	{ "nor further on",
	  BYTES(0x44, 0x0e, 16, 0x40, 0x0e, 24, 0x02, 0, 0x0e, 32),
	  { { 0, SP(8) }, { 4, SP(32) } },
	  .n_rows = 2 },
	{ "advance_loc1",
	  BYTES(0x02, 33, 0x0e, 16),
	  { { 0, SP(8) }, { 33, SP(16) } },
	  .n_rows = 2 },
	{ "advance_loc1 by 0", BYTES(0x02, 0, 0x0e, 16), { { 0, SP(16) } }, .n_rows = 1 },
	{ "advance_loc2",
	  BYTES(0x03, 40, 0, 0x0e, 16),
	  { { 0, SP(8) }, { 40, SP(16) } },
	  .n_rows = 2 },
	{ "advance_loc4",
	  BYTES(0x04, 40, 0, 0, 0, 0x0e, 16),
	  { { 0, SP(8) }, { 40, SP(16) } },
	  .n_rows = 2 },
	{ "MIPS_advance_loc8",
	  BYTES(0x1d, 40, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16),
	  { { 0, SP(8) }, { 40, SP(16) } },
	  .n_rows = 2 },
	{ "set_loc",
	  BYTES(0x01, 0x10, 0x20, 0, 0, 0, 0, 0, 0, 0x0e, 16),
	  { { 0, SP(8) }, { 16, SP(16) } },
	  .n_rows = 2 },
	{ "set_loc to where it is",
	  BYTES(0x01, 0x00, 0x20, 0, 0, 0, 0, 0, 0, 0x0e, 16),
	  { { 0, SP(16) } },
	  .n_rows = 1 },
	{ "set_loc backwards is bad",
	  BYTES(0x44, 0x01, 0x01, 0x20, 0, 0, 0, 0, 0, 0, 0x0e, 16),
	  { { 0, SP(8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "behind the end there are no rows",
	  BYTES(0x02, 64, 0x0e, 16, 0x44, 0x0e, 24),
	  { { 0, SP(8) } },
	  .n_rows = 1 },
	{ "advance over the end of addresses is bad",
	  BYTES(0x44, 0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	  { { 0, SP(8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "push rbp; mov rbp, rsp; leave",
	  BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 40, 0x0c, 7, 8),
	  { { 0, SP(8) },
	    { 1, SP(16, FP_AT(-16)) },
	    { 4, CFA(6, 16, FP_AT(-16)) },
	    { 44, SP(8, FP_AT(-16)) } },
	  .n_rows = 4 },
	{ "other registers are read over",
	  BYTES(0x83, 3, 0x8c, 0x80, 1, 0x05, 15, 4, 0x0e, 32),
	  { { 0, SP(32) } },
	  .n_rows = 1 },
	{ "def_cfa", BYTES(0x0c, 10, 0), { { 0, CFA(10, 0) } }, .n_rows = 1 },
	{ "def_cfa of a register that is none",
	  BYTES(0x0c, 17, 8),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "def_cfa of register 300",
	  BYTES(0x0c, 0xac, 2, 8),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "def_cfa_sf", BYTES(0x12, 6, 0x7e), { { 0, CFA(6, 16) } }, .n_rows = 1 },
	{ "def_cfa_register", BYTES(0x0d, 3), { { 0, CFA(3, 8) } }, .n_rows = 1 },
	{ "def_cfa_offset_sf", BYTES(0x13, 0x7d), { { 0, SP(24) } }, .n_rows = 1 },
	{ "def_cfa_offset of 2^31 − 1",
	  BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 7),
	  { { 0, SP(INT32_MAX) } },
	  .n_rows = 1 },
	{ "def_cfa_offset of 2^31, and back",
	  BYTES(0x0e, 0x80, 0x80, 0x80, 0x80, 8, 0x44, 0x0e, 16),
	  { { 0, NONE }, { 4, SP(16) } },
	  .n_rows = 2,
	  .n_unrepresentable = 1 },
	{ "def_cfa_offset of 2^64 − 1",
	  BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "unknown CFA, then known offset",
	  BYTES(0x0c, 17, 8, 0x44, 0x0e, 16, 0x44, 0x0d, 7),
	  { { 0, NONE }, { 4, NONE }, { 8, SP(16) } },
	  .n_rows = 3,
	  .n_unrepresentable = 2 },
	{ "a number of 11 bytes is bad",
	  BYTES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_bad_fdes = 1 },
	{ "offset_extended", BYTES(0x05, 6, 2), { { 0, SP(8, FP_AT(-16)) } }, .n_rows = 1 },
	{ "offset_extended_sf", BYTES(0x11, 6, 0x7e), { { 0, SP(8, FP_AT(16)) } }, .n_rows = 1 },
	{ "GNU_negative_offset_extended",
	  BYTES(0x2f, 6, 2),
	  { { 0, SP(8, FP_AT(16)) } },
	  .n_rows = 1 },
	{ "frame pointer saved too far away",
	  BYTES(0x05, 6, 0x81, 0x80, 0x80, 0x80, 1),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "offset times factor of more than 64 bits",
	  BYTES(0x86, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "restore",
	  BYTES(0x86, 2, 0x44, 0xc6),
	  { { 0, SP(8, FP_AT(-16)) }, { 4, SP(8) } },
	  .n_rows = 2 },
	{ "restore_extended",
	  BYTES(0x07, 16, 0x44, 0x06, 16),
	  { { 0, { .cfa = RULE_CFA_REG, .cfa_reg = 7, .cfa_off = 8, .ra = RULE_RA_UNDEFINED } },
	    { 4, SP(8) } },
	  .n_rows = 2 },
	{ "restore of another register", BYTES(0x83, 2, 0xc3), { { 0, SP(8) } }, .n_rows = 1 },
	{ "undefined frame pointer",
	  BYTES(0x07, 6),
	  { { 0, SP(8, .fp = RULE_FP_UNDEFINED) } },
	  .n_rows = 1 },
	{ "undefined return address",
	  BYTES(0x07, 16),
	  { { 0, { .cfa = RULE_CFA_REG, .cfa_reg = 7, .cfa_off = 8, .ra = RULE_RA_UNDEFINED } } },
	  .n_rows = 1 },
	{ "undefined return address, CFA that no rule says",
	  BYTES(0x07, 16, 0x0f, 1, 0x96),
	  { { 0, { .ra = RULE_RA_UNDEFINED } } },
	  .n_rows = 1 },
	{ "the same, and then an offset",
	  BYTES(0x07, 16, 0x0c, 17, 8, 0x44, 0x0e, 24),
	  { { 0, { .ra = RULE_RA_UNDEFINED } }, { 4, { .ra = RULE_RA_UNDEFINED } } },
	  .n_rows = 2 },
	{ "same_value of the frame pointer",
	  BYTES(0x86, 2, 0x44, 0x08, 6),
	  { { 0, SP(8, FP_AT(-16)) }, { 4, SP(8) } },
	  .n_rows = 2 },
	{ "same_value of rip means nothing",
	  BYTES(0x08, 16),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "register: frame pointer",
	  BYTES(0x09, 6, 3),
	  { { 0, SP(8, .fp = RULE_FP_REG, .fp_reg = 3) } },
	  .n_rows = 1 },
	{ "register: return address (vfork)",
	  BYTES(0x09, 16, 5),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 7,
		.cfa_off = 8,
		.ra = RULE_RA_REG,
		.ra_reg = 5 } } },
	  .n_rows = 1 },
	{ "register: that is none",
	  BYTES(0x09, 16, 40),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "remember, restore: all of it",
	  BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x44, 0x0c, 7, 8, 0xc6, 0x44, 0x0b),
	  { { 0, SP(8) },
	    { 1, SP(16, FP_AT(-16)) },
	    { 4, CFA(6, 16, FP_AT(-16)) },
	    { 8, SP(8) },
	    { 12, CFA(6, 16, FP_AT(-16)) } },
	  .n_rows = 5 },
	{ "restore without remember is bad",
	  BYTES(0x44, 0x0b),
	  { { 0, SP(8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "GNU_args_size", BYTES(0x2e, 0x80, 1, 0x0e, 16), { { 0, SP(16) } }, .n_rows = 1 },
	{ "GNU_window_save", BYTES(0x2d, 0x0e, 16), { { 0, SP(16) } }, .n_rows = 1 },
	{ "val_offset of the frame pointer",
	  BYTES(0x14, 6, 2),
	  { { 0, SP(8, .fp = RULE_FP_UNDEFINED) } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "val_offset_sf of the frame pointer",
	  BYTES(0x15, 6, 0x7e),
	  { { 0, SP(8, .fp = RULE_FP_UNDEFINED) } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "val_offset of rsp is read over",
	  BYTES(0x14, 7, 0, 0x0e, 16),
	  { { 0, SP(16) } },
	  .n_rows = 1 },
	{ "val_offset of the return address",
	  BYTES(0x14, 16, 1),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "def_cfa_expression: register (rbp + 16)",
	  BYTES(0x0f, 2, 0x76, 16),
	  { { 0, CFA(6, 16) } },
	  .n_rows = 1 },
	{ "def_cfa_expression: deref (DRAP)",
	  BYTES(0x0f, 3, 0x76, 0x78, 0x06),
	  { { 0, DEREF(6, -8) } },
	  .n_rows = 1 },
	{ "def_cfa_expression: PLT",
	  BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	  { { 0, { .cfa = RULE_CFA_PLT, .cfa_off = 10, .ra_off = -8 } } },
	  .n_rows = 1 },
	{ "def_cfa_expression: other",
	  BYTES(0x0f, 1, 0x96),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "def_cfa_offset on an expression is bad",
	  BYTES(0x0f, 2, 0x76, 16, 0x44, 0x0e, 24),
	  { { 0, CFA(6, 16) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "def_cfa_register on an expression is bad",
	  BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x44, 0x0d, 7),
	  { { 0, DEREF(6, -8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "def_cfa after an expression",
	  BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x44, 0x0c, 7, 8),
	  { { 0, DEREF(6, -8) }, { 4, SP(8) } },
	  .n_rows = 2 },
	{ "expression longer than the program is bad",
	  BYTES(0x0f, 9, 0x76, 16),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_bad_fdes = 1 },
	{ "expression: frame pointer at rbp + 0",
	  BYTES(0x10, 6, 2, 0x76, 0),
	  { { 0, SP(8, .fp = RULE_FP_DEREF, .fp_reg = 6) } },
	  .n_rows = 1 },
	{ "expression: return address at rsp + 16",
	  BYTES(0x10, 16, 2, 0x77, 16),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 7,
		.cfa_off = 8,
		.ra = RULE_RA_DEREF,
		.ra_reg = 7,
		.ra_off = 16 } } },
	  .n_rows = 1 },
	{ "expression: frame pointer elsewhere",
	  BYTES(0x10, 6, 3, 0x76, 0, 0x06),
	  { { 0, SP(8, .fp = RULE_FP_UNDEFINED) } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "expression: return address elsewhere",
	  BYTES(0x10, 16, 1, 0x96),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	/* glibc's longjmp: CFA = rdi, rsp in r8, rbp in r9, rip in rdx, rbx at CFA + 0. */
	{ "stack pointer in a register",
	  BYTES(0x44, 0x0c, 5, 0, 0x09, 7, 8, 0x09, 6, 9, 0x09, 16, 1, 0x83, 0),
	  { { 0, SP(8) },
	    { 4,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 8,
		.fp = RULE_FP_REG,
		.fp_reg = 9,
		.ra = RULE_RA_REG,
		.ra_reg = 1,
		.flags = RULE_SWITCH } } },
	  .n_rows = 2 },
	/* glibc's setcontext: CFA = rdx, rbp at CFA + 120, rsp at CFA + 160, rip at CFA + 168. */
	{ "stack pointer saved beside the others",
	  BYTES(0x0c, 1, 0, 0x11, 6, 0x71, 0x11, 7, 0x6c, 0x11, 16, 0x6b),
	  { { 0,
	      { .cfa = RULE_CFA_DEREF,
		.cfa_reg = 1,
		.cfa_off = 160,
		.fp = RULE_FP_DEREF,
		.fp_reg = 1,
		.fp_off = 120,
		.ra = RULE_RA_DEREF,
		.ra_reg = 1,
		.ra_off = 168,
		.flags = RULE_SWITCH } } },
	  .n_rows = 1 },
	{ "stack pointer saved where an expression says",
	  BYTES(0x0c, 5, 8, 0x10, 7, 2, 0x75, 48, 0x86, 0),
	  { { 0,
	      { .cfa = RULE_CFA_DEREF,
		.cfa_reg = 5,
		.cfa_off = 48,
		.fp = RULE_FP_DEREF,
		.fp_reg = 5,
		.fp_off = 8,
		.ra = RULE_RA_DEREF,
		.ra_reg = 5,
		.flags = RULE_SWITCH } } },
	  .n_rows = 1 },
	{ "stack pointer by an expression, all else in registers",
	  BYTES(0x16, 7, 2, 0x78, 16, 0x09, 16, 1),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 8,
		.cfa_off = 16,
		.ra = RULE_RA_REG,
		.ra_reg = 1,
		.flags = RULE_SWITCH } } },
	  .n_rows = 1 },
	{ "stack pointer in a register, return address by a CFA that is none",
	  BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x09, 7, 8),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "stack pointer by an expression that no rule can say",
	  BYTES(0x16, 7, 3, 0x76, 0, 0x06),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "stack pointer in a register that rules do not know",
	  BYTES(0x09, 7, 0x80, 0x04, 0x09, 16, 1),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "stack pointer in a register, restored",
	  BYTES(0x09, 7, 8, 0x44, 0xc7, 0x44, 0x0e, 24),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 8,
		.ra = RULE_RA_DEREF,
		.ra_reg = 7,
		.flags = RULE_SWITCH } },
	    { 4, SP(8) },
	    { 8, SP(24) } },
	  .n_rows = 3 },
	{ "def_cfa_offset while the stack pointer is in a register",
	  BYTES(0x09, 7, 8, 0x44, 0x0e, 24),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 8,
		.ra = RULE_RA_DEREF,
		.ra_reg = 7,
		.flags = RULE_SWITCH } },
	    { 4,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 8,
		.ra = RULE_RA_DEREF,
		.ra_reg = 7,
		.ra_off = 16,
		.flags = RULE_SWITCH } } },
	  .n_rows = 2 },
	{ "stack pointer that is the CFA, lost or the same",
	  BYTES(0x14, 7, 0, 0x44, 0x0e, 16, 0x07, 7, 0x44, 0x0e, 24, 0x08, 7),
	  { { 0, SP(8) }, { 4, SP(16) }, { 8, SP(24) } },
	  .n_rows = 3 },
	{ "val_expression: return address in rcx",
	  BYTES(0x16, 16, 2, 0x72, 0),
	  { { 0,
	      { .cfa = RULE_CFA_REG,
		.cfa_reg = 7,
		.cfa_off = 8,
		.ra = RULE_RA_REG,
		.ra_reg = 2 } } },
	  .n_rows = 1 },
	{ "val_expression: return address is rcx + 1",
	  BYTES(0x16, 16, 2, 0x72, 1),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "val_expression: frame pointer",
	  BYTES(0x16, 6, 2, 0x72, 0),
	  { { 0, SP(8, .fp = RULE_FP_UNDEFINED) } },
	  .n_rows = 1,
	  .n_unrepresentable = 1 },
	{ "val_expression of another register",
	  BYTES(0x16, 3, 2, 0x72, 0),
	  { { 0, SP(8) } },
	  .n_rows = 1 },
	{ "unknown instruction: rows up to it stand",
	  BYTES(0x44, 0x0e, 16, 0x44, 0x3f, 0x0e, 24, 0x44, 0x0e, 32),
	  { { 0, SP(8) }, { 4, SP(16) }, { 8, NONE } },
	  .n_rows = 3,
	  .n_bad_fdes = 1 },
	{ "truncated operand",
	  BYTES(0x44, 0x0e),
	  { { 0, SP(8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "truncated advance",
	  BYTES(0x44, 0x0e, 16, 0x04, 1, 0),
	  { { 0, SP(8) }, { 4, NONE } },
	  .n_rows = 2,
	  .n_bad_fdes = 1 },
	{ "AArch64 instruction on x86-64",
	  BYTES(0x2c),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_bad_fdes = 1 },
	{ "AArch64: at entry", BYTES(0), { { 0, LINK(0) } }, .n_rows = 1, .machine = EM_AARCH64 },
	{ "AArch64: stp x29, x30; mov x29, sp",
	  BYTES(0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29),
	  { { 0, LINK(0) },
	    { 4, ARM(31, 32, FP_AT(-32), .ra_off = -24) },
	    { 8, ARM(29, 32, FP_AT(-32), .ra_off = -24) } },
	  .n_rows = 3,
	  .machine = EM_AARCH64 },
	{ "AArch64: restored link register",
	  BYTES(0x9e, 3, 0x44, 0xde),
	  { { 0, ARM(31, 0, .ra_off = -24) }, { 4, LINK(0) } },
	  .n_rows = 2,
	  .machine = EM_AARCH64 },
	{ "AArch64: same_value of the link register",
	  BYTES(0x9e, 3, 0x08, 30),
	  { { 0, LINK(0) } },
	  .n_rows = 1,
	  .machine = EM_AARCH64 },
	{ "AArch64: negate_ra_state, with pc",
	  BYTES(0x2d, 0x44, 0x0e, 16, 0x2c),
	  { { 0, LINK(0) }, { 4, LINK(16) } },
	  .n_rows = 2,
	  .machine = EM_AARCH64 },
	{ "AArch64: undefined return address",
	  BYTES(0x07, 30),
	  { { 0, ARM(31, 0, .ra = RULE_RA_UNDEFINED) } },
	  .n_rows = 1,
	  .machine = EM_AARCH64 },
	{ "AArch64: no PLT",
	  BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	  { { 0, NONE } },
	  .n_rows = 1,
	  .n_unrepresentable = 1,
	  .machine = EM_AARCH64 },
};

static void runs(void **state)
{
	const struct program_row *row = *state;
	uint16_t machine = row->machine ? row->machine : EM_X86_64;
	struct unwind_source_stats stats = { 0 };
	struct fixture_rows rows = { .n = 0 };
	struct fixture_bytes b = { .n = 0 };
	struct fixture_image image;
	size_t cie = put_eh_cie(&b, machine);

	put_eh_fde(&b, cie, BEGIN, N_BYTES, row->program, row->n_program);
	assert_int_equal(image_open_section(&image, machine, false, &b), 0);
	assert_int_equal(image_rows(&image, &rows, &stats), 0);
	image_close(&image);
	assert_int_equal(rows.n, row->n_rows);
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(rows.at[i].vaddr, BEGIN + row->rows[i].off);
		assert_memory_equal(&rows.at[i].rule, &row->rows[i].rule, sizeof(rows.at[i].rule));
	}
	assert_int_equal(stats.n_bad_fdes, row->n_bad_fdes);
	assert_int_equal(stats.n_unrepresentable, row->n_unrepresentable);
	assert_int_equal(stats.n_bad_cies, 0);
}

/* `depth` times remember and restore, each with an offset of its own. */
static size_t nest(uint8_t *program, size_t depth)
{
	size_t n = 0;

	for (size_t i = 0; i < depth; i++) {
		program[n++] = 0x0e;
		program[n++] = (uint8_t)(16 + i);
		program[n++] = 0x0a;
	}
	program[n++] = 0x0e;
	program[n++] = 8;
	for (size_t i = 0; i < depth; i++) {
		program[n++] = 0x41;
		program[n++] = 0x0b;
	}
	return n;
}

static void nests(size_t depth, bool is_bad)
{
	uint8_t program[1024];
	struct unwind_source_stats stats = { 0 };
	struct fixture_rows rows = { .n = 0 };
	struct fixture_bytes b = { .n = 0 };
	struct fixture_image image;
	size_t cie = put_eh_cie(&b, EM_X86_64);

	put_eh_fde(&b, cie, BEGIN, 100, program, nest(program, depth));
	assert_int_equal(image_open_section(&image, EM_X86_64, false, &b), 0);
	assert_int_equal(image_rows(&image, &rows, &stats), 0);
	image_close(&image);
	assert_int_equal(stats.n_bad_fdes, is_bad);
	assert_int_equal(rows.n, is_bad ? 1 : depth + 1);
	for (size_t i = 1; i < rows.n; i++)
		assert_int_equal(rows.at[i].rule.cfa_off, 16 + depth - i);
	assert_int_equal(rows.at[0].rule.cfa, is_bad ? RULE_CFA_NONE : RULE_CFA_REG);
}

static void remembers_to_its_depth(void **state)
{
	(void)state;
	nests(CFI_MAX_REMEMBERED, false);
	nests(CFI_MAX_REMEMBERED + 1, true);
}

static int stop(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	(void)vaddr;
	(void)rule;
	return ++*(int *)data == 2 ? -ECANCELED : 0;
}

static void stops_when_told(void **state)
{
	static const uint8_t program[] = { 0x41, 0x0e, 16, 0x41, 0x0e, 24, 0x41, 0x0e, 32 };
	struct unwind_spans spans = { .max_bytes = FIXTURE_MAX_BYTES };
	struct unwind_source_stats stats = { 0 };
	struct fixture_bytes b = { .n = 0 };
	struct fixture_image image;
	size_t cie = put_eh_cie(&b, EM_X86_64);
	int n = 0;

	(void)state;
	put_eh_fde(&b, cie, BEGIN, N_BYTES, program, sizeof(program));
	assert_int_equal(image_open_section(&image, EM_X86_64, false, &b), 0);
	assert_int_equal(image.source->spans(image.source, &spans, &stats), 0);
	assert_int_equal(image.source->rows(image.source, &spans.items[0], stop, &n, &stats),
			 -ECANCELED);
	assert_int_equal(n, 2);
	unwind_spans_fini(&spans);
	image_close(&image);
}

static const struct unit_test tests[] = {
	TEST_ROWS(runs, program_rows, name),
	TEST(remembers_to_its_depth),
	TEST(stops_when_told),
};

TEST_MAIN(tests)
