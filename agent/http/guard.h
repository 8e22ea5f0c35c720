/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests a web page may have caused, and what is refused to it; for the server. Pure.
 *
 * A page in a browser beside the agent can send requests to it. Where they come from, the browser says in headers that no page can
 * change: Host, Origin, Referer, Sec-Fetch-* (Fetch Metadata, https://www.w3.org/TR/fetch-metadata/). Browsers send Sec-Fetch-*
 * to https and to this host only, so Origin and Referer are looked at where it is missing, as Go's net/http.CrossOriginProtection
 * does. Programs that are no browsers send none of them, and are not meant.
 *
 * Host: a page whose name's address was changed to ours (DNS rebinding) is the same site for the browser; only the name in Host
 * tells. Ours are addresses, "localhost" and the listed names; the port does not matter, it may be forwarded. Where a
 * password is wanted the browser has none for that name, so any is taken.
 * Changes: only from our own page, or no page at all; a GET that changes something never from a browser, which sends it for an image.
 * Reads: not for another site's page, but for the page itself when a link leads to it.
 */
#ifndef XAGENT_AGENT_HTTP_GUARD_H
#define XAGENT_AGENT_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/http/server.h"
#include "agent/util/str.h"

#define GUARD_MAX_NAMES 64
/* RFC 1035 §2.3.4 */
#define GUARD_MAX_NAME_BYTES 253

struct guard_name {
	char *text;  /* owned, without a dot at its end */
	bool is_ours; /* listed for this agent: a page of that name is our own, on whatever port */
};

struct guard {
	struct guard_name names[GUARD_MAX_NAMES];
	size_t n_names;
};

enum guard_verdict {
	GUARD_PASSES,
	GUARD_FOREIGN_HOST,
	GUARD_OTHER_SITE, /* that site's page has caused it */
	GUARD_BROWSER,	  /* a browser sent what is for scripts */
};

/* Headers are NULL where there is none. */
struct guard_request {
	enum http_effect effect;
	bool is_get; /* or HEAD */
	bool any_host;
	const char *host, *origin, *referer;
	const char *site, *mode, *dest; /* Sec-Fetch-… */
};

/* Letters, digits, '-', '_' and '.'. */
bool guard_is_name(struct str name);
/* 0; -EINVAL: not a name; -ENOBUFS; -ENOMEM. Twice is once. */
int guard_add_name(struct guard *g, struct str name, bool is_ours);
void guard_fini(struct guard *g);

enum guard_verdict guard_judge(const struct guard *g, const struct guard_request *r);

#endif
