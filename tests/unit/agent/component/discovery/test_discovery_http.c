/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.http in a graph, against a server in the same loop. */
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/discovery/discovered.h"

#define NAME "discovery.http.x"
#define LIST(address) "[{\"targets\":[\"" address "\"]}]"

struct place {
	struct fixture *f;
	struct http_server *server;
	const char *body;
	char authorization[64];
};

static void answer(const struct http_call *call, struct http_answer *ret, void *data)
{
	const char *authorization = http_call_header(call, "Authorization");
	struct place *p = data;

	(void)snprintf(p->authorization, sizeof(p->authorization), "%s",
		       authorization ? authorization : "");
	ret->content_type = "application/json";
	ret->status = p->body ? 200 : 503;
	(void)buf_append_str(&ret->body, p->body ? p->body : "");
}

static int place_setup(void **state)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct place *p = calloc(1, sizeof(*p));
	void *f = NULL;

	assert_non_null(p);
	assert_int_equal(setup(&f), 0);
	p->f = f;
	options.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(p->f->env.loop, &options, &p->server, error),
			 HTTP_LISTENING);
	assert_int_equal(http_server_add_route(p->server,
					       &(struct http_route){ .method = "GET",
								     .path = "/",
								     .prefix = true,
								     .fn = answer,
								     .data = p }),
			 0);
	*state = p;
	return 0;
}

static int place_teardown(void **state)
{
	struct place *p = *state;
	void *f = p->f;

	http_server_free(p->server);
	(void)teardown(&f);
	free(p);
	return 0;
}

static void load_http(struct place *p, const char *path, const char *more)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text,
			 "discovery.http \"x\" {\n\turl = \"http://127.0.0.1:%u%s\"\n"
			 "\trefresh_interval = \"30ms\"\n%s\n}\n",
			 http_server_port(p->server), path, more);
	assert_loads(p->f, buf_str(&text));
}

static void begin(struct place *p, const char *more)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	load_http(p, "/", more);
	assert_addresses(p->f, NAME, "");
	assert_int_equal(graph_run(p->f->graph, &why), 0);
}

static void wait_state(const struct place *p, enum health_state state)
{
	LOOP_WHILE(p->f->env.loop, find(p->f, NAME)->health.state != state);
	assert_int_equal(find(p->f, NAME)->health.state, state);
}

static void test_polled(void **state)
{
	struct place *p = *state;

	p->body = LIST("1");
	begin(p, "");
	assert_string_equal(find(p->f, NAME)->health.message, "waiting for the first answer");
	wait_found(p->f, NAME, "1", "1 targets");
	p->body = LIST("2");
	wait_found(p->f, NAME, "2", "1 targets");
}

static void test_down_and_back(void **state)
{
	struct place *p = *state;

	p->body = LIST("1");
	begin(p, "");
	wait_found(p->f, NAME, "1", "1 targets");
	p->body = NULL;
	wait_state(p, HEALTH_UNHEALTHY);
	assert_non_null(
		strstr(find(p->f, NAME)->health.message, "/: server returned HTTP status 503"));
	assert_addresses(p->f, NAME, "1");
	p->body = "{}";
	wait_state(p, HEALTH_UNHEALTHY);
	p->body = LIST("2");
	wait_found(p->f, NAME, "2", "1 targets");
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_HEALTHY);
}

static void test_other_arguments(void **state)
{
	struct place *p = *state;

	p->body = LIST("1");
	begin(p, "basic_auth {\n\tusername = \"u\"\n\tpassword = \"p\"\n}");
	wait_found(p->f, NAME, "1", "1 targets");
	assert_string_equal(p->authorization, "Basic dTpw");
	/* Until the other one has answered. */
	p->body = NULL;
	load_http(p, "/other", "bearer_token = \"t\"");
	assert_addresses(p->f, NAME, "1");
	p->body = LIST("2");
	wait_found(p->f, NAME, "2", "1 targets");
	assert_string_equal(p->authorization, "Bearer t");
}

/* An agent without the network is no reason to refuse its configuration. */
static void test_nobody_there(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct place *p = *state;

	assert_loads(p->f, "discovery.http \"x\" {\n\turl = \"http://127.0.0.1:1/a\"\n}\n");
	assert_int_equal(graph_run(p->f->graph, &why), 0);
	wait_found(p->f, NAME, "",
		   "http://127.0.0.1:1/a: cannot connect to 127.0.0.1:1: Connection refused");
}

static const struct mistake mistakes[] = {
	{ "no url", "discovery.http \"x\" { }\n", "a:1:1: missing required attribute \"url\"\n" },
	{ "scheme", "discovery.http \"x\" {\n\turl = \"ftp://h\"\n}\n",
	  "a:1:1: the URL must begin with http:// or https://\n" },
	{ "interval",
	  "discovery.http \"x\" {\n\turl = \"http://h\"\n\trefresh_interval = \"0s\"\n}\n",
	  "a:1:1: refresh_interval must be greater than 0\n" },
	{ "client",
	  "discovery.http \"x\" {\n\turl = \"http://h\"\n\tbearer_token = \"t\"\n"
	  "\tbasic_auth { }\n}\n",
	  "a:1:1: at most one of basic_auth, authorization, oauth2, bearer_token & "
	  "bearer_token_file must be configured\n" },
};

static const struct unit_test tests[] = {
	TEST_WITH(test_polled, place_setup, place_teardown),
	TEST_WITH(test_down_and_back, place_setup, place_teardown),
	TEST_WITH(test_other_arguments, place_setup, place_teardown),
	TEST_WITH(test_nobody_there, place_setup, place_teardown),
	TEST_ROWS(test_mistake, mistakes, name),
};

TEST_MAIN(tests)
