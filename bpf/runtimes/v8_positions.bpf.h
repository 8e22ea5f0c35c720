/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tables of source positions, which code and bytecode have. */
#ifndef XAGENT_BPF_RUNTIMES_V8_POSITIONS_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_POSITIONS_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_objects.bpf.h"

#define V8_TABLE_PIECES (RUNTIME_READ_BYTES / 10)
/* The longest table. */
#define V8_MAX_POSITIONS 8192

/* It could not be read to the end. */
#define V8_NO_POSITION (~0ULL)

/* words[2 …]: the table of positions. What is behind it lasts from one frame to the next, beside whatever is read for names. */
enum {
	V8_FOUND_AT = 1, /* the bytes of code that have what was found, … */
	V8_TABLE_AT,
	V8_TABLE_BYTES,
	V8_TABLE_PC,
	V8_VALUE,
	V8_SHIFT,
	V8_OFFSET,
	V8_POSITION,
	V8_FOUND,
	V8_IS_CUT,
	V8_INLINES,  /* of the present frame: inlining positions … */
	V8_LITERALS, /* … and literals */
	V8_LENGTHS,  /* … how many of them there are, those of literals in the upper half */
	V8_BEFORE,   /* the record's words before the functions that were inlined into it */
	V8_CODE_MAP, /* the map of Codes; 0: none was read */
	V8_PLACE, /* where in its script the next function is, as a source position has it, or V8_PLACE_OF_BYTECODE; 0: not known */
	V8_ASKED, /* the frame pointer of the frame whose inlined functions were asked for last */
	V8_IS_CHAIN /* those functions are in the translation's chain */
};

_Static_assert(V8_IS_CHAIN < RUNTIME_WORDS, "they fit");

/*
 * An entry is two numbers, each by how much it differs from that before: bytes of code, complemented unless a statement begins there, and
 * from V8 14 on with a flag in bit 0; a source position. Seven bits a byte, the lowest first; bit 7: there are more; the sign is the lowest bit.
 */
static long v8_position_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u64 *w, value;
	__u32 n, byte;

	if (!s)
		return 1;
	w = s->runtime.words;
	if (index >= w[V8_TABLE_BYTES])
		return 1;
	if (!(index & (RUNTIME_READ_BYTES - 1))) {
		n = w[V8_TABLE_BYTES] - index < RUNTIME_READ_BYTES ? w[V8_TABLE_BYTES] - index
								   : RUNTIME_READ_BYTES;
		barrier_var(n);
		if (s->runtime.n_pieces >= V8_MAX_PIECES || n > RUNTIME_READ_BYTES ||
		    bpf_probe_read_user(s->runtime.bytes, n, (void *)(w[V8_TABLE_AT] + index))) {
			w[V8_IS_CUT] = 1;
			return 1;
		}
		s->runtime.n_pieces += V8_TABLE_PIECES;
	}
	byte = (__u8)s->runtime.bytes[index & (RUNTIME_READ_BYTES - 1)];
	value = w[V8_VALUE] | (__u64)(byte & 127) << (w[V8_SHIFT] & 63);
	if (byte & 128) {
		w[V8_VALUE] = value;
		w[V8_SHIFT] += 7;
		return 0;
	}
	value = (value >> 1) ^ -(value & 1);
	w[V8_VALUE] = w[V8_SHIFT] = 0;
	/* In bit 63 of the offset: the next number is a position. */
	if (w[V8_OFFSET] >> 63) {
		w[V8_OFFSET] &= ~(1ULL << 63);
		w[V8_POSITION] += value;
		w[V8_FOUND] = w[V8_POSITION];
		w[V8_FOUND_AT] = w[V8_OFFSET];
		return 0;
	}
	if (value >> 63)
		value = ~value;
	if (v8_layout(s)->has_statement_bits)
		value >>= 1;
	w[V8_OFFSET] += value;
	if (w[V8_OFFSET] > w[V8_TABLE_PC])
		return 1;
	w[V8_OFFSET] |= 1ULL << 63;
	return 0;
}

/* The position of the last entry of a table, a byte array, that is not behind pc; 0: there is none. */
__noinline __u64 v8_position(__u32 level, __u64 pointer, __u32 pc)
{
	struct scratch *s = walk_scratch(level);
	__u64 table = pointer - V8_TAG;
	__u64 n;

	if (!s || (table & V8_TAG_MASK))
		return 0;
	n = v8_word(table + V8_ARRAY_LENGTH) >> 32;
	if (n > V8_MAX_POSITIONS)
		return 0;
	s->runtime.words[V8_TABLE_AT] = table + V8_ARRAY_DATA;
	s->runtime.words[V8_TABLE_BYTES] = n;
	s->runtime.words[V8_FOUND_AT] = 0;
	/* What is told of the first entry is how far it is from −1, where a function is entered. */
	s->runtime.words[V8_TABLE_PC] = pc + 1U;
	s->runtime.words[V8_VALUE] = s->runtime.words[V8_SHIFT] = s->runtime.words[V8_OFFSET] = 0;
	s->runtime.words[V8_POSITION] = s->runtime.words[V8_FOUND] = s->runtime.words[V8_IS_CUT] =
		0;
	bpf_loop(V8_MAX_POSITIONS, v8_position_step, &level, 0);
	return s->runtime.words[V8_IS_CUT] ? V8_NO_POSITION : s->runtime.words[V8_FOUND];
}

#endif
