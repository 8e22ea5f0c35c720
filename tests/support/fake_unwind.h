/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind sources out of arrays, an ELF file in memory that has nothing but text, and what a table of them must say: found by looking at
 * every span, the slow and obvious way.
 */
#ifndef XAGENT_TESTS_SUPPORT_FAKE_UNWIND_H
#define XAGENT_TESTS_SUPPORT_FAKE_UNWIND_H

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/rules/unwind_info_internal.h"
#include "agent/unwind/row_table.h"

struct fake_row {
	uint64_t vaddr;
	struct unwind_rule rule;
};

struct fake_span {
	uint64_t begin;
	uint32_t n_bytes;
	const struct fake_row *rows; /* borrowed; ascending, the first at begin */
	size_t n_rows;
};

struct fake_source {
	struct unwind_source source;
	const struct fake_span *spans; /* borrowed; ascending, not overlapping */
	size_t n_spans;
	bool is_too_large;
};

/* One executable segment, and no sections. */
struct fake_elf {
	Elf64_Ehdr header;
	Elf64_Phdr text;
};

static inline int fake_elf_new(struct fake_elf *file, uint16_t machine, uint64_t text_begin,
			       uint64_t text_bytes, struct elf **ret_elf)
{
	*file = (struct fake_elf){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct fake_elf, text),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1 },
		.text = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_vaddr = text_begin,
			  .p_filesz = sizeof(*file),
			  .p_memsz = text_bytes },
	};
	return elf_new(bytes_from_memory(file, sizeof(*file)), ret_elf);
}

static inline int fake_spans(struct unwind_source *s, struct unwind_spans *spans,
			     struct unwind_source_stats *stats)
{
	struct fake_source *fake = (struct fake_source *)s;
	int r = fake->is_too_large ? UNWIND_SOURCE_TOO_LARGE : 0;

	for (size_t i = 0; r == 0 && i < fake->n_spans; i++)
		r = unwind_spans_add(spans,
				     &(struct unwind_span){ fake->spans[i].begin,
							    fake->spans[i].n_bytes, (uint32_t)i });
	stats->n_spans += spans->n;
	return r;
}

static inline int fake_rows(struct unwind_source *s, const struct unwind_span *span,
			    unwind_row_fn fn, void *data, struct unwind_source_stats *stats)
{
	struct fake_source *fake = (struct fake_source *)s;
	const struct fake_span *of = &fake->spans[span->ref];
	int r = 0;

	(void)stats;
	for (size_t i = 0; r == 0 && i < of->n_rows; i++)
		r = fn(of->rows[i].vaddr, &of->rows[i].rule, data);
	return r;
}

/* The last of n things, `item_bytes` apart and each beginning with its address, that is at or below vaddr; n: none is. */
static inline size_t fake_search(const void *items, size_t item_bytes, size_t n, uint64_t vaddr)
{
	size_t lo = 0;
	size_t hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint64_t at;

		memcpy(&at, (const char *)items + mid * item_bytes, sizeof(at));
		if (at <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == 0 ? n : lo - 1;
}

static inline int fake_rule_at(struct unwind_source *s, uint64_t vaddr,
			       struct unwind_rule *ret_rule)
{
	struct fake_source *fake = (struct fake_source *)s;
	size_t i = fake_search(fake->spans, sizeof(*fake->spans), fake->n_spans, vaddr);

	if (i == fake->n_spans || vaddr - fake->spans[i].begin >= fake->spans[i].n_bytes)
		return UNWIND_SOURCE_NONE;
	const struct fake_span *span = &fake->spans[i];
	size_t row = fake_search(span->rows, sizeof(*span->rows), span->n_rows, vaddr);
	*ret_rule = row < span->n_rows ? span->rows[row].rule : (struct unwind_rule){ 0 };
	return 0;
}

static inline void fake_release(struct unwind_source *s)
{
	(void)s;
}

static inline void fake_free(struct unwind_source *s)
{
	free(s);
}

/* False: out of memory. */
static inline bool fake_source_add(struct unwind_info *info, const struct fake_span *spans,
				   size_t n_spans)
{
	struct fake_source *fake = malloc(sizeof(*fake));

	if (!fake)
		return false;
	*fake = (struct fake_source){
		.source = { "fake", fake_spans, fake_rows, fake_rule_at, fake_release, fake_free },
		.spans = spans,
		.n_spans = n_spans,
	};
	unwind_info_add_take(info, &fake->source);
	return true;
}

static inline bool fake_is_covered(const struct unwind_info *info, uint64_t vaddr)
{
	struct unwind_rule rule;

	for (size_t i = 0; i < unwind_info_n_sources(info); i++) {
		struct unwind_source *source = unwind_info_source(info, i);

		if (source->rule_at(source, vaddr, &rule) == 0)
			return true;
	}
	return false;
}

/* The rule for one address; in padding the one before it. */
static inline struct unwind_rule fake_expected(struct unwind_info *info, uint64_t vaddr)
{
	struct unwind_rule rule = { 0 };
	uint64_t last = vaddr;
	uint64_t next = vaddr;

	while (!fake_is_covered(info, last) && vaddr - last < ROW_TABLE_GAP_BYTES)
		last--;
	while (!fake_is_covered(info, next) && next - vaddr < ROW_TABLE_GAP_BYTES)
		next++;
	if (last == vaddr || (next - last - 1 < ROW_TABLE_GAP_BYTES &&
			      fake_is_covered(info, last) && fake_is_covered(info, next)))
		(void)unwind_info_rule_at(info, last, &rule);
	return rule;
}

#endif
