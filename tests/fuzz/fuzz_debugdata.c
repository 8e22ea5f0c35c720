/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: .gnu_debugdata. The input is an ELF file, or else what is in such a section. What is unpacked is within its ceiling, and is
 * read on as an ELF file.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/debugdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES ((size_t)1 << 20)

static const char names[] = "\0.gnu_debugdata\0.shstrtab";

/* An ELF file of nothing but the section. */
struct file {
	Elf64_Ehdr ehdr;
	Elf64_Shdr sections[3];
	char names[sizeof(names)];
	uint8_t packed[];
};

static struct file *wrap(const uint8_t *data, size_t size)
{
	struct file *file = calloc(1, sizeof(*file) + size);

	if (!file)
		return NULL;
	file->ehdr = (Elf64_Ehdr){ .e_type = ET_DYN,
				   .e_machine = EM_X86_64,
				   .e_version = EV_CURRENT,
				   .e_ehsize = sizeof(Elf64_Ehdr),
				   .e_shoff = offsetof(struct file, sections),
				   .e_shentsize = sizeof(Elf64_Shdr),
				   .e_shnum = 3,
				   .e_shstrndx = 2 };
	memcpy(file->ehdr.e_ident, ELFMAG, SELFMAG);
	file->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	file->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	file->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	file->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_PROGBITS,
					  .sh_offset = offsetof(struct file, packed),
					  .sh_size = size };
	file->sections[2] = (Elf64_Shdr){ .sh_name = 16,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct file, names),
					  .sh_size = sizeof(names) };
	memcpy(file->names, names, sizeof(names));
	memcpy(file->packed, data, size);
	return file;
}

static int use(const void *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct elf *inner = NULL;
	struct buf image;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return -1;
	int r = debugdata_open(elf, MAX_BYTES, &image);
	if (r != 0)
		return r;
	if (image.len > MAX_BYTES || image.len < SELFMAG || image.data[image.len] != '\0')
		abort();
	if (elf_new(bytes_from_memory(image.data, image.len), &inner) == 0)
		(void)elf_load_sections(inner);
	elf_free(inner);
	buf_fini(&image);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0) {
		(void)use(data, size);
		return 0;
	}
	_cleanup_free_ struct file *file = wrap(data, size);
	/* The file around it is a good one. */
	if (file && use(file, sizeof(*file) + size) == DEBUGDATA_NONE)
		abort();
	return 0;
}
