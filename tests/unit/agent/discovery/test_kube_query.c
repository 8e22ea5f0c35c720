/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries, and what is escaped in them. */
#include <errno.h>

#include "agent/discovery/kube_query.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name;
	struct kube_query query;
	const char *version, *next;
	bool watch;
	const char *expected;
} rows[] = {
	{ "all pods",
	  { .resource = KUBE_PODS },
	  "0",
	  "",
	  false,
	  "/api/v1/pods?limit=500&resourceVersion=0" },
	{ "the newest",
	  { .resource = KUBE_PODS, .namespace = "" },
	  "",
	  NULL,
	  false,
	  "/api/v1/pods?limit=500" },
	{ "of a namespace",
	  { .resource = KUBE_PODS, .namespace = "kube-system" },
	  "",
	  "",
	  false,
	  "/api/v1/namespaces/kube-system/pods?limit=500" },
	{ "a namespace that is none",
	  { .resource = KUBE_PODS, .namespace = "a/../b?c" },
	  "",
	  "",
	  false,
	  "/api/v1/namespaces/a%2F..%2Fb%3Fc/pods?limit=500" },
	{ "a page: without the version",
	  { .resource = KUBE_PODS },
	  "7",
	  "a+b/c==",
	  false,
	  "/api/v1/pods?limit=500&continue=a%2Bb%2Fc%3D%3D" },
	{ "field selector",
	  { .resource = KUBE_PODS, .field_selector = "spec.nodeName=n1,status.phase!=Failed" },
	  "0",
	  "",
	  false,
	  "/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3Dn1%2Cstatus.phase%21%3DFailed"
	  "&resourceVersion=0" },
	{ "label selector",
	  { .resource = KUBE_PODS, .label_selector = "a in (b, c),!d,e=\xc3\xa9&f#g%20" },
	  "0",
	  "",
	  false,
	  "/api/v1/"
	  "pods?limit=500&labelSelector=a%20in%20%28b%2C%20c%29%2C%21d%2Ce%3D%C3%A9%26f%23g%2520"
	  "&resourceVersion=0" },
	{ "both, in a watch",
	  { .resource = KUBE_PODS,
	    .namespace = "n",
	    .field_selector = "a=b",
	    .label_selector = "c" },
	  "12",
	  "",
	  true,
	  "/api/v1/namespaces/n/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300"
	  "&fieldSelector=a%3Db&labelSelector=c&resourceVersion=12" },
	{ "nodes",
	  { .resource = KUBE_NODES, .namespace = "n" },
	  "0",
	  "",
	  false,
	  "/api/v1/nodes?limit=500&resourceVersion=0" },
	{ "namespaces",
	  { .resource = KUBE_NAMESPACES },
	  "3",
	  "",
	  true,
	  "/api/v1/"
	  "namespaces?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=3" },
};

static int make(const struct row *row, struct buf *out)
{
	return row->watch ? kube_query_watch(&row->query, row->version, 300, out)
			  : kube_query_list(&row->query, row->version, row->next, out);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1024);

	assert_int_equal(make(row, &out), 0);
	assert_string_equal(buf_str(&out), row->expected);
	for (size_t max = 1; max < out.len; max++) {
		_cleanup_buf_ struct buf small = BUF_INIT(max);

		assert_int_equal(make(row, &small), -ENOBUFS);
	}
}

static const struct node_row {
	const char *selector;
	const char *node; /* NULL: any */
} node_rows[] = {
	{ NULL, NULL },
	{ "", NULL },
	{ "spec.nodeName=a", "a" },
	{ "spec.nodeName==a", "a" },
	{ " spec.nodeName = a ", "a" },
	{ "status.phase=Running,spec.nodeName=a.b-c", "a.b-c" },
	{ "spec.nodeName=a,metadata.name=x", "a" },
	{ "spec.nodeName!=a", NULL },
	{ "spec.nodeName", NULL },
	{ "spec.nodeName=", "" },
	{ "metadata.name=spec.nodeName=a", NULL },
	{ "spec.nodeNameX=a", NULL },
	{ "spec.nodeName=a\\,b", NULL },
};

static void test_node(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++) {
		struct str node = STR_LIT("untouched");
		bool found = kube_selector_node(node_rows[i].selector, &node);

		assert_int_equal(found, node_rows[i].node != NULL);
		assert_true(
			str_eq(node, found ? str_from(node_rows[i].node) : STR_LIT("untouched")));
	}
}

static const struct unit_test tests[] = {
	TEST(test_node),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
