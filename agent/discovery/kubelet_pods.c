/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a node as targets. */
#include "agent/discovery/kubelet_pods.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/discovery/json_items.h"
#include "agent/discovery/kubelet_order.h"
#include "agent/discovery/pod_targets.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

/* A pod of an answer, known again by its text. */
struct known_pod {
	struct hash_node node;
	size_t n_bytes;
	struct target_list targets;
};

struct kubelet_pods {
	const struct kubelet_namespaces *namespaces;
	struct json_items items;
	uint64_t seed; /* so that nobody can write a pod that is taken for another */
	uint64_t hash; /* of the item that is looked at */
	size_t n_bytes;
	struct hash_table last; /* what is left of the answer before: pods move on from there */
	struct hash_table now;
	size_t n_answer_bytes;
	size_t n_parsed;
	int error;
};

static void known_pod_free(struct known_pod *pod)
{
	target_list_fini(&pod->targets);
	free(pod);
}
DEFINE_CLEANUP(struct known_pod *, known_pod_free);

static void forget(struct hash_table *t)
{
	HASH_FOREACH (t, node) {
		hash_remove(t, node);
		known_pod_free(CONTAINER_OF(node, struct known_pod, node));
	}
	hash_fini(t);
	*t = HASH_TABLE_INIT;
}

static struct known_pod *find(const struct hash_table *t, uint64_t hash, size_t n_bytes)
{
	HASH_FOREACH_MATCH (t, hash, node) {
		struct known_pod *pod = CONTAINER_OF(node, struct known_pod, node);

		if (pod->n_bytes == n_bytes)
			return pod;
	}
	return NULL;
}

/* Consumes the pod. */
static int keep(struct kubelet_pods *p, struct known_pod *pod)
{
	int r = p->now.n < KUBELET_MAX_PODS ? hash_insert(&p->now, &pod->node, p->hash) : -E2BIG;

	if (r < 0)
		known_pod_free(pod);
	return r;
}

static int is_known(const char *text, size_t n, void *data)
{
	struct kubelet_pods *p = data;
	struct known_pod *pod;

	p->hash = hash_bytes(text, n, p->seed);
	p->n_bytes = n;
	pod = find(&p->last, p->hash, n);
	if (!pod)
		return 0;
	hash_remove(&p->last, &pod->node);
	int r = keep(p, pod);
	return r < 0 ? r : 1;
}

static bool is_wanted(const json_t *pod, const struct kubelet_namespaces *wanted)
{
	const char *namespace =
		json_string_value(json_object_get(json_object_get(pod, "metadata"), "namespace"));

	for (size_t i = 0; namespace && i < wanted->n; i++)
		if (strcmp(wanted->names[i], namespace) == 0)
			return true;
	return wanted->n == 0;
}

static int take_pod(json_t *object, void *data)
{
	struct kubelet_pods *p = data;
	_cleanup_(known_pod_freep) struct known_pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return -ENOMEM;
	if (is_wanted(object, p->namespaces)) {
		int r = pod_targets_add(object, NULL, &pod->targets);

		if (r < 0)
			return r;
	}
	pod->n_bytes = p->n_bytes;
	p->n_parsed++;
	return keep(p, TAKE_PTR(pod));
}

void kubelet_pods_begin(struct kubelet_pods *p)
{
	json_items_reset(&p->items);
	p->items.n_too_large = 0;
	forget(&p->now);
	p->n_answer_bytes = 0;
	p->n_parsed = 0;
	p->error = 0;
}

int kubelet_pods_feed(struct kubelet_pods *p, const char *bytes, size_t n)
{
	assert(n == 0 || bytes);
	p->n_answer_bytes += n;
	if (p->error == 0 && p->n_answer_bytes > KUBELET_MAX_ANSWER_BYTES)
		p->error = -E2BIG;
	if (p->error == 0)
		p->error = json_items_feed(&p->items, bytes, n, take_pod, p);
	return p->error;
}

/* A node without pods has null for a list. */
static bool is_pod_list(const json_t *rest)
{
	const char *kind = json_string_value(json_object_get(rest, "kind"));
	const json_t *items = json_object_get(rest, "items");

	if (kind && strcmp(kind, "PodList") != 0)
		return false;
	return json_is_array(items) || (kind && (!items || json_is_null(items)));
}

static int end_items(struct kubelet_pods *p)
{
	json_t *rest = NULL;
	int r = json_items_end(&p->items, &rest);

	if (r == 0 && !is_pod_list(rest))
		r = -EBADMSG;
	json_decref(rest);
	return r;
}

static int collect(const struct kubelet_pods *p, struct target_list *list)
{
	HASH_FOREACH (&p->now, node) {
		const struct known_pod *pod = CONTAINER_OF(node, struct known_pod, node);

		for (size_t i = 0; i < pod->targets.n; i++) {
			int r = target_list_add(list, labels_ref(pod->targets.items[i]));

			if (r < 0)
				return r;
		}
	}
	return kubelet_order(list);
}

static void explain(const struct kubelet_pods *p, int error, struct buf *why)
{
	if (error == -EBADMSG || error == -EMSGSIZE)
		(void)buf_append_str(why, "the answer is no list of pods");
	else if (error == -E2BIG)
		(void)buf_printf(
			why,
			"the answer is too large: there may be %d pods, %d targets and %zu "
			"MiB",
			KUBELET_MAX_PODS, TARGET_LIST_MAX, KUBELET_MAX_ANSWER_BYTES >> 20);
	else if (error < 0)
		(void)buf_append_str(why, strerrordesc_np(-error));
	else if (p->items.n_too_large > 0)
		(void)buf_printf(why, "%zu pods have more than %zu MiB and are left out",
				 p->items.n_too_large, KUBELET_MAX_POD_BYTES >> 20);
}

int kubelet_pods_end(struct kubelet_pods *p, struct buf *why, struct target_list *ret_list)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = p->error < 0 ? p->error : end_items(p);

	if (r == 0)
		r = collect(p, &list);
	explain(p, r, why);
	if (r < 0)
		return r;
	forget(&p->last);
	p->last = p->now;
	p->now = HASH_TABLE_INIT;
	*ret_list = list;
	list = (struct target_list){ 0 };
	return 0;
}

size_t kubelet_pods_n_parsed(const struct kubelet_pods *p)
{
	return p->n_parsed;
}

int kubelet_pods_new(const struct kubelet_namespaces *namespaces, struct kubelet_pods **ret_pods)
{
	struct kubelet_pods *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->namespaces = namespaces;
	json_items_init(&p->items, KUBELET_MAX_POD_BYTES);
	p->items.known = is_known;
	if (getrandom(&p->seed, sizeof(p->seed), GRND_NONBLOCK) < 0)
		p->seed = clock_mono_ns();
	*ret_pods = p;
	return 0;
}

void kubelet_pods_free(struct kubelet_pods *p)
{
	if (!p)
		return;
	forget(&p->last);
	forget(&p->now);
	json_items_fini(&p->items);
	free(p);
}
