/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as text: a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile/build.h"
#include "agent/profile/top_table.h"
#include "agent/sample/event.h"
#include "agent/util/clock.h"
#include "agent/util/str.h"

#define TEXT_MAX_BYTES ((size_t)256 << 20)
#define TABLE_MAX_BYTES ((size_t)64 << 20)
#define TABLE_ROWS 40

/* Of one event. `what` says which. */
static void put_text(struct buf *out, struct built what, struct build *build)
{
	size_t n = out->len;
	bool failed = out->failed;
	char *text = failed ? NULL : buf_take(out);

	what.bytes = (uint8_t *)text;
	what.n_bytes = n;
	if (!text || build_put(build, &what) < 0)
		build->summary.n_failed += what.n_samples;
	else
		build->summary.n_samples += what.n_samples;
}

/* What stack_weight() adds up. */
static const char *weight_heading(enum event event)
{
	const char *unit = event_type(event)->values[0].unit;

	if (event == EVENT_CPU)
		return "SAMPLES";
	if (strcmp(unit, "nanoseconds") == 0)
		return "SECONDS";
	return strcmp(unit, "bytes") == 0 ? "BYTES" : "HITS";
}

static void put_weight(struct buf *out, enum event event, uint64_t weight)
{
	if (strcmp(weight_heading(event), "SECONDS") == 0)
		(void)buf_printf(out, "%8.3f", (double)weight / NS_PER_S);
	else
		(void)buf_printf(out, "%8" PRIu64, weight);
}

static void put_table_row(struct buf *out, enum event event, const struct top_row *h, uint64_t all)
{
	struct str object = str_basename(str_from(h->path));

	(void)buf_printf(out, "%6.2f%% %6.2f%% ", 100.0 * (double)h->self / (double)all,
			 100.0 * (double)h->total / (double)all);
	put_weight(out, event, h->self);
	(void)buf_printf(out, "  %s  (%.*s)\n", h->function, (int)object.n, object.p);
}

static void put_table(struct buf *out, enum event event, const struct top_table *t)
{
	_cleanup_free_ const struct top_row **rows = NULL;
	size_t n = 0;

	(void)buf_printf(out, "   SELF   TOTAL %8s  FUNCTION (OBJECT)\n", weight_heading(event));
	if (top_table_sorted(t, &rows, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < TABLE_ROWS; i++)
		put_table_row(out, event, rows[i], t->total);
	if (n > TABLE_ROWS)
		(void)buf_printf(out, "… and %zu more functions\n", n - TABLE_ROWS);
}

static bool has_source(const struct interval *interval, uint16_t source)
{
	for (const struct series *s = interval->series; s; s = s->next)
		if (s->source == source)
			return true;
	return false;
}

static void build_table_of(const struct interval *interval, uint16_t source, struct namer *namer,
			   struct build *build)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct built what = { .event = EVENT_CPU,
			      .source = source,
			      .time_ns = interval->end_real_ns };
	struct top_table top;

	top_table_init(&top, TABLE_MAX_BYTES);
	for (const struct series *s = interval->series; s; s = s->next) {
		if (s->source != source)
			continue;
		what.event = s->event;
		if (top_table_add_series(&top, s, namer) < 0)
			build->summary.n_failed += s->n_samples - s->n_again;
		else
			what.n_samples += s->n_samples - s->n_again;
	}
	put_table(&out, what.event, &top);
	top_table_fini(&top);
	put_text(&out, what, build);
}

void build_table(const struct interval *interval, struct namer *namer, struct build *build)
{
	for (uint16_t source = 0; source < EVENT_ALL_SOURCES; source++)
		if (has_source(interval, source))
			build_table_of(interval, source, namer, build);
	/* One without samples is a table, too. */
	if (!interval->series)
		build_table_of(interval, EVENT_SOURCE_TICKS, namer, build);
}
