/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a profile at an endpoint: it is counted, and logged where a person should know. */
#include "agent/push/endpoint_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/util/clock.h"
#include "agent/util/log.h"

#define MESSAGE_MAX_BYTES 100
/* Of the label set in a log line. */
#define LABELS_TEXT_MAX_BYTES 1024

/* The last is for all others. */
static const unsigned int push_refusal_classes[PUSH_REFUSAL_CLASSES] = { 400, 401, 403, 404,
									 413, 429, 0 };

static void entry_free(struct push_entry *entry)
{
	push_profile_unref(entry->profile);
	free(entry);
}

void endpoint_count_dropped(struct push_endpoint *e, enum push_drop_cause cause, size_t n_bytes)
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
		       (double)push_profile_age_ns(entry->profile) / NS_PER_S);
	if (entry->item) {
		e->n_out--;
		spool_finish(e->spool, entry->item);
	}
	entry_free(entry);
}

void endpoint_drop(struct push_endpoint *e, struct push_entry *entry, enum push_drop_cause cause)
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

void endpoint_sent(struct push_endpoint *e, struct push_entry *entry)
{
	e->stats.sent_profiles++;
	e->stats.sent_bytes += entry->profile->bytes->n;
	e->stats.sent_samples += entry->profile->n_samples;
	metric_add(e->metrics.sent_profiles, 1);
	metric_add(e->metrics.sent_bytes, entry->profile->bytes->n);
	metric_add(e->metrics.sent_samples, entry->profile->n_samples);
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

void endpoint_refused(struct push_endpoint *e, struct push_entry *entry, unsigned int status,
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
void endpoint_is_back(struct push_endpoint *e, unsigned int wave)
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

void endpoint_log_outage(const struct push_endpoint *e, unsigned int status, uint64_t wait_ns)
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
