/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of time, and sets of labels, as series and heatmaps have them; for query*.c only. */
#ifndef XAGENT_AGENT_STORE_QUERY_QUERY_STEPS_H
#define XAGENT_AGENT_STORE_QUERY_QUERY_STEPS_H

#include "agent/store/query/query_private.h"

struct query_steps {
	int64_t start_ms;
	uint64_t step_ms, n; /* behind the start */
};

/* `longer` becomes the question for one step more. 0 or -EINVAL. */
int query_steps_init(struct query_steps *steps, double step_s, struct query *longer);
/* The first step that is not before the time; beyond steps->n it is in none. */
uint64_t query_steps_of(const struct query_steps *steps, int64_t time_ms);
int64_t query_steps_ms(const struct query_steps *steps, uint64_t step);

/* Names to group by: sorted, each once; for query_free(). 0 or -ENOMEM. */
struct query_group_by {
	const char **names;
	size_t n;
};
int query_group_by_init(struct query_group_by *by, const char *const *names, size_t n,
			struct query_memory *memory);
/* As query_groups_add(). All labels are asked for when there are no names, so a name that no series has stands for none. */
int query_group_by_add(const struct query_group_by *by, struct query_groups *groups,
		       const struct segment *segment, size_t series, uint32_t *ret_group);

/* The values of spans in one slot after the other; the memory is kept. */
struct query_span {
	uint64_t id;
	int64_t value;
};

struct query_spans {
	struct query_span *items; /* by id, each once */
	size_t n, cap;
};
void query_spans_fini(struct query_spans *spans);
/* Of nodes `within` (NULL: all). 0 or -ENOMEM. */
int query_spans_load(struct query_spans *spans, const struct query_part *part, size_t slot,
		     const bool *within);

#endif
