/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a received pprof, for encoders of other forms (agent/encode): looked at as ingest_open() looks at it, with what a Pyroscope
 * server drops left out, so that they say what the server would show. Pure.
 *
 *	samples	with a value below zero, without any above, or of a stack that names what is not there; numbers as labels
 *	stacks	beyond INGEST_MAX_DEPTH: the root's side is kept
 *	frames	without a name are called FILE!0xADDRESS, as the server does
 */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_TABLES_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_TABLES_H

#include "agent/store/ingest/ingest.h"

/*
 * The same as several profiles of which none is larger than PPROF_OPTIONS_DEFAULT says, each a millisecond after the one before: `put` may take the
 * tables (*part becomes NULL then) and end it with an error, which is returned. What is refused may have been put in part.
 */
typedef int (*ingest_part_fn)(void *user, struct pprof_builder **part, uint64_t time_ns);
int ingest_parts(const uint8_t *pprof, size_t n, uint64_t now_ns, struct read_budget *budget,
		 struct buf *why, ingest_part_fn put, void *user);

/* A profile without a time is of now. `budget` has begun; NULL: none. INGEST_OPENED; INGEST_REFUSED_x with a sentence in `why`; -ENOMEM;
 * -ECANCELED. Any thread. */
int ingest_tables(const uint8_t *pprof, size_t n, uint64_t now_ns, struct read_budget *budget,
		  struct buf *why, struct pprof_builder **ret_tables);

#endif
