/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes → segment → every question a reader may ask: what is let through is read within its bounds, and its sums are what it says. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_location(const struct segment *s, uint32_t number)
{
	struct segment_location l;
	struct segment_mapping m;

	segment_location(s, number, &l);
	assert(l.n_lines > 0 || l.address != 0);
	for (size_t i = 0; i < l.n_lines; i++) {
		struct segment_function f = segment_function(s, l.lines[i].function);

		assert(segment_text(s, f.name) && segment_text(s, f.system_name) &&
		       segment_text(s, f.filename));
	}
	if (l.mapping == SEGMENT_NONE || l.mapping == SEGMENT_SPAN)
		return;
	segment_mapping(s, l.mapping, &m);
	assert(segment_text(s, m.filename) && segment_text(s, m.build_id));
}

static void read_slot(const struct segment *s, size_t number, int64_t *values)
{
	struct segment_slot slot;
	int64_t total = 0;

	segment_slot(s, number, &slot);
	assert(slot.time_ms >= segment_first_ms(s) && slot.time_ms <= segment_last_ms(s));
	memset(values, 0, segment_n_nodes(s) * sizeof(*values));
	segment_add_slot(s, number, values);
	for (size_t i = 0; i < segment_n_nodes(s); i++)
		if (__builtin_add_overflow(total, values[i], &total))
			total = INT64_MAX;
	assert(total == slot.total);
}

static void read_series(const struct segment *s, size_t number, int64_t *values)
{
	struct segment_series x;

	segment_series(s, number, &x);
	for (size_t i = 0; i < x.n_labels; i++) {
		const char *name = segment_text(s, x.labels[i].name);

		assert(segment_find_text(s, name) == x.labels[i].name);
		assert(segment_series_label(s, number, name) == segment_text(s, x.labels[i].value));
	}
	for (size_t i = 0; i < x.n_slots; i++)
		read_slot(s, x.first_slot + i, values);
}

static void read_all(const struct segment *s)
{
	int64_t *values = calloc(segment_n_nodes(s), sizeof(*values));

	if (!values)
		return;
	for (uint32_t i = 1; i < segment_n_nodes(s); i++) {
		assert(segment_node(s, i).parent < i);
		read_location(s, segment_node(s, i).location);
	}
	for (size_t i = 0; i < segment_n_series(s); i++)
		read_series(s, i, values);
	free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *image = malloc(size ? size : 1);
	struct segment *s;

	if (!image)
		return 0;
	if (size > 0)
		memcpy(image, data, size);
	if (segment_new(image, size, &s) != SEGMENT_OPENED) {
		free(image);
		return 0;
	}
	read_all(s);
	segment_unref(s);
	return 0;
}
