/* SPDX-License-Identifier: Apache-2.0 */
/* The names of TLS versions in arguments. */
#include "agent/component/http/tls_version.h"

#include <string.h>

#include "agent/util/macro.h"

static const char *const names[] = {
	[HTTP_TLS_DEFAULT] = "", [HTTP_TLS10] = "TLS10", [HTTP_TLS11] = "TLS11",
	[HTTP_TLS12] = "TLS12",	 [HTTP_TLS13] = "TLS13",
};

/* The collector's. */
static const char *const numbers[] = {
	[HTTP_TLS_DEFAULT] = "", [HTTP_TLS10] = "1.0", [HTTP_TLS11] = "1.1",
	[HTTP_TLS12] = "1.2",	 [HTTP_TLS13] = "1.3",
};

/* -1: none of them. */
static int find(const char *const *of, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(of[i], name) == 0)
			return (int)i;
	return -1;
}

enum http_tls_version tls_version_of(const char *name)
{
	int i = find(names, name);

	if (i < 0)
		i = find(numbers, name);
	return i < 0 ? HTTP_TLS_DEFAULT : (enum http_tls_version)i;
}

static bool is_version(const void *field)
{
	return find(names, *(const char *const *)field) >= 0;
}

static bool is_number(const void *field)
{
	return find(numbers, *(const char *const *)field) >= 0;
}

const char *tls_version_validate_min(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_version(field) ? NULL : "min_version must be one of TLS10, TLS11, TLS12, TLS13";
}

const char *tls_version_validate_max(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_version(field) ? NULL : "max_version must be one of TLS10, TLS11, TLS12, TLS13";
}

#define NUMBERS "TLS versions are 1.0, 1.1, 1.2 and 1.3"

const char *tls_version_validate_number(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_number(field) ? NULL : NUMBERS;
}

const char *tls_version_validate_any(const void *field, struct river_arena *arena)
{
	(void)arena;
	return is_number(field) || is_version(field) ? NULL : NUMBERS;
}
