/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics about the process itself and its configuration. */
#include "agent/cli/proc_status.h"
#include "agent/cli/run/agent.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/reader.h"
#include "agent/util/str.h"
#include "agent/version.h"

static const struct metric_family build_info = {
	"xagent_build_info", "Always 1; the version is in the label.", METRIC_GAUGE, { "version" }
};
static const struct metric_family load_ok = {
	"xagent_config_last_load_successful",
	"1 when the last load of the configuration succeeded.",
	METRIC_GAUGE,
	{ NULL }
};
static const struct metric_family load_time = { "xagent_config_last_load_success_timestamp_seconds",
						"When the configuration was last loaded.",
						METRIC_GAUGE,
						{ NULL } };
static const struct metric_family load_failures = { "xagent_config_load_failures_total",
						    "Loads of the configuration that failed.",
						    METRIC_COUNTER,
						    { NULL } };
static const struct metric_family components = { "xagent_component_controller_running_components",
						 "Components by health.",
						 METRIC_GAUGE,
						 { "controller_id", "controller_path",
						   "health_type" } };
/* A scrape comes between two evaluations, never within one. */
static const struct metric_family evaluating = { "xagent_component_controller_evaluating",
						 "1 while the graph is evaluated.",
						 METRIC_GAUGE,
						 { "controller_id", "controller_path" } };
static const struct metric_family evaluation_seconds = {
	"xagent_component_evaluation_seconds",
	"Time of one evaluation of all components, when a configuration is loaded.",
	METRIC_HISTOGRAM,
	{ "controller_id", "controller_path" }
};
static const struct metric_family cpu_seconds = {
	"process_cpu_seconds_total", "User and system time of the agent.", METRIC_SECONDS, { NULL }
};
static const struct metric_family resident = {
	"process_resident_memory_bytes", "Resident memory of the agent.", METRIC_GAUGE, { NULL }
};
static const struct metric_family max_resident = { "process_resident_memory_max_bytes",
						   "The most resident memory the agent ever had.",
						   METRIC_GAUGE,
						   { NULL } };

static const struct metric_family loop_turns = { "xagent_loop_turns_total",
						 "Turns of the event loop.",
						 METRIC_COUNTER,
						 { NULL } };
static const struct metric_family long_turns = {
	"xagent_loop_long_turns_total",
	"Turns of the event loop that took more than 50 ms of CPU time, in which nothing else was done.",
	METRIC_COUNTER,
	{ NULL }
};

static struct metric *plain(struct telemetry *t, const struct metric_family *family)
{
	return telemetry_series(t, family, NULL);
}

/* Second number of /proc/self/statm, in pages. */
static double resident_bytes(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(256);
	struct str rest;
	struct str piece;
	uint64_t pages = 0;

	if (file_read(AT_FDCWD, "/proc/self/statm", &b) < 0)
		return 0;
	rest = (struct str){ buf_str(&b), b.len };
	/* Behind the whole size. */
	if (!str_split(&rest, ' ', &piece))
		return 0;
	if (!str_split(&rest, ' ', &piece) ||
	    str_parse_u64(piece, 10, UINT64_MAX, &pages) < 0)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* The one controller there is. */
#define CONTROLLER "", "/"

static void show_components(struct telemetry *t, struct graph *g)
{
	unsigned int n[HEALTH_MAX] = { 0 };
	struct graph_view view;

	graph_check(g);
	for (size_t i = 0; i < graph_n(g); i++) {
		graph_view(g, i, &view);
		if (view.class == GRAPH_COMPONENT)
			n[view.c->health.state]++;
	}
	for (int state = 0; state < HEALTH_MAX; state++) {
		const char *const values[] = { CONTROLLER,
					       health_state_text((enum health_state)state) };

		metric_set(telemetry_series(t, &components, values), n[state]);
	}
}

static void show_loop(struct telemetry *t, const struct loop *loop)
{
	struct loop_stats stats = loop_get_stats(loop);

	metric_set(plain(t, &loop_turns), (double)stats.n_turns);
	metric_set(plain(t, &long_turns), (double)stats.n_long);
}

static void on_scrape(struct telemetry *t, void *data)
{
	const struct agent *a = data;
	const char *const controller[] = { CONTROLLER };
	struct rusage usage;
	uint32_t max_resident_kib;

	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		metric_set(plain(t, &cpu_seconds),
			   seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime) +
				   (double)reader_get_stats().cpu_ns / 1e9);
	}
	/* Not ru_maxrss: it begins with what the parent had when it forked (exec_mmap, fs/exec.c). */
	if (proc_status_number((uint32_t)getpid(), "VmHWM:", &max_resident_kib) == 0)
		metric_set(plain(t, &max_resident), (double)max_resident_kib * 1024);
	metric_set(plain(t, &resident), resident_bytes());
	metric_set(telemetry_series(t, &evaluating, controller), 0);
	show_components(t, a->graph);
	show_loop(t, a->loop);
}

int agent_self_metrics_add(struct agent *a)
{
	const char *version = XAGENT_VERSION;

	metric_set(telemetry_series(a->telemetry, &build_info, &version), 1);
	metric_add(plain(a->telemetry, &load_failures), 0);
	return telemetry_on_scrape(a->telemetry, on_scrape, a);
}

void agent_self_metrics_remove(struct agent *a)
{
	telemetry_off_scrape(a->telemetry, on_scrape, a);
}

void agent_self_metrics_evaluated(struct agent *a, uint64_t ns)
{
	const char *const controller[] = { CONTROLLER };

	metric_observe(telemetry_series(a->telemetry, &evaluation_seconds, controller),
		       (double)ns / 1e9);
}

void agent_self_metrics_loaded(struct agent *a, bool success)
{
	metric_set(plain(a->telemetry, &load_ok), success ? 1 : 0);
	if (success)
		metric_set(plain(a->telemetry, &load_time), (double)clock_real_ns() / 1e9);
	else
		metric_add(plain(a->telemetry, &load_failures), 1);
}
