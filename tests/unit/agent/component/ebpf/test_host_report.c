/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a host that is not seen whole: health, metrics, debug information, the support bundle's lines. */
#include <string.h>

#include "agent/component/component.h"
#include "agent/component/ebpf/host_report.h"
#include "tests/support/unit.h"

static void test_nothing_to_tell(void **state)
{
	const struct host_view v = { .place = HOST_PLACE_MACHINE };
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)state;
	host_report_health(&v, true, &text);
	host_report_text(&v, &text);
	assert_string_equal(buf_str(&text), "");
}

static void test_health(void **state)
{
	struct host_view v = { .place = HOST_PLACE_KUBERNETES,
			       .found = { [HOST_PID_NAMESPACE] = true, [HOST_WSL2] = true } };
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)state;
	host_report_health(&v, true, &text);
	assert_string_equal(buf_str(&text),
			    "part of this host is not seen: processes outside of this pid "
			    "namespace have no number here: they are named after their control "
			    "group, their programs' functions have no names; to see it: write "
			    "`hostPID: true` into the pod's spec");
	v.found[HOST_HIDEPID] = v.found[HOST_CGROUP_NAMESPACE] = true;
	buf_reset(&text);
	host_report_health(&v, true, &text);
	assert_non_null(strstr(buf_str(&text), "spec (also: hidepid, cgroup_namespace)"));
	buf_reset(&text);
	host_report_health(&v, false, &text);
	assert_string_equal(buf_str(&text), "part of this host is not seen: pid_namespace, "
					    "hidepid, cgroup_namespace");
}

/* However much is found, what to write is not cut off; nor the names behind the longest of other texts. */
static void test_health_fits(void **state)
{
	struct host_view all = { .place = HOST_PLACE_MACHINE };
	_cleanup_buf_ struct buf names = BUF_INIT(4096);

	(void)state;
	for (int i = 0; i < HOST_FINDING_MAX; i++)
		all.found[i] = true;
	host_report_health(&all, false, &names);
	assert_in_range(names.len, 100, 130);
	for (int place = 0; place < HOST_PLACE_MAX; place++)
		for (int i = 0; i < HOST_FINDING_MAX; i++) {
			struct host_view v = { .place = (enum host_place)place };
			_cleanup_buf_ struct buf text = BUF_INIT(4096);

			v.found[i] = true;
			host_report_health(&v, true, &text);
			assert_in_range(text.len + names.len + strlen("profiling; "), 0,
					COMPONENT_MESSAGE_MAX - 1);
		}
}

static void test_metrics(void **state)
{
	const struct host_view v = { .found = { [HOST_PID_NAMESPACE] = true } };
	_cleanup_(telemetry_freep) struct telemetry *t = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	(void)state;
	assert_int_equal(telemetry_new(&t), 0);
	host_report_metrics(&v, t, "/", "pyroscope.ebpf.x");
	assert_int_equal(telemetry_text(t, &text), 0);
	for (int i = 0; i < HOST_FINDING_MAX; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(4096);

		(void)buf_printf(&line,
				 "xagent_host_view{component_path=\"/\",component_id=\"pyroscope."
				 "ebpf.x\",finding=\"%s\"} %d\n",
				 host_finding_name((enum host_finding)i), i == HOST_PID_NAMESPACE);
		assert_non_null(strstr(buf_str(&text), buf_str(&line)));
	}
}

static void test_value(void **state)
{
	const struct host_view v = { .place = HOST_PLACE_DOCKER,
				     .found = { [HOST_NO_CGROUP] = true } };
	const struct river_value *value, *finding;
	struct river_arena arena;

	(void)state;
	river_arena_init(&arena, 1 << 20);
	value = host_report_value(&v, &arena);
	assert_string_equal(river_value_get_string(river_value_find(value, "place"), NULL),
			    "docker");
	finding = river_value_item(river_value_find(value, "findings"), 0);
	assert_null(river_value_item(river_value_find(value, "findings"), 1));
	assert_string_equal(river_value_get_string(river_value_find(finding, "finding"), NULL),
			    "no_cgroup");
	assert_string_equal(river_value_get_string(river_value_find(finding, "fix"), NULL),
			    host_view_fix(&v, HOST_NO_CGROUP));
	assert_string_equal(river_value_get_string(river_value_find(finding, "missing"), NULL),
			    host_view_missing(HOST_NO_CGROUP));
	river_arena_fini(&arena);
}

static void test_lines(void **state)
{
	const struct host_view v = { .place = HOST_PLACE_DOCKER,
				     .found = { [HOST_NO_CGROUP] = true, [HOST_ORBSTACK] = true } };
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)state;
	host_report_text(&v, &text);
	const char *second = strstr(buf_str(&text), "\norbstack: ");
	assert_int_equal(
		strncmp(buf_str(&text), "no_cgroup: the host's cgroup2 is not mounted: ", 46), 0);
	assert_non_null(second);
	assert_non_null(
		strstr(buf_str(&text), "; `docker run -v /sys/fs/cgroup:/sys/fs/cgroup:ro`"));
}

static const struct unit_test tests[] = {
	TEST(test_nothing_to_tell),
	TEST(test_health),
	TEST(test_health_fits),
	TEST(test_metrics),
	TEST(test_value),
	TEST(test_lines),
};

TEST_MAIN(tests)
