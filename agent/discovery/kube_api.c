/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to one API server of Kubernetes. */
#include "agent/discovery/kube_api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/http/url.h"

/* One more than the user's: JSON is what is read, and protobuf what a server may be set to prefer. */
static int with_accept(const struct kube_api *api, struct http_header **ret_headers)
{
	struct http_header *all = calloc(api->n_headers + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all[0] = (struct http_header){ "Accept", "application/json" };
	if (api->n_headers > 0)
		memcpy(all + 1, api->headers, api->n_headers * sizeof(*all));
	*ret_headers = all;
	return 0;
}

static struct http_request_options options_of(const struct kube_api *api,
					      const struct kube_call *call, const char *url)
{
	return (struct http_request_options){
		.url = url,
		.on_open = call->on_open,
		.on_data = call->on_data,
		.idle_timeout_ns = call->idle_timeout_ns,
		.timeout_ns = call->timeout_ns,
		.user_agent = api->user_agent,
		.oauth2 = api->oauth2,
		.follow_redirects = api->follow_redirects,
		.enable_http2 = api->enable_http2,
		.tls = api->tls,
		.proxy = api->proxy,
	};
}

static int start(const struct kube_api *api, struct http_request_options *o, http_done_fn done,
		 void *data, struct http_request **ret_request, char *error)
{
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;
	int r = http_secrets_read(&api->credentials, &secrets, o, error);

	if (r < 0)
		return r;
	return http_request_start(api->http, o, done, data, ret_request);
}

static int get(const struct kube_api *api, const struct kube_call *call, http_done_fn done,
	       void *data, struct http_request **ret_request, char *error)
{
	_cleanup_buf_ struct buf url = BUF_INIT(URL_MAX_BYTES);
	_cleanup_free_ struct http_header *headers = NULL;
	int r = buf_printf(&url, "%s%s", api->server, call->path);

	if (r < 0)
		return r == -ENOBUFS ? -E2BIG : r;
	r = with_accept(api, &headers);
	if (r < 0)
		return r;
	struct http_request_options o = options_of(api, call, buf_str(&url));
	o.headers = headers;
	o.n_headers = api->n_headers + 1;
	return start(api, &o, done, data, ret_request, error);
}

int kube_api_get(const struct kube_api *api, const struct kube_call *call, http_done_fn done,
		 void *data, struct http_request **ret_request, char *error)
{
	*error = '\0';
	int r = get(api, call, done, data, ret_request, error);
	if (r == -E2BIG)
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES,
			       "the request's URL is longer than %d bytes: selectors are too long",
			       URL_MAX_BYTES);
	else if (r < 0 && !*error)
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot make a request to %.512s: %s",
			       api->server, strerrordesc_np(-r));
	return r;
}
