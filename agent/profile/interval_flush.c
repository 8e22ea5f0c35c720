/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals: closed in the loop thread, named and encoded in the worker, delivered in the loop thread again. */
#include "agent/profile/session_private.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "agent/profile/stack_order.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

/* Half of the interval, so that a profile is there before the next is made; and no longer than people wait. */
#define SPREAD_PARTS 2
#define SPREAD_MAX_NS (15 * NS_PER_S)

struct session_job {
	struct worker_job job;
	struct session *session;
	struct interval *interval;
	enum demangle_mode demangle;
	struct kernel_text kernel_text; /* what has come and gone during the interval */
	build_fn build_fn;
	struct build build;
};

static void name_and_build(struct session_job *j)
{
	struct symbol_store *store = j->session->symbols.store;
	_cleanup_(namer_freep) struct namer *namer = NULL;

	interval_end_after(j->interval, j->session->intervals.last_profile_ns);
	symbol_store_set_demangle(store, j->demangle);
	symbol_store_kernel_changed(store, &j->kernel_text);
	symbol_store_begin(store);
	if (namer_new(j->interval, store, j->session->budget.namer_bytes, &namer) < 0) {
		j->build.summary.n_failed = j->interval->n_samples;
	} else {
		stack_order_interval(j->interval);
		namer_name_all(namer);
		j->build_fn(j->interval, namer, &j->build);
		build_summarize(j->interval, namer, &j->build);
		j->session->intervals.last_profile_ns = MAX_OF(
			j->session->intervals.last_profile_ns, build_last_time_ns(&j->build));
	}
	j->build.summary.kernel_hidden = symbol_store_kernel_hidden(store);
	str_copy_utf8(j->build.summary.failed_file, BUILD_NAME_MAX,
		      str_from(symbol_store_failed_file(store)));
	symbol_store_end(store);
}

/* What the job took goes back to the system: whole free pages lie between what stays. Where that is little, the walk through the heap,
 * some milliseconds, is not worth it. */
static void job_run(struct worker_job *job)
{
	struct session_job *j = CONTAINER_OF(job, struct session_job, job);

	name_and_build(j);
	if (mallinfo2().fordblks >= j->session->budget.trim_bytes)
		(void)malloc_trim(0);
}

static void job_done(struct worker_job *job)
{
	struct session_job *j = CONTAINER_OF(job, struct session_job, job);
	struct session *s = j->session;
	const struct session_hooks *hooks = &s->options.hooks;

	s->intervals.n_building -= j->interval->n_samples;
	telemetry_count(s->options.telemetry, TELEMETRY_samples_in_profiles,
			j->build.summary.n_samples);
	telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_encode,
			j->build.summary.n_failed);
	if (hooks->on_interval)
		hooks->on_interval(j->interval, &j->build, hooks->data);
	build_fini(&j->build);
	interval_free(j->interval);
	kernel_text_fini(&j->kernel_text);
	free(j);
}

int session_open_interval(const struct session *s, struct interval **ret_interval)
{
	int r = interval_new(NS_PER_S / sampler_hz(s->sampler), s->budget.interval_bytes,
			     ret_interval);

	if (r < 0)
		return r;
	(*ret_interval)->tagging = s->options.tagging;
	(*ret_interval)->no_kernel = s->options.sampler.no_kernel;
	return 0;
}

/* Every label set in the interval is one of a series afterwards. */
static void settle(struct session *s, struct interval *next)
{
	const struct session_hooks *hooks = &s->options.hooks;

	s->intervals.is_flushing = true;
	if (hooks->before_close)
		hooks->before_close(hooks->data);
	session_settle_undecided(s, s->stopped ? NULL : next);
	session_io_carry(s, next);
	session_held_carry(s, next);
	if (hooks->on_settled)
		hooks->on_settled(s->interval, hooks->data);
	s->intervals.is_flushing = false;
}

/* Services of one interval, and agents that were started together, do not send in one moment. The first is waited for by who has just started
 * the agent, the last by who ends it. */
static uint64_t spread_of(const struct session *s)
{
	if (s->intervals.n_closed == 0 || s->stopped)
		return 0;
	return MIN_OF(s->options.interval_ns / SPREAD_PARTS, SPREAD_MAX_NS);
}

int session_close_interval(struct session *s)
{
	_cleanup_(interval_freep) struct interval *next = NULL;
	_cleanup_free_ struct session_job *j = calloc(1, sizeof(*j));
	int r = j ? session_open_interval(s, &next) : -ENOMEM;

	assert(s->interval);
	if (r == 0 && (s->intervals.is_flushing || !worker_has_room(s->options.worker)))
		r = -EAGAIN;
	if (r < 0) {
		log_warn("the interval cannot be closed now, it goes on", LOG_ERR(r));
		return r;
	}
	session_look_for_names(s);
	session_wall_look(s);
	session_io_look(s);
	session_held_look(s);
	settle(s, next);
	*j = (struct session_job){
		.job = { .run = job_run, .done = job_done },
		.session = s,
		.interval = s->interval,
		.demangle = s->options.demangle,
		.build_fn = s->options.build,
	};
	sideband_take_kernel_text(s->sideband, &j->kernel_text);
	build_init(&j->build);
	j->build.max_bytes = s->budget.encoder_bytes;
	j->build.spread_ns = spread_of(s);
	if (s->options.hooks.wants)
		j->build.wants = s->options.hooks.wants(s->options.hooks.data);
	j->build.data = s->options.build_data;
	s->interval->end_real_ns = clock_real_ns();
	s->intervals.n_building += s->interval->n_samples;
	r = worker_submit(s->options.worker, &j->job);
	assert(r == 0);
	s->interval = TAKE_PTR(next);
	session_forget_wakers(s);
	s->intervals.n_closed++;
	j = NULL;
	return 0;
}

uint64_t session_n_waiting(const struct session *s)
{
	return (s->interval ? s->interval->n_samples : 0) + s->intervals.n_building +
	       s->held.n_waiting;
}
