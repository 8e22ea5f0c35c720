/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: its address, its routes, and what protects them.
 *
 * We open the listening socket ourselves, so that the reason of a failure is known, and keep it: libmicrohttpd takes TLS only at its
 * start, so other TLS means another daemon, which gets a copy of the same socket before the old one stops taking from it.
 */
#include "agent/http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/http/host_names.h"
#include "agent/http/listen.h"
#include "agent/http/server_call.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"

/* For an answer to be read: time for a slow start, and a rate that any network between hosts has. */
#define ANSWER_NS (30 * NS_PER_S)
#define ANSWER_BYTES_PER_S ((size_t)32 << 10)
/* Connections of a daemon that was replaced; the answer under way is sent at once, the rest is idle. */
#define RETIRED_NS (5 * NS_PER_S)

static int start_daemon(struct http_server *server, struct server_tls *tls,
			struct http_daemon **ret_daemon)
{
	const struct daemon_options options = {
		.server = &server->options,
		.request = server_on_request,
		.completed = server_on_completed,
		.owner = server,
		.connections = &server->connections,
	};

	return http_daemon_new(server->loop, &options, server->fd, tls, ret_daemon);
}

static int server_listen(struct http_server *server, const char *text, char *error)
{
	union listen_address address;

	if (!listen_parse(str_from(text), &address)) {
		(void)snprintf(
			error, HTTP_SERVER_MAX_ERROR_BYTES,
			"cannot listen on %s: not an address and a port, such as 127.0.0.1:12345",
			text);
		return -EINVAL;
	}
	server->loopback = listen_is_loopback(&address);
	server->fd = listen_open(&address, &server->port);
	if (server->fd < 0)
		(void)snprintf(error, HTTP_SERVER_MAX_ERROR_BYTES, "cannot listen on %s: %s", text,
			       strerrordesc_np(-server->fd));
	return server->fd;
}

static int copy_prefix(struct http_server *server, const char *prefix)
{
	size_t n = prefix ? strlen(prefix) : 0;

	while (n > 0 && prefix[n - 1] == '/')
		n--;
	server->prefix = strndup(n > 0 ? prefix : "", n);
	server->options.prefix = NULL;
	return server->prefix ? 0 : -ENOMEM;
}

const char *http_hosts_problem(const char *allowed_hosts)
{
	struct str rest = str_from(allowed_hosts);
	struct str name;

	while (str_split(&rest, ',', &name))
		if (!guard_is_name(str_trim(name)))
			return "host names are wanted, without ports, such as "
			       "agent.example,localhost";
	return NULL;
}

static int add_allowed(struct guard *g, const char *allowed_hosts)
{
	struct str rest = str_from(allowed_hosts);
	struct str name;
	int r = 0;

	while (r == 0 && str_split(&rest, ',', &name))
		r = guard_add_name(g, str_trim(name), true);
	return r;
}

static int init_guard(struct http_server *server, const struct http_server_options *o)
{
	_cleanup_buf_ struct buf hosts = BUF_INIT(HOST_NAMES_MAX_BYTES);
	int r = add_allowed(&server->guard, o->allowed_hosts);

	if (r < 0 || !o->hostname)
		return r;
	if (o->hosts_path)
		(void)file_read(AT_FDCWD, o->hosts_path, &hosts);
	return host_names_add(&server->guard, o->hostname,
			      (struct str){ buf_str(&hosts), hosts.len });
}

static int init_limits(struct http_server *server, const struct http_server_options *o)
{
	const struct connections_options connections = {
		.max = o->max_connections,
		.request_ns = o->request_timeout_s * NS_PER_S,
		.idle_ns = o->idle_timeout_s * NS_PER_S,
		.body_ns = o->body_timeout_s * NS_PER_S,
		.answer_ns = ANSWER_NS,
		.answer_bytes_per_s = ANSWER_BYTES_PER_S,
	};

	server->bodies.max = o->max_bodies_bytes;
	server->answers.max = o->max_answers_bytes;
	http_counts_init(&server->counts, o->telemetry);
	return connections_init(&server->connections, server->loop, &connections, &server->counts);
}

int http_server_new(struct loop *loop, const struct http_server_options *options,
		    struct http_server **ret_server, char *error)
{
	_cleanup_(http_server_freep) struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return -ENOMEM;
	server->loop = loop;
	server->options = *options;
	server->options.listen = NULL;
	server->fd = -1;
	list_init(&server->retired);
	int r = copy_prefix(server, options->prefix);
	if (r == 0)
		r = init_guard(server, options);
	if (r == 0)
		r = init_limits(server, options);
	if (r < 0)
		return r;
	if (server_listen(server, options->listen, error) < 0)
		return HTTP_LISTEN_REFUSED;
	r = start_daemon(server, NULL, &server->daemon);
	if (r < 0)
		return r;
	*ret_server = TAKE_PTR(server);
	return HTTP_LISTENING;
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	http_daemon_free(server->daemon);
	LIST_FOREACH (&server->retired, at)
		http_daemon_free(LIST_ENTRY(at, struct http_daemon, node));
	if (server->fd >= 0)
		(void)close(server->fd);
	connections_fini(&server->connections);
	guard_fini(&server->guard);
	access_fini(&server->access);
	route_table_fini(&server->routes);
	free(server->prefix);
	free(server);
}

int http_server_add_route(struct http_server *server, const struct http_route *route)
{
	return route_table_add(&server->routes, route);
}

int http_server_add_routes(struct http_server *server, const struct http_route *routes, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = http_server_add_route(server, &routes[i]);
	return r;
}

void http_server_remove_route(struct http_server *server, const char *method, const char *path,
			      bool prefix)
{
	route_table_remove(&server->routes, method, path, prefix);
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->port;
}

/* The old daemon may be in the middle of the request that asked for this. */
static int replace_daemon(struct http_server *server, struct server_tls *tls)
{
	struct http_daemon *daemon;
	int r = start_daemon(server, tls, &daemon);

	if (r < 0)
		return r;
	list_push_back(&server->retired, &server->daemon->node);
	http_daemon_retire(server->daemon, clock_mono_ns() + RETIRED_NS);
	server->daemon = daemon;
	return 0;
}

static int secure_connections(struct http_server *server, const struct http_server_tls *o,
			      struct buf *why)
{
	_cleanup_(server_tls_freep) struct server_tls *tls = NULL;
	int r = o ? server_tls_new(o, why, &tls) : 0;

	if (r < 0 || server_tls_equal(tls, server->daemon->tls))
		return r;
	r = replace_daemon(server, tls);
	if (r == 0)
		tls = NULL;
	else
		(void)buf_append_str(why, "the HTTP server cannot be started with this TLS");
	return r;
}

int http_server_secure(struct http_server *server, const struct http_access *options,
		       const struct http_server_tls *tls, struct buf *why)
{
	struct access access;
	int r = access_init(&access, options);

	if (r < 0)
		return r;
	r = secure_connections(server, tls, why);
	if (r < 0) {
		access_fini(&access);
		return r;
	}
	access_fini(&server->access);
	server->access = access;
	return 0;
}

int http_server_check_tls(const struct http_server_tls *options, struct buf *why)
{
	_cleanup_(server_tls_freep) struct server_tls *tls = NULL;

	return server_tls_new(options, why, &tls);
}

bool http_server_is_open(const struct http_server *server)
{
	return !server->loopback && !server->access.wanted &&
	       !server_tls_wants_certificate(server->daemon->tls);
}
