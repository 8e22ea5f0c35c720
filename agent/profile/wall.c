/* SPDX-License-Identifier: Apache-2.0 */
/* Wall-clock time. */
#include "agent/profile/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "agent/process/proc.h"
#include "agent/profile/session_private.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "agent/util/str.h"

int64_t wall_clock_tick_ns(const struct wall_clock *c, int64_t period_ns)
{
	int64_t ns = period_ns + c->owed_ns;

	return MAX_OF(MIN_OF(ns, 16 * period_ns), period_ns / 4);
}

void wall_clock_told(struct wall_clock *c, int64_t ns, int64_t period_ns)
{
	c->told_ns += ns;
	c->owed_ns -= ns - period_ns;
}

void wall_clock_look(struct wall_clock *c, int64_t cpu_ns, bool is_whole)
{
	if (cpu_ns < c->seen_ns)
		return;
	c->seen_ns = cpu_ns;
	if (!c->has_base)
		c->base_ns = is_whole ? 0 : cpu_ns - c->told_ns;
	c->has_base = true;
	c->owed_ns = cpu_ns - c->base_ns - c->told_ns;
}

int64_t wall_clock_settle(struct wall_clock *c, int64_t there_ns)
{
	int64_t ns = MAX_OF(c->owed_ns, -there_ns / 2);

	c->told_ns += ns;
	c->owed_ns -= ns;
	return ns;
}

void wall_process_init(struct wall_process *w)
{
	list_init(&w->ticked);
	list_init(&w->node);
}

void wall_process_fini(struct wall_process *w)
{
	list_remove(&w->ticked);
	list_remove(&w->node);
}

static struct wall_process *of(const struct process *p)
{
	struct process_state *k = p->user;

	return k ? &k->wall : NULL;
}

static const struct process *process_at(const struct wall_process *w)
{
	return CONTAINER_OF(w, struct process_state, wall)->process;
}

/* Of processes, or of some of their threads. */
static bool is_threaded(int cgroup_fd)
{
	_cleanup_buf_ struct buf type = BUF_INIT(64);

	return file_read(cgroup_fd, "cgroup.type", &type) == 0 &&
	       str_starts_with((struct str){ buf_str(&type), type.len }, STR_LIT("threaded"));
}

/* Whoever is sampled is so as a whole. */
static bool are_whole(const struct sampler_options *o)
{
	return !o->no_user && o->n_tids == 0 && (o->cgroup_fd < 0 || !is_threaded(o->cgroup_fd));
}

int session_wall_open(struct session *s, struct buf *why)
{
	static const char text[] = "wall-clock time needs off-CPU time, which is not profiled";

	if (!s->options.wall)
		return 0;
	s->wall.begin_ns = clock_mono_ns();
	s->wall.has_clocks = are_whole(&s->options.sampler);
	if (sampler_limit_hz(s->sampler, EVENT_OFF_CPU) > 0)
		return 0;
	s->options.wall = false;
	if (session_wall_is_all(s, EVENT_CPU)) {
		(void)buf_append_str(why, text);
		return -EOPNOTSUPP;
	}
	log_warn("an event is not profiled", LOG_STR("event", event_type(EVENT_WALL)->name),
		 LOG_STR("why", text));
	return 0;
}

bool session_wall_has(const struct session *s, enum event event)
{
	return s->options.wall && (event == EVENT_CPU || event == EVENT_OFF_CPU);
}

bool session_wall_is_all(const struct session *s, enum event event)
{
	return s->options.wall_alone & SESSION_EVENT(event);
}

int64_t session_wall_tick_ns(const struct session *s, const struct process *p)
{
	int64_t period_ns = (int64_t)s->interval->periods[EVENT_CPU];
	const struct wall_process *w = of(p);

	return w && s->wall.has_clocks ? wall_clock_tick_ns(&w->clock, period_ns) : period_ns;
}

static void count_tick(struct session *s, struct wall_process *w, int64_t ns)
{
	wall_clock_told(&w->clock, ns, (int64_t)s->interval->periods[EVENT_CPU]);
	w->stack = s->interval->last;
	w->n_closed = s->intervals.n_closed;
	list_remove(&w->ticked);
	list_push_back(&s->wall.ticked, &w->ticked);
	s->wall.sums.cpu_ns += (uint64_t)ns;
}

static void count_wait(struct session *s, uint32_t reason, int64_t ns, int64_t ready_ns)
{
	if (reason == WAIT_READY)
		ready_ns = ns;
	s->wall.sums.ready_ns += (uint64_t)ready_ns;
	s->wall.sums.waiting_ns += (uint64_t)(ns - ready_ns);
}

/* What a thread was there before it was profiled is not looked at. */
static void begin_threads(struct session *s, struct wall_process *w, const struct process *p)
{
	w->looked_ns = MAX_OF(s->wall.begin_ns, p->start_ns);
	w->n_threads = 0;
	list_push_back(&s->wall.threads, &w->node);
}

void session_wall_count(struct session *s, const struct wire_sample *head, struct process *p,
			int64_t ns, int64_t ready_ns)
{
	struct wall_process *w = of(p);

	if (!w || !p->pid || p->exited || head->flags & WIRE_KTHREAD)
		return;
	if (!w->looked_ns)
		begin_threads(s, w, p);
	if (head->record.event == EVENT_CPU)
		count_tick(s, w, ns);
	else
		count_wait(s, head->reason, ns, ready_ns);
}

/* One that has ended meanwhile tells nothing. */
static int cpu_clock_ns(uint32_t pid, int64_t *ret_ns)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return -ESRCH;
	*ret_ns = (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
	return 0;
}

static void look_at_clock(struct session *s, struct wall_process *w)
{
	const struct process *p = process_at(w);
	int64_t ns;

	if (s->wall.has_clocks && cpu_clock_ns(p->pid, &ns) == 0)
		wall_clock_look(&w->clock, ns, p->start_ns >= s->wall.begin_ns);
}

void session_wall_round(struct session *s)
{
	LIST_FOREACH (&s->wall.ticked, node) {
		list_remove(node);
		look_at_clock(s, LIST_ENTRY(node, struct wall_process, ticked));
	}
}

/* The stack of its last tick gets what ticks have told too little or too much by now. */
static void settle_clock(struct session *s, struct wall_process *w)
{
	int64_t ns, *there_ns;

	if (!w->stack || w->n_closed != s->intervals.n_closed)
		return;
	there_ns = stack_values(w->stack);
	look_at_clock(s, w);
	ns = wall_clock_settle(&w->clock, *there_ns);
	*there_ns += ns;
	s->wall.sums.cpu_ns += (uint64_t)ns;
}

/* As many as before, where that cannot be read now. */
static uint64_t count_threads(uint32_t pid, uint64_t n_before)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	int r = proc_open("/proc", pid, &proc);

	if (r < 0)
		return reader_is_passing(r) ? n_before : 0;
	return proc.n_threads;
}

/* Between two looks the mean of both; before the first one, as many as then. */
static void add_threads(struct session *s, struct wall_process *w, uint64_t n, uint64_t now_ns)
{
	uint64_t before = w->n_threads ? w->n_threads : n;

	if (now_ns > w->looked_ns)
		s->wall.sums.threads_ns += (before + n) * (now_ns - w->looked_ns) / 2;
	w->looked_ns = now_ns;
	w->n_threads = n;
}

void session_wall_look(struct session *s)
{
	LIST_FOREACH (&s->wall.threads, node) {
		struct wall_process *w = LIST_ENTRY(node, struct wall_process, node);
		uint64_t n = count_threads(process_at(w)->pid, w->n_threads);

		settle_clock(s, w);
		if (n)
			add_threads(s, w, n, clock_mono_ns());
	}
}

void session_wall_exit(struct session *s, struct process *p)
{
	struct wall_process *w = of(p);

	if (!w || !w->looked_ns)
		return;
	/* Until its parent has been told of its end, its clock can be read. */
	settle_clock(s, w);
	wall_process_fini(w);
	add_threads(s, w, w->n_threads ? w->n_threads : 1,
		    p->exited ? p->exit_ns : clock_mono_ns());
	w->looked_ns = 0;
}

bool session_wall_sums(const struct session *s, struct session_wall_sums *ret_sums)
{
	*ret_sums = s->wall.sums;
	return s->options.wall;
}
