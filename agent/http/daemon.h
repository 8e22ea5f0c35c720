/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One libmicrohttpd daemon in our loop; for the server, which has a new one whenever TLS changes.
 *
 * The library keeps its own epoll descriptor, which our loop watches; whenever it is readable, or
 * the library's own timeout is due, we let it run.
 */
#ifndef XAGENT_AGENT_HTTP_DAEMON_H
#define XAGENT_AGENT_HTTP_DAEMON_H

#include <microhttpd.h>

#include "agent/http/connections.h"
#include "agent/http/server.h"
#include "agent/http/server_tls.h"
#include "agent/util/list.h"

struct http_daemon {
	struct list node; /* the server's, once it is retired */
	struct MHD_Daemon *mhd;
	struct loop *loop;
	struct loop_io *io;
	struct loop_timer *timer;
	struct server_tls *tls; /* owned; NULL: none */
	void *owner;		/* borrowed */
	struct connections *connections; /* borrowed */
	size_t n_fresh;		/* connections with TLS that have not asked anything yet */
	bool running;		/* inside of MHD_run */
	bool paused;		/* its descriptor is not watched */
	bool crowded;		/* connections still end, see daemon_run_library */
	bool retired;		/* takes no connection any more, ends with those it has */
	uint64_t end_ns;	/* when it is retired: at the latest */
	struct list waits;	/* requests whose answers come later */
	int quiet_fd; /* its listening socket, which the library gives back then; -1 before */
};

/* Embedded in a request that waits for its answer. */
struct daemon_wait {
	struct list node;
	struct MHD_Connection *connection; /* NULL: does not wait */
};

struct daemon_options {
	const struct http_server_options *server;
	MHD_AccessHandlerCallback request; /* its first argument is the daemon */
	MHD_RequestCompletedCallback completed;
	void *owner;
	struct connections *connections; /* borrowed, those of its daemons together */
};

/* `fd` is listening; it is copied. `tls` is moved, on success only. */
int http_daemon_new(struct loop *loop, const struct daemon_options *options, int fd,
		    struct server_tls *tls, struct http_daemon **ret_daemon);
/* Closes its connections, those that wait too. Not from within one of its requests. NULL-safe. */
void http_daemon_free(struct http_daemon *d);
DEFINE_CLEANUP(struct http_daemon *, http_daemon_free);

/* The first of a connection tells that its handshake is done. NULL: the connection has ended. */
struct connection *http_daemon_note_request(struct http_daemon *d,
					    struct MHD_Connection *connection);

/* From within the request callback, which is called again once the wait is over. */
void http_daemon_suspend(struct http_daemon *d, struct daemon_wait *wait,
			 struct MHD_Connection *connection);
/* Nothing when it does not wait. */
void http_daemon_resume(struct http_daemon *d, struct daemon_wait *wait);

/* It frees itself when its last connection has ended, or at `end_ns`. */
void http_daemon_retire(struct http_daemon *d, uint64_t end_ns);

#endif
