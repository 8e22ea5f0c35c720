/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that discovery has looked at, by pid and start: one pid may be that of several, of which all but the last have ended.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_FOUND_PROCESSES_H
#define XAGENT_AGENT_DISCOVERY_FOUND_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/target/label.h"

struct found {
	uint32_t pid;
	uint32_t exec_count; /* of the table that told of it */
	uint64_t start_ns;
	struct labels *labels; /* NULL: it is no target (a kernel thread) */
	struct labels *joined; /* NULL: to be made */
	const struct labels
		*container; /* what it was joined with, or NULL; borrowed from `joined` */
	bool sampled;	    /* the sampler told of it: more than a scan sees */
	bool listed;	    /* by /proc, in the scan that is under way */
	bool told;	    /* as it is here, to those who use the targets */
	bool gone;	    /* stays until it was told */
};

struct found_processes {
	struct found *items; /* ascending by pid and start */
	size_t n;
	size_t n_room;
	size_t max;
	size_t n_skipped; /* for which there was no place */
};

void found_processes_fini(struct found_processes *p);

/* The first of this pid, from which on found_is_of() tells where they end. */
size_t found_first(const struct found_processes *p, uint32_t pid);
bool found_is_of(const struct found_processes *p, size_t at, uint32_t pid);
/* The process, or NULL; borrowed until the next change. Two tables may have its start a little apart (SELECTOR_START_SLACK_NS). */
struct found *found_find(const struct found_processes *p, uint32_t pid, uint64_t start_ns);

/* Both consume the labels of `f`, also when they fail. Whether the targets are others now, or -ENOMEM. */
int found_insert(struct found_processes *p, struct found *f);
int found_replace(struct found *old, struct found *f);
void found_remove(struct found_processes *p, size_t at);

/* Forgets all for which `keep` says no; it may change them. Whether the targets are others now. */
int found_keep(struct found_processes *p, bool (*keep)(struct found *f));

/* It is to be joined anew. */
void found_unjoin(struct found *f);

#endif
