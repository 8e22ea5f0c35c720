/* SPDX-License-Identifier: Apache-2.0 */
/* What nghttp2 tells of a connection, as calls. */
#include <errno.h>

#include "agent/http/grpc/grpc_link.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A client fills them before it hears that more may come; bodies have a budget besides. */
#define WINDOW_BYTES (1 << 20)
/* Of a DATA frame: a message is cut into fewer than these make. */
#define SMALL_DATA_BYTES 256

static struct grpc_stream *find(nghttp2_session *session, int32_t id)
{
	return nghttp2_session_get_stream_user_data(session, id);
}

static bool is_request(const nghttp2_frame *frame)
{
	return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *data)
{
	bool brings = hd->type == NGHTTP2_DATA &&
		      (hd->length >= SMALL_DATA_BYTES || (hd->flags & NGHTTP2_FLAG_END_STREAM));

	(void)session;
	if (!brings)
		grpc_link_charge(data, clock_mono_ns());
	return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	if (!is_request(frame))
		return 0;
	struct grpc_stream *s = grpc_stream_open(data, frame->hd.stream_id, clock_mono_ns());
	if (!s)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, s);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *data)
{
	struct grpc_stream *s = is_request(frame) ? find(session, frame->hd.stream_id) : NULL;

	(void)flags;
	(void)data;
	if (!s || grpc_stream_header(s, (struct str){ (const char *)name, n_name },
				     (struct str){ (const char *)value, n_value }))
		return 0;
	return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t n, void *data)
{
	struct grpc_stream *s = find(session, id);

	(void)flags;
	(void)data;
	if (s)
		grpc_stream_bytes(s, bytes, n);
	return 0;
}

static void on_settings(struct grpc_link *link, uint64_t now_ns)
{
	if (link->connection.state == CONNECTION_ASKS && !link->connection.has_asked)
		connection_asks_again(&link->server->connections, &link->connection, now_ns);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct grpc_stream *s = find(session, frame->hd.stream_id);
	bool ends = (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
		    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);

	if (frame->hd.type == NGHTTP2_SETTINGS)
		on_settings(data, clock_mono_ns());
	if (s && is_request(frame))
		grpc_stream_headers_done(s);
	if (s && ends)
		grpc_stream_end(s);
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *data)
{
	struct grpc_stream *s = find(session, id);

	(void)code;
	(void)data;
	if (s)
		grpc_stream_close(s);
	return 0;
}

int grpc_session_callbacks(nghttp2_session_callbacks **ret_callbacks)
{
	nghttp2_session_callbacks *c;

	if (nghttp2_session_callbacks_new(&c) != 0)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
	*ret_callbacks = c;
	return 0;
}

static int submit_settings(struct grpc_link *link)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, link->server->options.max_streams },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_MAX_HEADER_BYTES },
	};

	if (nghttp2_submit_settings(link->session, NGHTTP2_FLAG_NONE, settings,
				    ARRAY_SIZE(settings)) != 0)
		return -ENOMEM;
	return nghttp2_session_set_local_window_size(link->session, NGHTTP2_FLAG_NONE, 0,
						     WINDOW_BYTES) == 0
		       ? 0
		       : -ENOMEM;
}

int grpc_session_new(struct grpc_link *link)
{
	nghttp2_option *options;

	if (nghttp2_option_new(&options) != 0)
		return -ENOMEM;
	/* Streams that have ended are kept for priorities, which nobody here has. */
	nghttp2_option_set_no_closed_streams(options, 1);
	int r = nghttp2_session_server_new2(&link->session, link->server->callbacks, link, options);
	nghttp2_option_del(options);
	return r == 0 ? submit_settings(link) : -ENOMEM;
}
