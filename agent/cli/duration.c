/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as people type them. */
#include "agent/cli/duration.h"

#include <errno.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* More would overflow 64 bits with the largest unit, and nobody types them. */
#define MAX_DECIMALS 6

/* Longer names first where one starts with another. */
static const struct unit {
	struct str name;
	uint64_t ns;
} units[] = {
	{ { "ns", 2 }, 1 },
	{ { "us", 2 }, NS_PER_US },
	{ { "\u00b5s", 3 }, NS_PER_US }, /* micro sign */
	{ { "\u03bcs", 3 }, NS_PER_US }, /* Greek mu */
	{ { "ms", 2 }, NS_PER_MS },
	{ { "s", 1 }, NS_PER_S },
	{ { "m", 1 }, 60 * NS_PER_S },
	{ { "h", 1 }, 3600 * NS_PER_S },
};

struct number {
	uint64_t whole;
	uint64_t decimals;
	uint64_t scale; /* 10 to the number of decimals */
};

/* number = digits [ "." digits ] */
static int scan_number(struct str *s, struct number *ret_number)
{
	struct number n = { .scale = 1 };
	int r = str_scan_u64(s, 10, DURATION_MAX_NS, &n.whole);

	if (r < 0)
		return r;
	if (s->n > 0 && s->p[0] == '.') {
		struct str digits = { s->p + 1, s->n - 1 };
		size_t before = digits.n;

		r = str_scan_u64(&digits, 10, UINT64_MAX, &n.decimals);
		if (r < 0)
			return -EINVAL;
		if (before - digits.n > MAX_DECIMALS)
			return -EINVAL;
		for (size_t i = 0; i < before - digits.n; i++)
			n.scale *= 10;
		*s = digits;
	}
	*ret_number = n;
	return 0;
}

static int scan_unit(struct str *s, uint64_t *ret_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!str_starts_with(*s, units[i].name))
			continue;
		s->p += units[i].name.n;
		s->n -= units[i].name.n;
		*ret_ns = units[i].ns;
		return 0;
	}
	return -EINVAL;
}

static int number_times(const struct number *n, uint64_t unit_ns, uint64_t *ret_ns)
{
	if (n->whole > DURATION_MAX_NS / unit_ns)
		return -ERANGE;
	*ret_ns = n->whole * unit_ns + n->decimals * unit_ns / n->scale;
	return 0;
}

/* duration = number | number unit { number unit } */
int duration_parse(struct str text, uint64_t *ret_ns)
{
	bool plain = true;
	uint64_t sum = 0;

	do {
		struct number n;
		uint64_t unit_ns = NS_PER_S, part;
		int r = scan_number(&text, &n);

		if (r < 0)
			return r;
		if (text.n > 0 || !plain) {
			r = scan_unit(&text, &unit_ns);
			if (r < 0)
				return r;
		}
		r = number_times(&n, unit_ns, &part);
		if (r < 0)
			return r;
		sum += part;
		if (sum > DURATION_MAX_NS)
			return -ERANGE;
		plain = false;
	} while (text.n > 0);
	*ret_ns = sum;
	return 0;
}
