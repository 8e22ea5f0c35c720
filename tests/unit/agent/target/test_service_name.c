/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of service names: each link alone, each pair of neighbours, all together. */
#include "tests/unit/agent/target/make_labels.h"

#include "agent/target/service_name.h"
#include "agent/util/macro.h"

#define ANNOTATION "__meta_kubernetes_pod_annotation_pyroscope_io_service_name="
#define NAMESPACE "__meta_kubernetes_namespace="
#define POD_CONTAINER "__meta_kubernetes_pod_container_name="
#define DOCKER "__meta_docker_container_name="
#define SWARM_LABEL "__meta_dockerswarm_container_label_service_name="
#define SWARM_SERVICE "__meta_dockerswarm_service_name="
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct label_row {
	const char *name;
	const char *labels;
	const char *expected; /* NULL: labels do not tell */
	enum service_name_source source;
};

static const struct label_row label_rows[] = {
	{ "no labels", "", NULL, 0 },
	{ "other labels", "a=b|__meta_docker_container_id=" ID, NULL, 0 },
	{ "label", "service_name=grafana", "grafana", SERVICE_NAME_LABEL },
	{ "label, odd", "service_name=/a b/ü", "/a b/ü", SERVICE_NAME_LABEL },
	{ "label, empty", "service_name=|" DOCKER "/web", "/web", SERVICE_NAME_DOCKER_NAME },
	{ "label says unspecified", "service_name=unspecified", "unspecified", SERVICE_NAME_LABEL },
	{ "annotation", ANNOTATION "checkout", "checkout", SERVICE_NAME_POD_ANNOTATION },
	{ "pod", NAMESPACE "shop|" POD_CONTAINER "web", "ebpf/shop/web",
	  SERVICE_NAME_POD_CONTAINER },
	{ "namespace alone", NAMESPACE "shop", NULL, 0 },
	{ "pod container alone", POD_CONTAINER "web", NULL, 0 },
	{ "pod container empty", NAMESPACE "shop|" POD_CONTAINER, NULL, 0 },
	{ "docker with slash", DOCKER "/web-1", "/web-1", SERVICE_NAME_DOCKER_NAME },
	{ "docker without slash", DOCKER "web-1", "web-1", SERVICE_NAME_DOCKER_NAME },
	{ "swarm label", SWARM_LABEL "api", "api", SERVICE_NAME_SWARM_CONTAINER_LABEL },
	{ "swarm service", SWARM_SERVICE "stack_api", "stack_api", SERVICE_NAME_SWARM_SERVICE },
	{ "label before annotation", "service_name=1|" ANNOTATION "2", "1", SERVICE_NAME_LABEL },
	{ "annotation before pod", ANNOTATION "2|" NAMESPACE "3|" POD_CONTAINER "3", "2",
	  SERVICE_NAME_POD_ANNOTATION },
	{ "pod before docker", NAMESPACE "3|" POD_CONTAINER "3|" DOCKER "4", "ebpf/3/3",
	  SERVICE_NAME_POD_CONTAINER },
	{ "half a pod, docker", NAMESPACE "3|" DOCKER "4", "4", SERVICE_NAME_DOCKER_NAME },
	{ "docker before swarm label", DOCKER "4|" SWARM_LABEL "5", "4", SERVICE_NAME_DOCKER_NAME },
	{ "swarm label before service", SWARM_LABEL "5|" SWARM_SERVICE "6", "5",
	  SERVICE_NAME_SWARM_CONTAINER_LABEL },
	{ "all",
	  SWARM_SERVICE "6|" SWARM_LABEL "5|" DOCKER "4|" NAMESPACE "3|" POD_CONTAINER
			"3|" ANNOTATION "2|service_name=1",
	  "1", SERVICE_NAME_LABEL },
};

struct process_row {
	const char *name;
	struct process_identity id;
	const char *expected;
	enum service_name_source source;
};

/* comm is the leader's; what stands behind a link that speaks must not matter. */
#define EXE(path) .exe = (path), .comm = "comm"

static struct process_row process_rows[] = {
	{ "nothing", { .exe = "", .comm = "" }, "process", SERVICE_NAME_NOTHING },
	{ "comm", { .exe = "", .comm = "worker" }, "worker", SERVICE_NAME_COMM },
	{ "exe", { EXE("/usr/sbin/nginx") }, "nginx", SERVICE_NAME_EXECUTABLE },
	{ "exe in the root", { EXE("/init") }, "init", SERVICE_NAME_EXECUTABLE },
	{ "exe without a directory", { EXE("app") }, "app", SERVICE_NAME_EXECUTABLE },
	{ "exe deleted", { EXE("/tmp/a.out (deleted)") }, "a.out", SERVICE_NAME_EXECUTABLE },
	{ "exe with blanks", { EXE("/opt/My App/my app") }, "my app", SERVICE_NAME_EXECUTABLE },
	{ "exe is an interpreter",
	  { EXE("/usr/bin/python3.11"), .cmdline = "python3 app.py" },
	  "python3.11",
	  SERVICE_NAME_EXECUTABLE },
	{ "exe is a directory", { EXE("/usr/bin/") }, "comm", SERVICE_NAME_COMM },
	{ "exe bad UTF-8",
	  { EXE("/a\xff"
		"b") },
	  "a\xef\xbf\xbd"
	  "b",
	  SERVICE_NAME_EXECUTABLE },
	{ "memfd",
	  { EXE("/memfd:runc_cloned:/proc/self/exe") },
	  "runc_cloned",
	  SERVICE_NAME_EXECUTABLE },
	{ "memfd deleted",
	  { EXE("/memfd:payload (deleted)") },
	  "payload",
	  SERVICE_NAME_EXECUTABLE },
	{ "memfd without a name", { EXE("/memfd: (deleted)") }, "comm", SERVICE_NAME_COMM },
	{ "unit",
	  { EXE("/usr/sbin/nginx"), .cgroup.unit = "web.service" },
	  "web",
	  SERVICE_NAME_UNIT },
	{ "unit instance",
	  { EXE("/sbin/agetty"), .cgroup.unit = "getty@tty1.service" },
	  "getty@tty1",
	  SERVICE_NAME_UNIT },
	{ "unit scope",
	  { EXE("/usr/bin/qemu"), .cgroup.unit = "machine-vm.scope" },
	  "machine-vm",
	  SERVICE_NAME_UNIT },
	{ "unit is a login",
	  { EXE("/bin/bash"), .cgroup.unit = "session-2.scope" },
	  "bash",
	  SERVICE_NAME_EXECUTABLE },
	{ "unit is the system's",
	  { EXE("/lib/systemd/systemd"), .cgroup.unit = "init.scope" },
	  "systemd",
	  SERVICE_NAME_EXECUTABLE },
	{ "unit is a user's manager",
	  { EXE("/bin/x"), .cgroup.unit = "user@1000.service" },
	  "x",
	  SERVICE_NAME_EXECUTABLE },
	{ "user unit",
	  { EXE("/bin/x"),
	    .cgroup = { .unit = "user@1000.service", .user_unit = "pipewire.service" } },
	  "pipewire",
	  SERVICE_NAME_USER_UNIT },
	{ "user unit is an application",
	  { EXE("/usr/lib/firefox/firefox"),
	    .cgroup = { .unit = "user@1000.service", .user_unit = "app-gnome-firefox-77.scope" } },
	  "firefox",
	  SERVICE_NAME_EXECUTABLE },
	{ "user manager itself",
	  { EXE("/lib/systemd/systemd"),
	    .cgroup = { .unit = "user@0.service", .user_unit = "init.scope" } },
	  "systemd",
	  SERVICE_NAME_EXECUTABLE },
	{ "login without exe",
	  { .exe = "", .comm = "bash", .cgroup.unit = "session-2.scope" },
	  "bash",
	  SERVICE_NAME_COMM },
	{ "container",
	  { EXE("/app"), .cgroup.container_id = ID },
	  "0123456789ab",
	  SERVICE_NAME_CONTAINER_ID },
	{ "container of ECS",
	  { EXE("/app"), .cgroup.container_id = "fedcba9876543210fedcba9876543210-42" },
	  "fedcba987654",
	  SERVICE_NAME_CONTAINER_ID },
	{ "container before unit",
	  { EXE("/sbin/init"),
	    .cgroup = { .container_id = ID, .unit = "nginx.service", .user_unit = "a.service" } },
	  "0123456789ab",
	  SERVICE_NAME_CONTAINER_ID },
	{ "container without exe",
	  { .exe = "", .comm = "x", .cgroup.container_id = ID },
	  "0123456789ab",
	  SERVICE_NAME_CONTAINER_ID },
	{ "kernel thread",
	  { .exe = "", .comm = "kworker/0:1", .kernel_thread = true },
	  "kernel",
	  SERVICE_NAME_KERNEL },
	{ "kernel thread in a container's cgroup",
	  { .exe = "", .comm = "vhost-1", .kernel_thread = true, .cgroup.container_id = ID },
	  "kernel",
	  SERVICE_NAME_KERNEL },
};

static void test_labels(void **state)
{
	const struct label_row *row = *state;
	_cleanup_(labels_unrefp) struct labels *l = make_labels(row->labels);
	struct service_name name = { .text = "before", .source = SERVICE_NAME_SOURCE_MAX };

	if (!row->expected) {
		assert_false(service_name_from_labels(l, &name));
		assert_string_equal(name.text, "before");
		return;
	}
	assert_true(service_name_from_labels(l, &name));
	assert_string_equal(name.text, row->expected);
	assert_int_equal(name.source, row->source);
}

static void test_process(void **state)
{
	const struct process_row *row = *state;
	struct service_name name;

	service_name_from_process(&row->id, &name);
	assert_string_equal(name.text, row->expected);
	assert_int_equal(name.source, row->source);
	assert_string_not_equal(name.text, "unknown");
	assert_string_not_equal(name.text, "unspecified");
}

static void test_too_long(void **state)
{
	(void)state;
	static char container[LABEL_VALUE_MAX + 2];
	struct label items[] = { { "__meta_kubernetes_namespace", "n" },
				 { "__meta_kubernetes_pod_container_name", container } };
	_cleanup_(labels_unrefp) struct labels *l = NULL;
	struct service_name name;

	memset(container, 'c', LABEL_VALUE_MAX + 1);
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &l), 0);
	assert_true(service_name_from_labels(l, &name));
	assert_int_equal(strlen(name.text), LABEL_VALUE_MAX);
	assert_memory_equal(name.text, "ebpf/n/ccc", 10);
}

static void test_source_words(void **state)
{
	(void)state;
	for (int i = 0; i < SERVICE_NAME_SOURCE_MAX; i++)
		assert_string_not_equal(service_name_source_word(i), "");
	assert_string_equal(service_name_source_word(SERVICE_NAME_UNIT), "systemd unit");
	assert_string_equal(service_name_source_word(SERVICE_NAME_SOURCE_MAX), "");
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(label_rows) + ARRAY_SIZE(process_rows) + 2];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(label_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = label_rows[i].name,
						  .test_func = test_labels,
						  .initial_state = (void *)&label_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(process_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = process_rows[i].name,
						  .test_func = test_process,
						  .initial_state = &process_rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_too_long);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_source_words);
	return cmocka_run_group_tests_name("agent/target/service_name", tests, NULL, NULL);
}
