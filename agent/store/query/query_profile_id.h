/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of single profiles, as UUIDs. The store keeps none: a profile is called by the labels of its series and the second it is of, as those of one
 * series and second are one (store.h). So it has the same name in a head, in its segment and in a file.
 *
 * Pure.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_PROFILE_ID_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_PROFILE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/store/segment/segment.h"

struct query_part;

struct query_profile_id {
	uint64_t high, low;
};

/* With its NUL. */
#define QUERY_PROFILE_ID_BYTES 37

/* What the profiles of a series have in common. */
struct query_profile_id query_series_id(const struct segment *s, size_t series);
struct query_profile_id query_profile_id(struct query_profile_id series, int64_t time_ms);
void query_profile_id_print(struct query_profile_id id, char text[QUERY_PROFILE_ID_BYTES]);
/* With dashes or without, in upper or lower case. False: it is none. */
bool query_profile_id_parse(const char *text, struct query_profile_id *ret_id);
int query_profile_id_compare(const void *a, const void *b);

/* Whether the question is about this profile: of all, or of those that it names. */
bool query_takes_profile(const struct query_part *part, struct query_profile_id series,
			 size_t slot);

#endif
