/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects one after the other, as they arrive. */
#include "agent/discovery/json_stream.h"

#include <errno.h>
#include <string.h>

#include "agent/util/str.h"

void json_stream_init(struct json_stream *s, size_t max_bytes)
{
	buf_init(&s->line, max_bytes);
}

void json_stream_fini(struct json_stream *s)
{
	buf_fini(&s->line);
}

void json_stream_reset(struct json_stream *s)
{
	buf_reset(&s->line);
}

static int take_line(struct json_stream *s, json_stream_fn fn, void *data)
{
	struct str text = str_trim((struct str){ buf_str(&s->line), s->line.len });
	json_t *object;
	int r;

	if (text.n == 0)
		return 0;
	object = json_loadb(text.p, text.n, 0, NULL);
	r = json_is_object(object) ? fn(object, data) : -EBADMSG;
	json_decref(object);
	return r;
}

static int append(struct json_stream *s, const char *bytes, size_t n)
{
	int r = buf_append(&s->line, bytes, n);

	return r == -ENOBUFS ? -EMSGSIZE : r;
}

int json_stream_feed(struct json_stream *s, const char *bytes, size_t n, json_stream_fn fn,
		     void *data)
{
	while (n > 0) {
		const char *end = memchr(bytes, '\n', n);
		size_t n_piece = end ? (size_t)(end - bytes) : n;
		int r = append(s, bytes, n_piece);

		if (r < 0 || !end)
			return r;
		r = take_line(s, fn, data);
		buf_reset(&s->line);
		if (r < 0)
			return r;
		bytes = end + 1;
		n -= n_piece + 1;
	}
	return 0;
}
