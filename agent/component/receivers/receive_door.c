/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of components that take profiles. */
#include "agent/component/receivers/receive_door.h"

#include <errno.h>

/* What a failure to listen is for the component. */
static int refused(struct buf *why, const char *error)
{
	(void)buf_append_str(why, error);
	return -EADDRINUSE;
}

/* ---- HTTP ---- */

static const struct receive_door_plan *http_plan(const struct receive_plan *plan)
{
	return plan->http.wanted ? &plan->http : NULL;
}

static int http_open(const struct component *c, struct receiving *r,
		     const struct receive_component *kind, const struct receive_plan *plan,
		     struct buf *why, void **ret_server)
{
	_cleanup_(http_server_freep) struct http_server *server = NULL;
	struct http_server_options o = plan->options;
	char error[HTTP_SERVER_MAX_ERROR_BYTES] = "";

	o.listen = plan->http.listen;
	o.telemetry = c->env->telemetry;
	int e = http_server_new(c->env->loop, &o, &server, error);
	if (e == HTTP_LISTEN_REFUSED)
		return refused(why, error);
	e = e < 0 ? e : kind->add_routes(r, plan, server);
	if (e == 0)
		*ret_server = TAKE_PTR(server);
	return e;
}

static void http_close(void *server)
{
	http_server_free(server);
}

static int http_secure(void *server, const struct http_access *access,
		       const struct http_server_tls *tls, struct buf *why)
{
	return http_server_secure(server, access, tls, why);
}

static bool http_is_same(const struct receive_plan *a, const struct receive_plan *b)
{
	const struct http_server_options *x = &a->options, *y = &b->options;

	return a->http.max_bytes == b->http.max_bytes && x->max_connections == y->max_connections &&
	       x->max_bodies_bytes == y->max_bodies_bytes &&
	       x->request_timeout_s == y->request_timeout_s &&
	       x->body_timeout_s == y->body_timeout_s && x->idle_timeout_s == y->idle_timeout_s;
}

static uint16_t http_port(const void *server)
{
	return http_server_port(server);
}

static bool http_is_open(const void *server)
{
	return http_server_is_open(server);
}

const struct receive_door_kind receive_door_http = { "http",	 http_plan,   http_open,
						     http_close, http_secure, http_is_same,
						     http_port,	 http_is_open };

/* ---- gRPC ---- */

static const struct receive_door_plan *grpc_plan(const struct receive_plan *plan)
{
	return plan->grpc.wanted ? &plan->grpc : NULL;
}

static int grpc_open(const struct component *c, struct receiving *r,
		     const struct receive_component *kind, const struct receive_plan *plan,
		     struct buf *why, void **ret_server)
{
	const struct grpc_service service = receiving_grpc_service(r, plan->grpc.max_bytes);
	struct grpc_server_options o = plan->grpc_options;
	char error[HTTP_SERVER_MAX_ERROR_BYTES] = "";
	struct grpc_server *server = NULL;

	(void)kind;
	o.listen = plan->grpc.listen;
	o.telemetry = c->env->telemetry;
	int e = grpc_server_new(c->env->loop, &o, &service, &server, error);
	if (e == HTTP_LISTEN_REFUSED)
		return refused(why, error);
	*ret_server = server;
	return e;
}

static void grpc_close(void *server)
{
	grpc_server_free(server);
}

static int grpc_secure(void *server, const struct http_access *access,
		       const struct http_server_tls *tls, struct buf *why)
{
	return grpc_server_secure(server, access, tls, why);
}

static bool grpc_is_same(const struct receive_plan *a, const struct receive_plan *b)
{
	const struct grpc_server_options *x = &a->grpc_options, *y = &b->grpc_options;

	return a->grpc.max_bytes == b->grpc.max_bytes && x->max_streams == y->max_streams &&
	       x->max_message_bytes == y->max_message_bytes &&
	       x->max_bodies_bytes == y->max_bodies_bytes && x->ping_ns == y->ping_ns &&
	       x->pong_ns == y->pong_ns && x->max_idle_ns == y->max_idle_ns &&
	       x->max_age_ns == y->max_age_ns && x->age_grace_ns == y->age_grace_ns;
}

static uint16_t grpc_port(const void *server)
{
	return grpc_server_port(server);
}

static bool grpc_is_open(const void *server)
{
	return grpc_server_is_open(server);
}

const struct receive_door_kind receive_door_grpc = { "grpc",	 grpc_plan,   grpc_open,
						     grpc_close, grpc_secure, grpc_is_same,
						     grpc_port,	 grpc_is_open };
