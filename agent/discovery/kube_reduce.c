/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the Kubernetes API without what targets do not need. */
#include "agent/discovery/kube_reduce.h"

#include <stdbool.h>
#include <string.h>

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

/* NULL-safe, as all of jansson. `keys` end in NULL. */
static void keep_only(json_t *object, const char *const *keys)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		if (!is_one_of(key, keys))
			(void)json_object_del(object, key);
	}
}

static void keep_only_each(json_t *array, const char *const *keys)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item) keep_only(item, keys);
}

static void reduce_metadata(json_t *object)
{
	static const char *const keys[] = { "namespace", "name",	"uid",
					    "labels",	 "annotations", "ownerReferences",
					    NULL };

	keep_only(json_object_get(object, "metadata"), keys);
}

static void reduce_containers(json_t *pod)
{
	static const char *const keys[] = { "name", "image", "ports", NULL };
	json_t *spec = json_object_get(pod, "spec");

	keep_only_each(json_object_get(spec, "containers"), keys);
	keep_only_each(json_object_get(spec, "initContainers"), keys);
}

static void reduce_statuses(json_t *pod)
{
	static const char *const keys[] = { "name", "containerID", NULL };
	static const char *const condition_keys[] = { "type", "status", NULL };
	json_t *status = json_object_get(pod, "status");

	keep_only_each(json_object_get(status, "containerStatuses"), keys);
	keep_only_each(json_object_get(status, "initContainerStatuses"), keys);
	keep_only_each(json_object_get(status, "conditions"), condition_keys);
}

void kube_reduce_pod(json_t *pod)
{
	static const char *const keys[] = { "metadata", "spec", "status", NULL };
	static const char *const spec_keys[] = { "nodeName", "containers", "initContainers", NULL };
	static const char *const status_keys[] = { "podIP",
						   "hostIP",
						   "phase",
						   "conditions",
						   "containerStatuses",
						   "initContainerStatuses",
						   NULL };

	keep_only(pod, keys);
	keep_only(json_object_get(pod, "spec"), spec_keys);
	keep_only(json_object_get(pod, "status"), status_keys);
	reduce_metadata(pod);
	reduce_containers(pod);
	reduce_statuses(pod);
}

void kube_reduce_surrounding(json_t *object)
{
	static const char *const keys[] = { "metadata", NULL };

	keep_only(object, keys);
	reduce_metadata(object);
}
