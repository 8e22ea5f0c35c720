/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request of OTLP profiles is as the specification has it. */
#include "tests/support/otlp_judge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

enum table { MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, TABLE_MAX };

static const char *const table_names[TABLE_MAX] = { "mapping", "location",  "function", "link",
						    "string",  "attribute", "stack" };

struct judge {
	const Otlp__Profiles__ProfilesDictionary *d;
	bool *used[TABLE_MAX];
	size_t n[TABLE_MAX];
	struct buf *mistakes;
};

static void refer(struct judge *j, enum table table, int64_t at)
{
	if (at < 0 || (size_t)at >= j->n[table])
		(void)buf_printf(j->mistakes, "no %s %lld\n", table_names[table], (long long)at);
	else
		j->used[table][at] = true;
}

/* What protobuf-c keeps in front of a message is the same for all of a kind; equal messages have equal bytes. */
static void check_rows(struct judge *j, enum table table, void *const *rows)
{
	struct buf *packed = calloc(j->n[table] + 1, sizeof(*packed));

	assert(packed);
	for (size_t i = 0; i < j->n[table]; i++) {
		size_t n = protobuf_c_message_get_packed_size(rows[i]);

		buf_init(&packed[i], n + 1);
		(void)buf_reserve(&packed[i], n);
		packed[i].len = protobuf_c_message_pack(rows[i], (uint8_t *)packed[i].data);
		if ((i == 0) != (n == 0))
			(void)buf_printf(j->mistakes, "%s %zu: %s\n", table_names[table], i,
					 i == 0 ? "not the zero value" : "a zero value");
		for (size_t k = 0; k < i; k++)
			if (packed[k].len == n && memcmp(packed[k].data, packed[i].data, n) == 0)
				(void)buf_printf(j->mistakes, "%s %zu is %s %zu\n",
						 table_names[table], i, table_names[table], k);
	}
	for (size_t i = 0; i < j->n[table]; i++)
		buf_fini(&packed[i]);
	free(packed);
}

static void check_strings(struct judge *j)
{
	char *const *strings = j->d->string_table;

	for (size_t i = 0; i < j->n[STRINGS]; i++) {
		if ((i == 0) != (*strings[i] == '\0'))
			(void)buf_printf(j->mistakes, "string %zu is \"%s\"\n", i, strings[i]);
		if (!str_is_utf8(str_from(strings[i])))
			(void)buf_printf(j->mistakes, "string %zu is not UTF-8\n", i);
		for (size_t k = 0; k < i; k++)
			if (strcmp(strings[i], strings[k]) == 0)
				(void)buf_printf(j->mistakes, "string %zu is string %zu\n", i, k);
	}
}

static void refer_attributes(struct judge *j, const int32_t *attributes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		refer(j, ATTRIBUTES, attributes[i]);
		for (size_t k = 0; k < i; k++)
			if (j->d->attribute_table[attributes[i]]->key_strindex ==
			    j->d->attribute_table[attributes[k]]->key_strindex)
				(void)buf_append_str(j->mistakes, "two attributes of a name\n");
	}
}

static void refer_of_tables(struct judge *j)
{
	const Otlp__Profiles__ProfilesDictionary *d = j->d;

	for (size_t i = 1; i < d->n_stack_table; i++)
		for (size_t k = 0; k < d->stack_table[i]->n_location_indices; k++)
			refer(j, LOCATIONS, d->stack_table[i]->location_indices[k]);
	for (size_t i = 1; i < d->n_location_table; i++) {
		const Otlp__Profiles__Location *l = d->location_table[i];

		refer(j, MAPPINGS, l->mapping_index);
		refer_attributes(j, l->attribute_indices, l->n_attribute_indices);
		for (size_t k = 0; k < l->n_lines; k++)
			refer(j, FUNCTIONS, l->lines[k]->function_index);
	}
	for (size_t i = 1; i < d->n_function_table; i++) {
		refer(j, STRINGS, d->function_table[i]->name_strindex);
		refer(j, STRINGS, d->function_table[i]->system_name_strindex);
		refer(j, STRINGS, d->function_table[i]->filename_strindex);
	}
	for (size_t i = 1; i < d->n_mapping_table; i++) {
		refer(j, STRINGS, d->mapping_table[i]->filename_strindex);
		refer_attributes(j, d->mapping_table[i]->attribute_indices,
				 d->mapping_table[i]->n_attribute_indices);
	}
	for (size_t i = 1; i < d->n_attribute_table; i++) {
		refer(j, STRINGS, d->attribute_table[i]->key_strindex);
		refer(j, STRINGS, d->attribute_table[i]->unit_strindex);
		if (!d->attribute_table[i]->value)
			(void)buf_printf(j->mistakes, "attribute %zu has no value\n", i);
	}
}

static void refer_type(struct judge *j, const Otlp__Profiles__ValueType *type)
{
	if (!type)
		return;
	refer(j, STRINGS, type->type_strindex);
	refer(j, STRINGS, type->unit_strindex);
	if (type->type_strindex == 0 || type->unit_strindex == 0)
		(void)buf_append_str(j->mistakes, "a type without a name\n");
}

static void check_profile(struct judge *j, const Otlp__Profiles__Profile *p)
{
	if (!p->sample_type)
		(void)buf_append_str(j->mistakes, "no sample type\n");
	if (p->time_unix_nano == 0)
		(void)buf_append_str(j->mistakes, "no time\n");
	refer_type(j, p->sample_type);
	refer_type(j, p->period_type);
	for (size_t i = 0; i < p->n_samples; i++) {
		const Otlp__Profiles__Sample *s = p->samples[i];

		refer(j, STACKS, s->stack_index);
		refer(j, LINKS, s->link_index);
		refer_attributes(j, s->attribute_indices, s->n_attribute_indices);
		if (s->stack_index == 0 || s->n_values != 1 || s->values[0] <= 0)
			(void)buf_printf(j->mistakes, "the shape of sample %zu\n", i);
	}
}

static void check_orphans(struct judge *j)
{
	for (enum table table = 0; table < TABLE_MAX; table++)
		for (size_t i = 1; i < j->n[table]; i++)
			if (!j->used[table][i])
				(void)buf_printf(j->mistakes, "nobody refers to %s %zu\n",
						 table_names[table], i);
}

static void judge_init(struct judge *j, const Otlp__Profiles__ProfilesDictionary *d,
		       struct buf *mistakes)
{
	const size_t n[TABLE_MAX] = {
		[MAPPINGS] = d->n_mapping_table,   [LOCATIONS] = d->n_location_table,
		[FUNCTIONS] = d->n_function_table, [LINKS] = d->n_link_table,
		[STRINGS] = d->n_string_table,	   [ATTRIBUTES] = d->n_attribute_table,
		[STACKS] = d->n_stack_table,
	};

	*j = (struct judge){ .d = d, .mistakes = mistakes };
	for (enum table table = 0; table < TABLE_MAX; table++) {
		j->n[table] = n[table];
		j->used[table] = calloc(n[table] + 1, sizeof(bool));
		assert(j->used[table]);
		if (n[table] == 0)
			(void)buf_printf(mistakes, "no %s\n", table_names[table]);
	}
}

static void check_tables(struct judge *j)
{
	const Otlp__Profiles__ProfilesDictionary *d = j->d;

	check_rows(j, MAPPINGS, (void *const *)d->mapping_table);
	check_rows(j, LOCATIONS, (void *const *)d->location_table);
	check_rows(j, FUNCTIONS, (void *const *)d->function_table);
	check_rows(j, LINKS, (void *const *)d->link_table);
	check_rows(j, ATTRIBUTES, (void *const *)d->attribute_table);
	check_rows(j, STACKS, (void *const *)d->stack_table);
	check_strings(j);
}

void otlp_judge(const Otlp__Profiles__ExportProfilesServiceRequest *request, struct buf *mistakes)
{
	struct judge j;

	if (!request->dictionary || request->n_resource_profiles == 0) {
		(void)buf_append_str(mistakes, "no dictionary, or no profiles\n");
		return;
	}
	judge_init(&j, request->dictionary, mistakes);
	check_tables(&j);
	refer_of_tables(&j);
	for (size_t i = 0; i < request->n_resource_profiles; i++) {
		const Otlp__Profiles__ResourceProfiles *r = request->resource_profiles[i];

		for (size_t k = 0; k < r->n_scope_profiles; k++)
			for (size_t l = 0; l < r->scope_profiles[k]->n_profiles; l++)
				check_profile(&j, r->scope_profiles[k]->profiles[l]);
	}
	check_orphans(&j);
	for (enum table table = 0; table < TABLE_MAX; table++)
		free(j.used[table]);
}
