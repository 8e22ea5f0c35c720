/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of `discovery.http`: targets that a server lists, asked for again from time to time, in the format of Prometheus' discovery
 * by HTTP.
 *
 * What it listed last is kept while it does not answer, or answers anything else. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_HTTP_TARGETS_H
#define XAGENT_AGENT_DISCOVERY_HTTP_TARGETS_H

#include "agent/http/client.h"
#include "agent/http/credentials.h"
#include "agent/http/oauth2.h"
#include "agent/target/target_list.h"

/* The largest list there may be (TARGET_LIST_MAX), at 160 bytes a target. */
#define HTTP_TARGETS_MAX_BYTES ((size_t)16 << 20)

struct http_targets_options {
	uint64_t refresh_interval_ns; /* an answer may take as long */
	/* URL, headers, redirects, TLS and proxy are used. */
	struct http_request_options request;
	struct http_credentials credentials;
	const struct http_oauth2_options *oauth2; /* NULL: none */
};

struct http_targets;

/* After each answer, or what came instead: `problem` is a sentence, or NULL. `changed`: the targets are others now. May not free it. */
typedef void (*http_targets_fn)(bool changed, const char *problem, void *data);

/* What the options point to is borrowed as long as it lives. Nothing is asked yet. 0 or -errno. */
int http_targets_new(struct loop *loop, struct http_client *http,
		     const struct http_targets_options *options, http_targets_fn fn, void *data,
		     struct http_targets **ret_targets);
void http_targets_free(struct http_targets *t); /* NULL-safe */
DEFINE_CLEANUP(struct http_targets *, http_targets_free);

/* Asks now, and every refresh_interval. */
void http_targets_start(struct http_targets *t);

const struct target_list *http_targets_get(const struct http_targets *t);
/* Takes over what another one has found. */
void http_targets_inherit(struct http_targets *t, struct http_targets *from);

/* Whether a Content-Type is one of JSON in UTF-8. Pure. */
bool http_targets_type_ok(const char *content_type);

#endif
