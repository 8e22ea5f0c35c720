/* SPDX-License-Identifier: Apache-2.0 */
/* The timer ticks. */
#include "agent/sample/tick.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "agent/sample/due.h"
#include "agent/util/clock.h"
#include "agent/util/perf_event.h"

struct tick {
	unsigned int cpu;
	int fd;
	uint64_t enabled_ns; /* when it was last asked whether it is dead */
	struct due due;
};

/* Of the events that a CPU had before. */
struct ended {
	unsigned int cpu;
	uint64_t n_due;
};

struct ticks {
	int prog_fd;
	unsigned int hz;
	struct tick *items;
	size_t n;
	struct ended *ended; /* one for each CPU that ever had an event */
	size_t n_ended;
};

static int tick_open(int prog_fd, unsigned int hz, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
	};
	_cleanup_close_ int fd =
		(int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* An event that cannot be read tells nothing: no time has passed for it. */
static void tick_look(struct tick *tick)
{
	struct due_look look = { .before_ns = clock_mono_ns() };

	if (perf_event_enabled_ns(tick->fd, &look.enabled_ns) < 0)
		return;
	look.after_ns = clock_mono_ns();
	due_look(&tick->due, &look);
}

static struct ended *ended_of(const struct ticks *t, unsigned int cpu)
{
	for (size_t i = 0; i < t->n_ended; i++)
		if (t->ended[i].cpu == cpu)
			return &t->ended[i];
	return NULL;
}

/* Before the CPU has its first event, so that none ever ends without a place. */
static int ended_add(struct ticks *t, unsigned int cpu)
{
	if (ended_of(t, cpu))
		return 0;
	struct ended *ended = reallocarray(t->ended, t->n_ended + 1, sizeof(*ended));

	if (!ended)
		return -ENOMEM;
	t->ended = ended;
	t->ended[t->n_ended++] = (struct ended){ .cpu = cpu };
	return 0;
}

static void tick_end(struct ticks *t, struct tick *tick)
{
	struct ended *ended = ended_of(t, tick->cpu);

	assert(ended);
	tick_look(tick);
	cleanup_close_p(&tick->fd);
	ended->n_due += due_ticks(&tick->due);
}

void ticks_stop(struct ticks *t)
{
	while (t->n > 0)
		tick_end(t, &t->items[--t->n]);
}

void ticks_free(struct ticks *t)
{
	if (!t)
		return;
	ticks_stop(t);
	free(t->items);
	free(t->ended);
	free(t);
}

static bool ticks_has(const struct ticks *t, unsigned int cpu)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].cpu == cpu)
			return true;
	return false;
}

static void ticks_drop_gone(struct ticks *t, const struct cpus *cpus)
{
	for (size_t i = 0; i < t->n;) {
		struct tick *tick = &t->items[i];

		if (cpus_has(cpus, tick->cpu) && !perf_event_is_dead(tick->fd, &tick->enabled_ns)) {
			i++;
			continue;
		}
		tick_end(t, tick);
		*tick = t->items[--t->n];
	}
}

static int ticks_add(struct ticks *t, unsigned int cpu)
{
	struct tick *items = reallocarray(t->items, t->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	t->items = items;
	int r = ended_add(t, cpu);
	if (r < 0)
		return r;
	int fd = tick_open(t->prog_fd, t->hz, cpu);
	/* The CPU went offline since the list was read: the next look will tell. */
	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	struct tick *tick = &t->items[t->n++];
	*tick = (struct tick){ .cpu = cpu, .fd = fd };
	due_begin(&tick->due, t->hz, clock_mono_ns());
	return 0;
}

int ticks_sync(struct ticks *t, const struct cpus *cpus)
{
	/* What the two clocks may differ by grows with the time between two looks (due.h), and nobody else need ever look. */
	ticks_look(t);
	ticks_drop_gone(t, cpus);
	for (size_t i = 0; i < cpus->n; i++) {
		int r = ticks_has(t, cpus->ids[i]) ? 0 : ticks_add(t, cpus->ids[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

int ticks_new(int prog_fd, unsigned int hz, const struct cpus *cpus, struct ticks **ret_ticks)
{
	_cleanup_(ticks_freep) struct ticks *t = calloc(1, sizeof(*t));

	assert(hz > 0);
	if (!t)
		return -ENOMEM;
	t->prog_fd = prog_fd;
	t->hz = hz;
	int r = ticks_sync(t, cpus);
	if (r < 0)
		return r;
	*ret_ticks = TAKE_PTR(t);
	return 0;
}

/* What the other has is its own from now on; what ended before stays where it was. */
static void swap_events(struct ticks *t, struct ticks *other)
{
	struct tick *items = t->items;
	size_t n = t->n;

	t->items = other->items;
	t->n = other->n;
	other->items = items;
	other->n = n;
}

/* All new events first, so that a refusal leaves every CPU at the old rate. */
int ticks_set_hz(struct ticks *t, unsigned int hz)
{
	_cleanup_cpus_ struct cpus cpus = { .ids = calloc(t->n ? t->n : 1, sizeof(*cpus.ids)) };
	_cleanup_(ticks_freep) struct ticks *next = NULL;

	assert(hz > 0);
	if (!cpus.ids)
		return -ENOMEM;
	for (; cpus.n < t->n; cpus.n++)
		cpus.ids[cpus.n] = t->items[cpus.n].cpu;
	int r = ticks_new(t->prog_fd, hz, &cpus, &next);
	if (r < 0)
		return r;
	t->hz = hz;
	swap_events(t, next);
	while (next->n > 0)
		tick_end(t, &next->items[--next->n]);
	return 0;
}

void ticks_look(struct ticks *t)
{
	for (size_t i = 0; i < t->n; i++)
		tick_look(&t->items[i]);
}

uint64_t ticks_n_due(const struct ticks *t, unsigned int cpu)
{
	const struct ended *ended = ended_of(t, cpu);
	uint64_t n = ended ? ended->n_due : 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].cpu == cpu)
			n += due_ticks(&t->items[i].due);
	return n;
}

size_t ticks_n_cpus(const struct ticks *t)
{
	return t->n;
}
