/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process as /proc shows it.
 *
 * A `struct proc` holds its directory open, so that all reads speak of the same process: when it
 * ends they fail with -ESRCH, even when its pid is given to another. Where the leader is a zombie
 * and other threads live on, what the leader has lost (maps, exe, root) is read through a thread
 * that lives.
 */
#ifndef XAGENT_AGENT_PROCESS_PROC_H
#define XAGENT_AGENT_PROCESS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/process/maps.h"
#include "agent/process/proc_stat.h"
#include "agent/util/buf.h"

/* stat: 52 numbers of at most 20 digits and a name. */
#define PROC_STAT_MAX 2048
#define PROC_STATUS_MAX 16384
/* Worst case of v1: some 15 lines with a path of up to PATH_MAX. */
#define PROC_CGROUP_MAX 65536
/* 65,530 mappings (vm.max_map_count) of 256 bytes; what is beyond is cut, as is what comes after MAPPINGS_MAX executable ones. */
#define PROC_MAPS_MAX (16u << 20)
/* Enough to recognise and to show; the rest of longer command lines is cut. */
#define PROC_CMDLINE_MAX 4096
/* What names the script may stand behind a class path of a thousand files. */
#define PROC_ARGUMENTS_MAX 65536
/* The kernel allows a quarter of the stack's limit, some MiB; names that people set come first where it is that long: in pods of large
 * clusters, before a few variables for each service. */
#define PROC_ENVIRON_MAX (128u << 10)
/* Kernel threads have names longer than TASK_COMM_LEN there (get_kthread_comm). */
#define PROC_COMM_MAX 64
/* Threads looked at for one that lives; those first in the list are the oldest. */
#define PROC_MAX_TASKS_TRIED 64

struct proc {
	int dir_fd;  /* /proc/PID */
	int live_fd; /* the same, or /proc/PID/task/TID of a thread that lives */
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t n_threads;
	uint32_t euid; /* whose the directory is: as whom it makes files */
	uint64_t start_ticks;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	bool kernel_thread;
	char comm[PROC_COMM_MAX]; /* of the leader, valid UTF-8 */
	char *exe;		  /* the link, without " (deleted)", read at once with comm; owned, NULL: there is none */
	uint64_t code_at, stack_at; /* of struct proc_stat */
};

#define PROC_NONE ((struct proc){ .dir_fd = -1, .live_fd = -1, .exe = NULL })

/* By a reader. 0, or -errno: -ENOENT or -ESRCH when there is no such process or no thread of it lives, or those of reader_run(). */
int proc_open(const char *root, uint32_t pid, struct proc *ret_proc);
void proc_close(struct proc *p);
#define _cleanup_proc_ _cleanup_(proc_close)

/* What maps_parse() tells, at most MAPPINGS_MAX executable mappings. By a reader: 0 or -errno, those of reader_run() among them; -ESRCH when
 * a process that has to have mappings shows none. */
int proc_read_maps(const struct proc *p, maps_fn fn, void *data);

/* What fits into the two of cmdline and environ, which are replaced (not touched on failure); ret_environ may be NULL, and the caller wipes it.
 * By a reader, with one call for both. 0 or -errno, those of reader_run() among them. */
int proc_read_arguments(const struct proc *p, struct buf *ret_arguments, struct buf *ret_environ);

/* Of the file that it runs. By a reader. 0 or -errno. */
int proc_exe_inode(const struct proc *p, ino_t *ret_inode);

/* The whole file, or what fits into `b`: status, cgroup, which never have to be waited for. 0 or -errno. */
int proc_read_file(const struct proc *p, const char *name, struct buf *b);

/* Whether it still runs what it ran when it was opened. By a reader; -errno, those of reader_run() among them. */
int proc_has_same_image(const struct proc *p);

/* A link (cwd) without " (deleted)". Appends. By a reader. 0 or -errno, those of reader_run() among them. */
int proc_read_link(const struct proc *p, const char *name, struct buf *b);

/* Whether /proc shows that the process which the event at time_ns speaks of has no thread left. By a reader; false when that gave up. */
bool proc_has_ended(const char *root, uint32_t pid, uint64_t time_ns);

/* Numeric entries of /proc, ascending. 0 or -errno. */
int proc_list_pids(const char *root, uint32_t **ret_pids, size_t *ret_n);

#endif
