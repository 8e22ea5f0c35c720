/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's stream of events, as long as it goes on. */
#include "agent/discovery/docker_events.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/http/url.h"
#include "agent/util/clock.h"

#define EVENTS "/events"
#define FILTERS "{\"type\":[\"container\",\"network\"]}"
/* Events of a little before are told again: the daemon answers before it begins to listen to itself. */
#define SINCE_MARGIN_NS NS_PER_S
/* An event has the container's labels, and they may be many. */
#define EVENT_MAX_BYTES ((size_t)4 << 20)

static int on_event(json_t *event, void *data)
{
	struct docker_events *e = data;

	if (!docker_event_matters(event))
		return 0;
	e->n_changes++;
	e->fn(DOCKER_EVENTS_CHANGE, e->data);
	return 0;
}

static bool on_data(const char *bytes, size_t n, void *data)
{
	struct docker_events *e = data;
	int r = json_stream_feed(&e->stream, bytes, n, on_event, e);

	if (r < 0)
		(void)snprintf(e->why, sizeof(e->why), "GET " EVENTS ": %s",
			       r == -EMSGSIZE  ? "an event is too large"
			       : r == -EBADMSG ? "that is no JSON"
					       : strerrordesc_np(-r));
	return r == 0;
}

static void on_open(void *data)
{
	struct docker_events *e = data;

	e->opened_ns = clock_mono_ns();
	e->fn(DOCKER_EVENTS_OPEN, e->data);
}

static void on_done(const struct http_result *result, void *data)
{
	struct docker_events *e = data;

	e->request = NULL;
	e->status = result->status;
	e->refused = result->outcome == HTTP_DONE && result->status / 100 != 2;
	/* What was wrong with the data says more than that they were not wanted. */
	if (!*e->why && docker_api_succeeded(result, "GET " EVENTS, e->why))
		(void)snprintf(e->why, sizeof(e->why), "GET " EVENTS ": the stream ended");
	e->fn(DOCKER_EVENTS_END, e->data);
}

void docker_events_init(struct docker_events *e, struct http_client *http, docker_events_fn fn,
			void *data)
{
	*e = (struct docker_events){ .http = http, .fn = fn, .data = data };
	json_stream_init(&e->stream, EVENT_MAX_BYTES);
}

void docker_events_cancel(struct docker_events *e)
{
	http_request_cancel(TAKE_PTR(e->request));
	json_stream_reset(&e->stream);
	e->opened_ns = 0;
}

void docker_events_fini(struct docker_events *e)
{
	docker_events_cancel(e);
	json_stream_fini(&e->stream);
}

static int events_path(struct buf *out, const char *version)
{
	uint64_t since_ns = clock_real_ns() - SINCE_MARGIN_NS;
	int r = buf_printf(out, "%s" EVENTS "?since=%" PRIu64 ".%09" PRIu64 "&filters=", version,
			   (uint64_t)(since_ns / NS_PER_S), (uint64_t)(since_ns % NS_PER_S));

	return r == 0 ? docker_api_escape(out, FILTERS) : r;
}

int docker_events_ask(struct docker_events *e, const struct docker_server *server,
		      const char *version)
{
	const struct http_request_options o = { .on_data = on_data, .on_open = on_open };
	_cleanup_buf_ struct buf path = BUF_INIT(URL_MAX_BYTES);

	docker_events_cancel(e);
	*e->why = '\0';
	e->refused = false;
	e->status = 0;
	int r = events_path(&path, version);
	if (r < 0)
		return r;
	return docker_api_get(e->http, server, buf_str(&path), &o, on_done, e, e->why, &e->request);
}
