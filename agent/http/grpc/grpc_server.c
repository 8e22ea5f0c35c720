/* SPDX-License-Identifier: Apache-2.0 */
/* The server: its address and its connections. */
#include "agent/http/grpc/grpc_server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/http/grpc/grpc_link.h"
#include "agent/http/listen.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* How often deadlines are looked at. */
#define LOOK_NS NS_PER_S
#define ACCEPTS_A_TURN 16
/* Calls that are late end by themselves; this much later their connection does. */
#define LATE_NS (10 * NS_PER_S)
/* Who waits for an answer is never ended for another one; as many may do so as calls can wait, and no more. */
#define WAITING_CONNECTIONS 256
/* Of a connection with certificates that are no longer used. */
#define SECURED_NS (5 * NS_PER_S)

/* ---- connections ---- */

static bool accept_one(struct grpc_server *s)
{
	union listen_address address;
	socklen_t n = sizeof(address);
	int fd = accept4(s->fd, &address.any, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* Until there are descriptors again; else the loop would turn for nothing. */
		s->deaf = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
		return errno == ECONNABORTED || errno == EINTR;
	}
	if (s->n_links < (size_t)s->options.max_connections + WAITING_CONNECTIONS)
		grpc_link_open(s, fd, &address.any);
	else
		(void)close(fd);
	return true;
}

static void on_accept(uint32_t events, void *data)
{
	struct grpc_server *s = data;
	int n = 0;

	(void)events;
	while (n++ < ACCEPTS_A_TURN && accept_one(s))
		;
	if (s->deaf)
		(void)loop_io_set_events(s->io, 0);
}

static void on_timer(void *data)
{
	struct grpc_server *s = data;
	uint64_t now_ns = clock_mono_ns();

	if (s->deaf) {
		s->deaf = false;
		(void)loop_io_set_events(s->io, EPOLLIN);
	}
	LIST_FOREACH (&s->links, at)
		grpc_link_look(LIST_ENTRY(at, struct grpc_link, node), now_ns);
	loop_timer_arm(s->timer, now_ns + LOOK_NS);
}

/* ---- its life ---- */

static int listen_at(struct grpc_server *s, const char *text, char *error)
{
	union listen_address address;

	if (!listen_parse(str_from(text), &address)) {
		(void)snprintf(
			error, HTTP_SERVER_MAX_ERROR_BYTES,
			"cannot listen on %s: not an address and a port, such as 127.0.0.1:4317",
			text);
		return -EINVAL;
	}
	s->loopback = listen_is_loopback(&address);
	s->fd = listen_open(&address, &s->port);
	if (s->fd < 0)
		(void)snprintf(error, HTTP_SERVER_MAX_ERROR_BYTES, "cannot listen on %s: %s", text,
			       strerrordesc_np(-s->fd));
	return s->fd;
}

static int init_limits(struct grpc_server *s)
{
	const struct connections_options connections = {
		.max = s->options.max_connections,
		.request_ns = s->options.request_timeout_s * NS_PER_S,
		.idle_ns = UINT64_MAX, /* max_idle_ns says good-bye first */
		.body_ns = s->options.body_timeout_s * NS_PER_S + LATE_NS,
	};

	s->bodies.max = s->options.max_bodies_bytes;
	http_counts_init(&s->counts, s->options.telemetry);
	return connections_init(&s->connections, s->loop, &connections, &s->counts);
}

static int start(struct grpc_server *s)
{
	int r = grpc_session_callbacks(&s->callbacks);

	r = r < 0 ? r : loop_timer_new(s->loop, on_timer, s, &s->timer);
	r = r < 0 ? r : loop_io_new(s->loop, s->fd, EPOLLIN, on_accept, s, &s->io);
	if (r == 0)
		loop_timer_arm(s->timer, clock_mono_ns() + LOOK_NS);
	return r;
}

int grpc_server_new(struct loop *loop, const struct grpc_server_options *options,
		    const struct grpc_service *service, struct grpc_server **ret_server,
		    char *error)
{
	_cleanup_(grpc_server_freep) struct grpc_server *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->loop = loop;
	s->options = *options;
	s->options.listen = NULL;
	s->service = *service;
	s->fd = -1;
	list_init(&s->links);
	list_init(&s->calls);
	int r = init_limits(s);
	if (r < 0)
		return r;
	if (listen_at(s, options->listen, error) < 0)
		return HTTP_LISTEN_REFUSED;
	r = start(s);
	if (r < 0)
		return r;
	*ret_server = TAKE_PTR(s);
	return HTTP_LISTENING;
}

void grpc_server_free(struct grpc_server *s)
{
	if (!s)
		return;
	LIST_FOREACH (&s->links, at)
		grpc_link_free(LIST_ENTRY(at, struct grpc_link, node));
	LIST_FOREACH (&s->calls, at) {
		struct grpc_call *call = LIST_ENTRY(at, struct grpc_call, node);

		call->server = NULL;
		list_remove(&call->node);
	}
	loop_io_free(s->io);
	loop_timer_free(s->timer);
	connections_fini(&s->connections);
	nghttp2_session_callbacks_del(s->callbacks);
	grpc_tls_unref(s->tls);
	access_fini(&s->access);
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s);
}

uint16_t grpc_server_port(const struct grpc_server *s)
{
	return s->port;
}

size_t grpc_server_n_connections(const struct grpc_server *s)
{
	return s->n_links;
}

static void use_tls(struct grpc_server *s, struct grpc_tls *tls)
{
	uint64_t now_ns = clock_mono_ns();

	grpc_tls_unref(s->tls);
	s->tls = tls;
	LIST_FOREACH (&s->links, at) {
		struct grpc_link *l = LIST_ENTRY(at, struct grpc_link, node);

		grpc_link_close(l, now_ns, SECURED_NS);
		grpc_link_flush(l);
	}
}

int grpc_server_secure(struct grpc_server *s, const struct http_access *access,
		       const struct http_server_tls *options, struct buf *why)
{
	_cleanup_(grpc_tls_unrefp) struct grpc_tls *tls = NULL;
	struct access of_calls;
	int r = options ? grpc_tls_new(options, why, &tls) : 0;

	r = r < 0 ? r : access_init(&of_calls, access);
	if (r < 0)
		return r;
	access_fini(&s->access);
	s->access = of_calls;
	if (!grpc_tls_equal(tls, s->tls))
		use_tls(s, TAKE_PTR(tls));
	return 0;
}

bool grpc_server_is_open(const struct grpc_server *s)
{
	return !s->loopback && !s->access.wanted && !grpc_tls_wants_certificate(s->tls);
}
