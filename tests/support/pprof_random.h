/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles with the shape of real ones, and stranger ones, from a seed. */
#ifndef XAGENT_TESTS_SUPPORT_PPROF_RANDOM_H
#define XAGENT_TESTS_SUPPORT_PPROF_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/pprof.h"

struct pprof_random {
	uint64_t state;
	size_t n_functions; /* distinct names to choose from, > 0 */
	size_t max_depth;   /* > 0 */
	size_t max_labels;
	int64_t max_value; /* > 0 */
	bool strange;	   /* names of arbitrary bytes, empty file names, large numbers */
};

/* From 0 to below n. */
uint64_t pprof_random_below(struct pprof_random *random, uint64_t n);

/* Adds one sample and what it needs; returns what the builder said. */
int pprof_random_add(struct pprof_random *random, struct pprof_builder *b);

#endif
