/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The contract between the kernel half and the agent: records, tables, limits, counters. Compiled by both sides.
 *
 * What travels is one ring buffer record each, which begins with its length, kind and event (struct wire_record). A sample:
 *
 *	struct wire_sample | n_kernel frames | n_user frames | struct wire_user_unwound and stack bytes (only with WIRE_USER_UNWOUND)
 *
 * Frames are leaf first. Kernel frames are plain kernel addresses; of EVENT_TCP they are a struct wire_connection. A user frame is process-independent where the mapping is known:
 *
 *	bit 63 = 0	bits 62..40 object id (as given by the agent), bits 39..0 offset in the object's file
 *	bits 63, 62 = 1, 0	bits 61..0 pc: no mapping known, or anonymous memory
 *	bits 63, 62 = 1, 1	a runtime's frame, of two words: struct wire_runtime_frame
 *
 * Callers' frames carry the return address − 1, so that they name the call and not what follows it.
 *
 * Frames of a runtime come in runs: what one activation of its interpreter has called. A run begins with its anchor, which is no frame: where on
 * the C stack that activation is. A walk that the kernel half has finished has the run in place of the activation's own frame; runs whose
 * activation it did not reach come behind its last frame. Where the agent goes on (WIRE_USER_UNWOUND), it puts the runs behind the first n_right words there
 * by their anchors.
 *
 * Of off-CPU time a waker (WIRE_WAKER) is the stack of who has woken a thread up. It comes before the sample of that thread's wait.
 *
 * Of what ends after its sample was taken an end (struct wire_end) tells how long it took, later: of block I/O, and of samples with WIRE_HELD.
 *
 * A name (struct wire_name) tells what a runtime calls a function. It comes before the first sample that has the function; later where that one met
 * too many, or the ring was filling; never where it could not be read.
 */
#ifndef XAGENT_BPF_WIRE_H
#define XAGENT_BPF_WIRE_H

#include <linux/types.h>

#include "bpf/events.h"
#include "bpf/runtimes.h"
#include "bpf/waits.h"

/* Ceiling of the kernel's own perf callchains (PERF_MAX_STACK_DEPTH, include/uapi/linux/perf_event.h). */
#define WIRE_MAX_KERNEL_FRAMES 127
/* Pyroscope cuts stacks at 1000 (validation.max-profile-stacktrace-depth), so more cannot be shown. */
#define WIRE_MAX_USER_FRAMES 1000
/* Of a record: as many frames, if all are a runtime's. */
#define WIRE_MAX_USER_WORDS (2 * WIRE_MAX_USER_FRAMES)
/* Copied stack of a process that the kernel half does not know yet, where nobody tells how deep it is; a few pages hold most live stacks. A
 * record with many frames has room for less, 16 KiB at least. */
#define WIRE_COPY_BYTES 24576
/* Where it is known: compilers go 100 KiB deep. */
#define WIRE_MAX_STACK_BYTES (256 * 1024)
#define WIRE_PAGE_BYTES 4096
/* binfmt limit of task names (TASK_COMM_LEN, include/linux/sched.h). */
#define WIRE_COMM_BYTES 16

#define WIRE_FRAME_RAW (1ULL << 63)
/* A jump into nowhere leaves any pc behind; where no process has memory one is like another. */
#define WIRE_FRAME_RAW_MASK ((1ULL << 62) - 1)
#define WIRE_FRAME_RAW_OF(pc) \
	(WIRE_FRAME_RAW | ((pc) < WIRE_FRAME_RAW_MASK ? (pc) : WIRE_FRAME_RAW_MASK))
#define WIRE_FRAME_OFFSET_BITS 40
#define WIRE_FRAME_OFFSET_MASK ((1ULL << WIRE_FRAME_OFFSET_BITS) - 1)
#define WIRE_MAX_OBJECT_ID ((1U << 23) - 1)

/* A runtime's frame. Bits 61..56 its enum runtime_kind, RUNTIME_NONE of an anchor; below it an address of the process, which has no more bits. */
#define WIRE_FRAME_RUNTIME (3ULL << 62)
#define WIRE_RUNTIME_KIND_SHIFT 56
#define WIRE_RUNTIME_KIND_MASK 63
#define WIRE_RUNTIME_ADDRESS_MASK ((1ULL << WIRE_RUNTIME_KIND_SHIFT) - 1)
#define WIRE_RUNTIME_FRAME_WORDS 2

struct wire_runtime_frame {
	__u64 function; /* WIRE_FRAME_RUNTIME, kind, address of what the runtime knows the function by; address 0: could not be read. Of an anchor: its place */
	__u32 print; /* tells the function from another one that is, or was, at the same address. Of an anchor: WIRE_ANCHOR_* */
	__u32 position; /* in the function, in the runtime's unit. Of an anchor with WIRE_ANCHOR_CODE: WIRE_ANCHOR_BYTES_MASK, … */
};

/* An anchor without these lies on the C stack, in the frame that is to give way. */
#define WIRE_ANCHOR_CODE 1u   /* it is the beginning of the code of the interpreter's loop: any frame of that code is the activation … */
#define WIRE_ANCHOR_FROM_SHIFT 8 /* … from so many bytes on: before, its frame is not in the list yet; */
#define WIRE_ANCHOR_GAP_SHIFT 20 /* from so many on it is not any more, … */
#define WIRE_ANCHOR_OFFSET_MASK 0xfffu
/* In the position: */
#define WIRE_ANCHOR_GAP_BYTES_SHIFT 24 /* … for so many bytes */
#define WIRE_ANCHOR_BYTES_MASK 0xffffffu /* bytes of the code */
#define WIRE_ANCHOR_CALLEE 2u /* what the activation calls is of the interpreter, too, when it is of the same file */
#define WIRE_ANCHOR_KEEPS 4u  /* the activation's frames are to be shown as well */

/*
 * How the user half of a walk ended: X(NAME, complete, frame shown at the root, sentence for /metrics and people).
 * Append only: the numbers are on the wire.
 */
#define STOP_REASONS(X)                                                                         \
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
	  "the copied part of the stack ended before the walk")                                 \
	X(NO_RULE, 0, "[truncated: no unwind information]",                                     \
	  "no unwind information for a pc, and no frame pointer either")                        \
	X(REGISTER, 0, "[truncated: register not known]",                                       \
	  "a rule needs a register that is only known in the leaf")                             \
	X(NO_TABLE, 0, "[truncated: unwind table not loaded]",                                  \
	  "the unwind table of a file was not loaded, nor could the agent look it up")          \
	X(REMAPPED, 0, "[truncated: mapping replaced]",                                         \
	  "the walk went through memory that another file had just been mapped over")           \
	X(OUTSIDE_PID_NAMESPACE, 0, "[outside of the pid namespace]",                           \
	  "the process has no number in the agent's pid namespace")                             \
	X(ON_HEAP, 0, "[virtual thread: rest on the heap]",                                     \
	  "a virtual thread's callers were moved to the heap when it waited")

enum stop_reason {
#define STOP_REASON_ENUM(name, complete, frame, text) STOP_REASON_##name,
	STOP_REASONS(STOP_REASON_ENUM)
#undef STOP_REASON_ENUM
		STOP_REASON_MAX
};

/*
 * Counters of the kernel half, by event and CPU: X(name, sentence). ticks = emitted + idle + filtered + lost, always. A tick is an event that came to
 * its program.
 * Append only.
 */
#define WIRE_COUNTERS(X)                                                                         \
	X(ticks, "timer ticks, or hits of a probe, that came to the program")                    \
	X(emitted, "samples handed to the agent")                                                \
	X(idle, "ticks on an idle CPU")                                                          \
	X(filtered, "ticks of processes that are not wanted")                                    \
	X(lost, "samples lost: no room in the ring buffer, or to walk (lost_nested); waits (lost_unseen)")            \
	X(kernel_stack_errors, "kernel stacks that could not be read")                           \
	X(cold, "samples of processes the kernel half had no table of")                          \
	X(cold_limited, "of these, without a stack copy because the ring was filling")           \
	X(cold_copy_errors, "of these, whose stack could not be copied")                         \
	X(cfi_frames, "callers found by an unwind table")                                        \
	X(fp_frames, "callers found by frame pointer")                                           \
	X(raw_frames, "user frames outside of known mappings")                                   \
	X(signal_frames, "signal frames that were walked through")                               \
	X(window_fills, "reads of user stacks")                                                  \
	X(mapping_searches, "searches for the mapping of a pc")                                  \
	X(remapped, "walks thrown away because their tables were replaced meanwhile")            \
	X(refused, "ticks of processes that match no target (part of filtered)")                 \
	X(lost_nested, "ticks that hit the CPU within too many others (part of lost)")           \
	X(thinned, "hits that are no samples, but whose values samples have (part of filtered)") \
	X(runtime_frames, "frames of interpreters")                                              \
	X(names_told, "names of functions of interpreters that were sent")                       \
	X(names_not_told, "of these, that could not be read, or found no room in the ring buffer") \
	X(lost_unseen, "waits whose end, or begin, came to no program (part of lost)")

/* How often a second it is seen how many hits a source has. */
#define WIRE_THIN_WINDOWS 10

/* Of a source of events, on one CPU (bpf/thin.bpf.h). */
struct wire_thinning {
	__u64 window_end_ns;
	__u32 n_hits; /* in the window */
	__u32 n_kept; /* of them, or since the stride was raised */
	__u32 stride; /* one hit of so many is a sample */
	__u32 n_to_skip;
	__u64 left[EVENT_MAX_VALUES]; /* to the next sample */
	__u32 budget; /* samples of a window, 1 or more: set by the agent before there are hits, then by its event_budgets */
	__u32 unused;
};

_Static_assert(sizeof(struct wire_thinning) == 64, "no gaps");

struct wire_counters {
#define WIRE_COUNTER_FIELD(name, text) __u64 name;
	WIRE_COUNTERS(WIRE_COUNTER_FIELD)
#undef WIRE_COUNTER_FIELD
};

/* Of off-CPU time, behind the event's own values: of its nanoseconds those for which it could have run, behind what it waited for. 0 where reasons
 * are not wanted. */
#define WIRE_VALUE_READY 2
/* Likewise: the number of the record with its waker's stack, which came before; WIRE_WAKER_NONE: it was not woken up, or that is not wanted; WIRE_WAKER_UNTOLD: there is no such record. Of
 * that record its number. */
#define WIRE_VALUE_WAKER 3
#define WIRE_WAKER_NONE 0
#define WIRE_WAKER_UNTOLD 1

/* Which system call it was, and the error it ended with (0: none). */
#define WIRE_MAX_CALLS 1024
#define WIRE_CALL_UNKNOWN WIRE_MAX_CALLS
#define WIRE_MAX_ERROR 4095
#define WIRE_CALL(number, error) ((__u32)(number) | (__u32)(error) << 16)
#define WIRE_CALL_NUMBER(call) ((call)&0xffff)
#define WIRE_CALL_ERROR(call) ((call) >> 16)

/* Block I/O: what was asked of which disk, as struct wire_sample has it in `reason`. Major numbers are below 512 (BLKDEV_MAJOR_MAX, include/linux/fs.h). */
#define WIRE_IO_OPERATIONS(X)                    \
	X(READ, "read")                          \
	X(WRITE, "write")                        \
	X(FLUSH, "flush")                        \
	X(DISCARD, "discard")                    \
	X(OTHER, "other")

enum wire_io_operation {
	WIRE_IO_NONE,
#define WIRE_IO_ENUM(NAME, name) WIRE_IO_##NAME,
	WIRE_IO_OPERATIONS(WIRE_IO_ENUM)
#undef WIRE_IO_ENUM
		WIRE_IO_MAX
};

#define WIRE_IO_MAJOR_BITS 9
#define WIRE_IO_MINOR_BITS 20
#define WIRE_IO(operation, major, minor)                                           \
	((__u32)(operation) |                                                      \
	 ((__u32)(minor) & ((1u << WIRE_IO_MINOR_BITS) - 1)) << 3 |                \
	 ((__u32)(major) & ((1u << WIRE_IO_MAJOR_BITS) - 1)) << (3 + WIRE_IO_MINOR_BITS))
#define WIRE_IO_OPERATION(io) ((io)&7)
#define WIRE_IO_MINOR(io) ((io) >> 3 & ((1u << WIRE_IO_MINOR_BITS) - 1))
#define WIRE_IO_MAJOR(io) ((io) >> (3 + WIRE_IO_MINOR_BITS))

/* Values of block I/O. The first one, its latency, is not known when the sample is taken: 0. Behind the event's own: which I/O an end tells of. */
#define WIRE_VALUE_BYTES 1
#define WIRE_VALUE_IOS 2
#define WIRE_VALUE_ID 3
/* Of a wait: its thread, as the host numbers it (22 bits: PID_MAX_LIMIT, include/linux/threads.h), and when it began. */
#define WIRE_HELD_TIME_BITS 42
#define WIRE_HELD_ID(tid, since_ns) \
	((__u64)(__u32)(tid) << WIRE_HELD_TIME_BITS | ((since_ns) & ((1ULL << WIRE_HELD_TIME_BITS) - 1)))
#define WIRE_HELD_THREAD(id) ((id) >> WIRE_HELD_TIME_BITS)

/* I/O that is under way and has a sample, by a hash of the address: sets of places. */
#define WIRE_IO_SETS 2048
#define WIRE_IO_WAYS 4

struct wire_io {
	__u64 bio; /* its address; 0: the place is free */
	__u64 id;  /* as the sample has it */
	__u64 since_ns;
};

struct wire_io_set {
	struct wire_io places[WIRE_IO_WAYS];
};

/* How the innermost method of Java is run: by the interpreter, by code of one of the JVM's tiers (from 1 on), as native code. */
#define WIRE_TIER_NONE 0u /* there is none, or it is not wanted */
#define WIRE_TIER_INTERPRETED 1u
#define WIRE_TIER_OF(tier) (1u + (tier))
#define WIRE_TIER_LAST 4u
#define WIRE_TIER_NATIVE WIRE_TIER_OF(WIRE_TIER_LAST + 1)
#define WIRE_TIERS (WIRE_TIER_NATIVE + 1)

/* What became of a TCP connection: in place of the number of WIRE_CALL(). */
#define WIRE_TCP_CONNECT 1u
#define WIRE_TCP_ACCEPT 2u
#define WIRE_TCP_RETRANSMIT 3u

/* Its ends, which samples of EVENT_TCP have in place of kernel frames. IPv4 as IPv4-mapped addresses (RFC 4291, 2.5.5.2); bytes of an address as it is sent. */
struct wire_connection {
	__u64 local[2];
	__u64 peer[2];
	__u16 local_port, peer_port; /* in this machine's order */
	__u32 zero;
};

#define WIRE_CONNECTION_WORDS (sizeof(struct wire_connection) / 8)

/* wire_sample.flags */
#define WIRE_USER_UNWOUND 1u /* registers and a stack copy follow the frames */
#define WIRE_KTHREAD 2u	     /* a kernel thread */
#define WIRE_IN_SYSCALL 4u   /* the user pc is where a system call returns to */
#define WIRE_USER_MODE 8u    /* the tick interrupted user code */
#define WIRE_IDLE 16u	     /* of a waker: no task ran, so it was an interrupt */
#define WIRE_HELD 32u	     /* a wait that has just begun: ends tell its values, by its WIRE_VALUE_ID */

/* What a record is. Append only. */
#define WIRE_SAMPLE 1u
#define WIRE_NAME 2u
#define WIRE_END 3u
#define WIRE_WAKER 4u /* a struct wire_sample of whoever woke a thread up, which is no sample */

struct wire_record {
	__u32 n_bytes; /* of the record, this included; what the ring holds behind them is not part of it */
	__u8 type;  /* WIRE_SAMPLE, WIRE_NAME, WIRE_END, WIRE_WAKER */
	__u8 event; /* enum event */
	__u16 source; /* below EVENT_MAX_SOURCES: what the agent has attached (bpf_get_attach_cookie()) */
};

struct wire_sample {
	struct wire_record record;
	__u64 values[EVENT_MAX_VALUES]; /* by bpf/events.h; of CPU time ticks: 1 */
	__u64 time_ns;			/* CLOCK_MONOTONIC */
	__u64 cgroup_id;		/* of the unified hierarchy */
	__u32 pid;			/* process, as the agent's pid namespace numbers it */
	__u32 tid;			/* thread, likewise */
	__u32 cpu;
	__u32 generation; /* of the mapping table that named the frames; 0 when there was none */
	__u32 exec_id;	  /* rises with each exec of the process, or of those it was forked from */
	__u32 reason;	  /* of off-CPU time: enum wait_reason; of system calls and TCP: WIRE_CALL(); of block I/O: WIRE_IO() */
	/* The name of the thread, and the method that it compiles: as function and print of their struct wire_name have it. 0: none, or not wanted. */
	__u64 thread_name;
	__u64 compiled;
	__u32 compiled_print;
	__u32 tier : 4;		 /* WIRE_TIER_* */
	__u32 compiled_tier : 4; /* of what is compiled */
	/* The thread, as its own pid namespace numbers it, where the kernel half has not been told what its runtime knows it by; 0: it has, or there is none. */
	__u32 own_tid : 24;
	__u16 n_kernel;
	__u16 n_user;	   /* words */
	__u16 stack_words; /* of 8 bytes, copied from regs.sp − WIRE_BELOW_BYTES + n_skipped on (struct wire_user_unwound); only with WIRE_USER_UNWOUND */
	__u8 end;	   /* enum stop_reason */
	__u8 flags;
};

/* What a sample told the begin of is over, or goes on: its values up to now, or since the end before. */
struct wire_end {
	struct wire_record record;
	__u64 id; /* the sample's WIRE_VALUE_ID */
	__u64 values[EVENT_MAX_VALUES]; /* as of a sample; WIRE_VALUE_READY and WIRE_VALUE_WAKER of off-CPU time; of block I/O the latency of each alone */
	__u64 goes_on; /* 0: it is over */
};

/* DWARF numbers; x86-64: rax … r15; AArch64: x0 … x30, sp. What is compiled for another machine than the compiler's says so. */
#if defined(__TARGET_ARCH_x86) || (defined(__x86_64__) && !defined(__TARGET_ARCH_arm64))
#define WIRE_N_REGS 16
#define WIRE_ABI_FP 6
#define WIRE_ABI_SP 7
#define WIRE_BELOW_BYTES 0
#else
#define WIRE_N_REGS 32
#define WIRE_ABI_FP 29
#define WIRE_ABI_SP 31
/* Copies of a stack begin so far below sp: Go's functions keep their caller's x29 there. */
#define WIRE_BELOW_BYTES 16
#endif

/* Where a walk starts, or goes on. */
struct wire_regs {
	__u64 pc;
	__u64 reg[WIRE_N_REGS];
};

/* wire_user_unwound.flags: what is known of the registers, as a walk has it. */
#define WIRE_USER_UNWOUND_EXACT \
	1u /* pc is where the code was interrupted, and all registers are known; else only sp and fp are */
#define WIRE_USER_UNWOUND_FP_LOST 2u   /* fp is not the frame's: no callee has saved it */
#define WIRE_USER_UNWOUND_FP_CHAIN 4u  /* fp was found by following it: 0 is the end of the chain */
#define WIRE_USER_UNWOUND_SP_LOWEST 8u /* sp is not known: this, or above (AArch64) */

/* A word of memory that rules ask for and that lies on no stack; at 0: none. */
struct wire_word {
	__u64 at;
	__u64 value;
};

/* A piece of another stack than sp's: the one that goes on there, and the one behind that (a handler's that has interrupted Go called from C). */
struct wire_piece {
	__u64 from;
	__u64 n_bytes; /* whole words */
};

#define WIRE_USER_UNWOUND_PIECES 2

/* Of Go's runtime: how g0, m and the goroutine lead to each other, where that was left and where its stack ends. */
#define WIRE_USER_UNWOUND_WORDS 6

/*
 * What the agent needs to go on where the kernel half could not: from the first of the record's user frames that is not right
 * (n_right), whose state is `regs`.
 */
struct wire_user_unwound {
	struct wire_regs regs;
	__u32 n_right;
	__u32 flags;
	__u32 n_skipped; /* bytes from where the copy should begin that are not in it: their pages were not in memory */
	__u32 zero;
	struct wire_piece
		pieces[WIRE_USER_UNWOUND_PIECES]; /* the last bytes of the copy, in this order */
	struct wire_word words[WIRE_USER_UNWOUND_WORDS];
	__u64 image; /* the key of runtime_images that the process's executable has; 0: not known, or no runtime is */
	/* Of a library that may hold a runtime, likewise; and where its first executable segment is mapped. */
	__u64 library_image;
	__u64 library_text;
	char comm[WIRE_COMM_BYTES]; /* of the process (its leader), not of the thread */
};

/* Longer texts are cut: Python's names have no limit, those of people are below 100 bytes. */
#define WIRE_SCOPE_BYTES 256
#define WIRE_NAME_BYTES 1024
#define WIRE_SIGNATURE_BYTES (WIRE_NAME_BYTES / 2) /* of them, where the name itself is no longer */
#define WIRE_FILE_BYTES 1024
/* A table of lines is sent whole or not at all. CPython's take 60 bytes at the median, those of the largest functions of its library 5 KiB. */
#define WIRE_LINES_BYTES 8192
#define WIRE_TEXTS_BYTES (WIRE_SCOPE_BYTES + WIRE_NAME_BYTES + WIRE_FILE_BYTES + WIRE_LINES_BYTES)

/* How a text is written: bytes of a character as the runtime has it, in this machine's order. */
enum wire_encoding {
	WIRE_UTF8,
	WIRE_LATIN1,
	WIRE_UCS2,
	WIRE_UCS4,
	WIRE_JAVA,	 /* UTF-8, but for NUL and what has two words in UTF-16 (JVM specification, 4.4.7) */
	WIRE_JAVA_CLASS, /* likewise, with slashes between the names of packages */
	WIRE_ENCODING_MAX
};

/* Of a name's `unread`. */
#define WIRE_UNREAD_BYTES 256

/* What a runtime calls a function. */
struct wire_name {
	struct wire_record record;
	__u64 function; /* as in the frame */
	__u32 print;
	__u32 line; /* where it begins in its file; 0: not known */
	__u32 pid;
	__u32 exec_id; /* as in the sample */
	/* Bytes, without an end, one behind the other in `texts`. */
	__u16 n_scope; /* what the function lies in, shown before its name and a dot; 0: nothing */
	__u16 n_name;
	__u16 n_file;
	__u16 n_lines; /* a table of lines, as the runtime has it; 0: none, or not wanted */
	/* enum wire_encoding */
	__u8 scope_encoding;
	__u8 name_encoding;
	__u8 file_encoding;
	__u8 lines_format; /* a runtime's own number */
	__u16 signature_at; /* behind the name of a method of Java, in n_name: its arguments' types (JVM specification, 4.3.3); 0: none, or not wanted */
	__u8 compiled_tier; /* of a method that is being compiled: 1 to WIRE_TIER_LAST; 0: it runs */
	__u8 zero;
	/* An address of the process's: what lies in WIRE_UNREAD_BYTES from there on was not in memory, so the line could not be told. The function is told again when
	 * it is met again. 0: none. */
	__u64 unread;
	/* Of a function that lies in something whose name is not sent, but is to be read in the source: the source's number, its characters, and where in them the function
	 * begins and ends, as the runtime has it; 0 for one whose name is whole. 0 characters: there is no more to be known. */
	__u32 source, n_source;
	__u32 begin, end;
	char texts[WIRE_TEXTS_BYTES];
};

/* A runtime's own numbers: offsets in its structures, addresses. */
#define WIRE_RUNTIME_WORDS 18
/* Those that few samples ask for: they are not copied, but read where they lie, and only of processes with a table. */
#define WIRE_RUNTIME_MORE_WORDS 12

/* wire_runtime.flags */
#define WIRE_RUNTIME_GENERATES 1u /* executable memory without a file is code that the runtime has made */
#define WIRE_RUNTIME_CALLEE 2u	  /* its anchors have WIRE_ANCHOR_CALLEE: each step of the interpreter is a function that its loop calls */
#define WIRE_RUNTIME_CLAIMS 4u	  /* words say which part of its file is as generated code */
#define WIRE_RUNTIME_IS_FIRST 16u /* of a process that has another one beside it: place 1 in `runtimes` */
#define WIRE_RUNTIME_PART 8u	  /* of a file that adds to what another one tells of a runtime. It is not published */
#define WIRE_RUNTIME_RESUMES 32u  /* it tells where its frames go on below native ones that cannot be walked */

/* Words with WIRE_RUNTIME_CLAIMS: where in the file it begins, and bytes; of a process the former is a frame's word. */
#define WIRE_CLAIMED_AT 0
#define WIRE_CLAIMED_BYTES 1

/* Of a process, or of an executable. */
struct wire_runtime {
	__u32 kind; /* enum runtime_kind */
	__u32 flags;
	/* What the addresses in `words` are to be raised by, or, of an executable, where its first executable segment is linked to be. */
	__u64 base;
	__u64 words[WIRE_RUNTIME_WORDS];
	__u64 more[WIRE_RUNTIME_MORE_WORDS];
};

/* The key of `runtimes`. `place` 0: of the runtime that a process has, the one with a list of frames where it has two; 1: of the one beside it. */
static inline __attribute__((always_inline)) __u64 wire_runtime_key(__u32 pid, __u32 place)
{
	return (__u64)place << 32 | pid;
}

/* Functions whose names the agent has by now, by a hash of (process, function, print): another one that has the same place is told anew. */
#define WIRE_TOLD_SLOTS (1u << 13)

/* Where the runtimes' state of threads was found, by a hash of the thread. */
#define WIRE_THREAD_SLOTS (1u << 12)

/*
 * How the search for a runtime's frames ended, of each sample of a process with one: X(name, sentence). Append only: the numbers are on the wire.
 */
#define WIRE_RUNTIME_RESULTS(X)                                                     \
	X(WALKED, "walked", "its functions are in the stack")                       \
	X(IDLE, "idle", "the thread runs none of its functions")                    \
	X(NO_THREAD, "no_thread", "the runtime does not know the thread")           \
	X(UNREADABLE, "unreadable", "frames could not be read, or made a circle")   \
	X(UNPLACED, "unplaced", "functions whose place in the stack was not found") \
	X(UNSUPPORTED, "unsupported", "a version, or a build, that is not known")   \
	X(RESUMED, "resumed", "its functions are in the stack, but not all native frames above them")

enum wire_runtime_result {
#define WIRE_RUNTIME_RESULT_ENUM(NAME, name, text) RUNTIME_RESULT_##NAME,
	WIRE_RUNTIME_RESULTS(WIRE_RUNTIME_RESULT_ENUM)
#undef WIRE_RUNTIME_RESULT_ENUM
		RUNTIME_RESULT_MAX
};

/* Of one kind of runtime, on one CPU: stacks by result. */
struct wire_runtime_results {
	__u64 n[RUNTIME_RESULT_MAX];
};

/*
 * The arena: what the agent writes by plain stores and the kernel half reads. Segments are made as they are needed. A place is a number
 * of words; 0 is never given out.
 */
#define WIRE_SEGMENT_BYTES (1u << 20)
#define WIRE_MAX_SEGMENTS 1024
#define WIRE_WORD_BYTES 8
/* Of a segment, those that are given out: not the last, so that rows next to it can be read four at a time (bpf/table.h). */
#define WIRE_SEGMENT_WORDS (WIRE_SEGMENT_BYTES / WIRE_WORD_BYTES - 1)

/* The frames that each CPU has walked lately, in parts of the largest size that a per-CPU value may have. */
#define WIRE_CACHE_PART_BYTES (1u << 15)
#define WIRE_CACHE_MAX_PARTS 32
#define WIRE_CACHED_FRAME_BYTES 32

/* Value of the process table, keyed by pid. */
struct wire_process {
	__u32 mappings_at; /* place of its mappings in the arena */
	__u32 n_mappings;
	/* Never the same for two tables. 0: there is none, the process is not to be profiled … */
	__u32 generation;
	__u32 refused_cgroup; /* … as long as it is in this control group (low half of its number) */
	/* Of a table: it is of the image with this wire_sample.exec_id, and of no other. */
	__u32 exec_id;
	__u32 runtime; /* enum runtime_kind: `runtimes` has an entry */
};

/* One executable mapping. An array of them, ascending by begin, belongs to each process; forks share one. */
struct wire_mapping {
	__u64 begin;
	__u64 frame_base; /* frame = frame_base + (pc − begin) */
	__u32 n_pages;	  /* of WIRE_PAGE_BYTES */
	__u32 object;	  /* index in the object table, WIRE_OBJECT_FP, WIRE_OBJECT_ABSENT */
};

/* Of a process; no known one has more (V8 with thousands of code pages stays below). */
#define WIRE_MAX_PROCESS_MAPPINGS (1u << 12)

/* The unwind table of an object; see bpf/table.h. All zero: its rules are not in the arena, the walk cannot go on here. */
struct wire_object {
	__u64 base_vaddr; /* of the first bucket, 256 bytes of text; in the object table its offset in the file */
	__u32 n_buckets;
	__u32 pages_at; /* places in the arena */
	__u32 rules_at;
	__u32 escapes_at;
	__u32 n_escapes;
	__u32 serial; /* even, never the same for two publications; odd while this is being written */
	__u32 n_rule_words; /* at rules_at; never 0 for a table that is loaded */
	__u32 zero;
};

/* Fixed entries of the object table: memory without rules, where frame pointers are followed; and a table that is never loaded. */
#define WIRE_OBJECT_FP 0
#define WIRE_OBJECT_ABSENT 1
#define WIRE_OBJECT_FIRST 2

/* A page of the table with one rule for all of it: | its code. Never an escape. */
#define WIRE_PAGE_CONST (1u << 31)
/* Rule codes of rows; 0 is "no rule". */
#define WIRE_CODE_ESCAPE 255

/* A struct unwind_rule in one word; what does not fit is kept in full beside it. */
struct wire_rule {
	__u8 cfa; /* WIRE_RULE_SWITCH | enum rule_cfa << 5 | cfa_reg; or WIRE_RULE_FULL */
	__u8 fp_ra; /* enum rule_fp (RULE_FP_REG does not fit, RULE_FP_DEREF is of the frame pointer) | WIRE_RA_* << 4 */
	__s16 fp_off;
	__s32 cfa_off; /* of a full rule: which of the object's rules, counted in words, begins the three words of the struct unwind_rule */
};

#define WIRE_RULE_SWITCH 0x80u
#define WIRE_RULE_FULL 0xffu
#define WIRE_RULE_OF(cfa, reg) ((cfa) << 5 | (reg))
#define WIRE_RULE_CFA(byte) (((byte) >> 5) & 3)
#define WIRE_RULE_CFA_REG(byte) ((byte)&31)

#define WIRE_RA_CFA_8 0	    /* saved at CFA − 8 */
#define WIRE_RA_FP_8 1	    /* saved at CFA + fp_off + 8 */
#define WIRE_RA_LINK 2	    /* in x30 */
#define WIRE_RA_UNDEFINED 3 /* the outermost frame */
#define WIRE_RA_SIGNAL 4

/* The array of an object's escapes lies in one segment. */
#define WIRE_MAX_ESCAPES WIRE_SEGMENT_WORDS

struct wire_escape {
	__u32 off;  /* of the row from base_vaddr */
	__u32 rule; /* index among the object's rules, in words */
};

_Static_assert(sizeof(struct wire_sample) == 112, "records are 8-byte aligned");
_Static_assert(WIRE_IO_MAX <= 8, "an operation has three bits");
_Static_assert(sizeof(struct wire_end) == 56 && sizeof(struct wire_io_set) == 96, "no gaps");
_Static_assert(sizeof(struct wire_user_unwound) % 8 == 0, "the stack copy is 8-byte aligned");
_Static_assert(sizeof(struct wire_name) == 72 + WIRE_TEXTS_BYTES, "no gaps");
_Static_assert(sizeof(struct wire_mapping) == 24, "three words of the arena");
_Static_assert(sizeof(struct wire_process) == 24, "");
_Static_assert(sizeof(struct wire_object) == 40, "whole words");
_Static_assert(sizeof(struct wire_runtime) == 256, "no gaps");
_Static_assert(sizeof(struct wire_rule) == WIRE_WORD_BYTES &&
		       sizeof(struct wire_escape) == WIRE_WORD_BYTES,
	       "words of the arena");
_Static_assert(STOP_REASON_MAX <= 255 && EVENT_MAX <= 255 &&
		       RUNTIME_MAX <= WIRE_RUNTIME_KIND_MASK + 1,
	       "they fit their bits");
_Static_assert(sizeof(struct wire_runtime_frame) == WIRE_RUNTIME_FRAME_WORDS * WIRE_WORD_BYTES, "");

#endif
