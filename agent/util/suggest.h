/* SPDX-License-Identifier: Apache-2.0 */
/* What a person may have meant: edit distance between names. Pure. */
#ifndef XAGENT_AGENT_UTIL_SUGGEST_H
#define XAGENT_AGENT_UTIL_SUGGEST_H

#include <stddef.h>

/* Longer names are never suggested. */
#define SUGGEST_MAX 64

/* Insertions, deletions, replacements and swaps of neighbours; SUGGEST_MAX + 1 when one of the names is too long. */
size_t suggest_distance(const char *a, const char *b);

/* The candidate that is at most a third of its length (and at least one edit) away from `given`, the nearest one; NULL: none. */
const char *suggest_nearest(const char *given, const char *const *candidates, size_t n);

#endif
