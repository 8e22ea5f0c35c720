/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half: loaded, set up, attached, read. The only user of the generated skeleton.
 *
 *	sampler_new (load) → sampler_start (attach) → sampler_read … → sampler_free
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_SAMPLER_H
#define XAGENT_AGENT_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/sample/sample.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/cpus.h"

/* Prime, so that it is in step with nothing; the usual rate of profilers. */
#define SAMPLER_DEFAULT_HZ 97
#define SAMPLER_MAX_HZ 10000
#define SAMPLER_MAX_FILTERS 4096
/* Samples a second of one tracepoint on one CPU, where nobody says otherwise: a hundredth of its time, at some 10 µs each. What is beyond is
 * counted with the next. */
#define SAMPLER_PROBE_HZ 1000
/* Of off-CPU time: waits that are longer by some are samples, of shorter ones as many as such times they last together (bpf/weigh.h). */
#define SAMPLER_OFF_CPU_MEAN_NS 1000000
#define SAMPLER_OFF_CPU_MAX_MEAN_NS (1ULL << 34) /* WEIGH_MAX_MEAN_NS */
/* One in each window in which hits are counted. */
#define SAMPLER_PROBE_MIN_HZ WIRE_THIN_WINDOWS

struct sampler_options {
	unsigned int hz; /* 0: SAMPLER_DEFAULT_HZ */
	bool no_kernel;	 /* leave out kernel stacks */
	bool no_user;	 /* leave out user stacks */
	bool idle;	 /* sample idle CPUs as well */
	bool lines;	 /* names of runtimes' functions come with their tables of lines */
	bool columns;	 /* frames of runtimes come with columns, where one knows them */
	bool interpreter_frames; /* frames of interpreters' loops are kept beside the functions that they run */
	bool async_frames;	/* frames of the tasks that await the running one follow its own */
	bool thread_names;	/* of each sample's thread are told */
	bool hotspot_tiers;	/* of the innermost method of Java are told */
	bool hotspot_arguments; /* names of methods of Java have the types of their arguments */
	/* Filters, in the kernel; all given ones must hold. */
	const uint32_t *pids;
	size_t n_pids;
	const uint32_t *tids;
	size_t n_tids;
	/* Tracepoints beside the ticks, "group:name", EVENT_MAX_TRACEPOINTS at most; sample->head->record.source is the index + 1. */
	const char *const *tracepoints;
	size_t n_tracepoints;
	/* Of each: samples a second and CPU, at most; from SAMPLER_PROBE_MIN_HZ on. NULL: SAMPLER_PROBE_HZ. Borrowed as the names. */
	const unsigned int *tracepoint_hz;
	unsigned int
		off_cpu_hz; /* off-CPU time: samples a second and CPU, at most, some more of long waits; 0: none */
	uint64_t
		off_cpu_mean_ns; /* 0: SAMPLER_OFF_CPU_MEAN_NS; SAMPLER_OFF_CPU_MAX_MEAN_NS at most */
	/* Of events that have no more to them (event_is_plain()): samples a second and CPU, at most. 0: none. */
	unsigned int event_hz[EVENT_MAX];
	double event_cpu_limit; /* of one CPU, for each event but CPU time: beyond it there are fewer samples; 0: none */
	bool no_ticks;	      /* of other events alone */
	int cgroup_fd;	      /* directory of the unified hierarchy, borrowed; < 0: none */
	bool off_cpu_reasons; /* what was waited for is told, too */
	bool off_cpu_wakers;  /* who has ended the wait, too: on_waker() */
	const struct cpus *
		cpus; /* NULL: all that are online, followed as they come and go; borrowed until sampler_start() */
	size_t ring_bytes; /* at most, but 1 MiB at least; by CPUs, rate and tracepoints, a power of two. 0: 64 MiB */
	size_t cache_bytes; /* of walked frames, for all CPUs together; 0: the least; rounded down to a power of two for each */
	uint32_t max_processes; /* 0: 8192 */
	uint32_t max_objects;	/* 0: 4096, each a struct wire_object */
	bool verifier_stats;
	/* Called by sampler_read() for each name of a runtime's function, in the order of the ring; NULL: nobody wants them. Borrowed for the call. */
	void (*on_name)(const struct wire_name *name, void *data);
	void *name_data;
	/* Likewise, for each end of what a sample has told the begin of. */
	void (*on_end)(const struct wire_end *end, void *data);
	void *end_data;
	/* Likewise, for each stack of who has woken up a thread, before the sample of its wait: WIRE_VALUE_WAKER of both is the same. */
	void (*on_waker)(const struct sample *waker, void *data);
	void *waker_data;
	struct telemetry *telemetry; /* borrowed */
};

#define SAMPLER_OPTIONS_INIT ((struct sampler_options){ .cgroup_fd = -1 })

struct sampler;

/* Loads the programs. On failure `why` gets one line for a person that names what is missing. */
int sampler_new(const struct sampler_options *o, struct buf *why, struct sampler **ret_sampler);
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* From now on ticks arrive. `why` as above. */
int sampler_start(struct sampler *s, struct buf *why);
/* No more ticks; what is in the ring can still be read. */
void sampler_stop(struct sampler *s);

/* Another rate (not 0). */
int sampler_set_hz(struct sampler *s, unsigned int hz);
unsigned int sampler_hz(const struct sampler *s);
/* Samples a second and CPU at most, as of now: the rate of ticks, the limit of each tracepoint. 0: the event is not sampled. */
unsigned int sampler_limit_hz(const struct sampler *s, enum event event);
/* Follows CPU hotplug, within two calls; call about once a second. */
int sampler_sync_cpus(struct sampler *s);

/* Readable when the ring has filled to a quarter; below that the caller polls. */
int sampler_ring_fd(const struct sampler *s);
/*
 * Hands out what is in the ring for `budget_ns`, and one sample more; 0: up to the first sample that was taken after the call began. Until the ring
 * is empty would be for ever where samples come faster than they are handled. Malformed records are counted. 0 or -errno.
 *
 * ret_read_ns: all samples of before this time have been handed out (UINT64_MAX: the ring is empty); CLOCK_MONOTONIC. May be NULL.
 */
typedef void (*sampler_fn)(const struct sample *sample, void *data);
int sampler_read(struct sampler *s, uint64_t budget_ns, sampler_fn fn, void *data,
		 uint64_t *ret_read_ns);

/* Before an interval ends: of what is under way (waits), what lies before now becomes samples. Read until it is done; not forever, for it may be stuck. */
void sampler_begin_look(struct sampler *s);
bool sampler_is_looking(struct sampler *s);

/* Calls it for each block I/O that has a sample and is under way, with its WIRE_VALUE_ID. 0 or -errno. */
int sampler_under_way(const struct sampler *s, void (*fn)(uint64_t id, void *data), void *data);

/* What agent/unwind fills for the kernel half. Descriptors and memory belong to the sampler. */
struct sampler_tables {
	int processes_fd;
	int segments_fd; /* the array of maps that the arena's segments are put into */
	int objects_fd;
	int runtimes_fd, runtime_images_fd, runtime_libraries_fd;
	int java_processes_fd, java_threads_fd;
	uint32_t max_processes;
	uint32_t max_objects;
	/* Mapped memory that each walk looks at. */
	uint64_t *reuse_count;
	uint32_t *table_epoch;
	uint64_t *told_seed;
};
void sampler_tables(struct sampler *s, struct sampler_tables *ret_tables);

/* By event, the sums over all CPUs, each as it was between two ticks (agent/sample/cpu_counters.h): each balances always. */
int sampler_counters(struct sampler *s, struct wire_counters ret_counters[EVENT_MAX]);

/* Stacks of processes with a runtime, by its kind and how the search for its frames ended; the sums over all CPUs. */
int sampler_runtime_results(struct sampler *s,
			    struct wire_runtime_results ret_results[RUNTIME_KINDS]);

/* Ticks that were due and never came (agent/sample/missed.h). Asks each CPU; after sampler_stop() it stands. */
uint64_t sampler_missed(struct sampler *s);

/* Measures what the events cost, and keeps them within event_cpu_limit; call about once a second. */
void sampler_look_at_costs(struct sampler *s);
struct sampler_event_cost {
	double run_ns; /* of a run of its programs, with what samples take */
	double runs_hz;
	double cpu_ratio; /* of one CPU */
	bool is_over;	  /* event_cpu_limit, with the fewest samples */
};
/* False: it is not sampled, or was not measured yet. */
bool sampler_event_cost(const struct sampler *s, enum event event,
			struct sampler_event_cost *ret_cost);

/* Cost as the kernel accounts it: time and runs are zero unless kernel.bpf_stats_enabled=1. */
struct sampler_cost {
	uint64_t run_time_ns;
	uint64_t n_runs;
	uint64_t
		map_bytes; /* memlock of all maps, without the arena's segments, which the agent makes */
	uint64_t prog_bytes;
};
int sampler_cost(const struct sampler *s, struct sampler_cost *ret_cost);

/* One call a program: instructions the verifier processed. Only with verifier_stats. */
void sampler_verifier_stats(const struct sampler *s,
			    void (*fn)(const char *program, uint64_t instructions, void *data),
			    void *data);

#endif
