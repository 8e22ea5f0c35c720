/* SPDX-License-Identifier: Apache-2.0 */
/* The Retry-After header. */
#include "agent/http/retry_after.h"

#include <errno.h>
#include <time.h>

#include "agent/util/clock.h"

static const char retry_after_days[] = "MonTueWedThuFriSatSun";
static const char retry_after_months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static bool cut_text(struct str *s, struct str text)
{
	if (!str_starts_with(*s, text))
		return false;
	s->p += text.n;
	s->n -= text.n;
	return true;
}

/* One of the three-letter names in `names`: its place. */
static bool cut_name(struct str *s, const char *names, int *ret_index)
{
	for (int i = 0; names[3 * i]; i++) {
		if (cut_text(s, (struct str){ names + 3 * i, 3 })) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

static bool cut_digits(struct str *s, size_t n, unsigned int max, int *ret_value)
{
	uint64_t value;

	if (s->n < n || str_parse_u64((struct str){ s->p, n }, 10, max, &value) < 0)
		return false;
	s->p += n;
	s->n -= n;
	*ret_value = (int)value;
	return true;
}

/* date = day-name "," SP day SP month SP year */
static bool cut_date(struct str *s, struct tm *tm)
{
	int day_name;

	return cut_name(s, retry_after_days, &day_name) && cut_text(s, STR_LIT(", ")) &&
	       cut_digits(s, 2, 31, &tm->tm_mday) && cut_text(s, STR_LIT(" ")) &&
	       cut_name(s, retry_after_months, &tm->tm_mon) && cut_text(s, STR_LIT(" ")) &&
	       cut_digits(s, 4, 9999, &tm->tm_year);
}

/* time = hour ":" minute ":" second SP "GMT"; 60 is a leap second */
static bool cut_time(struct str *s, struct tm *tm)
{
	return cut_digits(s, 2, 23, &tm->tm_hour) && cut_text(s, STR_LIT(":")) &&
	       cut_digits(s, 2, 59, &tm->tm_min) && cut_text(s, STR_LIT(":")) &&
	       cut_digits(s, 2, 60, &tm->tm_sec) && cut_text(s, STR_LIT(" GMT"));
}

static bool parse_date(struct str s, uint64_t *ret_real_s)
{
	struct tm tm = { 0 };

	if (!cut_date(&s, &tm) || !cut_text(&s, STR_LIT(" ")) || !cut_time(&s, &tm) || s.n > 0)
		return false;
	if (tm.tm_mday == 0 || tm.tm_year < 1970)
		return false;
	tm.tm_year -= 1900;
	*ret_real_s = (uint64_t)timegm(&tm);
	return true;
}

/* A number beyond every ceiling is still a number: "for a very long time". */
static bool parse_seconds(struct str s, uint64_t *ret_s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	int r = str_parse_u64(s, 10, RETRY_AFTER_MAX_S, ret_s);
	if (r == -ERANGE)
		*ret_s = RETRY_AFTER_MAX_S;
	return r != -EINVAL;
}

bool retry_after_parse(struct str text, uint64_t now_real_ns, uint64_t *ret_wait_ns)
{
	struct str s = str_trim(text);
	uint64_t now_s = now_real_ns / NS_PER_S;
	uint64_t wait_s, at_s;

	if (!parse_seconds(s, &wait_s)) {
		if (!parse_date(s, &at_s))
			return false;
		wait_s = at_s > now_s ? at_s - now_s : 0;
	}
	if (wait_s > RETRY_AFTER_MAX_S)
		wait_s = RETRY_AFTER_MAX_S;
	*ret_wait_ns = wait_s * NS_PER_S;
	return true;
}
