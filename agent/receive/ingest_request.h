/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of /ingest, from its query and body to profiles: what a Pyroscope server would make of it, as if it had been a Push. Any thread;
 * takes no more than its budget.
 *
 *	labels	__name__ by the types of values, or by the end of the app's name; service_name from the app, if the name has none; __delta__="false",
 *		as values have been subtracted where that is needed; pyroscope_spy. Others that begin with "__" end here
 *	pprof	goes on as it came (pprof_adapt.h), alone or as part "profile" of a form
 *	others	become pprof
 *	jfr	is not read: it goes on as it came, if somebody sends it to a server (agent/push/relay.h)
 */
#ifndef XAGENT_AGENT_RECEIVE_INGEST_REQUEST_H
#define XAGENT_AGENT_RECEIVE_INGEST_REQUEST_H

#include "agent/receive/ingest_meta.h"
#include "agent/receive/items.h"
#include "agent/receive/refused.h"
#include "agent/store/ingest/read_budget.h"
#include "agent/util/str.h"

#define INGEST_MAX_BODY ((size_t)8 << 20)

/* An empty profile is none, and no mistake. */
void ingest_request_read(const struct ingest_query *query, struct str body, uint64_t now_ns,
			 struct read_budget *budget, struct receive_items *items,
			 struct receive_verdict *verdict);

#endif
