/* SPDX-License-Identifier: Apache-2.0 */
/* What an endpoint has on disk. */
#include <stdlib.h>

#include "agent/push/endpoint_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

static void on_put(void *data, struct push_entry *entry, bool written)
{
	struct push_endpoint *e = data;

	e->n_writing--;
	e->n_writing_bytes -= entry->profile->n;
	if (written) {
		push_profile_unref(entry->profile);
		free(entry);
	} else {
		push_queue_put(&e->queue, entry);
	}
	endpoint_unload(e);
	while (push_queue_is_over(&e->queue))
		endpoint_drop(e, push_queue_take_oldest(&e->queue), PUSH_DROP_FULL);
	endpoint_pump(e);
}

static void start_loaded(struct push_endpoint *e, struct spool_item *item,
			 struct push_profile *profile)
{
	struct push_entry *entry = calloc(1, sizeof(*entry));

	if (!entry || e->given_up || e->waiting || e->deadline_ns != 0) {
		free(entry);
		push_profile_unref(profile);
		spool_put_back(e->spool, item, spool_item_attempts(item));
		return;
	}
	entry->profile = profile;
	entry->item = item;
	entry->n_attempts = spool_item_attempts(item);
	e->n_out++;
	if (profile->deadline_ns < clock_real_ns())
		endpoint_drop(e, entry, PUSH_DROP_AGE);
	else
		endpoint_start(e, entry);
}

static void on_loaded(void *data, struct spool_item *item, struct push_profile *profile)
{
	struct push_endpoint *e = data;

	e->n_loading--;
	if (item)
		start_loaded(e, item, profile);
	endpoint_pump(e);
}

static void on_lost(void *data, enum spool_loss loss, size_t n_profile_bytes)
{
	static const enum push_drop_cause causes[] = {
		[SPOOL_LOSS_FULL] = PUSH_DROP_SPOOL_FULL,
		[SPOOL_LOSS_AGE] = PUSH_DROP_AGE,
		[SPOOL_LOSS_DAMAGED] = PUSH_DROP_SPOOL_DAMAGED,
	};

	endpoint_count_dropped(data, causes[loss], n_profile_bytes);
}

static void on_ready(void *data, size_t n_found)
{
	struct push_endpoint *e = data;

	metric_add(e->metrics.spool_found, n_found);
	endpoint_unload(e);
	endpoint_pump(e);
}

int endpoint_spool_new(struct push_endpoint *e)
{
	const struct spool_options options = {
		.path = e->options.spool_path,
		.owner = e->options.url,
		.max_bytes = e->options.spool_max_bytes,
		.max_age_ns = e->options.spool_max_age_ns,
		.retry_ns = SPOOL_RETRY_NS,
	};
	const struct spool_callbacks callbacks = { on_put, on_loaded, on_lost, on_ready, e };

	return spool_new(e->ctx->loop, &options, &callbacks, &e->spool);
}

static bool unload_one(struct push_endpoint *e)
{
	if (!spool_takes(e->spool))
		return false;
	struct push_entry *entry =
		push_queue_take_small(&e->queue, spool_max_profile_bytes(e->spool));

	if (!entry)
		return false;
	if (!spool_put(e->spool, entry)) {
		push_queue_put(&e->queue, entry);
		return false;
	}
	e->n_writing++;
	e->n_writing_bytes += entry->profile->n;
	return true;
}

void endpoint_unload(struct push_endpoint *e)
{
	while (e->spool && e->queue.n > 0 &&
	       (e->stats.n_failures > 0 || push_queue_is_over(&e->queue)) && unload_one(e))
		;
}

void endpoint_unload_all(struct push_endpoint *e)
{
	struct spool_stats s;

	if (!e->spool)
		return;
	spool_drain(e->spool);
	/* Opens it where it is not open. */
	if (e->queue.n > 0 && !spool_takes(e->spool))
		spool_drain(e->spool);
	while (e->queue.n > 0 && unload_one(e)) {
		while (unload_one(e))
			;
		spool_drain(e->spool);
	}
	spool_stats_get(e->spool, &s);
	if (s.n > 0)
		log_info("profiles wait on disk for the next start",
			 LOG_STR("endpoint", e->options.url), LOG_UINT("profiles", s.n));
}

bool endpoint_load(struct push_endpoint *e)
{
	if (!e->spool || e->deadline_ns != 0 || !spool_has(e->spool) || !spool_load(e->spool))
		return false;
	e->n_loading++;
	return true;
}

void endpoint_put_back(struct push_endpoint *e, struct push_entry *entry, unsigned int n_attempts)
{
	e->n_out--;
	spool_put_back(e->spool, entry->item, n_attempts);
	push_profile_unref(entry->profile);
	free(entry);
}

static double oldest_seconds(const struct push_endpoint *e, const struct spool_stats *s)
{
	uint64_t now_ns = clock_real_ns(), ns = 0;

	if (!list_empty(&e->queue.entries))
		ns = push_profile_age_ns(
			LIST_ENTRY(e->queue.entries.next, struct push_entry, node)->profile);
	if (s->oldest_ns != 0 && s->oldest_ns < now_ns && now_ns - s->oldest_ns > ns)
		ns = now_ns - s->oldest_ns;
	return (double)ns / NS_PER_S;
}

void endpoint_update_spool_gauges(struct push_endpoint *e)
{
	struct spool_stats s = { 0 };

	if (e->spool)
		spool_stats_get(e->spool, &s);
	metric_set(e->metrics.spool_bytes, (double)s.n_bytes);
	metric_set(e->metrics.spool_profiles, (double)s.n);
	metric_set(e->metrics.spool_failing, s.failing);
	metric_set(e->metrics.oldest, oldest_seconds(e, &s));
}
