/* SPDX-License-Identifier: Apache-2.0 */
/* gzip → bytes, bounded. */
#include "agent/store/ingest/ingest_inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "agent/util/cleanup.h"

/* 15 bits of window as everywhere, and 16 more that tell zlib of the gzip wrapper. */
#define INFLATE_WINDOW_BITS (15 + 16)
#define INFLATE_FIRST_BYTES ((size_t)64 * 1024)

struct inflating {
	z_stream z;
	uint8_t *out;
	size_t n, cap, max_bytes;
};

bool inflate_is_gzip(const uint8_t *bytes, size_t n)
{
	return n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* One byte more than is allowed, so that "too large" is seen. */
static int inflating_grow(struct inflating *x)
{
	size_t cap = x->cap ? x->cap * 2 : INFLATE_FIRST_BYTES;

	if (cap > x->max_bytes + 1)
		cap = x->max_bytes + 1;
	if (cap == x->cap)
		return INFLATE_TOO_LARGE;
	uint8_t *out = realloc(x->out, cap);
	if (!out)
		return -ENOMEM;
	x->out = out;
	x->cap = cap;
	return 0;
}

/* One step of a member: 1 at its end. */
static int inflating_step(struct inflating *x, int *ret_status)
{
	int r = x->n == x->cap ? inflating_grow(x) : 0;

	if (r != 0)
		return r;
	x->z.next_out = x->out + x->n;
	x->z.avail_out = (uInt)(x->cap - x->n);
	*ret_status = inflate(&x->z, Z_NO_FLUSH);
	x->n = x->cap - x->z.avail_out;
	return x->n > x->max_bytes ? INFLATE_TOO_LARGE : 0;
}

static int inflating_run(struct inflating *x)
{
	for (;;) {
		int status, r = inflating_step(x, &status);

		if (r != 0)
			return r;
		if (status == Z_MEM_ERROR)
			return -ENOMEM;
		if (status == Z_STREAM_END && x->z.avail_in == 0)
			return INFLATE_DONE;
		if (status == Z_STREAM_END)
			status = inflateReset(&x->z);
		/* Without progress the input is cut: there is room for output. */
		if (status != Z_OK || (x->z.avail_in == 0 && x->z.avail_out > 0))
			return INFLATE_DAMAGED;
	}
}

int inflate_gzip(const uint8_t *bytes, size_t n, size_t max_bytes, uint8_t **ret_plain,
		 size_t *ret_n)
{
	struct inflating x = { .max_bytes = max_bytes };

	*ret_n = 0;
	if (n > UINT32_MAX)
		return INFLATE_TOO_LARGE;
	x.z.next_in = (Bytef *)bytes;
	x.z.avail_in = (uInt)n;
	if (inflateInit2(&x.z, INFLATE_WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	int r = inflating_run(&x);
	(void)inflateEnd(&x.z);
	*ret_n = x.n;
	if (r != INFLATE_DONE) {
		free(x.out);
		return r;
	}
	*ret_plain = x.out;
	return INFLATE_DONE;
}
