/* SPDX-License-Identifier: Apache-2.0 */
/* What pyroscope.store tells about itself. */
#include "agent/component/receivers/store_report.h"

#include <inttypes.h>
#include <string.h>

#include "agent/component/json/duration_text.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

static void put_contents(const struct store_stats *s, struct buf *out)
{
	int64_t span_s = (s->newest_ms - s->oldest_ms) / 1000;
	char span[DURATION_TEXT_BYTES];

	(void)buf_printf(out, "%" PRIu64 " profile%s", s->n_profiles,
			 s->n_profiles == 1 ? "" : "s");
	if (s->n_profiles > 1)
		(void)buf_printf(out, " of %s", duration_text(span_s * (int64_t)NS_PER_S, span));
	(void)buf_printf(out, " in %.1f of %.1f MiB", MIB(s->bytes), MIB(s->max_bytes));
}

void store_report_health(const struct store_report *r, struct buf *out)
{
	put_contents(&r->stats, out);
	if (r->open)
		(void)buf_append_str(out, "; everybody who reaches this agent's address may read "
					  "and push profiles: there is no `auth` in an `http` "
					  "block");
	if (r->stats.n_refused_profiles > 0)
		(void)buf_printf(out, "; %" PRIu64 " refused%s%s", r->stats.n_refused_profiles,
				 *r->last_refusal ? ", the last: " : "", r->last_refusal);
}

static const struct river_value *text(struct river_arena *arena, const char *s)
{
	return river_value_string(arena, s, strlen(s));
}

const struct river_value *store_report_value(const struct store_report *r,
					     struct river_arena *arena)
{
	const struct store_stats *s = &r->stats;
	char age[DURATION_TEXT_BYTES];
	const struct river_member members[] = {
		{ "profiles", river_value_uint(arena, s->n_profiles) },
		{ "samples", river_value_uint(arena, s->n_samples) },
		{ "series", river_value_uint(arena, s->n_series) },
		{ "segments", river_value_uint(arena, s->n_segments) },
		{ "bytes", river_value_uint(arena, s->bytes) },
		{ "max_bytes", river_value_uint(arena, s->max_bytes) },
		{ "max_age", text(arena, duration_text((int64_t)r->max_age_ns, age)) },
		{ "path", text(arena, r->path) },
		{ "oldest", river_value_int(arena, s->oldest_ms) },
		{ "newest", river_value_int(arena, s->newest_ms) },
		{ "received_profiles", river_value_uint(arena, s->n_received_profiles) },
		{ "received_bytes", river_value_uint(arena, s->n_received_bytes) },
		{ "refused_profiles", river_value_uint(arena, s->n_refused_profiles) },
		{ "evicted_profiles", river_value_uint(arena, s->n_evicted_profiles) },
		{ "last_refusal", text(arena, r->last_refusal) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!members[i].value)
			return NULL;
	return river_value_object(arena, members, ARRAY_SIZE(members));
}
