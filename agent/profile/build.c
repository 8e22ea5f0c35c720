/* SPDX-License-Identifier: Apache-2.0 */
/* What all forms of a build share: the list of results, and the summary. */
#include "agent/profile/build.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile/top_table.h"
#include "agent/util/str.h"

void build_init(struct build *b)
{
	memset(b, 0, sizeof(*b));
	b->max_bytes = SIZE_MAX;
	b->max_kept_bytes = BUILD_MAX_KEPT_BYTES;
	b->wants = PROFILE_WANT_TABLES;
	b->last = &b->first;
}

void build_fini(struct build *b)
{
	for (struct built *next, *x = b->first; x; x = next) {
		next = x->next;
		profile_unref(x->profile);
		free(x->bytes);
		free(x);
	}
	build_init(b);
}

int build_put(struct build *b, const struct built *what)
{
	struct built *x = malloc(sizeof(*x));

	assert(b->last && !*b->last);
	if (!x) {
		profile_unref(what->profile);
		free(what->bytes);
		return -ENOMEM;
	}
	*x = *what;
	x->next = NULL;
	*b->last = x;
	b->last = &x->next;
	return 0;
}

uint64_t build_last_time_ns(const struct build *b)
{
	uint64_t last_ns = 0;

	for (const struct built *x = b->first; x; x = x->next)
		last_ns = x->time_ns > last_ns ? x->time_ns : last_ns;
	return last_ns;
}

/* Of one event, for samples of two are not to be compared: CPU time, or the first that there is. */
static const struct series *hottest_series(const struct interval *interval)
{
	const struct series *hottest = interval->series;

	for (const struct series *s = interval->series; s; s = s->next)
		if (s->event < hottest->event ||
		    (s->event == hottest->event && s->n_samples > hottest->n_samples))
			hottest = s;
	return hottest;
}

static void summarize_function(const struct series *series, struct namer *namer,
			       struct build *build)
{
	struct top_table top;

	/* The encoder is done with its share. */
	top_table_init(&top, build->max_bytes);
	if (top_table_add_leaves(&top, series, namer) == 0) {
		const struct top_row *h = top_table_by_self(&top);

		if (h)
			str_copy_utf8(build->summary.hottest_function, BUILD_NAME_MAX,
				      str_from(h->function));
	}
	top_table_fini(&top);
}

void build_summarize(const struct interval *interval, struct namer *namer, struct build *build)
{
	const struct series *hottest = hottest_series(interval);

	build->summary.n_series = interval->n_series;
	if (!hottest)
		return;
	build->summary.hottest_event = hottest->event;
	str_copy_utf8(build->summary.hottest_service, BUILD_NAME_MAX,
		      str_from(series_name(hottest)));
	build->summary.hottest_service_samples = hottest->n_samples;
	summarize_function(hottest, namer, build);
}
