/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes that come over HTTP: how many at once, of whom, and how much memory they hold together.
 *
 *	arrives ──► waits, as it was received ──► is read, and holds its message ──► answered
 *
 * What waits is within the server's budget of bodies (http_server_options.max_bodies_bytes).
 * Inside of the read API. Loop thread.
 */
#ifndef XAGENT_AGENT_STORE_API_PUSH_RECEIVE_H
#define XAGENT_AGENT_STORE_API_PUSH_RECEIVE_H

#include "agent/http/server.h"
#include "agent/store/store.h"

/* As many agents may push to one store in the same moment; the server has room for who waits besides its other connections. Of one address half
 * of these, so that one client alone does not keep the others out. */
#define PUSH_MAX_AT_ONCE 32
#define PUSH_MAX_OF_ONE_PEER 16
/* Of the messages of all that are being read. The next one is begun when it fits by what it says of its size; so it may be one more message than
 * this in the end. */
#define PUSH_MAX_HELD_BYTES ((size_t)16 << 20)

struct pushes;

int pushes_new(struct store *store, struct pushes **ret_pushes);
/* All end, with `unavailable`; the one that is read ends within a moment. NULL-safe. */
void pushes_free(struct pushes *pushes);
DEFINE_CLEANUP(struct pushes *, pushes_free);

/* An HTTP handler's work. */
void push_handle(struct pushes *pushes, const struct http_call *call, struct http_answer *answer);

#endif
