/* SPDX-License-Identifier: Apache-2.0 */
/* What comes in: bytes for the caller or for the result, and how long nothing came. */
#include "agent/http/request.h"
#include "agent/util/clock.h"

static bool request_succeeds(const struct http_request *rq)
{
	long status = 0;

	return curl_easy_getinfo(rq->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
	       status / 100 == 2;
}

static bool request_take(struct http_request *rq, const char *bytes, size_t n)
{
	/* The text of a refusal or of a redirect is for the result. */
	if (rq->on_data && request_succeeds(rq)) {
		rq->stopped = !rq->on_data(bytes, n, rq->data);
		return !rq->stopped;
	}
	rq->too_large = buf_append(&rq->body, bytes, n) < 0;
	return !rq->too_large;
}

size_t request_on_body(char *bytes, size_t size, size_t n, void *data)
{
	struct http_request *rq = data;

	rq->heard_ns = clock_mono_ns();
	return request_take(rq, bytes, size * n) ? size * n : CURL_WRITEFUNC_ERROR;
}

/* A line each; the one that ends them is blank. What follows the body (trailers) comes here, too. */
size_t request_on_header(char *bytes, size_t size, size_t n, void *data)
{
	struct http_request *rq = data;
	bool last = size * n > 0 && (*bytes == '\r' || *bytes == '\n');

	rq->heard_ns = clock_mono_ns();
	if (last && rq->on_open && request_succeeds(rq))
		TAKE_PTR(rq->on_open)(rq->data);
	return size * n;
}

/*
 * libcurl's own limit (CURLOPT_LOW_SPEED_TIME) wakes up every second for each request, and takes a few bytes in
 * five seconds for none.
 */
int request_watch_idle(struct http_request *rq, struct loop *loop, loop_timer_fn fn)
{
	if (rq->idle_timeout_ns == 0)
		return 0;
	int r = loop_timer_new(loop, fn, rq, &rq->idle);
	if (r < 0)
		return r;
	rq->heard_ns = clock_mono_ns();
	loop_timer_arm(rq->idle, rq->heard_ns + rq->idle_timeout_ns);
	return 0;
}

bool request_is_idle(struct http_request *rq)
{
	uint64_t at_ns = rq->heard_ns + rq->idle_timeout_ns;

	rq->idle_too_long = clock_mono_ns() >= at_ns;
	if (!rq->idle_too_long)
		loop_timer_arm(rq->idle, at_ns);
	return rq->idle_too_long;
}
