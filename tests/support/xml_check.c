/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bytes are an XML document, as far as our own writers use XML. */
#include "tests/support/xml_check.h"

#include <ctype.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

#define MAX_DEPTH 16

struct xml {
	struct str rest;
	struct str open[MAX_DEPTH]; /* names of elements */
	size_t depth;
	size_t n_roots;
};

static bool take(struct xml *x, const char *text)
{
	if (!str_starts_with(x->rest, str_from(text)))
		return false;
	x->rest.p += strlen(text);
	x->rest.n -= strlen(text);
	return true;
}

static bool take_entity(struct xml *x)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (take(x, known[i]))
			return true;
	return false;
}

/* One character that is no markup. */
static bool take_char(struct xml *x)
{
	size_t n = str_utf8_len(x->rest);
	unsigned char c = n ? (unsigned char)*x->rest.p : 0;

	if (c == '&')
		return take_entity(x);
	if (n == 0 || c == '<' || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
		return false;
	if (n == 3 && memcmp(x->rest.p, "\xef\xbf", 2) == 0 && (unsigned char)x->rest.p[2] >= 0xbe)
		return false;
	x->rest.p += n;
	x->rest.n -= n;
	return true;
}

static bool take_name(struct xml *x, struct str *ret_name)
{
	size_t n = 0;

	while (n < x->rest.n &&
	       (isalnum((unsigned char)x->rest.p[n]) || strchr("-:", x->rest.p[n])))
		n++;
	*ret_name = (struct str){ x->rest.p, n };
	x->rest.p += n;
	x->rest.n -= n;
	return n > 0;
}

/* attribute = name '="' { character } '"' */
static bool take_attribute(struct xml *x)
{
	struct str name;

	if (!take_name(x, &name) || !take(x, "=\""))
		return false;
	while (x->rest.n > 0 && *x->rest.p != '"')
		if (!take_char(x))
			return false;
	return take(x, "\"");
}

/* What stands behind "<". */
static bool take_open(struct xml *x)
{
	struct str name;

	if (!take_name(x, &name))
		return false;
	while (take(x, " "))
		if (!take_attribute(x))
			return false;
	x->n_roots += x->depth == 0;
	if (take(x, "/>"))
		return true;
	if (!take(x, ">") || x->depth == MAX_DEPTH)
		return false;
	x->open[x->depth++] = name;
	return true;
}

static bool take_close(struct xml *x)
{
	struct str name;

	return take_name(x, &name) && take(x, ">") && x->depth > 0 &&
	       str_eq(name, x->open[--x->depth]);
}

static bool take_piece(struct xml *x)
{
	if (take(x, "</"))
		return take_close(x);
	if (take(x, "<"))
		return take_open(x);
	if (x->depth == 0)
		return take(x, "\n");
	return take_char(x);
}

bool xml_is_well_formed(const char *text, size_t n)
{
	struct xml x = { .rest = { text, n } };

	(void)take(&x, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
	while (x.rest.n > 0)
		if (!take_piece(&x))
			return false;
	return x.depth == 0 && x.n_roots == 1;
}
