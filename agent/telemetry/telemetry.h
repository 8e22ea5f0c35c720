/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters, gauges and histograms, and their Prometheus text (exposition format 0.0.4).
 *
 * A *family* is a static description; a *series* is one of its label combinations. Loss counters of the agent are one X-list, so
 * that a new cause is one line and always appears in /metrics, from zero on.
 *
 * Increments are relaxed atomics and may come from any thread; everything else is for the loop thread.
 */
#ifndef XAGENT_AGENT_TELEMETRY_TELEMETRY_H
#define XAGENT_AGENT_TELEMETRY_TELEMETRY_H

#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/*
 * What can happen to a sample or a profile after the kernel half handed it over: X(name, sentence). Exported as xagent_<name>_total.
 *
 *	samples_received = samples_in_profiles + all samples_dropped_*  + samples waiting in the open interval, or for their end
 */
#define TELEMETRY_COUNTERS(X)                                                                     \
	X(samples_received, "samples taken from the ring buffer")                                 \
	X(samples_in_profiles, "samples that are in an encoded profile")                          \
	X(samples_dropped_no_target, "samples of processes that match no target")                 \
	X(samples_dropped_malformed, "ring buffer records that do not follow the contract")       \
	X(samples_dropped_memory, "samples that found no memory")                                 \
	X(samples_dropped_unended, "samples of waits that had no time to be told: not waited for after all, left to others, or the end was lost")         \
	X(samples_dropped_encode, "samples whose profile could not be encoded")                   \
	X(samples_outside_pid_namespace,                                                          \
	  "samples of processes that have no number in the agent's pid namespace")                \
	X(samples_stale_mapping, "samples looked at again because mappings had just changed")     \
	X(ends_malformed, "ends of block I/O and of waits that do not follow the contract")                   \
	X(ends_missing, "block I/O and waits with a sample whose end was not told")                        \
	X(wakers_received, "stacks of those who have woken up a thread, of off-CPU time")         \
	X(wakers_malformed, "of these, that do not follow the contract")                          \
	X(wakers_unused, "of these, whose thread's wait was no sample")                           \
	X(wakers_joined, "of these, that are beside the wait that they have ended")               \
	X(wakers_missing, "samples of waits that somebody has ended whose stack is not known")    \
	X(code_names_malformed, "names of interpreters' functions that do not follow the contract") \
	X(code_names_dropped, "of these, that found no memory")                                   \
	X(code_names_read, "of these, that were read from a process's memory, as its tick could not")     \
	X(code_names_missing, "frames of interpreters without a name")                            \
	X(sideband_lost, "process events the kernel could not deliver")                           \
	X(sideband_left_out, "mapping events of processes that make more of them than one may")   \
	X(mapping_floods, "seconds in which a process made more mapping events than one may")     \
	X(sideband_malformed, "process events that do not follow the contract")                   \
	X(process_read_errors, "processes that were gone before /proc could be read")             \
	X(process_evictions, "processes forgotten because the table was full")                    \
	X(mapping_table_full, "processes without a mapping table because its memory was used up") \
	X(unwind_table_evictions, "unwind tables withdrawn to stay within the memory limit")      \
	X(unwind_tables_no_room, "unwind tables not loaded to stay within the memory limit")      \
	X(files_opened, "mapped files opened for symbols")                                        \
	X(files_open_errors, "mapped files that could not be opened or were replaced")            \
	X(objects_malformed, "ELF files that could not be parsed")                                \
	X(symbol_cache_evictions, "symbol tables dropped to stay within the memory limit")        \
	X(frames_without_lines,                                                                   \
	  "distinct frames without lines because the time for them was used up")                  \
	X(frames_unresolved, "distinct frames named by their file only")                          \
	X(jit_functions_dropped, "generated functions forgotten to stay within the memory limit") \
	X(sources_dropped,                                                                        \
	  "sources of scripts whose classes are forgotten to stay within the memory limit")       \
	X(kernel_functions_dropped,                                                               \
	  "kernel functions without a name to stay within the memory limit")                      \
	X(kernel_symbols_read, "readings of the kernel's symbols, 60 ms each")                    \
	X(dwarf_helper_crashed, "processes that died while they read DWARF")                      \
	X(dwarf_helper_timed_out, "processes ended because they did not answer")                  \
	X(dwarf_helper_out_of_memory, "processes ended because DWARF took too much memory")       \
	X(dwarf_helper_misbehaved, "processes ended because of what they did or said")            \
	X(dwarf_helper_held_back, "files not read because others of their owner had failed")      \
	X(debuginfod_asked, "build ids that debuginfod servers were asked for")                   \
	X(debuginfod_found, "debug files that came from them")                                    \
	X(debuginfod_failed, "build ids that no server had, while one of them did not answer")    \
	X(debuginfod_bytes, "bytes that came from debuginfod servers")                            \
	X(labels_dropped, "labels that the server would refuse")                                  \
	X(series_folded, "series of intervals put into service_name=other because of max_series") \
	X(samples_folded, "samples of these")                                                     \
	X(targets_rejected, "targets that name no process or container")                          \
	X(push_queue_dropped_profiles, "profiles dropped because the push queue was full")        \
	X(push_queue_dropped_bytes, "bytes of these")

enum telemetry_counter {
#define TELEMETRY_COUNTER_ENUM(name, help) TELEMETRY_##name,
	TELEMETRY_COUNTERS(TELEMETRY_COUNTER_ENUM)
#undef TELEMETRY_COUNTER_ENUM
		TELEMETRY_COUNTER_MAX
};

/* METRIC_SECONDS is a counter with fractions: time that was spent. */
enum metric_type { METRIC_COUNTER, METRIC_SECONDS, METRIC_GAUGE, METRIC_HISTOGRAM };

#define METRIC_MAX_LABELS 6

/* Static storage. label_names end with NULL. Histograms have the default buckets of Prometheus clients (.005 … 10 s). */
struct metric_family {
	const char *name;
	const char *help;
	enum metric_type type;
	const char *label_names[METRIC_MAX_LABELS + 1];
};

struct telemetry;
struct metric;

int telemetry_new(struct telemetry **ret_telemetry);
void telemetry_free(struct telemetry *t);
DEFINE_CLEANUP(struct telemetry *, telemetry_free);

void telemetry_count(struct telemetry *t, enum telemetry_counter counter, uint64_t n);
uint64_t telemetry_get(const struct telemetry *t, enum telemetry_counter counter);

/* Finds or makes the series; values in the order of label_names, copied. Never NULL: beyond TELEMETRY_MAX_SERIES, or without memory,
 * a series that is not exported. Borrowed, valid as long as `t`. */
#define TELEMETRY_MAX_SERIES 10000
struct metric *telemetry_series(struct telemetry *t, const struct metric_family *family,
				const char *const *label_values);

void metric_add(struct metric *m, uint64_t n);
void metric_set(struct metric *m, double value);
void metric_observe(struct metric *m, double value);
double metric_value(const struct metric *m);

/* Called before each text, to set what is only known by looking. */
typedef void (*telemetry_scrape_fn)(struct telemetry *t, void *data);
int telemetry_on_scrape(struct telemetry *t, telemetry_scrape_fn fn, void *data);
void telemetry_off_scrape(struct telemetry *t, telemetry_scrape_fn fn, void *data);

/* Every number at one moment, after the calls above: what there is to do for the loop thread. 0 or -ENOMEM. */
struct telemetry_snapshot;
int telemetry_snapshot_new(struct telemetry *t, struct telemetry_snapshot **ret_snapshot);
void telemetry_snapshot_free(struct telemetry_snapshot *s);
DEFINE_CLEANUP(struct telemetry_snapshot *, telemetry_snapshot_free);
/* Any thread, as long as the telemetry lives. 0 or -ENOBUFS. */
int telemetry_snapshot_text(struct telemetry_snapshot *s, struct buf *out);

/* Both at once. */
int telemetry_text(struct telemetry *t, struct buf *out);

#endif
