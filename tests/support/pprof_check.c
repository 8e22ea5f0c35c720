/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a profile that every reader accepts? pprof's own validity rules, and Pyroscope's. */
#include "tests/support/pprof_check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16)

int pprof_gunzip(const struct pprof_bytes *gz, size_t max, struct pprof_bytes *ret_plain)
{
	z_stream z = { .next_in = gz->data, .avail_in = (uInt)gz->n };
	struct pprof_bytes plain = { malloc(max), 0 };
	int status;

	if (!plain.data || inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		abort();
	z.next_out = plain.data;
	z.avail_out = (uInt)max;
	status = inflate(&z, Z_FINISH);
	plain.n = z.total_out;
	(void)inflateEnd(&z);
	if (status != Z_STREAM_END || z.avail_in != 0) {
		pprof_bytes_fini(&plain);
		return -1;
	}
	*ret_plain = plain;
	return 0;
}

/* Decodes one code point without asking whether it may be written so; 0 at a broken one. */
static uint32_t utf8_take(const uint8_t **p)
{
	uint8_t first = *(*p)++;
	int n = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
	uint32_t code = n ? first & (0x3FU >> n) : first;

	for (; n > 0; n--) {
		if ((**p & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (*(*p)++ & 0x3F);
	}
	return code;
}

/*
 * Unlike the code under test: a text is valid when each code point is, and has the one length it
 * must have.
 */
static bool utf8_valid(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;

	while (*p) {
		const uint8_t *begin = p;
		bool continues = (*p & 0xC0) == 0x80 || *p >= 0xF8;
		uint32_t code = utf8_take(&p);
		ptrdiff_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

		if (continues || code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
			return false;
		if (p - begin != n)
			return false;
	}
	return true;
}

static bool string_ok(const Perftools__Profiles__Profile *p, int64_t i)
{
	return i >= 0 && (size_t)i < p->n_string_table;
}

static const char *check_strings(const Perftools__Profiles__Profile *p)
{
	if (p->n_string_table == 0 || p->string_table[0][0] != '\0')
		return "string 0 is not empty";
	for (size_t i = 1; i < p->n_string_table; i++) {
		if (p->string_table[i][0] == '\0')
			return "a second empty string";
		if (strlen(p->string_table[i]) > PPROF_STRING_MAX_BYTES)
			return "a string is too long";
		if (!utf8_valid(p->string_table[i]))
			return "a string is not UTF-8";
	}
	return NULL;
}

static bool type_ok(const Perftools__Profiles__Profile *p, const Perftools__Profiles__ValueType *t)
{
	return string_ok(p, t->type) && string_ok(p, t->unit);
}

static const char *check_types(const Perftools__Profiles__Profile *p)
{
	if (p->n_sample_type == 0 || p->n_sample_type > PPROF_MAX_VALUES || !p->period_type)
		return "not one to four sample types and a period type";
	for (size_t i = 0; i < p->n_sample_type; i++)
		if (!type_ok(p, p->sample_type[i]))
			return "a string of a sample type does not exist";
	if (!type_ok(p, p->period_type))
		return "a string of the period type does not exist";
	if (p->time_nanos <= 0 || p->period <= 0)
		return "no time or no period";
	return NULL;
}

static const char *check_mappings(const Perftools__Profiles__Profile *p)
{
	for (size_t i = 0; i < p->n_mapping; i++)
		if (p->mapping[i]->id != i + 1 || !string_ok(p, p->mapping[i]->filename) ||
		    !string_ok(p, p->mapping[i]->build_id))
			return "a mapping is wrong";
	return NULL;
}

static const char *check_functions(const Perftools__Profiles__Profile *p)
{
	for (size_t i = 0; i < p->n_function; i++) {
		const Perftools__Profiles__Function *f = p->function[i];

		if (f->id != i + 1 || f->name == 0 || !string_ok(p, f->name) ||
		    !string_ok(p, f->system_name) || !string_ok(p, f->filename))
			return "a function is wrong";
	}
	return NULL;
}

static const char *check_locations(const Perftools__Profiles__Profile *p)
{
	for (size_t i = 0; i < p->n_location; i++) {
		const Perftools__Profiles__Location *l = p->location[i];

		if (l->id != i + 1 || l->mapping_id > p->n_mapping || l->n_line == 0)
			return "a location is wrong";
		for (size_t k = 0; k < l->n_line; k++)
			if (l->line[k]->function_id == 0 || l->line[k]->function_id > p->n_function)
				return "a line has no function";
	}
	return NULL;
}

static bool values_ok(const Perftools__Profiles__Profile *p, const Perftools__Profiles__Sample *s)
{
	bool any = false;

	if (s->n_value != p->n_sample_type)
		return false;
	for (size_t i = 0; i < s->n_value; i++) {
		if (s->value[i] < 0)
			return false;
		any |= s->value[i] > 0;
	}
	return any;
}

static const char *check_sample(const Perftools__Profiles__Profile *p,
				const Perftools__Profiles__Sample *s)
{
	if (!values_ok(p, s) || s->n_location_id == 0)
		return "a sample has no value or no stack";
	for (size_t i = 0; i < s->n_location_id; i++)
		if (s->location_id[i] == 0 || s->location_id[i] > p->n_location)
			return "a location does not exist";
	for (size_t i = 0; i < s->n_label; i++)
		if (s->label[i]->key == 0 || !string_ok(p, s->label[i]->key) ||
		    !string_ok(p, s->label[i]->str) || !string_ok(p, s->label[i]->num_unit))
			return "a label is wrong";
	return NULL;
}

static bool totals_add(struct pprof_facts *facts, const Perftools__Profiles__Sample *s)
{
	facts->n_values = s->n_value;
	for (size_t i = 0; i < s->n_value; i++)
		if (__builtin_add_overflow(facts->totals[i], s->value[i], &facts->totals[i]))
			return false;
	return true;
}

static const char *check_samples(const Perftools__Profiles__Profile *p, struct pprof_facts *facts)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		const char *wrong = check_sample(p, p->sample[i]);

		if (wrong)
			return wrong;
		if (!totals_add(facts, p->sample[i]))
			return "a total overflows";
	}
	return NULL;
}

const char *pprof_check_message(const Perftools__Profiles__Profile *p, struct pprof_facts *facts)
{
	const char *wrong = check_strings(p);

	facts->n_samples = p->n_sample;
	facts->n_locations = p->n_location;
	facts->n_functions = p->n_function;
	facts->n_strings = p->n_string_table;
	wrong = wrong ? wrong : check_types(p);
	wrong = wrong ? wrong : check_mappings(p);
	wrong = wrong ? wrong : check_functions(p);
	wrong = wrong ? wrong : check_locations(p);
	return wrong ? wrong : check_samples(p, facts);
}

const char *pprof_check_plain(const struct pprof_bytes *plain, struct pprof_facts *ret_facts)
{
	Perftools__Profiles__Profile *p =
		perftools__profiles__profile__unpack(NULL, plain->n, plain->data);
	const char *wrong;

	*ret_facts = (struct pprof_facts){ .plain_bytes = plain->n };
	if (!p)
		return "protobuf-c cannot unpack it";
	/* Also: the batches are byte for byte as long as one message would be. */
	wrong = perftools__profiles__profile__get_packed_size(p) == plain->n
			? pprof_check_message(p, ret_facts)
			: "not the canonical size";
	perftools__profiles__profile__free_unpacked(p, NULL);
	return wrong;
}

const char *pprof_check(const struct pprof_bytes *gz, size_t max, struct pprof_facts *ret_facts)
{
	struct pprof_bytes plain;
	const char *wrong;

	*ret_facts = (struct pprof_facts){ 0 };
	if (pprof_gunzip(gz, max, &plain) < 0)
		return "not one gzip member";
	wrong = pprof_check_plain(&plain, ret_facts);
	pprof_bytes_fini(&plain);
	return wrong;
}
