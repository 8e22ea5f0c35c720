/* SPDX-License-Identifier: Apache-2.0 */
/* The fan-out: one profile, shared by all endpoints. */
#include "agent/push/push.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "agent/push/endpoint.h"
#include "agent/push/metrics.h"
#include "agent/push/queue.h"
#include "agent/push/relay.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"

struct pusher {
	struct push_context ctx;
	char *user_agent, *component_path, *component_id; /* what ctx borrows */
	struct push_label *external;			  /* strings owned */
	size_t n_external;
	struct push_endpoint **endpoints;
	size_t n_endpoints;
	uint64_t seed; /* agents that have the same series do not send in step either */
	struct metric *latency_total;
	/* Of the flush. */
	bool flushing;
	uint64_t deadline_ns;
	struct loop_timer *timer;
	void (*done)(void *data);
	void *done_data;
};

static bool pusher_is_idle(const struct pusher *p)
{
	for (size_t i = 0; i < p->n_endpoints; i++)
		if (!push_endpoint_is_idle(p->endpoints[i]))
			return false;
	return true;
}

/* The end of the flush is always told from the timer: the caller may then free what is under way
 * here. */
static void pusher_on_idle(void *data)
{
	struct pusher *p = data;

	if (p->flushing && pusher_is_idle(p))
		loop_timer_arm(p->timer, clock_mono_ns());
}

static void pusher_on_timer(void *data)
{
	struct pusher *p = data;

	p->flushing = false;
	for (size_t i = 0; i < p->n_endpoints; i++)
		push_endpoint_give_up(p->endpoints[i]);
	p->done(p->done_data);
}

void pusher_flush(struct pusher *p, uint64_t deadline_ns, void (*done)(void *data), void *data)
{
	assert(!p->done);
	p->done = done;
	p->done_data = data;
	p->flushing = true;
	loop_timer_arm(p->timer, deadline_ns);
	for (size_t i = 0; i < p->n_endpoints; i++)
		push_endpoint_flush(p->endpoints[i], deadline_ns);
	pusher_on_idle(p);
}

/* A place of each series in the time that it has: the same in every interval, so that its profiles are as far apart as they were made. */
static uint64_t spread(const struct pusher *p, const struct push_profile *profile,
		       uint64_t spread_ns)
{
	uint64_t hash = p->seed;

	for (size_t i = 0; i < profile->n_labels; i++) {
		hash = hash_bytes(profile->labels[i].name, strlen(profile->labels[i].name), hash);
		hash = hash_bytes(profile->labels[i].value, strlen(profile->labels[i].value), hash);
	}
	return spread_ns ? hash_u64(hash) % spread_ns : 0;
}

static void pusher_take_relay(const struct push_item *item, struct push_labels *labels)
{
	for (size_t i = 0; i < item->n_labels; i++)
		if (strcmp(item->labels[i].name, PUSH_RELAY_LABEL) == 0)
			push_labels_add(labels, &item->labels[i]);
}

static int pusher_make_profile(struct pusher *p, const struct push_item *item,
			       struct push_profile **ret_profile)
{
	struct push_labels labels;

	push_labels_select(item->labels, item->n_labels, p->external, p->n_external, &labels);
	pusher_take_relay(item, &labels);
	telemetry_count(p->ctx.telemetry, TELEMETRY_labels_dropped, labels.n_dropped);
	int r = push_profile_new(&labels, item->bytes, ret_profile);
	if (r < 0)
		return r;
	struct push_profile *profile = *ret_profile;
	profile->n_samples = item->n_samples;
	profile->deadline_ns = item->deadline_ns;
	profile->begin_ns = clock_mono_ns() + spread(p, profile, item->spread_ns);
	profile->total = p->latency_total;
	return 0;
}

static void pusher_count_lost(struct pusher *p, enum push_drop_cause cause, size_t n_bytes)
{
	for (size_t i = 0; i < p->n_endpoints; i++)
		push_endpoint_lost(p->endpoints[i], cause, n_bytes);
}

void pusher_lost(struct pusher *p)
{
	pusher_count_lost(p, PUSH_DROP_FORM, 0);
}

int pusher_push(struct pusher *p, const struct push_item *item)
{
	_cleanup_(push_profile_unrefp) struct push_profile *profile = NULL;
	int r = pusher_make_profile(p, item, &profile);

	if (r < 0) {
		pusher_count_lost(p, PUSH_DROP_ENCODE, item->bytes->n);
		return r;
	}
	for (size_t i = 0; i < p->n_endpoints; i++)
		push_endpoint_put(p->endpoints[i], profile);
	return 0;
}

bool pusher_has_room(const struct pusher *p, size_t n_bytes)
{
	for (size_t i = 0; i < p->n_endpoints; i++)
		if (push_endpoint_has_room(p->endpoints[i], n_bytes))
			return true;
	return p->n_endpoints == 0;
}

static int pusher_copy_external(struct pusher *p, const struct pusher_options *o)
{
	p->external = calloc(o->n_external_labels + 1, sizeof(*p->external));
	if (!p->external)
		return -ENOMEM;
	for (size_t i = 0; i < o->n_external_labels; i++) {
		struct push_label *l = &p->external[p->n_external++];

		l->name = strdup(o->external_labels[i].name);
		l->value = strdup(o->external_labels[i].value);
		if (!l->name || !l->value)
			return -ENOMEM;
	}
	return 0;
}

static int pusher_copy_names(struct pusher *p, const struct pusher_options *o)
{
	p->user_agent = strdup(o->user_agent);
	p->component_path = strdup(o->component_path);
	p->component_id = strdup(o->component_id);
	return p->user_agent && p->component_path && p->component_id ? 0 : -ENOMEM;
}

static void pusher_init_context(struct pusher *p, struct loop *loop, struct http_client *http,
				struct telemetry *telemetry, const struct pusher_options *o)
{
	p->ctx = (struct push_context){
		.protocol = o->protocol,
		.loop = loop,
		.http = http,
		.telemetry = telemetry,
		.user_agent = p->user_agent,
		.component_path = p->component_path,
		.component_id = p->component_id,
		.max_queue_items = o->max_queue_items,
		.max_queue_bytes = o->max_queue_bytes,
		.max_in_flight = o->max_in_flight,
		.log_interval_ns = o->log_interval_ns,
		.random = clock_mono_ns(),
		.on_idle = pusher_on_idle,
		.on_idle_data = p,
	};
	/* Only spreads the retries of many agents: the clock is good enough where there is no
	 * entropy yet. */
	(void)!getrandom(&p->ctx.random, sizeof(p->ctx.random), GRND_NONBLOCK);
	p->seed = p->ctx.random;
	p->latency_total = push_metrics_total(telemetry, p->component_path, p->component_id);
}

static int pusher_make_endpoints(struct pusher *p, const struct pusher_options *o)
{
	p->endpoints = calloc(o->n_endpoints + 1, sizeof(struct push_endpoint *));
	if (!p->endpoints)
		return -ENOMEM;
	for (size_t i = 0; i < o->n_endpoints; i++) {
		int r = push_endpoint_options_check(&o->endpoints[i])
				? -EINVAL
				: push_endpoint_new(&p->ctx, &o->endpoints[i], &p->endpoints[i]);

		if (r < 0)
			return r;
		p->n_endpoints++;
	}
	return 0;
}

int pusher_new(struct loop *loop, struct http_client *http, struct telemetry *telemetry,
	       const struct pusher_options *options, struct pusher **ret_pusher)
{
	_cleanup_(pusher_freep) struct pusher *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	if (options->n_endpoints > PUSH_MAX_ENDPOINTS || options->max_in_flight == 0 ||
	    options->protocol->batch < 1 || options->protocol->batch > PUSH_MAX_BATCH)
		return -EINVAL;
	int r = pusher_copy_names(p, options);
	if (r == 0)
		r = pusher_copy_external(p, options);
	if (r == 0)
		r = loop_timer_new(loop, pusher_on_timer, p, &p->timer);
	if (r < 0)
		return r;
	pusher_init_context(p, loop, http, telemetry, options);
	r = pusher_make_endpoints(p, options);
	if (r < 0)
		return r;
	*ret_pusher = TAKE_PTR(p);
	return 0;
}

void pusher_free(struct pusher *p)
{
	if (!p)
		return;
	p->flushing = false;
	for (size_t i = 0; i < p->n_endpoints; i++)
		push_endpoint_free(p->endpoints[i]);
	free(p->endpoints);
	loop_timer_free(p->timer);
	for (size_t i = 0; i < p->n_external; i++) {
		free((char *)p->external[i].name);
		free((char *)p->external[i].value);
	}
	free(p->external);
	free(p->user_agent);
	free(p->component_path);
	free(p->component_id);
	free(p);
}

size_t pusher_n_endpoints(const struct pusher *p)
{
	return p->n_endpoints;
}

void pusher_stats(const struct pusher *p, size_t endpoint, struct push_endpoint_stats *ret_stats)
{
	assert(endpoint < p->n_endpoints);
	push_endpoint_stats_get(p->endpoints[endpoint], ret_stats);
}
