/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes as people type them. */
#include "agent/util/size.h"

#include <errno.h>
#include <stddef.h>
#include <strings.h>

#include "agent/util/macro.h"

static const struct size_unit {
	const char *name;
	uint64_t bytes;
} units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1ULL << 10 },
	{ "KiB", 1ULL << 10 },
	{ "KB", 1000 },
	{ "M", 1ULL << 20 },
	{ "MiB", 1ULL << 20 },
	{ "MB", 1000000 },
	{ "G", 1ULL << 30 },
	{ "GiB", 1ULL << 30 },
	{ "GB", 1000000000 },
};

static const struct size_unit *unit_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_from(units[i].name).n == name.n &&
		    strncasecmp(units[i].name, name.p, name.n) == 0)
			return &units[i];
	return NULL;
}

int size_parse(struct str text, uint64_t *ret_bytes)
{
	struct str rest = str_trim(text);
	uint64_t number;

	if (str_scan_u64(&rest, 10, INT64_MAX, &number) < 0)
		return -EINVAL;
	const struct size_unit *unit = unit_find(str_trim(rest));
	if (!unit)
		return -EINVAL;
	if (number > INT64_MAX / unit->bytes)
		return -ERANGE;
	*ret_bytes = number * unit->bytes;
	return 0;
}
