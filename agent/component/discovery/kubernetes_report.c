/* SPDX-License-Identifier: Apache-2.0 */
/* What discovery.kubernetes says about itself. */
#include "agent/component/discovery/kubernetes_report.h"

#include <errno.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

static bool is_given(const char *text)
{
	return text && *text;
}

/* Where nothing is found, what was asked for is what a person wants to see. */
static void put_selectors(const struct kube_discovery_options *o, struct buf *text)
{
	if (is_given(o->field_selector))
		(void)buf_printf(text, "; field selector \"%.100s\"", o->field_selector);
	if (is_given(o->label_selector))
		(void)buf_printf(text, "; label selector \"%.100s\"", o->label_selector);
	if (*kubernetes_report_advice(o))
		(void)buf_printf(text, "; %s", kubernetes_report_advice(o));
}

static void put_losses(const struct kube_discovery_status *s, struct buf *text)
{
	if (s->n_refused)
		(void)buf_printf(text, "; %zu times there was no room for a pod", s->n_refused);
	if (s->n_too_large)
		(void)buf_printf(text, "; %zu objects were too large", s->n_too_large);
}

static void tell_failure(struct component *c, const struct kube_discovery_status *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%.420s", s->error);
	if (s->n_pods > 0)
		(void)buf_printf(&text, "; the last %zu pods stay", s->n_pods);
	component_set_health(c, HEALTH_UNHEALTHY, buf_str(&text));
}

static void tell_success(struct component *c, const struct kube_discovery_options *o,
			 const struct kube_discovery_status *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	(void)buf_printf(&text, "%zu pods, %zu targets", s->n_pods, s->n_targets);
	if (s->n_pods == 0)
		put_selectors(o, &text);
	put_losses(s, &text);
	component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

void kubernetes_report_health(struct component *c, const struct kube_discovery_options *o,
			      const struct kube_discovery_status *s)
{
	if (s->failed)
		tell_failure(c, s);
	else if (s->known)
		tell_success(c, o, s);
	else
		component_set_health(c, HEALTH_UNKNOWN, "listing pods");
}

/* Without hostNetwork, HOSTNAME is the name of the agent's own pod. */
const char *kubernetes_report_advice(const struct kube_discovery_options *o)
{
	struct str node;

	if (!kube_selector_node(o->field_selector, &node))
		return "";
	return node.n == 0
		       ? "the selector names no node: is the environment variable set that it is "
			 "made of?"
		       : "is this the name of a node? A pod's HOSTNAME is not; take spec.nodeName "
			 "by "
			 "an environment variable with a fieldRef";
}

static const char *state_text(enum kube_watch_state state)
{
	switch (state) {
	case KUBE_LISTING:
		return "listing";
	case KUBE_WATCHING:
		return "watching";
	case KUBE_WAITING:
		return "waiting";
	}
	return "";
}

static const struct river_value *text_value(struct river_arena *arena, const char *text)
{
	return river_value_string(arena, text, strlen(text));
}

static const struct river_value *age_value(struct river_arena *arena, uint64_t at_ns)
{
	if (at_ns == 0)
		return river_value_null(arena);
	return river_value_float(arena, (double)(clock_mono_ns() - at_ns) / NS_PER_S);
}

int kubernetes_report_debug(struct river_arena *arena, const char *server,
			    const struct kube_discovery_status *s,
			    const struct river_value **ret_info)
{
	const struct river_member members[] = {
		{ "server", text_value(arena, server) },
		{ "state", text_value(arena, state_text(s->state)) },
		{ "pods", river_value_uint(arena, s->n_pods) },
		{ "targets", river_value_uint(arena, s->n_targets) },
		{ "resource_version", text_value(arena, s->version) },
		{ "last_error", text_value(arena, s->error) },
		{ "last_event_age_s", age_value(arena, s->event_ns) },
		{ "lists", river_value_uint(arena, s->n_lists) },
		{ "watches", river_value_uint(arena, s->n_watches) },
		{ "refused", river_value_uint(arena, s->n_refused) },
		{ "too_large", river_value_uint(arena, s->n_too_large) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!members[i].value)
			return -ENOMEM;
	*ret_info = river_value_object(arena, members, ARRAY_SIZE(members));
	return *ret_info ? 0 : -ENOMEM;
}
