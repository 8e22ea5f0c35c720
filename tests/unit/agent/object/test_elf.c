/* SPDX-License-Identifier: Apache-2.0 */
/* ELF headers: programs as gcc links them, images made by hand, and garbage. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/object/build_id.h"
#include "agent/object/names/symtab.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* Prints where main is in its file, as the kernel mapped it: file offset of the mapping + distance.
 */
static const char self_source[] =
	"#include <stdio.h>\n"
	"int main(void)\n"
	"{\n"
	"	unsigned long pc = (unsigned long)main + 1, begin, end, off;\n"
	"	char line[4096];\n"
	"	FILE *f = fopen(\"/proc/self/maps\", \"r\");\n"
	"	while (fgets(line, sizeof(line), f))\n"
	"		if (sscanf(line, \"%lx-%lx %*s %lx\", &begin, &end, &off) == 3 && pc >= "
	"begin && pc < end)\n"
	"			printf(\"%lx\\n\", pc - begin + off);\n"
	"	return 0;\n"
	"}\n";

struct link_row {
	const char *name;
	const char *flags;
	uint16_t type;
	bool is_64;
};

static struct link_row link_rows[] = {
	{ "PIE", "-pie -fPIE", ET_DYN, true },
	{ "fixed address", "-no-pie -fno-pie", ET_EXEC, true },
	{ "static", "-static -no-pie -fno-pie", ET_EXEC, true },
	{ "static PIE", "-static-pie -fPIE", ET_DYN, true },
	{ "code shares pages with data", "-pie -fPIE -Wl,-z,noseparate-code", ET_DYN, true },
	{ "fixed address, shared pages", "-no-pie -fno-pie -Wl,-z,noseparate-code", ET_EXEC, true },
	{ "large pages", "-pie -fPIE -Wl,-z,max-page-size=0x200000", ET_DYN, true },
	{ "32 bit", "-m32 -no-pie -fno-pie", ET_EXEC, false },
};

static void address_as_linked(void **state)
{
	const struct link_row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	char command[512], path[FIXTURE_PATH_BYTES];

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "self.c", self_source));
	(void)snprintf(command, sizeof(command), "gcc -O1 %s -o self self.c", row->flags);
	if (!fixture_run(&dir, command)) {
		fixture_dir_fini(&dir);
		printf("skip: gcc cannot link: %s\n", row->flags);
		skip();
	}
	uint64_t vaddr = fixture_hex(&dir, "nm self | grep ' [Tt] main$'") + 1;
	uint64_t file_off = fixture_hex(&dir, "./self");
	uint64_t found = 0;
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "self", path), &file), 0);
	assert_int_equal(elf_object_type(file.elf), row->type);
	assert_int_equal(elf_is_64(file.elf), row->is_64);
	assert_true(elf_vaddr(file.elf, file_off, &found));
	assert_int_equal(found, vaddr);
	assert_true(elf_file_off(file.elf, vaddr, &found));
	assert_int_equal(found, file_off);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

/* An image of headers only: ELF header, program headers. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
};

static struct image make_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, segments),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
		},
		.segments = {
			{ PT_LOAD, PF_R, 0, 0, 0, 0x1234, 0x1234, 0x1000 },
			{ PT_LOAD, PF_R | PF_X, 0x1240, 0x402240, 0x402240, 0x2000, 0x2000, 0x1000 },
			{ PT_LOAD, PF_R | PF_X, 0x3900, 0x7900, 0x7900, 0x80, 0x80, 0x1000 },
		},
	};

	return image;
}

struct vaddr_row {
	const char *name;
	uint64_t file_off;
	bool found;
	uint64_t vaddr;
};

static struct vaddr_row vaddr_rows[] = {
	{ "first byte", 0x1240, true, 0x402240 },
	{ "middle", 0x2000, true, 0x403000 },
	{ "last byte", 0x323f, true, 0x40423f },
	{ "begin of the page before the segment", 0x1000, true, 0x402000 },
	{ "page of data", 0xfff, false, 0 },
	{ "tail of the last page", 0x3300, true, 0x404300 },
	{ "another segment's exact byte in a shared page", 0x3900, true, 0x7900 },
	{ "its last byte", 0x397f, true, 0x797f },
	{ "tail of its page", 0x3fff, true, 0x404fff },
	{ "behind everything", 0x4000, false, 0 },
	{ "far away", UINT64_MAX, false, 0 },
};

static void vaddr_of_offset(void **state)
{
	const struct vaddr_row *row = *state;
	struct image image = make_image();
	struct elf *elf = NULL;
	uint64_t vaddr = 0;

	assert_int_equal(elf_new(bytes_from_memory(&image, sizeof(image)), &elf), 0);
	assert_int_equal(elf_vaddr(elf, row->file_off, &vaddr), row->found);
	assert_int_equal(vaddr, row->vaddr);
	elf_free(elf);
}

static void text_range_spans_executable_segments(void **state)
{
	struct image image = make_image();
	struct elf *elf = NULL;
	uint64_t begin, end, file_off;

	(void)state;
	assert_int_equal(elf_new(bytes_from_memory(&image, sizeof(image)), &elf), 0);
	assert_true(elf_text_range(elf, &begin, &end));
	assert_int_equal(begin, 0x7900);
	assert_int_equal(end, 0x404240);
	assert_false(elf_file_off(elf, 0x500000, &file_off));
	assert_null(elf_segment(elf, 3));
	elf_free(elf);
}

/* What a corruption of the header leads to. */
struct bad_row {
	const char *name;
	size_t at;
	size_t n;
	uint64_t value;
	int expected;
};

static struct bad_row bad_rows[] = {
	{ "no magic", 0, 1, 0, ELF_NOT_ELF },
	{ "class 0", EI_CLASS, 1, 0, ELF_MALFORMED },
	{ "big endian", EI_DATA, 1, ELFDATA2MSB, ELF_FOREIGN },
	{ "version 9", EI_VERSION, 1, 9, ELF_FOREIGN },
	{ "too many segments", offsetof(Elf64_Ehdr, e_phnum), 2, ELF_MAX_SEGMENTS + 1,
	  ELF_MALFORMED },
	{ "segments outside", offsetof(Elf64_Ehdr, e_phoff), 8, 0x10000, ELF_MALFORMED },
	{ "segments far outside", offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8, ELF_MALFORMED },
	{ "segments cut", offsetof(Elf64_Ehdr, e_phoff), 8, sizeof(struct image) - 8,
	  ELF_MALFORMED },
	{ "small segment entries", offsetof(Elf64_Ehdr, e_phentsize), 2, 8, ELF_MALFORMED },
	{ "address wraps", offsetof(struct image, segments[1].p_vaddr), 8, UINT64_MAX,
	  ELF_MALFORMED },
	{ "offset wraps", offsetof(struct image, segments[1].p_offset), 8, UINT64_MAX,
	  ELF_MALFORMED },
	{ "no segments", offsetof(Elf64_Ehdr, e_phnum), 2, 0, 0 },
	{ "sections outside", offsetof(Elf64_Ehdr, e_shoff), 8, 0x10000, 0 },
	{ "odd section entries", offsetof(Elf64_Ehdr, e_shentsize), 2, 3, 0 },
};

static void bad_header(void **state)
{
	const struct bad_row *row = *state;
	struct image image = make_image();
	struct elf *elf = NULL;

	memcpy((char *)&image + row->at, &row->value, row->n);
	assert_int_equal(elf_new(bytes_from_memory(&image, sizeof(image)), &elf), row->expected);
	if (row->expected != 0)
		assert_null(elf);
	elf_free(elf);
}

/* Everything that reads an image, whatever it holds. */
static void use_all(const void *image, size_t n)
{
	struct elf *elf = NULL;
	struct symtab *symtab = NULL;
	struct build_id id;
	char soname[ELF_SONAME_BYTES];
	uint32_t entry;

	if (elf_new(bytes_from_memory(image, n), &elf) != 0)
		return;
	(void)elf_soname(elf, soname);
	(void)build_id_read(elf, &id);
	if (symtab_new(elf, &symtab) == 0 && symtab_locate(symtab, 0x1200, &entry) == 0) {
		struct symtab_symbol symbol;
		struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);

		if (symtab_symbol(symtab, elf_bytes(elf), entry, &symbol) == 0)
			(void)symtab_name(symtab, elf_bytes(elf), &symbol, &name);
		buf_fini(&name);
	}
	symtab_free(symtab);
	elf_free(elf);
}

static char *small_program(size_t *ret_n)
{
	struct fixture_dir dir;
	char path[FIXTURE_PATH_BYTES];
	char *image = NULL;

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(
		&dir, "a.c", "int f(int x) { return x + 1; }\nint g(int x) { return f(x); }\n"));
	if (fixture_run(&dir, "gcc -O1 -shared -fPIC -nostdlib -Wl,--hash-style=both "
			      "-Wl,--build-id -Wl,-soname,liba.so.1 -o a.so a.c")) {
		FILE *f = fopen(fixture_path(&dir, "a.so", path), "re");

		assert_non_null(f);
		image = malloc(1 << 20);
		assert_non_null(image);
		*ret_n = fread(image, 1, 1 << 20, f);
		(void)fclose(f);
	}
	fixture_dir_fini(&dir);
	if (!image) {
		printf("skip: no gcc\n");
		skip();
	}
	return image;
}

static void truncated_anywhere(void **state)
{
	size_t n = 0;
	char *image = small_program(&n);

	(void)state;
	for (size_t cut = 0; cut <= n; cut += 64) {
		/* A block of exactly this size, for AddressSanitizer. */
		char *part = malloc(cut ? cut : 1);

		assert_non_null(part);
		memcpy(part, image, cut);
		use_all(part, cut);
		free(part);
	}
	free(image);
}

static void any_byte_wrong(void **state)
{
	static const unsigned char values[] = { 0, 0x7f, 0x80, 0xff };
	size_t n = 0;
	char *image = small_program(&n);

	(void)state;
	for (size_t at = 0; at < n; at += at < 0x300 ? 1 : 13) {
		char saved = image[at];

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			image[at] = (char)values[v];
			use_all(image, n);
		}
		image[at] = saved;
	}
	free(image);
}

static void soname_and_sections(void **state)
{
	size_t n = 0;
	char *image = small_program(&n);
	struct elf *elf = NULL;
	char soname[ELF_SONAME_BYTES];

	(void)state;
	assert_int_equal(elf_new(bytes_from_memory(image, n), &elf), 0);
	assert_true(elf_soname(elf, soname));
	assert_string_equal(soname, "liba.so.1");
	assert_int_equal(elf_machine(elf), ((Elf64_Ehdr *)image)->e_machine);
	assert_int_equal(elf_n_sections(elf), 0);
	assert_int_equal(elf_load_sections(elf), 0);
	assert_true(elf_n_sections(elf) > 5);
	const struct elf_section *text = elf_section_by_name(elf, ".text");
	assert_non_null(text);
	assert_int_equal(text->type, SHT_PROGBITS);
	assert_string_equal(elf_section_name(elf, text), ".text");
	assert_non_null(elf_section_by_type(elf, SHT_DYNSYM));
	assert_null(elf_section_by_name(elf, ".nothing"));
	assert_null(elf_section(elf, elf_n_sections(elf)));
	size_t loaded = elf_memory_bytes(elf);
	elf_drop_sections(elf);
	assert_int_equal(elf_n_sections(elf), 0);
	assert_true(elf_memory_bytes(elf) < loaded);
	elf_free(elf);
	free(image);
}

static void too_many_sections(void **state)
{
	size_t n = 0;
	char *image = small_program(&n);
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	struct elf *elf = NULL;
	uint64_t begin, end;

	(void)state;
	header->e_shnum = ELF_MAX_SECTIONS + 1;
	assert_int_equal(elf_new(bytes_from_memory(image, n), &elf), 0);
	assert_int_equal(elf_load_sections(elf), ELF_MALFORMED);
	assert_int_equal(elf_n_sections(elf), 0);
	assert_true(elf_text_range(elf, &begin, &end));
	elf_free(elf);
	free(image);
}

static void truncated_while_open(void **state)
{
	struct fixture_dir dir;
	char path[FIXTURE_PATH_BYTES];
	struct fixture_elf file;
	struct symtab *symtab = NULL;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_run(&dir, "cp /proc/self/exe copy"));
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "copy", path), &file), 0);
	assert_int_equal(truncate(path, 4096), 0);
	/* The headers promised more than there is now: empty or an error, no signal. */
	assert_true(symtab_new(file.elf, &symtab) <= 0);
	if (symtab)
		assert_int_equal(symtab_n_entries(symtab), 0);
	symtab_free(symtab);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void only_regular_files(void **state)
{
	struct bytes bytes;
	int fds[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(bytes_from_fd(fds[0], &bytes), -EINVAL);
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_int_equal(bytes_from_fd(-1, &bytes), -EBADF);
	bytes = bytes_from_memory("abc", 3);
	assert_int_equal(bytes_read(&bytes, 2, &byte, 1), 0);
	assert_int_equal(byte, 'c');
	assert_int_equal(bytes_read(&bytes, 3, &byte, 1), -ENODATA);
	assert_int_equal(bytes_read(&bytes, UINT64_MAX, &byte, 1), -ENODATA);
}

static void window_reads_as_one_by_one(void **state)
{
	static const struct {
		uint64_t off;
		size_t n;
		int expected;
	} reads[] = { { 0, 16, 0 },
		      { 4090, 16, 0 },
		      { 4096, 8, 0 },
		      { 10, 4, 0 },
		      { 9992, 8, 0 },
		      { 9993, 8, -ENODATA },
		      { 9999, 1, 0 },
		      { 10000, 1, -ENODATA },
		      { 9992, 8, 0 },
		      { 4000, 5000, 0 },
		      { UINT64_MAX, 1, -ENODATA } };
	struct bytes_window w = { 0 };
	unsigned char data[10000];
	unsigned char got[8192];
	struct bytes bytes;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 2654435761u >> 13);
	assert_int_equal(fwrite(data, 1, sizeof(data), f), sizeof(data));
	assert_int_equal(fflush(f), 0);
	assert_int_equal(bytes_from_fd(fileno(f), &bytes), 0);
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++) {
		assert_int_equal(bytes_read_window(&bytes, &w, reads[i].off, got, reads[i].n),
				 reads[i].expected);
		if (reads[i].expected == 0)
			assert_memory_equal(got, data + reads[i].off, reads[i].n);
	}
	(void)fclose(f);
}

static const struct unit_test tests[] = {
	TEST_ROWS(address_as_linked, link_rows, name),
	TEST_ROWS(vaddr_of_offset, vaddr_rows, name),
	TEST_ROWS(bad_header, bad_rows, name),
	TEST(text_range_spans_executable_segments),
	TEST(truncated_anywhere),
	TEST(any_byte_wrong),
	TEST(soname_and_sections),
	TEST(too_many_sections),
	TEST(truncated_while_open),
	TEST(only_regular_files),
	TEST(window_reads_as_one_by_one),
};

TEST_MAIN(tests)
