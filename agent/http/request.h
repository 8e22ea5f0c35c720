/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a client request; for the files of this folder. */
#ifndef XAGENT_AGENT_HTTP_REQUEST_H
#define XAGENT_AGENT_HTTP_REQUEST_H

#include <curl/curl.h>

#include "agent/http/client.h"
#include "agent/http/redirect.h"
#include "agent/util/list.h"

struct http_request {
	struct list node; /* the client's; until it has a token, the token source's */
	struct http_client *client;
	struct http_oauth2 *oauth2;
	bool sent; /* libcurl has it */
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *proxy_headers;
	struct curl_slist *connect_to;
	struct buf body;
	/* Of the body that is sent; borrowed. */
	const struct http_piece *pieces;
	size_t n_pieces;
	size_t piece, piece_at; /* from where on it is still to be sent */
	http_data_fn on_data;	/* gets what is not kept in the body; NULL: nothing */
	http_open_fn on_open;	/* NULL: nobody wants to know */
	bool too_large;
	bool stopped;	      /* by on_data */
	struct origin origin; /* of the last URL that was sent to; no host: of none yet */
	bool has_headers;     /* that are for the first one alone */
	/* For a person: where a redirect led that was not followed, two hosts and a sentence; "": nowhere. */
	char refused[672];
	char curl_error[CURL_ERROR_SIZE];
	/* For a person: a host name of 253 bytes, brackets, port; or a socket's path. */
	char peer[320];
	bool proxied;
	uint64_t timeout_ns;
	uint64_t idle_timeout_ns;
	struct loop_timer *idle; /* NULL: may be silent for as long as it wants */
	uint64_t heard_ns;	 /* when a byte came last */
	bool idle_too_long;
	uint64_t begin_ns;
	http_done_fn done;
	void *data;
};

/* Fills a fresh request (easy handle, lists, names) from options; 0, -EINVAL, -ENOMEM. */
int request_configure(struct http_request *request, const struct http_request_options *options);

/* For who waited for a token: sends it with this Authorization. 0, or -errno: then it is still the caller's. */
int request_send(struct http_request *request, const char *authorization);
/* Ends one that was never sent. */
void request_fail(struct http_request *request, const char *error);

/* Adds a header. 0, -EINVAL, -ENOMEM. */
int request_add_header(struct http_request *request, const char *name, const char *value);

/* For libcurl: before each sending of the request, a redirect's included. CURL_PREREQFUNC_OK, or _ABORT: not there. */
int request_on_send(void *request, char *conn_ip, char *local_ip, int conn_port, int local_port);
/* For libcurl: what goes out, and from its beginning once more. */
size_t request_on_read(char *room, size_t size, size_t n, void *request);
int request_on_seek(void *request, curl_off_t offset, int origin);
uint64_t request_pieces_bytes(const struct http_piece *pieces, size_t n);
/* For libcurl: what comes in. */
size_t request_on_body(char *bytes, size_t size, size_t n, void *request);
size_t request_on_header(char *bytes, size_t size, size_t n, void *request);
/* Begins to watch for silence; `fn` gets the request. 0 or -ENOMEM. */
int request_watch_idle(struct http_request *request, struct loop *loop, loop_timer_fn fn);
/* For fn: whether it is silent for too long; else it is looked at again in time. */
bool request_is_idle(struct http_request *request);

/* What the end of a transfer means. `error` has HTTP_MAX_ERROR_BYTES bytes. */
enum http_outcome request_outcome(const struct http_request *request, CURLcode code);
void request_describe(const struct http_request *request, enum http_outcome outcome, CURLcode code,
		      char *error);

#endif
