/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where one process writes the names of the code that it generates: its perf map (/tmp/perf-PID.map) and its jitdump (jit-PID.dump,
 * which it maps executable so that profilers find it).
 *
 * Both are the process's word about itself, and the first lies where everybody may write. So the perf map is looked for in the
 * process's root and mount namespace, which symbolic links cannot leave, under its pid in its own pid namespace. It is believed when it is
 * a regular file with one name that belongs to the user as whom the process makes files (root's: only when that is root), that others may
 * not write to, that was not mounted there, and that was written to since the process started. The descriptors are kept, so that a
 * process that has ended is named all the same.
 *
 * Counted references, loop thread only; the worker may read from the descriptors of what somebody holds.
 */
#ifndef XAGENT_AGENT_PROCESS_JIT_FILES_H
#define XAGENT_AGENT_PROCESS_JIT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

/* What a process had told at a moment, for addresses that are used again; 0: that is not known. */
struct jit_moment {
	uint64_t map_bytes; /* size of the perf map */
	uint64_t time_ns;   /* CLOCK_MONOTONIC, which jitdumps tell of each function */
};

struct jit_files {
	unsigned int n_refs;
	int map_fd;  /* −1: there is no perf map */
	int dump_fd; /* −1: there is no jitdump */
	struct file_key map;
	struct file_key dump;

	/* private to jit_files.c */
	struct process_table *table; /* NULL when the table is gone */
	struct list all;
};

/* Held at a time, by processes that live and by intervals: more processes with generated code than hosts run, and twice as many descriptors
 * at most. */
#define JIT_FILES_MAX 1024

struct jit_files *jit_files_ref(struct jit_files *j);
void jit_files_unref(struct jit_files *j); /* NULL-safe */
DEFINE_CLEANUP(struct jit_files *, jit_files_unref);

enum jit_files_outcome {
	JIT_FILES_NONE = 1, /* neither is there, or is the process's own */
	JIT_FILES_OUTCOME_MAX
};

/* Opens what there is now. 0 (a reference), JIT_FILES_NONE, or -errno (-ESRCH: the process is gone, and its root is not known;
 * -EMFILE: JIT_FILES_MAX are held, counted as a file that could not be opened). */
int jit_files_open(struct process_table *t, struct process *p, struct jit_files **ret_files);
/* One without any file yet, for what is sampled before there are: half of JIT_FILES_MAX of all at most. 0, JIT_FILES_NONE (too many are
 * held), -ENOMEM. */
int jit_files_wait(struct process_table *t, struct jit_files **ret_files);
/* Looks again for the files of one that waits, which nobody else may look into meanwhile. True when there are some. */
bool jit_files_arrive(struct process_table *t, struct process *p, struct jit_files *waiting);
/* What there is now: only sizes are looked at. */
struct jit_moment jit_files_moment(const struct jit_files *j, uint64_t now_ns);
/* Brings *files (NULL: nothing yet) up to date: it becomes another object when other files are there by now; what cannot be found any
 * more is kept. */
void jit_files_refresh(struct process_table *t, struct process *p, struct jit_files **files);

/* Deepest nesting of pid namespaces: MAX_PID_NS_LEVEL of the kernel, and the outermost. */
#define JIT_OWNER_MAX_PIDS 33

/* Who a process is to its files. */
struct jit_owner {
	uint32_t pids[JIT_OWNER_MAX_PIDS]; /* from ours to its own pid namespace */
	uint32_t n_pids;
	uint32_t uids[4]; /* real, effective, saved, of files that it makes */
};
/* … the last of them. */
#define JIT_UID_FILES 3

/* From /proc/PID/status; kernels without NSpid give `pid`. 0 or -EINVAL. Pure. */
int jit_owner_parse(struct str status, uint32_t pid, struct jit_owner *ret_owner);
/* "jit-N.dump", N one of the process's pids. Pure. */
bool jit_owner_is_dump(const struct jit_owner *o, struct str path);

#endif
