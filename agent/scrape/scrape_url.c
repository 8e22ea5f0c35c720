/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of profiles. */
#include "agent/scrape/scrape_url.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/str.h"

/* Levels of a path. */
#define MAX_PARTS 128

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-_.~", c));
}

static void put_escaped(struct buf *out, char c)
{
	(void)buf_printf(out, "%%%02X", (unsigned char)c);
}

/* What is escaped already stays so. */
static void put_part(struct buf *out, struct str part)
{
	(void)buf_append_char(out, '/');
	for (size_t i = 0; i < part.n; i++) {
		char c = part.p[i];

		if (is_unreserved(c) || (c && strchr("%$&+,:;=@!'()*", c)))
			(void)buf_append_char(out, c);
		else
			put_escaped(out, c);
	}
}

struct parts {
	struct str items[MAX_PARTS];
	size_t n;
};

static void add_parts(struct parts *parts, const char *path)
{
	struct str rest = str_from(path), part;

	while (str_split(&rest, '/', &part)) {
		if (part.n == 0 || str_eq(part, STR_LIT(".")))
			continue;
		if (str_eq(part, STR_LIT("..")))
			parts->n -= parts->n > 0;
		else if (parts->n < MAX_PARTS)
			parts->items[parts->n++] = part;
	}
}

void scrape_url_path(struct buf *out, const char *prefix, const char *path)
{
	struct parts parts = { .n = 0 };

	add_parts(&parts, prefix);
	add_parts(&parts, path);
	for (size_t i = 0; i < parts.n; i++)
		put_part(out, parts.items[i]);
	if (parts.n == 0 || str_ends_with(str_from(path), STR_LIT("/")))
		(void)buf_append_char(out, '/');
}

static void put_query_text(struct buf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (is_unreserved(*c))
			(void)buf_append_char(out, *c);
		else if (*c == ' ')
			(void)buf_append_char(out, '+');
		else
			put_escaped(out, *c);
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct scrape_url_pair *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

void scrape_url_query(struct buf *out, struct scrape_url_pair *pairs, size_t n)
{
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < n; i++) {
		(void)buf_append_char(out, i ? '&' : '?');
		put_query_text(out, pairs[i].key);
		(void)buf_append_char(out, '=');
		put_query_text(out, pairs[i].value);
	}
}

/* "host", "[::1]"; an IPv6 address without brackets is no host, and stays as it is. */
bool scrape_url_wants_port(const char *address)
{
	const char *bracket = *address == '[' ? strchr(address, ']') : NULL;

	return bracket ? !bracket[1] : !strchr(address, ':');
}
