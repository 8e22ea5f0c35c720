/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML's timestamps.
 *
 *	date   = year "-" month "-" day
 *	time   = hour ":" minute ":" second [ fraction ]
 *	zone   = "Z" | ( "+" | "-" ) hour ":" minute
 *	stamp  = date | date ( "T" | "t" ) time zone | date " " time
 *
 * A year has four digits, a zone two and two, all else one or two.
 */
#include "river-config/yaml.h"

/* Nanoseconds. */
#define FRACTION_DIGITS 9

struct cursor {
	const char *s;
	size_t n;
	size_t i;
};

static bool take(struct cursor *c, char wanted)
{
	if (c->i >= c->n || c->s[c->i] != wanted)
		return false;
	c->i++;
	return true;
}

static bool at_digit(const struct cursor *c)
{
	return c->i < c->n && c->s[c->i] >= '0' && c->s[c->i] <= '9';
}

static bool take_number(struct cursor *c, size_t min_digits, size_t max_digits, unsigned int *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < max_digits && at_digit(c); n++)
		*ret = *ret * 10 + (unsigned int)(c->s[c->i++] - '0');
	return n >= min_digits;
}

static unsigned int days_of(unsigned int year, unsigned int month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static bool take_date(struct cursor *c, struct river_text *t)
{
	unsigned int year, month, day;

	if (!take_number(c, 4, 4, &year) || !take(c, '-') || !take_number(c, 1, 2, &month) ||
	    !take(c, '-') || !take_number(c, 1, 2, &day))
		return false;
	if (month < 1 || month > 12 || day < 1 || day > days_of(year, month))
		return false;
	river_text_printf(t, "%04u-%02u-%02u", year, month, day);
	return true;
}

/* Without trailing zeros; digits beyond nanoseconds are dropped. */
static void take_fraction(struct cursor *c, struct river_text *t)
{
	size_t begin = c->i + 1, n = 0;

	if (c->i + 1 >= c->n || (c->s[c->i] != '.' && c->s[c->i] != ',') || c->s[begin] < '0' ||
	    c->s[begin] > '9')
		return;
	for (c->i = begin; at_digit(c); c->i++)
		n++;
	n = n < FRACTION_DIGITS ? n : FRACTION_DIGITS;
	while (n > 0 && c->s[begin + n - 1] == '0')
		n--;
	if (n == 0)
		return;
	river_text_char(t, '.');
	river_text_append(t, c->s + begin, n);
}

static bool take_time(struct cursor *c, struct river_text *t)
{
	unsigned int hour, minute, second;

	if (!take_number(c, 1, 2, &hour) || !take(c, ':') || !take_number(c, 1, 2, &minute) ||
	    !take(c, ':') || !take_number(c, 1, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	river_text_printf(t, "%02u:%02u:%02u", hour, minute, second);
	take_fraction(c, t);
	return true;
}

static bool take_zone(struct cursor *c, struct river_text *t)
{
	bool west = c->i < c->n && c->s[c->i] == '-';
	unsigned int hours, minutes;

	if (take(c, 'Z')) {
		river_text_char(t, 'Z');
		return true;
	}
	if ((!take(c, '+') && !take(c, '-')) || !take_number(c, 2, 2, &hours) || !take(c, ':') ||
	    !take_number(c, 2, 2, &minutes) || hours > 24 || minutes > 59)
		return false;
	if (hours == 0 && minutes == 0)
		river_text_char(t, 'Z');
	else
		river_text_printf(t, "%c%02u:%02u", west ? '-' : '+', hours, minutes);
	return true;
}

bool river_yaml_timestamp(const char *s, size_t n, struct river_text *t)
{
	struct cursor c = { .s = s, .n = n };

	if (!take_date(&c, t))
		return false;
	river_text_char(t, 'T');
	if (c.i == n) {
		river_text_str(t, "00:00:00Z");
		return true;
	}
	if (take(&c, 'T') || take(&c, 't'))
		return take_time(&c, t) && take_zone(&c, t) && c.i == n;
	if (!take(&c, ' ') || !take_time(&c, t))
		return false;
	river_text_char(t, 'Z');
	return c.i == n;
}
