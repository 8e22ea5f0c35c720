/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a received profile: a row changes one, and tells the series and stacks that a store has afterwards, or the words of the
 * refusal. They are what a real Pyroscope 1.21 answers to the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest_tables.h"
#include "agent/store/store.h"
#include "agent/util/macro.h"
#include "tests/support/made_profile.h"
#include "tests/support/store_sync.h"
#include "tests/support/unit.h"

#define NOW_MS INT64_C(1700000000000)

static uint64_t now_ns(void)
{
	return (uint64_t)NOW_MS * NS_PER_MS;
}

struct context {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
};

static void context_init(struct context *w)
{
	struct store_options options = STORE_OPTIONS_INIT;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	options.now_ns = now_ns;
	options.max_age_ns = 3600 * NS_PER_S;
	assert_int_equal(loop_new(&w->loop), 0);
	assert_int_equal(worker_new(w->loop, 4, &w->worker), 0);
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &why, &w->store), 0);
}

static void context_fini(struct context *w)
{
	store_free(w->store);
	telemetry_free(w->telemetry);
	worker_free(w->worker);
	loop_free(w->loop);
}

/* Names from the root on, of one node. */
static void print_stack(const struct segment *s, uint32_t node, struct buf *out)
{
	struct segment_node n = segment_node(s, node);
	struct segment_location l;

	if (node == SEGMENT_ROOT)
		return;
	print_stack(s, n.parent, out);
	segment_location(s, n.location, &l);
	if (n.parent != SEGMENT_ROOT)
		(void)buf_append_char(out, ';');
	for (size_t i = l.n_lines; i > 0; i--)
		(void)buf_printf(out, "%s%s",
				 segment_text(s, segment_function(s, l.lines[i - 1].function).name),
				 i > 1 ? "|" : "");
	if (l.address)
		(void)buf_printf(out, "%c%llx", l.mapping == SEGMENT_SPAN ? '#' : '@',
				 (unsigned long long)l.address);
}

static void print_samples(const struct segment *s, size_t slot, struct buf *out)
{
	int64_t *values = calloc(segment_n_nodes(s), sizeof(*values));
	struct segment_slot facts;

	assert_non_null(values);
	segment_slot(s, slot, &facts);
	/* An average counts them. */
	if (facts.n_profiles != 1)
		(void)buf_printf(out, " of %u profiles:", facts.n_profiles);
	segment_add_slot(s, slot, values);
	for (uint32_t i = 0; i < segment_n_nodes(s); i++) {
		if (!values[i])
			continue;
		(void)buf_append_char(out, ' ');
		print_stack(s, i, out);
		(void)buf_printf(out, "=%lld", (long long)values[i]);
	}
	free(values);
}

/* Of a series: the labels of the push and the type, then each slot's samples. */
static void print_series(const struct segment *s, size_t i, struct buf *out)
{
	struct segment_series x;

	segment_series(s, i, &x);
	(void)buf_append_str(out, segment_series_label(s, i, "__profile_type__"));
	for (size_t j = 0; j < x.n_labels; j++) {
		const char *name = segment_text(s, x.labels[j].name);

		if (strncmp(name, "__", 2) != 0 || strcmp(name, "__name_replaced__") == 0 ||
		    strcmp(name, "__x__") == 0)
			(void)buf_printf(out, " %s:%s", name, segment_text(s, x.labels[j].value));
	}
	for (size_t j = 0; j < x.n_slots; j++)
		print_samples(s, x.first_slot + j, out);
	(void)buf_append_str(out, "\n");
}

static void print_store(struct store *store, struct buf *out)
{
	struct store_view view;

	assert_int_equal(store_sync_view(store, 0, INT64_MAX, &view), 0);
	for (size_t i = 0; i < view.n; i++)
		for (size_t j = 0; j < segment_n_series(view.segments[i]); j++)
			print_series(view.segments[i], j, out);
	store_view_fini(&view);
}

struct row {
	const char *name;
	/* "k=v,k=v"; NULL: __name__=process_cpu,service_name=demo */
	const char *labels;
	void (*change)(struct made_profile *m);
	int outcome;
	const char *expected; /* series; or the beginning of the refusal */
};

static struct labels *make_labels(const char *text)
{
	struct label items[64];
	struct labels *labels;
	char *copy = strdup(text ? text : "__name__=process_cpu,service_name=demo");
	char *rest = copy;
	size_t n = 0;

	assert_non_null(copy);
	while (rest && *rest) {
		char *name = strsep(&rest, ","), *value = strchr(name, '=');

		assert_non_null(value);
		*value++ = '\0';
		items[n++] = (struct label){ name, value };
	}
	assert_int_equal(labels_new(items, n, &labels), 0);
	free(copy);
	return labels;
}

static void make_base(struct made_profile *m)
{
	made_profile_init(m, "cpu/nanoseconds", "cpu/nanoseconds", NOW_MS - 1000);
	made_profile_sample(m, "main;f", (const int64_t[]){ 1 }, NULL);
	made_profile_sample(m, "main;g", (const int64_t[]){ 10 }, NULL);
	made_profile_sample(m, "h", (const int64_t[]){ 100 }, NULL);
}

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define BASE CPU " service_name:demo main;f=1 main;g=10 h=100\n"
#define WITHOUT_F CPU " service_name:demo main;g=10 h=100\n"

/* The order of locations: main, f, g, h, so the ids are 1, 2, 3, 4. */
#define CHANGE(name)                                 \
	static void name(struct made_profile *made); \
	static void name(struct made_profile *made)
#define P (&made->message)

CHANGE(dangling_location)
{
	P->location[1]->id = 77;
}
CHANGE(dangling_function)
{
	P->function[1]->id = 77;
}
CHANGE(dangling_mapping)
{
	P->location[1]->mapping_id = 9;
}
CHANGE(no_mapping)
{
	P->location[1]->mapping_id = 0;
}
CHANGE(mapping_without_names)
{
	P->mapping[0]->has_functions = 0;
}
CHANGE(no_line)
{
	P->location[1]->n_line = 0;
}
CHANGE(no_line_but_an_address)
{
	P->location[1]->n_line = 0;
	P->mapping[0]->has_functions = 0;
}
CHANGE(neither_line_nor_address)
{
	P->location[1]->n_line = 0;
	P->location[1]->address = 0;
}
CHANGE(other_ids)
{
	P->mapping[0]->id = 5;
	for (size_t i = 0; i < 4; i++) {
		P->function[i]->id = 1000 - i;
		P->location[i]->id = (uint64_t)-1 - i;
		P->location[i]->mapping_id = 5;
		P->location[i]->line[0]->function_id = 1000 - i;
	}
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < P->sample[i]->n_location_id; j++)
			P->sample[i]->location_id[j] = (uint64_t)0 - P->sample[i]->location_id[j];
}
CHANGE(two_of_one_id)
{
	P->location[1]->id = 1;
}
CHANGE(location_0_in_a_stack)
{
	P->sample[0]->location_id[0] = 0;
}
CHANGE(inlined)
{
	P->location[1]->n_line = 2;
	P->location[1]->line = arena_alloc(&made->arena, 2 * sizeof(*P->location[1]->line));
	P->location[1]->line[0] = P->location[2]->line[0];
	P->location[1]->line[1] = P->location[3]->line[0];
}
CHANGE(name_below_zero)
{
	P->function[1]->name = -1;
}
CHANGE(no_location_id)
{
	P->location[1]->id = 0;
}
CHANGE(no_function_id)
{
	P->function[1]->id = 0;
}
CHANGE(name_out_of_range)
{
	P->function[1]->name = 1000;
}
CHANGE(file_out_of_range)
{
	P->function[1]->filename = 1000;
}
CHANGE(mapping_file_out_of_range)
{
	P->mapping[0]->filename = 1000;
}
CHANGE(type_out_of_range)
{
	P->sample_type[0]->type = 1000;
}
CHANGE(type_with_dash)
{
	P->sample_type[0]->type = made_profile_text(made, "x-y");
}
CHANGE(period_out_of_range)
{
	P->period_type->type = 1000;
}
CHANGE(no_period)
{
	P->period_type = NULL;
	P->period = 0;
}
CHANGE(no_samples)
{
	P->n_sample = 0;
}
CHANGE(no_sample_type)
{
	P->n_sample_type = 0;
}
CHANGE(no_texts)
{
	P->n_string_table = 0;
}
CHANGE(first_text_not_empty)
{
	P->string_table[0] = (char *)"x";
}
CHANGE(not_utf8)
{
	made_profile_text(made, "m\xffin");
}
CHANGE(one_value_too_many)
{
	P->sample[0]->n_value = 0;
}
CHANGE(below_zero)
{
	P->sample[0]->value[0] = -1;
}
CHANGE(zero)
{
	P->sample[0]->value[0] = 0;
}
CHANGE(all_zero)
{
	for (size_t i = 0; i < 3; i++)
		P->sample[i]->value[0] = 0;
}
CHANGE(empty_stack)
{
	P->sample[0]->n_location_id = 0;
}
CHANGE(equal_stacks)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 1000 }, NULL);
}
CHANGE(large_sum)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ INT64_MAX }, NULL);
}
CHANGE(now)
{
	P->time_nanos = 0;
}
CHANGE(before_1970)
{
	P->time_nanos = -5;
}
CHANGE(too_old)
{
	P->time_nanos = (NOW_MS - 3600 * 1000 - 1) * 1000000;
}
CHANGE(just_not_too_old)
{
	P->time_nanos = (NOW_MS - 3600 * 1000) * 1000000;
}
CHANGE(too_new)
{
	P->time_nanos = (NOW_MS + 600 * 1000 + 1) * 1000000;
}
CHANGE(sample_labels)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 2 }, "thread=a");
	made_profile_sample(made, "main;g", (const int64_t[]){ 3 },
			    "thread=b,span_id=0123456789abcdef");
	made_profile_sample(made, "main;f", (const int64_t[]){ 4 }, "thread=a,trace_id=1");
	made_profile_sample(made, "h", (const int64_t[]){ 5 }, "service_name=lost");
}
/* In two samples of one span; by its older name; both names; and what is no id. */
CHANGE(spans)
{
	static const char *const labels[] = {
		"span_id=00000000000000Ab",
		"span_id=00000000000000ab,trace_id=1",
		"profile_id=ffffffffffffffff",
		"profile_id=0000000000000001,span_id=0000000000000002",
		"span_id=0000000000000000",
		"span_id=ab",
		"span_id=0x000000000000ab",
		"span_id=+00000000000000a",
		"span_id=g000000000000000"
	};
	int64_t value = 1000;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++, value *= 10)
		made_profile_sample(made, "main;f", (const int64_t[]){ value }, labels[i]);
}
CHANGE(span_without_a_stack)
{
	made_profile_sample(made, "", (const int64_t[]){ 1 }, "span_id=0123456789abcdef");
	P->sample[3]->n_location_id = 0;
}
CHANGE(sample_number)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 2 }, "bytes=");
	P->sample[3]->label[0]->num = 7;
}
CHANGE(sample_label_wrong)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 2 }, "th-read=a");
}
CHANGE(sample_label_with_dot)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 2 }, "th.read=a");
}
CHANGE(sample_label_out_of_range)
{
	made_profile_sample(made, "main;f", (const int64_t[]){ 2 }, "a=b");
	P->sample[3]->label[0]->str = 1000;
}
static const struct row rows[] = {
	{ "as it is", NULL, NULL, STORE_KEPT, BASE },
	{ "dangling location", NULL, dangling_location, STORE_KEPT, WITHOUT_F },
	{ "dangling function", NULL, dangling_function, STORE_KEPT, WITHOUT_F },
	{ "dangling mapping", NULL, dangling_mapping, STORE_KEPT, WITHOUT_F },
	{ "no mapping", NULL, no_mapping, STORE_KEPT,
	  CPU " service_name:demo main;f@1002=1 main;g=10 h=100\n" },
	{ "addresses stay without names", NULL, mapping_without_names, STORE_KEPT,
	  CPU " service_name:demo main@1001;f@1002=1 main@1001;g@1003=10 h@1004=100\n" },
	{ "no line", NULL, no_line, STORE_KEPT, CPU " service_name:demo main=1 main;g=10 h=100\n" },
	{ "no line but an address", NULL, no_line_but_an_address, STORE_KEPT,
	  CPU " service_name:demo main@1001;@1002=1 main@1001;g@1003=10 h@1004=100\n" },
	{ "neither line nor address", NULL, neither_line_nor_address, STORE_KEPT, WITHOUT_F },
	{ "ids that are no numbers from one", NULL, other_ids, STORE_KEPT, BASE },
	{ "two of one id", NULL, two_of_one_id, STORE_KEPT, WITHOUT_F },
	{ "location 0 in a stack", NULL, location_0_in_a_stack, STORE_KEPT, WITHOUT_F },
	{ "inlined", NULL, inlined, STORE_KEPT,
	  CPU " service_name:demo main;h|g=1 main;g=10 h=100\n" },
	{ "name below zero", NULL, name_below_zero, STORE_KEPT,
	  CPU " service_name:demo main;=1 main;g=10 h=100\n" },
	{ "no location id", NULL, no_location_id, STORE_REFUSED, "location id is 0" },
	{ "no function id", NULL, no_function_id, STORE_REFUSED, "function id is 0" },
	{ "name out of range", NULL, name_out_of_range, STORE_REFUSED,
	  "function name string index out of range" },
	{ "file out of range", NULL, file_out_of_range, STORE_REFUSED,
	  "function file name string index out of range" },
	{ "mapping file out of range", NULL, mapping_file_out_of_range, STORE_REFUSED,
	  "mapping file name string index out of range" },
	{ "type out of range", NULL, type_out_of_range, STORE_REFUSED,
	  "sample type type string index out of range" },
	{ "type with a dash", NULL, type_with_dash, STORE_REFUSED, "sample type contains -" },
	{ "period out of range", NULL, period_out_of_range, STORE_KEPT,
	  "process_cpu:cpu:nanoseconds::nanoseconds service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "no period", NULL, no_period, STORE_KEPT,
	  "process_cpu:cpu:nanoseconds:: service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "no samples", NULL, no_samples, STORE_KEPT, "" },
	{ "no sample type", NULL, no_sample_type, STORE_REFUSED, "empty profile" },
	{ "no texts", NULL, no_texts, STORE_REFUSED, "string 0 should be empty string" },
	{ "first text not empty", NULL, first_text_not_empty, STORE_REFUSED,
	  "string 0 should be empty string" },
	{ "not UTF-8", NULL, not_utf8, STORE_REFUSED, "invalid utf8 string hex: 6dff696e" },
	{ "values and types", NULL, one_value_too_many, STORE_REFUSED,
	  "sample value length mismatch" },
	{ "below zero", NULL, below_zero, STORE_KEPT, WITHOUT_F },
	{ "zero", NULL, zero, STORE_KEPT, WITHOUT_F },
	{ "all zero", NULL, all_zero, STORE_KEPT, "" },
	{ "empty stack", NULL, empty_stack, STORE_KEPT, WITHOUT_F },
	{ "equal stacks", NULL, equal_stacks, STORE_KEPT,
	  CPU " service_name:demo main;f=1001 main;g=10 h=100\n" },
	{ "a sum that has no room", NULL, large_sum, STORE_KEPT,
	  CPU " service_name:demo main;f=9223372036854775807 main;g=10 h=100\n" },
	{ "without a time", NULL, now, STORE_KEPT, BASE },
	{ "before 1970", NULL, before_1970, STORE_KEPT, BASE },
	{ "too old", NULL, too_old, STORE_REFUSED,
	  "profile with labels '{__name__=\"process_cpu\", service_name=\"demo\"}' is outside of "
	  "ingestion window (profile timestamp: 2023-11-14 21:13:19.999 +0000 UTC, the ingestion "
	  "window starts at 2023-11-14 21:13:20.000 +0000 UTC and ends at 2023-11-14 22:23:20.000 "
	  "+0000 UTC)" },
	{ "just not too old", NULL, just_not_too_old, STORE_KEPT, BASE },
	{ "too new", NULL, too_new, STORE_REFUSED,
	  "profile with labels '{__name__=\"process_cpu\", service_name=\"demo\"}' is outside of "
	  "ingestion window (profile timestamp: 2023-11-14 22:23:20.001" },
	{ "labels of samples", NULL, sample_labels, STORE_KEPT,
	  CPU " service_name:demo main;f=1 main;g=10 h=105\n" CPU
	      " service_name:demo thread:a main;f=6\n" CPU
	      " service_name:demo thread:b main;g;#123456789abcdef=3\n" },
	{ "spans of a trace", NULL, spans, STORE_KEPT,
	  CPU " service_name:demo main;f=111110000001 main;g=10 h=100 main;f;#ab=11000 "
	      "main;f;#ffffffffffffffff=100000 main;f;#2=1000000\n" },
	{ "span without a stack", NULL, span_without_a_stack, STORE_KEPT, BASE },
	{ "number of a sample", NULL, sample_number, STORE_KEPT,
	  CPU " service_name:demo main;f=3 main;g=10 h=100\n" },
	{ "wrong label of a sample", NULL, sample_label_wrong, STORE_REFUSED,
	  "invalid labels '{__name__=\"process_cpu\", service_name=\"demo\", th-read=\"a\"}' with "
	  "error: invalid label name 'th-read'" },
	{ "label of a sample with a dot", NULL, sample_label_with_dot, STORE_KEPT,
	  BASE CPU " service_name:demo th_read:a main;f=2\n" },
	{ "label of a sample out of range", NULL, sample_label_out_of_range, STORE_REFUSED,
	  "sample label string index out of range" },

	{ "no name", "service_name=x", NULL, STORE_REFUSED,
	  "invalid labels '{service_name=\"x\"}' with error: invalid metric name" },
	{ "no labels", "", NULL, STORE_REFUSED,
	  "invalid labels '{service_name=\"unknown_service\"}' with error: invalid metric name" },
	{ "no service", "__name__=process_cpu,a=b", NULL, STORE_KEPT,
	  CPU " a:b service_name:unknown_service main;f=1 main;g=10 h=100\n" },
	{ "dot", "__name__=process_cpu,service_name=demo,a.b=c", NULL, STORE_KEPT,
	  CPU " a_b:c service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "dot and underscore", "__name__=process_cpu,service_name=demo,a.c=c,a_c=d", NULL,
	  STORE_REFUSED,
	  "profile with labels '{__name__=\"process_cpu\", a.c=\"c\", a_c=\"d\", "
	  "service_name=\"demo\"}' has duplicate label name 'a_c' after label name sanitization "
	  "from "
	  "'a.c'" },
	{ "dash", "__name__=process_cpu,service_name=demo,a-b=c", NULL, STORE_REFUSED,
	  "invalid labels '{__name__=\"process_cpu\", a-b=\"c\", service_name=\"demo\"}' with "
	  "error: "
	  "invalid label name 'a-b'" },
	{ "digit first", "__name__=process_cpu,service_name=demo,1b=c", NULL, STORE_REFUSED,
	  "invalid labels '{1b=\"c\", __name__=\"process_cpu\", service_name=\"demo\"}' with "
	  "error: "
	  "invalid label name '1b'" },
	{ "quotes", "__name__=process_cpu,service_name=demo,-=a\"b\\c\nd", NULL, STORE_REFUSED,
	  "invalid labels '{-=\"a\\\"b\\\\c\\nd\"," },
	{ "value not UTF-8", "__name__=process_cpu,service_name=demo,a=\xff", NULL, STORE_REFUSED,
	  "invalid labels '{__name__=\"process_cpu\", a=\"\xff\"" },
	{ "private", "__name__=process_cpu,service_name=demo,__x__=p", NULL, STORE_KEPT,
	  CPU " __x__:p service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "the server's own",
	  "__name__=process_cpu,service_name=demo,__delta__=false,__session_id__=1,__type__=x,"
	  "__profile_type__=y",
	  NULL, STORE_KEPT, BASE },
	{ "delta", "__name__=godeltaprof_memory,service_name=demo", NULL, STORE_KEPT,
	  "memory:cpu:nanoseconds:cpu:nanoseconds __name_replaced__:godeltaprof_memory "
	  "service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "30 labels",
	  "__name__=n,service_name=s,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p="
	  "1,"
	  "q=1,r=1,s=1,t=1,u=1,v=1,w=1,x=1,y=1,z=1,A=1,B=1",
	  no_samples, STORE_KEPT, "" },
	{ "31 labels",
	  "__name__=n,service_name=s,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p="
	  "1,"
	  "q=1,r=1,s=1,t=1,u=1,v=1,w=1,x=1,y=1,z=1,A=1,B=1,C=1",
	  NULL, STORE_REFUSED, "profile series '{A=\"1\", B=\"1\", C=\"1\"," },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(10000), text = BUF_INIT(10000);
	struct labels *labels = make_labels(row->labels);
	struct made_profile made;
	struct context w;
	size_t n;

	context_init(&w);
	make_base(&made);
	if (row->change)
		row->change(&made);
	uint8_t *bytes = made_profile_pack(&made, &n);
	assert_int_equal(store_sync_put(w.store, labels, bytes, n, &why), row->outcome);
	if (row->outcome == STORE_REFUSED) {
		assert_memory_equal(buf_str(&why), row->expected,
				    strnlen(row->expected, why.len + 1));
	} else {
		print_store(w.store, &text);
		assert_string_equal(buf_str(&text), row->expected);
	}
	free(bytes);
	made_profile_fini(&made);
	labels_unref(labels);
	context_fini(&w);
}

/* ---- the same as tables ---- */

/* What only a store can say: addresses without names, names and types that are empty. NULL: there are no tables. */
static const struct {
	const char *name, *expected;
} tables_differ[] = {
	{ "no line but an address",
	  CPU " service_name:demo main@1001;made!0x1002@1002=1 main@1001;g@1003=10 h@1004=100\n" },
	{ "name below zero", BASE },
	{ "period out of range",
	  "process_cpu:cpu:nanoseconds:: service_name:demo main;f=1 main;g=10 h=100\n" },
	{ "a sum that has no room", NULL },
};

static const char *expected_of_tables(const struct row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables_differ); i++)
		if (strcmp(tables_differ[i].name, row->name) == 0)
			return tables_differ[i].expected;
	return row->expected;
}

/* What a store has of the bytes that were made of the tables. */
static void compare_tables(const struct row *row, const struct pprof_builder *tables)
{
	_cleanup_buf_ struct buf why = BUF_INIT(10000), text = BUF_INIT(10000);
	struct labels *labels = make_labels(row->labels);
	struct pprof_bytes bytes;
	struct context w;

	context_init(&w);
	assert_int_equal(pprof_builder_encode(tables, &bytes), 0);
	assert_int_equal(store_sync_put(w.store, labels, bytes.data, bytes.n, &why), STORE_KEPT);
	print_store(w.store, &text);
	assert_string_equal(buf_str(&text), expected_of_tables(row));
	pprof_bytes_fini(&bytes);
	labels_unref(labels);
	context_fini(&w);
}

/* Rules for labels and times are those of who keeps it. */
static bool is_of_series(const char *refusal)
{
	return strstr(refusal, "labels '") || strstr(refusal, "profile series");
}

static void test_tables_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(10000);
	_cleanup_(pprof_builder_freep) struct pprof_builder *tables = NULL;
	struct made_profile made;
	size_t n;

	make_base(&made);
	if (row->change)
		row->change(&made);
	uint8_t *bytes = made_profile_pack(&made, &n);
	int r = ingest_tables(bytes, n, now_ns(), NULL, &why, &tables);
	if (row->outcome == STORE_KEPT && expected_of_tables(row)) {
		assert_int_equal(r, INGEST_OPENED);
		compare_tables(row, tables);
	} else if (row->outcome == STORE_KEPT || !is_of_series(row->expected)) {
		assert_null(tables);
		assert_in_range(r, INGEST_OPENED + 1, INGEST_MAX - 1);
		assert_true(row->outcome == STORE_KEPT ||
			    strncmp(buf_str(&why), row->expected, strlen(row->expected)) == 0);
	}
	free(bytes);
	made_profile_fini(&made);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST_ROWS(test_tables_row, rows, name),
};

TEST_MAIN(tests)
