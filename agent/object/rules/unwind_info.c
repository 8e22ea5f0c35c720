/* SPDX-License-Identifier: Apache-2.0 */
/* All unwind rules of one object: the list of sources, and the look-up of one address. */
#include "agent/object/rules/unwind_info.h"

#include <assert.h>
#include <stdlib.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/go/go_unwind.h"
#include "agent/object/nocfi/nocfi_unwind.h"
#include "agent/object/rules/context_unwind.h"
#include "agent/object/rules/unwind_info_internal.h"
#include "agent/util/macro.h"

/* Most trusted first. */
static const struct {
	int (*make)(struct elf *elf, struct unwind_source **ret_source);
	bool of_debug_file;
	bool is_slow; /* reads through all of the others' spans: 18 ms for the 117 MB of an LLVM */
} kinds[] = {
	{ context_unwind_new, false, false }, { cfi_eh_frame_new, false, false },
	{ go_unwind_new, false, false },      { cfi_debug_frame_new, false, false },
	{ cfi_debug_frame_new, true, false }, { nocfi_unwind_new, false, true },
};

_Static_assert(ARRAY_SIZE(kinds) <= UNWIND_INFO_MAX_SOURCES, "each has its place");

int unwind_info_new_empty(const struct dwarf_abi *abi, struct unwind_info **ret_info)
{
	struct unwind_info *info = calloc(1, sizeof(*info));

	if (!info)
		return -ENOMEM;
	info->abi = abi;
	info->n_kinds = ARRAY_SIZE(kinds);
	*ret_info = info;
	return 0;
}

void unwind_info_add_take(struct unwind_info *info, struct unwind_source *source)
{
	assert(source);
	assert(info->n_sources < UNWIND_INFO_MAX_SOURCES);
	info->sources[info->n_sources++] = source;
}

void unwind_info_free(struct unwind_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->n_sources; i++)
		info->sources[i]->free(info->sources[i]);
	for (size_t i = 0; i < UNWIND_INFO_MAX_REGISTERS; i++)
		if (info->registers[i])
			info->registers[i]->free(info->registers[i]);
	free(info);
}

static int add_sources(struct unwind_info *info, bool with_slow)
{
	for (; info->n_kinds < ARRAY_SIZE(kinds); info->n_kinds++) {
		struct elf *of = kinds[info->n_kinds].of_debug_file ? info->debug : info->elf;
		struct unwind_source *source = NULL;

		if (kinds[info->n_kinds].is_slow && !with_slow)
			return 0;
		int r = of ? kinds[info->n_kinds].make(of, &source) : UNWIND_SOURCE_NONE;
		if (r < 0)
			return r;
		if (r == 0)
			unwind_info_add_take(info, source);
	}
	return 0;
}

static int info_new(struct elf *elf, struct elf *debug, bool with_slow,
		    struct unwind_info **ret_info)
{
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	/* 32-bit files of a machine that is unwound (x32, ILP32) have frames of another shape. */
	const struct dwarf_abi *abi = elf_is_64(elf) ? dwarf_abi(elf_machine(elf)) : NULL;
	int r = unwind_info_new_empty(abi, &info);

	if (r < 0)
		return r;
	info->elf = elf;
	if (debug && elf_is_64(debug) && elf_machine(debug) == elf_machine(elf))
		info->debug = debug;
	if (abi) {
		info->n_kinds = 0;
		r = add_sources(info, with_slow);
	}
	if (r < 0)
		return r;
	*ret_info = TAKE_PTR(info);
	return 0;
}

int unwind_info_new(struct elf *elf, struct elf *debug, struct unwind_info **ret_info)
{
	return info_new(elf, debug, true, ret_info);
}

int unwind_info_new_for_lookups(struct elf *elf, struct elf *debug, struct unwind_info **ret_info)
{
	return info_new(elf, debug, false, ret_info);
}

const struct dwarf_abi *unwind_info_abi(const struct unwind_info *info)
{
	return info->abi;
}

size_t unwind_info_n_sources(const struct unwind_info *info)
{
	return info->n_sources;
}

struct unwind_source *unwind_info_source(const struct unwind_info *info, size_t i)
{
	return i < info->n_sources ? info->sources[i] : NULL;
}

/* As the source says; 0, UNWIND_SOURCE_NONE, -errno. */
static int raw_rule_at(struct unwind_info *info, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	int r = UNWIND_SOURCE_NONE;
	size_t i = 0;

	for (; i < info->n_sources && r == UNWIND_SOURCE_NONE; i++)
		r = info->sources[i]->rule_at(info->sources[i], vaddr, ret_rule);
	if (r != UNWIND_SOURCE_NONE || info->n_kinds == ARRAY_SIZE(kinds))
		return r;
	r = add_sources(info, true);
	if (r < 0)
		return r;
	for (r = UNWIND_SOURCE_NONE; i < info->n_sources && r == UNWIND_SOURCE_NONE; i++)
		r = info->sources[i]->rule_at(info->sources[i], vaddr, ret_rule);
	return r;
}

int unwind_info_rule_at(struct unwind_info *info, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct unwind_rule rule = { 0 };
	int r = raw_rule_at(info, vaddr, &rule);

	if (r < 0)
		return r;
	if (r == 0)
		unwind_rule_normalize(info->abi, &rule);
	else
		rule = (struct unwind_rule){ 0 };
	*ret_rule = rule;
	return 0;
}
