/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one message of a unary call, as gRPC puts it into the body of a request: a byte that says whether it is compressed, its length in four
 * bytes, the bytes. Pure.
 */
#ifndef XAGENT_AGENT_HTTP_GRPC_GRPC_FRAMES_H
#define XAGENT_AGENT_HTTP_GRPC_GRPC_FRAMES_H

#include <stdint.h>

#include "agent/util/buf.h"

#define GRPC_FRAME_HEAD_BYTES 5

struct grpc_frames {
	unsigned char head[GRPC_FRAME_HEAD_BYTES];
	size_t n_head;
	size_t n_announced; /* bytes of the message, once its head is whole */
	struct buf message; /* what came of it */
	bool is_compressed;
};

enum grpc_frames_outcome {
	GRPC_FRAMES_SOUND, /* so far */
	GRPC_FRAMES_TOO_LARGE,
	GRPC_FRAMES_BROKEN,  /* its first byte is neither 0 nor 1 */
	GRPC_FRAMES_SEVERAL, /* a second message */
};

/* Longer messages are GRPC_FRAMES_TOO_LARGE as soon as their head tells. */
void grpc_frames_init(struct grpc_frames *f, size_t max_bytes);
void grpc_frames_fini(struct grpc_frames *f);

/* An outcome, after which nothing more is to be added but to what is sound; -ENOMEM. */
int grpc_frames_add(struct grpc_frames *f, const void *bytes, size_t n);

/* Whether the message is there from its first byte to its last. */
bool grpc_frames_is_whole(const struct grpc_frames *f);

#endif
