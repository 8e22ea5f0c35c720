/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the API server of Kubernetes is reached, and as whom: from inside a pod, from a kubeconfig file, or as the configuration says.
 *
 *	api_server = "" and kubeconfig_file = ""	in the cluster: KUBERNETES_SERVICE_HOST and _PORT, and the files of the pod's
 *							service account, read anew for each request because they rotate
 *	kubeconfig_file					its current-context: cluster, user, namespace
 *	api_server					that URL; credentials and TLS as the configuration has them
 *
 * Reads files and the environment; no network. Any thread.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_ACCESS_H
#define XAGENT_AGENT_DISCOVERY_KUBE_ACCESS_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"

/* Where a pod finds its service account (Kubernetes, "Accessing the API from a Pod"). */
#define KUBE_SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct kube_access {
	const char *server; /* "https://10.96.0.1:443", without a trailing '/' */
	struct http_credentials credentials;
	struct http_tls_options tls;
	const char *proxy_url;	   /* NULL: none (kubeconfig's proxy-url) */
	const char *own_namespace; /* NULL: not known */
	struct arena texts;	   /* holds all of the above */
};

struct kube_access_options {
	const char *kubeconfig_file;	 /* NULL or "": none */
	const char *service_account_dir; /* NULL: KUBE_SERVICE_ACCOUNT_DIR; for tests */
};

/* The first two of the ways above. 0, or -errno with one line in `why` that names file, line or variable and what to do (an `exec` or
 * `auth-provider` user is -ENOTSUP: not supported, with what to use instead). */
int kube_access_find(const struct kube_access_options *o, struct buf *why,
		     struct kube_access *ret_access);
void kube_access_fini(struct kube_access *access);

#endif
