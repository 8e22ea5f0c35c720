/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of reading pods and kubeconfigs fails once: the answer is -ENOMEM, with a reason, and nothing leaks. */
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/kube_config.h"
#include "agent/discovery/kubelet_pods.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

#define WHY_MAX 1024

/* Room that no allocation is needed for. */
static void make_why(struct buf *why)
{
	buf_init(why, WHY_MAX);
	assert_int_equal(buf_reserve(why, WHY_MAX / 2), 0);
}

static const char config[] =
	"current-context: x\n"
	"contexts: [ { name: x, context: { cluster: c, user: u, namespace: n } } ]\n"
	"clusters: [ { name: c, cluster: { server: 'https://a', certificate-authority: ca, "
	"proxy-url: p } } ]\n"
	"users: [ { name: u, user: { tokenFile: t } } ]\n";

static int read_config(struct buf *why)
{
	struct kube_access access = { 0 };

	arena_init(&access.texts, 1 << 20);
	int r = kube_config_read(config, sizeof(config) - 1, "/dir/config", why, &access);
	kube_access_fini(&access);
	return r;
}

static const char pods[] =
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\"}},"
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":80}]},"
	"{\"name\":\"d\"}]},\"status\":{\"podIP\":\"1.1.1.1\"}}]}";

static int read_pods(struct buf *why)
{
	const struct kubelet_namespaces all = { 0 };
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *reader = NULL;
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = kubelet_pods_new(&all, &reader);

	if (r < 0) {
		(void)buf_append_str(why, "no reader");
		return r;
	}
	(void)kubelet_pods_feed(reader, pods, sizeof(pods) - 1);
	return kubelet_pods_end(reader, why, &list);
}

static const struct alloc_case {
	const char *name;
	int (*run)(struct buf *why);
} cases[] = {
	{ "a kubeconfig", read_config },
	{ "a list of pods", read_pods },
};

static void test_each(void **state)
{
	const struct alloc_case *c = *state;
	size_t nth = 0;

	for (;;) {
		_cleanup_buf_ struct buf why;

		make_why(&why);
		alloc_fail_arm(++nth);
		int r = c->run(&why);
		bool failed = alloc_fail_disarm();

		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(why.len > 0, failed);
		if (!failed)
			break;
	}
	assert_true(nth > 1);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_each, cases, name),
};

TEST_MAIN(tests)
