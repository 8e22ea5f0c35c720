/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: from the library's callbacks to our handlers, and their answers back. */
#include "agent/http/server_call.h"

#include <errno.h>
#include <string.h>

#include "agent/util/str.h"

struct http_call {
	const struct http_daemon *daemon;
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

/* Where an answer goes, and the headers that a handler has no say in. */
struct reply {
	const struct http_daemon *daemon;
	struct MHD_Connection *connection;
	const char *allow;
	const char *authenticate;
};

/* The library's memory only ends with the connection, so the answer's bytes are moved to it. */
static struct MHD_Response *reply_make_response(struct http_answer *answer)
{
	size_t n = answer->body.len;
	char *bytes = buf_take(&answer->body);
	struct MHD_Response *response =
		bytes ? MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE) : NULL;

	if (!response)
		free(bytes);
	return response;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value && *value)
		(void)MHD_add_response_header(response, name, value);
}

static enum MHD_Result reply_send(const struct reply *reply, struct http_answer *answer)
{
	if (answer->body.failed) {
		buf_reset(&answer->body);
		answer->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		(void)buf_append_str(&answer->body, "the answer is too large\n");
	}
	struct MHD_Response *response = reply_make_response(answer);
	if (!response)
		return MHD_NO;
	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, answer->retry_after);
	add_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
	add_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
	add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->authenticate);
	if (reply->daemon->retired)
		add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	enum MHD_Result r = MHD_queue_response(reply->connection, answer->status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result reply_send_text(const struct reply *reply, unsigned int status,
				       const char *text)
{
	struct http_answer answer = { .status = status,
				      .content_type = "text/plain; charset=utf-8",
				      .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) };

	(void)buf_append_str(&answer.body, text);
	enum MHD_Result r = reply_send(reply, &answer);
	buf_fini(&answer.body);
	return r;
}

static enum MHD_Result call_route(struct http_call *call, const struct http_route *route)
{
	const struct reply reply = { .daemon = call->daemon, .connection = call->connection };
	struct http_answer answer = { .status = MHD_HTTP_OK,
				      .content_type = "text/plain; charset=utf-8",
				      .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) };

	route->fn(call, &answer, route->data);
	enum MHD_Result r = reply_send(&reply, &answer);
	buf_fini(&answer.body);
	return r;
}

static enum MHD_Result call_dispatch(const struct http_server *server, struct http_call *call)
{
	const struct http_route *route =
		route_table_find(&server->routes, call->method, call->path);
	struct reply reply = { .daemon = call->daemon, .connection = call->connection };
	_cleanup_buf_ struct buf allow = BUF_INIT(4096);

	if (route)
		return call_route(call, route);
	(void)route_table_allow(&server->routes, call->path, &allow);
	if (allow.len == 0)
		return reply_send_text(&reply, MHD_HTTP_NOT_FOUND, "not found\n");
	reply.allow = buf_str(&allow);
	return reply_send_text(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n");
}

/* Refused before its bytes arrive, where the length is announced. */
static bool announces_too_much(const struct http_server *server, struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t n;

	return text &&
	       str_parse_u64(str_from(text), 10, server->options.max_body_bytes, &n) == -ERANGE;
}

static bool is_allowed(const struct http_server *server, struct MHD_Connection *connection,
		       const char *url)
{
	return access_allows(&server->access, url,
			     MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_AUTHORIZATION));
}

/* Before the body is read: who may not ask is not listened to. */
static enum MHD_Result begin_call(const struct http_daemon *daemon,
				  struct MHD_Connection *connection, const char *url,
				  void **call_data)
{
	const struct http_server *server = daemon->owner;
	struct reply reply = { .daemon = daemon, .connection = connection };

	/* What it was let in by does not hold any more. */
	if (daemon->retired)
		return MHD_NO;
	if (!is_allowed(server, connection, url)) {
		reply.authenticate = "Basic realm=\"Restricted\"";
		return reply_send_text(&reply, MHD_HTTP_UNAUTHORIZED, "Unauthorized\n");
	}
	if (announces_too_much(server, connection))
		return reply_send_text(&reply, MHD_HTTP_CONTENT_TOO_LARGE, "request too large\n");
	struct http_call *call = calloc(1, sizeof(*call));
	if (!call)
		return MHD_NO;
	call->daemon = daemon;
	call->connection = connection;
	buf_init(&call->body, server->options.max_body_bytes);
	*call_data = call;
	return MHD_YES;
}

/* Called once with the headers, then for each piece of the body, and once more at its end. MHD_NO
 * closes the connection. */
enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **call_data)
{
	struct http_daemon *daemon = data;
	struct http_call *call = *call_data;

	(void)version;
	http_daemon_note_request(daemon, connection);
	if (!call)
		return begin_call(daemon, connection, url, call_data);
	if (*n_upload > 0) {
		int r = buf_append(&call->body, upload, *n_upload);

		*n_upload = 0;
		return r < 0 ? MHD_NO : MHD_YES;
	}
	call->method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	call->path = url;
	return call_dispatch(daemon->owner, call);
}

void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
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
