/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The step over CPython's frames (bpf/runtimes/python.h).
 *
 * A thread's state is found by the list of threads: it says which thread it is of, whether or not that holds the interpreter's lock. Where it
 * was found is remembered (`threads`), and asked again each time.
 *
 * In the list of frames that the walk goes by, an activation that has no frame of its own has an entry with bit 0 set: the address of its CFrame,
 * or nothing but that bit.
 */
#ifndef XAGENT_BPF_RUNTIMES_PYTHON_BPF_H
#define XAGENT_BPF_RUNTIMES_PYTHON_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/anchor.h"
#include "bpf/image.h"
#include "bpf/runtimes/python.h"
#include "bpf/walk.bpf.h"

/* No PyThreadState is larger. */
#define PYTHON_STATE_BYTES 4096

/* Threads that are looked through: services have some hundred, and the youngest comes first. */
#define PYTHON_MAX_THREADS 1024
/* A thread that had no state when it was looked for among many is looked for again after that, whatever a process makes of the list: one of few at
 * each tick, for an interpreter that begins has none yet. */
#define PYTHON_AGAIN_NS 100000000ULL
#define PYTHON_MANY_THREADS 32

/* What differs between a thread and its number: nothing on x86-64; on AArch64 both C libraries have their data of the thread below its pointer. */
#if defined(__TARGET_ARCH_x86)
#define PYTHON_THREAD_BELOW 0
#else
#define PYTHON_THREAD_BELOW 4096
#endif

/* PyThreadState.native_thread_id, behind thread_id in all versions that have it. */
#define PYTHON_MINOR_NATIVE_ID 11

#define PYTHON_ENTRY_BIT 1ULL
/* In the address of a frame: the collector that it has started is behind us. */
#define PYTHON_COLLECTOR_BIT 2ULL
/* Pointers to objects have tags below (3.14, free-threaded 3.13). */
#define PYTHON_POINTER_MASK (~7ULL)

/* What the collector is called, and known by: the print of a code object is odd. */
#define PYTHON_COLLECTOR_NAME "[garbage collection]"
#define PYTHON_COLLECTOR_PRINT 2

/* "__name__" */
#define PYTHON_NAME_KEY 0x5f5f656d616e5f5fULL

static __always_inline const struct python_layout *python_layout(const struct scratch *s)
{
	return (const void *)s->runtime.of.words;
}

/* Of what was read last. */
static __always_inline __u64 python_u64(const struct scratch *s, __u32 at)
{
	return *(const __u64 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 8)));
}

static __always_inline __u32 python_u32(const struct scratch *s, __u32 at)
{
	return *(const __u32 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 4)));
}

/* Reads n bytes, 255 at most. */
static __always_inline bool python_get(struct scratch *s, __u64 from, __u8 n)
{
	return from && !bpf_probe_read_user(s->runtime.bytes, n, (void *)from);
}

static __always_inline __u64 python_word(__u64 from)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)from);
	return word;
}

#include "bpf/runtimes/python_async.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define python_is_first_thread(s, state) false
#else
/* What the kernel leaves between the first stack and all others at least (MIN_GAP of its mmap_base()). */
#define PYTHON_FIRST_STACK_BYTES (128ULL << 20)

/*
 * Up to 3.10: the only state of its interpreter, in a process of one thread that runs on its first stack. What a process of more threads has forked has
 * all their states at first.
 */
static __always_inline bool python_is_only_thread(struct scratch *s, struct task_struct *task,
						  __u64 state)
{
	const struct python_layout *l = python_layout(s);
	struct signal_struct *signal = KERNEL_READ(task, signal, NULL);
	struct mm_struct *mm = KERNEL_READ(task, mm, NULL);
	__u64 top = mm ? KERNEL_READ(mm, start_stack, 0) : 0;

	return signal && KERNEL_READ(signal, nr_threads, 0) == 1 &&
	       top - s->regs.reg[WIRE_ABI_SP] < PYTHON_FIRST_STACK_BYTES &&
	       !python_u64(s, l->thread_next) &&
	       python_word(python_u64(s, l->thread_interpreter) + l->interpreter_threads) == state;
}

/*
 * Whether the state is the main thread's and that is the present one. What has begun by exec has its thread pointer in a register alone until it
 * is switched from for the first time (arch/arm64/kernel/process.c), which may take as long as it finds nothing to wait for: the kernel tells an
 * earlier program's. The number that the system has for a thread lies behind that which the C library has (native_thread_id, since 3.11).
 */
static __noinline int python_is_first_thread(struct scratch *s, __u64 state)
{
	const struct python_layout *l = python_layout(s);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 thread = bpf_get_current_pid_tgid();
	struct pid *pid = KERNEL_READ(task, thread_pid, NULL);
	__u64 level = pid ? KERNEL_READ(pid, level, 0) : 0;
	struct upid *own;

	if (thread >> 32 != (__u32)thread)
		return false;
	if (l->minor < PYTHON_MINOR_NATIVE_ID)
		return python_is_only_thread(s, task, state);
	if (!pid || !bpf_core_field_exists(pid->numbers))
		return false;
	/* What it is in its own namespace. */
	own = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	      level * bpf_core_type_size(struct upid);
	return python_word(state + l->thread_id + 8) == (__u32)KERNEL_READ(own, nr, 0);
}
#endif

/* Reads the state of a thread, and says whether it is the present one's. */
static __always_inline bool python_is_thread(struct scratch *s, __u64 state)
{
	const struct python_layout *l = python_layout(s);
	__u64 self = thread_pointer(bpf_get_current_task_btf());

	return python_get(s, state, l->thread_bytes) &&
	       (self - python_u64(s, l->thread_id) <= PYTHON_THREAD_BELOW ||
		python_is_first_thread(s, state));
}

/* The innermost frame of the state that was read; 0: it runs nothing. 3.15 has a frame in the state then, which is no function's. */
static __always_inline __u64 python_first_frame(const struct scratch *s, __u64 state)
{
	const struct python_layout *l = python_layout(s);
	__u64 frame = python_u64(s, l->thread_frame);

	if (l->frame_own)
		return python_u64(s, l->frame_own);
	if (l->has_cframe)
		return python_word(frame + l->cframe_frame);
	return frame - state < PYTHON_STATE_BYTES ? 0 : frame;
}

/* words: the interpreter, the thread, what was found. */
static long python_thread_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	const struct python_layout *l;

	(void)index;
	/* All searches of a sample together. */
	if (!s || s->runtime.n_looked >= PYTHON_MAX_THREADS)
		return 1;
	l = python_layout(s);
	s->runtime.n_looked++;
	if (!s->runtime.words[1]) {
		s->runtime.words[0] = python_word(s->runtime.words[0] + l->interpreter_next);
		if (!s->runtime.words[0])
			return 1;
		s->runtime.words[1] = python_word(s->runtime.words[0] + l->interpreter_threads);
		return 0;
	}
	if (python_is_thread(s, s->runtime.words[1])) {
		s->runtime.words[2] = s->runtime.words[1];
		/* A thread has a state in each interpreter that it has entered. */
		if (python_first_frame(s, s->runtime.words[1]))
			return 1;
	}
	s->runtime.words[1] = python_u64(s, l->thread_next);
	return 0;
}

/* The present thread's state in that interpreter or in one that was made before it: one that runs something, if there is any. */
static __always_inline __u64 python_search(struct scratch *s, __u64 interpreter)
{
	const struct python_layout *l = python_layout(s);
	__u32 level = s->level;

	s->runtime.words[2] = 0;
	s->runtime.words[0] = interpreter;
	if (!interpreter)
		return 0;
	s->runtime.words[1] = python_word(interpreter + l->interpreter_threads);
	bpf_loop(PYTHON_MAX_THREADS, python_thread_step, &level, 0);
	return s->runtime.words[2];
}

/* The state of the present thread, which is read; 0: it has none. What it has entered last is the interpreter that was made last. */
static __always_inline __u64 python_thread(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	__u64 thread = bpf_get_current_pid_tgid();
	__u64 now_ns = s->record.head.time_ns;
	__u32 at = hash_mix(0, thread) & (WIRE_THREAD_SLOTS - 1);
	struct runtime_thread *known = bpf_map_lookup_elem(&threads, &at);
	__u64 newest = python_word(s->runtime.of.base + l->interpreters_at);
	__u64 state, until_ns;

	if (known && known->thread == thread) {
		state = known->state;
		if (!state && now_ns < known->until_ns)
			return 0;
		if (python_is_thread(s, state) && python_u64(s, l->thread_interpreter) == newest &&
		    python_first_frame(s, state))
			return state;
	}
	s->runtime.n_looked = 0;
	state = python_search(s, newest);
	until_ns = s->runtime.n_looked < PYTHON_MANY_THREADS ? 0 : now_ns + PYTHON_AGAIN_NS;
	if (known)
		*known = (struct runtime_thread){ thread, state, until_ns };
	return state && python_is_thread(s, state) ? state : 0;
}

/* The frame that has started the collector, while it runs; 0: it does not. What a finalizer runs is further in. */
static __always_inline __u64 python_collecting(struct scratch *s, __u64 interpreter)
{
	const struct python_layout *l = python_layout(s);
	__u32 is_collecting = 0;

	if (!l->collecting)
		return 0;
	bpf_probe_read_user(&is_collecting, sizeof(is_collecting),
			    (void *)(interpreter + l->collecting));
	return is_collecting ? python_word(interpreter + l->collecting_frame) : 0;
}

/* The innermost frame of the state that was read, whose frames come next. words: …, its interpreter, the state, the collector's frame. */
static __always_inline __u64 python_list(struct scratch *s, __u64 state)
{
	const struct python_layout *l = python_layout(s);
	__u64 frame;

	s->runtime.next_activation = PYTHON_ENTRY_BIT;
	if (l->seam == PYTHON_BY_CFRAME)
		s->runtime.next_activation |= python_u64(s, l->thread_frame);
	s->runtime.words[1] = 0;
	s->runtime.words[3] = python_u64(s, l->thread_interpreter);
	s->runtime.words[4] = state;
	s->runtime.words[5] = python_collecting(s, s->runtime.words[3]);
	frame = python_first_frame(s, state);
	if (want_async)
		python_async_begin(s, state);
	return frame;
}

/*
 * Between the CFrame and its frame the loop of 3.10 puts them into their lists, and takes them out again. Who is there has an activation without a frame,
 * or a frame without an activation, and is none yet, or no more. Where the frames begin.
 */
static __always_inline __u64 python_in_step(struct scratch *s, __u64 frame)
{
	const struct python_layout *l = python_layout(s);
	__u64 off = s->walk.pc - (s->runtime.of.base + l->loop_at);

	if (!l->cframe_gap_at)
		return frame;
	if (off >= l->cframe_from && off < l->loop_from)
		s->runtime.next_activation =
			PYTHON_ENTRY_BIT |
			python_word((s->runtime.next_activation & ~PYTHON_ENTRY_BIT) +
				    l->cframe_previous);
	if (off >= l->cframe_gap_at && off < l->loop_gap_at)
		frame = python_word(frame + l->frame_previous);
	return frame;
}

static __always_inline __u64 python_begin(struct scratch *s)
{
	__u64 state, frame;

	if (python_layout(s)->seam == PYTHON_UNSUPPORTED) {
		s->runtime.result = RUNTIME_RESULT_UNSUPPORTED;
		return 0;
	}
	s->runtime.n_looked = 0;
	state = python_thread(s);
	if (!state) {
		s->runtime.result = RUNTIME_RESULT_NO_THREAD;
		return 0;
	}
	s->runtime.known[0].at = s->runtime.known[1].at = 0;
	frame = python_in_step(s, python_list(s, state));
	s->runtime.activation = s->runtime.next_activation;
	return frame;
}

/*
 * Behind the outermost frame of an interpreter: the innermost one of the interpreter that was running when the thread entered that one. The frame
 * behind the last entry is not one of them where it lies in the thread's state (3.15).
 */
static __always_inline __u64 python_next_list(struct scratch *s, __u64 next)
{
	const struct python_layout *l = python_layout(s);
	__u64 state;

	if (next && next - s->runtime.words[4] >= PYTHON_STATE_BYTES)
		return next;
	state = python_search(s, python_word(s->runtime.words[3] + l->interpreter_next));
	return state && python_is_thread(s, state) ? python_list(s, state) : 0;
}

/* An activation that has no frame of its own. Its callers' begin behind the last frame that was read. */
static __always_inline int python_read_entry(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	__u64 cframe = s->runtime.at & ~PYTHON_ENTRY_BIT;

	s->runtime.is_entry = 1;
	s->runtime.place_flags = s->runtime.place_position = 0;
	s->runtime.place = cframe;
	if (l->seam == PYTHON_BY_CODE) {
		s->runtime.place = s->runtime.of.base + l->loop_at;
		s->runtime.place_position =
			anchor_code_position(l->loop_bytes, l->loop_gap_bytes);
		s->runtime.place_flags = anchor_code_print(l->loop_from, l->loop_gap_at);
	}
	s->runtime.next_activation = PYTHON_ENTRY_BIT;
	if (l->seam == PYTHON_BY_CFRAME)
		s->runtime.next_activation |= python_word(cframe + l->cframe_previous);
	s->runtime.next = python_next_list(s, s->runtime.words[0]);
	return 1;
}

/* Bytes from the beginning of the bytecode; ~0: not known. */
static __always_inline __u32 python_position(struct scratch *s, __u64 code, __u64 instr, __s32 copy)
{
	const struct python_layout *l = python_layout(s);
	__u64 begin = code + l->code_instr;

	if (l->instr_unit)
		return (__u32)instr * l->instr_unit;
	/* Each thread of a free-threaded build has a copy of its own. */
	if (l->frame_tlbc && copy > 0)
		begin = python_word(python_u64(s, l->code_tlbc) + 8 + 8 * (__u64)copy);
	return instr - begin < 1U << 30 ? instr - begin : ~0U;
}

/* The hash of a text. Functions of one file lie side by side, and have one text of its name. */
static __always_inline __u64 python_hash_of(struct scratch *s, __u64 str,
					    struct runtime_known *known)
{
	if (known->at != str) {
		known->at = str;
		known->word = python_word(str + python_layout(s)->str_hash);
	}
	return known->word;
}

/* Of the code object that was read. */
static __always_inline __u32 python_print(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	struct python_identity i = {
		.name = python_u64(s, l->code_name),
		.file = python_u64(s, l->code_file),
		.lines = python_u64(s, l->code_lines),
		.line = python_u32(s, l->code_line),
	};

	if (l->code_version)
		i.version = python_u32(s, l->code_version);
	if (!i.version) {
		i.name_hash = python_hash_of(s, i.name, &s->runtime.known[0]);
		i.file_hash = python_hash_of(s, i.file, &s->runtime.known[1]);
	}
	return python_print_of(&i, s->runtime.scope);
}

static __always_inline bool python_get_code(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);

	return python_get(s, s->runtime.function, l->code_bytes);
}

static __always_inline bool python_is_code(const struct scratch *s)
{
	const struct python_layout *l = python_layout(s);

	return python_u64(s, l->code_type) == s->runtime.of.base + l->code_type_at;
}

#include "bpf/runtimes/python_method.bpf.h"

/*
 * Whether the frame is the last one of its activation, which is one of CFrames: of 3.10 each is; that of 3.11 is marked, a few instructions after it was put
 * into the list. What the activation before was running when it made this one tells, too.
 */
static __always_inline bool python_is_last_of_cframe(struct scratch *s, __u8 mark)
{
	const struct python_layout *l = python_layout(s);
	__u64 cframe = s->runtime.activation & ~PYTHON_ENTRY_BIT;

	if (!l->frame_mark || mark)
		return true;
	/* words: of which activation that is known, and what. */
	if (s->runtime.words[1] != cframe) {
		s->runtime.words[1] = cframe;
		s->runtime.words[2] =
			python_word(python_word(cframe + l->cframe_previous) + l->cframe_frame);
	}
	return s->runtime.next && s->runtime.next == s->runtime.words[2];
}

/*
 * The code object that was read is the interpreter's own, which it runs between a class that is called and __init__ (3.12 and later): its name is that of
 * its file, too, and it has no line.
 */
static __always_inline bool python_is_internal(const struct scratch *s)
{
	const struct python_layout *l = python_layout(s);

	return l->code_version && !python_u32(s, l->code_line) &&
	       python_u64(s, l->code_name) == python_u64(s, l->code_file);
}

/*
 * The collector has no frame in the list, but is called by one: between that and what the collector calls it is shown as a function of its own, whose
 * address is that of its state. That frame is the first one of its run.
 */
static __always_inline bool python_is_collector(struct scratch *s)
{
	return s->runtime.words[5] && s->runtime.at == s->runtime.words[5] && !s->runtime.n_run &&
	       !s->runtime.n_left;
}

static __always_inline int python_read_collector(struct scratch *s)
{
	s->runtime.is_entry = 0;
	s->runtime.next = s->runtime.at | PYTHON_COLLECTOR_BIT;
	s->runtime.function = s->runtime.words[3] + python_layout(s)->collecting;
	s->runtime.scope = 0;
	s->runtime.print = PYTHON_COLLECTOR_PRINT;
	s->runtime.position = ~0U;
	return 1;
}

static __always_inline int python_read(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	__u64 instr;
	__s32 copy;
	__u8 mark;

	if (s->runtime.at & PYTHON_ENTRY_BIT)
		return python_read_entry(s);
	if (python_is_collector(s))
		return python_read_collector(s);
	s->runtime.at &= ~PYTHON_COLLECTOR_BIT;
	if (want_async && python_async_is_skipped(s))
		return 1;
	if (!python_get(s, s->runtime.at, l->frame_bytes))
		return 0;
	mark = s->runtime.bytes[l->frame_mark];
	s->runtime.is_entry = l->seam == PYTHON_BY_ENTRY && mark >= PYTHON_OWNER_ENTRY;
	s->runtime.next = python_u64(s, l->frame_previous) & PYTHON_POINTER_MASK;
	s->runtime.place = s->runtime.at;
	s->runtime.place_flags = s->runtime.of.flags & WIRE_RUNTIME_CALLEE ? WIRE_ANCHOR_CALLEE : 0;
	s->runtime.place_position = 0;
	s->runtime.next_activation = 0;
	if (s->runtime.is_entry) {
		s->runtime.next = python_next_list(s, s->runtime.next);
		return 1;
	}
	s->runtime.words[0] = s->runtime.next;
	if (l->seam == PYTHON_BY_CODE ||
	    (l->seam == PYTHON_BY_CFRAME && python_is_last_of_cframe(s, mark)))
		s->runtime.next = s->runtime.activation;
	if (s->runtime.is_seeking)
		return 1;
	s->runtime.function = python_u64(s, l->frame_code) & PYTHON_POINTER_MASK;
	s->runtime.scope = python_u64(s, l->frame_globals);
	s->runtime.print = 0;
	s->runtime.position = ~0U;
	instr = python_u64(s, l->frame_instr);
	copy = python_u32(s, l->frame_tlbc);
	if (want_async)
		python_async_next(s->level);
	/* Its page may not be there: then the agent asks for the name. */
	if (!python_get_code(s))
		return 1;
	if (!python_is_code(s)) {
		s->runtime.function = 0;
		return 1;
	}
	if (python_is_internal(s))
		return RUNTIME_READ_HIDDEN;
	s->runtime.position = python_position(s, s->runtime.function, instr, copy);
	s->runtime.print = python_print(s);
	return 1;
}

/* Appends a str. Returns how many bytes, and how they are written. */
static __always_inline __u32 python_append_str(struct scratch *s, struct wire_name *name, __u64 str,
					       __u32 max, __u8 *ret_encoding)
{
	const struct python_layout *l = python_layout(s);
	__u64 length;
	__u32 state, kind;

	if (!python_get(s, str, l->str_ascii))
		return 0;
	length = python_u64(s, l->str_length);
	state = python_u32(s, l->str_state) >> (l->str_kind_shift & 31);
	kind = state & 7;
	/* kind:3 compact:1 ascii:1 */
	if (!(state & 8) || length > 1U << 30)
		return 0;
	if (state & 16) {
		*ret_encoding = WIRE_UTF8;
		return name_append(name, str + l->str_ascii, length, max);
	}
	*ret_encoding = kind == 1 ? WIRE_LATIN1 : kind == 2 ? WIRE_UCS2 : WIRE_UCS4;
	return name_append(name, str + l->str_compact, length * kind, max);
}

/* The first entries of a dictionary's keys; what a module's begins with is __name__. */
static __always_inline __u64 python_entries(struct scratch *s, __u64 keys, bool *ret_has_hashes)
{
	const struct python_layout *l = python_layout(s);
	__u64 size;

	if (!python_get(s, keys, 40))
		return 0;
	if (l->has_log2_keys) {
		/* dk_log2_index_bytes, dk_kind: 0 is that of any keys. */
		__u8 log2_bytes = s->runtime.bytes[9];

		*ret_has_hashes = s->runtime.bytes[10] == 0;
		return log2_bytes < 32 ? keys + 32 + (1ULL << log2_bytes) : 0;
	}
	*ret_has_hashes = true;
	size = python_u64(s, 8);
	if (size > 1ULL << 30)
		return 0;
	return keys + 40 + (size <= 0xff ? size : size <= 0xffff ? 2 * size : 4 * size);
}

/* The value of __name__; 0: it is not the first entry. */
static __always_inline __u64 python_module(struct scratch *s)
{
	const struct python_layout *l = python_layout(s);
	__u64 keys = s->runtime.scope ? python_word(s->runtime.scope + l->dict_keys) : 0;
	bool has_hashes = false;
	__u64 entry = python_entries(s, keys, &has_hashes);
	__u64 key;

	if (!entry)
		return 0;
	entry += has_hashes ? 8 : 0;
	key = python_word(entry);
	if (!key || python_word(key + l->str_length) != 8 ||
	    python_word(key + l->str_ascii) != PYTHON_NAME_KEY)
		return 0;
	return python_word(entry + 8);
}

__noinline int python_name_scope(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	__u64 module;

	if (!s || !name)
		return 0;
	module = python_module(s);
	if (module)
		name->n_scope =
			python_append_str(s, name, module, WIRE_SCOPE_BYTES, &name->scope_encoding);
	return 0;
}

static __always_inline void python_name_lines(struct scratch *s, struct wire_name *name,
					      __u64 lines)
{
	const struct python_layout *l = python_layout(s);
	__u64 n = ~0ULL;

	if (want_lines)
		bpf_probe_read_user(&n, sizeof(n), (void *)(lines + l->bytes_length));
	/* The table of a function of one line may be empty (3.9). */
	if (n > WIRE_LINES_BYTES)
		return;
	name->n_lines = name_append(name, lines + l->bytes_data, n, WIRE_LINES_BYTES);
	if (name->n_lines == n)
		name->lines_format = l->lines_format;
}

__noinline int python_name_texts(__u32 level, __u64 qualname)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct python_layout *l;
	__u64 str, file, lines;

	if (!s || !name || !python_get_code(s) || !python_is_code(s))
		return 0;
	l = python_layout(s);
	str = qualname ?: python_u64(s, l->code_name);
	file = python_u64(s, l->code_file);
	lines = python_u64(s, l->code_lines);
	name->line = python_u32(s, l->code_line);
	name->n_name = python_append_str(s, name, str, WIRE_NAME_BYTES, &name->name_encoding);
	name->n_file = python_append_str(s, name, file, WIRE_FILE_BYTES, &name->file_encoding);
	python_name_lines(s, name, lines);
	return name->n_name > 0;
}

static __always_inline int python_resume(struct scratch *s, __u64 low)
{
	(void)s;
	(void)low;
	return 0;
}

static __always_inline int python_name(struct scratch *s, struct wire_name *name)
{
	__u64 qualname;
	int is_read;

	if (s->runtime.print == PYTHON_COLLECTOR_PRINT) {
		name->n_name = sizeof(PYTHON_COLLECTOR_NAME) - 1;
		__builtin_memcpy(name->texts, PYTHON_COLLECTOR_NAME,
				 sizeof(PYTHON_COLLECTOR_NAME) - 1);
		return 1;
	}
	python_name_scope(s->level);
	qualname = python_qualname(s->level);
	/* To the verifier they may have returned anything. */
	asm volatile("" : "+r"(qualname));
	is_read = python_name_texts(s->level, qualname);
	asm volatile("" : "+r"(is_read));
	return is_read;
}

static __always_inline __u32 python_task(struct scratch *s)
{
	(void)s;
	return 0;
}

static __always_inline int python_code(struct scratch *s)
{
	(void)s;
	return RUNTIME_CODE_NOT_ITS;
}

#endif
