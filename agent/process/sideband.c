/* SPDX-License-Identifier: Apache-2.0 */
/* The perf side-band: one ring a CPU, one queue. */
#include "agent/process/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/process/event_budget.h"
#include "agent/process/event_queue.h"
#include "agent/process/thread_groups.h"
#include "agent/process/sideband_decode.h"
#include "agent/process/sideband_rings.h"
#include "agent/util/clock.h"

struct sideband {
	struct telemetry *telemetry;
	struct sideband_rings rings;
	struct event_budget *budget;
	struct event_queue queue;
	struct thread_groups *thread_groups;
	uint64_t n_overflow; /* missed since the last report: the queue was full, or a CPU came */
	struct kernel_text kernel_text;
	uint64_t now_ns;  /* of the collection under way */
	uint64_t last_ns; /* of the last record that was taken */
};

static void enqueue(struct sideband *sb, const struct process_event *ev, enum sideband_outcome what,
		    uint32_t tid)
{
	if (event_queue_put(&sb->queue, ev, what, tid) < 0)
		sb->n_overflow++;
}

static void enqueue_flood(uint32_t pid, uint64_t time_ns, void *data)
{
	enqueue(data,
		&(struct process_event){
			.kind = PROCESS_EVENT_FLOOD, .pid = pid, .time_ns = time_ns },
		SIDEBAND_EVENT, 0);
}

/* Before a path is copied or a place in the queue is taken. */
static bool is_left_out(struct sideband *sb, const struct process_event *ev, size_t n_bytes)
{
	if (ev->kind != PROCESS_EVENT_MMAP)
		return false;
	switch (event_budget_charge(sb->budget, ev->pid, n_bytes, ev->time_ns)) {
	case EVENT_BUDGET_TAKE:
		return false;
	case EVENT_BUDGET_FIRST:
		telemetry_count(sb->telemetry, TELEMETRY_mapping_floods, 1);
		enqueue_flood(ev->pid, ev->time_ns, sb);
		break;
	case EVENT_BUDGET_LEAVE:
		break;
	}
	telemetry_count(sb->telemetry, TELEMETRY_sideband_left_out, 1);
	return true;
}

static void count_malformed(struct sideband *sb)
{
	telemetry_count(sb->telemetry, TELEMETRY_sideband_malformed, 1);
	sb->kernel_text.is_incomplete = true;
}

static void take_kernel_text(struct sideband *sb, const void *record, size_t n)
{
	struct kernel_text_change change;
	const char *name;

	if (sideband_decode_kernel_text(record, n, &change, &name))
		kernel_text_add(&sb->kernel_text, &change, name);
	else
		count_malformed(sb);
}

static void take_record(const void *record, size_t n, void *data)
{
	struct sideband *sb = data;
	struct process_event ev;
	uint32_t tid;

	enum sideband_outcome what = sideband_decode(record, n, &ev, &tid);
	if (what == SIDEBAND_EVENT || what == SIDEBAND_THREAD_START || what == SIDEBAND_THREAD_EXIT)
		sb->last_ns = ev.time_ns;
	switch (what) {
	case SIDEBAND_EVENT:
		if (ev.kind == PROCESS_EVENT_LOST) {
			telemetry_count(sb->telemetry, TELEMETRY_sideband_lost, ev.lost);
			sb->kernel_text.is_incomplete = true;
		}
		if (!is_left_out(sb, &ev, n))
			enqueue(sb, &ev, what, tid);
		break;
	case SIDEBAND_THREAD_START:
	case SIDEBAND_THREAD_EXIT:
		enqueue(sb, &ev, what, tid);
		break;
	case SIDEBAND_KERNEL_TEXT:
		take_kernel_text(sb, record, n);
		break;
	case SIDEBAND_MALFORMED:
		count_malformed(sb);
		break;
	case SIDEBAND_SKIPPED:
		break;
	}
}

/* What a full ring has lost happened after its last record. The kernel tells of it when it has something to write again, which is too late for
 * the samples of that time. */
static void ring_drain(struct perf_ring *ring, void *data)
{
	struct sideband *sb = data;

	sb->last_ns = sb->now_ns;
	if (perf_ring_read(ring, take_record, sb) > 0)
		count_malformed(sb);
	if (!perf_ring_was_crowded(ring))
		return;
	sb->kernel_text.is_incomplete = true;
	enqueue(sb, &(struct process_event){ .kind = PROCESS_EVENT_LOST, .time_ns = sb->last_ns },
		SIDEBAND_EVENT, 0);
}

static void enqueue_late_end(uint32_t pid, void *data)
{
	struct sideband *sb = data;

	enqueue(sb,
		&(struct process_event){
			.kind = PROCESS_EVENT_EXIT, .pid = pid, .time_ns = sb->now_ns },
		SIDEBAND_EVENT, 0);
}

/* The owner must hear of lost events even when the queue is full: the report takes the first free
 * place. */
static void report_overflow(struct sideband *sb)
{
	struct process_event ev = { .kind = PROCESS_EVENT_LOST,
				    .lost = sb->n_overflow,
				    .time_ns = sb->now_ns };

	if (sb->n_overflow == 0 || event_queue_put(&sb->queue, &ev, SIDEBAND_EVENT, 0) < 0)
		return;
	telemetry_count(sb->telemetry, TELEMETRY_sideband_lost, sb->n_overflow);
	sb->n_overflow = 0;
}

static bool ring_bytes_valid(size_t n)
{
	return n >= (size_t)sysconf(_SC_PAGESIZE) && (n & (n - 1)) == 0 && n <= 1U << 30;
}

int sideband_new(const struct sideband_options *o, struct sideband **ret_sideband)
{
	_cleanup_(sideband_freep) struct sideband *sb = calloc(1, sizeof(*sb));
	int r;

	if (!sb)
		return -ENOMEM;
	sb->telemetry = o->telemetry;
	sb->rings = (struct sideband_rings){
		.ring_bytes = o->ring_bytes ? o->ring_bytes : SIDEBAND_RING_BYTES,
		.max_grown_bytes = o->max_grown_bytes,
		.epoll_fd = -1,
		.drain = ring_drain,
		.data = sb,
	};
	event_queue_init(&sb->queue, EVENT_QUEUE_MAX);
	kernel_text_init(&sb->kernel_text);
	if (!ring_bytes_valid(sb->rings.ring_bytes))
		return -EINVAL;
	r = event_budget_new(o->max_process_bytes, &sb->budget);
	if (r < 0)
		return r;
	r = thread_groups_new(o->proc_root ? o->proc_root : "/proc", THREAD_GROUPS_MAX,
			      &sb->thread_groups);
	if (r < 0)
		return r;
	r = sideband_rings_init(&sb->rings);
	if (r == 0)
		r = sideband_sync_cpus(sb, o->cpus);
	if (r < 0)
		return r;
	if (sb->rings.n == 0)
		return -ENODEV;
	sb->n_overflow = 0; /* nothing is missed before the first ring */
	sb->kernel_text.is_incomplete = false;
	*ret_sideband = TAKE_PTR(sb);
	return 0;
}

void sideband_free(struct sideband *sb)
{
	if (!sb)
		return;
	sideband_rings_fini(&sb->rings);
	event_queue_fini(&sb->queue);
	kernel_text_fini(&sb->kernel_text);
	event_budget_free(sb->budget);
	thread_groups_free(sb->thread_groups);
	free(sb);
}

int sideband_fd(const struct sideband *sb)
{
	return sb->rings.epoll_fd;
}

uint64_t sideband_collect(struct sideband *sb)
{
	sideband_rings_take_edges(&sb->rings);
	sb->now_ns = clock_mono_ns();
	event_budget_begin(sb->budget, sb->now_ns);
	report_overflow(sb);
	thread_groups_recheck(sb->thread_groups, sb->now_ns, enqueue_late_end, sb);
	for (size_t i = 0; i < sb->rings.n; i++)
		ring_drain(sb->rings.items[i], sb);
	event_budget_report(sb->budget, enqueue_flood, sb);
	event_queue_sort(&sb->queue);
	return sb->now_ns;
}

static bool is_for_owner(struct sideband *sb, const struct queued_event *item)
{
	const struct process_event *ev = &item->ev;

	if (item->what == SIDEBAND_THREAD_START) {
		thread_groups_thread_start(sb->thread_groups, ev->pid);
		return false;
	}
	if (item->what == SIDEBAND_THREAD_EXIT)
		return thread_groups_thread_exit(sb->thread_groups, ev->pid, item->tid,
						 ev->time_ns);
	if (ev->kind == PROCESS_EVENT_FORK)
		thread_groups_fork(sb->thread_groups, ev->pid);
	else if (ev->kind == PROCESS_EVENT_EXEC)
		thread_groups_exec(sb->thread_groups, ev->pid);
	else if (ev->kind == PROCESS_EVENT_LOST)
		thread_groups_forget(sb->thread_groups);
	return true;
}

void sideband_deliver_until(struct sideband *sb, uint64_t time_ns, sideband_fn fn, void *data)
{
	const struct queued_event *item;

	while ((item = event_queue_next(&sb->queue, time_ns)))
		if (is_for_owner(sb, item))
			fn(&item->ev, data);
}

void sideband_take_kernel_text(struct sideband *sb, struct kernel_text *ret_text)
{
	kernel_text_take(&sb->kernel_text, ret_text);
}

void sideband_read(struct sideband *sb, sideband_fn fn, void *data)
{
	sideband_deliver_until(sb, sideband_collect(sb), fn, data);
}

int sideband_sync_cpus(struct sideband *sb, const struct cpus *online)
{
	bool missed = false;
	int r = sideband_rings_sync(&sb->rings, online, &missed);

	sb->n_overflow += missed;
	sb->kernel_text.is_incomplete |= missed;
	return r;
}
