/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types of profiles. */
#include "agent/receive/profile_type.h"

#include <string.h>

#include "agent/util/macro.h"

#define CPU                                              \
	{                                                \
		"process_cpu", "samples", "count", "cpu" \
	}
#define WALL                                       \
	{                                          \
		"wall", "samples", "count", "wall" \
	}
#define MEMORY(type, unit)                 \
	{                                  \
		"memory", type, unit, NULL \
	}

static const struct {
	const char *suffix;
	struct profile_type type;
} types[] = {
	{ "cpu", CPU },
	{ "itimer", CPU },
	{ "wall", WALL },
	{ "seconds", WALL },
	{ "milliseconds", WALL },
	{ "microseconds", WALL },
	{ "nanoseconds", WALL },
	{ "inuse_objects", MEMORY("inuse_objects", "count") },
	{ "inuse_space", MEMORY("inuse_space", "bytes") },
	{ "alloc_objects", MEMORY("alloc_objects", "count") },
	{ "alloc_space", MEMORY("alloc_space", "bytes") },
	{ "alloc_in_new_tlab_objects", MEMORY("alloc_in_new_tlab_objects", "count") },
	{ "alloc_in_new_tlab_bytes", MEMORY("alloc_in_new_tlab_bytes", "bytes") },
	{ "alloc_outside_tlab_objects", MEMORY("alloc_outside_tlab_objects", "count") },
	{ "alloc_outside_tlab_bytes", MEMORY("alloc_outside_tlab_bytes", "bytes") },
	{ "live", MEMORY("live", "count") },
	{ "bytes", MEMORY("samples", "bytes") },
	{ "goroutines", { "goroutine", "goroutines", "count", NULL } },
	{ "mutex_count", { "mutex", "contentions", "count", NULL } },
	{ "mutex_duration", { "mutex", "delay", "nanoseconds", NULL } },
	{ "block_count", { "block", "contentions", "count", NULL } },
	{ "block_duration", { "block", "delay", "nanoseconds", NULL } },
	{ "lock_count", { "block", "contentions", "count", NULL } },
	{ "lock_duration", { "block", "delay", "nanoseconds", NULL } },
	{ "exceptions", { "exceptions", "samples", "count", NULL } },
};

bool profile_type_find(const char *suffix, struct profile_type *ret_type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].suffix, suffix) != 0)
			continue;
		*ret_type = types[i].type;
		return true;
	}
	return false;
}

bool profile_type_of_app(const char *app, struct profile_type *ret_type, size_t *ret_n)
{
	const char *dot = strrchr(app, '.');

	*ret_n = strlen(app);
	if (!profile_type_find(dot ? dot + 1 : "cpu", ret_type))
		return false;
	if (dot)
		*ret_n = (size_t)(dot - app);
	return true;
}
