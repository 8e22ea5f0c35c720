/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of one function, by a worklist over its instructions.
 *
 * Calls are taken to return. Where the way behind a call meets another way with another depth of
 * the stack, the call was one that does not (abort): the analysis begins anew with that known. A
 * function without a symbol that ends in such a call would run on into the next one; when it cannot
 * be understood, calls in front of an aligned address are tried as its end. One with a symbol is
 * tried without what was taken for its jump tables.
 *
 * What begins a program, or ends it, has no return, and is often known by its address only, which
 * somebody takes. Code that nothing else is known of is a function when that is so, and all its ways
 * end in calls or jumps that do not come back.
 */
#include "agent/object/stub_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/stub_table.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Calls of one function that turn out not to return, one a round. */
#define MAX_ROUNDS 32
/* Functions begin there (-falign-functions, all levels but -Os). */
#define FUNCTION_ALIGN 16u
/* Reading an entry takes a system call. */
#define TABLE_ENTRY_STEPS 8u

enum {
	MARK_REACHED = 1,
	MARK_QUEUED = 2,
	MARK_BEHIND_CALL = 4, /* reached that way only */
	MARK_NO_RETURN = 8,   /* a call; kept from round to round */
	MARK_JUMPED_TO = 16,
};

struct stub_flow_scratch {
	struct stub_frame *frames; /* before the instruction at that offset, where MARK_REACHED */
	uint8_t *marks;
	uint8_t *lengths; /* of the instructions that were followed */
	uint32_t *work;
	uint32_t cap;
	uint32_t n_dirty; /* marks behind it are 0 */
};

struct flow {
	const struct stub_text *text;
	struct stub_flow_scratch *s;
	uint32_t n_work;
	uint32_t end;	    /* behind the last instruction reached */
	uint32_t n_returns; /* that were right */
	uint32_t n_tail_calls;
	uint32_t n_odd_exits;	      /* into the middle of something */
	uint32_t n_open_exits;	      /* to where a register says, with nothing left on the stack */
	uint32_t n_run_outs;	      /* over the end of the text, not from a call */
	bool has_open_jump;	      /* an indirect jump of unknown targets, */
	struct stub_frame open_frame; /* and what is known there */
	bool has_no_tables;
	bool ends_before_padding;
	bool is_wrong;
	bool is_stuck; /* cannot even be followed */
	bool again;
};

int stub_flow_scratch_new(struct stub_flow_scratch **ret_scratch)
{
	struct stub_flow_scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*ret_scratch = s;
	return 0;
}

static void drop_arrays(struct stub_flow_scratch *s)
{
	free(s->frames);
	free(s->marks);
	free(s->lengths);
	free(s->work);
	*s = (struct stub_flow_scratch){ 0 };
}

void stub_flow_scratch_free(struct stub_flow_scratch *scratch)
{
	if (!scratch)
		return;
	drop_arrays(scratch);
	free(scratch);
}

static int make_room(struct stub_flow_scratch *s, uint32_t n)
{
	if (n <= s->cap)
		return 0;
	drop_arrays(s);
	s->frames = malloc(n * sizeof(*s->frames));
	s->marks = calloc(n, 1);
	s->lengths = calloc(n, 1);
	s->work = malloc(n * sizeof(*s->work));
	if (!s->frames || !s->marks || !s->lengths || !s->work) {
		drop_arrays(s);
		return -ENOMEM;
	}
	s->cap = n;
	return 0;
}

/* Eight marks at a time. */
#define EIGHT_TIMES 0x0101010101010101ULL

static bool any_of_8(const uint8_t *marks, uint8_t mark)
{
	uint64_t word;

	memcpy(&word, marks, sizeof(word));
	return (word & mark * EIGHT_TIMES) != 0;
}

static void keep_only(uint8_t *marks, uint32_t n, uint8_t mark)
{
	uint32_t i = 0;

	for (; n - i >= 8; i += 8) {
		uint64_t word;

		memcpy(&word, marks + i, sizeof(word));
		word &= mark * EIGHT_TIMES;
		memcpy(marks + i, &word, sizeof(word));
	}
	for (; i < n; i++)
		marks[i] &= mark;
}

static bool is_padding(const struct stub_insn *i)
{
	if (i->map == STUB_INSN_MAP_0F)
		return i->opcode == 0x1f && !i->is_vector_encoded;
	return i->map == STUB_INSN_MAP_1 &&
	       ((i->opcode == 0x90 && !(i->rex & 1) && !i->has_rep) || i->opcode == 0xcc);
}

uint32_t stub_flow_padding(const uint8_t *code, uint32_t n)
{
	uint32_t at = 0;
	struct stub_insn i;

	while (at < n && stub_insn_decode(code + at, n - at, &i) && is_padding(&i))
		at += i.n_bytes;
	return at;
}

static bool is_aligned(const struct flow *f, uint32_t at)
{
	return (f->text->vaddr + at) % FUNCTION_ALIGN == 0;
}

/* The call in front of `at`, or of the padding there; false when there is none. */
static bool call_before(const struct flow *f, uint32_t at, uint32_t *ret_call)
{
	for (uint32_t back = 2; back < STUB_INSN_MAX_BYTES + FUNCTION_ALIGN && back <= at; back++) {
		uint32_t o = at - back;
		struct stub_insn i;

		if ((f->s->marks[o] & MARK_REACHED) &&
		    stub_insn_decode(f->text->code + o, f->text->n - o, &i) && i.n_bytes <= back &&
		    stub_step_flow(&i) == STUB_FLOW_CALL &&
		    stub_flow_padding(f->text->code + o + i.n_bytes, back - i.n_bytes) ==
			    back - i.n_bytes) {
			*ret_call = o;
			return true;
		}
	}
	return false;
}

/* Two ways to `at` cannot both be: one of them comes from behind a call that does not return. */
static bool settle_conflict(struct flow *f, uint32_t at, const struct stub_frame *frame,
			    bool behind_call)
{
	const struct stub_frame *known = &f->s->frames[at];
	bool known_behind_call = f->s->marks[at] & MARK_BEHIND_CALL;
	uint32_t call;

	if (!known->has_sp || !frame->has_sp || known->sp_off == frame->sp_off ||
	    known_behind_call == behind_call || !call_before(f, at, &call))
		return false;
	f->s->marks[call] |= MARK_NO_RETURN;
	f->again = true;
	return true;
}

static void enqueue(struct flow *f, uint32_t at)
{
	if (f->s->marks[at] & MARK_QUEUED)
		return;
	f->s->marks[at] |= MARK_QUEUED;
	f->s->work[f->n_work++] = at;
}

static void arrive(struct flow *f, uint32_t at, const struct stub_frame *frame, bool behind_call)
{
	if (at >= f->text->n) {
		/* Of a sized function that is a call that does not return, or the next function. */
		f->is_wrong |= !f->text->is_sized && f->text->n == STUB_FLOW_MAX_BYTES;
		f->n_run_outs += !behind_call;
		return;
	}
	f->s->n_dirty = MAX_OF(f->s->n_dirty, at + 1);
	if (!(f->s->marks[at] & MARK_REACHED)) {
		f->s->frames[at] = *frame;
		f->s->marks[at] |= (uint8_t)(MARK_REACHED | (behind_call ? MARK_BEHIND_CALL : 0));
		enqueue(f, at);
		return;
	}
	if (settle_conflict(f, at, frame, behind_call))
		return;
	if (!behind_call)
		f->s->marks[at] &= (uint8_t)~MARK_BEHIND_CALL;
	if (stub_frame_meet(&f->s->frames[at], frame))
		enqueue(f, at);
}

static void arrive_by_jump(struct flow *f, uint32_t at, const struct stub_frame *frame)
{
	arrive(f, at, frame, false);
	f->s->marks[at] |= MARK_JUMPED_TO;
}

static void leave_function(struct flow *f, uint64_t target, const struct stub_frame *frame)
{
	bool is_function = f->text->is_function(target, f->text->data);

	/* Nobody goes on in a function with a frame left behind. */
	if (is_function && !stub_frame_may_return(frame))
		f->is_wrong = true;
	else if (is_function)
		f->n_tail_calls++;
	else
		f->n_odd_exits++;
}

static void jump(struct flow *f, uint32_t behind, const struct stub_insn *i,
		 const struct stub_frame *frame)
{
	uint64_t target = f->text->vaddr + behind + (uint64_t)i->imm;

	if (target >= f->text->vaddr && target - f->text->vaddr < f->text->n)
		arrive_by_jump(f, (uint32_t)(target - f->text->vaddr), frame);
	else
		leave_function(f, target, frame);
}

static bool spend(struct flow *f, uint32_t n_steps)
{
	if (*f->text->budget < n_steps) {
		*f->text->budget = 0;
		f->is_stuck = true;
		return false;
	}
	*f->text->budget -= n_steps;
	return true;
}

static void jump_by_table(struct flow *f, uint32_t at, const struct stub_frame *frame)
{
	struct stub_table table;
	uint32_t n_found = 0;

	if (!f->has_no_tables && stub_table_find(f->text, f->s->marks, MARK_REACHED, at, &table)) {
		for (uint32_t i = 0; i < table.n && spend(f, TABLE_ENTRY_STEPS); i++) {
			uint32_t target;

			if (stub_table_target(f->text, &table, i, &target)) {
				arrive_by_jump(f, target, frame);
				n_found++;
			} else if (!table.is_bounded) {
				break;
			}
		}
	}
	if (n_found > 0)
		return;
	if (stub_frame_may_return(frame))
		f->n_open_exits++;
	if (!f->has_open_jump)
		f->open_frame = *frame;
	else
		(void)stub_frame_meet(&f->open_frame, frame);
	f->has_open_jump = true;
}

static bool returns(const struct flow *f, uint32_t at, uint32_t behind)
{
	if (f->s->marks[at] & MARK_NO_RETURN)
		return false;
	if (f->text->is_entry)
		return false;
	if (!f->ends_before_padding || behind >= f->text->n)
		return true;
	uint32_t padding = stub_flow_padding(f->text->code + behind, f->text->n - behind);
	return !is_aligned(f, behind + padding);
}

static void follow_call(struct flow *f, uint32_t at, uint32_t behind, const struct stub_insn *i,
			struct stub_frame *frame)
{
	/* A call to the next instruction is a push of the program counter. */
	if (i->opcode == 0xe8 && i->imm == 0 && frame->has_sp)
		frame->sp_off += 8;
	if (returns(f, at, behind))
		arrive(f, behind, frame, true);
}

static void follow(struct flow *f, uint32_t at, const struct stub_insn *i)
{
	struct stub_frame before = f->s->frames[at];
	struct stub_frame after = before;
	uint32_t behind = at + i->n_bytes;

	stub_step(i, &after);
	switch (stub_step_flow(i)) {
	case STUB_FLOW_NEXT:
		arrive(f, behind, &after, is_padding(i) && (f->s->marks[at] & MARK_BEHIND_CALL));
		return;
	case STUB_FLOW_CALL:
		follow_call(f, at, behind, i, &after);
		return;
	case STUB_FLOW_BRANCH:
		arrive(f, behind, &after, false);
		jump(f, behind, i, &after);
		return;
	case STUB_FLOW_JUMP:
		jump(f, behind, i, &after);
		return;
	case STUB_FLOW_INDIRECT:
		jump_by_table(f, at, &before);
		return;
	case STUB_FLOW_RETURN:
		if (i->opcode == 0xc3 && stub_frame_may_return(&before))
			f->n_returns++;
		else
			f->is_wrong = true;
		return;
	case STUB_FLOW_END:
		return;
	}
}

static void run(struct flow *f)
{
	while (f->n_work > 0 && !f->is_stuck && !f->again) {
		uint32_t at = f->s->work[--f->n_work];
		struct stub_insn i;

		f->s->marks[at] &= (uint8_t)~MARK_QUEUED;
		if (!stub_insn_decode(f->text->code + at, f->text->n - at, &i) || !spend(f, 1)) {
			f->is_stuck = true;
			return;
		}
		f->s->lengths[at] = i.n_bytes;
		f->end = MAX_OF(f->end, at + i.n_bytes);
		follow(f, at, &i);
	}
}

/* The first offset from `at` on, behind padding, that nothing has reached; n when there is none. */
static uint32_t next_hole(const struct flow *f, uint32_t at)
{
	while (at < f->text->n) {
		if (!(f->s->marks[at] & MARK_REACHED)) {
			uint32_t padding = stub_flow_padding(f->text->code + at, f->text->n - at);

			if (padding == 0)
				return at;
			at += padding;
		} else if (f->s->lengths[at] > 0) {
			at += f->s->lengths[at];
		} else {
			return f->text->n;
		}
	}
	return f->text->n;
}

/* What of a sized function nothing leads to is where its indirect jumps go. */
static void fill_holes(struct flow *f)
{
	if (!f->has_open_jump || !f->text->is_sized)
		return;
	uint32_t at = next_hole(f, 0);
	while (at < f->text->n && !f->is_stuck && !f->again) {
		arrive(f, at, &f->open_frame, false);
		run(f);
		at = next_hole(f, at);
	}
}

static bool is_taken(const struct flow *f, uint32_t at)
{
	return f->text->is_taken && f->text->is_taken(f->text->vaddr + at, f->text->data);
}

/* A call in front of padding, or of an address that is taken, that nothing jumps behind is the end
 * of its function: what follows is another one. True when there were some that were not known. */
static bool ends_in_call(struct flow *f)
{
	bool found = false;

	for (uint32_t at = 1; at < f->end && !f->text->is_sized; at++) {
		uint32_t call;

		/* Few are. */
		if (f->end - at >= 8 && !any_of_8(f->s->marks + at, MARK_BEHIND_CALL)) {
			at += 7;
			continue;
		}
		if ((f->s->marks[at] & (MARK_REACHED | MARK_JUMPED_TO)) != MARK_REACHED ||
		    !(f->s->marks[at] & MARK_BEHIND_CALL))
			continue;
		uint32_t padding = stub_flow_padding(f->text->code + at, f->text->n - at);
		if (at + padding >= f->text->n ||
		    !(is_taken(f, at + padding) || (padding > 0 && is_aligned(f, at + padding))) ||
		    (f->s->marks[at + padding] & MARK_JUMPED_TO) || !call_before(f, at, &call))
			continue;
		f->s->marks[call] |= MARK_NO_RETURN;
		found = true;
	}
	return found;
}

static void begin_round(struct flow *f)
{
	struct stub_frame entry = STUB_FRAME_ENTRY;

	keep_only(f->s->marks, f->s->n_dirty, MARK_NO_RETURN);
	if (f->text->is_entry)
		entry.ra = STUB_RA_ROOT;
	f->n_work = 0;
	f->n_returns = f->n_tail_calls = f->n_odd_exits = f->n_open_exits = f->n_run_outs = 0;
	f->has_open_jump = f->is_wrong = f->is_stuck = f->again = false;
	f->end = 0;
	arrive(f, 0, &entry, false);
}

static bool is_trusted(const struct flow *f)
{
	if (f->is_wrong || f->is_stuck || f->again)
		return false;
	if (f->text->is_sized || f->text->is_entry || f->n_returns > 0 ||
	    f->text->is_function(f->text->vaddr, f->text->data))
		return true;
	/* Without a symbol and a return, only what goes on in functions is one: else it is a part
	 * of one that was put elsewhere. */
	return f->n_odd_exits == 0 &&
	       (f->n_tail_calls > 0 || (f->n_open_exits > 0 && f->text->is_behind_function) ||
		(f->n_run_outs == 0 && is_taken(f, 0)));
}

static bool attempt(struct flow *f)
{
	memset(f->s->marks, 0, f->s->n_dirty);
	f->s->n_dirty = 0;
	for (unsigned int round = 0; round < MAX_ROUNDS; round++) {
		begin_round(f);
		run(f);
		fill_holes(f);
		if (!f->again)
			f->again = ends_in_call(f);
		if (!f->again)
			break;
	}
	return is_trusted(f);
}

/* Where to look for a function behind one that was not understood: the next aligned address behind
 * something that ends one. */
static uint32_t next_chance(const struct flow *f)
{
	const struct stub_text *text = f->text;
	struct stub_insn i;
	bool ended = false;
	uint32_t at = 0;

	while (at < text->n && !(ended && at > 0 && is_aligned(f, at))) {
		if (!stub_insn_decode(text->code + at, text->n - at, &i)) {
			at += FUNCTION_ALIGN - (uint32_t)((text->vaddr + at) % FUNCTION_ALIGN);
			break;
		}
		enum stub_flow flow = stub_step_flow(&i);
		ended |= flow >= STUB_FLOW_JUMP || flow == STUB_FLOW_CALL;
		at += i.n_bytes;
	}
	return MIN_OF(at, text->n);
}

int stub_flow_analyse(const struct stub_text *text, struct stub_flow_scratch *scratch,
		      struct stub_flow_result *ret_result)
{
	struct flow f = { .text = text, .s = scratch };
	int r = make_room(scratch, text->n);

	if (r < 0)
		return r;
	bool trusted = attempt(&f);
	if (!trusted && !text->is_entry) {
		f.has_no_tables = text->is_sized;
		f.ends_before_padding = !text->is_sized;
		trusted = attempt(&f);
	}
	uint32_t n = text->is_sized ? text->n : trusted ? f.end : next_chance(&f);
	*ret_result = (struct stub_flow_result){ n, trusted };
	return 0;
}

int stub_flow_rows(const struct stub_text *text, const struct stub_flow_scratch *scratch,
		   const struct stub_flow_result *result, unwind_row_fn fn, void *data)
{
	struct unwind_rule last = { 0 };
	uint32_t known_end = 0;
	int r = 0;

	if (!result->is_trusted)
		return fn(text->vaddr, &last, data);
	for (uint32_t at = 0; at < result->n_bytes && r >= 0; at++) {
		struct unwind_rule rule = { 0 };

		if (scratch->marks[at] & MARK_REACHED) {
			stub_frame_rule(&scratch->frames[at], &rule);
			known_end = at + scratch->lengths[at];
		} else if (at < known_end) {
			continue;
		}
		if (at == 0 || memcmp(&rule, &last, sizeof(rule)) != 0)
			r = fn(text->vaddr + at, &rule, data);
		last = rule;
	}
	return MIN_OF(r, 0);
}
