/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a segment: everything was looked at when it was opened. */
#include "agent/store/segment/segment.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/segment_image.h"
#include "agent/store/segment/varint.h"

const size_t image_item_bytes[IMAGE_N_PARTS] = {
#define IMAGE_ITEM_BYTES(name, type) [IMAGE_##name] = sizeof(type),
	IMAGE_PARTS(IMAGE_ITEM_BYTES)
#undef IMAGE_ITEM_BYTES
};

/* Counts have 32 bits and items are small: no sum comes near 64. */
void image_layout(const struct image_header *header, struct image_layout *ret_layout)
{
	uint64_t at = sizeof(*header);

	for (int i = 0; i < IMAGE_N_PARTS; i++) {
		ret_layout->offsets[i] = at;
		at += (header->counts[i] * (uint64_t)image_item_bytes[i] + 7) & ~(uint64_t)7;
	}
	ret_layout->offsets[IMAGE_N_PARTS] = at;
}

static void segment_point(struct segment *s)
{
	struct image_layout at;

	image_layout(s->header, &at);
	s->texts = (const void *)(s->image + at.offsets[IMAGE_TEXTS]);
	s->pool = (const void *)(s->image + at.offsets[IMAGE_POOL]);
	s->functions = (const void *)(s->image + at.offsets[IMAGE_FUNCTIONS]);
	s->lines = (const void *)(s->image + at.offsets[IMAGE_LINES]);
	s->locations = (const void *)(s->image + at.offsets[IMAGE_LOCATIONS]);
	s->addresses = (const void *)(s->image + at.offsets[IMAGE_ADDRESSES]);
	s->mappings = (const void *)(s->image + at.offsets[IMAGE_MAPPINGS]);
	s->nodes = (const void *)(s->image + at.offsets[IMAGE_NODES]);
	s->series = (const void *)(s->image + at.offsets[IMAGE_SERIES]);
	s->labels = (const void *)(s->image + at.offsets[IMAGE_LABELS]);
	s->slots = (const void *)(s->image + at.offsets[IMAGE_SLOTS]);
	s->data = s->image + at.offsets[IMAGE_DATA];
}

static int segment_make(uint8_t *image, size_t n, struct segment **ret_segment)
{
	const struct image_header *header = (const void *)image;
	_cleanup_free_ struct segment *s = calloc(1, sizeof(*s));

	assert(n >= sizeof(*header));
	if (!s)
		return -ENOMEM;
	*s = (struct segment){ .n_refs = 1, .image = image, .n = n, .header = header };
	segment_point(s);
	s->places = calloc((size_t)header->counts[IMAGE_SERIES] + 1, sizeof(*s->places));
	if (!s->places)
		return -ENOMEM;
	*ret_segment = TAKE_PTR(s);
	return 0;
}

/* Counts of a foreign image may add up to anything; readers look at places of series below n_series alone, after the check. */
static void segment_place(struct segment *s)
{
	struct image_place at = { 0 };

	for (size_t i = 0; i < s->header->counts[IMAGE_SERIES]; i++) {
		s->places[i] = at;
		at.first_label += s->series[i].n_labels;
		at.first_slot += s->series[i].n_slots;
	}
}

int segment_adopt(uint8_t *image, size_t n, struct segment **ret_segment)
{
	int r = segment_make(image, n, ret_segment);

	if (r < 0)
		return r;
	segment_place(*ret_segment);
	return 0;
}

/* Does not free the image: it is the caller's until the segment is opened. */
static void segment_discard(struct segment *s)
{
	free(s->places);
	free(s);
}

static bool segment_sizes_fit(const uint8_t *image, size_t n)
{
	const struct image_header *header = (const void *)image;
	struct image_layout at;

	if (n < sizeof(*header) || n > IMAGE_MAX_BYTES || header->magic != IMAGE_MAGIC)
		return false;
	image_layout(header, &at);
	return at.offsets[IMAGE_N_PARTS] == n;
}

int segment_new(uint8_t *image, size_t n, struct segment **ret_segment)
{
	struct segment *s;

	if (!segment_sizes_fit(image, n))
		return SEGMENT_INVALID;
	int r = segment_adopt(image, n, &s);
	if (r < 0)
		return r;
	r = segment_check(s);
	if (r != 1) {
		segment_discard(s);
		return r < 0 ? r : SEGMENT_INVALID;
	}
	*ret_segment = s;
	return SEGMENT_OPENED;
}

struct segment *segment_ref(struct segment *s)
{
	assert(s->n_refs > 0);
	s->n_refs++;
	return s;
}

void segment_unref(struct segment *s)
{
	if (!s)
		return;
	assert(s->n_refs > 0);
	if (--s->n_refs > 0)
		return;
	free(s->image);
	segment_discard(s);
}

size_t segment_bytes(const struct segment *s)
{
	return sizeof(*s) + s->n +
	       ((size_t)s->header->counts[IMAGE_SERIES] + 1) * sizeof(*s->places);
}

const uint8_t *segment_image(const struct segment *s, size_t *ret_n)
{
	*ret_n = s->n;
	return s->image;
}

int64_t segment_first_ms(const struct segment *s)
{
	return s->header->first_ms;
}

int64_t segment_last_ms(const struct segment *s)
{
	return s->header->last_ms;
}

size_t segment_n_texts(const struct segment *s)
{
	return s->header->counts[IMAGE_TEXTS] - 1;
}

const char *segment_text(const struct segment *s, uint32_t text)
{
	assert(text < segment_n_texts(s));
	return s->pool + s->texts[text];
}

uint32_t segment_find_text(const struct segment *s, const char *text)
{
	size_t low = 0, high = segment_n_texts(s);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(segment_text(s, (uint32_t)middle), text);

		if (order == 0)
			return (uint32_t)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SEGMENT_NONE;
}

size_t segment_n_series(const struct segment *s)
{
	return s->header->counts[IMAGE_SERIES];
}

void segment_series(const struct segment *s, size_t series, struct segment_series *ret_series)
{
	assert(series < segment_n_series(s));

	const struct image_series *x = &s->series[series];

	*ret_series = (struct segment_series){
		.labels = s->labels + s->places[series].first_label,
		.n_labels = x->n_labels,
		.first_slot = s->places[series].first_slot,
		.n_slots = x->n_slots,
		.period = x->period,
	};
}

const char *segment_series_label(const struct segment *s, size_t series, const char *name)
{
	assert(series < segment_n_series(s));

	const struct segment_label *labels = s->labels + s->places[series].first_label;

	for (size_t i = 0; i < s->series[series].n_labels; i++)
		if (strcmp(segment_text(s, labels[i].name), name) == 0)
			return segment_text(s, labels[i].value);
	return NULL;
}

/* What precedes a slot's samples; returns where they begin. */
static const uint8_t *slot_open(const struct segment *s, size_t slot, struct segment_slot *ret_slot,
				uint64_t *ret_unit)
{
	assert(slot < s->header->counts[IMAGE_SLOTS]);

	const uint8_t *p = s->data + s->slots[slot].offset;
	uint64_t n_profiles, n_samples, total;

	p = varint_get(p, &n_profiles);
	p = varint_get(p, &n_samples);
	p = varint_get(p, ret_unit);
	p = varint_get(p, &total);
	*ret_slot = (struct segment_slot){
		.time_ms = s->header->first_ms + s->slots[slot].after_first_ms,
		.total = total == UINT64_MAX ? INT64_MAX : (int64_t)(total * *ret_unit),
		.n_samples = (uint32_t)n_samples,
		.n_profiles = (uint32_t)n_profiles,
	};
	return p;
}

void segment_slot(const struct segment *s, size_t slot, struct segment_slot *ret_slot)
{
	uint64_t unit;

	(void)slot_open(s, slot, ret_slot, &unit);
}

void segment_add_slot(const struct segment *s, size_t slot, int64_t *values)
{
	struct segment_slot about;
	uint64_t unit, step, value, node = SEGMENT_ROOT;
	const uint8_t *p = slot_open(s, slot, &about, &unit);

	for (uint32_t i = 0; i < about.n_samples; i++) {
		p = varint_get(p, &step);
		p = varint_get(p, &value);
		node += step;
		if (__builtin_add_overflow(values[node], (int64_t)(value * unit), &values[node]))
			values[node] = INT64_MAX;
	}
}

void segment_each_value(const struct segment *s, size_t slot,
			void (*fn)(void *user, uint32_t node, int64_t value), void *user)
{
	struct segment_slot about;
	uint64_t unit, step, value, node = SEGMENT_ROOT;
	const uint8_t *p = slot_open(s, slot, &about, &unit);

	for (uint32_t i = 0; i < about.n_samples; i++) {
		p = varint_get(p, &step);
		p = varint_get(p, &value);
		node += step;
		fn(user, (uint32_t)node, (int64_t)(value * unit));
	}
}

double segment_sum_slot(const struct segment *s, size_t slot, const bool *within)
{
	struct segment_slot about;
	uint64_t unit, step, value, node = SEGMENT_ROOT;
	const uint8_t *p = slot_open(s, slot, &about, &unit);
	double total = 0;

	for (uint32_t i = 0; i < about.n_samples; i++) {
		p = varint_get(p, &step);
		p = varint_get(p, &value);
		node += step;
		if (within[node])
			total += (double)(value * unit);
	}
	return total;
}

size_t segment_n_nodes(const struct segment *s)
{
	return s->header->counts[IMAGE_NODES];
}

struct segment_node segment_node(const struct segment *s, uint32_t node)
{
	assert(node < segment_n_nodes(s));
	return s->nodes[node];
}

size_t segment_n_locations(const struct segment *s)
{
	return s->header->counts[IMAGE_LOCATIONS];
}

void segment_location(const struct segment *s, uint32_t location,
		      struct segment_location *ret_location)
{
	assert(location < segment_n_locations(s));

	const struct image_location *x = &s->locations[location];
	uint32_t end = location + 1 < segment_n_locations(s) ? x[1].first_line
							     : s->header->counts[IMAGE_LINES];

	*ret_location = (struct segment_location){
		.lines = s->lines + x->first_line,
		.n_lines = end - x->first_line,
		.address = s->header->counts[IMAGE_ADDRESSES] ? s->addresses[location] : 0,
		.mapping = x->mapping,
	};
}

uint64_t segment_node_span(const struct segment *s, uint32_t node)
{
	uint32_t location = segment_node(s, node).location;

	return location != SEGMENT_NONE && s->locations[location].mapping == SEGMENT_SPAN
		       ? s->addresses[location]
		       : 0;
}

size_t segment_n_functions(const struct segment *s)
{
	return s->header->counts[IMAGE_FUNCTIONS];
}

struct segment_function segment_function(const struct segment *s, uint32_t function)
{
	assert(function < segment_n_functions(s));
	return s->functions[function];
}

size_t segment_n_mappings(const struct segment *s)
{
	return s->header->counts[IMAGE_MAPPINGS];
}

void segment_mapping(const struct segment *s, uint32_t mapping, struct segment_mapping *ret_mapping)
{
	assert(mapping < segment_n_mappings(s));

	const struct image_mapping *x = &s->mappings[mapping];

	*ret_mapping = (struct segment_mapping){
		.start = x->start,
		.limit = x->limit,
		.file_off = x->file_off,
		.filename = x->filename,
		.build_id = x->build_id,
		.has_functions = x->has & IMAGE_HAS_FUNCTIONS,
		.has_filenames = x->has & IMAGE_HAS_FILENAMES,
		.has_lines = x->has & IMAGE_HAS_LINES,
		.has_inlines = x->has & IMAGE_HAS_INLINES,
	};
}
