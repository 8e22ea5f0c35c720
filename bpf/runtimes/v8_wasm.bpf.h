/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of WebAssembly. A frame has the instance, which leads to the module, and that has all of its code by address: an object of C++ for each piece, with
 * the number of the function. The code at pc is not freed while a frame runs it, so what is found of it in a tick is true.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_WASM_BPF_H
#define XAGENT_BPF_RUNTIMES_V8_WASM_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_objects.bpf.h"
#include "bpf/runtimes/v8_positions.bpf.h"

/* words, while code is looked for, … */
enum {
	V8_WASM_NODE, /* of the tree; of the list, where its next element ends */
	V8_WASM_LIST, /* where that begins */
	V8_WASM_CODE, /* what was found */
	V8_WASM_MODULE,
	V8_WASM_PC,
};

/* … and of the function that was found: a frame of it has none that is inlined. */
enum {
	V8_WASM_BYTES = V8_INLINES, /* where those of its module are, and how many */
	V8_WASM_N_BYTES,
	V8_WASM_NUMBER,
};

_Static_assert((int)V8_WASM_NUMBER < (int)V8_BEFORE, "they fit");

/* A tree of std::map that is so high has more elements than memory has bytes. */
#define V8_WASM_MAX_HEIGHT 64

/* A node of it (libstdc++): what is less, what is more; the key, and the value. */
#define V8_NODE_LESS 16
struct v8_node {
	__u64 less, more, key, value;
};

/* Reads the WasmCode, and says whether it is the module's, and pc is in it. */
static __always_inline bool v8_wasm_get_code(struct scratch *s, __u64 code)
{
	if (!code || code & 7 ||
	    bpf_probe_read_user(s->runtime.bytes, V8_WASM_CODE_BYTES, (void *)code) ||
	    v8_shared_word(s, V8_WASM_CODE_MODULE) != s->runtime.words[V8_WASM_MODULE])
		return false;
	return s->runtime.words[V8_WASM_PC] - v8_shared_word(s, V8_WASM_CODE_BEGIN) <
	       v8_shared_int(s, v8_layout(s)->wasm_code_bytes);
}

/* The last one that does not begin behind pc. */
static long v8_wasm_tree_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct v8_node node;
	bool is_before;

	(void)index;
	if (!s || !s->runtime.words[V8_WASM_NODE] || s->runtime.n_pieces >= V8_MAX_PIECES)
		return 1;
	s->runtime.n_pieces++;
	if (bpf_probe_read_user(&node, sizeof(node),
				(void *)(s->runtime.words[V8_WASM_NODE] + V8_NODE_LESS)))
		return 1;
	is_before = node.key <= s->runtime.words[V8_WASM_PC];
	if (is_before)
		s->runtime.words[V8_WASM_CODE] = node.value;
	s->runtime.words[V8_WASM_NODE] = is_before ? node.more : node.less;
	return 0;
}

/* The newest first. */
static long v8_wasm_list_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u64 code;

	(void)index;
	if (!s || s->runtime.words[V8_WASM_NODE] <= s->runtime.words[V8_WASM_LIST] ||
	    s->runtime.n_pieces >= V8_MAX_PIECES)
		return 1;
	s->runtime.n_pieces++;
	s->runtime.words[V8_WASM_NODE] -= 8;
	code = v8_word(s->runtime.words[V8_WASM_NODE]);
	if (!v8_wasm_get_code(s, code))
		return 0;
	s->runtime.words[V8_WASM_CODE] = code;
	return 1;
}

/* The code at pc, as words have both; 0: there is none. */
__noinline __u64 v8_wasm_search(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 tree;

	if (!s)
		return 0;
	tree = s->runtime.words[V8_WASM_MODULE] + v8_layout(s)->wasm_tree;
	s->runtime.words[V8_WASM_CODE] = 0;
	s->runtime.words[V8_WASM_NODE] = v8_word(tree);
	bpf_loop(V8_WASM_MAX_HEIGHT, v8_wasm_tree_step, &level, 0);
	if (v8_wasm_get_code(s, s->runtime.words[V8_WASM_CODE]))
		return s->runtime.words[V8_WASM_CODE];
	s->runtime.words[V8_WASM_CODE] = 0;
	s->runtime.words[V8_WASM_LIST] = v8_word(tree + V8_WASM_PENDING);
	s->runtime.words[V8_WASM_NODE] = v8_word(tree + V8_WASM_PENDING + 8);
	bpf_loop(V8_MAX_PIECES, v8_wasm_list_step, &level, 0);
	return s->runtime.words[V8_WASM_CODE];
}

/* Whether it was found, and is read. What was not found is looked for again after a while. */
static __always_inline bool v8_wasm_find_code(struct scratch *s)
{
	__u64 key = hash_mix(s->runtime.process, s->runtime.words[V8_WASM_PC]);
	__u64 code = 0, found = 0;
	bool is_known = remembered(key, &code, &found);

	if (is_known && !code && s->record.head.time_ns - found < V8_AGAIN_NS)
		return false;
	if (is_known && v8_wasm_get_code(s, code))
		return true;
	code = v8_wasm_search(s->level);
	if (code || s->runtime.n_pieces < V8_MAX_PIECES)
		remember(key, code, code ? 0 : s->record.head.time_ns);
	return v8_wasm_get_code(s, code);
}

/* Where the script of the module is whose instance the frame has; 0: not found. */
static __always_inline __u64 v8_wasm_script(const struct v8_layout *l, __u64 instance)
{
	__u32 type = 0;
	__u64 at = v8_object(l, instance, &type);

	if (l->wasm_instance)
		at = v8_object(l, v8_word(at + l->wasm_instance), &type);
	at = v8_object(l, v8_word(at + l->wasm_module), &type);
	at = v8_object(l, v8_word(at + l->wasm_script), &type);
	return at && type == l->type_script ? at : 0;
}

/* Where its NativeModule is; anything, where the script has none. */
static __always_inline __u64 v8_wasm_module(const struct v8_layout *l, __u64 script)
{
	__u32 type = 0;
	__u64 managed = v8_object(l, v8_word(script + l->wasm_managed), &type);

	managed = v8_word(managed + V8_FOREIGN_DATA);
	return v8_word(v8_word(managed + V8_MANAGED_POINTER));
}

/* The function of the frame, by that instance: whether it is known, and then what it is known by. */
__noinline int v8_wasm(__u32 level, __u64 instance)
{
	struct scratch *s = walk_scratch(level);
	const struct v8_layout *l;
	__u64 script, bytes;
	__u32 number;

	/* Where it is not used, callers would leave it out, which the verifier refuses. */
	asm volatile("" : "+r"(instance));
	if (!s || !v8_layout(s)->wasm_module)
		return 0;
	l = v8_layout(s);
	script = v8_wasm_script(l, instance);
	s->runtime.words[V8_WASM_MODULE] = v8_wasm_module(l, script);
	/* A return address is behind its call, which may be the last instruction. */
	s->runtime.words[V8_WASM_PC] = s->walk.pc - !(s->walk.flags & UNWIND_EXACT);
	if (!script || !v8_wasm_find_code(s))
		return 0;
	number = v8_shared_int(s, l->wasm_code_index);
	if (number >= V8_WASM_MAX_FUNCTIONS)
		return 0;
	bytes = v8_word(s->runtime.words[V8_WASM_MODULE] + l->wasm_bytes);
	s->runtime.words[V8_WASM_BYTES] = v8_word(bytes);
	s->runtime.words[V8_WASM_N_BYTES] = v8_word(bytes + 8);
	s->runtime.words[V8_WASM_NUMBER] = number;
	s->runtime.function = script + V8_TAG;
	s->runtime.print = v8_print_of(v8_word(script + l->script_id), number,
				       s->runtime.words[V8_WASM_BYTES]);
	return 1;
}

#endif
