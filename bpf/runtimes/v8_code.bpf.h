/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Code that V8 has generated, by an address in it. */
#ifndef XAGENT_BPF_RUNTIMES_V8_CODE_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_CODE_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* Places at which the beginning of code is looked for: 64 KiB, or 32 KiB where code is aligned to 32 bytes. */
#define V8_MAX_STEPS 1024
/* What was not found is looked for again after that: other code may have come there. */
#define V8_AGAIN_NS 1000000000ULL

static __always_inline bool v8_is_code(struct scratch *s, __u64 map)
{
	__u64 *known = &s->runtime.words[V8_CODE_MAP];

	if (*known && *known == map)
		return true;
	if (v8_type_of_map(v8_layout(s), map) != v8_layout(s)->type_code)
		return false;
	*known = map;
	return true;
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
	    !v8_is_code(s, v8_shared_word(s, 0)) ||
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
	s->runtime.words[0] -= v8_layout(s)->code_alignment;
	return 0;
}

/* Where the code of pc begins; 0: not found. */
__noinline __u64 v8_search(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.words[0] = s->walk.pc & ~(v8_layout(s)->code_alignment - 1ULL);
	s->runtime.words[1] = 0;
	bpf_loop(V8_MAX_STEPS, v8_search_step, &level, 0);
	return s->runtime.words[1];
}

/* Where the code of pc begins, whose Code is read; 0: not found. *ret_key: what that is remembered by. */
static __always_inline __u64 v8_find_code(struct scratch *s, __u64 *ret_key)
{
	__u64 key = hash_mix(s->runtime.process, s->walk.pc), begin = 0, found = 0;
	bool is_known = remembered(key, &begin, &found);

	*ret_key = key;
	if (is_known && !begin && s->record.head.time_ns - found < V8_AGAIN_NS)
		return 0;
	if (is_known && begin && v8_get_code(s, begin))
		return begin;
	begin = v8_search(s->level);
	if (begin || s->runtime.n_pieces < V8_MAX_PIECES)
		remember(key, begin, begin ? 0 : s->record.head.time_ns);
	return begin;
}

/* Builtins lie in the file. */
static __always_inline bool v8_is_in_file(struct scratch *s)
{
	return unwind_find(&s->walk) && !(s->walk.mapping.frame_base & WIRE_FRAME_RAW);
}

#endif
