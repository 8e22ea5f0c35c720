/* SPDX-License-Identifier: Apache-2.0 */
/* One request under way, and the profiles in it, which end together. Inside of agent/push. */
#ifndef XAGENT_AGENT_PUSH_FLIGHT_H
#define XAGENT_AGENT_PUSH_FLIGHT_H

#include "agent/http/client.h"
#include "agent/push/body.h"
#include "agent/push/protocol.h"
#include "agent/push/queue.h"

struct push_endpoint;

struct push_flight {
	struct list node; /* of the endpoint's */
	struct push_endpoint *endpoint;
	struct list entries; /* of struct push_entry, oldest first */
	size_t n;	     /* entries */
	size_t n_bytes;	     /* that waited */
	unsigned int wave;   /* see endpoint.c */
	struct push_body body;
	const char *relay;	      /* of its only profile, see relay.h; NULL: it is a push */
	struct http_request *request; /* NULL: not started, or ended */
};

/* Without entries. NULL: no memory. */
struct push_flight *push_flight_new(struct push_endpoint *endpoint);
/* Cancels its request. The entries must have been taken. NULL-safe. */
void push_flight_free(struct push_flight *f);
DEFINE_CLEANUP(struct push_flight *, push_flight_free);

void push_flight_add(struct push_flight *f, struct push_entry *entry);
/* Moves the oldest out; NULL: there is none. */
struct push_entry *push_flight_take(struct push_flight *f);

/* Makes the body. 0 or -errno. */
int push_flight_encode(struct push_flight *f, const struct push_protocol *protocol);

#endif
