/* SPDX-License-Identifier: Apache-2.0 */
/* What pyroscope.scrape tells about its targets. */
#include "agent/component/scrape/scrape_report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/component/json/duration_text.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define TIME_BYTES 32

struct first_down {
	const char *url, *error; /* NULL: none is */
};

static void look_for_down(const struct scrape_status *status, void *data)
{
	struct first_down *first = data;

	if (status->health != SCRAPE_DOWN ||
	    (first->url && strcmp(first->url, status->target->url) < 0))
		return;
	first->url = status->target->url;
	first->error = status->last_error;
}

enum health_state scrape_report_health(const struct scrape_report *r, struct buf *out)
{
	struct first_down first = { NULL, NULL };
	size_t n[SCRAPE_HEALTH_MAX];

	scraper_count(r->scraper, n);
	scraper_each(r->scraper, look_for_down, &first);
	(void)buf_printf(out, "%zu of %zu addresses are scraped", n[SCRAPE_UP],
			 n[SCRAPE_UP] + n[SCRAPE_DOWN] + n[SCRAPE_UNKNOWN]);
	if (n[SCRAPE_UNKNOWN] > 0)
		(void)buf_printf(out, ", %zu wait for their first time", n[SCRAPE_UNKNOWN]);
	if (first.url)
		(void)buf_printf(out, "; %zu are down: %.150s: %.200s", n[SCRAPE_DOWN], first.url,
				 first.error);
	if (r->n_wrong > 0)
		(void)buf_printf(out, "; %zu targets are left out: %.150s", r->n_wrong, r->wrong);
	if (r->n_left_out > 0)
		(void)buf_printf(out, "; %zu addresses are left out: more than %d", r->n_left_out,
				 SCRAPER_MAX_LOOPS);
	return (n[SCRAPE_UP] + n[SCRAPE_UNKNOWN] == 0 && (n[SCRAPE_DOWN] > 0 || r->n_wrong > 0))
		       ? HEALTH_UNHEALTHY
		       : HEALTH_HEALTHY;
}

/* ---- each target ------------------------------------------------------------------------------------------------------------------------- */

static const struct river_value *text(struct river_arena *arena, const char *s)
{
	return river_value_string(arena, s, strlen(s));
}

static const struct river_value *labels_value(struct river_arena *arena, const struct labels *l)
{
	struct river_member members[LABELS_RAW_MAX];

	for (size_t i = 0; i < l->n; i++) {
		members[i] =
			(struct river_member){ l->items[i].name, text(arena, l->items[i].value) };
		if (!members[i].value)
			return NULL;
	}
	return river_value_object(arena, members, l->n);
}

/* RFC 3339, as Go prints it; a scrape that never was is at its year 1. */
static const struct river_value *time_value(struct river_arena *arena, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / NS_PER_S);
	char out[TIME_BYTES] = "0001-01-01T00:00:00Z", day[TIME_BYTES];
	struct tm tm;

	if (real_ns > 0 && gmtime_r(&seconds, &tm) &&
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) > 0)
		(void)snprintf(out, sizeof(out), "%.19s.%03dZ", day,
			       (int)(real_ns / NS_PER_MS % 1000));
	return text(arena, out);
}

struct rows {
	const struct scrape_report *report;
	struct river_arena *arena;
	const struct river_value *items[SCRAPE_REPORT_MAX_TARGETS];
	size_t n, n_more;
	bool down; /* the pass: those that are, or the others */
	bool failed;
};

static const struct river_value *row_value(struct river_arena *arena, const char *job_name,
					   const struct scrape_status *s)
{
	char duration[DURATION_TEXT_BYTES];
	const struct river_member members[] = {
		{ "job", text(arena, job_name) },
		{ "url", text(arena, s->target->url) },
		{ "health", text(arena, scrape_health_text(s->health)) },
		{ "labels", labels_value(arena, s->target->series) },
		{ "last_error", text(arena, s->last_error) },
		{ "last_scrape", time_value(arena, s->last_real_ns) },
		{ "last_scrape_duration",
		  text(arena, duration_text((int64_t)s->last_duration_ns, duration)) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!members[i].value)
			return NULL;
	return river_value_object(arena, members, ARRAY_SIZE(members));
}

static void add_row(const struct scrape_status *status, void *data)
{
	struct rows *rows = data;

	if ((status->health == SCRAPE_DOWN) != rows->down)
		return;
	if (rows->n == SCRAPE_REPORT_MAX_TARGETS) {
		rows->n_more++;
		return;
	}
	rows->items[rows->n] = row_value(rows->arena, rows->report->job_name, status);
	rows->failed |= !rows->items[rows->n];
	rows->n++;
}

const struct river_value *scrape_report_value(const struct scrape_report *r,
					      struct river_arena *arena)
{
	struct rows rows = { .report = r, .arena = arena, .down = true };

	scraper_each(r->scraper, add_row, &rows);
	rows.down = false;
	scraper_each(r->scraper, add_row, &rows);
	const struct river_member members[] = {
		{ "target", rows.failed ? NULL : river_value_array(arena, rows.items, rows.n) },
		{ "more", river_value_uint(arena, rows.n_more) },
	};
	return members[0].value && members[1].value
		       ? river_value_object(arena, members, ARRAY_SIZE(members))
		       : NULL;
}
