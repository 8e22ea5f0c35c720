/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following control through one function: what is known of the frame is carried along every way,
 * and met where ways join. What comes of it is told by the marks and the counts; whether that was a
 * function is judged elsewhere.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FOLLOW_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FOLLOW_H

#include "agent/object/nocfi/nocfi_flow.h"

/* Functions begin there (-falign-functions, all levels but -Os). */
#define NOCFI_FOLLOW_ALIGN 16u

enum {
	NOCFI_MARK_REACHED = 1,
	NOCFI_MARK_QUEUED = 2,
	NOCFI_MARK_BEHIND_CALL = 4, /* reached that way only */
	NOCFI_MARK_NO_RETURN = 8,   /* a call; kept from round to round */
	NOCFI_MARK_JUMPED_TO = 16,
};

struct nocfi_flow_scratch {
	/* Before the instruction at that offset, where it is NOCFI_MARK_REACHED. */
	struct nocfi_frame *frames;
	uint8_t *marks;
	uint8_t *lengths; /* of the instructions that were followed */
	uint32_t *work;
	uint32_t cap;
	uint32_t n_dirty; /* marks behind it are 0 */
};

struct nocfi_follow {
	const struct nocfi_text *text;
	struct nocfi_flow_scratch *s;
	uint32_t n_work;
	uint32_t end;	    /* behind the last instruction reached */
	uint32_t n_returns; /* that were right */
	uint32_t n_tail_calls;
	uint32_t n_odd_exits;  /* into the middle of something */
	uint32_t n_open_exits; /* to where a register says, with nothing left on the stack */
	uint32_t n_run_outs;   /* over the end of the text, not from a call */
	bool has_open_jump;    /* an indirect jump of unknown targets, */
	struct nocfi_frame open_frame; /* and what is known there */
	bool has_no_tables;
	bool ends_before_padding;
	bool is_wrong;
	bool is_stuck; /* cannot even be followed */
	bool again;
};

/* Control comes to `at` with that frame. */
void nocfi_follow_arrive(struct nocfi_follow *f, uint32_t at, const struct nocfi_frame *frame,
			 bool behind_call);
/* Follows all ways to their ends, until it is stuck, or it is known that this has to begin anew. */
void nocfi_follow_run(struct nocfi_follow *f);
/* The call in front of `at`, or of the padding there; false when there is none. */
bool nocfi_follow_call_before(const struct nocfi_follow *f, uint32_t at, uint32_t *ret_call);

static inline bool nocfi_follow_is_aligned(const struct nocfi_follow *f, uint32_t at)
{
	return (f->text->vaddr + at) % NOCFI_FOLLOW_ALIGN == 0;
}

#endif
