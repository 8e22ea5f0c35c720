/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a function as V8's objects have it, read from a process that may change them meanwhile, or hold anything: for names that a tick could
 * not read, as those in several pieces.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_NAMES_H
#define XAGENT_AGENT_RUNTIMES_V8_NAMES_H

#include "agent/runtimes/v8/objects.h"
#include "bpf/runtimes/v8.h"

/* Of the SharedFunctionInfo at that address, if it has this print. The texts are put into `buf`. */
bool v8_name_read(const struct v8_layout *layout, const struct runtime_memory *memory,
		  uint64_t shared, uint32_t print, char *buf, size_t n_buf,
		  struct code_text *ret_text);

/* The string that the pointer leads to, in UTF-8; how many bytes. 0: it cannot be read, or is none. */
size_t v8_text_read(const struct v8_look *l, uint64_t pointer, char *to, size_t n_to);

/* What a function without a name is called: "<anonymous> (file.js:12)", as far as file and line are known. Cut where there is no room. */
size_t v8_name_unnamed(const struct code_text *text, char *to, size_t n_to);

#endif
