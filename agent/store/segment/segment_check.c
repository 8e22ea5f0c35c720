/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an image is a sound segment. Every loop is over items that are there; every number is held against what it counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/segment_image.h"
#include "agent/store/segment/varint.h"
#include "agent/util/str.h"

static size_t count_of(const struct segment *s, enum image_part part)
{
	return s->header->counts[part];
}

/* One text: ends with the only NUL of its bytes, is UTF-8, and sorts behind the one before. */
static bool check_text(const struct segment *s, size_t i)
{
	uint32_t begin = s->texts[i], end = s->texts[i + 1];

	if (end <= begin || end > count_of(s, IMAGE_POOL))
		return false;
	struct str text = { s->pool + begin, end - begin - 1 };
	if (memchr(text.p, '\0', text.n) || text.p[text.n] != '\0' || !str_is_utf8(text))
		return false;
	return i == 0 ? text.n == 0 : strcmp(s->pool + s->texts[i - 1], text.p) < 0;
}

static bool check_texts(const struct segment *s)
{
	size_t n = count_of(s, IMAGE_TEXTS);

	if (n < 2 || s->texts[0] != 0 || s->texts[n - 1] != count_of(s, IMAGE_POOL))
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (!check_text(s, i))
			return false;
	return true;
}

static bool is_text(const struct segment *s, uint32_t text)
{
	return text < count_of(s, IMAGE_TEXTS) - 1;
}

static bool check_functions(const struct segment *s)
{
	for (size_t i = 0; i < count_of(s, IMAGE_FUNCTIONS); i++) {
		const struct segment_function *f = &s->functions[i];

		if (!is_text(s, f->name) || !is_text(s, f->system_name) || !is_text(s, f->filename))
			return false;
	}
	for (size_t i = 0; i < count_of(s, IMAGE_LINES); i++)
		if (s->lines[i].function >= count_of(s, IMAGE_FUNCTIONS))
			return false;
	return true;
}

static bool check_mappings(const struct segment *s)
{
	for (size_t i = 0; i < count_of(s, IMAGE_MAPPINGS); i++) {
		const struct image_mapping *m = &s->mappings[i];

		if (!is_text(s, m->filename) || !is_text(s, m->build_id) || m->zero ||
		    m->has & ~(uint32_t)IMAGE_HAS_ALL)
			return false;
	}
	return true;
}

/* Lines, or an address in their place. */
static bool check_location(const struct segment *s, size_t i)
{
	const struct image_location *x = &s->locations[i];
	size_t end =
		i + 1 < count_of(s, IMAGE_LOCATIONS) ? x[1].first_line : count_of(s, IMAGE_LINES);
	bool has_address = count_of(s, IMAGE_ADDRESSES) && s->addresses[i];

	if (x->first_line > end || end > count_of(s, IMAGE_LINES) ||
	    end - x->first_line > IMAGE_MAX_LINES)
		return false;
	if (x->mapping == SEGMENT_SPAN)
		return x->first_line == end && has_address;
	if (x->mapping != SEGMENT_NONE && x->mapping >= count_of(s, IMAGE_MAPPINGS))
		return false;
	return x->first_line < end || has_address;
}

static bool check_locations(const struct segment *s)
{
	size_t n = count_of(s, IMAGE_LOCATIONS);

	if (count_of(s, IMAGE_ADDRESSES) && count_of(s, IMAGE_ADDRESSES) != n)
		return false;
	if (n ? s->locations[0].first_line != 0 : count_of(s, IMAGE_LINES) > 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!check_location(s, i))
			return false;
	return true;
}

/* A span is no frame: it is below one, and nothing is below it. */
static bool check_node(const struct segment *s, size_t i, uint16_t *depths)
{
	struct segment_node node = s->nodes[i];

	if (node.parent >= i || node.location >= count_of(s, IMAGE_LOCATIONS) ||
	    segment_node_span(s, node.parent))
		return false;
	bool is_span = s->locations[node.location].mapping == SEGMENT_SPAN;

	depths[i] = (uint16_t)(depths[node.parent] + !is_span);
	return depths[i] <= IMAGE_MAX_DEPTH && !(is_span && node.parent == SEGMENT_ROOT);
}

static int check_nodes(const struct segment *s)
{
	size_t n = count_of(s, IMAGE_NODES);

	if (n == 0 || s->nodes[0].parent != SEGMENT_NONE || s->nodes[0].location != SEGMENT_NONE)
		return 0;
	_cleanup_free_ uint16_t *depths = calloc(n, sizeof(*depths));
	if (!depths)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++)
		if (!check_node(s, i, depths))
			return 0;
	return 1;
}

struct slot_sum {
	uint64_t n_profiles, n_samples, unit, total;
};

static const uint8_t *check_slot_head(const uint8_t *p, const uint8_t *end,
				      struct slot_sum *ret_sum)
{
	p = varint_check(p, end, &ret_sum->n_profiles);
	p = p ? varint_check(p, end, &ret_sum->n_samples) : NULL;
	p = p ? varint_check(p, end, &ret_sum->unit) : NULL;
	p = p ? varint_check(p, end, &ret_sum->total) : NULL;
	if (!p || ret_sum->n_profiles == 0 || ret_sum->n_profiles > UINT32_MAX ||
	    ret_sum->n_samples > UINT32_MAX || ret_sum->unit == 0)
		return NULL;
	return p;
}

/* The samples of a slot up to exactly its end: nodes ascend, values are above zero and have room, and their sum is the one told. */
static bool check_samples(const struct segment *s, const uint8_t *p, const uint8_t *end,
			  const struct slot_sum *sum)
{
	uint64_t step, value, node = SEGMENT_ROOT;
	int64_t scaled, total = 0;

	for (uint64_t i = 0; i < sum->n_samples; i++) {
		p = varint_check(p, end, &step);
		p = p ? varint_check(p, end, &value) : NULL;
		if (!p || step == 0 || step >= count_of(s, IMAGE_NODES) - node || value == 0)
			return false;
		node += step;
		if (__builtin_mul_overflow(value, sum->unit, &scaled))
			return false;
		if (__builtin_add_overflow(total, scaled, &total))
			total = INT64_MAX;
	}
	if (sum->total == UINT64_MAX)
		return p == end && total == INT64_MAX;
	return p == end && !__builtin_mul_overflow(sum->total, sum->unit, &scaled) &&
	       scaled == total;
}

static bool check_slot(const struct segment *s, size_t i, struct image_header *sums)
{
	size_t begin = s->slots[i].offset;
	size_t end =
		i + 1 < count_of(s, IMAGE_SLOTS) ? s->slots[i + 1].offset : count_of(s, IMAGE_DATA);
	struct slot_sum sum;

	if (begin > end || end > count_of(s, IMAGE_DATA) || (i == 0 && begin != 0))
		return false;
	const uint8_t *p = check_slot_head(s->data + begin, s->data + end, &sum);
	if (!p || !check_samples(s, p, s->data + end, &sum))
		return false;
	int64_t time_ms = s->header->first_ms + s->slots[i].after_first_ms;

	sums->first_ms = time_ms < sums->first_ms ? time_ms : sums->first_ms;
	sums->last_ms = time_ms > sums->last_ms ? time_ms : sums->last_ms;
	sums->n_profiles += sum.n_profiles;
	sums->n_samples += sum.n_samples;
	return true;
}

static bool is_label_text(const struct segment *s, uint32_t text)
{
	return is_text(s, text) && s->texts[text + 1] - s->texts[text] <= IMAGE_MAX_LABEL_BYTES + 1;
}

static bool check_labels(const struct segment *s, const struct segment_label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_label_text(s, labels[i].name) || !is_label_text(s, labels[i].value))
			return false;
		/* Texts are sorted, so are their numbers. */
		if (i > 0 && labels[i - 1].name >= labels[i].name)
			return false;
	}
	return true;
}

static bool check_slots(const struct segment *s, size_t first, size_t n, struct image_header *sums)
{
	for (size_t i = first; i < first + n; i++) {
		if (!check_slot(s, i, sums))
			return false;
		if (i > first && s->slots[i - 1].after_first_ms >= s->slots[i].after_first_ms)
			return false;
	}
	return true;
}

/* Labels and slots of the series are all that there are. */
static bool check_series(const struct segment *s)
{
	size_t n_labels = 0, n_slots = 0;
	struct image_header sums = { .first_ms = INT64_MAX, .last_ms = INT64_MIN };

	for (size_t i = 0; i < count_of(s, IMAGE_SERIES); i++) {
		const struct image_series *x = &s->series[i];

		if (x->n_labels > IMAGE_MAX_LABELS ||
		    x->n_labels > count_of(s, IMAGE_LABELS) - n_labels || x->n_slots == 0 ||
		    x->n_slots > count_of(s, IMAGE_SLOTS) - n_slots || x->period < 0)
			return false;
		if (!check_labels(s, s->labels + n_labels, x->n_labels) ||
		    !check_slots(s, n_slots, x->n_slots, &sums))
			return false;
		n_labels += x->n_labels;
		n_slots += x->n_slots;
	}
	return n_labels == count_of(s, IMAGE_LABELS) && n_slots == count_of(s, IMAGE_SLOTS) &&
	       n_slots > 0 && sums.first_ms == s->header->first_ms &&
	       sums.last_ms == s->header->last_ms && sums.n_profiles == s->header->n_profiles &&
	       sums.n_samples == s->header->n_samples;
}

/* Unix times that a number of nanoseconds holds: no sum with 32 bits of milliseconds overflows. */
static bool check_times(const struct image_header *header)
{
	int64_t most_ms = INT64_MAX / 1000000;

	return header->first_ms >= 0 && header->first_ms <= header->last_ms &&
	       header->last_ms <= most_ms;
}

int segment_check(const struct segment *s)
{
	if (!check_times(s->header) || !check_texts(s) || !check_functions(s) ||
	    !check_mappings(s) || !check_locations(s))
		return 0;
	int r = check_nodes(s);

	return r == 1 ? check_series(s) : r;
}
