/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same in all components that send profiles to servers. */
#include "agent/component/receivers/push_component.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/receiver.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/version.h"

/* Service managers and container runtimes kill 10 s after they asked (docker stop, kubelet: 30 s). */
#define FLUSH_NS (5 * NS_PER_S)

#define WITHOUT_URL                                                                            \
	"an endpoint has an empty url, nothing is sent to it: is the variable set that it is " \
	"made of?"

/* A pusher with the arguments of its time. A retired one sends what it has and ends. */
struct write_pusher {
	struct deferred_cleanup rest;
	struct list node;    /* of write.retired */
	struct write *write; /* NULL: has ended before us */
	struct pusher *pusher;
	size_t n_without_url; /* endpoints that nothing can be sent to */
	uint64_t max_age_ns;  /* 0: no other than that of all receivers */
	enum profile_form form;
	unsigned int wants;
};

struct write {
	struct receiver receiver; /* what is exported: stays where it is through updates */
	const struct push_component *kind;
	struct write_pusher *write_pusher;
	struct list retired;
	struct receiver_stats before; /* of pushers that have ended: sums only grow */
	bool running;
};

static void write_pusher_free(struct write_pusher *o)
{
	pusher_free(o->pusher);
	free(o);
}

static int fill_write_pusher(struct component *c, const void *args, struct write_pusher *o)
{
	const struct write *w = c->state;
	_cleanup_(river_arena_fini) struct river_arena arena;
	struct push_plan plan = { .options = PUSHER_OPTIONS_INIT };

	river_arena_init(&arena, (size_t)16 << 20);
	int r = w->kind->plan(c, args, &arena, &plan);
	if (r < 0)
		return r;
	plan.options.user_agent = "xagent/" XAGENT_VERSION " (linux)";
	plan.options.component_path = c->path;
	plan.options.component_id = c->local_id;
	o->n_without_url = plan.n_without_url;
	o->max_age_ns = plan.max_age_ns;
	o->form = plan.form;
	o->wants = PROFILE_WANT(plan.form) | (plan.changes_labels ? PROFILE_WANT_APART : 0);
	return pusher_new(c->env->loop, c->env->http, c->env->telemetry, &plan.options, &o->pusher);
}

static int write_pusher_new(struct component *c, const void *args,
			    struct write_pusher **ret_write_pusher)
{
	struct write_pusher *o = calloc(1, sizeof(*o));
	int r = o ? fill_write_pusher(c, args, o) : -ENOMEM;

	if (r < 0) {
		free(o);
		return r;
	}
	list_init(&o->node);
	list_init(&o->rest.node);
	o->write = c->state;
	o->write->receiver.wants = pusher_n_endpoints(o->pusher) ? o->wants : 0;
	*ret_write_pusher = o;
	return 0;
}

static int push(struct write *w, struct profile *profile, uint64_t deadline_ns)
{
	const struct write_pusher *o = w->write_pusher;
	struct push_label labels[LABELS_RAW_MAX];
	struct push_item item = {
		.labels = labels,
		.n_labels = MIN_OF(profile->labels->n, (size_t)LABELS_RAW_MAX),
		.bytes = profile_form(profile, o->form),
		.deadline_ns = o->max_age_ns ? MIN_OF(deadline_ns, clock_real_ns() + o->max_age_ns)
					     : deadline_ns,
		.spread_ns = profile->spread_ns,
		.n_samples = profile->n_samples,
	};
	/* Its interval was closed before there was an endpoint: sending begins with the next. */
	if (!item.bytes) {
		pusher_lost(o->pusher);
		return 0;
	}
	for (size_t i = 0; i < item.n_labels; i++)
		labels[i] = (struct push_label){ profile->labels->items[i].name,
						 profile->labels->items[i].value };
	return pusher_push(o->pusher, &item);
}

static void receive(struct receiver *receiver, struct profile *profile, uint64_t deadline_ns)
{
	struct write *w = CONTAINER_OF(receiver, struct write, receiver);
	/* Who has no endpoint wants no bytes. */
	int r = receiver->wants ? push(w, profile, deadline_ns) : 0;

	if (r < 0)
		log_error("cannot queue a profile", LOG_ERR(r));
}

static void add_stats(struct receiver_stats *sum, const struct pusher *p)
{
	for (size_t i = 0; i < pusher_n_endpoints(p); i++) {
		struct push_endpoint_stats s;

		pusher_stats(p, i, &s);
		sum->sent_profiles += s.sent_profiles;
		sum->sent_bytes += s.sent_bytes;
		sum->dropped_profiles += s.dropped_profiles;
		sum->waiting_profiles += s.queued_profiles;
		sum->waiting_bytes += s.queued_bytes;
	}
}

static void stats(const struct receiver *receiver, struct receiver_stats *ret_stats)
{
	const struct write *w = CONTAINER_OF((struct receiver *)receiver, struct write, receiver);
	struct receiver_stats sum = w->before;

	LIST_FOREACH (&w->retired, at)
		add_stats(&sum, LIST_ENTRY(at, struct write_pusher, node)->pusher);
	add_stats(&sum, w->write_pusher->pusher);
	*ret_stats = sum;
}

static bool has_room(const struct receiver *receiver, size_t n_bytes)
{
	const struct write *w = CONTAINER_OF((struct receiver *)receiver, struct write, receiver);

	return pusher_has_room(w->write_pusher->pusher, n_bytes);
}

static void on_flushed(void *data)
{
	struct write_pusher *o = data;

	deferred_cleanup_done(&o->rest);
	if (o->write) {
		list_remove(&o->node);
		add_stats(&o->write->before, o->pusher);
		/* What it left on disk waits for another. */
		o->write->before.waiting_profiles = 0;
		o->write->before.waiting_bytes = 0;
	}
	write_pusher_free(o);
}

static void abandon(struct deferred_cleanup *rest)
{
	on_flushed(CONTAINER_OF(rest, struct write_pusher, rest));
}

/* What is queued is sent while everything else goes on. */
static void retire(struct component *c, struct write_pusher *o)
{
	o->rest.abandon = abandon;
	component_defer_cleanup(c, &o->rest);
	pusher_flush(o->pusher, clock_mono_ns() + FLUSH_NS, on_flushed, o);
}

void push_component_take_credentials(const struct http_credentials *credentials,
				     struct push_endpoint_options *o)
{
	o->basic_auth_username = credentials->basic_username;
	o->basic_auth_password = credentials->basic_password;
	o->basic_auth_password_file = credentials->basic_password_file;
	o->bearer_token = credentials->bearer_token;
	o->bearer_token_file = credentials->bearer_token_file;
	o->authorization_type = credentials->authorization_type;
	o->authorization_credentials = credentials->authorization_credentials;
	o->authorization_credentials_file = credentials->authorization_credentials_file;
}

void push_component_take_client(const struct http_client_args *args,
				const struct http_client_options *client,
				struct push_endpoint_options *o)
{
	o->http_headers = client->headers;
	o->n_http_headers = client->n_headers;
	o->follow_redirects = args->follow_redirects;
	o->enable_http2 = args->enable_http2;
	push_component_take_credentials(&client->credentials, o);
	o->oauth2 = client->oauth2;
	o->tls = client->tls;
	o->proxy = client->proxy;
}

int push_component_build(struct component *c, const struct push_component *kind, const void *args)
{
	struct write *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->receiver = (struct receiver){ .receive = receive, .stats = stats, .has_room = has_room };
	w->kind = kind;
	list_init(&w->retired);
	c->state = w;
	return write_pusher_new(c, args, &w->write_pusher);
}

static void tell(struct component *c)
{
	const struct write *w = c->state;
	bool nowhere = pusher_n_endpoints(w->write_pusher->pusher) == 0;

	if (w->write_pusher->n_without_url > 0) {
		component_set_health(c, HEALTH_UNHEALTHY, WITHOUT_URL);
		log_error(WITHOUT_URL, LOG_STR("component_id", c->id),
			  LOG_UINT("endpoints", w->write_pusher->n_without_url));
		return;
	}
	component_set_health(c, HEALTH_HEALTHY,
			     nowhere ? "no endpoint: profiles are discarded" : "sending profiles");
	if (nowhere)
		log_warn("profiles are discarded: there is no endpoint",
			 LOG_STR("component_id", c->id));
}

static void put_endpoint(const struct push_endpoint_stats *s, struct buf *out)
{
	(void)buf_printf(out, "%s%s: %" PRIu64 " profiles sent", out->len ? "; " : "", s->url,
			 s->sent_profiles);
	if (s->dropped_profiles)
		(void)buf_printf(out, ", %" PRIu64 " lost", s->dropped_profiles);
	if (s->n_failures)
		(void)buf_printf(out, ", %zu kept", s->queued_profiles);
	if (s->last_error && *s->last_error && (s->n_failures || s->dropped_profiles))
		(void)buf_printf(out, ", last error: %s", s->last_error);
}

/* A server that refuses or is away is no fault of the component, so it stays healthy; who asks is told. */
void push_component_check(struct component *c)
{
	const struct write *w = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)64 * 1024);

	for (size_t i = 0; i < pusher_n_endpoints(w->write_pusher->pusher); i++) {
		struct push_endpoint_stats s;

		pusher_stats(w->write_pusher->pusher, i, &s);
		put_endpoint(&s, &text);
	}
	if (text.len > 0 && w->write_pusher->n_without_url == 0)
		component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

int push_component_run(struct component *c, struct buf *why)
{
	struct write *w = c->state;

	(void)why;
	w->running = true;
	tell(c);
	return 0;
}

int push_component_update(struct component *c, const void *args, struct buf *why)
{
	struct write *w = c->state;
	struct write_pusher *old = w->write_pusher;
	int r = write_pusher_new(c, args, &w->write_pusher);

	(void)why;
	if (r < 0)
		return r;
	list_push_back(&w->retired, &old->node);
	retire(c, old);
	if (w->running)
		tell(c);
	return 0;
}

void push_component_stop(struct component *c)
{
	struct write *w = c->state;

	if (!w)
		return;
	LIST_FOREACH (&w->retired, at) {
		struct write_pusher *o = LIST_ENTRY(at, struct write_pusher, node);

		list_remove(&o->node);
		o->write = NULL;
	}
	if (w->write_pusher) {
		w->write_pusher->write = NULL;
		retire(c, w->write_pusher);
	}
	free(w);
	c->state = NULL;
}

int push_component_exports(struct component *c, struct river_arena *arena,
			   const struct river_value **ret_exports)
{
	struct write *w = c->state;
	const struct river_value *receiver =
		river_value_capsule(arena, RECEIVER_CAPSULE, &w->receiver);
	const struct river_member members[] = {
		{ .key = "receiver", .value = receiver },
		{ .key = w->kind->also_exports, .value = receiver },
	};

	*ret_exports =
		receiver ? river_value_object(arena, members, w->kind->also_exports ? 2 : 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}
