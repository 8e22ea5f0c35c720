/* SPDX-License-Identifier: Apache-2.0 */
/* Run-queue latency: every wake-up and switch of tasks, on all CPUs. */
#include "agent/sample/programs.h"
#include "agent/sample/switch_return.h"
#include "bpf/sample.skel.h"

static const struct programs run_queue = {
	.ops = &source_run_queue,
	.source = EVENT_SOURCE_RUN_QUEUE,
	.map = "run_queue_tasks",
	.begin = "run_queue_begin",
	/* New tasks first, then the ends, then the tasks that are there, then the switches: between these none is missed. */
	.items = { { "run_queue_fork", "sched_process_fork" },
		   { "run_queue_in", NULL },
		   { "run_queue_waking", "sched_waking" },
		   { "run_queue_out", "sched_switch" } },
};

/* Where it is not seen that a task is back. */
static const struct programs run_queue_predicted = {
	.ops = &source_run_queue,
	.source = EVENT_SOURCE_RUN_QUEUE,
	.map = "run_queue_tasks",
	.begin = "run_queue_begin",
	.items = { { "run_queue_fork", "sched_process_fork" },
		   { "run_queue_waking", "sched_waking" },
		   { "run_queue_switch", "sched_switch" } },
};

static int run_queue_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
			 struct source **ret_source)
{
	bool is_predicted = o->event_hz[EVENT_RUN_QUEUE] &&
			    switch_return_choose(bpf->progs.run_queue_in, "run_queue") ==
				    SWITCH_RETURN_UNSEEN;

	return programs_new(is_predicted ? &run_queue_predicted : &run_queue, bpf, o, why,
			    ret_source);
}

const struct source_ops source_run_queue = {
	.event = EVENT_RUN_QUEUE,
	.new = run_queue_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};
