/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http and https URLs as a user writes them into a configuration. Pure.
 *
 *	url       = scheme "://" host [ ":" port ] [ "/" path ] [ "?" query ]
 *	scheme    = "http" | "https"                     (any case)
 *	host      = name | IPv4 | "[" IPv6 "]"
 */
#ifndef XAGENT_AGENT_HTTP_URL_H
#define XAGENT_AGENT_HTTP_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* What servers and proxies accept in a request line is rarely more. */
#define URL_MAX_BYTES 2048
/* RFC 1035 §3.1 */
#define URL_MAX_HOST_BYTES 253

/* Views into the text that was parsed. */
struct url {
	bool https;
	struct str host; /* without brackets */
	bool host_is_ipv6;
	uint16_t port;	  /* of the scheme when the text has none */
	struct str path;  /* empty, or from the '/' on */
	struct str query; /* without the '?' */
	struct str base;  /* scheme, host and port: everything before the path */
};

enum url_problem {
	URL_OK,
	URL_EMPTY,
	URL_TOO_LONG,
	URL_SCHEME,
	URL_USERINFO,
	URL_HOST,
	URL_PORT,
	URL_CHARACTER,
	URL_FRAGMENT,
	URL_PROBLEM_MAX
};

/* *ret_url is set on URL_OK only. */
enum url_problem url_parse(struct str text, struct url *ret_url);

/* An address of AF_INET or AF_INET6 in its text form, without brackets. */
bool url_is_address(struct str host, int family);

/* A sentence for a person, with advice; static. */
const char *url_problem_text(enum url_problem problem);

/* Appends the URL with `path` ("/push.v1…") behind its own path, whose trailing '/' are cut; the
 * query stays at the end. 0 or what buf_append returns. */
int url_join(struct buf *out, const struct url *url, const char *path);

/* Appends the text as a value of a query (RFC 3986 §3.4): all but letters, digits and "-._~" as %XX. What buf_append returns. */
int url_put_value(struct buf *out, struct str text);

#endif
