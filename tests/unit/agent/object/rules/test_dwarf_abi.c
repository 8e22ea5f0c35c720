/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinding knows of machines. */
#include <elf.h>

#include "agent/object/rules/dwarf_abi.h"
#include "tests/support/unit.h"

static void x86_64(void **state)
{
	const struct dwarf_abi *abi = dwarf_abi(EM_X86_64);

	(void)state;
	assert_string_equal(dwarf_abi_reg_name(abi, abi->sp), "rsp");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->fp), "rbp");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->ra), "rip");
	assert_string_equal(dwarf_abi_reg_name(abi, 1), "rdx");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->n_regs - 1), "r15");
	assert_string_equal(dwarf_abi_reg_name(abi, 17), "?");
	assert_int_equal(abi->entry_ra_off, -8);
}

static void aarch64(void **state)
{
	const struct dwarf_abi *abi = dwarf_abi(EM_AARCH64);

	(void)state;
	assert_string_equal(dwarf_abi_reg_name(abi, abi->sp), "sp");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->fp), "x29");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->ra), "x30");
	assert_string_equal(dwarf_abi_reg_name(abi, abi->n_regs), "?");
	assert_string_equal(dwarf_abi_reg_name(abi, 255), "?");
	assert_int_equal(abi->entry_ra_off, 0);
}

static void others(void **state)
{
	(void)state;
	assert_null(dwarf_abi(EM_386));
	assert_null(dwarf_abi(EM_RISCV));
}

static const struct unit_test tests[] = {
	TEST(x86_64),
	TEST(aarch64),
	TEST(others),
};

TEST_MAIN(tests)
