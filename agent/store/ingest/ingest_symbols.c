/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile names, as numbers of a head. */
#include "agent/store/ingest/ingest_symbols.h"

#include <errno.h>
#include <string.h>

#include "agent/store/segment/id_table.h"
#include "pprof/profile.pb-c.h"

/* It refers to something that is not there, or has neither lines nor an address: no sample with it is kept. */
#define LOCATION_BAD UINT32_MAX
/* Its mapping says that names are all there is to know, and it has none: the frame is left out. */
#define LOCATION_EMPTY (UINT32_MAX - 1)

int ingest_symbols_init(struct ingest_symbols *s, struct ingest *in, struct head *head)
{
	const Perftools__Profiles__Profile *p = in->profile;
	struct ingest_memory *m = &in->memory;

	*s = (struct ingest_symbols){
		.in = in,
		.head = head,
		.texts = ingest_memory_calloc(m, p->n_string_table + 1, sizeof(*s->texts)),
		.functions = ingest_memory_calloc(m, p->n_function + 1, sizeof(*s->functions)),
		.mappings = ingest_memory_calloc(m, p->n_mapping + 1, sizeof(*s->mappings)),
		.locations = ingest_memory_calloc(m, p->n_location + 1, sizeof(*s->locations)),
	};
	if (s->texts && s->functions && s->mappings && s->locations)
		return 0;
	return m->full ? -ENOBUFS : -ENOMEM;
}

static int symbol_text(struct ingest_symbols *s, int64_t index, uint32_t *ret_text)
{
	const char *text = ingest_text(s->in, index);
	uint32_t *known = &s->texts[text[0] ? index : 0];

	if (!*known) {
		int r = head_text(s->head, text, strlen(text), ret_text);

		if (r < 0)
			return r;
		*known = *ret_text + 1;
	}
	*ret_text = *known - 1;
	return 0;
}

/* 32 bits are enough for a line; what is not one is unknown. */
static uint32_t line_number(int64_t line)
{
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

static int symbol_function(struct ingest_symbols *s, uint32_t index, uint32_t *ret_function)
{
	const Perftools__Profiles__Profile *p = s->in->profile;
	const Perftools__Profiles__Function *f = p->function[index];
	struct segment_function function = { .start_line = line_number(f->start_line) };

	if (!s->functions[index]) {
		int r = symbol_text(s, f->name, &function.name);

		r = r < 0 ? r : symbol_text(s, f->system_name, &function.system_name);
		r = r < 0 ? r : symbol_text(s, f->filename, &function.filename);
		r = r < 0 ? r : head_function(s->head, &function, ret_function);
		if (r < 0)
			return r;
		s->functions[index] = *ret_function + 1;
	}
	*ret_function = s->functions[index] - 1;
	return 0;
}

/* With names, where it lay in one process says nothing. */
static int symbol_mapping(struct ingest_symbols *s, uint32_t index, uint32_t *ret_mapping)
{
	const Perftools__Profiles__Profile *p = s->in->profile;
	const Perftools__Profiles__Mapping *m = p->mapping[index];
	struct segment_mapping mapping = {
		.start = m->has_functions ? 0 : m->memory_start,
		.limit = m->has_functions ? 0 : m->memory_limit,
		.file_off = m->has_functions ? 0 : m->file_offset,
		.has_functions = m->has_functions,
		.has_filenames = m->has_filenames,
		.has_lines = m->has_line_numbers,
		.has_inlines = m->has_inline_frames,
	};

	if (!s->mappings[index]) {
		int r = symbol_text(s, m->filename, &mapping.filename);

		r = r < 0 ? r : symbol_text(s, m->build_id, &mapping.build_id);
		r = r < 0 ? r : head_mapping(s->head, &mapping, ret_mapping);
		if (r < 0)
			return r;
		s->mappings[index] = *ret_mapping + 1;
	}
	*ret_mapping = s->mappings[index] - 1;
	return 0;
}

/* False: one of the functions is not there. */
static int location_lines(struct ingest_symbols *s, const Perftools__Profiles__Location *l,
			  struct segment_line *lines, size_t *ret_n, bool *ret_sound)
{
	size_t n = l->n_line < INGEST_MAX_LINES ? l->n_line : INGEST_MAX_LINES;

	for (size_t i = 0; i < n; i++) {
		uint32_t index = ingest_find(&s->in->functions, l->line[i]->function_id);

		*ret_sound = index != ID_NONE;
		if (!*ret_sound)
			return 0;
		lines[i].line = line_number(l->line[i]->line);
		int r = symbol_function(s, index, &lines[i].function);
		if (r < 0)
			return r;
	}
	*ret_n = n;
	*ret_sound = true;
	return 0;
}

static int location_mapping(struct ingest_symbols *s, const Perftools__Profiles__Location *l,
			    struct segment_location *location, bool *ret_sound)
{
	const Perftools__Profiles__Profile *p = s->in->profile;
	uint32_t index = ingest_find(&s->in->mappings, l->mapping_id);

	location->mapping = SEGMENT_NONE;
	location->address = l->address;
	*ret_sound = l->mapping_id == 0 || index != ID_NONE;
	if (l->mapping_id == 0 || !*ret_sound)
		return 0;
	if (p->mapping[index]->has_functions)
		location->address = 0;
	return symbol_mapping(s, index, &location->mapping);
}

static int make_location(struct ingest_symbols *s, const Perftools__Profiles__Location *l,
			 uint32_t *ret_mark)
{
	struct segment_line lines[INGEST_MAX_LINES];
	struct segment_location location = { .lines = lines };
	uint32_t number;
	bool sound;
	int r = location_mapping(s, l, &location, &sound);

	if (r < 0)
		return r;
	if (sound) {
		r = location_lines(s, l, lines, &location.n_lines, &sound);
		if (r < 0)
			return r;
	}
	*ret_mark = LOCATION_BAD;
	if (!sound || (location.n_lines == 0 && l->address == 0))
		return 0;
	*ret_mark = LOCATION_EMPTY;
	if (location.n_lines == 0 && location.address == 0)
		return 0;
	r = head_location(s->head, &location, &number);
	if (r < 0)
		return r;
	*ret_mark = number + 1;
	return 0;
}

static int symbol_location(struct ingest_symbols *s, uint64_t id, uint32_t *ret_mark)
{
	const Perftools__Profiles__Profile *p = s->in->profile;
	uint32_t index = ingest_find(&s->in->locations, id);

	if (index == ID_NONE) {
		*ret_mark = LOCATION_BAD;
		return 0;
	}
	if (!s->locations[index]) {
		int r = make_location(s, p->location[index], &s->locations[index]);

		if (r < 0)
			return r;
	}
	*ret_mark = s->locations[index];
	return 0;
}

/* All of it is looked at before the first node is made. What is kept of it goes to s->marks, root first. */
static int check_stack(struct ingest_symbols *s, const uint64_t *location_ids, size_t n,
		       bool *ret_sound)
{
	uint32_t mark;

	*ret_sound = true;
	s->n_marks = 0;
	for (size_t i = n; i > 0 && *ret_sound; i--) {
		int r = symbol_location(s, location_ids[i - 1], &mark);

		if (r < 0)
			return r;
		*ret_sound = mark != LOCATION_BAD;
		if (mark != LOCATION_EMPTY && n - i < INGEST_MAX_DEPTH)
			s->marks[s->n_marks++] = mark;
	}
	return 0;
}

/* Stacks that follow each other begin alike: as far as this one does, its nodes are those of the one before. */
static size_t same_beginning(const struct ingest_symbols *s)
{
	size_t n = 0;

	while (n < s->n_marks && n < s->n_path && s->marks[n] == s->path[n].mark)
		n++;
	return n;
}

int ingest_symbols_stack(struct ingest_symbols *s, const uint64_t *location_ids, size_t n,
			 uint32_t *ret_node)
{
	bool sound;
	int r = check_stack(s, location_ids, n, &sound);

	*ret_node = SEGMENT_ROOT;
	if (r < 0 || !sound || s->n_marks == 0)
		return r;
	for (s->n_path = same_beginning(s); s->n_path < s->n_marks; s->n_path++) {
		size_t i = s->n_path;
		struct segment_node node = { i > 0 ? s->path[i - 1].node : SEGMENT_ROOT,
					     s->marks[i] - 1 };

		s->path[i].mark = s->marks[i];
		r = head_node(s->head, node, &s->path[i].node);
		if (r < 0)
			return r;
	}
	*ret_node = s->path[s->n_marks - 1].node;
	return 0;
}

int ingest_symbols_span(struct ingest_symbols *s, uint64_t span_id, uint32_t *node)
{
	const struct segment_location span = { .address = span_id, .mapping = SEGMENT_SPAN };
	struct segment_node below = { .parent = *node };
	int r = head_location(s->head, &span, &below.location);

	return r < 0 ? r : head_node(s->head, below, node);
}
