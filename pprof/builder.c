/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder: its life, and everything below a sample.
 *
 * Each adding function drafts a row, looks for an equal one, and only then pays for a new one:
 * strings and row together fit, or the strings are rolled back.
 */
#include "pprof/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pprof/wire_size.h"

/* Zlib's range; 0 would store without compressing. */
#define GZIP_LEVEL_MIN 1
#define GZIP_LEVEL_MAX 9

static bool text_empty(const char *text)
{
	return !text || text[0] == '\0';
}

static bool types_valid(const struct pprof_options *o)
{
	if (o->n_values == 0 || o->n_values > PPROF_MAX_VALUES)
		return false;
	for (size_t i = 0; i < o->n_values; i++)
		if (text_empty(o->value_types[i].type) || text_empty(o->value_types[i].unit) ||
		    strchr(o->value_types[i].type, '-'))
			return false;
	/* Both, or none: there are profiles without a period. */
	return text_empty(o->period_type.type) == text_empty(o->period_type.unit);
}

static bool options_valid(const struct pprof_options *o)
{
	if (!types_valid(o))
		return false;
	if (o->period <= 0 || o->time_ns <= 0 || o->duration_ns < 0)
		return false;
	if (o->max_samples == 0 || o->max_bytes > PPROF_MAX_MAX_BYTES)
		return false;
	return o->gzip_level >= GZIP_LEVEL_MIN && o->gzip_level <= GZIP_LEVEL_MAX;
}

static uint64_t hash_seed(const void *fallback)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uintptr_t)fallback;
	return seed;
}

static int value_type_intern(struct pprof_builder *b, const struct pprof_value_type *type,
			     struct pprof_type_row *ret_row)
{
	int r = pprof_strings_intern(&b->strings, type->type, &ret_row->type);

	return r ? r : pprof_strings_intern(&b->strings, type->unit, &ret_row->unit);
}

static int types_intern(struct pprof_builder *b, const struct pprof_options *o)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->n_values; i++)
		r = value_type_intern(b, &o->value_types[i], &b->value_types[i]);
	b->n_values = o->n_values;
	return r ? r : value_type_intern(b, &o->period_type, &b->period_type);
}

static size_t value_type_bytes(const struct pprof_type_row *t)
{
	return wire_block_bytes(wire_number_bytes(t->type) + wire_number_bytes(t->unit));
}

static int builder_init(struct pprof_builder *b, const struct pprof_options *o)
{
	uint64_t seed = hash_seed(b);
	int r;

	pprof_tuples_init(&b->mappings, seed);
	pprof_tuples_init(&b->functions, seed);
	pprof_tuples_init(&b->locations, seed);
	pprof_tuples_init(&b->samples, seed);
	r = pprof_strings_init(&b->strings, seed, o->max_bytes);
	if (r == 0)
		r = types_intern(b, o);
	if (r != 0)
		return r;
	b->period = o->period;
	b->time_ns = o->time_ns;
	b->duration_ns = o->duration_ns;
	b->max_samples = o->max_samples;
	b->max_bytes = o->max_bytes;
	b->gzip_level = o->gzip_level;
	b->body_bytes = value_type_bytes(&b->period_type) + wire_number_bytes((uint64_t)b->period) +
			wire_number_bytes((uint64_t)b->time_ns) +
			wire_number_bytes((uint64_t)b->duration_ns);
	for (size_t i = 0; i < b->n_values; i++)
		b->body_bytes += value_type_bytes(&b->value_types[i]);
	return pprof_builder_fits(b, 0) ? 0 : PPROF_FULL;
}

int pprof_builder_new(const struct pprof_options *options, struct pprof_builder **ret_builder)
{
	int r;

	if (!options_valid(options))
		return -EINVAL;
	struct pprof_builder *b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	r = builder_init(b, options);
	if (r != 0) {
		pprof_builder_free(b);
		return r == PPROF_FULL ? -EINVAL : r;
	}
	*ret_builder = b;
	return 0;
}

void pprof_builder_free(struct pprof_builder *b)
{
	if (!b)
		return;
	pprof_strings_fini(&b->strings);
	pprof_tuples_fini(&b->mappings);
	pprof_tuples_fini(&b->functions);
	pprof_tuples_fini(&b->locations);
	pprof_tuples_fini(&b->samples);
	free(b->weights);
	free(b);
}

void pprof_builder_freeze(struct pprof_builder *b)
{
	b->max_samples = b->samples.n;
	b->max_bytes = pprof_builder_packed_bytes(b);
	pprof_strings_freeze(&b->strings);
	pprof_tuples_freeze(&b->mappings);
	pprof_tuples_freeze(&b->functions);
	pprof_tuples_freeze(&b->locations);
	pprof_tuples_freeze(&b->samples);
	b->weights = pprof_shrink(b->weights, &b->weights_cap,
				  b->samples.n * (WEIGHT_WORDS + b->n_values), sizeof(*b->weights));
}

size_t pprof_builder_memory_bytes(const struct pprof_builder *b)
{
	return sizeof(*b) + pprof_strings_memory_bytes(&b->strings) +
	       pprof_tuples_memory_bytes(&b->mappings) + pprof_tuples_memory_bytes(&b->functions) +
	       pprof_tuples_memory_bytes(&b->locations) + pprof_tuples_memory_bytes(&b->samples) +
	       b->weights_cap * sizeof(*b->weights);
}

/*
 * Puts the drafted row of the given packed size, which holds no id yet, into its table, unless an
 * equal one is there.
 */
static int row_put(struct pprof_builder *b, struct pprof_tuples *rows, size_t packed_bytes,
		   uint64_t *ret_id)
{
	uint32_t id = pprof_tuples_find_draft(rows);

	if (!id) {
		size_t bytes = wire_block_bytes(wire_number_bytes(rows->n + 1) + packed_bytes);

		if (!pprof_builder_fits(b, bytes))
			return PPROF_FULL;
		b->body_bytes += bytes;
		id = pprof_tuples_commit(rows);
	}
	*ret_id = id;
	return 0;
}

static size_t numbers_bytes(const uint64_t *words, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += wire_number_bytes(words[i]);
	return bytes;
}

static int mapping_put(struct pprof_builder *b, const struct pprof_mapping *m, uint64_t *ret_id)
{
	uint32_t filename, build_id;
	uint64_t *row;
	int r = pprof_strings_intern(&b->strings, m->filename, &filename);

	if (r == 0)
		r = pprof_strings_intern(&b->strings, m->build_id, &build_id);
	if (r != 0)
		return r;
	row = pprof_tuples_draft(&b->mappings, MAPPING_WORDS);
	if (!row)
		return -ENOMEM;
	row[MAPPING_START] = m->start;
	row[MAPPING_LIMIT] = m->limit;
	row[MAPPING_FILE_OFF] = m->file_off;
	row[MAPPING_FILENAME] = filename;
	row[MAPPING_BUILD_ID] = build_id;
	row[MAPPING_HAS_FUNCTIONS] = m->has_functions;
	row[MAPPING_HAS_FILENAMES] = m->has_filenames;
	row[MAPPING_HAS_LINES] = m->has_lines;
	row[MAPPING_HAS_INLINES] = m->has_inlines;
	return row_put(b, &b->mappings, numbers_bytes(row, MAPPING_WORDS), ret_id);
}

int pprof_builder_mapping(struct pprof_builder *b, const struct pprof_mapping *mapping,
			  uint64_t *ret_id)
{
	size_t n_strings = b->strings.n;
	int r = mapping_put(b, mapping, ret_id);

	if (r != 0)
		pprof_strings_rollback(&b->strings, n_strings);
	return r;
}

static int function_put(struct pprof_builder *b, const struct pprof_function *f, uint64_t *ret_id)
{
	uint32_t name, system_name, filename;
	uint64_t *row;
	int r = pprof_strings_intern(&b->strings, f->name, &name);

	if (r == 0)
		r = pprof_strings_intern(&b->strings, f->system_name, &system_name);
	if (r == 0)
		r = pprof_strings_intern(&b->strings, f->filename, &filename);
	if (r != 0)
		return r;
	row = pprof_tuples_draft(&b->functions, FUNCTION_WORDS);
	if (!row)
		return -ENOMEM;
	row[FUNCTION_NAME] = name;
	row[FUNCTION_SYSTEM_NAME] = system_name;
	row[FUNCTION_FILENAME] = filename;
	row[FUNCTION_START_LINE] = (uint64_t)f->start_line;
	return row_put(b, &b->functions, numbers_bytes(row, FUNCTION_WORDS), ret_id);
}

int pprof_builder_function(struct pprof_builder *b, const struct pprof_function *function,
			   uint64_t *ret_id)
{
	size_t n_strings = b->strings.n;
	int r;

	if (text_empty(function->name) || function->start_line < 0)
		return -EINVAL;
	r = function_put(b, function, ret_id);
	if (r != 0)
		pprof_strings_rollback(&b->strings, n_strings);
	return r;
}

static bool lines_valid(const struct pprof_builder *b, const struct pprof_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (lines[i].function_id == 0 || lines[i].function_id > b->functions.n ||
		    lines[i].line < 0 || lines[i].column < 0)
			return false;
	return n > 0;
}

int pprof_builder_location(struct pprof_builder *b, uint64_t mapping_id, uint64_t address,
			   const struct pprof_line *lines, size_t n_lines, uint64_t *ret_id)
{
	size_t bytes = wire_number_bytes(mapping_id) + wire_number_bytes(address);
	uint64_t *row;

	if (n_lines > PPROF_MAX_LINES)
		return -E2BIG;
	if (mapping_id > b->mappings.n || !lines_valid(b, lines, n_lines))
		return -EINVAL;
	row = pprof_tuples_draft(&b->locations, LOCATION_WORDS + n_lines * LOCATION_LINE_WORDS);
	if (!row)
		return -ENOMEM;
	row[LOCATION_MAPPING] = mapping_id;
	row[LOCATION_ADDRESS] = address;
	for (size_t i = 0; i < n_lines; i++) {
		uint64_t *line = row + LOCATION_WORDS + i * LOCATION_LINE_WORDS;

		line[0] = lines[i].function_id;
		line[1] = (uint64_t)lines[i].line;
		line[2] = (uint64_t)lines[i].column;
		bytes += wire_block_bytes(numbers_bytes(line, LOCATION_LINE_WORDS));
	}
	return row_put(b, &b->locations, bytes, ret_id);
}

size_t pprof_builder_packed_bytes(const struct pprof_builder *b)
{
	return b->strings.packed_bytes + b->body_bytes;
}
