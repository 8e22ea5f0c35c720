/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of Docker's API, and the targets they become. In the rows ' stands for ". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/docker_targets.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define ONE(rest) "[{'Id':'i1','Names':['/n1']," rest "}]"
#define MODE(mode) "'HostConfig':{'NetworkMode':'" mode "'}"
#define ON(networks) "'NetworkSettings':{'Networks':{" networks "}}"
#define BRIDGE "'bridge':{'NetworkID':'b','IPAddress':'172.17.0.2'}"
#define LISTED                                                                         \
	"[{'Id':'b','Name':'bridge','Scope':'local','Internal':false,'Ingress':false," \
	"'Labels':{}},{'Id':'z','Name':'zoo','Scope':'swarm','Internal':true,"         \
	"'Ingress':true,'Labels':{'a.b':'c'}}]"
#define WHO "container_id=i1 container_name=/n1 container_network_mode=bridge "
#define BRIDGE_LABELS                                                \
	"network_id=b network_ingress=false network_internal=false " \
	"network_ip=172.17.0.2 network_name=bridge network_scope=local"

struct row {
	const char *name, *containers, *networks;
	const char *expected; /* one a line, without __meta_docker_ and __address__= */
	size_t n_without_network;
	bool all_networks;
};

static const struct row rows[] = {
	{ "nothing", "[]", "[]", "", 0, false },
	{ "no port: the default one", ONE(MODE("bridge") "," ON(BRIDGE)), LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS "\n", 0, false },
	{ "ports in order, UDP is none",
	  ONE(MODE("bridge") "," ON(BRIDGE) ",'Ports':[{'PrivatePort':443,'Type':'tcp'},"
					    "{'PrivatePort':53,'Type':'udp'},"
					    "{'PrivatePort':80,'Type':'tcp'}]"),
	  LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS " port_private=80\n"
	  "172.17.0.2:443 " WHO BRIDGE_LABELS " port_private=443\n",
	  0, false },
	{ "UDP alone: the default port",
	  ONE(MODE("bridge") "," ON(BRIDGE) ",'Ports':[{'PrivatePort':53,'Type':'udp'}]"), LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS "\n", 0, false },
	{ "published on several addresses: one target",
	  ONE(MODE("bridge") "," ON(
		  BRIDGE) ",'Ports':[{'IP':'::','PrivatePort':80,'PublicPort':8080,'Type':'tcp'},"
			  "{'IP':'0.0.0.0','PrivatePort':80,'PublicPort':8080,'Type':'tcp'},"
			  "{'PrivatePort':80,'Type':'tcp'}]"),
	  LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS
	  " port_private=80 port_public=8080 port_public_ip=0.0.0.0\n",
	  0, false },
	{ "the host's network", ONE(MODE("host") "," ON("'host':{'NetworkID':'h','IPAddress':''}")),
	  LISTED, "dockerhost container_id=i1 container_name=/n1 container_network_mode=host\n", 0,
	  false },
	{ "no network", ONE(MODE("none") "," ON("")), LISTED, "", 1, false },
	{ "no networks told", ONE(MODE("none")), LISTED, "", 1, false },
	{ "networks are null", ONE(MODE("none") ",'NetworkSettings':null"), LISTED, "", 1, false },
	{ "a network that is null", ONE(MODE("bridge") "," ON("'a':null")), LISTED, "", 1, false },
	{ "the first network by name",
	  ONE(MODE("bridge") "," ON("'zoo':{'NetworkID':'z','IPAddress':'10.0.0.9'}," BRIDGE)),
	  LISTED, "172.17.0.2:80 " WHO BRIDGE_LABELS "\n", 0, false },
	{ "a null one is not the first", ONE(MODE("bridge") "," ON("'aaa':null," BRIDGE)), LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS "\n", 0, false },
	{ "all networks",
	  ONE(MODE("bridge") "," ON("'zoo':{'NetworkID':'z','IPAddress':'10.0.0.9'}," BRIDGE)),
	  LISTED,
	  "172.17.0.2:80 " WHO BRIDGE_LABELS "\n"
	  "10.0.0.9:80 " WHO "network_id=z network_ingress=true network_internal=true "
	  "network_ip=10.0.0.9 network_label_a_b=c network_name=zoo network_scope=swarm\n",
	  0, true },
	{ "a network that is not listed",
	  ONE(MODE("bridge") "," ON("'new':{'NetworkID':'n','IPAddress':'10.0.0.3'}")), LISTED,
	  "10.0.0.3:80 " WHO "network_ip=10.0.0.3\n", 0, false },
	{ "networks were not told", ONE(MODE("bridge") "," ON(BRIDGE)), NULL,
	  "172.17.0.2:80 " WHO "network_ip=172.17.0.2\n", 0, false },
	{ "IPv6", ONE(MODE("bridge") "," ON("'v':{'NetworkID':'v','IPAddress':'fe80::2'}")), "[]",
	  "[fe80::2]:80 " WHO "network_ip=fe80::2\n", 0, false },
	{ "labels",
	  ONE(MODE("bridge") "," ON(
		  BRIDGE) ",'Labels':{'com.docker.compose.service':'web','empty':'','x/y-z':'1'}"),
	  NULL,
	  "172.17.0.2:80 container_id=i1 container_label_com_docker_compose_service=web "
	  "container_label_x_y_z=1 container_name=/n1 container_network_mode=bridge "
	  "network_ip=172.17.0.2\n",
	  0, false },
	{ "first of several names",
	  "[{'Id':'i1','Names':['/n1','/other/alias']," MODE("bridge") "," ON(BRIDGE) "}]", NULL,
	  "172.17.0.2:80 " WHO "network_ip=172.17.0.2\n", 0, false },
	{ "no name", "[{'Id':'i1','Names':[]," MODE("bridge") "," ON(BRIDGE) "}]", NULL, "", 1,
	  false },
	{ "another container's network",
	  "[{'Id':'i1','Names':['/n1']," MODE("container:i2") "," ON(
		  "") "},{'Id':'i2','Names':['/n2']," MODE("bridge") "," ON(BRIDGE) "}]",
	  NULL,
	  "172.17.0.2:80 container_id=i1 container_name=/n1 "
	  "container_network_mode=container:i2 network_ip=172.17.0.2\n"
	  "172.17.0.2:80 container_id=i2 container_name=/n2 container_network_mode=bridge "
	  "network_ip=172.17.0.2\n",
	  0, false },
	{ "another container that is not listed", ONE(MODE("container:i2") "," ON("")), NULL, "", 1,
	  false },
	{ "a circle",
	  "[{'Id':'i1','Names':['/n1']," MODE("container:i2") "},"
							      "{'Id':'i2','Names':['/n2']," MODE(
								      "container:i1") "}]",
	  NULL, "", 2, false },
	{ "wrong types",
	  "[7,null,'x',{'Id':5,'Names':'n','HostConfig':[],'NetworkSettings':3},"
	  "{'Id':'i1','Names':['/n1'],'HostConfig':{'NetworkMode':[]},'Labels':{'a':1,'b':{}},"
	  "'NetworkSettings':{'Networks':{'x':{'NetworkID':8,'IPAddress':[]}}},"
	  "'Ports':[1,{},{'PrivatePort':'80','Type':'tcp'},{'PrivatePort':70000,'Type':'tcp'},"
	  "{'PrivatePort':-1,'Type':'tcp'},{'PrivatePort':22,'PublicPort':'a','IP':3,"
	  "'Type':'tcp'},{'PrivatePort':23}]}]",
	  "[3,{'Id':{}},{'Id':'b'}]", ":22 container_id=i1 container_name=/n1 port_private=22\n", 1,
	  false },
	{ "networks are no list", ONE(MODE("bridge") "," ON(BRIDGE)), "{'message':'no'}",
	  "172.17.0.2:80 " WHO "network_ip=172.17.0.2\n", 0, false },
};

static json_t *parse(const char *text)
{
	_cleanup_buf_ struct buf copy = BUF_INIT(1 << 20);

	if (!text)
		return NULL;
	assert_int_equal(buf_append_str(&copy, text), 0);
	for (char *c = copy.data; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *json = json_loads(copy.data, 0, NULL);
	assert_non_null(json);
	return json;
}

static void print_targets(const struct target_list *list, struct buf *out)
{
	static const char prefix[] = "__meta_docker_";

	for (size_t i = 0; i < list->n; i++) {
		const struct labels *l = list->items[i];

		assert_int_equal(buf_append_str(out, labels_get(l, "__address__")), 0);
		for (size_t k = 0; k < l->n; k++)
			if (strncmp(l->items[k].name, prefix, strlen(prefix)) == 0)
				(void)buf_printf(out, " %s=%s", l->items[k].name + strlen(prefix),
						 l->items[k].value);
		(void)buf_append_char(out, '\n');
	}
}

static void test_row(void **state)
{
	const struct row *row = *state;
	const struct docker_targets_options o = { .port = 80,
						  .host_networking_host = "dockerhost",
						  .match_first_network = !row->all_networks };
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	json_t *containers = parse(row->containers);
	json_t *networks = parse(row->networks);
	struct docker_counts counts;

	assert_int_equal(docker_targets_make(containers, networks, &o, &list, &counts), 0);
	print_targets(&list, &text);
	assert_string_equal(buf_str(&text), row->expected);
	assert_int_equal(counts.n_without_network, row->n_without_network);
	assert_int_equal(counts.n_cut, 0);
	json_decref(containers);
	json_decref(networks);
}

static void make(json_t *containers, struct target_list *list, struct docker_counts *counts)
{
	const struct docker_targets_options o = { .port = 80, .host_networking_host = "localhost" };

	assert_int_equal(docker_targets_make(containers, NULL, &o, list, counts), 0);
}

static void test_no_list(void **state)
{
	const struct docker_targets_options o = { .host_networking_host = "" };
	_cleanup_target_list_ struct target_list list = { 0 };
	struct docker_counts counts;
	json_t *object = json_object();

	(void)state;
	assert_int_equal(docker_targets_make(object, NULL, &o, &list, &counts), -EBADMSG);
	assert_int_equal(docker_targets_make(NULL, NULL, &o, &list, &counts), -EBADMSG);
	json_decref(object);
}

/* What is too much is left out and counted; the rest is there. */
static void test_many_labels(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	struct docker_counts counts;
	json_t *containers = parse(ONE(MODE("bridge") "," ON(BRIDGE) ",'Labels':{}"));
	json_t *labels = json_object_get(json_array_get(containers, 0), "Labels");
	char key[16];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(json_object_set_new(labels, key, json_string("v")), 0);
	}
	make(containers, &list, &counts);
	assert_int_equal(list.n, 1);
	assert_true(list.items[0]->n > 450);
	assert_true(counts.n_cut > 450 && counts.n_cut < 600);
	assert_string_equal(labels_get(list.items[0], "__meta_docker_container_id"), "i1");
	assert_string_equal(labels_get(list.items[0], "__address__"), "172.17.0.2:80");
	json_decref(containers);
}

static void test_huge_label(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_free_ char *huge = malloc(3 << 20);
	struct docker_counts counts;
	json_t *containers = parse(ONE(MODE("bridge") "," ON(BRIDGE) ",'Labels':{'a':'b'}"));
	json_t *labels = json_object_get(json_array_get(containers, 0), "Labels");

	(void)state;
	assert_non_null(huge);
	memset(huge, 'x', 3 << 20);
	assert_int_equal(json_object_set_new(labels, "huge", json_stringn(huge, (3 << 20) - 1)), 0);
	make(containers, &list, &counts);
	assert_int_equal(counts.n_cut, 1);
	assert_string_equal(labels_get(list.items[0], "__meta_docker_container_label_a"), "b");
	json_decref(containers);
}

static void test_many_ports(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	struct docker_counts counts;
	json_t *containers = parse(ONE(MODE("bridge") "," ON(BRIDGE) ",'Ports':[]"));
	json_t *ports = json_object_get(json_array_get(containers, 0), "Ports");

	(void)state;
	for (int i = 3000; i > 0; i--)
		assert_int_equal(json_array_append_new(ports, json_pack("{s:i,s:s}", "PrivatePort",
									i, "Type", "tcp")),
				 0);
	make(containers, &list, &counts);
	assert_int_equal(list.n, 1000);
	assert_int_equal(counts.n_cut, 2000);
	assert_string_equal(labels_get(list.items[999], "__address__"), "172.17.0.2:1000");
	json_decref(containers);
}

static void test_many_networks(void **state)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	struct docker_counts counts;
	json_t *containers = parse(ONE(MODE("x") ",'NetworkSettings':{'Networks':{}}"));
	json_t *networks = json_object_get(
		json_object_get(json_array_get(containers, 0), "NetworkSettings"), "Networks");
	char name[16];

	(void)state;
	for (int i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(json_object_set_new(networks, name, json_object()), 0);
	}
	make(containers, &list, &counts);
	assert_int_equal(list.n, 256);
	assert_int_equal(counts.n_cut, 44);
	json_decref(containers);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_no_list),
	TEST(test_many_labels),
	TEST(test_huge_label),
	TEST(test_many_ports),
	TEST(test_many_networks),
};

TEST_MAIN(tests)
