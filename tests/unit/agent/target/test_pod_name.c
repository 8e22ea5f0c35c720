/* SPDX-License-Identifier: Apache-2.0 */
/* What stays of the names of pods and containers. */
#include "agent/target/pod_name.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct row {
	const char *name, *expected;
};

static const struct row pods[] = {
	{ "", "" },
	{ "web", "web" },
	{ "checkout-7d9c5b8f6d-x2x7z", "checkout" },
	{ "shop-web-5f6c4d-x2x7z", "shop-web" },
	{ "node-exporter-x2x7z", "node-exporter" },
	{ "postgres-0", "postgres" },
	{ "postgres-12", "postgres" },
	{ "backup-28412345-x2x7z", "backup" },
	{ "web-front", "web-front" },
	{ "web-house", "web-house" },
	{ "coredns-5d78c9869d-abcde", "coredns-5d78c9869d-abcde" },
	{ "kube-proxy-node1.example.org", "kube-proxy-node1.example.org" },
	{ "-x2x7z", "-x2x7z" },
	{ "web-", "web-" },
	{ "x2x7z", "x2x7z" },
};

static const struct row containers[] = {
	{ "", "" },
	{ "/", "" },
	{ "web", "web" },
	{ "/web", "web" },
	{ "shop-web-1", "shop-web-1" },
	{ "shop_web.2.abcdefghijklmnopqrstu1234", "shop_web" },
	{ "node.2v3k6kyyc6udglhqu8mzrekj2.abcdefghijklmnopqrstu1234", "node" },
	{ "shop.web", "shop.web" },
	{ "a.b.c", "a.b.c" },
	{ "shop_web.2.ABCDEFGHIJKLMNOPQRSTUVWXY", "shop_web.2.ABCDEFGHIJKLMNOPQRSTUVWXY" },
};

static void check(struct str name, const char *expected)
{
	assert_int_equal(name.n, strlen(expected));
	assert_memory_equal(name.p, expected, name.n);
}

static void test_pods(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		check(pod_workload_name(pods[i].name), pods[i].expected);
}

static void test_containers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(containers); i++)
		check(container_service_name(containers[i].name), containers[i].expected);
}

static const struct unit_test tests[] = {
	TEST(test_pods),
	TEST(test_containers),
};

TEST_MAIN(tests)
