/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A closed stretch of time of the store: profiles of many series, in one piece of bytes that never changes.
 *
 *	series ──► slots (one a point in time) ──► samples (node, value)
 *	node ──► parent node, location ──► lines ──► function ──► texts
 *
 * Stacks are paths in one tree for the whole segment: a node's parent has a smaller number, node 0 is the root. The same bytes lie in
 * memory and, compressed, on disk, so they are hostile: segment_new() looks at everything once, and readers trust what it let pass.
 *
 * References are counted on the loop thread; whoever holds one may read on any thread.
 */
#ifndef XAGENT_AGENT_STORE_SEGMENT_SEGMENT_H
#define XAGENT_AGENT_STORE_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

#define SEGMENT_ROOT 0
#define SEGMENT_NONE UINT32_MAX
/* In place of a mapping: the location is no frame but a span of a trace, and its address the span's id. A node of it is the last of
 * its stack, and has what the stack above it did within that span. */
#define SEGMENT_SPAN (UINT32_MAX - 1)

struct segment;

enum segment_outcome { SEGMENT_OPENED, SEGMENT_INVALID };

/* Takes `image` (malloc'ed) when it succeeds. SEGMENT_OPENED; SEGMENT_INVALID: not a segment, or a damaged one; -ENOMEM. */
int segment_new(uint8_t *image, size_t n, struct segment **ret_segment);
struct segment *segment_ref(struct segment *s);
void segment_unref(struct segment *s); /* NULL-safe */
DEFINE_CLEANUP(struct segment *, segment_unref);

/* What it takes in memory; the image alone is what a file holds once unpacked. */
size_t segment_bytes(const struct segment *s);
const uint8_t *segment_image(const struct segment *s, size_t *ret_n);

/* Of the profiles in it, both included. */
int64_t segment_first_ms(const struct segment *s);
int64_t segment_last_ms(const struct segment *s);

/* Texts: numbers below segment_n_texts(), 0 is "". Valid UTF-8, NUL terminated, borrowed as long as the segment lives. */
size_t segment_n_texts(const struct segment *s);
const char *segment_text(const struct segment *s, uint32_t text);
/* SEGMENT_NONE: no such text in it. */
uint32_t segment_find_text(const struct segment *s, const char *text);

struct segment_label {
	uint32_t name; /* texts */
	uint32_t value;
};

/* Labels sorted by name, those that a server adds to a series included: __profile_type__, __type__, __unit__, __period_type__,
 * __period_unit__, __service_name__. */
struct segment_series {
	const struct segment_label *labels;
	size_t n_labels;
	size_t first_slot; /* slots by time */
	size_t n_slots;
	int64_t period; /* of the profiles, 0: none told */
};

size_t segment_n_series(const struct segment *s);
void segment_series(const struct segment *s, size_t series, struct segment_series *ret_series);
/* NULL: it has no such label. */
const char *segment_series_label(const struct segment *s, size_t series, const char *name);

struct segment_slot {
	int64_t time_ms; /* of the last profile in it */
	int64_t total;	 /* sum of values */
	uint32_t n_samples;
	uint32_t n_profiles;
};

void segment_slot(const struct segment *s, size_t slot, struct segment_slot *ret_slot);
/* Adds the slot's values to those of its nodes; `values` has segment_n_nodes() items. Sums stay at INT64_MAX. */
void segment_add_slot(const struct segment *s, size_t slot, int64_t *values);
/* Calls for each of its values, by node. */
void segment_each_value(const struct segment *s, size_t slot,
			void (*fn)(void *user, uint32_t node, int64_t value), void *user);
/* The sum of its values at nodes that are `within`, which has segment_n_nodes() items. */
double segment_sum_slot(const struct segment *s, size_t slot, const bool *within);

struct segment_node {
	uint32_t parent;   /* of the root: SEGMENT_NONE */
	uint32_t location; /* of the root: SEGMENT_NONE */
};

size_t segment_n_nodes(const struct segment *s);
struct segment_node segment_node(const struct segment *s, uint32_t node);

struct segment_line {
	uint32_t function;
	uint32_t line; /* 0: unknown */
};

/* As in pprof: the innermost inlined call first; at least one line, unless there is an address alone. */
struct segment_location {
	const struct segment_line *lines;
	size_t n_lines;
	uint64_t address; /* 0 where the lines tell all */
	uint32_t mapping; /* SEGMENT_NONE, SEGMENT_SPAN */
};

size_t segment_n_locations(const struct segment *s);
void segment_location(const struct segment *s, uint32_t location,
		      struct segment_location *ret_location);

struct segment_function {
	uint32_t name, system_name, filename; /* texts */
	uint32_t start_line;		      /* 0: unknown */
};

/* The id of the span that the node stands for; 0: it is a frame, or the root. */
uint64_t segment_node_span(const struct segment *s, uint32_t node);

size_t segment_n_functions(const struct segment *s);
struct segment_function segment_function(const struct segment *s, uint32_t function);

struct segment_mapping {
	uint64_t start, limit, file_off;
	uint32_t filename, build_id; /* texts */
	bool has_functions, has_filenames, has_lines, has_inlines;
};

size_t segment_n_mappings(const struct segment *s);
void segment_mapping(const struct segment *s, uint32_t mapping,
		     struct segment_mapping *ret_mapping);

#endif
