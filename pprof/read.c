/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a builder, for encoders of other forms. */
#include <string.h>

#include "pprof/builder.h"

int64_t pprof_builder_period(const struct pprof_builder *b)
{
	return b->period;
}

void pprof_builder_read_sample(const struct pprof_builder *b, size_t i,
			       struct pprof_sample *ret_sample)
{
	size_t n_words;
	const uint64_t *row = pprof_tuples_get(&b->samples, i + 1, &n_words);

	*ret_sample = (struct pprof_sample){ row + SAMPLE_WORDS, row[0],
					     pprof_builder_weight(b, i) + WEIGHT_WORDS };
}

const char *pprof_builder_sample_label(const struct pprof_builder *b, size_t i, const char *key)
{
	size_t n_words;
	const uint64_t *row = pprof_tuples_get(&b->samples, i + 1, &n_words);

	for (size_t at = SAMPLE_WORDS + row[0]; at < n_words; at += LABEL_WORDS)
		if (row[at + LABEL_STR] &&
		    strcmp(pprof_strings_get(&b->strings, row[at + LABEL_KEY]), key) == 0)
			return pprof_strings_get(&b->strings, row[at + LABEL_STR]);
	return NULL;
}

size_t pprof_builder_n_lines(const struct pprof_builder *b, uint64_t location_id)
{
	size_t n_words;

	(void)pprof_tuples_get(&b->locations, location_id, &n_words);
	return (n_words - LOCATION_WORDS) / LOCATION_LINE_WORDS;
}

const char *pprof_builder_line_function(const struct pprof_builder *b, uint64_t location_id,
					size_t line)
{
	size_t n_words;
	const uint64_t *location = pprof_tuples_get(&b->locations, location_id, &n_words);
	const uint64_t *function = pprof_tuples_get(
		&b->functions, location[LOCATION_WORDS + line * LOCATION_LINE_WORDS], &n_words);

	return pprof_strings_get(&b->strings, function[FUNCTION_NAME]);
}
