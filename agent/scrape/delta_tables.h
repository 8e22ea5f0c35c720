/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of a pprof refer to, as far as it tells one sample from another: addresses of locations, texts of labels. Inside of agent/scrape. */
#ifndef XAGENT_AGENT_SCRAPE_DELTA_TABLES_H
#define XAGENT_AGENT_SCRAPE_DELTA_TABLES_H

#include "agent/scrape/delta.h"
#include "agent/scrape/wire_read.h"
#include "agent/util/siphash.h"

/* Numbers of fields (pprof/profile.proto). */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10
};
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };

struct delta_id {
	uint64_t id;
	uint64_t value; /* a location: what tells it from others; a function: its name, hashed */
};

struct delta_ids {
	struct delta_id *items; /* by id, once all are read */
	size_t n, cap;
	bool unsorted;
};

struct delta_type {
	uint64_t type, unit; /* numbers of texts */
};

struct delta_tables {
	const struct siphash_key *key;
	uint64_t *texts; /* hashed once: a thousand labels may refer to one of megabytes */
	size_t n_texts, texts_cap;
	struct delta_ids locations, functions;
	struct delta_type types[DELTA_MAX_VALUES];
	size_t n_types;
	size_t n_samples, n_frames; /* of those that were read so far */
	int64_t time_ns;
};

/* The key is borrowed. 0; -EBADMSG: no profile; -ENOMEM. Then, too, to be freed. */
int delta_tables_read(struct delta_tables *t, const struct siphash_key *key, const uint8_t *plain,
		      size_t n);
void delta_tables_fini(struct delta_tables *t);

/* Whether the text of that number is this one. */
bool delta_tables_is(const struct delta_tables *t, uint64_t number, const char *text);

/* What tells a sample from others, and its values. False: it is none of this profile. */
bool delta_tables_sample(struct delta_tables *t, struct wire sample, uint64_t *ret_hash,
			 int64_t ret_values[DELTA_MAX_VALUES]);

#endif
