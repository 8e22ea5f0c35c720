/* SPDX-License-Identifier: Apache-2.0 */
/* V8's builtins by their checksums. */
#include "agent/object/v8/blob.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Of adler32(), and of what V8 has in its place where it was built without zlib, as Debian's from Node.js 20 on. */
static const uint32_t moduli[] = { 65521, 65535 };
/* Of a description whose bytes are summed up in vain, as it only begins like one. */
#define MAX_TRIES 64
/* How many before what the first one is of. */
#define CHECKSUMS_BYTES 16
#define PIECE_BYTES ((size_t)64 * 1024)

_Static_assert(PIECE_BYTES % V8_BLOB_ALIGNMENT == 0, "pieces are whole steps");

struct beginning {
	uint64_t of_rest, of_code, of_isolate;
	uint32_t offset, length; /* of the code of one builtin */
};

/* Not reduced: of a file that is looked through they stay below 2^63. */
struct sums {
	uint64_t first, second;
};

static void add_step(struct sums *s, const uint8_t *bytes, uint32_t n)
{
	uint32_t plain = 0, weighted = 0;

	for (uint32_t i = 0; i < n; i++) {
		plain += bytes[i];
		weighted += (n - i) * bytes[i];
	}
	s->second += s->first * n + weighted;
	s->first += plain;
}

static uint32_t reduced(uint64_t first, uint64_t second, uint32_t modulus)
{
	return (uint32_t)(second % modulus) << 16 | (uint32_t)(first % modulus);
}

/* The modulus by which that is their checksum; 0: there is none. */
static uint32_t modulus_of(const uint8_t *bytes, size_t n, uint32_t checksum)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < n; i += V8_BLOB_ALIGNMENT)
		add_step(&s, bytes + i, (uint32_t)MIN_OF(n - i, (size_t)V8_BLOB_ALIGNMENT));
	for (size_t i = 0; i < ARRAY_SIZE(moduli); i++)
		if (reduced(s.first, s.second, moduli[i]) == checksum)
			return moduli[i];
	return 0;
}

static bool is_checksum(uint64_t word)
{
	return word && word <= UINT32_MAX;
}

/* Before anything is summed up. */
static bool is_beginning(const struct beginning *b, uint32_t code_bytes)
{
	return is_checksum(b->of_rest) && is_checksum(b->of_code) && b->length &&
	       b->length <= code_bytes && b->offset <= code_bytes - b->length &&
	       b->offset % V8_BLOB_ALIGNMENT == 0;
}

/* `end`: behind the description, where the numbers of bytes are; so much lies before it. */
static bool is_description(const uint8_t *end, size_t n_before, unsigned int *n_tries,
			   struct v8_blob *ret)
{
	struct beginning b;
	uint32_t code, data;

	memcpy(&code, end, sizeof(code));
	memcpy(&data, end + sizeof(code), sizeof(data));
	size_t n_aligned = (data + 7ULL) & ~7ULL;
	if (code < V8_BLOB_MIN_CODE || code > V8_BLOB_MAX_CODE || code % V8_BLOB_ALIGNMENT ||
	    data < V8_BLOB_MIN_DATA || data > V8_BLOB_MAX_DATA || n_aligned > n_before)
		return false;
	memcpy(&b, end - n_aligned, sizeof(b));
	if (!is_beginning(&b, code) || *n_tries == 0)
		return false;
	*n_tries -= 1;
	*ret = (struct v8_blob){ .data_bytes = data,
				 .code_bytes = code,
				 .code_checksum = (uint32_t)b.of_code,
				 .modulus =
					 modulus_of(end - n_aligned + CHECKSUMS_BYTES,
						    data - CHECKSUMS_BYTES, (uint32_t)b.of_rest) };
	return ret->modulus != 0;
}

bool v8_blob_in_piece(const struct v8_piece *piece, unsigned int *n_tries, struct v8_blob *ret)
{
	/* The numbers may have been cut in two where the piece before ended. */
	size_t from = piece->n_seen < 8 ? 0 : (piece->n_seen - 7U) & ~(size_t)7;

	for (size_t at = from; at + 8 <= piece->n; at += 8)
		if (is_description(piece->bytes + at, at, n_tries, ret)) {
			ret->data_at = piece->file_off + at - ((ret->data_bytes + 7ULL) & ~7ULL);
			return true;
		}
	return false;
}

struct search {
	const struct elf *elf;
	struct v8_blob blob;
	unsigned int n_tries;
	uint8_t *pieces;
	uint64_t n_left; /* of code that is summed up, still */
};

static bool look(void *data, const struct v8_piece *piece)
{
	struct search *s = data;

	return v8_blob_in_piece(piece, &s->n_tries, &s->blob);
}

/* Sums of all that lies before. */
struct cursor {
	const struct elf *elf;
	uint64_t at, end; /* in the file: of what was not read yet */
	uint8_t *piece;
	size_t n, i;
	struct sums sums;
};

static bool cursor_step(struct cursor *c)
{
	if (c->i == c->n) {
		c->n = (size_t)MIN_OF(c->end - c->at, (uint64_t)PIECE_BYTES);
		c->n -= c->n % V8_BLOB_ALIGNMENT;
		c->i = 0;
		if (c->n == 0 || bytes_read(elf_bytes(c->elf), c->at, c->piece, c->n) < 0)
			return false;
		c->at += c->n;
	}
	add_step(&c->sums, c->piece + c->i, V8_BLOB_ALIGNMENT);
	c->i += V8_BLOB_ALIGNMENT;
	return true;
}

static bool is_between(const struct sums *begin, const struct sums *end, const struct v8_blob *blob)
{
	uint64_t first = end->first - begin->first;
	uint64_t second = end->second - begin->second - begin->first * blob->code_bytes;

	return reduced(first, second, blob->modulus) == blob->code_checksum;
}

static bool find_code(struct cursor *begin, struct cursor *end, struct v8_blob *blob)
{
	blob->code_at = begin->at;
	for (uint32_t n = 0; n < blob->code_bytes; n += V8_BLOB_ALIGNMENT)
		if (!cursor_step(end))
			return false;
	while (!is_between(&begin->sums, &end->sums, blob)) {
		if (!cursor_step(end) || !cursor_step(begin))
			return false;
		blob->code_at += V8_BLOB_ALIGNMENT;
	}
	return true;
}

static bool in_segment(struct search *s, const struct elf_segment *segment)
{
	uint64_t before = -segment->vaddr % V8_BLOB_ALIGNMENT;
	uint64_t n = MIN_OF(segment->file_bytes, s->n_left);
	struct cursor begin = { .elf = s->elf, .piece = s->pieces }, end = begin;

	if (segment->type != PT_LOAD || !(segment->flags & PF_X) || n < before)
		return false;
	s->n_left -= n;
	begin.at = end.at = segment->file_off + before;
	begin.end = end.end = segment->file_off + n;
	end.piece = s->pieces + PIECE_BYTES;
	return find_code(&begin, &end, &s->blob);
}

bool v8_blob_find(const struct elf *elf, struct v8_blob *ret_blob)
{
	_cleanup_free_ uint8_t *pieces = malloc(2 * PIECE_BYTES);
	struct search s = {
		.elf = elf, .n_tries = MAX_TRIES, .pieces = pieces, .n_left = V8_PIECES_MAX_BYTES
	};

	if (!pieces || !v8_pieces_look(elf, V8_PIECES_READ_ONLY, look, &s))
		return false;
	for (size_t i = 0; i < elf_n_segments(elf); i++)
		if (in_segment(&s, elf_segment(elf, i))) {
			*ret_blob = s.blob;
			return true;
		}
	return false;
}
