/* SPDX-License-Identifier: Apache-2.0 */
/* What is set between opening the programs and attaching them. */
#include "agent/sample/knobs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "agent/util/user_space.h"
#include "bpf/sample.skel.h"

#define SAMPLER_DEFAULT_PROCESSES 8192
#define SAMPLER_DEFAULT_OBJECTS 4096
/* Half of the ring is for stack copies: it holds as many as come within a tenth of a second, for so long may the agent be busy with
 * something else. The other half is a second of records of 300 bytes many times over. */
#define COPIES_DIVISOR 10
#define SAMPLER_RING_MIN_BYTES ((size_t)1024 * 1024)
#define SAMPLER_RING_MAX_BYTES ((size_t)64 * 1024 * 1024)

static size_t count_cpus(const struct sampler_options *o)
{
	_cleanup_cpus_ struct cpus online = { 0 };

	if (o->cpus)
		return o->cpus->n;
	return cpus_online(&online) == 0 ? online.n : 1;
}

unsigned int knobs_tracepoint_hz(const struct sampler_options *o, size_t i)
{
	return o->tracepoint_hz ? o->tracepoint_hz[i] : SAMPLER_PROBE_HZ;
}

/* Samples a second on one CPU, at most. */
static size_t most_samples(const struct sampler_options *o)
{
	size_t n = o->no_ticks ? 0 : o->hz ? o->hz : SAMPLER_DEFAULT_HZ;

	for (size_t i = 0; i < o->n_tracepoints; i++)
		n += knobs_tracepoint_hz(o, i);
	for (enum event e = 0; e < EVENT_MAX; e++)
		n += o->event_hz[e];
	/* A waker is no sample, but as large. */
	return n + o->off_cpu_hz * (o->off_cpu_wakers ? 2 : 1);
}

/* Programs that a tick may interrupt. */
static bool has_nested(const struct sampler_options *o)
{
	bool has = o->n_tracepoints > 0 || o->off_cpu_hz > 0;

	for (enum event e = 0; e < EVENT_MAX; e++)
		has |= o->event_hz[e] > 0;
	return has;
}

size_t knobs_ring_bytes(const struct sampler_options *o, size_t n_cpus)
{
	size_t most = o->ring_bytes ? o->ring_bytes : SAMPLER_RING_MAX_BYTES;
	size_t needed = 2 * n_cpus * most_samples(o) * WIRE_COPY_BYTES / COPIES_DIVISOR;
	size_t n = SAMPLER_RING_MIN_BYTES;

	while (n < needed && 2 * n <= most && 2 * n <= SAMPLER_RING_MAX_BYTES)
		n *= 2;
	return n;
}

/* Numbers are looked up in /proc. Where that is another namespace's than ours (a container with pids of its own and the host's /proc) they
 * would be somebody else's. */
static bool proc_is_ours(void)
{
	char link[32];
	ssize_t n = readlink("/proc/self", link, sizeof(link));
	uint64_t pid = 0;

	if (n > 0)
		(void)str_parse_u64((struct str){ link, (size_t)n }, 10, UINT32_MAX, &pid);
	return pid == (uint64_t)getpid();
}

/* Namespaces are not numbered from 1 on: nobody is in this one, so nobody has a number. */
#define NOBODYS_PID_NAMESPACE 1

/* The inode of our pid namespace, 0 when it is the initial one. Who asks for some pids has them from ours. */
static uint32_t own_pid_namespace(const struct sampler_options *o)
{
	struct stat st;

	if (o->n_pids == 0 && o->n_tids == 0 && !proc_is_ours())
		return NOBODYS_PID_NAMESPACE;
	/* PROC_PID_INIT_INO, include/linux/proc_ns.h */
	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == 0xEFFFFFFCU)
		return 0;
	return (uint32_t)st.st_ino;
}

/* Each CPU that there may ever be has its own. */
static uint32_t cache_parts(const struct sampler_options *o)
{
	int n_cpus = libbpf_num_possible_cpus();
	uint32_t parts = 1;

	while (n_cpus > 0 && parts < WIRE_CACHE_MAX_PARTS &&
	       (size_t)2 * parts * WIRE_CACHE_PART_BYTES * (size_t)n_cpus <= o->cache_bytes)
		parts *= 2;
	return parts;
}

static int size_cache(struct sample_bpf *bpf, uint32_t parts)
{
	bpf->rodata->cache_mask = parts * (WIRE_CACHE_PART_BYTES / WIRE_CACHED_FRAME_BYTES) - 1;
	return bpf_map__set_max_entries(bpf->maps.frame_cache, parts);
}

/* What nothing is looked up in has one entry: buckets of a hash take memory before there is anything in it. */
static int shrink_unused(struct sample_bpf *bpf, const struct sampler_options *o)
{
	bool no_runtimes = RUNTIME_MAX == RUNTIME_NONE + 1;
	const struct {
		struct bpf_map *map;
		bool unused;
	} maps[] = {
		{ bpf->maps.runtimes, no_runtimes },
		{ bpf->maps.runtime_images, no_runtimes },
		{ bpf->maps.runtime_libraries, no_runtimes },
		{ bpf->maps.told, no_runtimes },
		{ bpf->maps.names, no_runtimes || !has_nested(o) },
		{ bpf->maps.threads, no_runtimes },
		{ bpf->maps.v8_translations, no_runtimes || !has_nested(o) },
		{ bpf->maps.v8_chains, no_runtimes },
		{ bpf->maps.java_processes, no_runtimes },
		{ bpf->maps.java_threads, no_runtimes },
		{ bpf->maps.wanted_pids, o->n_pids == 0 },
		{ bpf->maps.wanted_tids, o->n_tids == 0 },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps) && r == 0; i++)
		if (maps[i].unused)
			r = bpf_map__set_max_entries(maps[i].map, 1);
	return r;
}

/* What the kernel knows a directory of the unified hierarchy by is the number of its inode. */
static uint64_t cgroup_number(const struct sampler_options *o)
{
	struct stat st;

	return o->cgroup_fd >= 0 && fstat(o->cgroup_fd, &st) == 0 ? st.st_ino : 0;
}

int knobs_set(struct sample_bpf *bpf, const struct sampler_options *o)
{
	size_t bytes = knobs_ring_bytes(o, count_cpus(o));

	bpf->rodata->user_mask = user_space_mask();
	bpf->rodata->want_kernel = !o->no_kernel;
	bpf->rodata->want_user = !o->no_user;
	bpf->rodata->filter_pids = o->n_pids > 0;
	bpf->rodata->filter_tids = o->n_tids > 0;
	bpf->rodata->filter_cgroup = o->cgroup_fd >= 0;
	bpf->rodata->wanted_cgroup_id = cgroup_number(o);
	bpf->rodata->pid_namespace = own_pid_namespace(o);
	bpf->rodata->want_lines = o->lines;
	bpf->rodata->want_columns = o->columns;
	bpf->rodata->keep_interpreters = o->interpreter_frames;
	bpf->rodata->want_async = o->async_frames;
	bpf->rodata->want_arguments = o->hotspot_arguments;
	bpf->rodata->want_tiers = o->hotspot_tiers;
	bpf->rodata->want_thread_names = o->thread_names;
	bpf->rodata->wake_bytes = bytes / 4;
	bpf->rodata->user_unwound_bytes = bytes / 2;
	bpf->rodata->deep_copies =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_ringbuf_reserve_dynptr,
					NULL) == 1;
	int r = bpf_map__set_max_entries(bpf->maps.samples, (uint32_t)bytes);
	if (r == 0)
		r = bpf_map__set_autocreate(bpf->maps.off_cpu_tasks, o->off_cpu_hz > 0);
	/* The source says so where it is needed. */
	if (r == 0)
		r = bpf_map__set_autocreate(bpf->maps.off_cpu_predictions, false);
	if (r == 0 && !has_nested(o))
		r = bpf_map__set_max_entries(bpf->maps.scratch, 1);
	if (r == 0)
		r = size_cache(bpf, cache_parts(o));
	if (r == 0)
		r = shrink_unused(bpf, o);
	if (r == 0)
		r = bpf_map__set_max_entries(bpf->maps.processes,
					     o->max_processes ? o->max_processes
							      : SAMPLER_DEFAULT_PROCESSES);
	if (r == 0)
		r = bpf_map__set_max_entries(bpf->maps.objects, o->max_objects
									? o->max_objects
									: SAMPLER_DEFAULT_OBJECTS);
	return r;
}

static int set_ids(int map_fd, const uint32_t *ids, size_t n)
{
	uint8_t one = 1;

	for (size_t i = 0; i < n; i++)
		if (bpf_map_update_elem(map_fd, &ids[i], &one, BPF_ANY) < 0)
			return -errno;
	return 0;
}

int knobs_set_filters(struct sample_bpf *bpf, const struct sampler_options *o)
{
	uint32_t zero = 0;
	int r = set_ids(bpf_map__fd(bpf->maps.wanted_pids), o->pids, o->n_pids);

	if (r == 0)
		r = set_ids(bpf_map__fd(bpf->maps.wanted_tids), o->tids, o->n_tids);
	if (r == 0 && o->cgroup_fd >= 0 &&
	    bpf_map_update_elem(bpf_map__fd(bpf->maps.wanted_cgroup), &zero, &o->cgroup_fd,
				BPF_ANY) < 0)
		r = -errno;
	return r;
}
