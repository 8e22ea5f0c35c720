/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is called. */
#include "agent/component/ebpf/profile_name.h"

#include <string.h>

#define NAME "__name__"

int profile_name_add(struct labels *series, enum event event, const char *given,
		     struct labels **ret_labels)
{
	_cleanup_(labels_unrefp) struct labels *name = NULL;
	int r;

	if (event == EVENT_CPU && labels_get(series, NAME)) {
		*ret_labels = labels_ref(series);
		return 0;
	}
	r = labels_new(&(struct label){ NAME, given ? given : event_type(event)->profile }, 1,
		       &name);
	return r == 0 ? labels_merge(series, name, ret_labels) : r;
}

int profile_name_without(struct labels *series, struct labels **ret_labels)
{
	struct label items[LABELS_MAX];
	size_t n = 0;

	if (!labels_get(series, NAME)) {
		*ret_labels = labels_ref(series);
		return 0;
	}
	for (size_t i = 0; i < series->n; i++)
		if (strcmp(series->items[i].name, NAME) != 0)
			items[n++] = series->items[i];
	return labels_derive(series, items, n, ret_labels);
}

static int take_name(struct interval *i, struct series *s)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	int r = profile_name_without(s->labels, &labels);

	return r == 0 ? interval_relabel(i, s, labels) : r;
}

uint64_t profile_name_settle(struct interval *i)
{
	struct series *next;
	uint64_t n_dropped = 0;

	for (struct series *s = i->series; s; s = next) {
		next = s->next;
		if (s->event != EVENT_CPU && labels_get(s->labels, NAME) && take_name(i, s) < 0)
			n_dropped += interval_drop(i, s);
	}
	return n_dropped;
}
