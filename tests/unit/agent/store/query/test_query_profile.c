/* SPDX-License-Identifier: Apache-2.0 */
/* One profile of all that is selected: every row once, stacks and sums as they went in. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/store/query/query_context.h"

typedef Perftools__Profiles__Profile profile_message;

static profile_message *ask(const struct query *q, size_t max_nodes)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(QUERY_MAX_BYTES);
	profile_message *p;

	assert_int_equal(query_profile(q, max_nodes, &bytes), 0);
	p = perftools__profiles__profile__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
	assert_non_null(p);
	assert_true(p->n_string_table > 0);
	assert_string_equal(p->string_table[0], "");
	return p;
}

static void done(profile_message *p)
{
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static const char *text(const profile_message *p, int64_t i)
{
	assert_in_range(i, 0, p->n_string_table - 1);
	return p->string_table[i];
}

/* Ids are places plus one. */
static void put_function(const profile_message *p, uint64_t id, int64_t line, struct buf *out)
{
	assert_in_range(id, 1, p->n_function);
	const Perftools__Profiles__Function *f = p->function[id - 1];

	assert_int_equal(f->id, id);
	(void)buf_append_str(out, text(p, f->name));
	if (f->system_name || f->filename || f->start_line || line)
		(void)buf_printf(out, "(%s %s:%" PRId64 " %" PRId64 ")", text(p, f->system_name),
				 text(p, f->filename), f->start_line, line);
}

static void put_location(const profile_message *p, uint64_t id, struct buf *out)
{
	assert_in_range(id, 1, p->n_location);
	const Perftools__Profiles__Location *l = p->location[id - 1];
	const Perftools__Profiles__Mapping *m = NULL;

	assert_int_equal(l->id, id);
	assert_in_range(l->mapping_id, 0, p->n_mapping);
	if (l->mapping_id) {
		m = p->mapping[l->mapping_id - 1];
		assert_int_equal(m->id, l->mapping_id);
	}
	for (size_t i = l->n_line; i-- > 0;) {
		put_function(p, l->line[i]->function_id, l->line[i]->line, out);
		if (i > 0)
			(void)buf_append_char(out, '|');
	}
	if (l->address)
		(void)buf_printf(out, "0x%" PRIx64, l->address);
	if (m && m->filename)
		(void)buf_printf(out, "[%s %s %" PRIx64 "-%" PRIx64 " %" PRIx64 " %d%d%d%d]",
				 text(p, m->filename), text(p, m->build_id), m->memory_start,
				 m->memory_limit, m->file_offset, m->has_functions,
				 m->has_filenames, m->has_line_numbers, m->has_inline_frames);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Stacks, the root first, in the order of their texts. */
static void profile_text(const profile_message *p, struct buf *out)
{
	char *lines[64];

	assert_true(p->n_sample <= ARRAY_SIZE(lines));
	for (size_t i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];
		struct buf line = BUF_INIT(65536);

		assert_true(s->n_location_id > 0);
		assert_int_equal(s->n_value, p->n_sample_type);
		for (size_t k = s->n_location_id; k-- > 0;) {
			put_location(p, s->location_id[k], &line);
			if (k > 0)
				(void)buf_append_char(&line, ';');
		}
		(void)buf_printf(&line, " %" PRId64, s->value[0]);
		lines[i] = buf_take(&line);
	}
	qsort(lines, p->n_sample, sizeof(lines[0]), compare);
	for (size_t i = 0; i < p->n_sample; i++) {
		(void)buf_printf(out, "%s\n", lines[i]);
		free(lines[i]);
	}
}

static void stacks_equal(const struct query *q, size_t max_nodes, const char *expected)
{
	_cleanup_buf_ struct buf found = BUF_INIT((size_t)1 << 20);
	profile_message *p = ask(q, max_nodes);

	profile_text(p, &found);
	assert_string_equal(buf_str(&found), expected);
	done(p);
}

static void test_spans(void **state)
{
	static const uint64_t ids[] = { 0x1f };
	struct context w;
	struct query q;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "s=1", 1000, "a;b 3\na;b;#1f 5\n0x10;#1f 7\na;b;c;#2f 11\n");
	context_close(&w);
	q = context_query(&w);
	stacks_equal(&q, 0, "0x10 7\na;b 8\na;b;c 11\n");
	q.by_span = true;
	q.span_ids = ids;
	q.n_span_ids = ARRAY_SIZE(ids);
	stacks_equal(&q, 0, "0x10 7\na;b 5\n");
	context_fini(&w);
}

static void test_stacks(void **state)
{
	const char *const site[] = { "a", "b" };
	struct context w;
	struct query q;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "s=1", 1000, "a;b 3\na 1\na|b;c 5\n0x10;a 2\n0x10 4\n");
	context_put(&w, 0, "s=1", 2000, "a;b 30\n");
	context_put(&w, 1, "s=2", 2000, "x;a;b 7\na;b 300\n");
	context_close(&w);
	q = context_query(&w);
	stacks_equal(&q, 0, "0x10 4\n0x10;a 2\na 1\na;b 333\na|b;c 5\nx;a;b 7\n");
	q.end_ms = 1999;
	stacks_equal(&q, 0, "0x10 4\n0x10;a 2\na 1\na;b 3\na|b;c 5\n");
	q.call_site = site;
	q.n_call_site = 2;
	stacks_equal(&q, 0, "a;b 3\na|b;c 5\n");
	context_fini(&w);
}

/* What is small is told by `other`, as in trees. */
static void test_max_nodes(void **state)
{
	struct context w;
	struct query q;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "s=1", 1000, "a;b 300\na;c 5\na;d 6\ne 1\ne;f 2\n");
	context_close(&w);
	q = context_query(&w);
	stacks_equal(&q, 3, "a;b 300\na;d 6\na;other 5\nother 3\n");
	stacks_equal(&q, 2, "a;b 300\na;other 11\nother 3\n");
	stacks_equal(&q, 6, "a;b 300\na;c 5\na;d 6\ne 1\ne;f 2\n");
	context_fini(&w);
}

static void test_head(void **state)
{
	struct context w;
	struct query q;
	profile_message *p;

	(void)state;
	context_init(&w);
	context_put_type(&w, 0, "s=1", "memory:alloc_space:bytes:space:bytes2", 1000, "a;b 3\n");
	context_close(&w);
	q = context_query(&w);
	q.start_ms = 500;
	q.end_ms = 1500;
	p = ask(&q, 0);
	assert_int_equal(p->n_sample_type, 1);
	assert_string_equal(text(p, p->sample_type[0]->type), "alloc_space");
	assert_string_equal(text(p, p->sample_type[0]->unit), "bytes");
	assert_string_equal(text(p, p->period_type->type), "space");
	assert_string_equal(text(p, p->period_type->unit), "bytes2");
	assert_int_equal(p->default_sample_type, p->sample_type[0]->type);
	assert_int_equal(p->period, CONTEXT_PERIOD);
	assert_int_equal(p->time_nanos, 1500000000);
	assert_int_equal(p->duration_nanos, 1000000000);
	done(p);
	q.end_ms = INT64_MAX;
	q.start_ms = INT64_MIN;
	p = ask(&q, 0);
	assert_int_equal(p->time_nanos, 0);
	assert_int_equal(p->duration_nanos, 0);
	done(p);
	context_fini(&w);
}

/* As empty as the real server's. */
static void test_nothing(void **state)
{
	struct context w;
	struct query q;
	profile_message *p;

	(void)state;
	context_init(&w);
	context_put(&w, 0, "s=1", 1000, "a;b 3\n");
	context_close(&w);
	q = context_query(&w);
	q.start_ms = 2000;
	p = ask(&q, 0);
	assert_int_equal(p->n_sample_type, 1);
	assert_int_equal(p->sample_type[0]->type, 0);
	assert_non_null(p->period_type);
	assert_int_equal(p->n_sample + p->n_location + p->n_function + p->n_mapping, 0);
	assert_int_equal(p->n_string_table, 1);
	assert_int_equal(p->time_nanos, 0);
	done(p);
	context_fini(&w);
}

static uint32_t put_full_function(struct head *h, const char *name)
{
	struct segment_function f = { context_text(h, name, 1), context_text(h, "_m", 2),
				      context_text(h, "m.c", 3), 9 };
	uint32_t number;

	assert_int_equal(head_function(h, &f, &number), 0);
	return number;
}

static uint32_t put_full_mapping(struct head *h, const char *filename, bool has_functions)
{
	struct segment_mapping m = { .start = 0x1000,
				     .limit = 0x9000,
				     .file_off = 0x100,
				     .filename = context_text(h, filename, strlen(filename)),
				     .build_id = context_text(h, "ab", 2),
				     .has_functions = has_functions,
				     .has_lines = true };
	uint32_t number;

	assert_int_equal(head_mapping(h, &m, &number), 0);
	return number;
}

/* Symbols of a stack of two locations, the inner one with an inlined call and an address; then it stands in segment `segment`. */
static void put_full(struct context *w, size_t segment, const char *other_texts_first)
{
	struct head *h = w->heads[segment];
	struct segment_line lines[2] = { { 0 } };
	struct segment_location l = { .lines = lines, .n_lines = 2, .address = 0x1234 };
	struct head_sample sample = { .value = 5 };
	uint32_t location;

	(void)context_text(h, other_texts_first, strlen(other_texts_first));
	l.mapping = put_full_mapping(h, "/bin/m", true);
	lines[0] = (struct segment_line){ put_full_function(h, "i"), 11 };
	lines[1] = (struct segment_line){ put_full_function(h, "m"), 12 };
	assert_int_equal(head_location(h, &l, &location), 0);
	sample.node = context_stack(h, str_from("root"));
	assert_int_equal(head_node(h, (struct segment_node){ sample.node, location }, &sample.node),
			 0);
	l = (struct segment_location){ .address = 0x77,
				       .mapping = put_full_mapping(h, "/bin/n", false) };
	assert_int_equal(head_location(h, &l, &location), 0);
	assert_int_equal(head_node(h, (struct segment_node){ sample.node, location }, &sample.node),
			 0);
	assert_int_equal(
		head_put(h, context_series(h, "s=1", CPU), 1000, CONTEXT_PERIOD, &sample, 1), 0);
}

/* All that is told of a frame, and the same rows of two segments are one. */
static void test_symbols(void **state)
{
	struct context w;
	struct query q;
	profile_message *p;

	(void)state;
	context_init(&w);
	put_full(&w, 0, "zzz");
	put_full(&w, 1, "aaa");
	context_close(&w);
	q = context_query(&w);
	stacks_equal(&q, 0,
		     "root;m(_m m.c:9 12)|i(_m m.c:9 11)0x1234[/bin/m ab 1000-9000 100 1010];"
		     "0x77[/bin/n ab 1000-9000 100 0010] 10\n");
	p = ask(&q, 0);
	assert_int_equal(p->n_location, 3);
	assert_int_equal(p->n_function, 3);
	/* Tools take the first one for the program itself: none stands for those that have none. */
	assert_int_equal(p->n_mapping, 2);
	assert_int_equal(p->n_string_table, 11);
	done(p);
	context_fini(&w);
}

/* More frames than the thread's stack or one message's first room would take. */
static void test_deep(void **state)
{
	_cleanup_buf_ struct buf folded = BUF_INIT((size_t)1 << 20);
	struct context w;
	struct query q;
	profile_message *p;

	(void)state;
	context_init(&w);
	for (size_t i = 0; i < 1000; i++)
		(void)buf_append_str(&folded, i % 2 ? ";a" : &";b"[i == 0]);
	(void)buf_append_str(&folded, " 3\n");
	context_put(&w, 0, "s=1", 1000, buf_str(&folded));
	context_close(&w);
	q = context_query(&w);
	p = ask(&q, 0);
	assert_int_equal(p->n_sample, 1);
	assert_int_equal(p->sample[0]->n_location_id, 1000);
	assert_int_equal(p->n_location, 2);
	done(p);
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST(test_stacks),  TEST(test_spans),	TEST(test_max_nodes), TEST(test_head),
	TEST(test_nothing), TEST(test_symbols), TEST(test_deep),
};

TEST_MAIN(tests)
