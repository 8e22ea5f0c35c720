/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a thread's Java frames begin below native ones. A thread that has left Java has an anchor: where its last Java frame is. Each time that the JVM calls
 * Java, it keeps the anchor that there was before, in a JavaCallWrapper, which the frame of the stub has that calls.
 *
 *	native ─ not walked ─► JavaThread::_anchor ─► Java, stub ─► native ─ not walked ─► JavaCallWrapper::_anchor ─► Java, stub ─► …
 *
 * A thread is found in the list of threads, by its number; where it was found is remembered (`threads`), and asked again each time. An anchor counts only if it lies on the thread's stack, above the frame that could not be walked, and is in the code cache.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_ANCHOR_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_ANCHOR_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/kernel.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"
#include "bpf/runtimes/hotspot_scopes.bpf.h"

/* Threads that are looked through, the youngest first. One that was not found is looked for again after some time. */
#define HOTSPOT_MAX_THREADS 1024
#define HOTSPOT_AGAIN_NS 100000000ULL
/* In a key of `threads`, where no thread and no address has a bit. */
#define HOTSPOT_THREAD_BIT (1ULL << 62)

/* What stands for the frames that could not be walked, as a function: no Method and no CodeBlob is there. */
#define HOTSPOT_GAP 1
#define HOTSPOT_GAP_NAME "[native frames not known]"

/* The present thread as its own pid namespace numbers it, which is what it knows itself by. */
__noinline __u32 hotspot_own_tid(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = KERNEL_READ(task, thread_pid, NULL);
	struct upid *own;
	__u32 level;

	if (!pid || !bpf_core_field_exists(struct pid, level) ||
	    !bpf_core_field_exists(struct pid, numbers) || !bpf_core_field_exists(struct upid, nr))
		return (__u32)bpf_get_current_pid_tgid();
	level = BPF_CORE_READ(pid, level);
	own = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	      (__u64)level * bpf_core_type_size(struct upid);
	return BPF_CORE_READ(own, nr);
}

static __always_inline bool hotspot_is_thread(const struct hotspot_more *m, __u64 thread,
					      __u32 own)
{
	__u64 system = thread ? hotspot_u64(thread + m->at[HOTSPOT_THREAD_SYSTEM]) : 0;

	return system && hotspot_u32(system + m->at[HOTSPOT_SYSTEM_NUMBER]) == own;
}

/* WORD_ONE: the thread that is looked at next, or behind its place in the list. WORD_OTHER: the present one's number. WORD_WANTED: it. */
static long hotspot_thread_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	__u64 *w, thread;

	(void)index;
	if (!m || s->runtime.n_reads++ >= HOTSPOT_MAX_STEPS)
		return 1;
	w = s->runtime.words;
	if (m->at[HOTSPOT_THREAD_NEXT] != HOTSPOT_NONE) {
		thread = w[HOTSPOT_WORD_ONE];
		w[HOTSPOT_WORD_ONE] = hotspot_u64(thread + m->at[HOTSPOT_THREAD_NEXT]);
	} else {
		w[HOTSPOT_WORD_ONE] -= 8;
		thread = hotspot_u64(w[HOTSPOT_WORD_ONE]);
	}
	if (hotspot_is_thread(m, thread, w[HOTSPOT_WORD_OTHER]))
		w[HOTSPOT_WORD_WANTED] = thread;
	return !thread || w[HOTSPOT_WORD_WANTED];
}

/* The present thread in the list; 0: it is none of those that were looked at. */
static __always_inline __u64 hotspot_search_threads(struct scratch *s, const struct hotspot_more *m,
						    __u32 own)
{
	__u64 list = hotspot_u64(m->threads_at), *w = s->runtime.words;
	__u32 n = HOTSPOT_MAX_THREADS, level = s->level;

	w[HOTSPOT_WORD_ONE] = list;
	if (m->at[HOTSPOT_THREAD_NEXT] == HOTSPOT_NONE) {
		n = hotspot_u32(list + m->at[HOTSPOT_LIST_LENGTH]);
		w[HOTSPOT_WORD_ONE] =
			hotspot_u64(list + m->at[HOTSPOT_LIST_THREADS]) + 8 * (__u64)n;
	}
	w[HOTSPOT_WORD_OTHER] = own;
	w[HOTSPOT_WORD_WANTED] = 0;
	if (list)
		bpf_loop(n < HOTSPOT_MAX_THREADS ? n : HOTSPOT_MAX_THREADS, hotspot_thread_step,
			 &level, 0);
	return w[HOTSPOT_WORD_WANTED];
}

/* The JavaThread of the present thread; 0: it has none. */
__noinline __u64 hotspot_thread(__u32 level)
{
	__u64 thread = bpf_get_current_pid_tgid() | HOTSPOT_THREAD_BIT;
	__u32 own = hotspot_own_tid(), at = hash_mix(0, thread) & (WIRE_THREAD_SLOTS - 1);
	struct runtime_thread *known = bpf_map_lookup_elem(&threads, &at);
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	__u64 found;

	if (!m || !known)
		return 0;
	if (known->thread == thread) {
		if (hotspot_is_thread(m, known->state, own))
			return known->state;
		if (!known->state && s->record.head.time_ns < known->until_ns)
			return 0;
	}
	found = hotspot_search_threads(s, m, own);
	*known =
		(struct runtime_thread){ thread, found, s->record.head.time_ns + HOTSPOT_AGAIN_NS };
	return found;
}

/* The anchor behind what was walked last; 0: it is not told. */
static __always_inline __u64 hotspot_anchor(const struct scratch *s, const struct hotspot_more *m,
					    __u64 thread)
{
	__u64 wrapper = s->runtime.words[HOTSPOT_WORD_WRAPPER];

	if (!wrapper)
		return thread + m->at[HOTSPOT_THREAD_ANCHOR];
	return hotspot_u64(wrapper) == thread ? wrapper + m->at[HOTSPOT_WRAPPER_ANCHOR] : 0;
}

/* Both lie on the thread's stack, and sp not below `low`. */
static __always_inline bool hotspot_is_on_stack(const struct hotspot_more *m, __u64 thread,
						__u64 low, __u64 sp)
{
	__u64 end = hotspot_u64(thread + m->at[HOTSPOT_THREAD_STACK]);
	__u64 bytes = hotspot_u64(thread + m->at[HOTSPOT_THREAD_STACK_BYTES]);

	return !(sp & 7) && low <= sp && sp < end && end - low <= bytes;
}

/* From the native frame at `low`. Where its caller was found by frame pointer, that was wrong if it lies above the anchor: what was followed is no frame pointer. */
__noinline int hotspot_go_on(__u32 level, __u64 low)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	__u64 thread, anchor, sp, pc;
	struct unwind_walk *w;

	if (!m || !m->threads_at)
		return 0;
	thread = hotspot_thread(level);
	anchor = thread ? hotspot_anchor(s, m, thread) : 0;
	if (!anchor)
		return 0;
	w = &s->walk;
	sp = hotspot_u64(anchor + m->at[HOTSPOT_ANCHOR_SP]);
	if (!hotspot_is_on_stack(m, thread, low, sp) ||
	    (w->reg[WIRE_ABI_SP] != low && sp >= w->reg[WIRE_ABI_SP]))
		return 0;
	pc = hotspot_u64(anchor + m->at[HOTSPOT_ANCHOR_PC]);
	if (!pc)
		pc = hotspot_u64(sp - 8);
	if (!hotspot_is_in_cache(s, pc))
		return 0;
	w->reg[WIRE_ABI_SP] = sp;
	w->reg[WIRE_ABI_FP] = hotspot_u64(anchor + m->at[HOTSPOT_ANCHOR_FP]);
	w->pc = pc - 1;
	w->flags = w->known = 0;
	w->end = STOP_REASON_DEPTH;
	return 1;
}

static __always_inline int hotspot_resume(struct scratch *s, __u64 low)
{
	s->runtime.function = HOTSPOT_GAP;
	s->runtime.print = HOTSPOT_GAP;
	s->runtime.position = HOTSPOT_NO_BCI;
	return hotspot_go_on(s->level, low);
}

static __always_inline int hotspot_name_gap(struct wire_name *name)
{
	name->n_name = sizeof(HOTSPOT_GAP_NAME) - 1;
	__builtin_memcpy(name->texts, HOTSPOT_GAP_NAME, sizeof(HOTSPOT_GAP_NAME) - 1);
	return 1;
}

#endif
