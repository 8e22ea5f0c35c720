/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.store. */
#include "agent/component/receivers/store_args.h"

#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/size.h"

/* Less than a few intervals is nothing to look at; the store itself goes no further than the second. */
#define MIN_AGE_NS ((int64_t)(60 * NS_PER_S))
#define MAX_AGE_NS ((int64_t)(720ULL * 3600 * NS_PER_S))

static bool bytes_of(const char *text, uint64_t *ret_bytes)
{
	return size_parse(str_from(text), ret_bytes) == 0 && *ret_bytes >= STORE_ARGS_MIN_BYTES &&
	       *ret_bytes <= STORE_ARGS_MAX_BYTES;
}

static const char *validate_max_bytes(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_bytes must be between 4MiB and 4GiB, for example \"64MiB\"";
}

static const char *validate_max_age(const void *field, struct river_arena *arena)
{
	int64_t ns = *(const int64_t *)field;

	(void)arena;
	return ns >= MIN_AGE_NS && ns <= MAX_AGE_NS ? NULL : "max_age must be between 1m and 720h";
}

#define ARGS struct store_args
static const struct river_field store_fields[] = {
	RIVER_FIELD_STRING(ARGS, max_bytes, "max_bytes", .def = "64MiB",
			   .validate = validate_max_bytes),
	RIVER_FIELD_DURATION(ARGS, max_age_ns, "max_age", .def = "6h",
			     .validate = validate_max_age),
	RIVER_FIELD_STRING(ARGS, path, "path", .def = ""),
};

const struct river_schema store_schema = RIVER_SCHEMA(ARGS, "pyroscope.store", store_fields);

size_t store_args_max_bytes(const struct store_args *args)
{
	uint64_t bytes = 0;

	(void)bytes_of(args->max_bytes, &bytes);
	return bytes;
}

int store_args_path(const struct store_args *args, const char *storage_path, struct buf *out)
{
	bool below = args->path[0] != '/' && storage_path && storage_path[0];
	bool divided = below && storage_path[strlen(storage_path) - 1] == '/';

	if (!args->path[0])
		return 0;
	return buf_printf(out, "%s%s%s", below ? storage_path : "", below && !divided ? "/" : "",
			  args->path);
}
