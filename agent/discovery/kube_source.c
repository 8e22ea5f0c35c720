/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of one namespace, or of all, kept up to date.
 *
 * There are two sets: what is known, and what the list that is under way has brought. The latter takes the place of the former when the
 * list is whole, so whoever looks never sees half of a list.
 */
#include "agent/discovery/kube_source.h"

static void on_begin(void *data)
{
	struct kube_source *s = data;

	kube_pods_fini(&s->listed);
	kube_pods_init(&s->listed, s->pods_options);
}

/* Without memory one pod less is known, until it changes or is listed again. */
static void put(struct kube_pods *pods, json_t *object)
{
	if (kube_pods_put(pods, object) < 0)
		pods->n_refused++;
}

static void on_listed(json_t *object, void *data)
{
	struct kube_source *s = data;

	put(&s->listed, object);
}

static void on_replace(void *data)
{
	struct kube_source *s = data;

	kube_pods_fini(&s->pods);
	s->pods = s->listed;
	kube_pods_init(&s->listed, s->pods_options);
	s->changed(s->data);
}

static void on_changed(json_t *object, void *data)
{
	struct kube_source *s = data;

	put(&s->pods, object);
	s->changed(s->data);
}

static void on_deleted(json_t *object, void *data)
{
	struct kube_source *s = data;

	kube_pods_remove(&s->pods, object);
	s->changed(s->data);
}

static void on_told(void *data)
{
	struct kube_source *s = data;

	s->told(s->data);
}

static const struct kube_watch_ops source_ops = {
	.begin = on_begin,
	.listed = on_listed,
	.replace = on_replace,
	.changed = on_changed,
	.deleted = on_deleted,
	.told = on_told,
};

int kube_source_start(struct kube_source *s, const struct kube_watch_options *options,
		      const struct kube_pods_options *pods_options)
{
	struct kube_watch_options o = *options;

	s->pods_options = pods_options;
	kube_pods_init(&s->pods, pods_options);
	kube_pods_init(&s->listed, pods_options);
	o.ops = &source_ops;
	o.data = s;
	return kube_watch_new(&o, &s->watch);
}

void kube_source_fini(struct kube_source *s)
{
	kube_watch_free(s->watch);
	s->watch = NULL;
	kube_pods_fini(&s->pods);
	kube_pods_fini(&s->listed);
}
