/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the JVM has of the present thread (bpf/runtimes/hotspot_thread.h). The heap's objects may be moved while they are read: what is read counts only where nothing
 * moves objects before and after, and where each object is of the class that it should be.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_THREAD_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_THREAD_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_anchor.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"
#include "bpf/runtimes/hotspot_thread.h"

/* Of a mark: the object was moved, and this is where it was. */
#define HOTSPOT_MARK_MOVED 3

/* What is compiled is another function than the method itself. */
#define HOTSPOT_COMPILED_PRINT 0x9e3779b1u

/* bpf/runtime.bpf.h */
static __always_inline void runtime_note(struct scratch *s, __u64 *function, __u64 *rest);

/* What tells whether objects have been moved meanwhile; ~0: they are being moved. */
static __always_inline __u64 hotspot_moved(const struct hotspot_threads *p)
{
	__u8 is_moving = 1;

	if (bpf_probe_read_user(&is_moving, sizeof(is_moving), (void *)p->moving_at) || is_moving)
		return ~0ULL;
	return hotspot_u32(p->moved_at);
}

/* Whether an object that was not moved away is of the class. */
static __always_inline bool hotspot_is_of(const struct hotspot_threads *p, __u64 object,
					  __u64 class)
{
	__u64 word = hotspot_u64(object + p->class_at);

	return object && !(object & 7) &&
	       (word >> (p->class_shift & 63) & p->class_mask) == class &&
	       (hotspot_u64(object) & HOTSPOT_MARK_MOVED) != HOTSPOT_MARK_MOVED;
}

/* The object that one at `from` leads to. */
static __always_inline __u64 hotspot_reference(const struct hotspot_threads *p, __u64 from)
{
	__u64 narrow;

	if (!p->is_narrow)
		return hotspot_u64(from);
	narrow = hotspot_u32(from);
	return narrow ? (narrow << (p->narrow_shift & 63)) + p->narrow_base : 0;
}

/* The characters of a String, into s->runtime.bytes: how many bytes, and their encoding << 16. */
static __always_inline __u32 hotspot_string(struct scratch *s, const struct hotspot_threads *p,
					    __u64 string)
{
	__u32 n, encoding = WIRE_UCS2;
	__u8 coder = 1;
	__u64 array;

	if (!hotspot_is_of(p, string, p->string_class))
		return 0;
	array = hotspot_reference(p, string + p->value);
	if (!hotspot_is_of(p, array, p->array_class))
		return 0;
	n = hotspot_u32(array + p->length);
	if (p->coder == HOTSPOT_THREAD_NONE)
		n = n < HOTSPOT_THREAD_NAME_BYTES ? 2 * n : n;
	else if (bpf_probe_read_user(&coder, sizeof(coder), (void *)(string + p->coder)))
		return 0;
	if (!coder)
		encoding = WIRE_LATIN1;
	if (n > HOTSPOT_THREAD_NAME_BYTES)
		n = HOTSPOT_THREAD_NAME_BYTES;
	barrier_var(n);
	if (!n || n > HOTSPOT_THREAD_NAME_BYTES ||
	    bpf_probe_read_user(s->runtime.bytes, n, (void *)(array + p->elements)))
		return 0;
	return n | encoding << 16;
}

/* The thread's name. A virtual thread's carrier has one, it itself mostly none. */
__noinline __u32 hotspot_thread_name(__u32 level, __u64 thread)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_threads *p;
	__u64 object, moved;
	__u32 text;

	p = s ? bpf_map_lookup_elem(&java_processes, &s->record.head.pid) : NULL;
	if (!p || !p->has_names)
		return 0;
	moved = hotspot_moved(p);
	object = hotspot_u64(thread + p->object);
	if (p->has_handles)
		object = hotspot_u64(object);
	if (!object || moved == ~0ULL ||
	    (hotspot_u64(object) & HOTSPOT_MARK_MOVED) == HOTSPOT_MARK_MOVED)
		return 0;
	text = hotspot_string(s, p, hotspot_reference(p, object + p->name));
	return moved == hotspot_moved(p) ? text : 0;
}

/* What the thread compiles: the record has the method, and its name was sent. */
__noinline int hotspot_thread_compiled(__u32 level, __u64 thread)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_threads *p;
	struct wire_sample *head;
	__u64 function, rest;
	__u64 task, method;
	__u32 tier;
	int is_method;

	p = s ? bpf_map_lookup_elem(&java_processes, &s->record.head.pid) : NULL;
	if (!p || !p->has_compiled)
		return 0;
	head = &s->record.head;
	task = hotspot_u64(hotspot_u64(thread + p->env) + p->task);
	method = hotspot_u64(task + p->method);
	tier = hotspot_u32(task + p->tier);
	if (!task || !tier || tier > WIRE_TIER_LAST)
		return 0;
	is_method = hotspot_method(level, method, HOTSPOT_NO_BCI, HOTSPOT_AT_BCI);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_method));
	if (!is_method || !s->runtime.function)
		return 0;
	s->runtime.print = (s->runtime.print ^ HOTSPOT_COMPILED_PRINT * tier) | 1;
	head->compiled_tier = tier;
	runtime_note(s, &function, &rest);
	head->compiled = function;
	head->compiled_print = s->runtime.print;
	return 1;
}

/* What is known of the present thread; NULL: nothing, and the record says so, or it is no thread of Java. */
static __always_inline const struct hotspot_thread *
hotspot_find_thread(struct scratch *s, const struct hotspot_threads *p)
{
	__u32 own = hotspot_own_tid();
	__u64 key = hotspot_thread_key(s->record.head.pid, own);
	const struct hotspot_thread *t = bpf_map_lookup_elem(&java_threads, &key);
	bool is_known =
		p && p->exec_id == s->record.head.exec_id && t && t->generation == p->generation;

	if (is_known && t->address &&
	    hotspot_u32(hotspot_u64(t->address + p->os_thread) + p->thread_id) == own)
		return t;
	if (!is_known || t->address || bpf_ktime_get_ns() >= t->until_ns)
		s->record.head.own_tid = own;
	return NULL;
}

static __always_inline __u32 hotspot_task(struct scratch *s)
{
	const struct hotspot_threads *p = bpf_map_lookup_elem(&java_processes, &s->record.head.pid);
	const struct hotspot_thread *t;
	__u64 address;

	if (!hotspot_layout(s)->is_supported)
		return 0;
	t = hotspot_find_thread(s, p);
	if (!t)
		return 0;
	address = t->address;
	if (t->is_compiler)
		hotspot_thread_compiled(s->level, address);
	return want_thread_names ? hotspot_thread_name(s->level, address) : 0;
}

#endif
