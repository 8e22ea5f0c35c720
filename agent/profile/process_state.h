/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session knows of each sampled process besides what the process table knows: its series, and whether the kernel half has its
 * mappings. Kept in process.user; outlives the process for a moment, because a tick may hit it after its exit event.
 */
#ifndef XAGENT_AGENT_PROFILE_PROCESS_STATE_H
#define XAGENT_AGENT_PROFILE_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/jit_files.h"
#include "agent/process/process.h"
#include "agent/profile/java_threads.h"
#include "agent/profile/wall.h"
#include "agent/target/label.h"

struct process_state {
	struct process *
		process; /* borrowed while it lives, a reference once it is in the exited processes */
	struct labels *labels; /* a reference; NULL: not to be profiled */
	struct undecided
		*undecided; /* borrowed; NULL: it is decided. `labels` is its placeholder */
	bool decided;
	uint64_t n_samples;    /* of it */
	uint64_t sampled_ns;   /* … the time of the last one, CLOCK_MONOTONIC */
	uint32_t exec_count;   /* of the decision */
	uint32_t epoch;	       /* of the decision */
	bool published;	       /* the kernel half has (or had, until it was evicted) an entry */
	bool refused;	       /* which says that it is not to be profiled */
	bool dirty;	       /* its mappings changed since */
	struct jit_files *jit; /* a reference; NULL: none were there when last looked for */
	uint64_t jit_interval; /* when that was; 0: never */
	uint32_t jit_exec;     /* exec_count then */
	struct jit_moment jit_moment; /* what they told in this round of samples */
	uint64_t jit_round;	      /* which one that is */
	struct jit_files
		*jit_wait;	/* a reference; of this interval, in place of `jit`; NULL: none */
	uint32_t n_jit_waits;	/* intervals, since the exec, that ended without them */
	struct list waiting;	/* the session's, of those with jit_wait */
	uint32_t runtime_epoch; /* of the files with runtimes, when it was looked for one */
	uint64_t runtime_files; /* with which it was published; 0: none */
	uint64_t runtime_wait_ns; /* how long its runtime is waited for, that could not be published; 0: it was, or there is none */
	uint64_t runtime_ask_ns;  /* until then */
	uint64_t image;		/* struct wire_user_unwound, of the image with … */
	uint32_t image_exec;	/* … this exec_count */
	uint64_t
		reads_round; /* in which n_reads of its functions' names were read from its memory */
	unsigned int n_reads;
	struct java_vm *java; /* java_threads.h; NULL: nothing is known */
	struct wall_process wall;
	bool exited; /* the process has ended, or was forgotten; `node` is the exited processes's */
	struct list node; /* of the dirty ones, or of the exited processes */
};

/* The known of a process, made on first use. NULL without memory. */
struct process_state *process_state_get(struct process *p);
void process_state_free(struct process_state *k);

/* Exited processes, for EXITED_PROCESSES_NS after their exit and EXITED_PROCESSES_MAX at most. */
#define EXITED_PROCESSES_NS 1000000000ULL
#define EXITED_PROCESSES_MAX 1024

struct exited_processes {
	struct list list; /* by time of exit */
	size_t n;
};

void exited_processes_init(struct exited_processes *g);
void exited_processes_fini(struct exited_processes *g);
/* Takes p->user and a reference to p. */
void exited_processes_add(struct exited_processes *g, struct process *p);
/* The process that had this pid most recently, or NULL. */
struct process *exited_processes_find(const struct exited_processes *g, uint32_t pid);
void exited_processes_sweep(struct exited_processes *g, uint64_t now_ns);

#endif
