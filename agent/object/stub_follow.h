/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following control through one function: what is known of the frame is carried along every way,
 * and met where ways join. What comes of it is told by the marks and the counts; whether that was a
 * function is judged elsewhere.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_FOLLOW_H
#define XAGENT_AGENT_OBJECT_STUB_FOLLOW_H

#include "agent/object/stub_flow.h"

/* Functions begin there (-falign-functions, all levels but -Os). */
#define STUB_FOLLOW_ALIGN 16u

enum {
	STUB_MARK_REACHED = 1,
	STUB_MARK_QUEUED = 2,
	STUB_MARK_BEHIND_CALL = 4, /* reached that way only */
	STUB_MARK_NO_RETURN = 8,   /* a call; kept from round to round */
	STUB_MARK_JUMPED_TO = 16,
};

struct stub_flow_scratch {
	/* Before the instruction at that offset, where it is STUB_MARK_REACHED. */
	struct stub_frame *frames;
	uint8_t *marks;
	uint8_t *lengths; /* of the instructions that were followed */
	uint32_t *work;
	uint32_t cap;
	uint32_t n_dirty; /* marks behind it are 0 */
};

struct stub_follow {
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

/* Control comes to `at` with that frame. */
void stub_follow_arrive(struct stub_follow *f, uint32_t at, const struct stub_frame *frame,
			bool behind_call);
/* Follows all ways to their ends, until it is stuck, or it is known that this has to begin anew. */
void stub_follow_run(struct stub_follow *f);
/* The call in front of `at`, or of the padding there; false when there is none. */
bool stub_follow_call_before(const struct stub_follow *f, uint32_t at, uint32_t *ret_call);

static inline bool stub_follow_is_aligned(const struct stub_follow *f, uint32_t at)
{
	return (f->text->vaddr + at) % STUB_FOLLOW_ALIGN == 0;
}

#endif
