/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of this moment with one sample, as receivers get it. */
#ifndef XAGENT_TESTS_SUPPORT_SMALL_PROFILE_H
#define XAGENT_TESTS_SUPPORT_SMALL_PROFILE_H

#include "agent/encode/profile.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

static inline struct profile *small_profile(struct labels *labels)
{
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;
	const struct pprof_function function = { .name = "f" };
	const int64_t value = 10000000;
	struct pprof_builder *b = NULL;
	struct pprof_line line = { 0 };
	struct profile *p = NULL;
	uint64_t location = 0;

	o.period = value;
	o.time_ns = (int64_t)clock_real_ns();
	assert_int_equal(pprof_builder_new(&o, &b), 0);
	assert_int_equal(pprof_builder_function(b, &function, &line.function_id), 0);
	assert_int_equal(pprof_builder_location(b, 0, 1, &line, 1, &location), 0);
	assert_int_equal(pprof_builder_sample(b, &location, 1, &value, NULL, 0), 0);
	assert_int_equal(profile_new(&b, labels, 1, (uint64_t)o.time_ns, &p), 0);
	return p;
}

#endif
