/* SPDX-License-Identifier: Apache-2.0 */
/* Following control through one function, by a worklist over its instructions. */
#include "agent/object/nocfi/nocfi_follow.h"

#include "agent/object/nocfi/nocfi_table.h"
#include "agent/util/macro.h"

/* Reading an entry takes a system call. */
#define TABLE_ENTRY_STEPS 8u

bool nocfi_follow_call_before(const struct nocfi_follow *f, uint32_t at, uint32_t *ret_call)
{
	for (uint32_t back = 2; back < NOCFI_INSN_MAX_BYTES + NOCFI_FOLLOW_ALIGN && back <= at;
	     back++) {
		uint32_t o = at - back;
		struct nocfi_insn i;

		if ((f->s->marks[o] & NOCFI_MARK_REACHED) &&
		    nocfi_insn_decode(f->text->code + o, f->text->n - o, &i) && i.n_bytes <= back &&
		    nocfi_step_flow(&i) == NOCFI_FLOW_CALL &&
		    nocfi_flow_padding(f->text->code + o + i.n_bytes, back - i.n_bytes) ==
			    back - i.n_bytes) {
			*ret_call = o;
			return true;
		}
	}
	return false;
}

/* Two ways to `at` cannot both be: one of them comes from behind a call that does not return. */
static bool settle_conflict(struct nocfi_follow *f, uint32_t at, const struct nocfi_frame *frame,
			    bool behind_call)
{
	const struct nocfi_frame *known = &f->s->frames[at];
	bool known_behind_call = f->s->marks[at] & NOCFI_MARK_BEHIND_CALL;
	uint32_t call;

	if (!known->has_sp || !frame->has_sp || known->sp_off == frame->sp_off ||
	    known_behind_call == behind_call || !nocfi_follow_call_before(f, at, &call))
		return false;
	f->s->marks[call] |= NOCFI_MARK_NO_RETURN;
	f->again = true;
	return true;
}

static void enqueue(struct nocfi_follow *f, uint32_t at)
{
	if (f->s->marks[at] & NOCFI_MARK_QUEUED)
		return;
	f->s->marks[at] |= NOCFI_MARK_QUEUED;
	f->s->work[f->n_work++] = at;
}

void nocfi_follow_arrive(struct nocfi_follow *f, uint32_t at, const struct nocfi_frame *frame,
			 bool behind_call)
{
	if (at >= f->text->n) {
		/* Of a sized function that is a call that does not return, or the next function. */
		f->is_wrong |= !f->text->is_sized && f->text->n == NOCFI_FLOW_MAX_BYTES;
		f->n_run_outs += !behind_call;
		return;
	}
	f->s->n_dirty = MAX_OF(f->s->n_dirty, at + 1);
	if (!(f->s->marks[at] & NOCFI_MARK_REACHED)) {
		f->s->frames[at] = *frame;
		f->s->marks[at] |=
			(uint8_t)(NOCFI_MARK_REACHED | (behind_call ? NOCFI_MARK_BEHIND_CALL : 0));
		enqueue(f, at);
		return;
	}
	if (settle_conflict(f, at, frame, behind_call))
		return;
	if (!behind_call)
		f->s->marks[at] &= (uint8_t)~NOCFI_MARK_BEHIND_CALL;
	if (nocfi_frame_meet(&f->s->frames[at], frame))
		enqueue(f, at);
}

static void arrive_by_jump(struct nocfi_follow *f, uint32_t at, const struct nocfi_frame *frame)
{
	nocfi_follow_arrive(f, at, frame, false);
	f->s->marks[at] |= NOCFI_MARK_JUMPED_TO;
}

static void leave_function(struct nocfi_follow *f, uint64_t target, const struct nocfi_frame *frame)
{
	bool is_function = f->text->is_function(target, f->text->data);

	/* Nobody goes on in a function with a frame left behind. */
	if (is_function && !nocfi_frame_may_return(frame))
		f->is_wrong = true;
	else if (is_function)
		f->n_tail_calls++;
	else
		f->n_odd_exits++;
}

static void jump(struct nocfi_follow *f, uint32_t behind, const struct nocfi_insn *i,
		 const struct nocfi_frame *frame)
{
	uint64_t target = f->text->vaddr + behind + (uint64_t)i->imm;

	if (target >= f->text->vaddr && target - f->text->vaddr < f->text->n)
		arrive_by_jump(f, (uint32_t)(target - f->text->vaddr), frame);
	else
		leave_function(f, target, frame);
}

static bool spend(struct nocfi_follow *f, uint32_t n_steps)
{
	if (*f->text->budget < n_steps) {
		*f->text->budget = 0;
		f->is_stuck = true;
		return false;
	}
	*f->text->budget -= n_steps;
	return true;
}

static void jump_by_table(struct nocfi_follow *f, uint32_t at, const struct nocfi_frame *frame)
{
	struct nocfi_table table;
	uint32_t n_found = 0;

	if (!f->has_no_tables &&
	    nocfi_table_find(f->text, f->s->marks, NOCFI_MARK_REACHED, at, &table)) {
		for (uint32_t i = 0; i < table.n && spend(f, TABLE_ENTRY_STEPS); i++) {
			uint32_t target;

			if (nocfi_table_target(f->text, &table, i, &target)) {
				arrive_by_jump(f, target, frame);
				n_found++;
			} else if (!table.is_bounded) {
				break;
			}
		}
	}
	if (n_found > 0)
		return;
	if (nocfi_frame_may_return(frame))
		f->n_open_exits++;
	if (!f->has_open_jump)
		f->open_frame = *frame;
	else
		(void)nocfi_frame_meet(&f->open_frame, frame);
	f->has_open_jump = true;
}

static bool returns(const struct nocfi_follow *f, uint32_t at, uint32_t behind)
{
	if (f->s->marks[at] & NOCFI_MARK_NO_RETURN)
		return false;
	if (f->text->is_entry)
		return false;
	if (!f->ends_before_padding || behind >= f->text->n)
		return true;
	uint32_t padding = nocfi_flow_padding(f->text->code + behind, f->text->n - behind);
	return !nocfi_follow_is_aligned(f, behind + padding);
}

static void follow_call(struct nocfi_follow *f, uint32_t at, uint32_t behind,
			const struct nocfi_insn *i, struct nocfi_frame *frame)
{
	/* A call to the next instruction is a push of the program counter. */
	if (i->opcode == 0xe8 && i->imm == 0 && frame->has_sp)
		frame->sp_off += 8;
	if (returns(f, at, behind))
		nocfi_follow_arrive(f, behind, frame, true);
}

static void follow(struct nocfi_follow *f, uint32_t at, const struct nocfi_insn *i)
{
	struct nocfi_frame before = f->s->frames[at];
	struct nocfi_frame after = before;
	uint32_t behind = at + i->n_bytes;

	nocfi_step(i, &after);
	switch (nocfi_step_flow(i)) {
	case NOCFI_FLOW_NEXT:
		nocfi_follow_arrive(f, behind, &after,
				    nocfi_step_is_padding(i) &&
					    (f->s->marks[at] & NOCFI_MARK_BEHIND_CALL));
		return;
	case NOCFI_FLOW_CALL:
		follow_call(f, at, behind, i, &after);
		return;
	case NOCFI_FLOW_BRANCH:
		nocfi_follow_arrive(f, behind, &after, false);
		jump(f, behind, i, &after);
		return;
	case NOCFI_FLOW_JUMP:
		jump(f, behind, i, &after);
		return;
	case NOCFI_FLOW_INDIRECT:
		jump_by_table(f, at, &before);
		return;
	case NOCFI_FLOW_RETURN:
		if (i->opcode == 0xc3 && nocfi_frame_may_return(&before))
			f->n_returns++;
		else
			f->is_wrong = true;
		return;
	case NOCFI_FLOW_END:
		return;
	}
}

void nocfi_follow_run(struct nocfi_follow *f)
{
	while (f->n_work > 0 && !f->is_stuck && !f->again) {
		uint32_t at = f->s->work[--f->n_work];
		struct nocfi_insn i;

		f->s->marks[at] &= (uint8_t)~NOCFI_MARK_QUEUED;
		if (!nocfi_insn_decode(f->text->code + at, f->text->n - at, &i) || !spend(f, 1)) {
			f->is_stuck = true;
			return;
		}
		f->s->lengths[at] = i.n_bytes;
		f->end = MAX_OF(f->end, at + i.n_bytes);
		follow(f, at, &i);
	}
}
