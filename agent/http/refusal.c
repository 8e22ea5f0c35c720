/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of refused requests and ended connections. */
#include "agent/http/refusal.h"

static const struct metric_family refused_family = {
	"xagent_http_requests_refused_total",
	"requests that were refused before anything was done for them",
	METRIC_COUNTER,
	{ "reason", NULL },
};

static const struct metric_family ended_family = {
	"xagent_http_connections_ended_total",
	"connections that the server ended, because they were slow or another one needed the place",
	METRIC_COUNTER,
	{ "reason", NULL },
};

static struct metric *series(struct telemetry *t, const struct metric_family *family,
			     const char *reason)
{
	return telemetry_series(t, family, (const char *const[]){ reason });
}

void http_counts_init(struct http_counts *c, struct telemetry *t)
{
	*c = (struct http_counts){ 0 };
	if (!t)
		return;
#define REFUSED(name) c->refused[HTTP_REFUSED_##name] = series(t, &refused_family, #name);
	HTTP_REFUSALS(REFUSED)
#undef REFUSED
#define ENDED(name) c->ended[HTTP_ENDED_##name] = series(t, &ended_family, #name);
	HTTP_CONNECTION_ENDS(ENDED)
#undef ENDED
}

void http_counts_refused(const struct http_counts *c, enum http_refusal why)
{
	if (c->refused[why])
		metric_add(c->refused[why], 1);
}

void http_counts_ended(const struct http_counts *c, enum http_connection_end why)
{
	if (c->ended[why])
		metric_add(c->ended[why], 1);
}
