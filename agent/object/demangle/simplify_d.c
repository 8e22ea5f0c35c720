/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shorter D names.
 *
 *	std.conv.to!(string).to(int)	parameters, and template arguments with their '!'
 *	app.main().nested(int)		parameters of enclosing functions
 */
#include "agent/object/demangle/simplify.h"

#include "agent/object/demangle/simplify_brackets.h"
#include "agent/util/macro.h"

/* Behind the '!' at `at`: a bracket, or one plain argument. */
static size_t arguments_end(struct str s, size_t at)
{
	size_t end = at + 1;

	if (end < s.n && s.p[end] == '(')
		return bracket_end(s, end);
	while (end < s.n && is_name_char(s.p[end]))
		end++;
	return end;
}

/* Behind the parameters of a method: "toString() const". */
static size_t skip_attributes(struct str s, size_t at)
{
	static const struct str attributes[] = { STR_LIT(" const"), STR_LIT(" immutable"),
						 STR_LIT(" inout"), STR_LIT(" shared") };

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (!str_starts_with((struct str){ s.p + at, s.n - at }, attributes[i]))
			continue;
		at += attributes[i].n;
		i = (size_t)-1;
	}
	return at;
}

bool simplify_d(struct str text, bool keep_templates, struct buf *out)
{
	for (size_t i = 0; i < text.n;) {
		size_t end = i + 1;

		if (text.p[i] == '!' || text.p[i] == '(') {
			bool is_template = text.p[i] == '!';

			end = is_template ? arguments_end(text, i) : bracket_end(text, i);
			if (end == 0)
				return false;
			if (!is_template || !keep_templates) {
				i = is_template ? end : skip_attributes(text, end);
				continue;
			}
		}
		if (buf_append(out, text.p + i, end - i) < 0)
			return false;
		i = end;
	}
	return true;
}
