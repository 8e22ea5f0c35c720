/* SPDX-License-Identifier: Apache-2.0 */
/* How stacks are shown to people. Pure; everything ends with a line break. */
#ifndef XAGENT_AGENT_CLI_INSPECT_STACK_TEXT_H
#define XAGENT_AGENT_CLI_INSPECT_STACK_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "bpf/wire.h"

/* A thread without a name is "?". */
void stack_text_thread(struct buf *out, uint32_t tid, const char *name);

/* Frame i of n, leaf first. `object` NULL: none. */
void stack_text_frame(struct buf *out, size_t i, size_t n, uint64_t pc, const char *function,
		      const char *object);

/* Why the stack is cut; nothing when it is not. */
void stack_text_end(struct buf *out, enum stop_reason end);

#endif
