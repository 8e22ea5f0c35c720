/* SPDX-License-Identifier: Apache-2.0 */
/* What the events cost. */
#include "agent/sample/event_costs.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>

#include "agent/sample/event.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

void event_costs_init(struct event_costs *c)
{
	*c = (struct event_costs){ .stats_fd = -1 };
}

void event_costs_fini(struct event_costs *c)
{
	cleanup_close_p(&c->stats_fd);
	c->stats_fd = -1;
}

/* What is beyond the table is not measured: ticks stand for its runs. */
void event_costs_add_program(struct event_costs *c, int fd, enum event event)
{
	if (c->n_programs < EVENT_COSTS_MAX_PROGRAMS)
		c->programs[c->n_programs++] = (struct event_costs_program){ fd, event };
}

void event_costs_add_event(struct event_costs *c, enum event event, unsigned int most_hz)
{
	governor_init(&c->governors[event], most_hz);
}

static void add_runs(const struct event_costs *c, struct governor_look sums[EVENT_MAX])
{
	for (size_t i = 0; i < c->n_programs; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (bpf_obj_get_info_by_fd(c->programs[i].fd, &info, &len) < 0)
			continue;
		sums[c->programs[i].event].n_runs += info.run_cnt;
		sums[c->programs[i].event].run_ns += info.run_time_ns;
	}
}

static void begin(struct event_costs *c, const struct wire_counters *counters, uint64_t now_ns)
{
	memset(c->since, 0, sizeof(c->since));
	c->since_ns = now_ns;
	c->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	for (enum event e = 0; e < EVENT_MAX; e++)
		c->since[e].n_samples = counters[e].emitted;
	if (c->stats_fd >= 0)
		add_runs(c, c->since);
	else
		for (enum event e = 0; e < EVENT_MAX; e++)
			c->since[e].n_runs = counters[e].ticks;
}

static void tell(struct event_costs *c, enum event event)
{
	const struct governor *g = &c->governors[event];
	bool is_limited = g->hz < g->most_hz;

	if (!c->is_measured[event] && g->runs_hz > 0) {
		c->is_measured[event] = true;
		log_info("what an event costs", LOG_STR("event", event_type(event)->name),
			 LOG_FLOAT("ns_a_hit", governor_run_ns(g)),
			 LOG_FLOAT("hits_a_second", g->runs_hz),
			 LOG_FLOAT("cpu_percent", 100 * g->cpu_ratio));
	}
	if (is_limited == c->was_limited[event])
		return;
	c->was_limited[event] = is_limited;
	log_info(is_limited ? "an event has fewer samples, to cost no more than it may"
			    : "an event has as many samples again as it may",
		 LOG_STR("event", event_type(event)->name), LOG_UINT("sample_rate", g->hz),
		 LOG_FLOAT("cpu_percent", 100 * g->cpu_ratio),
		 LOG_FLOAT("event_cpu_limit_percent", 100 * c->limit));
}

/* Ticks have the rate that was asked for. */
static void end_one(struct event_costs *c, enum event event, const struct governor_look *look)
{
	struct governor *g = &c->governors[event];

	if (!g->most_hz)
		return;
	if (governor_look(g, look, event == EVENT_CPU ? 0 : c->limit))
		__atomic_store_n(&c->budgets[event], MAX_OF(g->hz / WIRE_THIN_WINDOWS, 1u),
				 __ATOMIC_RELAXED);
	tell(c, event);
}

static void end(struct event_costs *c, const struct wire_counters *counters, uint64_t now_ns)
{
	struct governor_look sums[EVENT_MAX] = { 0 };

	if (c->stats_fd >= 0)
		add_runs(c, sums);
	for (enum event e = 0; e < EVENT_MAX; e++) {
		uint64_t n_runs = c->stats_fd >= 0 ? sums[e].n_runs : counters[e].ticks;
		struct governor_look look = {
			.elapsed_ns = now_ns - c->since_ns,
			.n_runs = n_runs - c->since[e].n_runs,
			.run_ns = sums[e].run_ns - c->since[e].run_ns,
			.n_samples = counters[e].emitted - c->since[e].n_samples,
		};

		end_one(c, e, &look);
	}
	event_costs_fini(c);
	c->since_ns = 0;
}

void event_costs_look(struct event_costs *c, const struct wire_counters *counters, uint64_t now_ns)
{
	if (c->since_ns)
		end(c, counters, now_ns);
	else if (c->n_looks % EVENT_COSTS_LOOKS == 0)
		begin(c, counters, now_ns);
	c->n_looks++;
}
