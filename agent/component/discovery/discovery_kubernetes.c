/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.kubernetes: the pods of a cluster as targets.
 *
 * The targets of the last answer stay until there is another one: while the server is away, and while other arguments wait for theirs.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/discovery/kubernetes_link.h"
#include "agent/component/discovery/kubernetes_report.h"
#include "agent/component/target_maps.h"
#include "agent/util/log.h"

struct kubernetes {
	struct component *c;
	struct kubernetes_link *link;
	struct kube_discovery *discovery; /* NULL: not run yet */
	struct target_list targets;	  /* what is exported */
	bool listed;			  /* these arguments have had their answer */
	char error[KUBE_WATCH_MAX_ERROR]; /* what was said last; "": all was well */
};

static void kubernetes_check(struct component *c)
{
	struct kubernetes *k = c->state;
	struct kube_discovery_status s;

	if (!k || !k->discovery)
		return;
	s = kube_discovery_status(k->discovery);
	kubernetes_report_health(c, &k->link->options, &s);
}

/* Once for each reason, and once when it is over. */
static void log_change(struct kubernetes *k, const struct kube_discovery_status *s)
{
	const char *error = s->failed ? s->error : "";

	if (strcmp(error, k->error) == 0)
		return;
	(void)snprintf(k->error, sizeof(k->error), "%s", error);
	if (*error)
		log_warn("cannot follow the pods of Kubernetes, those known stay",
			 LOG_STR("component_id", k->c->id), LOG_STR("reason", error),
			 LOG_STR("server", k->link->api.server), LOG_UINT("pods", s->n_pods));
	else
		log_info("the API server of Kubernetes answers again",
			 LOG_STR("component_id", k->c->id), LOG_STR("server", k->link->api.server));
}

static void on_told(void *data)
{
	struct kubernetes *k = data;
	struct kube_discovery_status s = kube_discovery_status(k->discovery);

	log_change(k, &s);
	kubernetes_check(k->c);
}

/* An empty list is what a wrong selector looks like. */
static void log_listed(const struct kubernetes *k)
{
	struct kube_discovery_status s = kube_discovery_status(k->discovery);
	const struct kube_discovery_options *o = &k->link->options;

	if (s.n_pods > 0)
		log_info("pods of Kubernetes listed", LOG_STR("component_id", k->c->id),
			 LOG_STR("server", k->link->api.server), LOG_UINT("pods", s.n_pods),
			 LOG_UINT("targets", s.n_targets));
	else
		log_warn("Kubernetes has no such pods", LOG_STR("component_id", k->c->id),
			 LOG_STR("server", k->link->api.server),
			 LOG_STR("field_selector", o->field_selector),
			 LOG_STR("label_selector", o->label_selector),
			 LOG_STR("advice", kubernetes_report_advice(o)));
}

static void on_changed(struct target_list *targets, void *data)
{
	struct kubernetes *k = data;
	struct target_list old = k->targets;

	if (!k->listed)
		log_listed(k);
	k->listed = true;
	kubernetes_check(k->c);
	if (target_list_equal(targets, &old))
		return;
	k->targets = *targets;
	*targets = old;
	component_exports_changed(k->c);
}

static int begin(struct kubernetes *k, struct kubernetes_link *link,
		 struct kube_discovery **ret_discovery)
{
	struct kube_discovery_options o = link->options;

	o.changed = on_changed;
	o.told = on_told;
	o.data = k;
	return kube_discovery_new(&o, ret_discovery);
}

static int kubernetes_build(struct component *c, const void *args, struct buf *why)
{
	struct kubernetes *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	c->state = k;
	k->c = c;
	/* The files and the environment of the place where a configuration is checked say nothing about where it will run. */
	return c->env->offline ? 0 : kubernetes_link_open(c->env, args, why, &k->link);
}

static int kubernetes_run(struct component *c, struct buf *why)
{
	struct kubernetes *k = c->state;

	(void)why;
	component_set_health(c, HEALTH_UNKNOWN, "listing pods");
	return begin(k, k->link, &k->discovery);
}

static int kubernetes_accepts(struct component *c, const void *args, struct buf *why)
{
	_cleanup_(kubernetes_link_freep) struct kubernetes_link *link = NULL;

	return c->env->offline ? 0 : kubernetes_link_open(c->env, args, why, &link);
}

static int kubernetes_update(struct component *c, const void *args, struct buf *why)
{
	_cleanup_(kubernetes_link_freep) struct kubernetes_link *link = NULL;
	struct kube_discovery *discovery = NULL;
	struct kubernetes *k = c->state;

	if (c->env->offline)
		return 0;
	int r = kubernetes_link_open(c->env, args, why, &link);
	if (r < 0)
		return r;
	if (k->discovery) {
		r = begin(k, link, &discovery);
		if (r < 0)
			return r;
	}
	kube_discovery_free(k->discovery);
	kubernetes_link_free(k->link);
	k->discovery = discovery;
	k->link = TAKE_PTR(link);
	k->listed = false;
	k->error[0] = '\0';
	return 0;
}

static void kubernetes_stop(struct component *c)
{
	struct kubernetes *k = c->state;

	if (!k)
		return;
	kube_discovery_free(k->discovery);
	kubernetes_link_free(k->link);
	target_list_fini(&k->targets);
	free(k);
	c->state = NULL;
}

static int kubernetes_exports(struct component *c, struct river_arena *arena,
			      const struct river_value **ret_exports)
{
	const struct kubernetes *k = c->state;

	return target_maps_export(arena, k->targets.items, k->targets.n, ret_exports);
}

static int kubernetes_debug(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_info)
{
	const struct kubernetes *k = c->state;
	struct kube_discovery_status s;

	if (!k || !k->discovery)
		return 0;
	s = kube_discovery_status(k->discovery);
	return kubernetes_report_debug(arena, k->link->api.server, &s, ret_info);
}

const struct component_kind discovery_kubernetes_kind = {
	.name = "discovery.kubernetes",
	.schema = &kubernetes_schema,
	.wants_label = true,
	.finds_containers = true,
	.build = kubernetes_build,
	.run = kubernetes_run,
	.accepts = kubernetes_accepts,
	.update = kubernetes_update,
	.stop = kubernetes_stop,
	.exports = kubernetes_exports,
	.check = kubernetes_check,
	.debug_info = kubernetes_debug,
};
