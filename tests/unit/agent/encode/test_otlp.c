/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP says what pprof says, sample by sample, and in the shape that the specification wants. */
#include <stdio.h>
#include <string.h>

#include "agent/encode/otlp_form.h"
#include "agent/encode/profile.h"
#include "agent/util/arena.h"
#include "agent/util/macro.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/otlp_judge.h"
#include "tests/support/pprof_check.h"
#include "tests/support/pprof_random.h"
#include "tests/support/small_profile.h"
#include "tests/support/unit.h"

#define PERIOD_NS 10000000
#define TIME_NS 1764000000000000000
#define DURATION_NS 15000000000

typedef Otlp__Profiles__ExportProfilesServiceRequest request_t;

struct fixture {
	struct pprof_options options;
	const char *name; /* it came from outside, and is called so; NULL: it is one of ours */
	struct pprof_builder *b;
	struct profile *profile;
	struct arena arena;
	const Perftools__Profiles__Profile *in;
	request_t *request;
};

static void set_up(struct fixture *f)
{
	f->options = PPROF_OPTIONS_DEFAULT;
	f->options.period = PERIOD_NS;
	f->options.time_ns = TIME_NS;
	f->options.duration_ns = DURATION_NS;
	arena_init(&f->arena, (size_t)256 << 20);
}

static void tear_down(struct fixture *f)
{
	if (f->request)
		otlp__profiles__export_profiles_service_request__free_unpacked(f->request, NULL);
	profile_unref(f->profile);
	pprof_builder_free(f->b);
	arena_fini(&f->arena);
}

FIXTURE(struct fixture, set_up, tear_down)

static void open(struct fixture *f)
{
	assert_int_equal(pprof_builder_new(&f->options, &f->b), 0);
}

static void *alloc(void *arena, size_t n)
{
	return arena_alloc(arena, n);
}

static void name(struct fixture *f)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;

	if (!f->name)
		return;
	assert_int_equal(labels_new(&(struct label){ "__name__", f->name }, 1, &labels), 0);
	profile_set_labels(f->profile, labels);
	f->profile->is_foreign = true;
}

/* The request, judged. */
static void finish(struct fixture *f)
{
	_cleanup_buf_ struct buf mistakes = BUF_INIT((size_t)1 << 20);
	struct pprof_bytes bytes;

	assert_int_equal(profile_new(&f->b, NULL, 1, TIME_NS, &f->profile), 0);
	name(f);
	f->in = pprof_builder_message(f->profile->tables, alloc, &f->arena);
	assert_non_null(f->in);
	assert_int_equal(profile_encode(f->profile, FORM_OTLP_FILE, &bytes), 0);
	f->request =
		otlp__profiles__export_profiles_service_request__unpack(NULL, bytes.n, bytes.data);
	pprof_bytes_fini(&bytes);
	assert_non_null(f->request);
	otlp_judge(f->request, &mistakes);
	assert_string_equal(buf_str(&mistakes), "");
	assert_int_equal(f->request->n_resource_profiles, 1);
	assert_int_equal(f->request->resource_profiles[0]->n_scope_profiles, 1);
}

static size_t n_profiles(const struct fixture *f)
{
	return f->request->resource_profiles[0]->scope_profiles[0]->n_profiles;
}

static const Otlp__Profiles__Profile *profile_at(const struct fixture *f, size_t i)
{
	assert_in_range(i, 0, n_profiles(f) - 1);
	return f->request->resource_profiles[0]->scope_profiles[0]->profiles[i];
}

static const char *string(const struct fixture *f, int32_t at)
{
	return f->request->dictionary->string_table[at];
}

static const char *text(const struct fixture *f, int64_t at)
{
	return f->in->string_table[at];
}

static void assert_type(const struct fixture *f, const Otlp__Profiles__ValueType *type,
			const char *name, const char *unit)
{
	assert_non_null(type);
	assert_string_equal(string(f, type->type_strindex), name);
	assert_string_equal(string(f, type->unit_strindex), unit);
}

static void same_line(const struct fixture *f, const Otlp__Profiles__Line *line,
		      const Perftools__Profiles__Line *in)
{
	const Otlp__Profiles__Function *function =
		f->request->dictionary->function_table[line->function_index];
	const Perftools__Profiles__Function *of = f->in->function[in->function_id - 1];

	assert_string_equal(string(f, function->name_strindex), text(f, of->name));
	assert_string_equal(string(f, function->system_name_strindex), text(f, of->system_name));
	assert_string_equal(string(f, function->filename_strindex), text(f, of->filename));
	assert_int_equal(function->start_line, of->start_line);
	assert_int_equal(line->line, in->line);
	assert_int_equal(line->column, in->column);
}

static void same_location(const struct fixture *f, int32_t at, uint64_t id)
{
	const Otlp__Profiles__Location *l = f->request->dictionary->location_table[at];
	const Otlp__Profiles__Mapping *m = f->request->dictionary->mapping_table[l->mapping_index];
	const Perftools__Profiles__Location *in = f->in->location[id - 1];

	assert_int_equal(l->address, in->address);
	assert_int_equal(l->n_lines, in->n_line);
	for (size_t i = 0; i < l->n_lines; i++)
		same_line(f, l->lines[i], in->line[i]);
	assert_int_equal(l->mapping_index > 0, in->mapping_id > 0);
	if (in->mapping_id == 0)
		return;
	const Perftools__Profiles__Mapping *of = f->in->mapping[in->mapping_id - 1];
	assert_string_equal(string(f, m->filename_strindex), text(f, of->filename));
	assert_int_equal(m->memory_start, of->memory_start);
	assert_int_equal(m->memory_limit, of->memory_limit);
	assert_int_equal(m->file_offset, of->file_offset);
}

static void same_sample(const struct fixture *f, const Otlp__Profiles__Sample *s,
			const Perftools__Profiles__Sample *in)
{
	const Otlp__Profiles__Stack *stack = f->request->dictionary->stack_table[s->stack_index];

	assert_int_equal(stack->n_location_indices, in->n_location_id);
	for (size_t i = 0; i < in->n_location_id; i++)
		same_location(f, stack->location_indices[i], in->location_id[i]);
	assert_int_equal(s->n_attribute_indices, in->n_label);
}

/* Each sample that has some of that type, in the same order. */
static void same_profile(const struct fixture *f, const Otlp__Profiles__Profile *p, size_t type,
			 int64_t factor)
{
	size_t n = 0;

	for (size_t i = 0; i < f->in->n_sample; i++) {
		if (f->in->sample[i]->value[type] == 0)
			continue;
		assert_in_range(n, 0, p->n_samples - 1);
		same_sample(f, p->samples[n], f->in->sample[i]);
		assert_int_equal(p->samples[n]->values[0] * factor, f->in->sample[i]->value[type]);
		n++;
	}
	assert_int_equal(n, p->n_samples);
	assert_int_equal(p->time_unix_nano, TIME_NS - DURATION_NS);
	assert_int_equal(p->duration_nano, DURATION_NS);
}

/* One location with this name, of this mapping ("": none), in this file. */
static uint64_t location(struct fixture *f, const char *name, const char *file, const char *mapping,
			 const char *build_id)
{
	const struct pprof_function function = { .name = name, .filename = file };
	const struct pprof_mapping m = { .filename = mapping,
					 .build_id = build_id,
					 .has_functions = true };
	struct pprof_line line = { .line = 7, .column = 3 };
	uint64_t mapping_id = 0, id;

	if (*mapping)
		assert_int_equal(pprof_builder_mapping(f->b, &m, &mapping_id), 0);
	assert_int_equal(pprof_builder_function(f->b, &function, &line.function_id), 0);
	assert_int_equal(pprof_builder_location(f->b, mapping_id, 0, &line, 1, &id), 0);
	return id;
}

static void sample(struct fixture *f, uint64_t id, const int64_t *values,
		   const struct pprof_label *labels, size_t n)
{
	assert_int_equal(pprof_builder_sample(f->b, &id, 1, values, labels, n), 0);
}

static void test_cpu_is_counted_in_samples(void **state)
{
	struct fixture *f = *state;

	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ 3 * PERIOD_NS }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 1);
	const Otlp__Profiles__Profile *p = profile_at(f, 0);
	assert_type(f, p->sample_type, "samples", "count");
	assert_type(f, p->period_type, "cpu", "nanoseconds");
	assert_int_equal(p->period, PERIOD_NS);
	assert_int_equal(p->samples[0]->values[0], 3);
	same_profile(f, p, 0, PERIOD_NS);
}

/* Time that is no number of periods stays time. */
static void test_cpu_of_other_values(void **state)
{
	struct fixture *f = *state;

	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ PERIOD_NS + 1 }, NULL, 0);
	finish(f);
	assert_type(f, profile_at(f, 0)->sample_type, "cpu", "nanoseconds");
	same_profile(f, profile_at(f, 0), 0, 1);
}

/* Samples and CPU time of one program say the same: it is sent once. */
static void test_samples_beside_cpu(void **state)
{
	struct fixture *f = *state;

	f->options.value_types[0] = (struct pprof_value_type){ "samples", "count" };
	f->options.value_types[1] = (struct pprof_value_type){ "cpu", "nanoseconds" };
	f->options.n_values = 2;
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), (const int64_t[]){ 2, 2 * PERIOD_NS }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 1);
	assert_type(f, profile_at(f, 0)->sample_type, "samples", "count");
	same_profile(f, profile_at(f, 0), 1, PERIOD_NS);
}

/* A profile each; samples that have none of a type are not in it. */
static void test_several_types(void **state)
{
	struct fixture *f = *state;

	f->options.value_types[0] = (struct pprof_value_type){ "alloc_objects", "count" };
	f->options.value_types[1] = (struct pprof_value_type){ "alloc_space", "bytes" };
	f->options.value_types[2] = (struct pprof_value_type){ "inuse_space", "bytes" };
	f->options.n_values = 3;
	f->options.period_type = (struct pprof_value_type){ "space", "bytes" };
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), (const int64_t[]){ 1, 64, 0 }, NULL, 0);
	sample(f, location(f, "g", NULL, "", NULL), (const int64_t[]){ 0, 5, 0 }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 2);
	assert_type(f, profile_at(f, 0)->sample_type, "alloc_objects", "count");
	assert_type(f, profile_at(f, 1)->sample_type, "alloc_space", "bytes");
	assert_type(f, profile_at(f, 1)->period_type, "space", "bytes");
	assert_int_equal(profile_at(f, 0)->n_samples, 1);
	assert_int_equal(profile_at(f, 1)->n_samples, 2);
	same_profile(f, profile_at(f, 0), 0, 1);
	same_profile(f, profile_at(f, 1), 1, 1);
}

/* What Go calls mutex and block has periods of one type; a program's CPU time is what ours is. */
static const struct name_row {
	const char *period; /* its type, by OTLP */
	const char *name;
} name_rows[] = {
	{ "mutex", "mutex" },
	{ "block", "block" },
	{ "contentions", NULL },
};

static void test_name(void **state)
{
	const struct name_row *row = *state;
	struct fixture fixture = { .name = row->name }, *f = &fixture;

	set_up(f);
	f->options.value_types[0] = (struct pprof_value_type){ "delay", "nanoseconds" };
	f->options.period_type = (struct pprof_value_type){ "contentions", "count" };
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ 7 }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 1);
	assert_type(f, profile_at(f, 0)->sample_type, "delay", "nanoseconds");
	assert_type(f, profile_at(f, 0)->period_type, row->period, "count");
	same_profile(f, profile_at(f, 0), 0, 1);
	tear_down(f);
}

static void test_name_of_cpu_time(void **state)
{
	struct fixture *f = *state;

	f->name = "process_cpu";
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ PERIOD_NS }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 1);
	assert_type(f, profile_at(f, 0)->sample_type, "samples", "count");
	assert_type(f, profile_at(f, 0)->period_type, "cpu", "nanoseconds");
}

/* Pyroscope refuses a profile that has neither a period nor a name that it knows. */
static void test_off_cpu(void **state)
{
	struct fixture *f = *state;

	f->options.value_types[0] = (struct pprof_value_type){ "offcpu", "nanoseconds" };
	f->options.value_types[1] = (struct pprof_value_type){ "waits", "count" };
	f->options.n_values = 2;
	f->options.period_type = (struct pprof_value_type){ "", "" };
	f->options.period = 1;
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), (const int64_t[]){ 12345, 2 }, NULL, 0);
	finish(f);
	assert_int_equal(n_profiles(f), 2);
	assert_type(f, profile_at(f, 0)->sample_type, "off_cpu", "nanoseconds");
	assert_null(profile_at(f, 0)->period_type);
	assert_type(f, profile_at(f, 1)->sample_type, "waits", "count");
	assert_type(f, profile_at(f, 1)->period_type, "waits", "count");
	same_profile(f, profile_at(f, 0), 0, 1);
	same_profile(f, profile_at(f, 1), 1, 1);
}

/* "key=value" of a list of attributes, in order. */
static void print_attributes(const struct fixture *f, const int32_t *at, size_t n, char *out,
			     size_t n_out)
{
	size_t len = 0;

	*out = '\0';
	for (size_t i = 0; i < n && len < n_out; i++) {
		const Otlp__Profiles__KeyValueAndUnit *a =
			f->request->dictionary->attribute_table[at[i]];
		bool is_int = a->value->value_case == OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE;

		len += (size_t)snprintf(out + len, n_out - len, "%s%s=", i ? " " : "",
					string(f, a->key_strindex));
		if (len < n_out && is_int)
			len += (size_t)snprintf(out + len, n_out - len, "%lld%s",
						(long long)a->value->int_value,
						string(f, a->unit_strindex));
		else if (len < n_out)
			len += (size_t)snprintf(out + len, n_out - len, "\"%s\"",
						a->value->string_value);
	}
}

static const struct frame_row {
	const char *name, *file, *mapping, *build_id;
	const char *type, *id;
} frame_rows[] = {
	{ "native", "x.c", "/usr/bin/x", "0123abcd", "profile.frame.type=\"native\"",
	  "process.executable.build_id.gnu=\"0123abcd\"" },
	{ "Go", "x.go", "/x", "ab/cd/ef/gh", "profile.frame.type=\"native\"",
	  "process.executable.build_id.go=\"ab/cd/ef/gh\"" },
	{ "a python file in a program", "x.py", "/x", "", "profile.frame.type=\"native\"", "" },
	{ "vdso", "", "[vdso]", "", "profile.frame.type=\"native\"", "" },
	{ "kernel", "", "[kernel]", "", "profile.frame.type=\"kernel\"", "" },
	{ "module", "", "[nf_tables]", "", "profile.frame.type=\"kernel\"", "" },
	{ "Python", "/a/b.py", "", "", "profile.frame.type=\"cpython\"", "" },
	{ "JavaScript", "/a/b.mjs", "", "", "profile.frame.type=\"v8js\"", "" },
	{ "Java", "B.java", "", "", "profile.frame.type=\"jvm\"", "" },
	{ "nobody knows", "", "", "", "", "" },
	{ "a script with an id", "/a/b", "/a/b", "85314830-023f-4cf1-a267-535f4e37bb17",
	  "profile.frame.type=\"v8js\"",
	  "source_map.debug_id=\"85314830-023f-4cf1-a267-535f4e37bb17\"" },
	{ "no UUID", "x.c", "/x", "85314830-023f-4cf1-a267-535f4e37bbxx",
	  "profile.frame.type=\"native\"",
	  "process.executable.build_id.gnu=\"85314830-023f-4cf1-a267-535f4e37bbxx\"" },
	{ "another file", "b.rb.tmp", "", "", "", "" },
};

static void test_frame(void **state)
{
	const struct frame_row *row = *state;
	struct fixture fixture = { 0 }, *f = &fixture;
	char attributes[256];

	set_up(f);
	open(f);
	sample(f, location(f, "f", row->file, row->mapping, row->build_id), &(int64_t){ PERIOD_NS },
	       NULL, 0);
	finish(f);
	const Otlp__Profiles__Location *l = f->request->dictionary->location_table[1];
	print_attributes(f, l->attribute_indices, l->n_attribute_indices, attributes,
			 sizeof(attributes));
	assert_string_equal(attributes, row->type);
	const Otlp__Profiles__Mapping *m = f->request->dictionary->mapping_table[l->mapping_index];
	print_attributes(f, m->attribute_indices, m->n_attribute_indices, attributes,
			 sizeof(attributes));
	assert_string_equal(attributes, row->id);
	tear_down(f);
}

#define TRACE "0123456789abcdef0011223344556677"
#define SPAN "8899aabbccddeeff"

static const struct label_row {
	const char *name;
	struct pprof_label labels[4];
	const char *attributes;
	bool has_link;
} label_rows[] = {
	{ "none", { { 0 } }, "", false },
	{ "process and thread",
	  { { .key = "comm", .str = "web" },
	    { .key = "pid", .str = "77" },
	    { .key = "tid", .num = 78 },
	    { .key = "thread", .str = "w" } },
	  "process.executable.name=\"web\" process.pid=77 thread.id=78 thread.name=\"w\"",
	  false },
	{ "service", { { .key = "process", .str = "s" } }, "service.name=\"s\"", false },
	{ "a pid that is none", { { .key = "pid", .str = "x" } }, "pid=\"x\"", false },
	{ "a name that is none", { { .key = "comm", .num = 4 } }, "comm=4", false },
	{ "others",
	  { { .key = "a", .str = "b" }, { .key = "n", .num = -4, .num_unit = "bytes" } },
	  "a=\"b\" n=-4bytes",
	  false },
	{ "one of a name",
	  { { .key = "process.pid", .num = 9 }, { .key = "pid", .num = 8 } },
	  "process.pid=9",
	  false },
	{ "link",
	  { { .key = "span_id", .str = SPAN }, { .key = "trace_id", .str = TRACE } },
	  "",
	  true },
	{ "half a link", { { .key = "span_id", .str = SPAN } }, "span_id=\"" SPAN "\"", false },
	{ "no hex",
	  { { .key = "span_id", .str = SPAN }, { .key = "trace_id", .str = "x" } },
	  "span_id=\"" SPAN "\" trace_id=\"x\"",
	  false },
	{ "zeroes",
	  { { .key = "span_id", .str = "0000000000000000" }, { .key = "trace_id", .str = TRACE } },
	  "span_id=\"0000000000000000\" trace_id=\"" TRACE "\"",
	  false },
};

static void test_labels(void **state)
{
	const struct label_row *row = *state;
	struct fixture fixture = { 0 }, *f = &fixture;
	char attributes[512];
	size_t n = 0;

	while (n < ARRAY_SIZE(row->labels) && row->labels[n].key)
		n++;
	set_up(f);
	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ PERIOD_NS }, row->labels, n);
	finish(f);
	const Otlp__Profiles__Sample *s = profile_at(f, 0)->samples[0];
	print_attributes(f, s->attribute_indices, s->n_attribute_indices, attributes,
			 sizeof(attributes));
	assert_string_equal(attributes, row->attributes);
	assert_int_equal(s->link_index > 0, row->has_link);
	if (row->has_link) {
		static const uint8_t trace[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
						 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77 };
		static const uint8_t span[] = { 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
		const Otlp__Profiles__Link *l = f->request->dictionary->link_table[s->link_index];

		assert_int_equal(l->trace_id.len, sizeof(trace));
		assert_memory_equal(l->trace_id.data, trace, sizeof(trace));
		assert_int_equal(l->span_id.len, sizeof(span));
		assert_memory_equal(l->span_id.data, span, sizeof(span));
	}
	tear_down(f);
}

/* Whatever is in a profile: conformity, and the same samples. */
static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct pprof_random random = { .state = seed,
					       .n_functions = 1 + seed * 5,
					       .max_depth = 1 + seed % 30,
					       .max_labels = seed % 5,
					       .max_value = 1000,
					       .strange = seed % 2 == 0 };
		struct fixture fixture = { 0 }, *f = &fixture;

		set_up(f);
		f->options.period_type = (struct pprof_value_type){ "cpu", "cycles" };
		open(f);
		for (size_t i = 0; i < 30; i++)
			assert_int_equal(pprof_random_add(&random, f->b), 0);
		finish(f);
		same_profile(f, profile_at(f, 0), 0, 1);
		tear_down(f);
	}
}

/* A file of an interval in which nothing was sampled. */
static void test_empty(void **state)
{
	struct fixture *f = *state;

	open(f);
	finish(f);
	assert_int_equal(n_profiles(f), 1);
	assert_int_equal(profile_at(f, 0)->n_samples, 0);
}

/* The largest that goes to a server stays below what a collector takes of a message. */
static void test_largest(void **state)
{
	struct pprof_random random = { .state = 1,
				       .n_functions = 3000,
				       .max_depth = 60,
				       .max_value = INT32_MAX,
				       .strange = true };
	struct fixture *f = *state;
	struct pprof_bytes bytes;

	open(f);
	while (pprof_random_add(&random, f->b) == 0)
		;
	assert_int_equal(profile_new(&f->b, NULL, 1, TIME_NS, &f->profile), 0);
	assert_int_equal(profile_encode(f->profile, FORM_OTLP, &bytes), 0);
	assert_in_range(bytes.n, f->options.max_bytes / 2, 3 << 20);
	pprof_bytes_fini(&bytes);
}

/* Two profiles of a file share one dictionary, in which what both have is once. */
static void test_file_of_several(void **state)
{
	struct fixture *f = *state;
	const struct pprof_label label = { .key = "reason", .str = "sleep" };
	_cleanup_buf_ struct buf mistakes = BUF_INIT((size_t)1 << 20);
	struct profile *both[2];
	struct pprof_bytes bytes;

	open(f);
	sample(f, location(f, "f", "a.c", "/bin/a", "1234"), &(int64_t){ PERIOD_NS }, NULL, 0);
	assert_int_equal(profile_new(&f->b, NULL, 1, TIME_NS, &f->profile), 0);
	both[0] = f->profile;
	f->options.value_types[0] = (struct pprof_value_type){ "offcpu", "nanoseconds" };
	f->options.period_type = (struct pprof_value_type){ "", "" };
	open(f);
	sample(f, location(f, "g", "a.c", "/bin/a", "1234"), &(int64_t){ 5 }, &label, 1);
	sample(f, location(f, "f", "a.c", "/bin/a", "1234"), &(int64_t){ 7 }, &label, 1);
	assert_int_equal(profile_new(&f->b, NULL, 1, TIME_NS, &both[1]), 0);
	assert_int_equal(profiles_encode_otlp(both, 2, &bytes), 0);
	profile_unref(both[1]);
	f->request =
		otlp__profiles__export_profiles_service_request__unpack(NULL, bytes.n, bytes.data);
	pprof_bytes_fini(&bytes);
	assert_non_null(f->request);
	otlp_judge(f->request, &mistakes);
	assert_string_equal(buf_str(&mistakes), "");
	assert_int_equal(n_profiles(f), 2);
	assert_type(f, profile_at(f, 0)->sample_type, "samples", "count");
	assert_type(f, profile_at(f, 1)->sample_type, "off_cpu", "nanoseconds");
	const Otlp__Profiles__ProfilesDictionary *d = f->request->dictionary;
	/* The zero value, and what there is. */
	assert_int_equal(d->n_function_table, 3);
	assert_int_equal(d->n_mapping_table, 2);
	assert_int_equal(d->n_stack_table, 3);
	assert_int_equal(profile_at(f, 0)->samples[0]->stack_index,
			 profile_at(f, 1)->samples[1]->stack_index);
	assert_int_equal(profile_at(f, 1)->samples[1]->values[0], 7);
	const Otlp__Profiles__KeyValueAndUnit *a =
		d->attribute_table[profile_at(f, 1)->samples[0]->attribute_indices[0]];
	assert_string_equal(string(f, a->key_strindex), "reason");
	assert_string_equal(a->value->string_value, "sleep");
}

/* All three forms are the same bytes. */
static void test_forms(void **state)
{
	struct fixture *f = *state;
	struct pprof_bytes plain, file, gzip, inflated;
	size_t n_scope = 0;

	open(f);
	sample(f, location(f, "f", NULL, "", NULL), &(int64_t){ PERIOD_NS }, NULL, 0);
	assert_int_equal(profile_new(&f->b, NULL, 1, TIME_NS, &f->profile), 0);
	assert_int_equal(profile_encode(f->profile, FORM_OTLP, &plain), 0);
	assert_int_equal(profile_encode(f->profile, FORM_OTLP_FILE, &file), 0);
	assert_int_equal(profile_encode(f->profile, FORM_OTLP_GZIP, &gzip), 0);
	for (size_t i = 0; i < OTLP_FORM_HEAD_BYTES; i++)
		n_scope |= (size_t)gzip.data[i] << (8 * i);
	const struct pprof_bytes member = { gzip.data + OTLP_FORM_HEAD_BYTES,
					    gzip.n - OTLP_FORM_HEAD_BYTES };
	assert_int_equal(pprof_gunzip(&member, 1 << 20, &inflated), 0);
	assert_int_equal(inflated.n, plain.n);
	assert_memory_equal(inflated.data, plain.data, plain.n);
	assert_int_equal(file.n, plain.n + 2);
	assert_int_equal(file.data[0], OTLP_FORM_RESOURCE_FIELD << 3 | 2);
	assert_int_equal(file.data[1], n_scope);
	assert_memory_equal(file.data + 2, plain.data, plain.n);
	/* What a sender finds of it without unpacking. */
	assert_int_equal(plain.data[0], OTLP_FORM_SCOPE_FIELD << 3 | 2);
	assert_int_equal(plain.data[1] + 2U, n_scope);
	assert_int_equal(plain.data[n_scope], OTLP_FORM_DICTIONARY_FIELD << 3 | 2);
	pprof_bytes_fini(&plain);
	pprof_bytes_fini(&file);
	pprof_bytes_fini(&gzip);
	pprof_bytes_fini(&inflated);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_cpu_is_counted_in_samples),
	FIXTURE_TEST(test_cpu_of_other_values),
	FIXTURE_TEST(test_samples_beside_cpu),
	FIXTURE_TEST(test_several_types),
	FIXTURE_TEST(test_off_cpu),
	TEST_ROWS(test_name, name_rows, period),
	FIXTURE_TEST(test_name_of_cpu_time),
	TEST_ROWS(test_frame, frame_rows, name),
	TEST_ROWS(test_labels, label_rows, name),
	TEST(test_random),
	FIXTURE_TEST(test_empty),
	FIXTURE_TEST(test_largest),
	FIXTURE_TEST(test_file_of_several),
	FIXTURE_TEST(test_forms),
};

TEST_MAIN(tests)
