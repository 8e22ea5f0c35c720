/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk finished in the agent, by the code that the kernel half runs (bpf/unwind.h): over a copied stack, or over a stopped thread.
 */
#ifndef XAGENT_AGENT_UNWIND_HOST_WALK_H
#define XAGENT_AGENT_UNWIND_HOST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/unwind/frame_ref.h"
#include "agent/unwind/object_tables.h"
#include "bpf/wire.h"

struct host_walk_options {
	struct process *process;
	const struct mappings *mappings; /* of it, those to walk with; NULL: none are known */
	struct object_tables *objects;
	/* Memory of the process: 0, else it cannot be read. */
	int (*read)(void *data, uint64_t addr, void *dst, size_t n);
	/* A frame, leaf first: FILE, MEMORY or UNKNOWN; and where it goes on, so of callers the return
	 * address itself. False ends the walk as too deep. */
	bool (*on_frame)(void *data, struct frame_ref frame, uint64_t pc);
	/* The frame told last has the stack from `begin` to `end`, where its caller's begins. False as above. NULL: nobody asks. */
	bool (*on_extent)(void *data, uint64_t begin, uint64_t end);
	void *data; /* of all three */
	/* Keep the registers that calls preserve from frame to frame. Costs five look-ups a frame, for the few walks that end for want of
	 * one (STOP_REASON_REGISTER). */
	bool all_registers;
	bool wanted;	/* tables that the walk comes by are to be loaded */
	uint32_t flags; /* WIRE_USER_UNWOUND_*: what is known of regs */
	bool after_syscall;
	uint64_t user_mask; /* the bits of its addresses (agent/util/user_space.h) */
};

/* Why it ended. STOP_REASON_COPY_END stands for every read that failed. All is borrowed for the call. */
enum stop_reason host_walk(const struct host_walk_options *o, const struct wire_regs *regs);

/* The frame of a pc by these mappings (NULL: none): FILE, or MEMORY; none where no mapping holds it. */
struct frame_ref host_frame(const struct mappings *mappings, uint64_t pc);

#endif
