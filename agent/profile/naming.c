/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the frames of one interval. */
#include "agent/profile/naming.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile/frame_order.h"
#include "agent/profile/lock_kind.h"
#include "agent/profile/tracing_frames.h"
#include "agent/sample/call_name.h"
#include "agent/unwind/user_stack.h"
#include "agent/util/macro.h"

struct namer {
	const struct interval *interval;
	struct symbol_store *store;
	struct arena arena;
	size_t arena_bytes;
	size_t order_bytes;
	struct hash_table known;
	uint64_t epoch;
};

static const char *const end_frames[STOP_REASON_MAX] = {
#define END_FRAME(name, complete, frame, text) [STOP_REASON_##name] = frame,
	STOP_REASONS(END_FRAME)
#undef END_FRAME
};

static const char *const wait_frames[WAIT_REASON_MAX] = {
#define WAIT_FRAME(NAME, label, text) [WAIT_##NAME] = "[" label "]",
	WAIT_REASONS(WAIT_FRAME)
#undef WAIT_FRAME
};

int namer_new(const struct interval *interval, struct symbol_store *store, size_t max_bytes,
	      struct namer **ret_namer)
{
	struct namer *n = calloc(1, sizeof(*n));

	assert(interval && store);
	if (!n)
		return -ENOMEM;
	n->interval = interval;
	n->store = store;
	/* The table of what is known has a pointer each, two while it grows: an eighth. As much is for putting frames in order. */
	n->order_bytes = max_bytes / 8;
	n->arena_bytes = max_bytes - 2 * (max_bytes / 8);
	arena_init(&n->arena, n->arena_bytes);
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

static void resolve_unknown(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	(void)n;
	(void)frame;
	ret_frames->n = 1;
	ret_frames->items[0] = symbol_frame_unknown();
}

static void resolve_end(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	uint64_t end = frame_ref_value(frame);

	resolve_unknown(n, frame, ret_frames);
	if (end < STOP_REASON_MAX)
		ret_frames->items[0].function = end_frames[end];
}

/* The kernel's, as what it is in. */
static void resolve_wait(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	uint64_t reason = frame_ref_value(frame);

	resolve_unknown(n, frame, ret_frames);
	if (reason >= WAIT_REASON_MAX || reason == WAIT_UNKNOWN)
		return;
	ret_frames->items[0] = symbol_frame_kernel();
	ret_frames->items[0].function = wait_frames[reason];
}

/* Likewise. */
static void resolve_call(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const char *name = call_name((uint32_t)frame_ref_value(frame));

	resolve_unknown(n, frame, ret_frames);
	ret_frames->items[0] = symbol_frame_kernel();
	ret_frames->items[0].function = name ? name : "[unknown system call]";
}

/* Likewise. The text is the namer's, as long as the frame. */
static void resolve_connection(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const struct tcp_connection *connection = interval_connection(n->interval, frame);
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	const char *copy = NULL;

	resolve_unknown(n, frame, ret_frames);
	ret_frames->items[0] = symbol_frame_kernel();
	if (!connection)
		return;
	tcp_connection_text(connection, &text);
	copy = arena_strndup(&n->arena, buf_str(&text), text.len);
	if (copy)
		ret_frames->items[0].function = copy;
}

/* Likewise. */
static void resolve_lock(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const char *text = lock_kind_frame(frame_ref_value(frame));

	resolve_unknown(n, frame, ret_frames);
	ret_frames->items[0] = symbol_frame_kernel();
	if (text)
		ret_frames->items[0].function = text;
}

/* Likewise. The functions of the kernel that are called by it have been looked at before. */
static void resolve_waker(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	static const struct waker_name interrupt;
	const struct waker_name *name = interval_waker(n->interval, frame);
	_cleanup_buf_ struct buf text = BUF_INIT(64);
	const char *copy;

	resolve_unknown(n, frame, ret_frames);
	ret_frames->items[0] = symbol_frame_kernel();
	waker_name_text(name ? name : &interrupt, !symbol_store_kernel_hidden(n->store), &text);
	copy = arena_strndup(&n->arena, buf_str(&text), text.len);
	if (copy)
		ret_frames->items[0].function = copy;
}

static void resolve_kernel(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	symbol_resolve_kernel(n->store, frame_ref_kernel_pc(frame), ret_frames);
}

static void resolve_file(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const struct mapped_file *file = interval_file(n->interval, frame_ref_file_id(frame));

	if (file)
		symbol_resolve_user(n->store, file, frame_ref_file_off(frame), ret_frames);
	else
		resolve_unknown(n, frame, ret_frames);
}

static void resolve_place(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const struct anon_place *place = interval_anon(n->interval, frame);

	if (place)
		symbol_resolve_anon(n->store, place->jit, place->pc, &place->at, place->memory,
				    ret_frames);
	else
		resolve_unknown(n, frame, ret_frames);
}

/* The source that it is of, which has an id. Without memory it has none. */
static void put_source(struct namer *n, const struct code_name *name, struct frame *frame)
{
	struct frame_object *object = arena_alloc(&n->arena, sizeof(*object));

	if (!object)
		return;
	*object = (struct frame_object){ FRAME_OBJECT_SOURCE, name->file, name->source_id };
	frame->object = object;
}

/* Strings are the name's, which the interval holds. */
static void resolve_code(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	const struct code_place *code = interval_code(n->interval, frame);

	resolve_unknown(n, frame, ret_frames);
	if (!code)
		return;
	ret_frames->items[0] = symbol_frame_jit();
	if (*code->name->source_id)
		put_source(n, code->name, &ret_frames->items[0]);
	ret_frames->items[0].function = code->name->function;
	ret_frames->items[0].file = code->name->file;
	ret_frames->items[0].line = code->line;
	ret_frames->items[0].column = code->column;
	ret_frames->items[0].start_line = code->name->line;
}

/* Who names a frame of a kind. Frames of kinds that no interval has have no name. */
static void (*const resolvers[FRAME_KIND_MAX])(struct namer *, struct frame_ref,
					       struct frames *) = {
	[FRAME_KIND_FILE] = resolve_file,
	[FRAME_KIND_KERNEL] = resolve_kernel,
	[FRAME_KIND_PLACE] = resolve_place,
	[FRAME_KIND_END] = resolve_end,
	[FRAME_KIND_CODE] = resolve_code,
	[FRAME_KIND_UNKNOWN] = resolve_unknown,
	[FRAME_KIND_WAIT] = resolve_wait,
	[FRAME_KIND_CALL] = resolve_call,
	[FRAME_KIND_CONNECTION] = resolve_connection,
	[FRAME_KIND_LOCK] = resolve_lock,
	[FRAME_KIND_WAKER] = resolve_waker,
};

static void resolve(struct namer *n, struct frame_ref frame, struct frames *ret_frames)
{
	enum frame_kind kind = frame_ref_kind(frame);

	if (kind < FRAME_KIND_MAX && resolvers[kind])
		resolvers[kind](n, frame, ret_frames);
	else
		resolve_unknown(n, frame, ret_frames);
}

static struct named *named_new(struct namer *n, struct frame_ref frame)
{
	struct frames frames = { .n = 0 };

	resolve(n, frame, &frames);
	struct named *named =
		arena_alloc(&n->arena, sizeof(*named) + frames.n * sizeof(struct frame));
	if (!named)
		return NULL;
	*named = (struct named){ .frame = frame, .n = frames.n };
	memcpy(named->items, frames.items, frames.n * sizeof(struct frame));
	return named;
}

static struct named *namer_get(struct namer *n, struct frame_ref frame)
{
	uint64_t hash = hash_u64(frame.word);

	HASH_FOREACH_MATCH (&n->known, hash, node) {
		struct named *named = CONTAINER_OF(node, struct named, node);

		if (frame_ref_equal(named->frame, frame))
			return named;
	}
	if (symbol_store_is_full(n->store))
		return NULL;
	struct named *named = named_new(n, frame);
	if (!named || hash_insert(&n->known, &named->node, hash) < 0)
		return NULL;
	return named;
}

static void forget(struct namer *n)
{
	hash_fini(&n->known);
	arena_fini(&n->arena);
	arena_init(&n->arena, n->arena_bytes);
	if (symbol_store_is_full(n->store))
		symbol_store_make_room(n->store);
}

static bool name_kernel(struct namer *n, const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->n_kernel; i++) {
		/* Of a waker. */
		if (frame_ref_kind(stack->frames[i]) != FRAME_KIND_KERNEL)
			continue;
		if (!namer_get(n, stack->frames[i]) || symbol_store_kernel_hidden(n->store))
			return false;
	}
	return true;
}

static void name_all_kernel(struct namer *n)
{
	for (const struct series *s = n->interval->series; s; s = s->next)
		for (const struct stack *stack = s->stacks; stack; stack = stack->next)
			if (!name_kernel(n, stack))
				return;
}

void namer_name_all(struct namer *n)
{
	_cleanup_(frame_order_fini) struct frame_order o = { 0 };

	name_all_kernel(n);
	if (frame_order_init(&o, n->order_bytes) < 0)
		return;
	frame_order_collect(&o, n->interval);
	for (size_t i = 0; i < o.n; i++)
		if (!namer_get(n, o.items[i]))
			return;
}

/* Further out there are those who call the library. */
#define LOCK_FRAMES 6

/* Of the library's functions the innermost one that tells: who waits for a condition variable may end with a wait for its mutex. */
static enum lock_kind lock_kind_of(const struct named_stack *named)
{
	for (uint32_t i = 0; i < MIN_OF(named->n, (uint32_t)LOCK_FRAMES); i++)
		for (uint32_t k = 0; k < named->items[i]->n; k++) {
			enum lock_kind kind =
				lock_kind_of_function(named->items[i]->items[k].function);

			if (kind != LOCK_UNKNOWN)
				return kind;
		}
	return LOCK_UNKNOWN;
}

/* Of user code's: the kernel's own locks are waited for by functions of the kernel. */
static int put_lock_kind(struct namer *n, const struct stack *stack, struct named_stack *named)
{
	enum lock_kind kind = stack->n_kernel ? LOCK_UNKNOWN : lock_kind_of(named);

	if (kind == LOCK_UNKNOWN || named->n == NAMED_STACK_MAX)
		return 0;
	struct named *lock = namer_get(n, frame_ref_of(FRAME_KIND_LOCK, kind));
	if (!lock)
		return -ENOMEM;
	memmove(named->items + 1, named->items, named->n * sizeof(named->items[0]));
	named->items[0] = lock;
	named->n++;
	return 0;
}

/* Where the wait's own frames begin: behind the waker. 0: it has none. */
static uint32_t behind_waker(const struct stack *stack)
{
	uint32_t n = MIN_OF((uint32_t)stack->n_kernel, (uint32_t)WAKER_MAX_FRAMES);

	while (n > 0 && frame_ref_kind(stack->frames[n - 1]) != FRAME_KIND_WAKER)
		n--;
	return n;
}

/* The outermost frames go, so that `n` of the first `leaf` are left. */
static void keep_inner(struct named_stack *named, uint32_t n)
{
	uint32_t n_gone = named->leaf - n;

	memmove(named->items, named->items + n_gone, (named->n - n_gone) * sizeof(named->items[0]));
	named->n -= n_gone;
	named->leaf = n;
}

static bool is_interrupt_entry(const struct named *named)
{
	return frame_ref_kind(named->frame) == FRAME_KIND_KERNEL &&
	       waker_is_interrupt_entry(named->items[0].function);
}

/* Frames in the kernel, next to the name, go. */
static void drop_waker_kernel(struct named_stack *named)
{
	uint32_t at = named->leaf - 1, first = at;

	while (first > 0 && frame_ref_kind(named->items[first - 1]->frame) == FRAME_KIND_KERNEL)
		first--;
	memmove(named->items + first, named->items + at, (named->n - at) * sizeof(named->items[0]));
	named->n -= at - first;
	named->leaf -= at - first;
}

/* What was interrupted has woken up nobody: it goes, and the waker is the interrupt. */
static int settle_waker(struct namer *n, struct named_stack *named)
{
	uint32_t at = named->leaf - 1;

	for (uint32_t i = at; i-- > 0;) {
		if (!is_interrupt_entry(named->items[i]))
			continue;
		named->items[at] = namer_get(n, frame_ref_of(FRAME_KIND_WAKER, WAKER_INTERRUPT));
		if (!named->items[at])
			return -ENOMEM;
		keep_inner(named, at - i + 1);
		break;
	}
	if (n->interval->no_kernel)
		drop_waker_kernel(named);
	return 0;
}

static int name_frames(struct namer *n, const struct stack *stack, uint32_t from, uint32_t n_frames,
		       struct named_stack *ret_named)
{
	uint32_t waker = behind_waker(stack);
	bool collapsed = false;

	ret_named->n = ret_named->leaf = 0;
	for (uint32_t i = from; i < n_frames; i++) {
		bool kernel = frame_ref_kind(stack->frames[i]) == FRAME_KIND_KERNEL;

		if (kernel && collapsed)
			continue;
		struct named *named = namer_get(n, stack->frames[i]);
		if (!named || ret_named->n == NAMED_STACK_MAX)
			return -ENOMEM;
		ret_named->items[ret_named->n++] = named;
		collapsed = kernel && symbol_store_kernel_hidden(n->store);
		if (i + 1 == waker)
			ret_named->leaf = ret_named->n;
	}
	if (stack->series->event != EVENT_CPU)
		tracing_frames_drop(ret_named);
	if (ret_named->leaf)
		return settle_waker(n, ret_named);
	return stack->series->event == EVENT_LOCKS ? put_lock_kind(n, stack, ret_named) : 0;
}

static int name(struct namer *n, const struct stack *stack, uint32_t from, uint32_t n_frames,
		struct named_stack *ret_named)
{
	int r = name_frames(n, stack, from, n_frames, ret_named);

	if (r == 0)
		return 0;
	forget(n);
	return name_frames(n, stack, from, n_frames, ret_named);
}

int namer_stack(struct namer *n, const struct stack *stack, struct named_stack *ret_named)
{
	return name(n, stack, 0, (uint32_t)stack->n_kernel + stack->n_user, ret_named);
}

/* How many frames it takes to know the innermost one. */
static uint32_t frames_for_leaf(const struct stack *stack)
{
	if (stack->series->event == EVENT_CPU)
		return 1;
	return stack->n_kernel ? 1 + TRACING_FRAMES_MAX : LOCK_FRAMES;
}

int namer_leaf(struct namer *n, const struct stack *stack, struct named_stack *ret_named)
{
	uint32_t n_frames = (uint32_t)stack->n_kernel + stack->n_user;
	uint32_t from = behind_waker(stack);
	int r = name(n, stack, from, MIN_OF(n_frames, from + frames_for_leaf(stack)), ret_named);

	ret_named->n = MIN_OF(ret_named->n, 1u);
	return r;
}
