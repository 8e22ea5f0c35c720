/* SPDX-License-Identifier: Apache-2.0 */
/* uid → name, remembered. */
#include "agent/discovery/username.h"

#include <assert.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/str.h"

/* An entry with its directory, shell and comment; glibc asks for 1 KiB (_SC_GETPW_R_SIZE_MAX). */
#define PASSWD_MAX_BYTES 16384

void username_cache_init(struct username_cache *c)
{
	c->n = 0;
}

void username_cache_fini(struct username_cache *c)
{
	while (c->n > 0)
		free(c->items[--c->n].name);
}

static void look_up(uint32_t uid, char name[USERNAME_MAX])
{
	char strings[PASSWD_MAX_BYTES];
	struct passwd entry, *found = NULL;

	name[0] = '\0';
	if (getpwuid_r(uid, &entry, strings, sizeof(strings), &found) == 0 && found)
		str_copy_utf8(name, USERNAME_MAX, str_from(found->pw_name));
}

const char *username_get(struct username_cache *c, uint32_t uid)
{
	char name[USERNAME_MAX];

	for (size_t i = 0; i < c->n; i++)
		if (c->items[i].uid == uid)
			return c->items[i].name;
	if (c->n == USERNAMES_MAX)
		username_cache_fini(c);
	look_up(uid, name);
	char *copy = strdup(name);
	if (!copy)
		return "";
	assert(c->n < USERNAMES_MAX);
	c->items[c->n++] = (struct username){ uid, copy };
	return copy;
}
