/* SPDX-License-Identifier: Apache-2.0 */
/* The cap on series: who keeps a place, who goes into `other`. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "agent/profile/series_cap.h"
#include "tests/support/alloc_fail.h"

#define HOUR_NS SERIES_ACTIVE_NS
#define START_NS (1000 * NS_PER_S)
#define MAX_ALLOCATIONS 1000

static struct labels *make_other(void)
{
	const struct label items[] = { { "service_name", "other" }, { "host", "h" } };
	struct labels *l = NULL;

	assert_int_equal(labels_new(items, 2, &l), 0);
	return l;
}

static struct series_cap *make_cap(size_t max)
{
	_cleanup_(labels_unrefp) struct labels *other = make_other();
	struct series_cap *cap = NULL;

	assert_int_equal(series_cap_new(max, other, &cap), 0);
	return cap;
}

static struct interval *make_interval(void)
{
	struct interval *i = NULL;

	assert_int_equal(interval_new(PERIOD_NS, (size_t)16 << 20, &i), 0);
	return i;
}

static void add_samples(struct interval *i, const char *service, enum event event, unsigned int n)
{
	_cleanup_(labels_unrefp) struct labels *l =
		strcmp(service, "other") == 0 ? make_other() : make_service(service);

	for (unsigned int k = 0; k < n; k++) {
		const struct frame_ref frame = frame_ref_of_file(1, k);
		const int64_t value = 1;
		const struct samples one = { .labels = l,
					     .event = event,
					     .source = event == EVENT_CPU ? 0 : 31,
					     .values = &value,
					     .frames = &frame,
					     .n_user = 1,
					     .count = 1 };
		bool is_new;

		assert_int_equal(interval_add(i, &one, &is_new), 0);
	}
}

/* "a3 b2 !b1": three samples of a, two of b; and one of b, of another event. */
static struct interval *interval_of(const char *text)
{
	struct interval *i = make_interval();
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;

	assert_non_null(copy);
	while ((word = strsep(&rest, " "))) {
		size_t n = strcspn(word, "0123456789");
		unsigned int count = 0;

		for (const char *digit = word + n; *digit; digit++)
			count = count * 10 + (unsigned int)(*digit - '0');
		word[n] = '\0';
		bool is_other_event = word[0] == '!';
		if (n)
			add_samples(i, word + is_other_event,
				    is_other_event ? EVENT_TRACEPOINT : EVENT_CPU, count);
	}
	return i;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As interval_of() has it, by name. */
static void assert_interval(const struct interval *i, const char *expected)
{
	char *words[64], text[1024] = "";
	size_t n = 0, len = 0;

	for (const struct series *s = i->series; s; s = s->next) {
		assert_true(n < ARRAY_SIZE(words));
		assert_true(asprintf(&words[n++], "%s%s%u", s->event == EVENT_CPU ? "" : "!",
				     series_name(s), (unsigned int)s->n_samples) > 0);
	}
	qsort(words, n, sizeof(words[0]), by_text);
	for (size_t k = 0; k < n; k++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", k ? " " : "",
					words[k]);
		free(words[k]);
	}
	assert_string_equal(text, expected);
}

/* One interval after the other, each with the text of who is left and how many places are taken. */
struct step {
	uint64_t after_ns; /* since the first */
	const char *given;
	const char *left;
	size_t n_active;
	size_t n_folded;
	uint64_t n_folded_samples;
	const char *biggest; /* NULL: none */
};

#define MAX_STEPS 5
struct row {
	const char *name;
	size_t max;
	struct step steps[MAX_STEPS];
};

static const struct row rows[] = {
	{ "all fit", 3, { { 0, "a1 b2 c3", "a1 b2 c3", 3, 0, 0, NULL } } },
	{ "nothing was sampled", 3, { { 0, "", "", 0, 0, 0, NULL } } },
	{ "one too many: other takes a place, so two go",
	  3,
	  { { 0, "a1 b2 c3 d4", "c3 d4 other3", 3, 2, 3, "b" } } },
	{ "equal shares: by their labels",
	  3,
	  { { 0, "d1 c1 b1 a1", "a1 b1 other2", 3, 2, 2, "c" } } },
	{ "each event is a series, and has an other of its own: the last one folded needs a place, "
	  "too",
	  4,
	  { { 0, "a9 !a8 b7 !b2 c1", "!a8 !other2 a9 other8", 4, 3, 10, "b" },
	    { 1, "a9 !a8", "!a8 a9", 4, 0, 0, NULL } } },
	{ "what fits is not folded for another event's sake",
	  3,
	  { { 0, "a9 !a8 !b1", "!a8 !b1 a9", 3, 0, 0, NULL } } },
	{ "a cap of one", 1, { { 0, "a1 b5", "other6", 1, 2, 6, "b" } } },
	{ "less than one for each event: an other each is the least",
	  1,
	  { { 0, "a1 b2 !b5", "!other5 other3", 2, 3, 8, "b" } } },
	{ "a cap of one is enough for one", 1, { { 0, "a1", "a1", 1, 0, 0, NULL } } },
	{ "small ones that were first stay",
	  3,
	  { { 0, "a1 b1", "a1 b1", 2, 0, 0, NULL },
	    { 1, "a1 b1 c100 d50", "a1 b1 other150", 3, 2, 150, "c" } } },
	{ "a place is kept by who is silent",
	  3,
	  { { 0, "a1 b1", "a1 b1", 2, 0, 0, NULL },
	    { HOUR_NS, "c9 d8", "other17", 3, 2, 17, "c" },
	    { HOUR_NS, "a2 b1 c9", "a2 b1 other9", 3, 1, 9, "c" } } },
	{ "but not from who has a hundredth of all samples",
	  3,
	  { { 0, "a2 b1", "a2 b1", 2, 0, 0, NULL },
	    { 1, "c90 d80", "c90 d80", 3, 0, 0, NULL },
	    { 2, "c9800 d110 e99 f8", "c9800 d110 other107", 3, 2, 107, "e" } } },
	{ "all are relabelled into one, after some were folded",
	  3,
	  { { 0, "a4 b3 c2 d1", "a4 b3 other3", 3, 2, 3, "c" },
	    { 1, "all90", "all90", 3, 0, 0, NULL } } },
	{ "an hour later it is free",
	  3,
	  { { 0, "a1 b1", "a1 b1", 2, 0, 0, NULL },
	    { HOUR_NS + 1, "c9 d8", "c9 d8", 2, 0, 0, NULL } } },
	{ "being sent renews it",
	  2,
	  { { 0, "a1", "a1", 1, 0, 0, NULL },
	    { HOUR_NS, "a1", "a1", 1, 0, 0, NULL },
	    { HOUR_NS + 1, "a1 b9 c9", "a1 other18", 2, 2, 18, "b" } } },
	{ "other gives its place back after an hour",
	  2,
	  { { 0, "a5 b2 c1", "a5 other3", 2, 2, 3, "b" },
	    { 1, "a5 b2", "a5 other2", 2, 1, 2, "b" },
	    { HOUR_NS + 2, "a5 b2", "a5 b2", 2, 0, 0, NULL } } },
	{ "all places are taken: the smallest active one makes room for other",
	  3,
	  { { 0, "a3 b1 c2", "a3 b1 c2", 3, 0, 0, NULL },
	    { 1, "a1 b2 c3 d9", "b2 c3 other10", 3, 2, 10, "d" } } },
	{ "… a silent one before all others",
	  3,
	  { { 0, "a3 b1 c2", "a3 b1 c2", 3, 0, 0, NULL },
	    { 1, "b1 c2 d9", "b1 c2 other9", 3, 1, 9, "d" },
	    { 2, "a7 b1 c2", "b1 c2 other7", 3, 1, 7, "a" } } },
	{ "who was folded is as new as the others",
	  2,
	  { { 0, "a3 b2 c1", "a3 other3", 2, 2, 3, "b" },
	    { HOUR_NS + 1, "b1 c2 d3", "d3 other3", 2, 2, 3, "c" } } },
	{ "a service that is called other with the same labels",
	  2,
	  { { 0, "other4 a3 b2", "a3 other6", 2, 1, 2, "b" },
	    { 1, "other4 a3", "a3 other4", 2, 0, 0, NULL } } },
	{ "it takes one place",
	  3,
	  { { 0, "other4 a3 b2", "a3 b2 other4", 3, 0, 0, NULL },
	    { 1, "a3 b2 c1", "a3 b2 other1", 3, 1, 1, "c" } } },
};

static void check_step(struct series_cap *cap, const struct step *step)
{
	_cleanup_(interval_freep) struct interval *i = interval_of(step->given);
	uint64_t n_samples = i->n_samples;
	struct series_cap_folded f;

	assert_int_equal(series_cap_apply(cap, i, START_NS + step->after_ns, &f), 0);
	assert_interval(i, step->left);
	assert_int_equal(i->n_samples, n_samples);
	assert_int_equal(series_cap_n_active(cap), step->n_active);
	assert_int_equal(f.n_series, step->n_folded);
	assert_int_equal(f.n_samples, step->n_folded_samples);
	assert_int_equal(!f.biggest, !step->biggest);
	if (step->biggest)
		assert_string_equal(labels_get(f.biggest, "service_name"), step->biggest);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(row->max);

	for (size_t k = 0; k < MAX_STEPS && row->steps[k].given; k++)
		check_step(cap, &row->steps[k]);
}

/* In any order of arrival: the same ones stay. */
static void test_501_equal_series(void **state)
{
	for (unsigned int stride = 1; stride <= 4; stride *= 2) {
		_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(SERIES_CAP_DEFAULT);
		_cleanup_(interval_freep) struct interval *i = make_interval();
		struct series_cap_folded f;

		for (unsigned int k = 0; k < 501; k++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "s%03u", k * stride % 501);
			add_samples(i, name, EVENT_CPU, 1);
		}
		assert_int_equal(series_cap_apply(cap, i, START_NS, &f), 0);
		assert_int_equal(i->n_series, 500);
		assert_int_equal(i->n_samples, 501);
		assert_int_equal(f.n_series, 2);
		for (const struct series *s = i->series; s; s = s->next)
			if (strcmp(series_name(s), "other") != 0)
				assert_true(strcmp(series_name(s), "s499") < 0);
		assert_string_equal(labels_get(f.biggest, "service_name"), "s499");
	}
	(void)state;
}

/* Whatever comes, at most so many places are remembered, and no sample is lost. */
static void test_bounded(void **state)
{
	_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(10);
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		_cleanup_(interval_freep) struct interval *i = make_interval();
		struct series_cap_folded f;
		uint64_t n_samples;

		for (unsigned int k = 0; k < round % 40; k++) {
			char name[16];

			random = hash_u64(random + round);
			(void)snprintf(name, sizeof(name), "s%u", (unsigned int)(random % 100));
			add_samples(i, name, EVENT_CPU, 1 + (unsigned int)(random >> 32) % 5);
		}
		n_samples = i->n_samples;
		assert_int_equal(series_cap_apply(cap, i, START_NS + round * (HOUR_NS / 7), &f), 0);
		assert_true(series_cap_n_active(cap) <= 10);
		assert_true(i->n_series <= 10);
		assert_int_equal(i->n_samples, n_samples);
	}
}

static void test_other_cap(void **state)
{
	_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(4);
	_cleanup_(labels_unrefp) struct labels *other = make_other();

	(void)state;
	check_step(cap, &(struct step){ 0, "a4 b3 c2 d1", "a4 b3 c2 d1", 4, 0, 0, NULL });
	series_cap_set(cap, 2, other);
	assert_int_equal(series_cap_max(cap), 2);
	check_step(cap, &(struct step){ 1, "a1 b2 c3 d4", "d4 other6", 2, 3, 6, "c" });
	series_cap_set(cap, 4, other);
	check_step(cap, &(struct step){ 2, "a1 b2 c3 d4", "b2 c3 d4 other1", 4, 1, 1, "a" });
}

/* Another host name: the old `other` is a series like any other, and the new one is none. */
static void test_other_labels(void **state)
{
	_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(2);
	_cleanup_(labels_unrefp) struct labels *rest = make_service("rest");

	(void)state;
	check_step(cap, &(struct step){ 0, "a4 b3 c2", "a4 other5", 2, 2, 5, "b" });
	series_cap_set(cap, 2, rest);
	assert_int_equal(series_cap_n_active(cap), 1);
	check_step(cap, &(struct step){ 1, "a4 b3 c2", "a4 rest5", 2, 2, 5, "b" });
}

static void test_memory_runs_out(void **state)
{
	bool failed = true;

	(void)state;
	for (size_t nth = 1; failed; nth++) {
		_cleanup_(series_cap_freep) struct series_cap *cap = make_cap(3);
		_cleanup_(interval_freep) struct interval *i = interval_of("a1 b2 c3 d4 e5");
		struct series_cap_folded f = { .n_series = 99 };

		assert_true(nth < MAX_ALLOCATIONS);
		alloc_fail_arm(nth);
		int r = series_cap_apply(cap, i, START_NS, &f);
		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(f.n_series, failed ? 99 : 3);
		assert_int_equal(i->n_samples, 15);
		assert_int_equal(series_cap_apply(cap, i, START_NS + 1, &f), 0);
		assert_interval(i, "d4 e5 other6");
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_501_equal_series),
	TEST(test_bounded),
	TEST(test_other_cap),
	TEST(test_other_labels),
	TEST(test_memory_runs_out),
};

TEST_MAIN(tests)
