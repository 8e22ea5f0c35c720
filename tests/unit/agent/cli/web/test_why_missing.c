/* SPDX-License-Identifier: Apache-2.0 */
/* Why a process is not in the profiles, in words. */
#include <string.h>

#include "agent/cli/web/why_missing.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

#define EBPF "pyroscope.ebpf.host"

static const struct row {
	const char *name;
	struct why_missing facts;
	bool profiled;
	const char *why;
	const char *fix; /* "": none */
} rows[] = {
	{ "nobody profiles", { .pid = 7 }, false, "there is no pyroscope.ebpf", "add a block" },
	{ "it does not run",
	  { .pid = 7, .problem = "no BPF here" },
	  false,
	  "nothing is profiled: no BPF here",
	  "" },
	{ "zombie",
	  { .pid = 7, .component_id = EBPF, .ended = true, .n_samples = 1 },
	  false,
	  "it has ended",
	  "" },
	{ "no target",
	  { .pid = 7, .component_id = EBPF, .verdict = EBPF_UNTARGETED, .n_samples = 1 },
	  false,
	  "no target of " EBPF " selects it",
	  "{ __process_pid__ = \"7\" }" },
	{ "young container",
	  { .pid = 7, .component_id = EBPF, .verdict = EBPF_UNDECIDED, .n_samples = 3 },
	  true,
	  "its samples are kept until",
	  "" },
	{ "not met", { .pid = 7, .component_id = EBPF }, false, "not been met on a CPU yet", "" },
	{ "kernel thread, not met",
	  { .pid = 7, .component_id = EBPF, .kernel_thread = true },
	  false,
	  "not been met on a CPU yet",
	  "" },
	{ "kernel thread, left out",
	  { .pid = 7, .component_id = EBPF, .kernel_thread = true, .kernel_left_out = true },
	  false,
	  "kernel stacks are not collected",
	  "collect_kernel_profile" },
	{ "one sample",
	  { .pid = 7, .component_id = EBPF, .n_samples = 1, .idle_ns = 2 * NS_PER_S },
	  true,
	  "it is profiled: 1 sample, the last one 2 s ago",
	  "" },
	{ "idle for long",
	  { .pid = 7, .component_id = EBPF, .n_samples = 12, .idle_ns = 3700 * NS_PER_S },
	  true,
	  "12 samples, the last one 1 h 1 min ago; since then it has waited",
	  "" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf fix = BUF_INIT(4096);

	assert_int_equal(why_missing(&row->facts, &why, &fix), row->profiled);
	if (!strstr(buf_str(&why), row->why))
		fail_msg("%s", buf_str(&why));
	if (*row->fix ? !strstr(buf_str(&fix), row->fix) : fix.len > 0)
		fail_msg("fix: %s", buf_str(&fix));
}

static void test_unknown(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(65536);
	struct host_view view = { .place = HOST_PLACE_DOCKER };

	(void)state;
	why_unknown(4711, NULL, &why);
	assert_string_equal(buf_str(&why), "there is no process 4711");
	buf_reset(&why);
	view.found[HOST_CGROUP_NAMESPACE] = true;
	why_unknown(4711, &view, &why);
	assert_string_equal(buf_str(&why), "there is no process 4711");
	buf_reset(&why);
	view.found[HOST_PID_NAMESPACE] = true;
	why_unknown(4711, &view, &why);
	assert_non_null(strstr(buf_str(&why), host_view_missing(HOST_PID_NAMESPACE)));
	assert_non_null(strstr(buf_str(&why), host_view_fix(&view, HOST_PID_NAMESPACE)));
}

static const struct unit_test tests[] = {
	TEST(test_unknown),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
