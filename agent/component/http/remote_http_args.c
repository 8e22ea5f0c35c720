/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of remote.http. */
#include "agent/component/http/remote_http_args.h"

#include <errno.h>
#include <string.h>

#include "agent/http/url.h"

static const char *check_headers(const struct remote_http_args *a)
{
	for (size_t i = 0; i < a->headers.n_items; i++)
		if (!http_header_ok(
			    &(struct http_header){ a->headers.keys[i], a->headers.values[i] }))
			return "a header's name or value holds a character that HTTP does not "
			       "allow";
	return NULL;
}

static const char *check_method(const char *method)
{
	return *method && http_header_ok(&(struct http_header){ method, "" })
		       ? NULL
		       : "method holds a character that HTTP does not allow";
}

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct remote_http_args *a = self;
	struct url url;
	enum url_problem problem = url_parse(str_from(a->url), &url);
	const char *text;

	(void)arena;
	if (a->poll_frequency_ns <= 0)
		return "poll_frequency must be greater than 0";
	if (a->poll_timeout_ns <= 0)
		return "poll_timeout must be greater than 0";
	if (a->poll_timeout_ns >= a->poll_frequency_ns)
		return "poll_timeout must be less than poll_frequency";
	if (problem != URL_OK)
		return url_problem_text(problem);
	text = check_method(a->method);
	return text ? text : check_headers(a);
}

#define A struct remote_http_args
static const struct river_field remote_http_fields[] = {
	RIVER_FIELD_STRING(A, url, "url", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(A, poll_frequency_ns, "poll_frequency", .def = "1m"),
	RIVER_FIELD_DURATION(A, poll_timeout_ns, "poll_timeout", .def = "10s"),
	RIVER_FIELD_BOOL(A, is_secret, "is_secret", .def = "false"),
	RIVER_FIELD_STRING(A, method, "method", .def = "GET"),
	RIVER_FIELD_STRING_MAP(A, headers, "headers"),
	RIVER_FIELD_STRING(A, body, "body"),
	RIVER_FIELD_BLOCK_PTR(A, client, "client", &http_client_schema),
};
const struct river_schema remote_http_schema =
	RIVER_SCHEMA(A, "remote.http", remote_http_fields, .validate = validate);
#undef A

static int all_headers(const struct remote_http_args *a, const struct http_client_options *client,
		       struct river_arena *arena, struct http_request_options *o)
{
	const struct http_header *own;
	size_t n = a->headers.n_items;
	struct http_header *all =
		river_arena_alloc(arena, (n + client->n_headers + 1) * sizeof(*all));
	int r = http_client_map_headers(&a->headers, arena, &own);

	if (r < 0 || !all)
		return -ENOMEM;
	memcpy(all, own, n * sizeof(*all));
	if (client->n_headers > 0)
		memcpy(all + n, client->headers, client->n_headers * sizeof(*all));
	o->headers = all;
	o->n_headers = n + client->n_headers;
	return 0;
}

int remote_http_args_request(const struct remote_http_args *a, struct river_arena *arena,
			     struct http_request_options *ret_options,
			     struct http_credentials *ret_credentials)
{
	struct http_client_options client = { 0 };
	int r = a->client ? http_client_args_options(a->client, arena, &client) : 0;
	struct http_request_options o = {
		.method = a->method,
		.url = a->url,
		.body = *a->body ? a->body : NULL,
		.n_body = strlen(a->body),
		.timeout_ns = (uint64_t)a->poll_timeout_ns,
		.follow_redirects = a->client ? a->client->follow_redirects : true,
		.enable_http2 = a->client ? a->client->enable_http2 : true,
		.tls = client.tls,
		.proxy = client.proxy,
	};

	if (r < 0)
		return r;
	r = all_headers(a, &client, arena, &o);
	if (r < 0)
		return r;
	*ret_options = o;
	*ret_credentials = client.credentials;
	return 0;
}
