/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a session: opened, kept going by timers, changed, stopped. */
#include "agent/profile/session_private.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/debuginfod.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/user_space.h"

#define SESSION_CPU_CHECK_NS NS_PER_S
/* For so long it is waited for at most. */
#define LOOK_ROUNDS 50
/* … of the last one, which may find the programs of the look being loaded. */
#define LAST_LOOK_ROUNDS 1000
#define LOOK_ROUND_MS 2
/* At first all samples are unwound in user space: the sooner they are read, the sooner the kernel half knows their processes. A tick's time. */
#define SESSION_START_NS NS_PER_S
#define SESSION_START_DRAIN_NS (10 * NS_PER_MS)

static void arm_drain(struct session *s)
{
	uint64_t now = clock_mono_ns();

	loop_timer_arm(
		s->timers.drain,
		now + (now < s->timers.start_until_ns ? SESSION_START_DRAIN_NS : SESSION_DRAIN_NS));
}

static void on_drain_timer(void *data)
{
	struct session *s = data;

	if (session_drain_some(s))
		loop_timer_arm(s->timers.drain, clock_mono_ns());
	else
		arm_drain(s);
}

static void on_readable(uint32_t events, void *data)
{
	struct session *s = data;

	(void)events;
	if (session_drain_some(s))
		loop_timer_arm(s->timers.drain, clock_mono_ns());
}

/* Intervals keep their pace: one that ran late does not shift the next. */
static void arm_interval(struct session *s)
{
	uint64_t now = clock_mono_ns();

	if (!s->options.interval_ns)
		return;
	s->timers.interval_due_ns += s->options.interval_ns;
	if (s->timers.interval_due_ns <= now)
		s->timers.interval_due_ns = now + s->options.interval_ns;
	loop_timer_arm(s->timers.interval, s->timers.interval_due_ns);
}

/* What is under way is in the interval that it began in, up to its end. What takes longer to be looked at is in the next one. */
static void look_at_what_is_under_way(struct session *s, int n_rounds)
{
	sampler_begin_look(s->sampler);
	for (int i = 0; i < n_rounds && sampler_is_looking(s->sampler); i++) {
		session_drain(s);
		(void)poll(NULL, 0, LOOK_ROUND_MS);
	}
}

static void on_interval_timer(void *data)
{
	struct session *s = data;

	look_at_what_is_under_way(s, LOOK_ROUNDS);
	session_drain(s);
	(void)session_close_interval(s);
	arm_interval(s);
}

static void on_cpu_timer(void *data)
{
	struct session *s = data;
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = sampler_sync_cpus(s->sampler);

	sampler_look_at_costs(s->sampler);
	if (r == 0)
		r = cpus_online(&online);
	if (r == 0)
		r = sideband_sync_cpus(s->sideband, &online);
	if (r < 0)
		log_warn("cannot follow CPUs that came online", LOG_ERR(r));
	loop_timer_arm(s->timers.cpus, clock_mono_ns() + SESSION_CPU_CHECK_NS);
}

static int start_timers(struct session *s)
{
	struct loop *loop = s->options.loop;
	uint64_t now = clock_mono_ns();
	int r = loop_timer_new(loop, on_drain_timer, s, &s->timers.drain);

	if (r == 0)
		r = loop_timer_new(loop, on_interval_timer, s, &s->timers.interval);
	if (r == 0)
		r = loop_timer_new(loop, on_cpu_timer, s, &s->timers.cpus);
	if (r == 0)
		r = loop_io_new(loop, sampler_ring_fd(s->sampler), EPOLLIN, on_readable, s,
				&s->timers.ring_io);
	if (r == 0)
		r = loop_io_new(loop, sideband_fd(s->sideband), EPOLLIN, on_readable, s,
				&s->timers.sideband_io);
	if (r < 0)
		return r;
	s->timers.start_until_ns = now + SESSION_START_NS;
	arm_drain(s);
	loop_timer_arm(s->timers.cpus, now + SESSION_CPU_CHECK_NS);
	s->timers.interval_due_ns = now;
	arm_interval(s);
	return 0;
}

static void stop_timers(struct session *s)
{
	loop_timer_free(s->timers.drain);
	loop_timer_free(s->timers.interval);
	loop_timer_free(s->timers.cpus);
	loop_io_free(s->timers.ring_io);
	loop_io_free(s->timers.sideband_io);
	s->timers.drain = s->timers.interval = s->timers.cpus = NULL;
	s->timers.ring_io = s->timers.sideband_io = NULL;
}

static int open_sideband(struct session *s, struct buf *why)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = cpus_online(&online);

	if (r == 0)
		r = sideband_new(
			&(struct sideband_options){
				.cpus = &online,
				.max_grown_bytes = s->budget.sideband_bytes,
				.telemetry = s->options.telemetry,
			},
			&s->sideband);
	if (r < 0)
		(void)buf_printf(
			why, "cannot follow processes by perf events: %s; CAP_PERFMON is needed",
			strerror(-r));
	return r;
}

static int open_arena(struct session *s, const struct sampler_tables *maps)
{
	return kernel_arena_new(
		&(struct kernel_arena_options){
			.segments_fd = maps->segments_fd,
			.max_segments = s->budget.max_segments,
			.reuse_count = maps->reuse_count,
		},
		&s->unwind.arena);
}

static int open_objects(struct session *s, const struct sampler_tables *maps)
{
	return object_tables_new(
		&(struct object_tables_options){
			.objects_fd = maps->objects_fd,
			.max_objects = maps->max_objects,
			.epoch = maps->table_epoch,
			.arena = s->unwind.arena,
			.max_table_bytes = s->budget.table_bytes,
			.max_build_bytes = s->budget.work_bytes,
			.max_opened = s->budget.max_opened,
			.worker = s->options.worker,
			.processes = s->processes.table,
			.telemetry = s->options.telemetry,
		},
		&s->unwind.objects);
}

/* What the walk reads: the arena, files' tables in it, processes that name them. */
static int open_tables(struct session *s)
{
	struct sampler_tables maps;

	sampler_tables(s->sampler, &maps);
	int r = open_arena(s, &maps);
	if (r == 0)
		r = open_objects(s, &maps);
	if (r == 0)
		r = session_open_runtimes(s, &maps);
	if (r < 0)
		return r;
	return tables_new(
		&(struct tables_options){
			.processes_fd = maps.processes_fd,
			.max_processes = maps.max_processes,
			.arena = s->unwind.arena,
			.objects = s->unwind.objects,
			.telemetry = s->options.telemetry,
			.runtimes = session_table_runtimes(s),
		},
		&s->unwind.tables);
}

static int open_debuginfod(struct session *s)
{
	const struct session_debuginfod *from = &s->options.debuginfod;
	struct debuginfod_options o = DEBUGINFOD_OPTIONS_INIT;
	_cleanup_buf_ struct buf dir = BUF_INIT(PATH_MAX);

	if (from->n_urls == 0)
		return 0;
	o.urls = from->urls;
	o.n_urls = from->n_urls;
	o.telemetry = s->options.telemetry;
	int r = from->cache_dir && *from->cache_dir ? buf_append_str(&dir, from->cache_dir)
						    : debuginfod_default_dir(&dir);
	if (r < 0)
		return r;
	o.cache_dir = buf_str(&dir);
	r = debuginfod_new(&o, &s->symbols.debuginfod);
	/* The caller's, up to here. */
	s->options.debuginfod = (struct session_debuginfod){ 0 };
	return r;
}

static int ask_debuginfod(void *data, const char *build_id, int *ret_fd)
{
	return debuginfod_ask(data, build_id, ret_fd);
}

static int open_store(struct session *s)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;
	int r = open_debuginfod(s);

	if (r < 0)
		return r;
	o.lines = s->options.lines;
	o.inlines = s->options.inlines;
	o.fetch = s->symbols.debuginfod ? ask_debuginfod : NULL;
	o.fetch_data = s->symbols.debuginfod;
	o.demangle = s->options.demangle;
	o.max_bytes = s->budget.symbol_bytes;
	o.kernel_bytes = s->budget.kernel_symbol_bytes;
	o.interval_bytes = s->budget.names_bytes;
	o.telemetry = s->options.telemetry;
	return symbol_store_new(&o, &s->symbols.store);
}

/* Side-band first: whatever starts after the first tick has then been seen to start. */
static int session_open(struct session *s, struct buf *why)
{
	int r = sampler_new(&s->options.sampler, why, &s->sampler);

	if (r == 0)
		r = open_sideband(s, why);
	if (r == 0)
		r = session_open_processes(s);
	if (r == 0)
		r = open_tables(s);
	if (r == 0)
		r = open_store(s);
	if (r == 0)
		r = session_open_interval(s, &s->interval);
	if (r == 0)
		r = sampler_start(s->sampler, why);
	if (r == 0)
		r = session_wall_open(s, why);
	if (r == 0)
		session_meet_begin(s);
	return r == 0 ? start_timers(s) : r;
}

int session_new(const struct session_options *o, struct buf *why, struct session **ret_session)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	s->options.sampler.telemetry = o->telemetry;
	s->options.sampler.on_name = session_on_name;
	s->options.sampler.lines = o->lines;
	s->options.sampler.columns = o->lines && o->columns;
	s->options.sampler.name_data = s;
	s->options.sampler.on_end = session_on_end;
	s->options.sampler.end_data = s;
	s->options.sampler.on_waker = session_on_waker;
	s->options.sampler.waker_data = s;
	s->user_mask = user_space_mask();
	budget_split(o->memory_limit_bytes, &s->budget);
	s->options.sampler.cache_bytes = s->budget.cache_bytes;
	s->options.sampler.ring_bytes = s->budget.ring_bytes;
	s->stopped = true;
	list_init(&s->matching.undecided);
	list_init(&s->reading.dirty);
	list_init(&s->waiting);
	list_init(&s->wall.ticked);
	list_init(&s->wall.threads);
	exited_processes_init(&s->processes.exited);
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

void session_end_sampling(struct session *s)
{
	if (s->sampling_ended)
		return;
	s->sampling_ended = true;
	look_at_what_is_under_way(s, LAST_LOOK_ROUNDS);
	sampler_stop(s->sampler);
}

void session_stop(struct session *s)
{
	if (s->stopped)
		return;
	s->stopped = true;
	session_end_sampling(s);
	object_tables_stop(s->unwind.objects);
	runtime_search_stop(s->runtimes.search);
	session_drain(s);
	stop_timers(s);
	/* The worker may be full: what is under way is delivered first, then there is room. */
	worker_drain(s->options.worker);
	(void)session_close_interval(s);
	worker_drain(s->options.worker);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_stop(s);
	stop_timers(s);
	session_forget_undecided(s);
	session_io_close(s);
	session_held_close(s);
	session_close_wakers(s);
	interval_free(s->interval);
	free(s->meeting.pids);
	session_close_processes(s);
	tables_free(s->unwind.tables);
	object_tables_free(s->unwind.objects);
	kernel_arena_free(s->unwind.arena);
	session_close_runtimes(s);
	symbol_store_free(s->symbols.store);
	debuginfod_free(s->symbols.debuginfod);
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
	session_drain(s);
	r = sampler_set_hz(s->sampler, hz);
	if (r < 0)
		return r;
	r = session_close_interval(s);
	if (r < 0)
		(void)sampler_set_hz(s->sampler, old_hz);
	return r;
}

void session_set_interval(struct session *s, uint64_t interval_ns)
{
	if (interval_ns == s->options.interval_ns)
		return;
	s->options.interval_ns = interval_ns;
	s->timers.interval_due_ns = clock_mono_ns();
	arm_interval(s);
}

void session_set_demangle(struct session *s, enum demangle_mode mode)
{
	s->options.demangle = mode;
}

void session_set_tagging(struct session *s, struct tagging tagging)
{
	s->options.tagging = tagging;
}

struct sampler *session_sampler(struct session *s)
{
	return s->sampler;
}

void session_memory(const struct session *s, struct session_memory *ret_memory)
{
	*ret_memory = (struct session_memory){
		.limit_bytes = s->budget.limit_bytes,
		.arena_bytes = kernel_arena_size_bytes(s->unwind.arena),
		.arena_used_bytes = kernel_arena_used_bytes(s->unwind.arena),
		.interval_bytes = s->interval ? s->interval->arena.used_bytes : 0,
		.n_mappings = tables_n_mappings(s->unwind.tables),
	};
	object_tables_stats(s->unwind.objects, &ret_memory->objects);
}
