/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that may never return, made by threads that may be given up. The caller waits for a limited time only.
 *
 * A file system can keep a system call for ever: FUSE by malice, NFS when its server is gone. What touches such files is kept with it: path
 * walks, open(2), fstat(2), read(2), close(2); page faults on a mapping, and so /proc/PID/mem; and as a fault may hold the process's
 * mmap_lock, /proc/PID/cmdline, environ, maps and map_files too (arguments in such a mapping are not read since Linux 4.17). An execve(2) that
 * closes such files keeps the process's exec_update_lock, for which ptrace_may_access() waits in newer kernels (seen in 6.18), and so
 * /proc/PID/{stat,maps,environ}, links of exe, cwd, root and ns, and all that is below root. Nothing interrupts such a call, so its thread is
 * lost until the server answers, or is killed. Not kept are /proc/PID/{status,cgroup,comm,uid_map,fd,task}, a pidfd's ioctls, and
 * statx(2) with AT_STATX_DONT_SYNC.
 *
 * A call is heap memory with two owners in turn. As long as somebody waits it is his. When it is given up it is the thread's, with all that
 * it holds, and is freed there if it ever returns. Until it is freed, which may wait as well, the thread is lost.
 *
 * Whom a call was made for (a process, or the device of a file) is avoided when it is given up: further calls fail at once, until the lost
 * one returns, or for 10 s, 20 s … 10 min, after which one is tried. Who is to blame has two lost calls at most, then all calls for him fail
 * at once: a user; of a user namespace the user that made the outermost one; of root's processes their control group; of all processes that
 * are gone when it is asked for, one for them together. A control group may have eight. So nobody uses up all threads alone. When
 * READER_MAX_LOST are lost all calls fail at once. Calls that run count as well: one that would be too many if they were lost, too, waits
 * until one of them returns, and fails when that takes too long. Calls of READER_stat are counted apart from all others: they wait for another
 * lock, and who a process is stays known while its mappings cannot be read.
 *
 * A thread may wait a while for one call, and for all together a share of its time: who always answers just in time holds nobody up either.
 * Not counted is the least that any call is given (2 ms of the loop's, 20 ms of the worker's): who answers each within that is waited for.
 * A reader that is running, or waits for a CPU, is not kept by anybody: on a busy machine it is waited for up to READER_MOST_RUN_NS.
 *
 * A reader shares everything with this process, but is no thread of it (reader_task.c), so that the process can end while some are lost: its
 * parent sees it end at once. What is left is a process `xagent-reader` that nothing can kill before the server answers, ends or is unmounted by
 * force (/sys/fs/fuse/connections/N/abort). It keeps the memory and descriptors that were not released before the end.
 *
 * Process-wide, as the log is: threads are the process's. Any thread; a call made by a reader itself runs where it is.
 */
#ifndef XAGENT_AGENT_UTIL_READER_H
#define XAGENT_AGENT_UTIL_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/util/list.h"
#include "agent/util/time_share.h"

/* Threads lost at a time, of READER_stat and of all others: 8 MiB of stacks' addresses each, of which a few pages are used. */
#define READER_MAX_LOST 64
/* Of one who is to blame; one may be by accident. */
#define READER_MAX_LOST_EACH 2
/* Of one control group: in a container root may be any user. */
#define READER_MAX_LOST_TOGETHER 8
/* Kept for the next call: there are two threads that make most of them, the loop's and the worker's. */
#define READER_MAX_IDLE 2
/* A call's run() has buffers of a few KiB on its stack. */
#define READER_STACK_BYTES (128u << 10)
/* Many times what the longest call computes (a process's 65,530 mappings: 60 ms), for a machine with as many threads a CPU. */
#define READER_MOST_RUN_NS (1000000000ULL)
/* Lost for so long, it is said: a disk that is busy answers before. */
#define READER_SAY_NS (1000000000ULL)
/* Until one is tried again for whom a call was lost. */
#define READER_FIRST_RETRY_NS (10ULL * 1000000000ULL)
#define READER_LAST_RETRY_NS (600ULL * 1000000000ULL)

/* What is read: X(name, what). The label `reason` of xagent_reads_given_up_total. */
#define READER_REASONS(X)                                             \
	X(memory, "memory of a process")                              \
	X(stat, "state of a process and where its files are")         \
	X(maps, "what a process has mapped")                          \
	X(arguments, "arguments and environment of a process")        \
	X(open, "opening a file that a process has mapped")           \
	X(names, "opening a perf map or a debug file")                \
	X(file, "content of a file")                                  \
	X(record, "what a container runtime has written down")        \
	X(close, "closing a file")

enum reader_reason {
#define READER_REASON_ENUM(name, what) READER_##name,
	READER_REASONS(READER_REASON_ENUM)
#undef READER_REASON_ENUM
		READER_REASON_MAX
};

const char *reader_reason_name(enum reader_reason reason);

/* For whom: a process, or else the device of an open file. */
struct reader_subject {
	enum reader_reason reason;
	uint32_t pid;	/* 0: not for a process */
	uint64_t start; /* tells it from others with that pid, in any unit; 0: not known */
	dev_t dev;	/* 0: not known, or for a process */
};

/* Embedded at the front of the caller's call, which is allocated with malloc(3). */
struct reader_call {
	void (*run)(struct reader_call *call);	/* a reader's thread */
	void (*free)(struct reader_call *call); /* releases all that it holds, and itself; any thread. May wait: it is the reader who calls
						   it when the call is given up */
	/* private to reader.c */
	struct reader_wait *wait; /* of who waits for it; NULL when it is given up */
	struct reader_lost *lost;
};

/*
 * Runs the call and waits for it.
 *
 *	0		it has run; the caller owns it again
 *	-ETIMEDOUT	it was given up, and is gone
 *	-EHOSTDOWN	not tried, because of calls that were lost; it was freed
 *	-EAGAIN		there was no thread for it; it was freed
 */
int reader_run(struct reader_call *call, const struct reader_subject *subject);
/* Whether this is one of these errors: it says nothing of what was to be read. */
static inline bool reader_is_passing(int r)
{
	return r == -ETIMEDOUT || r == -EHOSTDOWN || r == -EAGAIN;
}
/* How many calls of this thread were for one of those reasons not made, or not to their end: what was read meanwhile may lack something. */
uint64_t reader_n_failed(void);
/* The result of what this thread has read since then: -EAGAIN when it may lack something. */
static inline int reader_result_since(uint64_t n_failed, int result)
{
	return reader_n_failed() == n_failed ? result : -EAGAIN;
}

/* Of this thread from now on: it may wait for 2 s, as one that nobody waits for. Others wait for 100 ms at most. */
void reader_thread_is_patient(void);

/* Of this thread: while it waits for a call `fn` is called so often, which makes none itself. NULL: nothing is. */
#define READER_MEANWHILE_NS (5ULL * 1000000ULL)
void reader_meanwhile(void (*fn)(void *data), void *data);

/* This thread, and what it forks, makes all calls itself from now on, with the plain system calls: it may be lost as a whole (the processes
 * that read DWARF). */
void reader_in_place(void);

/*
 * pread(2) of a descriptor that may be somebody else's file. What the page cache has is read at once where the file system can tell
 * (RWF_NOWAIT: ext4, XFS, Btrfs …), the rest by a reader. `fd` must stay open meanwhile. Number of bytes, less at the end only; -errno, those
 * of reader_run() among them.
 */
ssize_t reader_pread(int fd, void *dst, size_t n, uint64_t file_off);

/* Whether the file system of `fd` does so: then it never keeps a call for long but for reading from its disk. */
bool reader_tells_at_once(int fd);

/*
 * close(2) of such a descriptor, which may wait, too (FUSE_FLUSH). One that cannot be closed now is closed later. Ignores negative ones, keeps
 * errno. A call closes what it is asked to and nothing that waits.
 */
void reader_close(int fd);
static inline void reader_close_p(int *fd)
{
	if (*fd >= 0)
		reader_close(*fd);
}
#define _cleanup_reader_close_ _cleanup_(reader_close_p)

/* Who is to blame when a file on this device cannot be read: the process that it was opened for; the device itself when files there
 * were opened for another one's, too. A process that is gone tells nothing. Does not wait. */
void reader_blame_device(dev_t dev, uint32_t pid);

struct reader_stats {
	uint64_t n_given_up[READER_REASON_MAX];
	uint64_t n_avoided; /* calls that failed at once */
	uint32_t n_lost;    /* threads, now */
	uint32_t n_threads; /* all, now */
	uint32_t n_to_close;
	uint64_t cpu_ns; /* of readers: getrusage(2) does not count them */
};

struct reader_stats reader_get_stats(void);

/* Ends the idle threads and waits for that; for tests and the end of the process. What is lost stays lost. */
void reader_stop(void);

/* How long a thread may wait: pure, the caller gives the time. What a call takes beyond `least_ns` is paid from the share. */
struct reader_patience {
	uint64_t most_ns;  /* for one call */
	uint64_t least_ns; /* … when the share is used up */
	struct time_share share;
};

uint64_t reader_patience_limit(struct reader_patience *p, uint64_t now_ns);
void reader_patience_spend(struct reader_patience *p, uint64_t now_ns, uint64_t waited_ns);

#endif
