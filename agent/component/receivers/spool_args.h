/* SPDX-License-Identifier: Apache-2.0 */
/* The block `spool` of whoever sends profiles: what waits on disk, and where. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_SPOOL_ARGS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_SPOOL_ARGS_H

#include "agent/component/component.h"
#include "agent/push/options.h"
#include "river-config/river.h"

struct spool_args {
	bool enabled;
	const char *max_bytes;
	int64_t max_age_ns;
};

extern const struct river_schema spool_schema;

/* Bounds; not yet a place. */
void spool_args_take(const struct spool_args *args, struct push_endpoint_options *o);

/* Where the profiles of this endpoint wait: the same in each run, another one for another server or tenant, or for bytes of another form (NULL:
 * there is one alone). Appended: 0 or -ENOMEM. */
int spool_args_path(const struct push_endpoint_options *o, const char *component_id,
		    const char *form, const char *storage_path, struct buf *out);

/* The endpoint gets its place, in `arena`, unless there is to be none. 0 or -ENOMEM. */
int spool_args_place(const struct spool_args *args, const struct component *c, const char *form,
		     struct river_arena *arena, struct push_endpoint_options *o);

#endif
