/* SPDX-License-Identifier: Apache-2.0 */
/* One question to one name server. */
#include "agent/discovery/dns_exchange.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/util/clock.h"

/* What goes before a message over TCP (RFC 1035 §4.2.2). */
#define LENGTH_BYTES 2

struct dns_exchange {
	struct loop *loop;
	struct sockaddr_storage server;
	struct dns_question question;
	uint64_t timeout_ns;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	bool tcp;
	uint8_t *in; /* room for the longest message, and its length */
	size_t n_in;
	size_t n_sent; /* over TCP, the length included */
	dns_exchange_fn fn;
	void *data;
};

static void disconnect(struct dns_exchange *x)
{
	loop_io_free(x->io);
	x->io = NULL;
	if (x->fd >= 0)
		(void)close(x->fd);
	x->fd = -1;
}

void dns_exchange_cancel(struct dns_exchange *x)
{
	if (!x)
		return;
	disconnect(x);
	loop_timer_free(x->timer);
	free(x->in);
	free(x);
}
DEFINE_CLEANUP(struct dns_exchange *, dns_exchange_cancel);

static void finish(struct dns_exchange *x, const struct dns_answer *answer, const char *problem)
{
	dns_exchange_fn fn = x->fn;
	void *data = x->data;

	dns_exchange_cancel(x);
	fn(answer, problem, data);
}

static void on_timer(void *data)
{
	finish(data, NULL, "no answer in time");
}

static int connect_to(struct dns_exchange *x, int type, uint32_t events, loop_io_fn fn)
{
	socklen_t n = x->server.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						      : sizeof(struct sockaddr_in);

	x->fd = socket(x->server.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (x->fd < 0)
		return -errno;
	if (connect(x->fd, (struct sockaddr *)&x->server, n) < 0 && errno != EINPROGRESS)
		return -errno;
	int r = loop_io_new(x->loop, x->fd, events, fn, x, &x->io);
	if (r == 0)
		loop_timer_arm(x->timer, clock_mono_ns() + x->timeout_ns);
	return r;
}

/* ---- over TCP --------------------------------------------------------------------------------------- */

static void take_message(struct dns_exchange *x, const uint8_t *bytes, size_t n);

/* 0 when all of it is out, or there is no room for it now. */
static int tcp_send(struct dns_exchange *x)
{
	uint8_t bytes[LENGTH_BYTES + sizeof(x->question.bytes)] = {
		(uint8_t)(x->question.n >> 8),
		(uint8_t)x->question.n,
	};
	size_t n_all = LENGTH_BYTES + x->question.n;

	memcpy(bytes + LENGTH_BYTES, x->question.bytes, x->question.n);
	ssize_t n = send(x->fd, bytes + x->n_sent, n_all - x->n_sent, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	x->n_sent += (size_t)n;
	return x->n_sent == n_all ? loop_io_set_events(x->io, EPOLLIN) : 0;
}

static size_t tcp_wanted(const struct dns_exchange *x)
{
	return x->n_in < LENGTH_BYTES ? LENGTH_BYTES
				      : LENGTH_BYTES + ((size_t)x->in[0] << 8 | x->in[1]);
}

static void tcp_receive(struct dns_exchange *x)
{
	ssize_t n = recv(x->fd, x->in + x->n_in, tcp_wanted(x) - x->n_in, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		finish(x, NULL, n < 0 ? strerrordesc_np(errno) : "the connection ended too early");
		return;
	}
	x->n_in += (size_t)n;
	if (x->n_in > LENGTH_BYTES && x->n_in == tcp_wanted(x))
		take_message(x, x->in + LENGTH_BYTES, x->n_in - LENGTH_BYTES);
}

static void on_tcp(uint32_t events, void *data)
{
	struct dns_exchange *x = data;
	int error = 0;
	socklen_t n = sizeof(error);

	if ((events & EPOLLOUT) && x->n_sent == 0 &&
	    getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error != 0) {
		finish(x, NULL, strerrordesc_np(error));
		return;
	}
	if (!(events & EPOLLOUT)) {
		tcp_receive(x);
		return;
	}
	error = tcp_send(x);
	if (error < 0)
		finish(x, NULL, strerrordesc_np(-error));
}

static void ask_over_tcp(struct dns_exchange *x)
{
	disconnect(x);
	x->tcp = true;
	int r = connect_to(x, SOCK_STREAM, EPOLLOUT, on_tcp);
	if (r < 0)
		finish(x, NULL, strerrordesc_np(-r));
}

/* ---- over UDP --------------------------------------------------------------------------------------- */

/* Over UDP what answers another question may be anybody's: the right one may still come. */
static void take_message(struct dns_exchange *x, const uint8_t *bytes, size_t n)
{
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	int r = dns_answer_read(&x->question, bytes, n, &answer);

	if (r == DNS_FOREIGN && !x->tcp)
		return;
	if (r == DNS_READ && answer.truncated && !x->tcp)
		ask_over_tcp(x);
	else if (r == DNS_READ && !answer.truncated)
		finish(x, &answer, NULL);
	else
		finish(x, NULL, r < 0 ? strerrordesc_np(-r) : "the answer is malformed");
}

static void on_udp(uint32_t events, void *data)
{
	struct dns_exchange *x = data;
	ssize_t n = recv(x->fd, x->in, DNS_MAX_MESSAGE_BYTES, 0);

	(void)events;
	if (n >= 0)
		take_message(x, x->in, (size_t)n);
	else if (errno != EAGAIN && errno != EINTR)
		finish(x, NULL, strerrordesc_np(errno));
}

int dns_exchange_start(struct loop *loop, const struct sockaddr_storage *server,
		       const struct dns_question *question, uint64_t timeout_ns, dns_exchange_fn fn,
		       void *data, struct dns_exchange **ret_exchange)
{
	_cleanup_(dns_exchange_cancelp) struct dns_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	*x = (struct dns_exchange){ .loop = loop,
				    .server = *server,
				    .question = *question,
				    .timeout_ns = timeout_ns,
				    .fd = -1,
				    .fn = fn,
				    .data = data };
	x->in = malloc(LENGTH_BYTES + DNS_MAX_MESSAGE_BYTES);
	int r = x->in ? loop_timer_new(loop, on_timer, x, &x->timer) : -ENOMEM;
	if (r == 0)
		r = connect_to(x, SOCK_DGRAM, EPOLLIN, on_udp);
	if (r == 0 && send(x->fd, question->bytes, question->n, MSG_NOSIGNAL) < 0)
		r = -errno;
	if (r < 0)
		return r;
	*ret_exchange = TAKE_PTR(x);
	return 0;
}
