/* SPDX-License-Identifier: Apache-2.0 */
/* The store over HTTP: routes. */
#include "agent/store/api/api.h"

#include <errno.h>
#include <string.h>

#include "agent/store/api/api_methods.h"
#include "agent/store/api/push_receive.h"
#include "agent/store/api/settings.h"
#include "agent/store/connect/json_text.h"
#include "agent/util/macro.h"

/* Of a request as it is sent: several times what an agent pushes at once. */
#define RECEIVED_MAX_BYTES ((size_t)4 << 20)
/* Of methods that nobody knows, so that whoever asks learns that. */
#define UNKNOWN_MAX_BYTES ((size_t)64 << 10)
/* The methods, and the paths of api_paths. */
#define MAX_ROUTES 32
#define MAX_VERSION_BYTES 64

struct api_route {
	struct store_api *api;
	const struct rpc_method *method; /* NULL: not one of them */
	struct http_route http;
};

struct store_api {
	struct store *store;
	struct http_server *server;
	struct api_queue *queue;
	struct pushes *pushes;
	struct settings settings;
	char version[MAX_VERSION_BYTES];
	struct api_route routes[MAX_ROUTES];
	size_t n_routes; /* that are added */
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_real_ns() / NS_PER_MS);
}

static void on_method(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct api_route *route = data;

	rpc_handle(route->method, route->api->queue, &route->api->settings, now_ms(), call, answer);
}

static void on_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct api_route *route = data;

	push_handle(route->api->pushes, call, answer);
}

/* The real server has no such path; clients of Connect take that and this for the same. */
static void on_unknown_method(const struct http_call *call, struct http_answer *answer, void *data)
{
	_cleanup_buf_ struct buf why = BUF_INIT(API_MAX_WHY_BYTES);

	(void)data;
	(void)buf_printf(&why, "%.500s is not implemented", http_call_path(call));
	answer->status = rpc_code_status(RPC_unimplemented);
	answer->content_type = "application/json";
	(void)connect_put_error(&answer->body, RPC_unimplemented, buf_str(&why));
}

static void on_ready(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	(void)buf_append_str(&answer->body, "ready");
}

static void on_build_info(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct api_route *route = data;

	(void)call;
	answer->content_type = "application/json";
	(void)buf_append_str(&answer->body, "{\"status\":\"success\",\"data\":{\"version\":");
	(void)json_put_text(&answer->body, str_from(route->api->version));
	(void)buf_append_str(&answer->body, ",\"revision\":\"\",\"branch\":\"\",\"buildUser\":\"\","
					    "\"buildDate\":\"\",\"goVersion\":\"\"}}");
}

static const struct {
	const char *method, *path;
	bool prefix;
	http_handler_fn fn;
	size_t max_body_bytes;
} api_paths[] = {
	{ "POST", RPC_PUSHER "/Push", false, on_push, RECEIVED_MAX_BYTES },
	{ "POST", RPC_QUERIER, true, on_unknown_method, UNKNOWN_MAX_BYTES },
	{ "POST", RPC_PUSHER, true, on_unknown_method, UNKNOWN_MAX_BYTES },
	{ "POST", RPC_SETTINGS, true, on_unknown_method, UNKNOWN_MAX_BYTES },
	{ "GET", "/ready", false, on_ready, 0 },
	{ "GET", "/api/v1/status/buildinfo", false, on_build_info, 0 },
};

static int add_route(struct store_api *api, const struct rpc_method *method,
		     const struct http_route *http)
{
	struct api_route *route = &api->routes[api->n_routes];

	if (api->n_routes >= MAX_ROUTES)
		return -ENOBUFS;
	*route = (struct api_route){ api, method, *http };
	route->http.data = route;
	int r = http_server_add_route(api->server, &route->http);
	if (r < 0)
		return r;
	api->n_routes++;
	return 0;
}

static int add_routes(struct store_api *api)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < rpc_n_methods; i++)
		r = add_route(
			api, &rpc_methods[i],
			&(struct http_route){ .method = "POST",
					      .path = rpc_methods[i].path,
					      .fn = on_method,
					      .max_body_bytes = MIN_OF(rpc_methods[i].max_bytes,
								       RECEIVED_MAX_BYTES) });
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(api_paths); i++)
		r = add_route(
			api, NULL,
			&(struct http_route){ .method = api_paths[i].method,
					      .path = api_paths[i].path,
					      .prefix = api_paths[i].prefix,
					      .fn = api_paths[i].fn,
					      .max_body_bytes = api_paths[i].max_body_bytes });
	return r;
}

int store_api_new(struct store *store, struct worker *worker, struct http_server *server,
		  const char *version, struct store_api **ret_api)
{
	_cleanup_(store_api_freep) struct store_api *api = calloc(1, sizeof(*api));

	if (!api)
		return -ENOMEM;
	api->store = store;
	api->server = server;
	(void)snprintf(api->version, sizeof(api->version), "%s", version);
	int r = api_queue_new(store, worker, &api->queue);
	if (r < 0)
		return r;
	r = pushes_new(store, &api->pushes);
	if (r < 0)
		return r;
	r = add_routes(api);
	if (r < 0)
		return r;
	*ret_api = TAKE_PTR(api);
	return 0;
}

void store_api_free(struct store_api *api)
{
	if (!api)
		return;
	for (size_t i = 0; i < api->n_routes; i++)
		http_server_remove_route(api->server, api->routes[i].http.method,
					 api->routes[i].http.path, api->routes[i].http.prefix);
	api_queue_free(api->queue);
	pushes_free(api->pushes);
	settings_fini(&api->settings);
	free(api);
}
