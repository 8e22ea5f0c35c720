/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the step over CPython's frames has to know of one build of the interpreter: where its structures have what is read. Compiled by both sides;
 * agent/runtimes/python fills it, from the file alone.
 *
 * A list leads to the present thread's state: _PyRuntime → interpreters → their threads. The state leads to the innermost frame, a frame to its code
 * and to its caller's. How the frames lie with respect to the C stack has changed thrice:
 *
 *	3.6 … 3.9	one frame for each activation of the interpreter's loop, and nothing of either on the C stack: PYTHON_BY_CODE
 *	3.10, 3.11	a chain of CFrames on the C stack, one for each activation, which runs one frame (3.10) or several (3.11): PYTHON_BY_CFRAME
 *	3.12 …		an entry frame on the C stack, in the list of frames, for each activation: PYTHON_BY_ENTRY
 */
#ifndef XAGENT_BPF_RUNTIMES_PYTHON_H
#define XAGENT_BPF_RUNTIMES_PYTHON_H

#include <linux/types.h>

#include "bpf/image.h"
#include "bpf/wire.h"

enum python_seam { PYTHON_UNSUPPORTED, PYTHON_BY_CODE, PYTHON_BY_CFRAME, PYTHON_BY_ENTRY };

/* Tables of lines: co_lnotab (to 3.9), co_linetable of 3.10, that of 3.11 and later. With a name that has PYTHON_NO_LINES no table was sent. */
enum python_lines { PYTHON_NO_LINES, PYTHON_LNOTAB, PYTHON_LINETABLE, PYTHON_LOCATIONS };

/* Tasks of asyncio's C half (3.14 …), by what _asyncio says of itself. */
struct python_asyncio {
	__u32 interpreter_bytes;   /* sizeof(PyInterpreterState): of which interpreter it is */
	__u16 thread_running_task; /* in PyThreadState; 0: nothing is known of tasks */
	/* A task; task_bytes are read. */
	__u8 task_bytes, task_awaited_by, task_is_task, task_awaited_by_is_set, task_coro;
	__u8 zero;
};

/* Offsets in bytes; addresses as linked. struct wire_runtime.words holds it. */
struct python_layout {
	__u64 interpreters_at; /* pointer to the first PyInterpreterState */
	__u64 loop_at;	       /* PYTHON_BY_CODE, 3.10: _PyEval_EvalFrameDefault */
	__u64 code_type_at;    /* PyCode_Type */
	__u32 loop_bytes;
	/* In it: up to where the frame is put into the list, and from where on it is out of it again, until the function returns. */
	__u16 loop_from, loop_gap_at;
	/* The same of its CFrame, a few instructions before each (3.10); 0: not known. */
	__u16 cframe_from, cframe_gap_at;
	__u16 interpreter_next, interpreter_threads;
	/* PyThreadState; the first thread_bytes are read. */
	__u8 thread_bytes, thread_next, thread_interpreter, thread_id, thread_frame; /* or cframe */
	__u8 seam;
	__u8 minor; /* of 3.x */
	/* struct _CFrame */
	__u8 has_cframe;   /* thread_frame leads to one */
	__u8 cframe_frame; /* of 3.10 none: frame_own */
	__u8 cframe_previous;
	/* The frame; frame_bytes are read. */
	__u8 frame_bytes, frame_code, frame_previous, frame_instr, frame_globals;
	__u8 frame_mark; /* byte: is_entry (3.11), owner (3.12 …) */
	__u8 frame_own;	 /* PyThreadState.frame, where 3.10 has the innermost one */
	__u8 frame_tlbc; /* which copy of the bytecode, of free-threaded builds; 0: there is one */
	/* The code object; code_bytes are read. */
	__u8 code_bytes, code_type, code_name, code_file, code_line, code_lines;
	__u8 code_version; /* a number that no other code object has; 0: there is none */
	__u8 code_tlbc;
	__u8 code_instr; /* the bytecode; PYTHON_BY_ENTRY, 3.11 */
	__u8 instr_unit; /* 0: instr is a pointer; else an index of so many bytes */
	/* str */
	__u8 str_length, str_hash, str_state, str_ascii, str_compact;
	__u8 str_kind_shift; /* in its state */
	/* bytes, dict and its keys */
	__u8 bytes_length, bytes_data, dict_keys;
	__u8 has_log2_keys; /* 3.11 … */
	__u8 lines_format;  /* enum python_lines */
	__u8 loop_gap_bytes;
	/* Of the interpreter: a number, whether its collector runs, and the frame that has started it (3.15). 0: not known. */
	__u16 collecting, collecting_frame;
	/* Where a method's class is looked for (3.6 to 3.10; bpf/runtimes/python_method.bpf.h); 0: code objects have a qualified name. */
	__u16 frame_locals;
	__u8 code_n_locals, func_code, func_qualname;
	/* Coroutines, generators and asynchronous generators; gen_bytes are read. 0: none of this is known. */
	__u8 gen_bytes, gen_frame, gen_state;
	__u8 gen_suspended; /* the first of the states in which it waits: there it has yielded itself … */
	__u8 gen_n_suspended; /* … in those behind it, something that it awaits has */
	__u8 gen_awaited;     /* words below the stack's end */
	__u8 frame_stack;     /* pointer to its end */
	__u8 object_bytes;    /* sizeof(PyObject) */
	__u8 set_used, set_table, set_mask;
	__u8 type_name;
	/* From PyCode_Type on, in bytes; 0: not known. */
	__s32 coroutine_type, generator_type, async_generator_type;
	__s32 function_type;
	struct python_asyncio asyncio;
};

_Static_assert(sizeof(struct python_layout) <= WIRE_RUNTIME_WORDS * 8, "it fits");

/* _PyInterpreterFrame.owner: from here on a frame that is no function's but of the loop, or made for a call of C (enum _frameowner, 3.12 to 3.15). */
#define PYTHON_OWNER_ENTRY 3
/* … and one that lies in a generator or a coroutine. */
#define PYTHON_OWNER_GENERATOR 1

/* What of a code object does not change while it lives. */
struct python_identity {
	__u64 name, file, lines; /* addresses */
	__u32 line;
	__u32 version; /* 0: it has none */
	/* Of the texts, as the interpreter has computed them; without a version. */
	__u64 name_hash, file_hash;
};

/* The low bits of a print are of the globals that a function runs with, which are not the code object's. */
#define PYTHON_PRINT_SCOPE_BITS 12
#define PYTHON_PRINT_CODE_MASK (~0U << PYTHON_PRINT_SCOPE_BITS)

/*
 * What a code object is known by beside its address. Code that is made and forgotten again and again comes to lie where that before has lain, with its
 * names there, too: so there is a number that no other code has (3.12), or the hash of the texts. Never 0.
 */
static inline __attribute__((always_inline)) __u32 python_print_of(const struct python_identity *i,
								   __u64 scope)
{
	__u64 hash = hash_mix(i->name, i->file);

	hash = hash_mix(hash, i->lines);
	hash = hash_mix(hash, (__u64)i->line << 32 | i->version);
	hash = hash_mix(hash, i->name_hash);
	hash = hash_mix(hash, i->file_hash);
	return ((__u32)(hash >> 32) & PYTHON_PRINT_CODE_MASK) |
	       ((__u32)hash_mix(0, scope) & ~PYTHON_PRINT_CODE_MASK) | 1;
}

#endif
