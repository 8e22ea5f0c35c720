/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF registers of the machines that are unwound: System V x86-64 psABI figure 3.36; "DWARF for
 * the Arm 64-bit Architecture" §4.1.
 */
#include "agent/object/rules/dwarf_abi.h"

#include <elf.h>
#include <stddef.h>

#include "agent/util/macro.h"
#include "bpf/rule.h"

static const struct dwarf_abi x86_64 = {
	.machine = EM_X86_64,
	.sp = RULE_X86_RSP,
	.fp = RULE_X86_RBP,
	.ra = RULE_X86_RIP,
	.n_regs = RULE_X86_R15 + 1,
	.entry_ra_off = -8,
};

static const struct dwarf_abi aarch64 = {
	.machine = EM_AARCH64,
	.sp = RULE_ARM64_SP,
	.fp = RULE_ARM64_FP,
	.ra = RULE_ARM64_LR,
	.n_regs = RULE_ARM64_SP + 1,
};

static const char *const x86_64_names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const char *const aarch64_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
};

const struct dwarf_abi *dwarf_abi(uint16_t machine)
{
	if (machine == EM_X86_64)
		return &x86_64;
	return machine == EM_AARCH64 ? &aarch64 : NULL;
}

const char *dwarf_abi_reg_name(const struct dwarf_abi *abi, uint8_t reg)
{
	if (abi->machine == EM_X86_64)
		return reg < ARRAY_SIZE(x86_64_names) ? x86_64_names[reg] : "?";
	return reg < ARRAY_SIZE(aarch64_names) ? aarch64_names[reg] : "?";
}
