/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a node as targets. */
#include "agent/discovery/kubelet_pods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/pod_targets.h"

/* Nothing a kubelet writes is longer; a message is a line. */
#define WHY_MAX_MESSAGE 200

static bool is_wanted(const json_t *pod, const struct kubelet_namespaces *wanted)
{
	const char *namespace =
		json_string_value(json_object_get(json_object_get(pod, "metadata"), "namespace"));

	for (size_t i = 0; namespace && i < wanted->n; i++)
		if (strcmp(wanted->names[i], namespace) == 0)
			return true;
	return wanted->n == 0;
}

/* Where a target stands in the list: its pod's name, then as the pod has it. */
struct place {
	const char *namespace, *name;
	size_t at;
	struct labels *labels;
};

static const char *text_of(const struct labels *l, const char *name)
{
	const char *text = labels_get(l, name);

	return text ? text : "";
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	int by = strcmp(x->namespace, y->namespace);

	if (by == 0)
		by = strcmp(x->name, y->name);
	return by ? by : x->at < y->at ? -1 : x->at > y->at;
}

static int sort(struct target_list *list)
{
	_cleanup_free_ struct place *places = calloc(list->n + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		places[i] = (struct place){
			.namespace = text_of(list->items[i], "__meta_kubernetes_namespace"),
			.name = text_of(list->items[i], "__meta_kubernetes_pod_name"),
			.at = i,
			.labels = list->items[i],
		};
	qsort(places, list->n, sizeof(*places), compare_places);
	for (size_t i = 0; i < list->n; i++)
		list->items[i] = places[i].labels;
	return 0;
}

static int add_pods(const json_t *items, const struct kubelet_namespaces *namespaces,
		    struct target_list *list)
{
	const json_t *pod;
	size_t i;
	int r = 0;

	json_array_foreach(items, i, pod)
	{
		if (is_wanted(pod, namespaces))
			r = pod_targets_add(pod, NULL, list);
		if (r < 0)
			return r;
	}
	return sort(list);
}

/* A node without pods has null for a list. */
static bool is_pod_list(const json_t *root)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *items = json_object_get(root, "items");

	if (kind && strcmp(kind, "PodList") != 0)
		return false;
	return json_is_array(items) || (kind && (!items || json_is_null(items)));
}

static int refuse(struct buf *why, const char *reason)
{
	char text[WHY_MAX_MESSAGE];

	str_copy_utf8(text, sizeof(text), str_from(reason));
	(void)buf_printf(why, "the answer is no list of pods%s%s", *text ? ": " : "", text);
	return -EBADMSG;
}

int kubelet_pods_read(struct str json, const struct kubelet_namespaces *namespaces, struct buf *why,
		      struct target_list *ret_list)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	json_error_t error;
	json_t *root = json_loadb(json.p, json.n, 0, &error);
	int r;

	if (!root)
		return refuse(why, error.text);
	r = is_pod_list(root) ? add_pods(json_object_get(root, "items"), namespaces, &list)
			      : refuse(why, "");
	json_decref(root);
	if (r < 0 && why->len == 0)
		(void)buf_append_str(why, strerrordesc_np(-r));
	if (r < 0)
		return r;
	*ret_list = list;
	list = (struct target_list){ 0 };
	return 0;
}
