/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the server what: one user name and password, and the paths that need them. */
#ifndef XAGENT_AGENT_HTTP_ACCESS_H
#define XAGENT_AGENT_HTTP_ACCESS_H

#include <stdbool.h>

#include "agent/http/server.h"

/* Digests and not texts: a comparison that takes as long for every text tells nothing about the right one, its length included. */
#define ACCESS_DIGEST_BYTES 32
/* An Authorization header that is longer is refused unread. */
#define ACCESS_MAX_HEADER_BYTES 8192

struct access {
	bool wanted; /* else everybody may ask everything */
	bool is_whole; /* the header is compared, of which `password` is then the digest */
	unsigned char username[ACCESS_DIGEST_BYTES];
	unsigned char password[ACCESS_DIGEST_BYTES];
	char **paths; /* owned, as the texts */
	size_t n_paths;
	bool except_paths;
};

/* Texts are copied. 0, -ENOMEM, or -EIO when there is no digest to be had. */
int access_init(struct access *a, const struct http_access *options);
void access_fini(struct access *a);

/* Whether that path wants a password. */
bool access_guards(const struct access *a, const char *path);

/* `path` is decoded; `authorization` is the header's value, NULL when there is none. */
bool access_allows(const struct access *a, const char *path, const char *authorization);

#endif
