/* SPDX-License-Identifier: Apache-2.0 */
/* What kubelets answer: their pods as targets, and what is no list of pods as a line for a person. */
#include "agent/discovery/kubelet_pods.h"
#include "agent/discovery/kubelet_refusal.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

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
	{ "what is no pod", LIST("[{},{\"metadata\":{\"namespace\":1}}]"), { 0 }, "", 0 },
	{ "what is no pod, with a filter",
	  LIST("[{\"metadata\":{\"namespace\":1}}]"),
	  { shop_alone, 1 },
	  "",
	  0 },
	{ "numbers", LIST("[1]"), { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "another kind",
	  "{\"kind\":\"Status\",\"items\":[]}",
	  { 0 },
	  "the answer is no list of pods",
	  -EBADMSG },
	{ "items that are no list", LIST("{}"), { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "nothing of it", "{}", { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "a page", "<html>", { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "nothing", "", { 0 }, "the answer is no list of pods", -EBADMSG },
	{ "cut",
	  "{\"kind\":\"PodList\",\"items\":[",
	  { 0 },
	  "the answer is no list of pods",
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

/* Appends the targets, or what is wrong. */
static int read_pods(struct kubelet_pods *pods, const char *json, size_t n_piece, struct buf *text)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	size_t n = strlen(json);
	int r = 0;

	kubelet_pods_begin(pods);
	for (size_t at = 0; r == 0 && at < n; at += n_piece)
		r = kubelet_pods_feed(pods, json + at, MIN_OF(n_piece, n - at));
	r = kubelet_pods_end(pods, text, &list);
	for (size_t i = 0; i < list.n; i++)
		assert_int_equal(
			buf_printf(text, "%s/%s/%s ",
				   get(list.items[i], "__meta_kubernetes_namespace"),
				   get(list.items[i], "__meta_kubernetes_pod_name"),
				   get(list.items[i], "__meta_kubernetes_pod_container_name")),
			0);
	return r;
}

static void test_list(void **state)
{
	static const size_t pieces[] = { 1, 7, SIZE_MAX };
	const struct list_row *row = *state;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
		_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);

		assert_int_equal(kubelet_pods_new(&row->namespaces, &pods), 0);
		assert_int_equal(
			read_pods(pods, row->json, MIN_OF(pieces[i], strlen(row->json) + 1), &text),
			row->error);
		assert_message(buf_str(&text), row->expected);
	}
}

static void assert_read(struct kubelet_pods *pods, const char *json, const char *expected,
			size_t n_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);

	(void)read_pods(pods, json, strlen(json), &text);
	assert_string_equal(buf_str(&text), expected);
	assert_int_equal(kubelet_pods_n_parsed(pods), n_parsed);
}

/* Of two equal ones the second is not known. */
static void test_known_pods(void **state)
{
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
	const struct kubelet_namespaces all = { 0 };

	(void)state;
	assert_int_equal(kubelet_pods_new(&all, &pods), 0);
	assert_read(pods, LIST("[" POD("a", "x", "1") "," POD("a", "y", "1") "]"), "a/x/1 a/y/1 ",
		    2);
	assert_read(pods, LIST("[" POD("a", "y", "1") "," POD("a", "x", "1") "]"), "a/x/1 a/y/1 ",
		    0);
	assert_read(pods, LIST("[" POD("a", "y", "2") "," POD("a", "x", "1") "]"), "a/x/1 a/y/2 ",
		    1);
	assert_read(pods, LIST("[" POD("a", "x", "1") "," POD("a", "x", "1") "]"), "a/x/1 a/x/1 ",
		    1);
	assert_read(pods, LIST("[]"), "", 0);
	assert_read(pods, LIST("[" POD("a", "x", "1") "]"), "a/x/1 ", 1);
}

static void test_known_pods_after_a_cut_answer(void **state)
{
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
	const struct kubelet_namespaces all = { 0 };

	(void)state;
	assert_int_equal(kubelet_pods_new(&all, &pods), 0);
	assert_read(pods, LIST("[" POD("a", "x", "1") "," POD("a", "y", "1") "]"), "a/x/1 a/y/1 ",
		    2);
	assert_read(pods, "{\"kind\":\"PodList\",\"items\":[" POD("a", "x", "1"),
		    "the answer is no list of pods", 0);
	assert_read(pods, LIST("[" POD("a", "x", "1") "," POD("a", "y", "1") "]"), "a/x/1 a/y/1 ",
		    1);
}

static int feed_many(struct kubelet_pods *pods, const char *text, size_t n)
{
	static const char beginning[] = "{\"kind\":\"PodList\",\"items\":[";
	int r = kubelet_pods_feed(pods, beginning, sizeof(beginning) - 1);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = kubelet_pods_feed(pods, text, strlen(text));
	return r;
}

static void assert_too_many(const char *text, size_t n)
{
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX);
	const struct kubelet_namespaces all = { 0 };

	assert_int_equal(kubelet_pods_new(&all, &pods), 0);
	assert_int_equal(feed_many(pods, text, n - 1), 0);
	assert_int_equal(kubelet_pods_feed(pods, text, strlen(text)), -E2BIG);
	assert_int_equal(kubelet_pods_end(pods, &why, &list), -E2BIG);
	assert_string_equal(buf_str(&why),
			    "the answer is too large: there may be 10000 pods, 100000 "
			    "targets and 32 MiB");
}

static void test_too_many_pods(void **state)
{
	(void)state;
	assert_too_many("{},", KUBELET_MAX_PODS + 1);
}

#define BLANKS_BYTES ((size_t)1 << 20)

static void test_too_many_bytes(void **state)
{
	_cleanup_free_ char *blanks = calloc(1, BLANKS_BYTES + 1);

	(void)state;
	assert_non_null(blanks);
	memset(blanks, ' ', BLANKS_BYTES);
	assert_too_many(blanks, KUBELET_MAX_ANSWER_BYTES / BLANKS_BYTES);
}

/* The others are taken, and somebody is told. */
static void test_too_large_a_pod(void **state)
{
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
	_cleanup_free_ char *blanks = calloc(1, KUBELET_MAX_POD_BYTES + 1);
	_cleanup_buf_ struct buf json = BUF_INIT(2 * KUBELET_MAX_POD_BYTES);
	const struct kubelet_namespaces all = { 0 };

	(void)state;
	assert_non_null(blanks);
	memset(blanks, ' ', KUBELET_MAX_POD_BYTES);
	assert_int_equal(buf_printf(&json, LIST("[{%s}," POD("a", "x", "1") "]"), blanks), 0);
	assert_int_equal(kubelet_pods_new(&all, &pods), 0);
	assert_read(pods, buf_str(&json), "1 pods have more than 2 MiB and are left outa/x/1 ", 1);
	assert_read(pods, LIST("[" POD("a", "x", "1") "]"), "a/x/1 ", 0);
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

static const struct unit_test tests[] = {
	TEST(test_known_pods),
	TEST(test_known_pods_after_a_cut_answer),
	TEST(test_too_many_pods),
	TEST(test_too_many_bytes),
	TEST(test_too_large_a_pod),
	TEST_ROWS(test_list, list_rows, name),
	TEST_ROWS(test_refusal, refusal_rows, name),
};

TEST_MAIN(tests)
