/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of service names: each link alone, each pair of neighbours, all together. */
#include "tests/support/unit.h"
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
	struct container_facts container;
	bool no_scripts;
};

/* comm is the leader's; what stands behind a link that speaks must not matter. */
#define EXE(path) .exe = (path), .comm = "comm"

static struct process_row process_rows[] = {
	{ "nothing", { .exe = "", .comm = "" }, "process", .source = SERVICE_NAME_NOTHING },
	{ "comm", { .exe = "", .comm = "worker" }, "worker", .source = SERVICE_NAME_COMM },
	{ "exe", { EXE("/usr/sbin/nginx") }, "nginx", .source = SERVICE_NAME_EXECUTABLE },
	{ "exe in the root", { EXE("/init") }, "init", .source = SERVICE_NAME_EXECUTABLE },
	{ "exe without a directory", { EXE("app") }, "app", .source = SERVICE_NAME_EXECUTABLE },
	{ "exe deleted",
	  { EXE("/tmp/a.out (deleted)") },
	  "a.out",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "exe with blanks",
	  { EXE("/opt/My App/my app") },
	  "my app",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "exe is called unknown", { EXE("/opt/unknown") }, "comm", .source = SERVICE_NAME_COMM },
	{ "all are called unknown",
	  { .exe = "/opt/unknown", .comm = "unknown" },
	  "process",
	  .source = SERVICE_NAME_NOTHING },
	{ "script",
	  { EXE("/usr/bin/python3.11"), .script = "app.py" },
	  "app.py",
	  .source = SERVICE_NAME_SCRIPT },
	{ "script, not wanted",
	  { EXE("/usr/bin/python3.11"), .script = "app.py" },
	  "python3.11",
	  .source = SERVICE_NAME_EXECUTABLE,
	  .no_scripts = true },
	{ "script of a unit",
	  { EXE("/usr/bin/python3.11"), .script = "app.py", .cgroup.unit = "shop.service" },
	  "shop",
	  .source = SERVICE_NAME_UNIT },
	{ "script of a login",
	  { EXE("/usr/bin/python3.11"), .script = "app.py", .cgroup.unit = "session-2.scope" },
	  "app.py",
	  .source = SERVICE_NAME_SCRIPT },
	{ "OTEL_SERVICE_NAME",
	  { EXE("/app"), .env.otel_service = "checkout", .env.otel_attribute_service = "x" },
	  "checkout",
	  .source = SERVICE_NAME_OTEL_SERVICE },
	{ "OTEL_RESOURCE_ATTRIBUTES",
	  { EXE("/app"), .env.otel_attribute_service = "checkout", .cgroup.unit = "a.service" },
	  "checkout",
	  .source = SERVICE_NAME_OTEL_ATTRIBUTE },
	{ "OTEL_SERVICE_NAME says nothing",
	  { EXE("/usr/bin/java"), .env.otel_service = "unknown_service:java", .script = "Shop" },
	  "Shop",
	  .source = SERVICE_NAME_SCRIPT },
	{ "OTEL_SERVICE_NAME before the user's unit",
	  { EXE("/app"), .env.otel_service = "checkout", .cgroup.user_unit = "a.service" },
	  "checkout",
	  .source = SERVICE_NAME_OTEL_SERVICE },
	{ "machine",
	  { EXE("/app"), .cgroup.machine = "web1", .env.otel_service = "x",
	    .cgroup.unit = "a.service" },
	  "web1",
	  .source = SERVICE_NAME_MACHINE },
	{ "Nomad",
	  { EXE("/app"), .env.nomad_job = "shop", .env.nomad_task = "web", .env.nomad_group = "g" },
	  "shop/web",
	  .source = SERVICE_NAME_NOMAD },
	{ "Nomad by control group",
	  { EXE("/app"), .cgroup.task = "web", .cgroup.alloc_id = "x" },
	  "web",
	  .source = SERVICE_NAME_NOMAD },
	{ "Nomad by both",
	  { EXE("/app"), .env.nomad_job = "shop", .cgroup.task = "web" },
	  "shop/web",
	  .source = SERVICE_NAME_NOMAD },
	{ "Nomad, a Docker container",
	  { EXE("/app"), .env.nomad_job = "shop", .env.nomad_task = "web",
	    .cgroup.container_id = ID },
	  "shop/web",
	  .source = SERVICE_NAME_NOMAD,
	  .container = { .name = "web-7a8f" } },
	{ "pod by the environment",
	  { EXE("/app"), .env.kubernetes_namespace = "shop", .env.kubernetes_container = "web" },
	  "shop/web",
	  .source = SERVICE_NAME_POD },
	{ "pod without container, by the environment",
	  { EXE("/app"), .env.kubernetes_namespace = "shop",
	    .env.kubernetes_pod = "web-7d9c5b8f6d-x2x7z" },
	  "shop/web",
	  .source = SERVICE_NAME_WORKLOAD },
	{ "namespace without pod",
	  { EXE("/app"), .env.kubernetes_namespace = "shop" },
	  "app",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "pod",
	  { EXE("/app"), .cgroup.container_id = ID, .env.kubernetes_container = "other" },
	  "shop/web",
	  .source = SERVICE_NAME_POD,
	  .container = { .namespace = "shop",
			 .pod = "web-0",
			 .pod_container = "web",
			 .name = "k8s_web" } },
	{ "pod with an annotation",
	  { EXE("/app") },
	  "checkout",
	  .source = SERVICE_NAME_POD_FILES_ANNOTATION,
	  .container = { .namespace = "shop",
			 .pod_container = "web",
			 .pod_service_name = "checkout" } },
	{ "pod, container by the environment",
	  { EXE("/app"), .env.kubernetes_container = "web" },
	  "shop/web",
	  .source = SERVICE_NAME_POD,
	  .container = { .namespace = "shop", .pod = "web-0" } },
	{ "Compose",
	  { EXE("/app"), .env.otel_service = "x" },
	  "shop/web",
	  .source = SERVICE_NAME_COMPOSE,
	  .container = { .name = "shop-web-1",
			 .compose_project = "shop",
			 .compose_service = "web" } },
	{ "half a Compose",
	  { EXE("/app") },
	  "shop-web-1",
	  .source = SERVICE_NAME_CONTAINER_NAME,
	  .container = { .name = "shop-web-1", .compose_project = "shop" } },
	{ "Swarm",
	  { EXE("/app") },
	  "shop_web",
	  .source = SERVICE_NAME_SWARM,
	  .container = { .name = "shop_web.1.abcdefghijklmnopqrstuvwxy",
			 .swarm_service = "shop_web" } },
	{ "Swarm by the name",
	  { EXE("/app") },
	  "shop_web",
	  .source = SERVICE_NAME_CONTAINER_NAME,
	  .container = { .name = "shop_web.1.abcdefghijklmnopqrstuvwxy" } },
	{ "container name",
	  { EXE("/app"), .env.otel_service = "x",
	    .cgroup = { .container_id = ID, .unit = "a.service", .machine = "m" } },
	  "grafana",
	  .source = SERVICE_NAME_CONTAINER_NAME,
	  .container = { .name = "grafana", .image = "grafana/grafana:11" } },
	{ "container name with a slash",
	  { EXE("/app") },
	  "grafana",
	  .source = SERVICE_NAME_CONTAINER_NAME,
	  .container = { .name = "/grafana" } },
	{ "container of an image only",
	  { EXE("/app") },
	  "app",
	  .source = SERVICE_NAME_EXECUTABLE,
	  .container = { .name = "", .image = "grafana/grafana:11" } },
	{ "exe is a directory", { EXE("/usr/bin/") }, "comm", .source = SERVICE_NAME_COMM },
	{ "exe bad UTF-8",
	  { EXE("/a\xff"
		"b") },
	  "a\xef\xbf\xbd"
	  "b",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "memfd",
	  { EXE("/memfd:runc_cloned:/proc/self/exe") },
	  "runc_cloned",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "memfd deleted",
	  { EXE("/memfd:payload (deleted)") },
	  "payload",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "memfd without a name",
	  { EXE("/memfd: (deleted)") },
	  "comm",
	  .source = SERVICE_NAME_COMM },
	{ "unit",
	  { EXE("/usr/sbin/nginx"), .cgroup.unit = "web.service" },
	  "web",
	  .source = SERVICE_NAME_UNIT },
	{ "unit instance",
	  { EXE("/sbin/agetty"), .cgroup.unit = "getty@tty1.service" },
	  "getty@tty1",
	  .source = SERVICE_NAME_UNIT },
	{ "unit scope",
	  { EXE("/usr/bin/qemu"), .cgroup.unit = "machine-vm.scope" },
	  "machine-vm",
	  .source = SERVICE_NAME_UNIT },
	{ "unit is a login",
	  { EXE("/bin/bash"), .cgroup.unit = "session-2.scope" },
	  "bash",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "unit is the system's",
	  { EXE("/lib/systemd/systemd"), .cgroup.unit = "init.scope" },
	  "systemd",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "unit is a user's manager",
	  { EXE("/bin/x"), .cgroup.unit = "user@1000.service" },
	  "x",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "user unit",
	  { EXE("/bin/x"),
	    .cgroup = { .unit = "user@1000.service", .user_unit = "pipewire.service" } },
	  "pipewire",
	  .source = SERVICE_NAME_USER_UNIT },
	{ "user unit is an application",
	  { EXE("/usr/lib/firefox/firefox"),
	    .cgroup = { .unit = "user@1000.service", .user_unit = "app-gnome-firefox-77.scope" } },
	  "firefox",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "user manager itself",
	  { EXE("/lib/systemd/systemd"),
	    .cgroup = { .unit = "user@0.service", .user_unit = "init.scope" } },
	  "systemd",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "login without exe",
	  { .exe = "", .comm = "bash", .cgroup.unit = "session-2.scope" },
	  "bash",
	  .source = SERVICE_NAME_COMM },
	{ "container that nobody knows",
	  { EXE("/app"), .cgroup.container_id = ID },
	  "app",
	  .source = SERVICE_NAME_EXECUTABLE },
	{ "container without exe",
	  { .exe = "", .comm = "x", .cgroup.container_id = ID },
	  "0123456789ab",
	  .source = SERVICE_NAME_CONTAINER_ID },
	{ "container of ECS without exe",
	  { .exe = "", .comm = "x", .cgroup.container_id = "fedcba9876543210fedcba9876543210-42" },
	  "fedcba987654",
	  .source = SERVICE_NAME_CONTAINER_ID },
	{ "kernel thread",
	  { .exe = "", .comm = "kworker/0:1", .kernel_thread = true },
	  "kernel",
	  .source = SERVICE_NAME_KERNEL },
	{ "kernel thread in a container's cgroup",
	  { .exe = "", .comm = "vhost-1", .kernel_thread = true, .cgroup.container_id = ID },
	  "kernel",
	  .source = SERVICE_NAME_KERNEL },
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

	service_name_from_process(&(struct service_name_facts){ .identity = &row->id,
								.container = &row->container,
								.scripts = !row->no_scripts },
				  &name);
	assert_string_equal(name.text, row->expected);
	assert_int_equal(name.source, row->source);
	assert_string_not_equal(name.text, "unknown");
	assert_string_not_equal(name.text, "unspecified");
}

/* All that a process may be known by at once; one link after the other is taken away, from the first on. */
static void test_all_links(void **state)
{
	struct container_facts c = { .name = "docker",
				     .namespace = "ns",
				     .pod = "pod-0",
				     .pod_container = "pc",
				     .pod_service_name = "annotation",
				     .compose_project = "cp",
				     .compose_service = "cs",
				     .swarm_service = "swarm" };
	struct process_identity id = { .exe = "/bin/exe",
				       .comm = "comm",
				       .script = "script",
				       .env = { .otel_service = "otel",
						.otel_attribute_service = "attribute",
						.nomad_job = "job",
						.nomad_task = "task" },
				       .cgroup = { .container_id = ID,
						   .machine = "machine",
						   .unit = "unit.service",
						   .user_unit = "user.service" } };
	const struct {
		const char *expected;
		enum service_name_source source;
		const char **link;
	} links[] = {
		{ "annotation", SERVICE_NAME_POD_FILES_ANNOTATION, &c.pod_service_name },
		{ "ns/pc", SERVICE_NAME_POD, &c.pod_container },
		{ "ns/pod", SERVICE_NAME_WORKLOAD, &c.pod },
		{ "cp/cs", SERVICE_NAME_COMPOSE, &c.compose_service },
		{ "swarm", SERVICE_NAME_SWARM, &c.swarm_service },
		{ "job/task", SERVICE_NAME_NOMAD, (const char **)&id.env.nomad_job },
		{ "task", SERVICE_NAME_NOMAD, (const char **)&id.env.nomad_task },
		{ "docker", SERVICE_NAME_CONTAINER_NAME, &c.name },
		{ "machine", SERVICE_NAME_MACHINE, NULL },
		{ "otel", SERVICE_NAME_OTEL_SERVICE, (const char **)&id.env.otel_service },
		{ "attribute", SERVICE_NAME_OTEL_ATTRIBUTE,
		  (const char **)&id.env.otel_attribute_service },
		{ "user", SERVICE_NAME_USER_UNIT, NULL },
		{ "unit", SERVICE_NAME_UNIT, NULL },
		{ "script", SERVICE_NAME_SCRIPT, (const char **)&id.script },
		{ "exe", SERVICE_NAME_EXECUTABLE, (const char **)&id.exe },
		{ "0123456789ab", SERVICE_NAME_CONTAINER_ID, NULL },
		{ "comm", SERVICE_NAME_COMM, (const char **)&id.comm },
		{ "process", SERVICE_NAME_NOTHING, NULL },
	};
	char *in_cgroup[SERVICE_NAME_SOURCE_MAX] = {
		[SERVICE_NAME_MACHINE] = id.cgroup.machine,
		[SERVICE_NAME_USER_UNIT] = id.cgroup.user_unit,
		[SERVICE_NAME_UNIT] = id.cgroup.unit,
		[SERVICE_NAME_CONTAINER_ID] = id.cgroup.container_id,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		struct service_name name;

		service_name_from_process(&(struct service_name_facts){ &id, &c, true }, &name);
		assert_string_equal(name.text, links[i].expected);
		assert_int_equal(name.source, links[i].source);
		if (links[i].link)
			*links[i].link = "";
		if (in_cgroup[links[i].source])
			in_cgroup[links[i].source][0] = '\0';
	}
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
	assert_string_equal(service_name_source_word(SERVICE_NAME_SCRIPT), "script");
	assert_string_equal(service_name_source_word(SERVICE_NAME_SOURCE_MAX), "");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_labels, label_rows, name),
	TEST_ROWS(test_process, process_rows, name),
	TEST(test_all_links),
	TEST(test_too_long),
	TEST(test_source_words),
};

TEST_MAIN(tests)
