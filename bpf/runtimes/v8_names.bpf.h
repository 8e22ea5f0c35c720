/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of V8's functions, the files that they are in, and the lines at which they begin. */
#ifndef XAGENT_BPF_RUNTIMES_V8_NAMES_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_NAMES_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_wasm.bpf.h"

/* Strings that lead to another one: V8 flattens what it uses as a name, so there are one or two. */
#define V8_MAX_STRINGS 4

/* Of v8_name_texts(): there is more to tell. */
#define V8_HAS_PLACE 3

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

/* Where in its script's source the function of a ScopeInfo begins, in characters, and in the upper half where it ends; ~0 each: not known. */
static __always_inline __u64 v8_place_of(const struct v8_layout *l, __u64 scope)
{
	__u64 at = scope + 8 * (__u64)l->scope_positions;
	__u32 flags = 0;

	if (!l->scope_positions) {
		at = v8_scope_names(l, scope, &flags);
		if (!at)
			return ~0ULL;
		at += flags & V8_SCOPE_HAS_NAME ? 16 : 0;
		at += flags & V8_SCOPE_HAS_INFERRED ? 8 : 0;
	}
	return (__u64)v8_int(at + 12) << 32 | v8_int(at + 4);
}

static __always_inline __u32 v8_begin_of(const struct v8_layout *l, __u64 scope)
{
	return v8_place_of(l, scope);
}

/* Of a word of characters, the highest bit of each that is `c`. What depends on is_wide is constant here and below: there is no room for it on the stack. */
static __always_inline __u64 v8_equal(__u64 word, __u64 c, bool is_wide)
{
	__u64 each = is_wide ? 0x0001000100010001ULL : 0x0101010101010101ULL;
	__u64 low = is_wide ? 0x7fff7fff7fff7fffULL : 0x7f7f7f7f7f7f7f7fULL;
	__u64 differs = word ^ each * c;

	return ~(((differs & low) + low) | differs | low);
}

/* U+2028 and U+2029 end a line, too (ECMA-262, 12.3). */
static __always_inline __u64 v8_separators(__u64 word, bool is_wide)
{
	return is_wide ? v8_equal(word | 0x0001000100010001ULL, 0x2029, true) : 0;
}

/* Lines of a source that end within a piece of it, which was read. words[3]: the lowest bit of a character, if that before the piece was a carriage return, with which a line
 * feed is one end. */
static __always_inline __u32 v8_count_ends(struct scratch *s, bool is_wide)
{
	const __u64 *words = (const __u64 *)s->runtime.bytes;
	__u64 each = is_wide ? 0x0001000100010001ULL : 0x0101010101010101ULL;
	__u32 bits = is_wide ? 16 : 8;
	__u64 after = s->runtime.words[3];
	__u32 n = 0;

	for (int i = 0; i < RUNTIME_READ_BYTES / 8; i++) {
		__u64 returns = v8_equal(words[i], '\r', is_wide) >> (bits - 1);
		__u64 ends = v8_equal(words[i], '\n', is_wide) >> (bits - 1);

		ends &= ~(returns << bits | after);
		ends |= returns | v8_separators(words[i], is_wide) >> (bits - 1);
		after = returns >> (64 - bits);
		n += ends * each >> (64 - bits);
	}
	s->runtime.words[3] = after;
	return n;
}

_Static_assert(RUNTIME_READ_BYTES <= WIRE_UNREAD_BYTES, "a piece is named whole");

/* words: what is to be looked through, bytes of it, the lines so far, what lasts from piece to piece. */
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
	s->runtime.words[2] +=
		s->runtime.is_seeking ? v8_count_ends(s, true) : v8_count_ends(s, false);
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
	s->runtime.words[3] = 0;
	s->runtime.is_seeking = source.size == 2;
	bpf_loop(V8_MAX_PIECES, v8_count_step, &level, 0);
	s->runtime.is_seeking = 0;
	if (s->runtime.words[1])
		return -1;
	return s->runtime.words[2] & 0x3fffffff;
}

/* Scripts of node's own are called "node:…". They have no id. */
static __always_inline bool v8_is_own_script(const struct wire_name *name)
{
	__u32 at = name->n_scope + name->n_name;

	barrier_var(at);
	if (at > WIRE_TEXTS_BYTES - 5 || name->n_file < 5)
		return true;
	return name->texts[at] == 'n' && name->texts[at + 1] == 'o' && name->texts[at + 2] == 'd' &&
	       name->texts[at + 3] == 'e' && name->texts[at + 4] == ':';
}

/* Of the SharedFunctionInfo that was read: its source has the id of the script, and if it is a method its class (agent/runtimes/v8/sources.h). */
static __always_inline void v8_name_place(struct scratch *s, struct wire_name *name, __u64 scope,
					  __u64 script)
{
	const struct v8_layout *l = v8_layout(s);
	__u32 kind = v8_shared_int(s, l->shared_id - V8_FLAGS_BEFORE_ID) & V8_FUNCTION_KIND;
	bool is_method = name->n_name && V8_METHOD_KINDS >> kind & 1;
	__u64 source, place;

	if (!is_method && v8_is_own_script(name))
		return;
	place = is_method ? v8_place_of(l, scope) : 0;
	source = v8_word(script + l->script_source) - V8_TAG;
	name->source = v8_int(script + l->script_id + 4);
	name->n_source = v8_int(source + V8_STRING_LENGTH);
	name->begin = place;
	name->end = place >> 32;
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
	/* One that has no name is shown by its place. */
	if (text)
		name->n_name = v8_append(s, name, text, WIRE_NAME_BYTES, &name->name_encoding);
	if (text && !name->n_name)
		return 0;
	script = v8_object(l, v8_shared_word(s, l->shared_script), &type);
	if (!script || type != l->type_script)
		return 1;
	name->n_file = v8_append(s, name, v8_word(script + l->script_name), WIRE_FILE_BYTES,
				 &name->file_encoding);
	s->runtime.words[0] = v8_object(l, v8_shared_word(s, l->shared_name), &type);
	s->runtime.words[1] = script;
	if (type != l->type_scope)
		return 1;
	v8_name_place(s, name, s->runtime.words[0], script);
	return V8_HAS_PLACE;
}

/* "wasm-function[7]". */
static __always_inline void v8_wasm_unnamed(struct wire_name *name, __u32 number)
{
	__u32 at = sizeof(V8_WASM_UNNAMED) - 1;

	__builtin_memcpy(name->texts, V8_WASM_UNNAMED, sizeof(V8_WASM_UNNAMED) - 1);
	for (__u32 unit = V8_WASM_MAX_FUNCTIONS / 10; unit; unit /= 10) {
		if (number < unit && unit > 1)
			continue;
		name->texts[at & 31] = '0' + number / unit % 10;
		at++;
	}
	name->texts[at & 31] = ']';
	name->n_name = at + 1;
}

/* Appends a string to the name of the file, unless it has pieces itself, or is written otherwise. */
__noinline int v8_wasm_append(__u32 level, __u64 pointer)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	__u8 encoding = 0;
	__u32 n;

	if (!s || !name)
		return 0;
	n = v8_append(s, name, pointer, WIRE_FILE_BYTES / 4, &encoding);
	if (name->n_file && encoding != name->file_encoding)
		return 0;
	name->n_file += n;
	name->file_encoding = encoding;
	return 0;
}

/* The name of a module's script: a string of one piece, or of three, the module's own name in the middle. */
static __always_inline void v8_wasm_file(struct scratch *s, __u64 pointer)
{
	__u32 level = s->level, type = 0;
	__u64 at = v8_object(v8_layout(s), pointer, &type), front;

	if ((type & V8_STRING_KIND) != V8_STRING_CONS) {
		v8_wasm_append(level, pointer);
		return;
	}
	front = v8_object(v8_layout(s), v8_word(at + V8_STRING_FIRST), &type);
	if ((type & V8_STRING_KIND) == V8_STRING_CONS) {
		v8_wasm_append(level, v8_word(front + V8_STRING_FIRST));
		v8_wasm_append(level, v8_word(front + V8_STRING_SECOND));
	} else {
		v8_wasm_append(level, v8_word(at + V8_STRING_FIRST));
	}
	v8_wasm_append(level, v8_word(at + V8_STRING_SECOND));
}

/* Of the function that v8_wasm() has told. Its name stands in the bytes of its module, which the agent reads. */
__noinline int v8_wasm_name(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct v8_layout *l;
	__u64 script, bytes;

	if (!s || !name)
		return 0;
	l = v8_layout(s);
	script = s->runtime.function - V8_TAG;
	bytes = s->runtime.words[V8_WASM_BYTES];
	v8_wasm_unnamed(name, s->runtime.words[V8_WASM_NUMBER]);
	v8_wasm_file(s, v8_word(script + l->script_name));
	name->source = v8_wasm_source(v8_word(script + l->script_id), bytes);
	name->n_source = s->runtime.words[V8_WASM_N_BYTES];
	name->begin = s->runtime.words[V8_WASM_NUMBER];
	name->end = name->begin + 1;
	return 1;
}

static __always_inline int v8_name(struct scratch *s, struct wire_name *name)
{
	int is_read, line;

	if (s->runtime.function == V8_WASM_FUNCTION) {
		__builtin_memcpy(name->texts, V8_WASM_NAME, sizeof(V8_WASM_NAME) - 1);
		name->n_name = sizeof(V8_WASM_NAME) - 1;
		return 1;
	}
	if (s->runtime.function & V8_TAG)
		return v8_wasm_name(s->level);
	is_read = v8_name_texts(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (is_read != V8_HAS_PLACE)
		return is_read;
	line = v8_line_of(s->level, s->runtime.words[1],
			  v8_begin_of(v8_layout(s), s->runtime.words[0]));
	asm volatile("" : "+r"(line));
	if (line < 0) {
		/* Unless it was too much for one sample. */
		if (s->runtime.n_pieces < V8_MAX_PIECES)
			name->unread = s->runtime.words[0];
		return RUNTIME_NAME_AGAIN;
	}
	name->line = line;
	return 1;
}

#endif
