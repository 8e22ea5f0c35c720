/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: what a head wrote is what a reader finds; whatever is changed in the bytes, a reader refuses it or reads within them.
 *
 * Under AddressSanitizer the image lies in a block of exactly its size, so that no read past it goes unseen.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/store/segment/head.h"
#include "agent/store/segment/segment.h"
#include "agent/store/segment/segment_image.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct image {
	uint8_t *bytes;
	size_t n;
};

static uint32_t text(struct head *h, const char *s)
{
	uint32_t id;

	assert_int_equal(head_text(h, s, strlen(s), &id), 0);
	return id;
}

static uint32_t location(struct head *h, const char *name, const char *inlined, uint64_t address,
			 uint32_t mapping)
{
	struct segment_line lines[2] = { { 0 } };
	struct segment_location l = { .lines = lines, .address = address, .mapping = mapping };
	const char *const names[] = { inlined, name };
	uint32_t id;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct segment_function f = { .start_line = 7 };

		if (!names[i])
			continue;
		f.name = text(h, names[i]);
		f.filename = text(h, "file.c");
		assert_int_equal(head_function(h, &f, &lines[l.n_lines].function), 0);
		lines[l.n_lines++].line = 11;
	}
	assert_int_equal(head_location(h, &l, &id), 0);
	return id;
}

static uint32_t node(struct head *h, uint32_t parent, uint32_t at)
{
	uint32_t id;

	assert_int_equal(head_node(h, (struct segment_node){ parent, at }, &id), 0);
	return id;
}

static uint32_t series(struct head *h, const char *service)
{
	const struct segment_label labels[] = { { text(h, "__name__"), text(h, "process_cpu") },
						{ text(h, "service_name"), text(h, service) } };
	uint32_t id;

	assert_int_equal(head_series(h, labels, ARRAY_SIZE(labels), &id), 0);
	return id;
}

#define T0 INT64_C(1700000000000)

/* Two series, three slots, an inlined call, an address without a name; texts come in no order. */
static struct head *make_head(void)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = 1000, .seed = 1 };
	struct head *h;
	struct segment_mapping m = { .has_functions = true, .has_inlines = true };
	uint32_t mapping;

	assert_int_equal(head_new(&options, &h), 0);
	m.filename = text(h, "/bin/zz");
	m.build_id = text(h, "0123");
	assert_int_equal(head_mapping(h, &m, &mapping), 0);
	uint32_t start = node(h, SEGMENT_ROOT, location(h, "main", NULL, 0, mapping));
	uint32_t f = node(h, start, location(h, "f", "g", 0, mapping));
	uint32_t raw = node(h, f, location(h, NULL, NULL, 0x1234, SEGMENT_NONE));
	uint32_t zeta = series(h, "zeta"), alpha = series(h, "alpha");

	assert_int_equal(
		head_put(h, zeta, T0, 10, (struct head_sample[]){ { f, 30 }, { raw, 70 } }, 2), 0);
	assert_int_equal(
		head_put(h, alpha, T0 + 5000, 0, (struct head_sample[]){ { start, 3 } }, 1), 0);
	assert_int_equal(head_put(h, zeta, T0 + 15000, 10, (struct head_sample[]){ { f, 20 } }, 1),
			 0);
	return h;
}

static struct image make_image(void)
{
	struct head *h = make_head();
	struct image image;

	assert_int_equal(head_encode(h, &image.bytes, &image.n), 0);
	head_free(h);
	return image;
}

static struct segment *open_image(struct image image)
{
	struct segment *s;

	assert_int_equal(segment_new(image.bytes, image.n, &s), SEGMENT_OPENED);
	return s;
}

static void test_reads(void **state)
{
	struct segment *s = open_image(make_image());
	struct segment_series x;
	struct segment_slot slot;
	int64_t values[4] = { 0, 0, 1, INT64_MAX - 10 };

	(void)state;
	assert_int_equal(segment_n_series(s), 2);
	assert_string_equal(segment_series_label(s, 0, "service_name"), "zeta");
	assert_string_equal(segment_series_label(s, 1, "service_name"), "alpha");
	assert_null(segment_series_label(s, 1, "other"));
	segment_series(s, 0, &x);
	assert_int_equal(x.period, 10);
	assert_int_equal(x.n_slots, 2);
	segment_slot(s, x.first_slot, &slot);
	assert_int_equal(slot.time_ms, T0);
	assert_int_equal(slot.total, 100);
	assert_int_equal(slot.n_samples, 2);
	assert_int_equal(slot.n_profiles, 1);
	assert_int_equal(segment_n_nodes(s), 4);
	segment_add_slot(s, x.first_slot, values);
	assert_int_equal(values[1], 0);
	assert_int_equal(values[2], 31);
	assert_true(values[3] == INT64_MAX);
	assert_int_equal(segment_first_ms(s), T0);
	assert_int_equal(segment_last_ms(s), T0 + 15000);
	segment_unref(s);
}

static void test_symbols(void **state)
{
	struct segment *s = open_image(make_image());
	struct segment_location l;
	struct segment_mapping m;

	(void)state;
	assert_int_equal(segment_node(s, 0).parent, SEGMENT_NONE);
	assert_int_equal(segment_node(s, 3).parent, 2);
	segment_location(s, segment_node(s, 2).location, &l);
	assert_int_equal(l.n_lines, 2);
	assert_string_equal(segment_text(s, segment_function(s, l.lines[0].function).name), "g");
	assert_string_equal(segment_text(s, segment_function(s, l.lines[1].function).name), "f");
	assert_int_equal(segment_function(s, l.lines[1].function).start_line, 7);
	assert_int_equal(l.lines[1].line, 11);
	segment_mapping(s, l.mapping, &m);
	assert_string_equal(segment_text(s, m.filename), "/bin/zz");
	assert_string_equal(segment_text(s, m.build_id), "0123");
	assert_true(m.has_functions && m.has_inlines && !m.has_lines && !m.has_filenames);
	segment_location(s, segment_node(s, 3).location, &l);
	assert_int_equal(l.n_lines, 0);
	assert_int_equal(l.address, 0x1234);
	assert_int_equal(l.mapping, SEGMENT_NONE);
	segment_unref(s);
}

static void test_texts(void **state)
{
	struct segment *s = open_image(make_image());

	(void)state;
	assert_string_equal(segment_text(s, 0), "");
	for (uint32_t i = 0; i < segment_n_texts(s); i++)
		assert_int_equal(segment_find_text(s, segment_text(s, i)), i);
	assert_int_equal(segment_find_text(s, "nobody"), SEGMENT_NONE);
	assert_int_equal(segment_find_text(s, "zzzz"), SEGMENT_NONE);
	segment_unref(s);
}

/* Everything that a reader can ask, so that a sanitizer sees what an accepted image leads to. */
static void read_everything(const struct segment *s)
{
	int64_t *values = calloc(segment_n_nodes(s), sizeof(*values));
	struct segment_series x;
	struct segment_slot slot;
	struct segment_location l;
	struct segment_mapping m;
	size_t n = 0;

	assert_non_null(values);
	for (uint32_t i = 0; i < segment_n_texts(s); i++)
		n += strlen(segment_text(s, i));
	for (size_t i = 0; i < segment_n_series(s); i++) {
		segment_series(s, i, &x);
		for (size_t j = 0; j < x.n_labels; j++)
			n += strlen(segment_text(s, x.labels[j].value));
		for (size_t j = x.first_slot; j < x.first_slot + x.n_slots; j++) {
			segment_slot(s, j, &slot);
			segment_add_slot(s, j, values);
		}
	}
	for (uint32_t i = 1; i < segment_n_nodes(s); i++) {
		segment_location(s, segment_node(s, i).location, &l);
		for (size_t j = 0; j < l.n_lines; j++)
			n += strlen(segment_text(s, segment_function(s, l.lines[j].function).name));
		if (l.mapping != SEGMENT_NONE && l.mapping != SEGMENT_SPAN)
			segment_mapping(s, l.mapping, &m);
	}
	assert_true(n > 0);
	free(values);
}

static bool opens(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct segment *s;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	int r = segment_new(copy, n, &s);
	if (r != SEGMENT_OPENED) {
		assert_int_equal(r, SEGMENT_INVALID);
		free(copy);
		return false;
	}
	read_everything(s);
	segment_unref(s);
	return true;
}

static void test_every_byte(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff, 0x40 };
	struct image image = make_image();
	size_t n_refused = 0;

	(void)state;
	for (size_t i = 0; i < image.n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(masks); j++) {
			image.bytes[i] ^= masks[j];
			n_refused += !opens(image.bytes, image.n);
			image.bytes[i] ^= masks[j];
		}
	/* Letters, addresses and padding may be others and all is sound; most of it may not. */
	assert_true(n_refused > image.n * ARRAY_SIZE(masks) / 2);
	assert_true(opens(image.bytes, image.n));
	free(image.bytes);
}

static void test_every_length(void **state)
{
	struct image image = make_image();
	uint8_t *longer = calloc(1, image.n + 8);

	(void)state;
	for (size_t n = 0; n < image.n; n++)
		assert_false(opens(image.bytes, n));
	assert_non_null(longer);
	memcpy(longer, image.bytes, image.n);
	assert_false(opens(longer, image.n + 8));
	free(longer);
	free(image.bytes);
}

/* One number of the image is another: at an item of a part, bytes into it. */
struct row {
	const char *name;
	int part; /* below 0: the header */
	size_t item, byte;
	uint32_t value;
};

#define HEADER (-1)
#define COUNT_OF(part) offsetof(struct image_header, counts[IMAGE_##part])

static const struct row rows[] = {
	{ "other magic", HEADER, 0, 0, 0x12345678 },
	{ "first later than last", HEADER, 0, offsetof(struct image_header, first_ms) + 4, 0x7fff },
	{ "before 1970", HEADER, 0, offsetof(struct image_header, first_ms) + 4, 0x80000000 },
	{ "last is not told by a slot", HEADER, 0, offsetof(struct image_header, last_ms) + 4,
	  0x7fff },
	{ "fewer profiles", HEADER, 0, offsetof(struct image_header, n_profiles), 2 },
	{ "more samples", HEADER, 0, offsetof(struct image_header, n_samples), 5 },
	{ "four billion nodes", HEADER, 0, COUNT_OF(NODES), UINT32_MAX },
	{ "no texts", HEADER, 0, COUNT_OF(TEXTS), 0 },
	{ "text that begins behind its end", IMAGE_TEXTS, 2, 0, 200 },
	{ "text beyond the pool", IMAGE_TEXTS, 3, 0, 1 << 30 },
	{ "texts in no order", IMAGE_POOL, 1, 0, 0x7a7a7a7a },
	{ "function of no text", IMAGE_FUNCTIONS, 0, 0, 1000 },
	{ "line of no function", IMAGE_LINES, 0, 0, 3 },
	{ "lines that go back", IMAGE_LOCATIONS, 1, 0, 9 },
	{ "location of no mapping", IMAGE_LOCATIONS, 0, 4, 1 },
	{ "neither line nor address", IMAGE_ADDRESSES, 2, 0, 0 },
	{ "mapping of no text", IMAGE_MAPPINGS, 0, offsetof(struct image_mapping, filename), 1000 },
	{ "mapping with unknown flags", IMAGE_MAPPINGS, 0, offsetof(struct image_mapping, has),
	  16 },
	{ "root with a parent", IMAGE_NODES, 0, 0, 0 },
	{ "its own parent", IMAGE_NODES, 1, 0, 1 },
	{ "parent that comes later", IMAGE_NODES, 1, 0, 2 },
	{ "node of no location", IMAGE_NODES, 1, 4, 3 },
	{ "period below zero", IMAGE_SERIES, 0, 4, 0x80000000 },
	{ "more labels than there are", IMAGE_SERIES, 1, offsetof(struct image_series, n_labels),
	  3 },
	{ "more labels than a series has", IMAGE_SERIES, 0, offsetof(struct image_series, n_labels),
	  IMAGE_MAX_LABELS + 1 },
	{ "no slots", IMAGE_SERIES, 1, offsetof(struct image_series, n_slots), 0 },
	{ "more slots than there are", IMAGE_SERIES, 1, offsetof(struct image_series, n_slots), 2 },
	{ "label of no text", IMAGE_LABELS, 0, 4, 1000 },
	{ "labels in no order", IMAGE_LABELS, 1, 0, 1 },
	{ "slots in no order", IMAGE_SLOTS, 1, 0, 0 },
	{ "first slot not at the beginning", IMAGE_SLOTS, 0, 4, 1 },
	{ "slot beyond the data", IMAGE_SLOTS, 2, 4, 1000 },
	/* n_profiles n_samples unit total (node value)* */
	{ "no profiles", IMAGE_DATA, 0, 0, 0x0a010200 },
	{ "a sample too few", IMAGE_DATA, 0, 0, 0x0a0a0101 },
	{ "a sample too many", IMAGE_DATA, 0, 0, 0x0a0a0301 },
	{ "no unit", IMAGE_DATA, 0, 0, 0x0a000201 },
	{ "another total", IMAGE_DATA, 0, 0, 0x0b0a0201 },
	{ "node beyond all", IMAGE_DATA, 4, 0, 0x07020302 },
	{ "node twice", IMAGE_DATA, 4, 0, 0x07000302 },
	{ "value zero", IMAGE_DATA, 4, 0, 0x0a010002 },
	{ "number that does not end", IMAGE_DATA, 4, 0, 0xffffffff },
};

static uint8_t *place_of(struct image *image, const struct row *row)
{
	struct image_header *header = (void *)image->bytes;
	struct image_layout at;

	image_layout(header, &at);
	if (row->part < 0)
		return image->bytes + row->byte;
	assert_true(row->item < header->counts[row->part]);
	return image->bytes + at.offsets[row->part] + row->item * image_item_bytes[row->part] +
	       row->byte;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct image image = make_image();
	uint8_t *p = place_of(&image, row);

	assert_memory_not_equal(p, &row->value, sizeof(row->value));
	memcpy(p, &row->value, sizeof(row->value));
	assert_false(opens(image.bytes, image.n));
	free(image.bytes);
}

/* The slot that the rows above change is the one that they mean. */
static void test_data(void **state)
{
	static const uint8_t expected[] = { 1, 2, 10, 10, 2, 3, 1, 7 };
	struct image image = make_image();
	const struct row data = { "", IMAGE_DATA, 0, 0, 0 };

	(void)state;
	assert_memory_equal(place_of(&image, &data), expected, sizeof(expected));
	free(image.bytes);
}

/* A path of 1,001 nodes: deeper than anything that was put in. */
static void test_too_deep(void **state)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = 1000, .seed = 1 };

	(void)state;
	for (int depth = IMAGE_MAX_DEPTH; depth <= IMAGE_MAX_DEPTH + 1; depth++) {
		struct head *h;
		struct image image;
		uint32_t leaf = SEGMENT_ROOT;

		assert_int_equal(head_new(&options, &h), 0);
		uint32_t at = location(h, "f", NULL, 0, SEGMENT_NONE);

		for (int i = 0; i < depth; i++)
			leaf = node(h, leaf, at);
		assert_int_equal(head_put(h, series(h, "a"), T0, 0,
					  (struct head_sample[]){ { leaf, 1 } }, 1),
				 0);
		assert_int_equal(head_encode(h, &image.bytes, &image.n), 0);
		assert_int_equal(opens(image.bytes, image.n), depth == IMAGE_MAX_DEPTH);
		free(image.bytes);
		head_free(h);
	}
}

static bool spans_open(uint32_t first, uint32_t second, size_t depth)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = 1000, .seed = 1 };
	struct head *h;
	struct image image;
	uint32_t at = SEGMENT_ROOT;

	assert_int_equal(head_new(&options, &h), 0);
	const uint32_t places[] = { location(h, "f", NULL, 0, SEGMENT_NONE),
				    location(h, NULL, NULL, 0x1f, SEGMENT_SPAN) };

	for (size_t i = 1; i < depth; i++)
		at = node(h, at, places[0]);
	at = node(h, node(h, at, places[first]), places[second]);
	assert_int_equal(head_put(h, series(h, "a"), T0, 0, (struct head_sample[]){ { at, 1 } }, 1),
			 0);
	assert_int_equal(head_encode(h, &image.bytes, &image.n), 0);
	head_free(h);
	bool open = opens(image.bytes, image.n);

	free(image.bytes);
	return open;
}

/* A span is the last of a stack, and no frame of it. */
static void test_spans(void **state)
{
	enum { FRAME, SPAN };

	(void)state;
	assert_true(spans_open(FRAME, SPAN, 1));
	assert_true(spans_open(FRAME, SPAN, IMAGE_MAX_DEPTH));
	assert_false(spans_open(FRAME, SPAN, IMAGE_MAX_DEPTH + 1));
	assert_false(spans_open(SPAN, FRAME, 1));
	assert_false(spans_open(SPAN, FRAME, 2));
	assert_false(spans_open(SPAN, SPAN, 2));
}

/* A location that becomes one of a span must not have lines, and has an id. */
static void test_span_locations(void **state)
{
	static const uint32_t span = SEGMENT_SPAN, zeros[2];
	const struct row rows_of[] = { { "", IMAGE_LOCATIONS, 2, 4, 0 },
				       { "", IMAGE_LOCATIONS, 0, 4, 0 },
				       { "", IMAGE_ADDRESSES, 2, 0, 0 } };
	struct image image = make_image();

	(void)state;
	memcpy(place_of(&image, &rows_of[0]), &span, sizeof(span));
	struct segment *s = open_image(
		(struct image){ memcpy(malloc(image.n), image.bytes, image.n), image.n });
	assert_int_equal(segment_node_span(s, 3), 0x1234);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(segment_node_span(s, i), 0);
	segment_unref(s);
	memcpy(place_of(&image, &rows_of[2]), zeros, sizeof(zeros));
	assert_false(opens(image.bytes, image.n));
	free(image.bytes);
	image = make_image();
	memcpy(place_of(&image, &rows_of[1]), &span, sizeof(span));
	assert_false(opens(image.bytes, image.n));
	free(image.bytes);
}

/* More inlined calls than ever come in: each node of such a location would make a query walk them all. */
static void test_too_many_lines(void **state)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = 1000, .seed = 1 };
	struct segment_line lines[IMAGE_MAX_LINES + 1] = { 0 };

	(void)state;
	for (size_t n = IMAGE_MAX_LINES; n <= IMAGE_MAX_LINES + 1; n++) {
		const struct segment_location l = { lines, n, 0, SEGMENT_NONE };
		struct segment_function f = { 0 };
		struct head *h;
		struct image image;
		uint32_t at;

		assert_int_equal(head_new(&options, &h), 0);
		assert_int_equal(head_function(h, &f, &at), 0);
		assert_int_equal(head_location(h, &l, &at), 0);
		const struct head_sample sample = { node(h, SEGMENT_ROOT, at), 1 };

		assert_int_equal(head_put(h, series(h, "a"), T0, 0, &sample, 1), 0);
		assert_int_equal(head_encode(h, &image.bytes, &image.n), 0);
		assert_int_equal(opens(image.bytes, image.n), n == IMAGE_MAX_LINES);
		free(image.bytes);
		head_free(h);
	}
}

static void test_long_label(void **state)
{
	const struct head_options options = { .max_bytes = 1 << 20, .slot_ms = 1000, .seed = 1 };
	char value[IMAGE_MAX_LABEL_BYTES + 2];

	(void)state;
	for (size_t n = IMAGE_MAX_LABEL_BYTES; n <= IMAGE_MAX_LABEL_BYTES + 1; n++) {
		struct head *h;
		struct image image;

		memset(value, 'x', n);
		value[n] = '\0';
		assert_int_equal(head_new(&options, &h), 0);
		const struct head_sample sample = {
			node(h, SEGMENT_ROOT, location(h, "f", NULL, 0, SEGMENT_NONE)), 1
		};

		assert_int_equal(head_put(h, series(h, value), T0, 0, &sample, 1), 0);
		assert_int_equal(head_encode(h, &image.bytes, &image.n), 0);
		assert_int_equal(opens(image.bytes, image.n), n == IMAGE_MAX_LABEL_BYTES);
		free(image.bytes);
		head_free(h);
	}
}

static void test_references(void **state)
{
	struct segment *s = open_image(make_image());

	(void)state;
	assert_ptr_equal(segment_ref(s), s);
	segment_unref(s);
	read_everything(s);
	segment_unref(s);
	segment_unref(NULL);
}

static const struct unit_test tests[] = {
	TEST(test_reads),
	TEST(test_symbols),
	TEST(test_texts),
	TEST(test_every_byte),
	TEST(test_every_length),
	TEST(test_data),
	TEST(test_too_deep),
	TEST(test_spans),
	TEST(test_span_locations),
	TEST(test_references),
	TEST(test_too_many_lines),
	TEST(test_long_label),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
