/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A component that takes profiles from others, over HTTP or gRPC or both, and hands them on.
 *
 * It has servers of its own, which stay open while arguments change, unless their addresses or limits do. Where an address is taken, the
 * component is unhealthy and tries again; the other server works meanwhile. All functions are those of struct component_kind.
 */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_COMPONENT_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_COMPONENT_H

#include "agent/component/component.h"
#include "agent/component/http/http_args.h"
#include "agent/component/receivers/otlp_auth.h"
#include "agent/receive/receiving.h"

/* "[address]:port" */
#define RECEIVE_LISTEN_BYTES 300
/* Connections, where their number is not limited; each takes some 40 KiB of headers at most. */
#define RECEIVE_DEFAULT_CONNECTIONS 256

struct receive_door_plan {
	bool wanted;
	char listen[RECEIVE_LISTEN_BYTES];
	const struct http_tls_args *tls; /* NULL: none */
	struct otlp_auth *auth;		 /* who may ask; NULL: everybody */
	size_t max_bytes;		 /* of a request, where who reads it asks for that */
};

/* What arguments say. Pointers into them. */
struct receive_plan {
	struct receive_door_plan http, grpc;
	struct http_server_options options;	 /* but for listen and telemetry */
	struct grpc_server_options grpc_options; /* the same */
	const struct river_capsules *to;
};

struct receive_component {
	/* The plan has the default options. */
	void (*plan)(const void *args, struct receive_plan *plan);
	/* 0 or -errno. */
	int (*add_routes)(struct receiving *r, const struct receive_plan *plan,
			  struct http_server *server);
};

int receive_component_build(struct component *c, const struct receive_component *kind,
			    const void *args, struct buf *why);
int receive_component_accepts(struct component *c, const void *args, struct buf *why);
int receive_component_run(struct component *c, struct buf *why);
int receive_component_update(struct component *c, const void *args, struct buf *why);
void receive_component_stop(struct component *c);
void receive_component_check(struct component *c);
int receive_component_debug(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_info);

#endif
