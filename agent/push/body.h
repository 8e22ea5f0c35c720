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

/* Around all profiles of a request: 30 labels of 3 KiB each, and more than their tags take. */
#define PUSH_BODY_MAX_OWN_BYTES ((size_t)128 << 10)
/* One that is borrowed, and what stands before and behind it. */
#define PUSH_BODY_MAX_PIECES 3

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
/* Nothing is added any more; from now on it must not move. 0, -ENOMEM: something found no room. */
int push_body_close(struct push_body *b);

#endif
