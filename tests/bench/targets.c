/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets at scale: 5,000 processes in as many containers, discovery.process joined with the containers' targets → discovery.relabel →
 * pyroscope.ebpf, 10,000 targets in all; processes come and go. usage: targets
 *
 * Prints lines "name value"; CPU time of this thread, of all that is done for targets: processes are seen and end, dependants are evaluated as
 * often as the graph does it, and then every process is matched again, as if all of them were sampled between two evaluations. Nothing is
 * read from /proc: who a process is, is given.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/component/graph/graph.h"
#include "agent/target/target.h"
#include "agent/target/target_list.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "tests/bench/targets_context.h"

#define N_PROCESSES 5000
/* A host that starts 65 programs a second (a build, scripts), as many end. */
#define CHURN_HZ 65
#define SETTLE_SECONDS ((unsigned int)(GRAPH_SEEN_NS / 1000000000))
#define N_SETTLES 10
#define N_RUNS 10
#define FIRST_PID 1000

struct bench {
	struct component_env env;
	struct graph *graph;
	struct component *discovery;
	struct process_table *processes;
	uint32_t first_pid, end_pid; /* of those that live */
	uint64_t now_ns;
	uint64_t load_ns, churn_ns, settle_ns, match_ns, set_ns;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static struct process *add_process(struct bench *b)
{
	return context_process(b->processes, b->end_pid++, b->now_ns += 1000);
}

static void see(struct bench *b, struct process *p)
{
	uint64_t start_ns = cpu_ns();

	if (b->discovery->kind->process_seen(b->discovery, b->processes, p))
		component_exports_changed(b->discovery);
	b->churn_ns += cpu_ns() - start_ns;
}

static int begin(struct bench *b)
{
	struct process *p = add_process(b);

	if (!p)
		return -1;
	see(b, p);
	return 0;
}

static void end(struct bench *b)
{
	uint32_t pid = b->first_pid++;
	uint64_t start_ns = cpu_ns();

	b->discovery->kind->process_gone(b->discovery, pid);
	b->churn_ns += cpu_ns() - start_ns;
	process_table_apply(b->processes, &(struct process_event){ .kind = PROCESS_EVENT_EXIT,
								   .pid = pid,
								   .time_ns = b->now_ns += 1000 });
}

static void settle(struct bench *b)
{
	uint64_t start_ns = cpu_ns();

	graph_settle(b->graph);
	b->settle_ns += cpu_ns() - start_ns;
}

static int add_labels(const struct river_value *object, struct target_list *list)
{
	struct label items[LABELS_RAW_MAX];
	size_t n = river_value_len(object);
	struct labels *l;

	for (size_t i = 0; i < n && i < LABELS_RAW_MAX; i++)
		items[i] = (struct label){
			river_value_key(object, i),
			river_value_get_string(river_value_member(object, i), NULL),
		};
	int r = labels_new(items, n, &l);
	return r < 0 ? r : target_list_add(list, l);
}

/* What pyroscope.ebpf is given. */
static int relabelled(const struct bench *b, struct target_list *list)
{
	const struct river_value *exports = NULL, *output;
	struct river_arena arena;
	size_t at;
	int r;

	river_arena_init(&arena, (size_t)256 << 20);
	r = graph_find(b->graph, "discovery.relabel.r", &at)
		    ? graph_exports(b->graph, at, &arena, &exports)
		    : -ENOENT;
	output = r == 0 ? river_value_find(exports, "output") : NULL;
	for (size_t i = 0; output && r == 0 && i < river_value_len(output); i++)
		r = add_labels(river_value_item(output, i), list);
	river_arena_fini(&arena);
	return r;
}

static uint64_t min_of(uint64_t best, uint64_t ns)
{
	return best == 0 || ns < best ? ns : best;
}

static int match_all(struct bench *b, struct target_set *set)
{
	uint64_t start_ns = cpu_ns();
	uint32_t n = b->end_pid - b->first_pid;

	for (uint32_t pid = b->first_pid; pid < b->end_pid; pid++) {
		struct process *p = process_table_find(b->processes, pid);
		struct labels *l = NULL;

		if (!p || target_set_match(set, b->processes, p, &l) != TARGET_FOUND)
			return -1;
		labels_unref(l);
	}
	b->match_ns = min_of(b->match_ns, (cpu_ns() - start_ns) / n);
	return 0;
}

/* The set alone: made of 10,000 targets, and asked for each process. */
static int bench_set(struct bench *b, const struct target_list *list)
{
	const struct target_set_options o = { .targets = list->items,
					      .n_targets = list->n,
					      .have_targets = true,
					      .targets_only = true,
					      .host = "h",
					      .telemetry = b->env.telemetry };
	int r = 0;

	for (unsigned int i = 0; i < N_RUNS && r == 0; i++) {
		_cleanup_(target_set_freep) struct target_set *set = NULL;
		uint64_t start_ns = cpu_ns();

		r = target_set_new(&o, &set);
		b->set_ns = min_of(b->set_ns, cpu_ns() - start_ns);
		if (r == 0)
			r = match_all(b, set);
	}
	return r;
}

static int load(struct bench *b)
{
	_cleanup_free_ char *text = context_text();
	struct river_source source = { .file = "bench", .text = text };
	struct river_arena arena;
	struct river_diags diags;
	size_t at;
	int r;

	source.len = text ? strlen(text) : 0;
	river_arena_init(&arena, (size_t)64 << 20);
	river_diags_init(&diags, &arena);
	r = graph_load(b->graph, &source, 1, &diags);
	if (diags.n_items)
		(void)fprintf(stderr, "%s\n", diags.items[0].message);
	river_arena_fini(&arena);
	if (r != RIVER_OK || !graph_find(b->graph, "discovery.process.p", &at))
		return -1;
	b->discovery = (struct component *)graph_component(b->graph, at);
	return 0;
}

static int open_bench(struct bench *b)
{
	int r = loop_new(&b->env.loop);

	b->env.hostname = "h";
	b->first_pid = b->end_pid = FIRST_PID;
	if (r == 0)
		r = telemetry_new(&b->env.telemetry);
	if (r == 0)
		r = worker_new(b->env.loop, 4, &b->env.worker);
	if (r == 0)
		r = http_client_new(b->env.loop, &b->env.http);
	if (r == 0)
		r = graph_new(&b->env, &b->graph);
	if (r == 0)
		r = process_table_new(
			&(struct process_table_options){ .telemetry = b->env.telemetry },
			&b->processes);
	return r;
}

static void close_bench(struct bench *b)
{
	graph_free(b->graph);
	process_table_free(b->processes);
	http_client_free(b->env.http);
	worker_free(b->env.worker);
	telemetry_free(b->env.telemetry);
	loop_free(b->env.loop);
}

/* As many come as go. */
static int churn(struct bench *b)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < N_SETTLES; i++) {
		for (unsigned int k = 0; r == 0 && k < CHURN_HZ * SETTLE_SECONDS; k++) {
			r = begin(b);
			end(b);
		}
		settle(b);
	}
	return r;
}

static int run(struct bench *b)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	size_t before, full;
	int r = load(b);

	/* The configuration's text with the containers' targets, and what any process takes in the agent's table, are there without it. */
	for (unsigned int i = 0; r == 0 && i < N_PROCESSES; i++)
		r = add_process(b) ? 0 : -1;
	before = heap_bytes();
	for (uint32_t pid = b->first_pid; r == 0 && pid < b->end_pid; pid++)
		see(b, process_table_find(b->processes, pid));
	settle(b);
	b->churn_ns = b->settle_ns = 0;
	if (r == 0)
		r = churn(b);
	full = heap_bytes();
	if (r == 0)
		r = relabelled(b, &list);
	if (r == 0)
		r = bench_set(b, &list);
	b->churn_ns /= N_SETTLES;
	b->settle_ns /= N_SETTLES;
	printf("targets_n %zu\ntargets_processes %d\ntargets_churn_hz %d\n"
	       "targets_seen_ns %" PRIu64 "\ntargets_settle_ns %" PRIu64 "\ntargets_set_ns %" PRIu64
	       "\ntargets_match_ns %" PRIu64 "\ntargets_cpu_share %.6f\ntargets_bytes %zu\n",
	       list.n, N_PROCESSES, CHURN_HZ, b->churn_ns / (CHURN_HZ * SETTLE_SECONDS),
	       b->settle_ns, b->set_ns, b->match_ns,
	       (double)(b->churn_ns + b->settle_ns + N_PROCESSES * b->match_ns) /
		       (double)GRAPH_SEEN_NS,
	       full - before);
	return r;
}

int main(void)
{
	struct bench b = { 0 };
	int r;

	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	r = open_bench(&b);
	if (r == 0)
		r = run(&b);
	close_bench(&b);
	return r == 0 ? 0 : 1;
}
