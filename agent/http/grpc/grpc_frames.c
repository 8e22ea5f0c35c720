/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gRPC in the bodies of requests. */
#include "agent/http/grpc/grpc_frames.h"

#include <string.h>

#include "agent/util/macro.h"

void grpc_frames_init(struct grpc_frames *f, size_t max_bytes)
{
	*f = (struct grpc_frames){ .message = BUF_INIT(max_bytes) };
}

void grpc_frames_fini(struct grpc_frames *f)
{
	buf_fini(&f->message);
}

static bool has_head(const struct grpc_frames *f)
{
	return f->n_head == GRPC_FRAME_HEAD_BYTES;
}

static size_t add_head(struct grpc_frames *f, const unsigned char *bytes, size_t n)
{
	size_t taken = MIN_OF(n, GRPC_FRAME_HEAD_BYTES - f->n_head);

	memcpy(f->head + f->n_head, bytes, taken);
	f->n_head += taken;
	return taken;
}

static int read_head(struct grpc_frames *f)
{
	const unsigned char *h = f->head;

	f->n_announced = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];
	f->is_compressed = h[0] == 1;
	if (h[0] > 1)
		return GRPC_FRAMES_BROKEN;
	return f->n_announced > f->message.max_bytes ? GRPC_FRAMES_TOO_LARGE : GRPC_FRAMES_SOUND;
}

int grpc_frames_add(struct grpc_frames *f, const void *bytes, size_t n)
{
	size_t at = 0;

	if (!has_head(f)) {
		at = add_head(f, bytes, n);
		int r = has_head(f) ? read_head(f) : GRPC_FRAMES_SOUND;
		if (r != GRPC_FRAMES_SOUND)
			return r;
	}
	if (n - at > f->n_announced - f->message.len)
		return GRPC_FRAMES_SEVERAL;
	return n == at ? GRPC_FRAMES_SOUND
		       : buf_append(&f->message, (const char *)bytes + at, n - at);
}

bool grpc_frames_is_whole(const struct grpc_frames *f)
{
	return has_head(f) && f->message.len == f->n_announced;
}
