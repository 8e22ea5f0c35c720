/* SPDX-License-Identifier: Apache-2.0 */
/* remote.http against a server in another process: the first answer is waited for in a loop of its own. */
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/clock.h"

struct place {
	struct fixture *f;
	pid_t server;
	uint16_t port;
};

/* What the server is asked is what it answers, but for some paths. */
static void answer(const struct http_call *call, struct http_answer *ret, void *data)
{
	static bool off;
	unsigned int *n_calls = data;
	const char *path = http_call_path(call);
	const char *header = http_call_header(call, "X-A");
	const char *authorization = http_call_header(call, "Authorization");
	size_t n;
	const char *body = http_call_body(call, &n);

	++*n_calls;
	if (strcmp(path, "/teapot") == 0)
		ret->status = 418;
	if (strcmp(path, "/off") == 0)
		off = true;
	if (strcmp(path, "/lamp") == 0 && off)
		ret->status = 503;
	if (strcmp(path, "/count") == 0)
		(void)buf_printf(&ret->body, "%u", *n_calls);
	else if (strcmp(path, "/token") == 0)
		(void)buf_printf(&ret->body, "{\"access_token\":\"t\"}");
	else
		(void)buf_printf(&ret->body, " %s %s %s|%s|%.*s \n", http_call_method(call), path,
				 header ? header : "-", authorization ? authorization : "-", (int)n,
				 body);
}

/* Ends with the test. */
static void serve(int out)
{
	static const char *const methods[] = { "GET", "POST", "PUT" };
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct http_server *server;
	unsigned int n_calls = 0;
	struct loop *loop;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	options.listen = "127.0.0.1:0";
	if (loop_new(&loop) < 0 ||
	    http_server_new(loop, &options, &server, error) != HTTP_LISTENING)
		_exit(1);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		(void)http_server_add_route(
			server, &(struct http_route){ .method = methods[i],
						      .path = "/",
						      .prefix = true,
						      .fn = answer,
						      .data = &n_calls,
						      .max_body_bytes = 1 << 20 });
	uint16_t port = http_server_port(server);
	if (write(out, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	(void)loop_run(loop);
	_exit(0);
}

static int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	void *f = NULL;
	int ends[2];

	assert_non_null(p);
	assert_int_equal(pipe(ends), 0);
	p->server = fork();
	assert_true(p->server >= 0);
	if (p->server == 0)
		serve(ends[1]);
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &p->port, sizeof(p->port)), sizeof(p->port));
	(void)close(ends[0]);
	assert_int_equal(setup(&f), 0);
	p->f = f;
	*state = p;
	return 0;
}

static int place_teardown(void **state)
{
	struct place *p = *state;
	void *f = p->f;

	(void)teardown(&f);
	(void)kill(p->server, SIGKILL);
	(void)waitpid(p->server, NULL, 0);
	free(p);
	return 0;
}

static int load_http(struct place *p, const char *path, const char *more)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "remote.http \"x\" {\n\turl = \"http://127.0.0.1:%u%s\"\n%s\n}\n",
			 p->port, path, more);
	return load(p->f, buf_str(&text));
}

static void begin(struct place *p, const char *path, const char *more)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(load_http(p, path, more), RIVER_OK);
	assert_string_equal(buf_str(&p->f->messages), "");
	assert_int_equal(graph_run(p->f->graph, &why), 0);
}

static void get_content(struct place *p, char *text, size_t n, bool *ret_secret)
{
	struct component *c = (struct component *)find(p->f, "remote.http.x");
	const struct river_value *exports, *content;
	struct river_arena arena;

	river_arena_init(&arena, (size_t)16 << 20);
	assert_int_equal(c->kind->exports(c, &arena, &exports), 0);
	content = river_value_find(exports, "content");
	(void)snprintf(text, n, "%s", river_value_get_secret_text(content, NULL));
	*ret_secret = river_value_is_secret(content);
	river_arena_fini(&arena);
}

static void assert_content(struct place *p, const char *expected, bool expected_secret)
{
	char text[4096];
	bool secret;

	get_content(p, text, sizeof(text), &secret);
	assert_string_equal(text, expected);
	assert_int_equal(secret, expected_secret);
}

static void wait_content(struct place *p, const char *expected)
{
	uint64_t end = clock_mono_ns() + 20 * NS_PER_S;
	char text[4096];
	bool secret;

	for (;;) {
		get_content(p, text, sizeof(text), &secret);
		if (strcmp(text, expected) == 0 || clock_mono_ns() > end)
			break;
		assert_int_equal(loop_run_once(p->f->env.loop, 20), 0);
	}
	assert_string_equal(text, expected);
}

static void test_first_answer(void **state)
{
	struct place *p = *state;

	begin(p, "/a", "");
	assert_content(p, "GET /a -|-|", false);
	assert_string_equal(find(p->f, "remote.http.x")->health.message, "polled endpoint");
}

static void test_arguments(void **state)
{
	struct place *p = *state;

	begin(p, "/a",
	      "method = \"PUT\"\nbody = \"hello\"\nheaders = { \"X-A\" = \"1\" }\nis_secret = "
	      "true\n"
	      "client {\n\tbasic_auth {\n\t\tusername = \"u\"\n\t\tpassword = \"p\"\n\t}\n}");
	assert_content(p, "PUT /a 1|Basic dTpw|hello", true);
}

static void test_oauth2(void **state)
{
	struct place *p = *state;
	char more[256];

	(void)snprintf(
		more, sizeof(more),
		"client {\n\toauth2 {\n\t\tclient_id = \"i\"\n\t\tclient_secret = \"s\"\n\t\t"
		"token_url = \"http://127.0.0.1:%u/token\"\n\t}\n}",
		p->port);
	begin(p, "/a", more);
	assert_content(p, "GET /a -|Bearer t|", false);
}

/* An answer that takes longer than this is one that fails; the next one may be faster, so it is tried again. */
static void begin_often(struct place *p, const char *path)
{
	static const char often[] = "poll_frequency = \"50ms\"\npoll_timeout = \"49ms\"";
	uint64_t end = clock_mono_ns() + 20 * NS_PER_S;

	while (load_http(p, path, often) != RIVER_OK && clock_mono_ns() < end)
		;
	begin(p, path, often);
}

static void test_polled(void **state)
{
	struct place *p = *state;
	uint64_t end = clock_mono_ns() + 20 * NS_PER_S;
	char text[64];
	bool secret;

	begin(p, "/count", "");
	assert_content(p, "1", false);
	begin_often(p, "/count");
	for (int i = 0; i < 2; i++) {
		char before[64];

		get_content(p, before, sizeof(before), &secret);
		do {
			assert_int_equal(loop_run_once(p->f->env.loop, 20), 0);
			get_content(p, text, sizeof(text), &secret);
		} while (strcmp(text, before) == 0 && clock_mono_ns() < end);
		assert_string_not_equal(text, before);
	}
}

static void wait_unhealthy(struct place *p)
{
	const struct component *c = find(p->f, "remote.http.x");

	LOOP_WHILE(p->f->env.loop, c->health.state != HEALTH_UNHEALTHY);
	assert_int_equal(c->health.state, HEALTH_UNHEALTHY);
}

static void on_done(const struct http_result *result, void *data)
{
	(void)result;
	*(bool *)data = true;
}

static void switch_off(struct place *p)
{
	struct http_request *request;
	bool done = false;
	char url[64];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/off", p->port);
	assert_int_equal(http_request_start(p->f->env.http,
					    &(struct http_request_options){ .url = url }, on_done,
					    &done, &request),
			 0);
	while (!done)
		assert_int_equal(loop_run_once(p->f->env.loop, 100), 0);
}

static void test_later_failure(void **state)
{
	struct place *p = *state;

	begin_often(p, "/lamp");
	assert_content(p, "GET /lamp -|-|", false);
	switch_off(p);
	wait_unhealthy(p);
	assert_content(p, "GET /lamp -|-|", false);
}

static void assert_ends_with(const struct fixture *f, const char *end)
{
	size_t n = strlen(end);

	if (f->messages.len < n || strcmp(buf_str(&f->messages) + f->messages.len - n, end) != 0)
		fail_msg("%s does not end with %s", buf_str(&f->messages), end);
}

static void test_other_arguments(void **state)
{
	struct place *p = *state;

	begin(p, "/a", "");
	begin(p, "/b", "");
	wait_content(p, "GET /b -|-|");
	/* Where nobody answers is no place to go to. */
	assert_int_equal(load_http(p, "/teapot", "is_secret = true"), RIVER_INVALID);
	assert_ends_with(p->f, "unexpected status code 418\n");
	assert_content(p, "GET /b -|-|", false);
	begin(p, "/b", "is_secret = true");
	assert_content(p, "GET /b -|-|", true);
}

static void test_no_first_answer(void **state)
{
	struct place *p = *state;

	assert_int_equal(load_http(p, "/teapot", ""), RIVER_INVALID);
	assert_ends_with(p->f, "unexpected status code 418\n");
	assert_int_equal(load_http(p, "/a", "client { bearer_token_file = \"/nowhere\" }"),
			 RIVER_INVALID);
	assert_ends_with(p->f, "cannot read the secret in /nowhere: No such file or directory\n");
	assert_int_equal(load(p->f, "remote.http \"x\" { url = \"http://127.0.0.1:1/\" }\n"),
			 RIVER_INVALID);
	assert_ends_with(p->f,
			 "performing request: cannot connect to 127.0.0.1:1: Connection refused\n");
	assert_int_equal(graph_n(p->f->graph), 0);
}

/* As `validate` has it: nobody is asked, and what depends on the answer is not judged; what is wrong besides is. */
static void test_offline(void **state)
{
	static const char text[] = "remote.http \"x\" { url = \"http://127.0.0.1:1/\" }\n"
				   "logging {\n\tlevel = remote.http.x.content\n}\n"
				   "tracing {\n\tsampling_fraction = "
				   "remote.http.x.content\n}\n";
	static const char wrong[] = "http { x = 1 }\n";
	_cleanup_buf_ struct buf both = BUF_INIT(4096);
	struct fixture *f;
	void *own;

	(void)state;
	assert_int_equal(setup(&own), 0);
	f = own;
	f->env.offline = true;
	(void)buf_printf(&both, "%s%s", text, wrong);
	assert_int_equal(load(f, buf_str(&both)), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), "a:8:8: unrecognized attribute name \"x\"\n");
	assert_loads(f, text);
	(void)teardown(&own);
}

static const struct row {
	const char *name, *text, *expected;
} rows[] = {
	{ "no url", "remote.http \"x\" { }\n", "a:1:1: missing required attribute \"url\"\n" },
	{ "frequency", "remote.http \"x\" {\n\turl = \"http://h\"\n\tpoll_frequency = \"0s\"\n}\n",
	  "a:1:1: poll_frequency must be greater than 0\n" },
	{ "timeout", "remote.http \"x\" {\n\turl = \"http://h\"\n\tpoll_timeout = \"0s\"\n}\n",
	  "a:1:1: poll_timeout must be greater than 0\n" },
	{ "both", "remote.http \"x\" {\n\turl = \"http://h\"\n\tpoll_timeout = \"1m\"\n}\n",
	  "a:1:1: poll_timeout must be less than poll_frequency\n" },
	{ "method", "remote.http \"x\" {\n\turl = \"http://h\"\n\tmethod = \"GET /\"\n}\n",
	  "a:1:1: method holds a character that HTTP does not allow\n" },
	{ "header",
	  "remote.http \"x\" {\n\turl = \"http://h\"\n\theaders = { \"a b\" = \"\" }\n}\n",
	  "a:1:1: a header's name or value holds a character that HTTP does not allow\n" },
	{ "client",
	  "remote.http \"x\" {\n\turl = \"http://h\"\n\tclient {\n\t\tbasic_auth { }\n\t\t"
	  "authorization { }\n\t}\n}\n",
	  "a:3:2: at most one of basic_auth, authorization, oauth2, bearer_token & "
	  "bearer_token_file must be configured\n" },
};

static void test_mistake(void **state)
{
	const struct row *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	assert_int_equal(load(f, row->text), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), row->expected);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_first_answer, place_setup, place_teardown),
	TEST_WITH(test_arguments, place_setup, place_teardown),
	TEST_WITH(test_oauth2, place_setup, place_teardown),
	TEST_WITH(test_polled, place_setup, place_teardown),
	TEST_WITH(test_later_failure, place_setup, place_teardown),
	TEST_WITH(test_other_arguments, place_setup, place_teardown),
	TEST_WITH(test_no_first_answer, place_setup, place_teardown),
	TEST(test_offline),
	TEST_ROWS(test_mistake, rows, name),
};

TEST_MAIN(tests)
