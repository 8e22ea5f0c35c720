/* SPDX-License-Identifier: Apache-2.0 */
/* What a person may have meant. */
#include "agent/util/suggest.h"

#include <string.h>

#include "agent/util/macro.h"

/* Optimal string alignment: three rows of the usual table are enough. */
size_t suggest_distance(const char *a, const char *b)
{
	size_t rows[3][SUGGEST_MAX + 1];
	size_t n_a = strlen(a);
	size_t n_b = strlen(b);

	if (n_a > SUGGEST_MAX || n_b > SUGGEST_MAX)
		return SUGGEST_MAX + 1;
	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *now = rows[i % 3];
		const size_t *before = rows[(i + 2) % 3];
		const size_t *twice = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t edit = before[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = MIN_OF(edit, MIN_OF(before[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN_OF(now[j], twice[j - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}

const char *suggest_nearest(const char *given, const char *const *candidates, size_t n)
{
	const char *nearest = NULL;
	size_t best = SUGGEST_MAX + 1;

	for (size_t i = 0; i < n; i++) {
		size_t distance = suggest_distance(given, candidates[i]);
		size_t allowed = strlen(candidates[i]) / 3;

		if (distance <= MAX_OF(allowed, (size_t)1) && distance < best) {
			best = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}
