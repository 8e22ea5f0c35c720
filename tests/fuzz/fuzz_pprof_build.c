/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the input as a sequence of builder calls, one byte of what to do and then its arguments,
 * with small ceilings so that they are reached. Whatever was called, the encoded profile must be
 * valid and say what the builder says.
 */
#include <errno.h>
#include <string.h>

#include "pprof/pprof.h"
#include "tests/support/pprof_check.h"

#define TEXT_MAX_BYTES 64
#define IDS_MAX 8
#define PLAIN_MAX_BYTES 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p;
	size_t n;
	char text[4][TEXT_MAX_BYTES];
	int n_texts;
};

static uint8_t take_byte(struct input *in)
{
	if (in->n == 0)
		return 0;
	in->n--;
	return *in->p++;
}

/* Small numbers mostly, large ones with the high bit set. */
static int64_t take_number(struct input *in)
{
	uint8_t byte = take_byte(in);
	int64_t number = 0;

	if (!(byte & 0x80))
		return byte;
	for (int i = 0; i < 8; i++)
		number = (int64_t)((uint64_t)number << 8 | take_byte(in));
	return number;
}

static const char *take_text(struct input *in)
{
	char *text = in->text[in->n_texts++ % 4];
	size_t n = take_byte(in) % TEXT_MAX_BYTES;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)take_byte(in);
	text[n] = '\0';
	return text;
}

static int add_mapping(struct pprof_builder *b, struct input *in)
{
	struct pprof_mapping m = { 0 };
	uint8_t has = take_byte(in);
	uint64_t id;

	m.has_functions = has & 1;
	m.has_filenames = has & 2;
	m.has_lines = has & 4;
	m.has_inlines = has & 8;
	m.filename = take_text(in);
	m.build_id = take_text(in);
	m.start = (uint64_t)take_number(in);
	m.limit = (uint64_t)take_number(in);
	m.file_off = (uint64_t)take_number(in);
	return pprof_builder_mapping(b, &m, &id);
}

static int add_function(struct pprof_builder *b, struct input *in)
{
	struct pprof_function f = { 0 };
	uint64_t id;

	f.name = take_text(in);
	f.system_name = take_text(in);
	f.filename = take_text(in);
	f.start_line = take_number(in);
	return pprof_builder_function(b, &f, &id);
}

static int add_location(struct pprof_builder *b, struct input *in)
{
	struct pprof_line lines[IDS_MAX];
	uint64_t id;
	size_t n = take_byte(in) % (IDS_MAX + 1);
	uint64_t mapping_id = take_byte(in);
	uint64_t address = (uint64_t)take_number(in);

	for (size_t i = 0; i < n; i++) {
		lines[i].function_id = take_byte(in);
		lines[i].line = take_number(in);
		lines[i].column = take_number(in);
	}
	return pprof_builder_location(b, mapping_id, address, lines, n, &id);
}

static int add_sample(struct pprof_builder *b, struct input *in, size_t n_values)
{
	uint64_t ids[IDS_MAX];
	size_t n = take_byte(in) % (IDS_MAX + 1);
	int64_t values[PPROF_MAX_VALUES];
	uint8_t kind;
	struct pprof_label labels[2] = { 0 };

	for (size_t i = 0; i < n_values; i++)
		values[i] = take_number(in);
	kind = take_byte(in);
	for (size_t i = 0; i < n; i++)
		ids[i] = take_byte(in);
	for (size_t i = 0; i < kind % 3U; i++) {
		labels[i].key = take_text(in);
		labels[i].str = kind & 0x80 ? take_text(in) : NULL;
		labels[i].num = take_number(in);
	}
	return pprof_builder_sample(b, ids, n, values, labels, kind % 3U);
}

static int add_any(struct pprof_builder *b, struct input *in, size_t n_values)
{
	switch (take_byte(in) % 4) {
	case 0:
		return add_mapping(b, in);
	case 1:
		return add_function(b, in);
	case 2:
		return add_location(b, in);
	}
	return add_sample(b, in, n_values);
}

static void require(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check(const struct pprof_builder *b)
{
	struct pprof_bytes gz;
	struct pprof_facts facts;

	require(pprof_builder_encode(b, &gz) == 0);
	require(pprof_check(&gz, PLAIN_MAX_BYTES, &facts) == NULL);
	require(facts.plain_bytes == pprof_builder_packed_bytes(b));
	require(facts.n_samples == pprof_builder_n_samples(b));
	for (size_t i = 0; i < facts.n_values; i++)
		require(facts.totals[i] == pprof_builder_total(b, i));
	pprof_bytes_fini(&gz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .p = data, .n = size };
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;
	struct pprof_builder *b = NULL;

	options.n_values = 1 + size % PPROF_MAX_VALUES;
	for (size_t i = 1; i < options.n_values; i++)
		options.value_types[i] = (struct pprof_value_type){ "more", "count" };
	options.period = 10309278;
	options.time_ns = 1;
	options.max_samples = 4;
	options.max_bytes = PLAIN_MAX_BYTES;
	require(pprof_builder_new(&options, &b) == 0);
	while (in.n > 0) {
		int r = add_any(b, &in, options.n_values);

		require(r == PPROF_ADDED || r == PPROF_FULL || r == -EINVAL);
		require(pprof_builder_packed_bytes(b) <= options.max_bytes);
		require(pprof_builder_n_samples(b) <= options.max_samples);
	}
	check(b);
	pprof_builder_free(b);
	return 0;
}
