/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as gzip'd pprof. */
#include "agent/encode/profile.h"

int encode_pprof(const struct profile *p, struct pprof_bytes *ret_bytes)
{
	return pprof_builder_encode(p->tables, ret_bytes);
}
