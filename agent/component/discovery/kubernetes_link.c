/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of discovery.kubernetes to an API server, credentials and a selection of pods. */
#include "agent/component/discovery/kubernetes_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
/* Certificates included. */
#define ARENA_BYTES ((size_t)16 << 20)

static int open_tokens(struct kubernetes_link *l, const struct http_client_options *client)
{
	struct http_oauth2_options oauth2;

	if (!client->oauth2)
		return 0;
	oauth2 = *client->oauth2;
	oauth2.user_agent = USER_AGENT;
	int r = http_oauth2_new(l->api.loop, l->api.http, &oauth2, &l->tokens);
	l->api.oauth2 = l->tokens;
	return r;
}

/* "https://server/" and "https://server" are the same. */
static const char *without_slash(struct river_arena *arena, const char *url)
{
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	return river_arena_strndup(arena, url, n);
}

static int use_server(struct kubernetes_link *l, const struct kubernetes_args *args)
{
	struct http_client_options client;
	int r = http_client_args_options(&args->client, &l->arena, &client);

	if (r < 0)
		return r;
	l->api.server = without_slash(&l->arena, args->api_server);
	if (!l->api.server)
		return -ENOMEM;
	l->api.credentials = client.credentials;
	l->api.headers = client.headers;
	l->api.n_headers = client.n_headers;
	l->api.tls = client.tls;
	l->api.proxy = client.proxy;
	return open_tokens(l, &client);
}

static int use_access(struct kubernetes_link *l, const struct kubernetes_args *args,
		      struct buf *why)
{
	struct kube_access_options o = { .kubeconfig_file = args->kubeconfig_file };
	int r = kube_access_find(&o, why, &l->access);

	if (r < 0)
		return r;
	l->api.server = l->access.server;
	l->api.credentials = l->access.credentials;
	l->api.tls = l->access.tls;
	l->api.proxy.url = l->access.proxy_url;
	return 0;
}

static bool has_name(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* An empty name stands for all namespaces, as no name at all does. */
static int use_namespaces(struct kubernetes_link *l, const struct kubernetes_namespaces_args *args,
			  struct buf *why)
{
	const char **names =
		river_arena_alloc(&l->arena, (args->names.n_items + 2) * sizeof(*names));
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < args->names.n_items; i++)
		if (!has_name(names, n, args->names.items[i]))
			names[n++] = args->names.items[i];
	if (args->own_namespace && !l->access.own_namespace) {
		(void)buf_append_str(why, "own_namespace: the file " KUBE_SERVICE_ACCOUNT_DIR
					  "/namespace does not say which it is");
		return -ENOENT;
	}
	if (args->own_namespace && !has_name(names, n, l->access.own_namespace))
		names[n++] = l->access.own_namespace;
	l->options.namespaces = names;
	l->options.n_namespaces = has_name(names, n, "") ? 0 : n;
	return 0;
}

static void use_selection(struct kubernetes_link *l, const struct kubernetes_args *args)
{
	const struct kubernetes_selector_args *selector = kubernetes_args_selector(args);

	l->options.api = &l->api;
	l->options.field_selector = selector ? selector->field : NULL;
	l->options.label_selector = selector ? selector->label : NULL;
	l->options.attach_node = args->attach_metadata.node;
	l->options.attach_namespace = args->attach_metadata.namespace;
	l->options.timing = KUBE_WATCH_TIMING_INIT;
	l->options.gather_ns = KUBE_DISCOVERY_GATHER_NS;
}

int kubernetes_link_open(const struct component_env *env, const struct kubernetes_args *args,
			 struct buf *why, struct kubernetes_link **ret_link)
{
	_cleanup_(kubernetes_link_freep) struct kubernetes_link *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	river_arena_init(&l->arena, ARENA_BYTES);
	l->api = (struct kube_api){
		.loop = env->loop,
		.http = env->http,
		.user_agent = USER_AGENT,
		.follow_redirects = args->client.follow_redirects,
		.enable_http2 = args->client.enable_http2,
	};
	r = *args->api_server ? use_server(l, args) : use_access(l, args, why);
	if (r < 0)
		return r;
	r = use_namespaces(l, &args->namespaces, why);
	if (r < 0)
		return r;
	use_selection(l, args);
	*ret_link = TAKE_PTR(l);
	return 0;
}

void kubernetes_link_free(struct kubernetes_link *l)
{
	if (!l)
		return;
	http_oauth2_free(l->tokens);
	kube_access_fini(&l->access);
	river_arena_fini(&l->arena);
	free(l);
}
