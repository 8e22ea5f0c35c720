/* SPDX-License-Identifier: Apache-2.0 */
/* Which label of a target selects its processes. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include "agent/target/selector.h"
#include "agent/util/clock.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define PID "__process_pid__="
#define CONTAINER "__container_id__="
#define POD "__meta_kubernetes_pod_container_id="
#define DOCKER "__meta_docker_container_id="
#define SWARM "__meta_dockerswarm_task_container_id="

struct row {
	const char *name;
	const char *labels;
	uint32_t pid;
	const char *container;
};

static const struct row rows[] = {
	{ "nothing", "service_name=x", 0, NULL },
	{ "pid", PID "42", 42, NULL },
	{ "pid, largest", PID "4294967295", 4294967295u, NULL },
	{ "pid, leading zero", PID "007", 7, NULL },
	{ "pid too large", PID "4294967296", 0, NULL },
	{ "pid 0", PID "0", 0, NULL },
	{ "pid negative", PID "-1", 0, NULL },
	{ "pid with a sign", PID "+1", 0, NULL },
	{ "pid with a blank", PID " 1", 0, NULL },
	{ "pid hexadecimal", PID "0x10", 0, NULL },
	{ "pid is a word", PID "self", 0, NULL },
	{ "pid wins over container", PID "42|" CONTAINER A, 42, NULL },
	{ "bad pid falls through", PID "x|" CONTAINER A, 0, A },
	{ "pid 0 falls through", PID "0|" DOCKER A, 0, A },
	{ "pid with a start", PID "42|" SELECTOR_START_LABEL "=5", 42, NULL },
	{ "pid with a bad start falls through", PID "42|" SELECTOR_START_LABEL "=x|" CONTAINER A, 0,
	  A },
	{ "container", CONTAINER A, 0, A },
	{ "container of ECS", CONTAINER "fedcba9876543210fedcba9876543210-42", 0,
	  "fedcba9876543210fedcba9876543210-42" },
	{ "container to the letter", CONTAINER "docker://" A, 0, "docker://" A },
	{ "short container id", CONTAINER "aaaaaaaaaaaa", 0, NULL },
	{ "short container id stops the search", CONTAINER "aaaaaaaaaaaa|" DOCKER A, 0, NULL },
	{ "pod docker", POD "docker://" A, 0, A },
	{ "pod containerd", POD "containerd://" A, 0, A },
	{ "pod cri-o", POD "cri-o://" A, 0, A },
	{ "pod podman", POD "podman://" A, 0, A },
	{ "pod of another scheme", POD "rkt://" A, 0, NULL },
	{ "pod without a scheme", POD A, 0, NULL },
	{ "pod without an id", POD "docker://", 0, NULL },
	{ "pod short id", POD "docker://aaaaaaaaaaaa", 0, NULL },
	{ "bad pod scheme does not fall through", POD "rkt://" A "|" DOCKER B, 0, NULL },
	{ "docker", DOCKER A, 0, A },
	{ "swarm", SWARM A, 0, A },
	{ "container before pod", CONTAINER A "|" POD "docker://" B, 0, A },
	{ "pod before docker", POD "docker://" A "|" DOCKER B, 0, A },
	{ "docker before swarm", DOCKER A "|" SWARM B, 0, A },
	{ "empty container falls through", CONTAINER "|" SWARM B, 0, B },
};

static void test_selector(void **state)
{
	const struct row *row = *state;
	_cleanup_(labels_unrefp) struct labels *l = make_labels(row->labels);
	struct selector s;

	selector_from_labels(l, &s);
	assert_int_equal(s.pid, row->pid);
	if (row->pid) {
		assert_int_equal(s.kind, SELECTOR_PID);
	} else if (row->container) {
		assert_int_equal(s.kind, SELECTOR_CONTAINER);
		assert_string_equal(s.container_id, row->container);
	} else {
		assert_int_equal(s.kind, SELECTOR_NONE);
		assert_null(s.container_id);
	}
}

static void test_container_beside_pid(void **state)
{
	(void)state;
	_cleanup_(labels_unrefp) struct labels *l = make_labels(PID "1|" DOCKER A);

	assert_string_equal(selector_container_id(l), A);
}

static void test_start(void **state)
{
	(void)state;
	struct selector with = { .kind = SELECTOR_PID,
				 .have_start = true,
				 .start_ns = 9 * NS_PER_S };
	struct selector without = { .kind = SELECTOR_PID };

	assert_true(selector_takes_start(&without, 0));
	assert_true(selector_takes_start(&without, UINT64_MAX));
	assert_true(selector_takes_start(&with, 9 * NS_PER_S));
	assert_true(selector_takes_start(&with, 9 * NS_PER_S - SELECTOR_START_SLACK_NS));
	assert_true(selector_takes_start(&with, 9 * NS_PER_S + SELECTOR_START_SLACK_NS));
	assert_false(selector_takes_start(&with, 9 * NS_PER_S - SELECTOR_START_SLACK_NS - 1));
	assert_false(selector_takes_start(&with, 9 * NS_PER_S + SELECTOR_START_SLACK_NS + 1));
	assert_false(selector_takes_start(&with, 0));
	assert_false(selector_takes_start(&with, UINT64_MAX));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_selector, rows, name),
	TEST(test_container_beside_pid),
	TEST(test_start),
};

TEST_MAIN(tests)
