/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwind table of an object as it lies in the arena, and the look-up of the row for an address. Pure; compiled into the kernel
 * half, the agent and its tests.
 *
 * The arena is a set of segments of WIRE_SEGMENT_BYTES; a place in it is a number of 8-byte words, nothing that is allocated
 * crosses the border of a segment, place 0 is never given out.
 *
 *	struct wire_object ──► pages: a u32 for each 256 buckets (64 KiB of text)
 *	                         │  WIRE_PAGE_CONST | code: one rule for all of it
 *	                         └► block: u16 first_row[k + 1], k ≤ 256 buckets; u16 rows[n]
 *	                   ──► rules: struct wire_rule [], the first ≤ 255 by code
 *	                   ──► escapes: struct wire_escape [], ascending
 *
 * A row is (low byte of the address, code) and holds until the next one. A bucket is 256 bytes of text. rows[0] of a block tells
 * what holds at its first byte, so that the row in force before the first one of a bucket is always rows[first_row[g] − 1]; the
 * last first_row is the number of rows. Code WIRE_CODE_ESCAPE: the rule's index is found among the escapes by the row's address.
 *
 * The includer supplies, before including:
 *
 *	UNWIND_INLINE			how functions are declared
 *	UNWIND_SEGMENT(ctx, index)	const char *, the segment, or NULL
 */
#ifndef XAGENT_BPF_TABLE_H
#define XAGENT_BPF_TABLE_H

#include "bpf/rule.h"
#include "bpf/wire.h"

#define TABLE_WORD_MASK (WIRE_SEGMENT_BYTES / 8 - 1)
#define TABLE_SEGMENT_OF(at) ((at) / (WIRE_SEGMENT_BYTES / 8))
#define TABLE_BYTE_OF(at) (((at)&TABLE_WORD_MASK) * 8)

/* First steps of the searches: rows of a bucket, one a byte at most, until eight are left; escapes of an object, a segment full at most. The
 * steps add up to twice the first less the last. */
#define TABLE_MAX_STEP 256u
#define TABLE_MAX_ESCAPE_STEP (1u << 16)

_Static_assert(2 * TABLE_MAX_STEP - 1 >= 256, "the search reaches every row of a bucket");
_Static_assert(2 * TABLE_MAX_ESCAPE_STEP - 1 >= WIRE_MAX_ESCAPES,
	       "the search reaches every escape");

/* Loads from a segment; the masks are what the verifier needs, aligned places never reach them. */
UNWIND_INLINE __u32 table_u16(const char *segment, __u32 byte)
{
	return *(const __u16 *)(segment + (byte & (WIRE_SEGMENT_BYTES - 2)));
}

UNWIND_INLINE __u32 table_u32(const char *segment, __u32 byte)
{
	return *(const __u32 *)(segment + (byte & (WIRE_SEGMENT_BYTES - 4)));
}

UNWIND_INLINE __u64 table_u64(const char *segment, __u32 byte)
{
	return *(const __u64 *)(segment + (byte & (WIRE_SEGMENT_BYTES - 8)));
}

/*
 * The searches take no branch that depends on what they read: each halving adds its step or 0. To the verifier that is one path, where a
 * branch for each halving would be a thousand and more.
 */

/* All ones when a < b, else 0; both below 2^31. */
UNWIND_INLINE __u32 table_below(__u32 a, __u32 b)
{
	return (__u32)((__s32)(a - b) >> 31);
}

/* Four rows, from the `row`th on; 0 where they would lie behind the segment: those that count never do, since its last word is not given out.
 * They are not aligned, which no machine that BPF programs are compiled for minds. */
UNWIND_INLINE __u64 table_four_rows(const char *segment, __u32 rows_byte, __u32 row)
{
	__u32 byte = (rows_byte + row * 2) & (WIRE_SEGMENT_BYTES - 2);
#ifdef __bpf__
	return byte > WIRE_SEGMENT_BYTES - 8 ? 0 : *(const __u64 *)(segment + byte);
#else
	__u64 rows = 0;

	if (byte <= WIRE_SEGMENT_BYTES - 8)
		__builtin_memcpy(&rows, segment + byte, sizeof(rows));
	return rows;
#endif
}

#define TABLE_LANES 0x0001000100010001ULL

/* How many of the n lowest of four rows begin at or below `low`, given where they begin: in each lane low + 256 − begin has bit 8 set when
 * they do. */
UNWIND_INLINE __u32 table_count_four(__u64 begins, __u32 n, __u32 low)
{
	__u64 set = (TABLE_LANES * (low + 256) - begins) >> 8 & TABLE_LANES;

	if (n < 4)
		set &= (1ULL << n * 16) - 1;
	return (__u32)(set * TABLE_LANES >> 48);
}

/* One halving of the search for the last row of [.., last) whose low byte is not above `low`; the one at pos is one of them. */
UNWIND_INLINE __u32 table_halve(const char *segment, __u32 rows_byte, __u32 pos, __u32 step,
				__u32 last, __u32 low)
{
	__u32 next = pos + step;
	__u32 at = table_u16(segment, rows_byte + next * 2) & 0xff;

	return pos + (step & table_below(next, last) & table_below(at, low + 1));
}

/*
 * The row in force at the low byte `low` of a bucket whose rows are [first, last) of the rows at `rows_byte`: five on average, one a byte
 * at most. The one before them is in force at the bucket's first byte, so that it counts, whatever its low byte.
 */
UNWIND_INLINE __u32 table_search(const char *segment, __u32 rows_byte, __u32 first, __u32 last,
				 __u32 low)
{
	__u32 pos = first - 1;
	__u64 begins = TABLE_LANES * 0xff - 0xff;
	__u64 four, next;
	__u32 n;

	if (last - pos > 8) {
#pragma GCC unroll 8
		for (__u32 step = TABLE_MAX_STEP; step >= 8; step >>= 1)
			pos = table_halve(segment, rows_byte, pos, step, last, low);
	}
	four = table_four_rows(segment, rows_byte, pos);
	next = table_four_rows(segment, rows_byte, pos + 4);
	n = table_count_four(four & begins, last - pos, low);
	if (last - pos > 4)
		n += table_count_four(next & TABLE_LANES * 0xff, last - pos - 4, low);
	four = n > 4 ? next : four;
	return (__u32)(four >> ((n - 1) & 3) * 16) & 0xffff;
}

/* The row in force at bucket `bucket` of the object, low byte `low`: its code, and the distance of its address from base_vaddr. */
UNWIND_INLINE __u32 table_row(void *ctx, const struct wire_object *object, __u32 bucket, __u32 low,
			      __u32 *ret_row_off)
{
	const char *segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(object->pages_at));
	__u32 page = bucket >> 8;
	__u32 at, k, g, block, first_row, rows, row;

	if (!segment)
		return 0;
	at = table_u32(segment, TABLE_BYTE_OF(object->pages_at) + page * 4);
	*ret_row_off = page << 16;
	if (at & WIRE_PAGE_CONST)
		return at & 0xff;
	segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(at));
	if (!segment)
		return 0;
	k = object->n_buckets - (page << 8);
	if (k > 256)
		k = 256;
	g = bucket & 255;
	block = TABLE_BYTE_OF(at);
	rows = block + (k + 1) * 2;
	first_row = block + g * 2;
	row = table_search(segment, rows, table_u16(segment, first_row),
			   table_u16(segment, first_row + 2), low);
	/* Only escapes are looked for by address, and they are repeated at the start of a bucket. */
	*ret_row_off = (bucket << 8) | (row & 0xff);
	return row >> 8;
}

/* Index of the rule of the escape row at `row_off`; 0, the rule that is none, when there is no such escape. */
UNWIND_INLINE __u32 table_escape(void *ctx, const struct wire_object *object, __u32 row_off)
{
	const char *segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(object->escapes_at));
	__u32 byte = TABLE_BYTE_OF(object->escapes_at);
	__u32 pos = 0;

	if (!segment || !object->n_escapes)
		return 0;
#pragma GCC unroll 32
	for (__u32 step = TABLE_MAX_ESCAPE_STEP; step > 0; step >>= 1) {
		__u32 next = pos + step;
		__u32 off = table_u32(segment, byte + next * 8);

		/* Offsets reach beyond 2^31: compared in 64 bits. */
		pos += step & table_below(next, object->n_escapes) &
		       (__u32)((__s64)((__u64)off - row_off - 1) >> 63);
	}
	if (table_u32(segment, byte + pos * 8) != row_off)
		return 0;
	return table_u32(segment, byte + pos * 8 + 4);
}

/* The packed rule of an address as linked, `off` bytes behind base_vaddr; 0 when there is none. */
UNWIND_INLINE __u64 table_word(void *ctx, const struct wire_object *object, __u32 off)
{
	const char *segment;
	__u32 row_off = 0;
	__u32 code = table_row(ctx, object, off >> 8, off & 255, &row_off);

	if (code == WIRE_CODE_ESCAPE)
		code = table_escape(ctx, object, row_off);
	segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(object->rules_at));
	if (!code || !segment)
		return 0;
	return table_u64(segment, TABLE_BYTE_OF(object->rules_at) + code * 8);
}

/* A full rule is three words among the object's rules. */
UNWIND_INLINE void table_full_rule(void *ctx, const struct wire_object *object, __u32 index,
				   struct unwind_rule *ret_rule)
{
	const char *segment = UNWIND_SEGMENT(ctx, TABLE_SEGMENT_OF(object->rules_at));
	__u32 byte = TABLE_BYTE_OF(object->rules_at) + index * 8;
	__u64 *words = (__u64 *)ret_rule;

	if (!segment)
		return;
	words[0] = table_u64(segment, byte);
	words[1] = table_u64(segment, byte + 8);
	words[2] = table_u64(segment, byte + 16);
}

/* What the return address nibble says. */
UNWIND_INLINE void table_unpack_ra(struct wire_rule packed, struct unwind_rule *rule)
{
	__u32 kind = packed.fp_ra >> 4;

	rule->ra = RULE_RA_CFA;
	if (kind == WIRE_RA_CFA_8) {
		rule->ra_off = -8;
	} else if (kind == WIRE_RA_FP_8) {
		rule->ra_off = packed.fp_off + 8;
	} else if (kind == WIRE_RA_LINK) {
		rule->ra = RULE_RA_REG;
		rule->ra_reg = RULE_ARM64_LR;
	} else {
		rule->ra = kind == WIRE_RA_SIGNAL ? RULE_RA_SIGNAL : RULE_RA_UNDEFINED;
	}
}

/* A packed rule of the object, laid out in full. */
UNWIND_INLINE void table_unpack(void *ctx, const struct wire_object *object, __u64 word,
				struct unwind_rule *ret_rule)
{
	struct wire_rule packed;

	*ret_rule = (struct unwind_rule){ 0 };
	__builtin_memcpy(&packed, &word, sizeof(packed));
	if (!word)
		return;
	if (packed.cfa == WIRE_RULE_FULL) {
		table_full_rule(ctx, object, (__u32)packed.cfa_off, ret_rule);
		return;
	}
	ret_rule->cfa = WIRE_RULE_CFA(packed.cfa);
	ret_rule->cfa_reg = WIRE_RULE_CFA_REG(packed.cfa);
	ret_rule->cfa_off = packed.cfa_off;
	ret_rule->flags = packed.cfa & WIRE_RULE_SWITCH ? RULE_SWITCH : 0;
	ret_rule->fp = packed.fp_ra & 15;
	ret_rule->fp_off = packed.fp_off;
	if (ret_rule->fp == RULE_FP_DEREF)
		ret_rule->fp_reg = WIRE_ABI_FP;
	table_unpack_ra(packed, ret_rule);
}

/* The rule at an address as linked; RULE_CFA_NONE when there is none. */
UNWIND_INLINE void table_lookup(void *ctx, const struct wire_object *object, __u64 vaddr,
				struct unwind_rule *ret_rule)
{
	__u64 off = vaddr - object->base_vaddr;
	__u64 word = 0;

	if (off >> 8 < object->n_buckets)
		word = table_word(ctx, object, (__u32)off);
	table_unpack(ctx, object, word, ret_rule);
}

#endif
