/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions by edit distance. */
#include "river-config/suggest.h"

#include <string.h>

/* Longer names get no suggestion; the longest name of a known argument has half as many bytes. */
#define SUGGEST_BYTES_MAX 64

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Insertions, deletions and replacements that make `b` of `a`; both at most SUGGEST_BYTES_MAX long.
 */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[SUGGEST_BYTES_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = min(replaced, min(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_len];
}

const char *river_suggest(const struct river_schema *schema, const char *name)
{
	size_t len = strlen(name), best_distance = SIZE_MAX;
	const char *best = NULL;

	for (size_t i = 0; i < schema->n_fields && len <= SUGGEST_BYTES_MAX; i++) {
		const struct river_field *field = &schema->fields[i];
		size_t field_len = strlen(field->name), distance;

		if (field->kind == RIVER_KIND_LABEL || field_len > SUGGEST_BYTES_MAX)
			continue;
		distance = edit_distance(name, len, field->name, field_len);
		/*
		 * Names of one or two letters are close to everything; at least one letter must
		 * stay.
		 */
		if ((distance <= 2 || distance <= len / 3) && distance < min(len, field_len) &&
		    distance < best_distance) {
			best = field->name;
			best_distance = distance;
		}
	}
	return best;
}
