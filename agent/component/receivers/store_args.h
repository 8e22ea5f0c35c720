/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.store. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_STORE_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_STORE_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "river-config/river.h"

/* An interval of a large host, named, is a few MiB; the store itself goes no further than the second. */
#define STORE_ARGS_MIN_BYTES ((size_t)4 << 20)
#define STORE_ARGS_MAX_BYTES ((size_t)4 << 30)

struct store_args {
	const char *max_bytes; /* "64MiB" */
	int64_t max_age_ns;
	const char *path; /* directory of the files; "": memory alone */
};

extern const struct river_schema store_schema;

size_t store_args_max_bytes(const struct store_args *args);

/* Where the files are: `path`, below the agent's own directory unless it begins with '/'. "": nowhere. 0 or -errno. */
int store_args_path(const struct store_args *args, const char *storage_path, struct buf *out);

#endif
