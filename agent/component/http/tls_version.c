/* SPDX-License-Identifier: Apache-2.0 */
/* The names of TLS versions in arguments. */
#include "agent/component/http/tls_version.h"

#include <string.h>

#include "agent/util/macro.h"

static const char *const names[] = {
	[HTTP_TLS_DEFAULT] = "", [HTTP_TLS10] = "TLS10", [HTTP_TLS11] = "TLS11",
	[HTTP_TLS12] = "TLS12",	 [HTTP_TLS13] = "TLS13",
};

enum http_tls_version tls_version_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return (enum http_tls_version)i;
	return HTTP_TLS_DEFAULT;
}

static bool is_version(const void *field)
{
	const char *name = *(const char *const *)field;

	return !*name || tls_version_of(name) != HTTP_TLS_DEFAULT;
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
