/* SPDX-License-Identifier: Apache-2.0 */
/* A client of HTTP/2 for tests. */
#include "tests/support/h2_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct body {
	const char *bytes;
	size_t n, n_sent;
	bool is_open;
};

static bool is(const uint8_t *name, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(name, text, n) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *data)
{
	struct h2_client *c = data;

	(void)session;
	(void)frame;
	(void)flags;
	if (is(name, n_name, ":status"))
		c->http_status = atoi((const char *)value);
	else if (is(name, n_name, "grpc-status"))
		c->grpc_status = atoi((const char *)value);
	else if (is(name, n_name, "grpc-message"))
		(void)snprintf(c->message, sizeof(c->message), "%.*s", (int)n_value,
			       (const char *)value);
	else if (is(name, n_name, "grpc-status-details-bin"))
		(void)snprintf(c->details, sizeof(c->details), "%.*s", (int)n_value,
			       (const char *)value);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t n, void *data)
{
	struct h2_client *c = data;

	(void)session;
	(void)flags;
	(void)id;
	size_t taken = MIN_OF(n, sizeof(c->body) - c->n_body);

	memcpy(c->body + c->n_body, bytes, taken);
	c->n_body += taken;
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct h2_client *c = data;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		c->goaway = (int)frame->goaway.error_code;
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *data)
{
	struct h2_client *c = data;

	free(nghttp2_session_get_stream_user_data(session, id));
	c->n_answers++;
	c->n_ok += c->grpc_status == 0;
	c->reset = code;
	return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *room, size_t n_room,
			 uint32_t *flags, nghttp2_data_source *source, void *data)
{
	struct body *body = source->ptr;
	size_t n = MIN_OF(n_room, body->n - body->n_sent);

	(void)session;
	(void)id;
	(void)data;
	memcpy(room, body->bytes + body->n_sent, n);
	body->n_sent += n;
	if (body->n_sent < body->n)
		return (ssize_t)n;
	if (!body->is_open)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	else if (n == 0)
		return NGHTTP2_ERR_DEFERRED;
	return (ssize_t)n;
}

static void on_io(uint32_t events, void *data)
{
	struct h2_client *c = data;
	uint8_t bytes[16384];

	(void)events;
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		c->is_closed = true;
		(void)loop_io_set_events(c->io, 0);
		loop_io_free(c->io);
		c->io = NULL;
		return;
	}
	if (n > 0 && c->session)
		assert_true(nghttp2_session_mem_recv(c->session, bytes, (size_t)n) == n);
	if (c->session)
		h2_client_flush(c);
}

void h2_client_flush(struct h2_client *c)
{
	const uint8_t *bytes;
	ssize_t n;

	while (!c->is_silent && (n = nghttp2_session_mem_send(c->session, &bytes)) > 0)
		for (ssize_t at = 0; at < n && !c->is_closed;) {
			size_t sent = h2_client_send(c, bytes + at, (size_t)(n - at));

			at += (ssize_t)sent;
			if (sent == 0)
				assert_int_equal(loop_run_once(c->loop, 10), 0);
		}
}

size_t h2_client_send(struct h2_client *c, const void *bytes, size_t n)
{
	ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0 && errno != EAGAIN)
		c->is_closed = true;
	return sent < 0 ? 0 : (size_t)sent;
}

void h2_client_open_raw(struct h2_client *c, struct loop *loop, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*c = (struct h2_client){ .loop = loop, .http_status = -1, .grpc_status = -1, .goaway = -1 };
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(c->fd >= 0);
	assert_int_equal(connect(c->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fcntl(c->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(loop_io_new(loop, c->fd, EPOLLIN, on_io, c, &c->io), 0);
}

void h2_client_open(struct h2_client *c, struct loop *loop, uint16_t port)
{
	nghttp2_session_callbacks *callbacks;

	h2_client_open_raw(c, loop, port);
	assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	assert_int_equal(nghttp2_session_client_new(&c->session, callbacks, c), 0);
	nghttp2_session_callbacks_del(callbacks);
	assert_int_equal(nghttp2_submit_settings(c->session, 0, NULL, 0), 0);
	h2_client_flush(c);
}

/* Streams that have not ended have their bodies with them. */
static void free_bodies(struct h2_client *c)
{
	int32_t next = (int32_t)nghttp2_session_get_next_stream_id(c->session);

	for (int32_t id = 1; id < next; id += 2)
		free(nghttp2_session_get_stream_user_data(c->session, id));
}

void h2_client_close(struct h2_client *c)
{
	loop_io_free(c->io);
	if (c->session)
		free_bodies(c);
	nghttp2_session_del(c->session);
	(void)close(c->fd);
}

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){ .name = (uint8_t *)name,
			     .value = (uint8_t *)value,
			     .namelen = strlen(name),
			     .valuelen = strlen(value) };
}

int32_t h2_client_call(struct h2_client *c, const struct h2_call *call)
{
	struct body *body = malloc(sizeof(*body));
	nghttp2_nv fields[7] = {
		field(":method", call->method ? call->method : "POST"), field(":scheme", "http"),
		field(":authority", "localhost"), field(":path", call->path),
		field("content-type", call->type ? call->type : "application/grpc")
	};
	size_t n = 5;

	assert_non_null(body);
	if (call->encoding)
		fields[n++] = field("grpc-encoding", call->encoding);
	if (call->padding)
		fields[n++] = field("padding", call->padding);
	*body = (struct body){ call->body, call->n_body, 0, call->is_open };
	c->http_status = c->grpc_status = -1;
	c->n_body = 0;
	*c->message = *c->details = '\0';
	const nghttp2_data_provider provider = { { .ptr = body }, read_body };
	int32_t id = nghttp2_submit_request(c->session, NULL, fields, n, &provider, body);
	assert_true(id > 0);
	return id;
}

void h2_put_message(struct buf *out, const void *bytes, size_t n, bool is_compressed)
{
	const unsigned char head[] = { is_compressed, (unsigned char)(n >> 24),
				       (unsigned char)(n >> 16), (unsigned char)(n >> 8),
				       (unsigned char)n };

	assert_int_equal(buf_append(out, head, sizeof(head)), 0);
	if (n > 0)
		assert_int_equal(buf_append(out, bytes, n), 0);
}
