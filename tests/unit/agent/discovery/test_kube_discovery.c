/* SPDX-License-Identifier: Apache-2.0 */
/* Several lists and what surrounds their pods, as one list of targets. */
#include "agent/discovery/kube_discovery.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/kube_server.h"

#define POD(namespace, name)                                                                       \
	"{\"metadata\":{\"namespace\":\"" namespace "\",\"name\":\"" name "\",\"uid\":\"" name     \
						    "\",\"resourceVersion\":\"5\"},\"spec\":{"     \
						    "\"nodeName\":\"n1\",\"containers\":[{"        \
						    "\"name\":"                                    \
						    "\"c\"}]},\"status\":{\"podIP\":\"10.0.0.1\"}" \
						    "}"
#define NAMED(name, zone)                                                                          \
	"{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"6\",\"labels\":{\"z\":\"" zone \
	"\"}}}"
#define LIST(items) \
	OK "{\"metadata\":{\"resourceVersion\":\"3\"},\"items\":[" items "]}", THEN_CLOSE
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define HANGS OK "", THEN_HOLD

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct kube_server server;
	struct kube_api api;
	struct kube_discovery_options options;
	struct kube_discovery *discovery;
	unsigned int n_changes;
	struct buf said; /* of the last list, of each target: namespace/pod zone */
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static void on_changed(struct target_list *targets, void *data)
{
	struct fixture *f = data;

	f->n_changes++;
	buf_reset(&f->said);
	for (size_t i = 0; i < targets->n; i++) {
		const struct labels *l = targets->items[i];

		(void)buf_printf(&f->said, "%s/%s %s %s;",
				 labels_get(l, "__meta_kubernetes_namespace"),
				 labels_get(l, "__meta_kubernetes_pod_name"),
				 or_none(labels_get(l, "__meta_kubernetes_node_label_z")),
				 or_none(labels_get(l, "__meta_kubernetes_namespace_label_z")));
	}
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	kube_server_start(&f->server, f->loop);
	f->server.any_order = true;
	buf_init(&f->said, 65536);
	(void)buf_append_str(&f->said, "nothing yet");
	f->api = (struct kube_api){ .loop = f->loop, .http = f->http, .server = f->server.url };
	f->options = (struct kube_discovery_options){
		.api = &f->api,
		.timing = KUBE_WATCH_TIMING_INIT,
		.gather_ns = 1 * NS_PER_MS,
		.changed = on_changed,
		.data = f,
	};
	f->options.timing.retry = (struct retry_options){ 1 * NS_PER_MS, 5 * NS_PER_MS };
}

static void tear_down(struct fixture *f)
{
	kube_discovery_free(f->discovery);
	kube_server_stop(&f->server);
	http_client_free(f->http);
	loop_free(f->loop);
	buf_fini(&f->said);
}

FIXTURE(struct fixture, set_up, tear_down)

static void begin(struct fixture *f, const struct kube_step *steps, size_t n)
{
	f->server.steps = steps;
	f->server.n_steps = n;
	assert_int_equal(kube_discovery_new(&f->options, &f->discovery), 0);
}

static void wait_said(struct fixture *f, const char *expected)
{
	LOOP_WHILE(f->loop, strcmp(buf_str(&f->said), expected) != 0);
	assert_string_equal(buf_str(&f->said), expected);
}

/* Each namespace has a list of its own; what one of them does leaves the others alone. */
static void test_namespaces(void **state)
{
	static const char *const names[] = { "b", "a", "c" };
	static const struct kube_step steps[] = {
		{ "/namespaces/a/pods?limit", LIST(POD("a", "p2") "," POD("a", "p1")) },
		{ "/namespaces/b/pods?limit", LIST(POD("b", "p3")) },
		{ "/namespaces/c/pods?limit", STATUS("403", ""), THEN_CLOSE },
		{ "/namespaces/c/pods?limit", LIST(POD("c", "p4")) },
		{ "/namespaces/a/pods?watch", OK EVENT("DELETED", POD("a", "p2")), THEN_HOLD },
		{ "/namespaces/b/pods?watch", STATUS("410", ""), THEN_CLOSE },
		{ "/namespaces/b/pods?limit", LIST("") },
		{ "/namespaces/b/pods?watch", HANGS },
		{ "/namespaces/c/pods?watch", HANGS },
	};
	struct fixture *f = *state;

	f->options.namespaces = names;
	f->options.n_namespaces = ARRAY_SIZE(names);
	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "a/p1 - -;c/p4 - -;");
	struct kube_discovery_status status = kube_discovery_status(f->discovery);
	assert_true(status.known);
	assert_false(status.failed);
	assert_int_equal(status.n_pods, 2);
	assert_int_equal(status.n_targets, 2);
	assert_int_equal(status.n_lists, 5);
}

static void test_empty_is_told(void **state)
{
	static const struct kube_step steps[] = { { "limit", LIST("") }, { "watch", HANGS } };
	struct fixture *f = *state;

	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "");
	assert_int_equal(f->n_changes, 1);
}

/* A burst of events is one change. */
static void test_gathers(void **state)
{
	static const struct kube_step steps[] = {
		{ "limit", LIST("") },
		{ "watch",
		  OK EVENT("ADDED", POD("a", "p1")) EVENT("ADDED", POD("a", "p2"))
			  EVENT("ADDED", POD("a", "p3")) EVENT("DELETED", POD("a", "p2")),
		  THEN_HOLD },
	};
	struct fixture *f = *state;

	f->options.gather_ns = 50 * NS_PER_MS;
	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "a/p1 - -;a/p3 - -;");
	assert_true(f->n_changes <= 2);
}

/* No target is told of before its node is known, and a node that changes changes its targets. */
static void test_surroundings(void **state)
{
	static const struct kube_step steps[] = {
		{ "/pods?limit=500&fieldSelector=spec.nodeName%3Dn1",
		  LIST(POD("a", "p1") "," POD("b", "p2")) },
		{ "/pods?watch", HANGS },
		{ "/nodes?limit=500&fieldSelector=metadata.name%3Dn1", STATUS("503", ""),
		  THEN_CLOSE },
		{ "/nodes?limit", LIST(NAMED("n1", "east") "," NAMED("n2", "x")) },
		{ "/nodes?watch", HANGS },
		{ "/namespaces?limit=500&resourceVersion", LIST(NAMED("a", "mine")) },
		{ "/namespaces?watch", OK EVENT("ADDED", NAMED("b", "yours")), THEN_HOLD },
	};
	struct fixture *f = *state;

	f->options.field_selector = "spec.nodeName=n1";
	f->options.attach_node = f->options.attach_namespace = true;
	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "a/p1 east mine;b/p2 east yours;");
}

static void test_surroundings_are_waited_for(void **state)
{
	static const struct kube_step steps[] = {
		{ "/pods?limit", LIST(POD("a", "p1")) },
		{ "/pods?watch", HANGS },
		{ "/nodes?limit", HANGS },
	};
	struct fixture *f = *state;

	f->options.attach_node = true;
	begin(f, steps, ARRAY_SIZE(steps));
	for (int i = 0; i < 2000 && f->server.at < 3; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	assert_string_equal(buf_str(&f->said), "nothing yet");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_namespaces),
	FIXTURE_TEST(test_empty_is_told),
	FIXTURE_TEST(test_gathers),
	FIXTURE_TEST(test_surroundings),
	FIXTURE_TEST(test_surroundings_are_waited_for),
};

TEST_MAIN(tests)
