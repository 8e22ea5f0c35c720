/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of profiles that are written as text, for the tests of the questions to them.
 *
 * A profile is lines "root;…;leaf value". A frame is "function", "outer|inlined", an address alone: "0x1234", or as the last one the id of a span: "#1f".
 */
#ifndef XAGENT_TESTS_UNIT_AGENT_STORE_QUERY_QUERY_CONTEXT_H
#define XAGENT_TESTS_UNIT_AGENT_STORE_QUERY_QUERY_CONTEXT_H

#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "agent/store/segment/head.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define CONTEXT_SEGMENTS 4
#define CONTEXT_LABELS 40
#define CONTEXT_SAMPLES 4096
#define CONTEXT_PERIOD 10000000

struct context {
	struct head *heads[CONTEXT_SEGMENTS];
	struct segment *segments[CONTEXT_SEGMENTS];
	struct store_view view;
};

static inline void context_init(struct context *w)
{
	struct head_options options = { .max_bytes = (size_t)64 << 20, .slot_ms = 1, .seed = 1 };

	*w = (struct context){ .view.segments = w->segments };
	for (size_t i = 0; i < CONTEXT_SEGMENTS; i++)
		assert_int_equal(head_new(&options, &w->heads[i]), 0);
}

static inline void context_fini(struct context *w)
{
	for (size_t i = 0; i < w->view.n; i++)
		segment_unref(w->segments[i]);
	for (size_t i = 0; i < CONTEXT_SEGMENTS; i++)
		head_free(w->heads[i]);
}

static inline uint32_t context_text(struct head *h, const char *text, size_t n)
{
	uint32_t number;

	assert_int_equal(head_text(h, text, n, &number), 0);
	return number;
}

static inline uint32_t context_function(struct head *h, struct str name)
{
	struct segment_function f = { .name = context_text(h, name.p, name.n) };
	uint32_t number;

	assert_int_equal(head_function(h, &f, &number), 0);
	return number;
}

static inline uint32_t context_location(struct head *h, struct str frame)
{
	struct segment_line lines[8];
	struct segment_location l = { .lines = lines, .mapping = SEGMENT_NONE };
	struct str piece, rest = frame;
	uint32_t number;

	if (str_starts_with(frame, STR_LIT("0x"))) {
		rest = (struct str){ frame.p + 2, frame.n - 2 };
		assert_int_equal(str_parse_u64(rest, 16, UINT64_MAX, &l.address), 0);
	} else if (str_starts_with(frame, STR_LIT("#"))) {
		rest = (struct str){ frame.p + 1, frame.n - 1 };
		l.mapping = SEGMENT_SPAN;
		assert_int_equal(str_parse_u64(rest, 16, UINT64_MAX, &l.address), 0);
	} else {
		while (str_split(&rest, '|', &piece))
			lines[ARRAY_SIZE(lines) - ++l.n_lines] =
				(struct segment_line){ context_function(h, piece), 0 };
		l.lines = lines + ARRAY_SIZE(lines) - l.n_lines;
	}
	assert_int_equal(head_location(h, &l, &number), 0);
	return number;
}

static inline uint32_t context_stack(struct head *h, struct str stack)
{
	uint32_t node = SEGMENT_ROOT;
	struct str frame;

	while (str_split(&stack, ';', &frame))
		assert_int_equal(
			head_node(h, (struct segment_node){ node, context_location(h, frame) },
				  &node),
			0);
	return node;
}

static inline int context_compare_samples(const void *a, const void *b)
{
	const struct head_sample *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

static inline size_t context_samples(struct head *h, const char *folded,
				     struct head_sample *samples)
{
	struct str rest = str_from(folded), line, value;
	size_t n = 0, n_unique = 0;
	uint64_t number;

	while (str_split(&rest, '\n', &line)) {
		if (line.n == 0)
			continue;
		const char *blank = memrchr(line.p, ' ', line.n);

		assert_non_null(blank);
		assert_true(n < CONTEXT_SAMPLES);
		value = (struct str){ blank + 1, (size_t)(line.p + line.n - blank - 1) };
		assert_int_equal(str_parse_u64(value, 10, INT64_MAX, &number), 0);
		line.n = (size_t)(blank - line.p);
		samples[n++] = (struct head_sample){ context_stack(h, line), (int64_t)number };
	}
	qsort(samples, n, sizeof(*samples), context_compare_samples);
	for (size_t i = 1; i < n; i++) {
		if (samples[i].node == samples[n_unique].node)
			samples[n_unique].value += samples[i].value;
		else
			samples[++n_unique] = samples[i];
	}
	return n > 0 ? n_unique + 1 : 0;
}

struct context_label {
	struct str name, value;
};

static inline int context_compare_labels(const void *a, const void *b)
{
	const struct context_label *x = a, *y = b;
	int order = memcmp(x->name.p, y->name.p, MIN_OF(x->name.n, y->name.n));

	return order ? order : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

/* "a=b,c=d" and those that the profile type gives. */
static inline size_t context_labels(const char *text, const char *type,
				    struct context_label *labels)
{
	static const char *const names[] = { "__name__", "__type__", "__unit__", "__period_type__",
					     "__period_unit__" };
	struct str rest = str_from(text), piece;
	size_t n = 0;

	while (str_split(&rest, ',', &piece))
		if (piece.n > 0) {
			struct str value = piece;

			assert_true(str_split(&value, '=', &labels[n].name));
			labels[n++].value = value.p ? value : STR_LIT("");
		}
	labels[n++] = (struct context_label){ STR_LIT("__profile_type__"), str_from(type) };
	rest = str_from(type);
	for (size_t i = 0; i < ARRAY_SIZE(names) && str_split(&rest, ':', &piece); i++)
		labels[n++] = (struct context_label){ str_from(names[i]), piece };
	qsort(labels, n, sizeof(*labels), context_compare_labels);
	return n;
}

static inline uint32_t context_series(struct head *h, const char *text, const char *type)
{
	struct context_label labels[CONTEXT_LABELS];
	struct segment_label numbers[CONTEXT_LABELS];
	size_t n = context_labels(text, type, labels);
	uint32_t series;

	for (size_t i = 0; i < n; i++)
		numbers[i] = (struct segment_label){
			context_text(h, labels[i].name.p, labels[i].name.n),
			context_text(h, labels[i].value.p, labels[i].value.n),
		};
	assert_int_equal(head_series(h, numbers, n, &series), 0);
	return series;
}

static inline void context_put_type(struct context *w, size_t segment, const char *labels,
				    const char *type, int64_t time_ms, const char *folded)
{
	static struct head_sample samples[CONTEXT_SAMPLES];
	struct head *h = w->heads[segment];
	uint32_t series = context_series(h, labels, type);
	size_t n = context_samples(h, folded, samples);

	assert_int_equal(head_put(h, series, time_ms, CONTEXT_PERIOD, samples, n), 0);
}

static inline void context_put(struct context *w, size_t segment, const char *labels,
			       int64_t time_ms, const char *folded)
{
	context_put_type(w, segment, labels, CPU, time_ms, folded);
}

/* Closes what was put; nothing is put from now on. */
static inline void context_close(struct context *w)
{
	for (size_t i = 0; i < CONTEXT_SEGMENTS; i++) {
		struct head_stats stats;
		uint8_t *image;
		size_t n;

		head_stats(w->heads[i], &stats);
		if (stats.n_profiles == 0)
			continue;
		assert_int_equal(head_encode(w->heads[i], &image, &n), 0);
		assert_int_equal(segment_new(image, n, &w->segments[w->view.n]), SEGMENT_OPENED);
		w->view.n++;
	}
}

static inline struct query context_query(const struct context *w)
{
	return (struct query){ .view = &w->view, .start_ms = 0, .end_ms = INT64_MAX };
}

#endif
