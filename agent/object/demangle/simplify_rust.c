/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shorter Rust names: the path stays, generic arguments go.
 *
 *	<a::Vec<u8> as b::Drop>::drop	a path that begins with a type: kept, and looked into
 *	a::<impl b::Debug for i32>::fmt	likewise (legacy mangling has them in the middle)
 *	a::f::<u32>, a<u32>::f		arguments: removed
 */
#include "agent/object/demangle/simplify.h"

#include "agent/object/demangle/simplify_brackets.h"

/* Whether the piece has " as " outside of inner brackets. */
static bool has_as(struct str s)
{
	for (size_t i = 0; i < s.n;) {
		if (s.p[i] == '<' || s.p[i] == '(' || s.p[i] == '[' || s.p[i] == '{') {
			size_t end = bracket_end(s, i);

			i = end ? end : i + 1;
			continue;
		}
		if (str_starts_with((struct str){ s.p + i, s.n - i }, STR_LIT(" as ")))
			return true;
		i++;
	}
	return false;
}

/* Whether the angle bracket at `at`, which ends at `end`, is part of the path itself. */
static bool is_path(struct str s, size_t at, size_t end)
{
	struct str inner = { s.p + at + 1, end - at - 2 };
	char before = at > 0 ? s.p[at - 1] : '\0';

	if (before == ':')
		return str_starts_with(inner, STR_LIT("impl ")) || has_as(inner);
	return !is_name_char(before) && before != '>' && before != '}' && before != ']' &&
	       before != ')';
}

bool simplify_rust(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n;) {
		if (text.p[i] == '<') {
			size_t end = bracket_end(text, i);

			if (end == 0)
				return false;
			if (!is_path(text, i, end)) {
				/* The colons of foo::<u32> go too. */
				if (out->len > 2 && out->data[out->len - 1] == ':' &&
				    out->data[out->len - 2] == ':') {
					out->len -= 2;
					out->data[out->len] = '\0';
				}
				i = end;
				continue;
			}
		}
		if (buf_append_char(out, text.p[i]) < 0)
			return false;
		i++;
	}
	return true;
}
