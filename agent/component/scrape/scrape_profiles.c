/* SPDX-License-Identifier: Apache-2.0 */
/* profiling_config: which profiles are fetched of each target, and where they are. */
#include "agent/component/scrape/scrape_profiles.h"

#include <string.h>

#define P struct scrape_profile_args
static const struct river_field memory_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/allocs"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema memory_schema = RIVER_SCHEMA(P, "profile.memory", memory_fields);

static const struct river_field block_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/block"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema block_schema = RIVER_SCHEMA(P, "profile.block", block_fields);

static const struct river_field goroutine_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/goroutine"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema goroutine_schema =
	RIVER_SCHEMA(P, "profile.goroutine", goroutine_fields);

static const struct river_field mutex_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/mutex"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema mutex_schema = RIVER_SCHEMA(P, "profile.mutex", mutex_fields);

static const struct river_field process_cpu_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/profile"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "true"),
};
static const struct river_schema process_cpu_schema =
	RIVER_SCHEMA(P, "profile.process_cpu", process_cpu_fields);

static const struct river_field fgprof_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "false"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/fgprof"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "true"),
};
static const struct river_schema fgprof_schema = RIVER_SCHEMA(P, "profile.fgprof", fgprof_fields);

static const struct river_field godeltaprof_memory_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "false"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/delta_heap"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema godeltaprof_memory_schema =
	RIVER_SCHEMA(P, "profile.godeltaprof_memory", godeltaprof_memory_fields);

static const struct river_field godeltaprof_mutex_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "false"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/delta_mutex"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema godeltaprof_mutex_schema =
	RIVER_SCHEMA(P, "profile.godeltaprof_mutex", godeltaprof_mutex_fields);

static const struct river_field godeltaprof_block_fields[] = {
	RIVER_FIELD_BOOL(P, enabled, "enabled", .def = "false"),
	RIVER_FIELD_STRING(P, path, "path", .def = "/debug/pprof/delta_block"),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};
static const struct river_schema godeltaprof_block_schema =
	RIVER_SCHEMA(P, "profile.godeltaprof_block", godeltaprof_block_fields);

static const struct river_field custom_fields[] = {
	RIVER_FIELD_LABEL(P, name),
	RIVER_FIELD_BOOL(P, enabled, "enabled", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(P, path, "path", .flags = RIVER_REQUIRED),
	RIVER_FIELD_BOOL(P, delta, "delta", .def = "false"),
};

static const char *name_of(const P *a)
{
	return a->name ? a->name : "";
}

static const char *validate_custom(const void *self, struct river_arena *arena)
{
	(void)arena;
	return *name_of(self) ? NULL
			      : "a label is needed, what the profile is called: profile.custom "
				"\"wall\" { … }";
}

static const struct river_schema custom_schema =
	RIVER_SCHEMA(P, "profile.custom", custom_fields, .validate = validate_custom);

static const char *validate_customs(const void *field, struct river_arena *arena)
{
	const struct river_blocks *blocks = field;
	const P *items = blocks->items;

	(void)arena;
	for (size_t i = 0; i < blocks->n_items; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(name_of(&items[i]), name_of(&items[j])) == 0)
				return "two blocks profile.custom have the same label";
	return NULL;
}
#undef P

#define C struct scrape_profiling_args
static const struct river_field profiling_fields[] = {
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_MEMORY], "profile.memory", &memory_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_BLOCK], "profile.block", &block_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_GOROUTINE], "profile.goroutine", &goroutine_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_MUTEX], "profile.mutex", &mutex_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_PROCESS_CPU], "profile.process_cpu", &process_cpu_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_FGPROF], "profile.fgprof", &fgprof_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_GODELTAPROF_MEMORY], "profile.godeltaprof_memory",
			  &godeltaprof_memory_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_GODELTAPROF_MUTEX], "profile.godeltaprof_mutex",
			  &godeltaprof_mutex_schema),
	RIVER_FIELD_BLOCK(C, of[SCRAPE_OF_GODELTAPROF_BLOCK], "profile.godeltaprof_block",
			  &godeltaprof_block_schema),
	RIVER_FIELD_BLOCKS(C, custom, "profile.custom", &custom_schema,
			   .validate = validate_customs),
	RIVER_FIELD_STRING(C, path_prefix, "path_prefix"),
};
const struct river_schema scrape_profiling_schema =
	RIVER_SCHEMA(C, "profiling_config", profiling_fields);
#undef C

static const char *const names[] = {
	[SCRAPE_OF_MEMORY] = "memory",
	[SCRAPE_OF_BLOCK] = "block",
	[SCRAPE_OF_GOROUTINE] = "goroutine",
	[SCRAPE_OF_MUTEX] = "mutex",
	[SCRAPE_OF_PROCESS_CPU] = "process_cpu",
	[SCRAPE_OF_FGPROF] = "fgprof",
	[SCRAPE_OF_GODELTAPROF_MEMORY] = "godeltaprof_memory",
	[SCRAPE_OF_GODELTAPROF_MUTEX] = "godeltaprof_mutex",
	[SCRAPE_OF_GODELTAPROF_BLOCK] = "godeltaprof_block",
};

static bool is_custom(const struct scrape_profiling_args *a, const char *name)
{
	const struct scrape_profile_args *items = a->custom.items;

	for (size_t i = 0; i < a->custom.n_items; i++)
		if (strcmp(name_of(&items[i]), name) == 0)
			return true;
	return false;
}

static struct scrape_profile profile_of(const struct scrape_profile_args *a, const char *name)
{
	return (struct scrape_profile){ name, a->path, a->enabled, a->delta };
}

size_t scrape_profiles_list(const struct scrape_profiling_args *a, struct scrape_profile *out)
{
	const struct scrape_profile_args *custom = a->custom.items;
	size_t n = 0;

	for (size_t i = 0; i < SCRAPE_PROFILES; i++)
		if (!is_custom(a, names[i]))
			out[n++] = profile_of(&a->of[i], names[i]);
	for (size_t i = 0; i < a->custom.n_items; i++)
		out[n++] = profile_of(&custom[i], name_of(&custom[i]));
	return n;
}

bool scrape_profiles_over_time(const struct scrape_profiling_args *a)
{
	const struct scrape_profile_args *custom = a->custom.items;

	for (size_t i = 0; i < SCRAPE_PROFILES; i++)
		if (a->of[i].enabled && a->of[i].delta && !is_custom(a, names[i]))
			return true;
	for (size_t i = 0; i < a->custom.n_items; i++)
		if (custom[i].enabled && custom[i].delta)
			return true;
	return false;
}
