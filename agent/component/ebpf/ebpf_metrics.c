/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of pyroscope.ebpf. */
#include "agent/component/ebpf/ebpf_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/component/ebpf/event_metrics.h"
#include "agent/process/proc.h"
#include "agent/runtimes/runtime.h"
#include "agent/sample/cpu_counters.h"
#include "agent/util/macro.h"

#define COMPONENT_LABELS "component_path", "component_id"

static const struct metric_family active_targets = { "pyroscope_ebpf_active_targets",
						     "Targets that can select a process.",
						     METRIC_GAUGE,
						     { COMPONENT_LABELS } };
static const struct metric_family sessions = { "pyroscope_ebpf_profiling_sessions_total",
					       "Collection rounds.",
					       METRIC_COUNTER,
					       { COMPONENT_LABELS } };
static const struct metric_family sessions_failing = {
	"pyroscope_ebpf_profiling_sessions_failing_total",
	"Collection rounds that failed.",
	METRIC_COUNTER,
	{ COMPONENT_LABELS }
};
static const struct metric_family pprofs = { "pyroscope_ebpf_pprofs_total",
					     "Profiles made.",
					     METRIC_COUNTER,
					     { COMPONENT_LABELS, "service_name" } };
static const struct metric_family pprof_bytes = { "pyroscope_ebpf_pprof_bytes_total",
						  "Compressed bytes of profiles made, where a "
						  "receiver wants bytes.",
						  METRIC_COUNTER,
						  { COMPONENT_LABELS, "service_name" } };
static const struct metric_family pprof_samples = { "pyroscope_ebpf_pprof_samples_total",
						    "Samples in profiles made.",
						    METRIC_COUNTER,
						    { COMPONENT_LABELS, "service_name" } };
static const struct metric_family pprofs_dropped = { "pyroscope_ebpf_pprofs_dropped_total",
						     "Profiles that could not be handed on.",
						     METRIC_COUNTER,
						     { COMPONENT_LABELS } };
static const struct metric_family samples_waiting = {
	"xagent_samples_waiting",
	"Samples in the open interval and in intervals being built.",
	METRIC_GAUGE,
	{ COMPONENT_LABELS }
};
static const struct metric_family processes = { "xagent_processes",
						"Processes known by sampling or by birth.",
						METRIC_GAUGE,
						{ COMPONENT_LABELS } };
static const struct metric_family bpf_map_bytes = {
	"xagent_bpf_map_bytes", "Kernel memory of BPF maps.", METRIC_GAUGE, { COMPONENT_LABELS }
};
static const struct metric_family bpf_run_seconds = {
	"xagent_bpf_run_seconds_total",
	"Time spent in BPF programs; needs kernel.bpf_stats_enabled=1.",
	METRIC_SECONDS,
	{ COMPONENT_LABELS }
};
static const struct metric_family bpf_runs = {
	"xagent_bpf_runs_total",
	"Runs of BPF programs; needs kernel.bpf_stats_enabled=1.",
	METRIC_COUNTER,
	{ COMPONENT_LABELS }
};

#define GAUGE(variable, name, text)                            \
	static const struct metric_family variable = {         \
		name, text, METRIC_GAUGE, { COMPONENT_LABELS } \
	}
GAUGE(first_complete, "xagent_first_complete_stack_seconds",
      "From the start of the agent to the first sample with a complete user stack; 0: none yet.");
GAUGE(memory_limit, "xagent_memory_limit_bytes", "What memory_limit says.");
GAUGE(arena_bytes, "xagent_unwind_arena_bytes",
      "Memory of the kernel for unwind tables and mappings, as far as it has grown.");
GAUGE(arena_used, "xagent_unwind_arena_used_bytes", "What is in use of it.");
GAUGE(interval_bytes, "xagent_interval_bytes", "Memory of the stacks of the open interval.");
GAUGE(unwind_mappings, "xagent_unwind_mappings", "Mappings that the kernel half knows.");
GAUGE(unwind_tables, "xagent_unwind_tables",
      "Unwind tables loaded; files of one build id share one.");
GAUGE(unwind_table_bytes, "xagent_unwind_table_bytes", "Memory of unwind tables.");
GAUGE(unwind_rows, "xagent_unwind_rows", "Rows of unwind tables.");
#undef GAUGE

static const struct metric_family unwind_files = {
	"xagent_unwind_files",
	"Files mapped by sampled processes, by the state of their unwind tables.",
	METRIC_GAUGE,
	{ COMPONENT_LABELS, "state" }
};
static const char *const object_state_names[OBJECT_STATE_MAX] = {
	[OBJECT_IDLE] = "idle",
	[OBJECT_WANTED] = "wanted",
	[OBJECT_LOADED] = "loaded",
	[OBJECT_NO_ROOM] = "no_room",
	[OBJECT_UNREADABLE] = "unreadable",
};

static const struct metric_family user_stacks = {
	"xagent_user_stacks_total",
	"User stacks by how their walk ended; root and no_user are complete.",
	METRIC_COUNTER,
	{ COMPONENT_LABELS, "end" }
};

static const struct metric_family runtime_stacks = {
	"xagent_runtime_stacks_total",
	"User stacks of processes with an interpreter, by what was found of the functions that it "
	"runs; walked and idle are complete.",
	METRIC_COUNTER,
	{ COMPONENT_LABELS, "runtime", "result" }
};

#define KERNEL_FAMILY(name, text)          \
	{ "xagent_kernel_" #name "_total", \
	  "Kernel half: " text ".",        \
	  METRIC_COUNTER,                  \
	  { COMPONENT_LABELS, "event" } },
static const struct metric_family kernel_families[] = { WIRE_COUNTERS(KERNEL_FAMILY) };
#undef KERNEL_FAMILY

static const struct metric_family sample_limit = {
	"xagent_sample_limit_hz",
	"Samples a second and CPU at most: the rate of timer ticks, the limit of each tracepoint; "
	"0: no longer sampled.",
	METRIC_GAUGE,
	{ COMPONENT_LABELS, "event" }
};

static const struct metric_family ticks_missed = { "xagent_kernel_ticks_missed_total",
						   "Timer ticks that were due (rate × time × CPUs "
						   "online) and that the kernel did not deliver.",
						   METRIC_COUNTER,
						   { COMPONENT_LABELS } };

struct ebpf_metrics {
	struct telemetry *telemetry;
	const char *labels[2]; /* component_path, component_id */
	struct session *session;
	/* Counters only grow: what ended sessions counted, and what the present one has been seen to count. */
	struct wire_counters before[EVENT_MAX];
	struct wire_counters shown[EVENT_MAX];
	bool has_been[EVENT_MAX]; /* sampled, by a session */
	uint64_t missed_before;
	uint64_t missed_shown;
	struct sampler_cost cost_before;
	uint64_t ends_before[STOP_REASON_MAX];
	struct wire_runtime_results runtimes_before[RUNTIME_KINDS];
	struct wire_runtime_results runtimes_shown[RUNTIME_KINDS];
	struct event_metrics events;
	double first_complete_s; /* 0: none yet */
};

/* Never changed: queries of dashboards and alerts have them. */
static const char *const end_names[] = {
	[STOP_REASON_ROOT] = "root",
	[STOP_REASON_NO_USER] = "no_user",
	[STOP_REASON_DEPTH] = "depth",
	[STOP_REASON_STACK_READ] = "stack_read",
	[STOP_REASON_NO_PROGRESS] = "no_progress",
	[STOP_REASON_NO_MAPPING] = "no_mapping",
	[STOP_REASON_BAD_PC] = "bad_pc",
	[STOP_REASON_COMPAT] = "compat",
	[STOP_REASON_COPY_END] = "copy_end",
	[STOP_REASON_NO_RULE] = "no_rule",
	[STOP_REASON_REGISTER] = "register",
	[STOP_REASON_NO_TABLE] = "no_table",
	[STOP_REASON_REMAPPED] = "remapped",
	[STOP_REASON_OUTSIDE_PID_NAMESPACE] = "stranger",
	[STOP_REASON_ON_HEAP] = "on_heap",
};

_Static_assert(ARRAY_SIZE(end_names) == STOP_REASON_MAX, "a name for each");

const char *ebpf_metrics_end_name(enum stop_reason end)
{
	return end_names[end];
}

static struct metric *series(struct ebpf_metrics *m, const struct metric_family *family)
{
	return telemetry_series(m->telemetry, family, m->labels);
}

static struct metric *service_series(struct ebpf_metrics *m, const struct metric_family *family,
				     const char *service)
{
	const char *values[] = { m->labels[0], m->labels[1], service };

	return telemetry_series(m->telemetry, family, values);
}

static void read_counters(struct ebpf_metrics *m)
{
	struct wire_counters now[EVENT_MAX];

	if (!m->session)
		return;
	m->missed_shown = sampler_missed(session_sampler(m->session));
	if (sampler_counters(session_sampler(m->session), now) == 0)
		memcpy(m->shown, now, sizeof(now));
}

/* Events that nobody has asked for are not told of. Those that somebody has are from the first scrape on, and stay. */
static void show_event(struct ebpf_metrics *m, enum event event)
{
	const char *values[] = { m->labels[0], m->labels[1], event_type(event)->name };
	const struct wire_counters *before = &m->before[event], *shown = &m->shown[event];
	unsigned int hz = m->session ? sampler_limit_hz(session_sampler(m->session), event) : 0;
	size_t i = 0;

	m->has_been[event] |= hz > 0;
	if (!m->has_been[event])
		return;
	metric_set(telemetry_series(m->telemetry, &sample_limit, values), hz);
#define SHOW(name, text)                                                          \
	metric_set(telemetry_series(m->telemetry, &kernel_families[i++], values), \
		   (double)(before->name + shown->name));
	WIRE_COUNTERS(SHOW)
#undef SHOW
}

static void show_counters(struct ebpf_metrics *m)
{
	read_counters(m);
	metric_set(series(m, &ticks_missed), (double)(m->missed_before + m->missed_shown));
	for (enum event e = 0; e < EVENT_MAX; e++)
		show_event(m, e);
}

static void show_ends(struct ebpf_metrics *m)
{
	const uint64_t *ends = m->session ? session_stack_ends(m->session) : NULL;

	for (int i = 0; i < STOP_REASON_MAX; i++) {
		const char *values[] = { m->labels[0], m->labels[1], end_names[i] };

		metric_set(telemetry_series(m->telemetry, &user_stacks, values),
			   (double)(m->ends_before[i] + (ends ? ends[i] : 0)));
	}
}

static const char *const result_names[RUNTIME_RESULT_MAX] = {
#define RESULT_NAME(NAME, name, text) [RUNTIME_RESULT_##NAME] = name,
	WIRE_RUNTIME_RESULTS(RESULT_NAME)
#undef RESULT_NAME
};

static void read_runtimes(struct ebpf_metrics *m)
{
	struct wire_runtime_results now[RUNTIME_KINDS];

	if (m->session && sampler_runtime_results(session_sampler(m->session), now) == 0)
		memcpy(m->runtimes_shown, now, sizeof(now));
}

static void show_runtimes(struct ebpf_metrics *m)
{
	struct wire_runtime_results results[RUNTIME_KINDS];

	ebpf_metrics_runtimes(m, results);
	for (uint32_t kind = RUNTIME_NONE + 1; runtime_of(kind); kind++) {
		for (size_t i = 0; i < RUNTIME_RESULT_MAX; i++) {
			const char *values[] = { m->labels[0], m->labels[1], runtime_of(kind)->name,
						 result_names[i] };

			metric_set(telemetry_series(m->telemetry, &runtime_stacks, values),
				   (double)results[kind].n[i]);
		}
	}
}

static void show_cost(struct ebpf_metrics *m)
{
	struct sampler_cost cost = { 0 };
	struct session_memory memory = { 0 };

	if (m->session) {
		(void)sampler_cost(session_sampler(m->session), &cost);
		session_memory(m->session, &memory);
	}
	metric_set(series(m, &bpf_map_bytes), (double)(cost.map_bytes + memory.arena_bytes));
	metric_set(series(m, &bpf_run_seconds),
		   (double)(m->cost_before.run_time_ns + cost.run_time_ns) / 1e9);
	metric_set(series(m, &bpf_runs), (double)(m->cost_before.n_runs + cost.n_runs));
}

/* The first of the agent's life: a session that took over later says nothing of the start. */
static void note_first_complete(struct ebpf_metrics *m)
{
	uint64_t root_ns = m->session ? session_first_root_ns(m->session) : 0;
	_cleanup_proc_ struct proc self = PROC_NONE;

	if (m->first_complete_s > 0 || !root_ns)
		return;
	if (proc_open("/proc", (uint32_t)getpid(), &self) == 0 && root_ns > self.start_ns)
		m->first_complete_s = (double)(root_ns - self.start_ns) / 1e9;
}

static void show_files(struct ebpf_metrics *m, const struct object_tables_stats *stats)
{
	for (int i = 0; i < OBJECT_STATE_MAX; i++) {
		const char *values[] = { m->labels[0], m->labels[1], object_state_names[i] };

		metric_set(telemetry_series(m->telemetry, &unwind_files, values),
			   (double)stats->n_by_state[i]);
	}
}

static void show_memory(struct ebpf_metrics *m)
{
	struct session_memory memory = { 0 };

	if (m->session)
		session_memory(m->session, &memory);
	metric_set(series(m, &memory_limit), (double)memory.limit_bytes);
	metric_set(series(m, &arena_bytes), (double)memory.arena_bytes);
	metric_set(series(m, &arena_used), (double)memory.arena_used_bytes);
	metric_set(series(m, &interval_bytes), (double)memory.interval_bytes);
	metric_set(series(m, &unwind_mappings), (double)memory.n_mappings);
	metric_set(series(m, &unwind_tables), (double)memory.objects.n_tables);
	metric_set(series(m, &unwind_table_bytes), (double)memory.objects.table_bytes);
	metric_set(series(m, &unwind_rows), (double)memory.objects.n_rows);
	show_files(m, &memory.objects);
}

static void on_scrape(struct telemetry *t, void *data)
{
	struct ebpf_metrics *m = data;

	(void)t;
	show_counters(m);
	event_metrics_show(&m->events, m->telemetry, m->labels, m->session);
	show_ends(m);
	show_runtimes(m);
	show_cost(m);
	show_memory(m);
	note_first_complete(m);
	metric_set(series(m, &first_complete), m->first_complete_s);
	metric_set(series(m, &samples_waiting),
		   m->session ? (double)session_n_waiting(m->session) : 0);
	metric_set(series(m, &processes),
		   m->session ? (double)process_table_n(session_processes(m->session)) : 0);
}

int ebpf_metrics_new(const struct component *c, struct ebpf_metrics **ret_metrics)
{
	struct ebpf_metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->telemetry = c->env->telemetry;
	m->labels[0] = c->path;
	m->labels[1] = c->local_id;
	/* Families are there from the first scrape on, at zero. */
	metric_add(series(m, &sessions), 0);
	metric_add(series(m, &sessions_failing), 0);
	metric_add(series(m, &pprofs_dropped), 0);
	int r = telemetry_on_scrape(m->telemetry, on_scrape, m);
	if (r < 0) {
		free(m);
		return r;
	}
	*ret_metrics = m;
	return 0;
}

void ebpf_metrics_free(struct ebpf_metrics *m)
{
	if (!m)
		return;
	m->session = NULL;
	telemetry_off_scrape(m->telemetry, on_scrape, m);
	free(m);
}

void ebpf_metrics_attach(struct ebpf_metrics *m, struct session *session)
{
	struct sampler_cost cost = { 0 };

	show_counters(m);
	event_metrics_show(&m->events, m->telemetry, m->labels, m->session);
	event_metrics_end(&m->events);
	if (m->session && sampler_cost(session_sampler(m->session), &cost) == 0) {
		m->cost_before.run_time_ns += cost.run_time_ns;
		m->cost_before.n_runs += cost.n_runs;
	}
	for (int i = 0; m->session && i < STOP_REASON_MAX; i++)
		m->ends_before[i] += session_stack_ends(m->session)[i];
	for (enum event e = 0; e < EVENT_MAX; e++)
		wire_counters_add(&m->before[e], &m->shown[e]);
	read_runtimes(m);
	for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
		for (size_t i = 0; i < RUNTIME_RESULT_MAX; i++)
			m->runtimes_before[kind].n[i] += m->runtimes_shown[kind].n[i];
	memset(m->runtimes_shown, 0, sizeof(m->runtimes_shown));
	memset(m->shown, 0, sizeof(m->shown));
	m->missed_before += m->missed_shown;
	m->missed_shown = 0;
	m->session = session;
}

void ebpf_metrics_sums(struct ebpf_metrics *m, struct wire_counters *ret_counters,
		       uint64_t *ret_missed, uint64_t *ret_ends)
{
	const uint64_t *ends = m->session ? session_stack_ends(m->session) : NULL;

	show_counters(m);
	*ret_missed = m->missed_before + m->missed_shown;
	*ret_counters = (struct wire_counters){ 0 };
	for (enum event e = 0; e < EVENT_MAX; e++) {
		wire_counters_add(ret_counters, &m->before[e]);
		wire_counters_add(ret_counters, &m->shown[e]);
	}
	for (int i = 0; i < STOP_REASON_MAX; i++)
		ret_ends[i] = m->ends_before[i] + (ends ? ends[i] : 0);
}

void ebpf_metrics_runtimes(struct ebpf_metrics *m, struct wire_runtime_results *ret_results)
{
	read_runtimes(m);
	for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
		for (size_t i = 0; i < RUNTIME_RESULT_MAX; i++)
			ret_results[kind].n[i] =
				m->runtimes_before[kind].n[i] + m->runtimes_shown[kind].n[i];
}

void ebpf_metrics_targets(struct ebpf_metrics *m, size_t n)
{
	metric_set(series(m, &active_targets), (double)n);
}

void ebpf_metrics_session(struct ebpf_metrics *m)
{
	metric_add(series(m, &sessions), 1);
}

void ebpf_metrics_profile(struct ebpf_metrics *m, const struct profile *profile)
{
	const char *service = labels_get(profile->labels, "service_name");

	metric_add(service_series(m, &pprofs, service ? service : ""), 1);
	metric_add(service_series(m, &pprof_bytes, service ? service : ""),
		   profile_form_bytes(profile, FORM_PPROF));
	metric_add(service_series(m, &pprof_samples, service ? service : ""), profile->n_samples);
}
