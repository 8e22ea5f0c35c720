/* SPDX-License-Identifier: Apache-2.0 */
/* An OTLP dictionary as tables of pprof. */
#include "agent/store/otlp/otlp_stacks.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/store/otlp/otlp_message.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"

#define UNKNOWN "[unknown]"
#define NAME_MAX_BYTES (PPROF_STRING_MAX_BYTES + 32)

/* The GNU one is what symbols are looked for by. */
static const char *const build_ids[] = { "process.executable.build_id.gnu",
					 "process.executable.build_id.go",
					 "process.executable.build_id.htlhash" };

static const Otlp__Profiles__Function *function_at(const struct otlp_stacks *s, int32_t index)
{
	return (size_t)index < s->d->n_function_table ? s->d->function_table[index] : NULL;
}

static bool is_named(const struct otlp_stacks *s, const Otlp__Profiles__Function *f)
{
	return f && (*otlp_message_text(s->d, f->name_strindex) ||
		     *otlp_message_text(s->d, f->system_name_strindex));
}

static void look_at_location(struct otlp_stacks *s, const Otlp__Profiles__Location *l)
{
	if ((size_t)l->mapping_index >= s->d->n_mapping_table)
		return;
	struct otlp_mapping_names *names = &s->names[l->mapping_index];
	bool named = false;

	for (size_t i = 0; i < l->n_lines; i++) {
		const Otlp__Profiles__Function *f = function_at(s, l->lines[i]->function_index);

		named |= is_named(s, f);
		names->files |= f && *otlp_message_text(s->d, f->filename_strindex);
		names->lines |= l->lines[i]->line > 0;
	}
	names->all = named && (names->all || !names->some);
	names->some = true;
}

static void *zeros(struct arena *arena, size_t n, size_t item_bytes)
{
	size_t n_bytes = (n + 1) * item_bytes;
	void *p = arena_alloc(arena, n_bytes);

	return p ? memset(p, 0, n_bytes) : NULL;
}

int otlp_stacks_init(struct otlp_stacks *s, const Otlp__Profiles__ProfilesDictionary *d,
		     struct arena *arena)
{
	*s = (struct otlp_stacks){
		.d = d,
		.functions = zeros(arena, d->n_function_table, sizeof(*s->functions)),
		.mappings = zeros(arena, d->n_mapping_table, sizeof(*s->mappings)),
		.locations = zeros(arena, d->n_location_table, sizeof(*s->locations)),
		.names = zeros(arena, d->n_mapping_table, sizeof(*s->names)),
	};
	if (!s->functions || !s->mappings || !s->locations || !s->names)
		return -ENOMEM;
	/* The first is the zero value, of which nothing is said. */
	for (size_t i = 1; i < d->n_location_table; i++)
		look_at_location(s, d->location_table[i]);
	return 0;
}

void otlp_stacks_begin(struct otlp_stacks *s, struct pprof_builder *b)
{
	s->b = b;
	s->stamp++;
}

static bool is_known(const struct otlp_stacks *s, const struct otlp_known *k, uint64_t *ret_id)
{
	*ret_id = k->id;
	return k->stamp == s->stamp;
}

/* `r` of adding it. */
static int know(const struct otlp_stacks *s, struct otlp_known *k, int r, uint64_t id)
{
	if (r == 0)
		*k = (struct otlp_known){ s->stamp, (uint32_t)id };
	return r;
}

static const char *build_id(const struct otlp_stacks *s, const Otlp__Profiles__Mapping *m)
{
	for (size_t k = 0; k < ARRAY_SIZE(build_ids); k++)
		for (size_t i = 0; i < m->n_attribute_indices; i++) {
			size_t at = (size_t)m->attribute_indices[i];
			const Otlp__Profiles__KeyValueAndUnit *kv =
				at < s->d->n_attribute_table ? s->d->attribute_table[at] : NULL;

			if (kv && kv->value &&
			    kv->value->value_case ==
				    OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE &&
			    strcmp(otlp_message_text(s->d, kv->key_strindex), build_ids[k]) == 0)
				return kv->value->string_value;
		}
	return "";
}

static int add_mapping(struct otlp_stacks *s, int32_t index, uint64_t *ret_id)
{
	*ret_id = 0;
	if (index == 0 || is_known(s, &s->mappings[index], ret_id))
		return 0;
	const Otlp__Profiles__Mapping *m = s->d->mapping_table[index];
	const struct otlp_mapping_names *names = &s->names[index];
	const struct pprof_mapping mapping = {
		.filename = otlp_message_text(s->d, m->filename_strindex),
		.build_id = build_id(s, m),
		.start = m->memory_start,
		.limit = m->memory_limit,
		.file_off = m->file_offset,
		.has_functions = names->some && names->all,
		.has_filenames = names->files,
		.has_lines = names->lines,
	};
	int r = pprof_builder_mapping(s->b, &mapping, ret_id);

	return know(s, &s->mappings[index], r, *ret_id);
}

static int add_unknown(struct otlp_stacks *s, uint64_t *ret_id)
{
	const struct pprof_function function = { .name = UNKNOWN };

	return pprof_builder_function(s->b, &function, ret_id);
}

static int add_function(struct otlp_stacks *s, int32_t index, uint64_t *ret_id)
{
	const Otlp__Profiles__Function *f = function_at(s, index);

	if (!is_named(s, f))
		return add_unknown(s, ret_id);
	if (is_known(s, &s->functions[index], ret_id))
		return 0;
	struct pprof_function function = {
		.name = otlp_message_text(s->d, f->name_strindex),
		.system_name = otlp_message_text(s->d, f->system_name_strindex),
		.filename = otlp_message_text(s->d, f->filename_strindex),
		.start_line = MAX_OF(f->start_line, (int64_t)0),
	};
	if (!function.name[0])
		function.name = function.system_name;
	int r = pprof_builder_function(s->b, &function, ret_id);

	return know(s, &s->functions[index], r, *ret_id);
}

/* "libc.so.6!0x2a1b0" */
static int name_address(struct otlp_stacks *s, const Otlp__Profiles__Location *l, uint64_t *ret_id)
{
	_cleanup_buf_ struct buf name = BUF_INIT(NAME_MAX_BYTES);
	const char *path = "";

	if (l->address == 0)
		return add_unknown(s, ret_id);
	if (l->mapping_index > 0)
		path = otlp_message_text(s->d,
					 s->d->mapping_table[l->mapping_index]->filename_strindex);
	const char *slash = strrchr(path, '/');

	path = slash && slash[1] ? slash + 1 : path;
	(void)buf_printf(&name, "%.*s!0x%" PRIx64, PPROF_STRING_MAX_BYTES - 32,
			 *path ? path : UNKNOWN, l->address);
	if (name.failed)
		return -ENOMEM;
	const struct pprof_function function = { .name = buf_str(&name) };

	return pprof_builder_function(s->b, &function, ret_id);
}

/* Calls inlined at one place beyond what pprof takes are at its outer end, and are left out. */
static int add_lines(struct otlp_stacks *s, const Otlp__Profiles__Location *l,
		     struct pprof_line *lines, size_t *ret_n)
{
	size_t n = MIN_OF(l->n_lines, (size_t)PPROF_MAX_LINES);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		lines[i].line = MAX_OF(l->lines[i]->line, (int64_t)0);
		lines[i].column = MAX_OF(l->lines[i]->column, (int64_t)0);
		r = add_function(s, l->lines[i]->function_index, &lines[i].function_id);
	}
	*ret_n = MAX_OF(n, (size_t)1);
	if (n > 0)
		return r;
	lines[0] = (struct pprof_line){ 0 };
	return name_address(s, l, &lines[0].function_id);
}

static int add_location(struct otlp_stacks *s, int32_t index, uint64_t *ret_id)
{
	if (is_known(s, &s->locations[index], ret_id))
		return 0;
	const Otlp__Profiles__Location *l = s->d->location_table[index];
	struct pprof_line lines[PPROF_MAX_LINES];
	uint64_t mapping;
	size_t n;
	int r = add_mapping(s, l->mapping_index, &mapping);

	r = r ? r : add_lines(s, l, lines, &n);
	r = r ? r : pprof_builder_location(s->b, mapping, l->address, lines, n, ret_id);
	return know(s, &s->locations[index], r, *ret_id);
}

static int no_stack(struct otlp_stacks *s, uint64_t *ids, size_t *ret_n)
{
	struct pprof_line line = { 0 };
	int r = add_unknown(s, &line.function_id);

	*ret_n = 1;
	return r ? r : pprof_builder_location(s->b, 0, 0, &line, 1, ids);
}

int otlp_stacks_locations(struct otlp_stacks *s, int32_t stack, uint64_t *ids, size_t *ret_n)
{
	size_t n = 0, n_given = 0;
	const int32_t *given = NULL;

	if (stack > 0) {
		given = s->d->stack_table[stack]->location_indices;
		n_given = s->d->stack_table[stack]->n_location_indices;
	}
	for (size_t i = n_given > OTLP_STACK_MAX ? n_given - OTLP_STACK_MAX : 0; i < n_given; i++) {
		int r = given[i] > 0 ? add_location(s, given[i], &ids[n]) : 0;

		if (r != 0)
			return r;
		n += given[i] > 0;
	}
	*ret_n = n;
	return n > 0 ? 0 : no_stack(s, ids, ret_n);
}
