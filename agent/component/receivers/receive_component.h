/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A component that takes profiles from others over HTTP and hands them on.
 *
 * It has a server of its own, which stays open while arguments change, unless its address or its limits do. Where the address is taken, the
 * component is unhealthy and tries again. All functions are those of struct component_kind.
 */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_COMPONENT_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVE_COMPONENT_H

#include "agent/component/component.h"
#include "agent/component/http/http_args.h"
#include "agent/receive/receiving.h"

/* "[address]:port" */
#define RECEIVE_LISTEN_BYTES 300
/* Connections, where their number is not limited; each takes some 40 KiB of headers at most. */
#define RECEIVE_DEFAULT_CONNECTIONS 256

/* What arguments say. Pointers into them. */
struct receive_plan {
	char listen[RECEIVE_LISTEN_BYTES];
	struct http_server_options options; /* but for listen and telemetry */
	const struct http_tls_args *tls;    /* NULL: none */
	const struct river_capsules *to;
	size_t max_body_bytes; /* of a request, where the routes ask for it */
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
