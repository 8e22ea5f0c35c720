/* SPDX-License-Identifier: Apache-2.0 */
/* How a person opens a file that was written. */
#include "agent/cli/profile/viewer_hint.h"

#include <ctype.h>
#include <string.h>

#include "agent/util/str.h"

/* What no shell does anything with. */
static bool is_plain(const char *word)
{
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) && !strchr("_-./,:+@%=", *word))
			return false;
	return true;
}

/* As a word of a command: quoted where a shell would do something with it, and no flag. */
static void put_word(const char *file, struct buf *out)
{
	if (*file == '-')
		(void)buf_append_str(out, "./");
	if (is_plain(file)) {
		(void)buf_append_str(out, file);
		return;
	}
	(void)buf_append_char(out, '\'');
	for (; *file; file++)
		(void)buf_append_str(out, *file == '\'' ? "'\\''" : (char[]){ *file, '\0' });
	(void)buf_append_char(out, '\'');
}

/* RFC 3986: unreserved characters, and what parts a path. */
static void put_url(const char *path, struct buf *out)
{
	(void)buf_append_str(out, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (isalnum(c) || strchr("-._~/", c))
			(void)buf_append_char(out, (char)c);
		else
			(void)buf_printf(out, "%%%02X", c);
	}
}

static void put_pprof(const struct viewer_hint *l, struct buf *out)
{
	(void)buf_append_str(out, "look at it: go tool pprof -http=: ");
	put_word(l->file, out);
	if (l->n_parts < 2)
		return;
	/* It adds up what it is given. */
	(void)buf_append_char(out, ' ');
	put_word(l->file, out);
	(void)buf_append_str(out, ".*");
}

static void put_folded(const struct viewer_hint *l, struct buf *out)
{
	(void)buf_append_str(out, "draw it: flamegraph.pl ");
	put_word(l->file, out);
	(void)buf_append_str(out, " > ");
	put_word(l->file, out);
	(void)buf_append_str(out, ".svg");
}

static void put_way(const struct viewer_hint *l, struct buf *out)
{
	switch (l->format) {
	case PROFILE_PPROF:
		put_pprof(l, out);
		break;
	case PROFILE_FOLDED:
		put_folded(l, out);
		break;
	case PROFILE_HTML:
	case PROFILE_SVG:
		(void)buf_append_str(out, "open it in a browser: ");
		put_url(l->path, out);
		break;
	case PROFILE_SPEEDSCOPE:
		(void)buf_append_str(out,
				     "drop it on https://www.speedscope.app, or: npx speedscope ");
		put_word(l->file, out);
		break;
	case PROFILE_TABLE:
		(void)buf_append_str(out, "read it: less ");
		put_word(l->file, out);
		break;
	case PROFILE_OTLP:
		(void)buf_append_str(out, "send it: curl -H 'Content-Type: application/x-protobuf' "
					  "--data-binary @");
		put_word(l->file, out);
		(void)buf_append_str(out, " http://localhost:4318/v1development/profiles");
		break;
	case PROFILE_FORMAT_UNSET:
	case PROFILE_FORMAT_MAX:
		break;
	}
}

void viewer_hint_text(const struct viewer_hint *l, struct buf *out)
{
	if (l->file && l->n_parts > 0 && !str_starts_with(str_from(l->path), STR_LIT("/dev/")))
		put_way(l, out);
}
