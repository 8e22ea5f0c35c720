/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes from the kernel: process events and samples, handled in the order of their times.
 *
 * A sample of a process whose mappings the kernel half does not know publishes them; one whose mappings changed since is published
 * again once at the end of the round, however often they changed.
 *
 * A process that maps code in place of other code (plugins that come and go) is walked with the mappings of up to a round ago, which were
 * others by then. The kernel half is left without them for as long as that goes on: each sample comes with a copy of its stack, and is walked
 * here with what was mapped at its time.
 */
#include "agent/profile/session_private.h"

#include <stdlib.h>

#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

static void on_process_exec(struct process *p, void *data)
{
	struct session *s = data;
	struct process_state *k = p->user;

	if (k && k->published) {
		tables_retract(s->unwind.tables, p->pid);
		k->published = false;
		k->refused = false;
	}
	if (s->options.hooks.on_exec)
		s->options.hooks.on_exec(p, s->options.hooks.data);
}

static void on_process_mappings(struct process *p, void *data)
{
	struct session *s = data;
	struct process_state *k = p->user;

	runtime_search_add(s->runtimes.search, p);
	if (!k || !k->published || k->dirty)
		return;
	k->dirty = true;
	list_push_back(&s->reading.dirty, &k->node);
}

static void on_process_exit(struct process *p, void *data)
{
	struct session *s = data;

	tables_retract(s->unwind.tables, p->pid);
	session_forget_java(s, p->pid);
	if (p->exited)
		code_names_retract(s->runtimes.code_names, p->pid);
	session_wall_exit(s, p);
	if (s->options.hooks.on_exit)
		s->options.hooks.on_exit(p->pid, s->options.hooks.data);
	/* A tick may still hit what is left of it, and be the first: without its grave the pid would be taken for a new process
	 * whose end nobody ever tells. */
	if (p->exited)
		(void)process_state_get(p);
	exited_processes_add(&s->processes.exited, p);
}

static void on_process_event(const struct process_event *ev, void *data)
{
	struct session *s = data;

	/* Who was refused may have become somebody else, and would never be sampled to be asked again. */
	if (ev->kind == PROCESS_EVENT_LOST)
		tables_forgive(s->unwind.tables);
	process_table_apply(s->processes.table, ev);
}

/* Who has not done so for this long does it so seldom that the round in which it is found out does not matter: a tenth of a second of ten. */
#define REPLACING_NS (10 * NS_PER_S)
/* Of samples at a time: then requests are answered and profiles sent, and the rest is read. */
#define DRAIN_BUDGET_NS SESSION_DRAIN_NS

static bool is_replacing(const struct process *p, uint64_t now_ns)
{
	return p->replaced_ns && now_ns < p->replaced_ns + REPLACING_NS;
}

static void publish(struct session *s, struct process *p, struct process_state *k, uint64_t now_ns)
{
	if (k->exited || k->refused)
		return;
	runtime_search_add(s->runtimes.search, p);
	list_remove(&k->node);
	k->dirty = false;
	if (!is_replacing(p, now_ns)) {
		k->published = tables_publish(s->unwind.tables, p) == 0;
	} else if (k->published) {
		tables_retract(s->unwind.tables, p->pid);
		k->published = false;
	}
}

void session_publish_anew(struct session *s, struct process *p, struct process_state *k)
{
	if (k->published && !k->exited && !is_replacing(p, clock_mono_ns()))
		k->published = tables_publish_anew(s->unwind.tables, p) == 0;
}

static void publish_dirty(struct session *s)
{
	LIST_FOREACH (&s->reading.dirty, node) {
		struct process_state *k = LIST_ENTRY(node, struct process_state, node);

		publish(s, k->process, k, clock_mono_ns());
	}
}

/* Who is alive is asked for at each sample: that keeps it from being evicted, and reads it again after lost events. */
static struct process *process_of(struct session *s, const struct sample *sample)
{
	uint32_t pid = sample->head->pid;
	struct process *p;

	if (pid == 0)
		return outside_processes_get(s->processes.outside, sample->head->cgroup_id,
					     sample->head->flags & WIRE_KTHREAD);
	p = process_table_find(s->processes.table, pid);
	if (!p)
		p = exited_processes_find(&s->processes.exited, pid);
	if (p && p->exited)
		return p;
	return process_table_get_at(s->processes.table, pid,
				    sample->user_unwound ? sample->user_unwound->comm : NULL,
				    sample->head->time_ns);
}

/* Tables that walks come by are the last to be withdrawn. */
static void touch_objects(struct session *s)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < s->stacks.user.n; i++) {
		uint32_t id = frame_ref_file_id(s->stacks.user.frames[i]);

		if (id && id != last)
			object_tables_touch(s->unwind.objects, id);
		last = id;
	}
}

static void make_stack(struct session *s, const struct sample *sample, struct process *p)
{
	const struct user_stack_context context = { s->unwind.tables, s->unwind.objects,
						    s->options.telemetry, s->user_mask };

	struct user_stack_input in = {
		.head = sample->head,
		.frames = sample->user_frames,
		.user_unwound = sample->user_unwound,
		.stack = sample->stack,
	};

	user_stack_make(&in, p, &context, &s->stacks.user);
	touch_objects(s);
}

static void count_end(struct session *s, const struct sample *sample)
{
	s->stacks.ends[s->stacks.user.end]++;
	if (!s->stacks.first_root_ns && s->stacks.user.end == STOP_REASON_ROOT)
		s->stacks.first_root_ns = sample->head->time_ns;
	/* A stack without any frame cannot be shown; it happened all the same. */
	if (s->stacks.user.n == 0 && sample->n_kernel == 0 && !sample->connection)
		s->stacks.user.frames[s->stacks.user.n++] = frame_ref_of(FRAME_KIND_UNKNOWN, 0);
}

static void show_mappings(struct session *s, const struct sample *sample, struct process *p)
{
	struct process_state *k = p->user;

	bool is_new = k && session_runtime_is_new(s, p, k);

	session_show_image(s, sample, p);
	if (is_new)
		session_publish_anew(s, p, k);
	else if (sample->head->generation)
		tables_touch(s->unwind.tables, p->pid);
	else if (k && !(sample->head->flags & WIRE_KTHREAD) && p->mappings && p->mappings->n > 0)
		publish(s, p, k, sample->head->time_ns);
}

static void note_sample(struct process *p, const struct sample *sample)
{
	struct process_state *k = p->user;

	p->exec_id = sample->head->exec_id;
	k->n_samples++;
	k->sampled_ns = sample->head->time_ns;
}

static void take_sample(struct session *s, const struct sample *sample)
{
	struct process *p = process_of(s, sample);
	struct labels *labels = NULL;

	if (p && p->pid)
		process_set_cgroup(s->processes.table, p, sample->head->cgroup_id,
				   sample->head->tid == p->pid ? sample->head->time_ns : 0);
	if (!p || session_decide(s, p, sample->head->cgroup_id, &labels) < 0) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory, 1);
		return;
	}
	note_sample(p, sample);
	if (!labels) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_no_target, 1);
		return;
	}
	make_stack(s, sample, p);
	count_end(s, sample);
	session_add_sample(s, sample, p, labels);
	show_mappings(s, sample, p);
	if (sample->head->own_tid)
		session_meet_java_thread(s, sample, p);
}

void session_meet(struct session *s, uint32_t pid)
{
	struct process *p = process_table_get_at(s->processes.table, pid, NULL, clock_mono_ns());
	struct labels *labels = NULL;

	if (p && !p->exited && session_decide(s, p, 0, &labels) == 0 && labels && p->mappings &&
	    p->mappings->n > 0)
		publish(s, p, p->user, clock_mono_ns());
}

/* Whoever it is: a process that matches no target, too. It is no sample of it. */
static void take_waker(struct session *s, const struct sample *sample)
{
	struct process *p = process_of(s, sample);

	if (!p || !process_state_get(p)) {
		telemetry_count(s->options.telemetry, TELEMETRY_wakers_unused, 1);
		return;
	}
	p->exec_id = sample->head->exec_id;
	make_stack(s, sample, p);
	session_add_waker(s, sample, p);
	show_mappings(s, sample, p);
}

/* The loop waits for a read of what may be somebody else's, up to a tenth of a second: whoever holds it up so and makes events as fast as it
 * can would have everybody's rings run full. */
static void on_waiting(void *data)
{
	struct session *s = data;

	s->reading.sideband_ns = sideband_collect(s->sideband);
}

static void take_at_its_time(struct session *s, const struct sample *sample,
			     void (*take)(struct session *, const struct sample *))
{
	/* The sample is younger than the events collected so far: there may be more that come before it. */
	if (sample->head->time_ns > s->reading.sideband_ns)
		s->reading.sideband_ns = sideband_collect(s->sideband);
	sideband_deliver_until(s->sideband, sample->head->time_ns, on_process_event, s);
	/* Not while an event is handed out. */
	reader_meanwhile(on_waiting, s);
	take(s, sample);
	reader_meanwhile(NULL, NULL);
}

static void on_sample(const struct sample *sample, void *data)
{
	take_at_its_time(data, sample, take_sample);
}

void session_on_waker(const struct sample *sample, void *data)
{
	take_at_its_time(data, sample, take_waker);
}

void session_on_end(const struct wire_end *end, void *data)
{
	if (end->record.event == EVENT_BLOCK_IO)
		session_io_end(data, end);
	else
		session_wait_end(data, end);
}

/* Events are not ahead of the samples that are still in the ring, and processes that exited are there for these. */
static bool drain(struct session *s, uint64_t budget_ns)
{
	uint64_t read_ns;

	s->reading.n_rounds++;
	s->reading.sideband_ns = sideband_collect(s->sideband);
	session_complete_waiting(s);
	int r = sampler_read(s->sampler, budget_ns, on_sample, s, &read_ns);
	if (r < 0)
		log_error("cannot read the sample ring", LOG_ERR(r));
	sideband_deliver_until(s->sideband, MIN_OF(s->reading.sideband_ns, read_ns),
			       on_process_event, s);
	session_wall_round(s);
	reader_meanwhile(on_waiting, s);
	session_meet_some(s);
	reader_meanwhile(NULL, NULL);
	publish_dirty(s);
	/* Before any table is built. */
	runtime_search_run(s->runtimes.search);
	kernel_arena_reclaim(s->unwind.arena, clock_mono_ns());
	object_tables_tick(s->unwind.objects, clock_mono_ns());
	exited_processes_sweep(&s->processes.exited, MIN_OF(clock_mono_ns(), read_ns));
	if (session_is_full_of_undecided(s))
		(void)session_close_interval(s);
	return read_ns != UINT64_MAX;
}

void session_drain(struct session *s)
{
	(void)drain(s, 0);
}

bool session_drain_some(struct session *s)
{
	return drain(s, DRAIN_BUDGET_NS);
}

static void on_outside_process_forgotten(struct process *p, void *data)
{
	(void)data;
	process_state_free(p->user);
	p->user = NULL;
}

static int open_outside_processes(struct session *s)
{
	return outside_processes_new(
		&(struct outside_processes_options){
			.tree = s->processes.cgroups,
			.telemetry = s->options.telemetry,
			.on_forget = on_outside_process_forgotten,
		},
		&s->processes.outside);
}

int session_open_processes(struct session *s)
{
	int r = cgroup_tree_new(NULL, &s->processes.cgroups);

	if (r < 0)
		log_debug("control groups cannot be found by their number", LOG_ERR(r));
	r = open_outside_processes(s);
	if (r < 0)
		return r;
	return process_table_new(
		&(struct process_table_options){
			.telemetry = s->options.telemetry,
			.cgroups = s->processes.cgroups,
			.hooks = { .on_exec = on_process_exec,
				   .on_mappings = on_process_mappings,
				   .on_exit = on_process_exit,
				   .data = s },
		},
		&s->processes.table);
}

void session_close_processes(struct session *s)
{
	process_table_free(s->processes.table);
	outside_processes_free(s->processes.outside);
	cgroup_tree_free(s->processes.cgroups);
	exited_processes_fini(&s->processes.exited);
}

const uint64_t *session_stack_ends(const struct session *s)
{
	return s->stacks.ends;
}

uint64_t session_first_root_ns(const struct session *s)
{
	return s->stacks.first_root_ns;
}

struct process_table *session_processes(struct session *s)
{
	return s->processes.table;
}
