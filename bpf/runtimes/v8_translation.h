/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that a call in optimized code is in, with the bytecode that each has come to: exactly what V8 would go on with in the interpreter, were the code thrown away during the call.
 *
 *	return address ──► entry of the code's table of safepoints ──► DeoptimizationData: where its translation begins
 *	translation: how many functions; then the frame of each, outermost first: its bytecode, its literal; behind each what its registers are to be
 *
 * A translation is instructions of a byte and some numbers, seven bits a byte, the lowest first; bit 7: there are more. It may begin with how far an older one lies before it, and then have, in place of
 * instructions, how many of them are the same there.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_TRANSLATION_H
#define XAGENT_BPF_RUNTIMES_V8_TRANSLATION_H

#include <linux/types.h>

#include "bpf/image.h"
#include "bpf/runtimes/v8.h"

/* Numbers of an instruction that begins a translation: how far back the older one lies, …, functions; and of a function. */
enum { V8_BEGIN_OLDER = 0, V8_BEGIN_FUNCTIONS = 2 };
enum { V8_FUNCTION_BYTECODE = 0, V8_FUNCTION_LITERAL = 1 };
/* Of the instructions that are functions the first two have bytecode; the other ones are builtins. */
#define V8_FUNCTION_OPCODES 4
#define V8_BYTECODE_OPCODES 2

/*
 * Functions that a safepoint of V8's optimized code is in, outermost first: that of the frame, and those that were inlined into it. Of each
 * which literal of the code it is, in the upper half, and one more than the bytecode that it has come to. There is room for a power of two of them.
 */
#define V8_CHAIN_FUNCTIONS 16

struct v8_chain {
	__u64 mark; /* a hash of the safepoint and of what follows: parts of two chains are no chain */
	__u64 n;    /* 0: V8 keeps nothing of the safepoint, or it is not understood */
	__u64 functions[V8_CHAIN_FUNCTIONS];
};

/* How much of each of two translations is read at once. */
#define V8_TRANSLATION_BYTES 128

/* A translation while it is read, and what came of it. */
struct v8_translation {
	struct v8_chain chain;
	__u64 at; /* translations of the code, one behind the other */
	__u32 n_bytes;
	__u32 begin; /* of the one that is read */
	/* Where the next byte is, and where that begins of which bytes were read: of the translation itself, and of an older one that it repeats parts of. */
	__u32 next[2], piece[2];
	__u32 is_older;	 /* the latter is read now … */
	__u32 n_passed;	 /* … over so many instructions … */
	__u32 n_same;	 /* … and then so many that are the same */
	__u32 n_since;	 /* instructions of its own since the last one that was the same */
	__u32 opcode;	 /* of the present one */
	__u32 n_numbers; /* of it, that are still to come */
	__u32 which;	 /* the next one of these */
	__u32 value, shift;
	__u32 n_functions; /* still to come; ~0 before the first instruction */
	__u32 is_broken;   /* it is none */
	__u32 is_cut;	   /* not all of it could be read */
	/* The table of safepoints: where entries are, how long one is, and sizes of its numbers; what is looked for in it. */
	__u64 entries;
	__u32 n_entries, entry_bytes, pc_bytes, index_bytes, pc;
	__u32 found; /* one more than the number that V8 knows the safepoint by; 0: none */
	char bytes[2 * V8_TRANSLATION_BYTES];
};

/* `key`: a hash of the process and the safepoint. */
static inline __attribute__((always_inline)) __u64 v8_chain_mark(const struct v8_chain *chain,
								 __u64 key)
{
	__u64 hash = hash_mix(key, chain->n);

	for (__u32 i = 0; i < V8_CHAIN_FUNCTIONS && i < chain->n; i++)
		hash = hash_mix(hash, chain->functions[i]);
	return hash;
}

/* n bytes of an entry that was read, from byte `at` on. */
static inline __attribute__((always_inline)) __u32 v8_entry_number(const __u64 entry[2], __u32 at,
								   __u32 n)
{
	__u64 word = at < 8 ? entry[0] >> (8 * at) : entry[1] >> (8 * (at & 7));

	if (at && at < 8)
		word |= entry[1] << (64 - 8 * at);
	return word & ((1ULL << (8 * n)) - 1);
}

/* The present instruction has all its numbers. */
static inline __attribute__((always_inline)) void v8_instruction_ends(struct v8_translation *t)
{
	if (!t->is_older)
		return;
	if (t->n_passed)
		t->n_passed--;
	else if (!--t->n_same)
		t->is_older = 0;
}

/* So many instructions are those of the older translation, behind those that this one had in place of its own. */
static inline __attribute__((always_inline)) void v8_same_begin(struct v8_translation *t, __u32 n)
{
	t->n_same = n;
	t->n_passed = t->n_since;
	t->n_since = 0;
	t->is_older = 1;
	t->n_numbers = 0;
	t->is_broken |= !n;
}

/* The last instruction says how many are the same, and bytes behind it are that and the number in one. */
static inline __attribute__((always_inline)) void
v8_instruction_begins(const struct v8_layout *l, struct v8_translation *t, __u32 opcode)
{
	__u32 same = l->n_translation_opcodes - 1;
	int is_begin = opcode - l->translation_begin < 2;

	if ((opcode >= same && t->is_older) ||
	    (!t->n_passed && is_begin != (t->n_functions == ~0U))) {
		t->is_broken = 1;
		return;
	}
	if (opcode > same) {
		v8_same_begin(t, opcode - same - 1);
		return;
	}
	t->opcode = opcode;
	t->which = t->value = t->shift = 0;
	t->n_numbers = l->translation_numbers[opcode >> 4 & 3] >> (4 * (opcode & 15)) & 15;
	if (!t->is_older && opcode != same)
		t->n_since++;
	if (!t->n_numbers)
		v8_instruction_ends(t);
}

/* Where the older translation begins, which is so far before this one; 0: there is none. */
static inline __attribute__((always_inline)) void v8_older(struct v8_translation *t, __u32 before)
{
	t->next[1] = before && before <= t->begin ? t->begin - before : ~0U;
	t->piece[1] = t->next[1] - V8_TRANSLATION_BYTES;
}

/* One more than the bytecode that a function has come to; the only negative one is −1, where it is entered. */
static inline __attribute__((always_inline)) void v8_chain_bytecode(struct v8_translation *t,
								    __u32 number)
{
	__u64 n = t->chain.n;
	int is_negative = number & 1;

	t->is_broken |= n >= V8_CHAIN_FUNCTIONS || (is_negative && number >> 1 != 1);
	asm volatile("" : "+r"(n));
	if (n < V8_CHAIN_FUNCTIONS)
		t->chain.functions[n] = is_negative ? 0 : (number >> 1) + 1;
}

/* And its literal. */
static inline __attribute__((always_inline)) void v8_chain_literal(struct v8_translation *t,
								   __u32 number)
{
	__u64 n = t->chain.n;

	asm volatile("" : "+r"(n));
	if (n < V8_CHAIN_FUNCTIONS)
		t->chain.functions[n] |= (__u64)(number >> 1) << 32;
	t->chain.n = n + 1;
}

/* A number of the present instruction, which is not passed over. Those with a sign have it in bit 0. */
static inline __attribute__((always_inline)) void v8_number(const struct v8_layout *l,
							    struct v8_translation *t, __u32 number)
{
	__u32 of_functions = t->opcode - l->translation_function;

	if (t->opcode - l->translation_begin < 2) {
		if (t->which == V8_BEGIN_OLDER)
			v8_older(t, number);
		if (t->which == V8_BEGIN_FUNCTIONS)
			t->n_functions = number >> 1;
	}
	if (of_functions < V8_BYTECODE_OPCODES && t->which == V8_FUNCTION_BYTECODE)
		v8_chain_bytecode(t, number);
	if (of_functions < V8_BYTECODE_OPCODES && t->which == V8_FUNCTION_LITERAL)
		v8_chain_literal(t, number);
	if (of_functions < V8_FUNCTION_OPCODES && t->which == V8_FUNCTION_LITERAL)
		t->n_functions--;
}

static inline __attribute__((always_inline)) void v8_number_ends(const struct v8_layout *l,
								 struct v8_translation *t)
{
	__u32 number = t->value;

	if (t->opcode == l->n_translation_opcodes - 1U) {
		v8_same_begin(t, number);
		return;
	}
	if (!t->n_passed)
		v8_number(l, t, number);
	t->which++;
	t->value = t->shift = 0;
	if (!--t->n_numbers)
		v8_instruction_ends(t);
}

/* Which begins there. */
static inline __attribute__((always_inline)) void v8_translation_begin(struct v8_translation *t,
								       __u32 begin)
{
	t->begin = t->next[0] = begin;
	t->piece[0] = begin - V8_TRANSLATION_BYTES;
	v8_older(t, 0);
	t->is_older = t->n_passed = t->n_same = t->n_since = t->n_numbers = 0;
	t->is_broken = 0;
	t->n_functions = ~0U;
}

/* The next byte, of the translation that is_older says. True: it ends. What was found is the chain, where it is not broken and no function is left. */
static inline __attribute__((always_inline)) int
v8_translation_take(const struct v8_layout *l, struct v8_translation *t, __u32 byte)
{
	if (!t->n_numbers) {
		v8_instruction_begins(l, t, byte);
	} else {
		t->is_broken |= t->shift > 28;
		t->value |= (byte & 127) << (t->shift & 31);
		t->shift += 7;
		if (!(byte & 128))
			v8_number_ends(l, t);
	}
	return t->is_broken || !t->n_functions;
}

#endif
