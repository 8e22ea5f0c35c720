/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's config.v2.json: what it tells, and what it must not. */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "tests/support/unit.h"

#define LABELS(labels) "{\"Config\":{\"Labels\":" labels "}}"

static const char *const fact_names[METADATA_FACT_MAX] = {
	[METADATA_NAME] = "name",
	[METADATA_IMAGE] = "image",
	[METADATA_NAMESPACE] = "namespace",
	[METADATA_POD] = "pod",
	[METADATA_POD_CONTAINER] = "container",
	[METADATA_POD_SERVICE_NAME] = "service",
	[METADATA_COMPOSE_PROJECT] = "project",
	[METADATA_COMPOSE_SERVICE] = "compose",
	[METADATA_SWARM_SERVICE] = "swarm",
};

static const struct row {
	const char *name;
	const char *json;
	const char *expected; /* "fact=text " each; NULL: it is no such file */
} rows[] = {
	{ "a container", "{\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx:1\"}}",
	  "name=web image=nginx:1 " },
	{ "a name without a slash", "{\"Name\":\"web\",\"Config\":{}}", "name=web " },
	{ "a name of a slash", "{\"Name\":\"/\",\"Config\":{}}", "" },
	{ "an empty name and image", "{\"Name\":\"\",\"Config\":{\"Image\":\"\"}}", "" },
	{ "a name and an image that are none", "{\"Name\":7,\"Config\":{\"Image\":[\"nginx\"]}}",
	  "" },
	{ "nothing told", "{\"Config\":{}}", "" },
	{ "an empty object", "{}", NULL },
	{ "an array", "[{\"Config\":{}}]", NULL },
	{ "a configuration of null", "{\"Name\":\"/web\",\"Config\":null}", NULL },
	{ "a configuration that is a list", "{\"Name\":\"/web\",\"Config\":[]}", NULL },
	{ "a configuration that is a text", "{\"Name\":\"/web\",\"Config\":\"x\"}", NULL },
	{ "labels of null", LABELS("null"), "" },
	{ "labels that are a list", LABELS("[\"com.docker.compose.project=shop\"]"), "" },
	{ "labels that are no texts",
	  LABELS("{\"com.docker.compose.project\":1,\"com.docker.compose.service\":{}}"), "" },
	{ "other labels", LABELS("{\"maintainer\":\"ann\",\"com.docker.compose\":\"x\"}"), "" },
	{ "Compose",
	  LABELS("{\"com.docker.compose.project\":\"shop\",\"com.docker.compose.service\":\"db\"}"),
	  "project=shop compose=db " },
	{ "Podman's Compose",
	  LABELS("{\"io.podman.compose.project\":\"shop\",\"io.podman.compose.service\":\"db\"}"),
	  "project=shop compose=db " },
	{ "both, and Docker's holds",
	  LABELS("{\"io.podman.compose.project\":\"b\",\"com.docker.compose.project\":\"a\"}"),
	  "project=a " },
	{ "an empty one, and the other holds",
	  LABELS("{\"io.podman.compose.project\":\"b\",\"com.docker.compose.project\":\"\"}"),
	  "project=b " },
	{ "Swarm", LABELS("{\"com.docker.swarm.service.name\":\"shop_web\"}"), "swarm=shop_web " },
	{ "a container of a pod",
	  LABELS("{\"io.kubernetes.pod.namespace\":\"shop\",\"io.kubernetes.pod.name\":\"web-0\","
		 "\"io.kubernetes.container.name\":\"app\"}"),
	  "namespace=shop pod=web-0 container=app " },
	{ "the sandbox of a pod",
	  LABELS("{\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.container.name\":\"POD\","
		 "\"annotation.pyroscope.io/service_name\":\"shop\"}"),
	  "pod=web-0 service=shop " },
	{ "a container that is no text", LABELS("{\"io.kubernetes.container.name\":[\"app\"]}"),
	  "" },
	{ "a letter of two bytes and a newline", "{\"Name\":\"/w\\u00e9b\\n\",\"Config\":{}}",
	  "name=w\u00e9b? " },
};

static void write_facts(const struct metadata_page *page, struct buf *out)
{
	for (size_t i = 0; i < METADATA_FACT_MAX; i++)
		if (page->text[i])
			assert_int_equal(buf_printf(out, "%s=%s ", fact_names[i], page->text[i]),
					 0);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	json_t *config = json_loads(row->json, 0, NULL);
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct metadata_page page = { 0 };

	assert_non_null(config);
	assert_int_equal(metadata_docker_parse(config, &page), row->expected != NULL);
	assert_int_equal(page.settled, row->expected != NULL);
	write_facts(&page, &text);
	assert_string_equal(buf_str(&text), row->expected ? row->expected : "");
	metadata_page_fini(&page);
	json_decref(config);
}

/* What was told first is believed: an earlier source knew better. */
static void test_told_before(void **state)
{
	json_t *config =
		json_loads("{\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx:1\"}}", 0, NULL);
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct metadata_page page = { 0 };

	(void)state;
	metadata_tell(&page, METADATA_NAME, "before");
	assert_true(metadata_docker_parse(config, &page));
	write_facts(&page, &text);
	assert_string_equal(buf_str(&text), "name=before image=nginx:1 ");
	metadata_page_fini(&page);
	json_decref(config);
}

/* A label of any length costs no more than this. */
static void test_long_text(void **state)
{
	static char image[100001];
	struct metadata_page page = { 0 };

	(void)state;
	memset(image, 'x', sizeof(image) - 1);
	json_t *config = json_pack("{s:{s:s}}", "Config", "Image", image);
	assert_non_null(config);
	assert_true(metadata_docker_parse(config, &page));
	assert_int_equal(strlen(page.text[METADATA_IMAGE]), METADATA_FACT_BYTES - 1);
	metadata_page_fini(&page);
	json_decref(config);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_told_before),
	TEST(test_long_text),
};

TEST_MAIN(tests)
