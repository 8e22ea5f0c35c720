/* SPDX-License-Identifier: Apache-2.0 */
/* What an oracle has found: addresses by the class of their difference, and the exit code. */
#ifndef XAGENT_TESTS_ORACLE_REPORT_H
#define XAGENT_TESTS_ORACLE_REPORT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct oracle_class {
	const char *name;
	const char *text;
	bool is_wrong; /* there must be none, and that is told */
	bool is_extra; /* no addresses of its own */
	uint64_t n;
};

/* 0; 1: something is wrong; 77: nothing was compared. */
static inline int oracle_report(const struct oracle_class *classes, size_t n_classes, int n_files)
{
	uint64_t total = 0, n_wrong = 0;

	for (size_t i = 0; i < n_classes; i++) {
		total += classes[i].is_extra ? 0 : classes[i].n;
		n_wrong += classes[i].is_wrong ? classes[i].n : 0;
	}
	(void)printf("%d files, %" PRIu64 " addresses\n", n_files, total);
	for (size_t i = 0; i < n_classes; i++)
		if (classes[i].n || classes[i].is_wrong)
			(void)printf("%12" PRIu64 "  %-13s %s\n", classes[i].n, classes[i].name,
				     classes[i].text);
	if (total == 0)
		return 77;
	return n_wrong ? 1 : 0;
}

#endif
