/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the JVM has of a thread: the object of its class in the heap, by which it has its name, and of a thread that compiles what it compiles. Compiled by both
 * sides; agent/runtimes/hotspot fills it when a thread is sampled that is not known yet. Of virtual threads: where their frames lie on the heap.
 *
 *	JavaThread ─► OSThread: the thread's number
 *		   ─► java.lang.Thread ─► String ─► an array of bytes, or of characters
 *		   ─► ciEnv ─► CompileTask ─► Method	(of a CompilerThread)
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_THREAD_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_THREAD_H

#include <linux/types.h>

/* No such member. */
#define HOTSPOT_THREAD_NONE 0xffff
/* Longer names are cut. */
#define HOTSPOT_THREAD_NAME_BYTES 256

/* What leads from a thread that runs a virtual one to those frames of that which are on the heap (bpf/runtimes/hotspot_chunks.bpf.h). */
struct hotspot_chunks {
	__u64 chunk_class; /* jdk.internal.vm.StackChunk as objects have it; 0: nothing is known of these */
	/* The code of Continuation.enterSpecial, which calls what a continuation runs, and of doYield, which moves its frames to the heap. */
	__u64 enter_at, yield_at;
	__u32 enter_bytes, yield_bytes;
	__u16 tail; /* of Continuation: its newest StackChunk, … */
	__u16 parent, size, sp, bottom; /* … and of that; the last three count words */
	__u16 stack; /* where in a StackChunk the words begin */
	__u16 thread_state; /* of a JavaThread */
	__u8 has_preemption; /* frames are moved to the heap by others than doYield, too */
	__u8 is_wanted; /* what is not known may be known later */
};

_Static_assert(sizeof(struct hotspot_chunks) == 48, "no gaps");

/* The value of `java_processes`. Offsets are in bytes from the beginning of the structure. */
struct hotspot_threads {
	__u32 generation; /* entries of `java_threads` with another one are old */
	__u32 exec_id;	  /* of the image that it is of */
	/* Of a JavaThread, … */
	__u16 os_thread, object, env;
	/* … and of what these lead to. */
	__u16 thread_id, task, method, tier;
	/* Of java.lang.Thread and of String; coder: HOTSPOT_THREAD_NONE where there are characters alone. */
	__u16 name, value, coder;
	/* Of an array. */
	__u16 length, elements;
	/* What tells the class of an object: so many bits of the word at class_at, from class_shift on. */
	__u16 class_at;
	__u8 class_shift;
	__u8 has_names;	   /* the members for names are there */
	__u8 has_compiled; /* those for methods that are being compiled are there */
	__u8 has_handles;  /* `object` leads to where the address of the object is */
	__u8 is_narrow; /* references in objects have 32 bits, to be moved to the left by narrow_shift and raised by narrow_base */
	__u8 narrow_shift;
	__u64 class_mask;
	__u64 string_class, array_class;
	__u64 narrow_base;
	/* Addresses: of a byte that says that objects are being moved, and of how often they have been. */
	__u64 moving_at, moved_at;
	struct hotspot_chunks chunks;
};

/* The value of `java_threads`. */
struct hotspot_thread {
	__u64 address;	/* JavaThread; 0: it has none … */
	__u64 until_ns; /* … as far as was known until then (CLOCK_MONOTONIC) */
	__u32 generation;
	__u32 is_compiler;
};

_Static_assert(sizeof(struct hotspot_threads) == 136, "no gaps");
_Static_assert(sizeof(struct hotspot_thread) == 24, "no gaps");

/* The key of `java_threads`. The thread as its own pid namespace numbers it. */
static inline __attribute__((always_inline)) __u64 hotspot_thread_key(__u32 pid, __u32 own_tid)
{
	return (__u64)pid << 32 | own_tid;
}

#endif
