/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching: a request whose answer goes on, one event a line.
 *
 * A server ends it after the time that was asked for, and it begins again where it ended. A connection that was cut, or says nothing for
 * longer than from one bookmark to the next, begins again there too. Only a version that is too old, an answer that makes no sense and
 * refusals that another attempt would meet again lead back to a list.
 */
#include "agent/discovery/kube_watch_private.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/discovery/kube_event.h"
#include "agent/discovery/kube_refusal.h"
#include "agent/http/url.h"
#include "agent/util/clock.h"

/* A watch that ends sooner and has said nothing is one of many such, unless somebody waits. */
#define SHORT_NS (1 * NS_PER_S)

static void set_version(struct kube_watch *w, const char *version)
{
	if (!*version || strlen(version) > KUBE_MAX_VERSION_BYTES - 1)
		return;
	buf_reset(&w->version);
	(void)buf_append_str(&w->version, version);
}

/* The rest of the watch is not worth reading. */
static int take_error(struct kube_watch *w, const struct kube_event *event)
{
	w->relist = true;
	buf_reset(&w->error);
	if (!kube_status_is_gone(&event->status))
		kube_refusal_describe_event(&w->o.query, &event->status, &w->error);
	return -ECANCELED;
}

static int on_event(json_t *json, void *data)
{
	struct kube_watch *w = data;
	struct kube_event event = kube_event_read(json);

	/* First: whoever gets the object may change it. */
	set_version(w, event.version);
	switch (event.kind) {
	case KUBE_EVENT_CHANGED:
		w->o.ops->changed(event.object, w->o.data);
		break;
	case KUBE_EVENT_DELETED:
		w->o.ops->deleted(event.object, w->o.data);
		break;
	case KUBE_EVENT_BOOKMARK:
		break;
	case KUBE_EVENT_ERROR:
		return take_error(w, &event);
	case KUBE_EVENT_UNKNOWN:
		return 0;
	}
	w->heard = true;
	kube_watch_settle(w);
	return 0;
}

/* Whether it stays open is another question: see the timer. */
static void on_open(void *data)
{
	struct kube_watch *w = data;

	w->opened = true;
	kube_watch_hear(w);
	kube_watch_recover(w);
}

static bool on_data(const char *bytes, size_t n, void *data)
{
	struct kube_watch *w = data;
	int r;

	kube_watch_hear(w);
	r = json_stream_feed(&w->stream, bytes, n, on_event, w);
	if (r < 0)
		w->read_error = r;
	return r == 0;
}

/* In order: the server's time was up, or it had to go. */
static void end_well(struct kube_watch *w)
{
	if (w->heard || clock_mono_ns() - w->began_ns >= SHORT_NS) {
		kube_watch_settle(w);
		kube_stream_begin(w);
		return;
	}
	buf_reset(&w->error);
	(void)buf_printf(&w->error, "the API server ends each watch of %s at once",
			 kube_resource_name(w->o.query.resource));
	kube_watch_fail(w, KUBE_NEXT_WATCH, 0);
}

static void end_unread(struct kube_watch *w)
{
	if (w->relist && w->error.len == 0) {
		kube_watch_expire(w);
		return;
	}
	if (!w->relist) {
		w->status.n_too_large += w->read_error == -EMSGSIZE;
		buf_reset(&w->error);
		kube_watch_describe_read_error(w, "watch");
	}
	kube_watch_fail(w, KUBE_NEXT_LIST, 0);
}

/* Those that say nothing about the version: who asks, how often, and whether anybody is there. */
static bool may_go_on(const struct http_result *result)
{
	static const unsigned int temporary[] = { 401, 403, 408, 429, 500, 502, 503 };

	if (result->outcome != HTTP_DONE)
		return true;
	for (size_t i = 0; i < sizeof(temporary) / sizeof(temporary[0]); i++)
		if (result->status == temporary[i])
			return true;
	return false;
}

static void end_badly(struct kube_watch *w, const struct http_result *result)
{
	enum kube_next next = may_go_on(result) ? KUBE_NEXT_WATCH : KUBE_NEXT_LIST;

	buf_reset(&w->error);
	kube_refusal_describe(&w->o.query, "watch", result, &w->error);
	kube_watch_fail(w, next, kube_watch_server_wait_ns(result));
}

static void on_done(const struct http_result *result, void *data)
{
	struct kube_watch *w = data;

	w->request = NULL;
	if (w->read_error < 0)
		end_unread(w);
	else if (kube_watch_answered(result))
		end_well(w);
	else if (kube_refusal_is_gone(result))
		kube_watch_expire(w);
	else
		end_badly(w, result);
}

/* Not all at the same time, as above. */
static unsigned int seconds_of(const struct kube_watch *w)
{
	unsigned int s = w->o.timing.watch_s;

	return s + (unsigned int)(w->random >> 32) % (s + 1);
}

static int start(struct kube_watch *w, char *error)
{
	_cleanup_buf_ struct buf path = BUF_INIT(URL_MAX_BYTES);
	int r = kube_query_watch(&w->o.query, buf_str(&w->version), seconds_of(w), &path);
	struct kube_call call = {
		.path = buf_str(&path),
		.on_open = on_open,
		.on_data = on_data,
		.idle_timeout_ns = w->o.timing.idle_timeout_ns,
	};

	if (r < 0) {
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES,
			       "cannot watch: the selectors are too long");
		return r;
	}
	return kube_api_get(w->o.api, &call, on_done, w, &w->request, error);
}

void kube_stream_begin(struct kube_watch *w)
{
	char error[HTTP_MAX_ERROR_BYTES];

	assert(!w->request);
	json_stream_reset(&w->stream);
	w->read_error = 0;
	w->relist = w->opened = w->heard = false;
	w->began_ns = clock_mono_ns();
	w->status.state = KUBE_WATCHING;
	w->status.n_watches++;
	loop_timer_arm(w->timer, w->began_ns + w->o.timing.settled_ns);
	if (start(w, error) == 0)
		return;
	buf_reset(&w->error);
	(void)buf_printf(&w->error, "%.700s", error);
	kube_watch_fail(w, KUBE_NEXT_WATCH, 0);
}
