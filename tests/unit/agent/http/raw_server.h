/* SPDX-License-Identifier: Apache-2.0 */
/* A server that misbehaves on purpose: plain sockets on 127.0.0.1 in the loop of the test. */
#ifndef XAGENT_TESTS_UNIT_AGENT_HTTP_RAW_SERVER_H
#define XAGENT_TESTS_UNIT_AGENT_HTTP_RAW_SERVER_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/util/loop.h"
#include "tests/support/unit.h"

#define RAW_MAX_CONNECTIONS 64

enum raw_mode {
	RAW_HANG,  /* reads, never answers */
	RAW_RESET, /* reads a little, resets */
	RAW_TEXT,  /* reads a little, writes `text`, closes */
};

struct raw_server;

struct raw_connection {
	struct raw_server *server;
	int fd;
	struct loop_io *io;
};

struct raw_server {
	struct loop *loop;
	enum raw_mode mode;
	const char *text;
	int fd;
	uint16_t port;
	struct loop_io *io;
	unsigned int n_connections;
	struct raw_connection connections[RAW_MAX_CONNECTIONS];
};

static inline void raw_connection_close(struct raw_connection *c)
{
	if (!c->io)
		return;
	loop_io_free(c->io);
	c->io = NULL;
	(void)close(c->fd);
}

static inline void raw_on_data(uint32_t events, void *data)
{
	struct raw_connection *c = data;
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };
	char bytes[65536];

	(void)events;
	ssize_t n = read(c->fd, bytes, sizeof(bytes));
	if (n <= 0) {
		raw_connection_close(c);
		return;
	}
	if (c->server->mode == RAW_HANG)
		return;
	if (c->server->mode == RAW_RESET)
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	else
		(void)!write(c->fd, c->server->text, strlen(c->server->text));
	raw_connection_close(c);
}

static inline void raw_on_connection(uint32_t events, void *data)
{
	struct raw_server *s = data;
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	assert_true(s->n_connections < RAW_MAX_CONNECTIONS);
	struct raw_connection *c = &s->connections[s->n_connections++];
	c->server = s;
	c->fd = fd;
	assert_int_equal(loop_io_new(s->loop, fd, EPOLLIN, raw_on_data, c, &c->io), 0);
}

static inline void raw_server_start(struct raw_server *s, struct loop *loop, enum raw_mode mode,
				    const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int on = 1;

	memset(s, 0, sizeof(*s));
	s->loop = loop;
	s->mode = mode;
	s->text = text;
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(s->fd >= 0);
	/* So that a good server can take over the port while connections of this one linger. */
	assert_int_equal(setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&address, &n), 0);
	s->port = ntohs(address.sin_port);
	assert_int_equal(listen(s->fd, 16), 0);
	assert_int_equal(loop_io_new(loop, s->fd, EPOLLIN, raw_on_connection, s, &s->io), 0);
}

static inline void raw_server_stop(struct raw_server *s)
{
	for (unsigned int i = 0; i < s->n_connections; i++)
		raw_connection_close(&s->connections[i]);
	loop_io_free(s->io);
	(void)close(s->fd);
}

/* A port of 127.0.0.1 on which nobody listens. */
static inline uint16_t raw_free_port(struct loop *loop)
{
	struct raw_server s;

	raw_server_start(&s, loop, RAW_HANG, NULL);
	raw_server_stop(&s);
	return s.port;
}

#endif
