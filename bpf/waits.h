/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a thread waits for. Compiled by both sides.
 *
 * It is known from the task's state, the system call it is in, and flags of the task; never from names of functions.
 */
#ifndef XAGENT_BPF_WAITS_H
#define XAGENT_BPF_WAITS_H

#include <linux/types.h>

/* X(NAME, text of the label, and in brackets of the frame). Append only: the numbers are on the wire. */
#define WAIT_REASONS(X)                                                                  \
	X(UNKNOWN, "", "not asked for")                                                  \
	X(READY, "ready", "it could run: preempted, or woken up and not yet on a CPU")   \
	X(LOCK, "lock", "futex, semaphore, lock of a file")                              \
	X(FILE, "file", "reads, writes, opens or syncs what is neither socket nor pipe") \
	X(PIPE, "pipe", "reads or writes a pipe")                                        \
	X(SOCKET, "socket", "connects, accepts, sends or receives")                      \
	X(POLL, "poll", "poll, select, epoll")                                           \
	X(SLEEP, "sleep", "for a time")                                                  \
	X(PAGE_FAULT, "page fault", "for memory, outside of system calls")               \
	X(BLOCK_IO, "block I/O", "for a disk")                                           \
	X(ASYNC_IO, "async I/O", "for completions of io_uring or AIO")                   \
	X(CHILD, "child", "for a child process")                                         \
	X(SIGNAL, "signal", "for a signal")                                              \
	X(OTHER, "other", "for anything else")

enum wait_reason {
#define WAIT_REASON_ENUM(NAME, label, text) WAIT_##NAME,
	WAIT_REASONS(WAIT_REASON_ENUM)
#undef WAIT_REASON_ENUM
		WAIT_REASON_MAX
};

/* Of a system call: what its first argument refers to tells, a descriptor. */
#define WAIT_BY_DESCRIPTOR WAIT_REASON_MAX

/* System calls that wait, and for what: X(name, number on x86-64, on AArch64, reason). */
#define WAIT_CALLS(X)                              \
	X(read, 0, 63, WAIT_BY_DESCRIPTOR)         \
	X(write, 1, 64, WAIT_BY_DESCRIPTOR)        \
	X(readv, 19, 65, WAIT_BY_DESCRIPTOR)       \
	X(writev, 20, 66, WAIT_BY_DESCRIPTOR)      \
	X(pread64, 17, 67, WAIT_BY_DESCRIPTOR)     \
	X(pwrite64, 18, 68, WAIT_BY_DESCRIPTOR)    \
	X(preadv, 295, 69, WAIT_BY_DESCRIPTOR)     \
	X(pwritev, 296, 70, WAIT_BY_DESCRIPTOR)    \
	X(preadv2, 327, 286, WAIT_BY_DESCRIPTOR)   \
	X(pwritev2, 328, 287, WAIT_BY_DESCRIPTOR)  \
	X(openat, 257, 56, WAIT_FILE)              \
	X(openat2, 437, 437, WAIT_FILE)            \
	X(fsync, 74, 82, WAIT_FILE)                \
	X(fdatasync, 75, 83, WAIT_FILE)            \
	X(sync, 162, 81, WAIT_FILE)                \
	X(syncfs, 306, 267, WAIT_FILE)             \
	X(sync_file_range, 277, 84, WAIT_FILE)     \
	X(connect, 42, 203, WAIT_SOCKET)           \
	X(accept, 43, 202, WAIT_SOCKET)            \
	X(accept4, 288, 242, WAIT_SOCKET)          \
	X(sendto, 44, 206, WAIT_SOCKET)            \
	X(recvfrom, 45, 207, WAIT_SOCKET)          \
	X(sendmsg, 46, 211, WAIT_SOCKET)           \
	X(recvmsg, 47, 212, WAIT_SOCKET)           \
	X(sendmmsg, 307, 269, WAIT_SOCKET)         \
	X(recvmmsg, 299, 243, WAIT_SOCKET)         \
	X(ppoll, 271, 73, WAIT_POLL)               \
	X(pselect6, 270, 72, WAIT_POLL)            \
	X(epoll_pwait, 281, 22, WAIT_POLL)         \
	X(epoll_pwait2, 441, 441, WAIT_POLL)       \
	X(nanosleep, 35, 101, WAIT_SLEEP)          \
	X(clock_nanosleep, 230, 115, WAIT_SLEEP)   \
	X(futex, 202, 98, WAIT_LOCK)               \
	X(futex_waitv, 449, 449, WAIT_LOCK)        \
	X(futex_wait, 455, 455, WAIT_LOCK)         \
	X(flock, 73, 32, WAIT_LOCK)                \
	X(semop, 65, 193, WAIT_LOCK)               \
	X(semtimedop, 220, 192, WAIT_LOCK)         \
	X(io_getevents, 208, 4, WAIT_ASYNC_IO)     \
	X(io_pgetevents, 333, 292, WAIT_ASYNC_IO)  \
	X(io_uring_enter, 426, 426, WAIT_ASYNC_IO) \
	X(wait4, 61, 260, WAIT_CHILD)              \
	X(waitid, 247, 95, WAIT_CHILD)             \
	X(rt_sigtimedwait, 128, 137, WAIT_SIGNAL)  \
	X(rt_sigsuspend, 130, 133, WAIT_SIGNAL)

/* Those that AArch64 never had. */
#define WAIT_OLD_CALLS(X)             \
	X(open, 2, WAIT_FILE)         \
	X(poll, 7, WAIT_POLL)         \
	X(select, 23, WAIT_POLL)      \
	X(epoll_wait, 232, WAIT_POLL) \
	X(pause, 34, WAIT_SIGNAL)

#define WAIT_MAX_CALLS 512

/* By number. 0: it tells nothing. */
#define WAIT_TABLE_X86(name, x86, arm64, reason) [x86] = (reason),
#define WAIT_TABLE_ARM64(name, x86, arm64, reason) [arm64] = (reason),
#define WAIT_TABLE_OLD(name, x86, reason) [x86] = (reason),

#if defined(__TARGET_ARCH_x86) || (defined(__x86_64__) && !defined(__TARGET_ARCH_arm64))
#define WAIT_TABLE WAIT_CALLS(WAIT_TABLE_X86) WAIT_OLD_CALLS(WAIT_TABLE_OLD)
#else
#define WAIT_TABLE WAIT_CALLS(WAIT_TABLE_ARM64)
#endif

#endif
