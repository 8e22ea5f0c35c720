/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a request of OTLP profiles: a row changes one, and tells the series, types and stacks that it is read as, or the beginning of
 * the refusal. Names are those that a Pyroscope 1.21 gives to the same, but where the README says otherwise.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/encode/profile.h"
#include "agent/store/otlp/otlp_read.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/made_otlp.h"
#include "tests/support/pprof_check.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define NOW_NS (MADE_OTLP_TIME_NS + 60 * NS_PER_S)
#define MAX_BYTES ((size_t)4 << 20)

static int read_bytes(const struct otlp_bytes *bytes, struct buf *why, struct otlp_profiles *out)
{
	const struct read_budget_options options = { .inflated_bytes = MAX_BYTES,
						     .elements = OTLP_READ_MAX_ELEMENTS,
						     .cpu_ns = OTLP_READ_MAX_CPU_NS };
	struct read_budget budget;

	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	int r = otlp_read(bytes, NOW_NS, &budget, why, out);
	read_budget_end(&budget);
	return r;
}

/* ---- what came out, as text ---- */

typedef Perftools__Profiles__Profile profile_message;

static void print_type(const profile_message *p, const Perftools__Profiles__ValueType *t,
		       struct buf *out)
{
	if (t)
		(void)buf_printf(out, "%s/%s", p->string_table[t->type], p->string_table[t->unit]);
}

static void print_stack(const profile_message *p, const Perftools__Profiles__Sample *s,
			struct buf *out)
{
	for (size_t i = s->n_location_id; i-- > 0;) {
		const Perftools__Profiles__Location *l = p->location[s->location_id[i] - 1];

		for (size_t k = l->n_line; k-- > 0;)
			(void)buf_printf(
				out, "%s%s",
				p->string_table[p->function[l->line[k]->function_id - 1]->name],
				k > 0 ? "|" : "");
		if (i > 0)
			(void)buf_append_char(out, ';');
	}
	for (size_t i = 0; i < s->n_label; i++)
		(void)buf_printf(out, "%c%s=%s", i > 0 ? ',' : '[',
				 p->string_table[s->label[i]->key],
				 p->string_table[s->label[i]->str]);
	(void)buf_printf(out, "%s=%" PRId64, s->n_label > 0 ? "]" : "", s->value[0]);
}

static void print_profile(const struct otlp_series *series, struct buf *out)
{
	const struct pprof_bytes gz = { (uint8_t *)series->pprof->data, series->pprof->n };
	struct pprof_bytes plain;
	struct pprof_facts facts;

	assert_null(pprof_check(&gz, MAX_BYTES, &facts));
	assert_int_equal(pprof_gunzip(&gz, MAX_BYTES, &plain), 0);
	profile_message *p = perftools__profiles__profile__unpack(NULL, plain.n, plain.data);

	assert_non_null(p);
	assert_int_equal(p->time_nanos, series->time_ns);
	print_type(p, p->sample_type[0], out);
	(void)buf_append_char(out, ' ');
	print_type(p, p->period_type, out);
	(void)buf_printf(out, " %" PRId64 " %+" PRId64 "ms:", p->period,
			 (p->time_nanos - (int64_t)MADE_OTLP_TIME_NS) / (int64_t)NS_PER_MS);
	for (size_t i = 0; i < p->n_sample; i++) {
		(void)buf_append_char(out, ' ');
		print_stack(p, p->sample[i], out);
	}
	(void)buf_append_char(out, '\n');
	perftools__profiles__profile__free_unpacked(p, NULL);
	pprof_bytes_fini(&plain);
}

static void print_all(const struct otlp_profiles *profiles, struct buf *out)
{
	for (size_t i = 0; i < profiles->n; i++) {
		const struct labels *l = profiles->items[i].labels;

		for (size_t k = 0; k < l->n; k++)
			(void)buf_printf(out, "%s%s=%s", k > 0 ? "," : "", l->items[k].name,
					 l->items[k].value);
		(void)buf_append_char(out, ' ');
		print_profile(&profiles->items[i], out);
	}
}

/* ---- rows ---- */

struct row {
	const char *name;
	void (*change)(struct made_otlp *m);
	int outcome;
	const char *expected; /* lines; or the beginning of the refusal */
};

#define CHANGE(name) static void name(struct made_otlp *m)
#define D (&m->dictionary)
#define SAMPLE(i) (m->profile->samples[i])

CHANGE(no_service)
{
	m->resource->resource->n_attributes = 0;
}
CHANGE(no_resource)
{
	m->resource->resource = NULL;
	m->scope->scope = NULL;
}
CHANGE(only_executable)
{
	no_service(m);
	(void)made_otlp_resource(m, "process.executable.name", "exe");
}
CHANGE(attributes)
{
	(void)made_otlp_resource(m, "k8s.pod.name", "p-1");
	Otlp__Profiles__KeyValue *pid = made_otlp_resource(m, "process.pid", "");

	pid->value->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE;
	pid->value->int_value = -77;
	Otlp__Profiles__KeyValue *flag = made_otlp_resource(m, "flag", "");

	flag->value->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_BOOL_VALUE;
	flag->value->bool_value = 1;
	made_otlp_resource(m, "nothing", "")->value = NULL;
	(void)made_otlp_resource(m, "0 a", "b");
	(void)made_otlp_resource(m, "__name__", "forged");
	(void)made_otlp_resource(m, "__inner__", "x");
	(void)made_otlp_scope(m, "scope.x", "y");
	(void)made_otlp_scope(m, "k8s.pod.name", "of the scope");
}
CHANGE(attributes_by_reference)
{
	Otlp__Profiles__KeyValue *kv = made_otlp_resource(m, "", "");

	kv->key_strindex = made_otlp_text(m, "zone");
	kv->value->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX;
	kv->value->string_value_strindex = made_otlp_text(m, "z1");
}
CHANGE(sample_attributes)
{
	(void)made_otlp_attribute(m, 0, "thread.name", "t 1");
	Otlp__Profiles__KeyValueAndUnit *id = made_otlp_attribute(m, 0, "thread.id", "");

	id->value->value_case = OTLP__PROFILES__ANY_VALUE__VALUE_INT_VALUE;
	id->value->int_value = 5;
	(void)made_otlp_attribute(m, 1, "__x__", "y");
	(void)made_otlp_attribute(m, 1, "empty", "");
}
CHANGE(sample_services)
{
	(void)made_otlp_sample(m, m->profile, 1, 11);
	(void)made_otlp_sample(m, m->profile, 2, 13);
	(void)made_otlp_attribute(m, 0, "service.name", "b");
	(void)made_otlp_attribute(m, 2, "service.name", "a");
	(void)made_otlp_attribute(m, 3, "service.name", "b");
}
CHANGE(linked)
{
	static uint8_t ids[24] = { 0x4b, 0xf9, [15] = 1, [16] = 0xab, [23] = 0xcd };
	static Otlp__Profiles__Link link, *links[2];

	otlp__profiles__link__init(&link);
	link.trace_id = (ProtobufCBinaryData){ 16, ids };
	link.span_id = (ProtobufCBinaryData){ 8, ids + 16 };
	links[0] = D->link_table[0];
	links[1] = &link;
	D->link_table = links;
	D->n_link_table = 2;
	SAMPLE(1)->link_index = 1;
}
CHANGE(link_of_zeros)
{
	static uint8_t zeros[24];

	linked(m);
	D->link_table[1]->trace_id.data = zeros;
}
CHANGE(short_link)
{
	linked(m);
	D->link_table[1]->span_id.len = 7;
}
CHANGE(no_period)
{
	m->profile->period_type = NULL;
	m->profile->sample_type->type_strindex = made_otlp_text(m, "uprobe");
}
CHANGE(period_of_nothing)
{
	m->profile->period = 0;
}
CHANGE(off_cpu)
{
	no_period(m);
	m->profile->sample_type->type_strindex = made_otlp_text(m, "off_cpu");
	m->profile->sample_type->unit_strindex = made_otlp_text(m, "nanoseconds");
}
CHANGE(cpu_time)
{
	m->profile->sample_type->type_strindex = made_otlp_text(m, "cpu");
	m->profile->sample_type->unit_strindex = made_otlp_text(m, "nanoseconds");
}
CHANGE(memory)
{
	m->scope->profiles[0] = made_otlp_profile(m, "alloc_space", "bytes", "space", "bytes", 1);
	m->scope->n_profiles = 1;
	(void)made_otlp_sample(m, m->scope->profiles[0], 1, 4096);
}
CHANGE(by_name)
{
	m->scope->profiles[0] = made_otlp_profile(m, "delay", "nanoseconds", "mutex", "count", 1);
	m->scope->n_profiles = 1;
	(void)made_otlp_sample(m, m->scope->profiles[0], 1, 9);
	(void)made_otlp_sample(m, made_otlp_profile(m, "delay", "nanoseconds", "block", "count", 1),
			       1, 3);
	(void)made_otlp_sample(
		m, made_otlp_profile(m, "alloc_space", "bytes", "memory", "bytes", 1), 1, 4096);
}
CHANGE(several_types)
{
	Otlp__Profiles__Profile *p =
		made_otlp_profile(m, "delay", "nanoseconds", "contentions", "count", 1);

	(void)made_otlp_sample(m, p, 1, 9);
	p = made_otlp_profile(m, "contentions", "count", "contentions", "count", 1);
	(void)made_otlp_sample(m, p, 1, 3);
}
CHANGE(the_same_twice)
{
	for (int i = 0; i < 2; i++)
		(void)made_otlp_sample(
			m, made_otlp_profile(m, "samples", "count", "cpu", "nanoseconds", 10000000),
			1, 1);
}
CHANGE(no_type)
{
	m->profile->sample_type = NULL;
}
CHANGE(no_type_and_no_samples)
{
	m->profile->sample_type = NULL;
	m->profile->n_samples = 0;
}
CHANGE(type_without_unit)
{
	m->profile->sample_type->unit_strindex = 0;
}
CHANGE(type_with_a_dash)
{
	m->profile->sample_type->type_strindex = made_otlp_text(m, "a-b");
}
CHANGE(times_alone)
{
	SAMPLE(0)->n_values = 0;
	SAMPLE(0)->n_timestamps_unix_nano = 3;
}
CHANGE(values_and_times)
{
	SAMPLE(0)->n_values = SAMPLE(0)->n_timestamps_unix_nano = 2;
	SAMPLE(0)->values[1] = 7;
}
CHANGE(several_values)
{
	SAMPLE(0)->n_values = 3;
	SAMPLE(0)->values[2] = 1;
}
CHANGE(fewer_times)
{
	values_and_times(m);
	SAMPLE(0)->n_timestamps_unix_nano = 1;
}
CHANGE(neither)
{
	SAMPLE(0)->n_values = 0;
}
CHANGE(zero_and_below)
{
	SAMPLE(0)->values[0] = 0;
	(void)made_otlp_sample(m, m->profile, 1, -5);
}
CHANGE(all_zero)
{
	SAMPLE(0)->values[0] = SAMPLE(1)->values[0] = 0;
}
CHANGE(too_much)
{
	SAMPLE(0)->values[0] = INT64_MAX / 10000000 + 1;
}
CHANGE(sum_too_much)
{
	several_values(m);
	SAMPLE(0)->values[0] = INT64_MAX;
}
CHANGE(no_stack)
{
	SAMPLE(0)->stack_index = 0;
	D->stack_table[2]->location_indices[0] = 0;
	D->stack_table[2]->location_indices[1] = 0;
	D->stack_table[2]->location_indices[2] = 0;
}
CHANGE(hole_in_a_stack)
{
	D->stack_table[2]->location_indices[1] = 0;
}
CHANGE(function_of_no_name)
{
	D->function_table[2]->name_strindex = 0;
}
CHANGE(system_name)
{
	function_of_no_name(m);
	D->function_table[2]->system_name_strindex = made_otlp_text(m, "_Zwork");
}
CHANGE(line_of_no_function)
{
	D->location_table[2]->lines[0]->function_index = 0;
	D->location_table[2]->lines[0]->line = -3;
	D->location_table[2]->lines[0]->column = -3;
}
CHANGE(address_of_no_file)
{
	D->location_table[3]->mapping_index = 0;
}
CHANGE(neither_name_nor_address)
{
	D->location_table[3]->address = 0;
}
CHANGE(no_time)
{
	m->profile->time_unix_nano = 0;
}
CHANGE(no_duration)
{
	m->profile->duration_nano = 0;
}
CHANGE(time_beyond)
{
	m->profile->time_unix_nano = UINT64_MAX;
}
CHANGE(time_at_the_end)
{
	m->profile->time_unix_nano = INT64_MAX;
	m->profile->duration_nano = 0;
}
CHANGE(no_dictionary)
{
	m->request.dictionary = NULL;
}
CHANGE(nothing)
{
	m->request.n_resource_profiles = 0;
	m->request.dictionary = NULL;
}
CHANGE(string_out_of_range)
{
	D->function_table[1]->name_strindex = (int32_t)D->n_string_table;
}
CHANGE(string_below_zero)
{
	D->mapping_table[1]->filename_strindex = -1;
}
CHANGE(type_out_of_range)
{
	m->profile->sample_type->unit_strindex = 99;
}
CHANGE(period_out_of_range)
{
	m->profile->period_type->type_strindex = INT32_MIN;
}
CHANGE(function_out_of_range)
{
	D->location_table[1]->lines[0]->function_index = 3;
}
CHANGE(mapping_out_of_range)
{
	D->location_table[1]->mapping_index = 2;
}
CHANGE(location_out_of_range)
{
	D->stack_table[1]->location_indices[0] = 4;
}
CHANGE(stack_out_of_range)
{
	SAMPLE(0)->stack_index = 3;
}
CHANGE(link_out_of_range)
{
	SAMPLE(0)->link_index = 1;
}
CHANGE(attribute_out_of_range)
{
	(void)made_otlp_attribute(m, 0, "a", "b");
	SAMPLE(0)->attribute_indices[0] = 2;
}
CHANGE(attribute_of_a_mapping_out_of_range)
{
	static int32_t attribute = 1;

	D->mapping_table[1]->attribute_indices = &attribute;
	D->mapping_table[1]->n_attribute_indices = 1;
}
CHANGE(key_out_of_range)
{
	made_otlp_resource(m, "", "x")->key_strindex = 99;
}
CHANGE(value_out_of_range)
{
	attributes_by_reference(m);
	m->resource->resource->attributes[1]->value->string_value_strindex = 99;
}
CHANGE(unit_out_of_range)
{
	made_otlp_attribute(m, 0, "a", "b")->unit_strindex = 99;
}
CHANGE(unused_row_out_of_range)
{
	D->n_string_table -= 1;
	D->function_table[0]->filename_strindex = (int32_t)D->n_string_table + 5;
}
CHANGE(first_string)
{
	D->string_table[0] = (char *)"x";
}
CHANGE(not_utf8)
{
	D->string_table[1] = (char *)"\xff";
}
CHANGE(no_tables)
{
	no_dictionary(m);
	m->profile->n_samples = 0;
}

#define CPU \
	"__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds 10000000 +1000ms:"
#define STACKS " main;work=50000000 main;work;made!0x1030=20000000\n"

static const struct row rows[] = {
	{ "as it is", NULL, OTLP_READ, CPU STACKS },
	{ "no service", no_service, OTLP_READ,
	  "__name__=process_cpu,service_name=unknown_service cpu/nanoseconds cpu/nanoseconds "
	  "10000000 "
	  "+1000ms:" STACKS },
	{ "no resource", no_resource, OTLP_READ,
	  "__name__=process_cpu,service_name=unknown_service cpu/nanoseconds cpu/nanoseconds "
	  "10000000 "
	  "+1000ms:" STACKS },
	{ "an executable", only_executable, OTLP_READ,
	  "__name__=process_cpu,process_executable_name=exe,service_name=unknown_service:exe "
	  "cpu/nanoseconds cpu/nanoseconds 10000000 +1000ms:" STACKS },
	{ "attributes", attributes, OTLP_READ,
	  "_0_a=b,__name__=process_cpu,k8s_pod_name=p-1,process_pid=-77,scope_x=y,service_name="
	  "made "
	  "cpu/nanoseconds cpu/nanoseconds 10000000 +1000ms:" STACKS },
	{ "attributes by reference", attributes_by_reference, OTLP_READ,
	  "__name__=process_cpu,service_name=made,zone=z1 cpu/nanoseconds cpu/nanoseconds 10000000 "
	  "+1000ms:" STACKS },
	{ "attributes of samples", sample_attributes, OTLP_READ,
	  CPU " main;work[thread_name=t 1,thread_id=5]=50000000 main;work;made!0x1030=20000000\n" },
	{ "services of samples", sample_services, OTLP_READ,
	  "__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds 10000000 "
	  "+1000ms: "
	  "main;work;made!0x1030=20000000\n"
	  "__name__=process_cpu,service_name=a cpu/nanoseconds cpu/nanoseconds 10000000 +1000ms: "
	  "main;work=110000000\n"
	  "__name__=process_cpu,service_name=b cpu/nanoseconds cpu/nanoseconds 10000000 +1000ms: "
	  "main;work=50000000 main;work;made!0x1030=130000000\n" },
	{ "a link", linked, OTLP_READ,
	  CPU " main;work=50000000 main;work;made!0x1030[trace_id=4bf90000000000000000000000000001,"
	      "span_id=ab000000000000cd]=20000000\n" },
	{ "a link of zeros", link_of_zeros, OTLP_READ, CPU STACKS },
	{ "a short link", short_link, OTLP_READ_BROKEN, "a link has ids of a wrong length" },
	{ "no period", no_period, OTLP_READ,
	  "__name__=uprobe,service_name=made uprobe/count / 10000000 +1000ms: main;work=5 "
	  "main;work;made!0x1030=2\n" },
	{ "a period of nothing", period_of_nothing, OTLP_READ,
	  "__name__=cpu,service_name=made samples/count cpu/nanoseconds 1 +1000ms: main;work=5 "
	  "main;work;made!0x1030=2\n" },
	{ "off_cpu", off_cpu, OTLP_READ,
	  "__name__=off_cpu,service_name=made off_cpu/nanoseconds / 10000000 +1000ms: main;work=5 "
	  "main;work;made!0x1030=2\n" },
	{ "cpu time", cpu_time, OTLP_READ, CPU " main;work=5 main;work;made!0x1030=2\n" },
	{ "memory", memory, OTLP_READ,
	  "__name__=memory,service_name=made alloc_space/bytes space/bytes 1 +1000ms: "
	  "main;work=4096\n" },
	{ "by name", by_name, OTLP_READ,
	  "__name__=mutex,service_name=made delay/nanoseconds contentions/count 1 +1000ms: "
	  "main;work=9\n"
	  "__name__=block,service_name=made delay/nanoseconds contentions/count 1 +1000ms: "
	  "main;work=3\n"
	  "__name__=memory,service_name=made alloc_space/bytes space/bytes 1 +1000ms: "
	  "main;work=4096\n" },
	{ "several types", several_types, OTLP_READ,
	  CPU STACKS "__name__=contentions,service_name=made delay/nanoseconds contentions/count 1 "
		     "+1000ms: main;work=9\n"
		     "__name__=contentions,service_name=made contentions/count contentions/count 1 "
		     "+1000ms: main;work=3\n" },
	{ "the same three times", the_same_twice, OTLP_READ,
	  CPU STACKS "__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds "
		     "10000000 +1001ms: "
		     "main;work=10000000\n"
		     "__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds "
		     "10000000 +1002ms: "
		     "main;work=10000000\n" },
	{ "no type", no_type, OTLP_READ_BROKEN, "a profile has no type" },
	{ "neither type nor samples", no_type_and_no_samples, OTLP_READ, "" },
	{ "a type without unit", type_without_unit, OTLP_READ_BROKEN, "a profile has no type" },
	{ "a type with a dash", type_with_a_dash, OTLP_READ_BROKEN, "a profile has no type" },
	{ "times alone", times_alone, OTLP_READ,
	  CPU " main;work=30000000 main;work;made!0x1030=20000000\n" },
	{ "values and times", values_and_times, OTLP_READ,
	  CPU " main;work=120000000 main;work;made!0x1030=20000000\n" },
	{ "several values", several_values, OTLP_READ,
	  CPU " main;work=60000000 main;work;made!0x1030=20000000\n" },
	{ "fewer times", fewer_times, OTLP_READ_BROKEN, "a sample has 2 values and 1 times" },
	{ "neither values nor times", neither, OTLP_READ_BROKEN,
	  "a sample has 0 values and 0 times" },
	{ "zero and below", zero_and_below, OTLP_READ, CPU " main;work;made!0x1030=20000000\n" },
	{ "all zero", all_zero, OTLP_READ, "" },
	{ "too much", too_much, OTLP_READ_BROKEN, "the values of a sample have a sum" },
	{ "a sum that is too much", sum_too_much, OTLP_READ_BROKEN,
	  "the values of a sample have a sum" },
	{ "no stack", no_stack, OTLP_READ, CPU " [unknown]=70000000\n" },
	{ "a hole in a stack", hole_in_a_stack, OTLP_READ,
	  CPU " main;work=50000000 main;made!0x1030=20000000\n" },
	{ "a function of no name", function_of_no_name, OTLP_READ,
	  CPU " main;[unknown]=50000000 main;[unknown];made!0x1030=20000000\n" },
	{ "a system name", system_name, OTLP_READ,
	  CPU " main;_Zwork=50000000 main;_Zwork;made!0x1030=20000000\n" },
	{ "a line of no function", line_of_no_function, OTLP_READ,
	  CPU " main;[unknown]=50000000 main;[unknown];made!0x1030=20000000\n" },
	{ "an address of no file", address_of_no_file, OTLP_READ,
	  CPU " main;work=50000000 main;work;[unknown]!0x1030=20000000\n" },
	{ "neither name nor address", neither_name_nor_address, OTLP_READ,
	  CPU " main;work=50000000 main;work;[unknown]=20000000\n" },
	{ "no time", no_time, OTLP_READ,
	  "__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds 10000000 "
	  "+60000ms:" STACKS },
	{ "no duration", no_duration, OTLP_READ,
	  "__name__=process_cpu,service_name=made cpu/nanoseconds cpu/nanoseconds 10000000 "
	  "+0ms:" STACKS },
	{ "a time beyond all", time_beyond, OTLP_READ_BROKEN, "the time of a profile" },
	{ "a time at the end of all", time_at_the_end, OTLP_READ_BROKEN, "the time of a profile" },
	{ "no dictionary", no_dictionary, OTLP_READ_BROKEN, "string " },
	{ "nothing", nothing, OTLP_READ, "" },
	{ "no tables, and nothing of them", no_tables, OTLP_READ_BROKEN, "string " },
	{ "string out of range", string_out_of_range, OTLP_READ_BROKEN, "string " },
	{ "string below zero", string_below_zero, OTLP_READ_BROKEN,
	  "string -1 is not in its table" },
	{ "type out of range", type_out_of_range, OTLP_READ_BROKEN,
	  "string 99 is not in its table" },
	{ "period out of range", period_out_of_range, OTLP_READ_BROKEN, "string -2147483648" },
	{ "function out of range", function_out_of_range, OTLP_READ_BROKEN,
	  "function 3 is not in its table, which has 3" },
	{ "mapping out of range", mapping_out_of_range, OTLP_READ_BROKEN, "mapping 2 is not" },
	{ "location out of range", location_out_of_range, OTLP_READ_BROKEN, "location 4 is not" },
	{ "stack out of range", stack_out_of_range, OTLP_READ_BROKEN, "stack 3 is not" },
	{ "link out of range", link_out_of_range, OTLP_READ_BROKEN, "link 1 is not" },
	{ "attribute out of range", attribute_out_of_range, OTLP_READ_BROKEN,
	  "attribute 2 is not" },
	{ "attribute of a mapping out of range", attribute_of_a_mapping_out_of_range,
	  OTLP_READ_BROKEN, "attribute 1 is not" },
	{ "key out of range", key_out_of_range, OTLP_READ_BROKEN, "string 99 is not" },
	{ "value out of range", value_out_of_range, OTLP_READ_BROKEN, "string 99 is not" },
	{ "unit out of range", unit_out_of_range, OTLP_READ_BROKEN, "string 99 is not" },
	{ "a row that nobody uses", unused_row_out_of_range, OTLP_READ_BROKEN, "string " },
	{ "a first string", first_string, OTLP_READ_BROKEN, "the first string is not empty" },
	{ "not UTF-8", not_utf8, OTLP_READ_BROKEN, "a text is not UTF-8" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096), text = BUF_INIT(65536);
	struct otlp_profiles profiles;
	struct made_otlp m;
	struct otlp_bytes bytes = { .max_plain_bytes = MAX_BYTES };

	made_otlp_init(&m);
	(void)made_otlp_resource(&m, "service.name", "made");
	if (row->change)
		row->change(&m);
	uint8_t *packed = made_otlp_pack(&m, &bytes.n);

	bytes.data = packed;
	assert_int_equal(read_bytes(&bytes, &why, &profiles), row->outcome);
	print_all(&profiles, &text);
	if (row->outcome == OTLP_READ)
		assert_string_equal(buf_str(&text), row->expected);
	else
		assert_memory_equal(buf_str(&why), row->expected,
				    strnlen(row->expected, why.len + 1));
	otlp_profiles_fini(&profiles);
	free(packed);
	made_otlp_fini(&m);
}

/* ---- what is around a message ---- */

static void test_gzip(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096), text = BUF_INIT(65536);
	struct otlp_profiles profiles;
	struct pprof_bytes gz;
	struct made_otlp m;
	size_t n;

	(void)state;
	made_otlp_init(&m);
	(void)made_otlp_resource(&m, "service.name", "made");
	uint8_t *packed = made_otlp_pack(&m, &n);

	assert_int_equal(pprof_gzip(packed, n, 1, &gz), 0);
	struct otlp_bytes bytes = { gz.data, gz.n, true, false, n };

	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ);
	assert_int_equal(profiles.n_profiles, 1);
	assert_int_equal(profiles.n_samples, 2);
	assert_int_equal(profiles.n_bytes, profiles.items[0].pprof->n);
	print_all(&profiles, &text);
	assert_string_equal(buf_str(&text), CPU STACKS);
	otlp_profiles_fini(&profiles);
	bytes.max_plain_bytes = n - 1;
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ_TOO_LARGE);
	bytes = (struct otlp_bytes){ gz.data, gz.n - 5, true, false, n };
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ_BROKEN);
	bytes = (struct otlp_bytes){ packed, n, true, false, n };
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ_BROKEN);
	bytes = (struct otlp_bytes){ packed, n, false, false, n - 1 };
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ_TOO_LARGE);
	bytes = (struct otlp_bytes){ "\xff\xff", 2, false, false, n };
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ_BROKEN);
	pprof_bytes_fini(&gz);
	free(packed);
	made_otlp_fini(&m);
}

/* Two million empty rows are four megabytes on the wire, and hundreds unpacked. */
static void test_bomb(void **state)
{
	static uint8_t bytes[MAX_BYTES];
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct otlp_profiles profiles;
	size_t n = 5;

	(void)state;
	/* Field 2 of the request, the dictionary, has the rest; field 2 of that are locations. */
	for (; n + 2 <= sizeof(bytes); n += 2)
		bytes[n] = 2 << 3 | 2;
	const size_t rest = n - 5;

	bytes[0] = 2 << 3 | 2;
	for (int i = 0; i < 4; i++)
		bytes[1 + i] = (uint8_t)((rest >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
	const struct otlp_bytes request = { bytes, n, false, false, sizeof(bytes) };

	assert_int_equal(read_bytes(&request, &why, &profiles), OTLP_READ_TOO_LARGE);
}

/* One profile of so many stacks goes out in parts, a millisecond apart, and nothing is lost. */
static void test_large(void **state)
{
	enum { N_SAMPLES = 40000 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct otlp_profiles profiles;
	struct made_otlp m;
	Otlp__Profiles__Location **locations = calloc(N_SAMPLES + 1, sizeof(*locations));
	Otlp__Profiles__Stack **stacks = calloc(N_SAMPLES + 1, sizeof(*stacks));
	Otlp__Profiles__Sample **samples = calloc(N_SAMPLES, sizeof(*samples));
	Otlp__Profiles__Location *rows_of = calloc(N_SAMPLES, sizeof(*rows_of));
	Otlp__Profiles__Stack *stack_rows = calloc(N_SAMPLES, sizeof(*stack_rows));
	Otlp__Profiles__Sample *sample_rows = calloc(N_SAMPLES, sizeof(*sample_rows));
	int32_t *indices = calloc(N_SAMPLES, sizeof(*indices));
	int64_t one = 1, total = 0;

	(void)state;
	assert_true(locations && stacks && samples && rows_of && stack_rows && sample_rows &&
		    indices);
	made_otlp_init(&m);
	locations[0] = m.dictionary.location_table[0];
	stacks[0] = m.dictionary.stack_table[0];
	for (size_t i = 0; i < N_SAMPLES; i++) {
		otlp__profiles__location__init(&rows_of[i]);
		rows_of[i].address = i + 1;
		locations[i + 1] = &rows_of[i];
		indices[i] = (int32_t)i + 1;
		otlp__profiles__stack__init(&stack_rows[i]);
		stack_rows[i].location_indices = &indices[i];
		stack_rows[i].n_location_indices = 1;
		stacks[i + 1] = &stack_rows[i];
		otlp__profiles__sample__init(&sample_rows[i]);
		sample_rows[i].stack_index = (int32_t)i + 1;
		sample_rows[i].values = &one;
		sample_rows[i].n_values = 1;
		samples[i] = &sample_rows[i];
	}
	m.dictionary.location_table = locations;
	m.dictionary.stack_table = stacks;
	m.dictionary.n_location_table = m.dictionary.n_stack_table = N_SAMPLES + 1;
	m.profile->samples = samples;
	m.profile->n_samples = N_SAMPLES;
	struct otlp_bytes bytes = { .max_plain_bytes = MAX_BYTES };
	uint8_t *packed = made_otlp_pack(&m, &bytes.n);

	bytes.data = packed;
	assert_int_equal(read_bytes(&bytes, &why, &profiles), OTLP_READ);
	assert_int_equal(profiles.n, 3);
	for (size_t i = 0; i < profiles.n; i++) {
		const struct pprof_bytes gz = { (uint8_t *)profiles.items[i].pprof->data,
						profiles.items[i].pprof->n };
		struct pprof_facts facts;

		assert_null(pprof_check(&gz, MAX_BYTES, &facts));
		total += facts.totals[0];
		assert_int_equal(profiles.items[i].time_ns,
				 MADE_OTLP_TIME_NS + MADE_OTLP_DURATION_NS + i * NS_PER_MS);
	}
	assert_true(total == N_SAMPLES * INT64_C(10000000));
	otlp_profiles_fini(&profiles);
	free(packed);
	made_otlp_fini(&m);
	free(locations);
	free(stacks);
	free(samples);
	free(rows_of);
	free(stack_rows);
	free(sample_rows);
	free(indices);
}

/* ---- what this agent sends ---- */

/* Totals of each of its types come back. */
static void test_own(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		struct pprof_options o = PPROF_OPTIONS_DEFAULT;
		struct pprof_random random = { .state = seed,
					       .n_functions = 60,
					       .max_depth = 30,
					       .max_labels = 3,
					       .max_value = 1000,
					       .strange = seed % 2 };
		struct pprof_builder *b = NULL;
		struct profile *profile;
		struct pprof_bytes form;
		struct otlp_profiles back;
		int64_t total = 0;

		o.period = 10000000;
		o.time_ns = (int64_t)NOW_NS;
		o.duration_ns = 15000000000;
		assert_int_equal(pprof_builder_new(&o, &b), 0);
		for (int i = 0; i < 300; i++)
			(void)pprof_random_add(&random, b);
		const int64_t expected = pprof_builder_total(b, 0);

		assert_int_equal(profile_new(&b, NULL, 1, NOW_NS, &profile), 0);
		assert_int_equal(profile_encode(profile, FORM_OTLP_FILE, &form), 0);
		const struct otlp_bytes bytes = { form.data, form.n, false, false,
						  (size_t)64 << 20 };

		assert_int_equal(read_bytes(&bytes, &why, &back), OTLP_READ);
		for (size_t i = 0; i < back.n; i++) {
			const struct pprof_bytes gz = { (uint8_t *)back.items[i].pprof->data,
							back.items[i].pprof->n };
			struct pprof_facts facts;

			assert_null(pprof_check(&gz, MAX_BYTES, &facts));
			total += facts.totals[0];
			assert_string_equal(labels_get(back.items[i].labels, "__name__"),
					    "process_cpu");
		}
		assert_true(total == expected && total > 0);
		otlp_profiles_fini(&back);
		pprof_bytes_fini(&form);
		profile_unref(profile);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_gzip),
	TEST(test_bomb),
	TEST(test_large),
	TEST(test_own),
};

TEST_MAIN(tests)
