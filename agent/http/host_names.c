/* SPDX-License-Identifier: Apache-2.0 */
/* The names of this host. */
#include "agent/http/host_names.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* False: none is left. */
static bool next_word(struct str *rest, struct str *ret_word)
{
	while (rest->n > 0 && is_blank(*rest->p)) {
		rest->p++;
		rest->n--;
	}
	size_t n = 0;
	while (n < rest->n && !is_blank(rest->p[n]))
		n++;
	*ret_word = (struct str){ rest->p, n };
	rest->p += n;
	rest->n -= n;
	return n > 0;
}

static bool is_either(struct str word, struct str a, struct str b)
{
	return (word.n == a.n && strncasecmp(word.p, a.p, a.n) == 0) ||
	       (word.n == b.n && strncasecmp(word.p, b.p, b.n) == 0);
}

/* line: address name { name } */
static bool names_us(struct str line, struct str whole, struct str first)
{
	struct str word;

	(void)next_word(&line, &word);
	while (next_word(&line, &word))
		if (is_either(word, whole, first))
			return true;
	return false;
}

/* What cannot be a name is nobody's Host either. */
static int add(struct guard *g, struct str name)
{
	int r = guard_add_name(g, name, false);

	return r == -EINVAL ? 0 : r;
}

static int add_line(struct guard *g, struct str line)
{
	struct str word;
	int r = 0;

	(void)next_word(&line, &word);
	while (r == 0 && next_word(&line, &word))
		r = add(g, word);
	return r;
}

int host_names_add(struct guard *g, const char *hostname, struct str hosts)
{
	struct str whole = str_from(hostname);
	struct str first = { hostname, strcspn(hostname, ".") };
	struct str line;
	int r = add(g, whole);

	if (first.n == 0)
		return r;
	if (r == 0)
		r = add(g, first);
	while (r == 0 && str_split(&hosts, '\n', &line)) {
		const char *comment = line.n ? memchr(line.p, '#', line.n) : NULL;

		line.n = comment ? (size_t)(comment - line.p) : line.n;
		if (names_us(line, whole, first))
			r = add_line(g, line);
	}
	return r;
}
