/* SPDX-License-Identifier: Apache-2.0 */
/* One request of OTLP over HTTP: profiles as protobuf or JSON, gzip'd or plain. Inside of agent/receive. */
#ifndef XAGENT_AGENT_RECEIVE_OTLP_REQUEST_H
#define XAGENT_AGENT_RECEIVE_OTLP_REQUEST_H

#include "agent/http/server.h"
#include "agent/receive/items.h"
#include "agent/receive/refused.h"
#include "agent/store/ingest/read_budget.h"
#include "agent/util/str.h"

/* Where OpenTelemetry's receivers take profiles. */
#define OTLP_REQUEST_PATH "/v1development/profiles"

/* What its headers say. */
struct otlp_headers {
	bool is_gzip, is_json;
	size_t max_plain_bytes; /* of the message; not a header's */
};

/* A verdict where they are wrong. */
void otlp_headers_read(const struct http_call *call, struct otlp_headers *headers,
		       struct receive_verdict *verdict);

/* Any thread: from bytes to items, or a verdict. The budget has begun. */
void otlp_request_read(const struct otlp_headers *headers, struct str body, uint64_t now_ns,
		       struct read_budget *budget, struct receive_items *items,
		       struct receive_verdict *verdict);

/* Of google.rpc.Code, for a status of HTTP that is no success. */
int32_t otlp_request_code(unsigned int status);

/* All taken: a response that says nothing. Else a google.rpc.Status. In the encoding of the request, as the protocol has it. */
void otlp_request_answer(const struct otlp_headers *headers, const struct receive_verdict *verdict,
			 struct http_answer *answer);

#endif
