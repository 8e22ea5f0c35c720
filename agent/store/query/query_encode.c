/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stacks to the bytes of a profile, by protobuf-c.
 *
 * The concatenation of two encoded Profiles is the encoding of one that has the repeated fields of both. So each row is packed as a
 * Profile that has it alone, and the large message never exists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_stacks.h"
#include "agent/util/clock.h"
#include "pprof/profile.pb-c.h"

static void pack(struct buf *out, const Perftools__Profiles__Profile *profile)
{
	size_t n = protobuf_c_message_get_packed_size(&profile->base);

	if (buf_reserve(out, n) < 0)
		return;
	(void)protobuf_c_message_pack(&profile->base, (uint8_t *)out->data + out->len);
	out->len += n;
	out->data[out->len] = '\0';
}

static void pack_mappings(const struct query_intern *rows, struct buf *out)
{
	/* The first row is that of no mapping. */
	for (size_t i = 1; i < rows->n && !out->failed; i++) {
		const struct stacks_mapping *row = (const void *)rows->items[i].bytes;
		Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT, *list = &m;

		m.id = i;
		m.memory_start = row->start;
		m.memory_limit = row->limit;
		m.file_offset = row->file_off;
		m.filename = row->filename;
		m.build_id = row->build_id;
		m.has_functions = (protobuf_c_boolean)row->has_functions;
		m.has_filenames = (protobuf_c_boolean)row->has_filenames;
		m.has_line_numbers = (protobuf_c_boolean)row->has_lines;
		m.has_inline_frames = (protobuf_c_boolean)row->has_inlines;
		profile.n_mapping = 1;
		profile.mapping = &list;
		pack(out, &profile);
	}
}

static void pack_functions(const struct query_intern *rows, struct buf *out)
{
	for (size_t i = 0; i < rows->n && !out->failed; i++) {
		const struct stacks_function *row = (const void *)rows->items[i].bytes;
		Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__Function f = PERFTOOLS__PROFILES__FUNCTION__INIT, *list = &f;

		f.id = i + 1;
		f.name = row->name;
		f.system_name = row->system_name;
		f.filename = row->filename;
		f.start_line = row->start_line;
		profile.n_function = 1;
		profile.function = &list;
		pack(out, &profile);
	}
}

static void pack_strings(const struct query_intern *strings, struct buf *out)
{
	for (size_t i = 0; i < strings->n && !out->failed; i++) {
		Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
		char *text = (char *)strings->items[i].bytes;

		profile.n_string_table = 1;
		profile.string_table = &text;
		pack(out, &profile);
	}
}

/* Room for the parts of one message, which grows. */
struct parts {
	struct query_memory *memory;
	uint64_t *ids;
	Perftools__Profiles__Line *lines;
	Perftools__Profiles__Line **list;
	size_t n_ids, n_lines;
};

static void parts_fini(struct parts *p)
{
	query_free(p->ids);
	query_free(p->lines);
	query_free(p->list);
}

static int reserve_lines(struct parts *p, size_t n)
{
	if (n <= p->n_lines)
		return 0;
	query_free(p->lines);
	query_free(p->list);
	p->list = NULL;
	p->n_lines = 0;
	p->lines = query_malloc(p->memory, 2 * n, sizeof(*p->lines));
	p->list = query_malloc(p->memory, 2 * n, sizeof(Perftools__Profiles__Line *));
	if (!p->lines || !p->list)
		return -ENOMEM;
	p->n_lines = 2 * n;
	return 0;
}

static int pack_location(const struct stacks_location *row, uint64_t id, struct parts *p,
			 struct buf *out)
{
	const struct stacks_line *lines = (const void *)(row + 1);
	Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location l = PERFTOOLS__PROFILES__LOCATION__INIT, *list = &l;

	if (reserve_lines(p, row->n_lines) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < row->n_lines; i++) {
		perftools__profiles__line__init(&p->lines[i]);
		p->lines[i].function_id = (uint64_t)lines[i].function + 1;
		p->lines[i].line = lines[i].line;
		p->list[i] = &p->lines[i];
	}
	l.id = id;
	l.mapping_id = row->mapping;
	l.address = row->address;
	l.n_line = row->n_lines;
	l.line = p->list;
	profile.n_location = 1;
	profile.location = &list;
	pack(out, &profile);
	return 0;
}

static int pack_locations(const struct query_intern *rows, struct parts *p, struct buf *out)
{
	int r = 0;

	for (size_t i = 0; i < rows->n && !out->failed && r == 0; i++)
		r = pack_location((const void *)rows->items[i].bytes, i + 1, p, out);
	return r;
}

/* The number of the location in the name of a node. */
static uint32_t node_location(const struct query_stacks *s, const struct call_node *node,
			      uint32_t other_name, uint32_t other)
{
	uint32_t number;

	if (node->name == other_name)
		return other;
	memcpy(&number, call_tree_text(s->tree, node->name), sizeof(number));
	return number;
}

static int reserve_ids(struct parts *p, size_t n)
{
	uint64_t *ids;

	if (n < p->n_ids)
		return 0;
	ids = query_realloc(p->memory, p->ids, 2 * (n + 64), sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	p->ids = ids;
	p->n_ids = 2 * (n + 64);
	return 0;
}

/* The leaf first, which is the way up. */
static int take_path(const struct query_stacks *s, uint32_t node, uint32_t other_name,
		     uint32_t other, struct parts *p, size_t *ret_n)
{
	size_t n = 0;

	while (node != CALL_ROOT) {
		const struct call_node *at = call_tree_node(s->tree, node);

		if (reserve_ids(p, n) < 0)
			return -ENOMEM;
		p->ids[n++] = (uint64_t)node_location(s, at, other_name, other) + 1;
		node = at->parent;
	}
	*ret_n = n;
	return 0;
}

static int pack_samples(const struct query_stacks *s, uint32_t other, struct parts *p,
			struct buf *out)
{
	uint32_t other_name = call_tree_find_name(s->tree, "other");

	for (uint32_t i = 1; i < call_tree_n_nodes(s->tree) && !out->failed; i++) {
		Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
		Perftools__Profiles__Sample *list = &sample;
		int64_t value = call_tree_node(s->tree, i)->self[CALL_LEFT];

		if (value == 0)
			continue;
		int r = take_path(s, i, other_name, other, p, &sample.n_location_id);
		if (r < 0)
			return r;
		sample.location_id = p->ids;
		sample.n_value = 1;
		sample.value = &value;
		profile.n_sample = 1;
		profile.sample = &list;
		pack(out, &profile);
	}
	return 0;
}

static int add_string(struct query_stacks *s, const char *text, int64_t *ret_string)
{
	uint32_t number;
	int r = query_intern_add(&s->strings, text, strlen(text), &number);

	if (r < 0)
		return r;
	*ret_string = number;
	return 0;
}

/* 0, which is "not told", when it is out of range. */
static int64_t nanoseconds(int64_t end_ms, int64_t start_ms)
{
	int64_t ms, ns;

	if (__builtin_sub_overflow(end_ms, start_ms, &ms))
		return 0;
	return __builtin_mul_overflow(ms, (int64_t)NS_PER_MS, &ns) ? 0 : ns;
}

/* An answer without anything is as empty as that of the real server. */
/* The types of the value and of the period. */
static int name_types(struct query_stacks *s, Perftools__Profiles__ValueType *type,
		      Perftools__Profiles__ValueType *period)
{
	int r = add_string(s, s->type, &type->type);

	if (r < 0)
		return r;
	r = add_string(s, s->unit, &type->unit);
	if (r < 0)
		return r;
	r = add_string(s, s->period_type, &period->type);
	if (r < 0)
		return r;
	return add_string(s, s->period_unit, &period->unit);
}

static int pack_head(struct query_stacks *s, const struct query *q, struct buf *out)
{
	Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *list = &type;

	if (s->type) {
		int r = name_types(s, &type, &period);

		if (r < 0)
			return r;
		profile.time_nanos = nanoseconds(q->end_ms, 0);
		profile.duration_nanos = nanoseconds(q->end_ms, q->start_ms);
		profile.period = s->period;
		profile.default_sample_type = type.type;
	}
	profile.n_sample_type = 1;
	profile.sample_type = &list;
	profile.period_type = &period;
	pack(out, &profile);
	return 0;
}

int query_stacks_encode(struct query_stacks *s, const struct query *q, struct buf *out)
{
	_cleanup_(parts_fini) struct parts parts = { .memory = q->memory };
	uint32_t other = 0;
	int r = pack_head(s, q, out);

	if (r < 0)
		return r;
	if (call_tree_is_pruned(s->tree)) {
		r = query_stacks_other(s, &other);
		if (r < 0)
			return r;
	}
	r = pack_samples(s, other, &parts, out);
	if (r < 0)
		return r;
	if (s->type)
		pack_mappings(&s->mappings, out);
	r = pack_locations(&s->locations, &parts, out);
	if (r < 0)
		return r;
	pack_functions(&s->functions, out);
	pack_strings(&s->strings, out);
	return out->failed ? -ENOBUFS : 0;
}
