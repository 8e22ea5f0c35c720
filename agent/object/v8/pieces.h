/* SPDX-License-Identifier: Apache-2.0 */
/* A look through all that a file has to be mapped: piece by piece, each with what lies before it. For what no symbol tells the place of. */
#ifndef XAGENT_AGENT_OBJECT_V8_PIECES_H
#define XAGENT_AGENT_OBJECT_V8_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"

/* Of a file as much is looked through: the largest libnode.so has 14 MiB of read-only data, and 50 MiB of code, which older linkers have put into the same segment. */
#define V8_PIECES_MAX_BYTES ((uint64_t)256 << 20)
/* What lies before a piece and is given with it. The description of V8's builtins has some 100 KiB. */
#define V8_PIECES_KEPT_BYTES ((size_t)1 << 20)

struct v8_piece {
	const uint8_t *bytes; /* the first one is at a multiple of 8 */
	size_t n;
	size_t n_seen;	   /* of them were in the piece before */
	uint64_t file_off; /* of the first one */
};

/* True: what was looked for is in it. */
typedef bool (*v8_piece_look)(void *data, const struct v8_piece *piece);

enum v8_pieces { V8_PIECES_READ_ONLY, V8_PIECES_ALL };

bool v8_pieces_look(const struct elf *elf, enum v8_pieces which, v8_piece_look look, void *data);

#endif
