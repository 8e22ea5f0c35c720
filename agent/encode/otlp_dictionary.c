/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of an OTLP request: texts, mappings, functions, locations and stacks. */
#include "agent/encode/otlp_dictionary.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "pprof/profile.pb-c.h"

/* Twelve times the packed bytes, of messages and their pointers; a file's profile has 64 MiB of these. */
#define MESSAGE_MAX_BYTES ((size_t)1 << 30)

static const char *const own_texts[OTLP_TEXT_MAX] = {
#define OTLP_TEXT_ROW(NAME, text) [OTLP_##NAME] = (text),
	OTLP_TEXTS(OTLP_TEXT_ROW)
#undef OTLP_TEXT_ROW
};

static void *alloc_message(void *data, size_t n)
{
	return arena_alloc(data, n);
}

const char *otlp_text(const struct otlp_dictionary *d, uint32_t text)
{
	assert(text < d->n_texts);
	if (text == d->name_text)
		return d->name;
	return text < d->in->n_string_table ? d->in->string_table[text]
					    : own_texts[text - d->in->n_string_table];
}

/* Ours are the profile's where that has them, too. */
static void find_own_texts(struct otlp_dictionary *d)
{
	for (uint32_t i = 0; i < OTLP_TEXT_MAX; i++)
		d->texts[i] = (uint32_t)d->in->n_string_table + i;
	for (uint32_t text = 0; text < d->in->n_string_table; text++)
		for (uint32_t i = 0; i < OTLP_TEXT_MAX; i++)
			if (strcmp(d->in->string_table[text], own_texts[i]) == 0)
				d->texts[i] = text;
}

static int init_tables(struct otlp_dictionary *d)
{
	struct otlp_rows *const rows[] = { &d->mappings, &d->locations,	 &d->functions,
					   &d->links,	 &d->attributes, &d->stacks };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = otlp_rows_init(rows[i]);
	return r;
}

int otlp_dictionary_init(struct otlp_dictionary *d)
{
	*d = (struct otlp_dictionary){ 0 };
	arena_init(&d->arena, MESSAGE_MAX_BYTES);
	return init_tables(d);
}

static void forget_profile(struct otlp_dictionary *d)
{
	free(d->string_of);
	free(d->location_of);
	d->string_of = d->location_of = NULL;
}

int otlp_dictionary_turn(struct otlp_dictionary *d, const struct pprof_builder *tables,
			 const char *name)
{
	forget_profile(d);
	d->in = pprof_builder_message(tables, alloc_message, &d->arena);
	if (!d->in)
		return -ENOMEM;
	d->name = name;
	d->name_text = (uint32_t)d->in->n_string_table + OTLP_TEXT_MAX;
	d->n_texts = d->name_text + 1;
	d->string_of = calloc(d->n_texts, sizeof(*d->string_of));
	d->location_of = calloc(d->in->n_location + 1, sizeof(*d->location_of));
	if (!d->string_of || !d->location_of)
		return -ENOMEM;
	find_own_texts(d);
	int r = otlp_texts_reserve(&d->strings, d->n_texts);
	return r == 0 ? otlp_texts_reserve(&d->values, d->n_texts) : r;
}

void otlp_dictionary_fini(struct otlp_dictionary *d)
{
	otlp_rows_fini(&d->mappings);
	otlp_rows_fini(&d->locations);
	otlp_rows_fini(&d->functions);
	otlp_rows_fini(&d->links);
	otlp_rows_fini(&d->attributes);
	otlp_rows_fini(&d->stacks);
	otlp_texts_fini(&d->strings);
	otlp_texts_fini(&d->values);
	forget_profile(d);
	arena_fini(&d->arena);
}

int32_t otlp_string(struct otlp_dictionary *d, uint32_t text)
{
	if (d->string_of[text] == 0)
		d->string_of[text] = otlp_texts_add(&d->strings, otlp_text(d, text));
	return (int32_t)d->string_of[text];
}

int otlp_attribute(struct otlp_dictionary *d, uint32_t key, enum otlp_attribute_kind kind,
		   uint64_t value, uint32_t unit, uint32_t *ret_at)
{
	const uint64_t words[OTLP_ATTRIBUTE_WORDS] = {
		[OTLP_ATTRIBUTE_KEY] = (uint64_t)otlp_string(d, key),
		[OTLP_ATTRIBUTE_KIND] = kind,
		[OTLP_ATTRIBUTE_VALUE] =
			kind == OTLP_INT
				? value
				: otlp_texts_add(&d->values, otlp_text(d, (uint32_t)value)),
		[OTLP_ATTRIBUTE_UNIT] = (uint64_t)otlp_string(d, unit),
	};

	return otlp_rows_add(&d->attributes, words, ARRAY_SIZE(words), ret_at);
}

/* A UUID is that of a source, and of its source map. */
static bool is_debug_id(const char *id)
{
	static const char shape[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

	if (strlen(id) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '-' ? id[i] != '-' : !isxdigit((unsigned char)id[i]))
			return false;
	return true;
}

/* That of Go is a text with slashes, all others are hex digits. */
static enum otlp_text kind_of_id(const char *id)
{
	if (is_debug_id(id))
		return OTLP_DEBUG_ID;
	return strchr(id, '/') ? OTLP_BUILD_ID_GO : OTLP_BUILD_ID_GNU;
}

static int build_id(struct otlp_dictionary *d, uint32_t text, uint32_t *ret_at)
{
	const char *id = otlp_text(d, text);

	*ret_at = 0;
	return *id ? otlp_attribute(d, d->texts[kind_of_id(id)], OTLP_STRING, text, 0, ret_at) : 0;
}

static int add_mapping(struct otlp_dictionary *d, const Perftools__Profiles__Mapping *m,
		       uint32_t *ret_at)
{
	uint32_t id;
	int r = build_id(d, (uint32_t)m->build_id, &id);
	const uint64_t words[] = { m->memory_start, m->memory_limit, m->file_offset,
				   (uint64_t)otlp_string(d, (uint32_t)m->filename), id };
	bool is_zero = !(words[0] | words[1] | words[2] | words[3] | words[4]);

	*ret_at = 0;
	if (r < 0 || is_zero)
		return r;
	return otlp_rows_add(&d->mappings, words, ARRAY_SIZE(words), ret_at);
}

static int add_function(struct otlp_dictionary *d, const Perftools__Profiles__Function *f,
			uint32_t *ret_at)
{
	const uint64_t words[] = { (uint64_t)otlp_string(d, (uint32_t)f->name),
				   (uint64_t)otlp_string(d, (uint32_t)f->system_name),
				   (uint64_t)otlp_string(d, (uint32_t)f->filename),
				   (uint64_t)f->start_line };

	return otlp_rows_add(&d->functions, words, ARRAY_SIZE(words), ret_at);
}

/* Of a function without a mapping: by the file it was written in, where that leaves no doubt. OTLP_TEXT_MAX: it does not. */
static enum otlp_text type_of_file(const char *file)
{
	static const struct {
		const char *end;
		enum otlp_text type;
	} ends[] = {
		{ ".py", OTLP_CPYTHON }, { ".pyx", OTLP_CPYTHON }, { ".js", OTLP_V8JS },
		{ ".mjs", OTLP_V8JS },	 { ".cjs", OTLP_V8JS },	   { ".java", OTLP_JVM },
		{ ".kt", OTLP_JVM },	 { ".scala", OTLP_JVM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends_with(str_from(file), str_from(ends[i].end)))
			return ends[i].type;
	return OTLP_TEXT_MAX;
}

/* Mappings of the kernel are called [kernel], [bpf] and by the names of modules. */
static enum otlp_text type_of_mapping(const struct otlp_dictionary *d,
				      const Perftools__Profiles__Mapping *m)
{
	const char *name = otlp_text(d, (uint32_t)m->filename);

	if (is_debug_id(otlp_text(d, (uint32_t)m->build_id)))
		return OTLP_V8JS;
	return *name == '[' && strcmp(name, "[vdso]") != 0 ? OTLP_KERNEL : OTLP_NATIVE;
}

static enum otlp_text type_of(const struct otlp_dictionary *d,
			      const Perftools__Profiles__Location *l)
{
	if (l->mapping_id > 0)
		return type_of_mapping(d, d->in->mapping[l->mapping_id - 1]);
	return type_of_file(
		otlp_text(d, (uint32_t)d->in->function[l->line[0]->function_id - 1]->filename));
}

enum { LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_ATTRIBUTE, LOCATION_WORDS };

/* What stands before the lines. */
static int location_head(struct otlp_dictionary *d, const Perftools__Profiles__Location *l,
			 uint64_t *words)
{
	enum otlp_text type = type_of(d, l);
	uint32_t mapping = 0, attribute = 0;
	int r = l->mapping_id > 0 ? add_mapping(d, d->in->mapping[l->mapping_id - 1], &mapping) : 0;

	if (r == 0 && type != OTLP_TEXT_MAX)
		r = otlp_attribute(d, d->texts[OTLP_FRAME_TYPE], OTLP_STRING, d->texts[type], 0,
				   &attribute);
	words[LOCATION_MAPPING] = mapping;
	words[LOCATION_ADDRESS] = l->address;
	words[LOCATION_ATTRIBUTE] = attribute;
	return r;
}

static int add_location(struct otlp_dictionary *d, const Perftools__Profiles__Location *l,
			uint32_t *ret_at)
{
	uint64_t words[LOCATION_WORDS + 3 * PPROF_MAX_LINES];
	size_t n = LOCATION_WORDS;
	int r = location_head(d, l, words);

	assert(l->n_line <= PPROF_MAX_LINES);
	for (size_t i = 0; r == 0 && i < l->n_line; i++) {
		uint32_t function = 0;

		r = add_function(d, d->in->function[l->line[i]->function_id - 1], &function);
		words[n++] = function;
		words[n++] = (uint64_t)l->line[i]->line;
		words[n++] = (uint64_t)l->line[i]->column;
	}
	return r < 0 ? r : otlp_rows_add(&d->locations, words, n, ret_at);
}

int otlp_stack(struct otlp_dictionary *d, const Perftools__Profiles__Sample *sample,
	       uint32_t *ret_at)
{
	uint64_t words[PPROF_MAX_DEPTH];

	assert(sample->n_location_id <= PPROF_MAX_DEPTH);
	for (size_t i = 0; i < sample->n_location_id; i++) {
		uint32_t *at = &d->location_of[sample->location_id[i]];
		int r = *at == 0 ? add_location(d, d->in->location[sample->location_id[i] - 1], at)
				 : 0;

		if (r < 0)
			return r;
		words[i] = *at;
	}
	return otlp_rows_add(&d->stacks, words, sample->n_location_id, ret_at);
}
