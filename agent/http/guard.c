/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests a web page may have caused. */
#include "agent/http/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "agent/http/url.h"

static bool is_same_text(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

/* "name." is the name (RFC 1034 §3.1). */
static struct str without_dot(struct str name)
{
	name.n -= name.n > 0 && name.p[name.n - 1] == '.';
	return name;
}

bool guard_is_name(struct str name)
{
	name = without_dot(name);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '-' && c != '_' && c != '.')
			return false;
	}
	return name.n > 0 && name.n <= GUARD_MAX_NAME_BYTES;
}

static struct guard_name *find_name(const struct guard *g, struct str name)
{
	name = without_dot(name);
	for (size_t i = 0; i < g->n_names; i++)
		if (is_same_text(str_from(g->names[i].text), name))
			return (struct guard_name *)&g->names[i];
	return NULL;
}

int guard_add_name(struct guard *g, struct str name, bool is_ours)
{
	struct guard_name *known = find_name(g, name);

	if (!guard_is_name(name))
		return -EINVAL;
	if (known) {
		known->is_ours |= is_ours;
		return 0;
	}
	if (g->n_names == GUARD_MAX_NAMES)
		return -ENOBUFS;
	name = without_dot(name);
	char *text = strndup(name.p, name.n);
	if (!text)
		return -ENOMEM;
	g->names[g->n_names++] = (struct guard_name){ text, is_ours };
	return 0;
}

void guard_fini(struct guard *g)
{
	for (size_t i = 0; i < g->n_names; i++)
		free(g->names[i].text);
	*g = (struct guard){ 0 };
}

/* authority: host [":" port], without user names. False: not one. RFC 3986 §3.2 */
static bool split_port(struct str authority, struct str *ret_host)
{
	bool v6 = authority.n > 0 && authority.p[0] == '[';
	const char *end = authority.n ? memchr(authority.p, v6 ? ']' : ':', authority.n) : NULL;
	size_t n = end ? (size_t)(end - authority.p) + v6 : authority.n;

	if (v6 && !end)
		return false;
	*ret_host = (struct str){ authority.p, n };
	if (n == authority.n)
		return true;
	if (authority.p[n] != ':')
		return false;
	for (size_t i = n + 1; i < authority.n; i++)
		if (authority.p[i] < '0' || authority.p[i] > '9')
			return false;
	return true;
}

static bool is_our_host(const struct guard *g, struct str authority)
{
	struct str host;

	if (!split_port(authority, &host))
		return false;
	if (host.n > 2 && host.p[0] == '[')
		return url_is_address((struct str){ host.p + 1, host.n - 2 }, AF_INET6);
	return url_is_address(host, AF_INET) ||
	       is_same_text(without_dot(host), STR_LIT("localhost")) || find_name(g, host);
}

/* scheme "://" authority [path], as browsers send it. "null", or what is none: empty. */
static struct str authority_of(const char *url)
{
	const char *begin = strstr(url, "://");

	if (!begin)
		return (struct str){ "", 0 };
	begin += 3;
	return (struct str){ begin, strcspn(begin, "/?#") };
}

static bool is_own_page(const struct guard *g, const char *url, const char *host)
{
	struct str authority = authority_of(url);
	struct str name;

	if (authority.n == 0)
		return false;
	if (host && is_same_text(authority, str_from(host)))
		return true;
	if (!split_port(authority, &name))
		return false;
	const struct guard_name *known = find_name(g, name);
	return known && known->is_ours;
}

/* Whether no page at all, or our own, has caused it. */
static bool is_our_own(const struct guard *g, const struct guard_request *r)
{
	if (r->site)
		return strcmp(r->site, "same-origin") == 0 || strcmp(r->site, "none") == 0;
	if (r->origin)
		return is_own_page(g, r->origin, r->host);
	return !r->referer || is_own_page(g, r->referer, r->host);
}

static bool is_visit(const struct guard_request *r)
{
	return r->effect == HTTP_IS_PAGE && r->mode && strcmp(r->mode, "navigate") == 0 &&
	       r->dest && strcmp(r->dest, "document") == 0;
}

enum guard_verdict guard_judge(const struct guard *g, const struct guard_request *r)
{
	if (!r->any_host && r->host && !is_our_host(g, str_from(r->host)))
		return GUARD_FOREIGN_HOST;
	if (r->is_get && r->effect != HTTP_CHANGES) {
		bool other = r->site && strcmp(r->site, "cross-site") == 0;

		return other && !is_visit(r) ? GUARD_OTHER_SITE : GUARD_PASSES;
	}
	if (r->is_get && (r->site || r->mode || r->dest || r->origin))
		return GUARD_BROWSER;
	return is_our_own(g, r) ? GUARD_PASSES : GUARD_OTHER_SITE;
}
