/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a pod, and as a kubelet's list of them: each target has an address and a pod, and no more labels and bytes than it may. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/discovery/kubelet_pods.h"
#include "agent/discovery/pod_targets.h"
#include "agent/util/str.h"

#define WHY_MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct target_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct labels *l = list->items[i];

		assert(l->n <= LABELS_RAW_MAX);
		assert(labels_get(l, "__address__"));
		assert(labels_get(l, "__meta_kubernetes_pod_name"));
		assert(labels_get(l, "__meta_kubernetes_pod_container_init"));
	}
}

/* A Pod alone, with itself as its node and its namespace. */
static void one_pod(const uint8_t *data, size_t size)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *pod = json_loadb((const char *)data, size, 0, NULL);
	struct pod_targets_options o = { .node = pod, .namespace = pod };

	if (!pod)
		return;
	assert(pod_targets_add(pod, &o, &list) == 0);
	check(&list);
	json_decref(pod);
}

/* In two pieces, the first of which is short. */
static int read_list(struct kubelet_pods *pods, struct str json, struct target_list *ret_list)
{
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	size_t n_first = json.n / 3;

	kubelet_pods_begin(pods);
	if (kubelet_pods_feed(pods, json.p, n_first) == 0)
		(void)kubelet_pods_feed(pods, json.p + n_first, json.n - n_first);
	int r = kubelet_pods_end(pods, &why, ret_list);
	assert((r < 0) == (why.len > 0));
	return r;
}

/* Twice: the second time it is known. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "shop", "" };
	const struct kubelet_namespaces some = { names, size % 3 };
	_cleanup_(kubelet_pods_freep) struct kubelet_pods *pods = NULL;
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_target_list_ struct target_list again = { 0 };
	struct str json = { (const char *)data, size };

	one_pod(data, size);
	if (kubelet_pods_new(&some, &pods) < 0)
		return 0;
	int r = read_list(pods, json, &list);
	check(&list);
	assert(read_list(pods, json, &again) == r);
	assert(again.n == list.n);
	return 0;
}
