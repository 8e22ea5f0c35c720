/* SPDX-License-Identifier: Apache-2.0 */
/* Pyroscope's push, a call by the Connect protocol: https://connectrpc.com/docs/protocol */
#include <inttypes.h>
#include <stdio.h>

#include "agent/push/encode.h"
#include "agent/push/protocol.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Ten digits at most, says the protocol. */
#define CONNECT_MAX_TIMEOUT_MS ((uint64_t)9999999999)

static void headers(uint64_t timeout_ns, struct push_headers *h)
{
	uint64_t ms = timeout_ns / NS_PER_MS;

	(void)snprintf(h->text, sizeof(h->text), "%" PRIu64,
		       MIN_OF(MAX_OF(ms, (uint64_t)1), CONNECT_MAX_TIMEOUT_MS));
	h->n = 0;
	h->items[h->n++] = (struct http_header){ "Content-Type", "application/proto" };
	h->items[h->n++] = (struct http_header){ "Connect-Protocol-Version", "1" };
	h->items[h->n++] = (struct http_header){ "Connect-Timeout-Ms", h->text };
}

const struct push_protocol push_pyroscope = {
	.server = "Pyroscope",
	.path = "/push.v1.PusherService/Push",
	.headers = headers,
	.batch = 1,
	.encode = push_encode,
	.judge = push_judge,
};
