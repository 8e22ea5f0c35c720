/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repetitions.
 *
 * PCRE2 ends a loop with an iteration that takes nothing, and what it captured then is nothing; RE2 takes such an iteration only when
 * there is no other: of (a*)+ over "aa" the group is "aa", not "". So a loop over groups that may take nothing is written with guards: an
 * iteration must either get on, or end where the loop began. Where an iteration or the loop began is known by the rest of the text,
 * which is captured there.
 */
#include "agent/target/relabel_parser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Of one repetition, and of repetitions within each other (RE2's limit). */
#define REPEAT_MAX 1000
/* Some for each of a few hundred groups. */
#define EMPTY_STEPS 10000
/* Larger counts are refused anyway. */
#define COUNT_MAX 100000000

/* Digits without leading zeros; -1 for more than anybody may ask for. */
static bool parse_count(const char **at, int *ret_count)
{
	const char *s = *at;
	int64_t n = 0;

	if (*s < '0' || *s > '9' || (*s == '0' && s[1] >= '0' && s[1] <= '9'))
		return false;
	for (; *s >= '0' && *s <= '9'; s++)
		n = n < COUNT_MAX ? n * 10 + (*s - '0') : n;
	*ret_count = n >= COUNT_MAX ? -1 : (int)n;
	*at = s;
	return true;
}

/* {min}, {min,}, {min,max}; no upper end is -1. False: it is only a brace. */
static bool parse_counts(const char *at, const char **ret_end, int *ret_min, int *ret_max)
{
	int min, max;

	at++;
	if (!parse_count(&at, &min))
		return false;
	max = min;
	if (*at == ',') {
		at++;
		max = -1;
		if (*at != '}') {
			if (!parse_count(&at, &max))
				return false;
			if (max < 0)
				min = -1;
		}
	}
	if (*at != '}')
		return false;
	*ret_end = at + 1;
	*ret_min = min;
	*ret_max = max;
	return true;
}

/* What is repeated already becomes a group. */
static void wrap_atom(struct parser *p)
{
	static const char open[] = "(?:";
	size_t n = sizeof(open) - 1;

	if (!p->is_repeated)
		return;
	if (buf_append(p->out, open, n) < 0)
		return; /* the ceiling: found at the end */
	memmove(p->out->data + p->atom + n, p->out->data + p->atom, p->out->len - n - p->atom);
	memcpy(p->out->data + p->atom, open, n);
	parser_write(p, ")");
}

/* A group of the expression's own; all others are written with a question mark. */
static bool has_groups(const char *text)
{
	const char *s = strchr(text, '(');

	while (s && s[1] == '?')
		s = strchr(s + 1, '(');
	return s != NULL;
}

/* Whether it matches nothing at all; also when that is too long to find out, as a guard does no harm. */
static bool matches_empty(const pcre2_code *re)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int r = PCRE2_ERROR_NOMEMORY;

	if (data && context) {
		(void)pcre2_set_match_limit(context, EMPTY_STEPS);
		r = pcre2_match(re, (PCRE2_SPTR) "", 0, 0, 0, data, context);
	}
	pcre2_match_context_free(context);
	pcre2_match_data_free(data);
	return r != PCRE2_ERROR_NOMATCH;
}

static bool may_be_empty(const char *text)
{
	int code;
	size_t at;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				       PCRE2_UTF | PCRE2_DOTALL, &code, &at, NULL);
	bool empty = re && matches_empty(re);

	pcre2_code_free(re);
	return empty;
}

/* Instead of the atom and `text`, which is * or + or the same in numbers; 0 or -ENOMEM. */
static int write_guarded(struct parser *p, bool optional, bool lazy)
{
	_cleanup_free_ char *atom = strdup(p->out->data + p->atom);
	unsigned int i = p->n_guards++;
	const char *sign = lazy ? "?" : "";

	if (!atom)
		return -ENOMEM;
	p->out->len = p->atom;
	(void)buf_printf(p->out,
			 "(?:(?=(?<e%u>.*))(?:(?=(?<i%u>.*))%s"
			 "(?:(?!\\k<i%u>\\z)|(?=\\k<e%u>\\z)))+%s)%s%s",
			 i, i, atom, i, i, sign, optional ? "?" : "", optional ? sign : "");
	return 0;
}

static int write_repeat(struct parser *p, const char *text, bool lazy)
{
	bool optional = strcmp(text, "*") == 0 || strcmp(text, "{0,}") == 0;
	bool loop = optional || strcmp(text, "+") == 0 || strcmp(text, "{1,}") == 0;
	const char *atom = p->out->data ? p->out->data + p->atom : "";

	if (loop && has_groups(atom) && may_be_empty(atom))
		return write_guarded(p, optional, lazy);
	parser_write(p, text);
	parser_write(p, lazy ? "?" : "");
	return 0;
}

/* From `before` up to `after` is the repetition; `text` is what it is without a sign for laziness. */
static int repeat_atom(struct parser *p, const char *before, const char *after, const char *text)
{
	bool lazy = p->flags & PARSER_LAZY;

	if (*after == '?') {
		after++;
		lazy = !lazy;
	}
	if (p->repeat)
		return parser_refuse(p, "invalid nested repetition operator", p->repeat, after);
	if (!p->has_atom)
		return parser_refuse(p, "missing argument to repetition operator", before, after);
	wrap_atom(p);
	p->is_repeated = true;
	p->at = after;
	return write_repeat(p, text, lazy);
}

int parser_repeat(struct parser *p)
{
	return repeat_atom(p, p->at, p->at + 1, (char[]){ *p->at, '\0' });
}

static int check_counts(struct parser *p, const char *from, int min, int max)
{
	unsigned int n = (unsigned int)(max < 0 ? min : max);

	if (min < 2 && max < 2)
		return 0;
	if (n == 0)
		return 0;
	p->atom_repeats *= n;
	if (p->atom_repeats > REPEAT_MAX)
		return parser_refuse(p, "invalid repeat count", from, p->at);
	return 0;
}

int parser_counted_repeat(struct parser *p, bool *ret_taken)
{
	const char *from = p->at, *end;
	char text[32]; /* two numbers of at most four digits */
	int min, max, r;

	*ret_taken = parse_counts(p->at, &end, &min, &max);
	if (!*ret_taken) {
		parser_literal(p, '{');
		p->at++;
		return 0;
	}
	if (min < 0 || min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && min > max))
		return parser_refuse(p, "invalid repeat count", from, end);
	if (max < 0)
		(void)snprintf(text, sizeof(text), "{%d,}", min);
	else
		(void)snprintf(text, sizeof(text), "{%d,%d}", min, max);
	r = repeat_atom(p, from, end, text);
	return r == 0 ? check_counts(p, from, min, max) : r;
}
