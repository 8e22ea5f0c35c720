/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an event costs, and how many samples it may have for that. Pure.
 *
 *	cost = runs a second × ns a run that takes no sample + samples a second × ns a sample
 *
 * Beyond its limit there are fewer samples: the kernel half raises the mean duration of a sample, or adds what is left out to the next one (bpf/weigh.h,
 * bpf/thin.bpf.h), so sums stay right. Runs there are as many as before: what they alone cost is not to be had for less.
 */
#ifndef XAGENT_AGENT_SAMPLE_GOVERNOR_H
#define XAGENT_AGENT_SAMPLE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

/* Where nothing is measured; and a run that takes no sample is never taken for more expensive. On bare metal 15 ns and some. */
#define GOVERNOR_RUN_NS 150
#define GOVERNOR_SAMPLE_NS 10000

struct governor {
	unsigned int
		most_hz; /* samples a second and CPU, as asked for: SAMPLER_PROBE_MIN_HZ at least */
	unsigned int hz; /* as may be now */
	double runs_hz;
	double cpu_ratio; /* of one CPU */
	bool is_over;	  /* with the fewest samples it costs more than its limit */
};

/* Of a time that has passed. */
struct governor_look {
	uint64_t elapsed_ns;
	uint64_t n_runs;
	uint64_t run_ns; /* 0: not measured */
	uint64_t n_samples;
};

void governor_init(struct governor *g, unsigned int most_hz);
/* `limit`: of a CPU; 0: none. True: `hz` is another one now. */
bool governor_look(struct governor *g, const struct governor_look *look, double limit);
/* What a run costs on average, with what samples cost; 0: there were none. */
double governor_run_ns(const struct governor *g);

#endif
