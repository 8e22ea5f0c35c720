/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the dictionary as bytes. */
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/encode/otlp_dictionary.h"
#include "agent/encode/otlp_wire.h"

#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES 8

typedef void (*write_row_fn)(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out);

/* Of one row: the concatenation of them all is the table. */
#define WRITE(out, table, item)                                    \
	do {                                                       \
		Otlp__Profiles__ProfilesDictionary one_ =          \
			OTLP__PROFILES__PROFILES_DICTIONARY__INIT; \
		one_.n_##table = 1;                                \
		one_.table = &(item);                              \
		otlp_put((out), &one_.base);                       \
	} while (0)

static void write_mapping(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__Mapping m = OTLP__PROFILES__MAPPING__INIT;
	Otlp__Profiles__Mapping *item = &m;
	int32_t attribute;

	(void)d;
	if (row.n > 0) {
		m.memory_start = row.words[0];
		m.memory_limit = row.words[1];
		m.file_offset = row.words[2];
		m.filename_strindex = (int32_t)row.words[3];
		attribute = (int32_t)row.words[4];
		m.n_attribute_indices = attribute > 0;
		m.attribute_indices = &attribute;
	}
	WRITE(out, mapping_table, item);
}

static void write_location(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__Location l = OTLP__PROFILES__LOCATION__INIT;
	Otlp__Profiles__Location *item = &l;
	Otlp__Profiles__Line lines[PPROF_MAX_LINES], *line_list[PPROF_MAX_LINES];
	int32_t attribute;

	(void)d;
	if (row.n > 0) {
		l.mapping_index = (int32_t)row.words[0];
		l.address = row.words[1];
		attribute = (int32_t)row.words[2];
		l.n_attribute_indices = attribute > 0;
		l.attribute_indices = &attribute;
	}
	for (size_t at = 3; at + 2 < row.n; at += 3) {
		Otlp__Profiles__Line *line = &lines[l.n_lines];

		otlp__profiles__line__init(line);
		line->function_index = (int32_t)row.words[at];
		line->line = (int64_t)row.words[at + 1];
		line->column = (int64_t)row.words[at + 2];
		line_list[l.n_lines++] = line;
	}
	l.lines = line_list;
	WRITE(out, location_table, item);
}

static void write_function(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__Function f = OTLP__PROFILES__FUNCTION__INIT;
	Otlp__Profiles__Function *item = &f;

	(void)d;
	if (row.n > 0) {
		f.name_strindex = (int32_t)row.words[0];
		f.system_name_strindex = (int32_t)row.words[1];
		f.filename_strindex = (int32_t)row.words[2];
		f.start_line = (int64_t)row.words[3];
	}
	WRITE(out, function_table, item);
}

static void put_big_endian(uint64_t word, uint8_t *to)
{
	for (size_t i = 0; i < sizeof(word); i++)
		to[i] = (uint8_t)(word >> (8 * (sizeof(word) - 1 - i)));
}

static void write_link(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__Link l = OTLP__PROFILES__LINK__INIT;
	Otlp__Profiles__Link *item = &l;
	uint8_t id[TRACE_ID_BYTES + SPAN_ID_BYTES];

	(void)d;
	for (size_t i = 0; i < row.n; i++)
		put_big_endian(row.words[i], id + i * sizeof(uint64_t));
	if (row.n > 0) {
		l.trace_id = (ProtobufCBinaryData){ TRACE_ID_BYTES, id };
		l.span_id = (ProtobufCBinaryData){ SPAN_ID_BYTES, id + TRACE_ID_BYTES };
	}
	WRITE(out, link_table, item);
}

static void write_attribute(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__KeyValueAndUnit a = OTLP__PROFILES__KEY_VALUE_AND_UNIT__INIT;
	Otlp__Profiles__KeyValueAndUnit *item = &a;
	Otlp__Profiles__AnyValue value = OTLP__PROFILES__ANY_VALUE__INIT;

	if (row.n > 0) {
		a.key_strindex = (int32_t)row.words[OTLP_ATTRIBUTE_KEY];
		a.unit_strindex = (int32_t)row.words[OTLP_ATTRIBUTE_UNIT];
		a.value = &value;
	}
	if (row.n > 0 && row.words[OTLP_ATTRIBUTE_KIND] == OTLP_INT) {
		value.value_case = OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE;
		value.int_value = (int64_t)row.words[OTLP_ATTRIBUTE_VALUE];
	} else if (row.n > 0) {
		value.value_case = OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE;
		value.string_value = (char *)d->values.items[row.words[OTLP_ATTRIBUTE_VALUE]];
	}
	WRITE(out, attribute_table, item);
}

static void write_stack(const struct otlp_dictionary *d, struct otlp_row row, struct buf *out)
{
	Otlp__Profiles__Stack s = OTLP__PROFILES__STACK__INIT;
	Otlp__Profiles__Stack *item = &s;
	int32_t locations[PPROF_MAX_DEPTH];

	(void)d;
	for (size_t i = 0; i < row.n; i++)
		locations[i] = (int32_t)row.words[i];
	s.n_location_indices = row.n;
	s.location_indices = locations;
	WRITE(out, stack_table, item);
}

static void write_table(const struct otlp_dictionary *d, const struct otlp_rows *rows,
			write_row_fn write_row, struct buf *out)
{
	for (size_t i = 0; i < rows->n && !out->failed; i++)
		write_row(d, otlp_rows_get(rows, i), out);
}

static void write_string(const char *text, struct buf *out)
{
	char *item = (char *)text;

	WRITE(out, string_table, item);
}

static void write_strings(const struct otlp_dictionary *d, struct buf *out)
{
	for (size_t i = 0; i < d->strings.n; i++)
		write_string(d->strings.items[i], out);
}

void otlp_dictionary_write(const struct otlp_dictionary *d, struct buf *out)
{
	write_table(d, &d->mappings, write_mapping, out);
	write_table(d, &d->locations, write_location, out);
	write_table(d, &d->functions, write_function, out);
	write_table(d, &d->links, write_link, out);
	write_strings(d, out);
	write_table(d, &d->attributes, write_attribute, out);
	write_table(d, &d->stacks, write_stack, out);
}
