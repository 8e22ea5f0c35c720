/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples an event may have. */
#include "agent/sample/governor.h"

#include "agent/sample/sampler.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* There are more again once so much of what may be would be left. */
#define ROOM 2.0

void governor_init(struct governor *g, unsigned int most_hz)
{
	most_hz = MAX_OF(most_hz, (unsigned int)SAMPLER_PROBE_MIN_HZ);
	*g = (struct governor){ .most_hz = most_hz, .hz = most_hz };
}

/* Of a time: what runs cost that took no sample, and what a sample costs. */
struct prices {
	double runs_ns;
	double sample_ns;
};

static struct prices prices_of(const struct governor_look *l)
{
	struct prices p = { (double)l->n_runs * GOVERNOR_RUN_NS, GOVERNOR_SAMPLE_NS };

	if (!l->run_ns)
		return p;
	if (!l->n_samples || p.runs_ns > (double)l->run_ns)
		return (struct prices){ (double)l->run_ns,
					l->n_samples ? GOVERNOR_RUN_NS : GOVERNOR_SAMPLE_NS };
	p.sample_ns = ((double)l->run_ns - p.runs_ns) / (double)l->n_samples;
	return p;
}

static unsigned int within(const struct governor *g, double hz)
{
	if (!(hz > SAMPLER_PROBE_MIN_HZ))
		return SAMPLER_PROBE_MIN_HZ;
	return hz < g->most_hz ? (unsigned int)hz : g->most_hz;
}

/* By how much there may be more samples: 0 and above. */
static double room(const struct governor_look *l, const struct prices *p, double limit)
{
	double left_ns = limit * (double)l->elapsed_ns - p->runs_ns;

	if (!(left_ns > 0))
		return 0;
	return l->n_samples ? left_ns / ((double)l->n_samples * p->sample_ns) : ROOM;
}

bool governor_look(struct governor *g, const struct governor_look *l, double limit)
{
	struct prices p = prices_of(l);
	unsigned int before = g->hz;
	double x;

	if (!l->elapsed_ns)
		return false;
	g->runs_hz = (double)l->n_runs * (double)NS_PER_S / (double)l->elapsed_ns;
	g->cpu_ratio = (p.runs_ns + (double)l->n_samples * p.sample_ns) / (double)l->elapsed_ns;
	if (!(limit > 0))
		return false;
	x = room(l, &p, limit);
	if (x < 1)
		g->hz = within(g, g->hz * x);
	else if (x >= ROOM)
		g->hz = within(g, g->hz * ROOM);
	g->is_over = x < 1 && before == SAMPLER_PROBE_MIN_HZ;
	return g->hz != before;
}

double governor_run_ns(const struct governor *g)
{
	return g->runs_hz > 0 ? g->cpu_ratio * (double)NS_PER_S / g->runs_hz : 0;
}
