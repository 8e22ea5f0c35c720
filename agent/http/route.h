/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes; for the server. */
#ifndef XAGENT_AGENT_HTTP_ROUTE_H
#define XAGENT_AGENT_HTTP_ROUTE_H

#include "agent/http/server.h"

struct route_table {
	struct http_route *routes; /* strings owned */
	size_t n;
};

void route_table_fini(struct route_table *table);
int route_table_add(struct route_table *table, const struct http_route *route);
void route_table_remove(struct route_table *table, const char *method, const char *path,
			bool prefix);

/* NULL: nothing fits. */
const struct http_route *route_table_find(const struct route_table *table, const char *method,
					  const char *path);

/* The methods of the path for an Allow header ("GET, HEAD, POST"); empty: no such path. */
int route_table_allow(const struct route_table *table, const char *path, struct buf *out);

#endif
