/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the frames of one interval. */
#include "agent/profile/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/unwind/user_stack.h"

/* 16,000 stacks of a few hundred distinct addresses stay far below; a hostile interval ends here and is counted as lost. */
#define NAMER_MAX_BYTES ((size_t)64 << 20)

struct namer {
	const struct interval *interval;
	struct symbol_store *store;
	struct arena arena;
	struct hash_table known;
	uint64_t epoch;
};

static const char *const end_frames[WIRE_END_MAX] = {
#define END_FRAME(name, complete, frame, text) [WIRE_END_##name] = frame,
	WIRE_ENDS(END_FRAME)
#undef END_FRAME
};

int namer_new(const struct interval *interval, struct symbol_store *store, struct namer **ret_namer)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->interval = interval;
	n->store = store;
	arena_init(&n->arena, NAMER_MAX_BYTES);
	*ret_namer = n;
	return 0;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	hash_fini(&n->known);
	arena_fini(&n->arena);
	free(n);
}

uint64_t namer_next_epoch(struct namer *n)
{
	return ++n->epoch;
}

static void resolve_special(uint64_t frame, struct frames *ret_frames)
{
	uint64_t end = frame - FRAME_END;

	ret_frames->n = 1;
	ret_frames->items[0] = frame == FRAME_JIT ? symbol_frame_jit() : symbol_frame_unknown();
	if (frame >= FRAME_END && end < WIRE_END_MAX)
		ret_frames->items[0].function = end_frames[end];
}

static void resolve(struct namer *n, bool kernel, uint64_t frame, struct frames *ret_frames)
{
	uint32_t id = frame_object_id(frame);
	const struct mapped_file *file = kernel || !id ? NULL : interval_file(n->interval, id);

	if (kernel)
		symbol_resolve_kernel(n->store, frame, ret_frames);
	else if (file)
		symbol_resolve_user(n->store, file, frame_file_off(frame), ret_frames);
	else
		resolve_special(id ? FRAME_UNKNOWN : frame, ret_frames);
}

static struct named *named_new(struct namer *n, bool kernel, uint64_t frame)
{
	struct frames frames = { .n = 0 };

	resolve(n, kernel, frame, &frames);
	struct named *named =
		arena_alloc(&n->arena, sizeof(*named) + frames.n * sizeof(struct frame));
	if (!named)
		return NULL;
	*named = (struct named){ .kernel = kernel, .frame = frame, .n = frames.n };
	memcpy(named->items, frames.items, frames.n * sizeof(struct frame));
	return named;
}

static struct named *namer_get(struct namer *n, bool kernel, uint64_t frame)
{
	uint64_t hash = hash_u64(frame ^ (kernel ? UINT64_MAX : 0));

	HASH_FOREACH_MATCH (&n->known, hash, node) {
		struct named *named = CONTAINER_OF(node, struct named, node);

		if (named->frame == frame && named->kernel == kernel)
			return named;
	}
	struct named *named = named_new(n, kernel, frame);
	if (!named || hash_insert(&n->known, &named->node, hash) < 0)
		return NULL;
	return named;
}

int namer_stack(struct namer *n, const struct stack *stack, struct named_stack *ret_named)
{
	bool collapsed = false;

	ret_named->n = 0;
	for (uint32_t i = 0; i < (uint32_t)stack->n_kernel + stack->n_user; i++) {
		bool kernel = i < stack->n_kernel;
		/* The kernel reports return addresses for all but the interrupted function. */
		uint64_t frame = stack->frames[i] - (kernel && i > 0 ? 1 : 0);

		if (kernel && collapsed)
			continue;
		struct named *named = namer_get(n, kernel, frame);
		if (!named || ret_named->n == NAMED_STACK_MAX)
			return -ENOMEM;
		ret_named->items[ret_named->n++] = named;
		collapsed = kernel && symbol_store_kernel_hidden(n->store);
	}
	return 0;
}
