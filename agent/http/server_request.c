/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, from the library's callbacks to a handler: who may not ask is told so before anything is received or done for them. */
#include <string.h>

#include "agent/http/reply.h"
#include "agent/util/clock.h"
#include "agent/util/str.h"

/* Announced as "chunked": no length at all. */
#define BODY_UNANNOUNCED UINT64_MAX

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

/* Without the prefix; "" for the prefix itself. */
static const char *below_prefix(const struct http_server *server, const char *url)
{
	size_t n = strlen(server->prefix);

	if (n == 0 || strncmp(url, server->prefix, n) != 0)
		return url;
	return url[n] == '/' || url[n] == '\0' ? url + n : url;
}

/* How long the body will be: 0 without one, BODY_UNANNOUNCED when only its end tells. */
static uint64_t announced_body(struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t n = 0;

	if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					MHD_HTTP_HEADER_TRANSFER_ENCODING))
		return BODY_UNANNOUNCED;
	if (text && str_parse_u64(str_from(text), 10, BODY_UNANNOUNCED - 1, &n) < 0)
		return BODY_UNANNOUNCED - 1;
	return n;
}

/* Whether the body is longer than the route takes, as far as its announcement tells. */
static bool announces_too_much(const struct http_route *route, uint64_t n_body)
{
	return n_body == BODY_UNANNOUNCED ? route->max_body_bytes == 0
					  : n_body > route->max_body_bytes;
}

/* A request at its headers. */
struct asked {
	struct reply reply;
	const char *method; /* GET also for a HEAD */
	const char *path;
	const struct http_route *route; /* NULL: none */
	uint64_t n_body;
	bool wants_proof; /* a password or a certificate: nobody gets further without */
};

static enum MHD_Result refuse(const struct asked *a, enum http_refusal why, unsigned int status,
			      const char *text)
{
	http_counts_refused(&a->reply.server->counts, why);
	return reply_send_text(&a->reply, status, text);
}

static const char *header(const struct asked *a, const char *name)
{
	return MHD_lookup_connection_value(a->reply.connection, MHD_HEADER_KIND, name);
}

/* What is at the prefix itself only leads to the page. */
static enum http_effect effect_of(const struct asked *a)
{
	if (*a->path == '\0')
		return HTTP_IS_PAGE;
	return a->route ? a->route->effect : HTTP_READS;
}

static enum guard_verdict judge(const struct asked *a)
{
	const struct guard_request r = {
		.effect = effect_of(a),
		.is_get = strcmp(a->method, "GET") == 0,
		.any_host = a->wants_proof || a->reply.server->options.any_host,
		.host = header(a, MHD_HTTP_HEADER_HOST),
		.origin = header(a, MHD_HTTP_HEADER_ORIGIN),
		.referer = header(a, MHD_HTTP_HEADER_REFERER),
		.site = header(a, "Sec-Fetch-Site"),
		.mode = header(a, "Sec-Fetch-Mode"),
		.dest = header(a, "Sec-Fetch-Dest"),
	};

	return guard_judge(&a->reply.server->guard, &r);
}

static enum MHD_Result refuse_caller(const struct asked *a, enum guard_verdict verdict)
{
	switch (verdict) {
	case GUARD_FOREIGN_HOST:
		return refuse(a, HTTP_REFUSED_foreign_host, MHD_HTTP_FORBIDDEN,
			      "this agent is not known by that host name: ask by its address, or list "
			      "the name in --server.http.allowed-hosts\n");
	case GUARD_BROWSER:
		return refuse(a, HTTP_REFUSED_browser, MHD_HTTP_FORBIDDEN,
			      "GET changes something here and is for scripts: send a POST, or "
			      "SIGHUP to the agent\n");
	case GUARD_OTHER_SITE:
	case GUARD_PASSES:
		break;
	}
	return refuse(a, HTTP_REFUSED_other_site, MHD_HTTP_FORBIDDEN,
		      "another site's page has sent this: open the agent's own page, or ask without a "
		      "browser\n");
}

static bool is_allowed(const struct asked *a)
{
	return access_allows(&a->reply.server->access, *a->path ? a->path : "/",
			     header(a, MHD_HTTP_HEADER_AUTHORIZATION));
}

static enum MHD_Result refuse_password(struct asked *a)
{
	a->reply.authenticate = "Basic realm=\"Restricted\"";
	return refuse(a, HTTP_REFUSED_password, MHD_HTTP_UNAUTHORIZED, "Unauthorized\n");
}

static enum MHD_Result refuse_length(const struct asked *a)
{
	size_t max = a->route->max_body_bytes;
	char text[128];

	if (max == 0)
		(void)snprintf(text, sizeof(text), "no body is taken here\n");
	else
		(void)snprintf(text, sizeof(text), "a body of at most %zu bytes is taken here\n", max);
	return refuse(a, HTTP_REFUSED_body_too_long, MHD_HTTP_CONTENT_TOO_LARGE, text);
}

static bool has_room(const struct asked *a)
{
	return a->n_body == BODY_UNANNOUNCED ||
	       http_budget_has(&a->reply.server->bodies, a->n_body);
}

static enum MHD_Result refuse_for_now(struct asked *a)
{
	a->reply.retry_after = "1";
	return refuse(a, HTTP_REFUSED_bodies_full, MHD_HTTP_SERVICE_UNAVAILABLE,
		      "bodies of others take all the memory there is for them: send it again later\n");
}

/* By its headers alone; false: it may go on. */
static bool is_refused(struct asked *a, enum MHD_Result *ret_sent)
{
	enum guard_verdict verdict = judge(a);

	if (verdict != GUARD_PASSES)
		*ret_sent = refuse_caller(a, verdict);
	else if (!is_allowed(a))
		*ret_sent = refuse_password(a);
	else if (a->n_body > 0 && !a->route)
		*ret_sent = send_no_route(a->reply.server, &a->reply, a->path);
	else if (a->n_body > 0 && announces_too_much(a->route, a->n_body))
		*ret_sent = refuse_length(a);
	else if (!has_room(a))
		*ret_sent = refuse_for_now(a);
	else
		return false;
	return true;
}

static struct server_request *admit(const struct asked *a, struct connection *link)
{
	struct server_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->daemon = a->reply.daemon;
	request->connection = a->reply.connection;
	request->link = link;
	request->authenticated = a->wants_proof;
	buf_init(&request->body, a->route ? a->route->max_body_bytes : 0);
	if (a->n_body > 0)
		connection_sends(&a->reply.server->connections, link, clock_mono_ns());
	return request;
}

static enum MHD_Result begin(struct asked *a, struct connection *link, void **call_data)
{
	const struct connections *connections = &a->reply.server->connections;
	enum MHD_Result sent = MHD_NO;

	if (is_refused(a, &sent)) {
		connection_reads(connections, link, 0, clock_mono_ns());
		return sent;
	}
	*call_data = admit(a, link);
	return *call_data ? MHD_YES : MHD_NO;
}

static enum MHD_Result receive(struct server_request *request, const char *bytes, size_t n)
{
	struct http_server *server = request->daemon->owner;

	if (buf_append(&request->body, bytes, n) < 0) {
		http_counts_refused(&server->counts, HTTP_REFUSED_body_too_long);
		return MHD_NO;
	}
	if (!http_budget_take(&server->bodies, n)) {
		http_counts_refused(&server->counts, HTTP_REFUSED_bodies_full);
		return MHD_NO;
	}
	request->n_body += n;
	return MHD_YES;
}

static enum MHD_Result dispatch(struct server_request *request, const struct asked *a)
{
	connection_waits(request->link, clock_mono_ns());
	if (*a->path != '\0' && a->route)
		return server_request_call(request, a->route, a->method, a->path);
	connection_reads(&a->reply.server->connections, request->link, 0, clock_mono_ns());
	if (*a->path == '\0')
		return send_below(a->reply.server, &a->reply);
	return send_no_route(a->reply.server, &a->reply, a->path);
}

static struct asked make_asked(struct http_daemon *daemon, struct MHD_Connection *connection,
			       const char *url, const char *method)
{
	struct asked a = { .reply = server_reply(daemon, connection),
			   .method = strcmp(method, "HEAD") == 0 ? "GET" : method,
			   .n_body = announced_body(connection) };

	a.path = below_prefix(a.reply.server, url);
	a.route = route_table_find(&a.reply.server->routes, a.method, a.path);
	a.wants_proof = access_guards(&a.reply.server->access, *a.path ? a.path : "/") ||
			server_tls_wants_certificate(daemon->tls);
	return a;
}

/* Called once with the headers, then for each piece of the body, once more at its end, and after a
 * wait. MHD_NO closes the connection. */
enum MHD_Result server_on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **call_data)
{
	struct http_daemon *daemon = data;
	struct server_request *request = *call_data;
	struct connection *link = http_daemon_note_request(daemon, connection);
	size_t n = *n_upload;

	(void)version;
	*n_upload = 0;
	if (!link)
		return MHD_NO;
	if (request && request->answered)
		return server_request_send(request);
	if (request && n > 0)
		return receive(request, upload, n);
	struct asked a = make_asked(daemon, connection, url, method);
	if (request)
		return dispatch(request, &a);
	/* What it was let in by does not hold any more. */
	return daemon->retired ? MHD_NO : begin(&a, link, call_data);
}

void server_on_completed(void *data, struct MHD_Connection *connection, void **call_data,
			 enum MHD_RequestTerminationCode why)
{
	struct http_daemon *daemon = data;
	struct http_server *server = daemon->owner;
	struct server_request *request = *call_data;
	struct connection *link = http_daemon_note_request(daemon, connection);

	(void)why;
	if (link)
		connection_asks_again(&server->connections, link, clock_mono_ns());
	if (!request)
		return;
	server_request_forget(request);
	http_budget_give(&server->bodies, request->n_body);
	buf_fini(&request->body);
	free(request);
	*call_data = NULL;
}
