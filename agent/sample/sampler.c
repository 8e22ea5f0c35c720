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
#include "agent/sample/cpu_counters.h"
#include "agent/sample/event.h"
#include "agent/sample/event_costs.h"
#include "agent/sample/kernel_types.h"
#include "agent/sample/knobs.h"
#include "agent/sample/refusal.h"
#include "agent/sample/sample_ring.h"
#include "agent/sample/source.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "bpf/sample.skel.h"

#define VERIFIER_LOG_BYTES 16384
#define VERIFIER_MAX_PROGRAMS 16
#define SAMPLER_MAX_PROGRAMS 64
/* The verifier's words are megabytes (libbpf's ceiling is 16 MiB); what it objects to is at their end. */
#define LIBBPF_TEXT_BYTES ((size_t)32 << 20)
#define LIBBPF_TAIL_BYTES ((size_t)8 << 10)
/* log_level bit of BPF_PROG_LOAD: statistics only (BPF_LOG_STATS, include/linux/bpf_verifier.h) */
#define VERIFIER_LOG_STATS 4

struct sampler {
	struct sample_bpf *bpf;
	struct sample_ring ring;
	struct source *sources[EVENT_MAX];
	size_t n_sources;
	struct cpu_counters *counters;
	struct event_costs costs;
	uint8_t owners[SAMPLER_MAX_PROGRAMS]; /* enum event, of each program that is wanted */
	unsigned int hz;
	char *verifier_logs; /* VERIFIER_LOG_BYTES for each of VERIFIER_MAX_PROGRAMS; NULL: not wanted */
	int types_fd;	     /* while loading */
	enum event
		refused; /* of loading: which source said why it cannot be; EVENT_MAX: none did */
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

static void free_sources(struct sampler *s)
{
	while (s->n_sources > 0) {
		struct source *source = s->sources[--s->n_sources];

		source->ops->free(source);
	}
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	event_costs_fini(&s->costs);
	free_sources(s);
	cpu_counters_free(s->counters);
	sample_ring_fini(&s->ring);
	sample_bpf__destroy(s->bpf);
	free(s->verifier_logs);
	free(s);
}

/* Of each program that is wanted. */
static int want_verifier_stats(struct sampler *s)
{
	struct bpf_program *program;
	size_t i = 0;

	bpf_object__for_each_program(program, s->bpf->obj)
	{
		char *log = s->verifier_logs + VERIFIER_LOG_BYTES * i;

		if (!bpf_program__autoload(program) || i == VERIFIER_MAX_PROGRAMS)
			continue;
		int r = bpf_program__set_log_level(program, VERIFIER_LOG_STATS);
		if (r == 0)
			r = bpf_program__set_log_buf(program, log, VERIFIER_LOG_BYTES);
		if (r < 0)
			return r;
		i++;
	}
	return 0;
}

/* Opened with the types of the kernel that it names, or, where they cannot be told, for libbpf to look into all of them. */
static int open_programs(struct sampler *s, bool all_types)
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

/* Programs that are wanted and are nobody's yet are the event's. */
static void claim_programs(struct sampler *s, enum event event)
{
	struct bpf_program *program;
	size_t i = 0;

	bpf_object__for_each_program(program, s->bpf->obj)
	{
		if (i < SAMPLER_MAX_PROGRAMS && bpf_program__autoload(program) &&
		    s->owners[i] == EVENT_MAX)
			s->owners[i] = (uint8_t)event;
		i++;
	}
}

static int open_sources(struct sampler *s, const struct sampler_options *o, struct buf *why)
{
	free_sources(s);
	s->refused = EVENT_MAX;
	memset(s->owners, EVENT_MAX, sizeof(s->owners));
	for (size_t i = 0; source_list[i]; i++) {
		struct source *source = NULL;
		int r = source_list[i]->new (s->bpf, o, why, &source);

		if (r < 0) {
			s->refused = source_list[i]->event;
			return r;
		}
		if (source)
			s->sources[s->n_sources++] = source;
		claim_programs(s, source_list[i]->event);
	}
	return 0;
}

static int load_programs(struct sampler *s, const struct sampler_options *o, bool all_types,
			 struct buf *why)
{
	int r = open_programs(s, all_types);

	if (r == 0)
		r = knobs_set(s->bpf, o);
	if (r == 0)
		r = open_sources(s, o, why);
	if (r == 0 && s->verifier_logs)
		r = want_verifier_stats(s);
	if (r == 0)
		r = sample_bpf__load(s->bpf);
	cleanup_close_p(&s->types_fd);
	s->types_fd = -1;
	return r;
}

static int load(struct sampler *s, const struct sampler_options *o, struct buf *why)
{
	int r = load_programs(s, o, false, why);

	/* Whatever stood in the way, libbpf has the last word; unless it is what was asked for. */
	if (r < 0 && why->len == 0) {
		log_debug("loading again, with all types of the kernel", LOG_ERR(r));
		free_sources(s);
		sample_bpf__destroy(s->bpf);
		s->bpf = NULL;
		r = load_programs(s, o, true, why);
	}
	if (r == 0)
		r = knobs_set_filters(s->bpf, o);
	if (r == 0)
		r = cpu_counters_new(bpf_map__fd(s->bpf->maps.counters), &s->counters);
	if (r < 0)
		return r;
	return sample_ring_init(&s->ring, bpf_map__fd(s->bpf->maps.samples), o);
}

static bool is_optional(const struct sampler_options *o, enum event event)
{
	return (event == EVENT_OFF_CPU && o->off_cpu_hz) || o->event_hz[event];
}

/* With one event less. */
static void leave_out(struct sampler_options *o, enum event event)
{
	if (event == EVENT_OFF_CPU)
		o->off_cpu_hz = 0;
	o->event_hz[event] = 0;
}

/* Ticks, tracepoints, and whatever else is still wanted. */
static bool wants_any(const struct sampler_options *o)
{
	bool wants = !o->no_ticks || o->n_tracepoints > 0;

	for (enum event e = 0; e < EVENT_MAX; e++)
		wants |= is_optional(o, e);
	return wants;
}

static int load_again(struct sampler *s, const struct sampler_options *o, struct buf *why)
{
	buf_reset(why);
	free_sources(s);
	sample_bpf__destroy(s->bpf);
	s->bpf = NULL;
	return load(s, o, why);
}

static void warn_of_event(enum event event, const char *why)
{
	log_warn("an event is not profiled", LOG_STR("event", event_type(event)->name),
		 LOG_STR("why", why));
}

/* The kernel does not say which event it was that it refused: the one without which it takes the others. */
static int load_without_one(struct sampler *s, const struct sampler_options *o, int error,
			    struct buf *why)
{
	for (enum event e = EVENT_MAX; e-- > 0;) {
		struct sampler_options others = *o;

		if (!is_optional(o, e))
			continue;
		leave_out(&others, e);
		if (!wants_any(&others) || load_again(s, &others, why) < 0)
			continue;
		warn_of_event(e, strerror(-error));
		return 0;
	}
	return error;
}

static int load_without_any(struct sampler *s, const struct sampler_options *o, int error,
			    struct buf *why)
{
	struct sampler_options ticks = *o;

	for (enum event e = 0; e < EVENT_MAX; e++)
		leave_out(&ticks, e);
	int r = wants_any(&ticks) ? load_again(s, &ticks, why) : error;
	for (enum event e = 0; e < EVENT_MAX && r == 0; e++)
		if (is_optional(o, e))
			warn_of_event(e, strerror(-error));
	return r;
}

/* One event that the kernel forbids is no reason to do without the others. */
static int load_others(struct sampler *s, const struct sampler_options *o, int r, struct buf *why)
{
	struct sampler_options others = *o;

	while (r < 0 && s->refused < EVENT_MAX && is_optional(&others, s->refused)) {
		enum event refused = s->refused;

		leave_out(&others, refused);
		/* The last one: why it cannot be had is why there is nothing. */
		if (!wants_any(&others))
			return r;
		warn_of_event(refused, why->len > 0 ? buf_str(why) : strerror(-r));
		r = load_again(s, &others, why);
	}
	if (r < 0 && why->len == 0)
		r = load_without_one(s, &others, r, why);
	return r < 0 && why->len == 0 ? load_without_any(s, &others, r, why) : r;
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
	event_costs_init(&s->costs);
	s->costs.limit = o->event_cpu_limit;
	s->hz = o->hz ? o->hz : SAMPLER_DEFAULT_HZ;
	s->verifier_logs =
		o->verifier_stats ? calloc(VERIFIER_MAX_PROGRAMS, VERIFIER_LOG_BYTES) : NULL;
	if (o->verifier_stats && !s->verifier_logs)
		return -ENOMEM;
	refusal_facts_read(&facts);
	if (refusal_expected(&facts, why))
		return -EPERM;
	libbpf_set_print(libbpf_to_log);
	int r = load(s, o, why);
	if (r < 0)
		r = load_others(s, o, r, why);
	if (r < 0) {
		if (why->len == 0)
			refusal_explain(&facts, "load", r, why);
		return r;
	}
	warn_of_shortcomings(&facts);
	*ret_sampler = TAKE_PTR(s);
	return 0;
}

static void detach_all(struct sampler *s)
{
	for (size_t i = 0; i < s->n_sources; i++)
		s->sources[i]->ops->detach(s->sources[i]);
}

/* There is another one; a tracepoint that is not there is somebody's mistake. */
static bool can_do_without(const struct sampler *s, size_t i)
{
	enum event event = s->sources[i]->ops->event;

	return event != EVENT_CPU && event != EVENT_TRACEPOINT && s->n_sources > 1;
}

/* From here on it is as if the event had not been asked for: what is made of it is not there either. */
static void drop_source(struct sampler *s, size_t i)
{
	s->sources[i]->ops->free(s->sources[i]);
	s->n_sources--;
	memmove(&s->sources[i], &s->sources[i + 1], (s->n_sources - i) * sizeof(*s->sources));
}

static void open_costs(struct sampler *s)
{
	struct bpf_program *program;
	size_t i = 0;

	bpf_object__for_each_program(program, s->bpf->obj)
	{
		if (i < SAMPLER_MAX_PROGRAMS && s->owners[i] < EVENT_MAX)
			event_costs_add_program(&s->costs, bpf_program__fd(program), s->owners[i]);
		i++;
	}
	for (i = 0; i < s->n_sources; i++)
		event_costs_add_event(&s->costs, s->sources[i]->ops->event,
				      s->sources[i]->ops->limit_hz(s->sources[i]));
	s->costs.budgets = s->bpf->bss->event_budgets;
}

int sampler_under_way(const struct sampler *s, void (*fn)(uint64_t id, void *data), void *data)
{
	_cleanup_free_ struct wire_io_set *sets = calloc(WIRE_IO_SETS, sizeof(*sets));
	_cleanup_free_ uint32_t *keys = calloc(WIRE_IO_SETS, sizeof(*keys));
	uint32_t next, n = WIRE_IO_SETS;

	if (!sets || !keys)
		return -ENOMEM;
	/* It says that there are no more behind them. */
	if (bpf_map_lookup_batch(bpf_map__fd(s->bpf->maps.ios), NULL, &next, keys, sets, &n, NULL) <
		    0 &&
	    errno != ENOENT)
		return -errno;
	for (size_t i = 0; i < (size_t)n * WIRE_IO_WAYS; i++) {
		const struct wire_io *io = &sets[i / WIRE_IO_WAYS].places[i % WIRE_IO_WAYS];

		if (io->bio)
			fn(io->id, data);
	}
	return 0;
}

void sampler_look_at_costs(struct sampler *s)
{
	struct wire_counters counters[EVENT_MAX];

	if (sampler_counters(s, counters) == 0)
		event_costs_look(&s->costs, counters, clock_mono_ns());
}

bool sampler_event_cost(const struct sampler *s, enum event event,
			struct sampler_event_cost *ret_cost)
{
	const struct governor *g = &s->costs.governors[event];

	*ret_cost = (struct sampler_event_cost){ governor_run_ns(g), g->runs_hz, g->cpu_ratio,
						 g->is_over };
	return g->most_hz > 0 && s->costs.is_measured[event];
}

int sampler_start(struct sampler *s, struct buf *why)
{
	struct refusal_facts facts;
	size_t i = 0;
	int r = 0;

	while (i < s->n_sources && r == 0) {
		r = s->sources[i]->ops->attach(s->sources[i], why);
		if (r == 0) {
			i++;
		} else if (can_do_without(s, i)) {
			warn_of_event(s->sources[i]->ops->event,
				      why->len > 0 ? buf_str(why) : strerror(-r));
			buf_reset(why);
			drop_source(s, i);
			r = 0;
		}
	}
	if (r == 0) {
		open_costs(s);
		return 0;
	}
	detach_all(s);
	refusal_facts_read(&facts);
	if (why->len == 0)
		refusal_explain(&facts, "attach", r, why);
	return r;
}

void sampler_stop(struct sampler *s)
{
	detach_all(s);
}

int sampler_set_hz(struct sampler *s, unsigned int hz)
{
	int r = 0;

	for (size_t i = 0; i < s->n_sources && r == 0; i++)
		if (s->sources[i]->ops->set_rate)
			r = s->sources[i]->ops->set_rate(s->sources[i], hz);
	if (r == 0)
		s->hz = hz;
	return r;
}

unsigned int sampler_hz(const struct sampler *s)
{
	return s->hz;
}

unsigned int sampler_limit_hz(const struct sampler *s, enum event event)
{
	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->event == event) {
			unsigned int hz = s->sources[i]->ops->limit_hz(s->sources[i]);

			return event == EVENT_CPU || !s->costs.governors[event].most_hz
				       ? hz
				       : MIN_OF(hz, s->costs.governors[event].hz);
		}
	return 0;
}

int sampler_sync_cpus(struct sampler *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n_sources && r == 0; i++)
		if (s->sources[i]->ops->sync_cpus)
			r = s->sources[i]->ops->sync_cpus(s->sources[i]);
	return r;
}

int sampler_ring_fd(const struct sampler *s)
{
	return sample_ring_fd(&s->ring);
}

int sampler_read(struct sampler *s, uint64_t budget_ns, sampler_fn fn, void *data,
		 uint64_t *ret_read_ns)
{
	return sample_ring_read(&s->ring, budget_ns, fn, data, ret_read_ns);
}

void sampler_begin_look(struct sampler *s)
{
	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->begin_look)
			s->sources[i]->ops->begin_look(s->sources[i]);
}

bool sampler_is_looking(struct sampler *s)
{
	bool is_looking = false;

	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->is_looking)
			is_looking |= s->sources[i]->ops->is_looking(s->sources[i]);
	return is_looking;
}

void sampler_tables(struct sampler *s, struct sampler_tables *ret_tables)
{
	*ret_tables = (struct sampler_tables){
		.processes_fd = bpf_map__fd(s->bpf->maps.processes),
		.segments_fd = bpf_map__fd(s->bpf->maps.segments),
		.objects_fd = bpf_map__fd(s->bpf->maps.objects),
		.runtimes_fd = bpf_map__fd(s->bpf->maps.runtimes),
		.runtime_images_fd = bpf_map__fd(s->bpf->maps.runtime_images),
		.runtime_libraries_fd = bpf_map__fd(s->bpf->maps.runtime_libraries),
		.java_processes_fd = bpf_map__fd(s->bpf->maps.java_processes),
		.java_threads_fd = bpf_map__fd(s->bpf->maps.java_threads),
		.max_processes = bpf_map__max_entries(s->bpf->maps.processes),
		.max_objects = bpf_map__max_entries(s->bpf->maps.objects),
		.reuse_count = (uint64_t *)&s->bpf->bss->reuse_count,
		.table_epoch = (uint32_t *)&s->bpf->bss->table_epoch,
		.told_seed = (uint64_t *)&s->bpf->bss->told_seed,
	};
}

int sampler_counters(struct sampler *s, struct wire_counters ret_counters[EVENT_MAX])
{
	int r = cpu_counters_look(s->counters);

	for (enum event e = 0; e < EVENT_MAX && r == 0; e++)
		cpu_counters_sum(s->counters, e, &ret_counters[e]);
	return r;
}

int sampler_runtime_results(struct sampler *s,
			    struct wire_runtime_results ret_results[RUNTIME_KINDS])
{
	int n_cpus = libbpf_num_possible_cpus();

	if (n_cpus < 0)
		return n_cpus;
	_cleanup_free_ struct wire_runtime_results *each = calloc((size_t)n_cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	memset(ret_results, 0, RUNTIME_KINDS * sizeof(*ret_results));
	for (uint32_t kind = 0; kind < RUNTIME_MAX; kind++) {
		int r = bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.runtime_results), &kind, each);

		if (r < 0)
			return r;
		for (int cpu = 0; cpu < n_cpus; cpu++)
			for (size_t i = 0; i < RUNTIME_RESULT_MAX; i++)
				ret_results[kind].n[i] += each[cpu].n[i];
	}
	return 0;
}

/* What was due is looked at before what came. */
uint64_t sampler_missed(struct sampler *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->look)
			s->sources[i]->ops->look(s->sources[i]);
	bool is_fresh = cpu_counters_look(s->counters) == 0;
	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->n_missed)
			n += s->sources[i]->ops->n_missed(s->sources[i],
							  is_fresh ? s->counters : NULL);
	return n;
}

int sampler_cost(const struct sampler *s, struct sampler_cost *ret_cost)
{
	struct bpf_program *program;
	const struct bpf_map *map;
	struct sampler_cost cost = { 0 };
	int r = 0;

	bpf_object__for_each_program(program,
				     s->bpf->obj) if (r == 0 && bpf_program__autoload(program)) r =
		cost_add_program(bpf_program__fd(program), &cost);
	bpf_object__for_each_map (map, s->bpf->obj)
		if (r == 0 && bpf_map__autocreate(map))
			r = cost_add_map(bpf_map__fd(map), &cost);
	if (r == 0)
		*ret_cost = cost;
	return r;
}

void sampler_verifier_stats(const struct sampler *s,
			    void (*fn)(const char *program, uint64_t instructions, void *data),
			    void *data)
{
	struct bpf_program *program;
	size_t i = 0;

	if (!s->verifier_logs)
		return;
	bpf_object__for_each_program(program, s->bpf->obj)
	{
		if (!bpf_program__autoload(program) || i == VERIFIER_MAX_PROGRAMS)
			continue;
		const char *at = strstr(s->verifier_logs + VERIFIER_LOG_BYTES * i++, "processed ");
		struct str text = str_from(at ? at + strlen("processed ") : NULL);
		uint64_t n = 0;

		if (at && str_scan_u64(&text, 10, UINT64_MAX, &n) == 0)
			fn(bpf_program__name(program), n, data);
	}
}
