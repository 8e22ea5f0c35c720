/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from a debuginfod server: GET <url>/buildid/<id>/debuginfo.
 *
 * One thread of its own fetches one file at a time, so that nobody waits for a network: asking again later is the protocol. What
 * came is kept in a directory, in the layout that debuginfod's own client uses. What no server has, or what was not an ELF file with
 * that build id, is not asked for again for a while.
 *
 * The protocol is this one request, and libcurl is linked anyway: libdebuginfod would bring its environment variables, its own cache
 * rules and no ceiling of sizes, for nothing.
 */
#ifndef XAGENT_AGENT_SYMBOL_DEBUGINFOD_H
#define XAGENT_AGENT_SYMBOL_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/clock.h"

enum debuginfod_outcome {
	DEBUGINFOD_PENDING = 1, /* being fetched, or not yet begun: ask again */
	DEBUGINFOD_NONE,	/* no server has it, or it is no build id */
	DEBUGINFOD_OUTCOME_MAX
};

/* Like the list of most distributions' profiles with some to spare. */
#define DEBUGINFOD_MAX_URLS 8

struct debuginfod_options {
	const char *const *
		urls; /* "https://debuginfod.debian.net", asked in this order; copied, as is cache_dir */
	size_t n_urls;
	const char *cache_dir;	     /* made when missing, with those above it */
	uint64_t timeout_ns;	     /* of one request */
	uint64_t negative_ns;	     /* how long "none" holds */
	uint64_t share_ns;	     /* time spent fetching … */
	uint64_t share_every_ns;     /* … in so much time */
	uint64_t max_file_bytes;     /* larger files are not fetched */
	uint64_t max_cache_bytes;    /* of the directory; the oldest go first */
	struct telemetry *telemetry; /* borrowed; NULL: nothing is counted */
};

/* A vmlinux with debug information is 800 MiB, libLLVM's debug file 500; a slow server takes minutes for such. */
#define DEBUGINFOD_OPTIONS_INIT                                            \
	((struct debuginfod_options){ .timeout_ns = 90 * NS_PER_S,         \
				      .negative_ns = 3600 * NS_PER_S,      \
				      .share_ns = 120 * NS_PER_S,          \
				      .share_every_ns = 300 * NS_PER_S,    \
				      .max_file_bytes = (uint64_t)1 << 30, \
				      .max_cache_bytes = (uint64_t)4 << 30 })

struct debuginfod;

/* What can be asked: http:// or https:// and a host, without white space. */
bool debuginfod_url_is_valid(const char *url);
/* The user's cache directory, by XDG_CACHE_HOME or HOME, else the system's, and xagent/debuginfod below it. 0 or -errno. */
int debuginfod_default_dir(struct buf *ret_dir);

/* -EINVAL: no url, too many, or no directory. The thread starts here. */
int debuginfod_new(const struct debuginfod_options *o, struct debuginfod **ret_debuginfod);
/* Breaks off what is being fetched. NULL-safe. */
void debuginfod_free(struct debuginfod *d);
DEFINE_CLEANUP(struct debuginfod *, debuginfod_free);

/* `build_id` is hex, as build_id_text() gives it. 0 (the descriptor is the caller's), DEBUGINFOD_PENDING, DEBUGINFOD_NONE. Any thread. */
int debuginfod_ask(struct debuginfod *d, const char *build_id, int *ret_fd);

#endif
