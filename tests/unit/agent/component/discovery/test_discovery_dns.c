/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.dns: its arguments. How names are looked up is tested with the engine. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/discovery/discovered.h"

#define NAME "discovery.dns.x"

static void test_no_names(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct fixture *f = *state;

	assert_loads(f, "discovery.dns \"x\" {\n\tnames = []\n}\n");
	assert_addresses(f, NAME, "");
	assert_int_equal(graph_run(f->graph, &why), 0);
	assert_string_equal(find(f, NAME)->health.message, "0 targets of 0 names");
}

/* No server is asked for what is no name, whatever this host's resolv.conf says. */
static void test_no_name(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct fixture *f = *state;

	assert_loads(f, "discovery.dns \"x\" {\n\tnames = [\"a..b.\"]\n}\n");
	assert_int_equal(graph_run(f->graph, &why), 0);
	assert_string_equal(find(f, NAME)->health.message, "waiting for the first answers");
	wait_found(f, NAME, "", "could not resolve \"a..b.\": a..b. is no domain name");
	assert_int_equal(find(f, NAME)->health.state, HEALTH_UNHEALTHY);
	assert_loads(f, "discovery.dns \"x\" {\n\tnames = [\"..\", \"a..b.\"]\n}\n");
	wait_found(f, NAME, "", "could not resolve \"..\": .. is no domain name; and 1 more names");
	assert_loads(f, "discovery.dns \"x\" {\n\tnames = []\n}\n");
	wait_found(f, NAME, "", "0 targets of 0 names");
}

static void test_types(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, "discovery.dns \"x\" {\n\tnames = [\"a\"]\n}\n");
	assert_loads(f, "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\ttype = \"srv\"\n}\n");
	assert_loads(f, "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\ttype = \"AAAA\"\n"
			"\tport = 80\n}\n");
}

static const struct mistake mistakes[] = {
	{ "no names", "discovery.dns \"x\" { }\n",
	  "a:1:1: missing required attribute \"names\"\n" },
	{ "type", "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\ttype = \"TXT\"\n}\n",
	  "a:1:1: invalid DNS-SD records type TXT\n" },
	{ "no port", "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\ttype = \"a\"\n}\n",
	  "a:1:1: a port is required in DNS-SD configs for all record types except SRV\n" },
	{ "port", "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\tport = 65536\n}\n",
	  "a:1:1: port must be from 0 to 65535\n" },
	{ "interval", "discovery.dns \"x\" {\n\tnames = [\"a\"]\n\trefresh_interval = \"0s\"\n}\n",
	  "a:1:1: refresh_interval must be greater than 0\n" },
};

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_no_names),
	FIXTURE_TEST(test_no_name),
	FIXTURE_TEST(test_types),
	TEST_ROWS(test_mistake, mistakes, name),
};

TEST_MAIN(tests)
