/* SPDX-License-Identifier: Apache-2.0 */
/* Names of pods and containers without what is new with each start. */
#include "agent/target/pod_name.h"

#include <stdbool.h>

/* Of rand.SafeEncodeString, whose words are five characters long behind a name, and up to ten where they stand for a pod template. */
#define SAFE_CHARS "bcdfghjklmnpqrstvwxz2456789"
#define SUFFIX_CHARS 5
#define TEMPLATE_MAX_CHARS 10
#define TEMPLATE_MIN_CHARS 6
/* Minutes since 1970, which a CronJob gives its Jobs. */
#define MINUTES_CHARS 8
/* Of a Swarm task. */
#define TASK_CHARS 25

static const char digits[] = "0123456789";
static const char task_chars[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static bool is_made_of(struct str s, const char *chars)
{
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || !strchr(chars, s.p[i]))
			return false;
	return s.n > 0;
}

/* Cuts what stands behind the last `sep` off `*s`. False, and *s as it was, when there is none, or nothing before it. */
static bool cut_last(struct str *s, char sep, struct str *ret_part)
{
	const char *at = s->n ? memrchr(s->p, sep, s->n) : NULL;

	if (!at || at == s->p)
		return false;
	*ret_part = (struct str){ at + 1, s->n - (size_t)(at + 1 - s->p) };
	s->n = (size_t)(at - s->p);
	return true;
}

static bool is_new_each_time(struct str part)
{
	if (part.n == MINUTES_CHARS && is_made_of(part, digits))
		return true;
	return part.n >= TEMPLATE_MIN_CHARS && part.n <= TEMPLATE_MAX_CHARS &&
	       is_made_of(part, SAFE_CHARS);
}

struct str pod_workload_name(const char *pod)
{
	struct str name = str_from(pod), rest = name, part;

	if (!cut_last(&rest, '-', &part))
		return name;
	if (is_made_of(part, digits))
		return rest;
	if (part.n != SUFFIX_CHARS || !is_made_of(part, SAFE_CHARS))
		return name;
	name = rest;
	if (cut_last(&rest, '-', &part) && is_new_each_time(part))
		return rest;
	return name;
}

struct str container_service_name(const char *container)
{
	struct str name = str_from(container), rest, part;

	if (name.n > 0 && name.p[0] == '/') {
		name.p++;
		name.n--;
	}
	rest = name;
	if (cut_last(&rest, '.', &part) && part.n == TASK_CHARS && is_made_of(part, task_chars) &&
	    cut_last(&rest, '.', &part) && is_made_of(part, task_chars))
		return rest;
	return name;
}
