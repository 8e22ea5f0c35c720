/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of regular expressions. */
#include "agent/target/relabel_syntax.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of a text that is cited. */
#define CITED_MAX 256
/* The highest count of {n,m}: RE2 and Go's regexp/syntax. */
#define COUNT_MAX 1000
#define DIGITS "0123456789"
#define NAME_CHARS DIGITS "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

struct scanner {
	const char *at; /* up to a NUL */
	struct buf *out;
	struct buf *why;
	bool has_atom;	    /* something to be repeated */
	const char *repeat; /* a repetition right before, or NULL */
};

static int refuse(struct scanner *s, const char *what, const char *from, size_t n)
{
	(void)buf_printf(s->why, "error parsing regexp: %s: `%.*s`", what, (int)n, from);
	return RELABEL_WRONG;
}

static int write_text(struct scanner *s, const char *text)
{
	return buf_append_str(s->out, text);
}

static int copy(struct scanner *s, size_t n)
{
	int r = buf_append(s->out, s->at, n);

	s->at += n;
	return r;
}

/* Up to what ends it, inclusive. */
static int copy_through(struct scanner *s, const char *end, const char *mistake)
{
	const char *found = strstr(s->at, end);

	if (!found)
		return refuse(s, mistake, s->at, CITED_MAX);
	return copy(s, (size_t)(found - s->at) + strlen(end));
}

/* \Q…\E, or up to the end; each character may be repeated. */
static int copy_quoted(struct scanner *s)
{
	const char *end = strstr(s->at + 2, "\\E");

	return copy(s, end ? (size_t)(end - s->at) + 2 : strlen(s->at));
}

static bool is_hex_escape(const char *s)
{
	return s[2] == '{' || (isxdigit((unsigned char)s[2]) && isxdigit((unsigned char)s[3]));
}

/* `allowed` are the letters and digits that may follow. */
static int escape(struct scanner *s, const char *allowed)
{
	char c = s->at[1];

	if (c == '\0')
		return refuse(s, "trailing backslash at end of expression", s->at, 1);
	if (isalnum((unsigned char)c) && !strchr(allowed, c))
		return refuse(s, "invalid escape sequence", s->at, 2);
	if (c == 'x' && !is_hex_escape(s->at))
		return refuse(s, "invalid escape sequence", s->at, 4);
	if (c == 'Q')
		return copy_quoted(s);
	if (strchr("pPx", c) && s->at[2] == '{')
		return copy_through(s, "}", "missing closing }");
	/* For PCRE2 it is any vertical white space. */
	if (c == 'v') {
		s->at += 2;
		return write_text(s, "\\x0b");
	}
	return copy(s, 2);
}

/* One item of a class: [:name:], an escape, a character. */
static int class_item(struct scanner *s, bool *ret_is_set)
{
	*ret_is_set = false;
	if (s->at[0] == '[' && s->at[1] == ':' && strstr(s->at, ":]")) {
		*ret_is_set = true;
		return copy_through(s, ":]", "missing closing :]");
	}
	if (s->at[0] != '\\')
		return copy(s, 1);
	*ret_is_set = s->at[1] && strchr("dDsSwWpP", s->at[1]);
	return escape(s, "afnrtv0xdDsSwWpP");
}

static int class(struct scanner *s)
{
	const char *from = s->at;
	size_t n_open = 1 + (from[1] == '^');
	bool is_set;
	int r;

	/* A bracket in front is a character. */
	r = copy(s, n_open + (from[n_open] == ']'));
	while (r == 0 && *s->at && *s->at != ']') {
		r = class_item(s, &is_set);
		if (r == 0 && is_set && s->at[0] == '-' && s->at[1] != ']')
			r = write_text(s, "\\");
	}
	if (r != 0)
		return r;
	if (!*s->at)
		return refuse(s, "missing closing ]", from, CITED_MAX);
	return copy(s, 1);
}

/* (?P<name> and (?<name>: PCRE2 takes what looks like one, or says why not. */
static int named_group(struct scanner *s)
{
	size_t n_head = s->at[2] == 'P' ? 4 : 3;
	size_t n = strspn(s->at + n_head, NAME_CHARS);

	if (n == 0 || s->at[n_head + n] != '>')
		return refuse(s, "invalid named capture", s->at, n_head + n + 1);
	return copy(s, n_head + n + 1);
}

/* (, (?P<name>, (?<name>, (?flags), (?flags: */
static int group(struct scanner *s)
{
	size_t n;

	s->has_atom = false;
	if (s->at[1] != '?')
		return copy(s, 1);
	if (s->at[2] == '<' || (s->at[2] == 'P' && s->at[3] == '<'))
		return named_group(s);
	n = 2 + strspn(s->at + 2, "imsU-");
	if (s->at[n] != ':' && s->at[n] != ')')
		return refuse(s, "invalid or unsupported Perl syntax", s->at, n + 1);
	return copy(s, n + 1);
}

/* Of {n}, {n,}, {n,m}; 0: only a brace. */
static size_t count_length(const char *s)
{
	size_t n = 1 + strspn(s + 1, DIGITS);

	if (n == 1)
		return 0;
	if (s[n] == ',')
		n += 1 + strspn(s + n + 1, DIGITS);
	return s[n] == '}' ? n + 1 : 0;
}

/* Of {n}, {n,}, {n,m}, which `count` begins with. */
static bool count_fits(const char *count)
{
	char *end;

	if (strtoul(count + 1, &end, 10) > COUNT_MAX)
		return false;
	return *end != ',' || strtoul(end + 1, NULL, 10) <= COUNT_MAX;
}

/* *, +, ?, counts; a question mark behind makes it lazy. */
static int repetition(struct scanner *s, size_t n)
{
	const char *from = s->at;

	if (*from == '{' && !count_fits(from))
		return refuse(s, "invalid repeat count", from, n);
	n += from[n] == '?';
	if (s->repeat)
		return refuse(s, "invalid nested repetition operator", s->repeat,
			      (size_t)(from - s->repeat) + n);
	if (!s->has_atom)
		return refuse(s, "missing argument to repetition operator", from, n);
	s->repeat = from;
	return copy(s, n);
}

static int step(struct scanner *s)
{
	size_t n_count = *s->at == '{' ? count_length(s->at) : 0;

	if (strchr("*+?", *s->at) || n_count > 0)
		return repetition(s, n_count > 0 ? n_count : 1);
	s->repeat = NULL;
	s->has_atom = *s->at != '|';
	switch (*s->at) {
	case '(':
		return group(s);
	case '[':
		return class(s);
	case '\\':
		return escape(s, "afnrtv0xdDsSwWpPAzbBQ");
	case '{':
		(void)write_text(s, "\\");
		break;
	}
	return copy(s, 1);
}

int relabel_syntax_translate(const char *text, struct buf *out, struct buf *why)
{
	struct scanner s = { .at = text, .out = out, .why = why };
	int r = 0;

	while (r == 0 && *s.at)
		r = step(&s);
	return r == 0 && out->failed ? -ENOMEM : r;
}
