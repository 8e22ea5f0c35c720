/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object has code. */
#include "agent/unwind/row_text.h"

#include <elf.h>

#include "agent/util/macro.h"

static void add_range(struct row_text *t, uint64_t begin, uint64_t n_bytes)
{
	if (t->n == ROW_TEXT_MAX || begin + n_bytes < begin)
		return;
	t->ranges[t->n].begin = begin;
	t->ranges[t->n++].end = begin + n_bytes;
}

static void add_sections(struct row_text *t, struct elf *elf)
{
	if (elf_load_sections(elf) != 0)
		return;
	for (size_t i = 0; i < elf_n_sections(elf); i++) {
		const struct elf_section *s = elf_section(elf, i);

		if (s->flags & SHF_EXECINSTR && s->flags & SHF_ALLOC)
			add_range(t, s->vaddr, s->size_bytes);
	}
}

static void add_segments(struct row_text *t, const struct elf *elf)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && s->flags & PF_X)
			add_range(t, s->vaddr, s->memory_bytes);
	}
}

/* Linkers also put read-only data into the executable segment. */
void row_text_init(struct row_text *t, struct elf *elf)
{
	t->n = 0;
	add_sections(t, elf);
	if (t->n == 0)
		add_segments(t, elf);
}

uint64_t row_text_overlap(const struct row_text *t, uint64_t begin, uint64_t end)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t from = MAX_OF(begin, t->ranges[i].begin);
		uint64_t to = MIN_OF(end, t->ranges[i].end);

		n += to > from ? to - from : 0;
	}
	return n;
}

uint64_t row_text_bytes(const struct row_text *t)
{
	return row_text_overlap(t, 0, UINT64_MAX);
}
