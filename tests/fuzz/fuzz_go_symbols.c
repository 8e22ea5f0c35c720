/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: an ELF file as bytes, the functions, names, files, lines and inlined calls of its Go tables. Whatever the table says, frames
 * are strings within the ceilings, and a function that is found holds its address.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/go_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_LOOKS 256
#define ARENA_BYTES ((size_t)8 << 20)

static void check_frames(const struct source_frames *frames)
{
	if (frames->n == 0 || frames->n > SOURCE_FRAMES_MAX)
		abort();
	for (uint32_t i = 0; i < frames->n; i++)
		if (strlen(frames->items[i].function) > GOPCLNTAB_MAX_NAME_BYTES + 3 ||
		    strlen(frames->items[i].file) > GO_SYMBOLS_MAX_FILE_BYTES)
			abort();
}

static void look(struct go_symbols *symbols, uint64_t vaddr)
{
	_cleanup_buf_ struct buf name = BUF_INIT((size_t)1 << 20);
	struct source_frames frames;
	struct go_function function;
	struct arena strings;

	arena_init(&strings, ARENA_BYTES);
	if (go_symbols_find(symbols, vaddr, &function) == 0) {
		if (vaddr < function.begin || vaddr >= function.end)
			abort();
		if (go_symbols_name(symbols, &function, &name) == 0 && name.len == 0)
			abort();
		if (go_symbols_frames(symbols, vaddr, &strings, &frames) == 0)
			check_frames(&frames);
	} else if (go_symbols_frames(symbols, vaddr, &strings, &frames) == 0) {
		abort();
	}
	arena_fini(&strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(go_symbols_freep) struct go_symbols *symbols = NULL;
	uint64_t begin, end;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return 0;
	if (go_symbols_new(elf, &symbols) != 0 || !elf_text_range(elf, &begin, &end))
		return 0;
	uint64_t step = (end - begin) / MAX_LOOKS + 1;
	for (int i = 0; i < MAX_LOOKS; i++)
		look(symbols, begin + (uint64_t)i * step);
	look(symbols, end - 1);
	look(symbols, UINT64_MAX);
	return 0;
}
