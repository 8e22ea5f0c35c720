/* SPDX-License-Identifier: Apache-2.0 */
/* What kubelets answer: their pods as targets, and what is no list of pods as a line for a person. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/discovery/kubelet_pods.h"
#include "agent/discovery/kubelet_refusal.h"
#include "agent/util/macro.h"

#define WHY_MAX 4096
#define POD(namespace, name, container)                                           \
	"{\"metadata\":{\"name\":\"" name                                         \
	"\",\"namespace\":\"" namespace "\"},\"spec\":"                           \
					"{\"containers\":[{\"name\":\"" container \
					"\"}]},\"status\":{\"podIP\":\"10.0.0.1\"}}"
#define LIST(items) "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":" items "}"

static const char *const shop_alone[] = { "shop" };
static const char *const two[] = { "b", "shop" };

/* `expected`: "namespace/pod/container " for each target, or what is wrong. */
struct list_row {
	const char *name, *json;
	struct kubelet_namespaces namespaces;
	const char *expected;
	int error;
};

static const struct list_row list_rows[] = {
	{ "no pods", LIST("[]"), { 0 }, "", 0 },
	{ "no pods, as Go writes none", LIST("null"), { 0 }, "", 0 },
	{ "a list of no kind", "{\"items\":[" POD("a", "b", "c") "]}", { 0 }, "a/b/c ", 0 },
	{ "in any order",
	  LIST("[" POD("b", "x", "2") "," POD("a", "y", "1") "," POD("b", "a", "3") "]"),
	  { 0 },
	  "a/y/1 b/a/3 b/x/2 ",
	  0 },
	{ "one namespace",
	  LIST("[" POD("b", "x", "2") "," POD("shop", "y", "1") "," POD("shopping", "a", "3") "]"),
	  { shop_alone, 1 },
	  "shop/y/1 ",
	  0 },
	{ "two namespaces",
	  LIST("[" POD("b", "x", "2") "," POD("shop", "y", "1") "," POD("a", "a", "3") "]"),
	  { two, 2 },
	  "b/x/2 shop/y/1 ",
	  0 },
	{ "what is no pod",
	  LIST("[1,null,{},\"x\",{\"metadata\":{\"namespace\":1}}]"),
	  { 0 },
	  "",
	  0 },
	{ "what is no pod, with a filter",
	  LIST("[1,{\"metadata\":{\"namespace\":1}}]"),
	  { shop_alone, 1 },
	  "",
	  0 },
	{ "another kind",
	  "{\"kind\":\"Status\",\"items\":[]}",
	  { 0 },
	  "the answer is no list of pods",
	  -EBADMSG },
	{ "items that are no list", LIST("{}"), { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "nothing of it", "{}", { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "a page", "<html>", { 0 }, "the answer is no list of pods: ", -EBADMSG },
	{ "nothing", "", { 0 }, "the answer is no list of pods: ", -EBADMSG },
	{ "cut",
	  "{\"kind\":\"PodList\",\"items\":[",
	  { 0 },
	  "the answer is no list of pods: ",
	  -EBADMSG },
};

static const char *get(const struct labels *l, const char *name)
{
	const char *text = labels_get(l, name);

	return text ? text : "-";
}

/* A message that ends in ": " is the beginning of one. */
static void assert_message(const char *text, const char *expected)
{
	size_t n = strlen(expected);

	if (n > 2 && strcmp(expected + n - 2, ": ") == 0)
		assert_true(strncmp(text, expected, n) == 0 && strlen(text) > n);
	else
		assert_string_equal(text, expected);
}

static void test_list(void **state)
{
	const struct list_row *row = *state;
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);

	assert_int_equal(kubelet_pods_read(str_from(row->json), &row->namespaces, &text, &list),
			 row->error);
	for (size_t i = 0; i < list.n; i++)
		assert_int_equal(
			buf_printf(&text, "%s/%s/%s ",
				   get(list.items[i], "__meta_kubernetes_namespace"),
				   get(list.items[i], "__meta_kubernetes_pod_name"),
				   get(list.items[i], "__meta_kubernetes_pod_container_name")),
			0);
	assert_message(buf_str(&text), row->expected);
}

struct refusal_row {
	const char *name;
	struct http_result result;
	struct http_credentials credentials;
	const char *expected;
};

#define ANSWER(code, text)                                                                     \
	{                                                                                      \
		.outcome = HTTP_DONE, .status = (code), .body = (text),                        \
		.n_body = sizeof(text) - 1, .error = "", .content_type = "", .retry_after = "" \
	}
#define FAILURE(what, text)                                                         \
	{                                                                           \
		.outcome = (what), .body = "", .error = (text), .content_type = "", \
		.retry_after = ""                                                   \
	}

static const struct refusal_row refusal_rows[] = {
	{ "an answer", ANSWER(200, "{}"), { 0 }, "" },
	{ "nobody",
	  ANSWER(401, "Unauthorized\n"),
	  { 0 },
	  "the kubelet does not accept who we are (401); in a pod set bearer_token_file = "
	  "\"/var/run/secrets/kubernetes.io/serviceaccount/token\": Unauthorized" },
	{ "a token in a file",
	  ANSWER(401, ""),
	  { .bearer_token_file = "/run/token" },
	  "the kubelet does not accept who we are (401); it must know the token in /run/token, and "
	  "have authentication.webhook.enabled" },
	{ "a token",
	  ANSWER(401, ""),
	  { .bearer_token = "x" },
	  "the kubelet does not accept who we are (401); are the credentials those of an account "
	  "of this cluster?" },
	{ "not allowed",
	  ANSWER(403, "Forbidden (user=u, verb=get, resource=nodes, subresource=proxy)\nmore"),
	  { 0 },
	  "not allowed to list the pods of the node (403); the account needs a ClusterRole with: "
	  "apiGroups: [\"\"], resources: [\"nodes/proxy\"], verbs: [\"get\"]: Forbidden (user=u, "
	  "verb=get, resource=nodes, subresource=proxy)" },
	{ "not http",
	  ANSWER(400, "Client sent an HTTP request to an HTTPS server.\n"),
	  { 0 },
	  "the kubelet answered with status 400: Client sent an HTTP request to an HTTPS server." },
	{ "not found", ANSWER(404, "\x01\xff"), { 0 }, "the kubelet answered with status 404: " },
	{ "its certificate",
	  FAILURE(HTTP_TLS_FAILED, "no trust"),
	  { 0 },
	  "no trust; a kubelet signs its certificate itself, for its node's name: set tls_config { "
	  "ca_file, server_name }, or insecure_skip_verify = true there" },
	{ "nobody there",
	  FAILURE(HTTP_CONNECT_FAILED, "refused"),
	  { 0 },
	  "refused; localhost is the node in a pod with hostNetwork alone: else set url to the "
	  "node's address" },
	{ "silence", FAILURE(HTTP_TIMEOUT, "too slow"), { 0 }, "too slow" },
};

static void test_refusal(void **state)
{
	const struct refusal_row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);

	kubelet_refusal_describe(&row->result, &row->credentials, &text);
	assert_message(buf_str(&text), row->expected);
	assert_true(str_is_utf8((struct str){ buf_str(&text), text.len }));
	assert_null(strpbrk(buf_str(&text), "\n\x01"));
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(list_rows) + ARRAY_SIZE(refusal_rows)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(list_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = list_rows[i].name,
						  .test_func = test_list,
						  .initial_state = (void *)&list_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(refusal_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = refusal_rows[i].name,
						  .test_func = test_refusal,
						  .initial_state = (void *)&refusal_rows[i] };
	return cmocka_run_group_tests_name("agent/discovery/kubelet_pods", tests, NULL, NULL);
}
