/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a coroutine ends that makecontext(3) has made: the C library's code that it returns to, which goes on with the next context.
 * There is no caller. glibc's call frame information says nothing of that, and what lies on the stack there is an address of a context.
 *
 * The code is known by its bytes, at an address that makecontext takes: x86-64.
 *
 *	mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je …
 */
#ifndef XAGENT_AGENT_OBJECT_RULES_CONTEXT_UNWIND_H
#define XAGENT_AGENT_OBJECT_RULES_CONTEXT_UNWIND_H

#include <stdbool.h>

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_source.h"

/* Whether the n bytes at `code` begin such code. Pure. */
bool context_unwind_is_end(const uint8_t *code, size_t n);
/* 0; UNWIND_SOURCE_NONE: the object has no makecontext; -errno. `elf` is borrowed for the call. */
int context_unwind_new(struct elf *elf, struct unwind_source **ret_source);

#endif
