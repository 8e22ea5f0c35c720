/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one's way among the brackets of demangled names. */
#include "agent/object/demangle/simplify_brackets.h"

#include <ctype.h>

#include "agent/object/demangle/simplify.h"
#include "agent/util/macro.h"

bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

size_t operator_len(struct str s, size_t at)
{
	/* Longer ones first where one begins like another. */
	static const struct str symbols[] = {
		STR_LIT("<=>"), STR_LIT("<<="), STR_LIT(">>="), STR_LIT("->*"), STR_LIT("<<"),
		STR_LIT(">>"),	STR_LIT("<="),	STR_LIT(">="),	STR_LIT("->"),	STR_LIT("()"),
		STR_LIT("[]"),	STR_LIT("<"),	STR_LIT(">"),
	};
	static const struct str keyword = STR_LIT("operator");
	struct str rest = { s.p + at, s.n - at };

	if (!str_starts_with(rest, keyword) || (at > 0 && is_name_char(s.p[at - 1])))
		return 0;
	rest.p += keyword.n;
	rest.n -= keyword.n;
	if (rest.n > 0 && is_name_char(rest.p[0]))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		if (str_starts_with(rest, symbols[i]))
			return keyword.n + symbols[i].n;
	return keyword.n;
}

static char closing(char open)
{
	switch (open) {
	case '<':
		return '>';
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	}
	return '\0';
}

size_t bracket_end(struct str s, size_t at)
{
	char expected[SIMPLIFY_MAX_DEPTH];
	size_t depth = 0;

	for (size_t i = at; i < s.n;) {
		size_t skip = operator_len(s, i);
		char c = s.p[i];
		bool angles =
			depth == 0 || expected[depth - 1] == '>' || expected[depth - 1] == '}';

		if (skip > 0) {
			i += skip;
			continue;
		}
		i++;
		if (closing(c) && (c != '<' || angles)) {
			if (depth == SIMPLIFY_MAX_DEPTH)
				return 0;
			expected[depth++] = closing(c);
		} else if (c == '>' && (!angles || (i >= 2 && s.p[i - 2] == '-'))) {
			continue; /* a comparison, or -> */
		} else if (c == '>' || c == ')' || c == ']' || c == '}') {
			if (depth == 0 || expected[depth - 1] != c)
				return 0;
			if (--depth == 0)
				return i;
		}
	}
	return 0;
}
