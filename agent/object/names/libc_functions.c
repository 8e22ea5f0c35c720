/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the GNU C library, by jumps to them. */
#include "agent/object/names/libc_functions.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/object/nocfi/nocfi_step.h"
#include "agent/util/macro.h"

/* As of glibc 2.34 (nptl): each ends by calling the other. */
static const struct {
	const char *exported, *name;
} ways[LIBC_FUNCTIONS_MAX] = {
	{ "sem_wait", "__new_sem_wait_slow64" },
	{ "sem_timedwait", "__new_sem_wait_slow64" },
	{ "sem_clockwait", "__new_sem_wait_slow64" },
	{ "pthread_join", "__pthread_clockjoin_ex" },
};

/* They have some 100 bytes. */
#define MAX_CODE_BYTES 512

/* B of A64: six bits, and a distance in words. */
#define A64_B_MASK 0xfc000000u
#define A64_B 0x14000000u

struct code {
	uint8_t bytes[MAX_CODE_BYTES];
	size_t n;
	uint64_t vaddr;
	bool is_a64;
};

/* The instruction at *at, which is moved behind it. False: the code ends, or is not understood. *ret_target: 0 where it is no jump. */
static bool step(const struct code *c, size_t *at, uint64_t *ret_target)
{
	struct nocfi_insn insn;
	uint32_t word;

	*ret_target = 0;
	if (c->is_a64) {
		if (c->n - *at < sizeof(word))
			return false;
		memcpy(&word, c->bytes + *at, sizeof(word));
		if ((word & A64_B_MASK) == A64_B)
			*ret_target = c->vaddr + *at + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
		*at += sizeof(word);
		return true;
	}
	if (!nocfi_insn_decode(c->bytes + *at, c->n - *at, &insn))
		return false;
	*at += insn.n_bytes;
	if (nocfi_step_flow(&insn) == NOCFI_FLOW_JUMP)
		*ret_target = c->vaddr + *at + (uint64_t)insn.imm;
	return true;
}

/* Where it jumps to beyond its own end; 0: nowhere, or to several places. */
static uint64_t jump_out(const struct code *c)
{
	uint64_t found = 0, target;

	for (size_t at = 0; at < c->n && step(c, &at, &target);) {
		if (!target || (target >= c->vaddr && target < c->vaddr + c->n))
			continue;
		if (found && found != target)
			return 0;
		found = target;
	}
	return found;
}

static uint64_t target_of(const struct elf *elf, const char *exported)
{
	struct code code = { .is_a64 = elf_machine(elf) == EM_AARCH64 };
	struct symbol symbol;

	if (!symbol_by_name(elf, exported, &symbol) || symbol.size_bytes > sizeof(code.bytes) ||
	    !elf_read(elf, symbol.value, code.bytes, symbol.size_bytes))
		return 0;
	code.vaddr = symbol.value;
	code.n = symbol.size_bytes;
	return jump_out(&code);
}

static bool is_known(const struct elf *elf)
{
	struct symbol symbol;

	return elf_is_64(elf) &&
	       (elf_machine(elf) == EM_X86_64 || elf_machine(elf) == EM_AARCH64) &&
	       symbol_by_name(elf, "gnu_get_libc_version", &symbol);
}

static int compare(const void *a, const void *b)
{
	const struct libc_function *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* What two functions with other names jump to is none of both. */
static size_t keep_each_once(struct libc_function *all, size_t n)
{
	size_t n_kept = 0;

	for (size_t i = 0, next; i < n; i = next) {
		bool is_one = true;

		for (next = i; next < n && all[next].begin == all[i].begin; next++)
			is_one &= strcmp(all[next].name, all[i].name) == 0;
		if (is_one)
			all[n_kept++] = all[i];
	}
	return n_kept;
}

size_t libc_functions_find(const struct elf *elf,
			   struct libc_function ret_functions[LIBC_FUNCTIONS_MAX])
{
	size_t n = 0;

	if (!is_known(elf))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		uint64_t target = target_of(elf, ways[i].exported);

		if (target)
			ret_functions[n++] = (struct libc_function){ target, ways[i].name };
	}
	qsort(ret_functions, n, sizeof(*ret_functions), compare);
	return keep_each_once(ret_functions, n);
}
