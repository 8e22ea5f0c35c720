/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a control group's path, each by its shape. */
#include "agent/process/cgroup_shape.h"

#include "agent/util/macro.h"

#define SHAPE_HEX_ID 64
/* ECS: container runtime id = task id without dashes, '-', a decimal number. */
#define SHAPE_ECS_HEX 32
#define SHAPE_ECS_DIGITS 20
#define SHAPE_UUID 36
/* BuildKit: 17 random bytes in base 36 (identity.NewID). */
#define SHAPE_BUILD_ID 25
/* Static pods have the md5 of their manifest as their uid. */
#define SHAPE_POD_HASH 32

static bool is_lower_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_base36(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool is_alnum(char c)
{
	return is_base36(c) || (c >= 'A' && c <= 'Z');
}

static size_t count_while(struct str s, bool (*is)(char))
{
	size_t n = 0;

	while (n < s.n && is(s.p[n]))
		n++;
	return n;
}

static bool all_lower_hex(struct str s)
{
	return count_while(s, is_lower_hex) == s.n;
}

bool shape_is_digits(struct str s)
{
	return s.n > 0 && count_while(s, is_digit) == s.n;
}

bool shape_cut_prefix(struct str *s, struct str prefix)
{
	if (s->n <= prefix.n || !str_starts_with(*s, prefix))
		return false;
	*s = shape_from(*s, prefix.n);
	return true;
}

bool shape_cut_suffix(struct str *s, struct str suffix)
{
	if (s->n <= suffix.n || !str_ends_with(*s, suffix))
		return false;
	s->n -= suffix.n;
	return true;
}

bool shape_find_hex_id(struct str component, struct str *ret_prefix, struct str *ret_id)
{
	bool found = false;

	for (size_t at = 0; at < component.n;) {
		struct str run = { component.p + at,
				   count_while(shape_from(component, at), is_alnum) };

		if (run.n == SHAPE_HEX_ID && all_lower_hex(run)) {
			*ret_prefix = (struct str){ component.p, at };
			*ret_id = run;
			found = true;
		}
		at += run.n + 1;
	}
	return found;
}

bool shape_is_ecs_id(struct str c)
{
	if (c.n < SHAPE_ECS_HEX + 2 || c.n > SHAPE_ECS_HEX + 1 + SHAPE_ECS_DIGITS)
		return false;
	return all_lower_hex((struct str){ c.p, SHAPE_ECS_HEX }) && c.p[SHAPE_ECS_HEX] == '-' &&
	       shape_is_digits(shape_from(c, SHAPE_ECS_HEX + 1));
}

bool shape_is_build_id(struct str c)
{
	return c.n == SHAPE_BUILD_ID && count_while(c, is_base36) == c.n;
}

bool shape_is_uuid(struct str s, char separator)
{
	if (s.n != SHAPE_UUID)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool between = i == 8 || i == 13 || i == 18 || i == 23;

		if (between ? s.p[i] != separator : !is_lower_hex(s.p[i]))
			return false;
	}
	return true;
}

static bool is_pod_uid(struct str s)
{
	if (s.n == SHAPE_POD_HASH)
		return all_lower_hex(s);
	return shape_is_uuid(s, '-') || shape_is_uuid(s, '_');
}

bool shape_find_pod_uid(struct str component, struct str *ret_uid)
{
	for (size_t at = 0; at + 3 + SHAPE_POD_HASH <= component.n; at++) {
		struct str rest = shape_from(component, at);

		if (!str_starts_with(rest, STR_LIT("pod")) ||
		    (at > 0 && component.p[at - 1] != '-'))
			continue;
		struct str uid = shape_from(rest, 3);
		const char *dot = memchr(uid.p, '.', uid.n);
		if (dot)
			uid.n = (size_t)(dot - uid.p);
		if (!is_pod_uid(uid))
			continue;
		*ret_uid = uid;
		return true;
	}
	return false;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : is_lower_hex(c) ? c - 'a' + 10 : -1;
}

void shape_copy_unescaped(char *dst, size_t dst_bytes, struct str name)
{
	char plain[CGROUP_NAME_MAX];
	size_t n = 0;

	if (name.n > 0 && name.p[0] == '_')
		name = shape_from(name, 1);
	for (size_t i = 0; i < name.n && n < sizeof(plain); n++) {
		bool escape = i + 3 < name.n && name.p[i] == '\\' && name.p[i + 1] == 'x' &&
			      hex_value(name.p[i + 2]) >= 0 && hex_value(name.p[i + 3]) >= 0;

		plain[n] = escape ? (char)(hex_value(name.p[i + 2]) << 4 | hex_value(name.p[i + 3]))
				  : name.p[i];
		i += escape ? 4 : 1;
	}
	str_copy_utf8(dst, dst_bytes, (struct str){ plain, n });
}

bool shape_is_unit(struct str c)
{
	static const struct str suffixes[] = { { ".service", 8 },
					       { ".scope", 6 },
					       { ".socket", 7 },
					       { ".mount", 6 },
					       { ".swap", 5 } };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (shape_cut_suffix(&c, suffixes[i]))
			return true;
	return false;
}

bool shape_is_slice(struct str c)
{
	return shape_cut_suffix(&c, STR_LIT(".slice"));
}
