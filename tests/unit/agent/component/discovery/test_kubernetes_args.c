/* SPDX-License-Identifier: Apache-2.0 */
/* What discovery.kubernetes takes, and what it says about what it does not. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include "agent/component/discovery/kubernetes_args.h"

#define POD "role = \"pod\"\n"
#define SERVER "api_server = \"https://h:6443\"\n"
#define CONFIG "kubeconfig_file = \"/k\"\n"

static const struct row {
	const char *name;
	const char *text;
	const char *expected; /* without the place; "": taken */
} rows[] = {
	{ "the least", POD, "" },
	{ "all of it",
	  POD SERVER
	  "bearer_token_file = \"/t\"\nproxy_url = \"http://p\"\nfollow_redirects = false\n"
	  "enable_http2 = false\nnamespaces {\n\tnames = [\"a\", \"b\"]\n}\n"
	  "selectors {\n\trole = \"pod\"\n\tfield = \"spec.nodeName=x\"\n\tlabel = \"a=b\"\n}\n"
	  "attach_metadata {\n\tnode = true\n\tnamespace = true\n}\n"
	  "tls_config {\n\tinsecure_skip_verify = true\n}\n",
	  "" },
	{ "own namespace", POD "namespaces {\n\town_namespace = true\n}\n", "" },
	{ "a path before the API", POD "api_server = \"https://h/k8s/clusters/c-1/\"\n", "" },
	{ "no role", "", "missing required attribute \"role\"" },
	{ "a role without processes", "role = \"node\"\n",
	  "Kubernetes SD role \"node\" is not supported by xagent: profiles belong to the "
	  "containers "
	  "of pods, use role = \"pod\" (or discovery.kubelet)" },
	{ "another", "role = \"endpointslice\"\n", "Kubernetes SD role \"endpointslice\" is not" },
	{ "no role at all", "role = \"pods\"\n",
	  "unknown Kubernetes SD role \"pods\", expecting one of: pod, service, endpoints, "
	  "endpointslice, node, ingress" },
	{ "two ways", POD SERVER CONFIG,
	  "cannot use 'kubeconfig_file' and 'api_server' simultaneously" },
	{ "credentials for a kubeconfig", POD CONFIG "bearer_token = \"t\"\n",
	  "cannot use a custom HTTP client configuration together with 'kubeconfig_file'" },
	{ "credentials without a server", POD "tls_config {\n\tca_file = \"/c\"\n}\n",
	  "to use custom HTTP client configuration please provide the 'api_server' URL "
	  "explicitly" },
	{ "redirects without a server", POD "follow_redirects = false\n",
	  "to use custom HTTP client configuration please provide" },
	{ "own namespace elsewhere", POD SERVER "namespaces {\n\town_namespace = true\n}\n",
	  "cannot use 'api_server' and 'namespaces.own_namespace' simultaneously" },
	{ "own namespace of a kubeconfig", POD CONFIG "namespaces {\n\town_namespace = true\n}\n",
	  "cannot use 'kubeconfig_file' and 'namespaces.own_namespace' simultaneously" },
	{ "two credentials", POD SERVER "bearer_token = \"t\"\nbearer_token_file = \"/t\"\n",
	  "at most one of" },
	{ "a server without a scheme", POD "api_server = \"h:6443\"\n",
	  "the URL must begin with http:// or https://" },
	{ "a server with a query", POD "api_server = \"http://h/?a\"\n",
	  "api_server must not have a query" },
	{ "a selector of another role", POD "selectors {\n\trole = \"node\"\n}\n",
	  "pod role supports only pod selectors" },
	{ "a selector of no role", POD "selectors {\n\trole = \"pid\"\n}\n",
	  "unknown Kubernetes SD role \"pid\"" },
	{ "a selector without a role", POD "selectors {\n\tfield = \"a=b\"\n}\n",
	  "missing required attribute \"role\"" },
	{ "two selectors",
	  POD "selectors {\n\trole = \"pod\"\n}\nselectors {\n\trole = \"pod\"\n}\n",
	  "duplicated selector role: pod" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct river_scope scope = { 0 };
	struct kubernetes_args args;
	struct decoded d;

	decode(&d, &kubernetes_schema, &scope, row->text, &args);
	if (!*row->expected)
		assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(d.result, *row->expected ? RIVER_INVALID : RIVER_OK);
	assert_non_null(strstr(buf_str(&d.messages), row->expected));
	decoded_fini(&d);
}

static void test_values(void **state)
{
	struct river_scope scope = { 0 };
	struct kubernetes_args args;
	struct decoded d;

	(void)state;
	decode(&d, &kubernetes_schema, &scope, POD, &args);
	assert_null(kubernetes_args_selector(&args));
	assert_string_equal(args.api_server, "");
	assert_true(args.client.follow_redirects && args.client.enable_http2);
	assert_false(args.attach_metadata.node || args.attach_metadata.namespace);
	decoded_fini(&d);
	decode(&d, &kubernetes_schema, &scope, rows[1].text, &args);
	assert_int_equal(args.namespaces.names.n_items, 2);
	assert_string_equal(kubernetes_args_selector(&args)->field, "spec.nodeName=x");
	assert_string_equal(kubernetes_args_selector(&args)->label, "a=b");
	assert_true(args.attach_metadata.node && args.attach_metadata.namespace);
	decoded_fini(&d);
}

static void test_too_many_names(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct river_scope scope = { 0 };
	struct kubernetes_args args;
	struct decoded d;

	(void)state;
	(void)buf_append_str(&text, POD "namespaces {\n\tnames = [\"0\"");
	for (int i = 1; i <= 100; i++)
		(void)buf_printf(&text, ", \"%d\"", i);
	(void)buf_append_str(&text, "]\n}\n");
	decode(&d, &kubernetes_schema, &scope, buf_str(&text), &args);
	assert_int_equal(d.result, RIVER_INVALID);
	assert_non_null(strstr(buf_str(&d.messages), "names must be 100 at most"));
	decoded_fini(&d);
}

static const struct unit_test tests[] = {
	TEST(test_values),
	TEST(test_too_many_names),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
