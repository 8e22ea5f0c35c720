/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the container metadata fails once: it tells less, and nothing leaks. */
#include "agent/target/container_metadata.h"
#include "agent/util/clock.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/target/fake_root.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b"
#define STORAGE "/var/lib/containers/storage/overlay-containers/"

FIXTURE(struct fake_root, fake_root_init, fake_root_fini)

/* False when an allocation failed before there was metadata. */
static bool ask(const struct fake_root *root, const char *cgroup)
{
	_cleanup_(container_metadata_freep) struct container_metadata *b = NULL;
	struct cgroup_facts facts;

	cgroup_parse(str_from(cgroup), &facts);
	int r = container_metadata_new(root->path, &b);
	if (r < 0) {
		assert_int_equal(r, -ENOMEM);
		return false;
	}
	const struct container_facts *found = container_metadata_find(b, &facts, 0, 0);
	assert_non_null(found->name);
	assert_non_null(found->pod);
	(void)container_metadata_refresh(b, 60 * NS_PER_S);
	return true;
}

static void try_each(const struct fake_root *root, const char *cgroup)
{
	size_t nth = 1;

	for (;; nth++) {
		alloc_fail_arm(nth);
		(void)ask(root, cgroup);
		if (!alloc_fail_disarm())
			break;
	}
	assert_true(nth > 3);
}

static void test_docker(void **state)
{
	fake_root_write(*state, "/etc/docker/daemon.json", "{\"data-root\":\"/data\"}");
	fake_root_write(*state, "/data/containers/" ID "/config.v2.json",
			"{\"Name\":\"/web\",\"Config\":{\"Image\":\"a\"}}");
	try_each(*state, "0::/system.slice/docker-" ID ".scope\n");
}

static void test_podman(void **state)
{
	fake_root_write(*state, STORAGE ID "/userdata/config.json",
			"{\"annotations\":{\"io.podman.compose.project\":\"shop\"}}");
	fake_root_write(*state, STORAGE "containers.json",
			"[{\"id\":\"" ID "\",\"metadata\":\"{\\\"name\\\":\\\"web\\\","
			"\\\"image-name\\\":\\\"a\\\"}\"}]");
	try_each(*state, "0::/machine.slice/libpod-" ID ".scope/container\n");
}

static void test_kubernetes(void **state)
{
	fake_root_write(*state, "/var/log/containers/web_prod_app-" ID ".log", "");
	fake_root_write(*state, "/var/log/pods/prod_web_" UID "/x", "");
	try_each(*state, "0::/kubepods/pod" UID "/" ID "\n");
	try_each(*state, "0::/kubepods/pod" UID "\n");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_docker),
	FIXTURE_TEST(test_podman),
	FIXTURE_TEST(test_kubernetes),
};

TEST_MAIN(tests)
