/* SPDX-License-Identifier: Apache-2.0 */
/* One request of OTLP over HTTP. */
#include "agent/receive/otlp_request.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "agent/push/otlp_request.pb-c.h"
#include "agent/store/connect/connect.h"
#include "agent/store/connect/json_text.h"
#include "agent/store/otlp/otlp_read.h"

#define TYPE "application/x-protobuf"
#define JSON_TYPE "application/json"
/* google.rpc.Code */
#define CODE_INVALID_ARGUMENT 3
#define CODE_RESOURCE_EXHAUSTED 8
#define CODE_UNIMPLEMENTED 12
#define CODE_UNAVAILABLE 14

static void refuse(struct receive_verdict *v, enum receive_refusal refusal, unsigned int status,
		   const char *why)
{
	receive_verdict_set(v, refusal, status);
	buf_reset(&v->why);
	(void)buf_append_str(&v->why, why);
}

static bool is_type(const char *given, const char *type)
{
	size_t n = strlen(type);

	return given && strncasecmp(given, type, n) == 0 &&
	       (given[n] == '\0' || given[n] == ';' || given[n] == ' ');
}

void otlp_headers_read(const struct http_call *call, struct otlp_headers *headers,
		       struct receive_verdict *verdict)
{
	enum connect_encoding encoding =
		connect_parse_encoding(http_call_header(call, "Content-Encoding"));

	const char *type = http_call_header(call, "Content-Type");

	headers->is_gzip = encoding == CONNECT_GZIP;
	headers->is_json = is_type(type, JSON_TYPE);
	if (!headers->is_json && !is_type(type, TYPE) && !is_type(type, "application/protobuf"))
		refuse(verdict, RECEIVE_REFUSED_UNSUPPORTED, 415,
		       "Content-Type must be " TYPE " or " JSON_TYPE);
	else if (encoding == CONNECT_ENCODING_UNKNOWN)
		refuse(verdict, RECEIVE_REFUSED_UNSUPPORTED, 415,
		       "Content-Encoding must be gzip or identity");
}

static void refuse_budget(const struct read_budget *budget, struct receive_verdict *verdict)
{
	if (budget->state == READ_BUDGET_STOPPED)
		refuse(verdict, RECEIVE_REFUSED_LATE, 503, "the receiver is closing");
	else
		refuse(verdict, RECEIVE_REFUSED_BUDGET, 413, "the request takes too much to read");
}

static int take(const struct otlp_profiles *profiles, struct receive_items *items)
{
	int r = 0;

	for (size_t i = 0; i < profiles->n && r == 0; i++)
		r = receive_items_share(items, profiles->items[i].labels, profiles->items[i].pprof,
					profiles->items[i].time_ns);
	return r;
}

void otlp_request_read(const struct otlp_headers *headers, struct str body, uint64_t now_ns,
		       struct read_budget *budget, struct receive_items *items,
		       struct receive_verdict *verdict)
{
	const struct otlp_bytes bytes = { .data = body.p,
					  .n = body.n,
					  .is_gzip = headers->is_gzip,
					  .is_json = headers->is_json,
					  .max_plain_bytes = headers->max_plain_bytes };
	struct otlp_profiles profiles;
	int r = otlp_read(&bytes, now_ns, budget, &verdict->why, &profiles);

	if (r == OTLP_READ)
		r = take(&profiles, items);
	otlp_profiles_fini(&profiles);
	if (r == -ECANCELED)
		refuse_budget(budget, verdict);
	else if (r < 0)
		refuse(verdict, RECEIVE_REFUSED_MEMORY, 503, "there is no memory for it now");
	else if (r == OTLP_READ_TOO_LARGE)
		receive_verdict_set(verdict, RECEIVE_REFUSED_LIMITS, 413);
	else if (r == OTLP_READ_BROKEN)
		receive_verdict_set(verdict, RECEIVE_REFUSED_MALFORMED, 400);
}

int32_t otlp_request_code(unsigned int status)
{
	switch (status) {
	case 413:
	case 429:
		return CODE_RESOURCE_EXHAUSTED;
	case 415:
		return CODE_UNIMPLEMENTED;
	case 503:
		return CODE_UNAVAILABLE;
	default:
		return CODE_INVALID_ARGUMENT;
	}
}

static void put_status(const struct receive_verdict *verdict, struct buf *out)
{
	Otlp__Push__Status status = OTLP__PUSH__STATUS__INIT;
	uint8_t bytes[RECEIVE_MAX_WHY + 64];

	status.code = otlp_request_code(verdict->status);
	status.message = (char *)buf_str(&verdict->why);
	if (protobuf_c_message_get_packed_size(&status.base) > sizeof(bytes))
		status.message = (char *)"";
	(void)buf_append(out, bytes, protobuf_c_message_pack(&status.base, bytes));
}

static void put_json_status(const struct receive_verdict *verdict, struct buf *out)
{
	(void)buf_printf(out,
			 "{\"code\":%" PRId32 ",\"message\":", otlp_request_code(verdict->status));
	(void)json_put_text(out, str_from(buf_str(&verdict->why)));
	(void)buf_append_char(out, '}');
}

void otlp_request_answer(const struct otlp_headers *headers, const struct receive_verdict *verdict,
			 struct http_answer *answer)
{
	bool taken = verdict->refusal == RECEIVE_TAKEN;

	answer->status = verdict->status;
	answer->content_type = headers->is_json ? JSON_TYPE : TYPE;
	if (!headers->is_json && !taken)
		put_status(verdict, &answer->body);
	else if (headers->is_json && !taken)
		put_json_status(verdict, &answer->body);
	else if (headers->is_json)
		(void)buf_append_str(&answer->body, "{}");
}
