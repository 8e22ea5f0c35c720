/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks after spools that no endpoint has any more, for as long as the agent runs: a while after the start, when those that are configured
 * are open, and then each hour. It does not matter whether anything is configured that has a spool.
 *
 * Loop thread; the disk is touched by a thread that lives as long as a look.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_SWEEPER_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_SWEEPER_H

#include <stdint.h>

#include "agent/util/cleanup.h"
#include "agent/util/loop.h"

struct spool_sweeper;

struct spool_sweeper_options {
	const char *storage_path; /* of the agent: spools are below it; "": the present directory */
	uint64_t first_ns;	  /* from now to the first look */
	uint64_t then_ns;	  /* from the end of one to the next */
	uint64_t max_age_ns;	  /* since something was written last */
};

#define SPOOL_SWEEPER_OPTIONS_INIT                                                 \
	((struct spool_sweeper_options){                                           \
		.storage_path = "",                                                \
		.first_ns = 60 * UINT64_C(1000000000),                             \
		.then_ns = 3600 * UINT64_C(1000000000), /* The longest max_age. */ \
		.max_age_ns = 24 * 3600 * UINT64_C(1000000000),                    \
	})

/* 0 or -errno. */
int spool_sweeper_new(struct loop *loop, const struct spool_sweeper_options *options,
		      struct spool_sweeper **ret_sweeper);
/* Waits for a look that is under way. NULL-safe. */
void spool_sweeper_free(struct spool_sweeper *s);
DEFINE_CLEANUP(struct spool_sweeper *, spool_sweeper_free);

#endif
