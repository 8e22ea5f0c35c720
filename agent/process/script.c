/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an interpreter runs.
 *
 * Its options are skipped, with their values, up to the first argument that is none.
 */
#include "agent/process/script.h"

#include <string.h>

#include "agent/process/script_interpreters.h"
#include "agent/util/macro.h"

/* Python's own options are handed down before -c. */
#define HELPER_MAX_WORDS 16

static const struct str no_script = { "", 0 };

/* What is known after a word of the arguments. */
enum script_step {
	SCRIPT_STEP_SKIP,  /* it was an option */
	SCRIPT_STEP_VALUE, /* … and the next word is its value */
	SCRIPT_STEP_NAME,  /* *ret_word holds the name, of form *ret_form */
	SCRIPT_STEP_NONE   /* no script */
};

struct script_reader {
	const struct script_interpreter *in;
	struct str rest;       /* words that were not read, each ended by a NUL */
	enum script_form form; /* of the name */
};

/* False at the end, and where a word was cut. */
static bool next_word(struct script_reader *r, struct str *ret_word)
{
	const char *end = r->rest.n ? memchr(r->rest.p, '\0', r->rest.n) : NULL;

	if (!end)
		return false;
	*ret_word = (struct str){ r->rest.p, (size_t)(end - r->rest.p) };
	r->rest.p += ret_word->n + 1;
	r->rest.n -= ret_word->n + 1;
	return true;
}

static bool letter_in(const char *letters, char c)
{
	return letters && c && strchr(letters, c);
}

/* The value of an option: what is left of its word, or the next word. */
static enum script_step name_in(struct script_reader *r, struct str rest, enum script_form form,
				struct str *ret_word)
{
	r->form = form;
	if (rest.n > 0)
		*ret_word = rest;
	else if (!next_word(r, ret_word))
		return SCRIPT_STEP_NONE;
	return SCRIPT_STEP_NAME;
}

/* "-uBc": the letters behind the dash. */
static enum script_step read_letters(struct script_reader *r, struct str letters,
				     struct str *ret_word)
{
	const struct script_interpreter *in = r->in;

	for (size_t i = 0; i < letters.n; i++) {
		char c = letters.p[i];
		struct str rest = { letters.p + i + 1, letters.n - i - 1 };

		if (letter_in(in->stop_letters, c))
			return SCRIPT_STEP_NONE;
		if (letter_in(in->name_letters, c))
			return name_in(r, rest, in->named_form, ret_word);
		if (letter_in(in->file_letters, c))
			return name_in(r, rest, SCRIPT_FILE, ret_word);
		if (letter_in(in->rest_letters, c))
			return SCRIPT_STEP_SKIP;
		if (letter_in(in->value_letters, c))
			return rest.n > 0 ? SCRIPT_STEP_SKIP : SCRIPT_STEP_VALUE;
	}
	return SCRIPT_STEP_SKIP;
}

/* "--option", "--option=value"; "-option" where one dash is as good. */
static enum script_step read_long(struct script_reader *r, struct str word, struct str *ret_word)
{
	struct str value = word, option;
	bool has_value;

	(void)str_split(&value, '=', &option); /* true: word.p is not NULL */
	has_value = value.p;
	if (!has_value)
		value = no_script;
	if (script_word_in(r->in->stops, option))
		return SCRIPT_STEP_NONE;
	if (script_word_in(r->in->named, option))
		return name_in(r, value, r->in->named_form, ret_word);
	if (script_word_in(r->in->files, option))
		return name_in(r, value, SCRIPT_FILE, ret_word);
	return !has_value && script_word_in(r->in->values, option) ? SCRIPT_STEP_VALUE
								   : SCRIPT_STEP_SKIP;
}

static enum script_step read_option(struct script_reader *r, struct str word, struct str *ret_word)
{
	/* Standard input. */
	if (word.n == 1)
		return SCRIPT_STEP_NONE;
	if (word.p[1] == '-' || r->in->single_dash)
		return read_long(r, word, ret_word);
	return read_letters(r, (struct str){ word.p + 1, word.n - 1 }, ret_word);
}

static bool is_option(const struct script_interpreter *in, struct str word)
{
	return word.n > 0 && (word.p[0] == '-' || (word.p[0] == '+' && in->plus) ||
			      (word.p[0] == '@' && in->form == SCRIPT_CLASS));
}

/* The first word that is no option: the script, or a command before it. */
static enum script_step read_plain(struct script_reader *r, struct str word, bool first,
				   struct str *ret_word)
{
	if (first && script_word_in(r->in->commands, word))
		return SCRIPT_STEP_SKIP;
	if (first && script_word_in(r->in->no_script, word))
		return SCRIPT_STEP_NONE;
	r->form = r->in->form;
	*ret_word = word;
	return SCRIPT_STEP_NAME;
}

/* True when *ret_word is the word that names the script. */
static bool find_word(struct script_reader *r, struct str *ret_word)
{
	enum script_step step = SCRIPT_STEP_SKIP;
	bool first = true, options = true;
	struct str word;

	while (next_word(r, &word)) {
		if (step == SCRIPT_STEP_VALUE) {
			step = SCRIPT_STEP_SKIP;
			continue;
		}
		if (options && str_eq(word, STR_LIT("--"))) {
			options = false;
			continue;
		}
		if (options && is_option(r->in, word)) {
			step = read_option(r, word, ret_word);
		} else {
			step = read_plain(r, word, first, ret_word);
			first = false;
		}
		if (step == SCRIPT_STEP_NAME || step == SCRIPT_STEP_NONE)
			return step == SCRIPT_STEP_NAME;
	}
	return false;
}

static bool has_suffix(const char *suffixes, struct str name)
{
	struct str rest = str_from(suffixes), suffix;

	if (!suffixes)
		return true;
	while (str_split(&rest, ' ', &suffix))
		if (str_ends_with(name, suffix))
			return true;
	return false;
}

/* A file's name. Descriptors ("/dev/fd/63") are no files, and what holds a line break is code. */
static struct str file_name(struct str path)
{
	struct str name;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	name = str_basename(path);
	if (str_starts_with(path, STR_LIT("/dev/")) || str_starts_with(path, STR_LIT("/proc/")) ||
	    str_eq(name, STR_LIT(".")) || str_eq(name, STR_LIT("..")) ||
	    (path.n > 0 && memchr(path.p, '\n', path.n)))
		return no_script;
	return name;
}

static struct str class_name(struct str s)
{
	const char *dot;

	s = str_basename(s);
	if (str_ends_with(s, STR_LIT(".java")))
		return s;
	dot = s.n ? memrchr(s.p, '.', s.n) : NULL;
	return dot ? (struct str){ dot + 1, s.n - (size_t)(dot + 1 - s.p) } : s;
}

static struct str name_of(const struct script_reader *r, struct str word)
{
	struct str name = no_script;

	switch (r->form) {
	case SCRIPT_FILE:
		name = file_name(word);
		break;
	case SCRIPT_MODULE:
		name = word;
		break;
	case SCRIPT_CLASS:
		name = class_name(word);
		break;
	}
	return name.n <= SCRIPT_NAME_MAX && has_suffix(r->in->suffixes, name) ? name : no_script;
}

/* "gunicorn: master [app]", "puma 6.4.2 (tcp://…) [app]", "[celeryd: …]": one word with blanks in place of all arguments. Its first word is who
 * wrote it. */
static struct str title_name(const struct script_interpreter *in, struct str word)
{
	struct str title = word, name;

	if (!in->titles || !str_split(&title, ' ', &name) || !title.p)
		return no_script;
	if (str_ends_with(name, STR_LIT(":")))
		name.n--;
	if (str_starts_with(name, STR_LIT("["))) {
		name.p++;
		name.n--;
	}
	name = str_basename(name);
	return name.n <= SCRIPT_NAME_MAX && !script_interpreter_find(name) ? name : no_script;
}

static bool is_only_word(struct str rest)
{
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i])
			return false;
	return true;
}

/* One program that is a shell by the name it was called by, or by its first argument. */
static struct str applet(struct script_reader *r, struct str called)
{
	struct str name = str_basename(called), next;

	if (str_eq(name, STR_LIT("busybox")) && next_word(r, &next))
		name = next;
	return name;
}

bool script_is_helper(struct str arguments)
{
	static const struct str helpers[] = {
		{ "from multiprocessing.", 21 },
		{ "joblib.externals.loky.", 22 },
		{ "loky.backend.", 13 },
	};
	struct script_reader r = { .rest = arguments };
	struct str word;

	/* The code or the module stands behind a few options. */
	for (int n = 0; n < HELPER_MAX_WORDS && next_word(&r, &word); n++)
		for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
			if (str_starts_with(word, helpers[i]))
				return true;
	return false;
}

struct str script_find(struct str exe, struct str arguments)
{
	struct script_reader r = { .rest = arguments };
	struct str program = str_basename(exe), called, word;

	if (!next_word(&r, &called))
		return no_script;
	if (program.n == 0 || str_eq(program, STR_LIT("busybox")))
		program = applet(&r, called);
	r.in = script_interpreter_find(program);
	if (!r.in)
		return no_script;
	if (is_only_word(r.rest))
		return title_name(r.in, called);
	return find_word(&r, &word) ? name_of(&r, word) : no_script;
}
