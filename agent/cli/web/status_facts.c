/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of which the state of the agent is made. */
#include "agent/cli/web/status_facts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/cli/run/agent.h"
#include "agent/sample/cpu_counters.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* In a turn of the loop: a process is counted in half a microsecond. */
#define COUNTED_A_TURN 2048

void status_count_none(const struct agent *a)
{
	for (size_t i = 0; i < graph_n(a->graph); i++)
		pyroscope_ebpf_count_none(graph_component(a->graph, i));
}

bool status_count_some(const struct agent *a, const uint32_t *pids, size_t n, size_t *at)
{
	size_t n_some = MIN_OF((size_t)COUNTED_A_TURN, n - *at);

	for (size_t i = 0; i < graph_n(a->graph); i++)
		pyroscope_ebpf_count(graph_component(a->graph, i), pids + *at, n_some);
	*at += n_some;
	return *at == n;
}

static void add_runtimes(struct status_sums *sums, const struct ebpf_status *s)
{
	for (size_t kind = 0; kind < RUNTIME_KINDS; kind++)
		for (size_t i = 0; i < RUNTIME_RESULT_MAX; i++)
			sums->runtimes[kind].n[i] += s->runtimes[kind].n[i];
}

static struct status_sums sum_up(const struct graph *g)
{
	struct status_sums sums = { 0 };

	for (size_t i = 0; i < graph_n(g); i++) {
		struct ebpf_status s;

		if (!pyroscope_ebpf_status(graph_component(g, i), &s))
			continue;
		wire_counters_add(&sums.counters, &s.counters);
		sums.n_missed += s.n_missed;
		for (int k = 0; k < STOP_REASON_MAX; k++)
			sums.ends[k] += s.ends[k];
		add_runtimes(&sums, &s);
		sums.n_waiting += s.n_waiting;
		sums.interval_ns = sums.interval_ns ? sums.interval_ns : s.interval_ns;
		sums.kernel_hidden |= s.kernel_hidden;
		sums.profiles = true;
		sums.view = *s.view;
	}
	return sums;
}

static bool keep_id(char **to, const struct component *c)
{
	*to = strdup(c->id);
	return *to != NULL;
}

static bool take_component(struct status_facts *f, const struct component *c)
{
	struct status_row *row = &f->rows[f->n_rows++];
	struct status_group *g = &f->groups[f->n_groups];
	bool done = keep_id(&row->id, c);

	row->health = c->health;
	if (!f->store_id && pyroscope_store_status(c, &f->store))
		done = keep_id(&f->store_id, c) && done;
	if (pyroscope_ebpf_targets(c, STATUS_TARGETS_MAX, &g->items, &g->n) < 0)
		return false;
	if (g->n == 0) {
		free(g->items);
		g->items = NULL;
		return done;
	}
	f->n_groups++;
	return keep_id(&g->id, c) && done;
}

bool status_facts_take(struct status_facts *f, const struct agent *a)
{
	size_t n = graph_n(a->graph);
	bool done = true;

	graph_check(a->graph);
	f->rows = calloc(n + 1, sizeof(*f->rows));
	f->groups = calloc(n + 1, sizeof(*f->groups));
	if (!f->rows || !f->groups)
		return false;
	f->sums = sum_up(a->graph);
	for (int i = 0; i < TELEMETRY_COUNTER_MAX; i++)
		f->counters[i] = telemetry_get(a->telemetry, (enum telemetry_counter)i);
	for (size_t i = 0; i < n; i++)
		done = take_component(f, graph_component(a->graph, i)) && done;
	f->is_open = http_server_is_open(a->server);
	f->now_ms = (int64_t)(clock_real_ns() / NS_PER_MS);
	return done;
}

void status_facts_fini(struct status_facts *f)
{
	for (size_t i = 0; i < f->n_rows; i++)
		free(f->rows[i].id);
	for (size_t i = 0; i < f->n_groups; i++) {
		pyroscope_ebpf_targets_free(f->groups[i].items, f->groups[i].n);
		free(f->groups[i].id);
	}
	free(f->rows);
	free(f->groups);
	free(f->store_id);
}
