/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: characters, borders, and what is written of them.
 *
 * What is written is valid at any moment but for open parentheses. A flag is written only when the next atom needs it, so that a
 * repetition behind flags, which repeats what is before them, can still be written.
 */
#include "agent/target/relabel_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/target/relabel_case.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

int parser_refuse(struct parser *p, const char *what, const char *from, const char *to)
{
	(void)buf_printf(p->why, "error parsing regexp: %s: `%.*s`", what, (int)(to - from), from);
	return RELABEL_WRONG;
}

int parser_next(struct parser *p, uint32_t *ret_char)
{
	size_t n = strlen(p->at);

	if (str_utf8_len((struct str){ p->at, n }) == 0)
		return parser_refuse(p, "invalid UTF-8", p->at, p->at + n);
	p->at += relabel_char_decode(p->at, n, ret_char);
	return 0;
}

int parser_check_utf8(struct parser *p, const char *from, const char *to)
{
	while (from < to) {
		size_t n = str_utf8_len((struct str){ from, (size_t)(to - from) });

		if (n == 0)
			return parser_refuse(p, "invalid UTF-8", from, to);
		from += n;
	}
	return 0;
}

void parser_write(struct parser *p, const char *text)
{
	(void)buf_append_str(p->out, text);
}

void parser_write_fold(struct parser *p)
{
	bool fold = p->flags & PARSER_FOLD;

	if (fold != p->fold_written)
		parser_write(p, fold ? "(?i)" : "(?-i)");
	p->fold_written = fold;
}

void parser_atom(struct parser *p)
{
	parser_write_fold(p);
	p->atom = p->out->len;
	p->atom_repeats = 1;
	p->has_atom = true;
	p->is_repeated = false;
}

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

static void write_char(struct parser *p, uint32_t c)
{
	if (parser_is_alnum(c))
		(void)buf_append_char(p->out, (char)c);
	else
		(void)buf_printf(p->out, "\\x{%x}", c);
}

void parser_write_range(struct parser *p, uint32_t first, uint32_t last)
{
	if (is_surrogate(first))
		first = 0xe000;
	if (is_surrogate(last))
		last = 0xd7ff;
	if (first > last)
		return;
	write_char(p, first);
	if (first < last) {
		parser_write(p, "-");
		write_char(p, last);
	}
}

void parser_literal(struct parser *p, uint32_t c)
{
	parser_atom(p);
	if (is_surrogate(c))
		parser_write(p, "(?:(?!))");
	else
		write_char(p, c);
}

/* What has no width stands in a group: PCRE2 repeats groups, but no assertions. */
static void assertion(struct parser *p, const char *text)
{
	parser_atom(p);
	(void)buf_printf(p->out, "(?:%s)", text);
}

/* \Q…\E, or up to the end. */
static int quoted(struct parser *p)
{
	const char *end;
	uint32_t c;

	p->at += 2;
	end = strstr(p->at, "\\E");
	while (*p->at && p->at != end) {
		int r = parser_next(p, &c);

		if (r != 0)
			return r;
		parser_literal(p, c);
	}
	p->at += end ? 2 : 0;
	return 0;
}

static int backslash(struct parser *p)
{
	bool taken = false;
	uint32_t c;
	int r;

	switch (p->at[1]) {
	case 'Q':
		return quoted(p);
	case 'C':
		return parser_refuse(p, "invalid escape sequence", p->at, p->at + 2);
	case 'A':
	case 'z':
	case 'b':
	case 'B':
		assertion(p, (char[]){ '\\', p->at[1], '\0' });
		p->at += 2;
		return 0;
	}
	r = parser_class_escape(p, false, &taken);
	if (r == 0 && !taken) {
		r = parser_escape(p, &c);
		if (r == 0)
			parser_literal(p, c);
	}
	return r;
}

static int character(struct parser *p)
{
	uint32_t c;
	int r = parser_next(p, &c);

	if (r == 0)
		parser_literal(p, c);
	return r;
}

static void dot(struct parser *p)
{
	parser_atom(p);
	parser_write(p, p->flags & PARSER_DOT_NL ? "." : "[^\\x{a}]");
	p->at++;
}

/* Of a line: not behind, or not before, anything but its end. */
static void line_border(struct parser *p)
{
	bool lines = p->flags & PARSER_MULTILINE;

	if (*p->at == '^')
		assertion(p, lines ? "(?<![^\\x{a}])" : "\\A");
	else
		assertion(p, lines ? "(?![^\\x{a}])" : "\\z");
	p->at++;
}

/* alternative: { atom | repetition | flags } */
static int step(struct parser *p, bool *ret_repeated)
{
	switch (*p->at) {
	case '(':
		return parser_group(p);
	case ')':
		return parser_close(p);
	case '|':
		parser_write(p, "|");
		p->has_atom = false;
		p->at++;
		return 0;
	case '[':
		return parser_class(p);
	case '\\':
		return backslash(p);
	case '*':
	case '+':
	case '?':
		*ret_repeated = true;
		return parser_repeat(p);
	case '{':
		return parser_counted_repeat(p, ret_repeated);
	case '.':
		dot(p);
		return 0;
	case '^':
	case '$':
		line_border(p);
		return 0;
	}
	return character(p);
}

static int parse(struct parser *p)
{
	int r = 0;

	while (r == 0 && *p->at) {
		const char *from = p->at;
		bool repeated = false;

		r = step(p, &repeated);
		parser_note_repeats(p);
		p->repeat = repeated ? from : NULL;
	}
	if (r == 0 && p->depth > 0)
		r = parser_refuse(p, "missing closing )", p->whole, parser_end(p->whole));
	return r;
}

int relabel_syntax_translate(const char *text, struct buf *out, struct buf *why,
			     struct relabel_groups *ret_groups)
{
	struct parser p = { .whole = text, .at = text, .out = out, .why = why };
	int r;

	p.groups = ret_groups;
	*ret_groups = (struct relabel_groups){ .names = calloc(1, sizeof(char *)) };
	if (!ret_groups->names)
		return -ENOMEM;
	if (strlen(text) > RELABEL_TEXT_MAX)
		return parser_refuse(&p, "expression too large", text, text + 64);
	r = parse(&p);
	if (r == 0 && out->failed)
		r = -ENOMEM;
	return r;
}
