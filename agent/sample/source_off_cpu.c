/* SPDX-License-Identifier: Apache-2.0 */
/* Off-CPU time: every switch of tasks, on all CPUs. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/iterator.h"
#include "agent/sample/off_cpu_scan.h"
#include "agent/sample/source.h"
#include "agent/sample/switch_return.h"
#include "agent/util/macro.h"
#include "bpf/sample.skel.h"

enum { LINK_IN, LINK_OUT, LINK_FORK, LINK_WAKING, N_LINKS };

struct off_cpu_source {
	struct source source;
	struct sample_bpf *bpf; /* borrowed */
	unsigned int hz;	/* samples a second and CPU, at most */
	bool is_predicted; /* it is not seen when a task is back */
	struct bpf_link *links[N_LINKS];
	struct off_cpu_scan *scan; /* NULL: not attached */
};

static struct off_cpu_source *of(struct source *s)
{
	return CONTAINER_OF(s, struct off_cpu_source, source);
}

/* By whether it is seen when a task is back. */
struct off_cpu_programs {
	struct bpf_program *fork, *in, *begin, *out; /* `in` may be NULL */
	struct bpf_program *sum, *look;
};

static struct off_cpu_programs programs_of(const struct sample_bpf *bpf, bool is_predicted)
{
	if (is_predicted)
		return (struct off_cpu_programs){ .fork = bpf->progs.off_cpu_predicted_fork,
						  .begin = bpf->progs.off_cpu_predicted_begin,
						  .out = bpf->progs.off_cpu_switch,
						  .sum = bpf->progs.off_cpu_sum,
						  .look = bpf->progs.off_cpu_look };
	return (struct off_cpu_programs){ .fork = bpf->progs.off_cpu_fork,
					  .in = bpf->progs.off_cpu_in,
					  .begin = bpf->progs.off_cpu_begin,
					  .out = bpf->progs.off_cpu_out,
					  .sum = bpf->progs.off_cpu_sum,
					  .look = bpf->progs.off_cpu_open };
}

static int want_programs(struct sample_bpf *bpf, bool is_predicted)
{
	const struct off_cpu_programs p = programs_of(bpf, is_predicted);
	struct bpf_program *programs[] = { p.fork, p.in, p.begin, p.out, p.sum, p.look };
	bool wakers = bpf->rodata->off_cpu_wakers;
	int r = bpf_program__set_autoload(bpf->progs.off_cpu_waking,
					  bpf->rodata->off_cpu_reasons && !wakers);

	if (r == 0)
		r = bpf_program__set_autoload(bpf->progs.off_cpu_woken, wakers);
	if (r == 0)
		r = bpf_map__set_autocreate(bpf->maps.off_cpu_predictions, is_predicted);
	for (size_t i = 0; i < ARRAY_SIZE(programs) && r == 0; i++)
		if (programs[i])
			r = bpf_program__set_autoload(programs[i], true);
	return r;
}

static int off_cpu_source_new(struct sample_bpf *bpf, const struct sampler_options *o,
			      struct buf *why, struct source **ret_source)
{
	_cleanup_free_ struct off_cpu_source *c = NULL;

	(void)why;
	*ret_source = NULL;
	if (!o->off_cpu_hz)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->source.ops = &source_off_cpu;
	c->bpf = bpf;
	c->hz = o->off_cpu_hz;
	bpf->rodata->off_cpu_mean_ns =
		o->off_cpu_mean_ns ? o->off_cpu_mean_ns : SAMPLER_OFF_CPU_MEAN_NS;
	bpf->rodata->off_cpu_reasons = o->off_cpu_reasons;
	bpf->rodata->off_cpu_wakers = o->off_cpu_wakers;
	c->is_predicted = switch_return_choose(bpf->progs.off_cpu_in, "off_cpu") ==
			  SWITCH_RETURN_UNSEEN;
	bpf->rodata->off_cpu_predicts = c->is_predicted;
	int r = want_programs(bpf, c->is_predicted);
	if (r < 0)
		return r;
	*ret_source = &TAKE_PTR(c)->source;
	return 0;
}

/* On each CPU there may ever be; nothing else has been written there yet. */
static int set_limit(struct off_cpu_source *c)
{
	uint32_t source = EVENT_SOURCE_OFF_CPU;
	int n_cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct wire_thinning *all =
		n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*all)) : NULL;

	if (!all)
		return n_cpus < 0 ? n_cpus : -ENOMEM;
	for (int k = 0; k < n_cpus; k++)
		all[k].budget = MAX_OF(c->hz / WIRE_THIN_WINDOWS, 1u);
	return bpf_map_update_elem(bpf_map__fd(c->bpf->maps.thinnings), &source, all, BPF_ANY);
}

static void off_cpu_source_detach(struct source *s)
{
	off_cpu_scan_free(of(s)->scan);
	of(s)->scan = NULL;
	for (size_t i = 0; i < N_LINKS; i++) {
		(void)bpf_link__destroy(of(s)->links[i]);
		of(s)->links[i] = NULL;
	}
}

/* New tasks first, then the switches, then the tasks that are there: between these none is missed. */
static int attach_all(struct off_cpu_source *c)
{
	const struct off_cpu_programs p = programs_of(c->bpf, c->is_predicted);
	const struct {
		int link;
		struct bpf_program *program;
	} order[] = {
		{ LINK_FORK, p.fork },
		{ LINK_IN, p.in },
		{ LINK_WAKING, c->bpf->progs.off_cpu_waking },
		{ LINK_WAKING, c->bpf->progs.off_cpu_woken },
	};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!order[i].program || !bpf_program__autoload(order[i].program))
			continue;
		c->links[order[i].link] = bpf_program__attach(order[i].program);
		if (!c->links[order[i].link])
			return -errno;
	}
	int r = iterator_run_once(p.begin);
	if (r < 0)
		return r;
	c->links[LINK_OUT] = bpf_program__attach(p.out);
	return c->links[LINK_OUT] ? off_cpu_scan_new(c->bpf, p.sum, p.look, c->is_predicted, &c->scan)
				  : -errno;
}

static int off_cpu_source_attach(struct source *s, struct buf *why)
{
	struct off_cpu_source *c = of(s);
	int r = set_limit(c);

	(void)why;
	if (r == 0)
		r = attach_all(c);
	if (r < 0)
		off_cpu_source_detach(s);
	return r;
}

static unsigned int off_cpu_source_limit_hz(const struct source *s)
{
	return CONTAINER_OF(s, const struct off_cpu_source, source)->hz;
}

static void off_cpu_source_begin_look(struct source *s)
{
	if (of(s)->scan)
		off_cpu_scan_begin(of(s)->scan);
}

static bool off_cpu_source_is_looking(struct source *s)
{
	return of(s)->scan && off_cpu_scan_is_busy(of(s)->scan);
}

static void off_cpu_source_free(struct source *s)
{
	off_cpu_source_detach(s);
	free(of(s));
}

const struct source_ops source_off_cpu = {
	.event = EVENT_OFF_CPU,
	.new = off_cpu_source_new,
	.attach = off_cpu_source_attach,
	.limit_hz = off_cpu_source_limit_hz,
	.begin_look = off_cpu_source_begin_look,
	.is_looking = off_cpu_source_is_looking,
	.detach = off_cpu_source_detach,
	.free = off_cpu_source_free,
};
