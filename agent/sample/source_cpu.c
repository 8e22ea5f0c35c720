/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time: the timer ticks of each CPU, at one rate. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/missed.h"
#include "agent/sample/source.h"
#include "agent/sample/tick.h"
#include "agent/util/macro.h"
#include "bpf/sample.skel.h"

struct cpu_source {
	struct source source;
	struct sample_bpf *bpf; /* borrowed */
	struct cpus cpus;	/* those to attach to */
	bool follow_cpus;
	bool is_attached;
	unsigned int hz;
	struct ticks *ticks; /* NULL: never attached yet */
	struct missed *missed;
};

static struct cpu_source *of(struct source *s)
{
	return CONTAINER_OF(s, struct cpu_source, source);
}

static void cpu_source_free(struct source *s)
{
	struct cpu_source *c = of(s);

	ticks_free(c->ticks);
	missed_free(c->missed);
	cpus_fini(&c->cpus);
	free(c);
}

static int choose_cpus(struct cpu_source *c, const struct sampler_options *o)
{
	if (!o->cpus) {
		c->follow_cpus = true;
		return cpus_online(&c->cpus);
	}
	c->cpus.ids = calloc(o->cpus->n ? o->cpus->n : 1, sizeof(*c->cpus.ids));
	if (!c->cpus.ids)
		return -ENOMEM;
	memcpy(c->cpus.ids, o->cpus->ids, o->cpus->n * sizeof(*c->cpus.ids));
	c->cpus.n = o->cpus->n;
	return 0;
}

static int prepare(struct cpu_source *c, const struct sampler_options *o)
{
	int r = choose_cpus(c, o);

	if (r < 0)
		return r;
	r = missed_new(&c->missed);
	if (r < 0)
		return r;
	return bpf_program__set_autoload(c->bpf->progs.sample, true);
}

static int cpu_source_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
			  struct source **ret_source)
{
	struct cpu_source *c;

	(void)why;
	*ret_source = NULL;
	if (o->no_ticks)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->source.ops = &source_cpu;
	c->bpf = bpf;
	c->hz = o->hz ? o->hz : SAMPLER_DEFAULT_HZ;
	bpf->rodata->want_idle = o->idle;
	int r = prepare(c, o);
	if (r < 0) {
		cpu_source_free(&c->source);
		return r;
	}
	*ret_source = &c->source;
	return 0;
}

/* After a detach what was due before is kept. */
static int attach_again(struct cpu_source *c)
{
	int r = ticks_set_hz(c->ticks, c->hz);

	if (r == 0)
		r = ticks_sync(c->ticks, &c->cpus);
	if (r < 0)
		ticks_stop(c->ticks);
	return r;
}

static int cpu_source_attach(struct source *s, struct buf *why)
{
	struct cpu_source *c = of(s);
	int r;

	(void)why;
	r = c->ticks ? attach_again(c)
		     : ticks_new(bpf_program__fd(c->bpf->progs.sample), c->hz, &c->cpus, &c->ticks);
	c->is_attached = r == 0;
	return r;
}

static int cpu_source_set_rate(struct source *s, unsigned int hz)
{
	struct cpu_source *c = of(s);
	int r = c->is_attached ? ticks_set_hz(c->ticks, hz) : 0;

	if (r < 0)
		return r;
	c->hz = hz;
	return 0;
}

static unsigned int cpu_source_limit_hz(const struct source *s)
{
	return CONTAINER_OF(s, const struct cpu_source, source)->hz;
}

static int cpu_source_sync_cpus(struct source *s)
{
	struct cpu_source *c = of(s);
	_cleanup_cpus_ struct cpus online = { 0 };

	if (!c->is_attached)
		return 0;
	if (!c->follow_cpus)
		return ticks_sync(c->ticks, &c->cpus);
	int r = cpus_online(&online);
	return r < 0 ? r : ticks_sync(c->ticks, &online);
}

static void cpu_source_look(struct source *s)
{
	if (of(s)->ticks)
		ticks_look(of(s)->ticks);
}

static uint64_t cpu_source_n_missed(struct source *s, const struct cpu_counters *counters)
{
	struct cpu_source *c = of(s);

	if (c->ticks && counters)
		missed_look(c->missed, c->ticks, counters);
	return missed_total(c->missed);
}

static void cpu_source_detach(struct source *s)
{
	if (of(s)->is_attached)
		ticks_stop(of(s)->ticks);
	of(s)->is_attached = false;
}

const struct source_ops source_cpu = {
	.event = EVENT_CPU,
	.new = cpu_source_new,
	.attach = cpu_source_attach,
	.set_rate = cpu_source_set_rate,
	.limit_hz = cpu_source_limit_hz,
	.sync_cpus = cpu_source_sync_cpus,
	.look = cpu_source_look,
	.n_missed = cpu_source_n_missed,
	.detach = cpu_source_detach,
	.free = cpu_source_free,
};
