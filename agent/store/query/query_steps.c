/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of time. */
#include "agent/store/query/query_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/macro.h"

#define MS_PER_S 1000

int query_steps_init(struct query_steps *steps, double step_s, struct query *longer)
{
	*steps = (struct query_steps){ .start_ms = longer->start_ms };
	if (!(step_s >= 1.0 / MS_PER_S && step_s <= QUERY_MAX_STEP_S))
		return -EINVAL;
	steps->step_ms = (uint64_t)(step_s * MS_PER_S);
	if (longer->end_ms < longer->start_ms)
		return 0;
	steps->n = ((uint64_t)longer->end_ms - (uint64_t)longer->start_ms) / steps->step_ms;
	if (__builtin_sub_overflow(longer->start_ms, (int64_t)steps->step_ms, &longer->start_ms))
		longer->start_ms = INT64_MIN;
	return 0;
}

uint64_t query_steps_of(const struct query_steps *steps, int64_t time_ms)
{
	if (time_ms <= steps->start_ms)
		return 0;
	return ((uint64_t)time_ms - (uint64_t)steps->start_ms - 1) / steps->step_ms + 1;
}

int64_t query_steps_ms(const struct query_steps *steps, uint64_t step)
{
	return (int64_t)((uint64_t)steps->start_ms + step * steps->step_ms);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int query_group_by_init(struct query_group_by *by, const char *const *names, size_t n,
			struct query_memory *memory)
{
	*by = (struct query_group_by){ .names = query_malloc(memory, n + 1, sizeof(*by->names)) };
	if (!by->names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		by->names[i] = names[i];
	qsort(by->names, n, sizeof(*by->names), compare_texts);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(by->names[by->n - 1], by->names[i]) != 0)
			by->names[by->n++] = by->names[i];
	return 0;
}

static const char *const no_names[] = { "" };

int query_group_by_add(const struct query_group_by *by, struct query_groups *groups,
		       const struct segment *segment, size_t series, uint32_t *ret_group)
{
	return query_groups_add(groups, segment, series,
				by->n ? by->names : (const char **)no_names, by->n ? by->n : 1,
				ret_group);
}
