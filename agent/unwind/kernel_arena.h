/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: memory that the agent writes by plain stores and the kernel half reads while it walks. Unwind tables and mapping arrays
 * lie in it.
 *
 * It grows by segments of WIRE_SEGMENT_BYTES, each a memory-mapped BPF array that is put into the array of maps when it is first needed;
 * or, for tests and for `xagent inspect`, plain memory. What is given back is not given out again before kernel_arena_reclaim() has been
 * called KERNEL_ARENA_GRACE_NS later, since a walk on another CPU may still be reading it; should a walk be slower than that (a CPU of
 * a virtual machine that was taken away), it finds out by the reuse count that it was, and throws itself away.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_UNWIND_KERNEL_ARENA_H
#define XAGENT_AGENT_UNWIND_KERNEL_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"
#include "bpf/wire.h"

/* A walk takes microseconds; a tick can be delayed behind other interrupts, not for this long. */
#define KERNEL_ARENA_GRACE_NS 20000000ULL

struct kernel_arena_options {
	int segments_fd;       /* borrowed: the BPF array of maps; −1: plain memory */
	uint32_t max_segments; /* at most WIRE_MAX_SEGMENTS; beyond it -ENOSPC */
	uint64_t *
		reuse_count; /* mapped, read by the walk: raised before memory is given out again. NULL: none */
};

struct kernel_arena;

int kernel_arena_new(const struct kernel_arena_options *o, struct kernel_arena **ret_arena);
void kernel_arena_free(struct kernel_arena *a); /* NULL-safe */
DEFINE_CLEANUP(struct kernel_arena *, kernel_arena_free);

/* Room for n_words, within one segment. *ret_at is never 0. 0; -ENOSPC: no gap is large enough (also n_words > a segment), and there may
 * be no further segment; -errno of making one. n_words > 0. */
int kernel_arena_take(struct kernel_arena *a, uint32_t n_words, uint32_t *ret_at);
/* From now on nobody is told of it any more; it becomes free after the grace time. */
void kernel_arena_give(struct kernel_arena *a, uint32_t at, uint32_t n_words);
/* The same for what was never shown to the kernel half: free at once. */
void kernel_arena_give_unseen(struct kernel_arena *a, uint32_t at, uint32_t n_words);
void kernel_arena_reclaim(struct kernel_arena *a, uint64_t now_ns);

/* The memory of a place; valid as long as the arena. */
void *kernel_arena_ptr(const struct kernel_arena *a, uint32_t at);
/* As UNWIND_SEGMENT wants it: NULL when there is no such segment. */
const char *kernel_arena_segment(const struct kernel_arena *a, uint32_t index);

/* Given back and not yet free. */
uint64_t kernel_arena_waiting_words(const struct kernel_arena *a);
/* Given out, or waiting to become free. */
uint64_t kernel_arena_used_bytes(const struct kernel_arena *a);
/* Of all segments made. */
uint64_t kernel_arena_size_bytes(const struct kernel_arena *a);

#endif
