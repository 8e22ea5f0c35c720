/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.receive_http: an address of its own that comes and goes with its arguments, and what its requests become. */
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "agent/component/receiver.h"
#include "agent/component/receivers/receive_http_args.h"
#include "agent/http/client.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"

#define ID_IN "pyroscope.receive_http.in"

/* A server behind it. */
struct server {
	struct http_server *http;
	unsigned int status, n_pushes;
	char body[4096];
	size_t n_body;
	char name[256], format[16], from[32], type[64]; /* of /ingest */
};

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct server *s = data;
	const char *body = http_call_body(call, &s->n_body);

	assert_in_range(s->n_body, 1, sizeof(s->body));
	memcpy(s->body, body, s->n_body);
	s->n_pushes++;
	answer->status = s->status;
	answer->content_type = "application/proto";
}

static void copy(char *out, size_t n, const char *text)
{
	(void)snprintf(out, n, "%s", text ? text : "");
}

/* A server's answer has no body. */
static void answer_ingest(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct server *s = data;

	answer_push(call, answer, data);
	answer->content_type = NULL;
	copy(s->name, sizeof(s->name), http_call_query(call, "name"));
	copy(s->format, sizeof(s->format), http_call_query(call, "format"));
	copy(s->from, sizeof(s->from), http_call_query(call, "from"));
	copy(s->type, sizeof(s->type), http_call_header(call, "Content-Type"));
}

struct context {
	struct fixture *f;
	struct server server;
};

static int setup_context(void **state)
{
	struct context *w = calloc(1, sizeof(*w));
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	struct http_route route = { .method = "POST",
				    .path = "/push.v1.PusherService/Push",
				    .fn = answer_push,
				    .data = &w->server,
				    .max_body_bytes = 1 << 20 };
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	void *fixture = NULL;

	assert_non_null(w);
	assert_int_equal(setup(&fixture), 0);
	w->f = fixture;
	w->server.status = 200;
	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(w->f->env.loop, &o, &w->server.http, error),
			 HTTP_LISTENING);
	assert_int_equal(http_server_add_route(w->server.http, &route), 0);
	route.path = "/ingest";
	route.fn = answer_ingest;
	assert_int_equal(http_server_add_route(w->server.http, &route), 0);
	*state = w;
	return 0;
}

static int teardown_context(void **state)
{
	struct context *w = *state;
	void *fixture = w->f;

	graph_free(w->f->graph);
	w->f->graph = NULL;
	http_server_free(w->server.http);
	(void)teardown(&fixture);
	free(w);
	return 0;
}

/* A component that listens on `port` and sends to the server. */
static void load_port(struct context *w, unsigned int port, const char *http)
{
	_cleanup_buf_ struct buf text = BUF_INIT(8192);

	(void)buf_printf(&text,
			 "pyroscope.write \"w\" { endpoint {\nurl = \"http://127.0.0.1:%u\"\n"
			 "min_backoff_period = \"10s\"\nmax_backoff_period = \"10s\"\n} }\n"
			 "pyroscope.receive_http \"in\" {\nforward_to = "
			 "[pyroscope.write.w.receiver]\nhttp {\nlisten_address = "
			 "\"127.0.0.1\"\nlisten_port = %u\n%s}\n}\n",
			 http_server_port(w->server.http), port, http);
	assert_loads(w->f, buf_str(&text));
	assert_int_equal(graph_run(w->f->graph, &w->f->messages), 0);
}

static const struct river_value *info_of(const struct context *w, struct river_arena *arena)
{
	struct component *c = (struct component *)find(w->f, ID_IN);
	const struct river_value *info = NULL;

	river_arena_init(arena, 65536);
	assert_int_equal(c->kind->debug_info(c, arena, &info), 0);
	return info;
}

static unsigned int number_of(const struct context *w, const char *name)
{
	struct river_arena arena;
	const struct river_value *info = info_of(w, &arena);

	assert_non_null(info);
	int64_t n = river_value_get_int(river_value_find(info, name));
	river_arena_fini(&arena);
	return (unsigned int)n;
}

struct outcome {
	bool done;
	unsigned int status;
};

static void on_done(const struct http_result *result, void *data)
{
	struct outcome *o = data;

	o->done = true;
	o->status = result->status;
}

static void turn_until(struct context *w, const bool *done)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (!*done) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
}

/* The status; 0: nobody answers there. */
static unsigned int post(struct context *w, unsigned int port, const char *path, const char *type,
			 const void *body, size_t n)
{
	char url[256];
	const struct http_header header = { "Content-Type", type };
	const struct http_piece piece = { body, n };
	struct http_request_options o = { .method = "POST",
					  .url = url,
					  .headers = &header,
					  .n_headers = 1,
					  .pieces = &piece,
					  .n_pieces = 1,
					  .timeout_ns = 5 * NS_PER_S,
					  .max_response_bytes = 4096,
					  .user_agent = "t" };
	struct http_request *request = NULL;
	struct outcome outcome = { 0 };

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", port, path);
	assert_int_equal(http_request_start(w->f->env.http, &o, on_done, &outcome, &request), 0);
	turn_until(w, &outcome.done);
	return outcome.status;
}

static unsigned int post_folded(struct context *w, unsigned int port)
{
	return post(w, port, "/ingest?name=app", "text/plain", "a;b 1\n", 6);
}

static void wait_pushes(struct context *w, unsigned int n)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (w->server.n_pushes < n) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
}

static void test_bytes_are_those_that_came(void **state)
{
	struct context *w = *state;
	struct made_profile made;
	size_t n;

	load_port(w, 0, "");
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	made_profile_sample(&made, "main;f", (const int64_t[]){ 20 }, NULL);
	uint8_t *bytes = made_profile_gzip(&made, &n);
	made_profile_fini(&made);
	assert_int_equal(post(w, number_of(w, "port"), "/ingest?name=app%7Bx=1%7D&format=pprof",
			      "text/plain", bytes, n),
			 200);
	wait_pushes(w, 1);
	assert_non_null(memmem(w->server.body, w->server.n_body, bytes, n));
	assert_non_null(memmem(w->server.body, w->server.n_body, "process_cpu", 11));
	assert_int_equal(number_of(w, "profiles"), 1);
	free(bytes);
}

static void test_push(void **state)
{
	struct context *w = *state;
	static const char json[] =
		"{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"n\"},"
		"{\"name\":\"service_name\",\"value\":\"svc\"}],\"samples\":[{\"rawProfile\":"
		"\"QUJDREVGR0g=\"}]}]}";

	load_port(w, 0, "");
	assert_int_equal(post(w, number_of(w, "port"), "/push.v1.PusherService/Push",
			      "application/json", json, strlen(json)),
			 200);
	wait_pushes(w, 1);
	assert_non_null(memmem(w->server.body, w->server.n_body, "ABCDEFGH", 8));
	assert_non_null(memmem(w->server.body, w->server.n_body, "svc", 3));
	assert_int_equal(post(w, number_of(w, "port"), "/push.v1.PusherService/Push",
			      "application/json", "{}", 2),
			 400);
	assert_int_equal(
		post(w, number_of(w, "port"), "/push.v1.PusherService/Push", "text/plain", "{}", 2),
		415);
	assert_int_equal(
		post(w, number_of(w, "port"), "/pyroscope/ingest?name=a", "text/plain", "a;b x", 5),
		422);
	assert_int_equal(number_of(w, "refused_requests"), 2);
}

/* What nobody here reads goes to the server as it came; without one it is refused. */
static void test_recording(void **state)
{
	struct context *w = *state;
	static const char type[] = "multipart/form-data; boundary=b", body[] = "FLR\0recording";
	struct river_arena arena;

	load_port(w, 0, "");
	assert_int_equal(post(w, number_of(w, "port"),
			      "/ingest?name=my.app%7Bx=a%20b,__y__=1%7D&format=jfr&from=1700000000"
			      "&spyName=java%26spy",
			      type, body, sizeof(body)),
			 200);
	wait_pushes(w, 1);
	assert_int_equal(w->server.n_body, sizeof(body));
	assert_memory_equal(w->server.body, body, sizeof(body));
	assert_string_equal(w->server.type, type);
	assert_string_equal(w->server.name, "my.app{x=a b}");
	assert_string_equal(w->server.format, "jfr");
	assert_string_equal(w->server.from, "1700000000000000000");
	assert_loads(w->f, "pyroscope.receive_http \"in\" {\nforward_to = []\nhttp {\n"
			   "listen_address = \"127.0.0.1\"\nlisten_port = 0\n}\n}\n");
	assert_int_equal(graph_run(w->f->graph, &w->f->messages), 0);
	assert_non_null(info_of(w, &arena));
	river_arena_fini(&arena);
	assert_int_equal(post(w, number_of(w, "port"), "/ingest?name=app&format=jfr", type, body,
			      sizeof(body)),
			 415);
}

/* Whatever it is called by. */
static void test_host(void **state)
{
	struct context *w = *state;
	const struct http_header headers[] = { { "Host", "pyroscope.example:80" } };
	const struct http_piece piece = { "a;b 1", 5 };
	struct http_request_options o = { .method = "POST",
					  .headers = headers,
					  .n_headers = 1,
					  .pieces = &piece,
					  .n_pieces = 1,
					  .timeout_ns = 5 * NS_PER_S,
					  .max_response_bytes = 4096,
					  .user_agent = "t" };
	struct http_request *request = NULL;
	struct outcome outcome = { 0 };
	char url[64];

	load_port(w, 0, "");
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/ingest?name=app",
		       number_of(w, "port"));
	o.url = url;
	assert_int_equal(http_request_start(w->f->env.http, &o, on_done, &outcome, &request), 0);
	turn_until(w, &outcome.done);
	assert_int_equal(outcome.status, 200);
}

/* A port that is free, and another one. */
static unsigned int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	(void)close(fd);
	return ntohs(a.sin_port);
}

static void test_another_address(void **state)
{
	struct context *w = *state;
	unsigned int first = free_port(), second = free_port();

	load_port(w, first, "");
	assert_int_equal(post_folded(w, first), 200);
	load_port(w, second, "");
	assert_int_equal(post_folded(w, second), 200);
	assert_int_equal(post_folded(w, first), 0);
	/* The same address with other limits, then with the same. */
	load_port(w, second, "conn_limit = 3\n");
	assert_int_equal(post_folded(w, second), 200);
	load_port(w, second, "conn_limit = 3\nserver_write_timeout = \"3s\"\n");
	assert_int_equal(post_folded(w, second), 200);
	assert_int_equal(number_of(w, "profiles"), 4);
}

/* Somebody else's address: it is tried again. */
static void test_address_that_is_taken(void **state)
{
	struct context *w = *state;
	unsigned int port = http_server_port(w->server.http), other = free_port();
	struct river_arena arena;

	load_port(w, port, "");
	graph_check(w->f->graph);
	assert_int_equal(find(w->f, ID_IN)->health.state, HEALTH_UNHEALTHY);
	assert_null(info_of(w, &arena));
	river_arena_fini(&arena);
	load_port(w, other, "");
	bool later = false;
	for (int i = 0; i < 50 && !later; i++) {
		assert_int_equal(loop_run_once(w->f->env.loop, 10), 0);
		graph_check(w->f->graph);
		later = find(w->f, ID_IN)->health.state == HEALTH_HEALTHY;
	}
	assert_int_equal(post_folded(w, other), 200);
	/* One that works stays where the new address is taken. */
	load_port(w, port, "");
	assert_int_equal(post_folded(w, other), 200);
}

/* Its receivers have no room: nothing is taken, and the sender is told. */
static void test_no_room(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf body = BUF_INIT(8 << 20);
	unsigned int status = 200, n = 0;

	/* A server that is away: what comes waits. */
	w->server.status = 503;
	load_port(w, 0, "");
	(void)buf_append_str(&body, "{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":"
				    "\"n\"}],\"samples\":[{\"rawProfile\":\"");
	for (int i = 0; i < 1500000; i++)
		(void)buf_append(&body, "QUJD", 4);
	(void)buf_append_str(&body, "\"}]}]}");
	/* 4.3 MiB each: the queue has 32. */
	for (; n < 12 && status == 200; n++)
		status = post(w, number_of(w, "port"), "/push.v1.PusherService/Push",
			      "application/json", body.data, body.len);
	assert_int_equal(status, 429);
	assert_in_range(n, 5, 9);
	assert_int_equal(number_of(w, "profiles"), n - 1);
}

static void test_arguments(void **state)
{
	static const char *const wrong[] = {
		"",
		"forward_to = [1]",
		"forward_to = []\nhttp {\nlisten_port = 65536\n}",
		"forward_to = []\nhttp {\nlisten_port = -1\n}",
		"forward_to = []\nhttp {\nconn_limit = -1\n}",
		"forward_to = []\nhttp {\nserver_read_timeout = \"0s\"\n}",
		"forward_to = []\nhttp {\ntls { }\n}",
		"forward_to = []\nhttp {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\n}\n}",
		"forward_to = []\nhttp {\nport = 1\n}",
	};
	struct context *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);

		(void)buf_printf(&text, "pyroscope.receive_http \"in\" {\n%s\n}\n", wrong[i]);
		assert_int_not_equal(load(w->f, buf_str(&text)), RIVER_OK);
		assert_true(w->f->messages.len > 0);
	}
}

static void test_server_options(void **state)
{
	static const struct {
		const char *address, *listen;
	} rows[] = {
		{ "", ":8080" },
		{ "127.0.0.1", "127.0.0.1:8080" },
		{ "::1", "[::1]:8080" },
		{ "[::1]", "[::1]:8080" },
		{ "localhost", "localhost:8080" },
	};
	struct receive_server_args args = { .listen_port = 8080,
					    .read_timeout_ns = 1,
					    .idle_timeout_ns = 90 * (int64_t)NS_PER_S };
	char listen[RECEIVE_LISTEN_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		args.listen_address = rows[i].address;
		assert_string_equal(receive_http_server_options(&args, listen).listen,
				    rows[i].listen);
	}
	const struct http_server_options o = receive_http_server_options(&args, listen);
	assert_int_equal(o.max_connections, RECEIVE_DEFAULT_CONNECTIONS);
	assert_int_equal(o.request_timeout_s, 1);
	assert_int_equal(o.body_timeout_s, 1);
	assert_int_equal(o.idle_timeout_s, 90);
	assert_true(o.any_host);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_bytes_are_those_that_came, setup_context, teardown_context),
	TEST_WITH(test_push, setup_context, teardown_context),
	TEST_WITH(test_recording, setup_context, teardown_context),
	TEST_WITH(test_host, setup_context, teardown_context),
	TEST_WITH(test_another_address, setup_context, teardown_context),
	TEST_WITH(test_address_that_is_taken, setup_context, teardown_context),
	TEST_WITH(test_no_room, setup_context, teardown_context),
	TEST_WITH(test_arguments, setup_context, teardown_context),
	TEST(test_server_options),
};

TEST_MAIN(tests)
