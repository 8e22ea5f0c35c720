/* SPDX-License-Identifier: Apache-2.0 */
/* What an environment tells: each variable alone, what is malformed, what comes twice, and that nothing else is kept. */
#include <stdlib.h>

#include "agent/process/environ.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define MAX_TEXT 65536

/* Facts as "member=text|…"; `environment` has '|' for NUL, and gets one at its end. */
struct row {
	const char *name, *environment, *expected;
};

#define ATTRIBUTES "OTEL_RESOURCE_ATTRIBUTES="
#define IN_POD "KUBERNETES_SERVICE_HOST=10.0.0.1|"

static const struct row rows[] = {
	{ "nothing", "", "" },
	{ "others", "PATH=/bin|HOME=/root|PASSWORD=secret", "" },
	{ "service name", "PATH=/bin|OTEL_SERVICE_NAME=checkout|A=b", "otel_service=checkout" },
	{ "blanks around", "OTEL_SERVICE_NAME= check out ", "otel_service=check out" },
	{ "empty service name", "OTEL_SERVICE_NAME=|OTEL_SERVICE_NAME=later", "" },
	{ "the first counts", "OTEL_SERVICE_NAME=1|OTEL_SERVICE_NAME=2", "otel_service=1" },
	{ "a value with =", "OTEL_SERVICE_NAME=a=b", "otel_service=a=b" },
	{ "no =", "OTEL_SERVICE_NAME|NOMAD_TASK_NAME=t", "nomad_task=t" },
	{ "no name", "=OTEL_SERVICE_NAME", "" },
	{ "longer names", "XOTEL_SERVICE_NAME=a|OTEL_SERVICE_NAME2=b|OTEL_SERVICE_NAM=c", "" },
	{ "other case", "otel_service_name=a", "" },
	{ "bad bytes", "OTEL_SERVICE_NAME=a\xff\n", "otel_service=a\xef\xbf\xbd" },
	{ "a title in place of it", "-8080 worker|OTEL_SERVICE_NAME=a", "otel_service=a" },
	{ "empty entries", "|||OTEL_SERVICE_NAME=a|||", "otel_service=a" },
	{ "attribute", ATTRIBUTES "service.name=web", "otel_attribute_service=web" },
	{ "both", "OTEL_SERVICE_NAME=a|" ATTRIBUTES "service.name=b",
	  "otel_service=a|otel_attribute_service=b" },
	{ "attributes", ATTRIBUTES "team=x,service.name=web,service.namespace=shop",
	  "otel_attribute_service=web|otel_service_namespace=shop" },
	{ "attributes with blanks",
	  ATTRIBUTES " service.name = web , deployment.environment = prod ",
	  "otel_attribute_service=web|otel_deployment=prod" },
	{ "deployment's new name", ATTRIBUTES "deployment.environment.name=prod",
	  "otel_deployment=prod" },
	{ "the last attribute counts", ATTRIBUTES "service.name=1,service.name=2",
	  "otel_attribute_service=2" },
	{ "percent", ATTRIBUTES "service.name=a%2Cb%3dc%20d", "otel_attribute_service=a,b=c d" },
	{ "percent, UTF-8", ATTRIBUTES "service.name=%C3%BC", "otel_attribute_service=\xc3\xbc" },
	{ "percent, not UTF-8", ATTRIBUTES "service.name=%FF",
	  "otel_attribute_service=\xef\xbf\xbd" },
	{ "percent, NUL", ATTRIBUTES "service.name=a%00b", "otel_attribute_service=a?b" },
	{ "percent, broken",
	  ATTRIBUTES "service.name=100%,service.namespace=%4,deployment.environment=%zz",
	  "otel_attribute_service=100%|otel_service_namespace=%4|otel_deployment=%zz" },
	{ "attributes, broken", ATTRIBUTES ",,=,service.name,=x,a=b,service.name=web",
	  "otel_attribute_service=web" },
	{ "attribute, empty",
	  ATTRIBUTES "service.name=web,service.name=", "otel_attribute_service=web" },
	{ "attribute with =", ATTRIBUTES "service.name=a=b", "otel_attribute_service=a=b" },
	{ "attributes of Kubernetes",
	  ATTRIBUTES "k8s.namespace.name=shop,k8s.pod.name=web-0,k8s.container.name=web",
	  "kubernetes_namespace=shop|kubernetes_pod=web-0|kubernetes_container=web" },
	{ "pod", IN_POD "POD_NAMESPACE=shop|POD_NAME=web-0|CONTAINER_NAME=web",
	  "kubernetes_namespace=shop|kubernetes_pod=web-0|kubernetes_container=web" },
	{ "pod, other words", IN_POD "MY_POD_NAMESPACE=shop|KUBERNETES_POD_NAME=web-0",
	  "kubernetes_namespace=shop|kubernetes_pod=web-0" },
	{ "attribute before variable", IN_POD "POD_NAMESPACE=a|" ATTRIBUTES "k8s.namespace.name=b",
	  "kubernetes_namespace=b" },
	{ "the same words elsewhere", "POD_NAMESPACE=shop|POD_NAME=web-0|CONTAINER_NAME=web", "" },
	{ "Nomad",
	  "NOMAD_NAMESPACE=default|NOMAD_JOB_NAME=shop|NOMAD_GROUP_NAME=g|NOMAD_TASK_NAME=web",
	  "nomad_namespace=default|nomad_job=shop|nomad_group=g|nomad_task=web" },
};

/* In memory of its own, so that a byte too far is seen. */
static void parse(const char *environment, struct environ_texts *ret_texts)
{
	size_t n = strlen(environment) + 1;
	char *copy = malloc(n);

	assert_non_null(copy);
	for (size_t i = 0; i < n; i++)
		copy[i] = environment[i] == '|' ? '\0' : environment[i];
	environ_parse((struct str){ copy, n }, ret_texts);
	free(copy);
}

static void put(struct buf *out, const char *member, const char *text)
{
	if (text[0])
		assert_int_equal(buf_printf(out, "%s%s=%s", out->len ? "|" : "", member, text), 0);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_TEXT);
	struct environ_texts t;

	parse(row->environment, &t);
#define PUT(member) put(&out, #member, t.member);
	ENVIRON_FACTS(PUT)
#undef PUT
	assert_string_equal(buf_str(&out), row->expected);
}

static void test_cut(void **state)
{
	static const char cut[] = "NOMAD_TASK_NAME=t\0OTEL_SERVICE_NAME=che";
	struct environ_texts t;

	(void)state;
	environ_parse((struct str){ cut, sizeof(cut) - 1 }, &t);
	assert_string_equal(t.nomad_task, "t");
	assert_string_equal(t.otel_service, "");
	environ_parse((struct str){ NULL, 0 }, &t);
	assert_string_equal(t.nomad_task, "");
}

static void test_long(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_TEXT);
	struct environ_texts t;

	(void)state;
	assert_int_equal(buf_append_str(&text, "OTEL_SERVICE_NAME=x"), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf_append_str(&text, "\xc3\xbc"), 0);
	assert_int_equal(buf_append_str(&text, "|" ATTRIBUTES "service.name="), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf_append_str(&text, "%C3%BC"), 0);
	parse(buf_str(&text), &t);
	assert_int_equal(strlen(t.otel_service), ENVIRON_TEXT_MAX - 1);
	assert_true(str_is_utf8(str_from(t.otel_service)));
	assert_true(strlen(t.otel_attribute_service) >= ENVIRON_TEXT_MAX - 4);
	assert_true(str_is_utf8(str_from(t.otel_attribute_service)));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_cut),
	TEST(test_long),
};

TEST_MAIN(tests)
