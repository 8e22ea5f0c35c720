/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a builder holds: rows of numbers over interned strings. Inside the library only.
 *
 * Invariant: strings.packed_bytes + body_bytes is the size of the encoded profile, and never more
 * than max_bytes.
 */
#ifndef XAGENT_PPROF_BUILDER_H
#define XAGENT_PPROF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "pprof/intern.h"
#include "pprof/pprof.h"

enum pprof_mapping_word {
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILE_OFF,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES,
	MAPPING_WORDS,
};

enum pprof_function_word {
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILENAME,
	FUNCTION_START_LINE,
	FUNCTION_WORDS,
};

/* Followed by pairs of function id and line. */
enum pprof_location_word {
	LOCATION_MAPPING,
	LOCATION_ADDRESS,
	LOCATION_WORDS,
};
#define LOCATION_LINE_WORDS 3

/* The number of locations, the location ids, and then the labels in ascending order. */
#define SAMPLE_WORDS 1
enum pprof_label_word {
	LABEL_KEY,
	LABEL_STR,
	LABEL_NUM,
	LABEL_NUM_UNIT,
	LABEL_WORDS,
};

/* What a sample holds besides its row, which is its key; followed by its values. */
enum pprof_weight_word {
	WEIGHT_FIXED_BYTES, /* packed, without the field of the values */
	WEIGHT_WORDS,
};

struct pprof_type_row {
	uint32_t type;
	uint32_t unit;
};

struct pprof_builder {
	struct pprof_strings strings;
	struct pprof_tuples mappings;
	struct pprof_tuples functions;
	struct pprof_tuples locations;
	struct pprof_tuples samples;
	int64_t *weights; /* WEIGHT_WORDS + n_values for sample row id - 1 */
	size_t weights_cap;
	struct pprof_type_row value_types[PPROF_MAX_VALUES];
	size_t n_values;
	struct pprof_type_row period_type;
	int64_t period;
	int64_t time_ns;
	int64_t duration_ns;
	int64_t totals[PPROF_MAX_VALUES];
	size_t body_bytes; /* packed, all but the strings */
	size_t max_samples;
	size_t max_bytes;
	int gzip_level;
};

/* Of sample row id i + 1. */
static inline int64_t *pprof_builder_weight(const struct pprof_builder *b, size_t i)
{
	return b->weights + i * (WEIGHT_WORDS + b->n_values);
}

/* Whether the profile may grow by n packed bytes. */
static inline bool pprof_builder_fits(const struct pprof_builder *b, size_t n)
{
	size_t used = b->strings.packed_bytes + b->body_bytes;

	return used <= b->max_bytes && n <= b->max_bytes - used;
}

#endif
