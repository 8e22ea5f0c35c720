/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks of asyncio that await the one that runs: what has called it, as a person sees it. They are suspended, so their frames are in no list.
 *
 *	list of frames		tasks
 *	 leaf
 *	 running task's ──────► awaited by: task B ──► task C
 *	 outermost frame		    its coroutines'  C's …
 *	 event loop …			    frames
 *
 * Behind the outermost frame of the running task (that of the coroutine that it was made with) come the frames of the coroutines of the task that awaits
 * it, the innermost first, then those of the task that awaits that one; then the list goes on. A task's coroutine leads to what it awaits, which is on the
 * top of its stack: from the outside in. So the frames of one task are kept, and given out from the end.
 *
 * The chain ends where a task is awaited by several, or by nothing. Where it cannot be read it ends likewise: a list of frames is never cut by it.
 */
#ifndef XAGENT_BPF_RUNTIMES_PYTHON_ASYNC_BPF_H
#define XAGENT_BPF_RUNTIMES_PYTHON_ASYNC_BPF_H

/* Of one sample: what a list without end may cost. */
#define PYTHON_MAX_TASKS 64
#define PYTHON_MAX_COROUTINES 256

/* A set of a few (PySet_MINSIZE): larger ones have a table of another length. */
#define PYTHON_SET_ENTRIES 8
#define PYTHON_SET_ENTRY_BYTES 16

static __always_inline __u64 *python_async_frame(struct scratch *s, __u32 n)
{
	return s->record.words + RECORD_CHAIN_AT + (n & (RUNTIME_CHAIN_FRAMES - 1));
}

/* What a task, or a plain future, tells: its coroutine, which a future has not, and what awaits it. */
static __always_inline bool python_async_look(struct scratch *s, __u64 task)
{
	const struct python_asyncio *a = &python_layout(s)->asyncio;
	struct runtime_chain *c = &s->runtime.chain;

	if (!python_get(s, task, a->task_bytes))
		return false;
	c->coro = s->runtime.bytes[a->task_is_task] == 1 ? python_u64(s, a->task_coro) : 0;
	c->awaiter = python_u64(s, a->task_awaited_by);
	c->is_set = s->runtime.bytes[a->task_awaited_by_is_set] != 0;
	return true;
}

/* Before the frames of a thread are read. */
static __always_inline void python_async_begin(struct scratch *s, __u64 thread)
{
	const struct python_layout *l = python_layout(s);
	struct runtime_chain *c = &s->runtime.chain;
	__u64 task;

	c->first = c->given = 0;
	c->n = c->n_tasks = c->n_coroutines = 0;
	if (!l->asyncio.thread_running_task)
		return;
	task = python_word(thread + l->asyncio.thread_running_task);
	if (!task || !python_async_look(s, task) || !c->coro)
		return;
	c->first = c->coro + l->gen_frame;
	c->coro = 0;
}

/* The only member of a set; 0: it has others, or none. */
static __always_inline __u64 python_async_only(struct scratch *s, __u64 set)
{
	const struct python_layout *l = python_layout(s);

	if (python_word(set + l->set_used) != 1 ||
	    python_word(set + l->set_mask) != PYTHON_SET_ENTRIES - 1 ||
	    !python_get(s, python_word(set + l->set_table),
			PYTHON_SET_ENTRIES * PYTHON_SET_ENTRY_BYTES))
		return 0;
	for (__u32 i = 0; i < PYTHON_SET_ENTRIES; i++) {
		__u64 member = python_u64(s, i * PYTHON_SET_ENTRY_BYTES);
		__u64 hash = python_u64(s, i * PYTHON_SET_ENTRY_BYTES + 8);

		/* One that was removed leaves an entry with a hash that nothing has. */
		if (member && hash != ~0ULL)
			return member;
	}
	return 0;
}

/* On to who awaits the task that was looked at last. False: the chain ends. */
static __always_inline bool python_async_awaiter(struct scratch *s)
{
	struct runtime_chain *c = &s->runtime.chain;
	__u64 awaiter = c->is_set ? python_async_only(s, c->awaiter) : c->awaiter;

	return awaiter && c->n_tasks++ < PYTHON_MAX_TASKS && python_async_look(s, awaiter);
}

/* Whether it is an object that has a frame, by its type: from PyCode_Type on. */
static __always_inline bool python_async_has_frame(const struct python_layout *l, __u64 type)
{
	return type && (type == (__u64)l->coroutine_type || type == (__u64)l->generator_type ||
			type == (__u64)l->async_generator_type);
}

/* The first bytes of tp_name of types that await what they hold behind their header, and of which no address is known. */
#define PYTHON_TYPE_NAME_BYTES 24
/* "coroutine_wrapper": what __await__() of a coroutine returns */
#define PYTHON_IS_WRAPPER(a, b, c) \
	((a) == 0x6e6974756f726f63ULL && (b) == 0x6570706172775f65ULL && (__u16)(c) == 0x72)
/* "async_generator_asend": what `async for` awaits */
#define PYTHON_IS_ASEND(a, b, c)                                         \
	((a) == 0x65675f636e797361ULL && (b) == 0x5f726f746172656eULL && \
	 (c) << 16 == 0x00646e6573610000ULL)
/* "anext_awaitable": anext() with a default */
#define PYTHON_IS_ANEXT(a, b) ((a) == 0x77615f7478656e61ULL && (b) == 0x00656c6261746961ULL)

static __always_inline bool python_async_holds(struct scratch *s, __u64 type)
{
	const struct python_layout *l = python_layout(s);
	__u64 a, b, c;

	if (!python_get(s, python_word(type + l->type_name), PYTHON_TYPE_NAME_BYTES))
		return false;
	a = python_u64(s, 0);
	b = python_u64(s, 8);
	c = python_u64(s, 16);
	return PYTHON_IS_WRAPPER(a, b, c) || PYTHON_IS_ASEND(a, b, c) || PYTHON_IS_ANEXT(a, b);
}

/* From PyCode_Type on. */
static __always_inline __u64 python_async_type(struct scratch *s, __u64 object)
{
	const struct python_layout *l = python_layout(s);

	return python_word(object + l->code_type) - s->runtime.of.base - l->code_type_at;
}

/* The coroutine that was read has a frame that waits and can be shown. */
static __always_inline bool python_async_is_shown(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	__u8 state = s->runtime.bytes[l->gen_state] - l->gen_suspended;
	__u8 owner = s->runtime.bytes[(__u8)(l->gen_frame + l->frame_mark)];
	__u64 code = python_u64(s, l->gen_frame + l->frame_code) & PYTHON_POINTER_MASK;

	return state < l->gen_n_suspended && owner == PYTHON_OWNER_GENERATOR &&
	       python_async_type(s, code) == 0;
}

/* Keeps the frame of a coroutine, and goes on to what that awaits. False: the chain ends. */
static __always_inline bool python_async_coroutine(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	struct runtime_chain *c = &s->runtime.chain;
	__u64 coro = c->coro, type = python_async_type(s, coro);

	c->coro = 0;
	if (c->n >= RUNTIME_CHAIN_FRAMES || c->n_coroutines++ >= PYTHON_MAX_COROUTINES) {
		c->n = 0;
		return false;
	}
	if (!python_async_has_frame(l, type)) {
		if (python_async_holds(s, type + s->runtime.of.base + l->code_type_at))
			c->coro = python_word(coro + l->object_bytes);
		return true;
	}
	if (!python_get(s, coro, l->gen_bytes) || !python_async_is_shown(s))
		return true;
	*python_async_frame(s, c->n++) = coro + l->gen_frame;
	if ((__u8)s->runtime.bytes[l->gen_state] != l->gen_suspended)
		c->coro = python_word(python_u64(s, l->gen_frame + l->frame_stack) -
				      8ULL * l->gen_awaited) &
			  PYTHON_POINTER_MASK;
	return true;
}

static long python_async_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);

	(void)index;
	if (!s)
		return 1;
	if (s->runtime.chain.coro)
		return !python_async_coroutine(s);
	return s->runtime.chain.n || !python_async_awaiter(s);
}

/* Where entries alone are looked for the list goes on behind a frame that was given out; that one is counted. */
static __always_inline bool python_async_is_skipped(struct scratch *s)
{
	if (!s->runtime.is_seeking || s->runtime.at != s->runtime.chain.given)
		return false;
	s->runtime.is_entry = 0;
	s->runtime.next = s->runtime.chain.resume;
	return true;
}

/* When a frame was read that is to be shown: what follows it, where that is another one than the list says. */
__noinline int python_async_next(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct runtime_chain *c;

	if (!s || !s->runtime.at)
		return 0;
	c = &s->runtime.chain;
	if (s->runtime.at == c->first) {
		c->first = 0;
		c->resume = s->runtime.next;
	} else if (s->runtime.at != c->given) {
		return 0;
	}
	if (!c->n)
		bpf_loop(PYTHON_MAX_TASKS + PYTHON_MAX_COROUTINES, python_async_step, &level, 0);
	c->given = 0;
	s->runtime.next = c->resume;
	/* Tasks may await each other in a circle; the list is none for that. */
	s->runtime.seen = 0;
	if (c->n) {
		c->n--;
		c->given = *python_async_frame(s, c->n);
		s->runtime.next = c->given;
		/* Of the rest of a run, the list's frames were counted. */
		s->runtime.n_left += s->runtime.is_inside;
	}
	return 0;
}

#endif
