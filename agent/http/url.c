/* SPDX-License-Identifier: Apache-2.0 */
/* http and https URLs as a user writes them into a configuration. */
#include "agent/http/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static const char *const url_problem_texts[] = {
	[URL_OK] = "the URL is fine",
	[URL_EMPTY] = "the URL is empty; write for example \"http://127.0.0.1:4040\"",
	[URL_TOO_LONG] = "the URL is longer than 2048 bytes",
	[URL_SCHEME] = "the URL must begin with http:// or https://",
	[URL_USERINFO] =
		"the URL must not hold a user or a password; write them into a basic_auth block",
	[URL_HOST] = "the URL has no valid host name (an IPv6 address needs brackets)",
	[URL_PORT] = "the URL's port must be a number from 1 to 65535",
	[URL_CHARACTER] = "the URL holds a character that must be written as %XX",
	[URL_FRAGMENT] = "the URL must not hold a fragment (#…)",
};

const char *url_problem_text(enum url_problem problem)
{
	return problem < URL_PROBLEM_MAX ? url_problem_texts[problem] : "the URL is not valid";
}

static bool url_cut_scheme(struct str *rest, bool *ret_https)
{
	static const struct {
		struct str text;
		bool https;
	} schemes[] = { { STR_LIT("http://"), false }, { STR_LIT("https://"), true } };

	for (size_t i = 0; i < 2; i++) {
		struct str s = schemes[i].text;

		if (rest->n < s.n || strncasecmp(rest->p, s.p, s.n) != 0)
			continue;
		rest->p += s.n;
		rest->n -= s.n;
		*ret_https = schemes[i].https;
		return true;
	}
	return false;
}

/* Visible ASCII without the characters that RFC 3986 knows nowhere; a '%' begins two hexadecimal
 * digits. */
static bool url_characters_ok(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		struct str hex = { text.p + i + 1, 2 };
		uint64_t value;

		if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c))
			return false;
		if (c == '%' && (text.n - i < 3 || str_parse_u64(hex, 16, 0xff, &value) < 0))
			return false;
	}
	return true;
}

static bool url_is_host_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_';
}

static bool url_name_ok(struct str host)
{
	if (host.n == 0 || host.n > URL_MAX_HOST_BYTES || host.p[0] == '.' || host.p[0] == '-')
		return false;
	for (size_t i = 0; i < host.n; i++)
		if (!url_is_host_character(host.p[i]) ||
		    (host.p[i] == '.' && i > 0 && host.p[i - 1] == '.'))
			return false;
	return true;
}

bool url_is_address(struct str host, int family)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (host.n == 0 || host.n >= sizeof(text))
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	return strlen(text) == host.n && inet_pton(family, text, &address) == 1;
}

/* host: cut off the authority, which is left as "" or ":port" */
static bool url_cut_host(struct str *authority, struct url *url)
{
	if (authority->n > 0 && authority->p[0] == '[') {
		const char *end = memchr(authority->p, ']', authority->n);

		if (!end)
			return false;
		url->host = (struct str){ authority->p + 1, (size_t)(end - authority->p) - 1 };
		url->host_is_ipv6 = true;
		authority->n -= url->host.n + 2;
		authority->p = end + 1;
		return url_is_address(url->host, AF_INET6) &&
		       (authority->n == 0 || authority->p[0] == ':');
	}
	const char *colon = authority->n ? memchr(authority->p, ':', authority->n) : NULL;
	size_t n = colon ? (size_t)(colon - authority->p) : authority->n;
	url->host = (struct str){ authority->p, n };
	authority->p += n;
	authority->n -= n;
	return url_name_ok(url->host);
}

static enum url_problem url_parse_authority(struct str authority, struct url *url)
{
	uint64_t port = url->https ? 443 : 80;

	if (authority.n > 0 && memchr(authority.p, '@', authority.n))
		return URL_USERINFO;
	if (!url_cut_host(&authority, url))
		return URL_HOST;
	if (authority.n > 0) {
		struct str digits = { authority.p + 1, authority.n - 1 };

		if (str_parse_u64(digits, 10, UINT16_MAX, &port) < 0 || port == 0)
			return URL_PORT;
	}
	url->port = (uint16_t)port;
	return URL_OK;
}

static size_t url_span_until(struct str s, const char *stops)
{
	size_t i = 0;

	while (i < s.n && !strchr(stops, s.p[i]))
		i++;
	return i;
}

enum url_problem url_parse(struct str text, struct url *ret_url)
{
	struct str rest = text;
	struct url url = { 0 };

	if (text.n == 0)
		return URL_EMPTY;
	if (text.n > URL_MAX_BYTES)
		return URL_TOO_LONG;
	if (!url_cut_scheme(&rest, &url.https))
		return URL_SCHEME;
	if (!url_characters_ok(rest))
		return URL_CHARACTER;
	if (memchr(text.p, '#', text.n))
		return URL_FRAGMENT;
	size_t n = url_span_until(rest, "/?");
	enum url_problem problem = url_parse_authority((struct str){ rest.p, n }, &url);
	if (problem != URL_OK)
		return problem;
	rest = (struct str){ rest.p + n, rest.n - n };
	url.base = (struct str){ text.p, (size_t)(rest.p - text.p) };
	url.path = (struct str){ rest.p, url_span_until(rest, "?") };
	if (url.path.n < rest.n)
		url.query = (struct str){ rest.p + url.path.n + 1, rest.n - url.path.n - 1 };
	*ret_url = url;
	return URL_OK;
}

int url_join(struct buf *out, const struct url *url, const char *path)
{
	struct str prefix = url->path;
	int r = buf_append(out, url->base.p, url->base.n);

	while (prefix.n > 0 && prefix.p[prefix.n - 1] == '/')
		prefix.n--;
	if (r == 0)
		r = buf_append(out, prefix.p, prefix.n);
	if (r == 0)
		r = buf_append_str(out, path);
	if (r == 0 && url->query.n > 0) {
		r = buf_append_char(out, '?');
		if (r == 0)
			r = buf_append(out, url->query.p, url->query.n);
	}
	return r;
}

int url_put_value(struct buf *out, struct str text)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || (c && strchr("-._~", c));

		r = plain ? buf_append_char(out, (char)c) : buf_printf(out, "%%%02X", c);
	}
	return r;
}
