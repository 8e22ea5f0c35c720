/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to a view. Pure: the answer depends on the arguments alone; any thread that holds the view.
 *
 * Times are Unix milliseconds, both ends included. A profile type is the id "name:type:unit:period_type:period_unit".
 */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/store/query/query_frames.h"
#include "agent/store/query/query_memory.h"
#include "agent/store/query/query_profile_id.h"
#include "agent/store/query/selector.h"
#include "agent/store/store.h"
#include "agent/store/tree/call_tree.h"

/* What one question may take before its answer is encoded; in a store of more than that, as much as the store may take. */
#define QUERY_MAX_BYTES ((size_t)64 << 20)

struct query {
	const struct store_view *view;
	const char *profile_type;    /* NULL or "": any; a ":delta" behind it changes nothing */
	struct selector **selectors; /* a series that one of them takes is taken; none: all */
	size_t n_selectors;
	int64_t start_ms, end_ms;
	/* Only stacks that begin with these functions, outermost first (stackTraceSelector.callSite). */
	const char *const *call_site;
	size_t n_call_site;
	/* Only stacks with these functions in them, and without others (stackTraceSelector.frameFilter); NULL: all. */
	struct query_frames *frames;
	/* Only samples within these spans; ids ascend. */
	bool by_span;
	const uint64_t *span_ids;
	size_t n_span_ids;
	/* Only these profiles; ids ascend (query_profile_id_compare). */
	bool by_profile;
	const struct query_profile_id *profile_ids;
	size_t n_profile_ids;
	struct query_memory *memory; /* the account; NULL: none */
	/* Set by another thread: the answer is not wanted any more; NULL: it always is. */
	const atomic_bool *stop;
};

/* Sorted, unique texts. */
struct query_names {
	char **items;
	size_t n;
};
void query_names_fini(struct query_names *names);

/* All functions: 0; -ENOMEM, for which memory->full may be the reason; -ENOBUFS; -ECANCELED: `stop`; -ETIMEDOUT: an expression of a selector takes too long (selector_on_new). Of labels are told those of
 * series that have a profile within the times. */
int query_profile_types(const struct query *q, struct query_names *ret_ids);
int query_label_names(const struct query *q, struct query_names *ret_names);
int query_label_values(const struct query *q, const char *name, struct query_names *ret_values);

struct query_label {
	const char *name, *value; /* of the view */
};

/* Sorted by name. */
struct query_labels {
	struct query_label *items;
	size_t n;
};

/* Sorted, unique. With `names` only these labels of each, where it has them, in the order of `names`; a set may be empty then. */
struct query_label_sets {
	struct query_labels *items;
	size_t n;
};
void query_label_sets_fini(struct query_label_sets *sets);
int query_label_sets(const struct query *q, const char *const *names, size_t n_names,
		     struct query_label_sets *ret_sets);

struct query_counts {
	size_t n_segments; /* that have something of what is asked for; n_bytes is their size */
	size_t n_series;
	uint64_t n_profiles, n_samples, n_bytes;
};
/* Of call site, frames and spans nothing is looked at. */
int query_count(const struct query *q, struct query_counts *ret_counts);

/* Adds to one side of the tree, which is not finished. Frames that have an address alone have no name: they are left out, as the real server
 * does, and so are stacks of such frames alone. */
int query_tree(const struct query *q, enum call_side side, struct call_tree *tree);

enum query_aggregation { QUERY_SUM, QUERY_AVERAGE };

/* Examples of what was summed: the largest profile, or what was within the largest span. */
enum query_exemplars { QUERY_NO_EXEMPLARS, QUERY_EXEMPLARS_OF_PROFILES, QUERY_EXEMPLARS_OF_SPANS };

struct query_exemplar {
	int64_t time_ms, value;
	uint64_t span; /* 0: a whole profile */
	const struct segment *segment;
	size_t series;
};
struct query_profile_id query_exemplar_id(const struct query_exemplar *e);
/* Labels of its series but those called `without`; the caller frees the items with query_free(). 0 or -ENOMEM. */
int query_exemplar_labels(const struct query_exemplar *e, const char *const *without,
			  size_t n_without, struct query_memory *memory,
			  struct query_labels *ret_labels);

struct query_point {
	int64_t time_ms;
	double value;
	struct query_exemplar *exemplar; /* NULL: none was asked for, or there is none */
};

struct query_series {
	struct query_labels labels; /* those of group_by that it has */
	struct query_point *points; /* by time; times at which nothing was are left out */
	size_t n_points;
	double sum; /* of their values */
};

struct query_series_list {
	struct query_series *items;
	size_t n;
};
void query_series_list_fini(struct query_series_list *list);

/*
 * A point at start, start + step, … up to end: what lies in (point - step, point], of the first in [start - step, start], as the real server
 * has it. So the view must reach back one step before start, and what lies behind the last point is in none. The average is that of profiles. The largest sums come first, equal ones by labels;
 * limit > 0: so many alone. -EINVAL: a step of less than a millisecond, or more than QUERY_MAX_STEP_S.
 */
#define QUERY_MAX_STEP_S 1e9
struct query_series_options {
	const char *const *group_by;
	size_t n_group_by;
	double step_s;
	enum query_aggregation aggregation;
	enum query_exemplars exemplars;
	size_t limit;
};
int query_series(const struct query *q, const struct query_series_options *options,
		 struct query_series_list *ret_list);

/*
 * How many profiles, or spans within profiles, had which value, in the steps of query_series(): a row of counts a step, of values from y_min[i] up to the next,
 * of which the last holds the largest there is. aggregation is not looked at; exemplars are one of each count that is not 0.
 */
#define QUERY_HEATMAP_ROWS 20
struct query_heatmap_slot {
	int64_t time_ms;
	int32_t counts[QUERY_HEATMAP_ROWS];
	struct query_exemplar *exemplars; /* by row */
	size_t n_exemplars;
};

struct query_heatmap_series {
	struct query_labels labels;
	struct query_heatmap_slot *slots; /* by time */
	size_t n_slots;
	double sum;
};

struct query_heatmap {
	int64_t y_min[QUERY_HEATMAP_ROWS];
	struct query_heatmap_series *series; /* by labels; with a limit those of the largest sums */
	size_t n;
};
void query_heatmap_fini(struct query_heatmap *map);
int query_heatmap(const struct query *q, const struct query_series_options *options, bool of_spans,
		  struct query_heatmap *ret_map);

/* One profile.proto, plain, of all that is selected; its time is the end. max_nodes > 0: the small ones become `other`, as in a tree. Its
 * ceiling is that of ret_pprof. */
int query_profile(const struct query *q, size_t max_nodes, struct buf *ret_pprof);

#endif
