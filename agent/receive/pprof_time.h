/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a pprof from outside, and another in its place: of a field that is there twice the last counts, so it is put behind all others, where
 * the message is compressed as a member of gzip of its own. Pure.
 */
#ifndef XAGENT_AGENT_RECEIVE_PPROF_TIME_H
#define XAGENT_AGENT_RECEIVE_PPROF_TIME_H

#include "agent/store/ingest/read_budget.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* 0: it has none, or cannot be read. */
uint64_t pprof_time_of(struct str pprof, struct read_budget *budget);
/* Behind the bytes of one that is compressed, or is not. 0 or -errno. */
int pprof_time_put(uint64_t time_ns, bool is_gzip, struct buf *out);
/* The same profile of another time. 0 or -errno. */
int pprof_time_set(struct str pprof, uint64_t time_ns, struct buf *out);

#endif
