/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for names, label sets and trees: over several segments, by type, labels, time and call site. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"
#include "tests/unit/agent/store/tree/tree_text.h"

#define MEMORY "memory:inuse_space:bytes:space:bytes"

/* The same in all tests: two segments that overlap in time. */
static void make_context(struct context *w)
{
	context_init(w);
	context_put(w, 0, "service_name=s1,host=h1,p=x", 1000, "a;b 3\na 1\n");
	context_put(w, 0, "service_name=s1,host=h1,p=x", 2000, "a;b 30\nc 10\n");
	context_put(w, 0, "service_name=s1,host=h2", 2000, "a;c 100\n");
	context_put_type(w, 0, "service_name=s1", MEMORY, 2000, "a;b 7\n");
	context_put(w, 1, "service_name=s2", 1500, "a|b;d 5\n0x10;e 2\na;0x20 1\n0x30 9\n");
	context_put(w, 1, "service_name=s1,host=h1,p=x", 3000, "a;b 300\n");
	context_close(w);
}

struct row {
	const char *name;
	const char *type;	  /* NULL: any */
	const char *selectors[3]; /* up to NULL */
	int64_t start_ms, end_ms; /* 0, 0: all */
	const char *call_site[4]; /* up to NULL */
	const char *expected;
};

static size_t count(const char *const *items)
{
	size_t n = 0;

	while (items[n])
		n++;
	return n;
}

struct asked {
	struct context context;
	struct query q;
	struct selector *selectors[3];
};

static void ask(struct asked *a, const struct row *row)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	make_context(&a->context);
	a->q = context_query(&a->context);
	a->q.profile_type = row->type;
	a->q.selectors = a->selectors;
	a->q.n_selectors = count(row->selectors);
	for (size_t i = 0; i < a->q.n_selectors; i++)
		assert_int_equal(selector_new(row->selectors[i], &why, &a->selectors[i]), 0);
	if (row->end_ms) {
		a->q.start_ms = row->start_ms;
		a->q.end_ms = row->end_ms;
	}
	a->q.call_site = row->call_site;
	a->q.n_call_site = count(row->call_site);
}

static void asked_fini(struct asked *a)
{
	for (size_t i = 0; i < a->q.n_selectors; i++)
		selector_free(a->selectors[i]);
	context_fini(&a->context);
}

static const struct row trees[] = {
	{ "all of a type",
	  CPU,
	  { NULL },
	  0,
	  0,
	  { NULL },
	  "total 0 452\n.a 2 440\n..b 333 338\n...d 5 5\n..c 100 100\n.c 10 10\n.e 2 2\n" },
	{ "any type",
	  NULL,
	  { NULL },
	  0,
	  0,
	  { NULL },
	  "total 0 459\n.a 2 447\n..b 340 345\n...d 5 5\n..c 100 100\n.c 10 10\n.e 2 2\n" },
	{ "an empty type",
	  "",
	  { "{service_name=\"s2\"}" },
	  0,
	  0,
	  { NULL },
	  "total 0 8\n.a 1 6\n..b 0 5\n...d 5 5\n.e 2 2\n" },
	{ "the other type", MEMORY, { NULL }, 0, 0, { NULL }, "total 0 7\n.a 0 7\n..b 7 7\n" },
	{ "a type with :delta",
	  MEMORY ":delta",
	  { NULL },
	  0,
	  0,
	  { NULL },
	  "total 0 7\n.a 0 7\n..b 7 7\n" },
	{ "an unknown type",
	  "memory:inuse_space:bytes:space:byte",
	  { NULL },
	  0,
	  0,
	  { NULL },
	  "total 0 0\n" },
	{ "a longer type", MEMORY "x", { NULL }, 0, 0, { NULL }, "total 0 0\n" },
	{ "one host",
	  CPU,
	  { "{host=\"h2\"}" },
	  0,
	  0,
	  { NULL },
	  "total 0 100\n.a 0 100\n..c 100 100\n" },
	{ "two selectors",
	  CPU,
	  { "{host=\"h2\"}", "{service_name=\"s2\"}" },
	  0,
	  0,
	  { NULL },
	  "total 0 108\n.a 1 106\n..b 0 5\n...d 5 5\n..c 100 100\n.e 2 2\n" },
	{ "selectors that take the same",
	  CPU,
	  { "{host=\"h2\"}", "{host=~\"h.\",p=\"\"}" },
	  0,
	  0,
	  { NULL },
	  "total 0 100\n.a 0 100\n..c 100 100\n" },
	{ "nobody", CPU, { "{host=\"h3\"}" }, 0, 0, { NULL }, "total 0 0\n" },
	/* both ends are included */
	{ "one millisecond",
	  CPU,
	  { "{p=\"x\"}" },
	  2000,
	  2000,
	  { NULL },
	  "total 0 40\n.a 0 30\n..b 30 30\n.c 10 10\n" },
	{ "between two", CPU, { "{p=\"x\"}" }, 1001, 1999, { NULL }, "total 0 0\n" },
	{ "up to one",
	  CPU,
	  { "{p=\"x\"}" },
	  1001,
	  2000,
	  { NULL },
	  "total 0 40\n.a 0 30\n..b 30 30\n.c 10 10\n" },
	{ "from one on",
	  CPU,
	  { "{p=\"x\"}" },
	  2000,
	  2999,
	  { NULL },
	  "total 0 40\n.a 0 30\n..b 30 30\n.c 10 10\n" },
	{ "over two segments",
	  CPU,
	  { "{p=\"x\"}" },
	  2000,
	  3000,
	  { NULL },
	  "total 0 340\n.a 0 330\n..b 330 330\n.c 10 10\n" },
	{ "backwards", CPU, { NULL }, 3000, 1000, { NULL }, "total 0 0\n" },
	{ "later", CPU, { NULL }, 3001, 9999, { NULL }, "total 0 0\n" },
	/* call sites */
	{ "below a",
	  CPU,
	  { NULL },
	  0,
	  0,
	  { "a" },
	  "total 0 440\n.a 2 440\n..b 333 338\n...d 5 5\n..c 100 100\n" },
	{ "below a;b, also inlined",
	  CPU,
	  { NULL },
	  0,
	  0,
	  { "a", "b" },
	  "total 0 338\n.a 0 338\n..b 333 338\n...d 5 5\n" },
	{ "below a;b;d",
	  CPU,
	  { NULL },
	  0,
	  0,
	  { "a", "b", "d" },
	  "total 0 5\n.a 0 5\n..b 0 5\n...d 5 5\n" },
	{ "not at the root", CPU, { NULL }, 0, 0, { "b" }, "total 0 0\n" },
	{ "longer than any stack", CPU, { "{p=\"x\"}" }, 0, 0, { "a", "b", "a" }, "total 0 0\n" },
	{ "an unknown function", CPU, { NULL }, 0, 0, { "nope" }, "total 0 0\n" },
	{ "past an address", CPU, { NULL }, 0, 0, { "e" }, "total 0 2\n.e 2 2\n" },
};

static void test_tree(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	struct asked a;

	ask(&a, *state);
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(&a.q, CALL_LEFT, t), 0);
	assert_int_equal(call_tree_finish(t), 0);
	tree_text(t, false, &text);
	assert_string_equal(buf_str(&text), ((const struct row *)*state)->expected);
	asked_fini(&a);
}

static void test_two_sides(void **state)
{
	static const struct row left = { .type = CPU, .selectors = { "{host=\"h1\"}" } };
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	struct asked a;

	(void)state;
	ask(&a, &left);
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(&a.q, CALL_LEFT, t), 0);
	a.q.start_ms = 3000;
	assert_int_equal(query_tree(&a.q, CALL_RIGHT, t), 0);
	assert_int_equal(call_tree_finish(t), 0);
	tree_text(t, true, &text);
	assert_string_equal(buf_str(&text),
			    "total 0/0 344/300\n.a 1/0 334/300\n..b 333/300 333/300\n"
			    ".c 10/0 10/0\n");
	asked_fini(&a);
}

#define SERVER_NAMES "__name__ __period_type__ __period_unit__ __profile_type__ __type__ __unit__"

static const struct row names[] = {
	{ "names: all", NULL, { NULL }, 0, 0, { NULL }, SERVER_NAMES " host p service_name" },
	{ "names: of one service",
	  NULL,
	  { "{service_name=\"s2\"}" },
	  0,
	  0,
	  { NULL },
	  SERVER_NAMES " service_name" },
	{ "names: of two",
	  NULL,
	  { "{service_name=\"s2\"}", "{host=\"h2\"}" },
	  0,
	  0,
	  { NULL },
	  SERVER_NAMES " host service_name" },
	{ "names: in a time", NULL, { NULL }, 1500, 1999, { NULL }, SERVER_NAMES " service_name" },
	{ "names: of a type", MEMORY, { NULL }, 0, 0, { NULL }, SERVER_NAMES " service_name" },
	{ "names: of nobody", NULL, { "{nope=\"1\"}" }, 0, 0, { NULL }, "" },
};

static const struct row types[] = {
	{ "types: all", NULL, { NULL }, 0, 0, { NULL }, MEMORY " " CPU },
	{ "types: of one service", NULL, { "{service_name=\"s2\"}" }, 0, 0, { NULL }, CPU },
	{ "types: in a time", NULL, { NULL }, 2500, 3500, { NULL }, CPU },
	{ "types: later", NULL, { NULL }, 3500, 4000, { NULL }, "" },
};

static const struct row hosts[] = {
	{ "hosts: all", NULL, { NULL }, 0, 0, { NULL }, "h1 h2" },
	{ "hosts: in a time", NULL, { NULL }, 2500, 3500, { NULL }, "h1" },
	{ "hosts: of one service", NULL, { "{service_name=\"s2\"}" }, 0, 0, { NULL }, "" },
};

static void names_equal(struct query_names *found, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	for (size_t i = 0; i < found->n; i++)
		(void)buf_printf(&text, "%s%s", i ? " " : "", found->items[i]);
	assert_string_equal(buf_str(&text), expected);
	query_names_fini(found);
}

static void test_names(void **state)
{
	struct query_names found;
	struct asked a;

	ask(&a, *state);
	assert_int_equal(query_label_names(&a.q, &found), 0);
	names_equal(&found, ((const struct row *)*state)->expected);
	asked_fini(&a);
}

static void test_types(void **state)
{
	struct query_names found;
	struct asked a;

	ask(&a, *state);
	assert_int_equal(query_profile_types(&a.q, &found), 0);
	names_equal(&found, ((const struct row *)*state)->expected);
	asked_fini(&a);
}

static void test_hosts(void **state)
{
	struct query_names found;
	struct asked a;

	ask(&a, *state);
	assert_int_equal(query_label_values(&a.q, "host", &found), 0);
	names_equal(&found, ((const struct row *)*state)->expected);
	assert_int_equal(query_label_values(&a.q, "nope", &found), 0);
	names_equal(&found, "");
	asked_fini(&a);
}

/* Here call_site holds the names that are asked for. */
static const struct row sets[] = {
	{ "sets: two labels", NULL, { NULL }, 0, 0, { "host", "p" }, "{}{host=h1,p=x}{host=h2}" },
	{ "sets: in the order of the question",
	  NULL,
	  { NULL },
	  0,
	  0,
	  { "p", "host" },
	  "{}{host=h2}{p=x,host=h1}" },
	{ "sets: a label that nobody has", NULL, { NULL }, 0, 0, { "nope" }, "{}" },
	{ "sets: of one service",
	  NULL,
	  { "{service_name=\"s1\"}" },
	  0,
	  0,
	  { "service_name", "p" },
	  "{service_name=s1}{service_name=s1,p=x}" },
	{ "sets: in a time",
	  NULL,
	  { NULL },
	  2500,
	  3500,
	  { "host", "service_name" },
	  "{host=h1,service_name=s1}" },
	{ "sets: of nobody", NULL, { "{host=\"h3\"}" }, 0, 0, { "host" }, "" },
	{ "sets: all labels",
	  NULL,
	  { "{host=\"h2\"}" },
	  0,
	  0,
	  { NULL },
	  "{__name__=process_cpu,__period_type__=cpu,__period_unit__=nanoseconds,__profile_type__"
	  "=" CPU ",__type__=cpu,__unit__=nanoseconds,host=h2,service_name=s1}" },
};

static void test_sets(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct query_label_sets found;
	struct asked a;

	ask(&a, *state);
	assert_int_equal(query_label_sets(&a.q, a.q.call_site, a.q.n_call_site, &found), 0);
	for (size_t i = 0; i < found.n; i++) {
		for (size_t k = 0; k < found.items[i].n; k++)
			(void)buf_printf(&text, "%c%s=%s", k ? ',' : '{',
					 found.items[i].items[k].name,
					 found.items[i].items[k].value);
		(void)buf_append_str(&text, found.items[i].n ? "}" : "{}");
	}
	assert_string_equal(buf_str(&text), ((const struct row *)*state)->expected);
	query_label_sets_fini(&found);
	asked_fini(&a);
}

struct span_row {
	const char *name;
	bool by_span;
	uint64_t ids[3]; /* up to 0 */
	const char *call_site;
	const char *expected;
};

static const struct span_row span_rows[] = {
	{ "spans: not asked for",
	  false,
	  { 0 },
	  NULL,
	  "total 0 2131\n.a 1 2130\n..b 2122 2124\n...c 2 2\n..d 5 5\n.e 1 1\n" },
	{ "spans: one",
	  true,
	  { 0x10 },
	  NULL,
	  "total 0 2022\n.a 0 2022\n..b 2020 2022\n...c 2 2\n" },
	{ "spans: two",
	  true,
	  { 0x10, 0xffffffffffffffff },
	  NULL,
	  "total 0 2127\n.a 0 2127\n..b 2120 2122\n...c 2 2\n..d 5 5\n" },
	{ "spans: of a call site", true, { 0x10, UINT64_MAX }, "e", "total 0 0\n" },
	{ "spans: nobody's", true, { 0x11 }, NULL, "total 0 0\n" },
	{ "spans: none", true, { 0 }, NULL, "total 0 0\n" },
};

static void test_spans(void **state)
{
	const struct span_row *row = *state;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct context w;
	struct query q;

	context_init(&w);
	context_put(&w, 0, "s=a", 1, "a 1\na;b 2\na;b;#10 20\na;b;#ffffffffffffffff 100\ne 1\n");
	context_put(&w, 1, "s=a", 2, "a;b;#10 2000\na;b;c;#10 2\na;d;#ffffffffffffffff 5\n");
	context_close(&w);
	q = context_query(&w);
	q.by_span = row->by_span;
	q.span_ids = row->ids;
	while (row->ids[q.n_span_ids])
		q.n_span_ids++;
	q.call_site = &row->call_site;
	q.n_call_site = row->call_site != NULL;
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(&q, CALL_LEFT, t), 0);
	assert_int_equal(call_tree_finish(t), 0);
	tree_text(t, false, &text);
	assert_string_equal(buf_str(&text), row->expected);
	context_fini(&w);
}

static void test_ceiling(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_buf_ struct buf folded = BUF_INIT((size_t)1 << 20);
	struct context w;
	struct query q;

	(void)state;
	context_init(&w);
	for (size_t i = 0; i < 4000; i++)
		(void)buf_printf(&folded, "f%zu 1\n", i);
	context_put(&w, 0, "s=a", 1, buf_str(&folded));
	context_close(&w);
	q = context_query(&w);
	assert_int_equal(call_tree_new(NULL, (size_t)128 << 10, &t), 0);
	assert_int_equal(query_tree(&q, CALL_LEFT, t), -ENOBUFS);
	context_fini(&w);
}

static void test_given_up(void **state)
{
	static const struct row row = { .selectors = { "{host!~\"(x+x+)+y\"}" } };
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	struct query_names found = { 0 };
	struct asked a;
	struct context w;

	(void)state;
	ask(&a, &row);
	context_init(&w);
	context_put(&w, 0, "host=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxyz", 1, "f 1");
	context_close(&w);
	a.q.view = &w.view;
	assert_int_equal(call_tree_new(NULL, (size_t)1 << 20, &t), 0);
	assert_int_equal(query_tree(&a.q, CALL_LEFT, t), -ETIMEDOUT);
	assert_int_equal(query_label_names(&a.q, &found), -ETIMEDOUT);
	assert_null(found.items);
	context_fini(&w);
	asked_fini(&a);
}

/* One label, asked for so many times. */
static int ask_wide(const struct query *q, size_t n_names, struct query_label_sets *ret_found)
{
	_cleanup_free_ const char **wanted = malloc(n_names * sizeof(*wanted));

	assert_non_null(wanted);
	for (size_t i = 0; i < n_names; i++)
		wanted[i] = "wide";
	return query_label_sets(q, wanted, n_names, ret_found);
}

/* The ceiling is that of the whole answer: no set fails because it alone is long. */
static void test_wide_sets(void **state)
{
	enum { VALUE_BYTES = 2000 };
	struct query_label_sets found = { 0 };
	char labels[16 + VALUE_BYTES] = "wide=";
	struct context w;
	struct query q;

	(void)state;
	memset(labels + strlen("wide="), 'x', VALUE_BYTES);
	labels[strlen("wide=") + VALUE_BYTES] = '\0';
	context_init(&w);
	context_put(&w, 0, labels, 1, "f 1");
	context_put(&w, 0, "s=a", 1, "f 1");
	context_close(&w);
	q = context_query(&w);
	assert_int_equal(ask_wide(&q, ((size_t)1 << 20) / VALUE_BYTES, &found), 0);
	assert_int_equal(found.n, 2);
	query_label_sets_fini(&found);
	assert_int_equal(ask_wide(&q, QUERY_MAX_BYTES / 2 / VALUE_BYTES, &found), -ENOBUFS);
	assert_null(found.items);
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_tree, trees, name),
	TEST_ROWS(test_names, names, name),
	TEST_ROWS(test_types, types, name),
	TEST_ROWS(test_hosts, hosts, name),
	TEST_ROWS(test_sets, sets, name),
	TEST_ROWS(test_spans, span_rows, name),
	TEST(test_two_sides),
	TEST(test_ceiling),
	TEST(test_given_up),
	TEST(test_wide_sets),
};

TEST_MAIN(tests)
