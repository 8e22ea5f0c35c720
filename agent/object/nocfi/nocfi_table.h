/* SPDX-License-Identifier: Apache-2.0 */
/* Jump tables as GCC and Clang write them for switch statements. */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_TABLE_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_TABLE_H

#include "agent/object/nocfi/nocfi_flow.h"

/* Entries of one table that are looked at; character classes and opcodes of interpreters have
 * 256. */
#define NOCFI_TABLE_MAX_ENTRIES 1024

struct nocfi_table {
	uint64_t vaddr;
	uint32_t n;	  /* entries, or the most that there may be */
	bool is_bounded;  /* n was read from a comparison */
	bool is_absolute; /* entries are addresses of 8 bytes, else distances of 4 from the table */
};

/*
 * The table behind an indirect jump at `at`; instructions are known to begin where marks & mask.
 *
 *	cmp index, n−1 · ja … · lea table(%rip), t · movslq (t,index,4), r · add t, r · jmp *r
 *	cmp index, n−1 · ja … · jmp *table(,index,8)
 */
bool nocfi_table_find(const struct nocfi_text *text, const uint8_t *marks, uint8_t mask,
		      uint32_t at, struct nocfi_table *ret_table);
/* The offset in the text that entry i leads to: false when it is outside, or cannot be read. */
bool nocfi_table_target(const struct nocfi_text *text, const struct nocfi_table *table, uint32_t i,
			uint32_t *ret_at);

#endif
