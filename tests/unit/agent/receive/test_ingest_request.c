/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a request of /ingest: a row is a request, and tells the series and stacks that it becomes, or the answer. What is accepted and
 * what is not, names, labels and values are those of a Pyroscope 1.21 for the same bytes, where a row does not say otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/receive/ingest_request.h"
#include "agent/receive/speedscope_read.h"
#include "agent/store/ingest/ingest_tables.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"

#define NOW_NS (UINT64_C(1700000000) * NS_PER_S)

/* ---- what came out ---- */

static void print_labels(const struct labels *labels, struct buf *out)
{
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->items[i].name, "__delta__") != 0 &&
		    (strcmp(labels->items[i].name, "pyroscope_spy") != 0 ||
		     strcmp(labels->items[i].value, "unknown") != 0))
			(void)buf_printf(out, "%s=%s ", labels->items[i].name,
					 labels->items[i].value);
	assert_string_equal(labels_get(labels, "__delta__"), "false");
	assert_non_null(labels_get(labels, "pyroscope_spy"));
}

static void print_samples(const struct pprof_builder *tables, struct buf *out)
{
	for (size_t i = 0; i < pprof_builder_n_samples(tables); i++) {
		struct pprof_sample s;

		pprof_builder_read_sample(tables, i, &s);
		(void)buf_append_char(out, ' ');
		for (size_t k = s.n_locations; k > 0; k--)
			(void)buf_printf(
				out, "%s%s",
				pprof_builder_line_function(tables, s.location_ids[k - 1], 0),
				k > 1 ? ";" : "");
		(void)buf_printf(out, "=%lld", (long long)s.values[0]);
	}
}

static Perftools__Profiles__Profile *unpack(const struct pprof_builder *tables)
{
	struct pprof_bytes bytes;
	Perftools__Profiles__Profile *p;

	assert_int_equal(pprof_builder_encode_plain(tables, &bytes), 0);
	p = perftools__profiles__profile__unpack(NULL, bytes.n, bytes.data);
	assert_non_null(p);
	pprof_bytes_fini(&bytes);
	return p;
}

static void print_types(const struct pprof_builder *tables, struct buf *out)
{
	Perftools__Profiles__Profile *p = unpack(tables);

	for (size_t i = 0; i < p->n_sample_type; i++)
		(void)buf_printf(out, "%s%s/%s", i > 0 ? "," : "",
				 p->string_table[p->sample_type[i]->type],
				 p->string_table[p->sample_type[i]->unit]);
	(void)buf_printf(out, " %s/%s/%lld @%lld", p->string_table[p->period_type->type],
			 p->string_table[p->period_type->unit], (long long)p->period,
			 (long long)((p->time_nanos - (int64_t)NOW_NS) / (int64_t)NS_PER_MS));
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static void print_item(const struct receive_item *item, struct buf *out)
{
	_cleanup_(pprof_builder_freep) struct pprof_builder *tables = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	assert_int_equal(
		ingest_tables(item->pprof->data, item->pprof->n, NOW_NS, NULL, &why, &tables),
		INGEST_OPENED);
	print_labels(item->labels, out);
	print_types(tables, out);
	print_samples(tables, out);
	(void)buf_append_char(out, '\n');
}

struct result {
	struct receive_items items;
	struct receive_verdict verdict;
	struct buf text;
};

static void read_request(const struct ingest_query *query, struct str body, struct result *ret)
{
	const struct read_budget_options options = { .inflated_bytes = (size_t)64 << 20,
						     .elements = (size_t)16 << 20,
						     .cpu_ns = 5 * NS_PER_S };
	struct read_budget budget;

	*ret = (struct result){ .verdict = RECEIVE_VERDICT_INIT, .text = BUF_INIT(1 << 20) };
	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	ingest_request_read(query, body, NOW_NS, &budget, &ret->items, &ret->verdict);
	read_budget_end(&budget);
	for (size_t i = 0; i < ret->items.n; i++)
		print_item(&ret->items.items[i], &ret->text);
}

static void result_fini(struct result *r)
{
	receive_items_fini(&r->items);
	buf_fini(&r->verdict.why);
	buf_fini(&r->text);
}

/* ---- rows ---- */

struct row {
	const char *name; /* of the row */
	struct ingest_query query;
	struct str body;
	unsigned int status;
	const char *expected; /* what came out, or the beginning of the sentence */
};

#define Q(app, ...)                          \
	{                                    \
		.name = (app), ##__VA_ARGS__ \
	}
#define CPU "cpu/nanoseconds cpu/nanoseconds/10000000"
#define APP "__name__=process_cpu service_name=app "
#define FOLDED STR_LIT("a;b 1\na;c 2\n")
#define STACKS " a;b=10000000 a;c=20000000\n"

/* "", "a;" below, then "b" and "c". */
#define TRIE                   \
	STR_LIT("\x00\x00\x01" \
		"\x02"         \
		"a;\x00\x02"   \
		"\x01"         \
		"b\x01\x00"    \
		"\x01"         \
		"c\x02\x00")
#define TREE                   \
	STR_LIT("\x00\x00\x01" \
		"\x01"         \
		"a\x00\x02"    \
		"\x01"         \
		"b\x01\x00"    \
		"\x01"         \
		"c\x02\x00")

#define SPEEDSCOPE(profiles)                                                                    \
	STR_LIT("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","          \
		"\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}," \
		"\"profiles\":[" profiles "]}")
#define SAMPLED(name, unit, weights)                                                          \
	"{\"type\":\"sampled\",\"name\":\"" name "\",\"unit\":\"" unit "\",\"startValue\":0," \
	"\"endValue\":3,\"samples\":[[0,1],[0,2]],\"weights\":" weights "}"
#define EVENT(type, frame, at) "{\"type\":\"" type "\",\"frame\":" frame ",\"at\":" at "}"
#define EVENTED(unit, events)                                                          \
	"{\"type\":\"evented\",\"name\":\"e\",\"unit\":\"" unit "\",\"startValue\":0," \
	"\"endValue\":9,\"events\":[" events "]}"

static const struct row rows[] = {
	{ "groups", Q("app"), FOLDED, 200, APP CPU " @0" STACKS },
	{ "a format that nobody knows", Q("app", .format = "wonder"), FOLDED, 200,
	  APP CPU " @0" STACKS },
	{ "labels", Q("app{x=1, y = a b }"), FOLDED, 200,
	  "__name__=process_cpu service_name=app x=1 y=a b " CPU " @0" STACKS },
	{ "a pair that does not end", Q("app{x=1,y=2"), FOLDED, 200,
	  "__name__=process_cpu service_name=app x=1 " CPU " @0" STACKS },
	{ "of equal keys the last", Q("app{x=1,x=2}"), FOLDED, 200,
	  "__name__=process_cpu service_name=app x=2 " CPU " @0" STACKS },
	{ "another service", Q("app{service_name=s}"), FOLDED, 200,
	  "__name__=process_cpu app_name=app service_name=s " CPU " @0" STACKS },
	{ "private labels", Q("app{__x__=1,__session_id__=2,__name__=other}"), FOLDED, 200,
	  "__name__=process_cpu service_name=other " CPU " @0" STACKS },
	{ "spy", Q("app", .spy_name = "gospy"), FOLDED, 200,
	  "__name__=process_cpu pyroscope_spy=gospy service_name=app " CPU " @0" STACKS },
	{ "no name", Q(""), FOLDED, 400, "name: service name is required" },
	{ "no query", Q(NULL), FOLDED, 400, "name: service name is required" },
	{ "blank in the name", Q("a b!"), FOLDED, 400,
	  "name: invalid service name: a b!: character is not allowed: ' '" },
	{ "dash in a key", Q("app{x-y=1}"), FOLDED, 400,
	  "name: invalid label name: x-y: character is not allowed: '-'" },
	{ "no key", Q("app{=1}"), FOLDED, 400, "name: label name is required" },
	{ "name not UTF-8", Q("app{x=\xff}"), FOLDED, 400, "name: not UTF-8" },
	{ "31 labels",
	  Q("app{a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1,r=1,s=1,t=1,"
	    "u=1,v=1,w=1,x=1,y=1,z=1,A=1,B=1,C=1,D=1,E=1}"),
	  FOLDED, 400, "name: too many labels" },

	{ "allocations", Q("a.b.alloc_space"), FOLDED, 200,
	  "__name__=memory service_name=a.b alloc_space/bytes //1 @0 a;b=1 a;c=2\n" },
	{ "mutex", Q("app.mutex_duration"), FOLDED, 200,
	  "__name__=mutex service_name=app delay/nanoseconds //1 @0 a;b=1 a;c=2\n" },
	{ "goroutines", Q("app.goroutines"), FOLDED, 200,
	  "__name__=goroutine service_name=app goroutines/count //1 @0 a;b=1 a;c=2\n" },
	{ "wall", Q("app.wall"), FOLDED, 200,
	  "__name__=wall service_name=app wall/nanoseconds cpu/nanoseconds/10000000 @0" STACKS },
	{ "a type that nobody knows", Q("app.foo"), FOLDED, 400, "unknown profile type: foo" },

	{ "rate", Q("app", .sample_rate = "1000"), FOLDED, 200,
	  APP "cpu/nanoseconds cpu/nanoseconds/1000000 @0 a;b=1000000 a;c=2000000\n" },
	{ "no rate", Q("app", .sample_rate = "0"), FOLDED, 200,
	  APP "samples/count //1 @0 a;b=1 a;c=2\n" },
	{ "a rate that is none", Q("app", .sample_rate = "-5"), FOLDED, 200, APP CPU " @0" STACKS },
	{ "seconds", Q("app", .from = "1699999990"), FOLDED, 200, APP CPU " @-10000" STACKS },
	{ "milliseconds", Q("app", .from = "1699999990500"), FOLDED, 200,
	  APP CPU " @-9500" STACKS },
	{ "nanoseconds", Q("app", .from = "1699999990000000000"), FOLDED, 200,
	  APP CPU " @-10000" STACKS },
	{ "before now", Q("app", .from = "now-1m30s"), FOLDED, 200, APP CPU " @-90000" STACKS },
	{ "a time that is none", Q("app", .from = "yesterday"), FOLDED, 200, APP CPU " @0" STACKS },

	{ "nothing", Q("app"), STR_LIT(""), 200, "" },
	{ "lines without a count", Q("app"), STR_LIT("a;b\n\nx\n"), 200, "" },
	{ "equal stacks, empty frames, no line break at the end", Q("app"),
	  STR_LIT("a;b 1\r\n;;a;b; 3"), 200, APP CPU " @0 a;b=40000000\n" },
	{ "a blank in a frame", Q("app"), STR_LIT("a b;c d 1"), 200,
	  APP CPU " @0 a b;c d=10000000\n" },
	{ "no stack", Q("app"), STR_LIT(" 5\n"), 200, "" },
	{ "not UTF-8", Q("app"), STR_LIT("a;\xff 1"), 200,
	  APP CPU " @0 a;\xef\xbf\xbd=10000000\n" },
	{ "a count that is none", Q("app"), STR_LIT("a;b x\n"), 422,
	  "\"x\" is not the count of a stack" },
	{ "a count below zero", Q("app"), STR_LIT("a;b -1\n"), 422, "\"-1\" is not" },
	{ "a count that is too large", Q("app"), STR_LIT("a 9223372036854775807"), 422,
	  "the profile has more" },
	{ "a sum that is too large", Q("app", .sample_rate = "0"),
	  STR_LIT("a 9223372036854775807\nb 1"), 422, "the profile has more" },

	{ "lines", Q("app", .format = "lines"), STR_LIT("a;b\na;c\n\na;c\n"), 200,
	  APP CPU " @0" STACKS },
	{ "trie", Q("app", .format = "trie"), TRIE, 200, APP CPU " @0" STACKS },
	{ "trie by its type", Q("app", .content_type = "binary/octet-stream+trie"), TRIE, 200,
	  APP CPU " @0" STACKS },
	{ "tree", Q("app", .format = "tree"), TREE, 200, APP CPU " @0" STACKS },
	{ "tree by its type", Q("app", .content_type = "binary/octet-stream+tree"), TREE, 200,
	  APP CPU " @0" STACKS },
	{ "no trie", Q("app", .format = "trie"), STR_LIT(""), 200, "" },
	{ "a trie that is cut", Q("app", .format = "trie"),
	  STR_LIT("\x05"
		  "abc"),
	  422, "it ends within a node" },
	{ "a trie with less than it says", Q("app", .format = "trie"),
	  STR_LIT("\x01"
		  "a\x01\x02"),
	  422, "nodes are missing at its end" },
	{ "a length beyond all", Q("app", .format = "tree"),
	  STR_LIT("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
		  "a"),
	  422, "it ends within a node" },

	{ "speedscope", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "seconds", "[1,2]")), 200,
	  "__name__=process_cpu profile_name=one service_name=app cpu/nanoseconds "
	  "cpu/nanoseconds/1 @0 a;b=1000000000 a;c=2000000000\n" },
	{ "nanoseconds of speedscope, which servers lose", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "nanoseconds", "[1,2]")), 200,
	  "__name__=process_cpu profile_name=one service_name=app cpu/nanoseconds "
	  "cpu/nanoseconds/1 @0 a;b=1 a;c=2\n" },
	{ "samples of speedscope", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "none", "[1,2]")), 200,
	  "__name__=process_cpu profile_name=one service_name=app " CPU " @0" STACKS },
	{ "bytes of speedscope", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "bytes", "[1,2]")), 200,
	  "__name__=memory profile_name=one service_name=app samples/bytes //1 @0 a;b=1 a;c=2\n" },
	{ "two of speedscope", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "seconds", "[1,2]") "," SAMPLED("two", "bytes", "[1,2]")), 200,
	  "__name__=wall profile_name=one service_name=app wall/nanoseconds cpu/nanoseconds/1 @0 "
	  "a;b=1000000000 a;c=2000000000\n"
	  "__name__=memory profile_name=two service_name=app samples/bytes //1 @0 a;b=1 a;c=2\n" },
	{ "two of speedscope that are one", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "none", "[1,2]") "," SAMPLED("one", "none", "[1,2]")), 200,
	  "__name__=process_cpu profile_name=one service_name=app " CPU
	  " @0 a;b=20000000 a;c=40000000\n" },
	{ "evented", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(
		  EVENTED("milliseconds", EVENT("O", "0", "0") "," EVENT("O", "1", "1") "," EVENT(
						  "C", "1", "3") "," EVENT("C", "0", "9"))),
	  200,
	  "__name__=process_cpu profile_name=e service_name=app cpu/nanoseconds cpu/nanoseconds/1 "
	  "@0 a=7000000 a;b=2000000\n" },
	{ "evented, out of order", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(EVENTED("none", EVENT("O", "0", "5") "," EVENT("C", "0", "1"))), 422,
	  "events are out of order" },
	{ "evented, another is closed", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(EVENTED("none", EVENT("O", "0", "5") "," EVENT("C", "1", "6"))), 422,
	  "a frame is closed that is not open" },
	{ "a frame beyond the last", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(EVENTED("none", EVENT("O", "3", "5"))), 422, "there is no such frame" },
	{ "a weight below zero", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "none", "[1,-2]")), 422, "a weight is below zero" },
	{ "weights are missing", Q("app", .format = "speedscope"),
	  SPEEDSCOPE(SAMPLED("one", "none", "[1]")), 422, "samples and weights are not of equal" },
	{ "no unit", Q("app", .format = "speedscope"), SPEEDSCOPE(SAMPLED("one", "", "[1,2]")), 422,
	  "a profile has no unit" },
	{ "no speedscope", Q("app", .format = "speedscope"), STR_LIT("{}"), 422,
	  "Unknown schema: " },
	{ "no JSON", Q("app", .format = "speedscope"), STR_LIT("{"), 422, "not JSON: " },

	{ "jfr", Q("app", .format = "jfr"), STR_LIT("FLR\0"), 415, "recordings of JFR" },
	{ "no pprof", Q("app", .format = "pprof"), STR_LIT("garbage"), 422,
	  "not a profile in the format of pprof" },
	{ "an empty pprof", Q("app", .format = "pprof"), STR_LIT(""), 200, "" },
	{ "a form without a boundary", Q("app", .content_type = "multipart/form-data"),
	  STR_LIT("x"), 422, "malformed multipart content type header" },
	{ "a form that is cut", Q("app", .content_type = "multipart/form-data; boundary=b"),
	  STR_LIT("--b\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\nx"), 422,
	  "the form is cut or malformed" },
	{ "a form without a profile", Q("app", .content_type = "multipart/form-data; boundary=b"),
	  STR_LIT("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n--b--\r\n"), 200,
	  "" },
	{ "a profile before it", Q("app", .content_type = "multipart/form-data; boundary=\"b\""),
	  STR_LIT("--b\r\ncontent-disposition: form-data; name=prev_profile\r\n\r\nx\r\n--b--"),
	  422, "a profile with one before it" },
	{ "compressed otherwise", Q("app", .content_encoding = "zstd"), FOLDED, 415,
	  "bodies may be compressed by gzip alone" },
	{ "not compressed", Q("app", .content_encoding = "gzip"), FOLDED, 400,
	  "the body is not gzip" },
	{ "an exemplar", Q("app{profile_id=1}"), FOLDED, 200, "" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct result r;

	read_request(&row->query, row->body, &r);
	assert_int_equal(r.verdict.status, row->status);
	if (row->status == 200) {
		assert_string_equal(buf_str(&r.text), row->expected);
		assert_int_equal(r.verdict.refusal, RECEIVE_TAKEN);
	} else {
		assert_int_equal(r.items.n, 0);
		assert_int_not_equal(r.verdict.refusal, RECEIVE_TAKEN);
		assert_memory_equal(buf_str(&r.verdict.why), row->expected, strlen(row->expected));
	}
	result_fini(&r);
}

/* ---- pprof ---- */

static uint8_t *make_pprof(const char *types, int64_t time_ms, bool gzip, size_t *ret_n)
{
	struct made_profile made;
	uint8_t *bytes;

	made_profile_init(&made, types, "cpu/nanoseconds", time_ms);
	made.message.period = 10;
	made_profile_sample(&made, "main;f", (const int64_t[]){ 20, 2, 3, 4 }, NULL);
	bytes = gzip ? made_profile_gzip(&made, ret_n) : made_profile_pack(&made, ret_n);
	made_profile_fini(&made);
	return bytes;
}

static void make_form(const uint8_t *pprof, size_t n, const char *config, struct buf *out)
{
	(void)buf_append_str(out, "--bound\r\nContent-Disposition: form-data; name=\"profile\"; "
				  "filename=\"p\"\r\nContent-Type: x\r\n\r\n");
	(void)buf_append(out, pprof, n);
	if (config)
		(void)buf_printf(out,
				 "\r\n--bound\r\nContent-Disposition: form-data; "
				 "name=\"sample_type_config\"\r\n\r\n%s",
				 config);
	(void)buf_append_str(out, "\r\n--bound--\r\n");
}

static const struct {
	const char *name, *types, *config, *metric;
} names[] = {
	{ "cpu", "samples/count cpu/nanoseconds", NULL, "process_cpu" },
	{ "heap", "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes",
	  NULL, "memory" },
	{ "goroutine", "goroutine/count", NULL, "goroutines" },
	{ "mutex", "contentions/count delay/nanoseconds", NULL, "mutex" },
	{ "block", "contentions/count delay/nanoseconds",
	  "{\"contentions\":{\"display-name\":\"block_count\",\"units\":\"lock_samples\"}}",
	  "block" },
	{ "wall", "samples/count wall/nanoseconds", NULL, "wall" },
	{ "node", "objects/count space/bytes", NULL, "memory" },
	{ "another", "exceptions/count", NULL, "exceptions" },
	{ "a configuration that is none", "samples/count", "[", "process_cpu" },
	{ ".NET", "inuse-space/bytes", NULL, "memory" },
};

/* Alone, in a form, compressed or not: the very bytes, but where a server would refuse them. */
static void test_pprof(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names) * 2; i++) {
		size_t row = i / 2, n;
		struct ingest_query q = { .name = "app",
					  .content_type = "multipart/form-data; boundary=bound" };
		uint8_t *bytes = make_pprof(names[row].types, 1700000000000, i % 2, &n);
		_cleanup_buf_ struct buf form = BUF_INIT(1 << 20);
		struct result r;

		make_form(bytes, n, names[row].config, &form);
		read_request(&q, (struct str){ form.data, form.len }, &r);
		assert_int_equal(r.verdict.status, 200);
		assert_int_equal(r.items.n, 1);
		assert_string_equal(labels_get(r.items.items[0].labels, "__name__"),
				    names[row].metric);
		assert_null(labels_get(r.items.items[0].labels, "app_name"));
		assert_true(r.items.items[0].time_ns == NOW_NS);
		if (!strchr(names[row].types, '-')) {
			assert_int_equal(r.items.items[0].pprof->n, n);
			assert_memory_equal(r.items.items[0].pprof->data, bytes, n);
		} else {
			assert_non_null(strstr(buf_str(&r.text), "inuse_space/bytes"));
		}
		result_fini(&r);
		if (!names[row].config) {
			q = (struct ingest_query){ .name = "app", .format = "pprof" };
			read_request(&q, (struct str){ (char *)bytes, n }, &r);
			assert_int_equal(r.items.n, 1);
			assert_string_equal(labels_get(r.items.items[0].labels, "__name__"),
					    names[row].metric);
			result_fini(&r);
		}
		free(bytes);
	}
}

/* Two functions, the second without a file, and one with a path that is absolute. */
static uint8_t *make_with_files(bool gzip, size_t *ret_n)
{
	struct made_profile made;
	uint8_t *bytes;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	made_profile_sample(&made, "main;f;g", (const int64_t[]){ 20 }, NULL);
	made.message.function[0]->filename = made_profile_text(&made, "/srv/app.py");
	made.message.function[1]->filename = made_profile_text(&made, "lib/x.py");
	bytes = gzip ? made_profile_gzip(&made, ret_n) : made_profile_pack(&made, ret_n);
	made_profile_fini(&made);
	return bytes;
}

static const struct {
	const char *spy, *stack;
} spies[] = {
	{ "pyspy", "main;lib/x.py f; g" },
	{ "rbspy", "/srv/app.py main;lib/x.py f; g" },
	{ "scripting", "/srv/app.py main;lib/x.py f; g" },
	{ "pyspy2", "main;f;g" },
	{ "gospy", "main;f;g" },
	{ NULL, "main;f;g" },
};

/* As the server has them. */
static void test_names_with_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spies) * 2; i++) {
		const struct ingest_query q = { .name = "app",
						.format = "pprof",
						.spy_name = spies[i / 2].spy };
		_cleanup_buf_ struct buf expected = BUF_INIT(1000);
		struct result r;
		size_t n;
		uint8_t *bytes = make_with_files(i % 2, &n);

		read_request(&q, (struct str){ (char *)bytes, n }, &r);
		(void)buf_printf(&expected, " %s=20\n", spies[i / 2].stack);
		assert_int_equal(r.verdict.status, 200);
		assert_non_null(strstr(buf_str(&r.text), buf_str(&expected)));
		result_fini(&r);
		free(bytes);
	}
}

/* Names that grow beyond what a server takes: one file, and many functions. */
static void test_names_that_grow(void **state)
{
	const struct ingest_query q = { .name = "app", .format = "pprof", .spy_name = "rbspy" };
	static char file[60001];
	struct made_profile made;
	char stack[16];
	struct result r;
	size_t n;

	(void)state;
	(void)memset(file, 'x', sizeof(file) - 1);
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(stack, sizeof(stack), "f%d", i);
		made_profile_sample(&made, stack, (const int64_t[]){ 20 }, NULL);
		made.message.function[i]->filename = made_profile_text(&made, file);
	}
	uint8_t *bytes = made_profile_gzip(&made, &n);
	read_request(&q, (struct str){ (char *)bytes, n }, &r);
	assert_int_equal(r.verdict.status, 422);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_LIMITS);
	assert_non_null(strstr(buf_str(&r.verdict.why), "files in the names"));
	result_fini(&r);
	free(bytes);
	made_profile_fini(&made);
}

/* The bytes stay, what counts stands behind them. */
static void test_time_of_pprof(void **state)
{
	static const int64_t times_ms[] = { 0, -5, 1700000000 };
	struct ingest_query q = { .name = "app", .format = "pprof", .from = "1699999990" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times_ms) * 2; i++) {
		struct result r;
		size_t n;
		uint8_t *bytes = make_pprof("cpu/nanoseconds", times_ms[i / 2], i % 2, &n);

		read_request(&q, (struct str){ (char *)bytes, n }, &r);
		assert_int_equal(r.items.n, 1);
		assert_true(r.items.items[0].pprof->n > n);
		assert_memory_equal(r.items.items[0].pprof->data, bytes, n);
		assert_string_equal(buf_str(&r.text),
				    APP "cpu/nanoseconds cpu/nanoseconds/10 @-10000 main;f=20\n");
		assert_true(r.items.items[0].time_ns == NOW_NS - 10 * NS_PER_S);
		result_fini(&r);
		free(bytes);
	}
}

/* ---- what would take long or much ---- */

static void put_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		(void)buf_append_char(b, (char)(v | 0x80));
	(void)buf_append_char(b, (char)v);
}

/* One long name above a million leaves: each would be a stack of a megabyte. */
static void test_trie_of_many_long_stacks(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(INGEST_MAX_BODY);
	struct ingest_query q = { .name = "app", .format = "trie" };
	size_t n_name = (size_t)1000 * 1000, n_leaves = 1000 * 1000;
	uint64_t begin_ns = clock_mono_ns();
	struct result r;

	(void)state;
	put_varint(&b, n_name);
	for (size_t i = 0; i < n_name; i++)
		(void)buf_append_char(&b, i % 10 ? 'x' : ';');
	put_varint(&b, 0);
	put_varint(&b, n_leaves);
	for (size_t i = 0; i < n_leaves; i++)
		(void)buf_append(&b, "\x01y\x01\x00", 4);
	read_request(&q, (struct str){ b.data, b.len }, &r);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_BUDGET);
	assert_true(clock_mono_ns() - begin_ns < 20 * NS_PER_S);
	result_fini(&r);
}

static void test_trie_that_is_too_deep(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(INGEST_MAX_BODY);
	struct ingest_query q = { .name = "app", .format = "tree" };
	struct result r;

	(void)state;
	for (int i = 0; i < 100000; i++)
		(void)buf_append(&b, "\x01y\x01\x01", 4);
	read_request(&q, (struct str){ b.data, b.len }, &r);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_MALFORMED);
	assert_string_equal(buf_str(&r.verdict.why), "it is too deep");
	result_fini(&r);
}

/* The root's side is kept. */
static void test_deep_stack(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(INGEST_MAX_BODY);
	struct ingest_query q = { .name = "app" };
	struct result r;

	(void)state;
	for (int i = 0; i < 5000; i++)
		(void)buf_printf(&b, "%sf%d", i ? ";" : "", i);
	(void)buf_append_str(&b, " 1");
	read_request(&q, (struct str){ b.data, b.len }, &r);
	assert_non_null(strstr(buf_str(&r.text), " f0;f1;"));
	assert_non_null(strstr(buf_str(&r.text), ";f999=10000000"));
	result_fini(&r);
}

static void test_more_samples_than_servers_take(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(INGEST_MAX_BODY);
	struct ingest_query q = { .name = "app" };
	struct result r;

	(void)state;
	for (int i = 0; i <= INGEST_MAX_SAMPLES; i++)
		(void)buf_printf(&b, "f%d 1\n", i);
	read_request(&q, (struct str){ b.data, b.len }, &r);
	assert_int_equal(r.verdict.status, 422);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_LIMITS);
	result_fini(&r);
}

/* Values of JSON take many times their bytes. */
static void test_json_of_many_values(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(INGEST_MAX_BODY);
	struct ingest_query q = { .name = "app", .format = "speedscope" };
	struct result r;

	(void)state;
	(void)buf_append_str(&b, "[0");
	for (size_t i = 0; i < SPEEDSCOPE_MAX_VALUES; i++)
		(void)buf_append(&b, ",0", 2);
	(void)buf_append_str(&b, "]");
	read_request(&q, (struct str){ b.data, b.len }, &r);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_LIMITS);
	result_fini(&r);
}

static void test_bombs(void **state)
{
	size_t n = (size_t)100 << 20;
	struct ingest_query q = { .name = "app", .content_encoding = "gzip" };
	char *zeros = calloc(1, n);
	struct pprof_bytes bomb;
	struct result r;

	(void)state;
	assert_non_null(zeros);
	assert_int_equal(pprof_gzip(zeros, n, 9, &bomb), 0);
	free(zeros);
	read_request(&q, (struct str){ (char *)bomb.data, bomb.n }, &r);
	assert_int_equal(r.verdict.status, 413);
	result_fini(&r);
	q = (struct ingest_query){ .name = "app", .format = "pprof" };
	read_request(&q, (struct str){ (char *)bomb.data, bomb.n }, &r);
	assert_int_equal(r.verdict.refusal, RECEIVE_REFUSED_LIMITS);
	assert_int_equal(r.verdict.status, 422);
	result_fini(&r);
	pprof_bytes_fini(&bomb);
}

static void test_compressed_body(void **state)
{
	struct ingest_query q = { .name = "app", .content_encoding = "gzip" };
	struct pprof_bytes packed;
	struct result r;

	(void)state;
	assert_int_equal(pprof_gzip("a;b 1\n", 6, 1, &packed), 0);
	read_request(&q, (struct str){ (char *)packed.data, packed.n }, &r);
	assert_string_equal(buf_str(&r.text), APP CPU " @0 a;b=10000000\n");
	result_fini(&r);
	pprof_bytes_fini(&packed);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_pprof),
	TEST(test_names_with_files),
	TEST(test_names_that_grow),
	TEST(test_time_of_pprof),
	TEST(test_trie_of_many_long_stacks),
	TEST(test_trie_that_is_too_deep),
	TEST(test_deep_stack),
	TEST(test_more_samples_than_servers_take),
	TEST(test_json_of_many_values),
	TEST(test_bombs),
	TEST(test_compressed_body),
};

TEST_MAIN(tests)
