/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the server what. */
#include "agent/http/access.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/util/cleanup.h"
#include "agent/util/str.h"

static int digest(struct str text, unsigned char *out)
{
	return gnutls_hash_fast(GNUTLS_DIG_SHA256, text.p, text.n, out) < 0 ? -EIO : 0;
}

static int copy_paths(struct access *a, const struct http_access *o)
{
	a->paths = calloc(o->n_paths + 1, sizeof(*a->paths));
	if (!a->paths)
		return -ENOMEM;
	for (; a->n_paths < o->n_paths; a->n_paths++) {
		a->paths[a->n_paths] = strdup(o->paths[a->n_paths]);
		if (!a->paths[a->n_paths])
			return -ENOMEM;
	}
	return 0;
}

int access_init(struct access *a, const struct http_access *o)
{
	const char *secret = o->authorization ? o->authorization : o->password;

	*a = (struct access){ .wanted = o->username || o->authorization,
			      .is_whole = o->authorization != NULL,
			      .except_paths = o->except_paths };
	if (!a->wanted)
		return 0;
	int r = copy_paths(a, o);
	if (r == 0)
		r = digest(str_from(o->username ? o->username : ""), a->username);
	if (r == 0)
		r = digest(str_from(secret ? secret : ""), a->password);
	if (r < 0)
		access_fini(a);
	return r;
}

void access_fini(struct access *a)
{
	for (size_t i = 0; i < a->n_paths; i++)
		free(a->paths[i]);
	free(a->paths);
	*a = (struct access){ 0 };
}

/* Without paths every path is meant. */
static bool path_is_guarded(const struct access *a, const char *path)
{
	if (a->n_paths == 0)
		return true;
	for (size_t i = 0; i < a->n_paths; i++)
		if (strncmp(path, a->paths[i], strlen(a->paths[i])) == 0)
			return !a->except_paths;
	return a->except_paths;
}

bool access_guards(const struct access *a, const char *path)
{
	return a->wanted && path_is_guarded(a, path);
}

/* "user:password", the name ends at the first colon. Both halves are compared, whatever the first comparison says. */
static bool halves_are_right(const struct access *a, struct str plain)
{
	unsigned char username[ACCESS_DIGEST_BYTES], password[ACCESS_DIGEST_BYTES];
	const char *colon = plain.n ? memchr(plain.p, ':', plain.n) : NULL;

	if (!colon)
		return false;
	struct str user = { plain.p, (size_t)(colon - plain.p) };
	struct str rest = { colon + 1, plain.n - user.n - 1 };
	if (digest(user, username) < 0 || digest(rest, password) < 0)
		return false;
	int wrong = gnutls_memcmp(username, a->username, sizeof(username));
	wrong |= gnutls_memcmp(password, a->password, sizeof(password));
	return wrong == 0;
}

/* RFC 7617: token68 */
static bool credentials_are_right(const struct access *a, const char *credentials)
{
	gnutls_datum_t coded = { (unsigned char *)credentials, (unsigned int)strlen(credentials) };
	gnutls_datum_t plain = { NULL, 0 };

	if (gnutls_base64_decode2(&coded, &plain) < 0)
		return false;
	bool right = halves_are_right(a, (struct str){ (const char *)plain.data, plain.size });
	gnutls_free(plain.data);
	return right;
}

static bool header_is_right(const struct access *a, const char *authorization)
{
	unsigned char whole[ACCESS_DIGEST_BYTES];

	return digest(str_from(authorization), whole) == 0 &&
	       gnutls_memcmp(whole, a->password, sizeof(whole)) == 0;
}

bool access_allows(const struct access *a, const char *path, const char *authorization)
{
	static const char scheme[] = "Basic ";

	if (!access_guards(a, path))
		return true;
	if (!authorization || strlen(authorization) > ACCESS_MAX_HEADER_BYTES)
		return false;
	if (a->is_whole)
		return header_is_right(a, authorization);
	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	return credentials_are_right(a, authorization + sizeof(scheme) - 1);
}
