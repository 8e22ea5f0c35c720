/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of one function: following control again and again, until it is understood.
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
#include "agent/object/nocfi/nocfi_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_follow.h"
#include "agent/util/macro.h"

/* Calls of one function that turn out not to return, one a round. */
#define MAX_ROUNDS 32
/* Eight marks at a time. */
#define EIGHT_TIMES 0x0101010101010101ULL

int nocfi_flow_scratch_new(struct nocfi_flow_scratch **ret_scratch)
{
	struct nocfi_flow_scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*ret_scratch = s;
	return 0;
}

static void drop_arrays(struct nocfi_flow_scratch *s)
{
	free(s->frames);
	free(s->marks);
	free(s->lengths);
	free(s->work);
	*s = (struct nocfi_flow_scratch){ 0 };
}

void nocfi_flow_scratch_free(struct nocfi_flow_scratch *scratch)
{
	if (!scratch)
		return;
	drop_arrays(scratch);
	free(scratch);
}

static int make_room(struct nocfi_flow_scratch *s, uint32_t n)
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

uint32_t nocfi_flow_padding(const uint8_t *code, uint32_t n)
{
	uint32_t at = 0;
	struct nocfi_insn i;

	while (at < n && nocfi_insn_decode(code + at, n - at, &i) && nocfi_step_is_padding(&i))
		at += i.n_bytes;
	return at;
}

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

/* The first offset from `at` on, behind padding, that nothing has reached; n when there is none. */
static uint32_t next_hole(const struct nocfi_follow *f, uint32_t at)
{
	while (at < f->text->n) {
		if (!(f->s->marks[at] & NOCFI_MARK_REACHED)) {
			uint32_t padding = nocfi_flow_padding(f->text->code + at, f->text->n - at);

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
static void fill_holes(struct nocfi_follow *f)
{
	if (!f->has_open_jump || !f->text->is_sized)
		return;
	uint32_t at = next_hole(f, 0);
	while (at < f->text->n && !f->is_stuck && !f->again) {
		nocfi_follow_arrive(f, at, &f->open_frame, false);
		nocfi_follow_run(f);
		at = next_hole(f, at);
	}
}

static bool is_taken(const struct nocfi_follow *f, uint32_t at)
{
	return f->text->is_taken && f->text->is_taken(f->text->vaddr + at, f->text->data);
}

/* A call in front of padding, or of an address that is taken, that nothing jumps behind is the end
 * of its function: what follows is another one. True when there were some that were not known. */
static bool ends_in_call(struct nocfi_follow *f)
{
	bool found = false;

	for (uint32_t at = 1; at < f->end && !f->text->is_sized; at++) {
		uint32_t call;

		/* Few are. */
		if (f->end - at >= 8 && !any_of_8(f->s->marks + at, NOCFI_MARK_BEHIND_CALL)) {
			at += 7;
			continue;
		}
		if ((f->s->marks[at] & (NOCFI_MARK_REACHED | NOCFI_MARK_JUMPED_TO)) !=
			    NOCFI_MARK_REACHED ||
		    !(f->s->marks[at] & NOCFI_MARK_BEHIND_CALL))
			continue;
		uint32_t padding = nocfi_flow_padding(f->text->code + at, f->text->n - at);
		if (at + padding >= f->text->n ||
		    !(is_taken(f, at + padding) ||
		      (padding > 0 && nocfi_follow_is_aligned(f, at + padding))) ||
		    (f->s->marks[at + padding] & NOCFI_MARK_JUMPED_TO) ||
		    !nocfi_follow_call_before(f, at, &call))
			continue;
		f->s->marks[call] |= NOCFI_MARK_NO_RETURN;
		found = true;
	}
	return found;
}

static void begin_round(struct nocfi_follow *f)
{
	struct nocfi_frame entry = NOCFI_FRAME_ENTRY;

	keep_only(f->s->marks, f->s->n_dirty, NOCFI_MARK_NO_RETURN);
	if (f->text->is_entry)
		entry.ra = NOCFI_RA_ROOT;
	f->n_work = 0;
	f->n_returns = f->n_tail_calls = f->n_odd_exits = f->n_open_exits = f->n_run_outs = 0;
	f->has_open_jump = f->is_wrong = f->is_stuck = f->again = false;
	f->end = 0;
	nocfi_follow_arrive(f, 0, &entry, false);
}

static bool is_trusted(const struct nocfi_follow *f)
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

static bool attempt(struct nocfi_follow *f)
{
	memset(f->s->marks, 0, f->s->n_dirty);
	f->s->n_dirty = 0;
	for (unsigned int round = 0; round < MAX_ROUNDS; round++) {
		begin_round(f);
		nocfi_follow_run(f);
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
static uint32_t next_chance(const struct nocfi_follow *f)
{
	const struct nocfi_text *text = f->text;
	struct nocfi_insn i;
	bool ended = false;
	uint32_t at = 0;

	while (at < text->n && !(ended && at > 0 && nocfi_follow_is_aligned(f, at))) {
		if (!nocfi_insn_decode(text->code + at, text->n - at, &i)) {
			at += NOCFI_FOLLOW_ALIGN -
			      (uint32_t)((text->vaddr + at) % NOCFI_FOLLOW_ALIGN);
			break;
		}
		enum nocfi_flow flow = nocfi_step_flow(&i);
		ended |= flow >= NOCFI_FLOW_JUMP || flow == NOCFI_FLOW_CALL;
		at += i.n_bytes;
	}
	return MIN_OF(at, text->n);
}

int nocfi_flow_analyse(const struct nocfi_text *text, struct nocfi_flow_scratch *scratch,
		       struct nocfi_flow_result *ret_result)
{
	struct nocfi_follow f = { .text = text, .s = scratch };
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
	*ret_result = (struct nocfi_flow_result){ n, trusted };
	return 0;
}

int nocfi_flow_rows(const struct nocfi_text *text, const struct nocfi_flow_scratch *scratch,
		    const struct nocfi_flow_result *result, unwind_row_fn fn, void *data)
{
	struct unwind_rule last = { 0 };
	uint32_t known_end = 0;
	int r = 0;

	if (!result->is_trusted)
		return fn(text->vaddr, &last, data);
	for (uint32_t at = 0; at < result->n_bytes && r >= 0; at++) {
		struct unwind_rule rule = { 0 };

		if (scratch->marks[at] & NOCFI_MARK_REACHED) {
			nocfi_frame_rule(&scratch->frames[at], &rule);
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
