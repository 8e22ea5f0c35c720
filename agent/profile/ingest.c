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

#include "agent/symbol/debug_open.h"
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
	if (p->exited)
		code_names_retract(s->runtimes.code_names, p->pid);
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

static struct mapped_file *find_file(const struct mappings *m, uint32_t id)
{
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file && m->items[i].file->id == id)
			return m->items[i].file;
	return NULL;
}

/* While the process lives its files can be opened; names are looked up when the interval is over. */
static void keep_files(struct session *s, struct process *p, uint32_t generation)
{
	for (uint32_t i = 0; i < s->stacks.user.n; i++) {
		uint32_t id = frame_ref_file_id(s->stacks.user.frames[i]);
		struct mapped_file *f;

		if (!id || interval_file(s->interval, id))
			continue;
		f = find_file(p->mappings, id);
		if (!f)
			f = find_file(p->mappings_ahead, id);
		if (!f)
			f = find_file(tables_mappings(s->unwind.tables, p->pid, generation), id);
		if (!f || interval_add_file(s->interval, f) < 0)
			continue;
		if (f->fd < 0 && !f->vdso)
			(void)process_open_file(s->processes.table, p, f);
		debug_open(f, p->pid, clock_mono_ns(), s->options.worker);
	}
}

/* A frame of the sample as the interval knows it. */
static int frame_of(struct session *s, const struct sample *sample, struct process *p,
		    struct frame_ref frame, struct frame_ref *ret_frame)
{
	if (frame_ref_kind(frame) == FRAME_KIND_MEMORY)
		return session_anon_frame(s, p, frame_ref_value(frame), sample->head->time_ns,
					  ret_frame);
	if (frame_ref_kind(frame) == FRAME_KIND_RUNTIME)
		return session_code_frame(s, p, sample->head,
					  &s->stacks.user.runtime[frame_ref_value(frame)],
					  ret_frame);
	*ret_frame = frame;
	return 0;
}

/* The kernel reports return addresses for all but the interrupted function. */
static void take_kernel_frames(const struct sample *sample, struct frame_ref *ret_frames)
{
	for (uint16_t i = 0; i < sample->n_kernel; i++)
		ret_frames[i] =
			frame_ref_of(FRAME_KIND_KERNEL, sample->kernel_frames[i] - (i > 0 ? 1 : 0));
}

/* From frames[1] on: before them what was waited for may come. */
static int take_frames(struct session *s, const struct sample *sample, struct process *p)
{
	struct frame_ref *user = s->stacks.frames + 1 + sample->n_kernel;
	int r = 0;

	take_kernel_frames(sample, s->stacks.frames + 1);
	for (uint32_t i = 0; i < s->stacks.user.n && r == 0; i++)
		r = frame_of(s, sample, p, s->stacks.user.frames[i], &user[i]);
	return r;
}

/* A timer tick is worth what lies between two of them; the values of other events are in their units already. */
static void values_of(const struct interval *i, const struct wire_sample *head,
		      int64_t ret_values[EVENT_MAX_VALUES])
{
	int64_t unit = head->record.event == EVENT_CPU ? (int64_t)i->periods[EVENT_CPU] : 1;

	for (size_t v = 0; v < EVENT_MAX_VALUES; v++) {
		int64_t value = (int64_t)MIN_OF(head->values[v], (uint64_t)INT64_MAX);

		if (__builtin_mul_overflow(value, unit, &ret_values[v]))
			ret_values[v] = INT64_MAX;
	}
}

/* A system call's own frame; its error is told by a label. */
static struct frame_ref *put_call(struct session *s, struct samples *to, uint32_t call)
{
	to->reason = WAIT_UNKNOWN;
	to->error = WIRE_CALL_ERROR(call);
	to->n_kernel++;
	s->stacks.frames[0] = frame_ref_of(FRAME_KIND_CALL, WIRE_CALL_NUMBER(call));
	return s->stacks.frames;
}

/* frames[0] is it. */
static struct frame_ref *put_connection(struct session *s, struct samples *to, uint32_t reason)
{
	to->reason = WAIT_UNKNOWN;
	to->error = WIRE_CALL_ERROR(reason);
	to->n_kernel++;
	return s->stacks.frames;
}

static int take_connection(struct session *s, const struct sample *sample, struct process *p)
{
	struct tcp_connection c = { .ends = *sample->connection,
				    .kind = WIRE_CALL_NUMBER(sample->head->reason),
				    .error = WIRE_CALL_ERROR(sample->head->reason),
				    .pid = p->pid };
	const char *comm = process_identity(s->processes.table, p)->comm;

	c.ends.zero = 0;
	memcpy(c.comm, comm, strnlen(comm, sizeof(c.comm)));
	if (!s->options.connections)
		c = tcp_connection_peer(&c);
	return interval_connection_frame(s->interval, &c, &s->stacks.frames[0]);
}

/* As its innermost frame; frames[0] is left free for it. The frames that there are. */
static struct frame_ref *put_reason(struct session *s, struct samples *to, uint32_t reason)
{
	bool is_frame = s->interval->tagging.reason == REASON_FRAME && reason != WAIT_UNKNOWN;

	to->reason = reason;
	to->n_kernel += is_frame;
	s->stacks.frames[0] = frame_ref_of(FRAME_KIND_WAIT, reason);
	return is_frame ? s->stacks.frames : s->stacks.frames + 1;
}

static int add_one(struct session *s, const struct samples *one, uint32_t reason, bool *ret_is_new)
{
	struct samples with = *one;

	if (with.event == EVENT_SYSCALLS)
		with.frames = put_call(s, &with, reason);
	else if (with.event == EVENT_TCP)
		with.frames = put_connection(s, &with, reason);
	else
		with.frames = put_reason(s, &with, reason);
	return interval_add(s->interval, &with, ret_is_new);
}

/*
 * A wait of two parts: what was waited for, and a CPU. Each has a stack of its own, the wait itself counts with the former. Both or none: what is taken back is
 * there, so that cannot fail.
 */
static int add_both(struct session *s, const struct samples *wait, bool *ret_is_new)
{
	const int64_t ready_ns = wait->values[WIRE_VALUE_READY];
	const int64_t waited[EVENT_MAX_VALUES] = { wait->values[0] - ready_ns, wait->values[1] };
	const int64_t ready[EVENT_MAX_VALUES] = { ready_ns },
		      back[EVENT_MAX_VALUES] = { -ready_ns };
	struct samples part = *wait;
	bool is_new = false;

	part.values = ready;
	part.count = 0;
	int r = add_one(s, &part, WAIT_READY, &is_new);
	if (r < 0)
		return r;
	part.values = waited;
	part.count = wait->count;
	r = add_one(s, &part, wait->reason, ret_is_new);
	*ret_is_new |= is_new;
	if (r == 0)
		return 0;
	part.values = back;
	part.count = 0;
	(void)add_one(s, &part, WAIT_READY, &is_new);
	return r;
}

static int add_once(struct session *s, const struct sample *sample, struct process *p,
		    struct labels *labels, bool *ret_is_new)
{
	int64_t values[EVENT_MAX_VALUES];
	struct samples one = {
		.labels = labels,
		.event = sample->head->record.event,
		.source = sample->head->record.source,
		.values = values,
		.n_kernel = sample->n_kernel,
		.n_user = (uint16_t)s->stacks.user.n,
		.count = 1,
		.reason = sample->head->reason,
		.pid = p->pid,
		.comm = s->interval->tagging.comm != COMM_NONE
				? process_identity(s->processes.table, p)->comm
				: NULL,
	};
	int r = take_frames(s, sample, p);

	values_of(s->interval, sample->head, values);
	if (r == 0 && sample->connection)
		r = take_connection(s, sample, p);
	if (r < 0)
		return r;
	/* A value that is larger than the sum it is part of comes from no kernel half of ours. */
	if (one.event == EVENT_OFF_CPU && values[WIRE_VALUE_READY] > 0 &&
	    values[WIRE_VALUE_READY] <= values[0])
		return add_both(s, &one, ret_is_new);
	return add_one(s, &one, one.reason, ret_is_new);
}

/* The interval has used up its memory: it goes out early, and who was undecided in it may not be any more. */
static int add_to_next(struct session *s, const struct sample *sample, struct process *p,
		       bool *ret_is_new)
{
	struct labels *labels = NULL;
	int r = session_close_interval(s);

	if (r < 0)
		return r;
	r = session_decide(s, p, sample->head->cgroup_id, &labels);
	if (r < 0)
		return r;
	if (!labels) {
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_no_target, 1);
		return 0;
	}
	return add_once(s, sample, p, labels, ret_is_new);
}

static void add(struct session *s, const struct sample *sample, struct process *p,
		struct labels *labels)
{
	bool is_new = false;
	int r = add_once(s, sample, p, labels, &is_new);

	if (r < 0)
		r = add_to_next(s, sample, p, &is_new);
	if (r < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_samples_dropped_memory, 1);
	else if (is_new)
		keep_files(s, p, sample->head->generation);
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
	add(s, sample, p, labels);
	show_mappings(s, sample, p);
}

/* The loop waits for a read of what may be somebody else's, up to a tenth of a second: whoever holds it up so and makes events as fast as it
 * can would have everybody's rings run full. */
static void on_waiting(void *data)
{
	struct session *s = data;

	s->reading.sideband_ns = sideband_collect(s->sideband);
}

static void on_sample(const struct sample *sample, void *data)
{
	struct session *s = data;

	/* The sample is younger than the events collected so far: there may be more that come before it. */
	if (sample->head->time_ns > s->reading.sideband_ns)
		s->reading.sideband_ns = sideband_collect(s->sideband);
	sideband_deliver_until(s->sideband, sample->head->time_ns, on_process_event, s);
	/* Not while an event is handed out. */
	reader_meanwhile(on_waiting, s);
	take_sample(s, sample);
	reader_meanwhile(NULL, NULL);
}

void session_drain(struct session *s)
{
	s->reading.n_rounds++;
	s->reading.sideband_ns = sideband_collect(s->sideband);
	session_complete_waiting(s);
	int r = sampler_read(s->sampler, on_sample, s);
	if (r < 0)
		log_error("cannot read the sample ring", LOG_ERR(r));
	sideband_deliver_until(s->sideband, s->reading.sideband_ns, on_process_event, s);
	publish_dirty(s);
	/* Before any table is built. */
	runtime_search_run(s->runtimes.search);
	kernel_arena_reclaim(s->unwind.arena, clock_mono_ns());
	object_tables_tick(s->unwind.objects, clock_mono_ns());
	exited_processes_sweep(&s->processes.exited, clock_mono_ns());
	if (session_is_full_of_undecided(s))
		(void)session_close_interval(s);
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
