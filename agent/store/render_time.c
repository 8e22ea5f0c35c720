/* SPDX-License-Identifier: Apache-2.0 */
/* Times of /pyroscope/render. */
#include "agent/store/render_time.h"

#include "agent/util/macro.h"

/* A year 5138 in seconds, and the like in the others: nothing sensible lies between the units. */
#define MAX_AS_S 100000000000
#define MAX_AS_MS 100000000000000
#define MAX_AS_US 100000000000000000
#define TIMELINE_POINTS 1500

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 3600 * 1000 },
	{ "d", 86400 * 1000 },
	{ "w", 7 * 86400 * 1000 },
	{ "M", 30 * 86400 * INT64_C(1000) },
	{ "y", 365 * 86400 * INT64_C(1000) },
};

/* "ms" is looked for before "m". */
static int64_t cut_unit(struct str *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		struct str name = str_from(units[i].name);

		if (!str_starts_with(*s, name))
			continue;
		*s = (struct str){ s->p + name.n, s->n - name.n };
		return units[i].ms;
	}
	return 0;
}

/* { number unit } */
static bool parse_span(struct str s, int64_t *ret_ms)
{
	int64_t sum = 0;

	while (s.n > 0) {
		uint64_t n;

		/* So many of the longest unit still fit. */
		if (str_scan_u64(&s, 10, INT64_MAX / (400 * 86400 * INT64_C(1000)), &n) < 0)
			return false;
		int64_t unit = cut_unit(&s);
		int64_t span;
		if (unit == 0 || __builtin_mul_overflow((int64_t)n, unit, &span) ||
		    __builtin_add_overflow(sum, span, &sum))
			return false;
	}
	*ret_ms = sum;
	return true;
}

static bool parse_absolute(struct str text, int64_t *ret_ms)
{
	uint64_t n;

	if (str_parse_u64(text, 10, INT64_MAX, &n) < 0)
		return false;
	if (n <= MAX_AS_S)
		*ret_ms = (int64_t)n * 1000;
	else if (n <= MAX_AS_MS)
		*ret_ms = (int64_t)n;
	else
		*ret_ms = (int64_t)(n / (n <= MAX_AS_US ? 1000 : 1000000));
	return true;
}

bool render_parse_time(struct str text, int64_t now_ms, int64_t *ret_ms)
{
	static const struct str now = STR_LIT("now"), before = STR_LIT("now-");
	int64_t span = 0;

	if (str_eq(text, now)) {
		*ret_ms = now_ms;
		return true;
	}
	if (!str_starts_with(text, before))
		return parse_absolute(text, ret_ms);
	text = (struct str){ text.p + before.n, text.n - before.n };
	if (text.n == 0 || !parse_span(text, &span) ||
	    __builtin_sub_overflow(now_ms, span, &span) || span < 0)
		return false;
	*ret_ms = span;
	return true;
}

/* Each is taken up to the middle between it and the next, as Grafana does; measured at the real server. */
int64_t render_step_s(int64_t range_ms)
{
	static const struct {
		int64_t up_to_ms, step_s;
	} steps[] = {
		{ 17500, 15 },	   { 25000, 20 },     { 45000, 30 },	 { 90000, 60 },
		{ 210000, 120 },   { 450000, 300 },   { 750000, 600 },	 { 1050000, 900 },
		{ 1500000, 1200 }, { 2700000, 1800 }, { 5400000, 3600 }, { 10800000, 7200 },
	};
	int64_t want_ms = range_ms / TIMELINE_POINTS;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (want_ms <= steps[i].up_to_ms)
			return steps[i].step_s;
	/* Longer than half a year: whole days. */
	return (want_ms / 86400000 + 1) * 86400;
}
