/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords in the URLs of a command line. */
#include "agent/cli/argv_secrets.h"

#include <stdbool.h>
#include <string.h>

#define HIDDEN '*'

/* The user information of the next URL from `at` on (RFC 3986 §3.2.1: before the last '@' of the authority), or NULL. */
static char *next_userinfo(char *at, size_t *ret_n)
{
	char *scheme;

	while ((scheme = strstr(at, "://"))) {
		char *authority = scheme + strlen("://");
		char *end = memrchr(authority, '@', strcspn(authority, "/?# \t\r\n"));

		if (end && end > authority) {
			*ret_n = (size_t)(end - authority);
			return authority;
		}
		at = authority;
	}
	return NULL;
}

static void overwrite(char *argument)
{
	size_t n = 0;

	for (char *at = argument; (at = next_userinfo(at, &n)); at += n)
		memset(at, HIDDEN, n);
}

static bool hide(char **argument)
{
	char *original = *argument;
	size_t n = 0;
	char *copy = next_userinfo(original, &n) ? strdup(original) : NULL;

	if (!copy)
		return false;
	overwrite(original);
	*argument = copy;
	return true;
}

size_t argv_secrets_hide(int argc, char **argv)
{
	size_t n_hidden = 0;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		n_hidden += hide(&argv[i]);
	return n_hidden;
}
