/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of events, one for each line of bpf/events.h: attaches its program, counts what it has missed. The sampler calls the same functions of each and knows
 * nothing else of them; agent/sample/sources.c has the list.
 *
 *	new → (programs are loaded) → attach → set_rate, sync_cpus, n_missed → detach → free
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_SOURCE_H
#define XAGENT_AGENT_SAMPLE_SOURCE_H

#include "agent/sample/cpu_counters.h"
#include "agent/sample/sampler.h"

struct sample_bpf;

struct source {
	const struct source_ops *ops;
};

/* Members that a source has no use for are NULL. */
struct source_ops {
	enum event event;
	/*
	 * Before the programs are loaded: says which it needs, and sets its knobs. `bpf` is borrowed until free; `o` until attach has returned. 0; a *ret_source of NULL: it is
	 * not wanted. -EINVAL with one line in `why`: what is asked for cannot be.
	 */
	int (*new)(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		   struct source **ret_source);
	/* Events come from its return on. -errno, with a line in `why` where the source knows better than errno. Again after detach. */
	int (*attach)(struct source *s, struct buf *why);
	/* On failure the old rate stays. */
	int (*set_rate)(struct source *s, unsigned int hz);
	/* Samples a second and CPU at most, of that which has most. Always there. */
	unsigned int (*limit_hz)(const struct source *s);
	/* Follows CPUs that come and go. */
	int (*sync_cpus)(struct source *s);
	/* What is due up to now … */
	void (*look)(struct source *s);
	/* … and what of it came to no program, by counters that were looked at after it (NULL: they cannot be). Only grows. */
	uint64_t (*n_missed)(struct source *s, const struct cpu_counters *counters);
	/* Before an interval ends: of what is under way, what lies before now becomes events. They come meanwhile … */
	void (*begin_look)(struct source *s);
	/* … until it is done. */
	bool (*is_looking)(struct source *s);
	/* No more events. */
	void (*detach)(struct source *s);
	void (*free)(struct source *s);
};

/* In the order in which they are attached. Ends with NULL. */
extern const struct source_ops *const source_list[];

extern const struct source_ops source_cpu;
extern const struct source_ops source_tracepoint;
extern const struct source_ops source_off_cpu;
extern const struct source_ops source_locks;
extern const struct source_ops source_faults;
extern const struct source_ops source_run_queue;
extern const struct source_ops source_syscalls;
extern const struct source_ops source_tcp;
extern const struct source_ops source_block_io;
extern const struct source_ops source_rss;

#endif
