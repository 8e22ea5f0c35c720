/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment that still grows.
 *
 * Texts, functions, locations, mappings and the nodes of one tree of stacks are each kept once, whoever uses them; a series has slots, a
 * slot the samples of the profiles within it. Numbers are given in the order of arrival and hold within this head alone.
 *
 * Inside of agent/store. One user at a time.
 */
#ifndef XAGENT_AGENT_STORE_SEGMENT_HEAD_H
#define XAGENT_AGENT_STORE_SEGMENT_HEAD_H

#include "agent/store/segment/segment.h"

struct head_options {
	size_t max_bytes; /* of all that it allocates */
	int64_t slot_ms;  /* > 0 */
	uint64_t seed;	  /* of hashes; a random number, unless a test wants the same each time */
};

struct head;

int head_new(const struct head_options *options, struct head **ret_head);
void head_free(struct head *h); /* NULL-safe */
DEFINE_CLEANUP(struct head *, head_free);

/* All that follow: 0, -ENOMEM, or -ENOBUFS (max_bytes); then nothing is lost that was there, but unused texts and the like may stay
 * until head_rollback(). */

/* The number of what equals it. Texts are UTF-8 without NUL; references are numbers of this head; at least one line or an address. */
int head_text(struct head *h, const char *bytes, size_t n, uint32_t *ret_text);
int head_function(struct head *h, const struct segment_function *function, uint32_t *ret_function);
int head_mapping(struct head *h, const struct segment_mapping *mapping, uint32_t *ret_mapping);
int head_location(struct head *h, const struct segment_location *location, uint32_t *ret_location);
int head_node(struct head *h, struct segment_node node, uint32_t *ret_node);
/* Labels sorted by the texts of their names. A series without a slot is not encoded. */
int head_series(struct head *h, const struct segment_label *labels, size_t n, uint32_t *ret_series);

/* What was there at a time, to go back to. Texts, text bytes, functions, mappings, locations, lines, nodes, series, labels. */
#define HEAD_N_PARTS 9
struct head_mark {
	struct {
		size_t n, cap, n_slots;
	} parts[HEAD_N_PARTS];
	size_t n_addresses;
};

void head_mark(struct head *h, struct head_mark *ret_mark);
/* Forgets what was interned since, and gives its memory back. No head_put() or head_encode() came in between. */
void head_rollback(struct head *h, const struct head_mark *mark);

/* Whether it has a profile of this millisecond. */
bool head_has(const struct head *h, uint32_t series, int64_t time_ms);

struct head_sample {
	uint32_t node;
	int64_t value; /* > 0 */
};

/* What head_put() takes, at most; of several for one series and time each by itself. */
size_t head_put_bytes(const struct head *h, uint32_t series, int64_t time_ms, size_t n_samples);
/* Samples by node, each once, at least one. Does not look at max_bytes, so that a profile of several series is not kept in part: whoever
 * calls has asked head_has_room(), and head_takes_time(). */
int head_put(struct head *h, uint32_t series, int64_t time_ms, int64_t period,
	     const struct head_sample *samples, size_t n);
bool head_has_room(const struct head *h, size_t bytes);
/* Times of one head are within 49 days (32 bits of milliseconds); a clock that is set can be further. */
bool head_takes_time(const struct head *h, int64_t time_ms);

struct head_stats {
	size_t bytes;
	size_t n_series; /* with slots */
	uint64_t n_profiles, n_samples;
	int64_t first_ms, last_ms; /* 0 without profiles */
};

void head_stats(const struct head *h, struct head_stats *ret_stats);

/* The bytes of a segment with all that is in it; it goes on as it was. It has a profile. */
int head_encode(struct head *h, uint8_t **ret_image, size_t *ret_n);

#endif
