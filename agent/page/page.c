/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web page as it lies in the program, and one file of all that shows a flame graph.
 *
 * standalone.html says which marks there are: a line with one of them gives way to what it names, all other lines are copied.
 */
#include "agent/page/page.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/util/str.h"

const struct page_file *page_find(const char *name)
{
	size_t n;
	const struct page_file *files = page_files(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	return NULL;
}

static int put_script(struct str name, struct buf *out)
{
	char text[64];
	const struct page_file *file;

	if (name.n >= sizeof(text))
		return -EINVAL;
	str_copy_utf8(text, sizeof(text), name);
	file = page_find(text);
	if (!file)
		return -ENOENT;
	(void)buf_append_str(out, "<script>\n");
	(void)buf_append(out, file->bytes, file->n);
	return buf_append_str(out, "</script>\n");
}

/* JSON in an element: "<" could begin its end tag. */
static void put_json_char(unsigned char c, struct buf *out)
{
	if (c < 0x20 || c == '<')
		(void)buf_printf(out, "\\u%04x", c);
	else if (c == '"' || c == '\\')
		(void)buf_printf(out, "\\%c", c);
	else
		(void)buf_append_char(out, (char)c);
}

static void put_json_text(const char *text, struct buf *out)
{
	struct str rest = str_from(text);

	(void)buf_append_char(out, '"');
	while (rest.n > 0) {
		size_t n = str_utf8_len(rest);

		assert(n <= rest.n);
		if (n > 1)
			(void)buf_append(out, rest.p, n);
		else if (n == 1)
			put_json_char((unsigned char)*rest.p, out);
		else
			(void)buf_append_str(out, "\xef\xbf\xbd"); /* U+FFFD */
		rest.p += n ? n : 1;
		rest.n -= n ? n : 1;
	}
	(void)buf_append_char(out, '"');
}

/* Of text that is JSON already. "<" stands in strings alone, where it may be spelled so. */
static void put_json(const char *json, struct buf *out)
{
	for (const char *at = json; *at;) {
		size_t n = strcspn(at, "<");

		(void)buf_append(out, at, n);
		at += n;
		if (*at == '<') {
			(void)buf_append_str(out, "\\u003c");
			at++;
		}
	}
}

static int put_data(const struct page_profile *profile, struct buf *out)
{
	assert(profile->title && profile->unit && profile->flamebearer_json);
	(void)buf_append_str(out, "<script type=\"application/json\" id=\"xagent-profile\">"
				  "{\"title\":");
	put_json_text(profile->title, out);
	(void)buf_append_str(out, ",\"unit\":");
	put_json_text(profile->unit, out);
	(void)buf_append_str(out, ",\"flamebearer\":");
	put_json(profile->flamebearer_json, out);
	return buf_append_str(out, "}</script>\n");
}

/* What stands between `<!-- xagent:WORD` and `-->`. */
static bool cut_mark(struct str line, struct str word, struct str *ret_rest)
{
	static const struct str end = { " -->", 4 };

	line = str_trim(line);
	if (!str_starts_with(line, word) || !str_ends_with(line, end) || line.n < word.n + end.n)
		return false;
	*ret_rest = str_trim((struct str){ line.p + word.n, line.n - word.n - end.n });
	return true;
}

static int put_line(const struct page_profile *profile, struct str line, struct buf *out)
{
	struct str rest;

	if (cut_mark(line, STR_LIT("<!-- xagent:data"), &rest) && rest.n == 0)
		return put_data(profile, out);
	if (cut_mark(line, STR_LIT("<!-- xagent:script "), &rest))
		return put_script(rest, out);
	(void)buf_append(out, line.p, line.n);
	return buf_append_char(out, '\n');
}

int page_standalone(const struct page_profile *profile, struct buf *out)
{
	const struct page_file *file = page_find("standalone.html");

	assert(file);
	struct str rest = { file->bytes, file->n };
	struct str line;
	int r = 0;

	while (r == 0 && rest.n > 0 && str_split(&rest, '\n', &line))
		r = put_line(profile, line, out);
	return r == 0 && out->failed ? -ENOBUFS : r;
}
