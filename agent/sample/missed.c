/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks that were due and never came to the program. */
#include "agent/sample/missed.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/cpus.h"

struct missed {
	struct cpus possible;
	uint64_t *of_cpu;
};

int missed_new(struct missed **ret_missed)
{
	_cleanup_(missed_freep) struct missed *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	int r = cpus_possible(&m->possible);
	if (r < 0)
		return r;
	m->of_cpu = calloc(m->possible.n, sizeof(*m->of_cpu));
	if (!m->of_cpu)
		return -ENOMEM;
	*ret_missed = TAKE_PTR(m);
	return 0;
}

void missed_free(struct missed *m)
{
	if (!m)
		return;
	cpus_fini(&m->possible);
	free(m->of_cpu);
	free(m);
}

void missed_look(struct missed *m, const struct ticks *ticks, const struct cpu_counters *counters)
{
	for (size_t i = 0; i < m->possible.n; i++) {
		const struct wire_counters *c =
			cpu_counters_of(counters, EVENT_CPU, m->possible.ids[i]);
		uint64_t n_due = ticks_n_due(ticks, m->possible.ids[i]);

		if (c && n_due > c->ticks && n_due - c->ticks > m->of_cpu[i])
			m->of_cpu[i] = n_due - c->ticks;
	}
}

uint64_t missed_total(const struct missed *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->possible.n; i++)
		n += m->of_cpu[i];
	return n;
}
