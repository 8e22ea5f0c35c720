/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of making targets of containers fails once: the answer is -ENOMEM, and nothing leaks. */
#include <errno.h>
#include <stdlib.h>

#include "agent/discovery/docker_targets.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

static const char containers_text[] =
	"[{\"Id\":\"i\",\"Names\":[\"/n\"],\"Labels\":{\"a\":\"b\"},\"NetworkSettings\":{"
	"\"Networks\":{\"x\":{\"NetworkID\":\"x\",\"IPAddress\":\"1.1.1.1\"}}},\"Ports\":["
	"{\"PrivatePort\":80,\"Type\":\"tcp\"},{\"PrivatePort\":81,\"Type\":\"tcp\"}]},"
	"{\"Id\":\"j\",\"Names\":[\"/m\"],\"HostConfig\":{\"NetworkMode\":\"container:i\"}}]";
static const char networks_text[] = "[{\"Id\":\"x\",\"Name\":\"net\"}]";

static int make(const json_t *containers, const json_t *networks)
{
	const struct docker_targets_options o = { .port = 80, .host_networking_host = "localhost" };
	_cleanup_target_list_ struct target_list list = { 0 };
	struct docker_counts counts;
	int r = docker_targets_make(containers, networks, &o, &list, &counts);

	if (r == 0) {
		assert_int_equal(list.n, 3);
		assert_int_equal(counts.n_cut, 0);
	}
	return r;
}

static void test_each(void **state)
{
	json_t *containers = json_loads(containers_text, 0, NULL);
	json_t *networks = json_loads(networks_text, 0, NULL);
	bool failed = true;
	size_t nth = 0;

	(void)state;
	while (failed) {
		alloc_fail_arm(++nth);
		int r = make(containers, networks);

		failed = alloc_fail_disarm();
		assert_int_equal(r, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 5);
	json_decref(containers);
	json_decref(networks);
}

static const struct unit_test tests[] = {
	TEST(test_each),
};

int main(void)
{
	/* Its own allocations fail, too. */
	json_set_alloc_funcs(malloc, free);
	return RUN_TESTS(tests);
}
