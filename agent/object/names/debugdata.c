/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacking .gnu_debugdata by pieces of the file. */
#include "agent/object/names/debugdata.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <string.h>

#include "agent/util/macro.h"

/* A piece of the file; liblzma likes any. */
#define PIECE_BYTES 16384
/* The image grows by at least so much; buf doubles beyond. */
#define ROOM_BYTES 65536

DEFINE_CLEANUP(lzma_stream *, lzma_end);

/* What is left of the packed section. */
struct packed {
	const struct bytes *bytes;
	uint64_t file_off;
	uint64_t n_bytes;
	uint8_t piece[PIECE_BYTES];
};

/* Gives the decoder the next piece when it has used the last one. */
static int feed(struct packed *packed, lzma_stream *stream)
{
	size_t n = (size_t)MIN_OF(packed->n_bytes, (uint64_t)PIECE_BYTES);

	if (stream->avail_in > 0)
		return 0;
	if (n == 0)
		return DEBUGDATA_MALFORMED;
	int r = bytes_read(packed->bytes, packed->file_off, packed->piece, n);
	if (r != 0)
		return r == -ENODATA ? DEBUGDATA_MALFORMED : r;
	packed->file_off += n;
	packed->n_bytes -= n;
	stream->next_in = packed->piece;
	stream->avail_in = n;
	return 0;
}

static int outcome_of(lzma_ret r)
{
	switch ((int)r) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return DEBUGDATA_TOO_LARGE;
	default:
		return DEBUGDATA_MALFORMED;
	}
}

/* One turn of the decoder into the image. */
static int unpack_some(lzma_stream *stream, struct buf *image, bool *ret_end)
{
	int r = buf_reserve(image, MIN_OF((size_t)ROOM_BYTES, image->max_bytes - image->len));

	if (r != 0)
		return r;
	size_t room = image->cap - 1 - image->len;
	stream->next_out = (uint8_t *)image->data + image->len;
	stream->avail_out = room;
	lzma_ret code = lzma_code(stream, LZMA_RUN);
	image->len += room - stream->avail_out;
	*ret_end = code == LZMA_STREAM_END;
	return outcome_of(code);
}

/* The image may come to one byte more than is allowed, which tells that it is too large. */
static int unpack(struct packed *packed, struct buf *image)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	_cleanup_(lzma_endp) lzma_stream *owned = &stream;
	bool end = false;
	int r = outcome_of(lzma_stream_decoder(owned, DEBUGDATA_MAX_DECODER_BYTES, 0));

	while (r == 0 && !end) {
		r = feed(packed, owned);
		if (r != 0)
			return r;
		r = unpack_some(owned, image, &end);
		if (r == 0 && image->len == image->max_bytes)
			return DEBUGDATA_TOO_LARGE;
	}
	return r;
}

/* Gives back what the doubling took too much, and ends as any buffer does. */
static void fit(struct buf *image, size_t max_bytes)
{
	char *data = realloc(image->data, image->len + 1);

	if (data) {
		image->data = data;
		image->cap = image->len + 1;
	}
	image->data[image->len] = '\0';
	image->max_bytes = max_bytes;
}

static int find(struct elf *elf, struct packed *ret_packed)
{
	int r = elf_load_sections(elf);

	if (r != 0)
		return r < 0 ? r : DEBUGDATA_NONE;
	const struct elf_section *section = elf_section_by_name(elf, ".gnu_debugdata");
	if (!section || section->type == SHT_NOBITS)
		return DEBUGDATA_NONE;
	if (section->size_bytes > DEBUGDATA_MAX_PACKED_BYTES)
		return DEBUGDATA_TOO_LARGE;
	ret_packed->bytes = elf_bytes(elf);
	ret_packed->file_off = section->file_off;
	ret_packed->n_bytes = section->size_bytes;
	return 0;
}

int debugdata_open(struct elf *elf, size_t max_bytes, struct buf *ret_image)
{
	_cleanup_buf_ struct buf image = BUF_INIT(max_bytes + 1);
	struct packed packed;
	int r = find(elf, &packed);

	if (r != 0)
		return r;
	r = unpack(&packed, &image);
	if (r != 0)
		return r;
	if (image.len < SELFMAG || memcmp(image.data, ELFMAG, SELFMAG) != 0)
		return DEBUGDATA_MALFORMED;
	fit(&image, max_bytes);
	*ret_image = image;
	image = BUF_INIT(max_bytes);
	return 0;
}
