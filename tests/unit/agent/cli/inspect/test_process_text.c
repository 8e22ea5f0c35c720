/* SPDX-License-Identifier: Apache-2.0 */
/* How a process and its mappings are shown. */
#include "agent/cli/inspect/process_text.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define S 1000000000ULL

static const struct age {
	uint64_t ns;
	const char *text;
} ages[] = {
	{ 0, "0 s" },
	{ 59 * S, "59 s" },
	{ 60 * S, "1 min 0 s" },
	{ 3600 * S, "1 h 0 min" },
	{ 86399 * S, "23 h 59 min" },
	{ 90000 * S, "1 day 1 h" },
	{ 2 * 86400 * S, "2 days 0 h" },
};

static void test_age(void **state)
{
	const struct age *age = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	process_text_age(&out, age->ns);
	assert_string_equal(buf_str(&out), age->text);
}

static char none[] = "";

#define NO_TEXT(member) .member = none,
#define NO_ENVIRONMENT                 \
	{                              \
		ENVIRON_FACTS(NO_TEXT) \
	}

static void test_identity(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	char exe[] = "/usr/sbin/nginx", comm[] = "nginx", cgroup[] = "/system.slice/docker-1.scope";
	struct process_identity id = { .exe = exe,
				       .comm = comm,
				       .cmdline = none,
				       .script = none,
				       .cwd = none,
				       .env = NO_ENVIRONMENT,
				       .cgroup_path = cgroup,
				       .cgroup = { .container_id = "1", .runtime = "docker" },
				       .uid = 33 };
	struct process process = { .pid = 4711, .parent_pid = 1 };
	struct process_text t = { .process = &process,
				  .identity = &id,
				  .user = "www-data",
				  .parent_name = "",
				  .started = "2026-01-02 03:04:05",
				  .age_ns = 61 * S };

	(void)state;
	process_text_identity(&out, &t);
	assert_string_equal(buf_str(&out), "process 4711 (nginx)\n\n"
					   "  executable    /usr/sbin/nginx\n"
					   "  started       2026-01-02 03:04:05, 1 min 1 s ago\n"
					   "  parent        1\n"
					   "  user          33 (www-data)\n"
					   "  cgroup        /system.slice/docker-1.scope\n"
					   "  container     1, docker\n");
}

/* Everything that may be known of where a process runs. */
static void test_place(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	char exe[] = "/usr/bin/python3.11", script[] = "app.py", service[] = "checkout",
	     deployment[] = "prod";
	struct process_identity id = { .exe = exe,
				       .comm = none,
				       .cmdline = none,
				       .script = script,
				       .cwd = none,
				       .cgroup_path = none,
				       .env = NO_ENVIRONMENT,
				       .cgroup = { .container_id = "1",
						   .pod_uid = "2",
						   .machine = "m1",
						   .user_unit = "u.service",
						   .private_namespace = true } };
	struct container_facts facts = { .name = "k8s_web", .image = "web:1" };
	struct process_series series = { .container = &facts,
					 .place = { .namespace = "shop",
						    .pod = "web-0",
						    .container = "web",
						    .pod_service_name = "",
						    .compose_project = "shop",
						    .compose_service = "web",
						    .swarm_service = "shop_web",
						    .nomad_job = "",
						    .nomad_task = "task",
						    .name = "k8s_web",
						    .machine = "m1" } };
	struct process process = { .pid = 1 };
	struct process_text t = { .process = &process,
				  .identity = &id,
				  .series = &series,
				  .user = "",
				  .parent_name = "",
				  .started = "" };

	(void)state;
	id.env.otel_service = service;
	id.env.otel_deployment = deployment;
	process_text_identity(&out, &t);
	assert_string_equal(buf_str(&out),
			    "process 1 ()\n\n"
			    "  executable    /usr/bin/python3.11\n"
			    "  script        app.py\n"
			    "  user          0\n"
			    "  environment   OTEL_SERVICE_NAME=checkout\n"
			    "                deployment.environment=prod\n"
			    "  container     1\n"
			    "  named         k8s_web\n"
			    "  image         web:1\n"
			    "  namespace     shop\n"
			    "  pod           web-0/web\n"
			    "  Compose       shop/web\n"
			    "  Swarm         shop_web\n"
			    "  Nomad         task\n"
			    "  pod uid       2\n"
			    "  machine       m1\n"
			    "  user unit     u.service\n"
			    "                (a cgroup namespace hides the rest of the path)\n");
}

static void test_series(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	struct label items[] = { { "host", "h1" }, { "service_name", "a \"b\" \\c" } };
	struct process_series series = { .name = { "nginx", SERVICE_NAME_UNIT } };

	(void)state;
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &series.labels), 0);
	process_text_series(&out, &series);
	process_series_fini(&series);
	assert_string_equal(
		buf_str(&out),
		"\nin profiles, unless a configuration says otherwise\n\n"
		"  service_name         nginx\n"
		"  service_name_source  systemd unit\n"
		"  labels               {host=\"h1\", service_name=\"a \\\"b\\\" \\\\c\"}\n");
}

static void test_mappings(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	char path[] = "/lib/a\nb.so";
	struct mapped_file file = { .path = path, .deleted = true };
	struct mapping m = { .begin = 0x7f00, .end = 0x8f00, .file = &file };
	struct mapping_facts facts = { .named = "none" };

	(void)state;
	mapping_facts_put_sources((const char *[]){ "eh_frame", "stubs" }, 2, 12, &facts);
	process_text_mapping(&out, &m, &facts);
	process_text_mapping(&out, &m, NULL);
	m.file = NULL;
	process_text_mapping(&out, &m, NULL);
	assert_string_equal(
		buf_str(&out),
		"000000007f00-000000008f00  /lib/a?b.so (deleted)\n"
		"  -                                         .eh_frame + code read 12 rows"
		"       none\n"
		"000000007f00-000000008f00  /lib/a?b.so (deleted)\n"
		"000000007f00-000000008f00  [anon]\n");
}

static void test_sources(void **state)
{
	struct mapping_facts facts = { 0 };

	(void)state;
	mapping_facts_put_sources((const char *[]){ "gopclntab" }, 1, 0, &facts);
	assert_string_equal(facts.unwound, "Go tables");
	mapping_facts_put_sources((const char *[]){ "debug_frame", "sframe" }, 2, 3, &facts);
	assert_string_equal(facts.unwound, ".debug_frame + sframe 3 rows");
}

static void test_memory_without_file(void **state)
{
	struct mapping m = { .begin = 0x1000, .end = 0x2000, .kind = MAPPING_ANON };
	struct mapped_file file = { .fd = -1, .open_error = -ENOENT };
	struct mapping_facts facts;

	(void)state;
	mapping_facts_find(&m, &facts);
	assert_string_equal(facts.unwound, "JIT: frame pointers");
	assert_string_equal(facts.named, "none");
	m.file = &file;
	mapping_facts_find(&m, &facts);
	assert_string_equal(facts.unwound, "cannot be opened: No such file or directory");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_age, ages, text),
	TEST(test_identity),
	TEST(test_place),
	TEST(test_series),
	TEST(test_mappings),
	TEST(test_sources),
	TEST(test_memory_without_file),
};

TEST_MAIN(tests)
