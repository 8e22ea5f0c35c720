/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of `xagent profile` beside its result. */
#include "agent/cli/profile/report.h"

#include <inttypes.h>

#include "agent/cli/profile/viewer_hint.h"
#include "agent/util/clock.h"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void report_progress(const struct report *r, struct buf *out)
{
	(void)buf_printf(out, "%.1fs  %" PRIu64 " sample%s  ", seconds(r->elapsed_ns), r->n_samples,
			 plural(r->n_samples));
	_cleanup_buf_ struct buf subject = BUF_INIT(4096);
	profile_args_subject(r->args, &subject);
	(void)buf_append_str(out, buf_str(&subject));
	profile_args_rate(r->args, ", ", r->hz, out);
	(void)buf_append_str(out, ", ^C to end");
}

static void put_where(const struct report *r, struct buf *out)
{
	if (!r->args->output)
		return;
	if (r->n_parts == 0) {
		(void)buf_printf(out, ", %s was not written", r->args->output);
		return;
	}
	(void)buf_printf(out, ", written to %s", r->args->output);
	if (r->n_parts > 1)
		(void)buf_printf(out, " and %u more file%s (.2 …)", r->n_parts - 1,
				 plural(r->n_parts - 1));
}

static void put_look(const struct report *r, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(32768);
	const char *file = r->args->output;
	const struct viewer_hint l = { .format = r->args->format,
				       .file = file,
				       .path = r->path ? r->path : file,
				       .n_parts = r->n_parts };

	viewer_hint_text(&l, &text);
	if (text.len > 0)
		(void)buf_printf(out, "xagent: %s\n", buf_str(&text));
}

static const char *half(const struct profile_args *a)
{
	if (a->user_only)
		return " in user code";
	return a->kernel_only ? " in the kernel" : "";
}

static bool has_several(const struct report *r)
{
	return r->args->events.n > 1;
}

/* Each event has its own. */
static bool is_split(const struct report *r)
{
	return has_several(r) && profile_format_is_of_one_event(r->args->format);
}

/* Why there may be nothing to show. */
static void put_nothing(const struct report *r, struct buf *out)
{
	_cleanup_buf_ struct buf subject = BUF_INIT(4096);
	const struct profile_args *a = r->args;

	const struct event_text *e = &a->events.items[0];

	profile_args_subject(a, &subject);
	(void)buf_printf(out, "0 samples: %s ", buf_str(&subject));
	if (has_several(r))
		(void)buf_printf(out, "had none of these events%s in %.3g s", half(a),
				 seconds(r->elapsed_ns));
	else if (e->event == EVENT_OFF_CPU)
		(void)buf_printf(out, "did not wait in %.3g s", seconds(r->elapsed_ns));
	else if (e->event == EVENT_WALL)
		(void)buf_printf(out, "neither ran nor waited in %.3g s", seconds(r->elapsed_ns));
	else if (event_is_plain(e->event))
		(void)buf_printf(out, "had no %s%s in %.3g s", event_type(e->event)->name, half(a),
				 seconds(r->elapsed_ns));
	else if (e->event != EVENT_CPU)
		(void)buf_printf(out, "did not come by %s%s in %.3g s", e->source, half(a),
				 seconds(r->elapsed_ns));
	else if (a->pids.n + a->tids.n == 0 && !a->cgroup && !profile_args_is_command_only(a))
		(void)buf_printf(out, "used no CPU%s in %.3g s: all was idle", half(a),
				 seconds(r->elapsed_ns));
	else
		(void)buf_printf(
			out,
			"used no CPU%s while being profiled, or less than %.3g ms (1/%" PRIu32
			" s)",
			half(a), 1e3 / r->hz, r->hz);
	if (a->output && !is_split(r))
		(void)buf_printf(out, r->n_parts > 0 ? "; %s has none" : "; %s was not written",
				 a->output);
}

static void put_samples(const struct report *r, struct buf *out)
{
	(void)buf_printf(out, "%" PRIu64 " sample%s in %.1f s", r->n_samples, plural(r->n_samples),
			 seconds(r->elapsed_ns));
	profile_args_rate(r->args, " at ", r->hz, out);
	if (r->n_user_stacks > 0)
		(void)buf_printf(out, ", %.1f%% of user stacks complete",
				 100.0 * (double)r->n_complete / (double)r->n_user_stacks);
	if (!is_split(r))
		put_where(r, out);
}

void report_end(const struct report *r, struct buf *out)
{
	(void)buf_append_str(out, "xagent: ");
	if (r->n_samples + r->n_ring_lost + r->n_dropped == 0)
		put_nothing(r, out);
	else
		put_samples(r, out);
	(void)buf_append_char(out, '\n');
	if (r->n_ring_lost)
		(void)buf_printf(
			out, "xagent: %" PRIu64 " sample%s lost: the ring buffer was full%s\n",
			r->n_ring_lost, plural(r->n_ring_lost),
			event_list_has_ticks(&r->args->events) ? "; a lower -F helps" : "");
	if (r->n_dropped)
		(void)buf_printf(out,
				 "xagent: %" PRIu64
				 " sample%s left out: there was no memory for them\n",
				 r->n_dropped, plural(r->n_dropped));
	if (r->kernel_hidden && !r->args->user_only)
		(void)buf_append_str(out, "xagent: names of kernel functions are hidden, shown as "
					  "[kernel]: set kernel.kptr_restrict to 0 or 1, and run "
					  "with CAP_SYSLOG\n");
	if (r->n_samples > 0 && !is_split(r))
		put_look(r, out);
}

void report_put_file(const struct report *r, const struct report_file *f, struct buf *out)
{
	const struct viewer_hint l = { .format = r->args->format,
				       .file = f->file,
				       .path = f->path ? f->path : f->file,
				       .n_parts = f->n_parts };

	if (f->is_missing)
		return;
	(void)buf_append_str(out, "xagent: ");
	event_text_what(f->event, out);
	if (f->n_parts == 0) {
		(void)buf_printf(out, ": 0 samples, %s was not written\n", f->file);
		return;
	}
	(void)buf_append_str(out, ": ");
	viewer_hint_text(&l, out);
	(void)buf_append_char(out, '\n');
}
