/* SPDX-License-Identifier: Apache-2.0 */
/* The program that walks the stacks of tasks that wait. */
#include "agent/sample/waiting_walk.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>

#include "agent/util/log.h"
#include "bpf/sample.skel.h"
#include "bpf/waiting.skel.h"

/* Both are made of one source, with variables of the same names and sizes. */
static int share_variables(struct bpf_map *mine, const struct bpf_map *of)
{
	return bpf_map__value_size(mine) == bpf_map__value_size(of)
		       ? bpf_map__reuse_fd(mine, bpf_map__fd(of))
		       : -EINVAL;
}

static int share_map(struct bpf_map *mine, const struct sample_bpf *bpf)
{
	const struct bpf_map *of = bpf_object__find_map_by_name(bpf->obj, bpf_map__name(mine));

	if (!of)
		return -ENOENT;
	return bpf_map__autocreate(of) ? bpf_map__reuse_fd(mine, bpf_map__fd(of))
				       : bpf_map__set_autocreate(mine, false);
}

static int share_maps(struct waiting_bpf *walk, const struct sample_bpf *bpf)
{
	struct bpf_map *map;
	int r = share_variables(walk->maps.rodata, bpf->maps.rodata);

	if (r == 0)
		r = share_variables(walk->maps.bss, bpf->maps.bss);
	bpf_object__for_each_map (map, walk->obj)
		if (r == 0 && !bpf_map__is_internal(map))
			r = share_map(map, bpf);
	return r;
}

int waiting_walk_open(const struct sample_bpf *bpf, struct waiting_bpf **ret_walk)
{
	struct waiting_bpf *walk = waiting_bpf__open();
	int r;

	if (!walk)
		return -errno;
	r = share_maps(walk, bpf);
	if (r == 0)
		r = bpf_program__set_autoload(bpf->rodata->off_cpu_predicts
						      ? walk->progs.off_cpu_look
						      : walk->progs.off_cpu_open,
					      true);
	if (r < 0) {
		waiting_bpf__destroy(walk);
		return r;
	}
	*ret_walk = walk;
	return 0;
}

struct bpf_link *waiting_walk_load(struct waiting_bpf *walk)
{
	struct bpf_link *link = NULL;
	int r = waiting_bpf__load(walk);

	if (r == 0) {
		link = bpf_program__attach_iter(bpf_program__autoload(walk->progs.off_cpu_look)
							? walk->progs.off_cpu_look
							: walk->progs.off_cpu_open,
						NULL);
		r = link ? 0 : -errno;
	}
	if (r < 0)
		log_debug("waits that are not over have no frames of interpreters", LOG_ERR(r));
	/* The link keeps the program. */
	waiting_bpf__destroy(walk);
	return link;
}
