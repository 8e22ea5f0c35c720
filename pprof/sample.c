/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: a stack, its labels, and a sum of values of each type. */
#include <errno.h>
#include <string.h>

#include "pprof/builder.h"
#include "pprof/wire_size.h"

static bool locations_valid(const struct pprof_builder *b, const uint64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == 0 || ids[i] > b->locations.n)
			return false;
	return n > 0;
}

static bool label_valid(const struct pprof_label *label)
{
	bool has_str = label->str && label->str[0] != '\0';
	bool has_unit = label->num_unit && label->num_unit[0] != '\0';

	if (!label->key || label->key[0] == '\0')
		return false;
	return !has_str || (label->num == 0 && !has_unit);
}

static bool values_valid(const struct pprof_builder *b, const int64_t *values)
{
	bool any = false;

	for (size_t i = 0; i < b->n_values; i++) {
		if (values[i] < 0)
			return false;
		any |= values[i] > 0;
	}
	return any;
}

static int sample_check(const struct pprof_builder *b, const uint64_t *location_ids,
			size_t n_locations, const int64_t *values, const struct pprof_label *labels,
			size_t n_labels)
{
	if (n_locations > PPROF_MAX_DEPTH || n_labels > PPROF_MAX_LABELS)
		return -E2BIG;
	if (!values_valid(b, values) || !locations_valid(b, location_ids, n_locations))
		return -EINVAL;
	for (size_t i = 0; i < n_labels; i++)
		if (!label_valid(&labels[i]))
			return -EINVAL;
	return 0;
}

static int label_row(struct pprof_builder *b, const struct pprof_label *label, uint64_t *ret_row)
{
	uint32_t key, str, num_unit;
	int r = pprof_strings_intern(&b->strings, label->key, &key);

	if (r == 0)
		r = pprof_strings_intern(&b->strings, label->str, &str);
	if (r == 0)
		r = pprof_strings_intern(&b->strings, label->num_unit, &num_unit);
	if (r != 0)
		return r;
	ret_row[LABEL_KEY] = key;
	ret_row[LABEL_STR] = str;
	ret_row[LABEL_NUM] = (uint64_t)label->num;
	ret_row[LABEL_NUM_UNIT] = num_unit;
	return 0;
}

static int label_row_compare(const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < LABEL_WORDS; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Moves the last of n sorted rows to its place; a sample has few labels. */
static void label_rows_sort_last(uint64_t *rows, size_t n)
{
	uint64_t last[LABEL_WORDS];
	size_t i = n - 1;

	memcpy(last, rows + i * LABEL_WORDS, sizeof(last));
	for (; i > 0 && label_row_compare(rows + (i - 1) * LABEL_WORDS, last) > 0; i--)
		memcpy(rows + i * LABEL_WORDS, rows + (i - 1) * LABEL_WORDS, sizeof(last));
	memcpy(rows + i * LABEL_WORDS, last, sizeof(last));
}

static int sample_draft(struct pprof_builder *b, const uint64_t *location_ids, size_t n_locations,
			const struct pprof_label *labels, size_t n_labels)
{
	uint64_t *row = pprof_tuples_draft(&b->samples,
					   SAMPLE_WORDS + n_locations + n_labels * LABEL_WORDS);

	if (!row)
		return -ENOMEM;
	row[0] = n_locations;
	memcpy(row + SAMPLE_WORDS, location_ids, n_locations * sizeof(*location_ids));
	row += SAMPLE_WORDS + n_locations;
	for (size_t i = 0; i < n_labels; i++) {
		int r = label_row(b, &labels[i], row + i * LABEL_WORDS);

		if (r != 0)
			return r;
		label_rows_sort_last(row, i + 1);
	}
	return 0;
}

static size_t sample_fixed_bytes(const uint64_t *row, size_t n)
{
	size_t ids_bytes = 0;
	size_t n_locations = row[0];
	const uint64_t *label = row + SAMPLE_WORDS + n_locations;
	size_t labels_bytes = 0;

	for (size_t i = 0; i < n_locations; i++)
		ids_bytes += wire_varint_bytes(row[SAMPLE_WORDS + i]);
	for (; label < row + n; label += LABEL_WORDS) {
		size_t label_bytes = 0;

		for (size_t i = 0; i < LABEL_WORDS; i++)
			label_bytes += wire_number_bytes(label[i]);
		labels_bytes += wire_block_bytes(label_bytes);
	}
	return wire_block_bytes(ids_bytes) + labels_bytes;
}

static size_t weight_bytes(const struct pprof_builder *b, const int64_t *weight)
{
	size_t values_bytes = 0;

	for (size_t i = 0; i < b->n_values; i++)
		values_bytes += wire_varint_bytes((uint64_t)weight[WEIGHT_WORDS + i]);
	return wire_block_bytes((size_t)weight[WEIGHT_FIXED_BYTES] +
				wire_block_bytes(values_bytes));
}

/* More weight for a sample that exists. The totals bound each sum, so no value can overflow. */
static int sample_merge(struct pprof_builder *b, int64_t *weight, const int64_t *values)
{
	int64_t sum[WEIGHT_WORDS + PPROF_MAX_VALUES] = { weight[WEIGHT_FIXED_BYTES] };

	for (size_t i = 0; i < b->n_values; i++)
		sum[WEIGHT_WORDS + i] = weight[WEIGHT_WORDS + i] + values[i];
	size_t growth = weight_bytes(b, sum) - weight_bytes(b, weight);
	if (!pprof_builder_fits(b, growth))
		return PPROF_FULL;
	b->body_bytes += growth;
	memcpy(weight, sum, (WEIGHT_WORDS + b->n_values) * sizeof(*weight));
	return 0;
}

static int sample_add(struct pprof_builder *b, const int64_t *values)
{
	struct pprof_tuples *rows = &b->samples;
	size_t n_words = WEIGHT_WORDS + b->n_values;
	int64_t weight[WEIGHT_WORDS + PPROF_MAX_VALUES];
	int64_t *weights;

	weight[WEIGHT_FIXED_BYTES] =
		(int64_t)sample_fixed_bytes(rows->words + rows->n_words, rows->draft_n);
	memcpy(weight + WEIGHT_WORDS, values, b->n_values * sizeof(*values));
	if (rows->n >= b->max_samples || !pprof_builder_fits(b, weight_bytes(b, weight)))
		return PPROF_FULL;
	weights =
		pprof_grow(b->weights, &b->weights_cap, (rows->n + 1) * n_words, sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	b->weights = weights;
	memcpy(pprof_builder_weight(b, rows->n), weight, n_words * sizeof(*weight));
	b->body_bytes += weight_bytes(b, weight);
	(void)pprof_tuples_commit(rows);
	return 0;
}

static int sample_put(struct pprof_builder *b, const int64_t *values)
{
	int64_t totals[PPROF_MAX_VALUES];
	uint32_t id;
	int r;

	for (size_t i = 0; i < b->n_values; i++)
		if (__builtin_add_overflow(b->totals[i], values[i], &totals[i]))
			return PPROF_FULL;
	id = pprof_tuples_find_draft(&b->samples);
	r = id ? sample_merge(b, pprof_builder_weight(b, id - 1), values) : sample_add(b, values);
	if (r == 0)
		memcpy(b->totals, totals, b->n_values * sizeof(*totals));
	return r;
}

int pprof_builder_sample(struct pprof_builder *b, const uint64_t *location_ids, size_t n_locations,
			 const int64_t *values, const struct pprof_label *labels, size_t n_labels)
{
	size_t n_strings = b->strings.n;
	int r = sample_check(b, location_ids, n_locations, values, labels, n_labels);

	if (r == 0)
		r = sample_draft(b, location_ids, n_locations, labels, n_labels);
	if (r == 0)
		r = sample_put(b, values);
	if (r != 0)
		pprof_strings_rollback(&b->strings, n_strings);
	return r;
}

size_t pprof_builder_n_samples(const struct pprof_builder *b)
{
	return b->samples.n;
}

int64_t pprof_builder_total(const struct pprof_builder *b, size_t type)
{
	return type < b->n_values ? b->totals[type] : 0;
}
