/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid → name by the host's user database, remembered (also that there is none).
 *
 * The first question for a uid may wait for the name service (files; a network where the host is
 * set up so). Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_USERNAME_H
#define XAGENT_AGENT_DISCOVERY_USERNAME_H

#include <stddef.h>
#include <stdint.h>

/* Users that run something on one host; with more of them the memory starts anew. */
#define USERNAMES_MAX 256
/* LOGIN_NAME_MAX of Linux. */
#define USERNAME_MAX 256

struct username {
	uint32_t uid;
	char *name; /* "" when the uid has none */
};

struct username_cache {
	struct username items[USERNAMES_MAX];
	size_t n;
};

void username_cache_init(struct username_cache *c);
void username_cache_fini(struct username_cache *c);

/* "" when there is none, or no memory to remember it; borrowed until the next call. */
const char *username_get(struct username_cache *c, uint32_t uid);

#endif
