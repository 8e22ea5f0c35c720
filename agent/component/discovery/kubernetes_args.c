/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of discovery.kubernetes. What excludes what is as in Prometheus' kubernetes_sd_config. */
#include "agent/component/discovery/kubernetes_args.h"

#include <string.h>

#include "agent/discovery/kube_discovery.h"
#include "agent/http/url.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"

#define ROLE_POD "pod"

static bool given(const char *text)
{
	return text && *text;
}

static bool is_other_role(const char *role)
{
	static const char *const others[] = { "service", "endpoints", "endpointslice", "node",
					      "ingress" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(role, others[i]) == 0)
			return true;
	return false;
}

static const char *message(struct river_arena *arena, const char *front, const char *role,
			   const char *rear)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	const char *copy;

	(void)buf_printf(&text, "%s \"%.100s\"%s", front, role, rear);
	copy = river_arena_strndup(arena, buf_str(&text), text.len);
	return copy ? copy : front;
}

/* A role that exists is no misspelling: the user has to know why it is of no use here. */
static const char *validate_role(const void *field, struct river_arena *arena)
{
	const char *role = *(const char *const *)field;

	if (strcmp(role, ROLE_POD) == 0)
		return NULL;
	if (is_other_role(role))
		return message(arena, "Kubernetes SD role", role,
			       " is not supported by xagent: profiles belong to the containers of "
			       "pods, use role = \"pod\" (or discovery.kubelet)");
	return message(arena, "unknown Kubernetes SD role", role,
		       ", expecting one of: pod, service, endpoints, endpointslice, node, ingress");
}

static const char *validate_selector_role(const void *field, struct river_arena *arena)
{
	const char *role = *(const char *const *)field;

	if (strcmp(role, ROLE_POD) == 0)
		return NULL;
	if (is_other_role(role))
		return "pod role supports only pod selectors";
	return message(arena, "unknown Kubernetes SD role", role, "");
}

static const char *validate_selectors(const void *field, struct river_arena *arena)
{
	(void)arena;
	return ((const struct river_blocks *)field)->n_items > 1
		       ? "duplicated selector role: pod (join terms with a comma)"
		       : NULL;
}

static const char *validate_names(const void *field, struct river_arena *arena)
{
	const struct river_strings *names = field;

	(void)arena;
	return names->n_items <= KUBE_DISCOVERY_MAX_NAMESPACES
		       ? NULL
		       : "names must be 100 at most: without it all namespaces are discovered";
}

static bool is_default(const struct http_client_args *a)
{
	return !given(a->bearer_token) && !given(a->bearer_token_file) && a->follow_redirects &&
	       a->enable_http2 && a->http_headers.n_items == 0 && !given(a->proxy.url) &&
	       !given(a->proxy.no_proxy) && !a->proxy.from_environment &&
	       a->proxy.connect_header.n_items == 0 && !a->basic_auth && !a->authorization &&
	       !a->oauth2 && !a->tls_config;
}

static const char *check_access(const struct kubernetes_args *a)
{
	bool api_server = given(a->api_server), file = given(a->kubeconfig_file);

	if (api_server && file)
		return "cannot use 'kubeconfig_file' and 'api_server' simultaneously";
	if (file && !is_default(&a->client))
		return "cannot use a custom HTTP client configuration together with "
		       "'kubeconfig_file'";
	if (!api_server && !is_default(&a->client))
		return "to use custom HTTP client configuration please provide the 'api_server' "
		       "URL explicitly";
	if (api_server && a->namespaces.own_namespace)
		return "cannot use 'api_server' and 'namespaces.own_namespace' simultaneously";
	if (file && a->namespaces.own_namespace)
		return "cannot use 'kubeconfig_file' and 'namespaces.own_namespace' simultaneously";
	return NULL;
}

static const char *check_server(const char *server)
{
	struct url url;
	enum url_problem problem = url_parse(str_from(server), &url);

	if (problem != URL_OK)
		return url_problem_text(problem);
	return url.query.n > 0 ? "api_server must not have a query" : NULL;
}

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct kubernetes_args *a = self;
	const char *text = http_client_args_check(&a->client);

	(void)arena;
	if (!text)
		text = check_access(a);
	return !text && given(a->api_server) ? check_server(a->api_server) : text;
}

#define N struct kubernetes_namespaces_args
static const struct river_field namespaces_fields[] = {
	RIVER_FIELD_BOOL(N, own_namespace, "own_namespace", .def = "false"),
	RIVER_FIELD_STRING_LIST(N, names, "names", .validate = validate_names),
};
static const struct river_schema namespaces_schema =
	RIVER_SCHEMA(N, "namespaces", namespaces_fields);
#undef N

#define S struct kubernetes_selector_args
static const struct river_field selector_fields[] = {
	RIVER_FIELD_STRING(S, role, "role", .flags = RIVER_REQUIRED,
			   .validate = validate_selector_role),
	RIVER_FIELD_STRING(S, label, "label"),
	RIVER_FIELD_STRING(S, field, "field"),
};
static const struct river_schema selector_schema = RIVER_SCHEMA(S, "selectors", selector_fields);
#undef S

#define M struct kubernetes_attach_args
static const struct river_field attach_fields[] = {
	RIVER_FIELD_BOOL(M, node, "node", .def = "false"),
	RIVER_FIELD_BOOL(M, namespace, "namespace", .def = "false"),
};
static const struct river_schema attach_schema = RIVER_SCHEMA(M, "attach_metadata", attach_fields);
#undef M

#define A struct kubernetes_args
static const struct river_field kubernetes_fields[] = {
	RIVER_FIELD_STRING(A, role, "role", .flags = RIVER_REQUIRED, .validate = validate_role),
	RIVER_FIELD_STRING(A, api_server, "api_server"),
	RIVER_FIELD_STRING(A, kubeconfig_file, "kubeconfig_file"),
	HTTP_CLIENT_FIELDS(A, client),
	RIVER_FIELD_BLOCK(A, namespaces, "namespaces", &namespaces_schema),
	RIVER_FIELD_BLOCKS(A, selectors, "selectors", &selector_schema,
			   .validate = validate_selectors),
	RIVER_FIELD_BLOCK(A, attach_metadata, "attach_metadata", &attach_schema),
};
const struct river_schema kubernetes_schema =
	RIVER_SCHEMA(A, "discovery.kubernetes", kubernetes_fields, .validate = validate);
#undef A

const struct kubernetes_selector_args *kubernetes_args_selector(const struct kubernetes_args *args)
{
	return args->selectors.n_items > 0 ? args->selectors.items : NULL;
}
