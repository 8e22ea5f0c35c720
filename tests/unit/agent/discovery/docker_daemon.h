/* SPDX-License-Identifier: Apache-2.0 */
/* A Docker daemon for tests: a socket in the loop of the test, which decides each answer. */
#ifndef XAGENT_TESTS_UNIT_AGENT_DISCOVERY_DOCKER_DAEMON_H
#define XAGENT_TESTS_UNIT_AGENT_DISCOVERY_DOCKER_DAEMON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/loop.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define DAEMON_MAX_CONNECTIONS 64

struct daemon;

struct daemon_connection {
	struct daemon *daemon;
	int fd;
	struct loop_io *io; /* NULL: closed */
	char request[8192];
	size_t n_request;
};

struct daemon {
	struct loop *loop;
	char dir[64], path[96];
	int fd; /* -1: it is not there */
	struct loop_io *io;
	struct daemon_connection connections[DAEMON_MAX_CONNECTIONS];
	unsigned int n_connections;
	struct daemon_connection *events;  /* who follows them; NULL: nobody */
	struct daemon_connection *waiting; /* who has asked for containers while `slow` */
	const char *api_version;	   /* NULL: not told */
	const char *containers, *networks; /* bodies */
	unsigned int ping_status, events_status, containers_status, networks_status; /* 0: 200 */
	bool slow;	/* containers are told when the test says so */
	bool no_events; /* nor is an answer to who wants to follow them */
	unsigned int n_pings, n_events, n_lists;
	struct buf paths; /* that were asked for, one a line */
};

static inline void daemon_close(struct daemon_connection *c)
{
	if (!c || !c->io)
		return;
	if (c->daemon->events == c)
		c->daemon->events = NULL;
	loop_io_free(c->io);
	c->io = NULL;
	(void)close(c->fd);
}

static inline void daemon_write(struct daemon_connection *c, const char *text)
{
	/* Who asked may not want to know any more. */
	(void)!send(c->fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline void daemon_answer(struct daemon_connection *c, unsigned int status,
				 const char *header, const char *body)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_int_equal(buf_printf(&text, "HTTP/1.1 %u X\r\n%sContent-Length: %zu\r\n\r\n%s",
				    status ? status : 200, header, strlen(body), body),
			 0);
	daemon_write(c, buf_str(&text));
}

static inline const char *daemon_body(unsigned int status, const char *body)
{
	return status == 0 ? body : "{\"message\":\"told so\"}\n";
}

static inline void daemon_answer_ping(struct daemon *d, struct daemon_connection *c)
{
	char header[64] = "";

	d->n_pings++;
	if (d->api_version)
		(void)snprintf(header, sizeof(header), "Api-Version: %s\r\n", d->api_version);
	daemon_answer(c, d->ping_status, header, daemon_body(d->ping_status, "OK"));
}

static inline void daemon_answer_events(struct daemon *d, struct daemon_connection *c)
{
	d->n_events++;
	if (d->no_events)
		return;
	if (d->events_status != 0) {
		daemon_answer(c, d->events_status, "", daemon_body(d->events_status, ""));
		return;
	}
	d->events = c;
	daemon_write(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static inline void daemon_answer_containers(struct daemon *d, struct daemon_connection *c)
{
	d->n_lists++;
	if (d->slow)
		d->waiting = c;
	else
		daemon_answer(c, d->containers_status, "",
			      daemon_body(d->containers_status, d->containers));
}

static inline void daemon_handle(struct daemon_connection *c)
{
	struct daemon *d = c->daemon;
	char *path = strchr(c->request, ' ');

	assert_non_null(path);
	path++;
	*strchr(path, ' ') = '\0';
	assert_int_equal(buf_printf(&d->paths, "%s\n", path), 0);
	c->n_request = 0;
	if (strcmp(path, "/_ping") == 0)
		daemon_answer_ping(d, c);
	else if (strstr(path, "/events?"))
		daemon_answer_events(d, c);
	else if (strstr(path, "/containers/json"))
		daemon_answer_containers(d, c);
	else if (strstr(path, "/networks"))
		daemon_answer(c, d->networks_status, "",
			      daemon_body(d->networks_status, d->networks));
	else
		daemon_answer(c, 404, "", "");
}

static inline void daemon_on_data(uint32_t events, void *data)
{
	struct daemon_connection *c = data;
	ssize_t n = read(c->fd, c->request + c->n_request, sizeof(c->request) - 1 - c->n_request);

	(void)events;
	if (n <= 0) {
		daemon_close(c);
		return;
	}
	c->n_request += (size_t)n;
	c->request[c->n_request] = '\0';
	if (strstr(c->request, "\r\n\r\n"))
		daemon_handle(c);
}

static inline void daemon_on_connection(uint32_t events, void *data)
{
	struct daemon *d = data;
	int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	assert_true(d->n_connections < DAEMON_MAX_CONNECTIONS);
	struct daemon_connection *c = &d->connections[d->n_connections++];
	c->daemon = d;
	c->fd = fd;
	assert_int_equal(loop_io_new(d->loop, fd, EPOLLIN, daemon_on_data, c, &c->io), 0);
}

static inline void daemon_start(struct daemon *d)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(d->fd >= 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", d->path);
	assert_int_equal(bind(d->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(d->fd, 16), 0);
	assert_int_equal(loop_io_new(d->loop, d->fd, EPOLLIN, daemon_on_connection, d, &d->io), 0);
}

static inline void daemon_stop(struct daemon *d)
{
	for (unsigned int i = 0; i < d->n_connections; i++)
		daemon_close(&d->connections[i]);
	if (d->fd < 0)
		return;
	loop_io_free(d->io);
	(void)close(d->fd);
	(void)unlink(d->path);
	d->fd = -1;
}

/* It is not started yet. */
static inline void daemon_init(struct daemon *d, struct loop *loop)
{
	memset(d, 0, sizeof(*d));
	d->loop = loop;
	d->fd = -1;
	d->api_version = "1.41";
	d->containers = "[]";
	d->networks = "[]";
	buf_init(&d->paths, 1 << 20);
	temp_dir_make(d->dir);
	(void)snprintf(d->path, sizeof(d->path), "%s/sock", d->dir);
}

static inline void daemon_fini(struct daemon *d)
{
	daemon_stop(d);
	buf_fini(&d->paths);
	(void)temp_dir_remove(d->dir);
}

/* To who follows. */
static inline void daemon_tell(struct daemon *d, const char *text)
{
	_cleanup_buf_ struct buf chunk = BUF_INIT(1 << 20);

	assert_non_null(d->events);
	assert_int_equal(buf_printf(&chunk, "%zx\r\n%s\r\n", strlen(text), text), 0);
	daemon_write(d->events, buf_str(&chunk));
}

#endif
