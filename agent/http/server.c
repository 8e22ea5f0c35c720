/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd in our loop.
 *
 * The library keeps its own epoll descriptor, which our loop watches; whenever it is readable, or
 * the library's own timeout is due, we let it run. We open the listening socket ourselves, so that
 * the reason of a failure is known.
 */
#include "agent/http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>

#include "agent/http/listen.h"
#include "agent/http/route.h"
#include "agent/util/clock.h"

struct http_server {
	struct MHD_Daemon *daemon; /* owns the listening socket */
	struct loop *loop;
	struct loop_io *io;
	struct loop_timer *timer;
	struct route_table routes;
	size_t max_body_bytes;
	uint16_t port;
	bool running; /* inside of MHD_run */
	bool paused;  /* its descriptor is not watched */
};

struct http_call {
	struct MHD_Connection *connection;
	const char *method;
	const char *path;
	struct buf body;
};

const char *http_call_method(const struct http_call *call)
{
	return call->method;
}

const char *http_call_path(const struct http_call *call)
{
	return call->path;
}

const char *http_call_query(const struct http_call *call, const char *name)
{
	return MHD_lookup_connection_value(call->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_call_header(const struct http_call *call, const char *name)
{
	return MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, name);
}

const void *http_call_body(const struct http_call *call, size_t *ret_n)
{
	*ret_n = call->body.len;
	return buf_str(&call->body);
}

/* The library's memory only ends with the connection, so the answer's bytes are moved to it. */
static struct MHD_Response *server_make_response(struct http_answer *answer)
{
	size_t n = answer->body.len;
	char *bytes = buf_take(&answer->body);
	struct MHD_Response *response =
		bytes ? MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE) : NULL;

	if (!response)
		free(bytes);
	return response;
}

static void server_add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value && *value)
		(void)MHD_add_response_header(response, name, value);
}

static enum MHD_Result server_send(struct MHD_Connection *connection, struct http_answer *answer,
				   const char *allow)
{
	if (answer->body.failed) {
		buf_reset(&answer->body);
		answer->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		(void)buf_append_str(&answer->body, "the answer is too large\n");
	}
	struct MHD_Response *response = server_make_response(answer);
	if (!response)
		return MHD_NO;
	server_add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	server_add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, answer->retry_after);
	server_add_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
	server_add_header(response, MHD_HTTP_HEADER_ALLOW, allow);
	enum MHD_Result r = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result server_send_text(struct MHD_Connection *connection, unsigned int status,
					const char *text, const char *allow)
{
	struct http_answer answer = { .status = status,
				      .content_type = "text/plain; charset=utf-8",
				      .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) };

	(void)buf_append_str(&answer.body, text);
	enum MHD_Result r = server_send(connection, &answer, allow);
	buf_fini(&answer.body);
	return r;
}

static enum MHD_Result server_call_route(struct http_call *call, const struct http_route *route)
{
	struct http_answer answer = { .status = MHD_HTTP_OK,
				      .content_type = "text/plain; charset=utf-8",
				      .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) };

	route->fn(call, &answer, route->data);
	enum MHD_Result r = server_send(call->connection, &answer, NULL);
	buf_fini(&answer.body);
	return r;
}

static enum MHD_Result server_dispatch(struct http_server *server, struct http_call *call)
{
	const struct http_route *route =
		route_table_find(&server->routes, call->method, call->path);
	_cleanup_buf_ struct buf allow = BUF_INIT(4096);

	if (route)
		return server_call_route(call, route);
	(void)route_table_allow(&server->routes, call->path, &allow);
	if (allow.len == 0)
		return server_send_text(call->connection, MHD_HTTP_NOT_FOUND, "not found\n", NULL);
	return server_send_text(call->connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				"method not allowed\n", buf_str(&allow));
}

/* Refused before its bytes arrive, where the length is announced. */
static bool server_announces_too_much(const struct http_server *server,
				      struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t n;

	return text && str_parse_u64(str_from(text), 10, server->max_body_bytes, &n) == -ERANGE;
}

static enum MHD_Result server_begin_call(struct http_server *server,
					 struct MHD_Connection *connection, void **call_data)
{
	if (server_announces_too_much(server, connection))
		return server_send_text(connection, MHD_HTTP_CONTENT_TOO_LARGE,
					"request too large\n", NULL);
	struct http_call *call = calloc(1, sizeof(*call));
	if (!call)
		return MHD_NO;
	call->connection = connection;
	buf_init(&call->body, server->max_body_bytes);
	*call_data = call;
	return MHD_YES;
}

/* Called once with the headers, then for each piece of the body, and once more at its end. MHD_NO
 * closes the connection. */
static enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection,
					 const char *url, const char *method, const char *version,
					 const char *upload, size_t *n_upload, void **call_data)
{
	struct http_server *server = data;
	struct http_call *call = *call_data;

	(void)version;
	if (!call)
		return server_begin_call(server, connection, call_data);
	if (*n_upload > 0) {
		int r = buf_append(&call->body, upload, *n_upload);

		*n_upload = 0;
		return r < 0 ? MHD_NO : MHD_YES;
	}
	call->method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	call->path = url;
	return server_dispatch(server, call);
}

static void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
				enum MHD_RequestTerminationCode why)
{
	struct http_call *call = *call_data;

	(void)data;
	(void)connection;
	(void)why;
	if (!call)
		return;
	buf_fini(&call->body);
	free(call);
	*call_data = NULL;
}

static unsigned int server_n_connections(struct http_server *server)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/*
 * At its connection limit the library stops watching the listening socket, and watches it again
 * only at the beginning of the run after the one in which a connection ended. Nobody else would
 * cause that run, so we do.
 */
static void server_run_daemon(struct http_server *server)
{
	unsigned int n_before, n_after;

	server->running = true;
	do {
		n_before = server_n_connections(server);
		(void)MHD_run(server->daemon);
		n_after = server_n_connections(server);
	} while (n_after < n_before);
	server->running = false;
}

/* A handler that runs the loop gets here again, which the library does not bear: what comes in then
 * waits until the handler is done. */
static void server_pause(struct http_server *server)
{
	server->paused = true;
	(void)loop_io_set_events(server->io, 0);
}

static void server_run(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	if (server->running) {
		server_pause(server);
		return;
	}
	server_run_daemon(server);
	if (server->paused) {
		server->paused = false;
		(void)loop_io_set_events(server->io, EPOLLIN);
	}
	if (MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES)
		loop_timer_arm(server->timer, clock_mono_ns() + timeout_ms * NS_PER_MS);
	else
		loop_timer_disarm(server->timer);
}

static void server_on_io(uint32_t events, void *data)
{
	(void)events;
	server_run(data);
}

static void server_on_timer(void *data)
{
	server_run(data);
}

static int server_start_daemon(struct http_server *server, const struct http_server_options *o,
			       int fd)
{
	server->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, server_on_request, server,
					  MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
					  o->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					  o->max_header_bytes, MHD_OPTION_CONNECTION_TIMEOUT,
					  o->idle_timeout_s, MHD_OPTION_NOTIFY_COMPLETED,
					  server_on_completed, NULL, MHD_OPTION_END);
	return server->daemon ? 0 : -ENOMEM;
}

static int server_attach(struct http_server *server)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	if (!info || info->epoll_fd < 0)
		return -ENOTSUP;
	int r = loop_timer_new(server->loop, server_on_timer, server, &server->timer);
	if (r < 0)
		return r;
	return loop_io_new(server->loop, info->epoll_fd, EPOLLIN, server_on_io, server,
			   &server->io);
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
	int fd = listen_open(&address, &server->port);
	if (fd < 0)
		(void)snprintf(error, HTTP_SERVER_MAX_ERROR_BYTES, "cannot listen on %s: %s", text,
			       strerrordesc_np(-fd));
	return fd;
}

int http_server_new(struct loop *loop, const struct http_server_options *options,
		    struct http_server **ret_server, char *error)
{
	_cleanup_(http_server_freep) struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return -ENOMEM;
	server->loop = loop;
	server->max_body_bytes = options->max_body_bytes;
	_cleanup_close_ int fd = server_listen(server, options->listen, error);
	if (fd < 0)
		return HTTP_LISTEN_REFUSED;
	/* The library closes it, on some of its failures too: better a descriptor lost there than
	 * one closed twice. */
	int r = server_start_daemon(server, options, TAKE_FD(fd));
	if (r < 0)
		return r;
	r = server_attach(server);
	if (r < 0)
		return r;
	*ret_server = TAKE_PTR(server);
	return HTTP_LISTENING;
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	loop_io_free(server->io);
	loop_timer_free(server->timer);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	route_table_fini(&server->routes);
	free(server);
}

int http_server_add_route(struct http_server *server, const struct http_route *route)
{
	return route_table_add(&server->routes, route);
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
