/* SPDX-License-Identifier: Apache-2.0 */
/* A pprof from outside, compressed or not. Pure. */
#ifndef XAGENT_AGENT_RECEIVE_PPROF_OPEN_H
#define XAGENT_AGENT_RECEIVE_PPROF_OPEN_H

#include "agent/store/ingest/read_budget.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* The message alone, in memory that the caller frees. 0; -EBADMSG, -EMSGSIZE with a sentence in `why`; -ECANCELED: the budget; -ENOMEM. */
int pprof_open_plain(struct str pprof, struct read_budget *budget, struct buf *why, uint8_t **ret,
		     size_t *ret_n);
/* Bytes as one member of gzip. 0 or -errno. */
int pprof_put_gzip(const void *bytes, size_t n, struct buf *out);

#endif
