/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile of OTLP is called as pprof, and what one of its values is worth there. Inside of agent/store/otlp. Pure. */
#ifndef XAGENT_AGENT_STORE_OTLP_OTLP_TYPE_H
#define XAGENT_AGENT_STORE_OTLP_OTLP_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct Otlp__Profiles__Profile;
struct Otlp__Profiles__ProfilesDictionary;

/* Texts are the message's, or static. */
struct otlp_type {
	const char *name; /* of the profile: "process_cpu" */
	const char *type, *unit;
	const char *period_type, *period_unit; /* both "": no period */
	int64_t period;			       /* > 0 */
	int64_t multiplier;		       /* > 0: of the values */
};

/* False: it has no type, or one without a name or unit. */
bool otlp_type_of(const struct Otlp__Profiles__ProfilesDictionary *d,
		  const struct Otlp__Profiles__Profile *p, struct otlp_type *ret_type);

/* A number for what a series is told by besides its labels. */
uint64_t otlp_type_hash(const struct otlp_type *type);

#endif
