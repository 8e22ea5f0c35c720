/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiling session: everything from the timer tick to the built profile, put together.
 *
 *	ring, side-band ──(100 ms)──► processes, tables ──► interval ──(worker)──► build ──► on_interval
 *
 * In the first second everything is read each 10 ms. Events and samples are handled in the order of their times, so that a sample is
 * named and labelled by what its process was when it was taken. Loop thread; the worker only ever sees closed intervals.
 */
#ifndef XAGENT_AGENT_PROFILE_SESSION_H
#define XAGENT_AGENT_PROFILE_SESSION_H

#include "agent/process/process.h"
#include "agent/profile/build.h"
#include "agent/sample/sampler.h"
#include "agent/symbol/store.h"
#include "agent/unwind/object_tables.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"

#define SESSION_DRAIN_NS (100ULL * 1000000ULL)

/*
 * Which series a process belongs to, decided once a process, and again after each exec and move to another control group: 0 and a reference;
 * or SESSION_SKIP: it is not profiled, its ticks end in the kernel half until something changes; or -errno.
 *
 * Or SESSION_LATER, and a reference to what it will be if nothing more comes to be known (NULL: not to be profiled): who decides waits
 * for an answer of others. Its samples are kept, and it is asked for again after session_rematch() and when the interval closes; where it is
 * still later then, they go on to the next interval.
 */
#define SESSION_SKIP 1
#define SESSION_LATER 2
typedef int (*session_match_fn)(struct process_table *processes, struct process *p, void *data,
				struct labels **ret_labels);

/* What the owner wants to know; every member may be NULL. */
struct session_hooks {
	session_match_fn match; /* required */
	/* The interval is about to close: the last moment to find out what was to be known later. */
	void (*before_close)(void *data);
	/* Its stacks are in their series and it is about to be built: the last moment to put them into others (interval_relabel). */
	void (*on_settled)(struct interval *interval, void *data);
	/* It is about to be built: which forms of profiles are to be made (build->wants). */
	unsigned int (*wants)(void *data);
	/* A closed interval has been built (also an empty one). `build` is borrowed; its bytes may be taken (set to NULL). */
	void (*on_interval)(const struct interval *interval, struct build *build, void *data);
	void (*on_exec)(struct process *p, void *data);
	void (*on_exit)(uint32_t pid, void *data);
	void *data;
};

/* Servers that are asked for debug files that this host does not have. Borrowed until session_new() returns. */
struct session_debuginfod {
	const char *const *urls;
	size_t n_urls;	       /* 0: nobody is asked */
	const char *cache_dir; /* NULL or "": debuginfod_default_dir() */
};

#define SESSION_RUNTIME(kind) (1U << (kind))
#define SESSION_EVENT(event) (1U << (event))

struct session_options {
	struct sampler_options sampler;
	uint64_t interval_ns; /* 0: one interval, closed by session_stop() */
	enum demangle_mode demangle;
	bool lines;   /* file and line of each frame, where they are known */
	bool columns; /* with the lines, where a runtime tells them */
	bool inlines; /* a frame for each inlined function */
	bool wall;    /* wall-clock time, of ticks and waits: both are to be sampled */
	uint32_t
		wall_alone; /* SESSION_EVENT() of those that have no profiles of their own beside it */
	uint32_t runtimes_off;	/* SESSION_RUNTIME() of each whose functions are not to be shown */
	struct tagging tagging; /* what samples tell of their process */
	bool connections;	/* of TCP both ends are told, and the process */
	struct session_debuginfod debuginfod;
	size_t memory_limit_bytes; /* 0: BUDGET_DEFAULT_BYTES */
	build_fn build;
	void *build_data; /* build->data: the worker's until session_stop() returns */
	struct session_hooks hooks;
	struct loop *loop; /* borrowed, as all that follow */
	struct worker *worker;
	struct telemetry *telemetry;
};

struct session;

/* Loads and attaches; samples flow from its return on. On failure `why` gets one line for a person. */
int session_new(const struct session_options *o, struct buf *why, struct session **ret_session);
/* Stops first, if that was not done. NULL-safe. */
void session_free(struct session *s);
DEFINE_CLEANUP(struct session *, session_free);

/* Looks at what is under way and detaches: what happens from here on is not sampled. */
void session_end_sampling(struct session *s);
/* Does that first, unless it was done; takes what is left, closes the interval and waits until it was built and handed to on_interval. */
void session_stop(struct session *s);

/* Live changes; nothing that was sampled is lost: the running interval is closed first where its meaning changes. */
int session_set_hz(struct session *s, unsigned int hz);
void session_set_interval(struct session *s, uint64_t interval_ns);
void session_set_demangle(struct session *s, enum demangle_mode mode);
/* From the next interval on. */
void session_set_tagging(struct session *s, struct tagging tagging);
/* `match` would now decide otherwise: every process is asked for again. */
void session_rematch(struct session *s);

struct process_table *session_processes(struct session *s);
struct sampler *session_sampler(struct session *s);
/* How the user halves of all stacks ended: STOP_REASON_MAX counts by enum stop_reason. Borrowed. */
const uint64_t *session_stack_ends(const struct session *s);
/* What is used of the memory limit, for /metrics. */
struct session_memory {
	uint64_t limit_bytes;
	uint64_t arena_bytes;	   /* segments made */
	uint64_t arena_used_bytes; /* of them */
	uint64_t interval_bytes;   /* the open one */
	uint32_t n_mappings;	   /* in the arena */
	struct object_tables_stats objects;
};
void session_memory(const struct session *s, struct session_memory *ret_memory);
/*
 * What profiles of wall-clock time were made of, of processes but not of kernel threads; and how long the threads of these processes were there, as
 * /proc tells when an interval ends. All are zero where it is not profiled. cpu + ready + waiting = threads, as far as all are right.
 */
struct session_wall_sums {
	uint64_t cpu_ns;
	uint64_t
		ready_ns; /* 0 where reasons of waits are not told: it is a part of the waiting then */
	uint64_t waiting_ns;
	uint64_t threads_ns;
};
/* False: it is not profiled. */
bool session_wall_sums(const struct session *s, struct session_wall_sums *ret_sums);
/* CLOCK_MONOTONIC of the first sample whose user stack reaches the outermost frame; 0: none yet. */
uint64_t session_first_root_ns(const struct session *s);
/* Samples in the open interval and in intervals being built. */
uint64_t session_n_waiting(const struct session *s);

#endif
