/* SPDX-License-Identifier: Apache-2.0 */
/* The x86-64 instruction decoder: lengths and operands of chosen instructions, and the lengths of
 * all that objdump finds in installed programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/object/nocfi/nocfi_insn.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct length_row {
	const char *name;
	const char *code;
	size_t n;
	unsigned int n_bytes; /* 0: none */
};

#define ROW(name, code, n_bytes)                        \
	{                                               \
		name, code, sizeof(code) - 1, (n_bytes) \
	}

static struct length_row length_rows[] = {
	ROW("nop", "\x90", 1),
	ROW("push rbp", "\x55", 1),
	ROW("push r12", "\x41\x54", 2),
	ROW("rex that is overridden", "\x48\x66\x90", 3),
	ROW("mov rbp, rsp", "\x48\x89\xe5", 3),
	ROW("sub rsp, imm8", "\x48\x83\xec\x18", 4),
	ROW("sub rsp, imm32", "\x48\x81\xec\x00\x10\x00\x00", 7),
	ROW("imm16 by operand size", "\x66\x81\xc3\x00\x10", 5),
	ROW("REX.W wins over operand size", "\x66\x48\x81\xc3\x00\x10\x00\x00", 8),
	ROW("SIB and disp32", "\x48\x8b\x84\x24\x80\x00\x00\x00", 8),
	ROW("SIB without base", "\x48\x8b\x04\xc5\x00\x00\x00\x00", 8),
	ROW("rip relative", "\x48\x8d\x35\xf3\x53\x09\x00", 7),
	ROW("mov r, imm64", "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10),
	ROW("mov r, imm32", "\xb8\x01\x02\x03\x04", 5),
	ROW("mov moffs", "\x64\x48\xa1\x00\x00\x00\x00\x00\x00\x00\x00", 11),
	ROW("mov moffs, 32-bit", "\x67\xa1\x00\x00\x00\x00", 6),
	ROW("test in group 3", "\xf7\xc7\x01\x00\x00\x00", 6),
	ROW("not in group 3", "\xf7\xd7", 2),
	ROW("call", "\xe8\x00\x00\x00\x00", 5),
	ROW("call with data16 and REX.W", "\x66\x48\xe8\x00\x00\x00\x00", 7),
	ROW("jcc rel32", "\x0f\x84\x00\x00\x00\x00", 6),
	ROW("notrack jmp", "\x3e\xff\xe0", 3),
	ROW("bnd jmp", "\xf2\xff\x25\x00\x00\x00\x00", 7),
	ROW("endbr64", "\xf3\x0f\x1e\xfa", 4),
	ROW("enter", "\xc8\x10\x00\x00", 4),
	ROW("ret imm16", "\xc2\x08\x00", 3),
	ROW("long nop", "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10),
	ROW("3DNow!", "\x0f\x0f\xc1\x9e", 4),
	ROW("mov from cr0, whatever mod is", "\x0f\x20\x05", 3),
	ROW("pshufb", "\x66\x0f\x38\x00\xc1", 5),
	ROW("palignr", "\x66\x0f\x3a\x0f\xc1\x08", 6),
	ROW("extrq with two bytes", "\x66\x0f\x78\xc0\x01\x02", 6),
	ROW("VEX2", "\xc5\xf8\x77", 3),
	ROW("VEX3 with imm8", "\xc4\xe3\x7d\x19\xc1\x01", 6),
	ROW("VEX3, map 2, memory", "\xc4\xe2\x7d\x18\x44\x24\x10", 7),
	ROW("EVEX", "\x62\xf1\x7c\x48\x10\x44\x24\x01", 8),
	ROW("EVEX, map 5", "\x62\xf5\x7c\x48\x58\xc1", 6),
	ROW("XOP, map 9", "\x8f\xe9\x78\x01\xc8", 5),
	ROW("pop to memory, not XOP", "\x8f\x47\x40", 3),
	ROW("cut prefix", "\x66", 0),
	ROW("cut opcode", "\x0f", 0),
	ROW("cut ModRM", "\x48\x89", 0),
	ROW("cut SIB", "\x48\x8b\x84", 0),
	ROW("cut displacement", "\x48\x8b\x84\x24\x80\x00", 0),
	ROW("cut immediate", "\xe8\x00\x00\x00", 0),
	ROW("cut VEX", "\xc4\xe2", 0),
	ROW("invalid in 64-bit mode", "\x06", 0),
	ROW("EVEX of no map", "\x62\xf4\x7c\x48\x58\xc1", 0),
	ROW("VEX of no map", "\xc4\xe4\x7d\x18\xc1\x00", 0),
	ROW("fifteen prefixes and no more",
	    "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0),
	ROW("fourteen prefixes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90",
	    15),
};

static void has_length(void **state)
{
	const struct length_row *row = *state;
	struct nocfi_insn insn = { 0 };
	/* Of the exact size, so that reading on is seen. */
	uint8_t *code = malloc(row->n);

	assert_non_null(code);
	memcpy(code, row->code, row->n);
	assert_int_equal(nocfi_insn_decode(code, row->n, &insn), row->n_bytes > 0);
	assert_int_equal(insn.n_bytes, row->n_bytes);
	free(code);
}

/* What follows an instruction does not change it; nor, when it is cut, what lies behind the end. */
static void has_length_in_text(void **state)
{
	const struct length_row *row = *state;

	for (unsigned int fill = 0; fill < 256; fill += 51) {
		struct nocfi_insn alone = { 0 };
		struct nocfi_insn insn = { 0 };
		uint8_t text[64];

		memset(text, (int)fill, sizeof(text));
		memcpy(text, row->code, row->n);
		assert_int_equal(nocfi_insn_decode(text, row->n, &alone), row->n_bytes > 0);
		if (row->n_bytes == 0)
			continue;
		assert_true(nocfi_insn_decode(text, sizeof(text), &insn));
		assert_int_equal(insn.n_bytes, row->n_bytes);
		assert_int_equal(insn.imm, alone.imm);
		assert_int_equal(insn.disp, alone.disp);
		assert_int_equal(insn.modrm, alone.modrm);
		assert_int_equal(insn.rex, alone.rex);
	}
}

static void has_operands(void **state)
{
	static const uint8_t lea[] = { 0x4c, 0x8d, 0x64, 0xc6,
				       0xf8 }; /* lea -8(%rsi,%rax,8), %r12 */
	static const uint8_t rip[] = { 0x48, 0x8d, 0x05, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t no_base[] = { 0xff, 0x24, 0xc5, 0, 0, 0x40, 0 };
	static const uint8_t r12_base[] = { 0x49, 0x8b, 0x04, 0x24 };
	static const uint8_t vex[] = { 0xc4, 0xe2, 0xd0, 0xf2, 0xc1 }; /* andn %rcx, %rbp, %rax */
	struct nocfi_insn i;

	(void)state;
	assert_true(nocfi_insn_decode(lea, sizeof(lea), &i));
	assert_int_equal(nocfi_insn_reg(&i), 12);
	assert_int_equal(nocfi_insn_base(&i), 6);
	assert_int_equal(nocfi_insn_index(&i), 0);
	assert_int_equal(i.disp, -8);
	assert_true(nocfi_insn_decode(rip, sizeof(rip), &i));
	assert_int_equal(nocfi_insn_base(&i), NOCFI_INSN_RIP);
	assert_int_equal(i.disp, -1);
	assert_true(nocfi_insn_decode(no_base, sizeof(no_base), &i));
	assert_int_equal(nocfi_insn_base(&i), NOCFI_INSN_NO_REG);
	assert_int_equal(nocfi_insn_index(&i), 0);
	assert_int_equal(i.disp, 0x400000);
	assert_true(nocfi_insn_decode(r12_base, sizeof(r12_base), &i));
	assert_int_equal(nocfi_insn_base(&i), 12);
	assert_int_equal(nocfi_insn_index(&i), NOCFI_INSN_NO_REG);
	assert_true(nocfi_insn_decode(vex, sizeof(vex), &i));
	assert_int_equal(i.vvvv, 5);
	assert_int_equal(i.map, NOCFI_INSN_MAP_0F38);
	assert_true(i.rex & 8);
}

/* One line of objdump -d -w: address, TAB, bytes, TAB, words. */
static size_t bytes_of_line(char *line, uint8_t bytes[32], const char **ret_words)
{
	char *at = strchr(line, '\t');
	char *words = at ? strchr(at + 1, '\t') : NULL;
	size_t n = 0;

	if (!words)
		return 0;
	for (at++; at < words && n < 16;) {
		unsigned int byte;

		if (*at == ' ') {
			at++;
			continue;
		}
		if (sscanf(at, "%2x", &byte) != 1)
			return 0;
		bytes[n++] = (uint8_t)byte;
		at += 2;
	}
	*ret_words = words + 1;
	return n;
}

/* The last word is a prefix that stands alone. */
static bool ends_in_prefix(const char *words)
{
	static const char *const prefixes[] = { "data16", "addr32", "lock", "repz", "repnz", "cs",
						"ds",	  "es",	    "fs",   "gs",   "ss" };
	size_t end = strcspn(words, "\n");

	while (end > 0 && words[end - 1] == ' ')
		end--;
	size_t begin = end;
	while (begin > 0 && words[begin - 1] != ' ')
		begin--;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strlen(prefixes[i]) == end - begin &&
		    memcmp(prefixes[i], words + begin, end - begin) == 0)
			return true;
	return strncmp(words + begin, "rex", 3) == 0;
}

/*
 * What objdump shows is not always one instruction: data among text, WAIT and the x87 instruction
 * behind it. Branches with an operand size prefix are taken as AMD's processors have them, which no
 * compiler writes: they are data as well.
 */
static bool is_one_instruction(const uint8_t *bytes, const char *words)
{
	return !strstr(words, "(bad)") && !strstr(words, ".byte") && !ends_in_prefix(words) &&
	       !strstr(words, "jmpw") && !strstr(words, "callw") && bytes[0] != 0x9b;
}

static const struct program {
	const char *path;
} programs[] = {
	{ "/lib/x86_64-linux-gnu/libc.so.6" },
	{ "/lib/x86_64-linux-gnu/libm.so.6" },
	{ "/usr/lib/x86_64-linux-gnu/libcrypto.so.3" },
	{ "/lib/ld-musl-x86_64.so.1" },
};

static void agrees_with_objdump(void **state)
{
	const char *path = ((const struct program *)*state)->path;
	char line[1024];
	size_t n = 0;
	size_t n_wrong = 0;

	if (access(path, R_OK) != 0 || system("command -v objdump >/dev/null") != 0) {
		print_message("no objdump, or no %s\n", path);
		skip();
	}
	(void)snprintf(line, sizeof(line), "objdump -d -w --insn-width=16 '%s' 2>/dev/null", path);
	FILE *f = popen(line, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		uint8_t bytes[32] = { 0 };
		struct nocfi_insn insn = { 0 };
		const char *words;
		size_t n_bytes = bytes_of_line(line, bytes, &words);

		if (n_bytes == 0)
			continue;
		if (!is_one_instruction(bytes, words))
			continue;
		n++;
		if (nocfi_insn_decode(bytes, sizeof(bytes), &insn) && insn.n_bytes == n_bytes)
			continue;
		if (n_wrong++ < 10)
			print_message("%u bytes: %s", insn.n_bytes, line);
	}
	assert_int_equal(pclose(f), 0);
	assert_int_equal(n_wrong, 0);
	assert_true(n > 1000);
}

static const struct unit_test tests[] = {
	TEST_ROWS(has_length, length_rows, name),
	TEST_ROWS(has_length_in_text, length_rows, name),
	TEST_ROWS(agrees_with_objdump, programs, path),
	TEST(has_operands),
};

TEST_MAIN(tests)
