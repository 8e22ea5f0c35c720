/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sections: what their headers say, and bytes that are not what was said. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/object/cfi/cfi_inflate.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* ---- headers ---- */

/* SHF_COMPRESSED's header as 24 bytes: the type, the plain size, and an alignment of one. */
#define CHDR(type, size) type "\0\0\0\0\0\0\0" size "\0\0\0\0\0\0" "\x01\0\0\0\0\0\0\0"
#define PAYLOAD "payload!"

static const struct header_row {
	const char *name;
	const char *section;
	uint64_t flags;
	const char *bytes;
	size_t n;
	bool refused;
	struct cfi_packed expected; /* its offset from the section's begin on */
} header_rows[] = {
	{ "plain", ".debug_frame", 0, PAYLOAD, 8, false, { CFI_PACKING_PLAIN, 0, 8, 8 } },
	{ "plain and empty", ".debug_frame", 0, "", 0, false, { CFI_PACKING_PLAIN, 0, 0, 0 } },
	{ "zlib", ".debug_frame", SHF_COMPRESSED, CHDR("\x01", "\x34\x12") PAYLOAD, 32, false,
	  { CFI_PACKING_ZLIB, 24, 8, 0x1234 } },
	{ "zstd", ".debug_frame", SHF_COMPRESSED, CHDR("\x02", "\x34\x12") PAYLOAD, 32, false,
	  { CFI_PACKING_ZSTD, 24, 8, 0x1234 } },
	{ "a header alone", ".debug_frame", SHF_COMPRESSED, CHDR("\x01", "\x34\x12"), 24, false,
	  { CFI_PACKING_ZLIB, 24, 0, 0x1234 } },
	{ "the largest size", ".debug_frame", SHF_COMPRESSED,
	  "\x01\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0\0\0\0\0" PAYLOAD, 32,
	  false, { CFI_PACKING_ZLIB, 24, 8, UINT64_MAX } },
	{ "no type", ".debug_frame", SHF_COMPRESSED, CHDR("\0", "\x34\x12") PAYLOAD, 32, true,
	  { 0 } },
	{ "an unknown type", ".debug_frame", SHF_COMPRESSED, CHDR("\x03", "\x34\x12") PAYLOAD, 32,
	  true, { 0 } },
	{ "a cut header", ".debug_frame", SHF_COMPRESSED, CHDR("\x01", "\x34\x12"), 23, true,
	  { 0 } },
	{ "no header", ".debug_frame", SHF_COMPRESSED, "", 0, true, { 0 } },
	{ "the older way", ".zdebug_frame", 0, "ZLIB\0\0\0\0\0\0\x12\x34" PAYLOAD, 20, false,
	  { CFI_PACKING_ZLIB, 12, 8, 0x1234 } },
	{ "the older way, a header alone", ".zdebug_frame", 0, "ZLIB\0\0\0\0\0\0\x12\x34", 12,
	  false, { CFI_PACKING_ZLIB, 12, 0, 0x1234 } },
	{ "the older way, a cut header", ".zdebug_frame", 0, "ZLIB\0\0\0\0\0\0\x12", 11, true,
	  { 0 } },
	{ "the older way, another magic", ".zdebug_frame", 0, "ZSTD\0\0\0\0\0\0\x12\x34" PAYLOAD,
	  20, true, { 0 } },
	{ "both ways", ".zdebug_frame", SHF_COMPRESSED, CHDR("\x01", "\x34\x12") PAYLOAD, 32, false,
	  { CFI_PACKING_ZLIB, 24, 8, 0x1234 } },
};

/* A file of one section of interest. */
struct image {
	Elf64_Ehdr header;
	uint8_t content[64];
	char names[64];
	Elf64_Shdr sections[3];
};

static void make_image(struct image *image, const struct header_row *row)
{
	*image = (struct image){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
					 EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_shoff = offsetof(struct image, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 2 },
		.sections = { [1] = { .sh_name = 1,
				      .sh_type = SHT_PROGBITS,
				      .sh_flags = row->flags,
				      .sh_offset = offsetof(struct image, content),
				      .sh_size = row->n },
			      [2] = { .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct image, names),
				      .sh_size = sizeof(image->names) } },
	};
	memcpy(image->content, row->bytes, row->n);
	(void)strcpy(image->names + 1, row->section);
}

static bool read_header(struct image *image, struct cfi_packed *ret)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	assert_int_equal(elf_new(bytes_from_memory(image, sizeof(*image)), &elf), 0);
	assert_int_equal(elf_load_sections(elf), 0);
	return cfi_packed_read(elf, elf_section(elf, 1), ret);
}

static void test_header(void **state)
{
	const struct header_row *row = *state;
	struct cfi_packed packed = { .n_bytes = 77 };
	struct image image;

	make_image(&image, row);
	assert_int_equal(read_header(&image, &packed), !row->refused);
	if (row->refused) {
		assert_int_equal(packed.n_bytes, 77);
		return;
	}
	assert_int_equal(packed.packing, row->expected.packing);
	assert_int_equal(packed.file_off, offsetof(struct image, content) + row->expected.file_off);
	assert_int_equal(packed.n_packed, row->expected.n_packed);
	assert_int_equal(packed.n_bytes, row->expected.n_bytes);
}

static void test_header_beyond_the_file(void **state)
{
	static const struct header_row row = { .section = ".debug_frame",
					       .flags = SHF_COMPRESSED,
					       .bytes = CHDR("\x01", "\x34\x12"),
					       .n = 24 };
	static const uint64_t offsets[] = { sizeof(struct image), sizeof(struct image) - 23,
					    UINT64_MAX - 8, UINT64_MAX };
	struct cfi_packed packed;
	struct image image;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		make_image(&image, &row);
		image.sections[1].sh_offset = offsets[i];
		assert_false(read_header(&image, &packed));
	}
}

/* ---- bytes ---- */

/* More than one piece of the file, and than one of what is written. */
#define PLAIN_BYTES ((size_t)200000)
#define BEFORE 100

struct file {
	uint8_t plain[PLAIN_BYTES];
	uint8_t bytes[BEFORE + 2 * PLAIN_BYTES];
	struct bytes view;
	struct cfi_packed packed;
};

static void set_up(struct file *f)
{
	uint64_t x = 88172645463325252;

	for (size_t i = 0; i < PLAIN_BYTES; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		f->plain[i] = (uint8_t)('a' + x % 16);
	}
}

static void tear_down(struct file *f)
{
	(void)f;
}

FIXTURE(struct file, set_up, tear_down)

static void pack(struct file *f, enum cfi_packing packing)
{
	uint8_t *out = f->bytes + BEFORE;
	size_t n = sizeof(f->bytes) - BEFORE;

	if (packing == CFI_PACKING_ZSTD) {
		n = ZSTD_compress(out, n, f->plain, PLAIN_BYTES, 3);
		assert_false(ZSTD_isError(n));
	} else {
		assert_int_equal(compress(out, &n, f->plain, PLAIN_BYTES), Z_OK);
	}
	assert_true(n > 2 * 16384 && n < PLAIN_BYTES);
	f->view = bytes_from_memory(f->bytes, BEFORE + n);
	f->packed = (struct cfi_packed){ packing, BEFORE, n, PLAIN_BYTES };
}

static int inflate_to_file(const struct file *f, size_t n)
{
	_cleanup_free_ uint8_t *written = malloc(n + 1);
	int fd = memfd_create("inflated", MFD_CLOEXEC);

	assert_non_null(written);
	assert_true(fd >= 0);
	int r = cfi_inflate_to_file(&f->view, &f->packed, fd, 7);
	if (r == 0) {
		assert_int_equal(lseek(fd, 0, SEEK_END), n ? 7 + n : 0);
		assert_int_equal(pread(fd, written, n, 7), n);
		assert_memory_equal(written, f->plain, n);
	}
	(void)close(fd);
	return r;
}

/* Both ways of inflating must say the same. */
static int inflate_both(const struct file *f)
{
	uint8_t *data = NULL;
	size_t n = (size_t)f->packed.n_bytes;
	int r = cfi_inflate(&f->view, &f->packed, &data);

	assert_int_equal(data != NULL, r == 0);
	if (r == 0)
		assert_memory_equal(data, f->plain, n);
	free(data);
	assert_int_equal(inflate_to_file(f, n), r);
	return r;
}

static const struct packing_row {
	const char *name;
	enum cfi_packing packing;
} packing_rows[] = {
	{ "zlib", CFI_PACKING_ZLIB },
	{ "zstd", CFI_PACKING_ZSTD },
};

static struct file *pack_row(void **state, void **own)
{
	const struct packing_row *row = *state;

	assert_int_equal(setup(own), 0);
	pack(*own, row->packing);
	return *own;
}

static void test_whole(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);

	assert_int_equal(inflate_both(f), 0);
	(void)teardown(&own);
}

/* As much as was said is what is wanted. */
static void test_less_is_said(void **state)
{
	static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, PLAIN_BYTES - 1 };
	void *own;
	struct file *f = pack_row(state, &own);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		f->packed.n_bytes = sizes[i];
		assert_int_equal(inflate_both(f), 0);
	}
	(void)teardown(&own);
}

static void test_more_is_said(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);

	f->packed.n_bytes = PLAIN_BYTES + 1;
	assert_int_equal(inflate_both(f), -EBADMSG);
	(void)teardown(&own);
}

static void test_cut(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);
	const uint64_t n = f->packed.n_packed;

	for (uint64_t left = 0; left < n - 64; left += left < 16 ? 1 : 16111) {
		/* The section ends there … */
		f->packed.n_packed = left;
		assert_int_equal(inflate_both(f), -EBADMSG);
		/* … or the file does. */
		f->packed.n_packed = n;
		f->view.size = BEFORE + left;
		assert_int_equal(inflate_both(f), -EBADMSG);
		f->view.size = BEFORE + n;
	}
	(void)teardown(&own);
}

static void test_beyond_the_file(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);

	f->packed.file_off = UINT64_MAX - 10;
	assert_int_equal(inflate_both(f), -EBADMSG);
	(void)teardown(&own);
}

static void test_other_packing(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);

	f->packed.packing =
		f->packed.packing == CFI_PACKING_ZLIB ? CFI_PACKING_ZSTD : CFI_PACKING_ZLIB;
	assert_int_equal(inflate_both(f), -EBADMSG);
	(void)teardown(&own);
}

/* Neither has a sum over all that is asked for: other bytes may come out, but never more. */
static void test_any_byte_wrong(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);

	for (size_t i = 0; i < f->packed.n_packed; i += i < 16 ? 1 : 1999) {
		uint8_t *data = NULL;

		f->bytes[BEFORE + i] ^= 0x41;
		int r = cfi_inflate(&f->view, &f->packed, &data);
		f->bytes[BEFORE + i] ^= 0x41;
		assert_true(r == 0 || r == -EBADMSG);
		assert_int_equal(data != NULL, r == 0);
		free(data);
	}
	(void)teardown(&own);
}

/* What cannot be written is told. */
static void test_full_file(void **state)
{
	void *own;
	struct file *f = pack_row(state, &own);
	int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(cfi_inflate_to_file(&f->view, &f->packed, fd, 0), -EPERM);
	(void)close(fd);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_header, header_rows, name),
	TEST(test_header_beyond_the_file),
	TEST_ROWS(test_whole, packing_rows, name),
	TEST_ROWS(test_less_is_said, packing_rows, name),
	TEST_ROWS(test_more_is_said, packing_rows, name),
	TEST_ROWS(test_cut, packing_rows, name),
	TEST_ROWS(test_beyond_the_file, packing_rows, name),
	TEST_ROWS(test_other_packing, packing_rows, name),
	TEST_ROWS(test_any_byte_wrong, packing_rows, name),
	TEST_ROWS(test_full_file, packing_rows, name),
};

TEST_MAIN(tests)
