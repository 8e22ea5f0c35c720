/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of multipart/form-data. */
#include "agent/receive/multipart.h"

#include <strings.h>

#define PREFIX "\r\n--"

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* `token` or `"quoted"`; what is escaped in quotes stays as it is. */
static struct str unquote(struct str s)
{
	s = str_trim(s);
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		return (struct str){ s.p + 1, s.n - 2 };
	return s;
}

/* The value of a parameter behind the first ';'. False: there is none. */
static bool find_parameter(struct str header, const char *name, struct str *ret_value)
{
	struct str piece, key;

	if (!str_split(&header, ';', &piece))
		return false;
	while (str_split(&header, ';', &piece)) {
		if (!str_split(&piece, '=', &key) || !is_word(str_trim(key), name))
			continue;
		*ret_value = unquote(piece);
		return true;
	}
	return false;
}

bool multipart_init(struct multipart *m, const char *content_type, struct str body)
{
	struct str boundary;

	*m = (struct multipart){ .rest = body };
	if (!content_type || !find_parameter(str_from(content_type), "boundary", &boundary) ||
	    boundary.n == 0 || boundary.n > MULTIPART_MAX_BOUNDARY)
		return false;
	memcpy(m->delimiter, PREFIX, strlen(PREFIX));
	memcpy(m->delimiter + strlen(PREFIX), boundary.p, boundary.n);
	m->n_delimiter = strlen(PREFIX) + boundary.n;
	return true;
}

static void skip(struct str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

/* What comes before the next delimiter, which is skipped with it. */
static bool take_until_delimiter(struct multipart *m, struct str *ret_part)
{
	const char *at =
		m->rest.n ? memmem(m->rest.p, m->rest.n, m->delimiter, m->n_delimiter) : NULL;

	if (!at)
		return false;
	*ret_part = (struct str){ m->rest.p, (size_t)(at - m->rest.p) };
	skip(&m->rest, ret_part->n + m->n_delimiter);
	return true;
}

/* The first may be without the line break before it; what is in front of it says nothing. */
static bool begin(struct multipart *m)
{
	struct str first = { m->delimiter + 2, m->n_delimiter - 2 }, preamble;

	m->begun = true;
	if (!str_starts_with(m->rest, first))
		return take_until_delimiter(m, &preamble);
	skip(&m->rest, first.n);
	return true;
}

static bool is_disposition(struct str header)
{
	struct str name;

	return str_split(&header, ':', &name) && is_word(str_trim(name), "content-disposition");
}

/* The value of a parameter with the name of the part. */
static struct str name_of(struct str headers)
{
	struct str line, name = { 0 };

	while (str_split(&headers, '\n', &line))
		if (is_disposition(line) && find_parameter(str_trim(line), "name", &name))
			return name;
	return name;
}

static bool split_headers(struct str part, struct multipart_part *ret_part)
{
	size_t max = part.n < MULTIPART_MAX_HEADER ? part.n : MULTIPART_MAX_HEADER;
	const char *end = max ? memmem(part.p, max, "\r\n\r\n", 4) : NULL;

	if (!end)
		return false;
	ret_part->name = name_of((struct str){ part.p, (size_t)(end - part.p) });
	ret_part->body = (struct str){ end + 4, part.n - (size_t)(end + 4 - part.p) };
	return true;
}

bool multipart_next(struct multipart *m, struct multipart_part *ret_part)
{
	struct str part;

	if (m->broken)
		return false;
	m->broken = !m->begun && !begin(m);
	if (m->broken || str_starts_with(m->rest, STR_LIT("--")))
		return false;
	m->broken = !take_until_delimiter(m, &part) || !split_headers(part, ret_part);
	return !m->broken;
}
