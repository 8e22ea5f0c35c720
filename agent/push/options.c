/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be set for one endpoint: checked and copied. */
#include "agent/push/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/http/url.h"
#include "agent/util/macro.h"

static const char *check_backoff(const struct backoff_options *o)
{
	if (o->min_ns == 0)
		return "min_backoff_period must be greater than 0s";
	if (o->max_ns < o->min_ns)
		return "max_backoff_period must not be less than min_backoff_period";
	return NULL;
}

static const char *check_auth(const struct push_endpoint_options *o)
{
	bool basic =
		o->basic_auth_username || o->basic_auth_password || o->basic_auth_password_file;
	bool authorization = o->authorization_credentials || o->authorization_credentials_file;
	int n = basic + authorization + (o->oauth2 != NULL) + (o->bearer_token != NULL) +
		(o->bearer_token_file != NULL);

	if (n > 1)
		return "at most one of basic_auth, authorization, oauth2, bearer_token & "
		       "bearer_token_file must be configured";
	if (o->basic_auth_password && o->basic_auth_password_file)
		return "at most one of basic_auth password & password_file must be configured";
	if (o->authorization_credentials && o->authorization_credentials_file)
		return "at most one of authorization credentials & credentials_file must be "
		       "configured";
	if (o->authorization_type && strcasecmp(o->authorization_type, "basic") == 0)
		return "authorization type cannot be set to \"basic\", use \"basic_auth\" instead";
	return NULL;
}

static const char *check_tls(const struct http_tls_options *o)
{
	bool cert = o->cert_pem || o->cert_file;
	bool key = o->key_pem || o->key_file;

	if (o->ca_pem && o->ca_file)
		return "at most one of ca_pem and ca_file must be configured";
	if (o->cert_pem && o->cert_file)
		return "at most one of cert_pem and cert_file must be configured";
	if (o->key_pem && o->key_file)
		return "at most one of key_pem and key_file must be configured";
	if (cert && !key)
		return "exactly one of key_pem or key_file must be configured when a client "
		       "certificate is configured";
	if (key && !cert)
		return "exactly one of cert_pem or cert_file must be configured when a client key "
		       "is configured";
	return NULL;
}

static const char *check_proxy(const struct http_proxy_options *o)
{
	if (o->no_proxy && !o->url)
		return "if no_proxy is configured, proxy_url must also be configured";
	if (o->url && o->from_environment)
		return "if proxy_from_environment is configured, proxy_url must not be configured";
	return NULL;
}

static const char *check_headers(const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!http_header_ok(&headers[i]))
			return "a header's name or value holds a character that HTTP does not "
			       "allow";
	return NULL;
}

static const char *check_url(const char *text)
{
	struct url url;
	enum url_problem problem = url_parse(str_from(text), &url);

	return problem == URL_OK ? NULL : url_problem_text(problem);
}

const char *push_endpoint_options_check(const struct push_endpoint_options *o)
{
	const char *problems[] = {
		check_url(o->url),
		o->remote_timeout_ns == 0 ? "remote_timeout must be greater than 0s" : NULL,
		check_backoff(&o->backoff),
		check_auth(o),
		check_tls(&o->tls),
		check_proxy(&o->proxy),
		o->n_headers + o->n_http_headers > PUSH_MAX_HEADERS
			? "there are more than 64 headers"
			: NULL,
		check_headers(o->headers, o->n_headers),
		check_headers(o->http_headers, o->n_http_headers),
		check_headers(o->proxy.connect_headers, o->proxy.n_connect_headers),
	};

	for (size_t i = 0; i < ARRAY_SIZE(problems); i++)
		if (problems[i])
			return problems[i];
	return NULL;
}

#define STRING(member) offsetof(struct push_endpoint_options, member)
static const size_t push_strings[] = {
	STRING(url),
	STRING(name),
	STRING(basic_auth_username),
	STRING(basic_auth_password),
	STRING(basic_auth_password_file),
	STRING(bearer_token),
	STRING(bearer_token_file),
	STRING(authorization_type),
	STRING(authorization_credentials),
	STRING(authorization_credentials_file),
	STRING(spool_path),
	STRING(tls.ca_pem),
	STRING(tls.ca_file),
	STRING(tls.cert_pem),
	STRING(tls.cert_file),
	STRING(tls.key_pem),
	STRING(tls.key_file),
	STRING(tls.server_name),
	STRING(proxy.url),
	STRING(proxy.no_proxy),
};
#undef STRING

static char **push_string_at(struct push_endpoint_options *o, size_t i)
{
	return (char **)((char *)o + push_strings[i]);
}

static void headers_free(const struct http_header *headers, size_t n)
{
	for (size_t i = 0; headers && i < n; i++) {
		free((char *)headers[i].name);
		free((char *)headers[i].value);
	}
	free((struct http_header *)headers);
}

static int headers_copy(const struct http_header **headers, size_t n)
{
	struct http_header *copy = calloc(n + 1, sizeof(*copy));
	const struct http_header *from = *headers;
	bool failed = !copy;

	for (size_t i = 0; !failed && i < n; i++) {
		copy[i].name = strdup(from[i].name);
		copy[i].value = strdup(from[i].value);
		failed = !copy[i].name || !copy[i].value;
	}
	*headers = copy;
	return failed ? -ENOMEM : 0;
}

void push_endpoint_options_fini(struct push_endpoint_options *copy)
{
	for (size_t i = 0; i < ARRAY_SIZE(push_strings); i++)
		free(*push_string_at(copy, i));
	headers_free(copy->headers, copy->n_headers);
	headers_free(copy->http_headers, copy->n_http_headers);
	headers_free(copy->proxy.connect_headers, copy->proxy.n_connect_headers);
	*copy = (struct push_endpoint_options){ 0 };
}

int push_endpoint_options_copy(const struct push_endpoint_options *options,
			       struct push_endpoint_options *ret_copy)
{
	struct push_endpoint_options copy = *options;
	bool failed = false;

	copy.oauth2 = NULL;
	copy.token_source = NULL;
	/* Each pointer is replaced, by NULL at worst, before anything can go back: the copy never
	 * frees what it does not own. */
	for (size_t i = 0; i < ARRAY_SIZE(push_strings); i++) {
		char **s = push_string_at(&copy, i);

		if (!*s)
			continue;
		*s = strdup(*s);
		failed |= !*s;
	}
	failed |= headers_copy(&copy.headers, copy.n_headers) < 0;
	failed |= headers_copy(&copy.http_headers, copy.n_http_headers) < 0;
	failed |= headers_copy(&copy.proxy.connect_headers, copy.proxy.n_connect_headers) < 0;
	if (failed) {
		push_endpoint_options_fini(&copy);
		return -ENOMEM;
	}
	*ret_copy = copy;
	return 0;
}
