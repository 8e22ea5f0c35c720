/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server that follows a script: the n-th request is the n-th step, whose text it must hold, and gets what the step says. In any
 * order, a request is the first step left whose text it holds. Plain sockets on 127.0.0.1 in the loop of the test.
 */
#ifndef XAGENT_TESTS_UNIT_AGENT_DISCOVERY_KUBE_SERVER_H
#define XAGENT_TESTS_UNIT_AGENT_DISCOVERY_KUBE_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "tests/support/unit.h"

#define KUBE_SERVER_MAX_CONNECTIONS 64

enum kube_then { THEN_CLOSE, THEN_HOLD };

/* Bodies without a length end with their connection, which is in order. */
#define OK "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
#define CUT "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n"
#define STATUS(code, body) "HTTP/1.1 " code " X\r\nConnection: close\r\n\r\n" body

struct kube_step {
	const char *request; /* stands in the request; NULL: whatever */
	const char *answer;
	enum kube_then then;
};

struct kube_server;

struct kube_connection {
	struct kube_server *server;
	int fd;
	struct loop_io *io;
	struct buf request;
	const char *answer; /* what is left of it */
	bool close_after;
};

struct kube_server {
	struct loop *loop;
	int fd;
	struct loop_io *io;
	char url[64];
	const struct kube_step *steps;
	size_t n_steps, at;
	bool any_order;
	bool used[KUBE_SERVER_MAX_CONNECTIONS];
	struct buf log; /* request lines */
	size_t n_connections;
	struct kube_connection connections[KUBE_SERVER_MAX_CONNECTIONS];
	struct kube_connection *held; /* the last one */
};

static inline void kube_connection_close(struct kube_connection *c)
{
	if (!c->io)
		return;
	loop_io_free(c->io);
	c->io = NULL;
	(void)close(c->fd);
	buf_fini(&c->request);
}

/* As much as the socket takes: who reads it is in the same loop. */
static inline void kube_connection_write(struct kube_connection *c)
{
	ssize_t n = write(c->fd, c->answer, strlen(c->answer));

	c->answer += n > 0 ? n : 0;
	if (*c->answer && (n >= 0 || errno == EAGAIN)) {
		assert_int_equal(loop_io_set_events(c->io, EPOLLOUT), 0);
		return;
	}
	assert_int_equal(loop_io_set_events(c->io, EPOLLIN), 0);
	c->answer = NULL;
	if (c->close_after)
		kube_connection_close(c);
}

static inline const struct kube_step *kube_server_step(struct kube_server *s, const char *text)
{
	size_t i = s->at++;

	if (s->any_order)
		for (i = 0; i < s->n_steps; i++)
			if (!s->used[i] && strstr(text, s->steps[i].request))
				break;
	if (i >= s->n_steps)
		fail_msg("no step for the request\n%s", text);
	if (s->steps[i].request && !strstr(text, s->steps[i].request))
		fail_msg("step %zu: no \"%s\" in\n%s", i, s->steps[i].request, text);
	s->used[i] = true;
	return &s->steps[i];
}

static inline void kube_server_answer(struct kube_connection *c)
{
	struct kube_server *s = c->server;
	const char *text = buf_str(&c->request);
	const struct kube_step *step;

	(void)buf_printf(&s->log, "%.*s\n", (int)strcspn(text, "\r"), text);
	step = kube_server_step(s, text);
	c->answer = step->answer;
	c->close_after = step->then == THEN_CLOSE;
	s->held = c;
	kube_connection_write(c);
}

static inline void kube_on_bytes(uint32_t events, void *data)
{
	struct kube_connection *c = data;
	char bytes[4096];
	ssize_t n;

	if (c->answer && (events & EPOLLOUT)) {
		kube_connection_write(c);
		return;
	}
	n = read(c->fd, bytes, sizeof(bytes));
	if (n <= 0) {
		kube_connection_close(c);
		return;
	}
	assert_int_equal(buf_append(&c->request, bytes, (size_t)n), 0);
	if (strstr(buf_str(&c->request), "\r\n\r\n"))
		kube_server_answer(c);
}

static inline void kube_on_connection(uint32_t events, void *data)
{
	struct kube_server *s = data;
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct kube_connection *c = &s->connections[s->n_connections++];

	(void)events;
	assert_true(fd >= 0);
	assert_true(s->n_connections <= KUBE_SERVER_MAX_CONNECTIONS);
	c->server = s;
	c->fd = fd;
	buf_init(&c->request, 65536);
	assert_int_equal(loop_io_new(s->loop, fd, EPOLLIN, kube_on_bytes, c, &c->io), 0);
}

static inline void kube_server_start(struct kube_server *s, struct loop *loop)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);

	memset(s, 0, sizeof(*s));
	s->loop = loop;
	buf_init(&s->log, 65536);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&address, &n), 0);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(listen(s->fd, 16), 0);
	assert_int_equal(loop_io_new(loop, s->fd, EPOLLIN, kube_on_connection, s, &s->io), 0);
}

static inline void kube_server_stop(struct kube_server *s)
{
	for (size_t i = 0; i < s->n_connections; i++)
		kube_connection_close(&s->connections[i]);
	loop_io_free(s->io);
	(void)close(s->fd);
	buf_fini(&s->log);
}

#endif
