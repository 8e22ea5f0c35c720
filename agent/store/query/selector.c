/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matchers over the series of a segment.
 *
 * Equal texts of a segment have equal numbers, so `=` compares numbers; what an expression says of a value is remembered by its number.
 */
#include "agent/store/query/selector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/selector_syntax.h"

enum verdict { UNKNOWN, MATCHES, DIFFERS };

struct selector_on {
	bool *takes; /* of each series */
	size_t n;
};

/* One matcher over one segment. */
struct looking {
	const struct segment *segment;
	struct selector *selector;
	const struct selector_matcher *matcher;
	uint32_t name;	   /* SEGMENT_NONE: no series has it */
	uint32_t value;	   /* of `=` and `!=` */
	uint8_t *verdicts; /* of expressions: by text */
};

int selector_new(const char *text, struct buf *why, struct selector **ret_selector)
{
	_cleanup_(selector_freep) struct selector *s = calloc(1, sizeof(*s));
	struct selector_scan scan = { text, text, why };
	int r;

	if (!s)
		return -ENOMEM;
	s->pass = RELABEL_PASS_INIT;
	if (strlen(text) > SELECTOR_TEXT_MAX)
		return selector_refuse(&scan, text, "longer than %zu bytes", SELECTOR_TEXT_MAX);
	r = selector_parse(&scan, s);
	if (r == SELECTOR_PARSED)
		*ret_selector = TAKE_PTR(s);
	return r;
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_matchers; i++) {
		free(s->matchers[i].name);
		free(s->matchers[i].value);
		relabel_regex_free(s->matchers[i].regex);
	}
	free(s->head);
	free(s);
}

const char *selector_head(const struct selector *s)
{
	return s->head;
}

/* Text 0 is the empty one. */
static uint32_t label_value(const struct segment_series *series, uint32_t name)
{
	for (size_t i = 0; i < series->n_labels; i++)
		if (series->labels[i].name == name)
			return series->labels[i].value;
	return 0;
}

static bool is_like(const struct selector_matcher *m)
{
	return m->op == SELECTOR_LIKE || m->op == SELECTOR_UNLIKE;
}

static bool matches_regex(const struct looking *l, uint32_t value)
{
	const char *text = segment_text(l->segment, value);

	if (l->verdicts[value] == UNKNOWN)
		l->verdicts[value] = relabel_regex_match(l->matcher->regex, text, strlen(text),
							 &l->selector->pass, NULL)
					     ? MATCHES
					     : DIFFERS;
	return l->verdicts[value] == MATCHES;
}

static bool takes(const struct looking *l, const struct segment_series *series)
{
	uint32_t value = l->name == SEGMENT_NONE ? 0 : label_value(series, l->name);
	bool negative = l->matcher->op == SELECTOR_UNEQUAL || l->matcher->op == SELECTOR_UNLIKE;

	return negative != (is_like(l->matcher) ? matches_regex(l, value) : value == l->value);
}

/* SEGMENT_NONE also for what no text can be. */
static uint32_t find_value(const struct segment *segment, const struct selector_matcher *m)
{
	return strlen(m->value) == m->n_value ? segment_find_text(segment, m->value) : SEGMENT_NONE;
}

static int apply(struct selector *s, const struct selector_matcher *m,
		 const struct segment *segment, bool *selected)
{
	_cleanup_free_ uint8_t *verdicts = NULL;
	struct looking l = { .segment = segment,
			     .selector = s,
			     .matcher = m,
			     .name = segment_find_text(segment, m->name),
			     .value = find_value(segment, m) };

	if (is_like(m)) {
		l.verdicts = verdicts = calloc(segment_n_texts(segment), 1);
		if (!verdicts)
			return -ENOMEM;
	}
	for (size_t i = 0; i < segment_n_series(segment); i++) {
		struct segment_series series;

		if (!selected[i])
			continue;
		segment_series(segment, i, &series);
		selected[i] = takes(&l, &series);
	}
	return s->pass.n_given_up > 0 ? -ETIMEDOUT : 0;
}

static void apply_head(const struct selector *s, const struct segment *segment, bool *selected)
{
	for (size_t i = 0; i < segment_n_series(segment); i++) {
		const char *name = segment_series_label(segment, i, "__name__");
		const char *type = segment_series_label(segment, i, "__profile_type__");

		selected[i] = (name && strcmp(name, s->head) == 0) ||
			      (type && strcmp(type, s->head) == 0);
	}
}

int selector_on_new(struct selector *s, const struct segment *segment, struct selector_on **ret_on)
{
	_cleanup_(selector_on_freep) struct selector_on *on = calloc(1, sizeof(*on));
	size_t n = segment_n_series(segment);

	if (!on)
		return -ENOMEM;
	on->n = n;
	on->takes = malloc(n + 1);
	if (!on->takes)
		return -ENOMEM;
	memset(on->takes, true, n);
	if (s->head)
		apply_head(s, segment, on->takes);
	for (size_t i = 0; i < s->n_matchers; i++) {
		int r = apply(s, &s->matchers[i], segment, on->takes);

		if (r < 0)
			return r;
	}
	*ret_on = TAKE_PTR(on);
	return 0;
}

void selector_on_free(struct selector_on *on)
{
	if (!on)
		return;
	free(on->takes);
	free(on);
}

bool selector_on_match(const struct selector_on *on, size_t series)
{
	assert(series < on->n);
	return on->takes[series];
}
