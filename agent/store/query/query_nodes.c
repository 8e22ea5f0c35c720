/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of one segment: what they are worth, and which are asked for.
 *
 * A parent has a smaller number than its children: what comes from above is passed on in one loop forwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"

/* So many functions of the call site were met above; all of them, or never. */
#define SITE_LOST UINT32_MAX

void query_nodes_fini(struct query_nodes *nodes)
{
	query_free(nodes->values);
	query_free(nodes->used);
	query_free(nodes->places);
	*nodes = (struct query_nodes){ 0 };
}

/* The texts of the call site in this segment; false when it lacks one, so that no stack can have it. */
static bool find_site(const struct query_part *part, uint32_t *names)
{
	for (size_t i = 0; i < part->q->n_call_site; i++) {
		names[i] = segment_find_text(part->segment, part->q->call_site[i]);
		if (names[i] == SEGMENT_NONE)
			return false;
	}
	return true;
}

/* How far the site is met with the frames of one more location, the outermost first. */
static uint32_t meet_location(const struct segment *s, uint32_t location, const uint32_t *names,
			      size_t n_names, uint32_t met)
{
	struct segment_location l;

	segment_location(s, location, &l);
	for (size_t i = l.n_lines; i-- > 0 && met < n_names;)
		met = segment_function(s, l.lines[i].function).name == names[met] ? met + 1
										  : SITE_LOST;
	return met;
}

static void meet_nodes(const struct segment *s, const uint32_t *names, size_t n_names,
		       uint32_t *met, bool *within)
{
	met[SEGMENT_ROOT] = 0;
	for (uint32_t i = 1; i < segment_n_nodes(s); i++) {
		struct segment_node node = segment_node(s, i);

		met[i] = met[node.parent];
		if (met[i] < n_names)
			met[i] = meet_location(s, node.location, names, n_names, met[i]);
		within[i] = met[i] == n_names;
	}
}

static int keep_site(const struct query_part *part, bool *within)
{
	size_t n_names = part->q->n_call_site;
	struct query_memory *m = part->q->memory;
	_cleanup_query_free_ uint32_t *met =
		query_malloc(m, segment_n_nodes(part->segment), sizeof(*met));
	_cleanup_query_free_ uint32_t *names = query_calloc(m, n_names + 1, sizeof(*names));

	if (!met || !names)
		return -ENOMEM;
	if (find_site(part, names))
		meet_nodes(part->segment, names, n_names, met, within);
	return 0;
}

int query_within(const struct query_part *part, bool **ret_within)
{
	const struct query *q = part->q;
	size_t n = segment_n_nodes(part->segment);
	_cleanup_query_free_ bool *within = NULL;
	int r = 0;

	*ret_within = NULL;
	if (q->n_call_site == 0 && !q->frames)
		return 0;
	within = query_calloc(q->memory, n, sizeof(*within));
	if (!within)
		return -ENOMEM;
	if (q->n_call_site == 0)
		memset(within, true, n);
	else
		r = keep_site(part, within);
	if (r == 0 && q->frames)
		r = query_frames_keep(q->frames, part->segment, q->memory, within);
	if (r == 0)
		*ret_within = TAKE_PTR(within);
	return r;
}

static int keep_within(const struct query_part *part, struct query_nodes *nodes)
{
	_cleanup_query_free_ bool *within = NULL;
	int r = query_within(part, &within);

	for (size_t i = 0; r == 0 && within && i < nodes->n; i++)
		if (!within[i])
			nodes->values[i] = 0;
	return r;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void keep_spans(const struct query_part *part, struct query_nodes *nodes)
{
	const struct query *q = part->q;

	for (uint32_t i = 0; i < nodes->n; i++) {
		uint64_t id = nodes->values[i] ? segment_node_span(part->segment, i) : 0;

		if (!id || !q->n_span_ids ||
		    !bsearch(&id, q->span_ids, q->n_span_ids, sizeof(id), compare_ids))
			nodes->values[i] = 0;
	}
}

/* Room for n nodes; what was in it is lost. */
static int reserve(struct query_nodes *nodes, struct query_memory *m, size_t n)
{
	size_t cap = n + n / 4;

	if (n <= nodes->cap)
		return 0;
	query_nodes_fini(nodes);
	nodes->values = query_malloc(m, cap, sizeof(*nodes->values));
	nodes->used = query_malloc(m, cap, sizeof(*nodes->used));
	nodes->places = query_malloc(m, cap, sizeof(*nodes->places));
	if (!nodes->values || !nodes->used || !nodes->places)
		return -ENOMEM;
	nodes->cap = cap;
	return 0;
}

/* All nodes above one that has a value, up to the first that is known already. */
static void mark_used(struct query_nodes *nodes, const struct segment *s)
{
	memset(nodes->used, false, nodes->n * sizeof(*nodes->used));
	nodes->used[SEGMENT_ROOT] = true;
	for (uint32_t i = 0; i < nodes->n; i++) {
		if (nodes->values[i] == 0)
			continue;
		for (uint32_t at = i; !nodes->used[at]; at = segment_node(s, at).parent)
			nodes->used[at] = true;
	}
}

int query_nodes_load(struct query_nodes *nodes, const struct query_part *part)
{
	const struct segment *s = part->segment;
	int r = reserve(nodes, part->q->memory, segment_n_nodes(s));

	if (r < 0)
		return r;
	nodes->n = segment_n_nodes(s);
	memset(nodes->values, 0, nodes->n * sizeof(*nodes->values));
	for (size_t i = 0; i < segment_n_series(s); i++) {
		struct query_slots slots = query_slots(part, i);
		struct query_profile_id id = { 0 };

		if (part->q->by_profile && slots.first < slots.end)
			id = query_series_id(s, i);
		for (size_t slot = slots.first; slot < slots.end; slot++)
			if (query_takes_profile(part, id, slot))
				segment_add_slot(s, slot, nodes->values);
	}
	r = keep_within(part, nodes);
	if (r < 0)
		return r;
	if (part->q->by_span)
		keep_spans(part, nodes);
	mark_used(nodes, s);
	return 0;
}
