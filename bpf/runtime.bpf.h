/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of runtimes: functions that an interpreter runs have no frame on the C stack, but a list of their own, which its thread leads to.
 *
 * What joins the two is an object that the interpreter has on the C stack for each of its activations, and that is in the list: the entry of a run.
 * The native frame that the entry lies in is the activation, whatever compilers have made of the interpreter's loop: no address of code has to be
 * known, and a stack in which both alternate any number of times comes out in true order.
 *
 *	C stack			list of frames
 *	 native leaf
 *	 activation ──entry──► f, g, entry	(innermost first: a run)
 *	 native
 *	 activation ──entry──► h, entry
 *	 native main
 *
 * Code that a runtime has generated does have frames on the C stack, and lies in memory without a file. There the walk asks the runtime what function
 * that is, before it looks into its own tables or the frames that it remembers. The same holds for a part of the runtime's own file that it claims
 * (WIRE_RUNTIME_CLAIMS): code that was generated when the runtime was built, and that runs in the frames of generated code.
 *
 * A process may have one runtime of each sort (bpf/runtime_beside.bpf.h).
 *
 * Each runtime has five functions in bpf/runtimes/NAME.bpf.h; s->runtime is what they share:
 *
 *	NAME_begin(s)	the address of the present thread's innermost frame; 0 when it runs none of its code, or s->runtime.result says why not
 *	NAME_read(s)	reads the frame at s->runtime.at into is_entry, next, scope, function, print, position, and of an entry its place on the C stack; false when
 *			it cannot be read. What tells the function is not wanted while is_seeking; function 0: it is none, or none that can be told. Else next may lead
 *			to frames that are not in the list, and back into it: inside of a run each of those adds one to n_left, which counts the list's
 *			RUNTIME_READ_HIDDEN: it is the runtime's own, and not shown
 *	NAME_name(s, n)	reads scope, name, file and lines of s->runtime.function into n, which has none yet; false likewise. RUNTIME_NAME_AGAIN: there would be more, which
 *			costs too much at once
 *	NAME_code(s)	where s->walk is in generated or claimed code: reads function, print, position of its frame; an enum runtime_code
 *	NAME_resume(s, low)	asked with WIRE_RUNTIME_RESUMES, behind a native frame at `low` that could not be walked, or only by frame pointer: true when s->walk
 *			is at a frame of its own further up the stack now, and function, print, position say what is shown between both
 *	NAME_task(s)	behind the walk: what it knows of the present thread goes into the record. Reads its name into bytes: how many, and an enum wire_encoding << 16; 0: the
 *			kernel's name of it will do
 *
 * They read user memory that may hold anything: the walk bounds their number and believes no address.
 *
 * A runtime that has nothing of its activations on the C stack tells the code of its loop instead (WIRE_ANCHOR_CODE): each frame of that code is one.
 */
#ifndef XAGENT_BPF_RUNTIME_BPF_H
#define XAGENT_BPF_RUNTIME_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/another_task.bpf.h"
#include "bpf/copy.bpf.h"
#include "bpf/image.bpf.h"
#include "bpf/kernel.h"
#include "bpf/anchor.h"
#include "bpf/library.bpf.h"
#include "bpf/runtime_beside.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/wire.h"

enum runtime_code {
	RUNTIME_CODE_NOT_ITS, /* nothing is known of it: a native frame */
	RUNTIME_CODE_NAMED,   /* its caller is found as everybody's: by frame pointer */
	RUNTIME_CODE_LEFT,    /* and s->walk is at its caller already */
	RUNTIME_CODE_LAST,    /* and its caller cannot be told: s->walk.end says why */
	/* By frame pointer, whatever the tables of the file say that it lies in: */
	RUNTIME_CODE_FRAME,	  /* a native frame */
	RUNTIME_CODE_NAMED_FRAME, /* a function's */
	RUNTIME_CODE_INLINED, /* a function's that has none of its own: the frame is asked for again */
	RUNTIME_CODE_NOTHING, /* nothing is shown: s->walk is at another frame, or it ends */
	/* The leaf's, which may not be whole: where its caller is the instruction about to run may tell. */
	RUNTIME_CODE_BEGUN,	  /* a native frame */
	RUNTIME_CODE_NAMED_BEGUN, /* a function's */
};

#define RUNTIME_READ_HIDDEN 2

/* It is told, and again when the function is met the next time. */
#define RUNTIME_NAME_AGAIN 2

/* Whether frames of the interpreters' loops are shown beside the functions that they run. Set by the agent. */
const volatile bool keep_interpreters = false;

/* Whether frames of the tasks that await the one that runs follow its own. Set by the agent. */
const volatile bool want_async = false;

/* Whether tables of lines are sent with names. Set by the agent. */
const volatile bool want_lines = false;

/* Whether the column of a frame is told with its line, where a runtime knows it. Set by the agent. */
const volatile bool want_columns = false;

/* Names of methods of Java have the types of their arguments. */
const volatile bool want_arguments = false;

/* How the innermost method of Java is run is told. */
const volatile bool want_tiers = false;

/* Names of threads are told. */
const volatile bool want_thread_names = false;

static __always_inline __u32 name_bytes(const struct wire_name *n)
{
	return n->n_scope + n->n_name + n->n_file + n->n_lines;
}

/* The next text of a name, from the process's memory: `max` bytes of it at most. How many there are; 0: it cannot be read. */
static __always_inline __u32 name_append(struct wire_name *name, __u64 from, __u64 n, __u32 max)
{
	__u32 at = name_bytes(name);
	__u32 n_bytes = n < max ? n : max;

	/* What is checked is what is passed on, not a copy of it. */
	barrier_var(at);
	if (at > WIRE_TEXTS_BYTES - max)
		return 0;
	barrier_var(n_bytes);
	if (!n_bytes || n_bytes > max ||
	    bpf_probe_read_user(name->texts + at, n_bytes, (void *)from))
		return 0;
	return n_bytes;
}

#include "bpf/runtimes/all.bpf.h"

/* By the agent's chance, so that no process can choose functions that are taken for each other; another one and all names are told anew. */
volatile __u64 told_seed = 0;

/* Names that one sample sends: reading one costs as much as walking some frames. What is beyond comes with the next ones. */
#define RUNTIME_MAX_NAMES 128

/* Frames that one sample reads: those of a long run twice, to find its entry first, and once more where they are listed anew. A list that another thread
 * changes meanwhile ends here. */
#define RUNTIME_MAX_READS (3 * WIRE_MAX_USER_FRAMES)

/* Without any runtime there is nothing of this in a program. */
#define RUNTIME_ANY (RUNTIME_MAX > RUNTIME_NONE + 1)

/* Returns what the function of the runtime that s has returns; `otherwise` without one. */
#define RUNTIME_CASE(function, NAME, name) \
	case RUNTIME_##NAME:               \
		return name##_##function(s);
#define RUNTIME_CALL(s, function, otherwise)     \
	switch ((s)->runtime.of.kind) {          \
		RUNTIMES(RUNTIME_CASE, function) \
	}                                        \
	return (otherwise)

__noinline __u64 runtime_first(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	RUNTIME_CALL(s, begin, 0);
}

__noinline int runtime_read(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s || s->runtime.n_reads >= RUNTIME_MAX_READS)
		return 0;
	s->runtime.n_reads++;
	RUNTIME_CALL(s, read, 0);
}

#define RUNTIME_NAME_CASE(what, NAME, name) \
	case RUNTIME_##NAME:                \
		return name##_name(s, n);

static __always_inline int runtime_name(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *n = bpf_map_lookup_elem(&names, &level);

	if (!s || !n)
		return 0;
	__builtin_memset(n, 0, offsetof(struct wire_name, texts));
	switch (s->runtime.of.kind) {
		RUNTIMES(RUNTIME_NAME_CASE, )
	}
	return 0;
}

__noinline int runtime_code(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return RUNTIME_CODE_NOT_ITS;
	RUNTIME_CALL(s, code, RUNTIME_CODE_NOT_ITS);
}

#define RUNTIME_RESUME_CASE(what, NAME, name) \
	case RUNTIME_##NAME:                  \
		return name##_resume(s, low);

/* It is in place afterwards, if there is one that can tell. */
static __always_inline bool runtime_turn_to_resuming(struct scratch *s)
{
	if (s->runtime.of.flags & WIRE_RUNTIME_RESUMES)
		return true;
	if (s->beside.kind == RUNTIME_NONE || !(s->beside.flags & WIRE_RUNTIME_RESUMES))
		return false;
	runtime_turn(s->level);
	return true;
}

__noinline int runtime_resume(__u32 level, __u64 low)
{
	struct scratch *s = walk_scratch(level);

	/* Where no runtime uses it, callers would leave it out, which the verifier refuses. */
	asm volatile("" : "+r"(low));
	if (!s || !runtime_turn_to_resuming(s))
		return 0;
	switch (s->runtime.of.kind) {
		RUNTIMES(RUNTIME_RESUME_CASE, )
	}
	return 0;
}

/* The word of the frame that was read last, or of an anchor. */
static __always_inline __u64 runtime_word(__u32 kind, __u64 address)
{
	return WIRE_FRAME_RUNTIME |
	       (__u64)(kind & WIRE_RUNTIME_KIND_MASK) << WIRE_RUNTIME_KIND_SHIFT |
	       (address & WIRE_RUNTIME_ADDRESS_MASK);
}

__noinline int runtime_send_name(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *n = bpf_map_lookup_elem(&names, &level);
	__u32 bytes;

	if (!s || !n)
		return 0;
	bytes = offsetof(struct wire_name, texts) + ((name_bytes(n) + 7) & ~7u);
	n->record = (struct wire_record){ .n_bytes = bytes,
					  .type = WIRE_NAME,
					  .event = s->record.head.record.event,
					  .source = s->record.head.record.source };
	n->function = runtime_word(s->runtime.of.kind, s->runtime.function);
	n->print = s->runtime.print;
	n->pid = s->record.head.pid;
	n->exec_id = s->record.head.exec_id;
	barrier_var(bytes);
	if (bytes > sizeof(*n))
		bytes = sizeof(*n);
	/* It may be back, and what was read half of one thing, half of another. */
	if (!another_waits())
		return 0;
	return !bpf_ringbuf_output(&samples, n, bytes, BPF_RB_NO_WAKEUP);
}

static __always_inline __u64 *runtime_told_slot(const struct scratch *s, __u64 *ret_hash)
{
	__u32 at;

	*ret_hash = hash_mix(hash_mix(s->runtime.process, s->runtime.function), s->runtime.print);
	at = *ret_hash & (WIRE_TOLD_SLOTS - 1);
	return bpf_map_lookup_elem(&told, &at);
}

/* Whether the agent has the name of the frame that was read last. */
static __always_inline bool runtime_is_told(const struct scratch *s)
{
	__u64 hash;
	const __u64 *slot = runtime_told_slot(s, &hash);

	return slot && *slot == hash;
}

/* The name of the frame that was read last. */
__noinline int runtime_tell(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 hash;
	__u64 *slot;
	int is_read;

	if (!s)
		return 0;
	slot = runtime_told_slot(s, &hash);
	if (!slot || s->runtime.n_names >= RUNTIME_MAX_NAMES)
		return 0;
	s->runtime.n_names++;
	/* A process that makes functions without end fills no more than that. */
	if (bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= user_unwound_bytes)
		return -1;
	is_read = runtime_name(level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read || !runtime_send_name(level))
		return -1;
	if (is_read != RUNTIME_NAME_AGAIN)
		*slot = hash;
	return 1;
}

/* Two words behind those that there are. False: there is no room. */
static __always_inline bool runtime_put(struct scratch *s, __u64 function, __u64 rest)
{
	__u32 n = s->record.head.n_user;
	__u32 at = s->record.head.n_kernel + n;

	if (n > WIRE_MAX_USER_WORDS - WIRE_RUNTIME_FRAME_WORDS ||
	    at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS - 1)
		return false;
	s->record.words[at] = function;
	s->record.words[at + 1] = rest;
	s->record.head.n_user = n + WIRE_RUNTIME_FRAME_WORDS;
	return true;
}

/* The frame that was read last, and its name, as they go into the record. */
static __always_inline void runtime_note(struct scratch *s, __u64 *function, __u64 *rest)
{
	bool is_told = s->record.head.pid && s->runtime.function;
	int told = is_told && !runtime_is_told(s) ? runtime_tell(s->level) : 0;
	__u32 event = s->record.head.record.event;
	struct wire_counters *count = told ? bpf_map_lookup_elem(&counters, &event) : NULL;

	if (count) {
		count->names_told += told > 0;
		count->names_not_told += told < 0;
	}
	if (!s->runtime.function)
		s->runtime.result = RUNTIME_RESULT_UNREADABLE;
	*function = runtime_word(s->runtime.of.kind, s->runtime.function);
	*rest = s->runtime.function ? s->runtime.print | (__u64)s->runtime.position << 32 : 0;
}

/* A frame of the run whose entry is looked for. */
static __always_inline void runtime_seek_frame(struct scratch *s, bool is_hidden)
{
	__u32 at = s->runtime.n_run * WIRE_RUNTIME_FRAME_WORDS;

	barrier_var(at);
	if (is_hidden) {
		s->runtime.rest = s->runtime.next;
	} else if (at <= RUNTIME_RUN_WORDS - WIRE_RUNTIME_FRAME_WORDS) {
		__u64 *words = s->record.words + RECORD_RUN_AT + at;

		s->runtime.n_run++;
		s->runtime.rest = s->runtime.next;
		runtime_note(s, words, words + 1);
	} else {
		s->runtime.n_left++;
	}
	s->runtime.is_seeking = s->runtime.n_run >= RUNTIME_RUN_FRAMES;
	s->runtime.at = s->runtime.next;
}

static long runtime_seek_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	int is_read;

	if (!s)
		return 1;
	/* One that comes again: a circle, which Brent's algorithm finds. */
	if (!s->runtime.at || s->runtime.at == s->runtime.seen)
		return 1;
	if (!(index & (index - 1)))
		s->runtime.seen = s->runtime.at;
	is_read = runtime_read(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read)
		return 1;
	if (!s->runtime.is_entry) {
		runtime_seek_frame(s, is_read == RUNTIME_READ_HIDDEN);
		return 0;
	}
	s->runtime.anchor = s->runtime.place;
	s->runtime.anchor_flags = s->runtime.place_flags;
	s->runtime.anchor_position = s->runtime.place_position;
	s->runtime.entry = s->runtime.at;
	s->runtime.after = s->runtime.next;
	return 1;
}

/*
 * The run that begins with s->runtime.frame, up to its entry. What another thread changes meanwhile is seen before or after,
 * a circle is none. Where the entry cannot be found there are no more frames: nothing tells where they belong.
 */
static __always_inline void runtime_seek(struct scratch *s)
{
	__u32 level = s->level;

	s->runtime.anchor = 0;
	s->runtime.n_run = s->runtime.n_left = 0;
	s->runtime.is_seeking = 0;
	s->runtime.seen = 0;
	s->runtime.at = s->runtime.frame;
	if (!s->runtime.at)
		return;
	bpf_loop(WIRE_MAX_USER_FRAMES, runtime_seek_step, &level, 0);
	s->runtime.is_seeking = 0;
	if (s->runtime.anchor)
		return;
	s->runtime.frame = 0;
	s->runtime.result = RUNTIME_RESULT_UNREADABLE;
}

__noinline int runtime_begin(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	s->runtime.is_inside = 0;
	s->runtime.n_native = 0;
	s->runtime.low = s->runtime.high = s->runtime.kept = 0;
	s->runtime.is_called = s->runtime.inlined = 0;
	s->runtime.result = RUNTIME_RESULT_IDLE;
	s->runtime.frame = runtime_first(level);
	runtime_seek(s);
	return 0;
}

/* The runtime beside the first: it has no list. */
static __always_inline void runtime_begin_beside(struct scratch *s)
{
	if (s->beside.kind == RUNTIME_NONE)
		return;
	runtime_turn(s->level);
	s->runtime.result = RUNTIME_RESULT_IDLE;
	runtime_first(s->level);
	runtime_turn(s->level);
}

/* How many frames there is still room for. */
static __always_inline __u32 runtime_room(const struct scratch *s)
{
	__u32 of_words = (WIRE_MAX_USER_WORDS - s->record.head.n_user) / WIRE_RUNTIME_FRAME_WORDS;
	__u32 of_frames = s->runtime.n_frames < WIRE_MAX_USER_FRAMES
				  ? WIRE_MAX_USER_FRAMES - s->runtime.n_frames
				  : 0;

	return of_words < of_frames ? of_words : of_frames;
}

/* The frames of the run that were read when its entry was looked for. False: there is no room for all of them. */
static __always_inline bool runtime_put_run(struct scratch *s)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user;
	__u32 room = runtime_room(s);
	__u32 n = s->runtime.n_run < room ? s->runtime.n_run : room;

	barrier_var(n);
	barrier_var(at);
	if (n > RUNTIME_RUN_FRAMES || at > WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return false;
	bpf_probe_read_kernel(s->record.words + at, n * WIRE_RUNTIME_FRAME_WORDS * WIRE_WORD_BYTES,
			      s->record.words + RECORD_RUN_AT);
	s->record.head.n_user += n * WIRE_RUNTIME_FRAME_WORDS;
	s->runtime.n_frames += n;
	return n == s->runtime.n_run;
}

/* The run begins here. */
static __always_inline long runtime_enter(struct scratch *s)
{
	__u32 flags = s->runtime.anchor_flags;
	__u32 event = s->record.head.record.event;
	struct wire_counters *count = bpf_map_lookup_elem(&counters, &event);

	s->runtime.is_inside = 1;
	s->runtime.n_native = 0;
	if (keep_interpreters)
		flags |= WIRE_ANCHOR_KEEPS;
	if (!runtime_put(s, runtime_word(RUNTIME_NONE, s->runtime.anchor),
			 flags | (__u64)s->runtime.anchor_position << 32))
		return 1;
	s->runtime.frame = s->runtime.n_left ? s->runtime.rest : s->runtime.entry;
	if (s->runtime.n_run && s->runtime.result == RUNTIME_RESULT_IDLE)
		s->runtime.result = RUNTIME_RESULT_WALKED;
	if (count)
		count->runtime_frames += s->runtime.n_run;
	return !runtime_put_run(s);
}

/* The anchor lies in the native frame that was walked last. One whose caller is on a lower stack tells nothing of how far it goes. */
static __always_inline bool runtime_is_here(const struct scratch *s)
{
	if (!s->runtime.anchor)
		return false;
	if (s->runtime.anchor_flags & WIRE_ANCHOR_CODE)
		return anchor_is_in_loop(s->runtime.anchor_flags, s->runtime.anchor_position,
					 s->runtime.pc - s->runtime.anchor,
					 s->runtime.high - s->runtime.low);
	return s->runtime.anchor >= s->runtime.low && s->runtime.anchor < s->runtime.high;
}

/* A native word behind those that there are. False: there is no room. */
static __always_inline bool runtime_put_native(struct scratch *s, __u64 word)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user;

	if (at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return false;
	s->record.words[at] = word;
	s->record.head.n_user++;
	return true;
}

/* Behind the last run of an activation, whose frame is shown where that is wanted. */
static __always_inline long runtime_put_kept(struct scratch *s)
{
	__u64 word = s->runtime.kept;

	s->runtime.kept = 0;
	return word ? !runtime_put_native(s, word) : 0;
}

/* The run is over; the next one may be the same activation's. */
__noinline int runtime_leave(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 1;
	s->runtime.is_inside = 0;
	s->runtime.frame = s->runtime.after;
	s->runtime.activation = s->runtime.next_activation;
	/* Of the loop's code each frame is one activation. */
	s->runtime.pc = 0;
	runtime_seek(s);
	if (runtime_is_here(s))
		return runtime_enter(s);
	return runtime_put_kept(s);
}

/* The frame that was read last, and its name. False: there is no room. */
static __always_inline bool runtime_emit(struct scratch *s, struct wire_counters *count)
{
	__u64 function, rest;

	count->runtime_frames++;
	if (!s->runtime.function)
		s->runtime.result = RUNTIME_RESULT_UNREADABLE;
	else if (s->runtime.result == RUNTIME_RESULT_IDLE)
		s->runtime.result = RUNTIME_RESULT_WALKED;
	runtime_note(s, &function, &rest);
	return runtime_put(s, function, rest);
}

/* A frame of the run that cannot be read any more, and with it all that are left. */
static __always_inline long runtime_lose(struct scratch *s, struct wire_counters *count)
{
	count->runtime_frames++;
	s->runtime.is_inside = 0;
	s->runtime.frame = s->runtime.anchor = 0;
	s->runtime.result = RUNTIME_RESULT_UNREADABLE;
	if (!runtime_put(s, runtime_word(s->runtime.of.kind, 0), 0))
		return 1;
	return runtime_put_kept(s);
}

/* The next frame of a run that was too long to be kept, or its end. Returns 1 to stop. */
static __always_inline long runtime_frame(struct scratch *s, struct wire_counters *count)
{
	int is_read;

	if (!s->runtime.n_left) {
		int stops = runtime_leave(s->level);

		/* To the verifier it may have returned anything. */
		asm volatile("" : "+r"(stops));
		return stops & 1;
	}
	s->runtime.n_left--;
	s->runtime.at = s->runtime.frame;
	is_read = s->runtime.at ? runtime_read(s->level) : 0;
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read || s->runtime.is_entry)
		return runtime_lose(s, count);
	s->runtime.frame = s->runtime.n_left ? s->runtime.next : s->runtime.entry;
	if (is_read == RUNTIME_READ_HIDDEN)
		return 0;
	return !runtime_emit(s, count);
}

/* The native frame that was stored last, taken away; 0: there is none. */
static __always_inline __u64 runtime_take_back(struct scratch *s)
{
	__u32 at = s->record.head.n_kernel + s->record.head.n_user - 1;

	if (!s->record.head.n_user || at >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)
		return 0;
	s->record.head.n_user--;
	return s->record.words[at];
}

static __always_inline bool runtime_is_of_file(__u64 word, __u64 other)
{
	return !(word & WIRE_FRAME_RAW) && !((word ^ other) >> WIRE_FRAME_OFFSET_BITS);
}

/* The native frame that was stored last is the activation: the run takes its place. Before it lies what it has called, unless it is the leaf. */
__noinline int runtime_replace(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 word, callee;

	if (!s)
		return 1;
	word = runtime_take_back(s);
	if (keep_interpreters) {
		s->runtime.kept = word;
	} else if (s->runtime.anchor_flags & WIRE_ANCHOR_CALLEE && s->runtime.n_native > 1) {
		callee = runtime_take_back(s);
		if (!runtime_is_of_file(callee, word) && !runtime_put_native(s, callee))
			return 1;
	}
	return runtime_enter(s);
}

/* What is asked of the runtime. */
enum runtime_place {
	RUNTIME_PLACE_NONE,
	RUNTIME_PLACE_ITS, /* in memory without a file, or in the part of its file that it claims, wherever that is mapped */
	RUNTIME_PLACE_MAYBE, /* in no mapping that is known: code is made faster than the agent hears of it */
};

static __always_inline enum runtime_place runtime_place(struct scratch *s, __u32 flags,
							__u64 claimed_at, __u64 claimed_bytes)
{
	__u64 word;

	if (!(flags & (WIRE_RUNTIME_GENERATES | WIRE_RUNTIME_CLAIMS)))
		return RUNTIME_PLACE_NONE;
	if (!unwind_find(&s->walk))
		return flags & WIRE_RUNTIME_CLAIMS ? RUNTIME_PLACE_MAYBE : RUNTIME_PLACE_NONE;
	word = s->walk.mapping.frame_base + (s->walk.pc - s->walk.mapping.begin);
	if (flags & WIRE_RUNTIME_CLAIMS && word - claimed_at < claimed_bytes)
		return RUNTIME_PLACE_ITS;
	return flags & WIRE_RUNTIME_GENERATES && word & WIRE_FRAME_RAW ? RUNTIME_PLACE_ITS
								       : RUNTIME_PLACE_NONE;
}

static __always_inline enum runtime_place runtime_place_first(struct scratch *s)
{
	return runtime_place(s, s->runtime.of.flags, s->runtime.of.words[WIRE_CLAIMED_AT],
			     s->runtime.of.words[WIRE_CLAIMED_BYTES]);
}

/* The runtime beside the first is in place afterwards, if it is to be asked. */
static __always_inline enum runtime_place runtime_place_beside(struct scratch *s)
{
	enum runtime_place place;

	if (s->beside.kind == RUNTIME_NONE)
		return RUNTIME_PLACE_NONE;
	place = runtime_place(s, s->beside.flags, s->beside.claimed_at, s->beside.claimed_bytes);
	if (place != RUNTIME_PLACE_NONE)
		runtime_turn(s->level);
	return place;
}

/* What the runtimes say of the present frame. Where it may not be a runtime's, only that it is a function's counts. */
static __always_inline int runtime_ask(struct scratch *s)
{
	enum runtime_place place = runtime_place_first(s);
	int code;

	if (place == RUNTIME_PLACE_NONE)
		place = runtime_place_beside(s);
	code = place == RUNTIME_PLACE_NONE ? RUNTIME_CODE_NOT_ITS : runtime_code(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(code));
	if (place == RUNTIME_PLACE_MAYBE && code != RUNTIME_CODE_NAMED_FRAME &&
	    code != RUNTIME_CODE_NAMED_BEGUN && code != RUNTIME_CODE_INLINED &&
	    code != RUNTIME_CODE_LEFT && code != RUNTIME_CODE_LAST && code != RUNTIME_CODE_NOTHING)
		return RUNTIME_CODE_NOT_ITS;
	return code;
}

/* From a frame that the runtime has recognised: its caller may lie where nothing is known yet. */
static __always_inline int runtime_up(struct unwind_walk *w)
{
	__u64 fp = w->reg[WIRE_ABI_FP];

	if (fp < w->reg[WIRE_ABI_SP] || (fp & 7))
		return unwind_stop(w, STOP_REASON_NO_PROGRESS);
	if (UNWIND_WORD(w, &w->fp, fp) || UNWIND_WORD(w, &w->ra, fp + 8))
		return unwind_stop(w, STOP_REASON_STACK_READ);
	w->cfa = fp + 16;
	w->known = 0;
	return unwind_up(w, UNWIND_FP_CHAIN | UNWIND_SP_LOWEST, &w->n_fp);
}

/* To the caller by frame pointer; the frame itself is shown unless a function stands for it. Returns 1 to stop. */
__noinline int runtime_by_fp(__u32 level, __u32 code)
{
	struct scratch *s = walk_scratch(level);
	bool is_named = code == RUNTIME_CODE_NAMED_FRAME || code == RUNTIME_CODE_NAMED_BEGUN;
	bool is_begun = code == RUNTIME_CODE_BEGUN || code == RUNTIME_CODE_NAMED_BEGUN;

	if (!s)
		return 1;
	if ((!is_named || keep_interpreters) && !runtime_put_native(s, unwind_frame(&s->walk)))
		return 1;
	return !(is_begun ? unwind_by_fp(&s->walk) : runtime_up(&s->walk));
}

/* The runtime's frame in place of the native one that was stored last. */
static __always_inline void runtime_name_last(struct scratch *s, struct wire_counters *count)
{
	if (s->record.head.n_user)
		s->record.head.n_user--;
	runtime_emit(s, count);
}

static __always_inline long runtime_frame_by_fp(struct scratch *s, struct wire_counters *count,
						__u32 code)
{
	int stops;

	if ((code == RUNTIME_CODE_NAMED_FRAME || code == RUNTIME_CODE_NAMED_BEGUN) &&
	    !runtime_emit(s, count))
		return 1;
	stops = runtime_by_fp(s->level, code);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(stops));
	return stops & 1;
}

/* Generated code whose caller is not found as everybody's. */
static __always_inline long runtime_generated(struct scratch *s, struct wire_counters *count,
					      __u32 code)
{
	if (code == RUNTIME_CODE_LEFT || code == RUNTIME_CODE_INLINED)
		return !runtime_emit(s, count);
	if (code == RUNTIME_CODE_NOTHING)
		return s->walk.end != STOP_REASON_DEPTH;
	if (code == RUNTIME_CODE_LAST) {
		runtime_emit(s, count);
		return 1;
	}
	return runtime_frame_by_fp(s, count, code);
}

/* The walk ends where it should not, and not where the agent knows more; or it has guessed. */
static __always_inline bool runtime_is_doubtful(const struct unwind_walk *w, long stops)
{
	bool is_guess = w->flags & UNWIND_FP_CHAIN;

	if (!stops || w->end == STOP_REASON_ROOT)
		return is_guess;
	return w->end != STOP_REASON_DEPTH && w->end != STOP_REASON_NO_TABLE &&
	       w->end != STOP_REASON_NO_MAPPING;
}

/* Behind the native frame at `low`. 0: the walk has gone on from another frame, 1: and there is no room; or what `stops` says. */
static __always_inline long runtime_go_on(struct scratch *s, struct wire_counters *count, __u64 low,
					  long stops)
{
	int is_resumed;

	if (!runtime_is_doubtful(&s->walk, stops))
		return stops;
	is_resumed = runtime_resume(s->level, low);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_resumed));
	if (is_resumed) {
		s->runtime.result = RUNTIME_RESULT_RESUMED;
		stops = !runtime_emit(s, count);
	}
	runtime_turn_back(s);
	return stops;
}

static __always_inline long runtime_native(struct scratch *s, struct wire_counters *count)
{
	__u64 low = s->walk.reg[WIRE_ABI_SP];
	int code = runtime_ask(s);
	long stops = 0;

	if (code != RUNTIME_CODE_NOT_ITS && code != RUNTIME_CODE_NAMED) {
		stops = runtime_generated(s, count, code);
		runtime_turn_back(s);
		return stops;
	}
	s->runtime.pc = s->walk.pc;
	s->runtime.n_native++;
	stops = walk_native(s, s->record.head.n_user);
	if (code == RUNTIME_CODE_NAMED)
		runtime_name_last(s, count);
	runtime_turn_back(s);
	stops = runtime_go_on(s, count, low, stops);
	if (stops)
		return 1;
	s->runtime.low = low;
	s->runtime.high = s->walk.reg[WIRE_ABI_SP];
	if (!runtime_is_here(s))
		return 0;
	/* Generated code that called into the interpreter, or is how it is entered, is a frame all the same. */
	if (code == RUNTIME_CODE_NAMED)
		return runtime_enter(s);
	code = runtime_replace(s->level);
	asm volatile("" : "+r"(code));
	return code & 1;
}

/* One step of the walk of a process with a runtime. `data` is the level. */
static long runtime_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct wire_counters *count;
	__u32 event;

	(void)index;
	if (!s || s->runtime.n_frames >= WIRE_MAX_USER_FRAMES)
		return 1;
	s->runtime.n_frames++;
	event = s->record.head.record.event;
	count = bpf_map_lookup_elem(&counters, &event);
	if (!count)
		return 1;
	return s->runtime.is_inside ? runtime_frame(s, count) : runtime_native(s, count);
}

/* … and what of its runs the agent has to put into their places. */
static long runtime_list_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	struct wire_counters *count;
	__u32 event;

	(void)index;
	if (!s)
		return 1;
	if (!s->runtime.is_inside)
		return s->runtime.anchor ? runtime_enter(s) : 1;
	event = s->record.head.record.event;
	count = bpf_map_lookup_elem(&counters, &event);
	return count ? runtime_frame(s, count) : 1;
}

static __always_inline void runtime_list(struct scratch *s)
{
	__u32 level = s->level;

	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	s->runtime.low = s->runtime.high = 0;
	bpf_loop(WIRE_MAX_USER_FRAMES, runtime_list_step, &level, 0);
}

/* Runs that lie beyond the end of a finished walk: their functions are shown all the same, as far out as can be. */
static __always_inline void runtime_list_rest(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	if (s->runtime.frame && s->runtime.frame != s->runtime.entry)
		s->runtime.result = RUNTIME_RESULT_UNPLACED;
	runtime_list(s);
}

static __always_inline void runtime_count_of(__u32 kind, __u32 result)
{
	struct wire_runtime_results *results = bpf_map_lookup_elem(&runtime_results, &kind);

	if (results && result < RUNTIME_RESULT_MAX)
		results->n[result]++;
}

/* Behind everything that there is of runtimes in the sample. */
static __always_inline void runtime_count(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	runtime_count_of(s->runtime.of.kind, s->runtime.result);
	if (s->beside.kind != RUNTIME_NONE)
		runtime_count_of(s->beside.kind, s->beside.result);
}

/* Nothing that was found is to be used. */
static __always_inline void runtime_list_anew(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	runtime_begin(s->level);
	runtime_list(s);
}

/* The agent begins anew, at the leaf: it wants all runs, and none of what was put between them. */
static __always_inline void runtime_list_behind_leaf(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind == RUNTIME_NONE)
		return;
	s->record.head.n_user = 1;
	runtime_list_anew(s);
}

/* Of a process that has no table: by its executable, as far as that was looked at. */
static __always_inline const struct wire_runtime *runtime_of_image(struct scratch *s,
								   struct mm_struct *mm)
{
	const struct wire_runtime *found;
	__u64 image = image_of(mm);

	s->image = image;
	found = image ? bpf_map_lookup_elem(&runtime_images, &image) : NULL;
	if (found)
		__builtin_memcpy(&s->runtime.of, found, sizeof(s->runtime.of));
	/* The lowest executable segment is where start_code says (load_elf_binary(), fs/binfmt_elf.c). */
	if (found)
		s->runtime.of.base = KERNEL_READ(mm, start_code, 0) - found->base;
	return found;
}

/* … or by a library that it has mapped. */
__noinline int runtime_of_library(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct wire_runtime *found;
	__u64 any = 0, image;

	if (!s || !bpf_map_lookup_elem(&runtime_libraries, &any))
		return 0;
	library_find(level);
	if (!s->library.text)
		return 0;
	image = library_image(s->library.text);
	s->library_image = image;
	found = image ? bpf_map_lookup_elem(&runtime_images, &image) : NULL;
	if (!found)
		return 0;
	__builtin_memcpy(&s->runtime.of, found, sizeof(s->runtime.of));
	s->runtime.of.base = s->library.base;
	return 1;
}

/* Whether nobody has run that executable lately: the sooner the agent sees it, the sooner it knows whether that is a runtime. */
static __always_inline bool runtime_image_is_new(const struct scratch *s)
{
	__u64 image = RUNTIME_ANY ? s->image : 0;
	__u32 at = image & (WIRE_TOLD_SLOTS - 1);
	__u64 *slot = image ? bpf_map_lookup_elem(&told, &at) : NULL;

	if (!slot || *slot == image)
		return false;
	*slot = image;
	return true;
}

static __always_inline const struct wire_runtime *runtime_of_table(struct scratch *s)
{
	const struct wire_runtime *found = runtime_at(s, 0);

	if (!found)
		return NULL;
	__builtin_memcpy(&s->runtime.of, found, sizeof(s->runtime.of));
	runtime_find_beside(s);
	return found;
}

/* A function of its own, because its stack is not to lie below that of the walk. */
__noinline int runtime_look(__u32 level, __u32 has_table)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = KERNEL_READ(task, mm, NULL);
	struct task_struct *leader = KERNEL_READ(task, group_leader, NULL);
	struct scratch *s = walk_scratch(level);
	__u64 hash;

	if (!s || !mm)
		return 0;
	if (has_table ? !runtime_of_table(s)
		      : !runtime_of_image(s, mm) && !runtime_of_library(level))
		return 0;
	hash = hash_mix(told_seed, (__u64)s->record.head.pid << 32 | s->record.head.exec_id);
	s->runtime.process = hash_mix(hash, leader ? KERNEL_READ(leader, start_time, 0) : 0);
	runtime_begin(level);
	runtime_begin_beside(s);
	return 0;
}

/* Before the walk: whether the process has a runtime, and where its frames begin. `process`: NULL when it has no table. */
static __always_inline void runtime_find(struct scratch *s, const struct wire_process *process)
{
	s->image = s->library_image = s->library.text = 0;
	s->runtime.of.kind = s->beside.kind = RUNTIME_NONE;
	s->beside.is_turned = 0;
	s->runtime.n_frames = s->runtime.n_names = s->runtime.n_reads = s->runtime.n_pieces = 0;
	if (RUNTIME_ANY && (!process || process->runtime))
		runtime_look(s->level, process != NULL);
}

/* Behind a walk that has left what the process's table knows: a library may have been mapped since that was made. */
static __always_inline void runtime_find_mapped_since(struct scratch *s)
{
	if (!RUNTIME_ANY || s->runtime.of.kind != RUNTIME_NONE ||
	    s->walk.end != STOP_REASON_NO_MAPPING)
		return;
	runtime_look(s->level, false);
	s->window.n_bytes = 0;
}

#endif
