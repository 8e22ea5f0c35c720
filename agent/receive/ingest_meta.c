/* SPDX-License-Identifier: Apache-2.0 */
/* Times, rate and format of a request of /ingest. */
#include "agent/receive/ingest_meta.h"

#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

static const char *const formats[INGEST_FORMAT_MAX] = {
#define INGEST_FORMAT_ROW(NAME, text) [INGEST_##NAME] = (text),
	INGEST_FORMATS(INGEST_FORMAT_ROW)
#undef INGEST_FORMAT_ROW
};

const char *ingest_format_text(enum ingest_format format)
{
	return formats[format];
}

/* The first that fits. "m" are minutes, "M" and "mon" are months. */
static const struct {
	const char *unit;
	uint64_t seconds;
} units[] = {
	{ "s", 1 },    { "mon", 30 * 86400 }, { "M", 30 * 86400 }, { "m", 60 },
	{ "h", 3600 }, { "d", 86400 },	      { "w", 7 * 86400 },  { "y", 365 * 86400 },
};

static uint64_t seconds_of(struct str unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_starts_with(unit, str_from(units[i].unit)))
			return units[i].seconds;
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "1h30m". More than a year says nothing about a profile. */
static uint64_t parse_offset(struct str s)
{
	uint64_t sum = 0, n;

	while (s.n > 0 && str_scan_u64(&s, 10, 1000000, &n) == 0) {
		size_t n_unit = 0;

		while (n_unit < s.n && !is_digit(s.p[n_unit]))
			n_unit++;
		sum += n * seconds_of((struct str){ s.p, n_unit });
		s = (struct str){ s.p + n_unit, s.n - n_unit };
	}
	return MIN_OF(sum, (uint64_t)365 * 86400) * NS_PER_S;
}

static uint64_t scale_of(size_t n_digits)
{
	switch (n_digits) {
	case 13:
		return NS_PER_MS;
	case 16:
		return 1000;
	case 19:
		return 1;
	default:
		return NS_PER_S;
	}
}

static uint64_t parse_time(const char *text, uint64_t now_ns)
{
	struct str s = str_trim(str_from(text));
	uint64_t n, ns;

	if (s.n == 0)
		return now_ns;
	if (str_parse_u64(s, 10, UINT64_MAX, &n) == 0)
		return __builtin_mul_overflow(n, scale_of(s.n), &ns) || ns > INT64_MAX ? now_ns
										       : ns;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '+' && s.p[i] != '-')
			continue;
		ns = parse_offset((struct str){ s.p + i + 1, s.n - i - 1 });
		return s.p[i] == '+' ? now_ns + ns : now_ns - MIN_OF(ns, now_ns);
	}
	return now_ns;
}

/* Besides the query the type of the body says it, in the way of the oldest clients. */
static enum ingest_format parse_format(const struct ingest_query *q)
{
	const char *type = q->content_type ? q->content_type : "";

	for (size_t i = 0; q->format && i < ARRAY_SIZE(formats); i++)
		if (strcmp(q->format, formats[i]) == 0)
			return i;
	if (strcmp(type, "binary/octet-stream+trie") == 0)
		return INGEST_TRIE;
	if (strcmp(type, "binary/octet-stream+tree") == 0)
		return INGEST_TREE;
	return strstr(type, "multipart/form-data") ? INGEST_PPROF : INGEST_GROUPS;
}

struct ingest_meta ingest_meta_read(const struct ingest_query *q, uint64_t now_ns)
{
	struct ingest_meta m = {
		.from_ns = parse_time(q->from, now_ns),
		.until_ns = parse_time(q->until, now_ns),
		.sample_rate = INGEST_DEFAULT_RATE,
		.spy_name = q->spy_name && *q->spy_name ? q->spy_name : "unknown",
		.format = parse_format(q),
	};
	uint64_t rate;

	if (q->sample_rate &&
	    str_parse_u64(str_from(q->sample_rate), 10, INGEST_MAX_RATE, &rate) == 0)
		m.sample_rate = rate;
	return m;
}
