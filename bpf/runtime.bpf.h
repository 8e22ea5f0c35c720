/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of runtimes: functions that an interpreter runs have no frame on the C stack, but a list of their own, which its thread leads to.
 *
 * What joins the two is an object that the interpreter has on the C stack for each of its activations, and that is in the list: the entry of a run.
 * The native frame that the entry lies in is the activation, whatever compilers have made of the interpreter's loop: no address of code has to be
 * known, and a stack in which both alternate any number of times comes out in true order.
 *
 *	C stack			list of frames
 *	 native leaf
 *	 activation ──entry──► f, g, entry	(innermost first: a run)
 *	 native
 *	 activation ──entry──► h, entry
 *	 native main
 *
 * Code that a runtime has generated does have frames on the C stack, and lies in memory without a file. There the walk asks the runtime what function
 * that is, before it looks into its own tables or the frames that it remembers.
 *
 * Each runtime has four functions in bpf/runtimes/NAME.bpf.h; s->runtime is what they share:
 *
 *	NAME_begin(s)	the address of the present thread's innermost frame, 0 when it runs none of its code
 *	NAME_read(s)	reads the frame at s->runtime.at into is_entry, next, function, print, position; false when it cannot be read
 *	NAME_name(s)	reads name, file and line of s->runtime.function into s->name; false likewise
 *	NAME_code(s)	where s->walk is in generated code: reads function, print, position of its frame; an enum runtime_code
 *
 * They read user memory that may hold anything: the walk bounds their number and believes no address.
 */
#ifndef XAGENT_BPF_RUNTIME_BPF_H
#define XAGENT_BPF_RUNTIME_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/copy.bpf.h"
#include "bpf/image.bpf.h"
#include "bpf/kernel.h"
#include "bpf/library.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

enum runtime_code {
	RUNTIME_CODE_NOT_ITS, /* nothing is known of it: a native frame */
	RUNTIME_CODE_NAMED,   /* its caller is found as everybody's: by frame pointer */
	RUNTIME_CODE_LEFT,    /* and s->walk is at its caller already */
};

#include "bpf/runtimes/all.bpf.h"

/* By the agent's chance, so that no process can choose functions that are taken for each other; another one and all names are told anew. */
volatile __u64 told_seed = 0;

/* Names that one sample sends: reading one costs as much as walking some frames. What is beyond comes with the next ones. */
#define RUNTIME_MAX_NAMES 128

/* Frames that one sample reads: each twice, to find the entry of its run first, and once more where they are listed anew. A list that another thread
 * changes meanwhile ends here. */
#define RUNTIME_MAX_READS (3 * WIRE_MAX_USER_FRAMES)

/* Without any runtime there is nothing of this in a program. */
#define RUNTIME_ANY (RUNTIME_MAX > RUNTIME_NONE + 1)

/* Returns what the function of the runtime that s has returns; `otherwise` without one. */
#define RUNTIME_CASE(function, NAME, name) \
	case RUNTIME_##NAME:               \
		return name##_##function(s);
#define RUNTIME_CALL(s, function, otherwise)     \
	switch ((s)->runtime.of.kind) {          \
		RUNTIMES(RUNTIME_CASE, function) \
	}                                        \
	return (otherwise)

__noinline __u64 runtime_first(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	RUNTIME_CALL(s, begin, 0);
}

__noinline int runtime_read(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s || s->runtime.n_reads >= RUNTIME_MAX_READS)
		return 0;
	s->runtime.n_reads++;
	RUNTIME_CALL(s, read, 0);
}

__noinline int runtime_name(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->name.n_name = s->name.n_file = 0;
	s->name.line = 0;
	RUNTIME_CALL(s, name, 0);
}

__noinline int runtime_code(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return RUNTIME_CODE_NOT_ITS;
	RUNTIME_CALL(s, code, RUNTIME_CODE_NOT_ITS);
}

/* The word of the frame that was read last, or of an anchor. */
static __always_inline __u64 runtime_word(__u32 kind, __u64 address)
{
	return WIRE_FRAME_RUNTIME |
	       (__u64)(kind & WIRE_RUNTIME_KIND_MASK) << WIRE_RUNTIME_KIND_SHIFT |
	       (address & WIRE_RUNTIME_ADDRESS_MASK);
}

static __always_inline bool runtime_send_name(struct scratch *s)
{
	__u32 n_file = s->name.n_file;
	__u32 bytes;

	if (n_file > WIRE_NAME_BYTES)
		n_file = WIRE_NAME_BYTES;
	bytes = offsetof(struct wire_name, file) + ((n_file + 7) & ~7u);
	s->name.record = (struct wire_record){ .n_bytes = bytes,
					       .type = WIRE_NAME,
					       .event = s->record.head.record.event,
					       .source = s->record.head.record.source };
	s->name.function = runtime_word(s->runtime.of.kind, s->runtime.function);
	s->name.print = s->runtime.print;
	s->name.pid = s->record.head.pid;
	s->name.exec_id = s->record.head.exec_id;
	s->name.zero = 0;
	barrier_var(bytes);
	if (bytes > sizeof(s->name))
		bytes = sizeof(s->name);
	return !bpf_ringbuf_output(&samples, &s->name, bytes, BPF_RB_NO_WAKEUP);
}

/* The name of the frame that was read last, unless the agent has it. */
__noinline int runtime_tell(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 hash;
	__u64 *slot;
	__u32 at;

	if (!s)
		return 0;
	hash = hash_mix(hash_mix(s->runtime.process, s->runtime.function), s->runtime.print);
	at = hash & (WIRE_TOLD_SLOTS - 1);
	slot = bpf_map_lookup_elem(&told, &at);
	if (!slot || *slot == hash || s->runtime.n_names >= RUNTIME_MAX_NAMES)
		return 0;
	s->runtime.n_names++;
	/* A process that makes functions without end fills no more than that. */
	if (bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= user_unwound_bytes)
		return -1;
	if (!runtime_name(level) || !runtime_send_name(s))
		return -1;
	*slot = hash;
	return 1;
}

/* Two words behind those that there are. False: there is no room. */
static __always_inline bool runtime_put(struct scratch *s, __u64 function, __u64 rest)
{
	__u32 n = s->record.head.n_user;
	__u32 at = s->record.head.n_kernel + n;

	if (n > WIRE_MAX_USER_WORDS - WIRE_RUNTIME_FRAME_WORDS ||
	    at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS - 1)
		return false;
	s->record.words[at] = function;
	s->record.words[at + 1] = rest;
	s->record.head.n_user = n + WIRE_RUNTIME_FRAME_WORDS;
	return true;
}

static long runtime_seek_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);

	(void)index;
	if (!s)
		return 1;
	if (!s->runtime.at || !runtime_read(s->level))
		return 1;
	if (!s->runtime.is_entry) {
		s->runtime.n_left++;
		s->runtime.at = s->runtime.next;
		return 0;
	}
	s->runtime.anchor = s->runtime.at;
	return 1;
}

/* The entry of the run that begins with s->runtime.frame. Where it cannot be found there are no more frames: nothing tells where they belong. */
static __always_inline void runtime_seek(struct scratch *s)
{
	__u32 level = s->level;

	s->runtime.anchor = 0;
	s->runtime.n_left = 0;
	s->runtime.at = s->runtime.frame;
	bpf_loop(WIRE_MAX_USER_FRAMES, runtime_seek_step, &level, 0);
	if (!s->runtime.anchor)
		s->runtime.frame = 0;
}

__noinline int runtime_begin(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.is_inside = 0;
	s->runtime.low = s->runtime.high = 0;
	s->runtime.frame = runtime_first(level);
	runtime_seek(s);
	return 0;
}

/* The run begins here. */
static __always_inline long runtime_enter(struct scratch *s)
{
	s->runtime.is_inside = 1;
	return !runtime_put(s, runtime_word(RUNTIME_NONE, s->runtime.anchor), 0);
}

/* The anchor lies in the native frame that was walked last. One whose caller is on a lower stack tells nothing of how far it goes. */
static __always_inline bool runtime_is_here(const struct scratch *s)
{
	return s->runtime.anchor >= s->runtime.low && s->runtime.anchor < s->runtime.high;
}

/* The run is over; the next one may be the same activation's. */
__noinline int runtime_leave(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 1;
	s->runtime.is_inside = 0;
	s->runtime.frame = s->runtime.next;
	runtime_seek(s);
	if (runtime_is_here(s))
		return runtime_enter(s);
	return 0;
}

/* The frame that was read last, and its name. False: there is no room. */
static __always_inline bool runtime_emit(struct scratch *s, struct wire_counters *count)
{
	count->runtime_frames++;
	if (s->record.head.pid) {
		int told = runtime_tell(s->level);

		count->names_told += told > 0;
		count->names_not_told += told < 0;
	}
	return runtime_put(s, runtime_word(s->runtime.of.kind, s->runtime.function),
			   s->runtime.print | (__u64)s->runtime.position << 32);
}

/* Whether the frame that was read last is one that was there when the entry of its run was found: another thread may change the list, or make it a
 * circle. */
static __always_inline bool runtime_is_as_found(struct scratch *s)
{
	if (s->runtime.is_entry)
		return s->runtime.at == s->runtime.anchor;
	return s->runtime.n_left-- > 0;
}

/* The next frame of a run, or its end. Returns 1 to stop. */
static __always_inline long runtime_frame(struct scratch *s, struct wire_counters *count)
{
	bool is_read;

	s->runtime.at = s->runtime.frame;
	is_read = s->runtime.at && runtime_read(s->level) && runtime_is_as_found(s);
	if (is_read && s->runtime.is_entry) {
		int stops = runtime_leave(s->level);

		/* To the verifier it may have returned anything. */
		asm volatile("" : "+r"(stops));
		return stops & 1;
	}
	if (!is_read) {
		count->runtime_frames++;
		s->runtime.is_inside = 0;
		s->runtime.frame = s->runtime.anchor = 0;
		return !runtime_put(s, runtime_word(s->runtime.of.kind, 0), 0);
	}
	s->runtime.frame = s->runtime.next;
	return !runtime_emit(s, count);
}

/* The native frame that was stored last is the activation: the run takes its place. */
static __always_inline long runtime_replace(struct scratch *s)
{
	if (s->record.head.n_user)
		s->record.head.n_user--;
	return runtime_enter(s);
}

/* In memory without a file, which a frame's word tells. */
static __always_inline bool runtime_is_generated(struct scratch *s)
{
	return s->runtime.of.flags & WIRE_RUNTIME_GENERATES && unwind_find(&s->walk) &&
	       s->walk.mapping.frame_base & WIRE_FRAME_RAW;
}

/* The runtime's frame in place of the native one that was stored last. */
static __always_inline void runtime_name_last(struct scratch *s, struct wire_counters *count)
{
	if (s->record.head.n_user)
		s->record.head.n_user--;
	runtime_emit(s, count);
}

static __always_inline long runtime_native(struct scratch *s, struct wire_counters *count)
{
	__u64 low = s->walk.reg[WIRE_ABI_SP];
	int code = runtime_is_generated(s) ? runtime_code(s->level) : RUNTIME_CODE_NOT_ITS;
	long stops = 0;

	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(code));
	if (code == RUNTIME_CODE_LEFT)
		return !runtime_emit(s, count);
	stops = walk_native(s, s->record.head.n_user);
	if (code == RUNTIME_CODE_NAMED)
		runtime_name_last(s, count);
	if (stops)
		return 1;
	s->runtime.low = low;
	s->runtime.high = s->walk.reg[WIRE_ABI_SP];
	if (!runtime_is_here(s))
		return 0;
	/* Generated code that called into the interpreter, or is how it is entered, is a frame all the same. */
	return code == RUNTIME_CODE_NAMED ? runtime_enter(s) : runtime_replace(s);
}

/* One step of the walk of a process with a runtime. `data` is the level. */
static long runtime_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct wire_counters *count;
	__u32 event;

	(void)index;
	if (!s || s->runtime.n_frames >= WIRE_MAX_USER_FRAMES)
		return 1;
	s->runtime.n_frames++;
	event = s->record.head.record.event;
	count = bpf_map_lookup_elem(&counters, &event);
	if (!count)
		return 1;
	return s->runtime.is_inside ? runtime_frame(s, count) : runtime_native(s, count);
}

/* … and what of its runs the agent has to put into their places. */
static long runtime_list_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct wire_counters *count;
	__u32 event;

	(void)index;
	if (!s)
		return 1;
	if (!s->runtime.is_inside)
		return s->runtime.anchor ? runtime_enter(s) : 1;
	event = s->record.head.record.event;
	count = bpf_map_lookup_elem(&counters, &event);
	return count ? runtime_frame(s, count) : 1;
}

static __always_inline void runtime_list(struct scratch *s)
{
	__u32 level = s->level;

	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	s->runtime.low = s->runtime.high = 0;
	bpf_loop(WIRE_MAX_USER_FRAMES, runtime_list_step, &level, 0);
}

/* Nothing that was found is to be used. */
static __always_inline void runtime_list_anew(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	runtime_begin(s->level);
	runtime_list(s);
}

/* The agent begins anew, at the leaf: it wants all runs, and none of what was put between them. */
static __always_inline void runtime_list_behind_leaf(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	s->record.head.n_user = 1;
	runtime_list_anew(s);
}

/* Of a process that has no table: by its executable, as far as that was looked at. */
static __always_inline const struct wire_runtime *runtime_of_image(struct scratch *s,
								   struct mm_struct *mm)
{
	const struct wire_runtime *found;
	__u64 image = image_of(mm);

	s->image = image;
	found = image ? bpf_map_lookup_elem(&runtime_images, &image) : NULL;
	if (found)
		s->runtime.of = *found;
	/* The lowest executable segment is where start_code says (load_elf_binary(), fs/binfmt_elf.c). */
	if (found)
		s->runtime.of.base = KERNEL_READ(mm, start_code, 0) - found->base;
	return found;
}

/* … or by a library that it has mapped. */
__noinline int runtime_of_library(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct wire_runtime *found;
	__u64 any = 0, image;

	if (!s || !bpf_map_lookup_elem(&runtime_libraries, &any))
		return 0;
	library_find(level);
	if (!s->library.text)
		return 0;
	image = library_image(s->library.text);
	s->library_image = image;
	found = image ? bpf_map_lookup_elem(&runtime_images, &image) : NULL;
	if (!found)
		return 0;
	s->runtime.of = *found;
	s->runtime.of.base = s->library.base;
	return 1;
}

/* Whether nobody has run that executable lately: the sooner the agent sees it, the sooner it knows whether that is a runtime. */
static __always_inline bool runtime_image_is_new(const struct scratch *s)
{
	__u64 image = RUNTIME_ANY ? s->image : 0;
	__u32 at = image & (WIRE_TOLD_SLOTS - 1);
	__u64 *slot = image ? bpf_map_lookup_elem(&told, &at) : NULL;

	if (!slot || *slot == image)
		return false;
	*slot = image;
	return true;
}

static __always_inline const struct wire_runtime *runtime_of_table(struct scratch *s)
{
	const struct wire_runtime *found;
	__u32 pid = s->record.head.pid;

	found = bpf_map_lookup_elem(&runtimes, &pid);
	if (found)
		s->runtime.of = *found;
	return found;
}

/* A function of its own, because its stack is not to lie below that of the walk. */
__noinline int runtime_look(__u32 level, __u32 has_table)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = KERNEL_READ(task, mm, NULL);
	struct task_struct *leader = KERNEL_READ(task, group_leader, NULL);
	struct scratch *s = walk_scratch(level);
	__u64 hash;

	if (!s || !mm)
		return 0;
	if (has_table ? !runtime_of_table(s)
		      : !runtime_of_image(s, mm) && !runtime_of_library(level))
		return 0;
	hash = hash_mix(told_seed, (__u64)s->record.head.pid << 32 | s->record.head.exec_id);
	s->runtime.process = hash_mix(hash, leader ? KERNEL_READ(leader, start_time, 0) : 0);
	runtime_begin(level);
	return 0;
}

/* Before the walk: whether the process has a runtime, and where its frames begin. `process`: NULL when it has no table. */
static __always_inline void runtime_find(struct scratch *s, const struct wire_process *process)
{
	s->image = s->library_image = s->library.text = 0;
	s->runtime.of.kind = RUNTIME_NONE;
	s->runtime.n_frames = s->runtime.n_names = s->runtime.n_reads = 0;
	if (RUNTIME_ANY && (!process || process->runtime))
		runtime_look(s->level, process != NULL);
}

/* Behind a walk that has left what the process's table knows: a library may have been mapped since that was made. */
static __always_inline void runtime_find_mapped_since(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind != RUNTIME_NONE ||
	    s->walk.end != STOP_REASON_NO_MAPPING)
		return;
	runtime_look(s->level, false);
	s->window.n_bytes = 0;
}

#endif
