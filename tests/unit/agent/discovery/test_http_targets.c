/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that a server in the same loop lists. */
#include <string.h>

#include "agent/discovery/http_targets.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"

#define LIST(address) "[{\"targets\":[\"" address "\"],\"labels\":{\"x\":\"y\"}}]"

struct place {
	struct loop *loop;
	struct http_client *http;
	struct http_server *server;
	struct http_targets *targets;
	char url[64];
	/* What the server answers, and what it was asked. */
	unsigned int status;
	const char *type, *body;
	struct buf asked;
	/* What came back. */
	unsigned int n_answers, n_changes;
	char problem[HTTP_MAX_ERROR_BYTES];
};

static void answer(const struct http_call *call, struct http_answer *ret, void *data)
{
	static const char *const names[] = { "Accept", "X-Prometheus-Refresh-Interval-Seconds",
					     "User-Agent", "Authorization", "X-A" };
	struct place *p = data;

	buf_reset(&p->asked);
	(void)buf_append_str(&p->asked, http_call_method(call));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = http_call_header(call, names[i]);

		(void)buf_printf(&p->asked, "|%s", value ? value : "-");
	}
	ret->status = p->status;
	ret->content_type = p->type;
	(void)buf_append_str(&ret->body, p->body);
}

static void on_answer(bool changed, const char *problem, void *data)
{
	struct place *p = data;

	p->n_answers++;
	p->n_changes += changed;
	(void)snprintf(p->problem, sizeof(p->problem), "%s", problem ? problem : "");
}

static void set_up(struct place *p)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	assert_int_equal(loop_new(&p->loop), 0);
	assert_int_equal(http_client_new(p->loop, &p->http), 0);
	options.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(p->loop, &options, &p->server, error), HTTP_LISTENING);
	assert_int_equal(http_server_add_route(
				 p->server, &(struct http_route){ .method = "GET",
								  .path = "/sd",
								  .fn = answer,
								  .data = p }),
			 0);
	(void)snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%u/sd",
		       http_server_port(p->server));
	buf_init(&p->asked, 10000);
	p->status = 200;
	p->type = "application/json";
	p->body = LIST("1");
}

static void tear_down(struct place *p)
{
	http_targets_free(p->targets);
	http_server_free(p->server);
	http_client_free(p->http);
	loop_free(p->loop);
	buf_fini(&p->asked);
}

FIXTURE(struct place, set_up, tear_down)

static void begin(struct place *p, const struct http_targets_options *options)
{
	assert_int_equal(http_targets_new(p->loop, p->http, options, on_answer, p, &p->targets), 0);
	http_targets_start(p->targets);
}

static void begin_plain(struct place *p, uint64_t interval_ns)
{
	begin(p, &(struct http_targets_options){ .refresh_interval_ns = interval_ns,
						 .request = { .url = p->url } });
}

static void wait_answers(struct place *p, unsigned int n)
{
	LOOP_WHILE(p->loop, p->n_answers < n);
	assert_true(p->n_answers >= n);
}

/* One that takes longer than the interval is one that fails; the next may be faster. */
static void wait_state(struct place *p, unsigned int n_changes, const char *problem)
{
	LOOP_WHILE(p->loop, p->n_changes != n_changes || strcmp(p->problem, problem) != 0);
	assert_string_equal(p->problem, problem);
	assert_int_equal(p->n_changes, n_changes);
}

static void assert_only_target(const struct place *p, const char *address)
{
	const struct target_list *list = http_targets_get(p->targets);

	assert_int_equal(list->n, 1);
	assert_string_equal(labels_get(list->items[0], "__address__"), address);
	assert_string_equal(labels_get(list->items[0], "__meta_url"), p->url);
	assert_string_equal(labels_get(list->items[0], "x"), "y");
	assert_int_equal(list->items[0]->n, 3);
}

static void test_asked_at_once(void **state)
{
	static const struct http_header header = { "X-A", "b" };
	struct place *p = *state;

	begin(p, &(struct http_targets_options){
			 .refresh_interval_ns = 60 * NS_PER_S,
			 .request = { .url = p->url,
				      .headers = &header,
				      .n_headers = 1,
				      .user_agent = "me/1" },
			 .credentials = { .bearer_token = "t" },
		 });
	assert_int_equal(http_targets_get(p->targets)->n, 0);
	wait_answers(p, 1);
	assert_string_equal(buf_str(&p->asked), "GET|application/json|60|me/1|Bearer t|b");
	assert_string_equal(p->problem, "");
	assert_int_equal(p->n_changes, 1);
	assert_only_target(p, "1");
}

static void test_asked_again(void **state)
{
	struct place *p = *state;

	begin_plain(p, 20 * NS_PER_MS);
	wait_state(p, 1, "");
	assert_non_null(strstr(buf_str(&p->asked), "|0.02|"));
	/* The same is no change. */
	wait_answers(p, p->n_answers + 3);
	assert_int_equal(p->n_changes, 1);
	p->body = LIST("2");
	wait_state(p, 2, "");
	assert_only_target(p, "2");
	p->body = "[]";
	wait_state(p, 3, "");
	assert_int_equal(http_targets_get(p->targets)->n, 0);
}

static void test_inherited(void **state)
{
	struct place *p = *state;
	struct http_targets *first;

	begin_plain(p, 60 * NS_PER_S);
	wait_answers(p, 1);
	first = p->targets;
	begin_plain(p, 60 * NS_PER_S);
	http_targets_inherit(p->targets, first);
	http_targets_free(first);
	assert_only_target(p, "1");
	wait_answers(p, 2);
	assert_int_equal(p->n_changes, 1);
}

static void test_nobody_there(void **state)
{
	struct place *p = *state;

	(void)snprintf(p->url, sizeof(p->url), "http://127.0.0.1:1/");
	begin_plain(p, 60 * NS_PER_S);
	wait_answers(p, 1);
	assert_string_equal(p->problem, "cannot connect to 127.0.0.1:1: Connection refused");
}

static void test_no_secret(void **state)
{
	struct place *p = *state;

	begin(p, &(struct http_targets_options){
			 .refresh_interval_ns = 60 * NS_PER_S,
			 .request = { .url = p->url },
			 .credentials = { .bearer_token_file = "/nowhere" },
		 });
	assert_int_equal(p->n_answers, 1);
	assert_string_equal(p->problem,
			    "cannot read the secret in /nowhere: No such file or directory");
}

static const struct row {
	const char *name;
	unsigned int status;
	const char *type, *body;
	const char *expected; /* the problem; NULL: none, and two targets */
} rows[] = {
	{ "charset", 200, "application/json; charset=utf-8", "[{\"targets\":[\"a\",\"b\"]}]",
	  NULL },
	{ "quoted charset", 200, "Application/JSON;charset=\"UTF-8\"",
	  "[{\"targets\":[\"a\",\"b\"]}]", NULL },
	{ "status", 404, "application/json", "[]", "server returned HTTP status 404" },
	{ "no content", 204, "application/json", "", "server returned HTTP status 204" },
	{ "type", 200, "text/plain", "[]", "unsupported content type \"text/plain\"" },
	{ "other charset", 200, "application/json; charset=latin1", "[]",
	  "unsupported content type \"application/json; charset=latin1\"" },
	{ "longer type", 200, "application/jsonx", "[]",
	  "unsupported content type \"application/jsonx\"" },
	{ "no semicolon", 200, "application/json charset=utf-8", "[]",
	  "unsupported content type \"application/json charset=utf-8\"" },
	{ "mistake", 200, "application/json", "[{]",
	  "line 1, column 3: string or '}' expected near ']'" },
	{ "YAML", 200, "application/json", "- targets: [a]",
	  "line 1, column 1: invalid token near '-'" },
	{ "empty", 200, "application/json", "", "this is empty, expected a list of target groups" },
	{ "object", 200, "application/json", "{}",
	  "this is a mapping, expected a list of target groups" },
	{ "unknown field", 200, "application/json", "[{\"a\":1}]",
	  "group 1: unknown field \"a\", expected targets and labels" },
};

/* What is wrong takes nothing away. */
static void test_answer(void **state)
{
	const struct row *row = *state;
	struct place *p;
	void *own;

	(void)setup(&own);
	p = own;
	begin_plain(p, 20 * NS_PER_MS);
	wait_state(p, 1, "");
	p->status = row->status;
	p->type = row->type;
	p->body = row->body;
	wait_state(p, row->expected ? 1 : 2, row->expected ? row->expected : "");
	assert_int_equal(http_targets_get(p->targets)->n, row->expected ? 1 : 2);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_asked_at_once),
	FIXTURE_TEST(test_asked_again),
	FIXTURE_TEST(test_inherited),
	FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_no_secret),
	TEST_ROWS(test_answer, rows, name),
};

TEST_MAIN(tests)
