/* SPDX-License-Identifier: Apache-2.0 */
/* What happened between two profiles that count from the start of a process. */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "agent/scrape/delta.h"
#include "agent/util/macro.h"
#include "pprof/profile.pb-c.h"
#include "tests/support/made_profile.h"

#define MEMORY "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
#define LOCKS "contentions/count delay/nanoseconds"
#define MAX_STEPS 4
#define MAX_BYTES ((size_t)1 << 20)
#define TIME_MS INT64_C(1700000000000)

/* One sample: "main;f 1,2 label=x"; several with '|' between. */
static void add_samples(struct made_profile *m, const char *text)
{
	char copy[1024], *rest = copy;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	for (char *one; (one = strsep(&rest, "|"));) {
		char *stack = strsep(&one, " "), *numbers = strsep(&one, " ");
		int64_t values[DELTA_MAX_VALUES] = { 0 };

		for (size_t i = 0; numbers && i < m->message.n_sample_type; i++)
			values[i] = strtoll(strsep(&numbers, ","), NULL, 10);
		made_profile_sample(m, stack, values, one);
	}
}

static uint8_t *pack(const char *types, const char *samples, int64_t time_ms, size_t *ret_n)
{
	struct made_profile m;

	made_profile_init(&m, types, "space/bytes", time_ms);
	if (*samples)
		add_samples(&m, samples);
	uint8_t *bytes = made_profile_pack(&m, ret_n);
	made_profile_fini(&m);
	return bytes;
}

static const char *function_of(const Perftools__Profiles__Profile *p, uint64_t location)
{
	const Perftools__Profiles__Location *l = p->location[location - 1];

	assert_int_equal(l->id, location);
	return p->string_table[p->function[l->line[0]->function_id - 1]->name];
}

/* As the samples above, in their order. */
static void write_samples(const Perftools__Profiles__Profile *p, struct buf *text)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];

		if (i > 0)
			(void)buf_append_char(text, '|');
		for (size_t l = s->n_location_id; l > 0; l--)
			(void)buf_printf(text, "%s%s", function_of(p, s->location_id[l - 1]),
					 l > 1 ? ";" : " ");
		for (size_t v = 0; v < s->n_value; v++)
			(void)buf_printf(text, "%s%lld", v ? "," : "", (long long)s->value[v]);
		for (size_t l = 0; l < s->n_label; l++)
			(void)buf_printf(text, "%s%s=%s", l ? "," : " ",
					 p->string_table[s->label[l]->key],
					 p->string_table[s->label[l]->str]);
	}
}

static Perftools__Profiles__Profile *unpack(const struct buf *bytes)
{
	Perftools__Profiles__Profile *p = perftools__profiles__profile__unpack(
		NULL, bytes->len, (const uint8_t *)buf_str(bytes));

	assert_non_null(p);
	return p;
}

static const struct row {
	const char *name, *types;
	struct {
		const char *in;
		enum delta_outcome outcome;
		const char *out;
	} steps[MAX_STEPS];
} rows[] = {
	{ "counts are taken off",
	  MEMORY,
	  { { "main;f 1,100,1,100|main;g 2,20,0,0", DELTA_FIRST, "main;f 0,0,1,100" },
	    { "main;f 4,400,2,200|main;g 2,20,0,0", DELTA_MADE, "main;f 3,300,2,200" },
	    { "main;f 4,400,0,0|main;g 3,30,0,0", DELTA_MADE, "main;g 1,10,0,0" } } },
	{ "a new stack has done all of it since",
	  LOCKS,
	  { { "main;f 1,5", DELTA_FIRST, "" },
	    { "main;f 1,5|main;g 7,70", DELTA_MADE, "main;g 7,70" } } },
	{ "nothing happened",
	  LOCKS,
	  { { "main;f 1,5", DELTA_FIRST, "" }, { "main;f 1,5", DELTA_MADE, "" } } },
	{ "empty before",
	  LOCKS,
	  { { "", DELTA_FIRST, "" }, { "main;f 3,9", DELTA_MADE, "main;f 3,9" } } },
	{ "equal samples are one",
	  LOCKS,
	  { { "main;f 1,5|main;f 2,6", DELTA_FIRST, "" },
	    { "main;f 4,6|main;g 1,1|main;f 2,10", DELTA_MADE, "main;f 3,5|main;g 1,1" } } },
	{ "labels tell samples apart, in any order",
	  LOCKS,
	  { { "f 1,5 a=x,b=y|f 2,6 a=x", DELTA_FIRST, "" },
	    { "f 2,6 a=x|f 4,9 b=y,a=x|f 1,1", DELTA_MADE, "f 3,4 b=y,a=x|f 1,1" } } },
	{ "another process",
	  LOCKS,
	  { { "f 9,9|g 1,1", DELTA_FIRST, "" },
	    { "f 2,2|g 4,4", DELTA_RESTARTED, "" },
	    { "f 3,5|g 4,4", DELTA_MADE, "f 1,3" } } },
	{ "what is in use is told of another process, too",
	  MEMORY,
	  { { "f 9,9,1,1", DELTA_FIRST, "f 0,0,1,1" },
	    { "f 2,2,2,2", DELTA_RESTARTED, "f 0,0,2,2" } } },
	{ "one count is less",
	  LOCKS,
	  { { "f 9,9", DELTA_FIRST, "" }, { "f 10,8", DELTA_RESTARTED, "" } } },
	{ "nothing counts from a start",
	  "cpu/nanoseconds",
	  { { "f 9", DELTA_NO_COUNTS, "f 9" }, { "f 9", DELTA_NO_COUNTS, "f 9" } } },
	{ "another unit is another type", "delay/count", { { "f 9", DELTA_NO_COUNTS, "f 9" } } },
	{ "no count is below zero",
	  LOCKS,
	  { { "f 9,9", DELTA_FIRST, "" },
	    { "f 10,-1", DELTA_MALFORMED, "" },
	    { "f 10,10", DELTA_MADE, "f 1,1" } } },
	{ "three values that count",
	  "delay/nanoseconds contentions/count alloc_space/bytes",
	  { { "f 1,1,1", DELTA_MALFORMED, "" } } },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(delta_freep) struct delta *d = NULL;

	assert_int_equal(delta_new(&d), 0);
	for (size_t i = 0; i < MAX_STEPS && row->steps[i].in; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES), text = BUF_INIT(MAX_BYTES);
		size_t n;
		uint8_t *plain = pack(row->types, row->steps[i].in, TIME_MS, &n);

		assert_int_equal(delta_apply(d, plain, n, &out), row->steps[i].outcome);
		free(plain);
		if (row->steps[i].outcome == DELTA_MALFORMED) {
			assert_int_equal(out.len, 0);
			continue;
		}
		Perftools__Profiles__Profile *p = unpack(&out);
		write_samples(p, &text);
		assert_string_equal(buf_str(&text), row->steps[i].out);
		perftools__profiles__profile__free_unpacked(p, NULL);
	}
}

/* From the second profile on it is known how long it was. */
static void test_duration(void **state)
{
	static const struct {
		int64_t time_ms, before_ns, expected_ns;
	} steps[] = {
		{ TIME_MS, 0, 0 },
		{ TIME_MS + 15000, 7, INT64_C(15000000000) },
		{ TIME_MS + 14000, 7, 7 }, /* its clock was set back */
	};
	_cleanup_(delta_freep) struct delta *d = NULL;

	(void)state;
	assert_int_equal(delta_new(&d), 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
		struct made_profile m;
		size_t n;

		made_profile_init(&m, LOCKS, "contentions/count", steps[i].time_ms);
		m.message.duration_nanos = steps[i].before_ns;
		uint8_t *plain = made_profile_pack(&m, &n);
		made_profile_fini(&m);
		assert_in_range(delta_apply(d, plain, n, &out), DELTA_MADE, DELTA_FIRST);
		free(plain);
		Perftools__Profiles__Profile *p = unpack(&out);
		assert_int_equal(p->duration_nanos, steps[i].expected_ns);
		assert_int_equal(p->time_nanos, steps[i].time_ms * 1000000);
		perftools__profiles__profile__free_unpacked(p, NULL);
	}
}

/* Locations without an address are told apart by their functions. */
static void test_without_addresses(void **state)
{
	_cleanup_(delta_freep) struct delta *d = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_BYTES);

	(void)state;
	assert_int_equal(delta_new(&d), 0);
	for (int i = 0; i < 2; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
		struct made_profile m;
		size_t n;

		made_profile_init(&m, LOCKS, "contentions/count", TIME_MS);
		add_samples(&m, i ? "g 5,5|f 3,3" : "f 1,1|g 2,2");
		for (size_t l = 0; l < m.message.n_location; l++)
			m.message.location[l]->address = 0;
		uint8_t *plain = made_profile_pack(&m, &n);
		made_profile_fini(&m);
		assert_int_equal(delta_apply(d, plain, n, &out), i ? DELTA_MADE : DELTA_FIRST);
		free(plain);
		Perftools__Profiles__Profile *p = unpack(&out);
		write_samples(p, &text);
		perftools__profiles__profile__free_unpacked(p, NULL);
	}
	assert_string_equal(buf_str(&text), "g 3,3|f 2,2");
	assert_int_equal(delta_n_stacks(d), 2);
}

/* What is remembered is that of the last profile. */
static void test_memory(void **state)
{
	_cleanup_(delta_freep) struct delta *d = NULL;

	(void)state;
	assert_int_equal(delta_new(&d), 0);
	for (int i = 0; i < 50; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
		char samples[64];
		size_t n;

		(void)snprintf(samples, sizeof(samples), "main;f%d 1,1|main;g 1,1", i);
		uint8_t *plain = pack(LOCKS, samples, TIME_MS, &n);
		assert_true(delta_apply(d, plain, n, &out) >= 0);
		free(plain);
		assert_int_equal(delta_n_stacks(d), 2);
	}
}

/* Each cut of a profile: never more than it is, and what was before stays. */
static void test_cut(void **state)
{
	_cleanup_(delta_freep) struct delta *d = NULL;
	_cleanup_buf_ struct buf first = BUF_INIT(MAX_BYTES);
	size_t n, n_samples;
	uint8_t *plain = pack(LOCKS, "main;f 1,5 a=x|main;g 2,6", TIME_MS, &n);

	(void)state;
	assert_int_equal(delta_new(&d), 0);
	assert_int_equal(delta_apply(d, plain, n, &first), DELTA_FIRST);
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
		uint8_t *cut = malloc(i ? i : 1); /* so that a byte too far is seen */

		assert_non_null(cut);
		memcpy(cut, plain, i);
		int r = delta_apply(d, cut, i, &out);
		assert_in_range(r, DELTA_MADE, DELTA_MALFORMED);
		(void)delta_look(cut, i, &n_samples);
		free(cut);
	}
	assert_true(delta_look(plain, n, &n_samples));
	assert_int_equal(n_samples, 2);
	free(plain);
}

static void test_look(void **state)
{
	static const char html[] = "<!DOCTYPE html><title>no profile</title>";
	size_t n_samples;

	(void)state;
	assert_false(delta_look((const uint8_t *)"", 0, &n_samples));
	assert_false(delta_look((const uint8_t *)html, sizeof(html) - 1, &n_samples));
}

/* No room for what comes out: what was before stays. */
static void test_no_room(void **state)
{
	_cleanup_(delta_freep) struct delta *d = NULL;
	_cleanup_buf_ struct buf small = BUF_INIT(8), out = BUF_INIT(MAX_BYTES);
	size_t n;
	uint8_t *plain = pack(LOCKS, "main;f 1,5", TIME_MS, &n);

	(void)state;
	assert_int_equal(delta_new(&d), 0);
	assert_int_equal(delta_apply(d, plain, n, &small), -ENOBUFS);
	assert_int_equal(delta_apply(d, plain, n, &out), DELTA_FIRST);
	free(plain);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_duration),
	TEST(test_without_addresses),
	TEST(test_memory),
	TEST(test_cut),
	TEST(test_look),
	TEST(test_no_room),
};

TEST_MAIN(tests)
