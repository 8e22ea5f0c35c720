/* SPDX-License-Identifier: Apache-2.0 */
/* Heatmaps, examples and what single profiles are called. Rows and counts are those of a Pyroscope 1.21 for the same values. */
#include "tests/unit/agent/store/query/query_context.h"

#include "agent/util/buf.h"

/* A step of 15 s, of which the first ends at the start. */
#define START 60000
#define END 120000

struct row {
	const char *name;
	bool of_spans;
	const char *group_by; /* NULL: nothing */
	size_t limit;
	const char *
		expected; /* {labels} [least,…,largest row] seconds behind the start: row*count… (value@seconds/span…) */
};

static void make_context(struct context *w)
{
	context_init(w);
	context_put(w, 0, "pod=a", START, "f;g 10\nf;#a1 20\nf;h;#a1 5\n");
	context_put(w, 0, "pod=b", START + 1000, "f;g 100\nf;#b2 4\n");
	context_put(w, 1, "pod=a", START + 14000, "f;g 35\n");
	context_put(w, 1, "pod=b", START + 15000, "f;g 104\n");
	context_put(w, 1, "pod=c", END, "f;g 7\n");
	context_put(w, 1, "pod=c", END + 1, "f;g 100000\n");
	context_close(w);
}

static const struct row rows[] = {
	{ "all", false, NULL, 0,
	  "{} [7,11,99] 0:5*1(35@0) 15:5*1,19*2(35@14,104@1) 60:0*1(7@60)\n" },
	{ "by pod", false, "pod", 0,
	  "{pod=a} [7,11,99] 0:5*1(35@0) 15:5*1(35@14)\n"
	  "{pod=b} [7,11,99] 15:19*2(104@1)\n"
	  "{pod=c} [7,11,99] 60:0*1(7@60)\n" },
	{ "the largest", false, "pod", 2,
	  "{pod=a} [7,11,99] 0:5*1(35@0) 15:5*1(35@14)\n"
	  "{pod=b} [7,11,99] 15:19*2(104@1)\n" },
	{ "spans", true, NULL, 0, "{} [4,5,23] 0:19*1(25@0/a1) 15:0*1(4@1/b2)\n" },
};

static void put_slot(const struct query_heatmap_slot *slot, struct buf *out)
{
	const char *between = "";

	(void)buf_printf(out, " %lld:", (long long)(slot->time_ms - START) / 1000);
	for (size_t i = 0; i < QUERY_HEATMAP_ROWS; i++) {
		if (slot->counts[i])
			(void)buf_printf(out, "%s%zu*%d", between, i, slot->counts[i]);
		between = slot->counts[i] ? "," : between;
	}
	for (size_t i = 0; i < slot->n_exemplars; i++) {
		const struct query_exemplar *e = &slot->exemplars[i];

		(void)buf_printf(out, "%s%lld@%lld", i ? "," : "(", (long long)e->value,
				 (long long)(e->time_ms - START) / 1000);
		if (e->span)
			(void)buf_printf(out, "/%llx", (unsigned long long)e->span);
	}
	(void)buf_append_str(out, slot->n_exemplars ? ")" : "");
}

static void put_map(const struct query_heatmap *map, struct buf *out)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct query_heatmap_series *s = &map->series[i];

		(void)buf_append_char(out, '{');
		for (size_t k = 0; k < s->labels.n; k++)
			(void)buf_printf(out, "%s=%s", s->labels.items[k].name,
					 s->labels.items[k].value);
		(void)buf_printf(out, "} [%lld,%lld,%lld]", (long long)map->y_min[0],
				 (long long)map->y_min[1],
				 (long long)map->y_min[QUERY_HEATMAP_ROWS - 1]);
		for (size_t k = 0; k < s->n_slots; k++)
			put_slot(&s->slots[k], out);
		(void)buf_append_char(out, '\n');
	}
}

static struct query query_of(const struct context *w)
{
	struct query q = context_query(w);

	q.start_ms = START;
	q.end_ms = END;
	return q;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	const struct query_series_options options = {
		.group_by = &row->group_by,
		.n_group_by = row->group_by ? 1 : 0,
		.step_s = 15,
		.exemplars = row->of_spans ? QUERY_EXEMPLARS_OF_SPANS : QUERY_EXEMPLARS_OF_PROFILES,
		.limit = row->limit,
	};
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	struct query_heatmap map;
	struct context w;

	make_context(&w);
	struct query q = query_of(&w);
	assert_int_equal(query_heatmap(&q, &options, row->of_spans, &map), 0);
	put_map(&map, &text);
	assert_string_equal(buf_str(&text), row->expected);
	query_heatmap_fini(&map);
	context_fini(&w);
}

/* Rows of few values, as the real server has them: a value is in the last row that begins with it. */
static void test_rows_of_few_values(void **state)
{
	static const struct {
		const char *values;
		int64_t y_min[3]; /* of rows 0, 1 and 19 */
		size_t row;	  /* of the least */
	} cases[] = {
		{ "f 10\n", { 10, 10, 10 }, 19 },
		{ "f 10\nf 1\n", { 11, 11, 11 }, 19 },
		{ "f 9223372036854775807\n", { INT64_MAX, INT64_MAX, INT64_MAX }, 19 },
	};
	const struct query_series_options options = { .step_s = 15 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct query_heatmap map;
		struct context w;

		context_init(&w);
		context_put(&w, 0, "s=a", START, cases[i].values);
		context_close(&w);
		struct query q = query_of(&w);
		assert_int_equal(query_heatmap(&q, &options, false, &map), 0);
		assert_int_equal(map.n, 1);
		assert_int_equal(map.y_min[0], cases[i].y_min[0]);
		assert_int_equal(map.y_min[1], cases[i].y_min[1]);
		assert_int_equal(map.y_min[19], cases[i].y_min[2]);
		assert_int_equal(map.series[0].slots[0].counts[cases[i].row], 1);
		assert_int_equal(map.series[0].slots[0].n_exemplars, 0);
		query_heatmap_fini(&map);
		context_fini(&w);
	}
}

/* The same name in the head and the segment, and of each profile another; with it the profile is found, and no other. */
static void test_profile_id(void **state)
{
	const struct query_series_options options = { .step_s = 15,
						      .exemplars = QUERY_EXEMPLARS_OF_PROFILES };
	char text[QUERY_PROFILE_ID_BYTES];
	struct query_series_list list;
	struct query_profile_id ids[3];
	struct call_tree *tree = NULL;
	struct context w;

	(void)state;
	make_context(&w);
	struct query q = query_of(&w);
	assert_int_equal(query_series(&q, &options, &list), 0);
	assert_int_equal(list.items[0].n_points, 3);
	for (size_t i = 0; i < 3; i++)
		ids[i] = query_exemplar_id(list.items[0].points[i].exemplar);
	assert_int_equal(list.items[0].points[1].exemplar->value, 104);
	assert_int_equal(list.items[0].points[1].exemplar->time_ms, START + 1000);
	query_series_list_fini(&list);
	for (size_t i = 0; i < 3; i++)
		assert_int_not_equal(query_profile_id_compare(&ids[i], &ids[(i + 1) % 3]), 0);

	query_profile_id_print(ids[1], text);
	assert_int_equal(strlen(text), QUERY_PROFILE_ID_BYTES - 1);
	assert_int_equal(text[14], '8');
	assert_true(query_profile_id_parse(text, &ids[0]));
	assert_int_equal(query_profile_id_compare(&ids[0], &ids[1]), 0);

	q.by_profile = true;
	q.profile_ids = &ids[1];
	q.n_profile_ids = 1;
	assert_int_equal(call_tree_new(NULL, SIZE_MAX, &tree), 0);
	assert_int_equal(query_tree(&q, CALL_LEFT, tree), 0);
	assert_int_equal(call_tree_finish(tree), 0);
	assert_int_equal(call_tree_node(tree, CALL_ROOT)->total[CALL_LEFT], 104);
	call_tree_free(tree);
	context_fini(&w);
}

static void test_texts_of_ids(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
		{ "7c9e6679-7425-40de-944b-e07fc1f90ae7", true },
		{ "7C9E6679742540DE944BE07FC1F90AE7", true },
		{ "7c9e6679-742540de944be07fc1f90ae7", false },
		{ "7c9e6679--7425-40de-944b-e07fc1f90ae", false },
		{ "-7c9e6679-7425-40de-944be07fc1f90ae7", false },
		{ "7c9e6679-7425-40de-944b-e07fc1f90ae", false },
		{ "7c9e6679-7425-40de-944b-e07fc1f90ae71", false },
		{ "7c9e6679-7425-40de-944b_e07fc1f90ae7", false },
		{ "", false },
		{ "x", false },
	};
	struct query_profile_id id;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(query_profile_id_parse(texts[i].text, &id), texts[i].valid);
	assert_true(query_profile_id_parse(texts[1].text, &id));
	assert_true(id.high == UINT64_C(0x7c9e6679742540de));
	assert_true(id.low == UINT64_C(0x944be07fc1f90ae7));
}

/* Examples of series may be of spans; labels but those that are asked for elsewhere. */
static void test_exemplars_of_spans(void **state)
{
	static const char *const without[] = { "pod" };
	const struct query_series_options options = { .step_s = 15,
						      .exemplars = QUERY_EXEMPLARS_OF_SPANS };
	struct query_series_list list;
	struct query_labels labels;
	struct context w;

	(void)state;
	make_context(&w);
	struct query q = query_of(&w);
	assert_int_equal(query_series(&q, &options, &list), 0);
	const struct query_point *points = list.items[0].points;
	assert_int_equal(points[0].exemplar->span, 0xa1);
	assert_int_equal(points[0].exemplar->value, 25);
	assert_int_equal(points[1].exemplar->span, 0xb2);
	assert_null(points[2].exemplar);
	assert_int_equal(query_exemplar_labels(points[0].exemplar, NULL, 0, NULL, &labels), 0);
	size_t n_all = labels.n;
	assert_string_equal(labels.items[n_all - 1].name, "pod");
	query_free(labels.items);
	assert_int_equal(query_exemplar_labels(points[0].exemplar, without, 1, NULL, &labels), 0);
	assert_int_equal(labels.n, n_all - 1);
	for (size_t i = 0; i < labels.n; i++)
		assert_string_not_equal(labels.items[i].name, "pod");
	query_free(labels.items);
	query_series_list_fini(&list);
	context_fini(&w);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name), TEST(test_rows_of_few_values), TEST(test_profile_id),
	TEST(test_texts_of_ids),	 TEST(test_exemplars_of_spans),
};

TEST_MAIN(tests)
