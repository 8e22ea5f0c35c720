/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of sources of names. */
#include "agent/symbol/symbolizer.h"

int symbolizer_chain_resolve(struct symbolizer *const *chain, size_t n,
			     const struct location *location, struct frames *ret_frames)
{
	for (size_t i = 0; i < n; i++)
		if (chain[i]->resolve(chain[i], location, ret_frames) == 0)
			return 0;
	return SYMBOLIZER_PASS;
}
