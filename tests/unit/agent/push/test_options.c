/* SPDX-License-Identifier: Apache-2.0 */
/* What the user is told about an endpoint's options, and the copy that owns its strings. */
#include <string.h>

#include "agent/push/options.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define GOOD .url = "http://h:4040", .remote_timeout_ns = 1, .backoff = { .min_ns = 1, .max_ns = 2 }

static const struct http_header good_header = { "X-Scope-OrgID", "a" };
static const struct http_header bad_header = { "X-Scope-OrgID", "a\nb" };
static struct http_header many_headers[PUSH_MAX_HEADERS + 1];

static const struct row {
	const char *name;
	struct push_endpoint_options options;
	const char *expected; /* a part of the sentence; NULL: fine */
} rows[] = {
	{ "fine", { GOOD, .headers = &good_header, .n_headers = 1 }, NULL },
	{ "no url",
	  { .remote_timeout_ns = 1, .backoff = { .min_ns = 1, .max_ns = 2 } },
	  "URL is empty" },
	{ "bad url", { .url = "h:4040" }, "http://" },
	{ "no timeout",
	  { .url = "http://h", .backoff = { .min_ns = 1, .max_ns = 2 } },
	  "remote_timeout" },
	{ "no min", { .url = "http://h", .remote_timeout_ns = 1 }, "min_backoff_period" },
	{ "max below min",
	  { .url = "http://h", .remote_timeout_ns = 1, .backoff = { .min_ns = 2, .max_ns = 1 } },
	  "max_backoff_period" },
	{ "two kinds of auth",
	  { GOOD, .bearer_token = "t", .basic_auth_username = "u" },
	  "at most one of basic_auth, authorization" },
	{ "token and file",
	  { GOOD, .bearer_token = "t", .bearer_token_file = "f" },
	  "at most one of basic_auth, authorization" },
	{ "password and file",
	  { GOOD, .basic_auth_password = "p", .basic_auth_password_file = "f" },
	  "password_file" },
	{ "credentials and file",
	  { GOOD, .authorization_credentials = "p", .authorization_credentials_file = "f" },
	  "credentials_file" },
	{ "type basic",
	  { GOOD, .authorization_type = "Basic", .authorization_credentials = "p" },
	  "basic_auth" },
	{ "ca twice", { GOOD, .tls = { .ca_pem = "p", .ca_file = "f" } }, "ca_pem" },
	{ "cert twice",
	  { GOOD, .tls = { .cert_pem = "p", .cert_file = "f", .key_pem = "k" } },
	  "cert_pem" },
	{ "key twice",
	  { GOOD, .tls = { .cert_pem = "p", .key_file = "f", .key_pem = "k" } },
	  "key_pem" },
	{ "cert without key", { GOOD, .tls = { .cert_pem = "p" } }, "key_pem or key_file" },
	{ "key without cert", { GOOD, .tls = { .key_pem = "p" } }, "cert_pem or cert_file" },
	{ "no_proxy alone", { GOOD, .proxy = { .no_proxy = "h" } }, "proxy_url" },
	{ "two proxies",
	  { GOOD, .proxy = { .url = "http://p", .from_environment = true } },
	  "proxy_from_environment" },
	{ "bad header", { GOOD, .headers = &bad_header, .n_headers = 1 }, "header" },
	{ "bad http_header", { GOOD, .http_headers = &bad_header, .n_http_headers = 1 }, "header" },
	{ "bad connect header",
	  { GOOD, .proxy = { .connect_headers = &bad_header, .n_connect_headers = 1 } },
	  "header" },
	{ "most headers", { GOOD, .headers = many_headers, .n_headers = PUSH_MAX_HEADERS }, NULL },
	{ "too many headers",
	  { GOOD, .headers = many_headers, .n_headers = PUSH_MAX_HEADERS,
	    .http_headers = many_headers, .n_http_headers = 1 },
	  "64" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	const char *problem = push_endpoint_options_check(&row->options);

	if (!row->expected) {
		assert_null(problem);
		return;
	}
	assert_non_null(problem);
	if (!strstr(problem, row->expected))
		fail_msg("\"%s\" does not say \"%s\"", problem, row->expected);
}

static void test_defaults(void **state)
{
	struct push_endpoint_options o = PUSH_ENDPOINT_OPTIONS_INIT;

	(void)state;
	o.url = "http://127.0.0.1:4040";
	assert_null(push_endpoint_options_check(&o));
	assert_int_equal(o.remote_timeout_ns, 10000000000);
	assert_int_equal(o.backoff.max_attempts, 10);
	assert_true(o.retry_on_http_429 && o.follow_redirects && o.enable_http2);
}

static void test_copy(void **state)
{
	char url[] = "http://h", ca[] = "pem", name[] = "X-A", value[] = "v";
	struct http_header header = { name, value };
	struct push_endpoint_options o = {
		.url = url, .tls = { .ca_pem = ca }, .headers = &header, .n_headers = 1
	};
	struct push_endpoint_options copy;

	(void)state;
	assert_int_equal(push_endpoint_options_copy(&o, &copy), 0);
	url[0] = ca[0] = name[0] = value[0] = '!';
	assert_string_equal(copy.url, "http://h");
	assert_string_equal(copy.tls.ca_pem, "pem");
	assert_string_equal(copy.headers[0].name, "X-A");
	assert_string_equal(copy.headers[0].value, "v");
	assert_null(copy.bearer_token);
	push_endpoint_options_fini(&copy);
	assert_null(copy.url);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_defaults),
	TEST(test_copy),
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(many_headers); i++)
		many_headers[i] = good_header;
	return RUN_TESTS(tests);
}
