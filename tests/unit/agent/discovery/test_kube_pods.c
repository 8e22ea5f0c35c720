/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and their targets: what is kept, what goes, and what there is no room for. */
#include <string.h>

#include "agent/discovery/kube_objects.h"
#include "agent/discovery/kube_pods.h"
#include "agent/discovery/kube_reduce.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

struct fixture {
	struct kube_pods_options options;
	struct kube_pods pods;
	struct kube_objects nodes;
};

static struct pod_targets_options around(const json_t *pod, void *data)
{
	const struct fixture *f = data;
	const json_t *spec = json_object_get(pod, "spec");

	return (struct pod_targets_options){
		.node = kube_objects_get(&f->nodes,
					 json_string_value(json_object_get(spec, "nodeName")))
	};
}

static void set_up(struct fixture *f)
{
	f->options = (struct kube_pods_options){ .max_pods = 10,
						 .max_targets = 10,
						 .max_bytes = 1 << 20 };
	kube_pods_init(&f->pods, &f->options);
}

static void tear_down(struct fixture *f)
{
	kube_pods_fini(&f->pods);
	assert_int_equal(f->pods.by_uid.n, 0);
	assert_int_equal(f->pods.n_targets, 0);
	assert_int_equal(f->pods.n_bytes, 0);
	kube_objects_fini(&f->nodes);
}

FIXTURE(struct fixture, set_up, tear_down)

/* A pod with so many containers. */
static json_t *pod(const char *uid, const char *namespace, const char *name, const char *value,
		   int n)
{
	json_t *containers = json_array();
	json_t *object;

	for (int i = 0; i < n; i++)
		assert_int_equal(json_array_append_new(containers,
						       json_pack("{s:s++, s:{s:i}, s:[]}", "name",
								 "c", value, i ? "2" : "", "env",
								 "a", 1, "args")),
				 0);
	object = json_pack("{s:{s:s, s:s, s:s, s:{s:s}, s:[]}, s:{s:s, s:o, s:[]}, s:{s:s}}",
			   "metadata", "uid", uid, "namespace", namespace, "name", name, "labels",
			   "k", value, "managedFields", "spec", "nodeName", "node", "containers",
			   containers, "volumes", "status", "podIP", "10.0.0.1");
	assert_non_null(object);
	return object;
}

static void put(struct fixture *f, const char *uid, const char *name, const char *value, int n)
{
	json_t *object = pod(uid, "ns", name, value, n);

	assert_int_equal(kube_pods_put(&f->pods, object), 0);
	json_decref(object);
}

static void delete (struct fixture *f, const char *uid, const char *name)
{
	json_t *object = pod(uid, "ns", name, "", 0);

	kube_pods_remove(&f->pods, object);
	json_decref(object);
}

/* "name=value name=value": of each target, in order. */
static void assert_targets(struct fixture *f, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct kube_pods *sets[] = { &f->pods };
	size_t n = 0;
	_cleanup_free_ struct kube_pod **pods = kube_pods_sorted(sets, 1, &n);

	assert_non_null(pods);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < pods[i]->targets.n; k++)
			(void)buf_printf(
				&text, "%s=%s ",
				labels_get(pods[i]->targets.items[k], "__meta_kubernetes_pod_name"),
				labels_get(pods[i]->targets.items[k],
					   "__meta_kubernetes_pod_label_k"));
	assert_string_equal(buf_str(&text), expected);
}

static void test_put_and_remove(void **state)
{
	struct fixture *f = *state;

	put(f, "u2", "b", "1", 1);
	put(f, "u1", "a", "1", 2);
	assert_targets(f, "a=1 a=1 b=1 ");
	put(f, "u1", "a", "2", 1);
	assert_targets(f, "a=2 b=1 ");
	assert_int_equal(f->pods.n_targets, 2);
	/* Another pod of the same name: the old one ends after the new one has begun. */
	put(f, "u3", "a", "3", 1);
	delete (f, "u1", "a");
	assert_targets(f, "a=3 b=1 ");
	delete (f, "u9", "a");
	delete (f, "u2", "b");
	assert_targets(f, "a=3 ");
}

static void test_without_uid(void **state)
{
	struct fixture *f = *state;

	put(f, "", "a", "1", 1);
	put(f, "", "b", "1", 1);
	put(f, "", "a", "2", 1);
	assert_targets(f, "a=2 b=1 ");
	delete (f, "", "b");
	assert_targets(f, "a=2 ");
}

static void test_no_room_for_pods(void **state)
{
	struct fixture *f = *state;

	f->options.max_pods = 2;
	put(f, "u1", "a", "1", 1);
	put(f, "u2", "b", "1", 1);
	put(f, "u3", "c", "1", 1);
	assert_targets(f, "a=1 b=1 ");
	assert_int_equal(f->pods.n_refused, 1);
	put(f, "u2", "b", "2", 1);
	assert_targets(f, "a=1 b=2 ");
	delete (f, "u1", "a");
	put(f, "u3", "c", "1", 1);
	assert_targets(f, "b=2 c=1 ");
	assert_int_equal(f->pods.n_refused, 1);
}

/* What a pod was is not what it is: better none than an old one. */
static void test_no_room_for_targets(void **state)
{
	struct fixture *f = *state;

	put(f, "u1", "a", "1", 6);
	put(f, "u2", "b", "1", 5);
	assert_int_equal(f->pods.n_targets, 6);
	put(f, "u2", "b", "1", 4);
	assert_int_equal(f->pods.n_targets, 10);
	put(f, "u2", "b", "1", 5);
	assert_int_equal(f->pods.n_targets, 6);
	assert_int_equal(f->pods.n_refused, 2);
}

static void test_no_room_for_bytes(void **state)
{
	struct fixture *f = *state;

	put(f, "u1", "a", "1", 1);
	f->options.max_bytes = f->pods.n_bytes + 8;
	put(f, "u2", "b", "1", 1);
	assert_targets(f, "a=1 ");
	assert_int_equal(f->pods.n_refused, 1);
}

static bool put_node(struct fixture *f, const char *zone, const char *noise)
{
	json_t *node = json_pack("{s:{s:s, s:s, s:{s:s}}, s:s}", "metadata", "name", "node",
				 "resourceVersion", noise, "labels", "zone", zone, "status", noise);
	bool changed = kube_objects_put(&f->nodes, node);

	json_decref(node);
	return changed;
}

static const char *zone_of(struct fixture *f)
{
	struct kube_pods *sets[] = { &f->pods };
	size_t n = 0;
	_cleanup_free_ struct kube_pod **pods = kube_pods_sorted(sets, 1, &n);

	assert_int_equal(n, 1);
	assert_int_equal(pods[0]->targets.n, 1);
	return labels_get(pods[0]->targets.items[0], "__meta_kubernetes_node_label_zone");
}

static void test_surroundings(void **state)
{
	struct fixture *f = *state;

	f->options.surroundings = around;
	f->options.data = f;
	put(f, "u1", "a", "1", 1);
	assert_null(zone_of(f));
	assert_true(put_node(f, "east", "1"));
	assert_false(put_node(f, "east", "2"));
	assert_int_equal(kube_pods_remake(&f->pods), 0);
	assert_string_equal(zone_of(f), "east");
	assert_true(put_node(f, "west", "3"));
	assert_int_equal(kube_pods_remake(&f->pods), 0);
	assert_string_equal(zone_of(f), "west");
	assert_targets(f, "a=1 ");
	assert_int_equal(f->pods.n_targets, 1);
}

static void test_surroundings_end(void **state)
{
	json_t *node = json_pack("{s:{s:s}}", "metadata", "name", "node");
	struct fixture *f = *state;

	assert_false(kube_objects_remove(&f->nodes, node));
	(void)put_node(f, "east", "1");
	assert_true(kube_objects_remove(&f->nodes, node));
	assert_null(kube_objects_get(&f->nodes, "node"));
	json_decref(node);
}

/* Targets of the whole pod and of the reduced one are the same. */
static void test_reduce(void **state)
{
	_cleanup_target_list_ struct target_list whole = { 0 }, reduced = { 0 };
	json_t *object = json_loads(
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\","
		"\"labels\":{\"l\":\"1\"},\"annotations\":{\"x\":\"2\"},\"managedFields\":[1],"
		"\"ownerReferences\":[{\"controller\":true,\"kind\":\"ReplicaSet\",\"name\":\"r\"}]"
		"},"
		"\"spec\":{\"nodeName\":\"h\",\"volumes\":[{}],\"containers\":[{\"name\":\"c\","
		"\"image\":\"i\",\"env\":[],\"ports\":[{\"containerPort\":80,\"name\":\"http\","
		"\"protocol\":\"TCP\"}]}],\"initContainers\":[{\"name\":\"d\",\"image\":\"j\","
		"\"args\":[]}]},\"status\":{\"podIP\":\"10.0.0.1\",\"hostIP\":\"1.2.3.4\","
		"\"phase\":\"Running\",\"qosClass\":\"Burstable\",\"conditions\":[{\"type\":"
		"\"Ready\","
		"\"status\":\"True\",\"lastProbeTime\":null}],\"containerStatuses\":[{\"name\":"
		"\"c\","
		"\"containerID\":\"containerd://1\",\"state\":{}}],\"initContainerStatuses\":[{"
		"\"name\":\"d\",\"containerID\":\"containerd://2\",\"state\":{}}]}}",
		0, NULL);

	(void)state;
	assert_non_null(object);
	assert_int_equal(pod_targets_add(object, NULL, &whole), 0);
	kube_reduce_pod(object);
	assert_int_equal(pod_targets_add(object, NULL, &reduced), 0);
	assert_int_equal(whole.n, 2);
	assert_true(target_list_equal(&whole, &reduced));
	_cleanup_free_ char *text = json_dumps(object, 0);
	assert_null(strstr(text, "managedFields"));
	assert_null(strstr(text, "volumes"));
	assert_null(strstr(text, "env"));
	assert_null(strstr(text, "state"));
	assert_null(strstr(text, "kind\": \"Pod"));
	json_decref(object);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_put_and_remove),
	FIXTURE_TEST(test_without_uid),
	FIXTURE_TEST(test_no_room_for_pods),
	FIXTURE_TEST(test_no_room_for_targets),
	FIXTURE_TEST(test_no_room_for_bytes),
	FIXTURE_TEST(test_surroundings),
	FIXTURE_TEST(test_surroundings_end),
	TEST(test_reduce),
};

TEST_MAIN(tests)
