/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: an ELF file as bytes, Go's function table in it, every name, value and unwind row. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/go_unwind.h"
#include "agent/object/go/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a small file can make of a table of 4 million functions. */
#define MAX_FUNCS 256

static void use_table(struct elf *elf)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	_cleanup_buf_ struct buf name = BUF_INIT(GOPCLNTAB_MAX_NAME_BYTES);

	if (gopclntab_new(elf, &table) != 0)
		return;
	for (uint32_t i = 0; i < gopclntab_n_funcs(table) && i < MAX_FUNCS; i++) {
		struct gopclntab_func func;
		struct gopclntab_values values;
		struct gopclntab_range range;
		uint64_t pc;
		uint32_t index;

		if (gopclntab_func(table, i, &func) != 0)
			continue;
		(void)gopclntab_find(table, func.begin, &index);
		buf_reset(&name);
		(void)gopclntab_name(table, &func, &name);
		gopclntab_values_init(table, &func, func.pcsp, &values);
		for (pc = func.begin; gopclntab_values_next(table, &values, &range) == 0;
		     pc = range.end)
			if (range.begin != pc || range.end <= pc || range.end > func.end)
				abort();
	}
}

struct last {
	const struct unwind_span *span;
	uint64_t vaddr;
	size_t n;
};

static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct last *last = data;

	if (vaddr < last->span->begin || vaddr - last->span->begin >= last->span->n_bytes ||
	    (last->n == 0 ? vaddr != last->span->begin : vaddr <= last->vaddr) || rule->zero ||
	    rule->cfa_add)
		abort();
	last->vaddr = vaddr;
	last->n++;
	return 0;
}

static void use_rows(struct elf *elf)
{
	struct unwind_spans spans = { .max_bytes = (size_t)1 << 20 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_source *source = NULL;
	struct unwind_rule rule;

	if (go_unwind_new(elf, &source) != 0)
		return;
	if (source->spans(source, &spans, &stats) == 0) {
		for (size_t i = 0; i < spans.n && i < MAX_FUNCS; i++) {
			struct last last = { .span = &spans.items[i] };

			(void)source->rows(source, &spans.items[i], check_row, &last, &stats);
			(void)source->rule_at(source, spans.items[i].begin, &rule);
		}
	}
	unwind_spans_fini(&spans);
	source->free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return 0;
	use_table(elf);
	use_rows(elf);
	return 0;
}
