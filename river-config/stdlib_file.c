/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file.* family: paths as text, nothing is looked up.
 *
 * Cleaning a path: no empty element, no ".", a ".." takes the element before it away, and at the
 * root there is nothing to take; what is empty then is ".".
 */
#include <errno.h>
#include <string.h>

#include "river-config/convert.h"
#include "river-config/stdlib.h"
#include "river-config/text.h"

static int join_parts(struct river_call *c, struct river_text *t)
{
	const char *part;
	size_t len;

	for (size_t i = 0; i < c->n_args; i++) {
		int r = river_to_text(c->args[i], c->err, &part, &len);

		if (r != RIVER_OK)
			return r;
		if (len > 0 && t->len > 0)
			river_text_char(t, '/');
		river_text_append(t, part, len);
	}
	return RIVER_OK;
}

/* `base` is what no ".." takes away: the root, or leading "..". */
static void clean_element(struct river_text *t, const char *s, size_t n, bool rooted, size_t *base)
{
	if (n == 0 || (n == 1 && s[0] == '.'))
		return;
	if (n == 2 && memcmp(s, "..", 2) == 0 && (rooted || t->len > *base)) {
		while (t->len > *base && t->data[--t->len] != '/')
			;
		return;
	}
	if (t->len > (rooted ? 1U : 0U))
		river_text_char(t, '/');
	river_text_append(t, s, n);
	if (n == 2 && memcmp(s, "..", 2) == 0)
		*base = t->len;
}

static void clean_path(struct river_text *t, const char *s, size_t n)
{
	bool rooted = n > 0 && s[0] == '/';
	size_t base = rooted ? 1 : 0, end;

	if (rooted)
		river_text_char(t, '/');
	for (size_t i = 0; i < n && !t->failed; i = end + 1) {
		const char *slash = memchr(s + i, '/', n - i);

		end = slash ? (size_t)(slash - s) : n;
		clean_element(t, s + i, end - i, rooted, &base);
	}
	if (t->len == 0)
		river_text_char(t, '.');
}

static int call_path_join(struct river_call *c)
{
	struct river_text joined = RIVER_TEXT_INIT(c->err->arena);
	struct river_text clean = RIVER_TEXT_INIT(c->err->arena);
	int r = join_parts(c, &joined);

	if (r != RIVER_OK)
		return r;
	if (!river_text_take(&joined))
		return -ENOMEM;
	if (joined.len > 0)
		clean_path(&clean, joined.data, joined.len);
	if (!river_text_take(&clean))
		return -ENOMEM;
	c->result = river_value_new_string(c->err->arena, clean.data, clean.len);
	return RIVER_OK;
}

static const struct river_function rows[] = {
	{ "file.path_join", call_path_join, .is_variadic = true },
};

const struct river_family river_stdlib_file = RIVER_FAMILY(rows);
