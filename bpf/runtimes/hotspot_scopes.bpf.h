/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Methods that a compiler has inlined into the one whose frame it is. The code has a table of places (PcDesc) by their offset, in each of which a thread can be
 * stopped: return addresses of calls are among them. A place leads to a scope, a scope to its method and to the scope around it, up to that of the
 * frame's own method. Only a chain that ends there is used.
 *
 * A caller is at such a place. A leaf lies between two of them, and what is shown is what both lie in: where in between one method ends and
 * the next one begins is not told.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_SCOPES_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_SCOPES_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/runtimes/hotspot_deopt.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"

/* Methods that lie in each other: C2 goes 15 deep, further where one is as good as a field (MaxInlineLevel, MaxForceInlineLevel: 100). */
#define HOTSPOT_MAX_SCOPES 128
/* A code's places, and the steps of a search among so many. */
#define HOTSPOT_MAX_PLACES (1u << 18)
#define HOTSPOT_SEARCH_STEPS 19
#define HOTSPOT_PLACE_BYTES 16
/* Steps of all searches of a sample together: a stack of 500 frames takes some 6,000 when none of its addresses is remembered. A process may have as many scopes in
 * each other as there can be, at each frame. */
#define HOTSPOT_MAX_STEPS 8192
/* Three numbers of five bytes at most. */
#define HOTSPOT_SCOPE_BYTES 16

/* Numbers of debug information: six bits a byte, the lowest first; from this value on there are more. Since JDK 20 no byte is 0. */
#define HOTSPOT_HIGH 192
#define HOTSPOT_MAX_NUMBER_BYTES 5

/* The number at *at in what was read last. */
static __always_inline __u32 hotspot_number(const struct scratch *s, __u32 *at)
{
	__u32 excluded = hotspot_layout(s)->major >= 20, sum = 0;

	for (__u32 i = 0; i < HOTSPOT_MAX_NUMBER_BYTES; i++) {
		__u32 byte = (__u8)s->runtime.bytes[*at & (HOTSPOT_SCOPE_BYTES - 1)];

		(*at)++;
		sum += (byte - excluded) << 6 * i;
		if (byte < HOTSPOT_HIGH)
			break;
	}
	return sum;
}

/* Reads the scope at an offset: WORD_SENDER, WORD_METHOD, WORD_BCI. The one around it was written before. */
__noinline int hotspot_scope(__u32 level, __u32 offset)
{
	struct scratch *s = walk_scratch(level);
	__u32 at = 0;

	if (!s || !offset ||
	    bpf_probe_read_user(s->runtime.bytes, HOTSPOT_SCOPE_BYTES,
				(void *)(s->runtime.words[HOTSPOT_WORD_SCOPES] + offset)))
		return 0;
	s->runtime.words[HOTSPOT_WORD_SENDER] = hotspot_number(s, &at);
	s->runtime.words[HOTSPOT_WORD_METHOD] = hotspot_number(s, &at);
	s->runtime.words[HOTSPOT_WORD_BCI] = hotspot_number(s, &at) - 1;
	return s->runtime.words[HOTSPOT_WORD_SENDER] < offset;
}

/* The Method of the scope that was read. */
static __always_inline __u64 hotspot_scope_method(const struct scratch *s)
{
	__u64 number = s->runtime.words[HOTSPOT_WORD_METHOD];

	return number && number < HOTSPOT_MAX_PLACES
		       ? hotspot_u64(s->runtime.words[HOTSPOT_WORD_METADATA] + 8 * (number - 1))
		       : 0;
}

/* WORD_ONE: a scope, WORD_OTHER: how many are around it. */
static long hotspot_outer_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	int is_read;

	(void)index;
	if (!s || s->runtime.n_reads++ >= HOTSPOT_MAX_STEPS)
		return 1;
	is_read = hotspot_scope(s->level, s->runtime.words[HOTSPOT_WORD_ONE]);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read || !s->runtime.words[HOTSPOT_WORD_SENDER])
		return 1;
	s->runtime.words[HOTSPOT_WORD_ONE] = s->runtime.words[HOTSPOT_WORD_SENDER];
	s->runtime.words[HOTSPOT_WORD_OTHER]++;
	return 0;
}

/* How many scopes there are from this one to that of the frame's own method, both included; 0: it does not lead there. */
__noinline __u32 hotspot_depth(__u32 level, __u32 offset, __u64 method)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.words[HOTSPOT_WORD_ONE] = offset;
	s->runtime.words[HOTSPOT_WORD_OTHER] = 0;
	s->runtime.words[HOTSPOT_WORD_SENDER] = 1;
	bpf_loop(HOTSPOT_MAX_SCOPES, hotspot_outer_step, &level, 0);
	if (s->runtime.words[HOTSPOT_WORD_SENDER] || hotspot_scope_method(s) != method)
		return 0;
	return (__u32)s->runtime.words[HOTSPOT_WORD_OTHER] + 1;
}

static __always_inline bool hotspot_get_place(const struct scratch *s, __u64 number, int *ret_at)
{
	return number < HOTSPOT_MAX_PLACES &&
	       !bpf_probe_read_user(ret_at, sizeof(*ret_at),
				    (void *)(s->runtime.words[HOTSPOT_WORD_PLACES] +
					     HOTSPOT_PLACE_BYTES * number));
}

/* WORD_ONE: a place that is not behind WORD_WANTED, WORD_OTHER: one that is, or behind the last one. */
static long hotspot_search_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u64 low, high, middle;
	int at;

	(void)index;
	if (!s || s->runtime.n_reads++ >= HOTSPOT_MAX_STEPS)
		return 1;
	low = s->runtime.words[HOTSPOT_WORD_ONE];
	high = s->runtime.words[HOTSPOT_WORD_OTHER];
	if (high <= low + 1)
		return 1;
	middle = (low + high) / 2;
	if (!hotspot_get_place(s, middle, &at) || at > (int)s->runtime.words[HOTSPOT_WORD_WANTED])
		s->runtime.words[HOTSPOT_WORD_OTHER] = middle;
	else
		s->runtime.words[HOTSPOT_WORD_ONE] = middle;
	return 0;
}

static __always_inline __u32 hotspot_scope_of_place(const struct scratch *s, __u64 number)
{
	return hotspot_u32(s->runtime.words[HOTSPOT_WORD_PLACES] + HOTSPOT_PLACE_BYTES * number +
			   4);
}

/* WORD_ONE, WORD_OTHER: scopes with as many around them; WORD_WANTED: the innermost that both lie in. */
static long hotspot_common_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u64 *w, sender, method, bci, low;
	int is_read;

	(void)index;
	if (!s)
		return 1;
	w = s->runtime.words;
	low = w[HOTSPOT_WORD_ONE];
	is_read = hotspot_scope(s->level, low);
	asm volatile("" : "+r"(is_read));
	sender = w[HOTSPOT_WORD_SENDER];
	method = w[HOTSPOT_WORD_METHOD];
	bci = w[HOTSPOT_WORD_BCI];
	if (is_read)
		is_read = hotspot_scope(s->level, w[HOTSPOT_WORD_OTHER]);
	asm volatile("" : "+r"(is_read));
	if (!is_read) {
		w[HOTSPOT_WORD_WANTED] = 0;
		return 1;
	}
	if (method != w[HOTSPOT_WORD_METHOD])
		w[HOTSPOT_WORD_WANTED] = sender;
	else if (bci != w[HOTSPOT_WORD_BCI])
		w[HOTSPOT_WORD_WANTED] = low;
	w[HOTSPOT_WORD_ONE] = sender;
	w[HOTSPOT_WORD_OTHER] = w[HOTSPOT_WORD_SENDER];
	return !sender || !w[HOTSPOT_WORD_OTHER];
}

/* WORD_ONE: a scope that n lie around too many. */
static long hotspot_raise_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	int is_read;

	(void)index;
	if (!s)
		return 1;
	is_read = hotspot_scope(s->level, s->runtime.words[HOTSPOT_WORD_ONE]);
	asm volatile("" : "+r"(is_read));
	s->runtime.words[HOTSPOT_WORD_ONE] = is_read ? s->runtime.words[HOTSPOT_WORD_SENDER] : 0;
	return !is_read;
}

__noinline __u32 hotspot_raise(__u32 level, __u32 offset, __u32 n)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.words[HOTSPOT_WORD_ONE] = offset;
	bpf_loop(n < HOTSPOT_MAX_SCOPES ? n : HOTSPOT_MAX_SCOPES, hotspot_raise_step, &level, 0);
	return s->runtime.words[HOTSPOT_WORD_ONE];
}

/* The innermost scope that both lie in, as many around one as around the other; 0: there is none. */
__noinline __u32 hotspot_common(__u32 level, __u32 one, __u32 other)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.words[HOTSPOT_WORD_ONE] = s->runtime.words[HOTSPOT_WORD_WANTED] = one;
	s->runtime.words[HOTSPOT_WORD_OTHER] = other;
	bpf_loop(HOTSPOT_MAX_SCOPES, hotspot_common_step, &level, 0);
	return s->runtime.words[HOTSPOT_WORD_WANTED];
}

/* The scopes of the places at or before an offset in the code, and behind it (in the upper half). WORD_OTHER: how many places there are. 0: none is told. */
__noinline __u64 hotspot_search(__u32 level, __u32 wanted)
{
	struct scratch *s = walk_scratch(level);
	int at = -1;

	if (!s)
		return 0;
	s->runtime.words[HOTSPOT_WORD_ONE] = 0;
	s->runtime.words[HOTSPOT_WORD_WANTED] = wanted;
	bpf_loop(HOTSPOT_SEARCH_STEPS, hotspot_search_step, &level, 0);
	if (!hotspot_get_place(s, s->runtime.words[HOTSPOT_WORD_ONE], &at))
		return 0;
	/* A caller is at a place, or nothing tells where it is. */
	if (!(s->walk.flags & UNWIND_EXACT) && at != (int)wanted)
		return 0;
	return hotspot_scope_of_place(s, s->runtime.words[HOTSPOT_WORD_ONE]) |
	       (__u64)hotspot_scope_of_place(s, s->runtime.words[HOTSPOT_WORD_OTHER]) << 32;
}

static __always_inline __u64 hotspot_field(const struct scratch *s, __u64 at, __u32 field)
{
	return at + hotspot_u32(at + hotspot_layout(s)->at[field]);
}

/* WORD_OTHER: how many places there are. The last one is behind all code. */
static __always_inline void hotspot_count_places(__u64 *w, __u64 end)
{
	__u64 n = (end - w[HOTSPOT_WORD_PLACES]) / HOTSPOT_PLACE_BYTES;

	w[HOTSPOT_WORD_OTHER] = n < HOTSPOT_MAX_PLACES ? n : 0;
}

/* Where the tables of the code are whose CodeBlob is at `at`. */
static __always_inline void hotspot_find_tables(struct scratch *s, __u64 at)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u64 *w = s->runtime.words, begin;

	if (l->at[HOTSPOT_NMETHOD_IMMUTABLE] != HOTSPOT_NONE) {
		begin = hotspot_u64(at + l->at[HOTSPOT_NMETHOD_IMMUTABLE]);
		w[HOTSPOT_WORD_SCOPES] = begin + hotspot_u32(at + l->at[HOTSPOT_NMETHOD_SCOPES]);
		w[HOTSPOT_WORD_PLACES] = begin + hotspot_u32(at + l->at[HOTSPOT_NMETHOD_PLACES]);
		w[HOTSPOT_WORD_METADATA] = hotspot_u64(at + l->at[HOTSPOT_BLOB_MUTABLE]) +
					   hotspot_u32(at + l->at[HOTSPOT_BLOB_RELOCATION]);
		/* Scopes lie behind them. */
		hotspot_count_places(w, w[HOTSPOT_WORD_SCOPES]);
		return;
	}
	w[HOTSPOT_WORD_SCOPES] = l->at[HOTSPOT_NMETHOD_SCOPES_9] != HOTSPOT_NONE
					 ? hotspot_u64(at + l->at[HOTSPOT_NMETHOD_SCOPES_9])
					 : hotspot_field(s, at, HOTSPOT_NMETHOD_SCOPES);
	w[HOTSPOT_WORD_PLACES] = hotspot_field(s, at, HOTSPOT_NMETHOD_PLACES);
	w[HOTSPOT_WORD_METADATA] = hotspot_field(s, at, HOTSPOT_NMETHOD_METADATA);
	hotspot_count_places(w, hotspot_field(s, at, HOTSPOT_NMETHOD_PLACES_END));
}

/* Beside a CodeBlob's address, which is a multiple of 16: others lie around the scope. */
#define HOTSPOT_IS_INLINED 1ULL

/* The scope that is remembered is the next one to be shown. False: none is remembered, and its tables were looked for. */
__noinline int hotspot_recall_scope(__u32 level, __u64 at, __u32 number)
{
	struct scratch *s = walk_scratch(level);
	__u64 begin, found;

	if (!s)
		return 0;
	if (number && remembered(hotspot_key_of_pc(s), &begin, &found) &&
	    (begin & ~HOTSPOT_IS_INLINED) == at && found >> 32 == number) {
		s->runtime.words[HOTSPOT_WORD_SCOPES] = 0;
		s->runtime.inlined = found;
		return 1;
	}
	hotspot_find_tables(s, at);
	return 0;
}

/* What is remembered of the present frame's code. */
static __always_inline void hotspot_set_key(struct scratch *s, __u64 at, __u32 number)
{
	s->runtime.words[HOTSPOT_WORD_KEY] =
		number ? hash_mix(hash_mix(s->runtime.process, at), number) : 0;
}

/* A Method of a scope, as long as the compilation is what it was: its class is not unloaded before that. */
struct hotspot_scope {
	__u64 method; /* 0: of the frame's own, which is not read here */
	__u32 print;
	__u32 sender; /* the scope around it; 0: it is the frame's own */
	__u32 bci;
};

/* Addresses of user space have 47 bits where nobody asks for more. Code of a method has less than 64 KiB. */
#define HOTSPOT_METHOD_BITS 48
#define HOTSPOT_SHORT_NO_BCI 0xffff

/* Scope 0 is the method that the code is of. */
static __always_inline bool hotspot_recall_method(const struct scratch *s, __u32 scope,
						  struct hotspot_scope *ret_scope)
{
	__u64 key = s->runtime.words[HOTSPOT_WORD_KEY], begin, found;

	if (!key || !remembered(hash_mix(key, scope), &begin, &found))
		return false;
	ret_scope->method = begin & ((1ULL << HOTSPOT_METHOD_BITS) - 1);
	ret_scope->bci = begin >> HOTSPOT_METHOD_BITS;
	if (ret_scope->bci == HOTSPOT_SHORT_NO_BCI)
		ret_scope->bci = HOTSPOT_NO_BCI;
	ret_scope->print = found >> 32;
	ret_scope->sender = found;
	return true;
}

static __always_inline void hotspot_remember_method(const struct scratch *s, __u32 scope,
						    const struct hotspot_scope *what)
{
	__u64 key = s->runtime.words[HOTSPOT_WORD_KEY];
	__u64 bci = what->bci == HOTSPOT_NO_BCI ? HOTSPOT_SHORT_NO_BCI : what->bci;

	if (key && bci <= HOTSPOT_SHORT_NO_BCI && !(what->method >> HOTSPOT_METHOD_BITS))
		remember(hash_mix(key, scope), what->method | bci << HOTSPOT_METHOD_BITS,
			 (__u64)what->print << 32 | what->sender);
}

static __always_inline void hotspot_show_remembered(struct scratch *s,
						    const struct hotspot_scope *what, __u32 bci)
{
	s->runtime.known[HOTSPOT_KNOWN_NAMES].at = HOTSPOT_NAMES_UNREAD;
	s->runtime.function = what->method;
	s->runtime.print = what->print;
	s->runtime.position = bci;
}

/* The innermost scope at an offset in the code of a method. A function of the verifier's goes eight calls deep, so all are called from here. */
static __always_inline __u32 hotspot_scope_at(struct scratch *s, __u32 wanted, __u64 method)
{
	__u32 level = s->level, n, n_other;
	__u64 found = hotspot_search(level, wanted);
	__u32 one = found, other = found >> 32;

	n = hotspot_depth(level, one, method);
	/* The method's own scope alone says nothing that the code does not, but where in it that is. */
	if (!(s->walk.flags & UNWIND_EXACT))
		return n > !want_lines ? one : 0;
	n_other = hotspot_depth(level, other, method);
	if (n <= 1 || n_other <= 1)
		return 0;
	one = hotspot_raise(level, one, n > n_other ? n - n_other : 0);
	other = hotspot_raise(level, other, n_other > n ? n_other - n : 0);
	return hotspot_common(level, one, other);
}

/* Reads a scope and its method. False: there is no such scope. Of the frame's own one the method is left to whoever shows that. */
static __always_inline bool hotspot_read_scope(struct scratch *s, __u32 scope,
					       struct hotspot_scope *ret_scope)
{
	__u32 level = s->level;
	int is_read;

	if (!s->runtime.words[HOTSPOT_WORD_SCOPES])
		hotspot_find_tables(s, s->runtime.words[HOTSPOT_WORD_AT]);
	is_read = hotspot_scope(level, scope);
	asm volatile("" : "+r"(is_read));
	if (!is_read)
		return false;
	*ret_scope = (struct hotspot_scope){ .sender = s->runtime.words[HOTSPOT_WORD_SENDER],
					     .bci = s->runtime.words[HOTSPOT_WORD_BCI] };
	if (ret_scope->sender) {
		is_read = hotspot_method(level, hotspot_scope_method(s), ret_scope->bci,
					 HOTSPOT_AT_BCI);
		asm volatile("" : "+r"(is_read));
		if (!is_read)
			s->runtime.function = 0;
		ret_scope->method = s->runtime.function;
		ret_scope->print = s->runtime.print;
		ret_scope->bci = s->runtime.position;
	}
	if (ret_scope->method || !ret_scope->sender)
		hotspot_remember_method(s, scope, ret_scope);
	return true;
}

/*
 * The function of the scope that is to be shown next. False: it is that of the frame's own method, and left to whoever shows that, with WORD_BCI.
 * is_between: it is of a leaf, and not told where in it that is.
 */
__noinline int hotspot_show_scope(__u32 level, __u32 is_between)
{
	struct scratch *s = walk_scratch(level);
	struct hotspot_scope what = { .bci = HOTSPOT_NO_BCI };

	if (!s)
		return 0;
	if (hotspot_recall_method(s, s->runtime.inlined, &what)) {
		if (what.sender)
			hotspot_show_remembered(s, &what, what.bci);
	} else {
		hotspot_read_scope(s, s->runtime.inlined, &what);
	}
	if (is_between)
		what.bci = s->runtime.position = HOTSPOT_NO_BCI;
	s->runtime.inlined = what.sender;
	s->runtime.words[HOTSPOT_WORD_BCI] = what.bci;
	return what.sender != 0;
}

/* The method that the code is of. */
__noinline int hotspot_show_own(__u32 level, __u64 method, __u32 bci)
{
	struct scratch *s = walk_scratch(level);
	struct hotspot_scope what = { 0 };
	int is_read;

	if (!s)
		return 0;
	if (hotspot_recall_method(s, 0, &what) && what.method == method) {
		hotspot_show_remembered(s, &what, bci < what.bci ? bci : HOTSPOT_NO_BCI);
		return 1;
	}
	is_read = hotspot_method(level, method, bci, HOTSPOT_AT_BCI);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read)
		s->runtime.function = 0;
	what = (struct hotspot_scope){
		.method = s->runtime.function,
		.print = s->runtime.print,
		/* How many bytecodes there are. */
		.bci = hotspot_read_u16(s, hotspot_layout(s)->at[HOTSPOT_CONST_CODE_BYTES]),
	};
	if (what.method)
		hotspot_remember_method(s, 0, &what);
	return 1;
}

/*
 * All of a caller that is not inlined, behind what is remembered of its address: its method, print and bytecode, how its code was compiled and how large its frames are.
 */
#define HOTSPOT_TIER_SHIFT 24

static __always_inline __u64 hotspot_key_of_caller(__u64 key, __u32 number)
{
	/* The next place, which mostly lies in the same line of memory. */
	return (key + 1) ^ (__u64)number << 32;
}

static __always_inline void hotspot_remember_caller(const struct scratch *s, __u32 number,
						    __u64 method, __u32 tier, __u32 bytes)
{
	__u32 position = s->runtime.position;
	__u64 bci = position == HOTSPOT_NO_BCI ? HOTSPOT_SHORT_NO_BCI : position;

	if (number && !(s->walk.flags & UNWIND_EXACT) && method && s->runtime.function == method &&
	    !(method >> HOTSPOT_METHOD_BITS) && bci <= HOTSPOT_SHORT_NO_BCI)
		remember(hotspot_key_of_caller(hotspot_key_of_pc(s), number),
			 method | bci << HOTSPOT_METHOD_BITS,
			 (__u64)s->runtime.print << 32 | tier << HOTSPOT_TIER_SHIFT | bytes / 8);
}

/* Functions that were inlined into the present frame, whose CodeBlob is at `at`, come before its own. */
static __always_inline int hotspot_inlined_first(struct scratch *s, __u64 at, __u32 number,
						 __u64 begin, __u64 method)
{
	int deopt = HOTSPOT_NOT_GIVEN_UP, is_known;
	__u32 wanted, scope;

	s->runtime.words[HOTSPOT_WORD_BCI] = HOTSPOT_NO_BCI;
	if (!hotspot_layout(s)->has_scopes)
		return 0;
	if (!(s->walk.flags & UNWIND_EXACT))
		deopt = hotspot_put_back(s->level, at, begin);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(deopt));
	if (deopt == HOTSPOT_PLACE_NOT_KNOWN)
		return 0;
	wanted = s->walk.pc - begin + !(s->walk.flags & UNWIND_EXACT);
	is_known = hotspot_recall_scope(s->level, at, number);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_known));
	if (!is_known) {
		scope = hotspot_scope_at(s, wanted, method);
		/* Nothing was found because nothing more may be looked for. */
		if (s->runtime.n_reads >= HOTSPOT_MAX_STEPS)
			return 0;
		s->runtime.inlined = scope;
		/* Of a caller WORD_OTHER has how many scopes are around it. */
		remember(hotspot_key_of_pc(s),
			 scope && s->runtime.words[HOTSPOT_WORD_OTHER] ? at | HOTSPOT_IS_INLINED : at,
			 (__u64)number << 32 | scope);
	}
	s->runtime.words[HOTSPOT_WORD_AT] = at;
	if (s->runtime.inlined)
		return hotspot_show_scope(s->level, s->walk.flags & UNWIND_EXACT);
	s->runtime.words[HOTSPOT_WORD_BCI] = HOTSPOT_NO_BCI;
	return 0;
}

#endif
