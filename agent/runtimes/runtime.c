/* SPDX-License-Identifier: Apache-2.0 */
/* The list of runtimes, and which of them a file holds. */
#include "agent/runtimes/runtime.h"

#include <elf.h>

#include "bpf/image.h"

#define RUNTIME_DECLARE(what, NAME, name) extern const struct runtime runtime_##name;
RUNTIMES(RUNTIME_DECLARE, )
#undef RUNTIME_DECLARE

const struct runtime *const runtime_list[RUNTIME_MAX] = { [RUNTIME_NONE] = NULL,
#define RUNTIME_ENTRY(what, NAME, name) [RUNTIME_##NAME] = &runtime_##name,
							  RUNTIMES(RUNTIME_ENTRY, )
#undef RUNTIME_ENTRY
};

const struct runtime *runtime_of(uint32_t kind)
{
	return kind < RUNTIME_MAX ? runtime_list[kind] : NULL;
}

bool runtime_is_any(void)
{
	return RUNTIME_MAX > RUNTIME_NONE + 1;
}

/* 0: it has no dynamic section. */
static uint64_t library_of(const struct elf *elf)
{
	uint64_t shoff = 0;

	if (bytes_read(elf_bytes(elf), offsetof(Elf64_Ehdr, e_shoff), &shoff, sizeof(shoff)) < 0)
		return 0;
	for (size_t i = 0; i < elf_n_segments(elf); i++)
		if (elf_segment(elf, i)->type == PT_DYNAMIC)
			return library_key(elf_segment(elf, i)->vaddr, shoff);
	return 0;
}

bool runtime_detect(const struct elf *elf, struct runtime_file *ret_file)
{
	struct wire_runtime *wire = &ret_file->wire;
	uint64_t begin, end;

	*ret_file = (struct runtime_file){ .wire.kind = RUNTIME_NONE };
	if (!elf_is_64(elf) || !elf_text_range(elf, &begin, &end))
		return false;
	for (uint32_t kind = RUNTIME_NONE + 1; kind < RUNTIME_MAX; kind++) {
		if (!runtime_list[kind]->detect(elf, wire))
			continue;
		wire->kind = kind;
		wire->base = begin;
		ret_file->library = library_of(elf);
		return true;
	}
	return false;
}
