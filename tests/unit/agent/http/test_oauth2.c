/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: what is asked, what is understood, and when it is asked again. Token server and guarded server are ours. */
#include <string.h>
#include <unistd.h>

#include "agent/http/oauth2.h"
#include "agent/http/oauth2_form.h"
#include "agent/http/server.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"

static const struct form_row {
	const char *name, *secret, *expected;
	struct http_oauth2_options o;
} form_rows[] = {
	{ "nothing else", NULL, "grant_type=client_credentials", { .client_id = "i" } },
	{ "scopes",
	  NULL,
	  "grant_type=client_credentials&scope=a+b%2Fc",
	  { .scopes = (const char *const[]){ "a", "b/c" }, .n_scopes = 2 } },
	{ "client in the form",
	  "s&t",
	  "client_id=i+d&client_secret=s%26t&grant_type=client_credentials",
	  { .client_id = "i d" } },
	{ "further ones, in order of names",
	  NULL,
	  "audience=x+y&grant_type=client_credentials&tenant=%C3%BC",
	  { .params = (const struct http_header[]){ { "tenant", "\xc3\xbc" },
						    { "audience", "x y" },
						    { "grant_type", "password" } },
	    .n_params = 3 } },
};

static void test_form(void **state)
{
	const struct form_row *row = *state;
	_cleanup_buf_ struct buf form = BUF_INIT(4096);

	assert_int_equal(oauth2_form_write(&row->o, row->secret, &form), 0);
	assert_string_equal(buf_str(&form), row->expected);
}

static const struct answer_row {
	const char *name, *json, *authorization;
	uint64_t expires_s;
} answer_rows[] = {
	{ "plain", "{\"access_token\":\"t\",\"token_type\":\"bearer\",\"expires_in\":60}",
	  "Bearer t", 60 },
	{ "no type, no end", "{\"access_token\":\"t\"}", "Bearer t", 0 },
	{ "other type", "{\"access_token\":\"t\",\"token_type\":\"DPoP\"}", "DPoP t", 0 },
	{ "end as a text", "{\"access_token\":\"t\",\"expires_in\":\"3600\"}", "Bearer t", 3600 },
	{ "end that is none", "{\"access_token\":\"t\",\"expires_in\":-5}", "Bearer t", 0 },
	{ "end beyond all", "{\"access_token\":\"t\",\"expires_in\":1e300}", "Bearer t", 0 },
	{ "empty token", "{\"access_token\":\"\"}", NULL, 0 },
	{ "token of another kind", "{\"access_token\":1}", NULL, 0 },
	{ "no token", "{\"error\":\"invalid_client\"}", NULL, 0 },
	{ "no object", "[]", NULL, 0 },
	{ "no JSON", "access_token=t", NULL, 0 },
	{ "nothing", "", NULL, 0 },
};

static void test_answer(void **state)
{
	const struct answer_row *row = *state;
	_cleanup_buf_ struct buf authorization = BUF_INIT(4096);
	uint64_t expires_s = 4711;
	bool good = oauth2_answer_read(row->json, strlen(row->json), &authorization, &expires_s);

	assert_int_equal(good, row->authorization != NULL);
	if (!good)
		return;
	assert_string_equal(buf_str(&authorization), row->authorization);
	assert_int_equal(expires_s, row->expires_s);
}

struct fixture {
	struct loop *loop;
	struct http_server *server;
	struct http_client *client;
	struct http_oauth2 *source;
	struct http_oauth2_options options;
	char token_url[64], url[64];
	/* the token server's mind */
	bool wants_form; /* refuses a client in the header */
	unsigned int expires_s;
	unsigned int n_tokens; /* given */
	unsigned int n_asked;
	bool broken;
	/* the guarded server's */
	bool revoked;
	char seen[256]; /* Authorization of the last request */
	/* results */
	unsigned int n_done, n_ok;
	enum http_outcome outcome;
	char error[HTTP_MAX_ERROR_BYTES];
};

static void answer_token(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	const char *authorization = http_call_header(call, "Authorization");
	size_t n;
	const char *form = http_call_body(call, &n);
	/* base64 of "me:s%26t": each half is escaped as in a form. */
	bool right = f->wants_form
			     ? !authorization && strstr(form, "client_id=me&client_secret=s%26t")
			     : authorization && strcmp(authorization, "Basic bWU6cyUyNnQ=") == 0;

	f->n_asked++;
	if (!right || f->broken) {
		answer->status = 401;
		return;
	}
	(void)buf_printf(&answer->body, "{\"access_token\":\"t%u\",\"expires_in\":%u}",
			 ++f->n_tokens, f->expires_s);
}

static void answer_guarded(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	const char *authorization = http_call_header(call, "Authorization");

	(void)snprintf(f->seen, sizeof(f->seen), "%s", authorization ? authorization : "");
	if (f->revoked)
		answer->status = 401;
}

static void set_up(struct fixture *f)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->expires_s = 3600;
	options.listen = "127.0.0.1:0";
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	const struct http_route routes[] = { { .method = "POST",
					       .path = "/token",
					       .fn = answer_token,
					       .data = f,
					       .max_body_bytes = 1 << 10 },
					     { .method = "GET",
					       .path = "/guarded",
					       .fn = answer_guarded,
					       .data = f } };
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
	(void)snprintf(f->token_url, sizeof(f->token_url), "http://127.0.0.1:%u/token",
		       http_server_port(f->server));
	(void)snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u/guarded",
		       http_server_port(f->server));
	f->options = (struct http_oauth2_options){ .client_id = "me",
						   .client_secret = "s&t",
						   .token_url = f->token_url };
}

static void tear_down(struct fixture *f)
{
	http_oauth2_free(f->source);
	http_client_free(f->client);
	http_server_free(f->server);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->n_done++;
	f->n_ok += result->outcome == HTTP_DONE && result->status == 200;
	f->outcome = result->outcome;
	(void)snprintf(f->error, sizeof(f->error), "%s", result->error);
}

static struct http_request *ask(struct fixture *f)
{
	struct http_request_options options = { .url = f->url, .oauth2 = f->source };
	struct http_request *request;

	assert_int_equal(http_request_start(f->client, &options, on_done, f, &request), 0);
	return request;
}

static void wait_for(struct fixture *f, unsigned int n)
{
	LOOP_WHILE(f->loop, f->n_done < n);
	assert_int_equal(f->n_done, n);
}

static void open_source(struct fixture *f)
{
	assert_int_equal(http_oauth2_new(f->loop, f->client, &f->options, &f->source), 0);
}

static void test_one_token_for_many(void **state)
{
	struct fixture *f = *state;

	open_source(f);
	for (int i = 0; i < 5; i++)
		(void)ask(f);
	assert_int_equal(f->n_done, 0);
	wait_for(f, 5);
	assert_int_equal(f->n_ok, 5);
	(void)ask(f);
	wait_for(f, 6);
	assert_int_equal(f->n_ok, 6);
	assert_int_equal(f->n_tokens, 1);
	assert_string_equal(f->seen, "Bearer t1");
}

static void test_client_in_the_form(void **state)
{
	struct fixture *f = *state;

	f->wants_form = true;
	f->expires_s = 1;
	open_source(f);
	(void)ask(f);
	wait_for(f, 1);
	assert_int_equal(f->n_ok, 1);
	assert_int_equal(f->n_asked, 2);
	/* What worked is tried first the next time. */
	(void)ask(f);
	wait_for(f, 2);
	assert_int_equal(f->n_ok, 2);
	assert_int_equal(f->n_asked, 3);
}

/* One that ends sooner than a request takes is good for those that waited for it. */
static void test_end_of_a_token(void **state)
{
	struct fixture *f = *state;

	f->expires_s = 5;
	open_source(f);
	for (unsigned int i = 1; i <= 3; i++) {
		(void)ask(f);
		wait_for(f, i);
		assert_int_equal(f->n_tokens, i);
	}
	assert_string_equal(f->seen, "Bearer t3");
}

static void test_refused_token(void **state)
{
	struct fixture *f = *state;

	open_source(f);
	f->revoked = true;
	(void)ask(f);
	wait_for(f, 1);
	assert_int_equal(f->outcome, HTTP_DONE);
	f->revoked = false;
	(void)ask(f);
	wait_for(f, 2);
	assert_int_equal(f->n_ok, 1);
	assert_string_equal(f->seen, "Bearer t2");
}

static void test_no_token(void **state)
{
	struct fixture *f = *state;

	f->broken = true;
	open_source(f);
	(void)ask(f);
	(void)ask(f);
	wait_for(f, 2);
	assert_int_equal(f->outcome, HTTP_FAILED);
	assert_non_null(strstr(f->error, "cannot fetch an OAuth 2.0 token from http://"));
	assert_non_null(strstr(f->error, "/token: status 401"));
	assert_string_equal(f->seen, "");
	/* It is back. */
	f->broken = false;
	(void)ask(f);
	wait_for(f, 3);
	assert_int_equal(f->n_ok, 1);
}

static void test_no_server(void **state)
{
	struct fixture *f = *state;

	f->options.token_url = "http://127.0.0.1:1/token";
	open_source(f);
	(void)ask(f);
	wait_for(f, 1);
	assert_int_equal(f->outcome, HTTP_FAILED);
	assert_non_null(strstr(f->error, "cannot fetch an OAuth 2.0 token: cannot connect"));
}

static void test_secret_in_a_file(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_oauth2.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	assert_true(fd >= 0);
	f->options.client_secret = NULL;
	f->options.client_secret_file = path;
	open_source(f);
	assert_int_equal(write(fd, "s&t\n", 4), 4);
	(void)ask(f);
	wait_for(f, 1);
	assert_int_equal(f->n_ok, 1);
	(void)unlink(path);
	f->revoked = true;
	(void)ask(f);
	wait_for(f, 2);
	(void)ask(f);
	assert_int_equal(f->n_done, 2);
	wait_for(f, 3);
	assert_int_equal(f->outcome, HTTP_FAILED);
	assert_non_null(strstr(f->error, "cannot read the secret in /tmp/test_oauth2."));
}

static void test_cancelled_while_waiting(void **state)
{
	struct fixture *f = *state;

	open_source(f);
	struct http_request *first = ask(f);
	(void)ask(f);
	http_request_cancel(first);
	wait_for(f, 1);
	assert_int_equal(f->n_ok, 1);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_one_token_for_many),
	FIXTURE_TEST(test_client_in_the_form),
	FIXTURE_TEST(test_end_of_a_token),
	FIXTURE_TEST(test_refused_token),
	FIXTURE_TEST(test_no_token),
	FIXTURE_TEST(test_no_server),
	FIXTURE_TEST(test_secret_in_a_file),
	FIXTURE_TEST(test_cancelled_while_waiting),
	TEST_ROWS(test_form, form_rows, name),
	TEST_ROWS(test_answer, answer_rows, name),
};

TEST_MAIN(tests)
