/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Objects of V8's heap, in the memory of the present process. */
#ifndef XAGENT_BPF_RUNTIMES_V8_OBJECTS_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_OBJECTS_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/remembered.bpf.h"
#include "bpf/runtimes/v8.h"
#include "bpf/walk.bpf.h"

/* What one sample reads of what is remembered afterwards, in pieces of 0.1 µs: 256 bytes of a source, a place where code may begin, ten bytes of a table of
 * positions. A process that makes new code, or lies, costs no more; the next sample goes on. */
#define V8_MAX_PIECES 2048

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

/* What is asked for at every frame, and is the same at most of them, is read once a tick. Entries of s->runtime.known. */
enum {
	V8_KNOWN_SHARED, /* the map of SharedFunctionInfos: their type */
	V8_KNOWN_SCRIPT, /* a script: its number */
};

static __always_inline __u32 v8_type_of_shared(struct scratch *s, __u64 map)
{
	struct runtime_known *known = &s->runtime.known[V8_KNOWN_SHARED];

	if (!map || known->at != map)
		*known = (struct runtime_known){ map, v8_type_of_map(v8_layout(s), map) };
	return known->word;
}

/* Of a script that was moved, where it has lain. */
static __always_inline __u64 v8_script_number(struct scratch *s, __u64 script)
{
	struct runtime_known *known = &s->runtime.known[V8_KNOWN_SCRIPT];

	if (!script || known->at != script)
		*known = (struct runtime_known){
			script, v8_word(script - V8_TAG + v8_layout(s)->script_id)
		};
	return known->word;
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
	return v8_type_of_shared(s, v8_shared_word(s, 0)) == l->type_shared ? at : 0;
}

/* Of the SharedFunctionInfo that was read. */
static __always_inline __u32 v8_print(struct scratch *s)
{
	const struct v8_layout *l = v8_layout(s);
	__u64 number = v8_script_number(s, v8_shared_word(s, l->shared_script));

	return v8_print_of(number, v8_shared_int(s, l->shared_id),
			   v8_shared_parameters(s, l->shared_parameters));
}

#endif
