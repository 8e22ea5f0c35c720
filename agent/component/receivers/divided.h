/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A received profile that is larger than servers take, as several: each has some of its samples, and is a millisecond later than the one before, since
 * two of a series in one millisecond are one to a server. Pure.
 *
 * What a Pyroscope server takes in one moment is 2 MB before compression by its default, which a larger profile never passes however often it is sent.
 */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_DIVIDED_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_DIVIDED_H

#include "agent/encode/profile.h"
#include "agent/store/ingest/read_budget.h"

#define DIVIDED_MAX 64

struct divided {
	struct profile *items[DIVIDED_MAX]; /* a reference each */
	size_t n;			    /* 0: it stays as it came */
};

void divided_fini(struct divided *d);

/* Whether bytes as they came may be too many: what is smaller becomes no more than a profile may have when it is unpacked. */
bool divided_may_be(size_t n_bytes);

/* With these forms and FORM_PPROF, of which it has one. now_ns: of one without a time. What cannot be divided stays as it is. */
void divided_make(const struct profile *p, unsigned int wants, uint64_t now_ns,
		  struct read_budget *budget, struct divided *d);

#endif
