/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf side-band: what happens to every process of the host, from one dummy event and one ring
 *a CPU. Needs neither tracefs nor BPF; a process of a millisecond is known by it when its sample is
 *looked at.
 *
 * Reading is in two steps, so that events and samples can be merged by time:
 *
 *	now = sideband_collect(sb);			take what the rings hold
 *	take samples that were written up to now
 *	for each sample in order of time:
 *		sideband_deliver_until(sb, sample.time_ns, fn, data);
 *		…
 *	sideband_deliver_until(sb, now, fn, data);
 *
 * Of a process that maps code faster than one may (event_budget.h) mapping events are left out, and PROCESS_EVENT_FLOOD tells when the first
 * and the last of these happened, in each round.
 *
 * All events that happened up to `now` are gathered, but for the few a CPU was still writing; those
 *come with the next round, late by their time. So times of deliveries ascend within a round, and
 *nearly always over rounds.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_SIDEBAND_H
#define XAGENT_AGENT_PROCESS_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "agent/process/event.h"
#include "agent/process/kernel_text.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/cleanup.h"
#include "agent/util/cpus.h"

/* Some 100 short processes on one CPU between two reads (about 620 bytes each: fork, exec, four
 * mappings, exit). Wakes the owner when half full. */
#define SIDEBAND_RING_BYTES 65536
/* A ring that ran full gets this size instead: 13 ms of what one thread can make (40 MB/s, by renaming itself a million times a second; 15 MB/s
 * by mapping). As much as kernel.perf_event_mlock_kb has for a CPU. */
#define SIDEBAND_GROWN_BYTES ((size_t)512 * 1024)

struct sideband_options {
	const struct cpus *cpus; /* borrowed for the call, required */
	size_t ring_bytes;	 /* a CPU; a power of two of pages. 0: SIDEBAND_RING_BYTES */
	/* For rings that are larger than that, all together; those that find none left stay as they are. */
	size_t max_grown_bytes;
	/* Of mapping records that are taken of one process in a second. 0: EVENT_BUDGET_BYTES */
	size_t max_process_bytes;
	/* "/proc" when NULL; borrowed. Asked when the end of a process is in doubt. */
	const char *proc_root;
	struct telemetry *telemetry; /* borrowed, required: sideband_* */
};

struct sideband;

/* 0; -EACCES or -EPERM without CAP_PERFMON (or kernel.perf_event_paranoid < 1), and -EPERM also
 * when the ring does not fit into RLIMIT_MEMLOCK and kernel.perf_event_mlock_kb; -EINVAL for
 * ring_bytes; -ENODEV when no CPU of the set is online; other -errno. */
int sideband_new(const struct sideband_options *o, struct sideband **ret_sideband);
void sideband_free(struct sideband *sb);
DEFINE_CLEANUP(struct sideband *, sideband_free);

/* Opens larger rings where they ran full. Opens CPUs that came, reads and closes those that went, also those that came back before anybody
 * noticed (told within two calls): an event does not come back with its CPU. What was missed
 * meanwhile is reported as lost. Call it about once a second. 0, or the -errno of the first CPU
 * that could not be opened (the others are in use). */
int sideband_sync_cpus(struct sideband *sb, const struct cpus *online);

/* One descriptor for all CPUs: readable when a ring is half full. Borrowed, constant; re-armed by
 * sideband_collect(). */
int sideband_fd(const struct sideband *sb);

/* Gathers what the rings hold and returns the CLOCK_MONOTONIC time up to which nothing is missing.
 */
uint64_t sideband_collect(struct sideband *sb);

/* Hands out gathered events with time ≤ time_ns, in order. `fn` must not call into `sb`. */
typedef void (*sideband_fn)(const struct process_event *ev, void *data);
void sideband_deliver_until(struct sideband *sb, uint64_t time_ns, sideband_fn fn, void *data);

/* Moves what code has come and gone in the kernel, up to the last collection and since the last call, to *ret_text: other functions may be at
 * its addresses now. Incomplete where records were lost. The kernel does not tell of modules. */
void sideband_take_kernel_text(struct sideband *sb, struct kernel_text *ret_text);

/* Both at once: everything up to now. */
void sideband_read(struct sideband *sb, sideband_fn fn, void *data);

#endif
