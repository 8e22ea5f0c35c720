/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of discovery.kubernetes. */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_ARGS_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_KUBERNETES_ARGS_H

#include "agent/component/http/http_client_args.h"

struct kubernetes_namespaces_args {
	bool own_namespace;
	struct river_strings names;
};

struct kubernetes_selector_args {
	const char *role, *label, *field;
};

struct kubernetes_attach_args {
	bool node, namespace;
};

struct kubernetes_args {
	const char *role, *api_server, *kubeconfig_file;
	struct http_client_args client;
	struct kubernetes_namespaces_args namespaces;
	struct river_blocks selectors; /* struct kubernetes_selector_args; one at most */
	struct kubernetes_attach_args attach_metadata;
};

extern const struct river_schema kubernetes_schema;

/* NULL: there is none. */
const struct kubernetes_selector_args *kubernetes_args_selector(const struct kubernetes_args *args);

#endif
