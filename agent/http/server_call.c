/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers see of a request, and their answers, at once or later. */
#include "agent/http/server_call.h"

#include <errno.h>

#include "agent/http/encoding.h"
#include "agent/http/reply.h"
#include "agent/util/clock.h"

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

void http_call_take_body(const struct http_call *call, struct buf *ret_body)
{
	struct buf *body = &call->request->body;

	*ret_body = *body;
	*body = BUF_INIT(0);
}

bool http_call_takes_gzip(const struct http_call *call)
{
	return encoding_takes_gzip(http_call_header(call, MHD_HTTP_HEADER_ACCEPT_ENCODING));
}

uint64_t http_call_peer(const struct http_call *call)
{
	return connection_peer(call->request->link);
}

bool http_call_is_authenticated(const struct http_call *call)
{
	return call->request->authenticated;
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

/* The response holds the answer's bytes from now on. */
static void keep_response(struct server_request *request, struct http_answer *answer)
{
	const struct reply reply = server_reply(request->daemon, request->connection);

	request->response = reply_make(&reply, answer, &request->n_answer);
	request->status = answer->status;
}

void http_later_send(struct http_later *later)
{
	if (!later)
		return;
	struct server_request *request = later->request;
	if (request) {
		request->later = NULL;
		request->answered = true;
		keep_response(request, &later->answer);
		http_daemon_resume(request->daemon, &request->wait);
	}
	buf_fini(&later->answer.body);
	free(later);
}

void server_request_forget(struct server_request *request)
{
	struct http_server *server = request->daemon->owner;

	if (request->later)
		request->later->request = NULL;
	if (request->response)
		MHD_destroy_response(request->response);
	http_budget_give(&server->answers, request->n_answer);
}

enum MHD_Result server_request_send(struct server_request *request)
{
	struct http_server *server = request->daemon->owner;

	if (!request->response)
		return MHD_NO;
	connection_reads(&server->connections, request->link, request->n_answer, clock_mono_ns());
	return MHD_queue_response(request->connection, request->status, request->response);
}

enum MHD_Result server_request_call(struct server_request *request, const struct http_route *route,
				    const char *method, const char *path)
{
	const struct http_call call = { request, method, path };
	struct http_answer answer = ANSWER_INIT;

	route->fn(&call, &answer, route->data);
	if (!request->taken)
		keep_response(request, &answer);
	buf_fini(&answer.body);
	if (!request->later)
		return server_request_send(request);
	http_daemon_suspend(request->daemon, &request->wait, request->connection);
	return MHD_YES;
}
