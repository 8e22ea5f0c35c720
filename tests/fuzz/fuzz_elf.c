/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: an ELF file as bytes, its headers, build ids, sections, the debug file that it names, and every name of its symbol
 * index. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/object/build_id.h"
#include "agent/object/debug_file.h"
#include "agent/object/names/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_symbols(struct elf *elf)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	_cleanup_buf_ struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);

	if (symtab_new(elf, &symtab) < 0)
		return;
	for (size_t i = 0; i < symtab_n_entries(symtab); i++) {
		struct symtab_symbol symbol;
		uint32_t entry;

		if (symtab_symbol(symtab, elf_bytes(elf), (uint32_t)i, &symbol) != 0)
			continue;
		/* What begins is found, and covers its own begin. */
		if (symbol.begin >= symbol.end ||
		    symtab_locate(symtab, symbol.begin, &entry) != 0 || entry > i)
			abort();
		buf_reset(&name);
		(void)symtab_name(symtab, elf_bytes(elf), &symbol, &name);
	}
}

/* Looked for where nothing is but a few links that are no files: whatever it is called, it is not there. */
static void use_debug_link(struct elf *elf)
{
	_cleanup_close_ int root_fd = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	if (root_fd >= 0 && debug_file_open(elf, root_fd, "/a/b", &fd) == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct build_id id;
	char soname[ELF_SONAME_BYTES];
	uint64_t value;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return 0;
	for (uint64_t file_off = 0; file_off < 0x10000; file_off += 0x333)
		(void)elf_vaddr(elf, file_off, &value);
	(void)elf_soname(elf, soname);
	(void)build_id_read(elf, &id);
	for (size_t i = 0; i < elf_n_sections(elf); i++)
		(void)elf_section_by_name(elf, elf_section_name(elf, elf_section(elf, i)));
	use_debug_link(elf);
	use_symbols(elf);
	return 0;
}
