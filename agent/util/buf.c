/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a ceiling. */
#include "agent/util/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_MIN_CAP 64

void buf_init(struct buf *b, size_t max_bytes)
{
	*b = BUF_INIT(max_bytes);
}

void buf_fini(struct buf *b)
{
	if (!b)
		return;
	free(b->data);
	*b = BUF_INIT(b->max_bytes);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

static size_t buf_grown_cap(const struct buf *b, size_t need)
{
	size_t cap = b->cap ? b->cap : BUF_MIN_CAP;

	while (cap < need)
		cap *= 2;
	return cap > b->max_bytes + 1 ? b->max_bytes + 1 : cap;
}

int buf_reserve(struct buf *b, size_t extra)
{
	assert(b->max_bytes > 0 && b->max_bytes < SIZE_MAX / 4);
	if (extra > b->max_bytes || b->len > b->max_bytes - extra) {
		b->failed = true;
		return -ENOBUFS;
	}
	size_t need = b->len + extra + 1;
	if (need <= b->cap)
		return 0;
	size_t cap = buf_grown_cap(b, need);
	char *data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return -ENOMEM;
	}
	b->data = data;
	b->cap = cap;
	b->data[b->len] = '\0';
	return 0;
}

int buf_append(struct buf *b, const void *bytes, size_t n)
{
	int r = buf_reserve(b, n);

	if (r < 0)
		return r;
	if (n > 0)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_append_str(struct buf *b, const char *s)
{
	return buf_append(b, s, strlen(s));
}

int buf_append_char(struct buf *b, char c)
{
	return buf_append(b, &c, 1);
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	int r = n < 0 ? -EINVAL : buf_reserve(b, (size_t)n);
	if (r == 0) {
		(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
	return r;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *data = b->data ? b->data : calloc(1, 1);

	b->data = NULL;
	b->len = b->cap = 0;
	return data;
}
