/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and their targets. */
#include "agent/discovery/kube_pods.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/discovery/kube_reduce.h"
#include "agent/util/macro.h"

/* Names of namespaces and pods are 63 and 253 bytes long, uids 36; others' are cut. */
#define MAX_NAME_BYTES 512

static void pod_free(struct kube_pod *pod)
{
	if (!pod)
		return;
	free(pod->uid);
	free(pod->name);
	target_list_fini(&pod->targets);
	json_decref(pod->object);
	free(pod);
}
DEFINE_CLEANUP(struct kube_pod *, pod_free);

void kube_pods_init(struct kube_pods *pods, const struct kube_pods_options *options)
{
	*pods = (struct kube_pods){ .o = options, .by_uid = HASH_TABLE_INIT };
}

static void drop(struct kube_pods *pods, struct kube_pod *pod)
{
	assert(pods->n_targets >= pod->targets.n && pods->n_bytes >= pod->n_bytes);
	hash_remove(&pods->by_uid, &pod->node);
	pods->n_targets -= pod->targets.n;
	pods->n_bytes -= pod->n_bytes;
	pod_free(pod);
}

void kube_pods_fini(struct kube_pods *pods)
{
	HASH_FOREACH (&pods->by_uid, node) {
		drop(pods, CONTAINER_OF(node, struct kube_pod, node));
	}
	assert(pods->by_uid.n == 0 && pods->n_targets == 0 && pods->n_bytes == 0);
	hash_fini(&pods->by_uid);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void name_of(const json_t *object, char name[MAX_NAME_BYTES])
{
	const json_t *metadata = json_object_get(object, "metadata");

	(void)snprintf(name, MAX_NAME_BYTES, "%s/%s", text_of(metadata, "namespace"),
		       text_of(metadata, "name"));
}

static void uid_of(const json_t *object, char uid[MAX_NAME_BYTES])
{
	const char *text = text_of(json_object_get(object, "metadata"), "uid");

	if (*text)
		(void)snprintf(uid, MAX_NAME_BYTES, "%s", text);
	else
		name_of(object, uid);
}

static struct kube_pod *find(const struct kube_pods *pods, const char *uid)
{
	HASH_FOREACH_MATCH (&pods->by_uid, hash_str(uid), node) {
		struct kube_pod *pod = CONTAINER_OF(node, struct kube_pod, node);

		if (strcmp(pod->uid, uid) == 0)
			return pod;
	}
	return NULL;
}

static size_t bytes_of(const struct target_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->items[i]->n; k++)
			n += strlen(list->items[i]->items[k].name) +
			     strlen(list->items[i]->items[k].value) + 2 + sizeof(struct label);
	return n;
}

/* 0, -E2BIG, -ENOMEM. */
static int make_targets(const struct kube_pods *pods, const json_t *object,
			struct target_list *ret_list)
{
	struct pod_targets_options around = { 0 };
	_cleanup_target_list_ struct target_list list = { 0 };
	int r;

	if (pods->o->surroundings)
		around = pods->o->surroundings(object, pods->o->data);
	r = pod_targets_add(object, &around, &list);
	if (r < 0)
		return r;
	*ret_list = list;
	list = (struct target_list){ 0 };
	return 0;
}

static bool has_room(const struct kube_pods *pods, const struct kube_pod *pod)
{
	return pods->by_uid.n < pods->o->max_pods &&
	       pods->n_targets + pod->targets.n <= pods->o->max_targets &&
	       pods->n_bytes + pod->n_bytes <= pods->o->max_bytes;
}

static int pod_new(struct kube_pods *pods, json_t *object, const char *uid,
		   struct kube_pod **ret_pod)
{
	_cleanup_(pod_freep) struct kube_pod *pod = calloc(1, sizeof(*pod));
	char name[MAX_NAME_BYTES];
	int r;

	if (!pod)
		return -ENOMEM;
	name_of(object, name);
	pod->uid = strdup(uid);
	pod->name = strdup(name);
	if (!pod->uid || !pod->name)
		return -ENOMEM;
	r = make_targets(pods, object, &pod->targets);
	if (r < 0)
		return r;
	pod->n_bytes = bytes_of(&pod->targets);
	if (pods->o->surroundings) {
		kube_reduce_pod(object);
		pod->object = json_incref(object);
	}
	*ret_pod = TAKE_PTR(pod);
	return 0;
}

static int insert(struct kube_pods *pods, struct kube_pod *pod)
{
	int r = hash_insert(&pods->by_uid, &pod->node, hash_str(pod->uid));

	if (r < 0)
		return r;
	pods->n_targets += pod->targets.n;
	pods->n_bytes += pod->n_bytes;
	return 0;
}

int kube_pods_put(struct kube_pods *pods, json_t *object)
{
	_cleanup_(pod_freep) struct kube_pod *pod = NULL;
	char uid[MAX_NAME_BYTES];
	int r;

	uid_of(object, uid);
	struct kube_pod *old = find(pods, uid);
	if (old)
		drop(pods, old);
	r = pod_new(pods, object, uid, &pod);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !has_room(pods, pod)) {
		pods->n_refused++;
		return 0;
	}
	r = insert(pods, pod);
	if (r < 0)
		return r;
	TAKE_PTR(pod);
	return 0;
}

void kube_pods_remove(struct kube_pods *pods, const json_t *object)
{
	char uid[MAX_NAME_BYTES];
	struct kube_pod *pod;

	uid_of(object, uid);
	pod = find(pods, uid);
	if (pod)
		drop(pods, pod);
}

/* Where they would not fit any more, the old ones stay. */
static int remake(struct kube_pods *pods, struct kube_pod *pod)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = make_targets(pods, pod->object, &list);
	size_t n_bytes = bytes_of(&list);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || pods->n_bytes - pod->n_bytes + n_bytes > pods->o->max_bytes) {
		pods->n_refused++;
		return 0;
	}
	pods->n_bytes += n_bytes - pod->n_bytes;
	pods->n_targets += list.n - pod->targets.n;
	pod->n_bytes = n_bytes;
	target_list_fini(&pod->targets);
	pod->targets = list;
	list = (struct target_list){ 0 };
	return 0;
}

int kube_pods_remake(struct kube_pods *pods)
{
	int r = 0;

	HASH_FOREACH (&pods->by_uid, node) {
		struct kube_pod *pod = CONTAINER_OF(node, struct kube_pod, node);

		if (r == 0 && pod->object)
			r = remake(pods, pod);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct kube_pod *x = *(struct kube_pod *const *)a;
	const struct kube_pod *y = *(struct kube_pod *const *)b;
	int c = strcmp(x->name, y->name);

	return c ? c : strcmp(x->uid, y->uid);
}

struct kube_pod **kube_pods_sorted(struct kube_pods *const *sets, size_t n_sets, size_t *ret_n)
{
	struct kube_pod **all;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < n_sets; i++)
		n += sets[i]->by_uid.n;
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (size_t i = 0; i < n_sets; i++) {
		HASH_FOREACH (&sets[i]->by_uid, node) {
			all[at++] = CONTAINER_OF(node, struct kube_pod, node);
		}
	}
	qsort(all, n, sizeof(struct kube_pod *), compare);
	*ret_n = n;
	return all;
}
