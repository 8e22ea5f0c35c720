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
#include "agent/push/endpoint_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/retry_after.h"
#include "agent/push/relay.h"
#include "agent/push/request.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

static void endpoint_update_gauges(struct push_endpoint *e)
{
	metric_set(e->metrics.queue_profiles, (double)(e->queue.n + e->n_flying + e->n_writing));
	metric_set(e->metrics.queue_bytes, (double)endpoint_kept_bytes(e));
	endpoint_update_spool_gauges(e);
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
	endpoint_unload(e);
}

/* A server that is away says nothing about the profile, which may wait for it on disk as long as it may. */
static bool is_attempt(const struct push_endpoint *e, unsigned int status)
{
	struct spool_stats s = { 0 };

	if (e->spool)
		spool_stats_get(e->spool, &s);
	return !s.open || s.failing || (status != 0 && (status < 502 || status > 504));
}

static void entry_retry(struct push_endpoint *e, struct push_entry *entry, unsigned int status)
{
	entry->n_attempts += is_attempt(e, status);
	if (!backoff_has_attempt(&e->options.backoff, entry->n_attempts)) {
		endpoint_drop(e, entry, PUSH_DROP_ATTEMPTS);
		return;
	}
	metric_add(e->metrics.retries, 1);
	if (entry->item)
		endpoint_put_back(e, entry, entry->n_attempts);
	else
		push_queue_put(&e->queue, entry);
}

static void endpoint_retry(struct push_endpoint *e, struct push_flight *flight, unsigned int status,
			   const struct push_reason *reason, uint64_t server_wait_ns)
{
	struct push_entry *entry;

	e->last_error = *reason;
	while ((entry = push_flight_take(flight)))
		entry_retry(e, entry, status);
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

/* An answer to /ingest has no body. */
static enum push_verdict endpoint_verdict(const struct push_endpoint *e,
					  const struct push_flight *flight,
					  const struct http_result *result,
					  struct push_reason *ret_reason)
{
	if (flight->relay && push_has_answer(result) && result->status / 100 == 2)
		return PUSH_SENT;
	return e->ctx->protocol->judge(result, e->options.retry_on_http_429, ret_reason);
}

/* What is in a request has its fate in common. */
static void endpoint_judge(struct push_endpoint *e, struct push_flight *flight,
			   const struct http_result *result)
{
	struct push_entry *entry;
	struct push_reason reason;

	switch (endpoint_verdict(e, flight, result, &reason)) {
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

static int endpoint_start_request(struct push_endpoint *e, struct push_flight *flight,
				  const char *url, const char *content_type,
				  struct push_reason *ret_reason)
{
	const struct push_target target = { .protocol = e->ctx->protocol,
					    .options = &e->options,
					    .url = url,
					    .user_agent = e->ctx->user_agent,
					    .content_type = content_type };

	flight->wave = e->wave;
	return push_request_start(e->ctx->http, &target, &flight->body, endpoint_on_done, flight,
				  &flight->request, ret_reason);
}

/* A flush waits for nobody's moment, nor does a queue that might have to give up what waits. */
static uint64_t endpoint_now(const struct push_endpoint *e)
{
	return e->deadline_ns != 0 || push_queue_is_half_full(&e->queue) ? UINT64_MAX
									 : clock_mono_ns();
}

static int endpoint_relay(struct push_endpoint *e, struct push_flight *flight,
			  struct push_reason *ret_reason)
{
	const struct push_profile *profile =
		LIST_ENTRY(flight->entries.next, struct push_entry, node)->profile;
	_cleanup_buf_ struct buf url = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf type = BUF_INIT(PUSH_RELAY_MAX_BYTES + 1);
	int r = push_relay_url(profile, e->options.url, &url);

	r = r < 0 ? r : push_relay_type(flight->relay, &type);
	if (r < 0) {
		(void)snprintf(ret_reason->text, sizeof(ret_reason->text), "%s",
			       strerrordesc_np(-r));
		return r;
	}
	return endpoint_start_request(e, flight, buf_str(&url), buf_str(&type), ret_reason);
}

static int endpoint_send(struct push_endpoint *e, struct push_flight *flight,
			 struct push_reason *ret_reason)
{
	return flight->relay ? endpoint_relay(e, flight, ret_reason)
			     : endpoint_start_request(e, flight, e->target_url, NULL, ret_reason);
}

/* What shares a request with the first. */
static void endpoint_fill(struct push_endpoint *e, struct push_flight *flight, bool alone)
{
	struct push_entry *entry;

	while (!alone && flight->n < e->ctx->protocol->batch &&
	       (entry = push_queue_take_fresh(&e->queue, endpoint_now(e), flight->n_bytes)))
		push_flight_add(flight, entry);
}

void endpoint_start(struct push_endpoint *e, struct push_entry *first)
{
	_cleanup_(push_flight_freep) struct push_flight *flight = push_flight_new(e);
	struct push_reason reason;
	struct push_entry *entry;

	if (!flight) {
		endpoint_drop(e, first, PUSH_DROP_ENCODE);
		return;
	}
	push_flight_add(flight, first);
	endpoint_fill(e, flight, first->n_attempts > 0);
	if (push_flight_encode(flight, e->ctx->protocol) < 0) {
		while ((entry = push_flight_take(flight)))
			endpoint_drop(e, entry, PUSH_DROP_ENCODE);
		return;
	}
	if (endpoint_send(e, flight, &reason) < 0) {
		endpoint_retry(e, flight, 0, &reason, 0);
		return;
	}
	metric_add(e->metrics.request_bytes, flight->body.n);
	endpoint_add(e, TAKE_PTR(flight));
}

static void endpoint_drop_late(struct push_endpoint *e)
{
	uint64_t now_ns = clock_real_ns();
	struct push_entry *entry;

	while ((entry = push_queue_take_late(&e->queue, now_ns)))
		endpoint_drop(e, entry, PUSH_DROP_AGE);
	if (e->spool)
		spool_drop_late(e->spool, now_ns);
}

/* What is new goes first, since it is looked at first; every fourth comes from the disk, so that what waits there ends. */
static bool endpoint_start_next(struct push_endpoint *e)
{
	struct push_entry *entry = NULL;

	if (e->turn++ % 4 != 3)
		entry = push_queue_take_next(&e->queue, endpoint_now(e));
	if (!entry && endpoint_load(e))
		return true;
	if (!entry)
		entry = push_queue_take_next(&e->queue, endpoint_now(e));
	if (entry)
		endpoint_start(e, entry);
	return entry;
}

static bool endpoint_has_place(const struct push_endpoint *e)
{
	return !e->waiting && !e->given_up &&
	       e->n_flights + e->n_loading < (e->stats.n_failures > 0 ? 1 : e->ctx->max_in_flight);
}

/* The timer is free while nothing fails. */
static void endpoint_arm(struct push_endpoint *e)
{
	uint64_t next_ns = push_queue_next_begin(&e->queue, endpoint_now(e));

	if (next_ns != 0 && !e->waiting && !e->given_up)
		loop_timer_arm(e->timer, next_ns);
}

void endpoint_pump(struct push_endpoint *e)
{
	endpoint_drop_late(e);
	while (endpoint_has_place(e) && endpoint_start_next(e))
		;
	endpoint_arm(e);
	endpoint_update_gauges(e);
	if (push_endpoint_is_idle(e))
		e->ctx->on_idle(e->ctx->on_idle_data);
}

void endpoint_on_timer(void *data)
{
	struct push_endpoint *e = data;

	e->waiting = false;
	endpoint_pump(e);
}

/* Where requests are of several, with all that comes in this turn of the loop. */
static void endpoint_pump_soon(struct push_endpoint *e)
{
	if (e->ctx->protocol->batch == 1 || e->waiting) {
		endpoint_pump(e);
		return;
	}
	loop_timer_arm(e->timer, clock_mono_ns());
	endpoint_update_gauges(e);
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
	endpoint_unload(e);
	while (push_queue_is_over(&e->queue))
		endpoint_drop(e, push_queue_take_oldest(&e->queue), PUSH_DROP_FULL);
	endpoint_pump_soon(e);
}

bool push_endpoint_has_room(const struct push_endpoint *e, size_t n_bytes)
{
	const struct push_queue *q = &e->queue;

	return q->n < q->max_items && n_bytes <= q->max_bytes &&
	       q->n_bytes <= q->max_bytes - n_bytes;
}

void push_endpoint_lost(struct push_endpoint *e, enum push_drop_cause cause, size_t n_bytes)
{
	endpoint_count_dropped(e, cause, n_bytes);
}

bool push_endpoint_is_idle(const struct push_endpoint *e)
{
	return e->queue.n + e->n_flying + e->n_writing + e->n_loading == 0;
}

/* An attempt at once, also in the middle of a wait: the server may be back, and there will be no
 * later. */
void push_endpoint_flush(struct push_endpoint *e, uint64_t deadline_ns)
{
	e->deadline_ns = deadline_ns;
	e->waiting = false;
	loop_timer_disarm(e->timer);
	endpoint_unload(e);
	endpoint_pump(e);
}

static void endpoint_land(struct push_endpoint *e)
{
	LIST_FOREACH (&e->flights, node) {
		struct push_flight *flight = LIST_ENTRY(node, struct push_flight, node);
		struct push_entry *entry;

		endpoint_remove(e, flight);
		while ((entry = push_flight_take(flight))) {
			if (entry->item)
				endpoint_put_back(e, entry, entry->n_attempts);
			else
				push_queue_put(&e->queue, entry);
		}
		push_flight_free(flight);
	}
}

void push_endpoint_give_up(struct push_endpoint *e)
{
	struct push_entry *entry;

	e->waiting = false;
	e->given_up = true;
	loop_timer_disarm(e->timer);
	endpoint_land(e);
	endpoint_unload_all(e);
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
