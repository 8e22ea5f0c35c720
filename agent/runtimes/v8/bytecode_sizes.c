/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sizes of V8's bytecodes. */
#include "agent/runtimes/v8/bytecode_sizes.h"

#include <elf.h>
#include <string.h>

#include "agent/util/macro.h"

/* Wide, ExtraWide, DebugBreakWide, DebugBreakExtraWide, DebugBreak0 to DebugBreak6, and six of small constants. */
#define N_FIRST 17
static const uint8_t first[3][N_FIRST] = {
	{ 1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 6, 2, 1, 2, 1, 1, 1 },
	{ 1, 1, 1, 1, 1, 3, 5, 7, 9, 7, 9, 3, 1, 3, 1, 1, 1 },
	{ 1, 1, 1, 1, 1, 5, 9, 13, 17, 11, 15, 5, 1, 5, 1, 1, 1 },
};
/* No version known has fewer than 197. */
#define MIN_BYTECODES 128

bool v8_are_bytecode_sizes(const uint8_t *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sizes[i] == 0 || sizes[i] > sizes[n + i] || sizes[n + i] > sizes[2 * n + i] ||
		    sizes[2 * n + i] > V8_MAX_BYTECODE_BYTES)
			return false;
	return true;
}

/* How many bytecodes have their sizes there; 0: it is another table. */
static uint32_t rows_at(const uint8_t *bytes, size_t n_bytes)
{
	for (uint32_t n = MIN_BYTECODES; n <= V8_MAX_BYTECODES && 3 * n <= n_bytes; n++)
		if (memcmp(bytes + n, first[1], N_FIRST) == 0 &&
		    memcmp(bytes + 2 * (size_t)n, first[2], N_FIRST) == 0 &&
		    v8_are_bytecode_sizes(bytes, n))
			return n;
	return 0;
}

bool v8_bytecode_sizes_in_piece(const struct v8_piece *piece, size_t *ret_at, uint32_t *ret_n)
{
	size_t n_again = MIN_OF(piece->n_seen, (size_t)3 * V8_MAX_BYTECODES);
	const uint8_t *at = piece->bytes + piece->n_seen - n_again;
	const uint8_t *end = piece->bytes + piece->n;

	for (; (at = memmem(at, (size_t)(end - at), first[0], N_FIRST)); at++) {
		*ret_at = (size_t)(at - piece->bytes);
		*ret_n = rows_at(at, (size_t)(end - at));
		if (*ret_n)
			return true;
	}
	return false;
}

struct found {
	uint64_t file_off;
	uint32_t n;
};

static bool look(void *data, const struct v8_piece *piece)
{
	struct found *found = data;
	size_t at;

	if (!v8_bytecode_sizes_in_piece(piece, &at, &found->n))
		return false;
	found->file_off = piece->file_off + at;
	return true;
}

/* The address of a byte of the file that is in the memory of whoever maps it. */
static bool linked_at(const struct elf *elf, uint64_t file_off, uint64_t *ret_vaddr)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		*ret_vaddr = s->vaddr + (file_off - s->file_off);
		if (s->type == PT_LOAD && file_off >= s->file_off &&
		    file_off - s->file_off < s->file_bytes)
			return true;
	}
	return false;
}

bool v8_bytecode_sizes_find(const struct elf *elf, uint64_t *ret_at, uint32_t *ret_n)
{
	struct found found;

	if (!v8_pieces_look(elf, V8_PIECES_READ_ONLY, look, &found) ||
	    !linked_at(elf, found.file_off, ret_at))
		return false;
	*ret_n = found.n;
	return true;
}
