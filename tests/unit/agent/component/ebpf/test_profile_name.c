/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is called: by its target, by the configuration, by its event. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include "agent/component/ebpf/profile_name.h"
#include "agent/util/macro.h"

struct row {
	const char *series;
	enum event event;
	const char *given;
	const char *expected;
};

static const struct row rows[] = {
	{ "service_name=s", EVENT_CPU, NULL, "__name__=process_cpu|service_name=s" },
	{ "__name__=mine|service_name=s", EVENT_CPU, NULL, "__name__=mine|service_name=s" },
	{ "A=1|service_name=s", EVENT_CPU, NULL, "A=1|__name__=process_cpu|service_name=s" },
	{ "service_name=s", EVENT_TRACEPOINT, "fsyncs", "__name__=fsyncs|service_name=s" },
	{ "service_name=s", EVENT_TRACEPOINT, NULL, "__name__=tracepoint|service_name=s" },
	{ "__name__=mine|service_name=s", EVENT_TRACEPOINT, "fsyncs",
	  "__name__=fsyncs|service_name=s" },
};

static void test_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(labels_unrefp) struct labels *series = make_labels(rows[i].series);
		_cleanup_(labels_unrefp) struct labels *labels = NULL;

		assert_int_equal(profile_name_add(series, rows[i].event, rows[i].given, &labels),
				 0);
		assert_labels(labels, rows[i].expected);
	}
}

static void put(struct interval *i, const char *text, uint16_t source, uint64_t pc)
{
	_cleanup_(labels_unrefp) struct labels *labels = make_labels(text);
	const struct frame_ref frame = frame_ref_of_file(1, pc);
	bool is_new;
	struct samples samples = {
		.labels = labels,
		.event = source ? EVENT_TRACEPOINT : EVENT_CPU,
		.source = source,
		.values = (const int64_t[EVENT_MAX_VALUES]){ 1 },
		.frames = &frame,
		.n_user = 1,
		.count = 1,
	};

	assert_int_equal(interval_add(i, &samples, &is_new), 0);
}

static uint64_t n_samples(const struct interval *i, const char *text, uint16_t source)
{
	_cleanup_(labels_unrefp) struct labels *labels = make_labels(text);
	const struct series *s = interval_series(i, labels, source);

	return s ? s->n_samples : 0;
}

/* Two targets that differ by their name alone are one series of a tracepoint: two profiles of the same labels and time would replace each other. */
static void test_settle(void **state)
{
	struct interval *i = NULL;

	(void)state;
	assert_int_equal(interval_new(1, 1 << 20, &i), 0);
	for (uint16_t source = 0; source < 3; source++) {
		put(i, "__name__=one|a=1", source, 1);
		put(i, "__name__=two|a=1", source, 1);
		put(i, "a=1", source, 2);
		put(i, "__name__=one|a=2", source, 3);
	}
	assert_int_equal(profile_name_settle(i), 0);
	assert_int_equal(i->n_series, 4 + 2 + 2);
	assert_int_equal(i->n_samples, 12);
	assert_int_equal(n_samples(i, "__name__=one|a=1", 0), 1);
	assert_int_equal(n_samples(i, "__name__=two|a=1", 0), 1);
	for (uint16_t source = 1; source < 3; source++) {
		assert_int_equal(n_samples(i, "a=1", source), 3);
		assert_int_equal(n_samples(i, "a=2", source), 1);
	}
	interval_free(i);
}

static const struct unit_test tests[] = {
	TEST(test_each),
	TEST(test_settle),
};

TEST_MAIN(tests)
