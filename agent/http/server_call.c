/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: from the library's callbacks to our handlers, and their answers back. */
#include "agent/http/server_call.h"

#include <errno.h>
#include <string.h>

#include "agent/http/reply.h"
#include "agent/util/str.h"

/* From its headers to the end of its answer. */
struct server_request {
	struct http_daemon *daemon;
	struct MHD_Connection *connection;
	struct buf body;
	struct daemon_wait wait;
	struct http_later *later; /* somebody owes an answer; NULL: nobody */
	struct MHD_Response
		*response; /* the one that came later; NULL: there was no memory for it */
	unsigned int status;
	bool taken;    /* it is answered later, or was */
	bool answered; /* and the answer has come */
};

struct http_call {
	struct server_request *request;
	const char *method;
	const char *path;
};

struct http_later {
	struct server_request *request; /* NULL: has ended without an answer */
	struct http_answer answer;
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
	return MHD_lookup_connection_value(call->request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_call_header(const struct http_call *call, const char *name)
{
	return MHD_lookup_connection_value(call->request->connection, MHD_HEADER_KIND, name);
}

const void *http_call_body(const struct http_call *call, size_t *ret_n)
{
	*ret_n = call->request->body.len;
	return buf_str(&call->request->body);
}

int http_call_later(const struct http_call *call, struct http_later **ret_later)
{
	struct server_request *request = call->request;

	if (request->taken)
		return -EALREADY;
	struct http_later *later = calloc(1, sizeof(*later));
	if (!later)
		return -ENOMEM;
	*later = (struct http_later){ .request = request, .answer = ANSWER_INIT };
	request->later = later;
	request->taken = true;
	*ret_later = later;
	return 0;
}

struct http_answer *http_later_answer(struct http_later *later)
{
	return &later->answer;
}

bool http_later_is_awaited(const struct http_later *later)
{
	return later->request != NULL;
}

static void request_answer(struct server_request *request, struct http_answer *answer)
{
	const struct reply reply = { .daemon = request->daemon, .connection = request->connection };

	request->later = NULL;
	request->answered = true;
	request->response = reply_make(&reply, answer);
	request->status = answer->status;
	http_daemon_resume(request->daemon, &request->wait);
}

void http_later_send(struct http_later *later)
{
	if (!later)
		return;
	if (later->request)
		request_answer(later->request, &later->answer);
	buf_fini(&later->answer.body);
	free(later);
}

static enum MHD_Result send_answer(struct server_request *request)
{
	if (!request->response)
		return MHD_NO;
	return MHD_queue_response(request->connection, request->status, request->response);
}

static enum MHD_Result call_route(const struct http_call *call, const struct http_route *route)
{
	struct server_request *request = call->request;
	const struct reply reply = { .daemon = request->daemon, .connection = request->connection };
	struct http_answer answer = ANSWER_INIT;
	enum MHD_Result r = MHD_YES;

	route->fn(call, &answer, route->data);
	if (request->later)
		http_daemon_suspend(request->daemon, &request->wait, request->connection);
	else if (request->answered)
		r = send_answer(request);
	else
		r = reply_send(&reply, &answer);
	buf_fini(&answer.body);
	return r;
}

/* What is at "/prefix" has relative links, which need the '/'. */
static enum MHD_Result send_below(const struct http_server *server, const struct reply *reply)
{
	struct http_answer answer = ANSWER_INIT;
	_cleanup_buf_ struct buf location = BUF_INIT(strlen(server->prefix) + 2);

	(void)buf_printf(&location, "%s/", server->prefix);
	answer.status = MHD_HTTP_PERMANENT_REDIRECT;
	answer.location = buf_str(&location);
	enum MHD_Result r = reply_send(reply, &answer);
	buf_fini(&answer.body);
	return r;
}

static enum MHD_Result send_no_route(const struct http_server *server, const struct reply *reply,
				     const char *path)
{
	struct reply with_allow = *reply;
	_cleanup_buf_ struct buf allow = BUF_INIT(4096);

	(void)route_table_allow(&server->routes, path, &allow);
	if (allow.len == 0)
		return reply_send_text(reply, MHD_HTTP_NOT_FOUND, "not found\n");
	with_allow.allow = buf_str(&allow);
	return reply_send_text(&with_allow, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n");
}

static enum MHD_Result call_dispatch(const struct http_server *server,
				     struct server_request *request, const char *method,
				     const char *path)
{
	const struct http_call call = { request, method, path };
	const struct reply reply = { .daemon = request->daemon, .connection = request->connection };
	const struct http_route *route = route_table_find(&server->routes, method, path);

	if (*path == '\0')
		return send_below(server, &reply);
	return route ? call_route(&call, route) : send_no_route(server, &reply, path);
}

/* Without the prefix; "" for the prefix itself. */
static const char *below_prefix(const struct http_server *server, const char *url)
{
	size_t n = strlen(server->prefix);

	if (n == 0 || strncmp(url, server->prefix, n) != 0)
		return url;
	return url[n] == '/' || url[n] == '\0' ? url + n : url;
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
		       const char *path)
{
	return access_allows(&server->access, *path ? path : "/",
			     MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_AUTHORIZATION));
}

/* Before the body is read: who may not ask is not listened to. */
static enum MHD_Result begin_request(struct http_daemon *daemon, struct MHD_Connection *connection,
				     const char *path, void **call_data)
{
	const struct http_server *server = daemon->owner;
	struct reply reply = { .daemon = daemon, .connection = connection };

	/* What it was let in by does not hold any more. */
	if (daemon->retired)
		return MHD_NO;
	if (!is_allowed(server, connection, path)) {
		reply.authenticate = "Basic realm=\"Restricted\"";
		return reply_send_text(&reply, MHD_HTTP_UNAUTHORIZED, "Unauthorized\n");
	}
	if (announces_too_much(server, connection))
		return reply_send_text(&reply, MHD_HTTP_CONTENT_TOO_LARGE, "request too large\n");
	struct server_request *request = calloc(1, sizeof(*request));
	if (!request)
		return MHD_NO;
	request->daemon = daemon;
	request->connection = connection;
	buf_init(&request->body, server->options.max_body_bytes);
	*call_data = request;
	return MHD_YES;
}

/* Called once with the headers, then for each piece of the body, once more at its end, and after a
 * wait. MHD_NO closes the connection. */
enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **call_data)
{
	struct http_daemon *daemon = data;
	const struct http_server *server = daemon->owner;
	struct server_request *request = *call_data;

	(void)version;
	http_daemon_note_request(daemon, connection);
	if (!request)
		return begin_request(daemon, connection, below_prefix(server, url), call_data);
	if (request->answered)
		return send_answer(request);
	if (*n_upload > 0) {
		int r = buf_append(&request->body, upload, *n_upload);

		*n_upload = 0;
		return r < 0 ? MHD_NO : MHD_YES;
	}
	return call_dispatch(server, request, strcmp(method, "HEAD") == 0 ? "GET" : method,
			     below_prefix(server, url));
}

void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
			 enum MHD_RequestTerminationCode why)
{
	struct server_request *request = *call_data;

	(void)data;
	(void)connection;
	(void)why;
	if (!request)
		return;
	if (request->later)
		request->later->request = NULL;
	if (request->response)
		MHD_destroy_response(request->response);
	buf_fini(&request->body);
	free(request);
	*call_data = NULL;
}
