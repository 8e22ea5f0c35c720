/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of WebAssembly: their names, by the bytes of their module in a process's memory. The kernel half has told which function of which module it is
 * (bpf/runtimes/v8_wasm.bpf.h): by the module's script, and what its bytes are known by. Modules stand in the place of sources (runtime.h), and numbers of functions in that of where
 * they begin.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_WASM_H
#define XAGENT_AGENT_RUNTIMES_V8_WASM_H

#include "agent/runtimes/v8/kept.h"
#include "agent/runtimes/v8/objects.h"

bool v8_is_wasm(const struct source_function *function);
/* As runtime.read_source and runtime.name_in_source. */
int v8_wasm_read(const struct v8_look *l, const struct source_function *function,
		 struct source_facts *ret_facts);
size_t v8_wasm_name(const struct kept *kept, const struct source_function *function,
		    const struct code_text *text, char *to, size_t n_to);

#endif
