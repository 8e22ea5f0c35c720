/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to one API server of Kubernetes. Loop thread only. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_API_H
#define XAGENT_AGENT_DISCOVERY_KUBE_API_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"

/* Everything is borrowed, and outlives the requests. */
struct kube_api {
	struct loop *loop;
	struct http_client *http;
	const char *server; /* URL without a trailing '/' */
	const char *user_agent;
	struct http_credentials credentials; /* files are read anew for each request: they rotate */
	struct http_oauth2 *oauth2;
	const struct http_header *headers;
	size_t n_headers;
	struct http_tls_options tls;
	struct http_proxy_options proxy;
	bool follow_redirects, enable_http2;
};

struct kube_call {
	const char *path;     /* with its query; copied */
	http_open_fn on_open; /* NULL: nobody wants to know */
	http_data_fn on_data;
	uint64_t idle_timeout_ns, timeout_ns;
};

/* 0: `done` will be called; -errno, then `error` (HTTP_MAX_ERROR_BYTES bytes) has a line for a person. */
int kube_api_get(const struct kube_api *api, const struct kube_call *call, http_done_fn done,
		 void *data, struct http_request **ret_request, char *error);

#endif
