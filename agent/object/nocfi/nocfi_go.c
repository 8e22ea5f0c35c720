/* SPDX-License-Identifier: Apache-2.0 */
/* Go's functions taken out of text without call frame information. */
#include "agent/object/nocfi/nocfi_go.h"

#include "agent/object/go/gopclntab.h"
#include "agent/util/macro.h"

/* A few functions of Go's have no rows; with more of them the rest is looked at. */
#define MAX_GO_RANGES 64

bool nocfi_go_is_all(const struct elf *elf)
{
	return elf_section_by_name(elf, ".gopclntab") ||
	       elf_section_by_name(elf, ".data.rel.ro.gopclntab");
}

/* From *index on, the next functions with rules that lie one behind the other; *index becomes that behind them. */
static int next_of_go(struct gopclntab *table, uint32_t *index, struct nocfi_range *ret_range)
{
	struct nocfi_range range = { 0 };

	for (; *index < gopclntab_n_funcs(table); (*index)++) {
		struct gopclntab_func func;
		int r = gopclntab_func(table, *index, &func);

		if (r < 0)
			return r;
		bool has_rows = r == 0 && func.pcsp != 0;
		if (range.end > 0 && (!has_rows || func.begin != range.end))
			break;
		if (has_rows)
			range = (struct nocfi_range){ range.end ? range.begin : func.begin,
						      func.end };
	}
	*ret_range = range;
	return range.end > 0 ? 0 : GOPCLNTAB_NONE;
}

int nocfi_go_cut(struct elf *elf, struct nocfi_ranges *gaps)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	struct nocfi_range range;
	uint32_t index = 0;
	int r = elf_n_sections(elf) > 0 ? gopclntab_new(elf, &table) : GOPCLNTAB_NONE;

	for (size_t i = 0; i < MAX_GO_RANGES && r == 0; i++) {
		r = next_of_go(table, &index, &range);
		if (r == 0)
			r = nocfi_ranges_cut(gaps, range.begin, range.end);
	}
	return MIN_OF(r, 0);
}
