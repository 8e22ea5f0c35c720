/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to the user stack of a sample. */
#include "agent/unwind/user_stack.h"

#include <string.h>

#include "agent/unwind/wire_mapping.h"

#define UNWIND_INLINE static inline
#define UNWIND_READ(w, dst, n, addr) copy_read((w), (dst), (n), (addr))
#define UNWIND_MAPPING(w, index) copy_mapping((w), (index))

struct unwind_walk;
static int copy_read(struct unwind_walk *w, void *dst, uint32_t n, uint64_t addr);
static const struct wire_mapping *copy_mapping(struct unwind_walk *w, uint32_t index);

#include "bpf/unwind.h"

/* A walk and what it reads from: the copied stack and the mappings known by now. */
struct host_walk {
	struct unwind_walk walk;
	const struct mappings *mappings;
	struct wire_mapping found;
	const uint8_t *stack;
	uint64_t base;
	uint64_t bytes;
};

static int copy_read(struct unwind_walk *w, void *dst, uint32_t n, uint64_t addr)
{
	const struct host_walk *h = CONTAINER_OF(w, struct host_walk, walk);
	uint64_t at = addr - h->base;

	if (at > h->bytes || h->bytes - at < n)
		return -1;
	memcpy(dst, h->stack + at, n);
	return 0;
}

static const struct wire_mapping *copy_mapping(struct unwind_walk *w, uint32_t index)
{
	struct host_walk *h = CONTAINER_OF(w, struct host_walk, walk);

	if (index >= h->mappings->n)
		return NULL;
	h->found = wire_mapping_from(&h->mappings->items[index]);
	return &h->found;
}

static uint64_t special(unsigned int which)
{
	return which;
}

/* The frame of a raw pc by the mappings known now; 0 when none holds it. */
static uint64_t frame_of_pc(const struct mappings *mappings, uint64_t pc)
{
	const struct mapping *m = mappings_find(mappings, pc);

	if (!m)
		return 0;
	struct wire_mapping w = wire_mapping_from(m);
	uint64_t frame = w.frame_base + (pc - w.begin);
	return frame & WIRE_FRAME_RAW ? special(FRAME_JIT) : frame;
}

/* The pc that a frame had under the mappings it was made with; 0 when they do not hold it. */
static uint64_t pc_of_frame(const struct mappings *mappings, uint64_t frame)
{
	for (uint32_t i = 0; mappings && i < mappings->n; i++) {
		struct wire_mapping w = wire_mapping_from(&mappings->items[i]);

		if (frame - w.frame_base < w.end - w.begin)
			return w.begin + (frame - w.frame_base);
	}
	return 0;
}

/* The kernel half walked with a table that was replaced before the sample was taken. */
static bool is_stale(const struct wire_sample *head, const struct process *p)
{
	return head->generation && head->generation != p->generation && p->previous_mappings &&
	       head->time_ns >= p->mappings_since_ns;
}

static uint64_t current_frame(uint64_t frame, const struct process *p, bool stale)
{
	if (frame & WIRE_FRAME_RAW)
		return frame_of_pc(p->mappings, frame & ~WIRE_FRAME_RAW);
	if (!stale)
		return frame;
	uint64_t pc = pc_of_frame(p->previous_mappings, frame);
	return pc ? frame_of_pc(p->mappings, pc) : 0;
}

static void take_kernel_walk(const struct user_stack_input *in, const struct process *p,
			     struct telemetry *t, struct user_stack *s)
{
	bool stale = is_stale(in->head, p);

	s->n = 0;
	s->end = in->head->end;
	for (uint32_t i = 0; i < in->head->n_user && i < WIRE_MAX_USER_FRAMES; i++) {
		uint64_t frame = current_frame(in->frames[i], p, stale);

		if (!frame && i > 0) {
			s->end = WIRE_END_NO_MAPPING;
			break;
		}
		s->frames[s->n++] = frame ? frame : special(FRAME_UNKNOWN);
	}
	if (stale)
		telemetry_count(t, TELEMETRY_samples_stale_mapping, 1);
}

static void take_host_frame(struct host_walk *h, struct user_stack *s)
{
	uint64_t frame = unwind_frame(&h->walk);

	if (!(frame & WIRE_FRAME_RAW))
		s->frames[s->n++] = frame;
	else if (unwind_find(&h->walk))
		s->frames[s->n++] = special(FRAME_JIT);
	else if (s->n == 0)
		s->frames[s->n++] = special(FRAME_UNKNOWN);
	else
		s->end = WIRE_END_NO_MAPPING;
}

static void walk_copy(const struct user_stack_input *in, const struct process *p,
		      struct user_stack *s)
{
	struct wire_process process = { .n_mappings = p->mappings->n };
	struct host_walk h = {
		.mappings = p->mappings,
		.stack = in->stack,
		.base = in->cold->regs.sp,
		.bytes = in->head->stack_bytes,
	};

	s->n = 0;
	s->end = WIRE_END_MAX;
	unwind_begin(&h.walk, &in->cold->regs, &process, in->head->flags & WIRE_IN_SYSCALL);
	while (s->n < WIRE_MAX_USER_FRAMES) {
		take_host_frame(&h, s);
		if (s->end != WIRE_END_MAX)
			return;
		if (!unwind_step(&h.walk)) {
			s->end = h.walk.end == WIRE_END_STACK_READ ? WIRE_END_COPY_END : h.walk.end;
			return;
		}
	}
	s->end = WIRE_END_DEPTH;
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

void user_stack_make(const struct user_stack_input *in, const struct process *p,
		     struct telemetry *t, struct user_stack *ret_stack)
{
	struct user_stack *s = ret_stack;

	bool walked = in->cold && in->head->stack_bytes > 0 && p->mappings;

	if (walked)
		walk_copy(in, p, s);
	/* Without a copy, or beyond its end, what the kernel half found by frame pointers is the best there is. */
	if (!walked || s->end == WIRE_END_COPY_END)
		take_kernel_walk(in, p, t, s);
	if (s->end >= WIRE_END_MAX)
		s->end = WIRE_END_BAD_PC;
	if (!wire_end_is_complete(s->end))
		s->frames[s->n++] = special(FRAME_END + (unsigned int)s->end);
}
