/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a redirect may lead. Pure, but for request_on_send() (agent/http/request.h), which asks here before each sending.
 *
 * Nothing that was to be encrypted is sent in clear, and what the user has put into headers is for the server that the user has named.
 * Credentials libcurl leaves out by itself where the next server is another one (Authorization, user and password; not so with
 * CURLOPT_UNRESTRICTED_AUTH). It does not do so with X-Scope-OrgID and whatever else a user adds, and without that the request would be
 * another one: it is not made.
 */
#ifndef XAGENT_AGENT_HTTP_REDIRECT_H
#define XAGENT_AGENT_HTTP_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/http/url.h"

/* RFC 6454 §4 */
struct origin {
	bool https;
	uint16_t port;
	char host[URL_MAX_HOST_BYTES + 3]; /* in lower case; an IPv6 address in brackets */
};

enum redirect_verdict {
	REDIRECT_FOLLOWED,
	REDIRECT_IN_CLEAR,  /* from https to http */
	REDIRECT_ELSEWHERE, /* to another server, with headers that are for this one */
};

/* As libcurl understands the URL. 0, -EINVAL (no URL of http or https, host too long) or -ENOMEM. */
int origin_parse(const char *url, struct origin *ret_origin);

/* `has_headers`: some of them are for the one server alone. The same host by TLS, both at their usual ports, is the same server. */
enum redirect_verdict redirect_judge(const struct origin *from, const struct origin *to,
				     bool has_headers);

/* A header that describes the request, not who makes it: it may go anywhere. */
bool redirect_keeps_header(const char *name);

#endif
