/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of `discovery.kubelet`: the pods of one node, asked from its kubelet again and again, since that has no watch.
 *
 * What it listed last is kept while it does not answer, or answers anything else. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBELET_H
#define XAGENT_AGENT_DISCOVERY_KUBELET_H

#include "agent/discovery/kubelet_pods.h"
#include "agent/http/client.h"
#include "agent/http/credentials.h"
#include "agent/http/oauth2.h"

/* As patient as Kubernetes' own clients are with one. */
#define KUBELET_TIMEOUT_NS (30ULL * 1000000000)
/* Whoever asks for less would only keep both busy. */
#define KUBELET_MIN_INTERVAL_NS (100ULL * 1000000)

struct kubelet_options {
	uint64_t refresh_interval_ns;
	struct kubelet_namespaces namespaces;
	/* Its URL is the kubelet's; "/pods" is added. Headers, redirects, TLS, proxy and user agent are used too. */
	struct http_request_options request;
	struct http_credentials credentials;
	const struct http_oauth2_options *oauth2; /* NULL: none */
};

struct kubelet;

/* After each answer, or what came instead: `problem` is a line, or NULL. `changed`: the targets are others now. May not free it. */
typedef void (*kubelet_fn)(bool changed, const char *problem, void *data);

/* What the options point to is borrowed as long as it lives. Nothing is asked yet. 0 or -errno. */
int kubelet_new(struct loop *loop, struct http_client *http, const struct kubelet_options *options,
		kubelet_fn fn, void *data, struct kubelet **ret_kubelet);
void kubelet_free(struct kubelet *k); /* NULL-safe */
DEFINE_CLEANUP(struct kubelet *, kubelet_free);

/* Asks now, and every refresh_interval; one that still waits for its answer is not joined by another. */
void kubelet_start(struct kubelet *k);

const struct target_list *kubelet_targets(const struct kubelet *k);
/* Takes over what another one has found. */
void kubelet_inherit(struct kubelet *k, struct kubelet *from);

#endif
