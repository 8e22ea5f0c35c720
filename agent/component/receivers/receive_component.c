/* SPDX-License-Identifier: Apache-2.0 */
/* Components that take profiles from others. */
#include "agent/component/receivers/receive_component.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http/http_args.h"
#include "agent/component/receivers/receive_door.h"
#include "agent/component/receivers/received.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

#define RETRY_NS (5 * NS_PER_S)

enum { DOOR_HTTP, DOOR_GRPC, DOOR_MAX };

static const struct receive_door_kind *const kinds[] = {
	[DOOR_HTTP] = &receive_door_http,
	[DOOR_GRPC] = &receive_door_grpc,
};

struct door {
	void *server; /* NULL: it is not wanted, does not run, or its address is taken */
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct otlp_auth *
		auth; /* of its arguments: a reference, as it is looked at whenever the server is made anew */
};

struct taking {
	struct component *c;
	const struct receive_component *kind;
	const void *args;
	struct received *received;
	struct receiving *receiving;
	struct door doors[DOOR_MAX];
	struct loop_timer *retry;
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

/* ---- servers ---- */

static struct receive_plan plan_of(const struct taking *t, const void *args)
{
	struct receive_plan plan = { .options = HTTP_SERVER_OPTIONS_INIT,
				     .grpc_options = GRPC_SERVER_OPTIONS_INIT };

	t->kind->plan(args, &plan);
	return plan;
}

static int secure(size_t i, const struct receive_plan *plan, void *server, struct buf *why)
{
	static const struct http_access everybody = { 0 };
	const struct http_tls_args *args = kinds[i]->plan(plan)->tls;
	const struct otlp_auth *auth = kinds[i]->plan(plan)->auth;
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	struct http_server_tls tls;
	int r = args ? http_args_tls(args, &texts, &tls, why) : 0;

	return r < 0 ? r
		     : kinds[i]->secure(server, auth ? &auth->access : &everybody,
					args ? &tls : NULL, why);
}

static int open_door(const struct taking *t, size_t i, const struct receive_plan *plan,
		     struct buf *why, void **ret_server)
{
	void *server = NULL;
	int r = kinds[i]->open(t->c, t->receiving, t->kind, plan, why, &server);

	r = r < 0 ? r : secure(i, plan, server, why);
	if (r < 0)
		kinds[i]->close(server);
	else
		*ret_server = server;
	return r;
}

static void use_server(struct taking *t, size_t i, const struct receive_plan *plan, void *server)
{
	kinds[i]->close(t->doors[i].server);
	t->doors[i].server = server;
	*t->doors[i].error = '\0';
	log_info_always("receiving profiles", LOG_STR("component_id", t->c->id),
			LOG_STR("protocol", kinds[i]->protocol),
			LOG_STR("address", kinds[i]->plan(plan)->listen),
			LOG_UINT("port", kinds[i]->port(server)));
}

/* A place that stays taken is said once. */
static void note_failure(struct taking *t, size_t i, const char *reason)
{
	struct door *door = &t->doors[i];

	if (!*door->error)
		log_error("no profiles are received", LOG_STR("component_id", t->c->id),
			  LOG_STR("protocol", kinds[i]->protocol), LOG_STR("reason", reason));
	(void)snprintf(door->error, sizeof(door->error), "%s", reason);
	loop_timer_arm(t->retry, clock_mono_ns() + RETRY_NS);
}

/* Of the servers that are wanted, those that are not there. */
static void try_to_listen(struct taking *t)
{
	const struct receive_plan plan = plan_of(t, t->args);

	for (size_t i = 0; i < DOOR_MAX; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
		void *server = NULL;

		if (!kinds[i]->plan(&plan) || t->doors[i].server)
			continue;
		int r = open_door(t, i, &plan, &why, &server);
		if (r == 0)
			use_server(t, i, &plan, server);
		else
			note_failure(t, i, why.len ? buf_str(&why) : strerrordesc_np(-r));
	}
}

static void on_retry(void *data)
{
	try_to_listen(data);
}

static void close_door(struct taking *t, size_t i)
{
	kinds[i]->close(t->doors[i].server);
	t->doors[i].server = NULL;
	*t->doors[i].error = '\0';
}

/* ---- the component ---- */

static bool is_open(const struct taking *t)
{
	bool open = false;

	for (size_t i = 0; i < DOOR_MAX; i++)
		open |= t->doors[i].server && kinds[i]->is_open(t->doors[i].server);
	return open;
}

static void put_facts(const struct taking *t, const struct receiving_stats *s, struct buf *out)
{
	(void)buf_printf(out, "%" PRIu64 " profiles of %" PRIu64 " requests taken", s->n_profiles,
			 s->n_requests - s->n_refused);
	if (s->n_refused)
		(void)buf_printf(out, "; %" PRIu64 " refused, the last: %s", s->n_refused,
				 s->last_refusal);
	if (is_open(t))
		(void)buf_append_str(out, "; everybody who reaches its address may send some");
}

/* Of the servers that are wanted, the one that is not there. */
static const struct door *missing_door(const struct taking *t)
{
	const struct receive_plan plan = plan_of(t, t->args);

	for (size_t i = 0; i < DOOR_MAX; i++)
		if (kinds[i]->plan(&plan) && !t->doors[i].server)
			return &t->doors[i];
	return NULL;
}

void receive_component_check(struct component *c)
{
	const struct taking *t = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(2 * COMPONENT_MESSAGE_MAX);
	struct receiving_stats stats;

	if (!t->running)
		return;
	const struct door *missing = missing_door(t);
	if (missing) {
		component_set_health(c, HEALTH_UNHEALTHY, missing->error);
		return;
	}
	receiving_stats(t->receiving, &stats);
	put_facts(t, &stats, &text);
	component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

static int accepts_tls(const struct http_tls_args *args, struct buf *why)
{
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	struct http_server_tls tls;
	int r = http_args_tls(args, &texts, &tls, why);

	return r < 0 ? r : http_server_check_tls(&tls, why);
}

/* Certificates are tried here, so that a load with a wrong one is refused as a whole. */
int receive_component_accepts(struct component *c, const void *args, struct buf *why)
{
	const struct receive_plan plan = plan_of(c->state, args);
	int r = 0;

	for (size_t i = 0; i < DOOR_MAX && r == 0; i++) {
		const struct receive_door_plan *door = kinds[i]->plan(&plan);

		if (door && door->tls)
			r = accepts_tls(door->tls, why);
	}
	return r;
}

static void hold_auth(struct taking *t, const struct receive_plan *plan)
{
	for (size_t i = 0; i < DOOR_MAX; i++) {
		const struct receive_door_plan *door = kinds[i]->plan(plan);
		struct otlp_auth *before = t->doors[i].auth;

		t->doors[i].auth = otlp_auth_ref(door ? door->auth : NULL);
		otlp_auth_unref(before);
	}
}

static int make_parts(struct taking *t)
{
	const struct component *c = t->c;
	const struct receiving_callbacks callbacks = { has_room, may_relay, deliver, t };
	const struct receive_plan plan = plan_of(t, t->args);
	int r = received_new(c, &t->received);

	if (r < 0)
		return r;
	hold_auth(t, &plan);
	received_forward_to(t->received, plan.to);
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
	try_to_listen(t);
	receive_component_check(c);
	return 0;
}

static void use_args(struct taking *t, const void *args, const struct receive_plan *plan)
{
	t->args = args;
	hold_auth(t, plan);
	received_forward_to(t->received, plan->to);
}

static bool is_same_address(size_t i, const struct receive_plan *a, const struct receive_plan *b)
{
	return strcmp(kinds[i]->plan(a)->listen, kinds[i]->plan(b)->listen) == 0;
}

/* A server that is there, stays wanted and gets another address. */
static bool moves(const struct taking *t, size_t i, const struct receive_plan *old,
		  const struct receive_plan *plan)
{
	return t->running && kinds[i]->plan(plan) &&
	       (!kinds[i]->plan(old) || (t->doors[i].server && !is_same_address(i, old, plan)));
}

static void drop_servers(void *const *servers)
{
	for (size_t i = 0; i < DOOR_MAX; i++)
		kinds[i]->close(servers[i]);
}

/* What may fail, before anything changes: addresses that are new, and certificates. */
static int prepare(struct taking *t, const struct receive_plan *old,
		   const struct receive_plan *plan, struct buf *why, void **servers)
{
	int r = 0;

	for (size_t i = 0; i < DOOR_MAX && r == 0; i++)
		if (moves(t, i, old, plan))
			r = open_door(t, i, plan, why, &servers[i]);
	for (size_t i = 0; i < DOOR_MAX && r == 0; i++)
		if (t->doors[i].server && !servers[i] && kinds[i]->plan(plan) &&
		    kinds[i]->is_same(old, plan))
			r = secure(i, plan, t->doors[i].server, why);
	return r;
}

/* Two servers cannot have one address, so an old one with other limits ends before the new one begins. */
static void change_door(struct taking *t, size_t i, const struct receive_plan *old,
			const struct receive_plan *plan, void *server)
{
	if (server)
		use_server(t, i, plan, server);
	else if (!kinds[i]->plan(plan) || !kinds[i]->plan(old) || !kinds[i]->is_same(old, plan))
		close_door(t, i);
}

int receive_component_update(struct component *c, const void *args, struct buf *why)
{
	struct taking *t = c->state;
	const struct receive_plan old = plan_of(t, t->args), plan = plan_of(t, args);
	void *servers[DOOR_MAX] = { NULL };
	int r = prepare(t, &old, &plan, why, servers);

	if (r < 0) {
		drop_servers(servers);
		return r;
	}
	use_args(t, args, &plan);
	for (size_t i = 0; i < DOOR_MAX; i++)
		change_door(t, i, &old, &plan, servers[i]);
	if (t->running)
		try_to_listen(t);
	receive_component_check(c);
	return 0;
}

void receive_component_stop(struct component *c)
{
	struct taking *t = c->state;

	if (!t)
		return;
	for (size_t i = 0; i < DOOR_MAX; i++) {
		close_door(t, i);
		otlp_auth_unref(t->doors[i].auth);
	}
	receiving_free(t->receiving);
	received_free(t->received);
	loop_timer_free(t->retry);
	free(t);
	c->state = NULL;
}

/* 0: there is no such server. */
static uint16_t port_of(const struct taking *t, size_t i)
{
	const void *server = t->doors[i].server;

	return server ? kinds[i]->port(server) : 0;
}

int receive_component_debug(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_info)
{
	const struct taking *t = c->state;
	struct receiving_stats s;

	if (!t || !(t->doors[DOOR_HTTP].server || t->doors[DOOR_GRPC].server))
		return 0;
	receiving_stats(t->receiving, &s);
	const struct river_member members[] = {
		{ "port", river_value_uint(arena, port_of(t, DOOR_HTTP)) },
		{ "grpc_port", river_value_uint(arena, port_of(t, DOOR_GRPC)) },
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
