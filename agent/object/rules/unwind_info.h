/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All unwind rules of one object, from all sources in the order of their trust:
 *
 *	ends of coroutines → .eh_frame → Go's tables → .debug_frame → .debug_frame of the separate debug file → code without CFI
 *
 * The code that coroutines of makecontext(3) end in comes first, because its .eh_frame invents a caller.
 * Go's tables come before .debug_frame, because the one that Go writes says nothing of the frame pointer.
 *
 * An address belongs to the first source that has a span for it. Rules are normalized here, so that rows and single look-ups agree.
 */
#ifndef XAGENT_AGENT_OBJECT_RULES_UNWIND_INFO_H
#define XAGENT_AGENT_OBJECT_RULES_UNWIND_INFO_H

#include "agent/object/elf.h"
#include "agent/object/rules/dwarf_abi.h"
#include "agent/object/rules/unwind_source.h"
#include "agent/util/cleanup.h"

#define UNWIND_INFO_MAX_SOURCES 8

struct unwind_info;

/* `elf` and `debug` (the separate debug file, NULL: none) are borrowed until free. An object without any rule, or of a machine that is
 * not unwound, gives an info without sources. 0 or -errno. */
int unwind_info_new(struct elf *elf, struct elf *debug, struct unwind_info **ret_info);
/* The same for unwind_info_rule_at() only: a source that has to read through the whole file is made when no other one has answered. */
int unwind_info_new_for_lookups(struct elf *elf, struct elf *debug, struct unwind_info **ret_info);
void unwind_info_free(struct unwind_info *info); /* NULL-safe */
DEFINE_CLEANUP(struct unwind_info *, unwind_info_free);

/* NULL: a machine that is not unwound. */
const struct dwarf_abi *unwind_info_abi(const struct unwind_info *info);
size_t unwind_info_n_sources(const struct unwind_info *info);
struct unwind_source *unwind_info_source(const struct unwind_info *info, size_t i);

/* The normalized rule for one address (RULE_CFA_NONE: nothing is known). 0 or -errno. */
int unwind_info_rule_at(struct unwind_info *info, uint64_t vaddr, struct unwind_rule *ret_rule);

/*
 * Where the caller's value of a register that calls preserve is, other than the frame pointer: the rule's members for the frame pointer
 * speak of it. From .eh_frame only; RULE_FP_UNDEFINED where that tells nothing. 0 or -errno.
 */
int unwind_info_register_at(struct unwind_info *info, uint64_t vaddr, uint8_t reg,
			    struct unwind_rule *ret_rule);

/*
 * The rule as the walk obeys it:
 *  - a frame pointer slot below the stack pointer has been popped: unchanged (GCC's epilogues emit no DW_CFA_restore);
 *  - a return address slot below it too: the outermost frame (musl's __clone);
 *  - a CFA that is undefined but whose RA is undefined too is the outermost frame;
 *  - registers, offsets and kinds that the walk cannot follow become RULE_CFA_NONE;
 *  - members that a kind does not use are 0.
 * Pure.
 */
void unwind_rule_normalize(const struct dwarf_abi *abi, struct unwind_rule *rule);

#endif
