/* SPDX-License-Identifier: Apache-2.0 */
/* One server of a component that takes profiles: HTTP or gRPC, with the same life. For receive_component.c. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_DOOR_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_DOOR_H

#include "agent/component/receivers/receive_component.h"

struct receive_door_kind {
	const char *protocol;
	/* Of a plan, what is this server's; NULL: there is none. */
	const struct receive_door_plan *(*plan)(const struct receive_plan *plan);
	/* 0, -EADDRINUSE with a sentence in `why`, or -errno. */
	int (*open)(const struct component *c, struct receiving *r,
		    const struct receive_component *kind, const struct receive_plan *plan,
		    struct buf *why, void **ret_server);
	void (*close)(void *server); /* NULL-safe */
	/* 0, or -errno with a sentence in `why`. */
	int (*secure)(void *server, const struct http_access *access,
		      const struct http_server_tls *tls, struct buf *why);
	/* Whether a server with the one needs nothing but other certificates to be one with the other. */
	bool (*is_same)(const struct receive_plan *a, const struct receive_plan *b);
	uint16_t (*port)(const void *server);
	bool (*is_open)(const void *server);
};

extern const struct receive_door_kind receive_door_http, receive_door_grpc;

#endif
