/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for locks: of user code by its system calls, of the kernel by its own tracepoints. */
#include "agent/sample/programs.h"

static const struct programs locks = {
	.ops = &source_locks,
	.source = EVENT_SOURCE_LOCKS,
	.map = "lock_tasks",
	/* The ends first: a wait has both, or is not seen. */
	.items = { { "lock_futex_end", "sys_exit" },
		   { "lock_futex_begin", "sys_enter" },
		   { "lock_kernel_end", "contention_end" },
		   { "lock_kernel_begin", "contention_begin" } },
};

static int locks_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		     struct source **ret_source)
{
	return programs_new(&locks, bpf, o, why, ret_source);
}

const struct source_ops source_locks = {
	.event = EVENT_LOCKS,
	.new = locks_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};
