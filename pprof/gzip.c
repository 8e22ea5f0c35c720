/* SPDX-License-Identifier: Apache-2.0 */
/* Little pieces in, one gzip member out: zlib without its surprises. */
#include "pprof/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * 15 bits of window as everywhere. What is shorter needs no more than its own length, and what zlib
 * looks ahead (deflate.h: MIN_LOOKAHEAD): clearing tables for 32 KiB takes several times as long as
 * compressing a profile of 4.
 */
#define GZIP_MIN_WINDOW_BITS 9
#define GZIP_MAX_WINDOW_BITS 15
#define GZIP_LOOKAHEAD_BYTES 262
/* Asks zlib for a gzip wrapper; its time stamp is then 0. */
#define GZIP_WRAPPER 16
/* Symbols of a block: 64 at level 0, twice as many at each further one. */
#define GZIP_MAX_MEM_LEVEL 8
#define GZIP_MEM_LEVEL_0_BITS 6
#define GZIP_FIRST_BYTES 16384

/* Our own allocation, so that zlib's multiplication is checked, too. */
static voidpf gzip_alloc(voidpf opaque, uInt n, uInt item_bytes)
{
	(void)opaque;
	return calloc(n, item_bytes);
}

static void gzip_free(voidpf opaque, voidpf address)
{
	(void)opaque;
	free(address);
}

static int window_bits(size_t plain_bytes)
{
	int bits = GZIP_MIN_WINDOW_BITS;

	while (bits < GZIP_MAX_WINDOW_BITS &&
	       ((size_t)1 << bits) - GZIP_LOOKAHEAD_BYTES < plain_bytes)
		bits++;
	return bits;
}

/* All symbols in one block, as far as that goes. */
static int mem_level(size_t plain_bytes)
{
	int level = 1;

	while (level < GZIP_MAX_MEM_LEVEL &&
	       ((size_t)1 << (GZIP_MEM_LEVEL_0_BITS + level)) < plain_bytes)
		level++;
	return level;
}

int pprof_gzip_init(struct pprof_gzip *g, int level, size_t plain_bytes)
{
	int status;

	*g = (struct pprof_gzip){ .z = { .zalloc = gzip_alloc, .zfree = gzip_free } };
	status = deflateInit2(&g->z, level, Z_DEFLATED, window_bits(plain_bytes) + GZIP_WRAPPER,
			      mem_level(plain_bytes), Z_DEFAULT_STRATEGY);
	if (status != Z_OK)
		return status == Z_MEM_ERROR ? -ENOMEM : -EINVAL;
	g->out_max = deflateBound(&g->z, plain_bytes);
	return 0;
}

void pprof_gzip_fini(struct pprof_gzip *g)
{
	(void)deflateEnd(&g->z);
	free(g->out);
	g->out = NULL;
}

static int gzip_grow(struct pprof_gzip *g)
{
	size_t cap = g->out_cap ? g->out_cap * 2 : GZIP_FIRST_BYTES;
	uint8_t *out;

	if (cap > g->out_max)
		cap = g->out_max;
	if (cap == g->out_cap)
		return -EFBIG;
	out = realloc(g->out, cap);
	if (!out)
		return -ENOMEM;
	g->z.next_out = out + g->out_cap;
	g->z.avail_out = (uInt)(cap - g->out_cap);
	g->out = out;
	g->out_cap = cap;
	return 0;
}

/* Compresses what is staged; with Z_FINISH to the end of the member. */
static int gzip_deflate(struct pprof_gzip *g, int flush)
{
	int status = Z_OK;

	g->z.next_in = g->stage;
	g->z.avail_in = (uInt)g->stage_n;
	g->stage_n = 0;
	while (g->z.avail_in > 0 || (flush == Z_FINISH && status != Z_STREAM_END)) {
		int r = g->z.avail_out == 0 ? gzip_grow(g) : 0;

		if (r < 0)
			return r;
		status = deflate(&g->z, flush);
		if (status == Z_STREAM_ERROR)
			return -EIO;
	}
	return 0;
}

int pprof_gzip_write(struct pprof_gzip *g, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n > 0) {
		size_t room = sizeof(g->stage) - g->stage_n;
		size_t part = n < room ? n : room;

		memcpy(g->stage + g->stage_n, p, part);
		g->stage_n += part;
		p += part;
		n -= part;
		if (g->stage_n == sizeof(g->stage)) {
			int r = gzip_deflate(g, Z_NO_FLUSH);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int pprof_gzip_finish(struct pprof_gzip *g, struct pprof_bytes *ret_bytes)
{
	int r = gzip_deflate(g, Z_FINISH);

	if (r < 0)
		return r;
	size_t n = g->out_cap - g->z.avail_out;
	/*
	 * A queue may hold the bytes for long: give back the rest. The larger block serves as well.
	 */
	uint8_t *exact = realloc(g->out, n);
	*ret_bytes = (struct pprof_bytes){ exact ? exact : g->out, n };
	g->out = NULL;
	return 0;
}

int pprof_gzip(const void *data, size_t n, int level, struct pprof_bytes *ret_bytes)
{
	struct pprof_gzip g;
	int r = pprof_gzip_init(&g, level, n);

	if (r == 0)
		r = pprof_gzip_write(&g, data, n);
	if (r == 0)
		r = pprof_gzip_finish(&g, ret_bytes);
	pprof_gzip_fini(&g);
	return r;
}
