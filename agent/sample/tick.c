/* SPDX-License-Identifier: Apache-2.0 */
/* The timer ticks. */
#include "agent/sample/tick.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "agent/util/perf_event.h"

struct tick {
	unsigned int cpu;
	int fd;
	uint64_t enabled_ns; /* at the last look */
};

struct ticks {
	int prog_fd;
	unsigned int hz;
	struct tick *items;
	size_t n;
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

void ticks_free(struct ticks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		cleanup_close_p(&t->items[i].fd);
	free(t->items);
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
		cleanup_close_p(&tick->fd);
		*tick = t->items[--t->n];
	}
}

static int ticks_add(struct ticks *t, unsigned int cpu)
{
	struct tick *items = reallocarray(t->items, t->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	t->items = items;
	int fd = tick_open(t->prog_fd, t->hz, cpu);
	/* The CPU went offline since the list was read: the next look will tell. */
	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	t->items[t->n++] = (struct tick){ .cpu = cpu, .fd = fd };
	return 0;
}

int ticks_sync(struct ticks *t, const struct cpus *cpus)
{
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

/* All new events first, so that a refusal leaves every CPU at the old rate. */
int ticks_set_hz(struct ticks *t, unsigned int hz)
{
	_cleanup_cpus_ struct cpus cpus = { .ids = calloc(t->n ? t->n : 1, sizeof(*cpus.ids)) };
	struct ticks *next = NULL;

	if (!cpus.ids)
		return -ENOMEM;
	for (; cpus.n < t->n; cpus.n++)
		cpus.ids[cpus.n] = t->items[cpus.n].cpu;
	int r = ticks_new(t->prog_fd, hz, &cpus, &next);
	if (r < 0)
		return r;
	struct ticks before = *t;
	*t = *next;
	*next = before;
	ticks_free(next);
	return 0;
}

size_t ticks_n_cpus(const struct ticks *t)
{
	return t->n;
}
