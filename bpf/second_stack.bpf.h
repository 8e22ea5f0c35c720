/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The further stack of a thread whose sp lies on another one.
 *
 * A handler on an alternate stack has interrupted code on another one, and Go's runtime calls C and itself on the stack of the thread (g0),
 * C calls Go on that of a goroutine. What is copied for the agent has to hold both. Found here is a guess that costs nothing when it is wrong:
 * the agent reads memory by its address, and what is not in the copy ends the stack as it did before.
 */
#ifndef XAGENT_BPF_SECOND_STACK_BPF_H
#define XAGENT_BPF_SECOND_STACK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/go.h"
#include "bpf/kernel.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

/* Set when the thread was made and whenever it is switched from, so of the present one it may be an earlier value. */
static __always_inline __u64 thread_pointer(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return KERNEL_READ(task, thread.fsbase, 0);
#else
	return KERNEL_READ(task, thread.uw.tp_value, 0);
#endif
}

/*
 * The frame of the first handler lies at the top of the alternate stack. It holds which alternate stack that was (uc_stack), and some words
 * behind that the interrupted sp (uc_mcontext; arch/{x86,arm64}/include/uapi/asm/{ucontext,sigcontext}.h).
 */
#if defined(__TARGET_ARCH_x86)
#define SIGNAL_SP_WORDS 18
#define SIGNAL_FP_WORDS 13
#define SIGNAL_G_WORDS 0 /* in no register */
#else
#define SIGNAL_SP_WORDS 52
#define SIGNAL_FP_WORDS 50
#define SIGNAL_G_WORDS 49
#endif

/* The words from word `at` of the window on are the uc_stack of the stack that sp lies on, and what follows it: there is what was interrupted. */
static __always_inline bool is_interrupted_at(struct scratch *s, __u32 at)
{
	__u64 *words = (__u64 *)s->window.bytes;

	if (words[at] != s->second.own_begin || words[at + 2] != s->second.own_bytes)
		return false;
	s->second.sp = words[at + SIGNAL_SP_WORDS];
	s->second.fp = words[at + SIGNAL_FP_WORDS];
	s->second.g = WIRE_N_REGS == 32 ? words[at + SIGNAL_G_WORDS] : 0;
	s->second.switches[0].from = (s->second.sp & ~7ULL) - WIRE_BELOW_BYTES;
	return true;
}

#if defined(__TARGET_ARCH_x86)

/* Above it lie the vector registers, whose size differs between machines (setup_rt_frame, arch/x86/kernel/signal.c; less than 3 KiB but for
 * AMX): it is searched for. */
#define SIGNAL_FRAME_WORDS (WINDOW_BYTES / 8)

static long signal_frame_at(__u32 i, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	__u32 at = SIGNAL_FRAME_WORDS - 1 - SIGNAL_SP_WORDS - i;

	if (!s || at >= SIGNAL_FRAME_WORDS - SIGNAL_SP_WORDS)
		return 1;
	return is_interrupted_at(s, at);
}

static __always_inline void find_signal_frame(struct scratch *s, __u64 end)
{
	__u32 level = s->level;

	/* The smallest (MINSIGSTKSZ) are half as large. */
	if (!bpf_probe_read_user(s->window.bytes, WINDOW_BYTES, (void *)(end - WINDOW_BYTES)) ||
	    !bpf_probe_read_user(s->window.bytes + WINDOW_BYTES / 2, WINDOW_BYTES / 2,
				 (void *)(end - WINDOW_BYTES / 2)))
		bpf_loop(SIGNAL_FRAME_WORDS - SIGNAL_SP_WORDS, signal_frame_at, &level, 0);
}

#else

/*
 * A frame record, and below it struct rt_sigframe with room for 4 KiB of registers, used or not (get_sigframe and sigframe_size,
 * arch/arm64/kernel/signal.c). Only vectors of 112 bytes and more (SVE) need more room, and are not found.
 */
#define SIGNAL_RECORD_BYTES 16
#define SIGNAL_FRAME_BYTES 4688
#define SIGNAL_STACK_OFF 144 /* uc_stack, behind siginfo */

static __always_inline void find_signal_frame(struct scratch *s, __u64 end)
{
	__u64 frame = ((end - SIGNAL_RECORD_BYTES) & ~15ULL) - SIGNAL_FRAME_BYTES;

	if (!bpf_probe_read_user(s->window.bytes, (SIGNAL_SP_WORDS + 1) * 8,
				 (void *)(frame + SIGNAL_STACK_OFF)))
		is_interrupted_at(s, 0);
}

#endif

/* True when sp lies on an alternate stack. */
static __always_inline bool interrupted_stack(struct scratch *s, struct task_struct *task)
{
	__u64 begin = KERNEL_READ(task, sas_ss_sp, 0);
	__u64 bytes = KERNEL_READ(task, sas_ss_size, 0);

	if (s->second.sp - begin >= bytes)
		return false;
	s->second.own_begin = begin;
	s->second.own_bytes = bytes;
	s->second.switches[0].end = begin + bytes;
	find_signal_frame(s, begin + bytes);
	return true;
}

/*
 * What Go's runtime knows of a thread (bpf/go.h). The present g lies at the thread pointer, where the program has no thread-local data of
 * others: below it on x86-64, behind the thread control block on AArch64 (there with cgo only; in Go's own code it is in a register as well).
 * Each g knows its m (that of its handlers, too), each m begins with g0 and has the goroutine that runs on it as its 24th or 25th word (Go
 * 1.5 to 1.26). That these know each other tells that it is Go.
 */
#if defined(__TARGET_ARCH_x86)
#define GO_TLS_G (-8)
#else
#define GO_TLS_G 16
#endif
#define GO_M_CURG 184
#define GO_M_CURG_WORDS 2
/* The frame that was left lies around the saved sp. */
#define GO_SLACK_BYTES 128
/* A thread's own stack has no exact end: a little lies above what the runtime takes for it. */
#define GO_ABOVE_BYTES 1024

static __always_inline bool go_read(struct go_g *g, __u64 at)
{
	return !bpf_probe_read_user(g, sizeof(*g), (void *)at);
}

/* The goroutine of an m: where in the m that is said. 0: there is none. */
static __always_inline __u64 go_running(struct go_g *g, __u64 m, __u64 g0, __u64 *ret_at)
{
	__u64 candidates[GO_M_CURG_WORDS];

	if (bpf_probe_read_user(candidates, sizeof(candidates), (void *)(m + GO_M_CURG)))
		return 0;
	for (int i = 0; i < GO_M_CURG_WORDS; i++) {
		*ret_at = candidates[i];
		if (candidates[i] && candidates[i] != g0 && go_read(g, candidates[i]) && g->m == m)
			return m + GO_M_CURG + i * 8;
	}
	return 0;
}

/* What rules of Go's ask for (RULE_CFA_GO_*). */
static __always_inline void go_words(struct wire_word *words, const struct go_g *goroutine,
				     __u64 at, __u64 g0, __u64 curg_at)
{
	if (WIRE_N_REGS != 32)
		return;
	words[0] = (struct wire_word){ at + GO_G_END, goroutine->end };
	words[1] = (struct wire_word){ at + GO_G_M, goroutine->m };
	words[2] = (struct wire_word){ at + GO_G_SP, goroutine->sp };
	words[3] = (struct wire_word){ g0 + GO_G_M, goroutine->m };
	words[4] = (struct wire_word){ goroutine->m, g0 };
	words[5] = (struct wire_word){ curg_at, at };
}

static __always_inline bool go_holds(const struct go_g *g, __u64 sp)
{
	return sp - g->begin <= g->end - g->begin;
}

/* Where the stack of `left` goes on; that of `own` holds sp. */
static __always_inline void go_left(const struct second_stack *s, const struct go_g *own,
				    const struct go_g *left, struct stack_switch *to)
{
	__u64 from = left->sp - GO_SLACK_BYTES;

	/* Not every switch is noted; the frame pointer is as the caller has left it, if nobody needed it for something else. */
	if (s->fp - left->begin < left->end - left->begin &&
	    (s->fp < from || from - left->begin >= left->end - left->begin))
		from = s->fp;
	if (from - left->begin >= left->end - left->begin)
		return;
	to->end = own->end + GO_ABOVE_BYTES;
	to->from = (from & ~7ULL) - WIRE_BELOW_BYTES;
}

/* True when the g at `at` is Go's, and sp is on a stack of its m. */
static __always_inline bool left_by(struct second_stack *s, __u64 at, struct stack_switch *to)
{
	struct go_g g0, g;
	__u64 g0_at = 0;
	__u64 curg_at;
	__u64 g_at = 0;
	__u64 m = 0;

	if (!at || bpf_probe_read_user(&m, sizeof(m), (void *)(at + GO_G_M)) ||
	    bpf_probe_read_user(&g0_at, sizeof(g0_at), (void *)m) || !go_read(&g0, g0_at) ||
	    g0.m != m)
		return false;
	curg_at = go_running(&g, m, g0_at, &g_at);
	if (!curg_at || (!go_holds(&g0, s->sp) && !go_holds(&g, s->sp)))
		return false;
	go_words(s->words, &g, g_at, g0_at, curg_at);
	if (go_holds(&g, s->sp))
		go_left(s, &g, &g0, to);
	else
		go_left(s, &g0, &g, to);
	return true;
}

static __always_inline void left_stack(struct second_stack *s, struct task_struct *task,
				       struct stack_switch *to)
{
	__u64 thread = thread_pointer(task);
	__u64 at = 0;

	if (WIRE_N_REGS == 32 && left_by(s, s->g, to))
		return;
	if (thread && !bpf_probe_read_user(&at, sizeof(at), (void *)(thread + GO_TLS_G)))
		left_by(s, at, to);
}

/* Looks from the registers of the copy on: scratch->second. 0, else there is nothing. */
__noinline int second_stack_find(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct task_struct *task = bpf_get_current_task_btf();

	if (!s)
		return -1;
	s->second = (struct second_stack){
		.sp = s->regs.reg[WIRE_ABI_SP],
		.fp = s->regs.reg[WIRE_ABI_FP],
		.g = s->regs.reg[GO_ARM64_G & (WIRE_N_REGS - 1)],
	};
	if (interrupted_stack(s, task))
		left_stack(&s->second, task, &s->second.switches[1]);
	else
		left_stack(&s->second, task, &s->second.switches[0]);
	return s->second.switches[0].from ? 0 : -1;
}

#endif
