/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The step over V8's frames (bpf/runtimes/v8.h). They are found as the walk meets them, in generated code and in the builtins, so there is no list, and no
 * state of the thread is looked for.
 *
 * Optimized code has functions in it that were inlined. Which one a return address is in is told by the code's table of source positions, which has each
 * call of a function; other calls, and what lies between, it need not have. So it is asked only where the frame below is that of such a call.
 *
 * Where the leaf is interrupted before its frame is whole, what lies in its place is of a call before: only what was pushed is read.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/runtimes/v8.h"
#include "bpf/walk.bpf.h"

/* Strings that lead to another one: V8 flattens what it uses as a name, so there are one or two. */
#define V8_MAX_STRINGS 4

/* What one sample reads of what is remembered afterwards, in pieces of 0.1 µs: 256 bytes of a source, a place where code may begin, ten bytes of a table of
 * positions. A process that makes new code, or lies, costs no more; the next sample goes on. */
#define V8_MAX_PIECES 2048
#define V8_TABLE_PIECES (RUNTIME_READ_BYTES / 10)
/* Inlined functions that one sample reads: each twice, as long as they are what they say. */
#define V8_MAX_READS 2000

/* How far the beginning of code is looked for, in steps of V8_CODE_ALIGNMENT: 64 KiB; and the longest table of positions. */
#define V8_MAX_STEPS 1024
#define V8_MAX_POSITIONS 8192
/* What was not found is looked for again after that: other code may have come there. */
#define V8_AGAIN_NS 1000000000ULL
/* Functions that lie in each other. */
#define V8_MAX_INLINED 32

/* Of v8_name_texts(): there is more to tell. */
#define V8_HAS_PLACE 3

static __always_inline const struct v8_layout *v8_layout(const struct scratch *s)
{
	return (const void *)s->runtime.of.words;
}

static __always_inline __u64 v8_word(__u64 from)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)from);
	return word;
}

static __always_inline __u32 v8_int(__u64 from)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)from);
	return value;
}

/* Of the SharedFunctionInfo that was read. */
static __always_inline __u64 v8_shared_word(const struct scratch *s, __u32 at)
{
	return *(const __u64 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 8)));
}

static __always_inline __u32 v8_shared_int(const struct scratch *s, __u32 at)
{
	return *(const __u32 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 4)));
}

/* Both of it: they are two bytes behind a multiple of four. */
static __always_inline __u32 v8_shared_parameters(const struct scratch *s, __u32 at)
{
	return v8_shared_word(s, at) >> (8 * (at & 7));
}

/* By its map; 0: it has none. */
static __always_inline __u32 v8_type_of_map(const struct v8_layout *l, __u64 map)
{
	__u16 type = 0;

	if (map & V8_TAG)
		bpf_probe_read_user(&type, sizeof(type), (void *)(map - V8_TAG + l->map_type));
	return type;
}

/* Where an object is, by a pointer to it; 0: it is none. */
static __always_inline __u64 v8_object(const struct v8_layout *l, __u64 pointer, __u32 *ret_type)
{
	__u64 at = pointer - V8_TAG;
	__u64 map;

	if ((pointer & V8_TAG_MASK) != V8_TAG)
		return 0;
	map = v8_word(at);
	if (!(map & V8_TAG_MASK)) {
		at = map;
		map = v8_word(at);
	}
	*ret_type = v8_type_of_map(l, map);
	return at;
}

/* Reads the SharedFunctionInfo that lies there, or has lain there before it was moved. Where it is; 0: there is none. */
static __always_inline __u64 v8_get_shared(struct scratch *s, __u64 at)
{
	const struct v8_layout *l = v8_layout(s);
	/* No byte more: the next page may not be there. */
	__u32 n = l->shared_id + 4;

	barrier_var(n);
	if (n > V8_SHARED_BYTES || bpf_probe_read_user(s->runtime.bytes, n, (void *)at))
		return 0;
	if (!(v8_shared_word(s, 0) & V8_TAG_MASK)) {
		at = v8_shared_word(s, 0);
		if (bpf_probe_read_user(s->runtime.bytes, n, (void *)at))
			return 0;
	}
	return v8_type_of_map(l, v8_shared_word(s, 0)) == l->type_shared ? at : 0;
}

/* Of the SharedFunctionInfo that was read. The number of a script that was moved is read where it has lain. */
static __always_inline __u32 v8_print(struct scratch *s)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 script = v8_shared_word(s, l->shared_script) - V8_TAG;

	return v8_print_of(v8_word(script + l->script_id), v8_shared_int(s, l->shared_id),
			   v8_shared_parameters(s, l->shared_parameters));
}

static __always_inline __u64 v8_begin(struct scratch *s)
{
	if (!v8_layout(s)->is_supported)
		s->runtime.result = RUNTIME_RESULT_UNSUPPORTED;
	return 0;
}

static __always_inline int v8_read(struct scratch *s)
{
	(void)s;
	return 0;
}

/* Reads the Code that begins at `begin`, and says whether pc is in it. */
static __always_inline bool v8_get_code(struct scratch *s, __u64 begin)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 code = begin - l->code_header;

	if (!l->is_code_inside)
		code = v8_word(code + V8_STREAM_CODE) - V8_TAG;
	if ((code & V8_TAG_MASK) ||
	    bpf_probe_read_user(s->runtime.bytes, V8_CODE_BYTES, (void *)code) ||
	    v8_type_of_map(l, v8_shared_word(s, 0)) != l->type_code ||
	    (!l->is_code_inside && v8_shared_word(s, l->code_begin) != begin))
		return false;
	return s->walk.pc - begin < v8_shared_int(s, l->code_bytes);
}

/* words: where code may begin. */
static long v8_search_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u64 head[2];

	(void)index;
	if (!s || s->runtime.n_pieces >= V8_MAX_PIECES ||
	    bpf_probe_read_user(head, sizeof(head),
				(void *)(s->runtime.words[0] - v8_layout(s)->code_header)))
		return 1;
	s->runtime.n_pieces++;
	if ((head[0] & V8_TAG_MASK) == V8_TAG && (head[1] & V8_TAG_MASK) == V8_TAG &&
	    v8_get_code(s, s->runtime.words[0])) {
		s->runtime.words[1] = s->runtime.words[0];
		return 1;
	}
	s->runtime.words[0] -= V8_CODE_ALIGNMENT;
	return 0;
}

/* Where the code of pc begins; 0: not found. */
__noinline __u64 v8_search(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.words[0] = s->walk.pc & ~(V8_CODE_ALIGNMENT - 1ULL);
	s->runtime.words[1] = 0;
	bpf_loop(V8_MAX_STEPS, v8_search_step, &level, 0);
	return s->runtime.words[1];
}

/* It could not be read to the end. */
#define V8_NO_POSITION (~0ULL)

/* words[2 …]: the table of positions. */
enum {
	V8_TABLE_AT = 2,
	V8_TABLE_BYTES,
	V8_TABLE_PC,
	V8_VALUE,
	V8_SHIFT,
	V8_OFFSET,
	V8_POSITION,
	V8_FOUND,
	V8_IS_CUT
};

/*
 * An entry is two numbers, each by how much it differs from that before: bytes of code, and whether a statement begins there, which
 * complements them or is bit 0; a source position. Seven bits a byte, the lowest first; bit 7: there are more; the sign is the lowest bit.
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
		return 0;
	}
	if (v8_layout(s)->has_statement_bits)
		value >>= 1;
	else if (value >> 63)
		value = ~value;
	w[V8_OFFSET] += value;
	if (w[V8_OFFSET] > w[V8_TABLE_PC])
		return 1;
	w[V8_OFFSET] |= 1ULL << 63;
	return 0;
}

/* The position at pc, by the Code that was read. */
__noinline __u64 v8_position(__u32 level, __u64 begin)
{
	struct scratch *s = walk_scratch(level);
	__u64 table, n;

	if (!s)
		return 0;
	table = v8_shared_word(s, v8_layout(s)->code_positions) - V8_TAG;
	n = v8_word(table + V8_ARRAY_LENGTH) >> 32;
	if ((table & V8_TAG_MASK) || n > V8_MAX_POSITIONS)
		return 0;
	s->runtime.words[V8_TABLE_AT] = table + V8_ARRAY_DATA;
	s->runtime.words[V8_TABLE_BYTES] = n;
	s->runtime.words[V8_TABLE_PC] = s->walk.pc - begin;
	s->runtime.words[V8_VALUE] = s->runtime.words[V8_SHIFT] = s->runtime.words[V8_OFFSET] = 0;
	s->runtime.words[V8_POSITION] = s->runtime.words[V8_FOUND] = s->runtime.words[V8_IS_CUT] =
		0;
	bpf_loop(V8_MAX_POSITIONS, v8_position_step, &level, 0);
	return s->runtime.words[V8_IS_CUT] ? V8_NO_POSITION : s->runtime.words[V8_FOUND];
}

static __always_inline __u64 v8_deopt_element(__u64 deopt, __u32 index)
{
	return v8_word(deopt + V8_ARRAY_DATA + 8 * (__u64)index);
}

/* Which function pc is in: 0: the frame's own, or not known. Leaves where inlining positions and literals are in words[0] and [1]. */
__noinline __u32 v8_inlined(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	struct runtime_return *known;
	__u64 key, begin, deopt, id, position;
	__u32 at;

	if (!s)
		return 0;
	l = v8_layout(s);
	key = hash_mix(s->runtime.process, s->walk.pc) | 1ULL << 63;
	at = key & (WIRE_THREAD_SLOTS - 1);
	known = bpf_map_lookup_elem(&threads, &at);
	begin = known && known->key == key ? known->begin : 0;
	if (known && known->key == key && !begin &&
	    s->record.head.time_ns - known->found < V8_AGAIN_NS)
		return 0;
	if (!begin || !v8_get_code(s, begin)) {
		begin = v8_search(level);
		if (known && (begin || s->runtime.n_pieces < V8_MAX_PIECES))
			*known = (struct runtime_return){ key, begin,
							  begin ? 0 : s->record.head.time_ns };
	}
	if (!begin || (v8_shared_int(s, l->code_flags) & V8_CODE_KIND) <= l->kind_baseline)
		return 0;
	deopt = v8_shared_word(s, l->code_deopt) - V8_TAG;
	if (deopt & V8_TAG_MASK)
		return 0;
	/* Other code may have come there: no optimization has the number of another one. */
	id = v8_deopt_element(deopt, l->deopt_id) | 1;
	if (known && known->key == key && (__u32)known->found == (__u32)(id >> 32 << 1 | 1)) {
		position = known->found >> 32;
	} else {
		position = v8_position(level, begin);
		if (position == V8_NO_POSITION)
			return 0;
		position = position & V8_POSITION_EXTERNAL ? 0 : V8_POSITION_FUNCTION(position);
		if (known && known->key == key)
			known->found = position << 32 | (__u32)(id >> 32 << 1 | 1);
	}
	s->runtime.words[0] = v8_deopt_element(deopt, l->deopt_inlines) - V8_TAG;
	s->runtime.words[1] = v8_deopt_element(deopt, l->deopt_literals) - V8_TAG;
	return position;
}

/* Reads the function of an inlining position into function and print; that of the one that it lies in into *ret_outer. */
static __always_inline bool v8_get_inlined(struct scratch *s, __u32 number, __u32 *ret_outer)
{
	__u64 inlines = s->runtime.words[0], literals = s->runtime.words[1];
	__u64 position[2], shared;
	__u32 literal;

	if (s->runtime.n_reads++ >= V8_MAX_READS)
		return false;
	if (!number || (inlines & V8_TAG_MASK) || (literals & V8_TAG_MASK) ||
	    (__u64)number * V8_INLINE_BYTES > v8_word(inlines + V8_ARRAY_LENGTH) >> 32 ||
	    bpf_probe_read_user(
		    position, sizeof(position),
		    (void *)(inlines + V8_ARRAY_DATA + (number - 1) * (__u64)V8_INLINE_BYTES)))
		return false;
	literal = (__u32)position[1];
	*ret_outer = V8_POSITION_FUNCTION(position[0]);
	/* One is inlined after what it is inlined into. */
	if (*ret_outer >= number)
		return false;
	if (literal == V8_INLINES_ITSELF)
		shared = v8_word(v8_word(s->walk.reg[WIRE_ABI_FP] - V8_FRAME_FUNCTION) - V8_TAG +
				 v8_layout(s)->function_shared);
	else if (literal < v8_word(literals + V8_ARRAY_LENGTH) >> 32)
		/* It may be a weak reference. */
		shared = v8_deopt_element(literals, literal) & ~2ULL;
	else
		return false;
	if ((shared & V8_TAG_MASK) != V8_TAG)
		return false;
	shared = v8_get_shared(s, shared - V8_TAG);
	if (!shared || v8_shared_int(s, v8_layout(s)->shared_id) == V8_NO_LITERAL)
		return false;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	return true;
}

/* All functions around that one can be read: half of them would be a chain of calls that never was. */
__noinline int v8_is_whole(__u32 level, __u32 number)
{
	struct scratch *s = walk_scratch(level);

	for (int i = 0; s && i < V8_MAX_INLINED; i++) {
		__u32 outer = 0;

		if (!v8_get_inlined(s, number, &outer))
			return 0;
		if (!outer)
			return 1;
		number = outer;
	}
	return 0;
}

__noinline int v8_show_inlined(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 outer = 0;

	if (!s)
		return 0;
	if (!v8_get_inlined(s, s->runtime.inlined, &outer)) {
		s->runtime.inlined = 0;
		return 0;
	}
	s->runtime.inlined = outer;
	return 1;
}

/* What was pushed of the frame at fp: 0, or up to V8_FRAME_BYTES below it. */
static __always_inline __u64 v8_pushed(struct scratch *s)
{
	__u64 below = s->walk.reg[WIRE_ABI_FP] - s->walk.reg[WIRE_ABI_SP];

	if (s->walk.flags & UNWIND_EXACT && unwind_edge(&s->walk) != UNWIND_NO_EDGE)
		return 0;
	return below < V8_FRAME_BYTES ? below : V8_FRAME_BYTES;
}

/* Functions that were inlined into the present frame come before its own. */
__noinline int v8_inlined_first(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 number;

	/* Builtins, which lie in the file, have none. */
	if (!s || !v8_layout(s)->code_header || s->walk.flags & UNWIND_EXACT ||
	    !s->runtime.is_called ||
	    (unwind_find(&s->walk) && !(s->walk.mapping.frame_base & WIRE_FRAME_RAW)))
		return 0;
	/* Once for each frame. */
	s->runtime.is_called = 0;
	number = v8_inlined(level);
	if (!number || !v8_is_whole(level, number))
		return 0;
	s->runtime.inlined = number;
	return 1;
}

/* A frame that has a context has a function: reads which one. */
static __always_inline int v8_function(struct scratch *s, __u64 pointer)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 shared = 0;

	if ((pointer & V8_TAG_MASK) == V8_TAG)
		shared = v8_word(pointer - V8_TAG + l->function_shared);
	if ((shared & V8_TAG_MASK) == V8_TAG)
		shared = v8_get_shared(s, shared - V8_TAG);
	if (!shared || (shared & V8_TAG_MASK)) {
		s->runtime.is_called = 0;
		s->runtime.result = RUNTIME_RESULT_UNREADABLE;
		return RUNTIME_CODE_FRAME;
	}
	s->runtime.is_called = 1;
	if (v8_shared_int(s, l->shared_id) == V8_NO_LITERAL)
		return RUNTIME_CODE_FRAME;
	s->runtime.function = shared;
	s->runtime.print = v8_print(s);
	s->runtime.position = ~0U;
	return RUNTIME_CODE_NAMED_FRAME;
}

/* A frame of V8's own, of that type. */
static __always_inline int v8_own_frame(struct scratch *s, __u64 kind)
{
	const struct v8_layout *l = v8_layout(s);

	/* What makes an object lies between its constructor and who calls that. */
	if (kind == l->frame_construct || kind == l->frame_fast_construct)
		return RUNTIME_CODE_FRAME;
	s->runtime.is_called = kind == l->exit_builtin || kind == l->exit_callback;
	return RUNTIME_CODE_FRAME;
}

static __always_inline int v8_code(struct scratch *s)
{
	__u64 fp = s->walk.reg[WIRE_ABI_FP];
	__u64 words[2]; /* function, kind */
	int is_inlined;

	if (!v8_layout(s)->is_supported || s->walk.flags & UNWIND_FP_LOST)
		return RUNTIME_CODE_NOT_ITS;
	if (v8_pushed(s) < V8_FRAME_BYTES)
		return RUNTIME_CODE_BEGUN;
	if (bpf_probe_read_user(words, sizeof(words), (void *)(fp - V8_FRAME_FUNCTION)))
		return RUNTIME_CODE_BEGUN;
	if (!(words[1] & V8_TAG))
		return v8_own_frame(s, words[1] >> 1);
	is_inlined = s->runtime.inlined || v8_inlined_first(s->level);
	asm volatile("" : "+r"(is_inlined));
	if (is_inlined) {
		is_inlined = v8_show_inlined(s->level);
		asm volatile("" : "+r"(is_inlined));
	}
	return is_inlined ? RUNTIME_CODE_INLINED : v8_function(s, words[0]);
}

/* A string whose characters lie in one piece. */
struct v8_flat {
	__u64 at;   /* 0: there is none */
	__u32 n;    /* characters */
	__u32 size; /* bytes of each */
};

/* What a string leads to. */
static __always_inline struct v8_flat v8_flat(const struct v8_layout *l, __u64 pointer)
{
	struct v8_flat none = { 0 }, flat = { .n = ~0U };
	__u32 offset = 0, type = 0;
	__u64 at;

	for (int i = 0; i < V8_MAX_STRINGS; i++) {
		at = v8_object(l, pointer, &type);
		if (!at || type >= l->first_no_string)
			return none;
		if (flat.n == ~0U)
			flat.n = v8_int(at + V8_STRING_LENGTH);
		if ((type & V8_STRING_KIND) == V8_STRING_FLAT)
			break;
		if ((type & V8_STRING_KIND) == V8_STRING_EXTERNAL)
			break;
		/* Two parts that were made one have nothing in the second. */
		if ((type & V8_STRING_KIND) == V8_STRING_CONS &&
		    v8_int((v8_word(at + V8_STRING_SECOND) & ~V8_TAG) + V8_STRING_LENGTH))
			return none;
		if ((type & V8_STRING_KIND) == V8_STRING_SLICED)
			offset += v8_int(at + V8_STRING_OFFSET + 4);
		pointer = v8_word(at + V8_STRING_FIRST);
	}
	flat.size = type & V8_STRING_ONE_BYTE ? 1 : 2;
	if ((type & V8_STRING_KIND) == V8_STRING_FLAT)
		flat.at = at + V8_STRING_CHARS;
	else if ((type & (V8_STRING_KIND | V8_STRING_UNCACHED)) == V8_STRING_EXTERNAL)
		flat.at = v8_word(at + V8_STRING_DATA);
	if (!flat.at || flat.n > 1U << 30)
		return none;
	flat.at += (__u64)offset * flat.size;
	return flat;
}

/* Appends a string. Returns how many bytes, and how they are written. */
static __always_inline __u32 v8_append(struct scratch *s, struct wire_name *name, __u64 pointer,
				       __u32 max, __u8 *ret_encoding)
{
	struct v8_flat flat = v8_flat(v8_layout(s), pointer);

	*ret_encoding = flat.size == 1 ? WIRE_LATIN1 : WIRE_UCS2;
	return flat.at ? name_append(name, flat.at, (__u64)flat.n * flat.size, max) : 0;
}

/* Where the texts of a ScopeInfo are; 0: it has none. */
static __always_inline __u64 v8_scope_names(const struct v8_layout *l, __u64 scope,
					    __u32 *ret_flags)
{
	__u32 flags = v8_word(scope + 8) >> (l->scope_flags_shift & 63);
	__u32 n = v8_int(scope + 8 * (__u64)l->scope_n_locals + 4);
	__u64 at = scope + 8 * (__u64)l->scope_locals;

	*ret_flags = flags;
	if (n > 1U << 20)
		return 0;
	at += l->has_hashed_locals && n >= V8_SCOPE_MANY_LOCALS ? 8 + 8 * (__u64)n : 16 * (__u64)n;
	return at + 8 * v8_scope_between(l, flags);
}

static __always_inline void v8_anonymous(struct wire_name *name)
{
	__builtin_memcpy(name->texts, "<anonymous>", sizeof("<anonymous>") - 1);
	name->n_name = sizeof("<anonymous>") - 1;
}

/* A pointer to a string that has characters; else 0. */
static __always_inline __u64 v8_text(const struct v8_layout *l, __u64 pointer)
{
	__u32 type = 0;
	__u64 at = v8_object(l, pointer, &type);

	return at && type < l->first_no_string && v8_int(at + V8_STRING_LENGTH) ? pointer : 0;
}

/* What the SharedFunctionInfo that was read is called: a string, which may be none. */
static __always_inline __u64 v8_name_of(struct scratch *s)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 pointer = v8_shared_word(s, l->shared_name), at, text;
	__u32 type = 0, flags = 0;

	at = v8_object(l, pointer, &type);
	if (!at || type != l->type_scope)
		return v8_text(l, pointer);
	at = v8_scope_names(l, at, &flags);
	if (!at || !(flags & V8_SCOPE_HAS_NAME))
		return 0;
	text = v8_text(l, v8_word(at));
	if (!text && flags & V8_SCOPE_HAS_INFERRED)
		text = v8_text(l, v8_word(at + 16));
	return text;
}

/* Where in its script's source the function of a ScopeInfo begins, in characters; ~0: not known. */
static __always_inline __u32 v8_begin_of(const struct v8_layout *l, __u64 scope)
{
	__u32 flags = 0;
	__u64 at;

	if (l->scope_positions)
		return v8_int(scope + 8 * (__u64)l->scope_positions + 4);
	at = v8_scope_names(l, scope, &flags);
	if (!at)
		return ~0U;
	at += flags & V8_SCOPE_HAS_NAME ? 16 : 0;
	at += flags & V8_SCOPE_HAS_INFERRED ? 8 : 0;
	return v8_int(at + 4);
}

/* Lines of a source that end within a piece of it, which was read. */
static __always_inline __u32 v8_count_ends(const struct scratch *s, bool is_wide)
{
	const __u64 *words = (const __u64 *)s->runtime.bytes;
	__u64 each = is_wide ? 0x0001000100010001ULL : 0x0101010101010101ULL;
	__u64 low = is_wide ? 0x7fff7fff7fff7fffULL : 0x7f7f7f7f7f7f7f7fULL;
	__u32 n = 0;

	for (int i = 0; i < RUNTIME_READ_BYTES / 8; i++) {
		__u64 differs = words[i] ^ each * '\n';
		/* The highest bit of each character that does not differ. */
		__u64 ends = ~(((differs & low) + low) | differs | low);

		n += is_wide ? (ends >> 15) * each >> 48 : (ends >> 7) * each >> 56;
	}
	return n;
}

/* words: what is to be looked through, bytes of it, the lines so far. */
static long v8_count_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u32 n;

	(void)index;
	if (!s || !s->runtime.words[1] || s->runtime.n_pieces >= V8_MAX_PIECES)
		return 1;
	s->runtime.n_pieces++;
	n = s->runtime.words[1] < RUNTIME_READ_BYTES ? s->runtime.words[1] : RUNTIME_READ_BYTES;
	if (n < RUNTIME_READ_BYTES)
		__builtin_memset(s->runtime.bytes, 0, RUNTIME_READ_BYTES);
	barrier_var(n);
	if (n > RUNTIME_READ_BYTES ||
	    bpf_probe_read_user(s->runtime.bytes, n, (void *)s->runtime.words[0]))
		return 1;
	s->runtime.words[2] += v8_count_ends(s, s->runtime.is_seeking);
	s->runtime.words[0] += n;
	s->runtime.words[1] -= n;
	return 0;
}

/* The line of a position in a script, of which the first is 1. V8 has a table of them only where it was asked for one. 0: not known. */
__noinline int v8_line_of(__u32 level, __u64 script, __u32 position)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	struct v8_flat source;
	__u32 first;

	if (!s)
		return 0;
	l = v8_layout(s);
	source = v8_flat(l, v8_word(script + l->script_source));
	/* The line that the source begins in is behind the script's name. */
	first = v8_int(script + l->script_name + 8 + 4);
	if (!source.at || position > source.n || position > V8_MAX_PIECES * RUNTIME_READ_BYTES / 2)
		return 0;
	s->runtime.words[0] = source.at;
	s->runtime.words[1] = (__u64)position * source.size;
	s->runtime.words[2] = 1 + first;
	s->runtime.is_seeking = source.size == 2;
	bpf_loop(V8_MAX_PIECES, v8_count_step, &level, 0);
	s->runtime.is_seeking = 0;
	if (s->runtime.words[1])
		return -1;
	return s->runtime.words[2] & 0x3fffffff;
}

/* Its name and its file; s->runtime.words: its ScopeInfo and its script. */
__noinline int v8_name_texts(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct v8_layout *l;
	__u64 script, text;
	__u32 type = 0;

	if (!s || !name || !v8_get_shared(s, s->runtime.function))
		return 0;
	l = v8_layout(s);
	text = v8_name_of(s);
	if (text)
		name->n_name = v8_append(s, name, text, WIRE_NAME_BYTES, &name->name_encoding);
	else
		v8_anonymous(name);
	if (!name->n_name)
		return 0;
	script = v8_object(l, v8_shared_word(s, l->shared_script), &type);
	if (!script || type != l->type_script)
		return 1;
	name->n_file = v8_append(s, name, v8_word(script + l->script_name), WIRE_FILE_BYTES,
				 &name->file_encoding);
	s->runtime.words[0] = v8_object(l, v8_shared_word(s, l->shared_name), &type);
	s->runtime.words[1] = script;
	return type == l->type_scope ? V8_HAS_PLACE : 1;
}

static __always_inline int v8_name(struct scratch *s, struct wire_name *name)
{
	int is_read = v8_name_texts(s->level), line;

	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (is_read != V8_HAS_PLACE)
		return is_read;
	line = v8_line_of(s->level, s->runtime.words[1],
			  v8_begin_of(v8_layout(s), s->runtime.words[0]));
	asm volatile("" : "+r"(line));
	if (line < 0)
		return RUNTIME_NAME_AGAIN;
	name->line = line;
	return 1;
}

#endif
