/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a watch, pages of a list, and refusals as a person reads them. */
#include <string.h>

#include "agent/discovery/kube_event.h"
#include "agent/discovery/kube_refusal.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define GONE                                                                               \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":410,\"reason\":\"Expired\"," \
	"\"message\":\"too old\"}"

static const struct row {
	const char *json;
	enum kube_event_kind kind;
	const char *version;
	unsigned int code;
	bool gone;
} rows[] = {
	{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}",
	  KUBE_EVENT_CHANGED, "7", 0, false },
	{ "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{}}}", KUBE_EVENT_CHANGED, "", 0,
	  false },
	{ "{\"type\":\"DELETED\",\"object\":{}}", KUBE_EVENT_DELETED, "", 0, false },
	{ "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}",
	  KUBE_EVENT_BOOKMARK, "9", 0, false },
	{ "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":9}}}",
	  KUBE_EVENT_BOOKMARK, "", 0, false },
	{ "{\"type\":\"ERROR\",\"object\":" GONE "}", KUBE_EVENT_ERROR, "", 410, true },
	{ "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Gone\"}}",
	  KUBE_EVENT_ERROR, "", 0, true },
	{ "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}", KUBE_EVENT_ERROR,
	  "", 500, false },
	{ "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Pod\",\"code\":410}}", KUBE_EVENT_ERROR, "",
	  0, false },
	{ "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":-1}}", KUBE_EVENT_ERROR, "",
	  0, false },
	{ "{\"type\":\"ERROR\"}", KUBE_EVENT_ERROR, "", 0, false },
	{ "{\"type\":\"ADDED\"}", KUBE_EVENT_UNKNOWN, "", 0, false },
	{ "{\"type\":\"ADDED\",\"object\":[]}", KUBE_EVENT_UNKNOWN, "", 0, false },
	{ "{\"type\":\"added\",\"object\":{}}", KUBE_EVENT_UNKNOWN, "", 0, false },
	{ "{\"object\":{}}", KUBE_EVENT_UNKNOWN, "", 0, false },
	{ "{}", KUBE_EVENT_UNKNOWN, "", 0, false },
};

static void test_event(void **state)
{
	const struct row *row = *state;
	json_t *json = json_loads(row->json, 0, NULL);
	struct kube_event event = kube_event_read(json);

	assert_non_null(json);
	assert_int_equal(event.kind, row->kind);
	assert_string_equal(event.version, row->version);
	if (event.kind == KUBE_EVENT_ERROR) {
		assert_int_equal(event.status.code, row->code);
		assert_int_equal(kube_status_is_gone(&event.status), row->gone);
	} else if (event.kind != KUBE_EVENT_UNKNOWN) {
		assert_true(json_is_object(event.object));
	}
	json_decref(json);
}

static void test_page(void **state)
{
	json_t *json = json_loads("{\"metadata\":{\"resourceVersion\":\"5\",\"continue\":\"t\"}}",
				  0, NULL);
	struct kube_page page = kube_page_read(json);

	(void)state;
	assert_string_equal(page.version, "5");
	assert_string_equal(page.next, "t");
	json_decref(json);
	page = kube_page_read(NULL);
	assert_string_equal(page.version, "");
	assert_string_equal(page.next, "");
}

static const struct refusal_row {
	struct kube_query query;
	struct http_result result;
	const char *expected;
} refusals[] = {
	{ { .resource = KUBE_PODS },
	  { .outcome = HTTP_CONNECT_FAILED, .error = "cannot connect to h:1: Connection refused" },
	  "cannot list pods: cannot connect to h:1: Connection refused" },
	{ { .resource = KUBE_PODS },
	  { .status = 401, .body = "Unauthorized" },
	  "the API server does not accept who we are (401); a token file is read again for each "
	  "request" },
	{ { .resource = KUBE_PODS, .namespace = "shop" },
	  { .status = 403, .body = "{\"kind\":\"Status\",\"message\":\"no\\nway\"}" },
	  "not allowed to list pods in namespace shop (403); its account needs a Role or "
	  "ClusterRole "
	  "with: apiGroups: [\"\"], resources: [\"pods\"], verbs: [\"get\", \"list\", "
	  "\"watch\"]: no?way" },
	{ { .resource = KUBE_NODES, .namespace = "shop" },
	  { .status = 403, .body = "" },
	  "not allowed to list nodes of the whole cluster (403); its account needs a ClusterRole "
	  "with: apiGroups: [\"\"], resources: [\"nodes\"], verbs: [\"get\", \"list\", "
	  "\"watch\"]" },
	{ { .resource = KUBE_NAMESPACES },
	  { .status = 404, .body = "<html>" },
	  "cannot list namespaces (404): this is not the address of an API server" },
	{ { .resource = KUBE_PODS },
	  { .status = 400,
	    .body = "{\"kind\":\"Status\",\"message\":\"field label not supported: a\"}" },
	  "cannot list pods (400): field label not supported: a" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1024);
		struct http_result result = refusals[i].result;

		result.n_body = result.body ? strlen(result.body) : 0;
		kube_refusal_describe(&refusals[i].query, "list", &result, &out);
		assert_string_equal(buf_str(&out), refusals[i].expected);
	}
}

static const struct unit_test tests[] = {
	TEST(test_page),
	TEST(test_refusals),
	TEST_ROWS(test_event, rows, json),
};

TEST_MAIN(tests)
