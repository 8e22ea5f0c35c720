/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Received profiles as tests want them: made from a few words, changed at will as the generated message, then packed.
 *
 *	struct made_profile m;
 *	made_profile_init(&m, "cpu/nanoseconds samples/count", "cpu/nanoseconds", time_ms);
 *	made_profile_sample(&m, "main;f", (const int64_t[]){ 10, 1 }, "thread=a");
 *	m.message.location[0]->id = 77;
 *	bytes = made_profile_pack(&m, &n);
 */
#ifndef XAGENT_TESTS_SUPPORT_MADE_PROFILE_H
#define XAGENT_TESTS_SUPPORT_MADE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/arena.h"
#include "pprof/profile.pb-c.h"

struct made_profile {
	struct arena arena;
	Perftools__Profiles__Profile message;
	Perftools__Profiles__ValueType period_type;
};

/* One mapping with names, /bin/made; every function has one location, at an address. period: "" for none. */
void made_profile_init(struct made_profile *m, const char *types, const char *period,
		       int64_t time_ms);
void made_profile_fini(struct made_profile *m);

/* Root first, ';' between; "" for an empty one. labels: "a=x,b=y", a number without quotes is text all the same; NULL: none. */
void made_profile_sample(struct made_profile *m, const char *stack, const int64_t *values,
			 const char *labels);
int64_t made_profile_text(struct made_profile *m, const char *text);

/* The caller frees. */
uint8_t *made_profile_pack(const struct made_profile *m, size_t *ret_n);
uint8_t *made_profile_gzip(const struct made_profile *m, size_t *ret_n);

#endif
