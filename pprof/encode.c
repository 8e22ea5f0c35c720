/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the rows of a builder to the bytes of a profile, by protobuf-c.
 *
 * Protobuf messages may be cut anywhere between fields: the concatenation of two encoded Profiles
 * is the encoding of one that has the repeated fields of both. So the profile is packed in batches
 * of a few hundred messages, each batch a Profile of its own, in the order of field numbers,
 * through one arena of fixed size. The bytes are those of one large message, and neither that
 * message nor its packed form ever exists whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/builder.h"
#include "pprof/gzip.h"
#include "pprof/profile.pb-c.h"

#define BATCH_ITEMS 256
/* Lines of the locations, or labels of the samples, of one batch. */
#define BATCH_PARTS 512

_Static_assert(BATCH_PARTS >= PPROF_MAX_LINES && BATCH_PARTS >= PPROF_MAX_LABELS,
	       "the largest location and the largest sample fit into an empty batch");

/* Messages under way, and the parts that they point to: as many as there is room for. */
struct batch {
	union {
		Perftools__Profiles__Sample *sample;
		Perftools__Profiles__Mapping *mapping;
		Perftools__Profiles__Location *location;
		Perftools__Profiles__Function *function;
	} item;
	union {
		Perftools__Profiles__Sample **sample;
		Perftools__Profiles__Mapping **mapping;
		Perftools__Profiles__Location **location;
		Perftools__Profiles__Function **function;
		char **string;
	} item_ptr;
	union {
		Perftools__Profiles__Label *label;
		Perftools__Profiles__Line *line;
	} part;
	union {
		Perftools__Profiles__Label **label;
		Perftools__Profiles__Line **line;
	} part_ptr;
	size_t max_items, max_parts;
	size_t n_parts;
};

/* Makes row i an item of the batch, at place `at`; false when its parts have no room left. */
typedef bool (*batch_put_fn)(struct batch *batch, const struct pprof_builder *b, size_t i,
			     size_t at);

/* Takes the bytes of one profile. */
struct sink {
	ProtobufCBuffer base;
	struct pprof_gzip *gzip; /* or NULL: plain bytes */
	struct pprof_bytes plain;
	size_t plain_cap;
	int error;
};

static void sink_append(ProtobufCBuffer *base, size_t n, const uint8_t *data)
{
	struct sink *sink = (struct sink *)base;

	if (sink->error || n == 0)
		return;
	if (sink->gzip) {
		sink->error = pprof_gzip_write(sink->gzip, data, n);
	} else if (n > sink->plain_cap - sink->plain.n) {
		sink->error = -EFBIG;
	} else {
		memcpy(sink->plain.data + sink->plain.n, data, n);
		sink->plain.n += n;
	}
}

static void sink_pack(struct sink *sink, const Perftools__Profiles__Profile *profile)
{
	(void)protobuf_c_message_pack_to_buffer(&profile->base, &sink->base);
}

static void put_labels(struct batch *batch, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++, words += LABEL_WORDS) {
		Perftools__Profiles__Label *label = &batch->part.label[batch->n_parts];

		perftools__profiles__label__init(label);
		label->key = (int64_t)words[LABEL_KEY];
		label->str = (int64_t)words[LABEL_STR];
		label->num = (int64_t)words[LABEL_NUM];
		label->num_unit = (int64_t)words[LABEL_NUM_UNIT];
		batch->part_ptr.label[batch->n_parts++] = label;
	}
}

static bool put_sample(struct batch *batch, const struct pprof_builder *b, size_t i, size_t at)
{
	Perftools__Profiles__Sample *sample = &batch->item.sample[at];
	size_t n_words;
	uint64_t *row = pprof_tuples_get(&b->samples, i + 1, &n_words);
	size_t n_locations = row[0];
	size_t n_labels = (n_words - SAMPLE_WORDS - n_locations) / LABEL_WORDS;

	if (n_labels > batch->max_parts - batch->n_parts)
		return false;
	perftools__profiles__sample__init(sample);
	sample->n_location_id = n_locations;
	sample->location_id = row + SAMPLE_WORDS;
	sample->n_value = b->n_values;
	sample->value = pprof_builder_weight(b, i) + WEIGHT_WORDS;
	sample->n_label = n_labels;
	sample->label = batch->part_ptr.label + batch->n_parts;
	put_labels(batch, row + SAMPLE_WORDS + n_locations, n_labels);
	batch->item_ptr.sample[at] = sample;
	return true;
}

static bool put_mapping(struct batch *batch, const struct pprof_builder *b, size_t i, size_t at)
{
	Perftools__Profiles__Mapping *mapping = &batch->item.mapping[at];
	size_t n_words;
	const uint64_t *row = pprof_tuples_get(&b->mappings, i + 1, &n_words);

	perftools__profiles__mapping__init(mapping);
	mapping->id = i + 1;
	mapping->memory_start = row[MAPPING_START];
	mapping->memory_limit = row[MAPPING_LIMIT];
	mapping->file_offset = row[MAPPING_FILE_OFF];
	mapping->filename = (int64_t)row[MAPPING_FILENAME];
	mapping->build_id = (int64_t)row[MAPPING_BUILD_ID];
	mapping->has_functions = (protobuf_c_boolean)row[MAPPING_HAS_FUNCTIONS];
	mapping->has_filenames = (protobuf_c_boolean)row[MAPPING_HAS_FILENAMES];
	mapping->has_line_numbers = (protobuf_c_boolean)row[MAPPING_HAS_LINES];
	mapping->has_inline_frames = (protobuf_c_boolean)row[MAPPING_HAS_INLINES];
	batch->item_ptr.mapping[at] = mapping;
	return true;
}

static void put_lines(struct batch *batch, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++, words += LOCATION_LINE_WORDS) {
		Perftools__Profiles__Line *line = &batch->part.line[batch->n_parts];

		perftools__profiles__line__init(line);
		line->function_id = words[0];
		line->line = (int64_t)words[1];
		line->column = (int64_t)words[2];
		batch->part_ptr.line[batch->n_parts++] = line;
	}
}

static bool put_location(struct batch *batch, const struct pprof_builder *b, size_t i, size_t at)
{
	Perftools__Profiles__Location *location = &batch->item.location[at];
	size_t n_words;
	const uint64_t *row = pprof_tuples_get(&b->locations, i + 1, &n_words);
	size_t n_lines = (n_words - LOCATION_WORDS) / LOCATION_LINE_WORDS;

	if (n_lines > batch->max_parts - batch->n_parts)
		return false;
	perftools__profiles__location__init(location);
	location->id = i + 1;
	location->mapping_id = row[LOCATION_MAPPING];
	location->address = row[LOCATION_ADDRESS];
	location->n_line = n_lines;
	location->line = batch->part_ptr.line + batch->n_parts;
	put_lines(batch, row + LOCATION_WORDS, n_lines);
	batch->item_ptr.location[at] = location;
	return true;
}

static bool put_function(struct batch *batch, const struct pprof_builder *b, size_t i, size_t at)
{
	Perftools__Profiles__Function *function = &batch->item.function[at];
	size_t n_words;
	const uint64_t *row = pprof_tuples_get(&b->functions, i + 1, &n_words);

	perftools__profiles__function__init(function);
	function->id = i + 1;
	function->name = (int64_t)row[FUNCTION_NAME];
	function->system_name = (int64_t)row[FUNCTION_SYSTEM_NAME];
	function->filename = (int64_t)row[FUNCTION_FILENAME];
	function->start_line = (int64_t)row[FUNCTION_START_LINE];
	batch->item_ptr.function[at] = function;
	return true;
}

static bool put_string(struct batch *batch, const struct pprof_builder *b, size_t i, size_t at)
{
	batch->item_ptr.string[at] = pprof_strings_get(&b->strings, i);
	return true;
}

/* Fills the batch with rows from `first` on, n in all; returns how many it took, at least one. */
static size_t batch_fill(struct batch *batch, const struct pprof_builder *b, batch_put_fn put,
			 size_t first, size_t n)
{
	size_t taken = 0;

	batch->n_parts = 0;
	while (taken < batch->max_items && first + taken < n && put(batch, b, first + taken, taken))
		taken++;
	return taken;
}

/* A Profile whose one repeated field is the batch. */
#define PACK_TABLE(sink, batch, b, n_rows, put, field, pointers)                            \
	for (size_t first_ = 0; first_ < (n_rows) && !(sink)->error;) {                     \
		Perftools__Profiles__Profile profile_ = PERFTOOLS__PROFILES__PROFILE__INIT; \
                                                                                            \
		profile_.n_##field = batch_fill((batch), (b), (put), first_, (n_rows));     \
		profile_.field = (batch)->item_ptr.pointers;                                \
		first_ += profile_.n_##field;                                               \
		sink_pack((sink), &profile_);                                               \
	}

static void value_type_set(Perftools__Profiles__ValueType *message,
			   const struct pprof_type_row *type)
{
	perftools__profiles__value_type__init(message);
	message->type = type->type;
	message->unit = type->unit;
}

static void pack_head(struct sink *sink, const struct pprof_builder *b)
{
	Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType types[PPROF_MAX_VALUES];
	Perftools__Profiles__ValueType *pointers[PPROF_MAX_VALUES];

	for (size_t i = 0; i < b->n_values; i++) {
		value_type_set(&types[i], &b->value_types[i]);
		pointers[i] = &types[i];
	}
	profile.n_sample_type = b->n_values;
	profile.sample_type = pointers;
	sink_pack(sink, &profile);
}

static void pack_tables(struct sink *sink, struct batch *batch, const struct pprof_builder *b)
{
	PACK_TABLE(sink, batch, b, b->samples.n, put_sample, sample, sample);
	PACK_TABLE(sink, batch, b, b->mappings.n, put_mapping, mapping, mapping);
	PACK_TABLE(sink, batch, b, b->locations.n, put_location, location, location);
	PACK_TABLE(sink, batch, b, b->functions.n, put_function, function, function);
	PACK_TABLE(sink, batch, b, b->strings.n, put_string, string_table, string);
}

static void pack_tail(struct sink *sink, const struct pprof_builder *b)
{
	Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType period_type;

	value_type_set(&period_type, &b->period_type);
	profile.time_nanos = b->time_ns;
	profile.duration_nanos = b->duration_ns;
	profile.period_type = &period_type;
	profile.period = b->period;
	sink_pack(sink, &profile);
}

/* A batch that is used over and over. */
struct batch_room {
	union {
		Perftools__Profiles__Sample sample[BATCH_ITEMS];
		Perftools__Profiles__Mapping mapping[BATCH_ITEMS];
		Perftools__Profiles__Location location[BATCH_ITEMS];
		Perftools__Profiles__Function function[BATCH_ITEMS];
	} item;
	void *item_ptr[BATCH_ITEMS];
	union {
		Perftools__Profiles__Label label[BATCH_PARTS];
		Perftools__Profiles__Line line[BATCH_PARTS];
	} part;
	void *part_ptr[BATCH_PARTS];
};

static int builder_pack(const struct pprof_builder *b, struct sink *sink)
{
	struct batch_room *room = malloc(sizeof(*room));

	if (!room)
		return -ENOMEM;
	struct batch batch = {
		.item.sample = room->item.sample,
		.item_ptr.sample = (Perftools__Profiles__Sample **)room->item_ptr,
		.part.label = room->part.label,
		.part_ptr.label = (Perftools__Profiles__Label **)room->part_ptr,
		.max_items = BATCH_ITEMS,
		.max_parts = BATCH_PARTS,
	};

	pack_head(sink, b);
	pack_tables(sink, &batch, b);
	pack_tail(sink, b);
	free(room);
	return sink->error;
}

int pprof_builder_encode(const struct pprof_builder *b, struct pprof_bytes *ret_bytes)
{
	struct pprof_gzip gzip;
	struct sink sink = { .base.append = sink_append, .gzip = &gzip };
	int r = pprof_gzip_init(&gzip, b->gzip_level, pprof_builder_packed_bytes(b));

	if (r == 0)
		r = builder_pack(b, &sink);
	if (r == 0)
		r = pprof_gzip_finish(&gzip, ret_bytes);
	pprof_gzip_fini(&gzip);
	return r;
}

int pprof_builder_encode_plain(const struct pprof_builder *b, struct pprof_bytes *ret_bytes)
{
	size_t n = pprof_builder_packed_bytes(b);
	struct sink sink = { .base.append = sink_append, .plain_cap = n };
	int r;

	sink.plain.data = malloc(n);
	if (!sink.plain.data)
		return -ENOMEM;
	r = builder_pack(b, &sink);
	if (r < 0) {
		pprof_bytes_fini(&sink.plain);
		return r;
	}
	*ret_bytes = sink.plain;
	return 0;
}

/* How many parts all rows of a table have. */
static size_t all_labels(const struct pprof_builder *b)
{
	size_t n_words = b->samples.n_words, n;

	for (size_t i = 0; i < b->samples.n; i++)
		n_words -= SAMPLE_WORDS + pprof_tuples_get(&b->samples, i + 1, &n)[0];
	return n_words / LABEL_WORDS;
}

static size_t all_lines(const struct pprof_builder *b)
{
	return (b->locations.n_words - b->locations.n * LOCATION_WORDS) / LOCATION_LINE_WORDS;
}

struct message_memory {
	void *(*alloc)(void *data, size_t n);
	void *data;
};

static bool take_array(const struct message_memory *m, size_t n, size_t item_bytes, void *ret_items)
{
	void *items = m->alloc(m->data, (n + 1) * item_bytes);

	memcpy(ret_items, &items, sizeof(items));
	return items;
}

/* Room for all messages of a table at once. */
static bool take_batch(const struct message_memory *m, size_t n, size_t item_bytes, size_t n_parts,
		       size_t part_bytes, struct batch *ret_batch)
{
	*ret_batch = (struct batch){ .max_items = n, .max_parts = n_parts };
	return take_array(m, n, item_bytes, &ret_batch->item) &&
	       take_array(m, n, sizeof(void *), &ret_batch->item_ptr) &&
	       take_array(m, n_parts, part_bytes, &ret_batch->part) &&
	       take_array(m, n_parts, sizeof(void *), &ret_batch->part_ptr);
}

#define MESSAGE_TABLE(m, profile, b, rows, put, field, pointers, n_parts, part_bytes)             \
	({                                                                                        \
		struct batch batch_;                                                              \
		bool taken_ = take_batch((m), (rows).n, sizeof(*batch_.item.pointers), (n_parts), \
					 (part_bytes), &batch_);                                  \
		if (taken_) {                                                                     \
			(profile)->n_##field = batch_fill(&batch_, (b), (put), 0, (rows).n);      \
			(profile)->field = batch_.item_ptr.pointers;                              \
		}                                                                                 \
		taken_;                                                                           \
	})

static bool message_tables(const struct message_memory *m, const struct pprof_builder *b,
			   Perftools__Profiles__Profile *p)
{
	return MESSAGE_TABLE(m, p, b, b->samples, put_sample, sample, sample, all_labels(b),
			     sizeof(Perftools__Profiles__Label)) &&
	       MESSAGE_TABLE(m, p, b, b->mappings, put_mapping, mapping, mapping, 0, 0) &&
	       MESSAGE_TABLE(m, p, b, b->locations, put_location, location, location, all_lines(b),
			     sizeof(Perftools__Profiles__Line)) &&
	       MESSAGE_TABLE(m, p, b, b->functions, put_function, function, function, 0, 0);
}

static bool message_texts(const struct message_memory *m, const struct pprof_builder *b,
			  Perftools__Profiles__Profile *p)
{
	if (!take_array(m, b->strings.n, sizeof(*p->string_table), &p->string_table))
		return false;
	for (; p->n_string_table < b->strings.n; p->n_string_table++)
		p->string_table[p->n_string_table] =
			pprof_strings_get(&b->strings, p->n_string_table);
	return true;
}

static bool message_types(const struct message_memory *m, const struct pprof_builder *b,
			  Perftools__Profiles__Profile *p)
{
	Perftools__Profiles__ValueType *types;

	if (!take_array(m, b->n_values, sizeof(*types), &types) ||
	    !take_array(m, b->n_values, sizeof(*p->sample_type), &p->sample_type))
		return false;
	for (; p->n_sample_type < b->n_values; p->n_sample_type++) {
		value_type_set(&types[p->n_sample_type], &b->value_types[p->n_sample_type]);
		p->sample_type[p->n_sample_type] = &types[p->n_sample_type];
	}
	/* There is room for one more. */
	p->period_type = &types[b->n_values];
	value_type_set(p->period_type, &b->period_type);
	return true;
}

void *pprof_builder_message(const struct pprof_builder *b, void *(*alloc)(void *data, size_t n),
			    void *data)
{
	const struct message_memory m = { alloc, data };
	Perftools__Profiles__Profile *p = alloc(data, sizeof(*p));

	if (!p)
		return NULL;
	perftools__profiles__profile__init(p);
	p->time_nanos = b->time_ns;
	p->duration_nanos = b->duration_ns;
	p->period = b->period;
	return message_types(&m, b, p) && message_tables(&m, b, p) && message_texts(&m, b, p)
		       ? p
		       : NULL;
}
