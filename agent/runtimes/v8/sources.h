/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of the methods of a script (classes.h), and what it is known by (debug_id.h), by its source in a process's memory. */
#ifndef XAGENT_AGENT_RUNTIMES_V8_SOURCES_H
#define XAGENT_AGENT_RUNTIMES_V8_SOURCES_H

#include "agent/runtimes/runtime.h"
#include "bpf/runtimes/v8.h"

/* Characters: parsing so many takes some 16 ms. Of longer ones the end is read. */
#define V8_MAX_SOURCE (1U << 20)

/* As runtime.h has them. */
int v8_source_read(const struct v8_layout *layout, const struct runtime_memory *memory,
		   const struct source_function *function, struct source_facts *ret_facts);
const char *v8_source_id(const struct source_facts *facts);
size_t v8_name_in_source(const struct source_facts *facts, const struct source_function *function,
			 const struct code_text *text, char *to, size_t n_to);

#endif
