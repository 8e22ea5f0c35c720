/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the nodes, or of the namespaces.
 *
 * A node's status changes all the time, its labels hardly ever: what is kept is compared, so that only the latter make targets again. The
 * version of the object is not among what is kept.
 */
#include "agent/discovery/kube_objects.h"

#include "agent/discovery/kube_reduce.h"

void kube_objects_fini(struct kube_objects *o)
{
	json_decref(o->by_name);
	*o = KUBE_OBJECTS_INIT;
}

static const char *name_of(const json_t *object)
{
	return json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
}

static bool has_room(struct kube_objects *o, const char *name)
{
	if (!o->by_name)
		o->by_name = json_object();
	if (json_object_size(o->by_name) < KUBE_OBJECTS_MAX || json_object_get(o->by_name, name))
		return true;
	o->n_refused++;
	return false;
}

bool kube_objects_put(struct kube_objects *o, json_t *object)
{
	const char *name = name_of(object);

	if (!name || !has_room(o, name))
		return false;
	kube_reduce_surrounding(object);
	if (json_equal(json_object_get(o->by_name, name), object))
		return false;
	return json_object_set(o->by_name, name, object) == 0;
}

bool kube_objects_remove(struct kube_objects *o, const json_t *object)
{
	const char *name = name_of(object);

	return name && json_object_del(o->by_name, name) == 0;
}

const json_t *kube_objects_get(const struct kube_objects *o, const char *name)
{
	return name ? json_object_get(o->by_name, name) : NULL;
}
