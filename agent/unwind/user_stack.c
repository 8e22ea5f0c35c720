/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to the user stack of a sample. */
#include "agent/unwind/user_stack.h"

#include <string.h>

#include "agent/unwind/wire_mapping.h"

/* The pc that a frame had under the mappings it was made with; 0 when they do not hold it. */
static uint64_t pc_of_frame(const struct mappings *mappings, uint64_t frame)
{
	for (uint32_t i = 0; mappings && i < mappings->n; i++) {
		const struct mapping *m = &mappings->items[i];

		if (m->file && m->file->id == frame_object_id(frame) &&
		    frame_file_off(frame) - m->file_off < m->end - m->begin)
			return m->begin + (frame_file_off(frame) - m->file_off);
	}
	return 0;
}

/* What the frames of a sample have to be looked at with. */
struct view {
	const struct mappings *walked; /* NULL: not known any more */
	const struct mappings *now;
	bool stale; /* they differ */
};

static struct view view_of(const struct wire_sample *head, const struct process *p,
			   const struct tables *tables)
{
	struct view v = { .now = p->mappings };

	if (!head->generation)
		return v;
	v.walked = tables_mappings(tables, head->pid, head->generation);
	v.stale = v.walked != v.now;
	return v;
}

/* The frame as it is by the mappings of now; 0 when they do not hold it. */
static uint64_t current_frame(const struct view *v, uint64_t frame)
{
	uint64_t pc = frame & ~WIRE_FRAME_RAW;

	if (frame & WIRE_FRAME_RAW)
		return host_frame(v->now, pc);
	if (!v->stale)
		return frame;
	pc = pc_of_frame(v->walked, frame);
	return pc ? host_frame(v->now, pc) : 0;
}

/*
 * The first n of the kernel half's frames, and why there are no more: false when the stack ends among them. The memory of a frame was
 * replaced when it is another frame now: then its pc is right, because what called from there was not replaced, but the rule by which
 * its caller was found is that of the file before.
 */
static bool take_frames(const struct user_stack_input *in, const struct view *v, uint32_t n,
			struct user_stack *s)
{
	for (uint32_t i = 0; i < n && i < WIRE_MAX_USER_FRAMES; i++) {
		uint64_t frame = current_frame(v, in->frames[i]);
		bool replaced =
			v->stale && frame != in->frames[i] && !(in->frames[i] & WIRE_FRAME_RAW);

		if (!frame && i > 0) {
			s->end = replaced ? WIRE_END_REMAPPED : WIRE_END_NO_MAPPING;
			return false;
		}
		s->frames[s->n++] = frame ? frame : FRAME_UNKNOWN;
		if (replaced) {
			s->end = WIRE_END_REMAPPED;
			return false;
		}
	}
	return true;
}

static void take_kernel_walk(const struct user_stack_input *in, const struct view *v,
			     struct user_stack *s)
{
	s->end = in->head->end;
	(void)take_frames(in, v, in->head->n_user, s);
}

/* What a walk over a copied stack reads and writes. */
struct copy {
	const uint8_t *stack;
	uint64_t base;
	uint64_t n_bytes;
	struct user_stack *to;
};

static int copy_read(void *data, uint64_t addr, void *dst, size_t n)
{
	const struct copy *c = data;
	uint64_t at = addr - c->base;

	if (at > c->n_bytes || c->n_bytes - at < n)
		return -1;
	memcpy(dst, c->stack + at, n);
	return 0;
}

static bool copy_frame(void *data, uint64_t frame, uint64_t pc)
{
	struct copy *c = data;

	(void)pc;
	if (c->to->n == WIRE_MAX_USER_FRAMES)
		return false;
	c->to->frames[c->to->n++] = frame;
	return true;
}

static void walk_copy(const struct user_stack_input *in, struct process *p,
		      const struct user_stack_world *world, struct user_stack *s)
{
	uint32_t n_before = s->n;
	struct copy c = {
		.stack = in->stack,
		.base = in->cold->regs.reg[WIRE_ABI_SP] + in->cold->n_skipped,
		.n_bytes = (uint64_t)in->head->stack_words * WIRE_WORD_BYTES,
		.to = s,
	};
	struct host_walk_options o = {
		.process = p,
		.objects = world->objects,
		.read = copy_read,
		.on_frame = copy_frame,
		.data = &c,
		.wanted = true,
		.exact = in->cold->flags & WIRE_COLD_EXACT,
	};

	s->end = host_walk(&o, &in->cold->regs);
	if (s->end != WIRE_END_REGISTER || !o.exact)
		return;
	s->n = n_before;
	o.all_registers = true;
	s->end = host_walk(&o, &in->cold->regs);
}

bool wire_end_is_complete(enum wire_end end)
{
	static const bool complete[WIRE_END_MAX] = {
#define END_COMPLETE(name, is_complete, frame, text) [WIRE_END_##name] = is_complete,
		WIRE_ENDS(END_COMPLETE)
#undef END_COMPLETE
	};

	return end < WIRE_END_MAX && complete[end];
}

void user_stack_make(const struct user_stack_input *in, struct process *p,
		     const struct user_stack_world *world, struct user_stack *ret_stack)
{
	struct user_stack *s = ret_stack;
	struct view v = view_of(in->head, p, world->tables);

	s->n = 0;
	if (v.stale)
		telemetry_count(world->telemetry, TELEMETRY_samples_stale_mapping, 1);
	if (!in->cold || !in->head->stack_words || !p->mappings)
		take_kernel_walk(in, &v, s);
	else if (take_frames(in, &v, in->cold->n_right, s))
		walk_copy(in, p, world, s);
	if (s->end >= WIRE_END_MAX)
		s->end = WIRE_END_BAD_PC;
	if (!wire_end_is_complete(s->end))
		s->frames[s->n++] = FRAME_END + (unsigned int)s->end;
}
