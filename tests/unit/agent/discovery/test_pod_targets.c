/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of every shape, and their targets. Names are without "__meta_kubernetes_". */
#include <stdio.h>

#include "agent/discovery/pod_targets.h"
#include "agent/discovery/pod_words.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEXT_MAX ((size_t)4 << 20)

/* ' stands for ". */
struct row {
	const char *name, *pod, *node, *namespace;
	const char *expected; /* a target a line */
};

#define META "'metadata':{'name':'web-0','namespace':'shop','uid':'u-1'"
#define STATUS "'status':{'podIP':'10.1.2.3','hostIP':'192.168.0.7','phase':'Running'"
#define MORE "|pod_host_ip=192.168.0.7|pod_ip=10.1.2.3|pod_name=web-0"
#define BARE "__address__=10.1.2.3|namespace=shop"
#define TAIL "|pod_phase=Running|pod_ready=unknown|pod_uid=u-1\n"

static const struct row rows[] = {
	{ .name = "running, with all there is",
	  .pod = "{" META ",'labels':{'app.kubernetes.io/name':'web','empty':''},"
		 "'annotations':{'pyroscope.io/service_name':'shop-web'},"
		 "'ownerReferences':[{'kind':'Node','name':'n','controller':false},"
		 "{'kind':'StatefulSet','name':'web','controller':true}]},"
		 "'spec':{'nodeName':'node-a','containers':[{'name':'app','image':'r/app:1',"
		 "'ports':[{'name':'http','containerPort':8080,'protocol':'TCP'}]}]}," STATUS
		 ",'conditions':[{'type':'Initialized','status':'False'},"
		 "{'type':'Ready','status':'True'}],"
		 "'containerStatuses':[{'name':'app','containerID':'containerd://" ID "'}]}}",
	  .expected = "__address__=10.1.2.3:8080|namespace=shop"
		      "|pod_annotation_pyroscope_io_service_name=shop-web"
		      "|pod_annotationpresent_pyroscope_io_service_name=true"
		      "|pod_container_id=containerd://" ID
		      "|pod_container_image=r/app:1|pod_container_init=false"
		      "|pod_container_name=app|pod_container_port_name=http"
		      "|pod_container_port_number=8080|pod_container_port_protocol=TCP"
		      "|pod_controller_kind=StatefulSet|pod_controller_name=web"
		      "|pod_host_ip=192.168.0.7|pod_ip=10.1.2.3"
		      "|pod_label_app_kubernetes_io_name=web"
		      "|pod_labelpresent_app_kubernetes_io_name=true|pod_labelpresent_empty=true"
		      "|pod_name=web-0|pod_node_name=node-a|pod_phase=Running|pod_ready=true"
		      "|pod_uid=u-1\n" },
	{ .name = "pending, no address",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app'}]},'status':{'phase':'Pending'}}",
	  .expected = "" },
	{ .name = "an empty address",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app'}]},'status':{'podIP':''}}",
	  .expected = "" },
	{ .name = "no name",
	  .pod = "{'metadata':{},'spec':{'containers':[{'name':'app'}]}," STATUS "}}",
	  .expected = "" },
	{ .name = "no status of the container yet",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app','image':'i'}]}," STATUS "}}",
	  .expected = BARE "|pod_container_image=i|pod_container_init=false"
			   "|pod_container_name=app" MORE TAIL },
	{ .name = "waiting: an empty id",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app'}]}," STATUS
		 ",'containerStatuses':[{'name':'app','containerID':'',"
		 "'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}}",
	  .expected = BARE "|pod_container_init=false|pod_container_name=app" MORE TAIL },
	{ .name = "init containers come last, sidecars included",
	  .pod = "{" META "},'spec':{'initContainers':[{'name':'migrate'},"
		 "{'name':'proxy','restartPolicy':'Always','ports':[{'containerPort':15001}]}],"
		 "'containers':[{'name':'app'}]}," STATUS
		 ",'initContainerStatuses':[{'name':'proxy','containerID':'cri-o://b'},"
		 "{'name':'migrate','containerID':'cri-o://a'}],"
		 "'containerStatuses':[{'name':'app','containerID':'docker://c'}]}}",
	  .expected = BARE "|pod_container_id=docker://c|pod_container_init=false"
			   "|pod_container_name=app" MORE TAIL BARE
			   "|pod_container_id=cri-o://a|pod_container_init=true"
			   "|pod_container_name=migrate" MORE TAIL
			   "__address__=10.1.2.3:15001|namespace=shop|pod_container_id=cri-o://b"
			   "|pod_container_init=true|pod_container_name=proxy"
			   "|pod_container_port_number=15001" MORE TAIL },
	{ .name = "the status of an init container is not that of a container of its name",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app'}]}," STATUS
		 ",'initContainerStatuses':[{'name':'app','containerID':'docker://x'}]}}",
	  .expected = BARE "|pod_container_init=false|pod_container_name=app" MORE TAIL },
	{ .name = "ephemeral containers are no targets",
	  .pod = "{" META "},'spec':{'ephemeralContainers':[{'name':'debug'}],"
		 "'containers':[{'name':'app'}]}," STATUS
		 ",'ephemeralContainerStatuses':[{'name':'debug','containerID':'docker://d'}]}}",
	  .expected = BARE "|pod_container_init=false|pod_container_name=app" MORE TAIL },
	{ .name = "a target a port",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app','ports':["
		 "{'containerPort':80,'name':'web'},{'containerPort':53,'protocol':'UDP'}]}]}"
		 "," STATUS "}}",
	  .expected = "__address__=10.1.2.3:80|namespace=shop|pod_container_init=false"
		      "|pod_container_name=app|pod_container_port_name=web"
		      "|pod_container_port_number=80" MORE TAIL
		      "__address__=10.1.2.3:53|namespace=shop|pod_container_init=false"
		      "|pod_container_name=app|pod_container_port_number=53"
		      "|pod_container_port_protocol=UDP" MORE TAIL },
	{ .name = "IPv6 has brackets before a port alone",
	  .pod = "{'metadata':{'name':'six','namespace':'n'},'spec':{'containers':["
		 "{'name':'a','ports':[{'containerPort':80}]},{'name':'b'}]},"
		 "'status':{'podIP':'fd00::1'}}",
	  .expected = "__address__=[fd00::1]:80|namespace=n|pod_container_init=false"
		      "|pod_container_name=a|pod_container_port_number=80|pod_ip=fd00::1"
		      "|pod_name=six|pod_ready=unknown\n"
		      "__address__=fd00::1|namespace=n|pod_container_init=false"
		      "|pod_container_name=b|pod_ip=fd00::1|pod_name=six|pod_ready=unknown\n" },
	{ .name = "on the host's network",
	  .pod = "{" META "},'spec':{'hostNetwork':true,'containers':[{'name':'app','ports':["
		 "{'containerPort':9100,'hostPort':9100}]}]},"
		 "'status':{'podIP':'192.168.0.7','hostIP':'192.168.0.7'}}",
	  .expected = "__address__=192.168.0.7:9100|namespace=shop|pod_container_init=false"
		      "|pod_container_name=app|pod_container_port_number=9100"
		      "|pod_host_ip=192.168.0.7|pod_ip=192.168.0.7|pod_name=web-0"
		      "|pod_ready=unknown|pod_uid=u-1\n" },
	{ .name = "a static pod: its owner is the node",
	  .pod = "{'metadata':{'name':'etcd-a','namespace':'kube-system',"
		 "'annotations':{'kubernetes.io/config.source':'file'},"
		 "'ownerReferences':[{'kind':'Node','name':'node-a','controller':true}]},"
		 "'spec':{'containers':[{'name':'etcd'}]},'status':{'podIP':'192.168.0.7',"
		 "'conditions':[{'type':'Ready','status':'False'}]}}",
	  .expected = "__address__=192.168.0.7|namespace=kube-system"
		      "|pod_annotation_kubernetes_io_config_source=file"
		      "|pod_annotationpresent_kubernetes_io_config_source=true"
		      "|pod_container_init=false|pod_container_name=etcd"
		      "|pod_controller_kind=Node|pod_controller_name=node-a"
		      "|pod_ip=192.168.0.7|pod_name=etcd-a|pod_ready=false\n" },
	{ .name = "not known whether it is ready",
	  .pod = "{" META "},'spec':{'containers':[{'name':'app'}]}," STATUS
		 ",'conditions':[{'type':'Ready','status':'Unknown'}]}}",
	  .expected = BARE "|pod_container_init=false|pod_container_name=app" MORE TAIL },
	{ .name = "keys of other alphabets",
	  .pod = "{'metadata':{'name':'u','labels':{'größe':'groß','日本':'a'}},"
		 "'spec':{'containers':[{'name':'c'}]},'status':{'podIP':'1.1.1.1'}}",
	  .expected = "__address__=1.1.1.1|pod_container_init=false|pod_container_name=c"
		      "|pod_ip=1.1.1.1|pod_label___=a|pod_label_gr__e=groß"
		      "|pod_labelpresent___=true|pod_labelpresent_gr__e=true"
		      "|pod_name=u|pod_ready=unknown\n" },
	{ .name = "what its node and its namespace say",
	  .pod = "{" META "},'spec':{'nodeName':'node-a','containers':[{'name':'app'}]}," STATUS
		 "}}",
	  .node = "{'metadata':{'name':'node-a','labels':{'kubernetes.io/arch':'arm64'},"
		  "'annotations':{'a':'b'}}}",
	  .namespace = "{'metadata':{'name':'shop','labels':{'team':'x'},"
		       "'annotations':{'c':'d'}}}",
	  .expected = BARE "|namespace_annotation_c=d|namespace_annotationpresent_c=true"
			   "|namespace_label_team=x|namespace_labelpresent_team=true"
			   "|node_annotation_a=b|node_annotationpresent_a=true"
			   "|node_label_kubernetes_io_arch=arm64"
			   "|node_labelpresent_kubernetes_io_arch=true|node_name=node-a"
			   "|pod_container_init=false|pod_container_name=app"
			   "|pod_host_ip=192.168.0.7|pod_ip=10.1.2.3|pod_name=web-0"
			   "|pod_node_name=node-a" TAIL },
	{ .name = "wrong types are left out",
	  .pod = "{'metadata':{'name':'h','namespace':7,'uid':[],'labels':{'a':1,'b':'c'},"
		 "'annotations':['x'],'ownerReferences':{'controller':true}},"
		 "'spec':{'nodeName':{},'containers':[null,5,'x',{'name':3,'image':false,"
		 "'ports':'x'},{'name':'p','ports':[7,{'containerPort':'80'},"
		 "{'containerPort':0},{'containerPort':65536},{'containerPort':-1},"
		 "{'containerPort':80.5},{'containerPort':65535,'name':1}]}],'initContainers':1},"
		 "'status':{'podIP':'1.1.1.1','phase':null,'conditions':[1,{'type':2},"
		 "{'type':'Ready','status':1}],'containerStatuses':[4,{'name':'p',"
		 "'containerID':9}]}}",
	  .expected = "__address__=1.1.1.1|pod_container_init=false|pod_ip=1.1.1.1|pod_label_b=c"
		      "|pod_labelpresent_b=true|pod_name=h|pod_ready=unknown\n"
		      "__address__=1.1.1.1:65535|pod_container_init=false|pod_container_name=p"
		      "|pod_container_port_number=65535|pod_ip=1.1.1.1|pod_label_b=c"
		      "|pod_labelpresent_b=true|pod_name=h|pod_ready=unknown\n" },
	{ .name = "a port without a number is none, and a container without ports has a target",
	  .pod = "{'metadata':{'name':'h'},'spec':{'containers':[{'name':'p',"
		 "'ports':[{'name':'x'}]}]},'status':{'podIP':'1.1.1.1'}}",
	  .expected = "__address__=1.1.1.1|pod_container_init=false|pod_container_name=p"
		      "|pod_ip=1.1.1.1|pod_name=h|pod_ready=unknown\n" },
	{ .name = "no object at all", .pod = "[1]", .expected = "" },
	{ .name = "an address that is none",
	  .pod = "{" META "},'spec':{'containers':[{'name':'a'}]},'status':{'podIP':'"
		 "0000000000000000000000000000000000000000000000000000000000000000'}}",
	  .expected = "" },
};

static json_t *json_of(const char *text)
{
	_cleanup_free_ char *copy = text ? strdup(text) : NULL;

	if (!copy)
		return NULL;
	for (char *at = copy; (at = strchr(at, '\'')) != NULL;)
		*at = '"';
	json_t *value = json_loads(copy, 0, NULL);
	assert_non_null(value);
	return value;
}

static void print(const struct labels *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		struct str name = str_from(l->items[i].name);
		struct str prefix = STR_LIT("__meta_kubernetes_");

		if (str_starts_with(name, prefix))
			name.p += prefix.n;
		assert_int_equal(
			buf_printf(out, "%s%s=%s", i ? "|" : "", name.p, l->items[i].value), 0);
	}
	assert_int_equal(buf_append_char(out, '\n'), 0);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_MAX);
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *pod = json_of(row->pod);
	json_t *node = json_of(row->node);
	json_t *namespace = json_of(row->namespace);
	struct pod_targets_options o = { .node = node, .namespace = namespace };

	assert_int_equal(pod_targets_add(pod, node ? &o : NULL, &list), 0);
	for (size_t i = 0; i < list.n; i++)
		print(list.items[i], &text);
	assert_string_equal(buf_str(&text), row->expected);
	json_decref(pod);
	json_decref(node);
	json_decref(namespace);
}

static json_t *pod_of(json_t *labels, json_t *containers)
{
	json_t *pod =
		json_pack("{s:{s:s, s:o}, s:{s:o}, s:{s:s}}", "metadata", "name", "p", "labels",
			  labels, "spec", "containers", containers, "status", "podIP", "1.1.1.1");

	assert_non_null(pod);
	return pod;
}

static void add_numbered(json_t *map, unsigned int n, const char *value)
{
	char key[32];

	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(json_object_set_new(map, key, json_string(value)), 0);
	}
}

/* What a target is found by stays, however many labels a pod has. */
static void test_more_labels_than_room(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *labels = json_object();
	json_t *pod = pod_of(labels, json_pack("[{s:s}]", "name", "c"));

	(void)state;
	add_numbered(labels, 2 * LABELS_RAW_MAX, "v");
	assert_int_equal(pod_targets_add(pod, NULL, &list), 0);
	assert_int_equal(list.n, 1);
	const struct labels *l = list.items[0];
	assert_string_equal(labels_get(l, "__meta_kubernetes_pod_container_name"), "c");
	assert_string_equal(labels_get(l, "__meta_kubernetes_pod_label_k0"), "v");
	assert_string_equal(labels_get(l, "__address__"), "1.1.1.1");
	assert_in_range(l->n, LABELS_RAW_MAX - POD_WORDS_ROOM_LEFT, LABELS_RAW_MAX - 1);
	json_decref(pod);
}

static size_t text_bytes(const struct labels *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += strlen(l->items[i].name) + strlen(l->items[i].value);
	return n;
}

static void test_long_values(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_free_ char *value = calloc(1, POD_WORDS_MAX_VALUE_BYTES + 1);
	json_t *labels = json_object();
	json_t *pod = pod_of(labels, json_pack("[{s:s}]", "name", "c"));

	(void)state;
	assert_non_null(value);
	memset(value, 'x', POD_WORDS_MAX_VALUE_BYTES);
	assert_int_equal(json_object_set_new(labels, "long", json_string(value)), 0);
	value[POD_WORDS_MAX_VALUE_BYTES - 100] = '\0';
	add_numbered(labels, 20, value);
	assert_int_equal(pod_targets_add(pod, NULL, &list), 0);
	assert_int_equal(list.n, 1);
	const struct labels *l = list.items[0];
	assert_null(labels_get(l, "__meta_kubernetes_pod_label_long"));
	assert_string_equal(labels_get(l, "__meta_kubernetes_pod_labelpresent_long"), "true");
	assert_non_null(labels_get(l, "__meta_kubernetes_pod_label_k3"));
	assert_null(labels_get(l, "__meta_kubernetes_pod_label_k4"));
	assert_string_equal(labels_get(l, "__meta_kubernetes_pod_labelpresent_k19"), "true");
	assert_in_range(text_bytes(l), 0, POD_WORDS_MAX_BYTES + 4096);
	json_decref(pod);
}

static json_t *many_ports(unsigned int n)
{
	json_t *ports = json_array();

	for (unsigned int i = 1; i <= n; i++)
		assert_int_equal(
			json_array_append_new(ports, json_pack("{s:i}", "containerPort", (int)i)),
			0);
	return ports;
}

static void test_more_ports_than_a_pod_has(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *pod = pod_of(json_object(), json_pack("[{s:s, s:o}, {s:s}]", "name", "c", "ports",
						      many_ports(2000), "name", "d"));

	(void)state;
	assert_int_equal(pod_targets_add(pod, NULL, &list), 0);
	assert_int_equal(list.n, 1000);
	json_decref(pod);
}

static void test_full_list(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *pod = pod_of(json_object(),
			     json_pack("[{s:s, s:o}]", "name", "c", "ports", many_ports(1000)));
	int r = 0;

	(void)state;
	while (r == 0)
		r = pod_targets_add(pod, NULL, &list);
	assert_int_equal(r, -E2BIG);
	assert_int_equal(list.n, TARGET_LIST_MAX);
	json_decref(pod);
}

static const struct unit_test tests[] = {
	TEST(test_more_labels_than_room),
	TEST(test_long_values),
	TEST(test_more_ports_than_a_pod_has),
	TEST(test_full_list),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
