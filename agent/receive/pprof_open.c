/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed or not. */
#include "agent/receive/pprof_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest.h"
#include "agent/store/ingest/ingest_inflate.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"

#define GZIP_LEVEL 1

int pprof_open_plain(struct str pprof, struct read_budget *budget, struct buf *why, uint8_t **ret,
		     size_t *ret_n)
{
	size_t max = MIN_OF(INGEST_MAX_PLAIN_BYTES, budget->left.inflated_bytes);
	const uint8_t *bytes = (const uint8_t *)pprof.p;
	int r = INFLATE_DONE;

	if (inflate_is_gzip(bytes, pprof.n)) {
		r = inflate_gzip(bytes, pprof.n, max, ret, ret_n);
		if (!read_budget_take_inflated(budget, *ret_n)) {
			if (r == INFLATE_DONE)
				free(*ret);
			return -ECANCELED;
		}
	} else {
		*ret = malloc(pprof.n);
		if (!*ret)
			return -ENOMEM;
		memcpy(*ret, pprof.p, pprof.n);
		*ret_n = pprof.n;
	}
	if (r == INFLATE_DONE || r < 0)
		return r;
	(void)buf_append_str(why, r == INFLATE_TOO_LARGE ? "the profile is larger than 4 MiB"
							 : "the gzip'd profile is cut or damaged");
	return r == INFLATE_TOO_LARGE ? -EMSGSIZE : -EBADMSG;
}

int pprof_put_gzip(const void *bytes, size_t n, struct buf *out)
{
	struct pprof_bytes packed = { 0 };
	int r = pprof_gzip(bytes, n, GZIP_LEVEL, &packed);

	r = r < 0 ? r : buf_append(out, packed.data, packed.n);
	pprof_bytes_fini(&packed);
	return r;
}
