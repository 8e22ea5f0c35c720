/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of a user stack walk, and the mapping search. Pure: compiled into the kernel half, into the agent's cold path and into
 * unit tests; the very same code.
 *
 * The includer supplies, before including:
 *
 *	UNWIND_INLINE			how functions are declared
 *	UNWIND_READ(w, dst, n, addr)	0 when n bytes of user memory at addr were read
 *	UNWIND_MAPPING(w, index)	const struct wire_mapping *, or NULL; valid until the next call
 *
 * `w` is the struct unwind_walk of the walk, so that the agent can embed it in what it reads from.
 *
 * A walk is: unwind_begin(), then unwind_step() until it returns false. Before each step the frame of the present pc is
 * unwind_frame(). The present pc is exact for the leaf and the return address − 1 for callers.
 *
 *	      ┌── unwind_frame() is stored by the caller
 *	pc ───┤
 *	      └── unwind_step(): row for pc → CFA, return address, frame pointer
 *
 * The only row so far is that of code with frame pointers: CFA = fp + 16, return address at CFA − 8, frame pointer at CFA − 16. A pc
 * outside of all known mappings does not end the walk: it becomes a raw frame, and the agent, which may know more mappings by then,
 * decides whether it is one.
 */
#ifndef XAGENT_BPF_UNWIND_H
#define XAGENT_BPF_UNWIND_H

#include "bpf/wire.h"

/* A saved frame pointer and a return address: the frame record of both ABIs (System V x86-64 §3.2.2, AAPCS64 §6.4.6). */
struct unwind_record {
	__u64 fp;
	__u64 ra;
};

/* User addresses end below 2^56 (x86-64 with 5-level paging); AArch64 ends at 2^52. No code lies in the first page (mmap_min_addr). */
#define UNWIND_PC_MIN 4096ULL
#define UNWIND_PC_MAX (1ULL << 56)

struct unwind_walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	/* The mapping that held the last pc: the next one is in it 9 times of 10. */
	__u64 begin;
	__u64 end_addr;
	__u64 frame_base;
	__u32 first;	  /* of the process's mappings */
	__u32 n_mappings; /* 0: process unknown, all frames are raw */
	__u32 end;	  /* enum wire_end, valid after unwind_step() returned false */
	__u32 n_raw;	  /* frames outside of known mappings */
};

UNWIND_INLINE void unwind_begin(struct unwind_walk *w, const struct wire_regs *regs,
				const struct wire_process *process, int after_syscall)
{
	w->pc = regs->pc - (after_syscall ? 1 : 0);
	w->sp = regs->sp;
	w->fp = regs->fp;
	w->begin = w->end_addr = 0;
	w->frame_base = 0;
	w->first = process ? process->first : 0;
	w->n_mappings = process ? process->n_mappings : 0;
	w->end = WIRE_END_ROOT;
	w->n_raw = 0;
}

/* Index of the last mapping that begins at or below pc, or n_mappings when there is none. A fixed number of halvings, so that the verifier
 * sees the end. */
UNWIND_INLINE __u32 unwind_search(struct unwind_walk *w, __u64 pc)
{
	__u32 lo = 0;
	__u32 hi = w->n_mappings;

	for (int i = 0; i < WIRE_MAPPING_SEARCH_STEPS; i++) {
		__u32 mid = lo + ((hi - lo) >> 1);
		const struct wire_mapping *m;

		if (lo >= hi)
			break;
		m = UNWIND_MAPPING(w, w->first + mid);
		if (!m)
			break;
		if (m->begin <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : w->n_mappings;
}

/* Makes the mapping of the present pc the cached one; false when no mapping holds it. */
UNWIND_INLINE int unwind_find(struct unwind_walk *w)
{
	const struct wire_mapping *m;
	__u32 i;

	if (w->pc - w->begin < w->end_addr - w->begin)
		return 1;
	if (!w->n_mappings)
		return 0;
	i = unwind_search(w, w->pc);
	if (i >= w->n_mappings)
		return 0;
	m = UNWIND_MAPPING(w, w->first + i);
	if (!m || w->pc >= m->end)
		return 0;
	w->begin = m->begin;
	w->end_addr = m->end;
	w->frame_base = m->frame_base;
	return 1;
}

/* The wire frame of the present pc. */
UNWIND_INLINE __u64 unwind_frame(struct unwind_walk *w)
{
	if (unwind_find(w))
		return w->frame_base + (w->pc - w->begin);
	w->n_raw++;
	return WIRE_FRAME_RAW | w->pc;
}

UNWIND_INLINE int unwind_stop(struct unwind_walk *w, __u32 end)
{
	w->end = end;
	return 0;
}

/* To the caller's frame: true when w->pc is the next frame, false when the walk is over and w->end tells why. */
UNWIND_INLINE int unwind_step(struct unwind_walk *w)
{
	struct unwind_record record;

	/* Both ABIs ask the outermost frame to have a zero frame pointer. */
	if (w->fp == 0)
		return unwind_stop(w, WIRE_END_ROOT);
	if (w->fp < w->sp || (w->fp & 7))
		return unwind_stop(w, WIRE_END_NO_PROGRESS);
	if (UNWIND_READ(w, &record, sizeof(record), w->fp))
		return unwind_stop(w, WIRE_END_STACK_READ);
	if (record.ra == 0)
		return unwind_stop(w, WIRE_END_ROOT);
	if (record.ra <= UNWIND_PC_MIN || record.ra >= UNWIND_PC_MAX)
		return unwind_stop(w, WIRE_END_BAD_PC);
	w->sp = w->fp + sizeof(record);
	w->fp = record.fp;
	w->pc = record.ra - 1;
	return 1;
}

#endif
