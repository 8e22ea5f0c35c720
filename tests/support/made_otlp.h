/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of OTLP profiles as tests want it: one profile of CPU time, changed at will as the generated message, then packed.
 *
 *	tables	their row 0 is the zero value; strings by made_otlp_text()
 *	stacks	1: main;work, 2: main;work;0x1030 (an address without a name); leaf first, as OTLP has it
 *	samples	5 of stack 1, 2 of stack 2; the period is 10 ms
 */
#ifndef XAGENT_TESTS_SUPPORT_MADE_OTLP_H
#define XAGENT_TESTS_SUPPORT_MADE_OTLP_H

#include "agent/encode/otlp.pb-c.h"
#include "agent/util/arena.h"

#define MADE_OTLP_MAX 24
#define MADE_OTLP_TIME_NS UINT64_C(1700000000000000000)
#define MADE_OTLP_DURATION_NS UINT64_C(1000000000)

struct made_otlp {
	struct arena arena;
	Otlp__Profiles__ExportProfilesServiceRequest request;
	Otlp__Profiles__ProfilesDictionary dictionary; /* tables have room for MADE_OTLP_MAX rows */
	Otlp__Profiles__ResourceProfiles *resource;
	Otlp__Profiles__ScopeProfiles *scope;
	Otlp__Profiles__Profile *profile;
};

void made_otlp_init(struct made_otlp *m);
void made_otlp_fini(struct made_otlp *m);

int32_t made_otlp_text(struct made_otlp *m, const char *text);
/* Of the resource (or scope); value: a text. Returns it, to be changed. */
Otlp__Profiles__KeyValue *made_otlp_resource(struct made_otlp *m, const char *key,
					     const char *value);
Otlp__Profiles__KeyValue *made_otlp_scope(struct made_otlp *m, const char *key, const char *value);
/* A row of the table of attributes, given to a sample. */
Otlp__Profiles__KeyValueAndUnit *made_otlp_attribute(struct made_otlp *m, size_t sample,
						     const char *key, const char *value);
Otlp__Profiles__Sample *made_otlp_sample(struct made_otlp *m, Otlp__Profiles__Profile *p,
					 int32_t stack, int64_t value);
/* A further profile in the same scope, without samples. */
Otlp__Profiles__Profile *made_otlp_profile(struct made_otlp *m, const char *type, const char *unit,
					   const char *period_type, const char *period_unit,
					   int64_t period);

/* The caller frees. */
uint8_t *made_otlp_pack(const struct made_otlp *m, size_t *ret_n);

#endif
