/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of bpf/unwind.h over a stack, mappings, rules and code bytes made by hand. */
#ifndef XAGENT_TESTS_UNIT_BPF_UNWIND_CONTEXT_H
#define XAGENT_TESTS_UNIT_BPF_UNWIND_CONTEXT_H

#include <stdbool.h>
#include <string.h>

#include "agent/unwind/row_rules.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define UNWIND_INLINE static inline
#define UNWIND_FIND(w) context_find(w)
#define UNWIND_RULE(w) context_rule(w)
#define UNWIND_WORD(w, ret, addr) context_read((w), (ret), sizeof(*(ret)), (addr))
#define UNWIND_READ(w, dst, n, addr) context_read((w), (dst), (n), (addr))
#define UNWIND_CODE(w, dst, n, pc) context_code((w), (dst), (n), (pc))
#define UNWIND_SAVED(w) context_saved(w)
#define UNWIND_USER_MASK(w) context_user_mask(w)

struct unwind_walk;
static inline int context_find(struct unwind_walk *w);
static inline uint32_t context_rule(struct unwind_walk *w);
static inline int context_read(struct unwind_walk *w, void *dst, uint64_t n, uint64_t addr);
static inline int context_code(struct unwind_walk *w, void *dst, uint64_t n, uint64_t pc);
static inline uint32_t context_saved(struct unwind_walk *w);
static inline uint64_t context_user_mask(const struct unwind_walk *w);

#include "bpf/unwind.h"

#define STACK 0x7ffd00001000ULL
/* One mapping of TEXT_BYTES; everything there has the default rule unless a row says otherwise. */
#define TEXT 0x401000ULL
#define TEXT_BYTES 0x100000ULL
#define TEXT_FRAME ((7ULL << WIRE_FRAME_OFFSET_BITS) + 0x3000)
#define FRAME_OF(pc) (TEXT_FRAME + ((pc)-TEXT))
#define NOWHERE 0x900000ULL

/* The rule from a pc on, for so many bytes. */
struct rule_row {
	uint64_t pc;
	uint64_t n_bytes;
	struct unwind_rule rule;
};

/* What a walk reads from; all borrowed. */
struct context {
	struct unwind_walk walk;
	const struct wire_mapping *mappings; /* NULL: the text */
	uint32_t n_mappings;
	unsigned int n_finds;
	const struct rule_row *rules;
	size_t n_rules;
	const uint64_t *words; /* at STACK */
	size_t n_words;
	const uint8_t *code; /* at code_pc; NULL: cannot be read */
	size_t n_code;
	uint64_t code_pc;
	uint32_t saved; /* registers that every callee with a rule kept */
	uint64_t saved_value;
	uint64_t user_mask; /* 0: all bits */
};

static const struct wire_mapping context_text = { .begin = TEXT,
						  .frame_base = TEXT_FRAME,
						  .n_pages = TEXT_BYTES / WIRE_PAGE_BYTES,
						  .object = WIRE_OBJECT_FIRST };

/* A process that maps the text. */
static const struct wire_process context_process = { .mappings_at = 1,
						     .n_mappings = 1,
						     .generation = 1 };

static inline int context_find(struct unwind_walk *w)
{
	struct context *context = CONTAINER_OF(w, struct context, walk);
	const struct wire_mapping *all = context->mappings ? context->mappings : &context_text;
	uint32_t n = context->mappings ? context->n_mappings : 1;

	context->n_finds++;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = (uint64_t)all[i].n_pages * WIRE_PAGE_BYTES;

		if (w->pc - all[i].begin >= bytes)
			continue;
		w->mapping = all[i];
		w->n_bytes = bytes;
		return 1;
	}
	return 0;
}

static inline uint32_t context_rule(struct unwind_walk *w)
{
	const struct context *context = CONTAINER_OF(w, struct context, walk);
	const struct unwind_rule *rule = NULL;

	/* The step asks only where the pc lies in the cached mapping. */
	assert_true(w->pc - w->mapping.begin < w->n_bytes);
	if (w->mapping.object == WIRE_OBJECT_ABSENT)
		return STOP_REASON_NO_TABLE;
	w->word = 0;
	if (w->mapping.object == WIRE_OBJECT_FP)
		return 0;
	for (size_t i = 0; i < context->n_rules; i++)
		if (w->pc - context->rules[i].pc < context->rules[i].n_bytes)
			rule = &context->rules[i].rule;
	if (rule)
		w->word = row_rule_packed(rule);
	/* As the kernel half does it: a compact rule is not laid out, and what the last one said is still there. */
	if (rule && !unwind_is_compact(w->word))
		w->rule = *rule;
	return 0;
}

static inline int copy_from(const void *from, uint64_t n_from, uint64_t at, void *dst, uint64_t n)
{
	if (at > n_from || n_from - at < n)
		return -14;
	memcpy(dst, (const char *)from + at, n);
	return 0;
}

static inline int context_read(struct unwind_walk *w, void *dst, uint64_t n, uint64_t addr)
{
	const struct context *context = CONTAINER_OF(w, struct context, walk);

	return copy_from(context->words, context->n_words * sizeof(uint64_t), addr - STACK, dst, n);
}

static inline int context_code(struct unwind_walk *w, void *dst, uint64_t n, uint64_t pc)
{
	const struct context *context = CONTAINER_OF(w, struct context, walk);

	return context->code
		       ? copy_from(context->code, context->n_code, pc - context->code_pc, dst, n)
		       : -14;
}

static inline uint32_t context_saved(struct unwind_walk *w)
{
	const struct context *context = CONTAINER_OF(w, struct context, walk);

	for (uint32_t reg = 0; reg < WIRE_N_REGS; reg++)
		if (context->saved >> reg & 1)
			w->reg[reg] = context->saved_value;
	return context->saved;
}

static inline uint64_t context_user_mask(const struct unwind_walk *w)
{
	uint64_t mask = CONTAINER_OF(w, const struct context, walk)->user_mask;

	return mask ? mask : UINT64_MAX;
}

struct walked {
	uint64_t frames[WIRE_MAX_USER_FRAMES];
	uint32_t n;
	enum stop_reason end;
};

/* As the kernel half does it. */
static inline void walk_all(struct context *context, const struct wire_regs *regs,
			    const struct wire_process *process, struct walked *out)
{
	unwind_begin(&context->walk, regs, process, UNWIND_EXACT, 0);
	out->end = STOP_REASON_DEPTH;
	for (out->n = 0; out->n < WIRE_MAX_USER_FRAMES;) {
		out->frames[out->n++] = unwind_frame(&context->walk);
		if (!unwind_step(&context->walk)) {
			out->end = context->walk.end;
			break;
		}
	}
}

#endif
