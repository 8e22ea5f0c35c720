/* SPDX-License-Identifier: Apache-2.0 */
/* Several receivers. */
#include "agent/component/receivers/fan_out.h"

void fan_out(const struct river_capsules *to, struct profile *profile, uint64_t deadline_ns)
{
	for (size_t i = 0; i < to->n_items; i++) {
		struct receiver *r = to->items[i];

		if (r)
			r->receive(r, profile, deadline_ns);
	}
}

unsigned int fan_out_wants(const struct river_capsules *to)
{
	unsigned int wants = 0;

	for (size_t i = 0; i < to->n_items; i++)
		wants |= to->items[i] ? receiver_wants(to->items[i]) : 0;
	return wants;
}

bool fan_out_has_room(const struct river_capsules *to, size_t n_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < to->n_items; i++) {
		const struct receiver *r = to->items[i];

		if (r && (!r->has_room || r->has_room(r, n_bytes)))
			return true;
		n += r != NULL;
	}
	return n == 0;
}

struct receiver_stats fan_out_stats(const struct river_capsules *to)
{
	struct receiver_stats sum = { 0 };

	for (size_t i = 0; i < to->n_items; i++) {
		const struct receiver *r = to->items[i];
		struct receiver_stats s = { 0 };

		if (!r)
			continue;
		r->stats(r, &s);
		sum.sent_profiles += s.sent_profiles;
		sum.sent_bytes += s.sent_bytes;
		sum.dropped_profiles += s.dropped_profiles;
		sum.waiting_profiles += s.waiting_profiles;
		sum.waiting_bytes += s.waiting_bytes;
	}
	return sum;
}
