/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the registry and its text. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "agent/telemetry/metric.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define TEXT_MAX (8 << 20)

static const struct metric_family family_plain = {
	"app_plain", "A gauge.", METRIC_GAUGE, { NULL }
};
static const struct metric_family family_labels = { "app_requests_total",
						    "Requests \\ with\nline.",
						    METRIC_COUNTER,
						    { "endpoint", "code", NULL } };
static const struct metric_family family_hist = {
	"app_latency", "Seconds.", METRIC_HISTOGRAM, { "type", NULL }
};

static int setup(void **state)
{
	return telemetry_new((struct telemetry **)state);
}

static int teardown(void **state)
{
	telemetry_free(*state);
	return 0;
}

static void assert_has(struct telemetry *t, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);

	assert_int_equal(telemetry_text(t, &out), 0);
	if (!strstr(buf_str(&out), expected))
		fail_msg("no \"%s\" in:\n%s", expected, buf_str(&out));
}

static void test_counters_start_at_zero(void **state)
{
#define ASSERT_ZERO(name, help)                                                           \
	assert_has(*state, "# HELP xagent_" #name "_total " help "\n# TYPE xagent_" #name \
			   "_total counter\nxagent_" #name "_total 0\n");
	TELEMETRY_COUNTERS(ASSERT_ZERO)
#undef ASSERT_ZERO
}

static void test_count(void **state)
{
	telemetry_count(*state, TELEMETRY_samples_received, 3);
	telemetry_count(*state, TELEMETRY_samples_received, 1ULL << 60);
	assert_int_equal(telemetry_get(*state, TELEMETRY_samples_received), (1ULL << 60) + 3);
	assert_int_equal(telemetry_get(*state, TELEMETRY_samples_in_profiles), 0);
	assert_has(*state, "\nxagent_samples_received_total 1152921504606846979\n");
}

static void test_series_found_again(void **state)
{
	const char *ab_c[] = { "ab", "c" };
	const char *a_bc[] = { "a", "bc" };
	struct metric *m = telemetry_series(*state, &family_labels, ab_c);

	assert_ptr_equal(m,
			 telemetry_series(*state, &family_labels, (const char *[]){ "ab", "c" }));
	assert_ptr_not_equal(m, telemetry_series(*state, &family_labels, a_bc));
	metric_add(m, 2);
	metric_add(m, 5);
	assert_true(metric_value(m) == 7);
}

static void test_same_family_of_two_files(void **state)
{
	struct metric_family twin = family_labels;
	const char *values[] = { "u", "200" };

	assert_ptr_equal(telemetry_series(*state, &family_labels, values),
			 telemetry_series(*state, &twin, values));
}

static void test_escapes(void **state)
{
	metric_add(
		telemetry_series(*state, &family_labels, (const char *[]){ "a\"b\\c\nd", "\xff" }),
		1);
	assert_has(*state,
		   "# HELP app_requests_total Requests \\\\ with\\nline.\n"
		   "# TYPE app_requests_total counter\n"
		   "app_requests_total{endpoint=\"a\\\"b\\\\c\\nd\",code=\"\xef\xbf\xbd\"} 1\n");
}

static void test_long_value_is_cut(void **state)
{
	char value[2 * METRIC_MAX_VALUE_BYTES];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	struct metric *m = telemetry_series(*state, &family_labels, (const char *[]){ value, "" });
	assert_int_equal(strlen(m->values[0]), METRIC_MAX_VALUE_BYTES - 1);
}

static void test_order(void **state)
{
	(void)telemetry_series(*state, &family_labels, (const char *[]){ "b", "1" });
	(void)telemetry_series(*state, &family_plain, NULL);
	(void)telemetry_series(*state, &family_labels, (const char *[]){ "a", "2" });
	(void)telemetry_series(*state, &family_labels, (const char *[]){ "a", "1" });
	assert_has(*state, "app_plain 0\n# HELP app_requests_total Requests \\\\ with\\nline.\n"
			   "# TYPE app_requests_total counter\n"
			   "app_requests_total{endpoint=\"a\",code=\"1\"} 0\n"
			   "app_requests_total{endpoint=\"a\",code=\"2\"} 0\n"
			   "app_requests_total{endpoint=\"b\",code=\"1\"} 0\n");
}

static void test_gauge(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = { { 0.1, "\napp_plain 0.1\n" },
		     { 1.0 / 3, "\napp_plain 0.33333333333333331\n" },
		     { -2, "\napp_plain -2\n" },
		     { (double)INFINITY, "\napp_plain +Inf\n" },
		     { -(double)INFINITY, "\napp_plain -Inf\n" },
		     { (double)NAN, "\napp_plain NaN\n" } };
	struct metric *m = telemetry_series(*state, &family_plain, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		metric_set(m, rows[i].value);
		assert_has(*state, rows[i].text);
	}
	metric_set(m, 1.5);
	metric_add(m, 2);
	assert_true(metric_value(m) == 3.5);
}

/* CPU time of a small agent is far below a second for its first minutes. */
static void test_seconds_keep_fractions(void **state)
{
	static const struct metric_family family = {
		"app_cpu_seconds_total", "Time.", METRIC_SECONDS, { NULL }
	};

	metric_set(telemetry_series(*state, &family, NULL), 0.25);
	assert_has(*state, "# TYPE app_cpu_seconds_total counter\napp_cpu_seconds_total 0.25\n");
}

static void test_counter_set(void **state)
{
	struct metric *m = telemetry_series(*state, &family_labels, (const char *[]){ "a", "b" });

	metric_set(m, 41);
	metric_add(m, 1);
	assert_true(metric_value(m) == 42);
	metric_set(m, -1);
	assert_true(metric_value(m) == 0);
	metric_set(m, (double)NAN);
	assert_true(metric_value(m) == 0);
	metric_set(m, 1e30);
	assert_true(metric_value(m) == 18446744073709551616.0);
}

static void test_histogram(void **state)
{
	struct metric *m = telemetry_series(*state, &family_hist, (const char *[]){ "push" });
	static const double values[] = { 0.005, 0.02, 0.5, 99, (double)NAN };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		metric_observe(m, values[i]);
	assert_true(metric_value(m) == 4);
	assert_has(*state, "# TYPE app_latency histogram\n"
			   "app_latency_bucket{type=\"push\",le=\"0.005\"} 1\n"
			   "app_latency_bucket{type=\"push\",le=\"0.01\"} 1\n"
			   "app_latency_bucket{type=\"push\",le=\"0.025\"} 2\n"
			   "app_latency_bucket{type=\"push\",le=\"0.05\"} 2\n"
			   "app_latency_bucket{type=\"push\",le=\"0.1\"} 2\n"
			   "app_latency_bucket{type=\"push\",le=\"0.25\"} 2\n"
			   "app_latency_bucket{type=\"push\",le=\"0.5\"} 3\n"
			   "app_latency_bucket{type=\"push\",le=\"1\"} 3\n"
			   "app_latency_bucket{type=\"push\",le=\"2.5\"} 3\n"
			   "app_latency_bucket{type=\"push\",le=\"5\"} 3\n"
			   "app_latency_bucket{type=\"push\",le=\"10\"} 3\n"
			   "app_latency_bucket{type=\"push\",le=\"+Inf\"} 4\n"
			   "app_latency_sum{type=\"push\"} 99.525\n"
			   "app_latency_count{type=\"push\"} 4\n");
}

static void on_scrape(struct telemetry *t, void *data)
{
	metric_set(telemetry_series(t, &family_plain, NULL), ++*(int *)data);
}

static void test_scrape(void **state)
{
	int n = 0;

	assert_int_equal(telemetry_on_scrape(*state, on_scrape, &n), 0);
	assert_has(*state, "\napp_plain 1\n");
	assert_has(*state, "\napp_plain 2\n");
	telemetry_off_scrape(*state, on_scrape, &n);
	assert_has(*state, "\napp_plain 2\n");
}

static void test_too_many_series(void **state)
{
	char value[32];
	struct telemetry *t = *state;

	for (int i = 0; i < TELEMETRY_MAX_SERIES; i++) {
		(void)snprintf(value, sizeof(value), "%d", i);
		metric_add(telemetry_series(t, &family_labels, (const char *[]){ "u", value }), 1);
	}
	assert_int_equal(t->series.n, TELEMETRY_MAX_SERIES);
	struct metric *m = telemetry_series(t, &family_labels, (const char *[]){ "one", "more" });
	assert_non_null(m);
	metric_add(m, 1);
	metric_observe(telemetry_series(t, &family_hist, (const char *[]){ "more" }), 1);
	metric_set(telemetry_series(t, &family_plain, NULL), 1);
	/* What was there before is still found. */
	assert_ptr_not_equal(m, telemetry_series(t, &family_labels, (const char *[]){ "u", "0" }));
}

static void test_text_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(100);

	assert_int_equal(telemetry_text(*state, &out), -ENOBUFS);
}

static void *count_in_thread(void *data)
{
	for (int i = 0; i < 10000; i++)
		telemetry_count(data, TELEMETRY_files_opened, 1);
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[2];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_in_thread, *state), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(telemetry_get(*state, TELEMETRY_files_opened), 20000);
}

/* What is counted afterwards is in the next one. */
static void test_snapshot_is_of_one_moment(void **state)
{
	static const struct metric_family seconds = { "test_snapshot_seconds", "Help.", METRIC_HISTOGRAM, { NULL } };
	_cleanup_(telemetry_snapshot_freep) struct telemetry_snapshot *s = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	struct telemetry *t = *state;
	struct metric *m = telemetry_series(t, &seconds, NULL);

	metric_observe(m, 1);
	assert_int_equal(telemetry_snapshot_new(t, &s), 0);
	metric_observe(m, 1);
	telemetry_count(t, TELEMETRY_samples_received, 7);
	assert_int_equal(telemetry_snapshot_text(s, &out), 0);
	assert_non_null(strstr(buf_str(&out), "\ntest_snapshot_seconds_sum 1\ntest_snapshot_seconds_count 1\n"));
	assert_non_null(strstr(buf_str(&out), "\nxagent_samples_received_total 0\n"));
	assert_has(t, "\ntest_snapshot_seconds_count 2\n");
	assert_has(t, "\nxagent_samples_received_total 7\n");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_snapshot_is_of_one_moment),
	FIXTURE_TEST(test_counters_start_at_zero),
	FIXTURE_TEST(test_count),
	FIXTURE_TEST(test_series_found_again),
	FIXTURE_TEST(test_same_family_of_two_files),
	FIXTURE_TEST(test_escapes),
	FIXTURE_TEST(test_long_value_is_cut),
	FIXTURE_TEST(test_order),
	FIXTURE_TEST(test_gauge),
	FIXTURE_TEST(test_seconds_keep_fractions),
	FIXTURE_TEST(test_counter_set),
	FIXTURE_TEST(test_histogram),
	FIXTURE_TEST(test_scrape),
	FIXTURE_TEST(test_too_many_series),
	FIXTURE_TEST(test_text_ceiling),
	FIXTURE_TEST(test_threads),
};

TEST_MAIN(tests)
