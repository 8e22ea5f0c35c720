/* SPDX-License-Identifier: Apache-2.0 */
/* CPython in a file without symbols. */
#include "agent/runtimes/python/stripped.h"

#include <elf.h>
#include <string.h>

#include "agent/util/macro.h"

/* tp_itemsize of PyCode_Type: sizeof(_Py_CODEUNIT), since 3.12. No other type of the interpreter has items of two bytes behind as many. */
#define CODE_ITEM_BYTES 2
/* From the type's own type on: ob_size, tp_name, tp_basicsize. */
#define NAME_BEHIND_TYPE 16
#define BASICSIZE_BEHIND_NAME 8
/* Places that look like it and are not, before the search ends: each may cost a look through all relocations. */
#define MAX_CANDIDATES 4

bool python_stripped_runtime(const struct elf *elf, uint64_t *ret_runtime_at)
{
	const struct elf_section *section = elf_section_by_name(elf, ".PyRuntime");

	if (!section)
		return false;
	*ret_runtime_at = section->vaddr;
	return true;
}

/* What a relocation of a position independent program writes there, which has 0 in the file. */
static bool relocated(const struct elf *elf, uint64_t vaddr, uint64_t *ret_value)
{
	uint32_t relative = elf_machine(elf) == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	uint64_t table, n_bytes, file_off;
	Elf64_Rela step[128];

	if (!elf_dynamic(elf, DT_RELA, &table) || !elf_dynamic(elf, DT_RELASZ, &n_bytes) ||
	    !elf_file_off(elf, table, &file_off))
		return false;
	uint64_t n = MIN_OF(n_bytes, PYTHON_STRIPPED_MAX_BYTES) / sizeof(*step);
	for (uint64_t i = 0; i < n; i += ARRAY_SIZE(step)) {
		size_t n_step = (size_t)MIN_OF(n - i, (uint64_t)ARRAY_SIZE(step));

		if (bytes_read(elf_bytes(elf), file_off + i * sizeof(*step), step,
			       n_step * sizeof(*step)) < 0)
			return false;
		for (size_t k = 0; k < n_step; k++)
			if (step[k].r_offset == vaddr && ELF64_R_TYPE(step[k].r_info) == relative) {
				*ret_value = (uint64_t)step[k].r_addend;
				return true;
			}
	}
	return false;
}

static bool is_named_code(const struct elf *elf, uint64_t name_at)
{
	uint64_t name = 0;
	char text[sizeof("code")];

	if (!elf_read(elf, name_at, &name, sizeof(name)) ||
	    (!name && !relocated(elf, name_at, &name)))
		return false;
	return elf_read(elf, name, text, sizeof(text)) && memcmp(text, "code", sizeof(text)) == 0;
}

/* A type is looked for by its sizes, then by its name. */
struct type_search {
	const struct elf *elf;
	uint64_t code_bytes;
	uint64_t n_left; /* bytes that are looked through, still */
	unsigned int n_candidates;
};

static bool is_code_type(struct type_search *s, const uint64_t sizes[2], uint64_t sizes_at)
{
	return sizes[0] == s->code_bytes && sizes[1] == CODE_ITEM_BYTES &&
	       s->n_candidates++ < MAX_CANDIDATES &&
	       is_named_code(s->elf, sizes_at - BASICSIZE_BEHIND_NAME);
}

/* Where the sizes of that type are in a segment; the last word of what was read before is the first one of what is read next. */
static bool in_segment(struct type_search *s, const struct elf_segment *segment,
		       uint64_t *ret_sizes_at)
{
	uint64_t n = MIN_OF(segment->file_bytes, s->n_left) / sizeof(uint64_t);
	uint64_t words[512];

	s->n_left -= n * sizeof(*words);
	for (uint64_t i = 0; i + 1 < n; i += ARRAY_SIZE(words) - 1) {
		size_t n_words = (size_t)MIN_OF(n - i, (uint64_t)ARRAY_SIZE(words));

		if (bytes_read(elf_bytes(s->elf), segment->file_off + i * sizeof(*words), words,
			       n_words * sizeof(*words)) < 0)
			return false;
		for (size_t k = 0; k + 1 < n_words; k++) {
			*ret_sizes_at = segment->vaddr + (i + k) * sizeof(*words);
			if (is_code_type(s, words + k, *ret_sizes_at))
				return true;
		}
	}
	return false;
}

/* Linkers begin them with what has pointers. */
static bool has_words(const struct elf_segment *segment)
{
	return segment->type == PT_LOAD && segment->flags & PF_W &&
	       segment->vaddr % sizeof(uint64_t) == 0;
}

bool python_stripped_code_type(const struct elf *elf, uint64_t code_bytes, uint64_t type_off,
			       uint64_t *ret_code_type_at)
{
	struct type_search s = { .elf = elf,
				 .code_bytes = code_bytes,
				 .n_left = PYTHON_STRIPPED_MAX_BYTES };
	uint64_t sizes_at;

	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *segment = elf_segment(elf, i);

		if (!has_words(segment) || !in_segment(&s, segment, &sizes_at))
			continue;
		*ret_code_type_at = sizes_at - BASICSIZE_BEHIND_NAME - NAME_BEHIND_TYPE - type_off;
		return true;
	}
	return false;
}
