/* SPDX-License-Identifier: Apache-2.0 */
/* Every discovery component of the public reference is one of ours, or is refused in so many words. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/unsupported.h"

static const char *const names[] = {
	"azure",       "consul",   "consulagent", "digitalocean", "dns",       "docker",
	"dockerswarm", "ec2",	   "eureka",	  "file",	  "gce",       "hetzner",
	"http",	       "ionos",	   "kubelet",	  "kubernetes",	  "kuma",      "lightsail",
	"linode",      "marathon", "nerve",	  "nomad",	  "openstack", "ovhcloud",
	"process",     "puppetdb", "relabel",	  "scaleway",	  "serverset", "triton",
	"uyuni",
};

static void assert_refused(struct fixture *f, const char *name)
{
	char text[128], expected[256];

	(void)snprintf(text, sizeof(text), "%s \"x\" { }\n", name);
	(void)snprintf(expected, sizeof(expected),
		       "a:1:1: component \"%s\" is not supported by xagent\n", name);
	assert_int_equal(load(f, text), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), expected);
}

static void test_discovery(void **state)
{
	size_t n_ours = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "discovery.%s", names[i]);
		if (component_kind_find(name)) {
			/* Then it is in one list only. */
			assert_false(component_is_known_elsewhere(name));
			n_ours++;
		} else {
			assert_refused(*state, name);
		}
	}
	assert_true(n_ours >= 5);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_discovery),
};

TEST_MAIN(tests)
