/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles of a process, the first a length before it → what happened between them: never more than the second says, nothing twice, and
 * after the second once more nothing at all.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "agent/scrape/delta.h"

/* What is written is shorter than what came, but for how long it was. */
#define MAX_OUT(n) ((n) + 64)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int apply(struct delta *d, const uint8_t *plain, size_t n)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_OUT(n));
	size_t n_in, n_out;
	int r = delta_apply(d, plain, n, &out);

	assert(r != -ENOBUFS);
	if (r < 0 || r == DELTA_MALFORMED)
		return r;
	assert(delta_look(plain, n, &n_in));
	assert(delta_look((const uint8_t *)buf_str(&out), out.len, &n_out) && n_out <= n_in);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(delta_freep) struct delta *d = NULL;
	size_t n = size < 2 ? 0 : (size_t)data[0] << 8 | data[1];

	if (size < 2 || n > size - 2 || delta_new(&d) < 0)
		return 0;
	(void)apply(d, data + 2, n);
	(void)apply(d, data + 2 + n, size - 2 - n);
	int r = apply(d, data + 2 + n, size - 2 - n);
	assert(r != DELTA_FIRST && r != DELTA_RESTARTED);
	return 0;
}
