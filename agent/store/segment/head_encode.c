/* SPDX-License-Identifier: Apache-2.0 */
/* A head's content as the image of a segment. Numbers stay, but those of texts: they are sorted there. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/head_private.h"
#include "agent/store/segment/segment_image.h"

static int compare_texts(const void *a, const void *b, void *data)
{
	return strcmp(head_text_at(data, *(const uint32_t *)a),
		      head_text_at(data, *(const uint32_t *)b));
}

/* Both parts sorted: from the end backwards, into the room behind the first. */
static void merge_order(const struct head *h, uint32_t *order, size_t n, const uint32_t *tail,
			size_t n_tail)
{
	while (n_tail > 0) {
		bool take = n > 0 && compare_texts(&order[n - 1], &tail[n_tail - 1], (void *)h) > 0;
		uint32_t text = take ? order[--n] : tail[--n_tail];

		order[n + n_tail] = text;
	}
}

/* Few texts are new since the last time. */
static int head_sort(struct head *h)
{
	size_t n = h->order.n, n_tail = h->texts.n - n;
	_cleanup_free_ uint32_t *tail = calloc(n_tail + 1, sizeof(*tail));
	int r = head_grow_always(h, &h->order, n_tail, sizeof(*tail));

	if (!tail || r < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n_tail; i++)
		tail[i] = (uint32_t)(n + i);
	qsort_r(tail, n_tail, sizeof(*tail), compare_texts, h);
	merge_order(h, h->order.items, n, tail, n_tail);
	h->order.n = h->texts.n;
	return 0;
}

/* Where the image is written; texts by their new number. */
struct encoder {
	const struct head *h;
	uint32_t *text_of;
	uint8_t *image;
	struct image_header *header;
	struct image_layout at;
};

static void *part_of(const struct encoder *e, enum image_part part)
{
	return e->image + e->at.offsets[part];
}

static void encode_texts(const struct encoder *e)
{
	const uint32_t *order = e->h->order.items;
	uint32_t *offsets = part_of(e, IMAGE_TEXTS);
	char *pool = part_of(e, IMAGE_POOL);
	uint32_t used = 0;

	for (size_t i = 0; i < e->h->texts.n; i++) {
		const char *text = head_text_at(e->h, order[i]);
		size_t n = strlen(text) + 1;

		e->text_of[order[i]] = (uint32_t)i;
		memcpy(pool + used, text, n);
		offsets[i] = used;
		used += (uint32_t)n;
	}
	offsets[e->h->texts.n] = used;
}

static void encode_functions(const struct encoder *e)
{
	const struct segment_function *functions = e->h->functions.items;
	struct segment_function *out = part_of(e, IMAGE_FUNCTIONS);

	for (size_t i = 0; i < e->h->functions.n; i++)
		out[i] = (struct segment_function){ e->text_of[functions[i].name],
						    e->text_of[functions[i].system_name],
						    e->text_of[functions[i].filename],
						    functions[i].start_line };
}

static void encode_mappings(const struct encoder *e)
{
	const struct segment_mapping *m = e->h->mappings.items;
	struct image_mapping *out = part_of(e, IMAGE_MAPPINGS);

	for (size_t i = 0; i < e->h->mappings.n; i++, m++)
		out[i] = (struct image_mapping){
			.start = m->start,
			.limit = m->limit,
			.file_off = m->file_off,
			.filename = e->text_of[m->filename],
			.build_id = e->text_of[m->build_id],
			.has = (m->has_functions ? IMAGE_HAS_FUNCTIONS : 0) |
			       (m->has_filenames ? IMAGE_HAS_FILENAMES : 0) |
			       (m->has_lines ? IMAGE_HAS_LINES : 0) |
			       (m->has_inlines ? IMAGE_HAS_INLINES : 0),
		};
}

static void encode_locations(const struct encoder *e)
{
	const struct head_location *locations = e->h->locations.items;
	struct image_location *out = part_of(e, IMAGE_LOCATIONS);
	uint64_t *addresses = part_of(e, IMAGE_ADDRESSES);

	for (size_t i = 0; i < e->h->locations.n; i++) {
		out[i] = (struct image_location){ locations[i].first_line, locations[i].mapping };
		if (e->h->n_addresses > 0)
			addresses[i] = locations[i].address;
	}
	if (e->h->lines.n > 0)
		memcpy(part_of(e, IMAGE_LINES), e->h->lines.items,
		       e->h->lines.n * sizeof(struct segment_line));
	memcpy(part_of(e, IMAGE_NODES), e->h->nodes.items,
	       e->h->nodes.n * sizeof(struct segment_node));
}

struct series_cursor {
	struct image_series *series;
	struct segment_label *labels;
	struct image_slot *slots;
	uint8_t *data;
	uint32_t n_data;
};

static void encode_slots(const struct encoder *e, struct series_cursor *c,
			 const struct head_series *series)
{
	const struct head_slot *slots = series->slots.items;

	for (size_t i = 0; i < series->slots.n; i++) {
		int64_t after_first_ms = slots[i].time_ms - e->header->first_ms;

		assert(after_first_ms >= 0 && after_first_ms <= UINT32_MAX);
		*c->slots++ = (struct image_slot){ (uint32_t)after_first_ms, c->n_data };
		memcpy(c->data + c->n_data, slots[i].data, slots[i].n_data);
		c->n_data += slots[i].n_data;
	}
}

static void encode_series(const struct encoder *e)
{
	const struct head_series *series = e->h->series.items;
	struct series_cursor c = { part_of(e, IMAGE_SERIES), part_of(e, IMAGE_LABELS),
				   part_of(e, IMAGE_SLOTS), part_of(e, IMAGE_DATA), 0 };

	for (size_t i = 0; i < e->h->series.n; i++, series++) {
		const struct segment_label *labels = e->h->labels.items;

		if (series->slots.n == 0)
			continue;
		*c.series++ = (struct image_series){ series->period, series->n_labels,
						     (uint32_t)series->slots.n };
		labels += series->first_label;
		for (size_t j = 0; j < series->n_labels; j++)
			*c.labels++ = (struct segment_label){ e->text_of[labels[j].name],
							      e->text_of[labels[j].value] };
		encode_slots(e, &c, series);
	}
	assert(c.n_data == e->header->counts[IMAGE_DATA]);
}

/* The slots tell the times: of one with several profiles that of the last. */
static void bounds_of(const struct head *h, int64_t *ret_first_ms, int64_t *ret_last_ms)
{
	const struct head_series *series = h->series.items;
	int64_t first_ms = INT64_MAX, last_ms = INT64_MIN;

	for (size_t i = 0; i < h->series.n; i++) {
		const struct head_slot *slots = series[i].slots.items;
		size_t n = series[i].slots.n;

		if (n == 0)
			continue;
		first_ms = slots[0].time_ms < first_ms ? slots[0].time_ms : first_ms;
		last_ms = slots[n - 1].time_ms > last_ms ? slots[n - 1].time_ms : last_ms;
	}
	*ret_first_ms = first_ms;
	*ret_last_ms = last_ms;
}

static void fill_header(const struct head *h, struct image_header *header)
{
	const size_t counts[IMAGE_N_PARTS] = {
		[IMAGE_TEXTS] = h->texts.n + 1,
		[IMAGE_POOL] = h->pool.n,
		[IMAGE_FUNCTIONS] = h->functions.n,
		[IMAGE_LINES] = h->lines.n,
		[IMAGE_LOCATIONS] = h->locations.n,
		[IMAGE_ADDRESSES] = h->n_addresses ? h->locations.n : 0,
		[IMAGE_MAPPINGS] = h->mappings.n,
		[IMAGE_NODES] = h->nodes.n,
		[IMAGE_SERIES] = h->n_series,
		[IMAGE_LABELS] = h->n_slot_labels,
		[IMAGE_SLOTS] = h->n_slots,
		[IMAGE_DATA] = h->n_data,
	};

	*header = (struct image_header){ .magic = IMAGE_MAGIC,
					 .n_profiles = h->n_profiles,
					 .n_samples = h->n_samples };
	bounds_of(h, &header->first_ms, &header->last_ms);
	for (int i = 0; i < IMAGE_N_PARTS; i++) {
		assert(counts[i] <= UINT32_MAX);
		header->counts[i] = (uint32_t)counts[i];
	}
}

int head_encode(struct head *h, uint8_t **ret_image, size_t *ret_n)
{
	assert(h->n_profiles > 0);

	struct image_header header;
	struct encoder e = { .h = h };
	int r = head_sort(h);

	if (r < 0)
		return r;
	fill_header(h, &header);
	image_layout(&header, &e.at);
	if (e.at.offsets[IMAGE_N_PARTS] > IMAGE_MAX_BYTES)
		return -ENOBUFS;
	_cleanup_free_ uint32_t *text_of = calloc(h->texts.n, sizeof(*text_of));
	e.text_of = text_of;
	/* Zeros between the parts. */
	e.image = calloc(1, e.at.offsets[IMAGE_N_PARTS]);
	if (!text_of || !e.image) {
		free(e.image);
		return -ENOMEM;
	}
	e.header = (void *)e.image;
	*e.header = header;
	encode_texts(&e);
	encode_functions(&e);
	encode_mappings(&e);
	encode_locations(&e);
	encode_series(&e);
	*ret_n = e.at.offsets[IMAGE_N_PARTS];
	*ret_image = e.image;
	return 0;
}
