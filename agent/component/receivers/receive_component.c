/* SPDX-License-Identifier: Apache-2.0 */
/* Components that take profiles from others over HTTP. */
#include "agent/component/receivers/receive_component.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http/http_args.h"
#include "agent/component/receivers/received.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

#define RETRY_NS (5 * NS_PER_S)

struct taking {
	struct component *c;
	const struct receive_component *kind;
	const void *args;
	struct received *received;
	struct receiving *receiving;
	struct http_server *server; /* NULL: it does not run, or the address is taken */
	struct loop_timer *retry;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	bool running;
};

/* ---- profiles ---- */

static bool has_room(void *data, size_t n_bytes)
{
	const struct taking *t = data;

	return received_has_room(t->received, n_bytes);
}

static bool may_relay(void *data)
{
	const struct taking *t = data;

	return received_may_relay(t->received);
}

static void deliver(void *data, const struct receive_item *item)
{
	struct taking *t = data;
	struct profile *profile = NULL;
	uint64_t deadline_ns = clock_real_ns() + RECEIVER_DEADLINE_NS;
	int r = profile_of_pprof(item->pprof, item->labels, item->time_ns, &profile);

	if (r < 0) {
		log_error("a received profile is lost", LOG_STR("component_id", t->c->id),
			  LOG_ERR(r));
		return;
	}
	received_deliver(t->received, &profile, deadline_ns);
}

/* ---- the server ---- */

static int secure(const struct receive_plan *plan, struct http_server *server, struct buf *why)
{
	static const struct http_access everybody = { 0 };
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	struct http_server_tls tls;
	int r = plan->tls ? http_args_tls(plan->tls, &texts, &tls, why) : 0;

	return r < 0 ? r : http_server_secure(server, &everybody, plan->tls ? &tls : NULL, why);
}

static struct receive_plan plan_of(const struct taking *t, const void *args)
{
	struct receive_plan plan = { .options = HTTP_SERVER_OPTIONS_INIT };

	t->kind->plan(args, &plan);
	return plan;
}

static int open_server(struct taking *t, const struct receive_plan *plan, struct buf *why,
		       struct http_server **ret_server)
{
	_cleanup_(http_server_freep) struct http_server *server = NULL;
	struct http_server_options o = plan->options;
	char error[HTTP_SERVER_MAX_ERROR_BYTES] = "";

	o.listen = plan->listen;
	o.telemetry = t->c->env->telemetry;
	int r = http_server_new(t->c->env->loop, &o, &server, error);
	if (r == HTTP_LISTEN_REFUSED) {
		(void)buf_append_str(why, error);
		return -EADDRINUSE;
	}
	r = r < 0 ? r : secure(plan, server, why);
	r = r < 0 ? r : t->kind->add_routes(t->receiving, plan, server);
	if (r == 0)
		*ret_server = TAKE_PTR(server);
	return r;
}

static void use_server(struct taking *t, const struct receive_plan *plan,
		       struct http_server *server)
{
	http_server_free(t->server);
	t->server = server;
	log_info_always("receiving profiles", LOG_STR("component_id", t->c->id),
			LOG_STR("address", plan->listen),
			LOG_UINT("port", http_server_port(server)));
}

/* A place that stays taken is said once. */
static void try_to_listen(struct taking *t)
{
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	const struct receive_plan plan = plan_of(t, t->args);
	struct http_server *server = NULL;
	int r = open_server(t, &plan, &why, &server);

	if (r == 0) {
		t->error[0] = '\0';
		use_server(t, &plan, server);
		return;
	}
	if (!*t->error)
		log_error("no profiles are received", LOG_STR("component_id", t->c->id),
			  LOG_STR("reason", why.len ? buf_str(&why) : strerrordesc_np(-r)));
	(void)snprintf(t->error, sizeof(t->error), "%s",
		       why.len ? buf_str(&why) : strerrordesc_np(-r));
	loop_timer_arm(t->retry, clock_mono_ns() + RETRY_NS);
}

static void on_retry(void *data)
{
	struct taking *t = data;

	if (!t->server)
		try_to_listen(t);
}

/* ---- the component ---- */

static void put_facts(const struct taking *t, const struct receiving_stats *s, struct buf *out)
{
	(void)buf_printf(out, "%" PRIu64 " profiles of %" PRIu64 " requests taken", s->n_profiles,
			 s->n_requests - s->n_refused);
	if (s->n_refused)
		(void)buf_printf(out, "; %" PRIu64 " refused, the last: %s", s->n_refused,
				 s->last_refusal);
	if (http_server_is_open(t->server))
		(void)buf_append_str(out, "; everybody who reaches its address may send some");
}

void receive_component_check(struct component *c)
{
	const struct taking *t = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(2 * COMPONENT_MESSAGE_MAX);
	struct receiving_stats stats;

	if (!t->running)
		return;
	if (!t->server) {
		component_set_health(c, HEALTH_UNHEALTHY, t->error);
		return;
	}
	receiving_stats(t->receiving, &stats);
	put_facts(t, &stats, &text);
	component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

/* Certificates are tried here, so that a load with a wrong one is refused as a whole. */
int receive_component_accepts(struct component *c, const void *args, struct buf *why)
{
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	const struct receive_plan plan = plan_of(c->state, args);
	struct http_server_tls tls;

	if (!plan.tls)
		return 0;
	int r = http_args_tls(plan.tls, &texts, &tls, why);
	return r < 0 ? r : http_server_check_tls(&tls, why);
}

static int make_parts(struct taking *t)
{
	const struct component *c = t->c;
	const struct receiving_callbacks callbacks = { has_room, may_relay, deliver, t };
	int r = received_new(c, &t->received);

	if (r < 0)
		return r;
	received_forward_to(t->received, plan_of(t, t->args).to);
	return receiving_new(c->env->loop, c->env->telemetry, c->path, c->local_id, &callbacks,
			     &t->receiving);
}

int receive_component_build(struct component *c, const struct receive_component *kind,
			    const void *args, struct buf *why)
{
	struct taking *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	c->state = t;
	t->c = c;
	t->kind = kind;
	t->args = args;
	int r = receive_component_accepts(c, args, why);
	return r < 0 ? r : make_parts(t);
}

int receive_component_run(struct component *c, struct buf *why)
{
	struct taking *t = c->state;
	int r = t->retry ? 0 : loop_timer_new(c->env->loop, on_retry, t, &t->retry);

	(void)why;
	if (r < 0)
		return r;
	t->running = true;
	if (!t->server)
		try_to_listen(t);
	receive_component_check(c);
	return 0;
}

static void use_args(struct taking *t, const void *args, const struct receive_plan *plan)
{
	t->args = args;
	received_forward_to(t->received, plan->to);
}

static bool is_same_address(const struct receive_plan *a, const struct receive_plan *b)
{
	return strcmp(a->listen, b->listen) == 0;
}

/* Whether a server with the one needs nothing but other certificates to be one with the other. */
static bool is_same_server(const struct receive_plan *a, const struct receive_plan *b)
{
	const struct http_server_options *x = &a->options, *y = &b->options;

	return is_same_address(a, b) && a->max_body_bytes == b->max_body_bytes &&
	       x->max_connections == y->max_connections &&
	       x->max_bodies_bytes == y->max_bodies_bytes &&
	       x->request_timeout_s == y->request_timeout_s &&
	       x->body_timeout_s == y->body_timeout_s && x->idle_timeout_s == y->idle_timeout_s;
}

/* Two servers cannot have one address, so the old one ends first; a new address is tried before. */
static int replace_server(struct taking *t, const void *args, const struct receive_plan *old,
			  const struct receive_plan *plan, struct buf *why)
{
	struct http_server *server = NULL;
	int r = is_same_address(old, plan) ? 0 : open_server(t, plan, why, &server);

	if (r < 0)
		return r;
	use_args(t, args, plan);
	if (server) {
		use_server(t, plan, server);
		return 0;
	}
	http_server_free(TAKE_PTR(t->server));
	try_to_listen(t);
	return 0;
}

int receive_component_update(struct component *c, const void *args, struct buf *why)
{
	struct taking *t = c->state;
	const struct receive_plan old = plan_of(t, t->args), plan = plan_of(t, args);
	int r = 0;

	if (t->server && !is_same_server(&old, &plan))
		r = replace_server(t, args, &old, &plan, why);
	else if (t->server)
		r = secure(&plan, t->server, why);
	if (r < 0)
		return r;
	use_args(t, args, &plan);
	if (t->running && !t->server)
		loop_timer_arm(t->retry, clock_mono_ns());
	receive_component_check(c);
	return 0;
}

void receive_component_stop(struct component *c)
{
	struct taking *t = c->state;

	if (!t)
		return;
	http_server_free(t->server);
	receiving_free(t->receiving);
	received_free(t->received);
	loop_timer_free(t->retry);
	free(t);
	c->state = NULL;
}

int receive_component_debug(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_info)
{
	const struct taking *t = c->state;
	struct receiving_stats s;

	if (!t || !t->server)
		return 0;
	receiving_stats(t->receiving, &s);
	const struct river_member members[] = {
		{ "port", river_value_uint(arena, http_server_port(t->server)) },
		{ "profiles", river_value_uint(arena, s.n_profiles) },
		{ "requests", river_value_uint(arena, s.n_requests) },
		{ "refused_requests", river_value_uint(arena, s.n_refused) },
		{ "waiting_requests", river_value_uint(arena, s.n_waiting) },
		{ "last_refusal",
		  river_value_string(arena, s.last_refusal, strlen(s.last_refusal)) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!members[i].value)
			return -ENOMEM;
	*ret_info = river_value_object(arena, members, ARRAY_SIZE(members));
	return *ret_info ? 0 : -ENOMEM;
}
