/* SPDX-License-Identifier: Apache-2.0 */
/* The client against real sockets on 127.0.0.1: our own server for good answers, a raw one for bad
 * ones. */
#include <errno.h>

#include "agent/http/client.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/http/raw_server.h"

struct fixture {
	struct loop *loop;
	struct http_client *client;
	struct http_server *server;
	struct http_server *other; /* another server: another port is enough */
	char away[64];		   /* its URL */
	unsigned int n_done;
	enum http_outcome outcome;
	unsigned int status;
	char content_type[64];
	char retry_after[64];
	char body[4096];
	size_t n_body;
	char error[HTTP_MAX_ERROR_BYTES];
	uint64_t time_ns;
	char url[128];
	struct http_request *victim;
};

static void answer_echo(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const char *const headers[] = { "Authorization", "X-Test",	"X-Empty",
					       "User-Agent",	"Content-Type", "Expect" };
	size_t n;
	const char *body = http_call_body(call, &n);

	(void)data;
	(void)buf_printf(&answer->body, "%s %s\n", http_call_method(call), http_call_path(call));
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (http_call_header(call, headers[i]))
			(void)buf_printf(&answer->body, "%s: %s\n", headers[i],
					 http_call_header(call, headers[i]));
	(void)buf_printf(&answer->body, "%zu %.*s", n, n < 100 ? (int)n : 100, body);
}

static void answer_busy(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	answer->status = 429;
	answer->content_type = "application/json";
	answer->retry_after = "17";
	(void)buf_append_str(&answer->body, "{}");
}

static void answer_large(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const char zeros[4 << 20];

	(void)call;
	(void)data;
	answer->status = 500;
	(void)buf_append(&answer->body, zeros, sizeof(zeros));
}

static void answer_redirect(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	answer->status = 307;
	answer->location = data;
}

/* To the other server; 307 keeps what a request is. */
static void answer_away(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;

	(void)call;
	answer->status = 307;
	answer->location = f->away;
}

static void open_other(struct fixture *f)
{
	static const struct http_route routes[] = {
		{ .method = "GET", .path = "/echo", .fn = answer_echo },
		{ .method = "POST", .path = "/echo", .fn = answer_echo, .max_body_bytes = 4 << 20 },
	};
	const struct http_route away[] = {
		{ .method = "GET", .path = "/away", .fn = answer_away, .data = f },
		{ .method = "POST",
		  .path = "/away",
		  .fn = answer_away,
		  .data = f,
		  .max_body_bytes = 4 << 20 },
	};
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	options.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->loop, &options, &f->other, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->other, &routes[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(away); i++)
		assert_int_equal(http_server_add_route(f->server, &away[i]), 0);
	(void)snprintf(f->away, sizeof(f->away), "http://127.0.0.1:%u/echo",
		       http_server_port(f->other));
}

static void set_up(struct fixture *f)
{
	static const struct http_route routes[] = {
		{ .method = "GET", .path = "/echo", .fn = answer_echo },
		{ .method = "POST", .path = "/echo", .fn = answer_echo, .max_body_bytes = 4 << 20 },
		{ .method = "GET", .path = "/busy", .fn = answer_busy },
		{ .method = "GET", .path = "/large", .fn = answer_large },
		{ .method = "POST",
		  .path = "/redirect",
		  .fn = answer_redirect,
		  .data = (void *)"/echo",
		  .max_body_bytes = 4 << 20 },
		{ .method = "GET",
		  .path = "/file",
		  .fn = answer_redirect,
		  .data = (void *)"file:///etc/passwd" },
		{ .method = "GET",
		  .path = "/circle",
		  .fn = answer_redirect,
		  .data = (void *)"/circle" },
	};
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	options.listen = "127.0.0.1:0";
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
	open_other(f);
}

static void tear_down(struct fixture *f)
{
	http_client_free(f->client);
	http_server_free(f->server);
	http_server_free(f->other);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->n_done++;
	f->outcome = result->outcome;
	f->status = result->status;
	f->n_body = result->n_body;
	f->time_ns = result->time_ns;
	(void)snprintf(f->content_type, sizeof(f->content_type), "%s", result->content_type);
	(void)snprintf(f->retry_after, sizeof(f->retry_after), "%s", result->retry_after);
	(void)snprintf(f->body, sizeof(f->body), "%s", result->body);
	(void)snprintf(f->error, sizeof(f->error), "%s", result->error);
	assert_int_equal(result->body[result->n_body], '\0');
	assert_int_equal(result->error[0] == '\0', result->outcome == HTTP_DONE);
}

static void run_until_done(struct fixture *f, unsigned int n)
{
	for (int i = 0; i < 2000 && f->n_done < n; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_int_equal(f->n_done, n);
}

static const char *at(struct fixture *f, uint16_t port, const char *path)
{
	(void)snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u%s", port, path);
	return f->url;
}

static void do_request(struct fixture *f, struct http_request_options *options)
{
	struct http_request *request;

	if (options->timeout_ns == 0)
		options->timeout_ns = 10 * NS_PER_S;
	f->n_done = 0;
	assert_int_equal(http_request_start(f->client, options, on_done, f, &request), 0);
	assert_int_equal(f->n_done, 0);
	run_until_done(f, 1);
}

static void get(struct fixture *f, const char *url)
{
	struct http_request_options options = { .url = url };

	do_request(f, &options);
}

static void test_get(void **state)
{
	struct fixture *f = *state;

	get(f, at(f, http_server_port(f->server), "/echo?x=1"));
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->content_type, "text/plain; charset=utf-8");
	assert_string_equal(f->retry_after, "");
	assert_string_equal(f->body, "GET /echo\n0 ");
	assert_true(f->time_ns > 0);
}

static void test_post(void **state)
{
	struct fixture *f = *state;
	static const struct http_header headers[] = { { "X-Test", "a b" },
						      { "X-Empty", "" },
						      { "Content-Type", "application/proto" } };
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/echo"),
						.headers = headers,
						.n_headers = ARRAY_SIZE(headers),
						.body = "a\0b",
						.n_body = 3,
						.user_agent = "xagent/1 (linux)",
						.authorization = "Bearer secret" };

	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body,
			    "POST /echo\nAuthorization: Bearer secret\nX-Test: a b\nX-Empty: \n"
			    "User-Agent: xagent/1 (linux)\nContent-Type: application/proto\n3 a");
}

static void test_basic_auth(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/echo"),
						.basic_user = "user",
						.basic_password = "pass" };

	do_request(f, &options);
	assert_string_equal(f->body, "GET /echo\nAuthorization: Basic dXNlcjpwYXNz\n0 ");
}

static void test_large_body_is_sent(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *body = calloc(1, 3 << 20);
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/echo"),
						.body = body,
						.n_body = 3 << 20 };

	assert_non_null(body);
	memset(body, 'x', 3 << 20);
	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_non_null(strstr(f->body, "\n3145728 xxxx"));
	assert_null(strstr(f->body, "Expect"));
}

/* Sent anew after a redirect, here and to another server, from the beginning on. */
static void test_pieces(void **state)
{
	static const char *const paths[] = { "/echo", "/redirect", "/away" };
	struct fixture *f = *state;
	struct http_piece pieces[] = { { "he", 2 }, { NULL, 0 }, { "ad|", 3 }, { "t", 1 } };
	struct http_request_options options = { .pieces = pieces,
						.n_pieces = ARRAY_SIZE(pieces),
						.follow_redirects = true };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		options.url = at(f, http_server_port(f->server), paths[i]);
		do_request(f, &options);
		assert_string_equal(strrchr(f->body, '\n'), "\n6 head|t");
	}
}

/* More than libcurl takes at once, so it has sent some of it before it learns of the redirect. */
static void test_large_pieces(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *body = calloc(1, 3 << 20);
	struct http_piece pieces[] = { { "head", 4 }, { body, 3 << 20 }, { "tail", 4 } };
	struct http_request_options options = { .url = at(f, http_server_port(f->server),
							  "/redirect"),
						.pieces = pieces,
						.n_pieces = ARRAY_SIZE(pieces),
						.follow_redirects = true };

	assert_non_null(body);
	memset(body, 'x', 3 << 20);
	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_non_null(strstr(f->body, "\n3145736 headxxxx"));
	assert_null(strstr(f->body, "Expect"));
}

static void test_status_and_headers(void **state)
{
	struct fixture *f = *state;

	get(f, at(f, http_server_port(f->server), "/busy"));
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_int_equal(f->status, 429);
	assert_string_equal(f->content_type, "application/json");
	assert_string_equal(f->retry_after, "17");
}

static void test_head(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = {
		.method = "HEAD", .url = at(f, http_server_port(f->server), "/echo")
	};

	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_int_equal(f->n_body, 0);
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/large"),
						.max_response_bytes = 1000 };

	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_TOO_LARGE);
	assert_int_equal(f->status, 500);
	assert_true(f->n_body <= 1000);
	assert_non_null(strstr(f->error, "more than 1000 bytes"));
	options.max_response_bytes = 4 << 20;
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_DONE);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;
	uint16_t port = raw_free_port(f->loop);
	char expected[128];

	get(f, at(f, port, "/"));
	(void)snprintf(expected, sizeof(expected),
		       "cannot connect to 127.0.0.1:%u: Connection refused", port);
	assert_int_equal(f->outcome, HTTP_CONNECT_FAILED);
	assert_int_equal(f->status, 0);
	assert_string_equal(f->error, expected);
}

static void test_timeout(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;
	raw_server_start(&raw, f->loop, RAW_HANG, NULL);
	struct http_request_options options = { .url = at(f, raw.port, "/"),
						.timeout_ns = NS_PER_S / 10 };

	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_TIMEOUT);
	assert_non_null(strstr(f->error, "within 0.1 s"));
	raw_server_stop(&raw);
}

static void test_reset(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;

	raw_server_start(&raw, f->loop, RAW_RESET, NULL);
	get(f, at(f, raw.port, "/"));
	assert_int_equal(f->outcome, HTTP_BROKEN);
	assert_int_equal(strncmp(f->error, "broken connection to 127.0.0.1:", 31), 0);
	raw_server_stop(&raw);
}

struct raw_row {
	const char *name;
	const char *text;
	enum http_outcome outcome;
};

static const struct raw_row raw_rows[] = {
	{ "cut body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", HTTP_BROKEN },
	{ "not HTTP", "220 mail.example.org ESMTP\r\n", HTTP_BROKEN },
	{ "nothing", "", HTTP_BROKEN },
	/* libcurl takes it for an answer without headers, so a caller that must be sure looks at
	   content_type. */
	{ "cut headers", "HTTP/1.1 200 OK\r\nContent-Ty", HTTP_DONE },
};

static void test_raw(void **state)
{
	/* The fixture is made here: the row is the state. */
	const struct raw_row *row = *state;
	void *own = NULL;
	struct raw_server raw;

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	raw_server_start(&raw, f->loop, RAW_TEXT, row->text);
	get(f, at(f, raw.port, "/"));
	assert_int_equal(f->outcome, row->outcome);
	assert_string_equal(f->content_type, "");
	raw_server_stop(&raw);
	(void)teardown(&own);
}

/* Who has to speak HTTP/2 and does not: with tests/integration/test_otlp.py, where servers do. */
static void test_only_http2(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;

	raw_server_start(&raw, f->loop, RAW_TEXT, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	struct http_request_options options = { .url = at(f, raw.port, "/"), .only_http2 = true };
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_BROKEN);
	assert_int_equal(f->status, 0);
	raw_server_stop(&raw);
}

static void test_unknown_name(void **state)
{
	struct fixture *f = *state;

	get(f, "http://does-not-exist.invalid:1/");
	assert_int_equal(f->outcome, HTTP_RESOLVE_FAILED);
	assert_non_null(strstr(f->error, "cannot find the address of does-not-exist.invalid:1"));
}

static void test_redirects(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = { .url = at(f, http_server_port(f->server),
							  "/redirect"),
						.body = "abc",
						.n_body = 3,
						.follow_redirects = true };

	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_int_equal(strncmp(f->body, "POST /echo\n", 11), 0);
	assert_non_null(strstr(f->body, "\n3 abc"));
	options.follow_redirects = false;
	do_request(f, &options);
	assert_int_equal(f->status, 307);
}

/* What a user has put into headers is for the server that the user has named. */
static void test_redirect_keeps_headers_here(void **state)
{
	struct fixture *f = *state;
	static const struct http_header tenant = { "X-Test", "tenant" };
	struct http_request_options options = { .url = at(f, http_server_port(f->server),
							  "/redirect"),
						.headers = &tenant,
						.n_headers = 1,
						.body = "abc",
						.n_body = 3,
						.authorization = "Bearer secret",
						.follow_redirects = true };

	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_non_null(strstr(f->body, "X-Test: tenant"));
	assert_non_null(strstr(f->body, "Bearer secret"));
	options.url = at(f, http_server_port(f->server), "/away");
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_FAILED);
	assert_non_null(strstr(f->error, "redirected to http://127.0.0.1:"));
	assert_non_null(strstr(f->error, "not to get the headers"));
	assert_null(strstr(f->body, "tenant"));
}

static void test_redirect_leaves_credentials_here(void **state)
{
	struct fixture *f = *state;
	static const struct http_header type = { "Content-Type", "application/proto" };
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/away"),
						.headers = &type,
						.n_headers = 1,
						.body = "abc",
						.n_body = 3,
						.authorization = "Bearer secret",
						.follow_redirects = true };

	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body, "POST /echo\nContent-Type: application/proto\n3 abc");
	options.authorization = NULL;
	options.basic_user = "user";
	options.basic_password = "secret";
	do_request(f, &options);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body, "POST /echo\nContent-Type: application/proto\n3 abc");
}

static void test_redirect_to_file(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = { .url = at(f, http_server_port(f->server), "/file"),
						.follow_redirects = true };

	do_request(f, &options);
	assert_int_not_equal(f->outcome, HTTP_DONE);
	assert_null(strstr(f->body, "root:"));
	options.url = at(f, http_server_port(f->server), "/circle");
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_FAILED);
}

static void test_bad_arguments(void **state)
{
	struct fixture *f = *state;
	struct http_header many[HTTP_MAX_HEADERS + 1];
	struct http_request *rq;
	const char *url = at(f, http_server_port(f->server), "/echo");
	const struct http_header split = { "X", "a\r\nEvil: b" }, blank = { "X Y", "a" },
				 none = { "", "a" };
	const struct http_request_options rows[] = {
		{ .url = "file:///etc/passwd" },
		{ .url = "http://u:p@127.0.0.1/" },
		{ .url = url, .headers = &split, .n_headers = 1 },
		{ .url = url, .headers = &blank, .n_headers = 1 },
		{ .url = url, .headers = &none, .n_headers = 1 },
		{ .url = url, .headers = many, .n_headers = ARRAY_SIZE(many) },
		{ .url = url, .authorization = "a\nb" },
		{ .url = url, .method = "GET / HTTP/1.1\r\n" },
		{ .url = "https://127.0.0.1/", .tls = { .server_name = "a:b" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct http_header){ "X", "y" };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(http_request_start(f->client, &rows[i], on_done, f, &rq), -EINVAL);
	assert_int_equal(f->n_done, 0);
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;
	raw_server_start(&raw, f->loop, RAW_HANG, NULL);
	struct http_request_options options = { .url = at(f, raw.port, "/") };
	struct http_request *rq;

	assert_int_equal(http_request_start(f->client, &options, on_done, f, &rq), 0);
	http_request_cancel(rq);
	assert_int_equal(http_request_start(f->client, &options, on_done, f, &rq), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	http_request_cancel(rq);
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_int_equal(f->n_done, 0);
	http_request_cancel(NULL);
	raw_server_stop(&raw);
}

static void on_done_cancel_other(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	on_done(result, data);
	http_request_cancel(f->victim);
	f->victim = NULL;
}

static void test_cancel_from_callback(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;
	raw_server_start(&raw, f->loop, RAW_HANG, NULL);
	struct http_request_options options = { .url = at(f, raw.port, "/") };
	struct http_request *rq;

	assert_int_equal(http_request_start(f->client, &options, on_done, f, &f->victim), 0);
	options.url = at(f, http_server_port(f->server), "/echo");
	assert_int_equal(http_request_start(f->client, &options, on_done_cancel_other, f, &rq), 0);
	run_until_done(f, 1);
	assert_null(f->victim);
	raw_server_stop(&raw);
}

static void test_many_at_once(void **state)
{
	struct fixture *f = *state;
	struct http_request_options options = { .url = at(f, http_server_port(f->server),
							  "/echo") };
	struct http_request *rq;

	for (int i = 0; i < 40; i++)
		assert_int_equal(http_request_start(f->client, &options, on_done, f, &rq), 0);
	run_until_done(f, 40);
}

static void test_proxy_of_the_environment(void **state)
{
	struct fixture *f = *state;
	char proxy[64];
	struct http_request_options options = { .url = "http://does-not-exist.invalid/echo",
						.proxy = { .from_environment = true } };

	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u", http_server_port(f->server));
	assert_int_equal(setenv("http_proxy", proxy, 1), 0);
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_DONE);
	options.proxy.from_environment = false;
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_RESOLVE_FAILED);
	assert_int_equal(unsetenv("http_proxy"), 0);
	options.proxy.url = proxy;
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_DONE);
	options.proxy.no_proxy = "does-not-exist.invalid";
	do_request(f, &options);
	assert_int_equal(f->outcome, HTTP_RESOLVE_FAILED);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_get),
	FIXTURE_TEST(test_post),
	FIXTURE_TEST(test_basic_auth),
	FIXTURE_TEST(test_large_body_is_sent),
	FIXTURE_TEST(test_pieces),
	FIXTURE_TEST(test_large_pieces),
	FIXTURE_TEST(test_status_and_headers),
	FIXTURE_TEST(test_head),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_refused),
	FIXTURE_TEST(test_timeout),
	FIXTURE_TEST(test_reset),
	FIXTURE_TEST(test_only_http2),
	FIXTURE_TEST(test_unknown_name),
	FIXTURE_TEST(test_redirects),
	FIXTURE_TEST(test_redirect_keeps_headers_here),
	FIXTURE_TEST(test_redirect_leaves_credentials_here),
	FIXTURE_TEST(test_redirect_to_file),
	FIXTURE_TEST(test_bad_arguments),
	FIXTURE_TEST(test_cancel),
	FIXTURE_TEST(test_cancel_from_callback),
	FIXTURE_TEST(test_many_at_once),
	FIXTURE_TEST(test_proxy_of_the_environment),
	TEST_ROWS(test_raw, raw_rows, name),
};

TEST_MAIN(tests)
