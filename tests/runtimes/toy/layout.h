/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a toy interpreter lays out what a profiler has to read: its frames and functions. Shared by the interpreter (tests/fixtures/toy.c), by the step over
 * its frames and by the agent's half.
 *
 * As in CPython since 3.12, an activation of the interpreter has an entry in the list of frames, which lies on the C stack.
 */
#ifndef XAGENT_TESTS_RUNTIMES_TOY_LAYOUT_H
#define XAGENT_TESTS_RUNTIMES_TOY_LAYOUT_H

#include <linux/types.h>

/* An exported thread-local pointer to the innermost frame. */
#define TOY_SYMBOL "toy_thread_frame"

/* In a library the loader decides where that is: its distance from the thread's own pointer, exported once it is known, as CPython has the number of its
 * thread-specific data. */
#define TOY_DISTANCE_SYMBOL "toy_thread_distance"

struct toy_function {
	__u32 print; /* never the same for two functions */
	__u32 line;
	__u64 name; /* const char * */
	__u64 file;
};

struct toy_frame {
	__u64 previous;
	__u64 function; /* struct toy_function *; of an entry 0 */
	__u32 position; /* lines below that of the function */
	__u32 is_entry;
};

/* Where generated code has its struct toy_function *, from the frame pointer on. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define TOY_CODE_FUNCTION 16
#else
#define TOY_CODE_FUNCTION (-8)
#endif

/* struct wire_runtime, words: the distance of the pointer from the thread's; where it is kept instead, 0: nowhere. */
#define TOY_WORD_THREAD 0
#define TOY_WORD_DISTANCE_AT 1

#endif
