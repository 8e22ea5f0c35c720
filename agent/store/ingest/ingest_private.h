/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a received profile; for its files. */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_PRIVATE_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_PRIVATE_H

#include "agent/store/ingest/ingest.h"
#include "agent/store/ingest/ingest_memory.h"

/* The six labels that the server adds, and the room of those that the rules leave. */
#define INGEST_MAX_SERIES_LABELS (LABELS_MAX + 1 + 6)

struct ingest_labels {
	struct label *items; /* by name */
	size_t n;
};

/* Samples with the same text labels, and the series that they make together with the labels of the push. */
struct ingest_group {
	struct ingest_labels labels;
	size_t first, n; /* in `order` */
};

struct ingest_id {
	uint64_t id;
	uint32_t index;
};

/* Items by their ids. */
struct ingest_ids {
	struct ingest_id *items; /* by id; NULL: item i has the id i + 1 */
	size_t n;
};

struct ingest {
	struct ingest_memory memory;
	struct read_budget *budget; /* of the request; NULL: none */
	void *profile; /* the generated message: Perftools__Profiles__Profile, which only sources know */
	bool is_own;   /* made by this agent, so its structure is sound */
	bool in_parts; /* it may have more samples than a server takes at a time */
	int64_t time_ms;
	struct ingest_labels base; /* of the push, service_name included */
	uint32_t *order;	   /* numbers of samples */
	struct ingest_group *groups;
	size_t n_groups;
	struct ingest_ids functions, locations, mappings;
};

/* Whether the budget of the request lets it go on; for each turn of a loop. */
bool ingest_goes_on(const struct ingest *in);

/* NULL: the ceiling or no memory; these tell which: INGEST_REFUSED_SIZE with a sentence, or -ENOMEM. */
int ingest_no_memory(const struct ingest *in, struct buf *why);

/* All that follow: INGEST_OPENED, INGEST_REFUSED_x with a sentence, -ENOMEM, or -ECANCELED. */

/* Bytes to a message that nobody has looked at; `budget` is borrowed. */
int ingest_open_bytes(const uint8_t *pprof, size_t n, struct read_budget *budget, struct buf *why,
		      struct ingest **ret_ingest);
/* The structure of the message: counts, indices, ids, texts. */
int ingest_check(struct ingest *in, struct buf *why);
/* Copies the labels of the push. */
int ingest_take_labels(struct ingest *in, const struct labels *labels, struct buf *why);
/* The rules for labels; `labels` become those of the series: names as they are kept, what the server drops left out. */
int ingest_check_labels(struct ingest *in, struct ingest_labels *labels, struct buf *why);
int ingest_make_groups(struct ingest *in, struct buf *why);

/* Of the label span_id of a sample, or profile_id, which older clients call it: 16 hexadecimal digits. 0: it is of no span. */
uint64_t ingest_span_id(const struct ingest *in, const void *sample);

/* Whether one of the segments has the series with a slot of this very millisecond; labels by name. */
bool ingest_is_in(struct segment *const *segments, size_t n, const struct ingest_labels *labels,
		  int64_t time_ms);

/* {a="b", c="d"} */
void ingest_print_labels(const struct ingest_labels *labels, struct buf *out);
int ingest_compare_labels(const void *a, const void *b); /* by name */

const char *ingest_text(const struct ingest *in,
			int64_t index); /* "" below zero and beyond the table */
/* ID_NONE: none has that id. */
uint32_t ingest_find(const struct ingest_ids *ids, uint64_t id);

#endif
