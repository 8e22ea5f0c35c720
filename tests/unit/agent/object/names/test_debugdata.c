/* SPDX-License-Identifier: Apache-2.0 */
/* .gnu_debugdata: sections made by xz and objcopy, whole, damaged, and larger than they look. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/object/names/debugdata.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define MAX_BYTES ((size_t)1 << 20)

/* full is what is packed: the same program with its symbols, without what the program has itself. */
#define BUILD                                   \
	"gcc -nostdlib -shared -o full p.c && " \
	"strip -o program full && objcopy --only-keep-debug full image"
#define ADD "objcopy --add-section .gnu_debugdata=packed program"
#define PACK "xz -c image > packed && "

struct row {
	const char *name;
	const char *prepare; /* shell, in the directory */
	size_t max_bytes;
	int result;
};

static struct row rows[] = {
	{ "none", "true", MAX_BYTES, DEBUGDATA_NONE },
	{ "whole", PACK ADD, MAX_BYTES, 0 },
	{ "with CRC32", "xz -c -C crc32 image > packed && " ADD, MAX_BYTES, 0 },
	{ "with SHA-256", "xz -c -C sha256 image > packed && " ADD, MAX_BYTES, 0 },
	{ "best", "xz -9e -c image > packed && " ADD, MAX_BYTES, 0 },
	{ "in blocks", "xz --block-size=512 -c image > packed && " ADD, MAX_BYTES, 0 },
	{ "with padding", PACK "printf '\\0\\0\\0\\0' >> packed && " ADD, MAX_BYTES, 0 },
	{ "as large as is allowed", PACK ADD, 0, 0 },
	{ "one byte larger than is allowed", "printf x >> image && " PACK ADD, 0,
	  DEBUGDATA_TOO_LARGE },
	{ "empty", ": > packed && " ADD, MAX_BYTES, DEBUGDATA_MALFORMED },
	{ "no xz", "gzip -c image > packed && " ADD, MAX_BYTES, DEBUGDATA_MALFORMED },
	{ "lzma alone", "xz --format=lzma -c image > packed && " ADD, MAX_BYTES,
	  DEBUGDATA_MALFORMED },
	{ "no ELF in it", "echo text | xz -c > packed && " ADD, MAX_BYTES, DEBUGDATA_MALFORMED },
	{ "nothing in it", "xz -c /dev/null > packed && " ADD, MAX_BYTES, DEBUGDATA_MALFORMED },
	{ "cut in the header", PACK "truncate -s 10 packed && " ADD, MAX_BYTES,
	  DEBUGDATA_MALFORMED },
	{ "cut in the middle", PACK "truncate -s 300 packed && " ADD, MAX_BYTES,
	  DEBUGDATA_MALFORMED },
	{ "without its last byte", PACK "truncate -s -1 packed && " ADD, MAX_BYTES,
	  DEBUGDATA_MALFORMED },
	{ "a byte of it changed",
	  PACK "printf '\\0' | dd of=packed bs=1 seek=200 conv=notrunc && " ADD, MAX_BYTES,
	  DEBUGDATA_MALFORMED },
	{ "its sum changed",
	  "xz -c -C crc32 image > packed && n=$(stat -c %s packed) && "
	  "printf '\\1' | dd of=packed bs=1 seek=$((n - 9)) conv=notrunc && " ADD,
	  MAX_BYTES, DEBUGDATA_MALFORMED },
	{ "a bomb", "{ cat image; head -c 300M /dev/zero; } | xz -0 -c > packed && " ADD, MAX_BYTES,
	  DEBUGDATA_TOO_LARGE },
	{ "a dictionary of 1 GiB",
	  "xz -c --lzma2=dict=1GiB --memlimit-compress=0 image > packed && " ADD, MAX_BYTES,
	  DEBUGDATA_TOO_LARGE },
	{ "packed larger than is allowed", "truncate -s 17M packed && " ADD, MAX_BYTES,
	  DEBUGDATA_TOO_LARGE },
};

static bool build(struct fixture_dir *dir)
{
	return fixture_dir_init(dir) &&
	       fixture_write(dir, "p.c",
			     "static int __attribute__((noinline, used)) hidden(int x)"
			     " { return x * 7 % 5; }\n"
			     "int shown(int x) { return hidden(x) + 1; }\n") &&
	       fixture_run(dir, BUILD) && fixture_run(dir, "xz --version && gzip --version");
}

static void check_image(const struct fixture_dir *dir, const struct buf *image)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_free_ char *want = malloc(image->len + 1);
	char path[FIXTURE_PATH_BYTES];
	FILE *f = fopen(fixture_path(dir, "image", path), "re");

	assert_non_null(want);
	assert_non_null(f);
	assert_int_equal(fread(want, 1, image->len + 1, f), image->len);
	(void)fclose(f);
	assert_memory_equal(want, image->data, image->len);
	assert_int_equal(image->data[image->len], 0);
	assert_int_equal(elf_new(bytes_from_memory(image->data, image->len), &elf), 0);
	assert_int_equal(elf_load_sections(elf), 0);
	assert_non_null(elf_section_by_name(elf, ".symtab"));
}

static void opens(void **state)
{
	const struct row *row = *state;
	struct buf image = { .len = 77 };
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];

	if (!build(&dir)) {
		print_message("skip: no gcc, binutils, xz or gzip\n");
		fixture_dir_fini(&dir);
		skip();
	}
	size_t max_bytes = row->max_bytes;
	if (max_bytes == 0)
		max_bytes = fixture_hex(&dir, "printf %x $(stat -c %s image)");
	assert_true(fixture_run(&dir, row->prepare));
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "program", path), &file), 0);
	assert_int_equal(debugdata_open(file.elf, max_bytes, &image), row->result);
	if (row->result == 0) {
		check_image(&dir, &image);
		assert_true(image.cap <= image.len + 1);
		buf_fini(&image);
	} else {
		assert_int_equal(image.len, 77);
	}
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

/* The program with its packed section in memory, where its bytes and its header can be changed. */
struct memory {
	unsigned char *bytes; /* owned */
	size_t n;
	Elf64_Shdr *header;
};

static struct memory read_program(const struct fixture_dir *dir)
{
	struct memory m = { .bytes = malloc(MAX_BYTES) };
	char path[FIXTURE_PATH_BYTES];
	FILE *f = fopen(fixture_path(dir, "program", path), "re");

	assert_non_null(m.bytes);
	assert_non_null(f);
	m.n = fread(m.bytes, 1, MAX_BYTES, f);
	(void)fclose(f);
	const Elf64_Ehdr *ehdr = (const void *)m.bytes;
	Elf64_Shdr *headers = (void *)(m.bytes + ehdr->e_shoff);
	const char *names = (const char *)m.bytes + headers[ehdr->e_shstrndx].sh_offset;
	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (strcmp(names + headers[i].sh_name, ".gnu_debugdata") == 0)
			m.header = &headers[i];
	assert_non_null(m.header);
	return m;
}

static int open_memory(const struct memory *m)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct buf image;

	assert_int_equal(elf_new(bytes_from_memory(m->bytes, m->n), &elf), 0);
	int r = debugdata_open(elf, MAX_BYTES, &image);
	if (r == 0)
		buf_fini(&image);
	return r;
}

/* Each byte changed, each length, and where the section cannot be. */
static void damaged(void **state)
{
	struct fixture_dir dir;

	(void)state;
	if (!build(&dir) || !fixture_run(&dir, PACK ADD)) {
		print_message("skip: no gcc, binutils, xz or gzip\n");
		fixture_dir_fini(&dir);
		skip();
	}
	struct memory m = read_program(&dir);
	const Elf64_Shdr header = *m.header;

	assert_int_equal(open_memory(&m), 0);
	for (size_t i = 0; i < header.sh_size; i++) {
		m.bytes[header.sh_offset + i] ^= 0x41;
		assert_in_range(open_memory(&m), DEBUGDATA_MALFORMED, DEBUGDATA_TOO_LARGE);
		m.bytes[header.sh_offset + i] ^= 0x41;
		m.header->sh_size = i;
		assert_int_equal(open_memory(&m), DEBUGDATA_MALFORMED);
		m.header->sh_size = header.sh_size;
	}
	m.header->sh_offset = m.n - 20;
	assert_int_equal(open_memory(&m), DEBUGDATA_MALFORMED);
	m.header->sh_offset = UINT64_MAX - 20;
	assert_int_not_equal(open_memory(&m), 0);
	*m.header = header;
	m.header->sh_type = SHT_NOBITS;
	assert_int_equal(open_memory(&m), DEBUGDATA_NONE);
	free(m.bytes);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST_ROWS(opens, rows, name),
	TEST(damaged),
};

TEST_MAIN(tests)
