/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of refused requests and ended connections, by reason; for this folder.
 *
 *	xagent_http_requests_refused_total{reason}	requests that were not answered as they asked
 *	xagent_http_connections_ended_total{reason}	connections that the server ended
 *
 * Loop thread.
 */
#ifndef XAGENT_AGENT_HTTP_REFUSAL_H
#define XAGENT_AGENT_HTTP_REFUSAL_H

#include "agent/telemetry/telemetry.h"

#define HTTP_REFUSALS(X)                                                     \
	X(foreign_host)	 /* Host is no name of ours: guard.h */              \
	X(other_site)	 /* another site's page has caused it */             \
	X(browser)	 /* a browser sent what is for scripts */            \
	X(password)	 /* a wrong one, or none */                          \
	X(body_too_long) /* for this route */                                \
	X(bodies_full)	 /* too much of others is being received already */  \
	X(answers_full)	 /* too much for others is on its way already */     \
	X(queue_full)	 /* too many wait already for answers that are made in turn */

#define HTTP_CONNECTION_ENDS(X)                                              \
	X(idle)		/* nothing more was asked */                          \
	X(gone)		/* the client had left */                             \
	X(late_request) /* nothing was asked, or the headers took too long */ \
	X(late_body)    /* the body took too long */                         \
	X(late_reader)  /* the answer was not taken in time */               \
	X(crowded)      /* another one needed its place */                   \
	X(flooding)     /* frames that bring nothing */

enum http_refusal {
#define HTTP_REFUSAL_ENUM(name) HTTP_REFUSED_##name,
	HTTP_REFUSALS(HTTP_REFUSAL_ENUM)
#undef HTTP_REFUSAL_ENUM
		HTTP_REFUSED_MAX
};

enum http_connection_end {
#define HTTP_CONNECTION_END_ENUM(name) HTTP_ENDED_##name,
	HTTP_CONNECTION_ENDS(HTTP_CONNECTION_END_ENUM)
#undef HTTP_CONNECTION_END_ENUM
		HTTP_ENDED_MAX
};

/* Servers of one telemetry share the counters. NULL: nothing is counted. */
struct http_counts {
	struct metric *refused[HTTP_REFUSED_MAX];
	struct metric *ended[HTTP_ENDED_MAX];
};

void http_counts_init(struct http_counts *c, struct telemetry *t);
void http_counts_refused(const struct http_counts *c, enum http_refusal why);
void http_counts_ended(const struct http_counts *c, enum http_connection_end why);

#endif
