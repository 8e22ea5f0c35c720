/* SPDX-License-Identifier: Apache-2.0 */
/* Where a redirect may lead. */
#include "agent/http/redirect.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/http/request.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* RFC 9110 §4.2 */
#define PORT_HTTP 80
#define PORT_HTTPS 443

DEFINE_CLEANUP(CURLU *, curl_url_cleanup);

static int get_part(CURLU *u, CURLUPart what, unsigned int flags, char *out, size_t n)
{
	char *part = NULL;

	if (curl_url_get(u, what, &part, flags) != CURLUE_OK)
		return -EINVAL;
	size_t len = strlen(part);
	bool fits = len > 0 && len < n;
	for (size_t i = 0; fits && i <= len; i++)
		out[i] = (char)tolower((unsigned char)part[i]);
	curl_free(part);
	return fits ? 0 : -EINVAL;
}

static int parse_parts(CURLU *u, struct origin *o)
{
	char scheme[sizeof("https")];
	char port[sizeof("65535")];
	uint64_t number = 0;
	int r = get_part(u, CURLUPART_SCHEME, 0, scheme, sizeof(scheme));

	if (r == 0)
		r = get_part(u, CURLUPART_HOST, 0, o->host, sizeof(o->host));
	if (r == 0)
		r = get_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof(port));
	if (r == 0)
		r = str_parse_u64(str_from(port), 10, UINT16_MAX, &number);
	if (r < 0)
		return -EINVAL;
	o->https = strcmp(scheme, "https") == 0;
	o->port = (uint16_t)number;
	return o->https || strcmp(scheme, "http") == 0 ? 0 : -EINVAL;
}

int origin_parse(const char *url, struct origin *ret_origin)
{
	_cleanup_(curl_url_cleanupp) CURLU *u = curl_url();
	struct origin o = { 0 };

	if (!u)
		return -ENOMEM;
	if (curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
		return -EINVAL;
	int r = parse_parts(u, &o);
	if (r == 0)
		*ret_origin = o;
	return r;
}

static bool same_server(const struct origin *from, const struct origin *to)
{
	if (strcmp(from->host, to->host) != 0)
		return false;
	if (from->https == to->https)
		return from->port == to->port;
	return to->https && from->port == PORT_HTTP && to->port == PORT_HTTPS;
}

enum redirect_verdict redirect_judge(const struct origin *from, const struct origin *to,
				     bool has_headers)
{
	if (from->https && !to->https)
		return REDIRECT_IN_CLEAR;
	if (has_headers && !same_server(from, to))
		return REDIRECT_ELSEWHERE;
	return REDIRECT_FOLLOWED;
}

static void describe(const struct http_request *rq, const struct origin *to,
		     enum redirect_verdict verdict, char *text, size_t n)
{
	const char *scheme = to->https ? "https" : "http";

	switch (verdict) {
	case REDIRECT_FOLLOWED:
		return;
	case REDIRECT_IN_CLEAR:
		(void)snprintf(text, n,
			       "redirected to %s://%s:%u, where nothing is encrypted: not followed",
			       scheme, to->host, to->port);
		return;
	case REDIRECT_ELSEWHERE:
		(void)snprintf(text, n,
			       "redirected to %s://%s:%u, another server, which is not to get the headers "
			       "for %s: not followed; make that the URL if it is meant",
			       scheme, to->host, to->port, rq->origin.host);
	}
}

int request_on_send(void *request, char *conn_ip, char *local_ip, int conn_port, int local_port)
{
	struct http_request *rq = request;
	char *url = NULL;
	struct origin to;

	(void)conn_ip, (void)local_ip, (void)conn_port, (void)local_port;
	if (curl_easy_getinfo(rq->easy, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || !url ||
	    origin_parse(url, &to) < 0)
		return CURL_PREREQFUNC_ABORT;
	enum redirect_verdict verdict =
		*rq->origin.host ? redirect_judge(&rq->origin, &to, rq->has_headers)
				 : REDIRECT_FOLLOWED;
	describe(rq, &to, verdict, rq->refused, sizeof(rq->refused));
	rq->origin = to;
	return verdict == REDIRECT_FOLLOWED ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

bool redirect_keeps_header(const char *name)
{
	/* Of these libcurl makes some itself. Connect-Protocol-Version is ours, as is how often we ask: neither tells anybody anything. */
	static const char *const names[] = {
		"Accept",
		"Accept-Encoding",
		"Connect-Protocol-Version",
		"Content-Encoding",
		"Content-Type",
		"User-Agent",
		"X-Prometheus-Refresh-Interval-Seconds",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}
