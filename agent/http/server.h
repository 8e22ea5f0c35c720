/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server of the agent: libmicrohttpd driven by our loop, a table of routes.
 *
 * Loop thread only; handlers run to completion and answer at once. HEAD is answered wherever GET
 * is.
 */
#ifndef XAGENT_AGENT_HTTP_SERVER_H
#define XAGENT_AGENT_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/loop.h"

#define HTTP_SERVER_MAX_ROUTES 256
#define HTTP_SERVER_MAX_ERROR_BYTES 512
/* A scrape of 10,000 series is about 2 MB. */
#define HTTP_SERVER_MAX_ANSWER_BYTES (64 << 20)

struct http_server_options {
	const char *listen; /* "127.0.0.1:12345", "[::1]:0", ":12345" (every address),
			       "localhost:12345"; port 0: any */
	unsigned int max_connections;
	size_t max_header_bytes; /* request line and headers, for each connection */
	size_t max_body_bytes;
	unsigned int idle_timeout_s;
};

#define HTTP_SERVER_OPTIONS_INIT                                     \
	((struct http_server_options){ .listen = "127.0.0.1:12345",  \
				       .max_connections = 64,        \
				       .max_header_bytes = 32 << 10, \
				       .max_body_bytes = 4 << 20,    \
				       .idle_timeout_s = 30 })

/* A request, borrowed for the time of the handler. */
struct http_call;
const char *http_call_method(const struct http_call *call); /* GET also for a HEAD */
const char *http_call_path(const struct http_call *call);   /* decoded, without the query */
const char *http_call_query(const struct http_call *call,
			    const char *name); /* decoded; NULL when absent */
const char *http_call_header(const struct http_call *call, const char *name); /* NULL when absent */
const void *http_call_body(const struct http_call *call, size_t *ret_n);

/* Begins as 200, "text/plain; charset=utf-8" and an empty body. content_type and the header values
 * need to live until the handler returns. A body that failed to grow becomes a 500. */
struct http_answer {
	unsigned int status;
	const char *content_type;
	const char *retry_after; /* NULL: none */
	const char *location;	 /* NULL: none */
	struct buf body;
};

typedef void (*http_handler_fn)(const struct http_call *call, struct http_answer *answer,
				void *data);

struct http_route {
	const char *method; /* upper case */
	const char *path;   /* begins with '/' */
	bool prefix; /* also everything below; the longest match wins, an exact route before a
			prefix */
	http_handler_fn fn;
	void *data;
};

enum http_listen_outcome { HTTP_LISTENING, HTTP_LISTEN_REFUSED };

struct http_server;

/*
 * HTTP_LISTENING; HTTP_LISTEN_REFUSED (address not understood, in use, not permitted) with a
 * sentence in `error`, which has HTTP_SERVER_MAX_ERROR_BYTES bytes; or -errno.
 */
int http_server_new(struct loop *loop, const struct http_server_options *options,
		    struct http_server **ret_server, char *error);
/* Closes every connection. Not from within a handler. NULL-safe. */
void http_server_free(struct http_server *server);
DEFINE_CLEANUP(struct http_server *, http_server_free);

/* Strings are copied. 0, -EEXIST (same method, path and kind), -ENOBUFS, -ENOMEM. */
int http_server_add_route(struct http_server *server, const struct http_route *route);
void http_server_remove_route(struct http_server *server, const char *method, const char *path,
			      bool prefix);

/* The port that was really bound. */
uint16_t http_server_port(const struct http_server *server);

#endif
