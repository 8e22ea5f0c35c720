/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.write, and the options of agent/push that they become. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include "agent/component/receivers/write_args.h"

static const struct river_value *lookup(void *ctx, struct river_arena *arena, const char *name)
{
	(void)ctx;
	return strcmp(name, "secret") == 0 ? river_value_secret(arena, "hush", 4) : NULL;
}

static const struct river_scope scope = { .lookup = lookup };

struct endpoint {
	struct decoded d;
	struct write_args args;
	struct push_endpoint_options o;
};

/* The only endpoint of a component. */
static void endpoint_init(struct endpoint *e, const char *body)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16384);

	(void)buf_printf(&text, "endpoint {\nurl = \"http://h:4040\"\n%s\n}\n", body);
	decode(&e->d, &write_schema, &scope, buf_str(&text), &e->args);
	assert_string_equal(buf_str(&e->d.messages), "");
	assert_int_equal(e->args.endpoints.n_items, 1);
	assert_int_equal(write_args_endpoint(e->args.endpoints.items, &e->d.arena, &e->o), 0);
	assert_null(push_endpoint_options_check(&e->o));
}

static void endpoint_fini(struct endpoint *e)
{
	decoded_fini(&e->d);
}

static void assert_header(const struct http_header *h, const char *name, const char *value)
{
	assert_string_equal(h->name, name);
	assert_string_equal(h->value, value);
}

static void test_defaults(void **state)
{
	const struct push_endpoint_options init = PUSH_ENDPOINT_OPTIONS_INIT;
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "");
	assert_string_equal(e.o.url, "http://h:4040");
	assert_null(e.o.name);
	assert_int_equal(e.o.remote_timeout_ns, 10000000000);
	assert_int_equal(e.o.remote_timeout_ns, init.remote_timeout_ns);
	assert_int_equal(e.o.backoff.min_ns, 500000000);
	assert_int_equal(e.o.backoff.max_ns, 300000000000);
	assert_int_equal(e.o.backoff.max_attempts, 10);
	assert_true(e.o.retry_on_http_429);
	assert_true(e.o.follow_redirects);
	assert_true(e.o.enable_http2);
	assert_int_equal(e.o.n_headers, 0);
	assert_int_equal(e.o.n_http_headers, 0);
	assert_null(e.o.basic_auth_username);
	assert_null(e.o.bearer_token);
	assert_null(e.o.authorization_type);
	assert_null(e.o.tls.ca_pem);
	assert_false(e.o.tls.insecure_skip_verify);
	assert_int_equal(e.o.tls.min_version, HTTP_TLS_DEFAULT);
	assert_null(e.o.proxy.url);
	assert_false(e.o.proxy.from_environment);
	endpoint_fini(&e);
}

static void test_plain_arguments(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(
		&e,
		"name = \"n\"\nremote_timeout = \"3s\"\nmin_backoff_period = \"1s\"\n"
		"max_backoff_period = \"2s\"\nmax_backoff_retries = 7\nretry_on_http_429 = false\n"
		"follow_redirects = false\nenable_http2 = false\nheaders = { \"b\" = \"2\", \"a\" "
		"= \"1\" }\n"
		"debug_info_upload_timeout = \"2m\"\n");
	assert_string_equal(e.o.name, "n");
	assert_int_equal(e.o.remote_timeout_ns, 3000000000);
	assert_int_equal(e.o.backoff.min_ns, 1000000000);
	assert_int_equal(e.o.backoff.max_ns, 2000000000);
	assert_int_equal(e.o.backoff.max_attempts, 7);
	assert_false(e.o.retry_on_http_429);
	assert_false(e.o.follow_redirects);
	assert_false(e.o.enable_http2);
	assert_int_equal(e.o.n_headers, 2);
	assert_header(&e.o.headers[0], "a", "1");
	assert_header(&e.o.headers[1], "b", "2");
	endpoint_fini(&e);
}

static void test_retries(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "max_backoff_retries = 0");
	assert_int_equal(e.o.backoff.max_attempts, 0);
	endpoint_fini(&e);
	endpoint_init(&e, "max_backoff_retries = 9000000000");
	assert_int_equal(e.o.backoff.max_attempts, 1000000);
	endpoint_fini(&e);
}

/* Several values of a name are several headers, and secrets are sent as they are. */
static void test_header_lists(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e,
		      "http_headers = { \"x\" = [\"1\", secret], \"a\" = [], \"b\" = [\"3\"] }\n"
		      "proxy_url = \"http://p:1\"\nproxy_connect_header = { \"y\" = [secret] }\n");
	assert_int_equal(e.o.n_http_headers, 3);
	assert_header(&e.o.http_headers[0], "b", "3");
	assert_header(&e.o.http_headers[1], "x", "1");
	assert_header(&e.o.http_headers[2], "x", "hush");
	assert_int_equal(e.o.proxy.n_connect_headers, 1);
	assert_header(&e.o.proxy.connect_headers[0], "y", "hush");
	assert_string_equal(e.o.proxy.url, "http://p:1");
	endpoint_fini(&e);
}

static void test_null_header_lists(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "http_headers = null\nproxy_connect_header = null\n");
	assert_int_equal(e.o.n_http_headers, 0);
	assert_int_equal(e.o.proxy.n_connect_headers, 0);
	endpoint_fini(&e);
}

static void test_basic_auth(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "basic_auth {\nusername = \"u\"\npassword = secret\n}");
	assert_string_equal(e.o.basic_auth_username, "u");
	assert_string_equal(e.o.basic_auth_password, "hush");
	assert_null(e.o.basic_auth_password_file);
	endpoint_fini(&e);
	endpoint_init(&e, "basic_auth { password_file = \"/f\" }");
	assert_string_equal(e.o.basic_auth_username, "");
	assert_null(e.o.basic_auth_password);
	assert_string_equal(e.o.basic_auth_password_file, "/f");
	endpoint_fini(&e);
}

static void test_bearer_token(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "bearer_token = secret");
	assert_string_equal(e.o.bearer_token, "hush");
	endpoint_fini(&e);
	endpoint_init(&e, "bearer_token_file = \"/f\"");
	assert_null(e.o.bearer_token);
	assert_string_equal(e.o.bearer_token_file, "/f");
	endpoint_fini(&e);
}

static void test_authorization(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "authorization { credentials = \"c\" }");
	assert_string_equal(e.o.authorization_type, "Bearer");
	assert_string_equal(e.o.authorization_credentials, "c");
	endpoint_fini(&e);
	endpoint_init(&e, "authorization {\ntype = \"Custom\"\ncredentials_file = \"/f\"\n}");
	assert_string_equal(e.o.authorization_type, "Custom");
	assert_null(e.o.authorization_credentials);
	assert_string_equal(e.o.authorization_credentials_file, "/f");
	endpoint_fini(&e);
}

static void test_tls(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "tls_config {\nca_pem = \"1\"\ncert_pem = \"2\"\nkey_pem = "
			  "secret\nserver_name = \"s\"\n"
			  "insecure_skip_verify = true\nmin_version = \"TLS13\"\n}");
	assert_string_equal(e.o.tls.ca_pem, "1");
	assert_string_equal(e.o.tls.cert_pem, "2");
	assert_string_equal(e.o.tls.key_pem, "hush");
	assert_string_equal(e.o.tls.server_name, "s");
	assert_true(e.o.tls.insecure_skip_verify);
	assert_int_equal(e.o.tls.min_version, HTTP_TLS13);
	endpoint_fini(&e);
	endpoint_init(&e, "tls_config {\nca_file = \"1\"\ncert_file = \"2\"\nkey_file = "
			  "\"3\"\nmin_version = \"TLS10\"\n}");
	assert_string_equal(e.o.tls.ca_file, "1");
	assert_string_equal(e.o.tls.cert_file, "2");
	assert_string_equal(e.o.tls.key_file, "3");
	assert_null(e.o.tls.ca_pem);
	assert_int_equal(e.o.tls.min_version, HTTP_TLS10);
	endpoint_fini(&e);
}

static void test_proxy(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(&e, "proxy_url = \"http://p:1\"\nno_proxy = \"a,b\"");
	assert_string_equal(e.o.proxy.url, "http://p:1");
	assert_string_equal(e.o.proxy.no_proxy, "a,b");
	endpoint_fini(&e);
	endpoint_init(&e, "proxy_from_environment = true");
	assert_true(e.o.proxy.from_environment);
	endpoint_fini(&e);
}

static void test_oauth2(void **state)
{
	struct endpoint e;

	(void)state;
	endpoint_init(
		&e, "oauth2 {\nclient_id = \"i\"\nclient_secret = secret\nscopes = [\"a\", \"b\"]\n"
		    "token_url = \"https://t/token\"\nendpoint_params = { \"x\" = \"y\" }\n"
		    "proxy_url = \"http://p:1\"\ntls_config { ca_file = \"/f\" }\n}");
	assert_non_null(e.o.oauth2);
	assert_string_equal(e.o.oauth2->client_id, "i");
	assert_string_equal(e.o.oauth2->client_secret, "hush");
	assert_null(e.o.oauth2->client_secret_file);
	assert_int_equal(e.o.oauth2->n_scopes, 2);
	assert_string_equal(e.o.oauth2->scopes[1], "b");
	assert_string_equal(e.o.oauth2->token_url, "https://t/token");
	assert_int_equal(e.o.oauth2->n_params, 1);
	assert_header(&e.o.oauth2->params[0], "x", "y");
	assert_string_equal(e.o.oauth2->proxy.url, "http://p:1");
	assert_string_equal(e.o.oauth2->tls.ca_file, "/f");
	/* These are of the token's request alone. */
	assert_null(e.o.proxy.url);
	assert_null(e.o.tls.ca_file);
	endpoint_fini(&e);
}

static void test_component(void **state)
{
	struct write_args args;
	struct decoded d;

	(void)state;
	decode(&d, &write_schema, &scope,
	       "external_labels = { \"env\" = \"prod\" }\nendpoint { url = \"http://a\" "
	       "}\nendpoint { url = \"https://b\" }\n"
	       "tracing {\njaeger_propagator = true\ntrace_context_propagator = false\n}\n",
	       &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(args.endpoints.n_items, 2);
	assert_string_equal(((struct endpoint_args *)args.endpoints.items)[1].url, "https://b");
	assert_int_equal(args.external_labels.n_items, 1);
	assert_string_equal(args.external_labels.keys[0], "env");
	assert_string_equal(args.external_labels.values[0], "prod");
	decoded_fini(&d);
	/* Without an endpoint everything is discarded, by request. */
	decode(&d, &write_schema, &scope, "", &args);
	assert_int_equal(d.result, RIVER_OK);
	assert_int_equal(args.endpoints.n_items, 0);
	decoded_fini(&d);
}

#define URL "url = \"http://h\"\n"
#define ONE_AUTH                                                                   \
	"a:1:1: at most one of basic_auth, authorization, oauth2, bearer_token & " \
	"bearer_token_file must be configured\n"

static const struct refused {
	const char *name, *body, *expected;
} refused[] = {
	{ "no url", "name = \"n\"", "a:1:1: missing required attribute \"url\"\n" },
	{ "not a url", "url = \"h:4040\"", NULL },
	{ "not http", "url = \"ftp://h\"", NULL },
	{ "timeout", URL "remote_timeout = \"0s\"",
	  "a:3:1: remote_timeout must be greater than 0s\n" },
	{ "negative timeout", URL "remote_timeout = \"-1s\"",
	  "a:3:1: remote_timeout must be greater than 0s\n" },
	{ "min backoff", URL "min_backoff_period = \"0s\"",
	  "a:3:1: min_backoff_period must be greater than 0s\n" },
	{ "max backoff", URL "max_backoff_period = \"-5m\"",
	  "a:3:1: max_backoff_period must be greater than 0s\n" },
	{ "max below min", URL "min_backoff_period = \"2s\"\nmax_backoff_period = \"1s\"",
	  "a:1:1: max_backoff_period must not be less than min_backoff_period\n" },
	{ "retries", URL "max_backoff_retries = -1",
	  "a:3:1: max_backoff_retries must not be negative\n" },
	{ "token and file", URL "bearer_token = \"t\"\nbearer_token_file = \"f\"", ONE_AUTH },
	{ "token and basic", URL "bearer_token = \"t\"\nbasic_auth { username = \"u\" }",
	  ONE_AUTH },
	{ "basic and authorization", URL "basic_auth { }\nauthorization { credentials = \"c\" }",
	  ONE_AUTH },
	{ "password and file", URL "basic_auth {\npassword = \"p\"\npassword_file = \"f\"\n}",
	  "a:1:1: at most one of basic_auth password & password_file must be configured\n" },
	{ "credentials and file",
	  URL "authorization {\ncredentials = \"p\"\ncredentials_file = \"f\"\n}",
	  "a:1:1: at most one of authorization credentials & credentials_file must be "
	  "configured\n" },
	{ "basic and oauth2", URL "basic_auth { }\noauth2 { token_url = \"http://t\" }", ONE_AUTH },
	{ "token file and oauth2",
	  URL "bearer_token_file = \"f\"\noauth2 { token_url = \"http://t\" }", ONE_AUTH },
	{ "secret and file of oauth2",
	  URL "oauth2 {\nclient_secret = \"s\"\nclient_secret_file = \"f\"\n}",
	  "a:1:1: at most one of oauth2 client_secret & client_secret_file must be configured\n" },
	{ "token_url", URL "oauth2 {\nclient_secret = \"s\"\n}",
	  "a:1:1: oauth2 token_url must be an http or https URL\n" },
	{ "proxy of oauth2", URL "oauth2 {\nno_proxy = \"s\"\n}",
	  "a:1:1: if no_proxy is configured, proxy_url must also be configured\n" },
	{ "tls of oauth2", URL "oauth2 {\ntls_config { cert_pem = \"c\" }\n}",
	  "a:1:1: exactly one of key_pem or key_file must be configured when a client certificate "
	  "is configured\n" },
	{ "type basic", URL "authorization { type = \" Basic\" }",
	  "a:1:1: authorization type cannot be set to \"basic\", use \"basic_auth\" instead\n" },
	{ "ca twice", URL "tls_config {\nca_pem = \"a\"\nca_file = \"b\"\n}",
	  "a:1:1: at most one of ca_pem and ca_file must be configured\n" },
	{ "cert twice", URL "tls_config {\ncert_pem = \"a\"\ncert_file = \"b\"\n}",
	  "a:1:1: at most one of cert_pem and cert_file must be configured\n" },
	{ "key twice", URL "tls_config {\nkey_pem = \"a\"\nkey_file = \"b\"\n}",
	  "a:1:1: at most one of key_pem and key_file must be configured\n" },
	{ "key without cert", URL "tls_config { key_file = \"b\" }",
	  "a:1:1: exactly one of cert_pem or cert_file must be configured when a client key is "
	  "configured\n" },
	{ "environment and url", URL "proxy_from_environment = true\nproxy_url = \"http://p:1\"",
	  "a:1:1: if proxy_from_environment is configured, proxy_url must not be configured\n" },
	{ "environment and no_proxy", URL "proxy_from_environment = true\nno_proxy = \"a\"",
	  "a:1:1: if proxy_from_environment is configured, no_proxy must not be configured\n" },
	{ "connect headers alone", URL "proxy_connect_header = { \"a\" = [\"b\"] }",
	  "a:1:1: if proxy_connect_header is configured, proxy_url or proxy_from_environment must "
	  "also be configured\n" },
	{ "tls version", URL "tls_config {\nmin_version = \"TLS14\"\n}",
	  "a:4:1: min_version must be one of TLS10, TLS11, TLS12, TLS13\n" },
	{ "certificate without key", URL "tls_config { cert_file = \"f\" }", NULL },
	{ "headers of a list", URL "http_headers = [\"a\"]",
	  "a:3:16: [\"a\"] should be object, got array\n" },
	{ "headers of texts", URL "http_headers = { \"a\" = \"b\" }",
	  "a:3:24: \"b\" should be array, got string\n" },
	{ "headers of lists of numbers", URL "http_headers = { \"a\" = [1] }",
	  "a:3:25: 1 should be capsule, got number\n" },
	{ "proxy headers of texts", URL "proxy_connect_header = { \"a\" = \"b\" }",
	  "a:3:32: \"b\" should be array, got string\n" },
	{ "a line break in a header", URL "headers = { \"a\" = \"b\\nc\" }",
	  "a:1:1: a header's name or value holds a character that HTTP does not allow\n" },
	{ "a line break in a header of lists", URL "http_headers = { \"a\" = [\"b\\nc\"] }",
	  "a:1:1: a header's name or value holds a character that HTTP does not allow\n" },
	{ "no_proxy alone", URL "no_proxy = \"a\"",
	  "a:1:1: if no_proxy is configured, proxy_url must also be configured\n" },
	{ "unknown", URL "max_backof_period = \"1s\"",
	  "a:3:1: unrecognized attribute name \"max_backof_period\"\n" },
	{ "two blocks of a kind", URL "basic_auth { }\nbasic_auth { }", NULL },
};

static void test_refused(void **state)
{
	const struct refused *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(16384);
	struct write_args args;
	struct decoded d;

	(void)buf_printf(&text, "endpoint {\n%s\n}\n", row->body);
	decode(&d, &write_schema, &scope, buf_str(&text), &args);
	assert_int_equal(d.result, RIVER_INVALID);
	if (row->expected)
		assert_string_equal(buf_str(&d.messages), row->expected);
	assert_true(d.messages.len > 0);
	decoded_fini(&d);
}

static const struct unit_test tests[] = {
	TEST(test_defaults),
	TEST(test_plain_arguments),
	TEST(test_retries),
	TEST(test_header_lists),
	TEST(test_null_header_lists),
	TEST(test_basic_auth),
	TEST(test_bearer_token),
	TEST(test_authorization),
	TEST(test_tls),
	TEST(test_proxy),
	TEST(test_oauth2),
	TEST(test_component),
	TEST_ROWS(test_refused, refused, name),
};

TEST_MAIN(tests)
