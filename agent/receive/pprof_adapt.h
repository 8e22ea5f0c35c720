/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pprof of /ingest as it goes on: as it came, but where a server would refuse it for what the server of /ingest puts right.
 *
 *	time	of 1970, which is none, or in microseconds: a field with another time is put behind the last one, which is the one that counts
 *	types	with '-', as .NET's profiler has them: '_' in its place
 *
 * A field behind a compressed one is a member of gzip of its own, so nothing is compressed a second time for it. Pure.
 */
#ifndef XAGENT_AGENT_RECEIVE_PPROF_ADAPT_H
#define XAGENT_AGENT_RECEIVE_PPROF_ADAPT_H

#include "agent/store/ingest/read_budget.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Types of values of one profile that its name is made of. */
#define PPROF_ADAPT_MAX_TYPES 16

struct pprof_adapted {
	uint8_t *data; /* the caller frees */
	size_t n;
	struct buf types; /* "cpu\nsamples\n", in their order, as they go on */
	uint64_t time_ns;
};

/*
 * time_ns: for one without a time. 0; -EBADMSG: no pprof, -EMSGSIZE: it is larger than servers take, both with a sentence in `why`;
 * -ECANCELED: the budget; -ENOMEM. What a server would say of it is said here: its structure is sound.
 */
int pprof_adapt(struct str pprof, uint64_t time_ns, struct read_budget *budget, struct buf *why,
		struct pprof_adapted *ret);
void pprof_adapted_fini(struct pprof_adapted *a);

#endif
