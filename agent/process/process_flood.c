/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: what one process, and the loss of events, may cost.
 *
 * Mappings are a sorted array that a change makes anew, so who has thousands of them and changes them in a loop would make the agent copy all
 * day. And who is not believed any more is read from /proc, which takes milliseconds where there are thousands of lines. Both have a share of
 * time; beyond it only that process's own mappings are old for a while.
 */
#include <errno.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

void process_apply_flood(struct process_table *t, const struct process_event *ev)
{
	struct process *p = process_table_find(t, ev->pid);

	if (p)
		p->is_in_doubt = true;
}

bool process_may_copy(struct process_table *t, struct process *p, uint64_t time_ns)
{
	size_t n_bytes = p->mappings ? p->mappings->n * sizeof(struct mapping) : 0;

	if (time_ns - p->copied_since_ns >= NS_PER_S) {
		p->copied_since_ns = time_ns;
		p->copied_bytes = 0;
	}
	bool was_over = p->copied_bytes > PROCESS_COPY_BYTES;
	p->copied_bytes += n_bytes;
	if (p->copied_bytes <= PROCESS_COPY_BYTES)
		return true;
	if (!was_over)
		telemetry_count(t->telemetry, TELEMETRY_mapping_floods, 1);
	telemetry_count(t->telemetry, TELEMETRY_sideband_left_out, 1);
	p->is_in_doubt = true;
	return false;
}

bool process_is_in_doubt(const struct process_table *t, const struct process *p)
{
	return p->is_in_doubt || p->losses != t->losses || p->mappings_ahead;
}

/* What was read waits for its time: whatever was lost by then is in it. */
bool process_is_outdated(const struct process_table *t, const struct process *p)
{
	if (p->trust != t->trust)
		return true;
	return !p->mappings_ahead && process_is_in_doubt(t, p) &&
	       clock_mono_ns() >= p->reread_after_ns;
}

void process_note_reread(struct process_table *t, struct process *p, uint64_t begin_ns)
{
	uint64_t now_ns = clock_mono_ns();

	p->trust = t->trust;
	p->losses = t->losses;
	p->is_in_doubt = false;
	p->reread_after_ns = now_ns + MAX_OF(PROCESS_REREAD_NS, (now_ns - begin_ns) *
								       PROCESS_REREAD_SHARE);
}

/* Behind process_note_reread(): what took long waits as long as that says. */
void process_put_off(struct process *p)
{
	p->is_in_doubt = true;
	p->reread_after_ns = MAX_OF(p->reread_after_ns, clock_mono_ns() + PROCESS_PASSING_NS);
}
