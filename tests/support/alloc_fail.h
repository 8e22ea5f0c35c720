/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one chosen allocation fail, so that a test can walk through every place where memory may
 * run out:
 *
 *	for (size_t nth = 1;; nth++) {
 *		alloc_fail_arm(nth);
 *		r = the_case();
 *		if (!alloc_fail_disarm())
 *			break;			(the case makes fewer allocations: all were tried)
 *		assert_int_equal(r, -ENOMEM);
 *	}
 *
 * It works by the linker, for the calls that come from our own objects (not from inside of libc or
 * other shared libraries):
 *
 *	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray
 *	-Wl,--wrap=strdup,--wrap=strndup
 *
 * Leaks on the failing paths are for LeakSanitizer to find.
 */
#ifndef XAGENT_TESTS_SUPPORT_ALLOC_FAIL_H
#define XAGENT_TESTS_SUPPORT_ALLOC_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* The nth allocation from now on fails, counted from 1 over all threads; the others succeed. */
void alloc_fail_arm(size_t nth);
/* Whether it came to that. */
bool alloc_fail_disarm(void);

#endif
