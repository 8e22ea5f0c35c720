/* SPDX-License-Identifier: Apache-2.0 */
/* A profiling session: everything from the timer tick to the built profile, put together. */
#include "agent/profile/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/sideband.h"
#include "agent/profile/known.h"
#include "agent/unwind/tables.h"
#include "agent/unwind/user_stack.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

#define SESSION_CPU_CHECK_NS NS_PER_S

struct session {
	struct session_options options;
	struct sampler *sampler;
	struct sideband *sideband;
	struct process_table *processes;
	struct tables *tables;
	struct symbol_store *store; /* the worker's while a job is under way */
	struct interval *interval;  /* the open one */
	struct graveyard graveyard;
	struct list dirty;	   /* known processes whose mappings changed in this drain */
	uint64_t sideband_read_ns; /* all events up to this time have been collected */
	uint32_t epoch;		   /* of the match function's answers */
	uint64_t n_building;	   /* samples in intervals under way */
	uint64_t ends[WIRE_END_MAX]; /* of user stacks */
	struct user_stack stack;   /* scratch: too large for the C stack */
	struct loop_timer *drain_timer;
	struct loop_timer *interval_timer;
	struct loop_timer *cpu_timer;
	uint64_t interval_due_ns;
	struct loop_io *ring_io;
	struct loop_io *sideband_io;
	bool stopped;
};

struct session_job {
	struct worker_job job;
	struct session *session;
	struct interval *interval;
	enum demangle_mode demangle;
	build_fn build_fn;
	struct build build;
};

/* ---- processes ---- */

static void on_process_exec(struct process *p, void *data)
{
	struct session *s = data;
	struct known *k = p->user;

	if (k && k->published) {
		tables_retract(s->tables, p->pid);
		k->published = false;
	}
	if (s->options.hooks.on_exec)
		s->options.hooks.on_exec(p, s->options.hooks.data);
}

static void on_process_mappings(struct process *p, void *data)
{
	struct session *s = data;
	struct known *k = p->user;

	if (!k || !k->published || k->dirty)
		return;
	k->dirty = true;
	list_push_back(&s->dirty, &k->node);
}

static void on_process_exit(struct process *p, void *data)
{
	struct session *s = data;

	tables_retract(s->tables, p->pid);
	if (s->options.hooks.on_exit)
		s->options.hooks.on_exit(p->pid, s->options.hooks.data);
	graveyard_bury(&s->graveyard, p);
}

static void on_process_event(const struct process_event *ev, void *data)
{
	struct session *s = data;

	process_table_apply(s->processes, ev);
}

static void publish(struct session *s, struct process *p, struct known *k)
{
	if (k->buried)
		return;
	list_remove(&k->node);
	k->dirty = false;
	k->published = tables_publish(s->tables, p) == 0;
}

static void publish_dirty(struct session *s)
{
	LIST_FOREACH(&s->dirty, node) {
		struct known *k = LIST_ENTRY(node, struct known, node);

		publish(s, k->process, k);
	}
}

/* ---- samples ---- */

static struct process *process_of(struct session *s, const struct sample *sample)
{
	uint32_t pid = sample->head->pid;
	struct process *p = process_table_find(s->processes, pid);

	if (!p)
		p = graveyard_find(&s->graveyard, pid);
	if (!p)
		p = process_table_get(s->processes, pid, sample->cold ? sample->cold->comm : NULL);
	/* Known by events only so far: its mappings may have to be read. */
	else if (!p->exited && !p->mappings)
		p = process_table_get(s->processes, pid, sample->cold ? sample->cold->comm : NULL);
	return p;
}

static int decide(struct session *s, struct process *p, struct known *k)
{
	struct labels *labels = NULL;
	int r;

	if (k->decided && k->exec_count == p->exec_count && k->epoch == s->epoch)
		return 0;
	r = s->options.hooks.match(s->processes, p, s->options.hooks.data, &labels);
	if (r < 0)
		return r;
	labels_unref(k->labels);
	k->labels = labels;
	k->decided = true;
	k->exec_count = p->exec_count;
	k->epoch = s->epoch;
	return 0;
}

static struct mapped_file *find_file(const struct mappings *m, uint32_t id)
{
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file && m->items[i].file->id == id)
			return m->items[i].file;
	return NULL;
}

/* While the process lives its files can be opened; names are looked up when the interval is over. */
static void keep_files(struct session *s, struct process *p)
{
	for (uint32_t i = 0; i < s->stack.n; i++) {
		uint32_t id = frame_object_id(s->stack.frames[i]);
		struct mapped_file *f;

		if (!id || interval_file(s->interval, id))
			continue;
		f = find_file(p->mappings, id);
		if (!f)
			f = find_file(p->previous_mappings, id);
		if (!f || interval_add_file(s->interval, f) < 0)
			continue;
		if (f->fd < 0 && !f->vdso)
			(void)process_open_file(s->processes, p, f);
	}
}

static int close_interval(struct session *s);

static int add_once(struct session *s, const struct sample *sample, const struct known *k, bool *ret_is_new)
{
	return interval_add(s->interval, k->labels, sample->kernel_frames, sample->head->n_kernel,
			    s->stack.frames, (uint16_t)s->stack.n, ret_is_new);
}

static void add(struct session *s, const struct sample *sample, struct process *p, const struct known *k)
{
	bool is_new = false;
	int r = add_once(s, sample, k, &is_new);

	/* The interval has used up its memory: it goes out early. */
	if (r < 0 && close_interval(s) == 0)
		r = add_once(s, sample, k, &is_new);
	if (r < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory, 1);
	else if (is_new)
		keep_files(s, p);
}

static void make_stack(struct session *s, const struct sample *sample, const struct process *p)
{
	struct user_stack_input in = {
		.head = sample->head,
		.frames = sample->user_frames,
		.cold = sample->cold,
		.stack = sample->stack,
	};

	user_stack_make(&in, p, s->options.telemetry, &s->stack);
	s->ends[s->stack.end]++;
	/* A stack without any frame cannot be shown; it happened all the same. */
	if (s->stack.n == 0 && sample->head->n_kernel == 0)
		s->stack.frames[s->stack.n++] = FRAME_UNKNOWN;
}

static void take_sample(struct session *s, const struct sample *sample)
{
	struct process *p = process_of(s, sample);
	struct known *k = p ? known_get(p) : NULL;

	if (!k || decide(s, p, k) < 0) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory, 1);
		return;
	}
	if (!k->labels) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_no_target, 1);
		return;
	}
	make_stack(s, sample, p);
	add(s, sample, p, k);
	if (sample->head->generation)
		tables_touch(s->tables, p->pid);
	else if (!(sample->head->flags & WIRE_KTHREAD) && p->mappings && p->mappings->n > 0)
		publish(s, p, k);
}

static void on_sample(const struct sample *sample, void *data)
{
	struct session *s = data;

	/* The sample is younger than the events collected so far: there may be more that come before it. */
	if (sample->head->time_ns > s->sideband_read_ns)
		s->sideband_read_ns = sideband_collect(s->sideband);
	sideband_deliver_until(s->sideband, sample->head->time_ns, on_process_event, s);
	take_sample(s, sample);
}

static void drain(struct session *s)
{
	s->sideband_read_ns = sideband_collect(s->sideband);
	int r = sampler_read(s->sampler, on_sample, s);
	if (r < 0)
		log_error("cannot read the sample ring", LOG_ERR(r));
	sideband_deliver_until(s->sideband, s->sideband_read_ns, on_process_event, s);
	publish_dirty(s);
	tables_reclaim(s->tables, clock_mono_ns());
	graveyard_sweep(&s->graveyard, clock_mono_ns());
}

/* ---- intervals ---- */

static void job_run(struct worker_job *job)
{
	struct session_job *j = CONTAINER_OF(job, struct session_job, job);
	struct symbol_store *store = j->session->store;
	_cleanup_(namer_freep) struct namer *namer = NULL;

	symbol_store_set_demangle(store, j->demangle);
	symbol_store_begin(store);
	if (namer_new(j->interval, store, &namer) < 0) {
		j->build.summary.n_failed = j->interval->n_samples;
	} else {
		j->build_fn(j->interval, namer, &j->build);
		build_summarize(j->interval, namer, &j->build);
	}
	j->build.summary.kernel_hidden = symbol_store_kernel_hidden(store);
	symbol_store_end(store);
}

static void job_done(struct worker_job *job)
{
	struct session_job *j = CONTAINER_OF(job, struct session_job, job);
	struct session *s = j->session;
	const struct session_hooks *hooks = &s->options.hooks;

	s->n_building -= j->interval->n_samples;
	telemetry_count(s->options.telemetry, TELEMETRY_samples_in_profiles, j->build.summary.n_samples);
	telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_encode, j->build.summary.n_failed);
	if (hooks->on_interval)
		hooks->on_interval(j->interval, &j->build, hooks->data);
	build_fini(&j->build);
	interval_free(j->interval);
	free(j);
}

static int open_interval(struct session *s, struct interval **ret_interval)
{
	return interval_new(NS_PER_S / sampler_hz(s->sampler), SESSION_MAX_INTERVAL_BYTES, ret_interval);
}

/* Hands the interval to the worker and opens the next. On failure the present one goes on. */
static int close_interval(struct session *s)
{
	_cleanup_(interval_freep) struct interval *next = NULL;
	_cleanup_free_ struct session_job *j = calloc(1, sizeof(*j));
	int r = j ? open_interval(s, &next) : -ENOMEM;

	if (r < 0)
		return r;
	*j = (struct session_job){
		.job = { .run = job_run, .done = job_done },
		.session = s,
		.interval = s->interval,
		.demangle = s->options.demangle,
		.build_fn = s->options.build,
	};
	build_init(&j->build);
	s->interval->end_real_ns = clock_real_ns();
	s->n_building += s->interval->n_samples;
	r = worker_submit(s->options.worker, &j->job);
	if (r < 0) {
		s->n_building -= s->interval->n_samples;
		log_warn("profiles are built too slowly, the interval goes on");
		return r;
	}
	s->interval = TAKE_PTR(next);
	j = NULL;
	return 0;
}

uint64_t session_n_waiting(const struct session *s)
{
	return (s->interval ? s->interval->n_samples : 0) + s->n_building;
}

/* ---- timers ---- */

static void on_drain_timer(void *data)
{
	struct session *s = data;

	drain(s);
	loop_timer_arm(s->drain_timer, clock_mono_ns() + SESSION_DRAIN_NS);
}

static void on_readable(uint32_t events, void *data)
{
	(void)events;
	drain(data);
}

/* Intervals keep their pace: one that ran late does not shift the next. */
static void arm_interval(struct session *s)
{
	uint64_t now = clock_mono_ns();

	if (!s->options.interval_ns)
		return;
	s->interval_due_ns += s->options.interval_ns;
	if (s->interval_due_ns <= now)
		s->interval_due_ns = now + s->options.interval_ns;
	loop_timer_arm(s->interval_timer, s->interval_due_ns);
}

static void on_interval_timer(void *data)
{
	struct session *s = data;

	drain(s);
	(void)close_interval(s);
	arm_interval(s);
}

static void on_cpu_timer(void *data)
{
	struct session *s = data;
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = sampler_sync_cpus(s->sampler);

	if (r == 0)
		r = cpus_online(&online);
	if (r == 0)
		r = sideband_sync_cpus(s->sideband, &online);
	if (r < 0)
		log_warn("cannot follow CPUs that came online", LOG_ERR(r));
	loop_timer_arm(s->cpu_timer, clock_mono_ns() + SESSION_CPU_CHECK_NS);
}

static int start_timers(struct session *s)
{
	struct loop *loop = s->options.loop;
	uint64_t now = clock_mono_ns();
	int r = loop_timer_new(loop, on_drain_timer, s, &s->drain_timer);

	if (r == 0)
		r = loop_timer_new(loop, on_interval_timer, s, &s->interval_timer);
	if (r == 0)
		r = loop_timer_new(loop, on_cpu_timer, s, &s->cpu_timer);
	if (r == 0)
		r = loop_io_new(loop, sampler_ring_fd(s->sampler), EPOLLIN, on_readable, s, &s->ring_io);
	if (r == 0)
		r = loop_io_new(loop, sideband_fd(s->sideband), EPOLLIN, on_readable, s, &s->sideband_io);
	if (r < 0)
		return r;
	loop_timer_arm(s->drain_timer, now + SESSION_DRAIN_NS);
	loop_timer_arm(s->cpu_timer, now + SESSION_CPU_CHECK_NS);
	s->interval_due_ns = now;
	arm_interval(s);
	return 0;
}

static void stop_timers(struct session *s)
{
	loop_timer_free(s->drain_timer);
	loop_timer_free(s->interval_timer);
	loop_timer_free(s->cpu_timer);
	loop_io_free(s->ring_io);
	loop_io_free(s->sideband_io);
	s->drain_timer = s->interval_timer = s->cpu_timer = NULL;
	s->ring_io = s->sideband_io = NULL;
}

/* ---- life ---- */

static int open_sideband(struct session *s, struct buf *why)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = cpus_online(&online);

	if (r == 0)
		r = sideband_new(&(struct sideband_options){ .cpus = &online, .telemetry = s->options.telemetry },
				 &s->sideband);
	if (r < 0)
		(void)buf_printf(why, "cannot follow processes by perf events: %s; CAP_PERFMON is needed",
				 strerror(-r));
	return r;
}

static int open_tables(struct session *s)
{
	return tables_new(
		&(struct tables_options){
			.processes_fd = sampler_processes_fd(s->sampler),
			.mappings_fd = sampler_mappings_fd(s->sampler),
			.max_processes = sampler_max_processes(s->sampler),
			.max_mappings = sampler_max_mappings(s->sampler),
			.telemetry = s->options.telemetry,
		},
		&s->tables);
}

static int open_processes(struct session *s)
{
	return process_table_new(
		&(struct process_table_options){
			.telemetry = s->options.telemetry,
			.hooks = { .on_exec = on_process_exec,
				   .on_mappings = on_process_mappings,
				   .on_exit = on_process_exit,
				   .data = s },
		},
		&s->processes);
}

static int open_store(struct session *s)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;

	o.demangle = s->options.demangle;
	o.telemetry = s->options.telemetry;
	return symbol_store_new(&o, &s->store);
}

/* Side-band first: whatever starts after the first tick has then been seen to start. */
static int session_open(struct session *s, struct buf *why)
{
	int r = sampler_new(&s->options.sampler, why, &s->sampler);

	if (r == 0)
		r = open_sideband(s, why);
	if (r == 0)
		r = open_tables(s);
	if (r == 0)
		r = open_processes(s);
	if (r == 0)
		r = open_store(s);
	if (r == 0)
		r = open_interval(s, &s->interval);
	if (r == 0)
		r = sampler_start(s->sampler, why);
	return r == 0 ? start_timers(s) : r;
}

int session_new(const struct session_options *o, struct buf *why, struct session **ret_session)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	s->options.sampler.telemetry = o->telemetry;
	s->stopped = true;
	list_init(&s->dirty);
	graveyard_init(&s->graveyard);
	int r = session_open(s, why);
	if (r < 0) {
		if (why->len == 0)
			(void)buf_printf(why, "cannot start profiling: %s", strerror(-r));
		return r;
	}
	s->stopped = false;
	*ret_session = TAKE_PTR(s);
	return 0;
}

void session_stop(struct session *s)
{
	if (s->stopped)
		return;
	s->stopped = true;
	sampler_stop(s->sampler);
	drain(s);
	stop_timers(s);
	/* The worker may be full: what is under way is delivered first, then there is room. */
	worker_drain(s->options.worker);
	(void)close_interval(s);
	worker_drain(s->options.worker);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_stop(s);
	stop_timers(s);
	interval_free(s->interval);
	process_table_free(s->processes);
	graveyard_fini(&s->graveyard);
	tables_free(s->tables);
	symbol_store_free(s->store);
	sideband_free(s->sideband);
	sampler_free(s->sampler);
	free(s);
}

/* What was sampled so far is worth the old period: it goes out first, and where it cannot the rate stays as it is. */
int session_set_hz(struct session *s, unsigned int hz)
{
	unsigned int old_hz = sampler_hz(s->sampler);
	int r;

	if (hz == old_hz)
		return 0;
	drain(s);
	r = sampler_set_hz(s->sampler, hz);
	if (r < 0)
		return r;
	r = close_interval(s);
	if (r < 0)
		(void)sampler_set_hz(s->sampler, old_hz);
	return r;
}

void session_set_interval(struct session *s, uint64_t interval_ns)
{
	if (interval_ns == s->options.interval_ns)
		return;
	s->options.interval_ns = interval_ns;
	s->interval_due_ns = clock_mono_ns();
	arm_interval(s);
}

void session_set_demangle(struct session *s, enum demangle_mode mode)
{
	s->options.demangle = mode;
}

void session_rematch(struct session *s)
{
	s->epoch++;
}

const uint64_t *session_stack_ends(const struct session *s)
{
	return s->ends;
}

struct process_table *session_processes(struct session *s)
{
	return s->processes;
}

struct sampler *session_sampler(struct session *s)
{
	return s->sampler;
}
