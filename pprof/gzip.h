/* SPDX-License-Identifier: Apache-2.0 */
/* Little pieces in, one gzip member out. */
#ifndef XAGENT_PPROF_GZIP_H
#define XAGENT_PPROF_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "pprof/pprof.h"

#define GZIP_STAGE_BYTES 8192

struct pprof_gzip {
	z_stream z;
	uint8_t *out;
	size_t out_cap;
	size_t out_max;
	size_t stage_n;
	uint8_t stage[GZIP_STAGE_BYTES]; /* pieces are a few bytes each, too small for deflate */
};

/*
 * plain_bytes: how much will be written at most; the output is bounded by it. -ENOMEM, or -EINVAL
 * for a level that zlib does not know: then fini is still allowed.
 */
int pprof_gzip_init(struct pprof_gzip *g, int level, size_t plain_bytes);
void pprof_gzip_fini(struct pprof_gzip *g);

/* -ENOMEM; -EFBIG when the output would pass its bound. After a failure only fini. */
int pprof_gzip_write(struct pprof_gzip *g, const void *data, size_t n);
/* Hands over all that was written; then only fini. */
int pprof_gzip_finish(struct pprof_gzip *g, struct pprof_bytes *ret_bytes);

#endif
