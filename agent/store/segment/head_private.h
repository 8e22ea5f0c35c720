/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a head; for its files. */
#ifndef XAGENT_AGENT_STORE_SEGMENT_HEAD_PRIVATE_H
#define XAGENT_AGENT_STORE_SEGMENT_HEAD_PRIVATE_H

#include "agent/store/segment/head.h"
#include "agent/store/segment/id_table.h"

struct head_array {
	void *items;
	size_t n, cap;
};

struct head_location {
	uint32_t first_line, n_lines;
	uint32_t mapping;
	uint64_t address;
};

/* `data` as the image has it. */
struct head_slot {
	int64_t time_ms; /* of the last profile in it */
	uint8_t *data;
	uint32_t n_data;
	uint32_t n_profiles;
	int64_t *times_ms; /* of all; NULL while it is one */
};

struct head_series {
	uint32_t first_label, n_labels;
	int64_t period;
	struct head_array slots; /* struct head_slot, by time */
};

struct head {
	struct head_options options;
	size_t bytes;
	struct head_array texts; /* uint32_t: offset in pool */
	struct head_array pool;
	struct head_array functions;
	struct head_array mappings;  /* struct segment_mapping */
	struct head_array locations; /* struct head_location */
	struct head_array lines;
	struct head_array nodes;
	struct head_array series;
	struct head_array labels;
	struct head_array
		order; /* uint32_t: texts as far as they were sorted by the last encoding */
	struct id_table text_ids, function_ids, mapping_ids, location_ids, node_ids, series_ids;
	size_t n_addresses; /* locations that have one */
	size_t n_series, n_slots, n_slot_labels, n_data;
	uint64_t n_profiles, n_samples;
	int64_t first_ms, last_ms;
};

/* Room for n more items in one of its arrays. 0, -ENOMEM, -ENOBUFS. */
int head_grow(struct head *h, struct head_array *a, size_t n, size_t item_bytes);
/* Room for one more in one of its tables. */
int head_grow_ids(struct head *h, struct id_table *ids);
/* The same without the ceiling. */
int head_grow_always(struct head *h, struct head_array *a, size_t n, size_t item_bytes);

/* How many items it becomes larger by with room for n more. */
size_t head_growth(const struct head_array *a, size_t n);

/* What a block of memory takes besides its bytes. */
#define HEAD_BLOCK_BYTES 16

/* The most that a slot's data takes. */
size_t head_samples_bytes(size_t n);
/* A slot's data; the caller frees. At least one sample. 0 or -ENOMEM. */
int head_samples_encode(const struct head_sample *samples, size_t n, uint32_t n_profiles,
			uint8_t **ret_data, uint32_t *ret_n);
/* The samples in a slot's data; the caller frees. NULL without memory. */
struct head_sample *head_samples_decode(const uint8_t *data, size_t *ret_n);
/* Both by node, the values of equal ones added; `out` has room for all. Their number. */
size_t head_samples_merge(const struct head_sample *a, size_t n_a, const struct head_sample *b,
			  size_t n_b, struct head_sample *out);

void head_init_symbols(struct head *h);
void head_init_series(struct head *h);
void head_fini_series(struct head *h);

static inline const char *head_text_at(const struct head *h, uint32_t text)
{
	return (const char *)h->pool.items + ((const uint32_t *)h->texts.items)[text];
}

#endif
