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
#include "bpf/second_stack.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

/* The kernel can write records whose size is not known when the program is loaded: bpf_ringbuf_reserve_dynptr(), 5.19. Set by the agent. */
const volatile bool deep_copies = false;

/* Bytes waiting in the ring from which on there is room for samples alone: new processes get no stack copy, names are not told. */
const volatile __u64 user_unwound_bytes = 1 << 17;

/* Where the copy of the stack begins that sp lies on. */
static __always_inline __u64 copy_from(const struct scratch *s)
{
	return s->regs.reg[WIRE_ABI_SP] - WIRE_BELOW_BYTES;
}

/* Where the stack of the process's main thread begins; 0: not known. */
static __always_inline __u64 main_stack(struct task_struct *task)
{
	struct mm_struct *mm = KERNEL_READ(task, mm, NULL);

	return KERNEL_READ(mm, start_stack, 0);
}

/* Bytes to copy from `from` on, whole words: with the outermost one, for there is always something to be walked. */
static __always_inline __u64 stack_depth(struct task_struct *task, __u64 from)
{
	__u64 depth = main_stack(task) - from;

	if (depth < WIRE_MAX_STACK_BYTES - 8)
		return (depth + 15) & ~7ULL;
	depth = thread_pointer(task) - from;
	return depth > WIRE_COPY_BYTES - WIRE_PAGE_BYTES && depth < WIRE_MAX_STACK_BYTES - 8
		       ? (depth + 7) & ~7ULL
		       : WIRE_COPY_BYTES;
}

static __always_inline long emit_record(struct scratch *s, __u32 bytes, __u64 flags)
{
	if (bytes > sizeof(struct record))
		bytes = sizeof(struct record);
	s->record.head.record.n_bytes = bytes;
	return bpf_ringbuf_output(&samples, &s->record, bytes, flags);
}

/* Of the process; where it cannot be found that of the thread. */
static __always_inline void copy_comm(struct task_struct *task,
				      struct wire_user_unwound *user_unwound)
{
	long r;

	if (bpf_core_field_exists(task->group_leader) && bpf_core_field_exists(task->comm))
		r = BPF_CORE_READ_STR_INTO(&user_unwound->comm, task, group_leader, comm);
	else
		r = bpf_get_current_comm(user_unwound->comm, sizeof(user_unwound->comm));
	if (r < 0)
		user_unwound->comm[0] = '\0';
}

static __always_inline void begin_copy(struct scratch *s, struct task_struct *task,
				       struct wire_user_unwound *user_unwound)
{
	user_unwound->regs = s->regs;
	user_unwound->n_right = s->n_right;
	user_unwound->flags = s->regs_flags;
	user_unwound->n_skipped = 0;
	user_unwound->zero = 0;
	user_unwound->image = s->image;
	user_unwound->library_image = s->library_image;
	user_unwound->library_text = s->library.text;
	__builtin_memset(user_unwound->pieces, 0, sizeof(user_unwound->pieces));
	copy_comm(task, user_unwound);
	s->record.head.flags |= WIRE_USER_UNWOUND;
}

/*
 * Up to `want` bytes from `from` on to byte `to` of the record's words, page by page because a read that meets an unmapped page yields
 * nothing. What grows the stack faults where nothing is yet: the copy begins at the first page that is there (scratch->n_missing). Bytes that
 * were copied.
 */
__noinline int copy_range(__u32 level, __u64 from, __u32 to, __u32 want)
{
	struct scratch *s = walk_scratch(level);
	__u32 done = 0;

	if (!s)
		return 0;
	s->n_missing = 0;
	for (int page = 0; page < WIRE_COPY_BYTES / WIRE_PAGE_BYTES; page++) {
		__u32 n = WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1));
		__u32 at = to + done;

		/* What is checked is what is passed on, not a copy of it. */
		barrier_var(at);
		/* A record with many frames has less room. */
		if (at > sizeof(s->record.words) - WIRE_PAGE_BYTES || done >= want)
			break;
		if (!bpf_probe_read_user((char *)s->record.words + at,
					 n & (2 * WIRE_PAGE_BYTES - 1), (void *)from))
			done += n;
		else if (done)
			break;
		else
			s->n_missing += n;
		from += n;
	}
	return done & ~7u;
}

/* The stack that sp lies on as far as it goes, and what there is room for of the others. Bytes that were copied. */
static __always_inline __u32 copy_all(struct scratch *s, struct wire_user_unwound *user_unwound,
				      __u32 to)
{
	__u32 done =
		copy_range(s->level, copy_from(s), to, s->second.switches[0].end - copy_from(s));

	user_unwound->n_skipped = s->n_missing;
	for (int i = 0; i < WIRE_USER_UNWOUND_PIECES; i++) {
		__u64 from = s->second.switches[i].from;
		__u64 end = i + 1 < WIRE_USER_UNWOUND_PIECES ? s->second.switches[i + 1].end : 0;
		__u32 room = WIRE_COPY_BYTES - WIRE_PAGE_BYTES - done;

		if (!from || done > WIRE_COPY_BYTES - WIRE_PAGE_BYTES)
			break;
		user_unwound->pieces[i].n_bytes = copy_range(s->level, from, to + done,
							     end - from < room ? end - from : room);
		user_unwound->pieces[i].from = from + s->n_missing;
		done += user_unwound->pieces[i].n_bytes;
	}
	return done;
}

static __always_inline __u32 copy_one(struct scratch *s, struct wire_user_unwound *user_unwound,
				      __u32 to, __u64 depth)
{
	__u32 n = copy_range(s->level, copy_from(s), to, depth);

	user_unwound->n_skipped = s->n_missing;
	return n;
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

/* Bytes of the stack that are not there: what grows it faults in its next page. */
static __always_inline __u32 missing_bytes(__u64 from)
{
	__u64 word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)from)
		       ? WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1))
		       : 0;
}

/* The whole stack, `depth` bytes; `bytes` of the record come before it. False: it could not be had, nothing was emitted. */
static __always_inline bool emit_deep(struct scratch *s, struct wire_user_unwound *user_unwound,
				      __u32 bytes, __u32 depth, __u64 flags)
{
	struct deep_copy c = { .s = s, .at = bytes };
	/* The last page is written to as if it were whole. */
	long r = bpf_ringbuf_reserve_dynptr(&samples, bytes + depth + WIRE_PAGE_BYTES, 0, &c.to);

	user_unwound->n_skipped = missing_bytes(copy_from(s));
	c.from = copy_from(s) + user_unwound->n_skipped;
	c.n_bytes = depth - user_unwound->n_skipped;
	s->n_copied = 0;
	if (!r)
		bpf_loop(WIRE_MAX_STACK_BYTES / WIRE_PAGE_BYTES, copy_page, &c, 0);
	s->record.head.stack_words = s->n_copied / 8;
	s->record.head.record.n_bytes = bytes + s->n_copied;
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

/* `room`: bytes of the ring that copies may take. 0 or -errno. A function of its own: in a large one the verifier of 6.1 loses sight of the limit of `at`. */
static __noinline long emit_copy(struct scratch *s, struct task_struct *task, __u64 room,
				 __u64 flags, struct wire_counters *count)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user;
	__u64 depth = stack_depth(task, copy_from(s));
	__u32 bytes = sizeof(struct wire_sample) + at * 8 + sizeof(struct wire_user_unwound);

	if (at > WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return -1;
	struct wire_user_unwound *user_unwound = (void *)&s->record.words[at];
	begin_copy(s, task, user_unwound);
	bool goes_on = !second_stack_find(s->level);
	__builtin_memcpy(user_unwound->words, s->second.words, sizeof(user_unwound->words));
	/* Pages are counted, and sp is not where one begins. */
	if (!goes_on && deep_copies && depth > WIRE_COPY_BYTES - WIRE_PAGE_BYTES && depth < room &&
	    emit_deep(s, user_unwound, bytes, depth, flags))
		return 0;
	user_unwound->n_skipped = 0;
	__u32 done = goes_on ? copy_all(s, user_unwound, at * 8 + sizeof(*user_unwound))
			     : copy_one(s, user_unwound, at * 8 + sizeof(*user_unwound), depth);
	if (done > sizeof(s->record.words))
		done = 0;
	if (!done)
		count->cold_copy_errors++;
	s->record.head.stack_words = done / 8;
	return emit_record(s, bytes + done, flags);
}

#endif
