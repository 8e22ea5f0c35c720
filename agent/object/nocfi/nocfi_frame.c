/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a frame, and what the operations on registers and the stack make of it. */
#include "agent/object/nocfi/nocfi_frame.h"

#include <string.h>

#include "agent/object/nocfi/nocfi_insn.h"

/* A frame beyond this is none: an analysis gone astray. The largest known is 40 KB; musl's getcwd
 * and the like have 4 KB. */
#define MAX_FRAME_BYTES (1 << 24)

void nocfi_frame_lose_sp(struct nocfi_frame *f)
{
	f->has_sp = 0;
	f->sp_off = 0;
}

static void lose_bp(struct nocfi_frame *f)
{
	f->has_bp = 0;
	f->bp_off = 0;
}

void nocfi_frame_set_fp(struct nocfi_frame *f, enum nocfi_fp fp, int32_t fp_off)
{
	f->fp = (uint8_t)fp;
	f->fp_off = fp_off;
}

static void set_sp(struct nocfi_frame *f, int64_t sp_off)
{
	nocfi_frame_lose_sp(f);
	if (sp_off < -MAX_FRAME_BYTES || sp_off > MAX_FRAME_BYTES)
		return;
	f->has_sp = 1;
	f->sp_off = (int32_t)sp_off;
	/* What lies below the stack pointer may be overwritten at any time. */
	if (f->fp == NOCFI_FP_SAVED && -f->fp_off > f->sp_off)
		nocfi_frame_set_fp(f, NOCFI_FP_LOST, 0);
	if (f->ra == NOCFI_RA_STACK && f->sp_off < 8)
		f->ra = NOCFI_RA_LOST;
}

static void set_bp(struct nocfi_frame *f, int64_t bp_off)
{
	lose_bp(f);
	if (bp_off < -MAX_FRAME_BYTES || bp_off > MAX_FRAME_BYTES)
		return;
	f->has_bp = 1;
	f->bp_off = (int32_t)bp_off;
}

static void move_sp(struct nocfi_frame *f, int64_t by)
{
	if (f->has_sp)
		set_sp(f, f->sp_off + by);
}

bool nocfi_frame_off(const struct nocfi_frame *f, unsigned int reg, int32_t *ret_off)
{
	if (reg == NOCFI_RSP && f->has_sp)
		*ret_off = f->sp_off;
	else if (reg == NOCFI_RBP && f->has_bp)
		*ret_off = f->bp_off;
	else
		return false;
	return true;
}

void nocfi_frame_clobber(struct nocfi_frame *f, unsigned int reg)
{
	if (reg == NOCFI_RSP) {
		nocfi_frame_lose_sp(f);
	} else if (reg == NOCFI_RBP) {
		lose_bp(f);
		if (f->fp == NOCFI_FP_SAME)
			nocfi_frame_set_fp(f, NOCFI_FP_LOST, 0);
	} else if (f->ra == NOCFI_RA_REG && f->ra_reg == reg) {
		f->ra = NOCFI_RA_LOST;
	}
}

bool nocfi_frame_is_fp_slot(const struct nocfi_frame *f, int64_t off)
{
	return f->fp == NOCFI_FP_SAVED && f->fp_off == off;
}

void nocfi_frame_push(struct nocfi_frame *f, unsigned int reg)
{
	bool is_return = f->has_sp && f->sp_off == 0 &&
			 ((f->ra == NOCFI_RA_REG && f->ra_reg == reg) ||
			  (f->ra == NOCFI_RA_LOST && reg == NOCFI_INSN_NO_REG));

	move_sp(f, 8);
	/* vfork pops its return address and pushes it again; sigsetjmp through memory. */
	if (is_return) {
		f->ra = NOCFI_RA_STACK;
		f->ra_reg = 0;
	}
	if (reg == NOCFI_RBP && f->fp == NOCFI_FP_SAME && f->has_sp)
		nocfi_frame_set_fp(f, NOCFI_FP_SAVED, -f->sp_off);
}

void nocfi_frame_pop(struct nocfi_frame *f, unsigned int reg)
{
	bool is_return = f->has_sp && f->sp_off == 8 && f->ra == NOCFI_RA_STACK;
	bool is_fp =
		f->has_sp && reg == NOCFI_RBP && nocfi_frame_is_fp_slot(f, -(int64_t)f->sp_off);

	if (is_fp)
		nocfi_frame_set_fp(f, NOCFI_FP_SAME, 0);
	if (is_fp)
		lose_bp(f);
	else
		nocfi_frame_clobber(f, reg);
	if (reg == NOCFI_RSP)
		return;
	move_sp(f, -8);
	if (is_return && reg < NOCFI_INSN_NO_REG && reg != NOCFI_RBP) {
		f->ra = NOCFI_RA_REG;
		f->ra_reg = (uint8_t)reg;
	}
}

void nocfi_frame_leave(struct nocfi_frame *f)
{
	if (f->has_bp)
		set_sp(f, f->bp_off);
	else
		nocfi_frame_lose_sp(f);
	nocfi_frame_pop(f, NOCFI_RBP);
}

void nocfi_frame_set(struct nocfi_frame *f, unsigned int reg, int64_t off)
{
	if (reg == NOCFI_RSP)
		set_sp(f, off);
	else if (reg == NOCFI_RBP)
		set_bp(f, off);
}

void nocfi_frame_add(struct nocfi_frame *f, unsigned int reg, int64_t by)
{
	if (reg == NOCFI_RSP)
		move_sp(f, -by);
	else if (reg == NOCFI_RBP && f->has_bp && by >= -MAX_FRAME_BYTES && by <= MAX_FRAME_BYTES)
		set_bp(f, f->bp_off - by);
	else
		nocfi_frame_clobber(f, reg);
}

void nocfi_frame_copy(struct nocfi_frame *f, unsigned int to, unsigned int from)
{
	int32_t off = 0;
	bool known = nocfi_frame_off(f, from, &off);

	if (from == NOCFI_RBP && f->fp == NOCFI_FP_SAME && to != NOCFI_RBP)
		f->is_fp_copied = 1;
	if (to == from)
		return;
	nocfi_frame_clobber(f, to);
	if (known)
		nocfi_frame_set(f, to, off);
}

/* rbp is cleared in the outermost frame (psABI §3.4.1), and nowhere else before it was saved. */
void nocfi_frame_clear(struct nocfi_frame *f, unsigned int reg)
{
	bool is_root = reg == NOCFI_RBP && f->fp == NOCFI_FP_SAME && !f->has_bp && !f->is_fp_copied;

	nocfi_frame_clobber(f, reg);
	if (!is_root)
		return;
	f->ra = NOCFI_RA_ROOT;
	f->ra_reg = 0;
	nocfi_frame_set_fp(f, NOCFI_FP_SAME, 0);
}

/* What a call may change is the callee's to save, but for these. */
void nocfi_frame_call(struct nocfi_frame *f)
{
	if (f->ra == NOCFI_RA_REG && (f->ra_reg < NOCFI_RBX || f->ra_reg > NOCFI_RBP) &&
	    f->ra_reg < 12)
		f->ra = NOCFI_RA_LOST;
}

bool nocfi_frame_meet(struct nocfi_frame *frame, const struct nocfi_frame *other)
{
	struct nocfi_frame before = *frame;

	if (frame->has_sp && (!other->has_sp || frame->sp_off != other->sp_off))
		nocfi_frame_lose_sp(frame);
	if (frame->has_bp && (!other->has_bp || frame->bp_off != other->bp_off))
		lose_bp(frame);
	if (frame->fp != other->fp || frame->fp_off != other->fp_off)
		nocfi_frame_set_fp(frame, NOCFI_FP_LOST, 0);
	if (frame->ra != other->ra || frame->ra_reg != other->ra_reg) {
		frame->ra = NOCFI_RA_LOST;
		frame->ra_reg = 0;
	}
	frame->is_fp_copied |= other->is_fp_copied;
	return memcmp(&before, frame, sizeof(before)) != 0;
}

bool nocfi_frame_may_return(const struct nocfi_frame *frame)
{
	if (frame->ra == NOCFI_RA_ROOT)
		return true;
	return frame->has_sp && frame->sp_off == 8 && frame->fp == NOCFI_FP_SAME &&
	       frame->ra == NOCFI_RA_STACK;
}

/* Hardware to DWARF (psABI figure 3.36). */
static uint8_t dwarf_register(unsigned int reg)
{
	static const uint8_t low[8] = { RULE_X86_RAX, RULE_X86_RCX, RULE_X86_RDX, RULE_X86_RBX,
					RULE_X86_RSP, RULE_X86_RBP, RULE_X86_RSI, RULE_X86_RDI };

	return reg < 8 ? low[reg] : (uint8_t)reg;
}

static void rule_of_root(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa = RULE_CFA_REG, .cfa_reg = RULE_X86_RSP, .cfa_off = 8, .ra = RULE_RA_UNDEFINED
	};
}

void nocfi_frame_rule(const struct nocfi_frame *frame, struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = { 0 };

	if (frame->ra == NOCFI_RA_ROOT) {
		rule_of_root(ret_rule);
		return;
	}
	if ((!frame->has_sp && !frame->has_bp) || frame->ra == NOCFI_RA_LOST) {
		*ret_rule = rule;
		return;
	}
	rule.cfa = RULE_CFA_REG;
	rule.cfa_reg = frame->has_bp ? RULE_X86_RBP : RULE_X86_RSP;
	rule.cfa_off = frame->has_bp ? frame->bp_off : frame->sp_off;
	rule.fp = frame->fp == NOCFI_FP_SAME	? RULE_FP_SAME
		  : frame->fp == NOCFI_FP_SAVED ? RULE_FP_CFA
						: RULE_FP_UNDEFINED;
	rule.fp_off = frame->fp == NOCFI_FP_SAVED ? frame->fp_off : 0;
	rule.ra = frame->ra == NOCFI_RA_REG ? RULE_RA_REG : RULE_RA_CFA;
	rule.ra_reg = frame->ra == NOCFI_RA_REG ? dwarf_register(frame->ra_reg) : 0;
	rule.ra_off = frame->ra == NOCFI_RA_REG ? 0 : -8;
	*ret_rule = rule;
}
