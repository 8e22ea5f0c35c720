/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs from server to server in a push: path, headers, bytes, and what answers mean. Queue, back-off, requests and numbers are
 * the same for all (push.h). Inside of agent/push, but for the tables at the end.
 */
#ifndef XAGENT_AGENT_PUSH_PROTOCOL_H
#define XAGENT_AGENT_PUSH_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/push/body.h"
#include "agent/push/profile.h"
#include "agent/push/verdict.h"

#define PUSH_PROTOCOL_MAX_HEADERS 4

struct push_headers {
	struct http_header items[PUSH_PROTOCOL_MAX_HEADERS];
	size_t n;
	char text[32]; /* of a value that is made */
};

struct push_protocol {
	const char *server; /* in the log */
	const char *path;   /* behind the endpoint's url */
	bool only_http2;
	/* Of a request that may take so long. */
	void (*headers)(uint64_t timeout_ns, struct push_headers *ret_headers);
	/* As many profiles at most in one request, 1..PUSH_MAX_BATCH. More than one only where a refusal is of all that is in the request. */
	unsigned int batch;
	/* The body of a request with these, whose bytes and labels it may borrow (body.h). 0 or -errno: they are given up. */
	int (*encode)(const struct push_profile *const *profiles, size_t n, struct push_body *body);
	/* Of the whole request. */
	enum push_verdict (*judge)(const struct http_result *result, bool retry_on_http_429,
				   struct push_reason *ret_reason);
};

/* Headers that are ours: what the user sets for them is not sent. */
bool push_header_is_ours(const struct push_protocol *protocol, const char *name);

extern const struct push_protocol push_pyroscope;
/* The bytes are of FORM_OTLP, with _gzip of FORM_OTLP_GZIP (agent/encode). */
extern const struct push_protocol push_otlp_http, push_otlp_http_gzip;
extern const struct push_protocol push_otlp_grpc, push_otlp_grpc_gzip;

#endif
