/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sample that the agent has to finish: registers, name and a copy of the stack behind the frames.
 *
 * The stack of a main thread begins where the kernel has put the program's arguments, so it is known how deep it is: nothing above is
 * copied, and what is deeper than a record of ours is written into the ring page by page. C libraries put what a thread has of its own at the
 * beginning of its stack, so where the thread's pointer is a little above sp, it tells as much, but does not have to be believed. Of other
 * stacks nobody tells where they begin: they get the few pages that hold most of them.
 */
#ifndef XAGENT_BPF_COPY_BPF_H
#define XAGENT_BPF_COPY_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

/* The kernel can write records whose size is not known when the program is loaded: bpf_ringbuf_reserve_dynptr(), 5.19. Set by the agent. */
const volatile bool deep_copies = false;

/* Set when the thread was made and whenever it is switched from, so of the present one it may be an earlier value. */
static __always_inline __u64 thread_pointer(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(task, thread.fsbase);
#else
	return 0;
#endif
}

/* Bytes to copy from sp on, whole words: with the outermost one, for there is always something to be walked. */
static __always_inline __u64 stack_depth(struct task_struct *task, __u64 sp)
{
	__u64 depth = BPF_CORE_READ(task, mm, start_stack) - sp;

	if (depth < WIRE_MAX_STACK_BYTES - 8)
		return (depth + 15) & ~7ULL;
	depth = thread_pointer(task) - sp;
	return depth > WIRE_COPY_BYTES - WIRE_PAGE_BYTES && depth < WIRE_MAX_STACK_BYTES - 8
		       ? (depth + 7) & ~7ULL
		       : WIRE_COPY_BYTES;
}

static __always_inline long emit_record(struct scratch *s, __u32 bytes, __u64 flags)
{
	if (bytes > sizeof(struct record))
		bytes = sizeof(struct record);
	return bpf_ringbuf_output(&samples, &s->record, bytes, flags);
}

static __always_inline void begin_copy(struct scratch *s, struct task_struct *task,
				       struct wire_cold *cold)
{
	cold->regs = s->regs;
	cold->n_right = s->n_right;
	cold->flags = s->regs_flags;
	cold->n_skipped = 0;
	cold->zero = 0;
	if (BPF_CORE_READ_STR_INTO(&cold->comm, task, group_leader, comm) < 0)
		cold->comm[0] = '\0';
	s->record.head.flags |= WIRE_COLD;
}

/*
 * Up to `want` bytes behind `begin`, page by page because a read that meets an unmapped page yields nothing. What grows the stack faults
 * where nothing is yet: the copy begins at the first page that is there. Bytes that were copied.
 */
static __always_inline __u32 copy_pages(struct scratch *s, struct wire_cold *cold, __u32 begin,
					__u64 want)
{
	__u64 from = s->regs.reg[WIRE_ABI_SP];
	__u32 done = 0;

	for (int page = 0; page < WIRE_COPY_BYTES / WIRE_PAGE_BYTES; page++) {
		__u32 n = WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1));
		__u32 to = begin + done;

		/* A record with many frames has less room. */
		if (to > sizeof(s->record.words) - WIRE_PAGE_BYTES || done >= want)
			break;
		if (!bpf_probe_read_user((char *)s->record.words + to,
					 n & (2 * WIRE_PAGE_BYTES - 1), (void *)from))
			done += n;
		else if (done)
			break;
		from += n;
		if (!done)
			cold->n_skipped = from - s->regs.reg[WIRE_ABI_SP];
	}
	return done & ~7u;
}

struct deep_copy {
	struct bpf_dynptr to;
	struct scratch *s;
	__u64 from;
	__u32 at;      /* of the copy, in the record */
	__u32 n_bytes; /* of the copy */
};

static long copy_page(__u32 page, void *data)
{
	struct deep_copy *c = data;
	__u32 done = c->s->n_copied;
	__u32 n = c->n_bytes - done;
	void *at = bpf_dynptr_data(&c->to, c->at + done, WIRE_PAGE_BYTES);

	(void)page;
	if (n > WIRE_PAGE_BYTES)
		n = WIRE_PAGE_BYTES;
	if (!at || !n || bpf_probe_read_user(at, n, (void *)(c->from + done)))
		return 1;
	c->s->n_copied = done + n;
	return 0;
}

/* Bytes from sp on that are not there: what grows the stack faults in its next page. */
static __always_inline __u32 missing_bytes(__u64 sp)
{
	__u64 word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)sp)
		       ? WIRE_PAGE_BYTES - (sp & (WIRE_PAGE_BYTES - 1))
		       : 0;
}

/* The whole stack, `depth` bytes; `bytes` of the record come before it. False: it could not be had, nothing was emitted. */
static __always_inline bool emit_deep(struct scratch *s, struct wire_cold *cold, __u32 bytes,
				      __u32 depth, __u64 flags)
{
	struct deep_copy c = { .s = s, .at = bytes };
	/* The last page is written to as if it were whole. */
	long r = bpf_ringbuf_reserve_dynptr(&samples, bytes + depth + WIRE_PAGE_BYTES, 0, &c.to);

	cold->n_skipped = missing_bytes(s->regs.reg[WIRE_ABI_SP]);
	c.from = s->regs.reg[WIRE_ABI_SP] + cold->n_skipped;
	c.n_bytes = depth - cold->n_skipped;
	s->n_copied = 0;
	if (!r)
		bpf_loop(WIRE_MAX_STACK_BYTES / WIRE_PAGE_BYTES, copy_page, &c, 0);
	s->record.head.stack_words = s->n_copied / 8;
	/* What is checked is what is passed on, not a copy of it: 6.1 tells them apart. */
	barrier_var(bytes);
	if (bytes > sizeof(struct record))
		bytes = sizeof(struct record);
	if (r || s->n_copied < c.n_bytes || bpf_dynptr_write(&c.to, 0, &s->record, bytes, 0)) {
		bpf_ringbuf_discard_dynptr(&c.to, 0);
		return false;
	}
	bpf_ringbuf_submit_dynptr(&c.to, flags);
	return true;
}

/* `room`: bytes of the ring that copies may take. 0 or -errno. */
static __always_inline long emit_copy(struct scratch *s, struct task_struct *task, __u64 room,
				      __u64 flags, struct wire_counters *count)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user;
	__u64 depth = stack_depth(task, s->regs.reg[WIRE_ABI_SP]);
	__u32 bytes = sizeof(struct wire_sample) + at * 8 + sizeof(struct wire_cold);

	if (at > WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES)
		return -1;
	struct wire_cold *cold = (void *)&s->record.words[at];
	begin_copy(s, task, cold);
	/* Pages are counted, and sp is not where one begins. */
	if (deep_copies && depth > WIRE_COPY_BYTES - WIRE_PAGE_BYTES && depth < room &&
	    emit_deep(s, cold, bytes, depth, flags))
		return 0;
	cold->n_skipped = 0;
	__u32 done = copy_pages(s, cold, at * 8 + sizeof(*cold), depth);
	if (!done)
		count->cold_copy_errors++;
	s->record.head.stack_words = done / 8;
	return emit_record(s, bytes + done, flags);
}

#endif
