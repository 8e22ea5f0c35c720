/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: bytes as x86-64 instructions, and as one function. The first byte chooses how it is
 * taken. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_flow.h"

#define VADDR 0x1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_function(uint64_t vaddr, void *data)
{
	(void)data;
	return vaddr % 64 == 0;
}

static bool read_text(uint64_t vaddr, void *dst, size_t n, void *data)
{
	const struct nocfi_text *text = data;

	if (vaddr < VADDR || vaddr - VADDR > text->n || n > text->n - (vaddr - VADDR))
		return false;
	memcpy(dst, text->code + (vaddr - VADDR), n);
	return true;
}

static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	uint64_t *last = data;

	/* Ascending, and no rule beside those that the walk knows. */
	if (vaddr < *last || rule->cfa > RULE_CFA_PLT || rule->fp > RULE_FP_UNDEFINED ||
	    rule->ra > RULE_RA_SIGNAL || rule->zero || rule->cfa_add)
		abort();
	*last = vaddr + 1;
	return 0;
}

static void decode_all(const uint8_t *code, size_t n)
{
	struct nocfi_insn i;

	for (size_t at = 0; at < n; at++) {
		if (!nocfi_insn_decode(code + at, n - at, &i))
			continue;
		if (i.n_bytes == 0 || i.n_bytes > NOCFI_INSN_MAX_BYTES || i.n_bytes > n - at)
			abort();
		/* What follows is not looked at. */
		if (!nocfi_insn_decode(code + at, i.n_bytes, &i))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nocfi_flow_scratch *scratch = NULL;
	struct nocfi_flow_result result;
	uint64_t budget = 200000;
	uint64_t last = VADDR;
	struct nocfi_text text = { .code = data + 1,
				   .vaddr = VADDR,
				   .is_function = is_function,
				   .read = read_text,
				   .data = &text,
				   .budget = &budget };

	if (size < 2 || size > NOCFI_FLOW_MAX_BYTES)
		return 0;
	text.n = (uint32_t)size - 1;
	text.is_sized = data[0] & 1;
	text.is_entry = data[0] & 2;
	text.is_behind_function = data[0] & 4;
	decode_all(text.code, text.n);
	if (nocfi_flow_scratch_new(&scratch) < 0)
		return 0;
	if (nocfi_flow_analyse(&text, scratch, &result) == 0) {
		if (result.n_bytes == 0 || result.n_bytes > text.n)
			abort();
		(void)nocfi_flow_rows(&text, scratch, &result, check_row, &last);
		if (last > VADDR + result.n_bytes)
			abort();
	}
	nocfi_flow_scratch_free(scratch);
	return 0;
}
