/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of V8's heap, in the memory of a process that may change them meanwhile, or hold anything. What cannot be read is 0. */
#ifndef XAGENT_AGENT_RUNTIMES_V8_OBJECTS_H
#define XAGENT_AGENT_RUNTIMES_V8_OBJECTS_H

#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/v8.h"

struct v8_look {
	const struct v8_layout *layout;
	const struct runtime_memory *memory;
	uint8_t shared[V8_SHARED_BYTES];
};

struct v8_object {
	uint64_t at; /* 0: there is none */
	uint16_t type;
};

bool v8_get(const struct v8_look *l, uint64_t addr, void *dst, size_t n);
uint64_t v8_word_at(const struct v8_look *l, uint64_t addr);
uint32_t v8_int_at(const struct v8_look *l, uint64_t addr);
struct v8_object v8_object_at(const struct v8_look *l, uint64_t pointer);

/* Reads the SharedFunctionInfo there into `shared`. False: there is none, or none with that print. */
bool v8_shared_read(struct v8_look *l, uint64_t at, uint32_t print);
uint64_t v8_shared_word(const struct v8_look *l, uint8_t at);
/* Its script; `at` is 0: it has none. */
struct v8_object v8_shared_script(const struct v8_look *l);

#endif
