/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of profiles, put together as Go's net/url does it. Pure. Inside of agent/scrape. */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPE_URL_H
#define XAGENT_AGENT_SCRAPE_SCRAPE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/buf.h"

/* Appends both, one below the other: "/a/b". Empty parts and dots are resolved, what may not stand in a path is escaped. */
void scrape_url_path(struct buf *out, const char *prefix, const char *path);

struct scrape_url_pair {
	const char *key, *value;
	size_t order; /* of pairs with equal keys */
};

/* Sorts them, and appends "?k=v&…" where there are any. */
void scrape_url_query(struct buf *out, struct scrape_url_pair *pairs, size_t n);

/* Whether host:port is without its port, so that one of the scheme is to follow. */
bool scrape_url_wants_port(const char *address);

#endif
