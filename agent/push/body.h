/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of one request: pieces in the order in which they are sent. Bytes of profiles are borrowed, however long they are; what a protocol
 * puts around them is copied. Pure.
 */
#ifndef XAGENT_AGENT_PUSH_BODY_H
#define XAGENT_AGENT_PUSH_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/http/client.h"
#include "agent/util/buf.h"
#include "agent/util/shared_bytes.h"

/* Profiles of one request. */
#define PUSH_MAX_BATCH 64
/* Of their bytes and labels together, where there are several; what OpenTelemetry's collector takes of a message by default. */
#define PUSH_MAX_BATCH_BYTES ((size_t)4 << 20)
/* All labels may be own bytes: those of a batch; or of one profile, 30 of 3 KiB each. Tags come on top. */
#define PUSH_BODY_MAX_OWN_BYTES (PUSH_MAX_BATCH_BYTES + ((size_t)128 << 10))
/* Each profile, what stands before it, and what stands behind the last. */
#define PUSH_BODY_MAX_PIECES (2 * PUSH_MAX_BATCH + 1)

struct push_body {
	struct http_piece
		pieces[PUSH_BODY_MAX_PIECES]; /* own ones without `data` until it is closed */
	size_t n_pieces;
	size_t n; /* of all */
	struct buf own;
	bool failed; /* there was no room, or no memory */
};

void push_body_init(struct push_body *b);
void push_body_fini(struct push_body *b);
#define _cleanup_push_body_ _cleanup_(push_body_fini)

/* Copied. */
void push_body_add(struct push_body *b, const void *bytes, size_t n);
/* Borrowed until the body's end. */
void push_body_add_shared(struct push_body *b, const struct shared_bytes *bytes);
/* `n` of them from there on. */
void push_body_add_part(struct push_body *b, const struct shared_bytes *bytes, size_t from,
			size_t n);
/* Nothing is added any more; from now on it must not move. 0, -ENOMEM: something found no room. */
int push_body_close(struct push_body *b);

#endif
