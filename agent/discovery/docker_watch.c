/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's containers, followed.
 *
 *	connect   GET /_ping, which tells the version
 *	follow    GET /events, which never ends
 *	look      GET /containers/json and GET /networks: when the stream is open, after events, and every refresh_interval
 *
 * Without /_ping or containers Docker is away, and all begins again later. Without the stream, or without networks (somebody in between
 * may allow some questions only), the rest goes on, and the status says what is missing.
 */
#include "agent/discovery/docker_watch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/discovery/docker_events.h"
#include "agent/discovery/docker_list.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define PING_TIMEOUT_NS (10 * NS_PER_S)
/* For so long the first look waits for the stream. */
#define OPEN_PATIENCE_NS (NS_PER_S / 2)
/* What happens to a container comes as several events; one look is enough for them. */
#define EVENT_DELAY_NS (10 * NS_PER_MS)
/* Four looks at once, and from then on four a second. */
#define LOOK_PACE_NS (NS_PER_S / 4)
#define LOOK_BURST 4
/* Of a host with thousands of containers fewer: looking takes at most a part in so many of a CPU. */
#define LOOK_WORK_SHARE 50
/* A stream that ends sooner failed; one that ends later is opened again at once: proxies cut what is silent for long. */
#define STREAM_GOOD_NS (10 * NS_PER_S)
/* RFC 9110 §15.5.1: also what Docker says to a version that it does not speak. */
#define STATUS_BAD_REQUEST 400

struct docker_watch {
	struct http_client *http;
	docker_watch_fn fn;
	void *data;
	struct docker_watch_options o;
	struct docker_watch_status status;
	struct target_list targets;
	struct loop_timer *connect_timer, *look_timer;
	struct http_request *ping; /* NULL: not under way */
	struct docker_events events;
	struct docker_list list;
	bool newest;	  /* the version that we know is too old for the daemon */
	bool connected;	  /* it has answered to the ping */
	bool looked;	  /* and has been looked at since */
	bool wanted;	  /* something happened since the last look began */
	bool is_poll;	  /* nothing had happened when it began */
	uint64_t paid_ns; /* looks until then are taken */
	uint64_t cost_ns; /* of a look */
	unsigned int n_failures, n_short_streams;
};

static uint64_t retry_ns(const struct docker_watch *w, unsigned int n_failures)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return retry_wait_ns(&w->o.retry, n_failures, random, 0);
}

static void disconnect(struct docker_watch *w)
{
	http_request_cancel(TAKE_PTR(w->ping));
	docker_events_cancel(&w->events);
	docker_list_cancel(&w->list);
	loop_timer_disarm(w->connect_timer);
	loop_timer_disarm(w->look_timer);
	w->status.follows_events = false;
	w->connected = w->looked = w->wanted = false;
}

static void connect_after(struct docker_watch *w, uint64_t wait_ns)
{
	loop_timer_arm(w->connect_timer, clock_mono_ns() + wait_ns);
}

/* `why` may be the status's own. */
static void fail(struct docker_watch *w, const char *why)
{
	char text[HTTP_MAX_ERROR_BYTES];

	(void)snprintf(text, sizeof(text), "%s", why);
	disconnect(w);
	memcpy(w->status.why, text, sizeof(text));
	w->status.state = DOCKER_AWAY;
	connect_after(w, retry_ns(w, ++w->n_failures));
	w->fn(false, w->data);
}

/* Once: asked again with the daemon's own version. */
static bool try_newest(struct docker_watch *w, unsigned int status)
{
	if (status != STATUS_BAD_REQUEST || w->newest)
		return false;
	w->newest = true;
	disconnect(w);
	connect_after(w, 0);
	return true;
}

/* Soon, though not for each of many events. */
static void look_soon(struct docker_watch *w)
{
	uint64_t credit_ns = (LOOK_BURST - 1) * w->cost_ns;
	uint64_t paced_ns = w->paid_ns > credit_ns ? w->paid_ns - credit_ns : 0;

	loop_timer_arm(w->look_timer, MAX_OF(clock_mono_ns() + EVENT_DELAY_NS, paced_ns));
}

/* A look that is wanted already is not put off by more events. */
static void want_look(struct docker_watch *w)
{
	if (w->wanted)
		return;
	w->wanted = true;
	if (!docker_list_is_busy(&w->list))
		look_soon(w);
}

static void look(void *data)
{
	struct docker_watch *w = data;

	w->is_poll = !w->wanted;
	w->wanted = false;
	w->paid_ns = MAX_OF(w->paid_ns, clock_mono_ns()) + w->cost_ns;
	if (docker_list_ask(&w->list, &w->o.server, w->status.version, w->o.filters) < 0)
		fail(w, w->list.why);
}

static void follow(struct docker_watch *w)
{
	if (docker_events_ask(&w->events, &w->o.server, w->status.version) < 0)
		fail(w, w->events.why);
	else
		loop_timer_arm(w->look_timer, clock_mono_ns() + OPEN_PATIENCE_NS);
}

static void on_stream_end(struct docker_watch *w)
{
	bool good =
		w->events.opened_ns != 0 && clock_mono_ns() - w->events.opened_ns >= STREAM_GOOD_NS;

	w->status.follows_events = false;
	w->status.events_refused = w->events.refused;
	memcpy(w->status.events_why, w->events.why, sizeof(w->status.events_why));
	if (try_newest(w, w->events.status))
		return;
	w->n_short_streams = good ? 0 : w->n_short_streams + 1;
	/* Who refuses it is asked again after the next poll. */
	if (w->events.refused && !w->looked)
		want_look(w);
	else if (!w->events.refused)
		connect_after(w, good ? 0 : retry_ns(w, w->n_short_streams));
	w->fn(false, w->data);
}

static void on_news(enum docker_events_news news, void *data)
{
	struct docker_watch *w = data;

	switch (news) {
	case DOCKER_EVENTS_OPEN:
		w->status.follows_events = true;
		w->status.events_refused = false;
		want_look(w);
		return;
	case DOCKER_EVENTS_CHANGE:
		w->status.n_events++;
		want_look(w);
		return;
	case DOCKER_EVENTS_END:
		on_stream_end(w);
		return;
	}
}

static void on_ping(const struct http_result *result, void *data)
{
	struct docker_watch *w = data;

	w->ping = NULL;
	/* Somebody in between may not allow this question, but others. */
	if (result->outcome != HTTP_DONE || result->status / 100 == 5) {
		char why[HTTP_MAX_ERROR_BYTES];

		(void)docker_api_succeeded(result, "GET /_ping", why);
		fail(w, why);
		return;
	}
	w->connected = true;
	docker_api_version(http_result_header(result, "Api-Version"), w->newest, w->status.version);
	follow(w);
}

static void connect_now(void *data)
{
	const struct http_request_options o = { .timeout_ns = PING_TIMEOUT_NS };
	struct docker_watch *w = data;
	char why[HTTP_MAX_ERROR_BYTES];

	disconnect(w);
	if (docker_api_get(w->http, &w->o.server, "/_ping", &o, on_ping, w, why, &w->ping) < 0)
		fail(w, why);
}

/* Also when nothing is to be looked at soon: an event may have been lost. */
static void wait_for_next(struct docker_watch *w)
{
	uint64_t now = clock_mono_ns();

	if (w->wanted)
		look_soon(w);
	else
		loop_timer_arm(w->look_timer, now + MAX_OF(w->o.refresh_interval_ns, LOOK_PACE_NS));
}

/* Of a look that no event asked for. A stream that told nothing of what is different now has lost its other end. */
static void mend_stream(struct docker_watch *w, bool other_targets)
{
	bool deaf = w->status.follows_events && other_targets;

	if (!deaf && !w->events.refused)
		return;
	w->status.follows_events = false;
	if (docker_events_ask(&w->events, &w->o.server, w->status.version) < 0)
		memcpy(w->status.events_why, w->events.why, sizeof(w->status.events_why));
}

static int take_answer(struct docker_watch *w, bool *ret_other_targets)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = docker_targets_make(w->list.containers, w->list.networks, &w->o.targets, &list,
				    &w->status.counts);

	if (r < 0)
		return r;
	*ret_other_targets = !target_list_equal(&w->targets, &list);
	if (*ret_other_targets) {
		struct target_list old = w->targets;

		w->targets = list;
		list = old;
	}
	return 0;
}

static void on_known(struct docker_watch *w, bool other_targets)
{
	bool polled = w->is_poll && w->looked;

	w->looked = true;
	w->n_failures = 0;
	w->status.n_lists++;
	w->status.state = DOCKER_KNOWN;
	*w->status.why = '\0';
	memcpy(w->status.networks_why, w->list.networks_why, sizeof(w->status.networks_why));
	docker_list_cancel(&w->list);
	wait_for_next(w);
	if (polled)
		mend_stream(w, other_targets);
	w->fn(other_targets, w->data);
}

static void on_list(struct docker_list *list, void *data)
{
	struct docker_watch *w = data;
	uint64_t begin_ns = clock_mono_ns();
	bool other_targets = false;

	if (!list->containers) {
		if (!try_newest(w, list->status))
			fail(w, list->why);
		return;
	}
	if (!list->networks && !list->networks_refused) {
		fail(w, list->networks_why);
		return;
	}
	int r = take_answer(w, &other_targets);
	uint64_t work_ns = list->work_ns + clock_mono_ns() - begin_ns;
	w->cost_ns = MAX_OF(LOOK_WORK_SHARE * work_ns, LOOK_PACE_NS);
	if (r == 0)
		on_known(w, other_targets);
	else
		fail(w, r == -EBADMSG ? "GET /containers/json was not answered with a list"
				      : strerrordesc_np(-r));
}

int docker_watch_new(struct loop *loop, struct http_client *http, docker_watch_fn fn, void *data,
		     struct docker_watch **ret_watch)
{
	_cleanup_(docker_watch_freep) struct docker_watch *w = calloc(1, sizeof(*w));

	assert(fn);
	if (!w)
		return -ENOMEM;
	w->http = http;
	w->fn = fn;
	w->data = data;
	docker_events_init(&w->events, http, on_news, w);
	docker_list_init(&w->list, http, on_list, w);
	int r = loop_timer_new(loop, connect_now, w, &w->connect_timer);
	if (r < 0)
		return r;
	r = loop_timer_new(loop, look, w, &w->look_timer);
	if (r < 0)
		return r;
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void docker_watch_free(struct docker_watch *w)
{
	if (!w)
		return;
	http_request_cancel(w->ping);
	docker_events_fini(&w->events);
	docker_list_cancel(&w->list);
	loop_timer_free(w->connect_timer);
	loop_timer_free(w->look_timer);
	target_list_fini(&w->targets);
	free(w);
}

void docker_watch_open(struct docker_watch *w, const struct docker_watch_options *o)
{
	disconnect(w);
	w->o = *o;
	w->newest = false;
	w->n_failures = w->n_short_streams = 0;
	w->paid_ns = 0;
	w->cost_ns = LOOK_PACE_NS;
	*w->status.events_why = '\0';
	connect_after(w, 0);
}

void docker_watch_adjust(struct docker_watch *w, const struct docker_watch_options *o)
{
	w->o = *o;
	if (w->connected)
		want_look(w);
}

const struct target_list *docker_watch_targets(const struct docker_watch *w)
{
	return &w->targets;
}

const struct docker_watch_status *docker_watch_status(const struct docker_watch *w)
{
	return &w->status;
}
