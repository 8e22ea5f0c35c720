/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a process become labels of a target. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include "agent/discovery/process_target.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ALWAYS "__process_pid__=42|__process_start_time_ns__=5"

struct row {
	const char *name;
	struct discover_config config;
	const char *expected;
};

static const struct row rows[] = {
	{ "none", { 0 }, ALWAYS },
	{ "cwd", { .cwd = true }, "__meta_process_cwd=/srv|" ALWAYS },
	{ "exe", { .exe = true }, "__meta_process_exe=/bin/app|" ALWAYS },
	{ "commandline", { .commandline = true }, "__meta_process_commandline=app -x|" ALWAYS },
	{ "container_id", { .container_id = true }, "__container_id__=" ID "|" ALWAYS },
	{ "username", { .username = true }, "__meta_process_username=www|" ALWAYS },
	{ "uid", { .uid = true }, "__meta_process_uid=33|" ALWAYS },
	{ "cgroup_path", { .cgroup_path = true }, "__meta_process_cgroup_path=/a/b|" ALWAYS },
	{ "defaults", DISCOVER_CONFIG_DEFAULTS,
	  "__container_id__=" ID "|__meta_process_commandline=app -x|__meta_process_cwd=/srv|"
	  "__meta_process_exe=/bin/app|" ALWAYS },
};

static const struct process process = {
	.pid = 42,
	.start_ns = 5,
	.identity = { .exe = (char *)"/bin/app",
		      .comm = (char *)"app",
		      .cmdline = (char *)"app -x",
		      .cwd = (char *)"/srv",
		      .cgroup_path = (char *)"/a/b",
		      .cgroup.container_id = ID,
		      .uid = 33 },
};

static void test_labels(void **state)
{
	const struct row *row = *state;
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	assert_true(process_target_wanted(&process.identity));
	assert_int_equal(process_target_labels(&process, &row->config, "www", &l), 0);
	assert_labels(l, row->expected);
}

static void test_unknown_facts(void **state)
{
	(void)state;
	struct process p = { .pid = 1, .start_ns = UINT64_MAX };
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	p.identity.exe = p.identity.comm = p.identity.cmdline = p.identity.cwd =
		p.identity.cgroup_path = (char *)"";
	p.identity.uid = UINT32_MAX;
	assert_int_equal(process_target_labels(&p, &DISCOVER_CONFIG_DEFAULTS, "", &l), 0);
	assert_labels(l, "__process_pid__=1|__process_start_time_ns__=18446744073709551615");
}

static void test_wanted(void **state)
{
	(void)state;
	struct process_identity id = process.identity;

	id.kernel_thread = true;
	assert_false(process_target_wanted(&id));
	id.kernel_thread = false;
	id.exe = (char *)"";
	assert_false(process_target_wanted(&id));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_labels, rows, name),
	TEST(test_unknown_facts),
	TEST(test_wanted),
};

TEST_MAIN(tests)
