/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of an OTLP dictionary as tables of pprof: a row becomes one when a stack first needs it. Inside of agent/store/otlp.
 *
 * One dictionary goes into many builders, one after the other. What is known of a row is stamped with the builder that it is known of,
 * so that beginning another costs nothing.
 */
#ifndef XAGENT_AGENT_STORE_OTLP_OTLP_STACKS_H
#define XAGENT_AGENT_STORE_OTLP_OTLP_STACKS_H

#include "agent/encode/profile.h"
#include "agent/util/arena.h"

struct Otlp__Profiles__ProfilesDictionary;

struct otlp_known {
	uint32_t stamp;
	uint32_t id; /* in the builder of that stamp; below 2^32, as PPROF_MAX_MAX_BYTES has it */
};

struct otlp_stacks {
	const struct Otlp__Profiles__ProfilesDictionary *d;
	struct pprof_builder *b; /* borrowed */
	uint32_t stamp;
	struct otlp_known *functions, *mappings, *locations;
	struct otlp_mapping_names {
		bool some, all; /* of its locations have names */
		bool files, lines;
	} * names; /* of mappings */
};

/* 0 or -ENOMEM. In the arena. */
int otlp_stacks_init(struct otlp_stacks *s, const struct Otlp__Profiles__ProfilesDictionary *d,
		     struct arena *arena);
void otlp_stacks_begin(struct otlp_stacks *s, struct pprof_builder *b);

/* The locations of a stack, the leaf first; beyond OTLP_STACK_MAX those at the root stay. At least one. 0, PPROF_FULL, -ENOMEM. */
#define OTLP_STACK_MAX 1000
int otlp_stacks_locations(struct otlp_stacks *s, int32_t stack, uint64_t *ids, size_t *ret_n);

#endif
