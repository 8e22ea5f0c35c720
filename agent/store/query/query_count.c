/* SPDX-License-Identifier: Apache-2.0 */
/* How much there is to look at. */
#include <errno.h>

#include "agent/store/query/query_private.h"

struct counting {
	struct query_counts counts;
	struct query_groups series;
};

static void count_slots(const struct query_part *part, struct query_slots slots,
			struct query_counts *counts)
{
	for (size_t i = slots.first; i < slots.end; i++) {
		struct segment_slot slot;

		segment_slot(part->segment, i, &slot);
		counts->n_profiles += slot.n_profiles;
		counts->n_samples += slot.n_samples;
	}
}

static int count_part(void *user, const struct query_part *part)
{
	struct counting *c = user;
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < segment_n_series(part->segment) && r == 0; i++) {
		struct query_slots slots = query_slots(part, i);
		uint32_t group;

		if (slots.first == slots.end)
			continue;
		any = true;
		count_slots(part, slots, &c->counts);
		r = query_groups_add(&c->series, part->segment, i, NULL, 0, &group);
	}
	c->counts.n_segments += any;
	c->counts.n_bytes += any ? segment_bytes(part->segment) : 0;
	return r;
}

int query_count(const struct query *q, struct query_counts *ret_counts)
{
	struct counting c = { 0 };

	query_groups_init(&c.series, q->memory);
	int r = query_each_part(q, count_part, &c);

	c.counts.n_series = c.series.keys.n;
	query_groups_fini(&c.series);
	*ret_counts = c.counts;
	return r;
}
