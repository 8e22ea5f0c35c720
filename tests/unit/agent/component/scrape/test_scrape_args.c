/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.scrape: what is refused, and which profiles they come to. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include "agent/component/scrape/scrape_args.h"
#include "agent/util/clock.h"

#define BOTH "targets = []\nforward_to = []\n"
#define NO_CPU "profiling_config { profile.process_cpu { enabled = false } }\n"

static const struct row {
	const char *name, *text;
	const char *message; /* NULL: accepted; then: */
	const char *
		profiles; /* those that are fetched, with their paths and "+" where they are made over a time */
	uint64_t seconds;
} rows[] = {
	{ "defaults", BOTH, NULL,
	  "memory /debug/pprof/allocs, block /debug/pprof/block, goroutine /debug/pprof/goroutine, "
	  "mutex /debug/pprof/mutex, process_cpu /debug/pprof/profile+",
	  14 },
	{ "an interval of a minute", BOTH "scrape_interval = \"60s\"\n", NULL, NULL, 59 },
	{ "a time of their own",
	  BOTH "scrape_interval = \"60s\"\ndelta_profiling_duration = \"20s\"\n", NULL, NULL, 20 },
	{ "other profiles",
	  BOTH "profiling_config {\nprofile.memory { path = \"/x\" }\nprofile.block { enabled = "
	       "false }\nprofile.goroutine { enabled = false }\nprofile.mutex { enabled = false "
	       "}\nprofile.fgprof { enabled = true }\nprofile.godeltaprof_memory { enabled = true "
	       "}\n}\n",
	  NULL,
	  "memory /x, process_cpu /debug/pprof/profile+, fgprof /debug/fgprof+, "
	  "godeltaprof_memory /debug/pprof/delta_heap",
	  14 },
	{ "custom ones",
	  BOTH
	  "profiling_config {\nprofile.custom \"wall\" {\nenabled = true\npath = \"/w\"\ndelta "
	  "= true\n}\nprofile.custom \"memory\" {\nenabled = true\npath = \"/m\"\n}\n"
	  "profile.custom \"off\" {\nenabled = false\npath = \"/o\"\n}\n}\n",
	  NULL,
	  "block /debug/pprof/block, goroutine /debug/pprof/goroutine, mutex /debug/pprof/mutex, "
	  "process_cpu /debug/pprof/profile+, wall /w+, memory /m",
	  14 },
	/* Without a profile that is made over a time an interval may be short. */
	{ "a short interval", BOTH NO_CPU "scrape_interval = \"1s\"\n", NULL, NULL, 0 },
	{ "parameters", BOTH "params = { \"gc\" = [\"1\"] }\n", NULL, NULL, 14 },
	{ "clustering", BOTH "clustering { enabled = true }\n", NULL, NULL, 14 },
	{ "an HTTP client", BOTH "basic_auth { username = \"u\" }\nfollow_redirects = false\n",
	  NULL, NULL, 14 },

	{ "no receivers", "targets = []\n", "missing required attribute \"forward_to\"", NULL, 0 },
	{ "no targets", "forward_to = []\n", "missing required attribute \"targets\"", NULL, 0 },
	{ "no timeout", BOTH "scrape_timeout = \"0s\"\n", "scrape_timeout must be greater than 0",
	  NULL, 0 },
	{ "no interval", BOTH NO_CPU "scrape_interval = \"0s\"\n",
	  "scrape_interval must be greater than 0", NULL, 0 },
	{ "too short an interval", BOTH "scrape_interval = \"1s\"\n",
	  "scrape_interval must be at least 2 seconds when using delta profiling", NULL, 0 },
	{ "too short a time", BOTH "delta_profiling_duration = \"1s\"\n",
	  "delta_profiling_duration must be larger than 1 second when using delta profiling", NULL,
	  0 },
	{ "too long a time", BOTH "delta_profiling_duration = \"15s\"\n",
	  "delta_profiling_duration must be at least 1 second smaller than scrape_interval when "
	  "using delta profiling",
	  NULL, 0 },
	{ "the default time is too long", BOTH "scrape_interval = \"10s\"\n",
	  "delta_profiling_duration must be at least 1 second smaller than scrape_interval when "
	  "using delta profiling",
	  NULL, 0 },
	{ "another scheme", BOTH "scheme = \"ftp\"\n", "scheme must be http or https", NULL, 0 },
	{ "two tokens", BOTH "bearer_token = \"a\"\nbearer_token_file = \"b\"\n",
	  "at most one of basic_auth, authorization, oauth2, bearer_token & bearer_token_file",
	  NULL, 0 },
	{ "an empty custom one", BOTH "profiling_config { profile.custom { } }\n",
	  "missing required attribute \"enabled\"", NULL, 0 },
	{ "a custom one without a name",
	  BOTH "profiling_config { profile.custom {\nenabled = true\npath = \"/x\"\n} }\n",
	  "a label is needed, what the profile is called", NULL, 0 },
	{ "two of one name",
	  BOTH "profiling_config {\nprofile.custom \"a\" {\nenabled = true\npath = \"/x\"\n}\n"
	       "profile.custom \"a\" {\nenabled = true\npath = \"/y\"\n}\n}\n",
	  "two blocks profile.custom have the same label", NULL, 0 },
	{ "a profile nobody knows", BOTH "profiling_config { profile.heap { } }\n",
	  "unrecognized block name \"profile.heap\"", NULL, 0 },
	{ "half a clustering", BOTH "clustering { }\n", "missing required attribute \"enabled\"",
	  NULL, 0 },
};

static void print_profiles(const struct scrape_rules *rules, struct buf *out)
{
	for (size_t i = 0; i < rules->n_profiles; i++) {
		const struct scrape_profile *p = &rules->profiles[i];

		if (p->enabled)
			(void)buf_printf(out, "%s%s %s%s", out->len ? ", " : "", p->name, p->path,
					 p->over_time ? "+" : "");
	}
}

static void look(const struct row *row, const struct scrape_args *args, struct decoded *d)
{
	_cleanup_buf_ struct buf profiles = BUF_INIT(4096);
	struct scraper_options options;
	struct scrape_rules rules;

	assert_string_equal(buf_str(&d->messages), "");
	assert_int_equal(scrape_args_rules(args, "pyroscope.scrape.x", &d->arena, &rules), 0);
	assert_int_equal(rules.seconds, row->seconds);
	assert_string_equal(rules.job_name, "pyroscope.scrape.x");
	print_profiles(&rules, &profiles);
	if (row->profiles)
		assert_string_equal(buf_str(&profiles), row->profiles);
	assert_int_equal(scrape_args_options(args, &d->arena, &options), 0);
	assert_int_equal(options.timeout_ns, 10 * NS_PER_S);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct scrape_args args = { .job_name = "" };
	struct decoded d;

	decode(&d, &scrape_schema, &(struct river_scope){ 0 }, row->text, &args);
	if (row->message) {
		assert_int_equal(d.result, RIVER_INVALID);
		if (!strstr(buf_str(&d.messages), row->message))
			assert_string_equal(buf_str(&d.messages), row->message);
	} else {
		look(row, &args, &d);
	}
	decoded_fini(&d);
}

static void test_what_is_given(void **state)
{
	static const char text[] = BOTH "job_name = \"j\"\nparams = { \"b\" = [], \"a\" = [\"1\", "
					"\"2\"] }\nscheme = \"https\"\nhttp_headers = { \"X-A\" = "
					"[\"b\"] }\nprofiling_config { path_prefix = \"/p\" }\n";
	struct scraper_options options;
	struct scrape_rules rules;
	struct scrape_args args;
	struct decoded d;

	(void)state;
	decode(&d, &scrape_schema, &(struct river_scope){ 0 }, text, &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(scrape_args_rules(&args, "x", &d.arena, &rules), 0);
	assert_string_equal(rules.job_name, "j");
	assert_string_equal(rules.scheme, "https");
	assert_string_equal(rules.path_prefix, "/p");
	assert_int_equal(rules.n_params, 2);
	assert_string_equal(rules.params[0].key, "a");
	assert_int_equal(rules.params[0].n_values, 2);
	assert_string_equal(rules.params[0].values[1], "2");
	assert_int_equal(scrape_args_options(&args, &d.arena, &options), 0);
	assert_int_equal(options.request.n_headers, 1);
	assert_string_equal(options.request.headers[0].name, "X-A");
	assert_true(options.request.follow_redirects);
	decoded_fini(&d);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_what_is_given),
};

TEST_MAIN(tests)
