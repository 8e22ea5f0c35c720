/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a container runtime writes down. The first byte says as which file: 'd' Docker's, 'o' an OCI bundle's, 'p' Podman's
 * list, 'l' the name of a container's log, else that of a pod's. */
#include <assert.h>
#include <string.h>

#include "agent/target/container_metadata_private.h"

static void check_page(struct metadata_page *page)
{
	for (size_t i = 0; i < METADATA_FACT_MAX; i++)
		assert(!page->text[i] ||
		       (strlen(page->text[i]) < METADATA_FACT_BYTES && page->text[i][0] &&
			str_is_utf8(str_from(page->text[i]))));
	metadata_page_fini(page);
}

static void check_id(const char *id)
{
	assert(strlen(id) < CGROUP_CONTAINER_ID_MAX &&
	       strlen(id) == strspn(id, "0123456789abcdef"));
}

static void fuzz_podman(const json_t *json)
{
	struct podman_list list = { 0 };

	(void)podman_list_parse(json, &list);
	for (size_t i = 0; i < list.n; i++)
		assert(strlen(list.items[i].id) < CGROUP_CONTAINER_ID_MAX);
	podman_list_fini(&list);
}

static void fuzz_json(uint8_t kind, const char *text, size_t n)
{
	json_t *json = json_loadb(text, n, JSON_ALLOW_NUL, NULL);
	struct metadata_page page = { 0 };
	char sandbox[CGROUP_CONTAINER_ID_MAX];

	if (json && kind == 'd') {
		(void)metadata_docker_parse(json, &page);
	} else if (json && kind == 'o') {
		(void)metadata_oci_parse(json, &page, sandbox);
		check_id(sandbox);
	} else if (json) {
		fuzz_podman(json);
	}
	check_page(&page);
	json_decref(json);
}

static void fuzz_name(uint8_t kind, const char *text, size_t n)
{
	char name[256];
	struct kube_log log;

	n = n < sizeof(name) ? n : sizeof(name) - 1;
	memcpy(name, text, n);
	name[n] = '\0';
	if (!(kind == 'l' ? kube_log_parse_container : kube_log_parse_pod)(name, &log))
		return;
	assert(log.namespace[0] && log.pod[0] && log.key[0]);
	assert(!strpbrk(log.namespace, "_") && !strpbrk(log.pod, "_"));
	assert(kind != 'l' || (log.container[0] && strlen(log.key) == 64));
	assert(str_is_utf8(str_from(log.pod)));
	free(log.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	if (data[0] == 'd' || data[0] == 'o' || data[0] == 'p')
		fuzz_json(data[0], text, size - 1);
	else
		fuzz_name(data[0], text, size - 1);
	return 0;
}
