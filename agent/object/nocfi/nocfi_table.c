/* SPDX-License-Identifier: Apache-2.0 */
/* Jump tables of x86-64 code. */
#include "agent/object/nocfi/nocfi_table.h"

#include <string.h>

/* Between the comparison and the jump lie some 25 bytes; a spilled index makes it 40. */
#define LOOK_BACK_BYTES 96u
/* Between the address of a table and the jump lie a widening, a load and an addition. */
#define NEAR_BYTES 40u

/* JA and JBE: the comparison before it bounds an index. */
static bool is_bound_check(const struct nocfi_insn *i)
{
	return (i->map == NOCFI_INSN_MAP_1 && (i->opcode & 0xfe) == 0x76) ||
	       (i->map == NOCFI_INSN_MAP_0F && (i->opcode & 0xfe) == 0x86);
}

static bool is_compare(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_1 &&
	       (i->opcode == 0x3c || i->opcode == 0x3d ||
		((i->opcode == 0x80 || i->opcode == 0x81 || i->opcode == 0x83) &&
		 (i->modrm >> 3 & 7) == 7));
}

/* *compared is the last value that something was compared with. */
static void note_bound(const struct nocfi_insn *i, int64_t *compared, struct nocfi_table *table)
{
	if (is_compare(i))
		*compared = i->imm;
	if (!is_bound_check(i))
		return;
	table->is_bounded = *compared >= 0 && *compared < NOCFI_TABLE_MAX_ENTRIES;
	table->n = table->is_bounded ? (uint32_t)*compared + 1 : NOCFI_TABLE_MAX_ENTRIES;
	*compared = -1;
}

static bool is_rip_lea(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_1 && i->opcode == 0x8d && (i->rex & 8) &&
	       nocfi_insn_base(i) == NOCFI_INSN_RIP;
}

/* movslq (base,index,4), r; the registers are 64 bits wide. */
static bool is_entry_load(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_1 && i->opcode == 0x63 && i->has_memory &&
	       i->sib >> 6 == 2 && nocfi_insn_base(i) < NOCFI_INSN_NO_REG &&
	       nocfi_insn_index(i) < NOCFI_INSN_NO_REG;
}

/* The address that `reg` was given just before `at`, or the only one that it was given at all in
 * front of it, out of the loop. */
static uint64_t base_address(const struct nocfi_text *text, const uint8_t *marks, uint8_t mask,
			     uint32_t at, unsigned int reg)
{
	uint64_t found = 0;
	struct nocfi_insn i;

	for (uint32_t o = at; o-- > 0;) {
		if (!(marks[o] & mask) || !nocfi_insn_decode(text->code + o, text->n - o, &i) ||
		    !is_rip_lea(&i) || nocfi_insn_reg(&i) != reg)
			continue;
		uint64_t vaddr = text->vaddr + o + i.n_bytes + (uint64_t)(int64_t)i.disp;
		if (at - o <= NEAR_BYTES)
			return vaddr;
		if (found && found != vaddr)
			return 0;
		found = vaddr;
	}
	return found;
}

bool nocfi_table_find(const struct nocfi_text *text, const uint8_t *marks, uint8_t mask,
		      uint32_t at, struct nocfi_table *ret_table)
{
	struct nocfi_table table = { .n = NOCFI_TABLE_MAX_ENTRIES };
	unsigned int base = NOCFI_INSN_NO_REG;
	int64_t compared = -1;
	struct nocfi_insn i;

	for (uint32_t o = at > LOOK_BACK_BYTES ? at - LOOK_BACK_BYTES : 0; o < at; o++) {
		if (!(marks[o] & mask) || !nocfi_insn_decode(text->code + o, text->n - o, &i))
			continue;
		note_bound(&i, &compared, &table);
		if (is_entry_load(&i))
			base = nocfi_insn_base(&i);
	}
	if (!nocfi_insn_decode(text->code + at, text->n - at, &i))
		return false;
	if (!i.has_memory) {
		if (base < NOCFI_INSN_NO_REG)
			table.vaddr = base_address(text, marks, mask, at, base);
	} else if (nocfi_insn_base(&i) == NOCFI_INSN_NO_REG &&
		   nocfi_insn_index(&i) != NOCFI_INSN_NO_REG && i.sib >> 6 == 3) {
		table.is_absolute = true;
		table.vaddr = (uint64_t)(int64_t)i.disp;
	}
	*ret_table = table;
	return table.vaddr != 0;
}

bool nocfi_table_target(const struct nocfi_text *text, const struct nocfi_table *table, uint32_t i,
			uint32_t *ret_at)
{
	uint64_t target;
	int32_t distance;

	if (table->is_absolute) {
		if (!text->read(table->vaddr + (uint64_t)i * 8, &target, 8, text->data))
			return false;
	} else {
		if (!text->read(table->vaddr + (uint64_t)i * 4, &distance, 4, text->data))
			return false;
		target = table->vaddr + (uint64_t)(int64_t)distance;
	}
	if (target < text->vaddr || target - text->vaddr >= text->n)
		return false;
	*ret_at = (uint32_t)(target - text->vaddr);
	return true;
}
