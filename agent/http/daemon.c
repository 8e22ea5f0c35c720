/* SPDX-License-Identifier: Apache-2.0 */
/* One libmicrohttpd daemon in our loop. */
#include "agent/http/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* How often a retired daemon is looked at. */
#define RETIRED_STEP_NS (100 * NS_PER_MS)
/* How often the library runs for nothing, see daemon_timeout. */
#define FRESH_STEP_NS (2 * NS_PER_MS)

/* Connections that have been ended, until the library has closed them. */
#define ENDING_CONNECTIONS 32
/* Who waits for us is never ended for another one, so all who may have room besides, or nobody were accepted while they wait: 33 answers, 33
 * scrapes, 33 queries and 32 pushes, and with a second store its queries and pushes. A place that nobody takes costs nothing. */
#define WAITING_CONNECTIONS 196
#define MORE_CONNECTIONS (ENDING_CONNECTIONS + WAITING_CONNECTIONS)
/* See daemon_run_library. */
#define MAX_RUNS 8

/* One connection, as long as the library has it. */
struct daemon_connection {
	struct connection c;
	bool fresh; /* TLS, and nothing was asked yet */
};

static unsigned int daemon_n_connections(struct http_daemon *d)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/*
 * At its connection limit the library stops watching the listening socket, and watches it again
 * only at the beginning of the run after the one in which a connection ended. Nobody else would
 * cause that run, so we do; after some of them others in the loop come first.
 */
static void daemon_run_library(struct http_daemon *d)
{
	unsigned int n_before, n_after;
	int n_runs = 0;

	d->running = true;
	do {
		n_before = daemon_n_connections(d);
		(void)MHD_run(d->mhd);
		n_after = daemon_n_connections(d);
	} while (n_after < n_before && ++n_runs < MAX_RUNS);
	d->crowded = n_after < n_before;
	d->running = false;
}

/* A handler that runs the loop gets here again, which the library does not bear: what comes in then
 * waits until the handler is done. */
static void daemon_pause(struct http_daemon *d)
{
	d->paused = true;
	(void)loop_io_set_events(d->io, 0);
}

/*
 * While a handshake waits for the client, the library wants to run at once, again and again, although it learns from its own
 * descriptor when there is something to do (seen in 0.9.75). So as long as somebody may be in a handshake it waits a little;
 * descriptors are looked at without delay all the same.
 */
static uint64_t daemon_timeout(const struct http_daemon *d, uint64_t now)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	if (MHD_get_timeout(d->mhd, &timeout_ms) != MHD_YES)
		return UINT64_MAX;
	if (timeout_ms == 0 && d->tls && d->n_fresh > 0)
		return now + FRESH_STEP_NS;
	return now + timeout_ms * NS_PER_MS;
}

static void daemon_arm(struct http_daemon *d)
{
	uint64_t now = clock_mono_ns();
	uint64_t at = daemon_timeout(d, now);

	if (d->crowded)
		at = now;
	if (d->retired)
		at = MIN_OF(at, now + RETIRED_STEP_NS);
	if (at == UINT64_MAX)
		loop_timer_disarm(d->timer);
	else
		loop_timer_arm(d->timer, at);
}

static void daemon_run(struct http_daemon *d)
{
	if (d->running) {
		daemon_pause(d);
		return;
	}
	daemon_run_library(d);
	if (d->paused) {
		d->paused = false;
		(void)loop_io_set_events(d->io, EPOLLIN);
	}
	daemon_arm(d);
}

static void daemon_on_io(uint32_t events, void *data)
{
	(void)events;
	daemon_run(data);
}

static void daemon_on_timer(void *data)
{
	struct http_daemon *d = data;

	daemon_run(d);
	if (!d->retired || d->running)
		return;
	if (daemon_n_connections(d) == 0 || clock_mono_ns() >= d->end_ns)
		http_daemon_free(d);
}

/* Before the handshake: the library itself knows optional client certificates only. */
static void daemon_prepare(const struct http_daemon *d, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (info && info->tls_session)
		server_tls_prepare(d->tls, (gnutls_session_t)info->tls_session);
}

static void daemon_not_fresh(struct http_daemon *d, struct daemon_connection *c)
{
	d->n_fresh -= c->fresh;
	c->fresh = false;
}

static int connection_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static const struct sockaddr *connection_address(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

static struct daemon_connection *daemon_open(struct http_daemon *d,
					     struct MHD_Connection *connection)
{
	struct daemon_connection *c = calloc(1, sizeof(*c));
	int fd = connection_fd(connection);

	if (!c) {
		(void)shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	if (d->tls) {
		daemon_prepare(d, connection);
		c->fresh = true;
		d->n_fresh++;
	}
	connection_open(d->connections, &c->c, fd, connection_address(connection), clock_mono_ns());
	return c;
}

static void daemon_close(struct http_daemon *d, struct daemon_connection *c)
{
	if (!c)
		return;
	daemon_not_fresh(d, c);
	connection_close(d->connections, &c->c);
	free(c);
}

static void daemon_on_connection(void *data, struct MHD_Connection *connection,
				 void **connection_data, enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*connection_data = daemon_open(data, connection);
		return;
	}
	daemon_close(data, *connection_data);
	*connection_data = NULL;
}

struct connection *http_daemon_note_request(struct http_daemon *d,
					    struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct daemon_connection *c = info ? info->socket_context : NULL;

	if (!c)
		return NULL;
	daemon_not_fresh(d, c);
	return &c->c;
}

void http_daemon_suspend(struct http_daemon *d, struct daemon_wait *wait,
			 struct MHD_Connection *connection)
{
	wait->connection = connection;
	list_push_back(&d->waits, &wait->node);
	MHD_suspend_connection(connection);
}

void http_daemon_resume(struct http_daemon *d, struct daemon_wait *wait)
{
	if (!wait->connection)
		return;
	list_remove(&wait->node);
	MHD_resume_connection(wait->connection);
	wait->connection = NULL;
	loop_timer_arm(d->timer, clock_mono_ns());
}

static int daemon_start(struct http_daemon *d, const struct daemon_options *o, int fd)
{
	const struct server_tls *tls = d->tls;
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (tls ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls_options[] = {
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, tls ? tls->key_pem : NULL },
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, tls ? tls->cert_pem : NULL },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, tls ? tls->priorities : NULL },
		{ tls && tls->client_ca_pem ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		  tls ? tls->client_ca_pem : NULL },
		{ MHD_OPTION_END, 0, NULL },
	};

	d->mhd = MHD_start_daemon(flags, 0, NULL, NULL, o->request, d, MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_CONNECTION_LIMIT,
				  o->server->max_connections + MORE_CONNECTIONS,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->server->max_header_bytes,
				  MHD_OPTION_NOTIFY_COMPLETED, o->completed, d,
				  MHD_OPTION_NOTIFY_CONNECTION, daemon_on_connection, d,
				  MHD_OPTION_ARRAY, tls ? tls_options : tls_options + 4,
				  MHD_OPTION_END);
	return d->mhd ? 0 : -EIO;
}

static int daemon_attach(struct http_daemon *d)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD);

	if (!info || info->epoll_fd < 0)
		return -ENOTSUP;
	int r = loop_timer_new(d->loop, daemon_on_timer, d, &d->timer);
	if (r < 0)
		return r;
	return loop_io_new(d->loop, info->epoll_fd, EPOLLIN, daemon_on_io, d, &d->io);
}

static int daemon_begin(struct http_daemon *d, const struct daemon_options *o, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return -errno;
	/* The library closes it, on some of its failures too: better a descriptor lost there than
	 * one closed twice. */
	int r = daemon_start(d, o, copy);
	return r < 0 ? r : daemon_attach(d);
}

int http_daemon_new(struct loop *loop, const struct daemon_options *o, int fd,
		    struct server_tls *tls, struct http_daemon **ret_daemon)
{
	_cleanup_(http_daemon_freep) struct http_daemon *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	list_init(&d->node);
	list_init(&d->waits);
	d->quiet_fd = -1;
	d->loop = loop;
	d->tls = tls;
	d->owner = o->owner;
	d->connections = o->connections;
	int r = daemon_begin(d, o, fd);
	if (r < 0) {
		d->tls = NULL;
		return r;
	}
	*ret_daemon = TAKE_PTR(d);
	return 0;
}

void http_daemon_free(struct http_daemon *d)
{
	if (!d)
		return;
	list_remove(&d->node);
	/* The library does not bear to be stopped while somebody waits. */
	LIST_FOREACH (&d->waits, at)
		http_daemon_resume(d, LIST_ENTRY(at, struct daemon_wait, node));
	loop_io_free(d->io);
	loop_timer_free(d->timer);
	if (d->mhd)
		MHD_stop_daemon(d->mhd);
	if (d->quiet_fd >= 0)
		(void)close(d->quiet_fd);
	server_tls_free(d->tls);
	free(d);
}

void http_daemon_retire(struct http_daemon *d, uint64_t end_ns)
{
	d->retired = true;
	d->end_ns = end_ns;
	/* At once, or who comes next would meet the old one. */
	d->quiet_fd = MHD_quiesce_daemon(d->mhd);
	loop_timer_arm(d->timer, clock_mono_ns());
}
