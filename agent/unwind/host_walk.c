/* SPDX-License-Identifier: Apache-2.0 */
/* A walk finished in the agent, by the code that the kernel half runs. */
#include "agent/unwind/host_walk.h"

#include "agent/unwind/row_rules.h"
#include "agent/unwind/wire_mapping.h"

#define UNWIND_INLINE static inline
#define UNWIND_FIND(w) host_find(w)
#define UNWIND_RULE(w) host_rule(w)
#define UNWIND_WORD(w, ret, addr) host_read((w), (ret), sizeof(*(ret)), (addr))
#define UNWIND_READ(w, dst, n, addr) host_read((w), (dst), (n), (addr))
#define UNWIND_CODE(w, dst, n, pc) host_code((w), (dst), (n), (pc))
#define UNWIND_SAVED(w) host_saved(w)
#define UNWIND_USER_MASK(w) host_user_mask(w)

struct unwind_walk;
static int host_find(struct unwind_walk *w);
static uint32_t host_rule(struct unwind_walk *w);
static int host_read(struct unwind_walk *w, void *dst, size_t n, uint64_t addr);
static int host_code(struct unwind_walk *w, void *dst, size_t n, uint64_t pc);
static uint32_t host_saved(struct unwind_walk *w);
static inline uint64_t host_user_mask(const struct unwind_walk *w);

#include "bpf/unwind.h"

struct host_walk {
	struct unwind_walk walk;
	const struct host_walk_options *options;
	const struct mapping *mapping; /* of walk.mapping */
	bool read_failed;
};

static struct host_walk *host_of(struct unwind_walk *w)
{
	return CONTAINER_OF(w, struct host_walk, walk);
}

static inline uint64_t host_user_mask(const struct unwind_walk *w)
{
	return CONTAINER_OF(w, const struct host_walk, walk)->options->user_mask;
}

static int host_find(struct unwind_walk *w)
{
	struct host_walk *h = host_of(w);
	const struct mapping *m = mappings_find(h->options->mappings, w->pc);

	if (!m)
		return 0;
	h->mapping = m;
	w->mapping = wire_mapping_from(m, WIRE_OBJECT_ABSENT);
	w->n_bytes = m->end - m->begin;
	return 1;
}

static uint32_t host_rule(struct unwind_walk *w)
{
	struct host_walk *h = host_of(w);
	const struct host_walk_options *o = h->options;
	int r = 0;

	w->rule = (struct unwind_rule){ 0 };
	if (w->mapping.object != WIRE_OBJECT_FP)
		r = object_tables_rule(o->objects, o->process, h->mapping->file, unwind_file_off(w),
				       o->wanted, &w->rule);
	w->word = row_rule_packed(&w->rule);
	return r < 0 ? STOP_REASON_NO_TABLE : 0;
}

static int host_read(struct unwind_walk *w, void *dst, size_t n, uint64_t addr)
{
	struct host_walk *h = host_of(w);
	int r = h->options->read(h->options->data, addr, dst, n);

	h->read_failed = r != 0;
	return r;
}

/* Code without a file is not in the copy; then the frame pointer alone must do. */
static int host_code(struct unwind_walk *w, void *dst, size_t n, uint64_t pc)
{
	struct host_walk *h = host_of(w);
	const struct host_walk_options *o = h->options;

	if (w->mapping.object == WIRE_OBJECT_FP)
		return -1;
	return object_tables_code(o->objects, o->process, h->mapping->file,
				  unwind_file_off(w) + (pc - w->pc), dst, n);
}

/* Registers that a function leaves as they were, other than sp and fp: System V x86-64 §3.2.1 (rbx, r12 … r15), AAPCS64 §6.1.1 (x19 …
 * x28). */
#if WIRE_N_REGS == 16
#define PRESERVED ((uint32_t)(1 << 3 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15))
#else
#define PRESERVED ((uint32_t)0x1ff80000)
#endif

/* The caller's value of one register; false when it is not known. */
static bool saved_value(struct unwind_walk *w, uint8_t reg, __u64 *ret_value)
{
	struct host_walk *h = host_of(w);
	struct unwind_rule rule;
	__u64 at = w->cfa;

	object_tables_register(h->options->objects, h->options->process, h->mapping->file,
			       unwind_file_off(w), reg, &rule);
	if (rule.fp == RULE_FP_UNDEFINED)
		return false;
	if (rule.fp == RULE_FP_SAME)
		return unwind_reg(w, reg, ret_value);
	if (rule.fp != RULE_FP_CFA && !unwind_reg(w, rule.fp_reg, &at))
		return false;
	if (rule.fp == RULE_FP_REG) {
		*ret_value = at;
		return true;
	}
	return host_read(w, ret_value, sizeof(*ret_value), at + (uint64_t)(int64_t)rule.fp_off) ==
	       0;
}

static uint32_t host_saved(struct unwind_walk *w)
{
	__u64 values[WIRE_N_REGS];
	uint32_t known = 0;

	if (!host_of(w)->options->all_registers || w->mapping.object == WIRE_OBJECT_FP)
		return 0;
	for (uint8_t reg = 0; reg < WIRE_N_REGS; reg++)
		if ((PRESERVED >> reg & 1) && saved_value(w, reg, &values[reg]))
			known |= (uint32_t)1 << reg;
	for (uint8_t reg = 0; reg < WIRE_N_REGS; reg++)
		if (known >> reg & 1)
			w->reg[reg] = values[reg];
	return known;
}

struct frame_ref host_frame(const struct mappings *mappings, uint64_t pc)
{
	const struct mapping *m = mappings_find(mappings, pc);

	if (!m)
		return FRAME_REF_NONE;
	if (!wire_mapping_is_named(m))
		return frame_ref_of(FRAME_KIND_MEMORY, pc);
	return frame_ref_of_file(m->file->id, m->file_off + (pc - m->begin));
}

/* The walk looks one byte before where a call or a system call returns to. */
static uint64_t pc_as_left(const struct host_walk *h, bool is_leaf)
{
	bool as_is = (h->walk.flags & UNWIND_EXACT) && !(is_leaf && h->options->after_syscall);

	return as_is ? h->walk.pc : h->walk.pc + 1;
}

/* One step; the frame is named where it goes on when it has not called. */
static bool host_step(struct host_walk *h, struct frame_ref *frame)
{
	h->read_failed = false;
	bool goes_on = unwind_step(&h->walk);
	if (frame_ref_kind(*frame) != FRAME_KIND_UNKNOWN)
		frame->word += h->walk.at_begin;
	return goes_on;
}

static enum stop_reason host_end(const struct host_walk *h)
{
	bool may_be_short =
		h->walk.end == STOP_REASON_STACK_READ || h->walk.end == STOP_REASON_NO_RULE;

	return h->read_failed && may_be_short ? STOP_REASON_COPY_END : h->walk.end;
}

enum stop_reason host_walk(const struct host_walk_options *o, const struct wire_regs *regs)
{
	const struct mappings *m = o->mappings;
	struct wire_process process = { .n_mappings = m ? m->n : 0 };
	struct host_walk h = { .options = o };
	bool is_leaf = true;
	bool goes_on = true;

	unwind_begin(&h.walk, regs, &process, o->flags, o->after_syscall);
	for (; goes_on; is_leaf = false) {
		struct frame_ref frame = host_frame(m, h.walk.pc);
		uint64_t pc = pc_as_left(&h, is_leaf);
		uint64_t sp = h.walk.reg[WIRE_ABI_SP];

		/* Where code was interrupted is a fact; where it would return to, outside of all code, is a walk gone astray. */
		if (frame_ref_is_none(frame) && !(is_leaf && (o->flags & UNWIND_EXACT)))
			return STOP_REASON_NO_MAPPING;
		if (frame_ref_is_none(frame))
			frame = frame_ref_of(FRAME_KIND_UNKNOWN, 0);
		goes_on = host_step(&h, &frame);
		if (!o->on_frame(o->data, frame, pc) ||
		    (goes_on && o->on_extent &&
		     !o->on_extent(o->data, sp, h.walk.reg[WIRE_ABI_SP])))
			return STOP_REASON_DEPTH;
	}
	return host_end(&h);
}
