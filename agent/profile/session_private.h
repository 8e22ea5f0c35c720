/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a session share: session.c (start and end), ingest.c (events and samples),
 * add_sample.c (a sample in the interval), wakers.c (who has woken up a thread), wall.c (wall-clock time), block_io.c (I/O that takes longer than its sample), target_resolution.c (the series of a process),
 * generated.c (code made at run time), java_threads.c (threads of JVMs), interpreted.c (runtimes and their functions), source_names.c (the rest of their names), interval_flush.c (intervals). The fields of each part of
 * the state are set by the file that its comment names; session_new() makes empty lists.
 */
#ifndef XAGENT_AGENT_PROFILE_SESSION_PRIVATE_H
#define XAGENT_AGENT_PROFILE_SESSION_PRIVATE_H

#include "agent/process/cgroup_tree.h"
#include "agent/process/sideband.h"
#include "agent/process/outside_process.h"
#include "agent/profile/budget.h"
#include "agent/profile/io_devices.h"
#include "agent/profile/kept_stack.h"
#include "agent/profile/process_state.h"
#include "agent/profile/session.h"
#include "agent/profile/wall.h"
#include "agent/runtimes/code_names.h"
#include "agent/runtimes/java_maps.h"
#include "agent/runtimes/name_texts.h"
#include "agent/runtimes/runtime_search.h"
#include "agent/runtimes/runtime_tables.h"
#include "agent/runtimes/source_table.h"
#include "agent/unwind/kernel_arena.h"
#include "agent/unwind/object_tables.h"
#include "agent/unwind/tables.h"
#include "agent/unwind/user_stack.h"

/* session.c: what wakes the loop. */
struct session_timers {
	struct loop_timer *drain;
	struct loop_timer *interval;
	struct loop_timer *cpus;
	uint64_t interval_due_ns;
	uint64_t start_until_ns; /* until then the ring is read more often */
	struct loop_io *ring_io;
	struct loop_io *sideband_io;
};

/* Opened and closed by ingest.c. */
struct session_processes {
	struct process_table *table;
	struct outside_processes *outside; /* processes without a number here */
	struct exited_processes exited;
	struct cgroup_tree *cgroups; /* NULL: there is no unified hierarchy to be seen */
};

/* ingest.c: a round of reading the ring. */
struct session_reading {
	uint64_t n_rounds;
	uint64_t sideband_ns; /* all events up to this time have been collected */
	struct list dirty;    /* known processes whose mappings changed in this round */
};

/* ingest.c: user stacks. */
struct session_stacks {
	struct user_stack user; /* scratch: too large for the C stack */
	/* … its frames behind the kernel's, as the open interval knows them */
	struct frame_ref frames[STACK_MAX_FRAMES];
	struct waker *waker; /* of the sample that is being added, owned; NULL: there is none */
	uint64_t ends[STOP_REASON_MAX];
	/* when the first one was taken that reaches the outermost frame; 0: not yet */
	uint64_t first_root_ns;
};

/* target_resolution.c: the series of processes. */
struct session_matching {
	uint32_t epoch;	       /* of the match function's answers */
	struct list undecided; /* struct undecided: processes whose series is not known yet */
	size_t n_undecided;    /* of them, new in this interval */
};

/* Opened and closed by interpreted.c. */
struct session_runtimes {
	struct runtime_tables *tables;
	struct runtime_search *search; /* fills them */
	struct code_names *code_names; /* of their functions */
	struct java_maps java; /* what the kernel half knows of threads of JVMs */
	uint32_t java_generation; /* of what was told of a JVM last: a pid may come again */
};

/* A name that is not whole yet. */
struct waiting_name {
	struct code_key key;
	struct source_function function;
	uint32_t n_tries;
};

/* Those that come while so many wait are not asked for. */
#define SESSION_MAX_WAITING_NAMES 512

/* source_names.c: names of which a part is in the source of their program. */
struct session_source_names {
	struct source_table table;
	/* Those whose source is to be read, oldest first. */
	struct waiting_name waiting[SESSION_MAX_WAITING_NAMES];
	size_t n_waiting;
	uint64_t round; /* the last one that counts */
	size_t n_chars; /* that were read in this round, and beyond what former ones may read */
};

/* interpreted.c: names of functions that were read from memory. */
struct session_name_reads {
	uint64_t round; /* in which … */
	unsigned int n; /* … so many were */
};

/* interval_flush.c: intervals that are closed. */
struct session_intervals {
	uint64_t n_closed;
	uint64_t n_building; /* samples in those under way */
	/* The latest time that a profile was given. The worker's while a job is under way. */
	uint64_t last_profile_ns;
	bool is_flushing; /* before_close is under way */
};

/* wall.c: wall-clock time. */
struct session_wall {
	bool has_clocks; /* CPU clocks of processes tell what is profiled of them */
	uint64_t begin_ns;
	struct list ticked;  /* struct wall_process: with ticks in this round */
	struct list threads; /* … all, for how long their threads are there */
	struct session_wall_sums sums;
};

/* block_io.c: I/O that has a sample and is under way, by their number, and names of disks. */
struct session_ios {
	struct io_table *table; /* NULL: there was none yet */
	struct io_devices devices;
};

/* held.c: waits that have a sample and are not over. */
struct session_held {
	struct hash_table table;
	uint64_t n_waiting; /* of them, those of which nothing was told yet */
};

/* Opened and closed by session.c: what the walk reads. */
struct session_unwind {
	struct kernel_arena *arena;
	struct object_tables *objects;
	struct tables *tables;
};

/* Opened and closed by session.c: names of functions in files. */
struct session_symbols {
	struct symbol_store *store;    /* the worker's while a job is under way */
	struct debuginfod *debuginfod; /* which the store asks; NULL: nobody */
};

/* meet.c: processes that are to be known before they are sampled. */
struct session_meeting {
	uint32_t *pids; /* owned; NULL: none */
	size_t n, next;
};

struct session {
	struct session_options options;
	struct budget budget;
	uint64_t user_mask; /* the bits of user addresses */
	bool sampling_ended, stopped;
	struct sampler *sampler;
	struct sideband *sideband;
	struct interval *interval; /* the open one */
	struct list waiting; /* generated.c: processes that may yet tell of the code they made */
	struct session_timers timers;
	struct session_processes processes;
	struct session_reading reading;
	struct session_meeting meeting;
	struct session_stacks stacks;
	struct session_matching matching;
	struct session_runtimes runtimes;
	struct session_name_reads name_reads;
	struct session_source_names source_names;
	struct session_intervals intervals;
	struct session_wall wall;
	struct session_ios ios;
	struct session_held held;
	struct waker_table *wakers; /* wakers.c; NULL: there was none yet */
	struct session_unwind unwind;
	struct session_symbols symbols;
};

/* ingest.c. Makes the process table and that of processes outside the pid namespace, with their hooks. 0 or -errno. */
int session_open_processes(struct session *s);
void session_close_processes(struct session *s);
/* Handles all events and samples that have come since the last time, in the order of time. */
void session_drain(struct session *s);
/* The same for a part of a second: others of the loop have their turn, then the rest. True: there is more, for the next round of the loop. */
bool session_drain_some(struct session *s);
/* What a first sample of the process would do: its mappings are read, and the kernel half is told of it. */
void session_meet(struct session *s, uint32_t pid);
/* Tells the kernel half of a process again. */
void session_publish_anew(struct session *s, struct process *p, struct process_state *k);

/* meet.c. When the sampler was started; in each round. */
void session_meet_begin(struct session *s);
void session_meet_some(struct session *s);

/* sample_frames.c. Where the frames of the present sample lie. Those of its record go there, and what its thread compiles behind them. 0 or -ENOMEM. */
struct frame_ref *session_frames(struct session *s);
int session_take_frames(struct session *s, const struct sample *sample, struct process *p);
int session_take_compiled(struct session *s, const struct sample *sample, struct process *p,
			  struct samples *one);
int session_take_connection(struct session *s, const struct sample *sample, struct process *p);
/* What the event tells beside the stack, as its innermost frame or by labels. The frames that there are. */
struct frame_ref *session_put_what(struct session *s, struct samples *to, uint32_t reason);
/* While the process lives its files can be opened; names are looked up when the interval is over. */
void session_keep_files(struct session *s, struct process *p, uint32_t generation);

/* add_sample.c. Its stacks are in `stacks`. What finds no memory is counted. */
void session_add_sample(struct session *s, const struct sample *sample, struct process *p,
			struct labels *labels);

/* Likewise, of a waker, of which `s->stacks` has the user half. Kept until the sample comes of whom it has woken up. */
void session_add_waker(struct session *s, const struct sample *sample, struct process *p);

/* Values of a wait whose sample came when it began: `one` has the stack, of the open interval, without what was waited for, which `head` tells with pid and event. 0 or -ENOMEM. */
int session_add_values(struct session *s, const struct wire_sample *head,
		       const struct samples *one);

/* wakers.c. Keeps a stack, leaf first, of the open interval. 0 or -ENOMEM. */
int session_keep_waker(struct session *s, const struct sample *sample, struct process *p,
		       const struct frame_ref *from, size_t n_frames);
/* That of a wait's sample, by its WIRE_VALUE_WAKER, the caller's to free; NULL: there is none. Counted. */
struct waker *session_waker_of(struct session *s, enum event event, uint64_t id);
/* The interval is closed. */
void session_forget_wakers(struct session *s);
void session_close_wakers(struct session *s);

/* ingest.c: a waker; an end. */
void session_on_waker(const struct sample *sample, void *data);
void session_on_end(const struct wire_end *end, void *data);

/* wall.c. After the sampler was started: where it has no waits there is no wall-clock time; -EOPNOTSUPP if that is all that was wanted. */
int session_wall_open(struct session *s, struct buf *why);
/* Whether samples of the event are in it, and whether they are nowhere else. */
bool session_wall_has(const struct session *s, enum event event);
bool session_wall_is_all(const struct session *s, enum event event);
/* What the next tick of the process is worth; and a sample, which was added. */
int64_t session_wall_tick_ns(const struct session *s, const struct process *p);
void session_wall_count(struct session *s, const struct wire_sample *head, struct process *p,
			int64_t ns, int64_t ready_ns);
/* After all samples of a round; of a process that is gone; before an interval is closed. */
void session_wall_round(struct session *s);
void session_wall_exit(struct session *s, struct process *p);
void session_wall_look(struct session *s);

/*
 * block_io.c. What the disk of WIRE_IO() is called. A sample of block I/O that was just added, whose latency is not known yet; how long it took. Before an interval is
 * closed: what is under way has latency up to now; and, once its series are settled, goes on in `next`.
 */
const char *session_io_device(struct session *s, uint32_t io);
void session_io_begin(struct session *s, const struct sample *sample);
void session_io_end(struct session *s, const struct wire_end *end);
void session_io_look(struct session *s);
void session_io_carry(struct session *s, struct interval *next);
void session_io_close(struct session *s);

/* held.c. The same of waits; the stack of the sample was just added, without values. */
void session_hold(struct session *s, const struct sample *sample);
void session_wait_end(struct session *s, const struct wire_end *end);
void session_held_look(struct session *s);
void session_held_carry(struct session *s, struct interval *next);
void session_held_close(struct session *s);

/*
 * target_resolution.c. The series of a process that was sampled: a placeholder while the targets do not tell yet; NULL when it is not to be
 * profiled, and the kernel half is told so. 0 or -ENOMEM.
 */
int session_decide(struct session *s, struct process *p, uint64_t cgroup_id,
		   struct labels **ret_labels);
/* The interval is closed early then: it cannot wait for more. */
bool session_is_full_of_undecided(const struct session *s);
/* When the interval closes: every placeholder in it is replaced by a series, or moves to `next`. */
void session_settle_undecided(struct session *s, struct interval *next);
void session_forget_undecided(struct session *s);

/* generated.c. The frame of a pc in memory without a file, as the open interval knows it. 0 or -errno. */
int session_anon_frame(struct session *s, struct process *p, uint64_t pc, uint64_t time_ns,
		       struct frame_ref *ret_frame);
/* Before an interval is closed: looks again for files of names that were not there before. */
void session_look_for_names(struct session *s);

/* interpreted.c: what finds runtimes in files, and tells the kernel half of processes; a name that it has sent; the executable that a sample tells of;
 * whether a process has to be published again since files with runtimes were found. And the frame of a runtime's function, as the open interval knows it. */
int session_open_runtimes(struct session *s, const struct sampler_tables *maps);
void session_close_runtimes(struct session *s);
struct tables_runtimes session_table_runtimes(struct session *s);
void session_on_name(const struct wire_name *name, void *data);
void session_show_image(struct session *s, const struct sample *sample, struct process *p);
bool session_runtime_is_new(struct session *s, const struct process *p, struct process_state *k);
int session_code_frame(struct session *s, struct process *p, const struct wire_sample *head,
		       const struct wire_runtime_frame *f, struct frame_ref *ret_frame);

/* java_threads.c: tells the kernel half which thread of a JVM the sample's is, where it does not know; the process runs another image, or has ended. */
void session_meet_java_thread(struct session *s, const struct sample *sample, struct process *p);
void session_forget_java(struct session *s, uint32_t pid);

/* NULL: nobody's. */
const struct runtime *session_runtime_of(uint64_t function);
/* Whether one more name may be read of that process in this round. */
bool session_may_read_name(struct session *s, struct process_state *k);

/* source_names.c. The whole name of a function, of which `name` was sent, into `to` and text; as far as it is known now, else later. */
void session_complete_name(struct session *s, const struct code_key *key,
			   const struct wire_name *name, struct code_text *text,
			   char to[NAME_TEXTS_NAME_BYTES]);
/* Once in a round: names that could not be completed. */
void session_complete_waiting(struct session *s);

/* interval_flush.c. An empty interval at the present rate. 0 or -errno. */
int session_open_interval(const struct session *s, struct interval **ret_interval);
/* Gives the open interval to the worker and puts a new one in its place. On failure the present one goes on. 0 or -errno. */
int session_close_interval(struct session *s);

#endif
