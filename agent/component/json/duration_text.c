/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as text. */
#include "agent/component/json/duration_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "agent/util/clock.h"

/* "12.5" of 12500 and 1000: the fraction without its last zeros. */
static int put_decimal(char *at, size_t n, uint64_t value, uint64_t unit, const char *name)
{
	uint64_t rest = value % unit;
	int digits = 0;

	if (rest == 0)
		return snprintf(at, n, "%" PRIu64 "%s", value / unit, name);
	for (uint64_t u = unit; u > 1; u /= 10)
		digits++;
	for (; rest % 10 == 0; digits--)
		rest /= 10;
	return snprintf(at, n, "%" PRIu64 ".%0*" PRIu64 "%s", value / unit, digits, rest, name);
}

static void put_seconds(char *at, size_t n, uint64_t ns)
{
	uint64_t minutes = ns / (60 * NS_PER_S);
	int len = 0;

	if (minutes >= 60)
		len = snprintf(at, n, "%" PRIu64 "h%" PRIu64 "m", minutes / 60, minutes % 60);
	else if (minutes > 0)
		len = snprintf(at, n, "%" PRIu64 "m", minutes);
	(void)put_decimal(at + len, n - (size_t)len, ns % (60 * NS_PER_S), NS_PER_S, "s");
}

const char *duration_text(int64_t ns, char text[static DURATION_TEXT_BYTES])
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char *at = text;
	size_t n = DURATION_TEXT_BYTES - 1;

	if (ns < 0)
		*at++ = '-';
	if (size == 0)
		(void)snprintf(at, n, "0s");
	else if (size < NS_PER_US)
		(void)snprintf(at, n, "%" PRIu64 "ns", size);
	else if (size < NS_PER_MS)
		(void)put_decimal(at, n, size, NS_PER_US, "\u00b5s");
	else if (size < NS_PER_S)
		(void)put_decimal(at, n, size, NS_PER_MS, "ms");
	else
		put_seconds(at, n, size);
	return text;
}
