/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl's multi interface in our loop.
 *
 * libcurl tells us which descriptors it waits for (on_socket) and when it wants to be called next
 * (on_timer); we tell it what happened (curl_multi_socket_action) and then collect the transfers
 * that ended. The callbacks of libcurl only note; user callbacks run from the loop's own callbacks,
 * so they may start and cancel requests.
 */
#include "agent/http/client.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

#include "agent/http/oauth2.h"
#include "agent/http/request.h"
#include "agent/util/clock.h"

/* RFC 9110 §15.5.2 */
#define HTTP_STATUS_UNAUTHORIZED 401

struct http_client {
	struct loop *loop;
	struct loop_timer *timer;
	CURLM *multi;
	bool curl_ready;
	struct list requests;
	struct list sockets;
};

struct http_socket {
	struct list node;
	struct http_client *client;
	curl_socket_t fd;
	struct loop_io *io;
};

static void http_socket_free(struct http_socket *s)
{
	loop_io_free(s->io);
	list_remove(&s->node);
	free(s);
}

static void http_request_free(struct http_request *rq)
{
	if (rq->sent)
		(void)curl_multi_remove_handle(rq->client->multi, rq->easy);
	list_remove(&rq->node);
	loop_timer_free(rq->idle);
	curl_easy_cleanup(rq->easy);
	curl_slist_free_all(rq->headers);
	curl_slist_free_all(rq->proxy_headers);
	curl_slist_free_all(rq->connect_to);
	buf_fini(&rq->body);
	free(rq);
}
DEFINE_CLEANUP(struct http_request *, http_request_free);

static const char *find_header(const struct http_result *result, const char *name,
			       unsigned int origin)
{
	struct curl_header *header;

	return result->request && curl_easy_header(result->request->easy, name, 0, origin, -1,
						   &header) == CURLHE_OK
		       ? header->value
		       : "";
}

const char *http_result_header(const struct http_result *result, const char *name)
{
	return find_header(result, name, CURLH_HEADER);
}

const char *http_result_trailer(const struct http_result *result, const char *name)
{
	return find_header(result, name, CURLH_TRAILER | CURLH_HEADER);
}

static void http_request_finish(struct http_request *request, CURLcode code)
{
	_cleanup_(http_request_freep) struct http_request *rq = request;
	char error[HTTP_MAX_ERROR_BYTES];
	long status = 0;
	struct http_result result = { .outcome = request_outcome(rq, code),
				      .error = error,
				      .request = rq };

	request_describe(rq, result.outcome, code, error);
	(void)curl_easy_getinfo(rq->easy, CURLINFO_RESPONSE_CODE, &status);
	result.status = (unsigned int)status;
	result.content_type = http_result_header(&result, "Content-Type");
	result.retry_after = http_result_header(&result, "Retry-After");
	result.body = buf_str(&rq->body);
	result.n_body = rq->body.len;
	result.time_ns = clock_mono_ns() - rq->begin_ns;
	(void)curl_multi_remove_handle(rq->client->multi, rq->easy);
	rq->sent = false;
	list_remove(&rq->node);
	if (rq->oauth2 && status == HTTP_STATUS_UNAUTHORIZED)
		http_oauth2_forget(rq->oauth2);
	rq->done(&result, rq->data);
}

void request_fail(struct http_request *request, const char *error)
{
	_cleanup_(http_request_freep) struct http_request *rq = request;
	const struct http_result result = {
		.outcome = HTTP_FAILED,
		.content_type = "",
		.retry_after = "",
		.body = "",
		.error = error,
		.time_ns = clock_mono_ns() - rq->begin_ns,
	};

	list_remove(&rq->node);
	rq->done(&result, rq->data);
}

static void request_on_idle(void *data)
{
	struct http_request *rq = data;

	if (request_is_idle(rq))
		http_request_finish(rq, CURLE_OPERATION_TIMEDOUT);
}

static int request_add(struct http_request *rq)
{
	int r = request_watch_idle(rq, rq->client->loop, request_on_idle);

	if (r < 0)
		return r;
	if (curl_multi_add_handle(rq->client->multi, rq->easy) != CURLM_OK)
		return -ENOMEM;
	rq->sent = true;
	list_push_back(&rq->client->requests, &rq->node);
	return 0;
}

int request_send(struct http_request *rq, const char *authorization)
{
	int r = request_add_header(rq, "Authorization", authorization);

	return r == 0 ? request_add(rq) : r;
}

static void http_client_collect(struct http_client *client)
{
	CURLMsg *msg;
	int n_left;

	while ((msg = curl_multi_info_read(client->multi, &n_left))) {
		struct http_request *rq = NULL;

		if (msg->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&rq);
		http_request_finish(rq, msg->data.result);
	}
}

static void http_client_act(struct http_client *client, curl_socket_t fd, int what)
{
	int n_running;

	(void)curl_multi_socket_action(client->multi, fd, what, &n_running);
	http_client_collect(client);
}

static void http_on_io(uint32_t events, void *data)
{
	struct http_socket *s = data;
	int what = 0;

	if (events & EPOLLIN)
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		what |= CURL_CSELECT_ERR;
	http_client_act(s->client, s->fd, what);
}

static void http_on_alarm(void *data)
{
	http_client_act(data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long timeout_ms, void *data)
{
	struct http_client *client = data;

	(void)multi;
	if (timeout_ms < 0)
		loop_timer_disarm(client->timer);
	else
		loop_timer_arm(client->timer, clock_mono_ns() + (uint64_t)timeout_ms * NS_PER_MS);
	return 0;
}

static int http_socket_new(struct http_client *client, curl_socket_t fd, uint32_t events)
{
	struct http_socket *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->client = client;
	s->fd = fd;
	list_push_back(&client->sockets, &s->node);
	int r = loop_io_new(client->loop, fd, events, http_on_io, s, &s->io);
	if (r == 0 && curl_multi_assign(client->multi, fd, s) != CURLM_OK)
		r = -EINVAL;
	if (r < 0)
		http_socket_free(s);
	return r;
}

/* -1 makes libcurl fail the transfers. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct http_socket *s = socket_data;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (s)
			http_socket_free(s);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	int r = s ? loop_io_set_events(s->io, events) : http_socket_new(data, fd, events);
	return r < 0 ? -1 : 0;
}

static int http_client_init(struct http_client *client)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	client->curl_ready = true;
	client->multi = curl_multi_init();
	if (!client->multi)
		return -ENOMEM;
	(void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	(void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	(void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	/* One request a connection at a time: where a server speaks HTTP/1.1 on one connection and HTTP/2 on another, libcurl 7.88 takes both to carry
	 * several, and answers go to the wrong requests (https://github.com/curl/curl/issues/4885). */
	(void)curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	(void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS,
				(long)HTTP_MAX_IDLE_CONNECTIONS);
	return loop_timer_new(client->loop, http_on_alarm, client, &client->timer);
}

int http_client_new(struct loop *loop, struct http_client **ret_client)
{
	_cleanup_(http_client_freep) struct http_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->loop = loop;
	list_init(&client->requests);
	list_init(&client->sockets);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	int r = http_client_init(client);
	if (r < 0)
		return r;
	*ret_client = TAKE_PTR(client);
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	assert(list_empty(&client->requests));
	/* Closes the idle connections, which calls on_socket and on_timer. */
	if (client->multi)
		(void)curl_multi_cleanup(client->multi);
	LIST_FOREACH (&client->sockets, node) {
		http_socket_free(LIST_ENTRY(node, struct http_socket, node));
	}
	loop_timer_free(client->timer);
	if (client->curl_ready)
		curl_global_cleanup();
	free(client);
}

int http_request_start(struct http_client *client, const struct http_request_options *options,
		       http_done_fn done, void *data, struct http_request **ret_request)
{
	_cleanup_(http_request_freep) struct http_request *rq = calloc(1, sizeof(*rq));

	if (!rq)
		return -ENOMEM;
	rq->client = client;
	rq->done = done;
	rq->data = data;
	rq->begin_ns = clock_mono_ns();
	list_init(&rq->node);
	int r = request_configure(rq, options);
	if (r < 0)
		return r;
	r = rq->oauth2 ? http_oauth2_send(rq->oauth2, rq) : request_add(rq);
	if (r < 0)
		return r;
	*ret_request = TAKE_PTR(rq);
	return 0;
}

void http_request_cancel(struct http_request *request)
{
	if (request)
		http_request_free(request);
}
