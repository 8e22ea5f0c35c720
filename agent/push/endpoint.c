/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One endpoint.
 *
 *	            put                     answer: sent / refused
 *	  caller ─────────► queue ─► flight ──────────────────────► gone
 *	                      ▲         │
 *	                      └─────────┘ no answer, or one that says "later"
 *
 * While all is well, up to max_in_flight requests are under way. The first failure begins an
 *outage: until an answer comes, there is one request at a time, each after a wait that grows. The
 *requests that were already under way when it began belong to the same *wave*; their failures say
 *nothing new, so only the first failure of a wave lengthens the wait.
 */
#include "agent/push/endpoint.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/http/retry_after.h"
#include "agent/http/url.h"
#include "agent/push/flight.h"
#include "agent/push/request.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

#define MESSAGE_MAX_BYTES 100
/* Of the label set in a log line. */
#define LABELS_TEXT_MAX_BYTES 1024

/* Refusals are logged once an interval for each of these; the last is for all others. */
static const unsigned int push_refusal_classes[] = { 400, 401, 403, 404, 413, 429, 0 };

struct push_endpoint {
	struct push_context *ctx;
	struct push_endpoint_options options; /* a copy */
	char *target_url;
	struct push_queue queue;
	struct list flights;
	size_t n_flights;
	size_t n_flying; /* profiles in them */
	size_t n_flying_bytes;
	struct loop_timer *timer;
	bool waiting;	      /* for the timer */
	uint64_t deadline_ns; /* of the flush; 0: none */
	unsigned int wave;
	struct push_endpoint_stats stats;
	struct push_reason last_error;
	struct push_metrics metrics;
	struct ratelimit refusals[ARRAY_SIZE(push_refusal_classes)];
};

static void endpoint_pump(struct push_endpoint *e);

static size_t endpoint_n_kept(const struct push_endpoint *e)
{
	return e->queue.n + e->n_flying;
}

static size_t endpoint_kept_bytes(const struct push_endpoint *e)
{
	return e->queue.n_bytes + e->n_flying_bytes;
}

static void endpoint_update_gauges(struct push_endpoint *e)
{
	metric_set(e->metrics.queue_profiles, (double)endpoint_n_kept(e));
	metric_set(e->metrics.queue_bytes, (double)endpoint_kept_bytes(e));
}

static void entry_free(struct push_entry *entry)
{
	push_profile_unref(entry->profile);
	free(entry);
}

static void endpoint_count_dropped(struct push_endpoint *e, enum push_drop_cause cause,
				   size_t n_bytes)
{
	e->stats.dropped_profiles++;
	e->stats.dropped_bytes += n_bytes;
	metric_add(e->metrics.dropped_profiles, 1);
	metric_add(e->metrics.dropped_bytes, n_bytes);
	metric_add(e->metrics.causes[cause], 1);
	if (cause != PUSH_DROP_FULL)
		return;
	telemetry_count(e->ctx->telemetry, TELEMETRY_push_queue_dropped_profiles, 1);
	telemetry_count(e->ctx->telemetry, TELEMETRY_push_queue_dropped_bytes, n_bytes);
}

static void endpoint_finish(struct push_endpoint *e, struct push_entry *entry)
{
	metric_observe(e->metrics.latency_endpoint,
		       (double)(clock_mono_ns() - entry->profile->begin_ns) / NS_PER_S);
	entry_free(entry);
}

static void endpoint_drop(struct push_endpoint *e, struct push_entry *entry,
			  enum push_drop_cause cause)
{
	endpoint_count_dropped(e, cause, entry->profile->bytes->n);
	endpoint_finish(e, entry);
}

static void endpoint_log_sent(const struct push_endpoint *e, const struct push_profile *p)
{
	_cleanup_buf_ struct buf labels = BUF_INIT(LABELS_TEXT_MAX_BYTES);

	push_labels_print(p->labels, p->n_labels, &labels);
	log_debug("profile pushed", LOG_STR("endpoint", e->options.url),
		  LOG_UINT("bytes", p->bytes->n), LOG_UINT("samples", p->n_samples),
		  LOG_STR("labels", buf_str(&labels)));
}

static void endpoint_sent(struct push_endpoint *e, struct push_entry *entry)
{
	e->stats.sent_profiles++;
	e->stats.sent_bytes += entry->profile->bytes->n;
	e->stats.sent_samples += entry->profile->n_samples;
	metric_add(e->metrics.sent_profiles, 1);
	metric_add(e->metrics.sent_bytes, entry->profile->bytes->n);
	if (log_enabled(LOG_LEVEL_DEBUG))
		endpoint_log_sent(e, entry->profile);
	endpoint_finish(e, entry);
}

static struct ratelimit *endpoint_refusal_limit(struct push_endpoint *e, unsigned int status)
{
	size_t i = 0;

	while (push_refusal_classes[i] != status && push_refusal_classes[i] != 0)
		i++;
	return &e->refusals[i];
}

static void endpoint_refused(struct push_endpoint *e, struct push_entry *entry, unsigned int status,
			     const struct push_reason *reason)
{
	_cleanup_buf_ struct buf labels = BUF_INIT(LABELS_TEXT_MAX_BYTES);
	char message[MESSAGE_MAX_BYTES];

	e->last_error = *reason;
	push_labels_print(entry->profile->labels, entry->profile->n_labels, &labels);
	(void)snprintf(message, sizeof(message), "%s refused a profile", e->ctx->protocol->server);
	log_write(LOG_LEVEL_WARN, endpoint_refusal_limit(e, status), message,
		  (const struct log_field[]){ LOG_STR("endpoint", e->options.url),
					      LOG_STR("err", reason->text),
					      LOG_UINT("bytes", entry->profile->bytes->n),
					      LOG_STR("labels", buf_str(&labels)),
					      { .key = NULL } });
	endpoint_drop(e, entry, PUSH_DROP_REFUSED);
}

/* Any answer that is not "later" ends an outage, also a refusal: somebody is there. One to a
 * request of before the outage says nothing about now. */
static void endpoint_is_back(struct push_endpoint *e, unsigned int wave)
{
	char down_for[32], message[MESSAGE_MAX_BYTES];

	if (e->stats.n_failures == 0 || wave != e->wave)
		return;
	(void)snprintf(down_for, sizeof(down_for), "%.1fs",
		       (double)(clock_mono_ns() - e->stats.failing_since_ns) / NS_PER_S);
	(void)snprintf(message, sizeof(message), "%s takes profiles again",
		       e->ctx->protocol->server);
	log_info(message, LOG_STR("endpoint", e->options.url),
		 LOG_UINT("failures", e->stats.n_failures), LOG_STR("down_for", down_for),
		 LOG_UINT("kept_profiles", endpoint_n_kept(e)),
		 LOG_UINT("kept_bytes", endpoint_kept_bytes(e)));
	e->stats.n_failures = 0;
}

static void endpoint_log_outage(struct push_endpoint *e, unsigned int status, uint64_t wait_ns)
{
	const char *server = e->ctx->protocol->server;
	char retry_in[32], message[MESSAGE_MAX_BYTES];

	if (status == 0)
		(void)snprintf(message, sizeof(message), "cannot reach %s", server);
	else
		(void)snprintf(message, sizeof(message), "%s takes no profiles for now", server);
	(void)snprintf(retry_in, sizeof(retry_in), "%.1fs", (double)wait_ns / NS_PER_S);
	log_warn(message, LOG_STR("endpoint", e->options.url), LOG_STR("err", e->last_error.text),
		 LOG_UINT("kept_profiles", endpoint_n_kept(e)),
		 LOG_UINT("kept_bytes", endpoint_kept_bytes(e)), LOG_STR("retry_in", retry_in));
}

static uint64_t endpoint_next_wait(struct push_endpoint *e, uint64_t server_wait_ns)
{
	e->ctx->random += 0x9e3779b97f4a7c15ULL;
	return backoff_wait_ns(&e->options.backoff, e->stats.n_failures, hash_u64(e->ctx->random),
			       server_wait_ns);
}

/* One more failure in a row; the entry is back in the queue already. */
static void endpoint_failed(struct push_endpoint *e, unsigned int status, uint64_t server_wait_ns)
{
	uint64_t now = clock_mono_ns();

	e->wave++;
	if (e->stats.n_failures++ == 0)
		e->stats.failing_since_ns = now;
	uint64_t wait_ns = endpoint_next_wait(e, server_wait_ns);
	if (e->stats.n_failures == 1)
		endpoint_log_outage(e, status, wait_ns);
	if (e->deadline_ns != 0 && now + wait_ns >= e->deadline_ns) {
		push_endpoint_give_up(e);
		return;
	}
	e->waiting = true;
	loop_timer_arm(e->timer, now + wait_ns);
}

static void entry_retry(struct push_endpoint *e, struct push_entry *entry)
{
	entry->n_attempts++;
	if (backoff_has_attempt(&e->options.backoff, entry->n_attempts)) {
		metric_add(e->metrics.retries, 1);
		push_queue_put(&e->queue, entry);
	} else {
		endpoint_drop(e, entry, PUSH_DROP_ATTEMPTS);
	}
}

static void endpoint_retry(struct push_endpoint *e, struct push_flight *flight, unsigned int status,
			   const struct push_reason *reason, uint64_t server_wait_ns)
{
	struct push_entry *entry;

	e->last_error = *reason;
	while ((entry = push_flight_take(flight)))
		entry_retry(e, entry);
	if (flight->wave == e->wave)
		endpoint_failed(e, status, server_wait_ns);
}

static uint64_t endpoint_server_wait(const struct http_result *result)
{
	uint64_t wait_ns;

	return retry_after_parse(str_from(result->retry_after), clock_real_ns(), &wait_ns) ? wait_ns
											   : 0;
}

static void endpoint_remove(struct push_endpoint *e, struct push_flight *flight)
{
	list_remove(&flight->node);
	e->n_flights--;
	e->n_flying -= flight->n;
	e->n_flying_bytes -= flight->n_bytes;
}

/* What is in a request has its fate in common. */
static void endpoint_judge(struct push_endpoint *e, struct push_flight *flight,
			   const struct http_result *result)
{
	struct push_entry *entry;
	struct push_reason reason;

	switch (e->ctx->protocol->judge(result, e->options.retry_on_http_429, &reason)) {
	case PUSH_SENT:
		while ((entry = push_flight_take(flight)))
			endpoint_sent(e, entry);
		endpoint_is_back(e, flight->wave);
		break;
	case PUSH_DROP:
		while ((entry = push_flight_take(flight)))
			endpoint_refused(e, entry, result->status, &reason);
		endpoint_is_back(e, flight->wave);
		break;
	case PUSH_RETRY:
		endpoint_retry(e, flight, push_has_answer(result) ? result->status : 0, &reason,
			       endpoint_server_wait(result));
		break;
	}
}

static void endpoint_on_done(const struct http_result *result, void *data)
{
	_cleanup_(push_flight_freep) struct push_flight *flight = data;
	struct push_endpoint *e = flight->endpoint;

	flight->request = NULL;
	endpoint_remove(e, flight);
	metric_observe(e->metrics.latency_attempt, (double)result->time_ns / NS_PER_S);
	endpoint_judge(e, flight, result);
	endpoint_pump(e);
}

static void endpoint_add(struct push_endpoint *e, struct push_flight *flight)
{
	list_push_back(&e->flights, &flight->node);
	e->n_flights++;
	e->n_flying += flight->n;
	e->n_flying_bytes += flight->n_bytes;
}

static int endpoint_send(struct push_endpoint *e, struct push_flight *flight,
			 struct push_reason *ret_reason)
{
	const struct push_target target = { e->ctx->protocol, &e->options, e->target_url,
					    e->ctx->user_agent };

	flight->wave = e->wave;
	return push_request_start(e->ctx->http, &target, &flight->body, endpoint_on_done, flight,
				  &flight->request, ret_reason);
}

static void endpoint_start(struct push_endpoint *e, struct push_entry *first)
{
	_cleanup_(push_flight_freep) struct push_flight *flight = push_flight_new(e);
	struct push_reason reason;
	struct push_entry *entry;

	if (!flight) {
		endpoint_drop(e, first, PUSH_DROP_ENCODE);
		return;
	}
	push_flight_add(flight, first);
	if (push_flight_encode(flight, e->ctx->protocol) < 0) {
		while ((entry = push_flight_take(flight)))
			endpoint_drop(e, entry, PUSH_DROP_ENCODE);
		return;
	}
	if (endpoint_send(e, flight, &reason) < 0)
		endpoint_retry(e, flight, 0, &reason, 0);
	else
		endpoint_add(e, TAKE_PTR(flight));
}

static void endpoint_drop_old(struct push_endpoint *e)
{
	uint64_t now = clock_real_ns();
	struct push_entry *entry;

	while (now > e->ctx->max_age_ns &&
	       (entry = push_queue_take_older(&e->queue, now - e->ctx->max_age_ns)))
		endpoint_drop(e, entry, PUSH_DROP_AGE);
}

static void endpoint_pump(struct push_endpoint *e)
{
	struct push_entry *entry;

	endpoint_drop_old(e);
	while (!e->waiting &&
	       e->n_flights < (e->stats.n_failures > 0 ? 1 : e->ctx->max_in_flight) &&
	       (entry = push_queue_take_next(&e->queue)))
		endpoint_start(e, entry);
	endpoint_update_gauges(e);
	if (push_endpoint_is_idle(e))
		e->ctx->on_idle(e->ctx->on_idle_data);
}

static void endpoint_on_timer(void *data)
{
	struct push_endpoint *e = data;

	e->waiting = false;
	endpoint_pump(e);
}

void push_endpoint_put(struct push_endpoint *e, struct push_profile *profile)
{
	struct push_entry *entry = calloc(1, sizeof(*entry));

	if (!entry || profile->n > e->queue.max_bytes) {
		free(entry);
		endpoint_count_dropped(e, PUSH_DROP_FULL, profile->bytes->n);
		return;
	}
	entry->profile = push_profile_ref(profile);
	push_queue_put(&e->queue, entry);
	while (push_queue_is_over(&e->queue))
		endpoint_drop(e, push_queue_take_oldest(&e->queue), PUSH_DROP_FULL);
	endpoint_pump(e);
}

void push_endpoint_lost(struct push_endpoint *e, enum push_drop_cause cause, size_t n_bytes)
{
	endpoint_count_dropped(e, cause, n_bytes);
}

bool push_endpoint_is_idle(const struct push_endpoint *e)
{
	return endpoint_n_kept(e) == 0;
}

/* An attempt at once, also in the middle of a wait: the server may be back, and there will be no
 * later. */
void push_endpoint_flush(struct push_endpoint *e, uint64_t deadline_ns)
{
	e->deadline_ns = deadline_ns;
	e->waiting = false;
	loop_timer_disarm(e->timer);
	endpoint_pump(e);
}

static void endpoint_land(struct push_endpoint *e)
{
	LIST_FOREACH (&e->flights, node) {
		struct push_flight *flight = LIST_ENTRY(node, struct push_flight, node);
		struct push_entry *entry;

		endpoint_remove(e, flight);
		while ((entry = push_flight_take(flight)))
			push_queue_put(&e->queue, entry);
		push_flight_free(flight);
	}
}

void push_endpoint_give_up(struct push_endpoint *e)
{
	struct push_entry *entry;

	e->waiting = false;
	loop_timer_disarm(e->timer);
	endpoint_land(e);
	if (e->queue.n > 0)
		log_warn("profiles could not be pushed before the end",
			 LOG_STR("endpoint", e->options.url), LOG_UINT("profiles", e->queue.n),
			 LOG_UINT("bytes", e->queue.n_bytes), LOG_STR("err", e->last_error.text));
	while ((entry = push_queue_take_oldest(&e->queue)))
		endpoint_drop(e, entry, PUSH_DROP_SHUTDOWN);
	endpoint_update_gauges(e);
}

void push_endpoint_stats_get(const struct push_endpoint *e, struct push_endpoint_stats *ret_stats)
{
	*ret_stats = e->stats;
	ret_stats->url = e->options.url;
	ret_stats->queued_profiles = endpoint_n_kept(e);
	ret_stats->queued_bytes = endpoint_kept_bytes(e);
	ret_stats->last_error = e->last_error.text;
}

static int endpoint_make_url(struct push_endpoint *e)
{
	_cleanup_buf_ struct buf joined = BUF_INIT(2 * URL_MAX_BYTES);
	struct url url;

	if (url_parse(str_from(e->options.url), &url) != URL_OK)
		return -EINVAL;
	int r = url_join(&joined, &url, e->ctx->protocol->path);
	if (r < 0)
		return r;
	e->target_url = buf_take(&joined);
	return e->target_url ? 0 : -ENOMEM;
}

static void endpoint_warn_about_headers(const struct push_endpoint *e,
					const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (push_header_is_ours(e->ctx->protocol, headers[i].name))
			log_warn("header is set by xagent, the configured value is not used",
				 LOG_STR("header", headers[i].name));
}

static int endpoint_make_token_source(struct push_endpoint *e,
				      const struct http_oauth2_options *options)
{
	if (!options)
		return 0;
	struct http_oauth2_options o = *options;
	o.user_agent = e->ctx->user_agent;
	o.timeout_ns = e->options.remote_timeout_ns;
	return http_oauth2_new(e->ctx->loop, e->ctx->http, &o, &e->options.token_source);
}

static int endpoint_init(struct push_endpoint *e, const struct push_endpoint_options *options)
{
	int r = push_endpoint_options_copy(options, &e->options);

	if (r == 0)
		r = endpoint_make_url(e);
	if (r == 0)
		r = endpoint_make_token_source(e, options->oauth2);
	if (r == 0)
		r = loop_timer_new(e->ctx->loop, endpoint_on_timer, e, &e->timer);
	if (r < 0)
		return r;
	push_metrics_init(&e->metrics, e->ctx->telemetry, e->options.url, e->ctx->component_path,
			  e->ctx->component_id);
	endpoint_warn_about_headers(e, e->options.headers, e->options.n_headers);
	endpoint_warn_about_headers(e, e->options.http_headers, e->options.n_http_headers);
	return 0;
}

int push_endpoint_new(struct push_context *ctx, const struct push_endpoint_options *options,
		      struct push_endpoint **ret_endpoint)
{
	_cleanup_(push_endpoint_freep) struct push_endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->ctx = ctx;
	list_init(&e->flights);
	push_queue_init(&e->queue, ctx->max_queue_items, ctx->max_queue_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(e->refusals); i++)
		e->refusals[i] =
			(struct ratelimit){ .interval_ns = ctx->log_interval_ns, .burst = 1 };
	int r = endpoint_init(e, options);
	if (r < 0)
		return r;
	*ret_endpoint = TAKE_PTR(e);
	return 0;
}

void push_endpoint_free(struct push_endpoint *e)
{
	if (!e)
		return;
	if (e->metrics.sent_bytes)
		push_endpoint_give_up(e);
	push_queue_fini(&e->queue);
	loop_timer_free(e->timer);
	free(e->target_url);
	http_oauth2_free(e->options.token_source);
	push_endpoint_options_fini(&e->options);
	free(e);
}
