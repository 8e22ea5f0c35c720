/* SPDX-License-Identifier: Apache-2.0 */
/* Which series a process belongs to: order, duplicates, defaults, pid reuse, one object for equal
 * sets. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <stdio.h>

#include "agent/target/target.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define START "__process_start_time_ns__="
#define MAX_TARGETS 8

/* The identities of these tests are made by hand; the table only counts who asks. */
struct process_table {
	unsigned int n_asked;
};

const struct process_identity *process_identity(struct process_table *t, struct process *p)
{
	t->n_asked++;
	return &p->identity;
}

/* Knows of one container, whatever is asked for. */
struct container_metadata {
	struct container_facts facts;
};

const struct container_facts *container_metadata_find(struct container_metadata *b,
						      const struct cgroup_facts *cgroup,
						      uint32_t pid, uint64_t now_ns)
{
	(void)cgroup;
	(void)pid;
	(void)now_ns;
	return &b->facts;
}

struct row {
	const char *name;
	const char *targets[MAX_TARGETS];
	bool have_targets, targets_only;
	const char *fallback; /* default_target; NULL: none */
	uint32_t pid;
	uint64_t start_s;
	const char *container, *exe;
	const char *expected; /* NULL: not profiled */
	bool by_default;      /* no target selects it */
	size_t n, n_rejected;
};

#define NGINX .pid = 42, .start_s = 100, .container = "", .exe = "/usr/sbin/nginx"
#define IN_A .pid = 42, .start_s = 100, .container = A, .exe = "/app"
#define NAME "host=h1|"

static const struct row rows[] = {
	{ "no argument", .have_targets = false, NGINX, .by_default = true,
	  .expected = NAME "service_name=nginx" },
	{ "no argument, targets_only", .have_targets = false, .targets_only = true, NGINX,
	  .by_default = true, .expected = NAME "service_name=nginx" },
	{ "no argument, container that nobody knows", .have_targets = false, IN_A,
	  .by_default = true, .expected = NAME "service_name=app" },
	{ "no argument, default", .have_targets = false, .fallback = "service_name=rest", NGINX,
	  .by_default = true, .expected = NAME "service_name=rest" },
	{ "empty list", .have_targets = true, NGINX, .by_default = true,
	  .expected = NAME "service_name=nginx" },
	{ "empty list, targets_only", .have_targets = true, .targets_only = true, NGINX },
	{ "by pid",
	  { "__process_pid__=42|service_name=web" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .expected = NAME "service_name=web" },
	{ "by container",
	  { "__container_id__=" A "|service_name=web" },
	  .have_targets = true,
	  .n = 1,
	  IN_A,
	  .expected = NAME "service_name=web" },
	{ "pid before container",
	  { "__container_id__=" A "|service_name=c", "__process_pid__=42|a=p" },
	  .have_targets = true,
	  .n = 2,
	  IN_A,
	  .expected = "a=p|host=h1|service_name=app" },
	{ "a target with both is by pid only",
	  { "__process_pid__=7|__container_id__=" A "|x=y" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  IN_A },
	{ "the last pid wins",
	  { "__process_pid__=42|service_name=1", "__process_pid__=42|service_name=2" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .expected = NAME "service_name=2" },
	{ "the last container wins",
	  { "__container_id__=" A "|service_name=1", "__container_id__=" B "|service_name=3",
	    "__meta_docker_container_id=" A "|service_name=2" },
	  .have_targets = true,
	  .n = 2,
	  IN_A,
	  .expected = NAME "service_name=2" },
	{ "another pid",
	  { "__process_pid__=43|service_name=web" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .by_default = true,
	  .expected = NAME "service_name=nginx" },
	{ "another pid, targets_only",
	  { "__process_pid__=43|service_name=web" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  NGINX },
	{ "another container, default",
	  { "__container_id__=" B "|service_name=web" },
	  .have_targets = true,
	  .n = 1,
	  .fallback = "__name__=host_cpu|service_name=host_cpu",
	  IN_A,
	  .by_default = true,
	  .expected = "__name__=host_cpu|host=h1|service_name=host_cpu" },
	{ "no container, container targets",
	  { "__container_id__=" B "|service_name=web" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  NGINX },
	{ "default beside targets_only",
	  { "__process_pid__=43" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  .fallback = "service_name=rest",
	  NGINX },
	{ "default without a name", .have_targets = true, .fallback = "team=infra|__x__=y", NGINX,
	  .by_default = true, .expected = NAME "service_name=nginx|team=infra" },
	{ "default by the chain", .have_targets = true,
	  .fallback = "__meta_docker_container_name=/d", NGINX, .by_default = true,
	  .expected = NAME "service_name=/d" },
	{ "useless targets",
	  { "service_name=x", "__process_pid__=0", "__container_id__=aaaaaaaaaaaa",
	    "__meta_kubernetes_pod_container_id=rkt://" A, "__process_pid__=42|a=b" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  .n_rejected = 4,
	  NGINX,
	  .expected = "a=b|host=h1|service_name=nginx" },
	{ "only useless targets",
	  { "service_name=x" },
	  .have_targets = true,
	  .targets_only = true,
	  .n_rejected = 1,
	  NGINX },
	{ "given name of the profile",
	  { "__container_id__=" A "|__name__=grafana_cpu|service_name=g" },
	  .have_targets = true,
	  .n = 1,
	  IN_A,
	  .expected = "__name__=grafana_cpu|host=h1|service_name=g" },
	{ "docker name keeps its slash",
	  { "__meta_docker_container_id=" A "|__meta_docker_container_name=/web" },
	  .have_targets = true,
	  .n = 1,
	  IN_A,
	  .expected = NAME "service_name=/web" },
	{ "pod",
	  { "__meta_kubernetes_pod_container_id=containerd://" A "|__meta_kubernetes_namespace=n|"
	    "__meta_kubernetes_pod_container_name=c|pod=p" },
	  .have_targets = true,
	  .n = 1,
	  IN_A,
	  .expected = NAME "pod=p|service_name=ebpf/n/c" },
	{ "own host",
	  { "__process_pid__=42|host=mine|service_name=s" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .expected = "host=mine|service_name=s" },
	{ "options of a target are internal",
	  { "__process_pid__=42|__meta_pyroscope_ebpf_options_demangle=full|service_name=s" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .expected = NAME "service_name=s" },
	{ "same start",
	  { "__process_pid__=42|" START "100000000000|service_name=s" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .expected = NAME "service_name=s" },
	{ "reused pid",
	  { "__process_pid__=42|" START "98000000000|service_name=s" },
	  .have_targets = true,
	  .n = 1,
	  NGINX,
	  .by_default = true,
	  .expected = NAME "service_name=nginx" },
	{ "reused pid, targets_only",
	  { "__process_pid__=42|" START "98000000000|service_name=s" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 1,
	  NGINX },
	{ "reused pid in a container",
	  { "__process_pid__=42|" START "98000000000|service_name=s",
	    "__container_id__=" A "|service_name=c" },
	  .have_targets = true,
	  .targets_only = true,
	  .n = 2,
	  IN_A,
	  .expected = NAME "service_name=c" },
};

static struct process make_process(uint32_t pid, uint64_t start_s, const char *container,
				   const char *exe)
{
	struct process p = {
		.pid = pid,
		.start_ns = start_s * NS_PER_S,
		.identity_loaded = true,
		.identity = { .exe = (char *)exe,
			      .comm = (char *)"comm",
			      .cmdline = (char *)"",
			      .cwd = (char *)"",
			      .cgroup_path = (char *)"" },
	};

	(void)snprintf(p.identity.cgroup.container_id, sizeof(p.identity.cgroup.container_id), "%s",
		       container);
	return p;
}

static void test_match(void **state)
{
	const struct row *row = *state;
	struct process_table processes = { 0 };
	struct process p = make_process(row->pid, row->start_s, row->container, row->exe);
	struct labels *targets[MAX_TARGETS];
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	_cleanup_(labels_unrefp) struct labels *fallback =
		row->fallback ? make_labels(row->fallback) : NULL;
	struct labels *l = NULL, *again = NULL;
	size_t n = 0;

	for (; n < MAX_TARGETS && row->targets[n]; n++)
		targets[n] = make_labels(row->targets[n]);
	assert_int_equal(telemetry_new(&telemetry), 0);
	assert_int_equal(target_set_new(
				 &(struct target_set_options){
					 .targets = n ? targets : NULL,
					 .n_targets = n,
					 .have_targets = row->have_targets,
					 .targets_only = row->targets_only,
					 .default_target = fallback,
					 .host = "h1",
					 .telemetry = telemetry,
				 },
				 &s),
			 0);
	while (n > 0)
		labels_unref(targets[--n]);

	assert_int_equal(target_set_n(s), row->n);
	assert_int_equal(telemetry_get(telemetry, TELEMETRY_targets_rejected), row->n_rejected);
	int outcome = row->by_default ? TARGET_DEFAULT : row->expected ? TARGET_FOUND : TARGET_NONE;
	assert_int_equal(target_set_match(s, &processes, &p, &l), outcome);
	assert_int_equal(target_set_match(s, &processes, &p, &again), outcome);
	assert_ptr_equal(l, again);
	if (row->expected)
		assert_labels(l, row->expected);
	else
		assert_null(l);
	labels_unref(l);
	labels_unref(again);
	assert_int_equal(telemetry_get(telemetry, TELEMETRY_labels_dropped), 0);
}

static struct target_set *make_set(struct telemetry *telemetry, const char *target,
				   bool targets_only)
{
	_cleanup_(labels_unrefp) struct labels *l = target ? make_labels(target) : NULL;
	struct target_set *s = NULL;

	assert_int_equal(target_set_new(&(struct target_set_options){ .targets = target ? &l : NULL,
								      .n_targets = target ? 1 : 0,
								      .have_targets = true,
								      .targets_only = targets_only,
								      .telemetry = telemetry },
					&s),
			 0);
	return s;
}

/* Reading who a process is costs system calls: not where its pid decides. */
static void test_identity_is_read_late(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		bool targets_only, pids_only;
		uint32_t pid;
		unsigned int n_asked;
	} asks[] = {
		{ "__process_pid__=42|service_name=s", true, true, 42, 0 },
		{ "__process_pid__=42|service_name=s", true, true, 43, 0 },
		{ "__process_pid__=42|service_name=s", false, false, 43, 1 },
		{ "__process_pid__=42", true, true, 42, 1 },
		{ "__container_id__=" A "|service_name=s", true, false, 42, 1 },
		{ NULL, true, true, 42, 0 },
		{ NULL, false, false, 42, 1 },
	};
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;

	assert_int_equal(telemetry_new(&telemetry), 0);
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		struct process_table processes = { 0 };
		struct process p = make_process(asks[i].pid, 1, A, "/app");
		_cleanup_(target_set_freep) struct target_set *s =
			make_set(telemetry, asks[i].target, asks[i].targets_only);
		_cleanup_(labels_unrefp) struct labels *l = NULL;

		assert_int_equal(target_set_pids_only(s), asks[i].pids_only);
		assert_true(target_set_match(s, &processes, &p, &l) >= 0);
		assert_int_equal(processes.n_asked, asks[i].n_asked);
	}
}

/* A thousand processes are three objects: those in a container that nobody knows are called after their programs, like the others. */
static void test_thousand_processes(void **state)
{
	(void)state;
	static const char *const exes[] = { "/usr/bin/php", "/opt/php", "/usr/bin/node" };
	struct process_table processes = { 0 };
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	struct labels *series[1000];

	assert_int_equal(telemetry_new(&telemetry), 0);
	struct target_set *s = make_set(telemetry, "__container_id__=" A "|service_name=s", false);
	for (uint32_t i = 0; i < ARRAY_SIZE(series); i++) {
		const char *container = i % 5 == 0 ? A : i % 5 == 1 ? B : "";
		struct process p = make_process(i + 1, i, container, exes[i % ARRAY_SIZE(exes)]);

		assert_int_equal(target_set_match(s, &processes, &p, &series[i]),
				 i % 5 == 0 ? TARGET_FOUND : TARGET_DEFAULT);
	}
	target_set_free(s);

	size_t n_distinct = 0;
	for (size_t i = 0; i < ARRAY_SIZE(series); i++) {
		size_t j = 0;

		while (j < i && series[j] != series[i])
			j++;
		n_distinct += j == i;
	}
	assert_int_equal(n_distinct, 3);
	assert_string_equal(labels_get(series[0], "service_name"), "s");
	assert_string_equal(labels_get(series[3], "service_name"), "php");
	assert_string_equal(labels_get(series[2], "service_name"), "node");
	for (size_t i = 0; i < ARRAY_SIZE(series); i++)
		labels_unref(series[i]);
}

struct place_row {
	const char *name;
	const char *target, *fallback;
	struct container_facts facts;
	struct environ_facts env;
	const char *expected;
};

#define COMPOSE \
	.facts = { .name = "shop-web-1", .compose_project = "shop", .compose_service = "web" }
#define POD                                \
	.facts = { .name = "k8s_web",      \
		   .namespace = "shop",    \
		   .pod = "web-0",         \
		   .pod_container = "web", \
		   .image = "web:1" }

/* Where a process runs are its labels when nobody has given others. */
static const struct place_row places[] = {
	{ "nothing known", .expected = NAME "service_name=app" },
	{ "container", .facts = { .name = "grafana" }, .expected = NAME "service_name=grafana" },
	{ "Compose", COMPOSE,
	  .expected = "compose_project=shop|compose_service=web|host=h1|"
		      "service_name=shop/web" },
	{ "pod", POD,
	  .expected = "container=web|host=h1|namespace=shop|service_name=shop/"
		      "web" },
	{ "pod by the environment",
	  .env = { .kubernetes_namespace = (char *)"shop", .kubernetes_pod = (char *)"web-0" },
	  .expected = "host=h1|namespace=shop|service_name=shop/web" },
	{ "a target without a name", .target = "__container_id__=" A "|team=a", POD,
	  .expected = "host=h1|service_name=shop/web|team=a" },
	{ "a target with a name", .target = "__container_id__=" A "|service_name=a", POD,
	  .expected = NAME "service_name=a" },
	{ "a default without a name", .fallback = "team=b", POD,
	  .expected = "host=h1|service_name=shop/web|team=b" },
	{ "a default with a name", .fallback = "service_name=rest", POD,
	  .expected = NAME "service_name=rest" },
};

static void test_place(void **state)
{
	const struct place_row *row = *state;
	struct container_metadata metadata = { row->facts };
	struct process_table processes = { 0 };
	struct process p = make_process(42, 1, A, "/app");
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	_cleanup_(labels_unrefp) struct labels *target =
		row->target ? make_labels(row->target) : NULL;
	_cleanup_(labels_unrefp) struct labels *fallback =
		row->fallback ? make_labels(row->fallback) : NULL;
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	p.identity.env = row->env;
	assert_int_equal(telemetry_new(&telemetry), 0);
	assert_int_equal(target_set_new(&(struct target_set_options){ .targets = &target,
								      .n_targets = !!target,
								      .have_targets = target,
								      .default_target = fallback,
								      .metadata = &metadata,
								      .host = "h1",
								      .telemetry = telemetry },
					&s),
			 0);
	assert_true(target_set_match(s, &processes, &p, &l) >= 0);
	assert_labels(l, row->expected);
}

/* Neither a pid nor a container's id makes a series, whatever selects the process and whatever the target says. */
static void test_no_series_a_process(void **state)
{
	(void)state;
	static const char *const targets[] = {
		"__process_pid__=42|service_name=s",
		"__process_pid__=42|__container_id__=" A "|service_name=s",
		"__container_id__=" A "|service_name=s",
		"__meta_docker_container_id=" A "|__meta_process_commandline=x|service_name=s",
	};
	struct process_table processes = { 0 };
	struct process p = make_process(42, 1, A, "/app");
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;

	assert_int_equal(telemetry_new(&telemetry), 0);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		_cleanup_(target_set_freep) struct target_set *s =
			make_set(telemetry, targets[i], true);
		_cleanup_(labels_unrefp) struct labels *l = NULL;

		assert_int_equal(target_set_match(s, &processes, &p, &l), TARGET_FOUND);
		assert_labels(l, "service_name=s");
	}
}

/* What happened to a label is told once, however many series and target sets have it. */
static void test_changes_are_told_once(void **state)
{
	(void)state;
	struct process_table processes = { 0 };
	struct process p = make_process(42, 1, "", "/app");
	_cleanup_label_sanitizer_notes_ struct label_sanitizer_notes notes = { 0 };
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(labels_unrefp) struct labels *target =
		make_labels("__process_pid__=42|service_name=s|k8s.pod=p");
	struct label_sanitizer_change change;

	assert_int_equal(telemetry_new(&telemetry), 0);
	for (int i = 0; i < 3; i++) {
		_cleanup_(target_set_freep) struct target_set *s = NULL;
		_cleanup_(labels_unrefp) struct labels *l = NULL;

		assert_int_equal(
			target_set_new(&(struct target_set_options){ .targets = &target,
								     .n_targets = 1,
								     .have_targets = true,
								     .notes = &notes,
								     .telemetry = telemetry },
				       &s),
			0);
		assert_int_equal(target_set_match(s, &processes, &p, &l), TARGET_FOUND);
		assert_int_equal(label_sanitizer_notes_next(&notes, &change), i == 0);
	}
	assert_string_equal(change.name, "k8s.pod");
	assert_string_equal(change.became, "k8s_pod");
	assert_int_equal(change.what, LABEL_SANITIZER_RENAMED);
}

static void test_losses_are_counted(void **state)
{
	(void)state;
	struct process_table processes = { 0 };
	struct process p = make_process(42, 1, "", "/app");
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(labels_unrefp) struct labels *l = NULL;

	assert_int_equal(telemetry_new(&telemetry), 0);
	_cleanup_(target_set_freep) struct target_set *s =
		make_set(telemetry, "__process_pid__=42|service_name=a\xff|k8s.pod=p", true);
	assert_int_equal(target_set_match(s, &processes, &p, &l), TARGET_FOUND);
	assert_labels(l, "k8s_pod=p|service_name=a\xef\xbf\xbd");
	assert_int_equal(telemetry_get(telemetry, TELEMETRY_labels_dropped), 2);
}

static void test_too_many_targets(void **state)
{
	(void)state;
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	_cleanup_(labels_unrefp) struct labels *l = make_labels("__process_pid__=42");
	_cleanup_free_ struct labels **targets = calloc(TARGETS_MAX + 1, sizeof(targets[0]));

	assert_non_null(targets);
	for (size_t i = 0; i <= TARGETS_MAX; i++)
		targets[i] = l;
	assert_int_equal(telemetry_new(&telemetry), 0);
	assert_int_equal(target_set_new(&(struct target_set_options){ .targets = targets,
								      .n_targets = TARGETS_MAX + 1,
								      .have_targets = true,
								      .telemetry = telemetry },
					&s),
			 0);
	assert_int_equal(target_set_n(s), 1);
	assert_int_equal(telemetry_get(telemetry, TELEMETRY_targets_rejected), 1);
	assert_int_equal(l->n_refs, TARGETS_MAX + 1);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_match, rows, name),
	TEST_ROWS(test_place, places, name),
	TEST(test_no_series_a_process),
	TEST(test_changes_are_told_once),
	TEST(test_identity_is_read_late),
	TEST(test_thousand_processes),
	TEST(test_losses_are_counted),
	TEST(test_too_many_targets),
};

TEST_MAIN(tests)
