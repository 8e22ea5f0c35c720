/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints: each hit of one is an event, by one program for all of them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sample/knobs.h"
#include "agent/sample/source.h"
#include "agent/sample/tracepoint.h"
#include "agent/util/macro.h"
#include "bpf/sample.skel.h"

struct attached {
	struct tracepoint_name name;
	unsigned int hz; /* at most */
	struct bpf_link *link;
};

struct tracepoint_source {
	struct source source;
	struct sample_bpf *bpf; /* borrowed */
	size_t n;
	struct attached items[];
};

static struct tracepoint_source *of(struct source *s)
{
	return CONTAINER_OF(s, struct tracepoint_source, source);
}

static int tracepoint_source_new(struct sample_bpf *bpf, const struct sampler_options *o,
				 struct buf *why, struct source **ret_source)
{
	_cleanup_free_ struct tracepoint_source *t = NULL;

	*ret_source = NULL;
	if (o->n_tracepoints == 0)
		return 0;
	if (o->n_tracepoints > EVENT_MAX_TRACEPOINTS)
		return -E2BIG;
	t = calloc(1, sizeof(*t) + o->n_tracepoints * sizeof(t->items[0]));
	if (!t)
		return -ENOMEM;
	t->source.ops = &source_tracepoint;
	t->bpf = bpf;
	bpf->rodata->thin_any = true;
	for (; t->n < o->n_tracepoints; t->n++) {
		int r = tracepoint_name_parse(o->tracepoints[t->n], &t->items[t->n].name, why);

		if (r < 0)
			return r;
		t->items[t->n].hz = knobs_tracepoint_hz(o, t->n);
	}
	int r = bpf_program__set_autoload(bpf->progs.tracepoint, true);
	if (r < 0)
		return r;
	*ret_source = &TAKE_PTR(t)->source;
	return 0;
}

/* One event brings the hits of all CPUs and tasks: a tracepoint's programs are its own, not the event's. It has to be on some CPU that is
 * online, and 0 need not be. */
static int open_event(uint64_t id)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = cpus_online(&online);

	if (r < 0)
		return r;
	if (online.n == 0)
		return -ENODEV;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)online.ids[0], -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int attach_to(struct tracepoint_source *t, size_t i, uint64_t id)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = i + 1);
	_cleanup_close_ int fd = open_event(id);

	if (fd < 0)
		return fd;
	t->items[i].link = bpf_program__attach_perf_event_opts(t->bpf->progs.tracepoint, fd, &opts);
	if (!t->items[i].link)
		return -errno;
	/* The link's from now on. */
	(void)TAKE_FD(fd);
	return 0;
}

/* On each CPU there may ever be; nothing else has been written there yet. */
static int set_limit(struct tracepoint_source *t, size_t i)
{
	uint32_t budget = t->items[i].hz / WIRE_THIN_WINDOWS, source = (uint32_t)i + 1;
	int n_cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct wire_thinning *all =
		n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*all)) : NULL;

	if (!all)
		return n_cpus < 0 ? n_cpus : -ENOMEM;
	for (int k = 0; k < n_cpus; k++)
		all[k].budget = budget ? budget : 1;
	return bpf_map_update_elem(bpf_map__fd(t->bpf->maps.thinnings), &source, all, BPF_ANY);
}

static int attach_one(struct tracepoint_source *t, size_t i, int tracefs_fd, struct buf *why)
{
	const struct tracepoint_name *name = &t->items[i].name;
	uint64_t id = 0;
	int r = tracepoint_id(tracefs_fd, name, why, &id);

	if (r < 0)
		return r;
	r = set_limit(t, i);
	if (r < 0)
		return r;
	return attach_to(t, i, id);
}

static void tracepoint_source_detach(struct source *s)
{
	struct tracepoint_source *t = of(s);

	for (size_t i = 0; i < t->n; i++) {
		(void)bpf_link__destroy(t->items[i].link);
		t->items[i].link = NULL;
	}
}

static int tracepoint_source_attach(struct source *s, struct buf *why)
{
	struct tracepoint_source *t = of(s);
	_cleanup_close_ int tracefs_fd = tracepoint_open(why);
	int r = 0;

	if (tracefs_fd < 0)
		return tracefs_fd;
	for (size_t i = 0; i < t->n && r == 0; i++)
		r = attach_one(t, i, tracefs_fd, why);
	if (r < 0)
		tracepoint_source_detach(s);
	return r;
}

static unsigned int tracepoint_source_limit_hz(const struct source *s)
{
	const struct tracepoint_source *t = of((struct source *)s);
	unsigned int hz = 0;

	for (size_t i = 0; i < t->n; i++)
		hz = MAX_OF(hz, t->items[i].hz);
	return hz;
}

static void tracepoint_source_free(struct source *s)
{
	tracepoint_source_detach(s);
	free(of(s));
}

const struct source_ops source_tracepoint = {
	.event = EVENT_TRACEPOINT,
	.new = tracepoint_source_new,
	.attach = tracepoint_source_attach,
	.limit_hz = tracepoint_source_limit_hz,
	.detach = tracepoint_source_detach,
	.free = tracepoint_source_free,
};
