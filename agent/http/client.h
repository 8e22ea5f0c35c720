/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests of the agent: libcurl's multi interface driven by our loop. Nothing here blocks.
 *
 * Loop thread only. Names are resolved by libcurl's own short-lived threads, which share nothing
 * with us. Connections are kept alive between requests. Only http and https are ever spoken, also
 * after a redirect, and no redirect leads from https to http, or headers to another server
 * (redirect.h).
 */
#ifndef XAGENT_AGENT_HTTP_CLIENT_H
#define XAGENT_AGENT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/loop.h"

/* Idle connections kept; one for each endpoint and request in flight of a usual configuration. */
#define HTTP_MAX_IDLE_CONNECTIONS 16
/* As Go's client and most browsers do within a factor of two. */
#define HTTP_MAX_REDIRECTS 10
#define HTTP_MAX_HEADERS 100
#define HTTP_DEFAULT_MAX_RESPONSE_BYTES (4 << 20)
#define HTTP_MAX_ERROR_BYTES 1024

struct http_header {
	const char *name;
	const char *value;
};

/* A part of a body. */
struct http_piece {
	const void *data; /* may be NULL when n is 0 */
	size_t n;
};

enum http_tls_version { HTTP_TLS_DEFAULT, HTTP_TLS10, HTTP_TLS11, HTTP_TLS12, HTTP_TLS13 };

/* NULL: not set. A _pem (the text itself) goes before its _file. The default minimum is TLS 1.2. */
struct http_tls_options {
	const char *ca_pem, *ca_file;
	const char *cert_pem, *cert_file;
	const char *key_pem, *key_file;
	const char *server_name; /* for SNI and for the check of the certificate */
	bool insecure_skip_verify;
	enum http_tls_version min_version;
};

/* Without url and from_environment no proxy is used, whatever the environment says. */
struct http_proxy_options {
	const char *url;
	const char *no_proxy;
	bool from_environment;
	const struct http_header *connect_headers;
	size_t n_connect_headers;
};

struct http_oauth2;

/* A piece of an answer that has no end (a watch, a stream of events). False: no more of it, the request
 * ends with HTTP_STOPPED. It is called in the middle of libcurl's work: it may neither start nor cancel
 * requests. */
typedef bool (*http_data_fn)(const char *bytes, size_t n, void *data);
/* An answer with a 2xx status begins, though nothing of its body may be there for long. As http_data_fn. */
typedef void (*http_open_fn)(void *data);

struct http_request_options {
	const char *method; /* NULL: GET, or POST with a body */
	const char *url;
	/* Path of a socket to speak to instead of the URL's host, which is only told to the server then; NULL: none. No proxy
	 * is used. See http_unix_socket_ok. */
	const char *unix_socket;
	/* Gets the body of an answer with a 2xx status as it comes; it is not in the result then, and max_response_bytes does not
	 * apply. `data` as for the end. NULL: the whole body is in the result. */
	http_data_fn on_data;
	http_open_fn on_open; /* NULL: nobody wants to know */
	/* Without a byte of an answer for so long the request ends with HTTP_TIMEOUT; 0: no such limit. */
	uint64_t idle_timeout_ns;
	const struct http_header *headers;
	size_t n_headers;
	const void *body; /* borrowed until the callback or the cancellation; everything else is
			     copied at once */
	size_t n_body;
	/* Or a body of several pieces, one after the other, none of which is copied: they are borrowed as `body` is, the array too. */
	const struct http_piece *pieces;
	size_t n_pieces;
	uint64_t timeout_ns;	   /* of the whole request; 0: none */
	size_t max_response_bytes; /* 0: HTTP_DEFAULT_MAX_RESPONSE_BYTES */
	const char *user_agent;
	const char *basic_user, *basic_password;
	const char *authorization;  /* the whole value, "Bearer …"; not sent on to another host */
	struct http_oauth2 *oauth2; /* where tokens come from (oauth2.h), instead of both above;
				       NULL: none. Outlives the request */
	bool follow_redirects;	    /* a POST stays a POST, except after 303 */
	bool enable_http2;	    /* over TLS, if the server agrees */
	bool only_http2;	    /* without TLS, too, where the server is taken to speak it */
	struct http_tls_options tls;
	struct http_proxy_options proxy;
};

enum http_outcome {
	HTTP_DONE, /* an answer, whatever its status (cut within its headers, it is one without
		      headers) */
	HTTP_TIMEOUT,
	HTTP_RESOLVE_FAILED,
	HTTP_CONNECT_FAILED,
	HTTP_TLS_FAILED, /* handshake, certificate, or unusable key material */
	HTTP_TOO_LARGE,	 /* the answer passed the ceiling; status and headers are known */
	HTTP_BROKEN,	 /* the connection ended in the middle, or this is not HTTP */
	HTTP_STOPPED,	 /* on_data wanted no more */
	HTTP_FAILED,	 /* anything else: memory, redirect loop, … */
	HTTP_OUTCOME_MAX
};

struct http_request;

/* Borrowed for the time of the callback. Strings are never NULL. */
struct http_result {
	enum http_outcome outcome;
	unsigned int status; /* 0 without an answer */
	const char *content_type;
	const char *retry_after;
	const char *body; /* NUL terminated */
	size_t n_body;
	const char *error; /* "" on HTTP_DONE, else for a person: what, which host and port, why */
	uint64_t time_ns;
	const struct http_request *request; /* for http_result_header() */
};

/* A header of the answer, of equal ones the last; "" when there is none. Borrowed as the result. */
const char *http_result_header(const struct http_result *result, const char *name);

/* The same of what follows the body; an answer without a body has it among its headers. */
const char *http_result_trailer(const struct http_result *result, const char *name);

/* A token as name, no line break in the value. */
bool http_header_ok(const struct http_header *header);

/* An absolute path that fits into a socket's address. */
bool http_unix_socket_ok(const char *path);

struct http_client;

/* Ignores SIGPIPE in the whole process: TLS libraries write without MSG_NOSIGNAL. 0 or -errno. */
int http_client_new(struct loop *loop, struct http_client **ret_client);
/* Every request must have ended or been cancelled. NULL-safe. */
void http_client_free(struct http_client *client);
DEFINE_CLEANUP(struct http_client *, http_client_free);

/* Called once, from the loop and never from within http_request_start; may start and cancel other
 * requests. The handle is gone afterwards. */
typedef void (*http_done_fn)(const struct http_result *result, void *data);

/* 0; -EINVAL (URL refused by url_parse, header with a line break, too many headers, bad path of a socket) or -ENOMEM,
 * then `done` is never called. */
int http_request_start(struct http_client *client, const struct http_request_options *options,
		       http_done_fn done, void *data, struct http_request **ret_request);
/* Ends it without a callback. NULL-safe. */
void http_request_cancel(struct http_request *request);

#endif
