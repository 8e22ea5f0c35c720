/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of what was summed. */
#include <errno.h>

#include "agent/store/query/query_private.h"

struct query_profile_id query_exemplar_id(const struct query_exemplar *e)
{
	return query_profile_id(query_series_id(e->segment, e->series), e->time_ms);
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

int query_exemplar_labels(const struct query_exemplar *e, const char *const *without,
			  size_t n_without, struct query_memory *memory,
			  struct query_labels *ret_labels)
{
	struct query_labels labels = { 0 };
	struct segment_series series;

	segment_series(e->segment, e->series, &series);
	labels.items = query_calloc(memory, series.n_labels + 1, sizeof(*labels.items));
	if (!labels.items)
		return -ENOMEM;
	for (size_t i = 0; i < series.n_labels; i++) {
		const char *name = segment_text(e->segment, series.labels[i].name);

		if (!is_one_of(name, without, n_without))
			labels.items[labels.n++] =
				(struct query_label){ name, segment_text(e->segment,
									 series.labels[i].value) };
	}
	*ret_labels = labels;
	return 0;
}
