/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of calls, as frames of HTTP/2. */
#include <string.h>

#include "agent/http/grpc/grpc_link.h"
#include "agent/http/grpc/grpc_status.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* For the client to take it. */
#define ANSWER_NS (10 * NS_PER_S)
/* Each byte of a sentence may become three; base64 is a third more. */
#define FIELD_MAX_BYTES (4 * GRPC_MAX_MESSAGE_BYTES)

static const uint8_t empty_message[GRPC_FRAME_HEAD_BYTES];

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){ .name = (uint8_t *)name,
			     .value = (uint8_t *)value,
			     .namelen = strlen(name),
			     .valuelen = strlen(value) };
}

static void begin_answer(struct grpc_stream *s)
{
	s->link->n_waiting -= s->state == GRPC_WAITS;
	s->state = GRPC_ANSWERS;
	s->deadline_ns = clock_mono_ns() + ANSWER_NS;
	grpc_link_credit(s->link);
}

/* Of an answer that has no message. */
static void submit_head(struct grpc_stream *s, const nghttp2_nv *fields, size_t n)
{
	if (nghttp2_submit_response(s->link->session, s->id, fields, n, NULL) != 0)
		s->link->is_ended = true;
}

void grpc_answer_http(struct grpc_stream *s, unsigned int status)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", status);
	const nghttp2_nv fields[] = { field(":status", text) };

	begin_answer(s);
	submit_head(s, fields, ARRAY_SIZE(fields));
}

static ssize_t read_message(nghttp2_session *session, int32_t id, uint8_t *room, size_t n_room,
			    uint32_t *flags, nghttp2_data_source *source, void *data)
{
	const nghttp2_nv trailers[] = { field("grpc-status", "0") };

	(void)source;
	(void)data;
	if (n_room < sizeof(empty_message))
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	memcpy(room, empty_message, sizeof(empty_message));
	*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	return nghttp2_submit_trailer(session, id, trailers, ARRAY_SIZE(trailers)) == 0
		       ? (ssize_t)sizeof(empty_message)
		       : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void send_well(struct grpc_stream *s)
{
	const nghttp2_nv fields[] = { field(":status", "200"),
				      field("content-type", "application/grpc") };
	const nghttp2_data_provider message = { .read_callback = read_message };

	if (nghttp2_submit_response(s->link->session, s->id, fields, ARRAY_SIZE(fields),
				    &message) != 0)
		s->link->is_ended = true;
}

/* All that it is, in one block of headers. */
static void send_failure(struct grpc_stream *s, const struct grpc_answer *answer)
{
	_cleanup_buf_ struct buf message = BUF_INIT(FIELD_MAX_BYTES);
	_cleanup_buf_ struct buf details = BUF_INIT(FIELD_MAX_BYTES);
	struct str text = str_from(answer->message ? answer->message : "");
	char code[8];
	size_t n = 4;

	(void)snprintf(code, sizeof(code), "%d", (int)answer->code);
	text.n = MIN_OF(text.n, GRPC_MAX_MESSAGE_BYTES);
	(void)grpc_status_put_message(&message, text);
	nghttp2_nv fields[6] = { field(":status", "200"), field("content-type", "application/grpc"),
				 field("grpc-accept-encoding", "identity,gzip"),
				 field("grpc-status", code) };
	fields[n++] = field("grpc-message", buf_str(&message));
	if (answer->details &&
	    grpc_status_put_binary(&details, answer->details, answer->n_details) == 0)
		fields[n++] = field("grpc-status-details-bin", buf_str(&details));
	submit_head(s, fields, n);
}

void grpc_answer_send(struct grpc_stream *s, const struct grpc_answer *answer)
{
	begin_answer(s);
	if (answer->code == GRPC_OK)
		send_well(s);
	else
		send_failure(s, answer);
}

void grpc_answer_reset(struct grpc_stream *s)
{
	(void)nghttp2_submit_rst_stream(s->link->session, NGHTTP2_FLAG_NONE, s->id,
					NGHTTP2_NO_ERROR);
}
