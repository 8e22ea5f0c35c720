/* SPDX-License-Identifier: Apache-2.0 */
/* /pyroscope/render and the small paths beside it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>

#include "tests/unit/agent/store/api_context.h"

static void test_render(void **state)
{
	struct fixture *f = *state;
	char path[512];
	json_int_t version = 0, ticks = 0, start = 0, delta = 0;
	json_t *samples = NULL, *groups = NULL;
	const char *units = NULL;
	double sum = 0;

	(void)snprintf(path, sizeof(path),
		       "/pyroscope/render?query=" CPU "%%7B%%7D&from=now-1h&until=now&format=json&"
		       "groupBy=service_name");
	json_t *root = json_loads(get(f, path), 0, NULL);
	assert_int_equal(f->status, 200);
	assert_int_equal(json_unpack(root, "{s:I,s:{s:I},s:{s:s},s:{s:I,s:I,s:o},s:o}", "version",
				     &version, "flamebearer", "numTicks", &ticks, "metadata",
				     "units", &units, "timeline", "startTime", &start,
				     "durationDelta", &delta, "samples", &samples, "groups",
				     &groups),
			 0);
	assert_int_equal(version, 1);
	assert_int_equal(ticks, 300);
	assert_int_equal(delta, 15);
	assert_int_equal(start % 15, 0);
	assert_string_equal(units, "samples");
	assert_int_equal(json_object_size(groups), 2);
	for (size_t i = 0; i < json_array_size(samples); i++)
		sum += json_number_value(json_array_get(samples, i));
	assert_true(sum == 300);
	json_decref(root);
}

static void test_render_diff(void **state)
{
	struct fixture *f = *state;
	const char *text = get(f, "/pyroscope/render-diff?leftQuery=" CPU
				  "%7Bservice_name%3D%22one%22%7D&rightQuery=" CPU
				  "&leftFrom=now-1h&leftUntil=now&rightFrom=now-1h&rightUntil=now");

	assert_non_null(strstr(text, "\"format\":\"double\""));
	assert_non_null(strstr(text, "\"leftTicks\":200,\"rightTicks\":300"));
	json_t *root = json_loads(text, 0, NULL);
	assert_non_null(root);
	json_decref(root);
}

struct render_row {
	const char *query, *words;
};

static const struct render_row render_rows[] = {
	{ "", "\\\"query\\\" is required" },
	{ "?query=", "\\\"query\\\" is required" },
	{ "?query=%7B%7D", "must contain a profile-type selection" },
	{ "?query=a:b:c%7B%7D", "failed to parse \\\"query\\\"" },
	{ "?query=" CPU "%7Ba=", "parse error" },
	{ "?query=" CPU "&from=xyz", "\\\"from\\\" is not a time" },
	{ "?query=" CPU "&from=now&until=now-1h", "query start time is after end time" },
	{ "?query=" CPU "&from=0", "missing time range" },
	{ "?query=" CPU "&maxNodes=-1", "max flamegraph nodes limit must be set" },
	{ "?query=" CPU "&maxNodes=1048577", "is greater than allowed" },
	{ "-diff?leftQuery=" CPU, "\\\"rightQuery\\\" is required" },
	{ "-diff?leftQuery=" CPU "&rightQuery=a:b:c:d:e", "profile types must match" },
};

static void test_render_refused(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(render_rows); i++) {
		char path[512];

		(void)snprintf(path, sizeof(path), "/pyroscope/render%s", render_rows[i].query);
		assert_non_null(strstr(get(f, path), render_rows[i].words));
		assert_int_equal(f->status, 400);
		assert_string_equal(f->type, JSON);
	}
}

static void test_build_info(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(get(f, "/ready"), "ready");
	assert_string_equal(get(f, "/api/v1/status/buildinfo"),
			    "{\"status\":\"success\",\"data\":{\"version\":\"1.2.3\","
			    "\"revision\":\"\",\"branch\":\"\",\"buildUser\":\"\","
			    "\"buildDate\":\"\",\"goVersion\":\"\"}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILLED(test_render),
		FILLED(test_render_diff),
		FILLED(test_render_refused),
		TEST(test_build_info),
	};

	return cmocka_run_group_tests_name("agent/store/render", tests, NULL, NULL);
}
