/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a client request; for the files of this folder. */
#ifndef XAGENT_AGENT_HTTP_REQUEST_H
#define XAGENT_AGENT_HTTP_REQUEST_H

#include <curl/curl.h>

#include "agent/http/client.h"
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
	bool too_large;
	char curl_error[CURL_ERROR_SIZE];
	char host_port[320]; /* a host name of 253 bytes, brackets, port */
	bool proxied;
	uint64_t timeout_ns;
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

/* What the end of a transfer means. `error` has HTTP_MAX_ERROR_BYTES bytes. */
enum http_outcome request_outcome(const struct http_request *request, CURLcode code);
void request_describe(const struct http_request *request, enum http_outcome outcome, CURLcode code,
		      char *error);

#endif
