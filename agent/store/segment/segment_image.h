/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a segment: a header, then the parts in the order of the list, each of fixed items and padded to 8 bytes. Inside of agent/store.
 *
 * Numbers are as this machine has them; the magic tells one byte order from the other. A slot's samples lie in `data`:
 *
 *	slot   = n_profiles n_samples unit total sample*	(total in units)
 *	sample = node value					(node as the step from the one before, value in units)
 *
 * as varints. The unit is the greatest common divisor of the values: those of CPU profiles are multiples of the period and take one byte.
 * Texts are sorted, so one is found without another table, and what is alike lies together for the compression.
 */
#ifndef XAGENT_AGENT_STORE_SEGMENT_SEGMENT_IMAGE_H
#define XAGENT_AGENT_STORE_SEGMENT_SEGMENT_IMAGE_H

#include "agent/store/segment/segment.h"
#include "agent/target/label.h"

/* The last byte is the version of the format. */
#define IMAGE_MAGIC 0x0100676573676178ULL

/* X(name, type of an item). TEXTS are offsets in POOL and one more, its end; ADDRESSES has one for each location, or none at all. */
#define IMAGE_PARTS(X)                        \
	X(TEXTS, uint32_t)                    \
	X(POOL, char)                         \
	X(FUNCTIONS, struct segment_function) \
	X(LINES, struct segment_line)         \
	X(LOCATIONS, struct image_location)   \
	X(ADDRESSES, uint64_t)                \
	X(MAPPINGS, struct image_mapping)     \
	X(NODES, struct segment_node)         \
	X(SERIES, struct image_series)        \
	X(LABELS, struct segment_label)       \
	X(SLOTS, struct image_slot)           \
	X(DATA, uint8_t)

enum image_part {
#define IMAGE_PART_ENUM(name, type) IMAGE_##name,
	IMAGE_PARTS(IMAGE_PART_ENUM)
#undef IMAGE_PART_ENUM
		IMAGE_N_PARTS
};

struct image_header {
	uint64_t magic;
	int64_t first_ms, last_ms;
	uint64_t n_profiles, n_samples;
	uint32_t counts[IMAGE_N_PARTS]; /* of items */
};

struct image_location {
	uint32_t first_line; /* up to that of the next one */
	uint32_t mapping;
};

#define IMAGE_HAS_FUNCTIONS 1
#define IMAGE_HAS_FILENAMES 2
#define IMAGE_HAS_LINES 4
#define IMAGE_HAS_INLINES 8
#define IMAGE_HAS_ALL 15

struct image_mapping {
	uint64_t start, limit, file_off;
	uint32_t filename, build_id;
	uint32_t has, zero;
};

/* Labels and slots follow those of the series before. */
struct image_series {
	int64_t period;
	uint32_t n_labels, n_slots;
};

struct image_slot {
	uint32_t after_first_ms;
	uint32_t offset; /* in DATA, up to that of the next one */
};

_Static_assert(sizeof(struct image_header) == 40 + 4 * IMAGE_N_PARTS, "no padding");
_Static_assert(sizeof(struct image_header) % 8 == 0, "parts begin at multiples of 8");
_Static_assert(sizeof(struct image_mapping) == 40 && sizeof(struct image_series) == 16,
	       "no padding");

/* The largest stack: what a Pyroscope server keeps by default (validation.max-profile-stacktrace-depth). */
#define IMAGE_MAX_DEPTH 1000
/* What a Pyroscope server takes of a series by default, and the seven that it adds itself. */
#define IMAGE_MAX_LABELS (30 + 7)
/* Calls inlined at one location: as pprof/pprof.h has it. */
#define IMAGE_MAX_LINES 256
/* Of a label's name or value: the longest is the profile type, of five values with a sign between them. */
#define IMAGE_MAX_LABEL_BYTES (5 * (LABEL_VALUE_MAX + 1))
/* Sizes and offsets have 32 bits. */
#define IMAGE_MAX_BYTES ((size_t)UINT32_MAX)

extern const size_t image_item_bytes[IMAGE_N_PARTS];

/* Where each part begins, and as the last the size of the image. */
struct image_layout {
	uint64_t offsets[IMAGE_N_PARTS + 1];
};

void image_layout(const struct image_header *header, struct image_layout *ret_layout);

struct segment {
	unsigned int n_refs;
	uint8_t *image;
	size_t n;
	const struct image_header *header; /* all of these point into the image */
	const uint32_t *texts;
	const char *pool;
	const struct segment_function *functions;
	const struct segment_line *lines;
	const struct image_location *locations;
	const uint64_t *addresses;
	const struct image_mapping *mappings;
	const struct segment_node *nodes;
	const struct image_series *series;
	const struct segment_label *labels;
	const struct image_slot *slots;
	const uint8_t *data;
	struct image_place *places; /* of each series; owned */
};

/* Where a series' own begin. */
struct image_place {
	uint32_t first_label, first_slot;
};

/* As segment_new(), of an image that our own head has just made: not looked at again. 0 or -ENOMEM. */
int segment_adopt(uint8_t *image, size_t n, struct segment **ret_segment);

/* Whether every reference and number of it is sound; its pointers are set, the header and the sizes are checked. 1, 0, or -ENOMEM. */
int segment_check(const struct segment *s);

#endif
