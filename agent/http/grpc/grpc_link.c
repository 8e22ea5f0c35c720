/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of a server of gRPC: bytes between the socket and the session, and what ends them. */
#include "agent/http/grpc/grpc_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A record of TLS has so many at most. */
#define READ_BYTES 16384
/* Reads of one turn; others in the loop come first then. */
#define READS_A_TURN 16
/* To say good-bye to who asks nothing. */
#define IDLE_GRACE_NS (5 * NS_PER_S)
/* What is gathered before it is written. */
#define WRITE_BYTES 16384
#define OUT_MAX_BYTES ((size_t)1 << 20)

/*
 * Frames that may cost more than they bring: all but the headers of calls that are answered, and DATA of some size. A connection may send so
 * many at once and so many a second, and eight for each answer: four are usual.
 */
#define FRAMES_AT_ONCE 2000.0
#define FRAMES_A_SECOND 100.0
#define FRAMES_AN_ANSWER 8.0

void grpc_link_charge(struct grpc_link *l, uint64_t now_ns)
{
	double earned = (double)(now_ns - l->charged_ns) / (double)NS_PER_S * FRAMES_A_SECOND;

	l->charged_ns = now_ns;
	l->frames_left = MIN_OF(l->frames_left + earned, FRAMES_AT_ONCE) - 1;
	l->is_flooding |= l->frames_left < 0;
}

void grpc_link_credit(struct grpc_link *l)
{
	l->frames_left += FRAMES_AN_ANSWER;
}

void grpc_link_free(struct grpc_link *l)
{
	LIST_FOREACH (&l->streams, at)
		grpc_stream_close(LIST_ENTRY(at, struct grpc_stream, node));
	connection_close(&l->server->connections, &l->connection);
	loop_io_free(l->io);
	nghttp2_session_del(l->session);
	if (l->tls_session)
		gnutls_deinit(l->tls_session);
	grpc_tls_unref(l->tls);
	(void)close(l->fd);
	buf_fini(&l->out);
	list_remove(&l->node);
	l->server->n_links--;
	free(l);
}

/* ---- the socket ---- */

static ssize_t tls_result(ssize_t n)
{
	if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
		return -EAGAIN;
	return n < 0 ? -ECONNABORTED : n;
}

static ssize_t plain_result(ssize_t n)
{
	if (n < 0)
		return errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return n;
}

static ssize_t read_some(struct grpc_link *l, void *room, size_t n_room)
{
	if (l->tls_session)
		return tls_result(gnutls_record_recv(l->tls_session, room, n_room));
	return plain_result(recv(l->fd, room, n_room, 0));
}

static ssize_t write_some(struct grpc_link *l, const void *bytes, size_t n)
{
	if (l->tls_session)
		return tls_result(gnutls_record_send(l->tls_session, bytes, n));
	return plain_result(send(l->fd, bytes, n, MSG_NOSIGNAL));
}

/* ---- out ---- */

/* From the session to `out`, which is empty. */
static void gather(struct grpc_link *l)
{
	buf_reset(&l->out);
	l->n_sent = 0;
	while (l->out.len < WRITE_BYTES) {
		const uint8_t *bytes;
		ssize_t n = nghttp2_session_mem_send(l->session, &bytes);

		l->is_ended |= n < 0 || (n > 0 && buf_append(&l->out, bytes, (size_t)n) < 0);
		if (n <= 0 || l->is_ended)
			return;
	}
}

static bool send_out(struct grpc_link *l)
{
	while (l->n_sent < l->out.len) {
		ssize_t n = write_some(l, l->out.data + l->n_sent, l->out.len - l->n_sent);

		if (n == -EAGAIN)
			return false;
		if (n < 0) {
			l->is_ended = true;
			return false;
		}
		l->n_sent += (size_t)n;
	}
	return true;
}

static void send_all(struct grpc_link *l)
{
	while (send_out(l)) {
		gather(l);
		if (l->out.len == 0)
			return;
	}
}

/* What the connection does from now on, for those that want its place. */
static void settle(struct grpc_link *l, uint64_t now_ns)
{
	struct connections *set = &l->server->connections;
	struct connection *c = &l->connection;

	if (l->n_waiting > 0) {
		if (c->state != CONNECTION_WAITS)
			connection_waits(c, now_ns);
	} else if (!list_empty(&l->streams)) {
		if (c->state != CONNECTION_SENDS)
			connection_sends(set, c, now_ns);
	} else if (c->state != CONNECTION_ASKS) {
		connection_asks_again(set, c, now_ns);
		l->idle_ns = now_ns;
	}
}

static void end_turn(struct grpc_link *l)
{
	uint32_t events = EPOLLIN;

	if (!l->is_ended && !l->is_shaking_hands) {
		send_all(l);
		settle(l, clock_mono_ns());
		l->is_ended |= !nghttp2_session_want_read(l->session) &&
			       !nghttp2_session_want_write(l->session) && l->n_sent == l->out.len;
	}
	l->is_busy = false;
	if (l->is_ended) {
		grpc_link_free(l);
		return;
	}
	if (l->is_shaking_hands ? gnutls_record_get_direction(l->tls_session) == 1
				: l->n_sent < l->out.len)
		events |= EPOLLOUT;
	(void)loop_io_set_events(l->io, events);
}

void grpc_link_flush(struct grpc_link *l)
{
	if (l->is_busy)
		return;
	l->is_busy = true;
	end_turn(l);
}

/* ---- in ---- */

static void shake_hands(struct grpc_link *l)
{
	int r = gnutls_handshake(l->tls_session);

	if (r == GNUTLS_E_SUCCESS)
		l->is_shaking_hands = false;
	else
		l->is_ended |= gnutls_error_is_fatal(r);
}

static void end_flood(struct grpc_link *l)
{
	http_counts_ended(&l->server->counts, HTTP_ENDED_flooding);
	(void)nghttp2_session_terminate_session(l->session, NGHTTP2_ENHANCE_YOUR_CALM);
	send_all(l);
	l->is_ended = true;
}

static bool take_some(struct grpc_link *l)
{
	uint8_t bytes[READ_BYTES];
	ssize_t n = read_some(l, bytes, sizeof(bytes));

	if (n == -EAGAIN)
		return false;
	if (n <= 0 || nghttp2_session_mem_recv(l->session, bytes, (size_t)n) < 0)
		l->is_ended = true;
	else if (l->is_flooding)
		end_flood(l);
	return !l->is_ended;
}

static void take(struct grpc_link *l)
{
	int n_reads = 0;

	l->heard_ns = clock_mono_ns();
	l->is_asked = false;
	while (n_reads++ < READS_A_TURN && take_some(l))
		;
}

static void on_io(uint32_t events, void *data)
{
	struct grpc_link *l = data;

	if (l->is_busy)
		return;
	l->is_busy = true;
	if (l->is_shaking_hands)
		shake_hands(l);
	if (!l->is_shaking_hands && (events & ~(uint32_t)EPOLLOUT))
		take(l);
	end_turn(l);
}

/* ---- time ---- */

void grpc_link_close(struct grpc_link *l, uint64_t now_ns, uint64_t grace_ns)
{
	l->is_closing = true;
	l->end_ns = grace_ns == UINT64_MAX ? UINT64_MAX : now_ns + grace_ns;
	if (!l->is_shaking_hands)
		(void)nghttp2_submit_goaway(l->session, NGHTTP2_FLAG_NONE,
					    nghttp2_session_get_last_proc_stream_id(l->session),
					    NGHTTP2_NO_ERROR, NULL, 0);
}

static void end_late_stream(struct grpc_stream *s)
{
	http_counts_ended(&s->link->server->counts,
			  s->state == GRPC_ANSWERS ? HTTP_ENDED_late_reader : HTTP_ENDED_late_body);
	s->deadline_ns = UINT64_MAX;
	(void)nghttp2_submit_rst_stream(s->link->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
}

static void look_for_life(struct grpc_link *l, uint64_t now_ns)
{
	const struct grpc_server_options *o = &l->server->options;

	if (l->is_asked && now_ns - l->heard_ns > o->ping_ns + o->pong_ns) {
		http_counts_ended(&l->server->counts, HTTP_ENDED_gone);
		l->is_ended = true;
	} else if (!l->is_asked && now_ns - l->heard_ns > o->ping_ns) {
		l->is_asked = true;
		(void)nghttp2_submit_ping(l->session, NGHTTP2_FLAG_NONE, NULL);
	}
}

static void look_at_age(struct grpc_link *l, uint64_t now_ns)
{
	const struct grpc_server_options *o = &l->server->options;
	bool is_idle = list_empty(&l->streams) && now_ns - l->idle_ns > o->max_idle_ns;

	if (l->is_closing)
		l->is_ended |= now_ns >= l->end_ns;
	else if (is_idle)
		grpc_link_close(l, now_ns, IDLE_GRACE_NS);
	else if (now_ns - l->opened_ns > o->max_age_ns)
		grpc_link_close(l, now_ns, o->age_grace_ns);
}

void grpc_link_look(struct grpc_link *l, uint64_t now_ns)
{
	l->is_busy = true;
	LIST_FOREACH (&l->streams, at) {
		struct grpc_stream *s = LIST_ENTRY(at, struct grpc_stream, node);

		if (now_ns >= s->deadline_ns)
			end_late_stream(s);
	}
	if (!l->is_shaking_hands)
		look_for_life(l, now_ns);
	look_at_age(l, now_ns);
	end_turn(l);
}

/* ---- its beginning ---- */

static int set_up(struct grpc_link *l)
{
	struct grpc_server *server = l->server;
	int on = 1;

	/* Answers are smaller than a packet. */
	(void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->tls = grpc_tls_ref(server->tls);
	int r = l->tls ? grpc_tls_session(l->tls, l->fd, &l->tls_session) : 0;
	l->is_shaking_hands = l->tls != NULL;
	if (r == 0)
		r = grpc_session_new(l);
	return r < 0 ? r : loop_io_new(server->loop, l->fd, EPOLLIN, on_io, l, &l->io);
}

void grpc_link_open(struct grpc_server *server, int fd, const struct sockaddr *address)
{
	uint64_t now_ns = clock_mono_ns();
	struct grpc_link *l = calloc(1, sizeof(*l));

	if (!l) {
		(void)close(fd);
		return;
	}
	*l = (struct grpc_link){ .server = server,
				 .fd = fd,
				 .opened_ns = now_ns,
				 .heard_ns = now_ns,
				 .idle_ns = now_ns,
				 .charged_ns = now_ns,
				 .end_ns = UINT64_MAX,
				 .frames_left = FRAMES_AT_ONCE,
				 .out = BUF_INIT(OUT_MAX_BYTES) };
	list_init(&l->streams);
	list_push_back(&server->links, &l->node);
	server->n_links++;
	connection_open(&server->connections, &l->connection, fd, address, now_ns);
	if (set_up(l) < 0)
		grpc_link_free(l);
	else
		grpc_link_flush(l);
}
