/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the code of _PyEval_EvalFrameDefault puts its frame into the list of frames, and takes it out again, in CPython 3.6 to 3.9:
 *
 *	tstate->frame = f;	mov %rbx, 0x18(%r12)		the first store to that field
 *				str x28, [x23, #24]
 *	...
 *	tstate->frame = f->f_back;	mov 0x18(%rbx), %rax; mov %rax, 0x18(%r12)	the first that comes right behind a load of it
 *					ldr x28, [x28, #24]; str x28, [x23, #24]
 *	return ...;
 *
 * Both fields have the same offset in these versions, and in 3.10, which has a chain of CFrames as well. There each of the two stores comes a few
 * instructions behind one of the innermost CFrame:
 *
 *	tstate->cframe = &cframe;	mov %rdx, 0x30(%rbp)
 *	tstate->frame = f;		mov %rbx, 0x18(%rbp)
 *
 * Pure.
 */
#ifndef XAGENT_AGENT_RUNTIMES_PYTHON_LOOP_H
#define XAGENT_AGENT_RUNTIMES_PYTHON_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the function, from its beginning on: what is looked at. The last store lies within 2,050 bytes in builds of Debian, pyenv and python.org. */
#define PYTHON_LOOP_BYTES 4096

struct python_loop {
	uint16_t from;	   /* the frame is in the list from here on; 0: not found */
	uint16_t gap_at;   /* it is out of it from here on, … */
	uint8_t gap_bytes; /* … until it returns or jumps; 0: not found */
	uint16_t cframe_from;	/* the CFrame is in the chain from here on, before the frame is in its list; 0: not found */
	uint16_t cframe_gap_at; /* … and out of it, before the frame is */
};

/* `machine`: EM_X86_64 or EM_AARCH64. */
void python_loop_find(uint16_t machine, const uint8_t *code, size_t n,
		      struct python_loop *ret_loop);

/* The stores of CFrames before those that were found. `offset`: of PyThreadState.cframe. */
void python_loop_find_cframes(uint16_t machine, const uint8_t *code, uint8_t offset,
			      struct python_loop *loop);

/* Whether it calls by a table of functions with a register as its index, as the loop of a tail-calling build (3.14 and later) calls the first
 * instruction of the bytecode. That of a build that is one function jumps instead. */
bool python_loop_calls_by_table(uint16_t machine, const uint8_t *code, size_t n);

#endif
