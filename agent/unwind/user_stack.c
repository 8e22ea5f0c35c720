/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to the user stack of a sample. */
#include "agent/unwind/user_stack.h"

#include <string.h>

#include "agent/unwind/wire_mapping.h"
#include "agent/util/macro.h"
#include "bpf/anchor.h"

/* The pc that a frame had under the mappings it was made with; 0 when they do not hold it. */
static uint64_t pc_of_frame(const struct mappings *mappings, struct frame_ref frame)
{
	for (uint32_t i = 0; mappings && i < mappings->n; i++) {
		const struct mapping *m = &mappings->items[i];

		if (m->file && m->file->id == frame_ref_file_id(frame) &&
		    frame_ref_file_off(frame) - m->file_off < m->end - m->begin)
			return m->begin + (frame_ref_file_off(frame) - m->file_off);
	}
	return 0;
}

/* What the frames of a sample have to be looked at with. */
struct view {
	const struct mappings *walked; /* NULL: not known any more */
	const struct mappings *now;
	bool stale; /* they differ */
};

static struct view view_of(const struct wire_sample *head, const struct mappings *now,
			   const struct tables *tables)
{
	struct view v = { .now = now };

	if (!head->generation)
		return v;
	v.walked = tables_mappings(tables, head->pid, head->generation);
	v.stale = v.walked != v.now;
	return v;
}

/* The frame as it is by the mappings of now; none when they do not hold it. */
static struct frame_ref current_frame(const struct view *v, struct frame_ref frame)
{
	if (frame_ref_kind(frame) == FRAME_KIND_MEMORY)
		return host_frame(v->now, frame_ref_value(frame));
	if (!v->stale)
		return frame;
	uint64_t pc = pc_of_frame(v->walked, frame);
	return pc ? host_frame(v->now, pc) : FRAME_REF_NONE;
}

static bool put(struct user_stack *s, struct frame_ref frame)
{
	if (s->n == WIRE_MAX_USER_FRAMES)
		return false;
	s->frames[s->n++] = frame;
	return true;
}

static bool is_runtime(uint64_t word)
{
	return (word & WIRE_FRAME_RUNTIME) == WIRE_FRAME_RUNTIME;
}

static bool is_anchor(uint64_t word)
{
	return is_runtime(word) &&
	       (word >> WIRE_RUNTIME_KIND_SHIFT & WIRE_RUNTIME_KIND_MASK) == RUNTIME_NONE;
}

/* The runtime's frame, or anchor, at word i. False: the record ends in the middle of it. */
static bool runtime_frame(const struct user_stack_input *in, uint32_t i,
			  struct wire_runtime_frame *ret_frame)
{
	if (i + WIRE_RUNTIME_FRAME_WORDS > in->head->n_user)
		return false;
	memcpy(ret_frame, &in->frames[i], sizeof(*ret_frame));
	return true;
}

/* Anchors are no frames. False: as below. */
static bool put_runtime(struct user_stack *s, const struct wire_runtime_frame *f)
{
	if (is_anchor(f->function))
		return true;
	if (!put(s, frame_ref_of(FRAME_KIND_RUNTIME, s->n_runtime))) {
		s->end = STOP_REASON_DEPTH;
		return false;
	}
	s->runtime[s->n_runtime++] = *f;
	return true;
}

/* False: the stack ends here, s->end tells why. */
static bool take_native(uint64_t word, const struct view *v, bool is_leaf, struct user_stack *s)
{
	struct frame_ref walked = frame_ref_of_wire(word);
	struct frame_ref frame = current_frame(v, walked);
	bool replaced = v->stale && !frame_ref_equal(frame, walked) &&
			frame_ref_kind(walked) == FRAME_KIND_FILE;

	if (frame_ref_is_none(frame) && !is_leaf) {
		s->end = replaced ? STOP_REASON_REMAPPED : STOP_REASON_NO_MAPPING;
		return false;
	}
	if (!put(s, frame_ref_is_none(frame) ? frame_ref_of(FRAME_KIND_UNKNOWN, 0) : frame)) {
		s->end = STOP_REASON_DEPTH;
		return false;
	}
	if (replaced)
		s->end = STOP_REASON_REMAPPED;
	return !replaced;
}

/*
 * The first n words of the kernel half's frames, and why there are no more: false when the stack ends among them. The memory of a frame was
 * replaced when it is another frame now: then its pc is right, because what called from there was not replaced, but the rule by which
 * its caller was found is that of the file before.
 */
static bool take_frames(const struct user_stack_input *in, const struct view *v, uint32_t n,
			struct user_stack *s)
{
	struct wire_runtime_frame runtime;

	for (uint32_t i = 0; i < n; i++) {
		bool goes_on;

		if (!is_runtime(in->frames[i]))
			goes_on = take_native(in->frames[i], v, i == 0, s);
		else
			goes_on = runtime_frame(in, i++, &runtime) && put_runtime(s, &runtime);
		if (!goes_on)
			return false;
	}
	return true;
}

/* There is no copy to go on with. Where the kernel half knew no mapping and there is one, it was for want of the table: the code was mapped
 * since that was made. */
static void take_kernel_walk(const struct user_stack_input *in, const struct view *v,
			     struct user_stack *s)
{
	s->end = in->head->end;
	if (!take_frames(in, v, in->head->n_user, s))
		return;
	uint32_t n = s->n;
	while (n > 0 && frame_ref_kind(s->frames[n - 1]) == FRAME_KIND_RUNTIME)
		n--;
	if (s->end == STOP_REASON_NO_MAPPING && n > 0 &&
	    frame_ref_kind(s->frames[n - 1]) != FRAME_KIND_UNKNOWN)
		s->end = STOP_REASON_NO_TABLE;
}

/* A piece of memory as it was. */
struct copied {
	const uint8_t *bytes;
	uint64_t base;
	uint64_t n_bytes;
};

/* What a walk over copied stacks reads and writes. */
struct copy {
	struct copied stacks[1 + WIRE_USER_UNWOUND_PIECES]; /* sp lies on the first */
	const struct wire_word *words;			    /* WIRE_USER_UNWOUND_WORDS */
	const struct user_stack_input *in;
	uint32_t run; /* the word of the next run's anchor; in->head->n_user: there is none left */
	uint64_t pc;  /* of the frame that was put last */
	uint32_t n_native; /* frames since the leaf, or the last run */
	struct user_stack *to;
};

static int word_read(const struct copy *c, uint64_t addr, void *dst, size_t n)
{
	for (size_t i = 0; addr && n == WIRE_WORD_BYTES && i < WIRE_USER_UNWOUND_WORDS; i++) {
		if (c->words[i].at == addr) {
			memcpy(dst, &c->words[i].value, n);
			return 0;
		}
	}
	return -1;
}

static int copy_read(void *data, uint64_t addr, void *dst, size_t n)
{
	const struct copy *c = data;

	for (size_t i = 0; i < ARRAY_SIZE(c->stacks); i++) {
		const struct copied *from = &c->stacks[i];
		uint64_t at = addr - from->base;

		if (at <= from->n_bytes && from->n_bytes - at >= n) {
			memcpy(dst, from->bytes + at, n);
			return 0;
		}
	}
	return word_read(c, addr, dst, n);
}

static struct copy copy_of(const struct user_stack_input *in, struct user_stack *to)
{
	const struct wire_user_unwound *user_unwound = in->user_unwound;
	uint64_t left = (uint64_t)in->head->stack_words * WIRE_WORD_BYTES;
	struct copy c = { .words = user_unwound->words, .in = in, .to = to };

	/* From the last to the first; the parser has seen that they are there. */
	for (size_t i = WIRE_USER_UNWOUND_PIECES; i > 0; i--) {
		const struct wire_piece *piece = &user_unwound->pieces[i - 1];

		left -= piece->n_bytes;
		c.stacks[i] = (struct copied){ in->stack + left, piece->from, piece->n_bytes };
	}
	c.stacks[0] = (struct copied){ .bytes = in->stack,
				       .base = user_unwound->regs.reg[WIRE_ABI_SP] -
					       WIRE_BELOW_BYTES + user_unwound->n_skipped,
				       .n_bytes = left };
	return c;
}

static bool copy_frame(void *data, struct frame_ref frame, uint64_t pc)
{
	struct copy *c = data;

	c->pc = pc;
	c->n_native++;
	return put(c->to, frame);
}

/* The word where the next run begins, from word i on. */
static uint32_t next_run(const struct user_stack_input *in, uint32_t i)
{
	while (i < in->head->n_user && !is_anchor(in->frames[i]))
		i += is_runtime(in->frames[i]) ? WIRE_RUNTIME_FRAME_WORDS : 1;
	return MIN_OF(i, (uint32_t)in->head->n_user);
}

/* The frames of the run behind its anchor. False when there is no more room. */
static bool take_run(struct copy *c)
{
	uint32_t i = c->run + WIRE_RUNTIME_FRAME_WORDS;
	uint32_t end = next_run(c->in, i);
	struct wire_runtime_frame f;

	/* What else lies between two runs is of a walk that is made anew. */
	for (c->run = end; i < end && is_runtime(c->in->frames[i]); i++) {
		if (!runtime_frame(c->in, i++, &f) || !put_runtime(c->to, &f))
			return false;
	}
	return true;
}

static bool anchor_of_run(const struct copy *c, struct wire_runtime_frame *ret_anchor)
{
	if (!runtime_frame(c->in, c->run, ret_anchor))
		return false;
	ret_anchor->function &= WIRE_RUNTIME_ADDRESS_MASK;
	return true;
}

/* Whether the frame that was put last, from `begin` to `end` on the C stack, is the anchor's activation. */
static bool is_activation(const struct copy *c, const struct wire_runtime_frame *anchor,
			  uint64_t begin, uint64_t end)
{
	if (anchor->print & WIRE_ANCHOR_CODE)
		return anchor_is_in_loop(anchor->print, anchor->position, c->pc - anchor->function,
					 end - begin);
	return anchor->function >= begin && anchor->function < end;
}

/* The activation's frame gives way, and with it what it has called where that is of the interpreter, too. */
static void take_back(struct copy *c, const struct wire_runtime_frame *anchor)
{
	struct user_stack *to = c->to;
	uint32_t id = to->n > 0 ? frame_ref_file_id(to->frames[to->n - 1]) : 0;

	if (to->n > 0)
		to->n--;
	if (anchor->print & WIRE_ANCHOR_CALLEE && c->n_native > 1 && to->n > 0 && id &&
	    frame_ref_file_id(to->frames[to->n - 1]) == id)
		to->n--;
}

/* Runs take the place of the frame that they lie in, or come before it. */
static bool copy_extent(void *data, uint64_t begin, uint64_t end)
{
	struct copy *c = data;
	struct wire_runtime_frame anchor;
	struct frame_ref kept = FRAME_REF_NONE;

	/* Where another stack goes on below, what lies between the two is not the frame's. */
	for (bool is_first = true;
	     anchor_of_run(c, &anchor) && is_activation(c, &anchor, begin, end); is_first = false) {
		if (is_first && anchor.print & WIRE_ANCHOR_KEEPS && c->to->n > 0)
			kept = c->to->frames[--c->to->n];
		else if (is_first)
			take_back(c, &anchor);
		c->n_native = 0;
		/* Of the loop's code each frame is one activation. */
		c->pc = 0;
		if (!take_run(c))
			return false;
	}
	return frame_ref_is_none(kept) || put(c->to, kept);
}

/* What is left of them lies beyond where the walk has ended. */
static void take_other_runs(struct copy *c)
{
	struct wire_runtime_frame anchor;

	while (anchor_of_run(c, &anchor) && take_run(c))
		;
}

static void walk_copy(const struct user_stack_input *in, struct process *p,
		      const struct mappings *mappings, const struct user_stack_context *context,
		      struct user_stack *s)
{
	uint32_t n_before = s->n, n_runtime_before = s->n_runtime;
	struct copy c = copy_of(in, s);
	struct host_walk_options o = {
		.process = p,
		.mappings = mappings,
		.objects = context->objects,
		.read = copy_read,
		.on_frame = copy_frame,
		.on_extent = copy_extent,
		.data = &c,
		.wanted = true,
		.flags = in->user_unwound->flags,
		.user_mask = context->user_mask,
	};

	c.run = next_run(in, in->user_unwound->n_right);
	s->end = host_walk(&o, &in->user_unwound->regs);
	if (s->end == STOP_REASON_REGISTER && (o.flags & WIRE_USER_UNWOUND_EXACT)) {
		s->n = n_before;
		s->n_runtime = n_runtime_before;
		c.n_native = 0;
		c.run = next_run(in, in->user_unwound->n_right);
		o.all_registers = true;
		s->end = host_walk(&o, &in->user_unwound->regs);
	}
	take_other_runs(&c);
}

bool stop_reason_is_complete(enum stop_reason end)
{
	static const bool complete[STOP_REASON_MAX] = {
#define END_COMPLETE(name, is_complete, frame, text) [STOP_REASON_##name] = is_complete,
		STOP_REASONS(END_COMPLETE)
#undef END_COMPLETE
	};

	return end < STOP_REASON_MAX && complete[end];
}

/* By these mappings; true when it is complete. */
static bool make_by(const struct user_stack_input *in, struct process *p,
		    const struct mappings *mappings, const struct user_stack_context *context,
		    struct user_stack *s)
{
	struct view v = view_of(in->head, mappings, context->tables);

	s->n = s->n_runtime = 0;
	/* A record that ends in half a frame is cut there. */
	s->end = STOP_REASON_DEPTH;
	if (!in->user_unwound || !in->head->stack_words || !mappings)
		take_kernel_walk(in, &v, s);
	else if (take_frames(in, &v, in->user_unwound->n_right, s))
		walk_copy(in, p, mappings, context, s);
	if (s->end >= STOP_REASON_MAX)
		s->end = STOP_REASON_BAD_PC;
	return stop_reason_is_complete(s->end);
}

/*
 * What was lost may have been a mapping of this stack, which s is by p->mappings. By the rules of another file a walk ends early, now and then at a
 * word that looks like the end: the whole stack that is deeper is the right one.
 */
static bool make_in_doubt(const struct user_stack_input *in, struct process *p, bool is_complete,
			  const struct user_stack_context *context, struct user_stack *s)
{
	uint32_t n = s->n;

	if (make_by(in, p, p->mappings_ahead, context, s) && (!is_complete || s->n > n))
		return true;
	return make_by(in, p, p->mappings, context, s);
}

void user_stack_make(const struct user_stack_input *in, struct process *p,
		     const struct user_stack_context *context, struct user_stack *ret_stack)
{
	struct user_stack *s = ret_stack;

	if (view_of(in->head, p->mappings, context->tables).stale)
		telemetry_count(context->telemetry, TELEMETRY_samples_stale_mapping, 1);
	bool is_complete = make_by(in, p, p->mappings, context, s);
	if (p->mappings_ahead && p->mappings_ahead != p->mappings)
		is_complete = make_in_doubt(in, p, is_complete, context, s);
	if (!is_complete)
		s->frames[s->n++] = frame_ref_of(FRAME_KIND_END, s->end);
}
