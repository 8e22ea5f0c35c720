/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builtins of V8 in a file whose symbols do not say where they are, as libraries of distributions, and programs that were stripped. They are two
 * pieces (EmbeddedData): their code, and what describes it, which is data that is only read.
 *
 *	u64	checksum of what follows the next word
 *	u64	checksum of the code
 *	u64	another one
 *	u32	where the first builtin is in the code, how many bytes it has; the same of the others
 *	u32	bytes of code, and of this description, at the next multiple of 8
 *
 * All are zlib's adler32() that begins with 0, or the same with another modulus, in V8 9.4 to 14.6. So a description is known for certain, and so is the code,
 * which nothing leads to: it is what has that checksum. Pure, but for reading the file.
 */
#ifndef XAGENT_AGENT_OBJECT_V8_BLOB_H
#define XAGENT_AGENT_OBJECT_V8_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/object/v8/pieces.h"

/* Those known have 1.2 to 2.2 MB of code, described by 82 to 127 KB. */
#define V8_BLOB_MIN_CODE ((uint32_t)256 << 10)
#define V8_BLOB_MAX_CODE ((uint32_t)64 << 20)
#define V8_BLOB_MIN_DATA ((uint32_t)16 << 10)
#define V8_BLOB_MAX_DATA ((uint32_t)V8_PIECES_KEPT_BYTES - 64)
/* Code is aligned to that, or to more, each builtin's. */
#define V8_BLOB_ALIGNMENT 32

/* Behind the checksums. */
#define V8_BLOB_BUILTINS 24

/* Offsets in the file. */
struct v8_blob {
	uint64_t data_at, code_at;
	uint32_t data_bytes, code_bytes;
	uint32_t code_checksum, modulus;
};

/* The description that ends in the new part of a piece. *n_tries: how many may be taken for one before the look ends. */
bool v8_blob_in_piece(const struct v8_piece *piece, unsigned int *n_tries, struct v8_blob *ret);
/* False: not found. */
bool v8_blob_find(const struct elf *elf, struct v8_blob *ret_blob);

#endif
