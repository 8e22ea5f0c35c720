/* SPDX-License-Identifier: Apache-2.0 */
/* Which systemd units are services, and what they are called. */
#include "agent/target/unit_name.h"

#include <stdbool.h>

#include "agent/util/macro.h"

/* A random 128-bit id, perhaps with the dashes of a UUID; no words of a language are that long. */
#define ID_DIGITS 32

static const struct str service_suffix = { ".service", 8 };
static const struct str scope_suffix = { ".scope", 6 };

static bool cut_suffix(struct str *s, struct str suffix)
{
	if (!str_ends_with(*s, suffix))
		return false;
	s->n -= suffix.n;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool holds_id(struct str s)
{
	size_t run = 0;

	for (size_t i = 0; i < s.n && run < ID_DIGITS; i++) {
		char c = s.p[i];

		if (c != '-')
			run = is_digit(c) || (c >= 'a' && c <= 'f') ? run + 1 : 0;
	}
	return run == ID_DIGITS;
}

static bool holds_char(struct str s, char c)
{
	return s.n > 0 && memchr(s.p, c, s.n);
}

/* Units that one process, or one login, was put into from outside. */
static bool scope_is_transient(struct str name)
{
	return str_starts_with(name, STR_LIT("session-")) ||
	       str_starts_with(name, STR_LIT("vte-spawn-")) ||
	       str_starts_with(name, STR_LIT("app-")) || str_eq(name, STR_LIT("init"));
}

static bool service_is_transient(struct str name)
{
	return str_starts_with(name, STR_LIT("user@")) ||
	       str_starts_with(name, STR_LIT("dbus-:")) ||
	       (str_starts_with(name, STR_LIT("app-")) && holds_char(name, '@'));
}

/* systemd-run: run-u12, run-p12-i34, run-r<id>, run-<pid>; not run-parts. */
static bool is_run(struct str name)
{
	struct str run = STR_LIT("run-");

	if (!str_starts_with(name, run) || name.n == run.n)
		return false;
	char kind = name.p[run.n];
	if (is_digit(kind))
		return true;
	return (kind == 'u' || kind == 'p' || kind == 'r') && name.n > run.n + 1 &&
	       (is_digit(name.p[run.n + 1]) || holds_id(name));
}

/* number-…-…, where the dots are addresses with ports, or the numbers of a process and a user. */
static bool instance_is_connection(struct str instance)
{
	size_t n_dashes = 0, n_other = 0;

	if (instance.n == 0 || !is_digit(instance.p[0]))
		return false;
	for (size_t i = 0; i < instance.n; i++) {
		n_dashes += instance.p[i] == '-';
		n_other += instance.p[i] != '-' && !is_digit(instance.p[i]);
	}
	return n_dashes >= 2 && (n_other == 0 || holds_char(instance, ':'));
}

struct str unit_service_name(const char *unit)
{
	static const struct str none = { "", 0 };
	struct str name = str_from(unit), instance, prefix;

	if (cut_suffix(&name, scope_suffix)) {
		if (scope_is_transient(name))
			return none;
	} else if (cut_suffix(&name, service_suffix)) {
		if (service_is_transient(name))
			return none;
	}
	if (is_run(name) || holds_id(name))
		return none;
	instance = name;
	if (str_split(&instance, '@', &prefix) && prefix.n > 0 && instance_is_connection(instance))
		return prefix;
	return name;
}
