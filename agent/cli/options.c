/* SPDX-License-Identifier: Apache-2.0 */
/* Flags by table, over getopt_long(3). */
#include "agent/cli/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/suggest.h"
#include "agent/util/cleanup.h"

/* getopt's answer for a long flag: its row above all letters. */
#define LONG_BASE 256
/* getopt's answer for a word that is no flag, in order of appearance. */
#define WORD 1

struct parse {
	const struct cli_flag *flags;
	size_t n_flags;
	char **argv;
	void *into;
	struct buf *why;
	int at; /* index of the word that getopt is looking at */
};

void cli_words_fini(struct cli_words *w)
{
	free(w->items);
	*w = (struct cli_words){ 0 };
}

static bool wants_value(const struct cli_flag *f)
{
	return f->kind != CLI_SWITCH && f->kind != CLI_IGNORED_SWITCH;
}

/* '-': words in order, whatever POSIXLY_CORRECT says, and argv is left as it is; ':': a missing value is told apart. */
static char *make_letters(const struct cli_flag *flags, size_t n)
{
	char *letters = malloc(2 * n + 3), *to = letters;

	if (!letters)
		return NULL;
	*to++ = '-';
	*to++ = ':';
	for (size_t i = 0; i < n; i++) {
		if (!flags[i].letter)
			continue;
		*to++ = flags[i].letter;
		if (wants_value(&flags[i]))
			*to++ = ':';
	}
	*to = '\0';
	return letters;
}

static struct option *make_options(const struct cli_flag *flags, size_t n)
{
	struct option *options = calloc(n + 1, sizeof(*options));

	for (size_t i = 0; options && i < n; i++)
		options[i] = (struct option){
			.name = flags[i].name,
			.has_arg = wants_value(&flags[i]) ? required_argument : optional_argument,
			.val = LONG_BASE + (int)i,
		};
	return options;
}

static const struct cli_flag *flag_of(const struct parse *p, int answer)
{
	if (answer >= LONG_BASE)
		return &p->flags[answer - LONG_BASE];
	for (size_t i = 0; i < p->n_flags; i++)
		if (p->flags[i].letter && p->flags[i].letter == answer)
			return &p->flags[i];
	return NULL;
}

/* As the person spelled it. */
static void put_flag(struct parse *p, int answer, const struct cli_flag *f)
{
	if (answer >= LONG_BASE)
		(void)buf_printf(p->why, "--%s", f->name);
	else
		(void)buf_printf(p->why, "-%c", answer);
}

static const char *suggest_flag(const struct parse *p, const char *name, size_t n)
{
	_cleanup_free_ char *wrong = strndup(name, n);
	const char *best = NULL;
	size_t best_distance = n / 3 + 1;

	for (size_t i = 0; wrong && i < p->n_flags; i++) {
		size_t distance = suggest_distance(wrong, p->flags[i].name);

		/* An abbreviation is meant to be what it abbreviates. */
		if (n >= 2 && strncmp(p->flags[i].name, name, n) == 0)
			distance = 0;
		if (distance < best_distance) {
			best_distance = distance;
			best = p->flags[i].name;
		}
	}
	return best;
}

static int fail_unknown(struct parse *p, int letter)
{
	const char *word = p->argv[p->at];

	if (strncmp(word, "--", 2) != 0) {
		(void)buf_printf(p->why, "unknown flag -%c", letter);
		return -EINVAL;
	}
	size_t n = strcspn(word + 2, "=");
	const char *meant = suggest_flag(p, word + 2, n);
	(void)buf_printf(p->why, "unknown flag --%.*s", (int)n, word + 2);
	if (meant)
		(void)buf_printf(p->why, ", did you mean --%s?", meant);
	return -EINVAL;
}

static int fail_missing(struct parse *p, int answer)
{
	const struct cli_flag *f = flag_of(p, answer);

	assert(f);
	put_flag(p, answer, f);
	(void)buf_printf(p->why, " wants %s", f->wants);
	return -EINVAL;
}

static int fail_value(struct parse *p, int answer, const struct cli_flag *f, const char *value)
{
	put_flag(p, answer, f);
	(void)buf_printf(p->why, " wants %s, not \"%s\"",
			 wants_value(f) ? f->wants : "true or false", value);
	return -EINVAL;
}

static int switch_parse(const char *value, bool *ret_on)
{
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		return -EINVAL;
	*ret_on = !value || strcmp(value, "true") == 0;
	return 0;
}

static int flag_store(const struct cli_flag *f, const char *value, void *member)
{
	bool ignored;

	switch (f->kind) {
	case CLI_SWITCH:
		return switch_parse(value, member);
	case CLI_IGNORED_SWITCH:
		return switch_parse(value, &ignored);
	case CLI_TEXT:
		*(const char **)member = value;
		return 0;
	case CLI_PARSED:
		assert(f->parse);
		return f->parse(value, member);
	case CLI_IGNORED:
		return 0;
	}
	return -EINVAL;
}

static int take_flag(struct parse *p, int answer)
{
	const struct cli_flag *f = flag_of(p, answer);

	assert(f);
	/* getopt takes abbreviations. */
	if (answer >= LONG_BASE && strcspn(p->argv[p->at] + 2, "=") != strlen(f->name))
		return fail_unknown(p, 0);
	int r = flag_store(f, optarg, (char *)p->into + f->offset);
	return r < 0 ? fail_value(p, answer, f, optarg) : 0;
}

static int take_all(struct parse *p, int argc, const char *letters, const struct option *options,
		    struct cli_words *words)
{
	int r = 0;

	opterr = 0;
	optind = 0; /* starts anew: glibc */
	while (r == 0) {
		p->at = optind ? optind : 1;
		int answer = getopt_long(argc, p->argv, letters, options, NULL);

		if (answer == -1)
			break;
		assert(answer != WORD || words->n < (size_t)argc);
		if (answer == WORD)
			words->items[words->n++] = optarg;
		else if (answer == '?')
			r = fail_unknown(p, optopt);
		else if (answer == ':')
			r = fail_missing(p, optopt);
		else
			r = take_flag(p, answer);
	}
	/* In order of appearance, getopt ends at the end or at `--`. */
	if (r == 0 && p->at < argc)
		words->rest = p->argv + optind;
	return r;
}

int cli_options_parse(const struct cli_flag *flags, size_t n_flags, int argc, char **argv,
		      void *into, struct cli_words *ret_words, struct buf *why)
{
	_cleanup_free_ char *letters = make_letters(flags, n_flags);
	_cleanup_free_ struct option *options = make_options(flags, n_flags);
	_cleanup_words_ struct cli_words words = { .items = calloc((size_t)argc,
								   sizeof(*words.items)) };
	struct parse p = { flags, n_flags, argv, into, why, 1 };

	assert(argc > 0);
	if (!letters || !options || !words.items) {
		(void)buf_append_str(why, "no memory");
		return -ENOMEM;
	}
	int r = take_all(&p, argc, letters, options, &words);
	if (r < 0)
		return r;
	*ret_words = words;
	words = (struct cli_words){ 0 };
	return 0;
}
