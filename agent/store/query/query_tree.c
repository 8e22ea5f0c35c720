/* SPDX-License-Identifier: Apache-2.0 */
/* From the nodes of segments to the names of a call tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"

struct growing {
	struct call_tree *tree;
	enum call_side side;
	struct query_nodes nodes;
};

/* One segment into a tree. CALL_NONE: not asked for yet. */
struct mapping {
	const struct segment *segment;
	struct call_tree *tree;
	uint32_t *functions; /* their names in the tree */
	uint32_t *frames;    /* of locations of one frame, its name in the tree */
};

static int function_name(struct mapping *m, uint32_t function, uint32_t *ret_name)
{
	const char *text;
	int r = 0;

	if (m->functions[function] == CALL_NONE) {
		text = segment_text(m->segment, segment_function(m->segment, function).name);
		r = call_tree_name(m->tree, text, strlen(text), &m->functions[function]);
	}
	*ret_name = m->functions[function];
	return r;
}

/* Each inlined call is a frame of its own. */
static int place_frames(struct mapping *m, uint32_t number, uint32_t at, uint32_t *ret_place)
{
	struct segment_location location;
	uint32_t name;

	segment_location(m->segment, number, &location);
	for (size_t k = location.n_lines; k-- > 0;) {
		int r = function_name(m, location.lines[k].function, &name);

		if (r < 0)
			return r;
		if (location.n_lines == 1)
			m->frames[number] = name;
		r = call_tree_child(m->tree, at, name, &at);
		if (r < 0)
			return r;
	}
	*ret_place = at;
	return 0;
}

static int place_node(struct mapping *m, struct query_nodes *nodes, uint32_t i)
{
	struct segment_node node = segment_node(m->segment, i);
	uint32_t at = nodes->places[node.parent], name = m->frames[node.location];

	return name == CALL_NONE ? place_frames(m, node.location, at, &nodes->places[i])
				 : call_tree_child(m->tree, at, name, &nodes->places[i]);
}

static int map_nodes(struct mapping *m, struct query_nodes *nodes, enum call_side side)
{
	nodes->places[SEGMENT_ROOT] = CALL_ROOT;
	for (uint32_t i = query_nodes_next(nodes, 0); i < nodes->n;
	     i = query_nodes_next(nodes, i)) {
		int r = place_node(m, nodes, i);

		if (r < 0)
			return r;
		if (nodes->values[i] != 0 && nodes->places[i] != CALL_ROOT)
			call_tree_add(m->tree, nodes->places[i], side, nodes->values[i]);
	}
	return 0;
}

static int add_part(void *user, const struct query_part *part)
{
	struct growing *g = user;
	size_t n_functions = segment_n_functions(part->segment);
	size_t n_locations = segment_n_locations(part->segment);
	struct query_memory *memory = part->q->memory;
	_cleanup_query_free_ uint32_t *functions =
		query_malloc(memory, n_functions + 1, sizeof(*functions));
	_cleanup_query_free_ uint32_t *frames =
		query_malloc(memory, n_locations + 1, sizeof(*frames));
	struct mapping m = { part->segment, g->tree, functions, frames };
	int r = query_nodes_load(&g->nodes, part);

	if (r < 0)
		return r;
	if (!functions || !frames)
		return -ENOMEM;
	memset(functions, 0xff, n_functions * sizeof(*functions));
	memset(frames, 0xff, n_locations * sizeof(*frames));
	return map_nodes(&m, &g->nodes, g->side);
}

int query_tree(const struct query *q, enum call_side side, struct call_tree *tree)
{
	struct growing g = { .tree = tree, .side = side };
	int r = query_each_part(q, add_part, &g);

	query_nodes_fini(&g.nodes);
	return r;
}
