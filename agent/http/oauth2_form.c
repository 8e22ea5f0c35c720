/* SPDX-License-Identifier: Apache-2.0 */
/* The question for a token, and its answer. */
#include "agent/http/oauth2_form.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

/* A hundred years; what is longer, or no number, never ends. */
#define EXPIRES_MAX_S (100ULL * 365 * 24 * 3600)

/* WHATWG URL §5.2 but for "*", which Go escapes and "~", which it does not. */
static bool is_unreserved(char c)
{
	return isalnum((unsigned char)c) || strchr("-_.~", c);
}

int oauth2_form_escape(const char *text, struct buf *out)
{
	for (const char *c = text; *c; c++) {
		if (*c == ' ')
			(void)buf_append_char(out, '+');
		else if (is_unreserved(*c))
			(void)buf_append_char(out, *c);
		else
			(void)buf_printf(out, "%%%02X", (unsigned char)*c);
	}
	return out->failed ? -ENOBUFS : 0;
}

static void put_pair(struct buf *out, const char *name, const char *value)
{
	if (out->len > 0)
		(void)buf_append_char(out, '&');
	(void)oauth2_form_escape(name, out);
	(void)buf_append_char(out, '=');
	(void)oauth2_form_escape(value, out);
}

static int compare_pairs(const void *a, const void *b)
{
	return strcmp(((const struct http_header *)a)->name, ((const struct http_header *)b)->name);
}

static void join_scopes(const struct http_oauth2_options *o, struct buf *out)
{
	for (size_t i = 0; i < o->n_scopes; i++)
		(void)buf_printf(out, "%s%s", i ? " " : "", o->scopes[i]);
}

/* What is ours goes before what the user adds under the same name. */
static bool is_ours(const char *name, bool with_client)
{
	return strcmp(name, "grant_type") == 0 || strcmp(name, "scope") == 0 ||
	       (with_client &&
		(strcmp(name, "client_id") == 0 || strcmp(name, "client_secret") == 0));
}

int oauth2_form_write(const struct http_oauth2_options *o, const char *secret, struct buf *out)
{
	_cleanup_free_ struct http_header *pairs = calloc(o->n_params + 4, sizeof(*pairs));
	_cleanup_buf_ struct buf scopes = BUF_INIT(OAUTH2_MAX_TOKEN_BYTES);
	size_t n = 0;

	if (!pairs)
		return -ENOMEM;
	join_scopes(o, &scopes);
	pairs[n++] = (struct http_header){ "grant_type", "client_credentials" };
	if (o->n_scopes > 0)
		pairs[n++] = (struct http_header){ "scope", buf_str(&scopes) };
	if (secret) {
		pairs[n++] = (struct http_header){ "client_id", o->client_id ? o->client_id : "" };
		pairs[n++] = (struct http_header){ "client_secret", secret };
	}
	for (size_t i = 0; i < o->n_params; i++)
		if (!is_ours(o->params[i].name, secret))
			pairs[n++] = o->params[i];
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < n; i++)
		put_pair(out, pairs[i].name, pairs[i].value);
	return out->failed || scopes.failed ? -ENOBUFS : 0;
}

/* RFC 6749 §5.1 has a number; some servers write a text. */
static uint64_t expires_of(const json_t *answer)
{
	const json_t *value = json_object_get(answer, "expires_in");
	uint64_t s = 0;

	if (json_is_string(value))
		(void)str_parse_u64(str_from(json_string_value(value)), 10, EXPIRES_MAX_S, &s);
	else if (json_is_number(value) && json_number_value(value) >= 1 &&
		 json_number_value(value) <= (double)EXPIRES_MAX_S)
		s = (uint64_t)json_number_value(value);
	return s;
}

/* As Go's client spells the types that are known in every case. */
static const char *type_of(const json_t *answer)
{
	static const char *const known[] = { "Bearer", "MAC", "Basic" };
	const char *type = json_string_value(json_object_get(answer, "token_type"));

	for (size_t i = 0; type && i < ARRAY_SIZE(known); i++)
		if (strcasecmp(type, known[i]) == 0)
			return known[i];
	return type && *type ? type : known[0];
}

bool oauth2_answer_read(const char *bytes, size_t n, struct buf *authorization,
			uint64_t *ret_expires_s)
{
	json_t *answer = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
	const char *token = json_string_value(json_object_get(answer, "access_token"));
	bool good =
		token && *token && buf_printf(authorization, "%s %s", type_of(answer), token) == 0;

	if (good)
		*ret_expires_s = expires_of(answer);
	json_decref(answer);
	return good;
}
