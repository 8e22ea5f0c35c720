/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of OTLP by gRPC: their paths, and their answers. */
#include "agent/receive/otlp_grpc.h"

#include <string.h>

#include "agent/push/otlp_request.pb-c.h"
#include "agent/receive/otlp_request.h"
#include "agent/util/macro.h"

#define EXPORT_PROFILES \
	"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define RETRY_INFO "type.googleapis.com/google.rpc.RetryInfo"

const char *otlp_grpc_refusal(const char *path)
{
	static const struct {
		const char *path, *refusal;
	} others[] = {
		{ EXPORT_PROFILES, NULL },
		{ "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
		  "profiles are taken here, no traces" },
		{ "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
		  "profiles are taken here, no metrics" },
		{ "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
		  "profiles are taken here, no logs" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(path, others[i].path) == 0)
			return others[i].refusal;
	return "no such method here: profiles are taken at " EXPORT_PROFILES;
}

/* Collectors send again what was refused for the lack of room only where this says when. */
static void put_details(struct buf *out, const struct receive_verdict *verdict,
			unsigned int retry_s)
{
	Otlp__Push__Duration delay = OTLP__PUSH__DURATION__INIT;
	Otlp__Push__RetryInfo info = OTLP__PUSH__RETRY_INFO__INIT;
	Otlp__Push__Any any = OTLP__PUSH__ANY__INIT, *details[] = { &any };
	Otlp__Push__Status status = OTLP__PUSH__STATUS__INIT;
	uint8_t packed[32], bytes[RECEIVE_MAX_WHY + 256];

	delay.seconds = retry_s;
	info.retry_delay = &delay;
	any.type_url = (char *)RETRY_INFO;
	any.value = (ProtobufCBinaryData){ protobuf_c_message_pack(&info.base, packed), packed };
	status.code = otlp_request_code(verdict->status);
	status.message = (char *)buf_str(&verdict->why);
	status.details = details;
	status.n_details = ARRAY_SIZE(details);
	if (protobuf_c_message_get_packed_size(&status.base) <= sizeof(bytes))
		(void)buf_append(out, bytes, protobuf_c_message_pack(&status.base, bytes));
}

void otlp_grpc_answer(struct grpc_call *call, const struct receive_verdict *verdict,
		      unsigned int retry_s)
{
	_cleanup_buf_ struct buf details = BUF_INIT(2 * RECEIVE_MAX_WHY);
	struct grpc_answer answer = { .code = GRPC_OK };

	if (verdict->refusal != RECEIVE_TAKEN) {
		answer.code = (enum grpc_code)otlp_request_code(verdict->status);
		answer.message = buf_str(&verdict->why);
		if (retry_s > 0)
			put_details(&details, verdict, retry_s);
	}
	if (details.len > 0) {
		answer.details = details.data;
		answer.n_details = details.len;
	}
	grpc_call_answer(call, &answer);
}
