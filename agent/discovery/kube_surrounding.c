/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes or the namespaces that pods are in, kept up to date. */
#include "agent/discovery/kube_surrounding.h"

static void on_begin(void *data)
{
	struct kube_surrounding *s = data;

	kube_objects_fini(&s->listed);
}

static void on_listed(json_t *object, void *data)
{
	struct kube_surrounding *s = data;

	(void)kube_objects_put(&s->listed, object);
}

static void on_replace(void *data)
{
	struct kube_surrounding *s = data;

	kube_objects_fini(&s->objects);
	s->objects = s->listed;
	s->listed = KUBE_OBJECTS_INIT;
	s->changed(s->data);
}

static void on_changed(json_t *object, void *data)
{
	struct kube_surrounding *s = data;

	if (kube_objects_put(&s->objects, object))
		s->changed(s->data);
}

static void on_deleted(json_t *object, void *data)
{
	struct kube_surrounding *s = data;

	if (kube_objects_remove(&s->objects, object))
		s->changed(s->data);
}

static void on_told(void *data)
{
	struct kube_surrounding *s = data;

	s->told(s->data);
}

static const struct kube_watch_ops surrounding_ops = {
	.begin = on_begin,
	.listed = on_listed,
	.replace = on_replace,
	.changed = on_changed,
	.deleted = on_deleted,
	.told = on_told,
};

int kube_surrounding_start(struct kube_surrounding *s, const struct kube_watch_options *options)
{
	struct kube_watch_options o = *options;

	o.ops = &surrounding_ops;
	o.data = s;
	return kube_watch_new(&o, &s->watch);
}

void kube_surrounding_fini(struct kube_surrounding *s)
{
	kube_watch_free(s->watch);
	s->watch = NULL;
	kube_objects_fini(&s->objects);
	kube_objects_fini(&s->listed);
}
