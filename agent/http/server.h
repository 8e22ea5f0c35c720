/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server of the agent: libmicrohttpd driven by our loop, a table of routes.
 *
 * Loop thread only; handlers run to completion and answer at once, or later (answer_queue.h: what costs more than a turn of the loop may). HEAD is answered
 * wherever GET is. Passwords and TLS come and go while it runs; the address stays. Texts and JSON go
 * out compressed to who takes gzip.
 */
#ifndef XAGENT_AGENT_HTTP_SERVER_H
#define XAGENT_AGENT_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/loop.h"

#define HTTP_SERVER_MAX_ROUTES 256
#define HTTP_SERVER_MAX_ERROR_BYTES 512
/* A scrape of 10,000 series is about 2 MB. */
#define HTTP_SERVER_MAX_ANSWER_BYTES (32 << 20)

struct http_server_options {
	const char *listen; /* "127.0.0.1:12345", "[::1]:0", ":12345" (every address),
			       "localhost:12345"; port 0: any */
	/* One more ends another one, see connections.h; but none that waits for a later answer. */
	unsigned int max_connections;
	size_t max_header_bytes; /* request line and headers, for each connection */
	/* Of all requests together: bodies that are received or worked on, answers that are on their
	 * way. What does not fit is answered 503. */
	size_t max_bodies_bytes, max_answers_bytes;
	/* At most: from the connection to the end of the first headers; from one answer to the end of the next
	 * headers; from the headers to the end of the body. */
	unsigned int request_timeout_s, idle_timeout_s, body_timeout_s;
	struct telemetry *telemetry; /* borrowed; NULL: nothing is counted */
	/* "/prefix": what is asked below it is answered as without it; paths of handlers, routes and
	 * http_access never have it. NULL or "": none. Copied. */
	const char *prefix;
	/* Names in Host besides addresses and "localhost", see guard.h; all NULL: none. */
	const char *hostname;	   /* this host's */
	const char *hosts_path;	   /* hosts(5), for what else it is called */
	const char *allowed_hosts; /* "name,name": what http_hosts_problem() has nothing against */
	/* Whatever Host says: for what is only sent to, by programs that know it by any name. Pages of other sites are refused all the same. */
	bool any_host;
};

#define HTTP_SERVER_OPTIONS_INIT                                                          \
	((struct http_server_options){ .listen = "127.0.0.1:12345",                       \
				       .max_connections = 64,                             \
				       .max_header_bytes = 32 << 10,                      \
				       .max_bodies_bytes = 16 << 20,                      \
				       .max_answers_bytes = HTTP_SERVER_MAX_ANSWER_BYTES, \
				       .request_timeout_s = 10,                           \
				       .idle_timeout_s = 30,                              \
				       .body_timeout_s = 30 })

/* A request, borrowed for the time of the handler. */
struct http_call;
const char *http_call_method(const struct http_call *call); /* GET also for a HEAD */
const char *http_call_path(const struct http_call *call);   /* decoded, without the query */
const char *http_call_query(const struct http_call *call,
			    const char *name); /* decoded; NULL when absent */
const char *http_call_header(const struct http_call *call, const char *name); /* NULL when absent */
const void *http_call_body(const struct http_call *call, size_t *ret_n);
/* Moves it to the caller, who frees it; the call has none afterwards. It stays in the account of bodies until the answer is sent. */
void http_call_take_body(const struct http_call *call, struct buf *ret_body);
/* Whether the client takes gzip. */
bool http_call_takes_gzip(const struct http_call *call);
/* A number for who asks: the same for one IPv4 address, also in IPv6 form, and for one IPv6 network of 64 bits, of which a host has every
 * address; ports do not count. 0: not known. */
uint64_t http_call_peer(const struct http_call *call);
/* Whether the client has shown a password, or a certificate without which nobody gets in. */
bool http_call_is_authenticated(const struct http_call *call);

/* ETag, Cache-Control, Content-Security-Policy and the like; more would be a mistake. */
#define HTTP_ANSWER_MAX_HEADERS 8

/* Begins as 200, "text/plain; charset=utf-8" and an empty body. content_type and the header values
 * need to live until the handler returns, of a later answer until it is sent. A body that failed to
 * grow becomes a 500. */
struct http_answer {
	unsigned int status;
	const char *content_type;
	const char *retry_after; /* NULL: none */
	const char *location;	 /* NULL: none */
	struct http_header headers[HTTP_ANSWER_MAX_HEADERS];
	size_t n_headers;
	struct buf body;
	bool is_gzip; /* the body is compressed already: see http_answer_gzip() */
};

/* Both texts as those of the answer. One too many makes the answer a 500. An ETag of what may be
 * compressed should be a weak one (W/"…"). */
void http_answer_add_header(struct http_answer *answer, const char *name, const char *value);

/* Compresses the body where that is worth it. For whoever makes a large answer on a thread of its own, for a client that takes gzip: the
 * loop compresses small ones alone. Any thread that has the answer. */
void http_answer_gzip(struct http_answer *answer);

typedef void (*http_handler_fn)(const struct http_call *call, struct http_answer *answer,
				void *data);

/*
 * An answer that comes later. From within a handler: what it leaves in its own `answer` is not sent,
 * the client waits for http_later_send(), and its connection is not idle meanwhile. What the call
 * lends still ends with the handler. 0, -ENOMEM, -EALREADY (this call was taken already).
 */
struct http_later;
int http_call_later(const struct http_call *call, struct http_later **ret_later);
/* Begins as any answer; to be filled, the body perhaps from another thread's. */
struct http_answer *http_later_answer(struct http_later *later);
/* False once nobody can get it any more: the server is gone, or the daemon with the old TLS. A client
 * that went away by itself is not noticed before. */
bool http_later_is_awaited(const struct http_later *later);
/* Sends it and frees it: once for each http_later, whatever became of client and server; the holder
 * may do so after http_server_free(). Also from within the handler. NULL-safe. */
void http_later_send(struct http_later *later);

/* What a route does, for a browser (guard.h). What is not asked by GET changes something in any case. */
enum http_effect {
	HTTP_READS,
	HTTP_CHANGES, /* a GET of it is for scripts only */
	HTTP_IS_PAGE, /* a link from another site may lead to it */
};

struct http_route {
	const char *method; /* upper case */
	const char *path;   /* begins with '/' */
	bool prefix; /* also everything below; the longest match wins, an exact route before a
			prefix */
	http_handler_fn fn;
	void *data;
	/* Of a request that it takes; 0: none. A longer one is answered 413, without having been
	 * received where its length is announced; else its connection is closed. */
	size_t max_body_bytes;
	enum http_effect effect;
};

enum http_listen_outcome { HTTP_LISTENING, HTTP_LISTEN_REFUSED };

struct http_server;

/*
 * HTTP_LISTENING; HTTP_LISTEN_REFUSED (address not understood, in use, not permitted) with a
 * sentence in `error`, which has HTTP_SERVER_MAX_ERROR_BYTES bytes; or -errno.
 */
int http_server_new(struct loop *loop, const struct http_server_options *options,
		    struct http_server **ret_server, char *error);
/* Closes every connection; answers that come later than this reach nobody. Not from within a handler.
 * NULL-safe. */
void http_server_free(struct http_server *server);
DEFINE_CLEANUP(struct http_server *, http_server_free);

/* Strings are copied. 0, -EEXIST (same method, path and kind), -ENOBUFS, -ENOMEM. */
int http_server_add_route(struct http_server *server, const struct http_route *route);
/* In their order, up to the first that cannot be added. */
int http_server_add_routes(struct http_server *server, const struct http_route *routes, size_t n);
void http_server_remove_route(struct http_server *server, const char *method, const char *path,
			      bool prefix);

/* What is wrong with the first of "name,name"; NULL: nothing. */
const char *http_hosts_problem(const char *allowed_hosts);

/* The port that was really bound. */
uint16_t http_server_port(const struct http_server *server);

/* Who may ask what. */
struct http_access {
	const char *username; /* NULL: nobody is asked for a password */
	const char *password;
	/* In place of both: the whole header Authorization, "Bearer TOKEN". NULL: none. */
	const char *authorization;
	const char *const *paths; /* beginnings of paths; none: every path */
	size_t n_paths;
	bool except_paths; /* they are the ones that need no password */
};

/* As Go's crypto/tls has them. */
enum http_client_auth {
	HTTP_CLIENT_AUTH_NONE,
	HTTP_CLIENT_AUTH_REQUEST,
	HTTP_CLIENT_AUTH_REQUIRE_ANY,
	HTTP_CLIENT_AUTH_VERIFY_IF_GIVEN,
	HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY,
};

struct http_server_tls {
	const char *cert_pem, *key_pem;
	const char *client_ca_pem; /* NULL: nobody's signature is trusted */
	enum http_client_auth client_auth;
	enum http_tls_version min_version, max_version; /* default: 1.2, the newest */
	const char *const
		*cipher_suites; /* none: the library's choice; unknown ones are left out */
	size_t n_cipher_suites;
	const char *const *curves;
	size_t n_curves;
};

/* Go's names: "TLS_AES_128_GCM_SHA256", "CurveP256". */
bool http_server_knows_suite(const char *name);
bool http_server_knows_curve(const char *name);

/*
 * From now on; everything is copied. Password and paths hold for the next request, TLS for the next
 * connection: those that are open end, with the answer they wait for if there is one. 0; -EINVAL, with a
 * sentence in `why`, or another -errno: then everything is as before. `tls` NULL: none. Also from
 * within a handler.
 */
int http_server_secure(struct http_server *server, const struct http_access *access,
		       const struct http_server_tls *tls, struct buf *why);

/* What http_server_secure() would say about them, nothing else. */
int http_server_check_tls(const struct http_server_tls *tls, struct buf *why);

/* Whether others than this host can reach it, and nobody is asked for a password or a certificate. */
bool http_server_is_open(const struct http_server *server);

#endif
