/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shorter C++ names.
 *
 * libiberty, told to print no parameters, leaves out those of the outermost function and every
 * return type. What is left to remove:
 *
 *	main(int)::f		parameters of enclosing functions
 *	A<int>::f(int) const::g	qualifiers behind them
 *	A<int>::f<char>		template arguments
 *
 * What stays: (anonymous namespace), operator<, operator(), and the parameters of a lambda, which
 * tell lambdas with the same number apart.
 */
#include "agent/object/demangle/simplify.h"

#include "agent/object/demangle/simplify_brackets.h"
#include "agent/util/macro.h"

struct pass {
	struct buf *out;
	bool keep_templates;
	bool keep_parameters; /* inside of {lambda(…)#1} */
};

/* Cuts " const", "&&" … behind a parameter list, when the name ends or goes on with "::" behind
 * them. */
static size_t skip_qualifiers(struct str s, size_t at)
{
	static const struct str qualifiers[] = { STR_LIT(" const"),    STR_LIT(" volatile"),
						 STR_LIT(" noexcept"), STR_LIT(" restrict"),
						 STR_LIT(" &&"),       STR_LIT(" &"),
						 STR_LIT("&&"),	       STR_LIT("&") };
	size_t end = at;

	for (size_t i = 0; i < ARRAY_SIZE(qualifiers); i++) {
		if (!str_starts_with((struct str){ s.p + end, s.n - end }, qualifiers[i]))
			continue;
		end += qualifiers[i].n;
		i = (size_t)-1;
	}
	if (end == s.n || str_starts_with((struct str){ s.p + end, s.n - end }, STR_LIT("::")))
		return end;
	return at;
}

/* Template arguments. The space in "operator< <int>" goes with them. */
static size_t pass_angle(struct pass *pass, struct str s, size_t at)
{
	size_t end = bracket_end(s, at);

	if (end == 0)
		return 0;
	if (pass->keep_templates)
		return buf_append(pass->out, s.p + at, end - at) == 0 ? end : 0;
	struct buf *out = pass->out;
	if (out->len > 0 && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	return end;
}

static bool ends_a_name(const struct buf *out)
{
	char last = out->len > 0 ? out->data[out->len - 1] : '\0';

	/* Behind an operator's token too: the last of operator+, operator(). */
	return last != '\0' && last != ' ' && last != ':' && last != '(' && last != ',';
}

static size_t pass_round(struct pass *pass, struct str s, size_t at)
{
	size_t end = bracket_end(s, at);

	if (end == 0)
		return 0;
	if (!pass->keep_parameters && ends_a_name(pass->out))
		return skip_qualifiers(s, end);
	return buf_append(pass->out, s.p + at, end - at) == 0 ? end : 0;
}

static size_t pass_one(struct pass *pass, struct str s, size_t at);

/* {lambda(int)#1}, {unnamed type#2}. Inside, only template arguments go. */
static size_t pass_curly(struct pass *pass, struct str s, size_t at)
{
	size_t end = bracket_end(s, at);
	struct pass inner = { pass->out, pass->keep_templates, true };

	if (end == 0 || buf_append_char(pass->out, '{') < 0)
		return 0;
	for (size_t i = at + 1; i < end - 1;) {
		size_t next;

		/* A lambda in a lambda's parameter, and the parameters' own brackets, are looked
		 * into in the same way. */
		if (s.p[i] == '{' || s.p[i] == '(') {
			if (buf_append_char(pass->out, s.p[i]) < 0)
				return 0;
			next = i + 1;
		} else {
			next = pass_one(&inner, (struct str){ s.p, end - 1 }, i);
		}
		if (next == 0)
			return 0;
		i = next;
	}
	return buf_append_char(pass->out, '}') == 0 ? end : 0;
}

/* Appends the form of what begins at `at` and returns the place behind it, 0 on failure. */
static size_t pass_one(struct pass *pass, struct str s, size_t at)
{
	size_t token = operator_len(s, at);

	if (token > 0)
		return buf_append(pass->out, s.p + at, token) == 0 ? at + token : 0;
	switch (s.p[at]) {
	case '<':
		return pass_angle(pass, s, at);
	case '(':
		return pass_round(pass, s, at);
	case '{':
		return pass_curly(pass, s, at);
	}
	return buf_append_char(pass->out, s.p[at]) == 0 ? at + 1 : 0;
}

bool simplify_cxx(struct str text, bool keep_templates, struct buf *out)
{
	struct pass pass = { .out = out, .keep_templates = keep_templates };

	for (size_t i = 0; i < text.n;) {
		i = pass_one(&pass, text, i);
		if (i == 0)
			return false;
	}
	return true;
}
