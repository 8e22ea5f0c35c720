/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, in user code and in system calls. */
#include <bpf/libbpf.h>

#include "agent/sample/programs.h"
#include "bpf/sample.skel.h"

static const struct programs faults = {
	.ops = &source_faults,
	.source = EVENT_SOURCE_FAULTS,
	.is_thinned = true,
	.items = { { "fault_user", "page_fault_user" }, { "fault_kernel", "page_fault_kernel" } },
};

/* Where the exceptions have no tracepoints. */
static const struct programs handled = {
	.ops = &source_faults,
	.source = EVENT_SOURCE_FAULTS,
	.function = "handle_mm_fault",
	.is_thinned = true,
	.items = { { "fault_handled", "page_fault_user" } },
};

static int faults_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		      struct source **ret_source)
{
	bool have_tracepoint =
		o->event_hz[EVENT_FAULTS] &&
		bpf_program__set_attach_target(bpf->progs.fault_user, 0, "page_fault_user") == 0;

	return programs_new(have_tracepoint ? &faults : &handled, bpf, o, why, ret_source);
}

const struct source_ops source_faults = {
	.event = EVENT_FAULTS,
	.new = faults_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};
