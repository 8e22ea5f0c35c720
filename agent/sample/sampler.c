/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel half: loaded, set up, attached, read. */
#include "agent/sample/sampler.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sample/cost.h"
#include "agent/sample/kernel_types.h"
#include "agent/sample/refusal.h"
#include "agent/sample/tick.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "bpf/sample.skel.h"

#define SAMPLER_DEFAULT_PROCESSES 8192
#define SAMPLER_DEFAULT_OBJECTS 4096
/* Half of the ring is for stack copies: it holds as many as come within a tenth of a second, for so long may the agent be busy with
 * something else. The other half is a second of records of 300 bytes many times over. */
#define COPIES_DIVISOR 10
#define SAMPLER_RING_MIN_BYTES ((size_t)1024 * 1024)
#define SAMPLER_RING_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define VERIFIER_LOG_BYTES 16384
/* The verifier's words are megabytes (libbpf's ceiling is 16 MiB); what it objects to is at their end. */
#define LIBBPF_TEXT_BYTES ((size_t)32 << 20)
#define LIBBPF_TAIL_BYTES ((size_t)8 << 10)
/* log_level bit of BPF_PROG_LOAD: statistics only (BPF_LOG_STATS, include/linux/bpf_verifier.h) */
#define VERIFIER_LOG_STATS 4

struct sampler {
	struct sample_bpf *bpf;
	struct ring_buffer *ring;
	struct ticks *ticks;
	unsigned int hz;
	bool follow_cpus;
	struct cpus cpus; /* those to attach to */
	struct telemetry *telemetry;
	sampler_fn fn; /* during sampler_read() */
	void *fn_data;
	char *verifier_log;
	int types_fd; /* while loading */
};

static int libbpf_to_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	_cleanup_buf_ struct buf b = BUF_INIT(LIBBPF_TEXT_BYTES);
	size_t from;

	/* Its debug output is two hundred lines about itself; what it warns of includes the verifier's words. */
	if (level == LIBBPF_DEBUG || !log_enabled(LOG_LEVEL_DEBUG))
		return 0;
	(void)buf_vprintf(&b, fmt, ap);
	while (b.len > 0 && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	from = b.len > LIBBPF_TAIL_BYTES ? b.len - LIBBPF_TAIL_BYTES : 0;
	log_debug("libbpf", LOG_STR("text", buf_str(&b) + from));
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	ticks_free(s->ticks);
	ring_buffer__free(s->ring);
	sample_bpf__destroy(s->bpf);
	cpus_fini(&s->cpus);
	free(s->verifier_log);
	free(s);
}

/* A power of two, as large as needed or allowed. */
static size_t ring_bytes(const struct sampler *s, const struct sampler_options *o)
{
	size_t most = o->ring_bytes ? o->ring_bytes : SAMPLER_RING_MAX_BYTES;
	size_t needed = 2 * s->cpus.n * s->hz * WIRE_COPY_BYTES / COPIES_DIVISOR;
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

static int size_cache(struct sampler *s, uint32_t parts)
{
	s->bpf->rodata->cache_mask = parts * (WIRE_CACHE_PART_BYTES / WIRE_CACHED_FRAME_BYTES) - 1;
	return bpf_map__set_max_entries(s->bpf->maps.frame_cache, parts);
}

static int set_knobs(struct sampler *s, const struct sampler_options *o)
{
	size_t bytes = ring_bytes(s, o);

	s->bpf->rodata->want_kernel = !o->no_kernel;
	s->bpf->rodata->want_user = !o->no_user;
	s->bpf->rodata->want_idle = o->idle;
	s->bpf->rodata->filter_pids = o->n_pids > 0;
	s->bpf->rodata->filter_tids = o->n_tids > 0;
	s->bpf->rodata->filter_cgroup = o->cgroup_fd >= 0;
	s->bpf->rodata->pid_namespace = own_pid_namespace(o);
	s->bpf->rodata->wake_bytes = bytes / 4;
	s->bpf->rodata->cold_bytes = bytes / 2;
	s->bpf->rodata->deep_copies =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_ringbuf_reserve_dynptr,
					NULL) == 1;
	int r = bpf_map__set_max_entries(s->bpf->maps.samples, (uint32_t)bytes);
	if (r == 0)
		r = size_cache(s, cache_parts(o));
	if (r == 0)
		r = bpf_map__set_max_entries(s->bpf->maps.processes,
					     o->max_processes ? o->max_processes
							      : SAMPLER_DEFAULT_PROCESSES);
	if (r == 0)
		r = bpf_map__set_max_entries(s->bpf->maps.objects,
					     o->max_objects ? o->max_objects
							    : SAMPLER_DEFAULT_OBJECTS);
	return r;
}

static int want_verifier_stats(struct sampler *s)
{
	free(s->verifier_log);
	s->verifier_log = calloc(1, VERIFIER_LOG_BYTES);
	if (!s->verifier_log)
		return -ENOMEM;
	int r = bpf_program__set_log_level(s->bpf->progs.sample, VERIFIER_LOG_STATS);
	if (r == 0)
		r = bpf_program__set_log_buf(s->bpf->progs.sample, s->verifier_log,
					     VERIFIER_LOG_BYTES);
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

static int set_filters(struct sampler *s, const struct sampler_options *o)
{
	uint32_t zero = 0;
	int r = set_ids(bpf_map__fd(s->bpf->maps.wanted_pids), o->pids, o->n_pids);

	if (r == 0)
		r = set_ids(bpf_map__fd(s->bpf->maps.wanted_tids), o->tids, o->n_tids);
	if (r == 0 && o->cgroup_fd >= 0 &&
	    bpf_map_update_elem(bpf_map__fd(s->bpf->maps.wanted_cgroup), &zero, &o->cgroup_fd,
				BPF_ANY) < 0)
		r = -errno;
	return r;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct sampler *s = ctx;
	struct sample sample;

	telemetry_count(s->telemetry, TELEMETRY_samples_received, 1);
	if (sample_parse(data, size, &sample) < 0)
		telemetry_count(s->telemetry, TELEMETRY_samples_dropped_malformed, 1);
	else
		s->fn(&sample, s->fn_data);
	return 0;
}

/* Opened with the types of the kernel that it names, or, where they cannot be told, for libbpf to look into all of them. */
static int open_program(struct sampler *s, bool all_types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[KERNEL_TYPES_PATH_BYTES];
	uint32_t n_bytes = 0;

	cleanup_close_p(&s->types_fd);
	s->types_fd = all_types ? -1 : kernel_types_new(path);
	if (s->types_fd >= 0)
		opts.btf_custom_path = path;
	s->bpf = sample_bpf__open_opts(&opts);
	if (!s->bpf)
		return -errno;
	if (s->types_fd < 0)
		return 0;
	const void *raw = btf__raw_data(bpf_object__btf(s->bpf->obj), &n_bytes);
	return raw ? kernel_types_fill(s->types_fd, (struct str){ raw, n_bytes }) : -ENODATA;
}

static int load_program(struct sampler *s, const struct sampler_options *o, bool all_types)
{
	int r = open_program(s, all_types);

	if (r == 0)
		r = set_knobs(s, o);
	if (r == 0 && o->verifier_stats)
		r = want_verifier_stats(s);
	if (r == 0)
		r = sample_bpf__load(s->bpf);
	cleanup_close_p(&s->types_fd);
	s->types_fd = -1;
	return r;
}

static int load(struct sampler *s, const struct sampler_options *o)
{
	int r = load_program(s, o, false);

	/* Whatever stood in the way, libbpf has the last word. */
	if (r < 0) {
		log_debug("loading again, with all types of the kernel", LOG_ERR(r));
		sample_bpf__destroy(s->bpf);
		s->bpf = NULL;
		r = load_program(s, o, true);
	}
	if (r == 0)
		r = set_filters(s, o);
	if (r < 0)
		return r;
	s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.samples), on_record, s, NULL);
	return s->ring ? 0 : -errno;
}

static int choose_cpus(struct sampler *s, const struct sampler_options *o)
{
	if (!o->cpus) {
		s->follow_cpus = true;
		return cpus_online(&s->cpus);
	}
	s->cpus.ids = calloc(o->cpus->n ? o->cpus->n : 1, sizeof(*s->cpus.ids));
	if (!s->cpus.ids)
		return -ENOMEM;
	memcpy(s->cpus.ids, o->cpus->ids, o->cpus->n * sizeof(*s->cpus.ids));
	s->cpus.n = o->cpus->n;
	return 0;
}

static void warn_of_shortcomings(const struct refusal_facts *facts)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);

	if (refusal_shortcomings(facts, &text))
		log_warn("profiles will lack names", LOG_STR("why", buf_str(&text)),
			 LOG_STR("fix", "run as root, or grant them"));
}

int sampler_new(const struct sampler_options *o, struct buf *why, struct sampler **ret_sampler)
{
	_cleanup_(sampler_freep) struct sampler *s = calloc(1, sizeof(*s));
	struct refusal_facts facts;

	if (!s)
		return -ENOMEM;
	s->types_fd = -1;
	s->telemetry = o->telemetry;
	s->hz = o->hz ? o->hz : SAMPLER_DEFAULT_HZ;
	refusal_facts_read(&facts);
	if (refusal_expected(&facts, why))
		return -EPERM;
	libbpf_set_print(libbpf_to_log);
	int r = choose_cpus(s, o);
	if (r == 0)
		r = load(s, o);
	if (r < 0) {
		refusal_explain(&facts, "load", r, why);
		return r;
	}
	warn_of_shortcomings(&facts);
	*ret_sampler = TAKE_PTR(s);
	return 0;
}

int sampler_start(struct sampler *s, struct buf *why)
{
	int r = ticks_new(bpf_program__fd(s->bpf->progs.sample), s->hz, &s->cpus, &s->ticks);
	struct refusal_facts facts;

	if (r < 0) {
		refusal_facts_read(&facts);
		refusal_explain(&facts, "attach", r, why);
	}
	return r;
}

void sampler_stop(struct sampler *s)
{
	ticks_free(s->ticks);
	s->ticks = NULL;
}

int sampler_set_hz(struct sampler *s, unsigned int hz)
{
	int r = s->ticks ? ticks_set_hz(s->ticks, hz) : 0;

	if (r == 0)
		s->hz = hz;
	return r;
}

unsigned int sampler_hz(const struct sampler *s)
{
	return s->hz;
}

int sampler_sync_cpus(struct sampler *s)
{
	_cleanup_cpus_ struct cpus online = { 0 };

	if (!s->ticks)
		return 0;
	if (!s->follow_cpus)
		return ticks_sync(s->ticks, &s->cpus);
	int r = cpus_online(&online);
	return r < 0 ? r : ticks_sync(s->ticks, &online);
}

int sampler_ring_fd(const struct sampler *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

int sampler_read(struct sampler *s, sampler_fn fn, void *data)
{
	s->fn = fn;
	s->fn_data = data;
	int r = ring_buffer__consume(s->ring);
	return r < 0 ? r : 0;
}

void sampler_tables(struct sampler *s, struct sampler_tables *ret_tables)
{
	*ret_tables = (struct sampler_tables){
		.processes_fd = bpf_map__fd(s->bpf->maps.processes),
		.segments_fd = bpf_map__fd(s->bpf->maps.segments),
		.objects_fd = bpf_map__fd(s->bpf->maps.objects),
		.max_processes = bpf_map__max_entries(s->bpf->maps.processes),
		.max_objects = bpf_map__max_entries(s->bpf->maps.objects),
		.reuse_count = (uint64_t *)&s->bpf->bss->reuse_count,
		.table_epoch = (uint32_t *)&s->bpf->bss->table_epoch,
	};
}

int sampler_counters(const struct sampler *s, struct wire_counters *ret_counters)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct wire_counters sum = { 0 };
	uint32_t zero = 0;

	if (n_cpus < 0)
		return n_cpus;
	_cleanup_free_ struct wire_counters *each = calloc((size_t)n_cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.counters), &zero, each) < 0)
		return -errno;
	for (int i = 0; i < n_cpus; i++) {
#define ADD(name, text) sum.name += each[i].name;
		WIRE_COUNTERS(ADD)
#undef ADD
	}
	*ret_counters = sum;
	return 0;
}

int sampler_cost(const struct sampler *s, struct sampler_cost *ret_cost)
{
	const struct bpf_map *map;
	struct sampler_cost cost = { 0 };
	int r = cost_add_program(bpf_program__fd(s->bpf->progs.sample), &cost);

	bpf_object__for_each_map (map, s->bpf->obj)
		if (r == 0)
			r = cost_add_map(bpf_map__fd(map), &cost);
	if (r == 0)
		*ret_cost = cost;
	return r;
}

void sampler_verifier_stats(const struct sampler *s,
			    void (*fn)(const char *program, uint64_t instructions, void *data),
			    void *data)
{
	const char *at = s->verifier_log ? strstr(s->verifier_log, "processed ") : NULL;
	struct str text = str_from(at ? at + strlen("processed ") : NULL);
	uint64_t n = 0;

	if (at && str_scan_u64(&text, 10, UINT64_MAX, &n) == 0)
		fn(bpf_program__name(s->bpf->progs.sample), n, data);
}
