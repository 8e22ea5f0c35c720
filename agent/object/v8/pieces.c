/* SPDX-License-Identifier: Apache-2.0 */
/* A look through a file's segments. */
#include "agent/object/v8/pieces.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

#define NEW_BYTES ((size_t)1 << 20)
#define ALIGNMENT 8

struct pieces {
	const struct elf *elf;
	enum v8_pieces which;
	v8_piece_look look;
	void *data;
	uint8_t *bytes;
	uint64_t n_left;
};

static bool look_through(struct pieces *p, uint64_t begin, uint64_t end)
{
	struct v8_piece piece = { .bytes = p->bytes, .file_off = begin };

	for (uint64_t at = begin; at < end;) {
		size_t n_kept = MIN_OF(piece.n, V8_PIECES_KEPT_BYTES);
		size_t n = (size_t)MIN_OF(end - at, (uint64_t)NEW_BYTES);

		memmove(p->bytes, p->bytes + piece.n - n_kept, n_kept);
		if (bytes_read(elf_bytes(p->elf), at, p->bytes + n_kept, n) < 0)
			return false;
		piece.file_off = at - n_kept;
		piece.n_seen = n_kept;
		piece.n = n_kept + n;
		if (p->look(p->data, &piece))
			return true;
		at += n;
	}
	return false;
}

static bool look_at_segment(struct pieces *p, const struct elf_segment *segment)
{
	uint64_t before = -segment->file_off % ALIGNMENT;
	uint64_t n = MIN_OF(segment->file_bytes, p->n_left);

	if (segment->type != PT_LOAD || n <= before ||
	    (p->which == V8_PIECES_READ_ONLY && segment->flags & PF_W))
		return false;
	p->n_left -= n;
	return look_through(p, segment->file_off + before, segment->file_off + n);
}

bool v8_pieces_look(const struct elf *elf, enum v8_pieces which, v8_piece_look look, void *data)
{
	_cleanup_free_ uint8_t *bytes = malloc(V8_PIECES_KEPT_BYTES + NEW_BYTES);
	struct pieces p = { .elf = elf,
			    .which = which,
			    .look = look,
			    .data = data,
			    .bytes = bytes,
			    .n_left = V8_PIECES_MAX_BYTES };

	if (!bytes)
		return false;
	for (size_t i = 0; i < elf_n_segments(elf); i++)
		if (look_at_segment(&p, elf_segment(elf, i)))
			return true;
	return false;
}
