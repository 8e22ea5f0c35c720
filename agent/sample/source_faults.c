/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, in user code and in system calls. */
#include "agent/sample/programs.h"

static const struct programs faults = {
	.ops = &source_faults,
	.source = EVENT_SOURCE_FAULTS,
	.is_thinned = true,
	.items = { { "fault_user", "page_fault_user" }, { "fault_kernel", "page_fault_kernel" } },
};

static int faults_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		      struct source **ret_source)
{
	return programs_new(&faults, bpf, o, why, ret_source);
}

const struct source_ops source_faults = {
	.event = EVENT_FAULTS,
	.new = faults_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};
