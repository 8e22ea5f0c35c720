/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.store, and what it says about itself. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include <errno.h>

#include "agent/component/receivers/store_args.h"
#include "agent/component/receivers/store_report.h"
#include "agent/util/clock.h"

static void test_defaults(void **state)
{
	struct store_args args;
	struct decoded d;

	(void)state;
	decode(&d, &store_schema, &(struct river_scope){ 0 }, "", &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(store_args_max_bytes(&args), 64 << 20);
	assert_int_equal(args.max_age_ns, 6 * 3600 * NS_PER_S);
	assert_string_equal(args.path, "");
	decoded_fini(&d);
}

static const struct row {
	const char *text;
	const char *message; /* NULL: accepted */
	uint64_t max_bytes;
} rows[] = {
	{ "max_bytes = \"4MiB\"", NULL, 4 << 20 },
	{ "max_bytes = \"4GiB\"", NULL, 4ULL << 30 },
	{ "max_bytes = \"100MB\"", NULL, 100000000 },
	{ "max_bytes = \"3MiB\"", "max_bytes must be between 4MiB and 4GiB", 0 },
	{ "max_bytes = \"5GiB\"", "max_bytes must be between 4MiB and 4GiB", 0 },
	{ "max_bytes = \"much\"", "max_bytes must be between 4MiB and 4GiB", 0 },
	{ "max_bytes = \"\"", "max_bytes must be between 4MiB and 4GiB", 0 },
	{ "max_age = \"1m\"", NULL, 64 << 20 },
	{ "max_age = \"720h\"", NULL, 64 << 20 },
	{ "max_age = \"59s\"", "max_age must be between 1m and 720h", 0 },
	{ "max_age = \"721h\"", "max_age must be between 1m and 720h", 0 },
	{ "max_age = \"-1h\"", "max_age must be between 1m and 720h", 0 },
	{ "path = \"/var/lib/x\"", NULL, 64 << 20 },
	{ "paths = \"x\"", "paths", 0 },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct store_args args = { 0 };
	struct decoded d;

	decode(&d, &store_schema, &(struct river_scope){ 0 }, row->text, &args);
	if (row->message) {
		assert_int_equal(d.result, RIVER_INVALID);
		assert_non_null(strstr(buf_str(&d.messages), row->message));
	} else {
		assert_string_equal(buf_str(&d.messages), "");
		assert_int_equal(store_args_max_bytes(&args), row->max_bytes);
	}
	decoded_fini(&d);
}

static void test_path(void **state)
{
	static const struct {
		const char *path, *storage, *expected;
	} paths[] = {
		{ "", "data/", "" },
		{ "store", "data/", "data/store" },
		{ "store", "/var/lib/xagent", "/var/lib/xagent/store" },
		{ "/store", "data/", "/store" },
		{ "store", "", "store" },
		{ "store", NULL, "store" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(64);
		struct store_args args = { .path = paths[i].path };

		assert_int_equal(store_args_path(&args, paths[i].storage, &out), 0);
		assert_string_equal(buf_str(&out), paths[i].expected);
	}
	_cleanup_buf_ struct buf small = BUF_INIT(4);
	assert_int_equal(store_args_path(&(struct store_args){ .path = "/long" }, "", &small),
			 -ENOBUFS);
}

static void test_health(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	struct store_report r = { .path = "", .last_refusal = "" };

	(void)state;
	r.stats.max_bytes = (size_t)64 << 20;
	store_report_health(&r, &out);
	assert_string_equal(buf_str(&out), "0 profiles in 0.0 of 64.0 MiB");
	buf_reset(&out);
	r.stats.n_profiles = 12;
	r.stats.bytes = (size_t)3 << 19;
	r.stats.oldest_ms = 1000;
	r.stats.newest_ms = 1000 + 7505 * 1000 + 999;
	r.stats.n_refused_profiles = 3;
	store_report_health(&r, &out);
	assert_string_equal(buf_str(&out), "12 profiles of 2h5m5s in 1.5 of 64.0 MiB; 3 refused");
	buf_reset(&out);
	r.last_refusal = "not a profile";
	r.open = true;
	store_report_health(&r, &out);
	assert_non_null(strstr(buf_str(&out), "; 3 refused, the last: not a profile"));
	assert_non_null(strstr(buf_str(&out), "; everybody who reaches this agent's address"));
}

static const struct unit_test tests[] = {
	TEST(test_defaults),
	TEST(test_path),
	TEST(test_health),
	TEST_ROWS(test_row, rows, text),
};

TEST_MAIN(tests)
