/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of all segments over tables of their own. */
#include "agent/store/query/query_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One segment, whose numbers become ours as they are met; UINT32_MAX: not yet. */
struct adding {
	struct query_stacks *stacks;
	const struct segment *segment;
	uint32_t *texts, *functions, *mappings;
	uint32_t *locations; /* names of the tree */
};

int query_stacks_init(struct query_stacks *s, struct query_memory *memory)
{
	static const struct stacks_mapping no_mapping = { 0 };
	uint32_t number;
	int r;

	*s = (struct query_stacks){ .memory = memory };
	query_intern_init(&s->strings, memory, SIZE_MAX);
	query_intern_init(&s->mappings, memory, SIZE_MAX);
	query_intern_init(&s->functions, memory, SIZE_MAX);
	query_intern_init(&s->locations, memory, SIZE_MAX);
	r = call_tree_new(memory, SIZE_MAX, &s->tree);
	if (r < 0)
		return r;
	r = query_intern_add(&s->strings, "", 0, &number);
	if (r < 0)
		return r;
	return query_intern_add(&s->mappings, &no_mapping, sizeof(no_mapping), &number);
}

void query_stacks_fini(struct query_stacks *s)
{
	query_intern_fini(&s->strings);
	query_intern_fini(&s->mappings);
	query_intern_fini(&s->functions);
	query_intern_fini(&s->locations);
	call_tree_free(s->tree);
	query_nodes_fini(&s->nodes);
	*s = (struct query_stacks){ 0 };
}

static int add_text(struct adding *a, uint32_t text, uint32_t *ret_string)
{
	const char *bytes = segment_text(a->segment, text);
	int r = 0;

	if (a->texts[text] == UINT32_MAX)
		r = query_intern_add(&a->stacks->strings, bytes, strlen(bytes), &a->texts[text]);
	*ret_string = a->texts[text];
	return r;
}

static int make_function(struct adding *a, uint32_t number, uint32_t *ret_function)
{
	struct segment_function f = segment_function(a->segment, number);
	struct stacks_function row = { .start_line = f.start_line };
	int r = add_text(a, f.name, &row.name);

	if (r < 0)
		return r;
	r = add_text(a, f.system_name, &row.system_name);
	if (r < 0)
		return r;
	r = add_text(a, f.filename, &row.filename);
	if (r < 0)
		return r;
	return query_intern_add(&a->stacks->functions, &row, sizeof(row), ret_function);
}

static int add_function(struct adding *a, uint32_t number, uint32_t *ret_function)
{
	uint32_t *function = &a->functions[number];
	int r = *function == UINT32_MAX ? make_function(a, number, function) : 0;

	*ret_function = *function;
	return r;
}

static int make_mapping(struct adding *a, uint32_t number, uint32_t *ret_mapping)
{
	struct stacks_mapping row;
	struct segment_mapping m;
	int r;

	segment_mapping(a->segment, number, &m);
	row = (struct stacks_mapping){
		.start = m.start,
		.limit = m.limit,
		.file_off = m.file_off,
		.has_functions = m.has_functions,
		.has_filenames = m.has_filenames,
		.has_lines = m.has_lines,
		.has_inlines = m.has_inlines,
	};
	r = add_text(a, m.filename, &row.filename);
	if (r < 0)
		return r;
	r = add_text(a, m.build_id, &row.build_id);
	if (r < 0)
		return r;
	return query_intern_add(&a->stacks->mappings, &row, sizeof(row), ret_mapping);
}

static int add_mapping(struct adding *a, uint32_t number, uint32_t *ret_mapping)
{
	uint32_t *mapping;
	int r = 0;

	*ret_mapping = 0;
	if (number == SEGMENT_NONE)
		return 0;
	mapping = &a->mappings[number];
	if (*mapping == UINT32_MAX)
		r = make_mapping(a, number, mapping);
	*ret_mapping = *mapping;
	return r;
}

static int add_row(struct query_stacks *s, struct stacks_location *row, size_t n_bytes,
		   uint32_t *ret_name)
{
	uint32_t number;
	int r = query_intern_add(&s->locations, row, n_bytes, &number);

	return r == 0 ? call_tree_name(s->tree, (const char *)&number, sizeof(number), ret_name)
		      : r;
}

static int make_location(struct adding *a, uint32_t number, uint32_t *ret_name)
{
	_cleanup_query_free_ struct stacks_location *row = NULL;
	struct segment_location l;
	struct stacks_line *lines;
	size_t n_bytes;
	int r;

	segment_location(a->segment, number, &l);
	n_bytes = sizeof(*row) + l.n_lines * sizeof(*lines);
	row = query_calloc(a->stacks->memory, 1, n_bytes);
	if (!row)
		return -ENOMEM;
	lines = (struct stacks_line *)(row + 1);
	*row = (struct stacks_location){ .address = l.address, .n_lines = (uint32_t)l.n_lines };
	r = add_mapping(a, l.mapping, &row->mapping);
	for (size_t i = 0; i < l.n_lines && r == 0; i++) {
		lines[i].line = l.lines[i].line;
		r = add_function(a, l.lines[i].function, &lines[i].function);
	}
	return r == 0 ? add_row(a->stacks, row, n_bytes, ret_name) : r;
}

/* A span is no frame of the stack above it. */
static int place_node(struct adding *a, uint32_t i)
{
	struct segment_node node = segment_node(a->segment, i);

	if (segment_node_span(a->segment, i)) {
		a->stacks->nodes.places[i] = a->stacks->nodes.places[node.parent];
		return 0;
	}
	uint32_t *name = &a->locations[node.location];
	int r = *name == UINT32_MAX ? make_location(a, node.location, name) : 0;

	return r == 0 ? call_tree_child(a->stacks->tree, a->stacks->nodes.places[node.parent],
					*name, &a->stacks->nodes.places[i])
		      : r;
}

static int place_nodes(struct adding *a)
{
	struct query_nodes *nodes = &a->stacks->nodes;

	nodes->places[SEGMENT_ROOT] = CALL_ROOT;
	for (uint32_t i = query_nodes_next(nodes, 0); i < nodes->n;
	     i = query_nodes_next(nodes, i)) {
		int r = place_node(a, i);

		if (r < 0)
			return r;
		if (nodes->values[i] != 0)
			call_tree_add(a->stacks->tree, nodes->places[i], CALL_LEFT,
				      nodes->values[i]);
	}
	return 0;
}

static uint32_t *unknown_numbers(struct query_memory *memory, size_t n)
{
	uint32_t *numbers = query_malloc(memory, n + 1, sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, n * sizeof(*numbers));
	return numbers;
}

static int adding_init(struct adding *a, struct query_stacks *stacks, const struct segment *s)
{
	*a = (struct adding){
		.stacks = stacks,
		.segment = s,
		.texts = unknown_numbers(stacks->memory, segment_n_texts(s)),
		.functions = unknown_numbers(stacks->memory, segment_n_functions(s)),
		.mappings = unknown_numbers(stacks->memory, segment_n_mappings(s)),
		.locations = unknown_numbers(stacks->memory, segment_n_locations(s)),
	};
	return a->texts && a->functions && a->mappings && a->locations ? 0 : -ENOMEM;
}

static void adding_fini(struct adding *a)
{
	query_free(a->texts);
	query_free(a->functions);
	query_free(a->mappings);
	query_free(a->locations);
}

static const char *label(const struct segment *s, size_t series, const char *name)
{
	const char *value = segment_series_label(s, series, name);

	return value ? value : "";
}

/* What the values are, as the first series that has some tells. */
static void take_type(struct query_stacks *stacks, const struct query_part *part)
{
	const struct segment *s = part->segment;

	for (size_t i = 0; i < segment_n_series(s) && !stacks->type; i++) {
		struct query_slots slots = query_slots(part, i);
		struct segment_series series;

		if (slots.first == slots.end)
			continue;
		segment_series(s, i, &series);
		stacks->type = label(s, i, "__type__");
		stacks->unit = label(s, i, "__unit__");
		stacks->period_type = label(s, i, "__period_type__");
		stacks->period_unit = label(s, i, "__period_unit__");
		stacks->period = series.period;
	}
}

int query_stacks_add(void *user, const struct query_part *part)
{
	struct query_stacks *stacks = user;
	_cleanup_(adding_fini) struct adding a = { 0 };
	int r = adding_init(&a, stacks, part->segment);

	if (r < 0)
		return r;
	r = query_nodes_load(&stacks->nodes, part);
	if (r < 0)
		return r;
	take_type(stacks, part);
	return place_nodes(&a);
}

int query_stacks_other(struct query_stacks *s, uint32_t *ret_location)
{
	struct {
		struct stacks_location location;
		struct stacks_line line;
	} row = { .location.n_lines = 1 };
	struct stacks_function function = { 0 };
	int r = query_intern_add(&s->strings, "other", 5, &function.name);

	if (r < 0)
		return r;
	r = query_intern_add(&s->functions, &function, sizeof(function), &row.line.function);
	if (r < 0)
		return r;
	return query_intern_add(&s->locations, &row, sizeof(row), ret_location);
}
