/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The contract between the kernel half and the agent: records, tables, limits, counters. Compiled by both sides.
 *
 * A sample travels as one ring buffer record:
 *
 *	struct wire_sample | n_kernel frames | n_user frames | struct wire_cold and stack bytes (only with WIRE_COLD)
 *
 * Frames are leaf first. Kernel frames are plain kernel addresses. A user frame is process-independent where the mapping is known:
 *
 *	bit 63 = 0	bits 62..40 object id (as given by the agent), bits 39..0 offset in the object's file
 *	bit 63 = 1	bits 62..0 pc: no mapping known, or anonymous memory
 *
 * Callers' frames carry the return address − 1, so that they name the call and not what follows it.
 */
#ifndef XAGENT_BPF_WIRE_H
#define XAGENT_BPF_WIRE_H

#include <linux/types.h>

/* Ceiling of the kernel's own perf callchains (PERF_MAX_STACK_DEPTH, include/uapi/linux/perf_event.h). */
#define WIRE_MAX_KERNEL_FRAMES 127
/* Pyroscope cuts stacks at 1000 (validation.max-profile-stacktrace-depth), so more cannot be shown. */
#define WIRE_MAX_USER_FRAMES 1000
/* Copied stack of a process that the kernel half does not know yet; a few pages hold most live stacks. */
#define WIRE_MAX_STACK_BYTES 16384
#define WIRE_PAGE_BYTES 4096
/* binfmt limit of task names (TASK_COMM_LEN, include/linux/sched.h). */
#define WIRE_COMM_BYTES 16

#define WIRE_FRAME_RAW (1ULL << 63)
#define WIRE_FRAME_OFFSET_BITS 40
#define WIRE_FRAME_OFFSET_MASK ((1ULL << WIRE_FRAME_OFFSET_BITS) - 1)
#define WIRE_MAX_OBJECT_ID ((1U << 23) - 1)

/*
 * How the user half of a walk ended: X(NAME, complete, frame shown at the root, sentence for /metrics and people).
 * Append only: the numbers are on the wire.
 */
#define WIRE_ENDS(X)                                                                            \
	X(ROOT, 1, "", "the outermost frame was reached")                                       \
	X(NO_USER, 1, "", "a kernel thread, or user stacks are not wanted")                     \
	X(DEPTH, 0, "[truncated: too deep]", "more frames than the limit")                      \
	X(STACK_READ, 0, "[truncated: stack not readable]", "the stack page was not in memory") \
	X(NO_PROGRESS, 0, "[truncated: bad frame pointer]",                                     \
	  "the frame pointer did not lead further up the stack")                                \
	X(NO_MAPPING, 0, "[truncated: pc not in any mapping]",                                  \
	  "a return address lies in no executable mapping")                                     \
	X(BAD_PC, 0, "[truncated: bad pc]", "a return address is no user address")              \
	X(COMPAT, 0, "[32-bit process]", "32-bit processes are not unwound")                    \
	X(COPY_END, 0, "[truncated: stack copy too short]",                                     \
	  "the copied part of the stack ended before the walk")

enum wire_end {
#define WIRE_END_ENUM(name, complete, frame, text) WIRE_END_##name,
	WIRE_ENDS(WIRE_END_ENUM)
#undef WIRE_END_ENUM
		WIRE_END_MAX
};

/*
 * Per-CPU counters of the kernel half: X(name, sentence). ticks = emitted + idle + filtered + lost, always.
 * Append only.
 */
#define WIRE_COUNTERS(X)                                                               \
	X(ticks, "timer ticks seen by the sampler")                                    \
	X(emitted, "samples handed to the agent")                                      \
	X(idle, "ticks on an idle CPU")                                                \
	X(filtered, "ticks of processes that are not wanted")                          \
	X(lost, "samples lost because the ring buffer was full")                       \
	X(kernel_stack_errors, "kernel stacks that could not be read")                 \
	X(cold, "samples of processes the kernel half did not know yet")               \
	X(cold_limited, "of these, without a stack copy because the ring was filling") \
	X(cold_copy_errors, "of these, whose stack could not be copied")               \
	X(fp_frames, "user frames found by frame pointer")                             \
	X(raw_frames, "user frames outside of known mappings")

struct wire_counters {
#define WIRE_COUNTER_FIELD(name, text) __u64 name;
	WIRE_COUNTERS(WIRE_COUNTER_FIELD)
#undef WIRE_COUNTER_FIELD
};

/* wire_sample.flags */
#define WIRE_COLD 1u	   /* registers and a stack copy follow the frames */
#define WIRE_KTHREAD 2u	   /* a kernel thread */
#define WIRE_IN_SYSCALL 4u /* the user pc is where a system call returns to */
#define WIRE_USER_MODE 8u  /* the tick interrupted user code */

struct wire_sample {
	__u64 time_ns;	 /* CLOCK_MONOTONIC */
	__u64 cgroup_id; /* of the unified hierarchy */
	__u32 pid;	 /* process, as the agent's pid namespace numbers it */
	__u32 tid;	 /* thread, likewise */
	__u32 cpu;
	__u32 generation; /* of the mapping table that named the frames; 0 when there was none */
	__u16 n_kernel;
	__u16 n_user;
	__u16 stack_bytes; /* copied from regs.sp on; only with WIRE_COLD */
	__u8 end;	   /* enum wire_end */
	__u8 flags;
};

/* The registers a walk starts with. x86-64 names; on AArch64 fp is x29, ra_reg is x30. */
struct wire_regs {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 ra_reg;
};

struct wire_cold {
	struct wire_regs regs;
	char comm[WIRE_COMM_BYTES]; /* of the process (its leader), not of the thread */
};

/* Value of the process table, keyed by pid. */
struct wire_process {
	__u32 first; /* index of its first mapping in the mapping array */
	__u32 n_mappings;
	__u32 generation; /* never 0 */
	__u32 flags;	  /* WIRE_PROCESS_* */
};

#define WIRE_PROCESS_FILTERED 1u /* counted, not walked */

/* One executable mapping. An array of them, ascending by begin, belongs to each process; forks share one. */
struct wire_mapping {
	__u64 begin;
	__u64 end;
	__u64 frame_base; /* frame = frame_base + (pc − begin) */
	__u64 object;	  /* index of the object's unwind table, 0: none */
};

/* log2 of the most mappings a process may have in the table; the search is a loop of this many steps. */
#define WIRE_MAPPING_SEARCH_STEPS 13
#define WIRE_MAX_PROCESS_MAPPINGS (1u << 12)

_Static_assert(sizeof(struct wire_sample) == 40, "records are 8-byte aligned");
_Static_assert(sizeof(struct wire_cold) == 48, "the stack copy is 8-byte aligned");
_Static_assert(sizeof(struct wire_mapping) == 32, "mappings are indexed by shift");
_Static_assert(sizeof(struct wire_process) == 16, "");
_Static_assert(WIRE_END_MAX <= 255, "the end fits its byte");
_Static_assert(WIRE_MAX_PROCESS_MAPPINGS < (1u << WIRE_MAPPING_SEARCH_STEPS), "search reaches all");

#endif
