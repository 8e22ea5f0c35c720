/* SPDX-License-Identifier: Apache-2.0 */
/* The names of TLS versions in arguments. */
#ifndef XAGENT_AGENT_COMPONENT_HTTP_TLS_VERSION_H
#define XAGENT_AGENT_COMPONENT_HTTP_TLS_VERSION_H

#include "agent/http/client.h"
#include "river-config/river.h"

/* For the rows of arguments: "" or "TLS10" to "TLS13". */
const char *tls_version_validate_min(const void *field, struct river_arena *arena);
const char *tls_version_validate_max(const void *field, struct river_arena *arena);
/* As the collector has them: "" or "1.0" to "1.3"; or either. */
const char *tls_version_validate_number(const void *field, struct river_arena *arena);
const char *tls_version_validate_any(const void *field, struct river_arena *arena);
/* Of either. HTTP_TLS_DEFAULT for every other text. */
enum http_tls_version tls_version_of(const char *name);

#endif
