/* SPDX-License-Identifier: Apache-2.0 */
/* Where a task is back on its CPU. */
#include "agent/sample/switch_return.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "agent/sample/refusal.h"
#include "agent/util/log.h"

int switch_return_choose(struct bpf_program *program, const char *event, struct buf *why)
{
	if (bpf_program__set_attach_target(program, 0, "sched_exit_tp") == 0)
		return 0;
	if (bpf_program__set_expected_attach_type(program, BPF_TRACE_FEXIT) == 0 &&
	    bpf_program__set_attach_target(program, 0, "schedule") == 0) {
		log_debug("waits end where schedule() returns: this kernel has no tracepoint "
			  "sched_exit_tp",
			  LOG_STR("event", event));
		return 0;
	}
	(void)buf_printf(why,
			 "this kernel tells nobody when a task is back on its CPU: %s needs its "
			 "tracepoint sched_exit_tp, or fexit programs on schedule()",
			 event);
	return -EOPNOTSUPP;
}

void switch_return_explain(const char *event, int error, struct buf *why)
{
	(void)refusal_of_function(event, "schedule", "sched_exit_tp", error, why);
}
