/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed answers. */
#include "agent/http/encoding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

/* 15 bits of window as everywhere, and 16 more that ask zlib for a gzip wrapper. */
#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_MEM_LEVEL 8

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* weight = "q=" qvalue; a qvalue is zero when it has no other digit. */
static bool is_refusal(struct str parameter)
{
	struct str s = str_trim(parameter);

	if (s.n < 3 || strncasecmp(s.p, "q=", 2) != 0)
		return false;
	for (size_t i = 2; i < s.n; i++)
		if (s.p[i] != '0' && s.p[i] != '.')
			return false;
	return true;
}

/* coding [ weight ] */
static bool item_allows(struct str item, const char *coding, bool *ret_named)
{
	struct str name, parameter;
	bool refused = false;

	if (!str_split(&item, ';', &name) || !is_word(str_trim(name), coding))
		return false;
	while (str_split(&item, ';', &parameter))
		refused |= is_refusal(parameter);
	*ret_named = true;
	return !refused;
}

bool encoding_takes_gzip(const char *accept_encoding)
{
	struct str rest = str_from(accept_encoding), item;
	bool named = false, star_named = false, gzip = false, star = false;

	while (str_split(&rest, ',', &item)) {
		gzip |= item_allows(item, "gzip", &named) || item_allows(item, "x-gzip", &named);
		star |= item_allows(item, "*", &star_named);
	}
	return named ? gzip : star;
}

bool encoding_is_worth(const char *content_type)
{
	static const char *const heads[] = {
		"text/",	 "application/json", "application/proto", "application/javascript",
		"image/svg+xml",
	};

	for (size_t i = 0; content_type && i < ARRAY_SIZE(heads); i++)
		if (strncasecmp(content_type, heads[i], strlen(heads[i])) == 0)
			return true;
	return false;
}

/* At most `room` bytes. */
static int deflate_all(const struct buf *body, char *out, size_t room, size_t *ret_n)
{
	z_stream z = { .next_in = (Bytef *)body->data,
		       .avail_in = (uInt)body->len,
		       .next_out = (Bytef *)out,
		       .avail_out = (uInt)room };

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	int status = deflate(&z, Z_FINISH);
	(void)deflateEnd(&z);
	if (status != Z_STREAM_END)
		return -E2BIG;
	*ret_n = room - z.avail_out;
	return 0;
}

int encoding_gzip(struct buf *body)
{
	size_t n = 0;

	if (body->len > ENCODING_MAX_BYTES)
		return -E2BIG;
	_cleanup_free_ char *out = malloc(body->len + 1);
	if (!out)
		return -ENOMEM;
	int r = deflate_all(body, out, body->len, &n);
	if (r < 0)
		return r;
	/* A slow client keeps it for long. */
	char *exact = realloc(out, n + 1);
	free(body->data);
	body->data = exact ? exact : out;
	body->data[n] = '\0';
	body->len = n;
	body->cap = n + 1;
	out = NULL;
	return 0;
}
