/* SPDX-License-Identifier: Apache-2.0 */
/* What pyroscope.store tells about itself. Pure. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_STORE_REPORT_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_STORE_REPORT_H

#include <stdbool.h>

#include "agent/store/store.h"
#include "agent/util/buf.h"
#include "river-config/river.h"

struct store_report {
	struct store_stats stats;
	uint64_t max_age_ns;
	const char *path;	  /* "": memory alone */
	const char *last_refusal; /* "": none */
	bool open;		  /* to more than this host, and nobody is asked for a password */
};

/* "12 profiles of 2h5m0s in 1.2 of 64.0 MiB; 3 refused, the last: …". */
void store_report_health(const struct store_report *r, struct buf *out);

/*
 *	{ profiles, samples, series, segments, bytes, max_bytes, max_age, path, oldest, newest,
 *	  received_profiles, received_bytes, refused_profiles, evicted_profiles, last_refusal }
 *
 * Times in Unix milliseconds. NULL: no memory.
 */
const struct river_value *store_report_value(const struct store_report *r,
					     struct river_arena *arena);

#endif
