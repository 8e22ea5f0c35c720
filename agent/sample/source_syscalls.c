/* SPDX-License-Identifier: Apache-2.0 */
/* System calls: every one, on all CPUs. */
#include "agent/sample/programs.h"

static const struct programs syscalls = {
	.ops = &source_syscalls,
	.source = EVENT_SOURCE_SYSCALLS,
	.map = "syscall_tasks",
	/* The end first: a call has both, or is not seen. */
	.items = { { "syscall_end", "sys_exit" }, { "syscall_begin", "sys_enter" } },
};

static int syscalls_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
			struct source **ret_source)
{
	return programs_new(&syscalls, bpf, o, why, ret_source);
}

const struct source_ops source_syscalls = {
	.event = EVENT_SYSCALLS,
	.new = syscalls_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};
