/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a profile that every reader accepts? Unpacks it and looks at every reference. */
#ifndef XAGENT_TESTS_SUPPORT_PPROF_CHECK_H
#define XAGENT_TESTS_SUPPORT_PPROF_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/pprof.h"
#include "pprof/profile.pb-c.h"

struct pprof_facts {
	size_t plain_bytes;
	size_t n_samples;
	size_t n_locations;
	size_t n_functions;
	size_t n_strings;
	size_t n_values;
	int64_t totals[PPROF_MAX_VALUES]; /* by type */
};

/* Exactly one gzip member of at most max plain bytes: 0, or -1. */
int pprof_gunzip(const struct pprof_bytes *gz, size_t max, struct pprof_bytes *ret_plain);

/* NULL when all is well, else what is wrong; the facts are set as far as it came. */
const char *pprof_check_message(const Perftools__Profiles__Profile *p, struct pprof_facts *facts);
const char *pprof_check_plain(const struct pprof_bytes *plain, struct pprof_facts *ret_facts);
const char *pprof_check(const struct pprof_bytes *gz, size_t max, struct pprof_facts *ret_facts);

#endif
