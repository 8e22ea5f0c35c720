/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of a cluster as targets.
 *
 * A change only marks; a timer gathers what comes together into one new list of targets.
 */
#include "agent/discovery/kube_discovery.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/discovery/kube_source.h"
#include "agent/discovery/kube_surrounding.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

struct kube_discovery {
	struct kube_discovery_options o;
	struct kube_pods_options pods_options;
	struct loop_timer *timer;
	bool armed;
	bool told;   /* once, what is known */
	bool remake; /* nodes or namespaces have changed */
	struct kube_surrounding nodes, namespaces;
	char *node_selector; /* the one node that is wanted; NULL: all */
	struct kube_source *sources;
	size_t n_sources;
};

/* Somebody waits for the first answer. */
static uint64_t gather_ns(const struct kube_discovery *d)
{
	size_t n_pods = 0;

	for (size_t i = 0; i < d->n_sources; i++)
		n_pods += d->sources[i].pods.by_uid.n;
	return d->told ? d->o.gather_ns * (1 + n_pods / 1000) : 0;
}

static void mark(struct kube_discovery *d)
{
	if (d->armed)
		return;
	d->armed = true;
	loop_timer_arm(d->timer, clock_mono_ns() + gather_ns(d));
}

static void on_changed(void *data)
{
	mark(data);
}

static void on_changed_around(void *data)
{
	struct kube_discovery *d = data;

	d->remake = true;
	mark(d);
}

/* A failure may be what somebody waited for. */
static void on_told(void *data)
{
	struct kube_discovery *d = data;

	mark(d);
	if (d->o.told)
		d->o.told(d->o.data);
}

static struct pod_targets_options around(const json_t *pod, void *data)
{
	const struct kube_discovery *d = data;
	const json_t *spec = json_object_get(pod, "spec");
	const json_t *metadata = json_object_get(pod, "metadata");
	const char *node = json_string_value(json_object_get(spec, "nodeName"));
	const char *namespace = json_string_value(json_object_get(metadata, "namespace"));

	return (struct pod_targets_options){
		.node = kube_objects_get(&d->nodes.objects, node),
		.namespace = kube_objects_get(&d->namespaces.objects, namespace),
	};
}

/* It has an answer, or has failed to get one: waiting longer would keep back what others know. */
static bool is_settled(const struct kube_watch *watch)
{
	struct kube_watch_status status;

	if (!watch)
		return true;
	status = kube_watch_status(watch);
	return status.known || status.failed;
}

/* Targets without what they are to have from their nodes would be others a moment later, and with them the series. */
static bool is_ready(const struct kube_discovery *d)
{
	bool known = false;

	for (size_t i = 0; i < d->n_sources; i++)
		known |= kube_watch_status(d->sources[i].watch).known;
	return known && is_settled(d->nodes.watch) && is_settled(d->namespaces.watch);
}

/* As many as a list takes. */
static int add_all(struct kube_discovery *d, struct target_list *list)
{
	_cleanup_free_ struct kube_pods **sets = calloc(d->n_sources, sizeof(*sets));
	_cleanup_free_ struct kube_pod **pods = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; sets && i < d->n_sources; i++)
		sets[i] = &d->sources[i].pods;
	pods = sets ? kube_pods_sorted(sets, d->n_sources, &n) : NULL;
	if (!pods)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		for (size_t k = 0; r == 0 && k < pods[i]->targets.n; k++)
			r = target_list_add(list, labels_ref(pods[i]->targets.items[k]));
	return r == -E2BIG ? 0 : r;
}

/* What memory does not suffice for is tried again with the next change. */
static void on_timer(void *data)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	struct kube_discovery *d = data;

	d->armed = false;
	if (!is_ready(d))
		return;
	for (size_t i = 0; d->remake && i < d->n_sources; i++)
		(void)kube_pods_remake(&d->sources[i].pods);
	d->remake = false;
	if (add_all(d, &list) < 0)
		return;
	d->told = true;
	d->o.changed(&list, d->o.data);
}

static struct kube_watch_options watch_options(struct kube_discovery *d,
					       enum kube_resource resource)
{
	return (struct kube_watch_options){
		.api = d->o.api,
		.query = { .resource = resource },
		.timing = d->o.timing,
	};
}

static int start_source(struct kube_discovery *d, struct kube_source *s, const char *namespace)
{
	struct kube_watch_options o = watch_options(d, KUBE_PODS);

	o.query.namespace = namespace;
	o.query.field_selector = d->o.field_selector;
	o.query.label_selector = d->o.label_selector;
	s->changed = on_changed;
	s->told = on_told;
	s->data = d;
	return kube_source_start(s, &o, &d->pods_options);
}

static int start_sources(struct kube_discovery *d)
{
	size_t n = MIN_OF(d->o.n_namespaces, (size_t)KUBE_DISCOVERY_MAX_NAMESPACES);
	int r = 0;

	d->sources = calloc(n + 1, sizeof(*d->sources));
	if (!d->sources)
		return -ENOMEM;
	d->n_sources = MAX_OF(n, (size_t)1);
	for (size_t i = 0; r == 0 && i < d->n_sources; i++)
		r = start_source(d, &d->sources[i], n > 0 ? d->o.namespaces[i] : NULL);
	return r;
}

static int start_surrounding(struct kube_discovery *d, struct kube_surrounding *s,
			     enum kube_resource resource, const char *selector)
{
	struct kube_watch_options o = watch_options(d, resource);

	o.query.field_selector = selector;
	s->changed = on_changed_around;
	s->told = on_told;
	s->data = d;
	return kube_surrounding_start(s, &o);
}

/* Where all pods are of one node, the others do not matter. */
static int start_nodes(struct kube_discovery *d)
{
	struct str node;

	if (kube_selector_node(d->o.field_selector, &node) && node.n > 0 &&
	    asprintf(&d->node_selector, "metadata.name=%.*s", (int)node.n, node.p) < 0) {
		d->node_selector = NULL;
		return -ENOMEM;
	}
	return start_surrounding(d, &d->nodes, KUBE_NODES, d->node_selector);
}

static int start_all(struct kube_discovery *d)
{
	int r = loop_timer_new(d->o.api->loop, on_timer, d, &d->timer);

	if (r < 0)
		return r;
	if (d->o.attach_node) {
		r = start_nodes(d);
		if (r < 0)
			return r;
	}
	if (d->o.attach_namespace) {
		r = start_surrounding(d, &d->namespaces, KUBE_NAMESPACES, NULL);
		if (r < 0)
			return r;
	}
	return start_sources(d);
}

int kube_discovery_new(const struct kube_discovery_options *options,
		       struct kube_discovery **ret_discovery)
{
	_cleanup_(kube_discovery_freep) struct kube_discovery *d = calloc(1, sizeof(*d));

	assert(options->api);
	if (!d)
		return -ENOMEM;
	d->o = *options;
	d->pods_options = (struct kube_pods_options){
		.max_pods = KUBE_PODS_MAX,
		.max_targets = KUBE_PODS_MAX_TARGETS,
		.max_bytes = KUBE_PODS_MAX_BYTES,
		.surroundings = options->attach_node || options->attach_namespace ? around : NULL,
		.data = d,
	};
	int r = start_all(d);
	if (r < 0)
		return r;
	*ret_discovery = TAKE_PTR(d);
	return 0;
}

void kube_discovery_free(struct kube_discovery *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_sources; i++)
		kube_source_fini(&d->sources[i]);
	free(d->sources);
	kube_surrounding_fini(&d->nodes);
	kube_surrounding_fini(&d->namespaces);
	free(d->node_selector);
	loop_timer_free(d->timer);
	free(d);
}

/* LISTING and WAITING are further from the goal than WATCHING. */
static void add_watch(struct kube_discovery_status *s, const struct kube_watch *watch)
{
	struct kube_watch_status w;

	if (!watch)
		return;
	w = kube_watch_status(watch);
	if (w.state == KUBE_WAITING || (w.state == KUBE_LISTING && s->state == KUBE_WATCHING))
		s->state = w.state;
	if (*w.error && (w.failed || !s->failed))
		s->error = w.error;
	s->known &= w.known;
	s->failed |= w.failed;
	s->event_ns = MAX_OF(s->event_ns, w.event_ns);
	s->n_too_large += w.n_too_large;
	s->n_lists += w.n_lists;
	s->n_watches += w.n_watches;
}

struct kube_discovery_status kube_discovery_status(const struct kube_discovery *d)
{
	assert(d->n_sources > 0);

	struct kube_discovery_status s = { .state = KUBE_WATCHING, .known = true, .error = "" };

	for (size_t i = 0; i < d->n_sources; i++) {
		add_watch(&s, d->sources[i].watch);
		s.n_pods += d->sources[i].pods.by_uid.n;
		s.n_targets += d->sources[i].pods.n_targets;
		s.n_refused += d->sources[i].pods.n_refused;
	}
	add_watch(&s, d->nodes.watch);
	add_watch(&s, d->namespaces.watch);
	s.n_refused += d->nodes.objects.n_refused + d->namespaces.objects.n_refused;
	s.version = kube_watch_status(d->sources[0].watch).version;
	return s;
}
