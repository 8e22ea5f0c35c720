/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a zip file into a buffer. */
#include "agent/cli/support/zip.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#define VERSION_NEEDED 20 /* 2.0: deflate */
#define MADE_BY_UNIX (3 << 8)
#define FLAG_UTF8 (1 << 11)
#define METHOD_DEFLATE 8
#define MODE_FILE 0100600U
/* No zlib header: the format has its own checksum. */
#define RAW_WINDOW_BITS (-15)

static void put16(struct buf *b, uint32_t v)
{
	const uint8_t bytes[] = { (uint8_t)v, (uint8_t)(v >> 8) };

	(void)buf_append(b, bytes, sizeof(bytes));
}

static void put32(struct buf *b, uint32_t v)
{
	put16(b, v & 0xffff);
	put16(b, v >> 16);
}

void zip_init(struct zip *z, struct buf *out, time_t when)
{
	struct tm tm;

	(void)gmtime_r(&when, &tm);
	*z = (struct zip){
		.out = out,
		.begin = out->len,
		/* From 1980 on, in steps of two seconds. */
		.dos_date = (uint16_t)((tm.tm_year < 80 ? 0 : tm.tm_year - 80) << 9 |
				       (tm.tm_mon + 1) << 5 | tm.tm_mday),
		.dos_time = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2),
	};
	buf_init(&z->directory, (size_t)1 << 20);
}

void zip_fini(struct zip *z)
{
	buf_fini(&z->directory);
}

static int deflate_all(const void *bytes, size_t n, struct buf *out)
{
	z_stream s = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n };
	int r;

	if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW_WINDOW_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	size_t bound = deflateBound(&s, (uLong)n);
	r = buf_reserve(out, bound);
	if (r == 0) {
		s.next_out = (Bytef *)out->data + out->len;
		s.avail_out = (uInt)bound;
		r = deflate(&s, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
		out->len += bound - s.avail_out;
		out->data[out->len] = '\0';
	}
	(void)deflateEnd(&s);
	return r;
}

struct member {
	const char *name;
	uint32_t crc, packed, size;
};

/* What both headers of a member have in common. */
static void put_common(const struct zip *z, const struct member *m, struct buf *b)
{
	assert(strlen(m->name) <= UINT16_MAX);
	put16(b, VERSION_NEEDED);
	put16(b, FLAG_UTF8);
	put16(b, METHOD_DEFLATE);
	put16(b, z->dos_time);
	put16(b, z->dos_date);
	put32(b, m->crc);
	put32(b, m->packed);
	put32(b, m->size);
	put16(b, (uint32_t)strlen(m->name));
	put16(b, 0); /* extra field */
}

static void put_local(const struct zip *z, const struct member *m, struct buf *b)
{
	put32(b, 0x04034b50);
	put_common(z, m, b);
	(void)buf_append_str(b, m->name);
}

static void put_entry(struct zip *z, const struct member *m, size_t at)
{
	struct buf *b = &z->directory;

	put32(b, 0x02014b50);
	put16(b, MADE_BY_UNIX | VERSION_NEEDED);
	put_common(z, m, b);
	put16(b, 0); /* comment */
	put16(b, 0); /* disk */
	put16(b, 0); /* internal attributes */
	put32(b, MODE_FILE << 16);
	put32(b, (uint32_t)(at - z->begin));
	(void)buf_append_str(b, m->name);
}

int zip_add(struct zip *z, const char *name, const void *bytes, size_t n)
{
	assert(z->out);

	_cleanup_buf_ struct buf packed = BUF_INIT((size_t)UINT32_MAX);
	size_t at = z->out->len;

	if (n > INT32_MAX || at - z->begin > INT32_MAX || strlen(name) > UINT16_MAX ||
	    z->n >= UINT16_MAX)
		return -E2BIG;
	int r = deflate_all(bytes, n, &packed);
	if (r < 0)
		return r;
	struct member m = {
		.name = name,
		.crc = (uint32_t)crc32(0, bytes, (uInt)n),
		.packed = (uint32_t)packed.len,
		.size = (uint32_t)n,
	};
	put_local(z, &m, z->out);
	(void)buf_append(z->out, packed.data, packed.len);
	put_entry(z, &m, at);
	z->n++;
	return z->out->failed || z->directory.failed ? -ENOBUFS : 0;
}

int zip_end(struct zip *z)
{
	struct buf *b = z->out;

	assert(b);
	size_t at = b->len - z->begin;

	z->out = NULL;
	(void)buf_append(b, buf_str(&z->directory), z->directory.len);
	put32(b, 0x06054b50);
	put16(b, 0); /* disk */
	put16(b, 0); /* disk of the directory */
	put16(b, (uint32_t)z->n);
	put16(b, (uint32_t)z->n);
	put32(b, (uint32_t)z->directory.len);
	put32(b, (uint32_t)at);
	put16(b, 0); /* comment */
	return b->failed ? -ENOBUFS : 0;
}
