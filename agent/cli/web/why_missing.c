/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process is in the profiles, and if not, why. */
#include "agent/cli/web/why_missing.h"

#include <inttypes.h>

#include "agent/cli/inspect/process_text.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A profile covers so much at most by default: who had no sample for longer is in none of the newest. */
#define IDLE_NS (60 * NS_PER_S)

static void put_nobody(const struct why_missing *f, struct buf *why, struct buf *fix)
{
	(void)buf_append_str(why, "nothing is profiled: ");
	if (f->problem) {
		(void)buf_append_str(why, f->problem);
		return;
	}
	(void)buf_append_str(why, "there is no pyroscope.ebpf in the configuration");
	(void)buf_append_str(fix, "add a block: pyroscope.ebpf \"host\" { forward_to = […] }");
}

static void put_untargeted(const struct why_missing *f, struct buf *why, struct buf *fix)
{
	(void)buf_printf(why, "no target of %s selects it, and targets_only is true",
			 f->component_id);
	(void)buf_printf(fix,
			 "add a target for it, such as { __process_pid__ = \"%" PRIu32 "\" }, let "
			 "the rules that make targets keep it, or set targets_only = false",
			 f->pid);
}

static void put_unseen(const struct why_missing *f, struct buf *why, struct buf *fix)
{
	if (f->kernel_thread && f->kernel_left_out) {
		(void)buf_append_str(why,
				     "it is a kernel thread, and kernel stacks are not collected");
		(void)buf_append_str(fix, "set collect_kernel_profile and kernel_frames to true");
		return;
	}
	(void)buf_append_str(why, "it would be profiled, but has not been met on a CPU yet: only "
				  "processor time is measured, and it waits for something");
}

static void put_sampled(const struct why_missing *f, struct buf *why)
{
	bool idle = f->idle_ns >= IDLE_NS;

	(void)buf_printf(why, "it is profiled: %" PRIu64 " sample%s, the last one ", f->n_samples,
			 f->n_samples == 1 ? "" : "s");
	process_text_age(why, f->idle_ns);
	(void)buf_printf(why, " ago%s", idle ? "; since then it has waited for something" : "");
}

bool why_missing(const struct why_missing *f, struct buf *why, struct buf *fix)
{
	if (!f->component_id)
		put_nobody(f, why, fix);
	else if (f->ended)
		(void)buf_append_str(why, "it has ended, and its parent has not taken note of it");
	else if (f->verdict == EBPF_UNTARGETED)
		put_untargeted(f, why, fix);
	else if (f->verdict == EBPF_UNDECIDED)
		(void)buf_append_str(why, "its samples are kept until discovery tells of its "
					  "container, which has just been started");
	else if (f->n_samples == 0)
		put_unseen(f, why, fix);
	else
		put_sampled(f, why);
	return f->component_id && !f->ended && f->verdict != EBPF_UNTARGETED && f->n_samples > 0;
}

/* What hides single processes, not names or control groups. */
static enum host_finding hiding(const struct host_view *view)
{
	static const enum host_finding candidates[] = { HOST_GVISOR, HOST_FOREIGN_PROC,
							HOST_PID_NAMESPACE, HOST_HIDEPID };

	for (size_t i = 0; view && i < ARRAY_SIZE(candidates); i++)
		if (view->found[candidates[i]])
			return candidates[i];
	return HOST_FINDING_MAX;
}

void why_unknown(uint32_t pid, const struct host_view *view, struct buf *why)
{
	enum host_finding finding = hiding(view);

	(void)buf_printf(why, "there is no process %" PRIu32, pid);
	if (finding != HOST_FINDING_MAX)
		(void)buf_printf(why, " that this agent can see: %s; to see it: %s",
				 host_view_missing(finding), host_view_fix(view, finding));
}
