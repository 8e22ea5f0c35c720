/* SPDX-License-Identifier: Apache-2.0 */
/* Inflating a section by pieces of its file. */
#include "agent/object/cfi/cfi_inflate.h"

#include <assert.h>
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/util/macro.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Plain bytes on their way into a file. */
#define OUT_BYTES 65536
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
	*ret = p;
	return true;
}

/* A section that is unpacked from its begin on. */
struct inflater {
	const struct bytes *bytes;
	struct cfi_packed rest;
	z_stream z;	      /* of zlib, with has_z */
	ZSTD_DStream *stream; /* owned; of zstd */
	ZSTD_inBuffer in;
	bool has_z;
	uint8_t piece[PIECE_BYTES];
};

static int inflater_init(struct inflater *i, const struct bytes *bytes,
			 const struct cfi_packed *packed)
{
	assert(packed->packing != CFI_PACKING_PLAIN);
	i->bytes = bytes;
	i->rest = *packed;
	i->z = (z_stream){ 0 };
	i->stream = NULL;
	i->in = (ZSTD_inBuffer){ 0 };
	i->has_z = false;
	if (packed->packing == CFI_PACKING_ZSTD) {
		i->stream = ZSTD_createDStream();
		return i->stream ? 0 : -ENOMEM;
	}
	i->has_z = inflateInit(&i->z) == Z_OK;
	return i->has_z ? 0 : -ENOMEM;
}

static void inflater_fini(struct inflater *i)
{
	if (i->has_z)
		(void)inflateEnd(&i->z);
	ZSTD_freeDStreamp(&i->stream);
}

/* The next piece of what is packed, and forward by it. */
static int next_piece(struct inflater *i, size_t *ret_n)
{
	size_t n = (size_t)MIN_OF(i->rest.n_packed, (uint64_t)PIECE_BYTES);

	if (n == 0)
		return -EBADMSG;
	int r = bytes_read(i->bytes, i->rest.file_off, i->piece, n);
	if (r != 0)
		return r == -ENODATA ? -EBADMSG : r;
	i->rest.file_off += n;
	i->rest.n_packed -= n;
	*ret_n = n;
	return 0;
}

/* Both hold plain bytes back when there is no room for them, so they are asked before they are fed. */
static int next_zlib(struct inflater *i, uint8_t *data, size_t n)
{
	z_stream *z = &i->z;

	z->next_out = data;
	z->avail_out = (uInt)n;
	while (z->avail_out > 0) {
		int r = inflate(z, Z_NO_FLUSH);
		size_t got;

		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r != Z_OK && r != Z_BUF_ERROR)
			return r == Z_STREAM_END && z->avail_out == 0 ? 0 : -EBADMSG;
		if (z->avail_out == 0 || z->avail_in > 0)
			continue;
		r = next_piece(i, &got);
		if (r != 0)
			return r;
		z->next_in = i->piece;
		z->avail_in = (uInt)got;
	}
	return 0;
}

static int next_zstd(struct inflater *i, uint8_t *data, size_t n)
{
	ZSTD_outBuffer out = { data, n, 0 };

	while (out.pos < out.size) {
		if (ZSTD_isError(ZSTD_decompressStream(i->stream, &out, &i->in)))
			return -EBADMSG;
		if (out.pos == out.size || i->in.pos < i->in.size)
			continue;
		int r = next_piece(i, &i->in.size);
		if (r != 0)
			return r;
		i->in.src = i->piece;
		i->in.pos = 0;
	}
	return 0;
}

/* Exactly n plain bytes. 0, -EBADMSG, -errno. */
static int inflater_next(struct inflater *i, uint8_t *data, size_t n)
{
	return i->stream ? next_zstd(i, data, n) : next_zlib(i, data, n);
}

int cfi_inflate_to(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t *data)
{
	struct inflater i;
	int r = inflater_init(&i, bytes, packed);

	/* zlib counts in 32 bits. */
	for (uint64_t at = 0; r == 0 && at < packed->n_bytes;) {
		size_t n = (size_t)MIN_OF(packed->n_bytes - at, (uint64_t)INT32_MAX);

		r = inflater_next(&i, data + at, n);
		at += n;
	}
	inflater_fini(&i);
	return r;
}

static int write_all(int fd, uint64_t file_off, const uint8_t *data, size_t n)
{
	while (n > 0) {
		ssize_t written = pwrite(fd, data, n, (off_t)file_off);

		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		data += written;
		file_off += (uint64_t)written;
		n -= (size_t)written;
	}
	return 0;
}

int cfi_inflate_to_file(const struct bytes *bytes, const struct cfi_packed *packed, int fd,
			uint64_t file_off)
{
	_cleanup_free_ uint8_t *data = malloc(OUT_BYTES);
	struct inflater i;

	if (!data)
		return -ENOMEM;
	int r = inflater_init(&i, bytes, packed);
	for (uint64_t at = 0; r == 0 && at < packed->n_bytes;) {
		size_t n = (size_t)MIN_OF(packed->n_bytes - at, (uint64_t)OUT_BYTES);

		r = inflater_next(&i, data, n);
		if (r == 0)
			r = write_all(fd, file_off + at, data, n);
		at += n;
	}
	inflater_fini(&i);
	return r;
}

int cfi_inflate(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t **ret_data)
{
	_cleanup_free_ uint8_t *data = malloc((size_t)packed->n_bytes + 1);

	if (!data)
		return -ENOMEM;
	int r = cfi_inflate_to(bytes, packed, data);
	if (r != 0)
		return r;
	*ret_data = TAKE_PTR(data);
	return 0;
}
