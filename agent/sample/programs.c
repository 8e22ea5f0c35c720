/* SPDX-License-Identifier: Apache-2.0 */
/* A source whose programs are tp_btf or fexit. */
#include "agent/sample/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/sample/event.h"
#include "agent/sample/iterator.h"
#include "agent/sample/refusal.h"
#include "agent/util/macro.h"
#include "bpf/sample.skel.h"

struct programs_source {
	struct source source;
	const struct programs *what;
	struct sample_bpf *bpf; /* borrowed */
	unsigned int hz;	/* samples a second and CPU, at most */
	struct bpf_link *links[PROGRAMS_MAX];
};

static struct programs_source *of(struct source *s)
{
	return CONTAINER_OF(s, struct programs_source, source);
}

/* The tracepoint is looked for in the kernel's types. */
static int want_target(const struct programs *p, size_t i, struct bpf_program *program,
		       struct buf *why)
{
	const char *event = event_type(p->ops->event)->name, *tracepoint = p->items[i].tracepoint,
		   *function = p->function;

	if (!tracepoint)
		return 0;
	if (bpf_program__set_attach_target(program, 0, function ? function : tracepoint) == 0)
		return 0;
	(void)buf_printf(why, "this kernel has no tracepoint %s%s%s%s, which %s needs", tracepoint,
			 function ? ", nor a function " : "", function ? function : "",
			 function ? "()" : "", event);
	return -EOPNOTSUPP;
}

static int want(const struct programs *p, size_t i, struct sample_bpf *bpf, struct buf *why)
{
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, p->items[i].name);

	if (!program)
		return -ENOENT;
	int r = want_target(p, i, program, why);
	return r < 0 ? r : bpf_program__set_autoload(program, true);
}

static int want_iterator(const struct programs *p, struct sample_bpf *bpf)
{
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, p->begin);

	return program ? bpf_program__set_autoload(program, true) : -ENOENT;
}

static int want_all(const struct programs *p, struct sample_bpf *bpf, struct buf *why)
{
	int r = 0;

	for (size_t i = 0; p->items[i].name && r == 0; i++)
		r = want(p, i, bpf, why);
	if (r == 0 && p->begin)
		r = want_iterator(p, bpf);
	return r;
}

/* A map that nobody uses is not made. */
static int want_map(const struct programs *p, struct sample_bpf *bpf, bool is_wanted)
{
	struct bpf_map *map = p->map ? bpf_object__find_map_by_name(bpf->obj, p->map) : NULL;

	if (!p->map)
		return 0;
	return map ? bpf_map__set_autocreate(map, is_wanted) : -ENOENT;
}

int programs_new(const struct programs *p, struct sample_bpf *bpf, const struct sampler_options *o,
		 struct buf *why, struct source **ret_source)
{
	unsigned int hz = o->event_hz[p->ops->event];
	_cleanup_free_ struct programs_source *c = NULL;
	int r = want_map(p, bpf, hz > 0);

	*ret_source = NULL;
	if (r < 0 || !hz)
		return r;
	r = want_all(p, bpf, why);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	bpf->rodata->thin_any |= p->is_thinned;
	c->source.ops = p->ops;
	c->what = p;
	c->bpf = bpf;
	c->hz = hz;
	*ret_source = &TAKE_PTR(c)->source;
	return 0;
}

/* On each CPU there may ever be; nothing else has been written there yet. */
static int set_limit(struct programs_source *c)
{
	int n_cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct wire_thinning *all =
		n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*all)) : NULL;

	if (!all)
		return n_cpus < 0 ? n_cpus : -ENOMEM;
	for (int k = 0; k < n_cpus; k++)
		all[k].budget = MAX_OF(c->hz / WIRE_THIN_WINDOWS, 1u);
	return bpf_map_update_elem(bpf_map__fd(c->bpf->maps.thinnings), &c->what->source, all,
				   BPF_ANY);
}

static void explain(const struct programs *p, size_t i, int error, struct buf *why)
{
	const char *event = event_type(p->ops->event)->name;

	if (p->function)
		(void)refusal_of_function(event, p->function, p->items[i].tracepoint, error, why);
}

static int attach_one(struct programs_source *c, size_t i, struct buf *why)
{
	struct bpf_program *program =
		bpf_object__find_program_by_name(c->bpf->obj, c->what->items[i].name);

	c->links[i] = program ? bpf_program__attach(program) : NULL;
	int r = !program ? -ENOENT : c->links[i] ? 0 : -errno;
	if (r < 0)
		explain(c->what, i, r, why);
	return r;
}

int programs_attach(struct source *s, struct buf *why)
{
	struct programs_source *c = of(s);
	int r = set_limit(c);

	for (size_t i = 0; c->what->items[i].name && r == 0; i++) {
		if (c->what->begin && !c->what->items[i + 1].name)
			r = iterator_run_once(
				bpf_object__find_program_by_name(c->bpf->obj, c->what->begin));
		if (r == 0)
			r = attach_one(c, i, why);
	}
	if (r < 0)
		programs_detach(s);
	return r;
}

unsigned int programs_limit_hz(const struct source *s)
{
	return CONTAINER_OF(s, const struct programs_source, source)->hz;
}

void programs_detach(struct source *s)
{
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		(void)bpf_link__destroy(of(s)->links[i]);
		of(s)->links[i] = NULL;
	}
}

void programs_free(struct source *s)
{
	programs_detach(s);
	free(of(s));
}
