/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel half's counters, by event and CPU, each as it was between two ticks. */
#include "agent/sample/cpu_counters.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/cpus.h"

struct cpu_counters {
	int map_fd;
	struct cpus possible;	     /* whose values a look-up copies, in this order */
	struct wire_counters *now;   /* as they were copied, of one event */
	struct wire_counters *shown; /* the last that balanced: a row of CPUs an event */
	bool *is_stale;		     /* likewise: it did not balance at the last look */
};

int cpu_counters_new(int map_fd, struct cpu_counters **ret_counters)
{
	_cleanup_(cpu_counters_freep) struct cpu_counters *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->map_fd = map_fd;
	int r = cpus_possible(&c->possible);
	if (r < 0)
		return r;
	c->now = calloc(c->possible.n, sizeof(*c->now));
	c->shown = calloc(c->possible.n * EVENT_MAX, sizeof(*c->shown));
	c->is_stale = calloc(c->possible.n * EVENT_MAX, sizeof(*c->is_stale));
	if (!c->now || !c->shown || !c->is_stale)
		return -ENOMEM;
	*ret_counters = TAKE_PTR(c);
	return 0;
}

void cpu_counters_free(struct cpu_counters *c)
{
	if (!c)
		return;
	cpus_fini(&c->possible);
	free(c->now);
	free(c->shown);
	free(c->is_stale);
	free(c);
}

static struct wire_counters *row_of(const struct cpu_counters *c, enum event event)
{
	return c->shown + (size_t)event * c->possible.n;
}

static bool *stale_row_of(const struct cpu_counters *c, enum event event)
{
	return c->is_stale + (size_t)event * c->possible.n;
}

/* How many CPUs were in the middle of an event each time so far in this look, or -errno. */
static int take_balanced(struct cpu_counters *c, enum event event)
{
	struct wire_counters *shown = row_of(c, event);
	bool *is_stale = stale_row_of(c, event);
	uint32_t key = event;
	int n_torn = 0;

	if (bpf_map_lookup_elem(c->map_fd, &key, c->now) < 0)
		return -errno;
	for (size_t i = 0; i < c->possible.n; i++) {
		if (wire_counters_balance(&c->now[i])) {
			shown[i] = c->now[i];
			is_stale[i] = false;
		}
		n_torn += is_stale[i];
	}
	return n_torn;
}

static int look_at(struct cpu_counters *c, enum event event)
{
	uint64_t until_ns = clock_mono_ns() + CPU_COUNTERS_WAIT_NS;
	int n_torn;

	memset(stale_row_of(c, event), true, c->possible.n);
	do
		n_torn = take_balanced(c, event);
	while (n_torn > 0 && clock_mono_ns() < until_ns);
	return n_torn < 0 ? n_torn : 0;
}

int cpu_counters_look(struct cpu_counters *c)
{
	int r = 0;

	for (enum event e = 0; e < EVENT_MAX && r == 0; e++)
		r = look_at(c, e);
	return r;
}

const struct wire_counters *cpu_counters_of(const struct cpu_counters *c, enum event event,
					    unsigned int cpu)
{
	assert(event < EVENT_MAX);
	for (size_t i = 0; i < c->possible.n; i++)
		if (c->possible.ids[i] == cpu)
			return stale_row_of(c, event)[i] ? NULL : &row_of(c, event)[i];
	return NULL;
}

void cpu_counters_sum(const struct cpu_counters *c, enum event event, struct wire_counters *ret_sum)
{
	assert(event < EVENT_MAX);

	const struct wire_counters *shown = row_of(c, event);

	*ret_sum = (struct wire_counters){ 0 };
	for (size_t i = 0; i < c->possible.n; i++)
		wire_counters_add(ret_sum, &shown[i]);
}

void wire_counters_add(struct wire_counters *sum, const struct wire_counters *what)
{
#define ADD(name, text) sum->name += what->name;
	WIRE_COUNTERS(ADD)
#undef ADD
}
