/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which bytecode baseline code has come to. Each of the function's bytecodes became some bytes of code, one behind the other, and the code's table has how many: seven
 * bits a byte, the lowest first; bit 7: there are more. Before the first bytecode there are those that make the frame. Where in the bytecodes the next one begins is told by how
 * long each is, of which V8 has a table in its file (kBytecodeSizes): a row for bytecodes as they are, and one for each of two prefixes that make operands wider.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_BASELINE_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_BASELINE_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* Of either, so much is read at once: the table's into s->runtime.bytes, the bytecodes behind it. */
#define V8_BASELINE_BYTES (RUNTIME_READ_BYTES / 2)
/* What that costs to look through, in pieces. */
#define V8_BASELINE_PIECES 32

/* words, while they are looked through. */
enum {
	V8_OFFSETS_AT, /* the table … */
	V8_OFFSETS_BYTES,
	V8_OFFSETS_PC, /* … how far pc is from the code's beginning */
	V8_OFFSETS_VALUE,
	V8_OFFSETS_SHIFT,
	V8_OFFSETS_END,	  /* of the code of the present bytecode, … */
	V8_BYTECODE,	  /* … which lies there: ~0 before the first */
	V8_BYTECODE_NEXT, /* where the next one lies, in … */
	V8_BYTECODES_AT,
	V8_BYTECODES_BYTES,
	V8_BYTECODES_PIECE /* … of which that is read from there on */
};

_Static_assert((int)V8_BYTECODES_PIECE < (int)V8_INLINES,
	       "what lasts from one frame to the next lies behind");

/* Bytes of the next bytecode; 0: not known. */
static __always_inline __u32 v8_bytecode_bytes(struct scratch *s, const struct wire_name *sizes)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 *w = s->runtime.words;
	__u64 at = w[V8_BYTECODE_NEXT] - w[V8_BYTECODES_PIECE];
	__u32 code, n, row = 0, prefix;

	if (w[V8_BYTECODE_NEXT] >= w[V8_BYTECODES_BYTES])
		return 0;
	if (at >= V8_BASELINE_BYTES - 1) {
		__u64 left = w[V8_BYTECODES_BYTES] - w[V8_BYTECODE_NEXT];

		n = left < V8_BASELINE_BYTES ? left : V8_BASELINE_BYTES;
		barrier_var(n);
		if (n > V8_BASELINE_BYTES ||
		    bpf_probe_read_user(s->runtime.bytes + V8_BASELINE_BYTES, n,
					(void *)(w[V8_BYTECODES_AT] + w[V8_BYTECODE_NEXT])))
			return 0;
		w[V8_BYTECODES_PIECE] = w[V8_BYTECODE_NEXT];
		at = 0;
	}
	code = (__u8)s->runtime.bytes[V8_BASELINE_BYTES + (at & (V8_BASELINE_BYTES - 1))];
	prefix = code <= V8_LAST_PREFIX;
	if (prefix) {
		row = 1 + (code & 1);
		code = (__u8)s->runtime
			       .bytes[V8_BASELINE_BYTES + ((at + 1) & (V8_BASELINE_BYTES - 1))];
	}
	if (code >= l->n_bytecodes)
		return 0;
	return prefix + (__u8)sizes->texts[(row * l->n_bytecodes + code) & (V8_SIZES_BYTES - 1)];
}

static long v8_baseline_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct wire_name *sizes = bpf_map_lookup_elem(&names, data);
	__u64 *w, value;
	__u32 n, byte;

	if (!s || !sizes)
		return 1;
	w = s->runtime.words;
	if (index >= w[V8_OFFSETS_BYTES])
		return 1;
	if (!(index & (V8_BASELINE_BYTES - 1))) {
		n = w[V8_OFFSETS_BYTES] - index < V8_BASELINE_BYTES ? w[V8_OFFSETS_BYTES] - index
								    : V8_BASELINE_BYTES;
		barrier_var(n);
		if (s->runtime.n_pieces >= V8_MAX_PIECES || n > V8_BASELINE_BYTES ||
		    bpf_probe_read_user(s->runtime.bytes, n, (void *)(w[V8_OFFSETS_AT] + index)))
			return 1;
		s->runtime.n_pieces += V8_BASELINE_PIECES;
	}
	byte = (__u8)s->runtime.bytes[index & (V8_BASELINE_BYTES - 1)];
	value = w[V8_OFFSETS_VALUE] | (__u64)(byte & 127) << (w[V8_OFFSETS_SHIFT] & 31);
	if (byte & 128) {
		w[V8_OFFSETS_VALUE] = value;
		w[V8_OFFSETS_SHIFT] += 7;
		return 0;
	}
	w[V8_OFFSETS_VALUE] = w[V8_OFFSETS_SHIFT] = 0;
	w[V8_OFFSETS_END] += value;
	if (w[V8_OFFSETS_END] > w[V8_OFFSETS_PC])
		return 1;
	n = v8_bytecode_bytes(s, sizes);
	w[V8_BYTECODE] = w[V8_BYTECODE_NEXT];
	w[V8_BYTECODE_NEXT] += n;
	return !n;
}

/* The Code that was read is baseline code, which begins at `begin`. ~0: not known. */
static __always_inline __u32 v8_baseline_look(struct scratch *s, __u32 level, __u64 begin,
					      __u64 bytecode)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 table = v8_shared_word(s, l->code_positions) - V8_TAG;
	struct wire_name *sizes = bpf_map_lookup_elem(&names, &level);
	__u64 *w = s->runtime.words;
	__u32 n = 3 * l->n_bytecodes;

	barrier_var(n);
	/* Nothing is told of the frame yet: there is room for what is read once. */
	if (!sizes || (table & V8_TAG_MASK) || !n || n > V8_SIZES_BYTES ||
	    bpf_probe_read_user(sizes->texts, n, (void *)(s->runtime.of.base + l->sizes_at)))
		return ~0U;
	w[V8_OFFSETS_AT] = table + V8_ARRAY_DATA;
	w[V8_OFFSETS_BYTES] = v8_word(table + V8_ARRAY_LENGTH) >> 32;
	w[V8_OFFSETS_PC] = s->walk.pc - begin;
	w[V8_OFFSETS_VALUE] = w[V8_OFFSETS_SHIFT] = w[V8_OFFSETS_END] = 0;
	w[V8_BYTECODE] = ~0ULL;
	w[V8_BYTECODE_NEXT] = 0;
	w[V8_BYTECODES_AT] = bytecode + l->bytecode_data;
	w[V8_BYTECODES_BYTES] = v8_word(bytecode + V8_ARRAY_LENGTH) >> 32;
	w[V8_BYTECODES_PIECE] = V8_BASELINE_BYTES;
	bpf_loop(V8_MAX_POSITIONS, v8_baseline_step, &level, 0);
	return w[V8_OFFSETS_END] > w[V8_OFFSETS_PC] ? w[V8_BYTECODE] : ~0U;
}

/* By the present frame's code. ~0: it is no baseline code, or it is not known. */
__noinline __u32 v8_baseline_at(__u32 level, __u64 bytecode)
{
	struct scratch *s = walk_scratch(level);
	__u64 begin, key, begun, found;
	__u32 at;

	if (!s || !v8_layout(s)->code_header || !v8_layout(s)->n_bytecodes)
		return ~0U;
	begin = v8_find_code(s, &key);
	if (!begin || (v8_shared_int(s, v8_layout(s)->code_flags) & V8_CODE_KIND) !=
			      v8_layout(s)->kind_baseline)
		return ~0U;
	/* In place of what optimized code has it leads to the bytecode: the frame is this code's. */
	if (v8_shared_word(s, v8_layout(s)->code_deopt) != bytecode + V8_TAG)
		return ~0U;
	/* The same function's code is the same, wherever it lies. */
	key = hash_mix(s->runtime.print, s->runtime.function);
	key = hash_mix(hash_mix(s->runtime.process, key),
		       (s->walk.pc - begin) << 32 | v8_shared_int(s, v8_layout(s)->code_bytes));
	if (remembered(key, &begun, &found))
		return found;
	at = v8_baseline_look(s, level, begin, bytecode);
	if (at != ~0U)
		remember(key, begin, at);
	return at;
}

#endif
