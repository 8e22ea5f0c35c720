/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kubelet's log files: as the kubelet writes them, and others. */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "tests/support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define REST_OF_ID "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "1c4b2a7e-93d5-4c0e-8f11-2f6f0b9f2a11"

struct row {
	const char *name;
	const char *file;
	const char *expected; /* "namespace pod container key"; NULL: not one of them */
};

static void assert_log(const struct kube_log *log, const char *expected)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "%s %s %s %s", log->namespace, log->pod,
		       log->container ? log->container : "-", log->key);
	assert_string_equal(text, expected);
}

static void check(const struct row *row, bool (*parse)(const char *name, struct kube_log *ret_log))
{
	struct kube_log log = { 0 };

	assert_int_equal(parse(row->file, &log), row->expected != NULL);
	if (row->expected)
		assert_log(&log, row->expected);
	else
		assert_null(log.text);
	free(log.text);
}

static const struct row container_rows[] = {
	{ "a container", "web-0_shop_app-" ID ".log", "shop web-0 app " ID },
	{ "dashes in its name", "web_shop_side-car-2-" ID ".log", "shop web side-car-2 " ID },
	{ "dots in the pod's name", "web.1_shop_app-" ID ".log", "shop web.1 app " ID },
	{ "a byte that is no UTF-8", "we\xff_shop_app-" ID ".log",
	  "shop we\xef\xbf\xbd app " ID },
	{ "empty", "", NULL },
	{ "nothing but the ending", ".log", NULL },
	{ "without the ending", "web_shop_app-" ID, NULL },
	{ "another ending", "web_shop_app-" ID ".log.gz", NULL },
	{ "without an id", "web_shop_app.log", NULL },
	{ "an empty id", "web_shop_app-.log", NULL },
	{ "an id alone", ID ".log", NULL },
	{ "an id after nothing", "-" ID ".log", NULL },
	{ "a short id", "web_shop_app-0123456789abcdef.log", NULL },
	{ "a long id", "web_shop_app-" ID "0.log", NULL },
	{ "an id that is not hex", "web_shop_app-g" REST_OF_ID ".log", NULL },
	{ "an id with a capital", "web_shop_app-A" REST_OF_ID ".log", NULL },
	{ "one name", "web-" ID ".log", NULL },
	{ "two names", "web_shop-" ID ".log", NULL },
	{ "four names", "a_web_shop_app-" ID ".log", NULL },
	{ "no pod", "_shop_app-" ID ".log", NULL },
	{ "no namespace", "web__app-" ID ".log", NULL },
	{ "no container", "web_shop_-" ID ".log", NULL },
};

static void test_container(void **state)
{
	check(*state, kube_log_parse_container);
}

static const struct row pod_rows[] = {
	{ "a pod", "shop_web-0_" UID, "shop web-0 - " UID },
	{ "a static pod", "kube-system_etcd-node1_0123456789abcdef0123456789abcdef",
	  "kube-system etcd-node1 - 0123456789abcdef0123456789abcdef" },
	{ "a byte that is no UTF-8", "sh\xc0p_web_" UID, "sh\xef\xbf\xbdp web - " UID },
	{ "empty", "", NULL },
	{ "separators alone", "__", NULL },
	{ "one name", UID, NULL },
	{ "two names", "web_" UID, NULL },
	{ "four names", "a_shop_web_" UID, NULL },
	{ "no namespace", "_web_" UID, NULL },
	{ "no pod", "shop__" UID, NULL },
	{ "no UID", "shop_web_", NULL },
	{ "a UID that is not hex", "shop_web_" UID "g", NULL },
	{ "a UID in capitals", "shop_web_1C4B2A7E-93D5-4C0E-8F11-2F6F0B9F2A11", NULL },
	{ "a path", "shop_web_../../etc", NULL },
};

static void test_pod(void **state)
{
	check(*state, kube_log_parse_pod);
}

/* No file name is longer (NAME_MAX), and each of these bytes becomes three. */
static void test_longest(void **state)
{
	char name[NAME_MAX + 1], expected[4 * NAME_MAX];
	const size_t n = NAME_MAX - strlen("_shop_app-" ID ".log");
	struct row row = { .file = name, .expected = expected };

	(void)state;
	memset(name, 0xff, n);
	(void)strcpy(name + n, "_shop_app-" ID ".log");
	(void)strcpy(expected, "shop ");
	for (size_t i = 0; i < n; i++)
		(void)strcat(expected, "\xef\xbf\xbd");
	(void)strcat(expected, " app " ID);
	check(&row, kube_log_parse_container);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_container, container_rows, name),
	TEST_ROWS(test_pod, pod_rows, name),
	TEST(test_longest),
};

TEST_MAIN(tests)
