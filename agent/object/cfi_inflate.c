/* SPDX-License-Identifier: Apache-2.0 */
/* Inflating a section by pieces of its file. */
#include "agent/object/cfi_inflate.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/util/macro.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* A piece of the file; as much as zlib and zstd like to be fed with. */
#define PIECE_BYTES 16384

/* .zdebug_*: "ZLIB" and the plain size, highest byte first (binutils' bfd/compress.c wrote it). */
struct zdebug_header {
	char magic[4];
	uint64_t n_bytes_be;
} __attribute__((packed));

DEFINE_CLEANUP(ZSTD_DStream *, ZSTD_freeDStream);

static bool read_zdebug(struct elf *elf, const struct elf_section *s, struct cfi_packed *p)
{
	struct zdebug_header h;

	if (s->size_bytes < sizeof(h) || bytes_read(elf_bytes(elf), s->file_off, &h, sizeof(h)) ||
	    memcmp(h.magic, "ZLIB", sizeof(h.magic)) != 0)
		return false;
	*p = (struct cfi_packed){ CFI_PACKING_ZLIB, s->file_off + sizeof(h),
				  s->size_bytes - sizeof(h), be64toh(h.n_bytes_be) };
	return true;
}

static bool read_chdr(struct elf *elf, const struct elf_section *s, struct cfi_packed *p)
{
	Elf64_Chdr h;

	if (s->size_bytes < sizeof(h) || bytes_read(elf_bytes(elf), s->file_off, &h, sizeof(h)) ||
	    (h.ch_type != ELFCOMPRESS_ZLIB && h.ch_type != ELFCOMPRESS_ZSTD))
		return false;
	*p = (struct cfi_packed){ h.ch_type == ELFCOMPRESS_ZLIB ? CFI_PACKING_ZLIB
								: CFI_PACKING_ZSTD,
				  s->file_off + sizeof(h), s->size_bytes - sizeof(h), h.ch_size };
	return true;
}

bool cfi_packed_read(struct elf *elf, const struct elf_section *section, struct cfi_packed *ret)
{
	struct cfi_packed p = { CFI_PACKING_PLAIN, section->file_off, section->size_bytes,
				section->size_bytes };

	if (section->flags & SHF_COMPRESSED) {
		if (!read_chdr(elf, section, &p))
			return false;
	} else if (strncmp(elf_section_name(elf, section), ".zdebug", 7) == 0) {
		if (!read_zdebug(elf, section, &p))
			return false;
	}
	if (p.packing != CFI_PACKING_PLAIN && p.n_bytes > CFI_MAX_INFLATED_BYTES)
		return false;
	*ret = p;
	return true;
}

/* The next piece of what is packed, and forward by it. */
static int next_piece(const struct bytes *bytes, struct cfi_packed *rest, uint8_t *piece,
		      size_t *ret_n)
{
	size_t n = (size_t)MIN_OF(rest->n_packed, (uint64_t)PIECE_BYTES);

	if (n == 0)
		return -EBADMSG;
	int r = bytes_read(bytes, rest->file_off, piece, n);
	if (r != 0)
		return r == -ENODATA ? -EBADMSG : r;
	rest->file_off += n;
	rest->n_packed -= n;
	*ret_n = n;
	return 0;
}

static int zlib_pieces(z_stream *z, const struct bytes *bytes, struct cfi_packed rest)
{
	uint8_t piece[PIECE_BYTES];
	int r = Z_OK;

	while (r == Z_OK && z->avail_out > 0) {
		if (z->avail_in == 0) {
			size_t n;
			int failed = next_piece(bytes, &rest, piece, &n);

			if (failed)
				return failed;
			z->next_in = piece;
			z->avail_in = (uInt)n;
		}
		r = inflate(z, Z_NO_FLUSH);
	}
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	return z->avail_out == 0 && (r == Z_OK || r == Z_STREAM_END) ? 0 : -EBADMSG;
}

static int zlib_inflate(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t *data)
{
	z_stream z = { .next_out = data, .avail_out = (uInt)packed->n_bytes };

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	int r = zlib_pieces(&z, bytes, *packed);
	(void)inflateEnd(&z);
	return r;
}

static int zstd_inflate(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t *data)
{
	_cleanup_(ZSTD_freeDStreamp) ZSTD_DStream *stream = ZSTD_createDStream();
	struct cfi_packed rest = *packed;
	ZSTD_outBuffer out = { data, (size_t)packed->n_bytes, 0 };
	ZSTD_inBuffer in = { 0 };
	uint8_t piece[PIECE_BYTES];

	if (!stream)
		return -ENOMEM;
	while (out.pos < out.size) {
		if (in.pos == in.size) {
			int r = next_piece(bytes, &rest, piece, &in.size);

			if (r != 0)
				return r;
			in.src = piece;
			in.pos = 0;
		}
		if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
			return -EBADMSG;
	}
	return 0;
}

int cfi_inflate_to(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t *data)
{
	return packed->packing == CFI_PACKING_ZSTD ? zstd_inflate(bytes, packed, data)
						   : zlib_inflate(bytes, packed, data);
}

int cfi_inflate(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t **ret_data)
{
	_cleanup_free_ uint8_t *data = malloc((size_t)packed->n_bytes + 1);

	if (!data)
		return -ENOMEM;
	int r = cfi_inflate_to(bytes, packed, data);
	if (r == 0)
		*ret_data = TAKE_PTR(data);
	return r;
}
