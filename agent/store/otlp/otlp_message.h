/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of OTLP profiles: from bytes to a message whose references all lead somewhere. Inside of agent/store/otlp. Pure.
 *
 *	bytes ──► inflated ──► counted ──► unpacked ──► checked
 *
 * A reference of 0 is no reference, also where a table is empty.
 */
#ifndef XAGENT_AGENT_STORE_OTLP_OTLP_MESSAGE_H
#define XAGENT_AGENT_STORE_OTLP_OTLP_MESSAGE_H

#include "agent/store/connect/proto_json.h"
#include "agent/store/ingest/read_budget.h"
#include "agent/store/otlp/otlp_read.h"

struct Otlp__Profiles__ExportProfilesServiceRequest;
struct Otlp__Profiles__ProfilesDictionary;

/* Of a request in JSON; each takes some 100 bytes until the message is there, which takes as much as one that was unpacked. */
#define OTLP_JSON_MAX_VALUES ((size_t)512 << 10)
/* Of the unpacked message. */
#define OTLP_MESSAGE_MAX_BYTES ((size_t)64 << 20)

struct otlp_message {
	struct proto_budget budget;				      /* must not move */
	struct Otlp__Profiles__ExportProfilesServiceRequest *request; /* NULL: none yet */
};

/* OTLP_READ and the request; else an outcome with a sentence in `why`; -ENOMEM; -ECANCELED: the budget tells what was used up. */
int otlp_message_open(struct otlp_message *m, const struct otlp_bytes *bytes,
		      struct read_budget *budget, struct buf *why);
void otlp_message_fini(struct otlp_message *m); /* zeroed: nothing */

/* Of a checked reference: "" for none. */
const char *otlp_message_text(const struct Otlp__Profiles__ProfilesDictionary *d, int32_t index);

#endif
