/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pprof of /ingest as it goes on: as it came, but where a server would refuse it for what the server of /ingest puts right.
 *
 *	time	of 1970, which is none, or in microseconds: a field with another time is put behind the last one, which is the one that counts
 *	types	with '-', as .NET's profiler has them: '_' in its place
 *	names	of Python and Ruby: with their files (pprof_names.h); such a profile is compressed again
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

struct pprof_adapt_options {
	uint64_t time_ns; /* for one without a time */
	const char *spy;  /* the client's name; NULL: none */
	struct read_budget *budget;
};

/*
 * 0; -EBADMSG: no pprof, -EMSGSIZE: it is larger than servers take, both with a sentence in `why`;
 * -ECANCELED: the budget; -ENOMEM. What a server would say of it is said here: its structure is sound.
 */
int pprof_adapt(struct str pprof, const struct pprof_adapt_options *options, struct buf *why,
		struct pprof_adapted *ret);
void pprof_adapted_fini(struct pprof_adapted *a);

#endif
