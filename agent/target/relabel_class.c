/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes: [a-z], [[:alpha:]], \d, \pL.
 *
 * Named ASCII classes are written as ranges, negated ones within a class as the ranges between: so neither PCRE2's own idea of them
 * nor its tables matter.
 */
#include "agent/target/relabel_parser.h"

#include <string.h>

#include "agent/target/relabel_case.h"
#include "agent/util/macro.h"

/* The only characters above ASCII that are the other case of one in it: long s, the Kelvin sign. */
#define LONG_S 0x17f
#define KELVIN 0x212a

struct ascii_class {
	const char *name;
	const char *ranges; /* pairs of first and last */
};

static const struct ascii_class posix_classes[] = {
	{ "alnum", "09AZaz" }, { "alpha", "AZaz" }, { "blank", "\t\t  " },  { "digit", "09" },
	{ "graph", "!~" },     { "lower", "az" },   { "print", " ~" },	    { "punct", "!/:@[`{~" },
	{ "space", "\t\r  " }, { "upper", "AZ" },   { "word", "09AZaz__" }, { "xdigit", "09AFaf" },
};

static const struct ascii_class perl_classes[] = {
	{ "d", "09" },
	{ "s", "\t\n\f\r  " },
	{ "w", "09AZaz__" },
};

/* What a NUL in a table of strings cannot say. */
struct ascii_set {
	bool has[128];
};

static void set_add(struct ascii_set *set, int first, int last)
{
	for (int c = first; c <= last; c++)
		set->has[c] = true;
}

static void set_add_pairs(struct ascii_set *set, const char *ranges)
{
	for (; *ranges; ranges += 2)
		set_add(set, ranges[0], ranges[1]);
}

static void set_fold(struct ascii_set *set)
{
	for (int c = 'a'; c <= 'z'; c++) {
		bool either = set->has[c] || set->has[c - 'a' + 'A'];

		set->has[c] = set->has[c - 'a' + 'A'] = either;
	}
}

static void write_set(struct parser *p, const struct ascii_set *set)
{
	for (uint32_t c = 0; c < 128; c++) {
		uint32_t first = c;

		if (!set->has[c])
			continue;
		while (c + 1 < 128 && set->has[c + 1])
			c++;
		parser_write_range(p, first, c);
	}
}

/* Everything else, the other cases of what is in the set excepted. */
static void write_others(struct parser *p, struct ascii_set *set)
{
	bool fold = p->flags & PARSER_FOLD;
	bool s, k;
	struct ascii_set others;

	if (fold)
		set_fold(set);
	s = fold && set->has['s'];
	k = fold && set->has['k'];
	for (int c = 0; c < 128; c++)
		others.has[c] = !set->has[c];
	write_set(p, &others);
	parser_write_range(p, 128, LONG_S - s);
	parser_write_range(p, LONG_S + 1, KELVIN - k);
	parser_write_range(p, KELVIN + 1, RELABEL_CHAR_MAX);
}

static void write_ascii(struct parser *p, struct ascii_set *set, bool negated, bool in_class)
{
	if (!in_class)
		parser_write(p, negated ? "[^" : "[");
	if (negated && in_class)
		write_others(p, set);
	else
		write_set(p, set);
	if (!in_class)
		parser_write(p, "]");
}

static const struct ascii_class *find_class(const struct ascii_class *classes, size_t n_classes,
					    const char *name, size_t n)
{
	for (size_t i = 0; i < n_classes; i++)
		if (strlen(classes[i].name) == n && memcmp(classes[i].name, name, n) == 0)
			return &classes[i];
	return NULL;
}

/* ASCII and the control characters, whose NUL no pair can hold. */
static bool fill_set(struct ascii_set *set, const char *name, size_t n)
{
	const struct ascii_class *class =
		find_class(posix_classes, ARRAY_SIZE(posix_classes), name, n);

	*set = (struct ascii_set){ 0 };
	if (class)
		set_add_pairs(set, class->ranges);
	else if (n == 5 && memcmp(name, "ascii", n) == 0)
		set_add(set, 0, 127);
	else if (n == 5 && memcmp(name, "cntrl", n) == 0) {
		set_add(set, 0, 31);
		set_add(set, 127, 127);
	} else
		return false;
	return true;
}

/* [:name:], [:^name:]; with no end it is a bracket like any other character. */
static int posix_class(struct parser *p, bool *ret_taken)
{
	const char *from = p->at, *name = from + 2, *end;
	struct ascii_set set;
	bool negated;

	*ret_taken = false;
	if (from[0] != '[' || from[1] != ':')
		return 0;
	end = strstr(name, ":]");
	if (!end)
		return 0;
	negated = *name == '^';
	name += negated;
	if (name > end || !fill_set(&set, name, (size_t)(end - name)))
		return parser_refuse(p, "invalid character class range", from, end + 2);
	write_ascii(p, &set, negated, true);
	p->at = end + 2;
	*ret_taken = true;
	return 0;
}

static void write_property(struct parser *p, const char *name, bool negated, bool in_class)
{
	struct ascii_set ascii = { 0 };

	if (strcmp(name, "ASCII") != 0) {
		(void)buf_printf(p->out, "\\%c{%s}", negated ? 'P' : 'p', name);
		return;
	}
	set_add(&ascii, 0, 127);
	write_ascii(p, &ascii, negated, in_class);
}

/* From behind the brace on; `from` is where it all begins. */
static int name_in_braces(struct parser *p, const char *from, const char **ret_name, size_t *ret_n)
{
	const char *end = strchr(p->at, '}'), *until = end ? end : from + strlen(from);
	int r = parser_check_utf8(p, end ? p->at : from, until);

	if (r != 0)
		return r;
	if (!end)
		return parser_refuse(p, "invalid character class range", from, until);
	*ret_name = p->at;
	*ret_n = (size_t)(end - p->at);
	p->at = end + 1;
	return 0;
}

/* \pL, \p{Greek}, \p{^Greek}; \P is the opposite. */
static int property(struct parser *p, bool in_class)
{
	const char *from = p->at, *name = from + 2;
	bool negated = from[1] == 'P';
	char known[64]; /* the longest name is of 26 characters */
	size_t n;
	uint32_t c = 0;
	int r;

	p->at += 2;
	r = parser_next(p, &c);
	if (r != 0)
		return r;
	n = (size_t)(p->at - name);
	if (c == '{') {
		r = name_in_braces(p, from, &name, &n);
		if (r != 0)
			return r;
	}
	if (n > 0 && *name == '^') {
		negated = !negated;
		name++;
		n--;
	}
	if (!parser_property(name, n, known, sizeof(known)))
		return parser_refuse(p, "invalid character class range", from, p->at);
	if (strcmp(known, "Assigned") == 0) {
		negated = !negated;
		(void)snprintf(known, sizeof(known), "Cn");
	}
	/* In any case they are one. */
	if ((p->flags & PARSER_FOLD) && known[0] == 'L' && strchr("ult", known[1]) && known[1])
		(void)snprintf(known, sizeof(known), "L&");
	if (!in_class)
		parser_atom(p);
	write_property(p, known, negated, in_class);
	return 0;
}

int parser_class_escape(struct parser *p, bool in_class, bool *ret_taken)
{
	const struct ascii_class *class;
	struct ascii_set set = { 0 };
	char name;

	*ret_taken = p->at[0] == '\\' && (p->at[1] == 'p' || p->at[1] == 'P') && p->at[2];
	if (*ret_taken)
		return property(p, in_class);
	name = p->at[0] == '\\' ? p->at[1] : '\0';
	class = find_class(perl_classes, ARRAY_SIZE(perl_classes), (char[]){ name | 0x20 }, 1);
	*ret_taken = name && class;
	if (!*ret_taken)
		return 0;
	if (!in_class)
		parser_atom(p);
	set_add_pairs(&set, class->ranges);
	write_ascii(p, &set, !(name & 0x20), in_class);
	p->at += 2;
	return 0;
}

static int class_char(struct parser *p, const char *whole, uint32_t *ret_char)
{
	if (!*p->at)
		return parser_refuse(p, "missing closing ]", whole, p->at);
	return *p->at == '\\' ? parser_escape(p, ret_char) : parser_next(p, ret_char);
}

static int class_range(struct parser *p, const char *whole)
{
	const char *from = p->at;
	uint32_t first, last;
	int r = class_char(p, whole, &first);

	if (r != 0)
		return r;
	last = first;
	if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
		p->at++;
		r = class_char(p, whole, &last);
	}
	if (r == 0 && last < first)
		r = parser_refuse(p, "invalid character class range", from, p->at);
	if (r == 0)
		parser_write_range(p, first, last);
	return r;
}

static int class_item(struct parser *p, const char *whole)
{
	bool taken;
	int r = posix_class(p, &taken);

	if (r == 0 && !taken)
		r = parser_class_escape(p, true, &taken);
	return r == 0 && !taken ? class_range(p, whole) : r;
}

int parser_class(struct parser *p)
{
	const char *whole = p->at;
	size_t start;
	int r = 0;

	parser_atom(p);
	p->at++;
	parser_write(p, "[");
	if (*p->at == '^') {
		parser_write(p, "^");
		p->at++;
	}
	start = p->out->len;
	do {
		r = class_item(p, whole);
	} while (r == 0 && *p->at != ']');
	if (r != 0)
		return r;
	/* Of characters that no text has: an empty class is none for PCRE2. */
	if (p->out->len == start)
		parser_write(p, "\\P{Any}");
	parser_write(p, "]");
	p->at++;
	return 0;
}
