/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that come later, compressed ones, extra headers, and the prefix, over raw sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/http/encoding.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_LATERS 131
#define MANY 8

struct fixture {
	struct loop *loop;
	struct http_server *server;
	unsigned int max_connections; /* 0: the default */
	struct http_later *laters[MAX_LATERS];
	size_t n_laters;
	char text[65536];
	size_t n_text;
};

static void on_later(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	struct http_later *again = NULL;
	size_t n;
	const char *body = http_call_body(call, &n);

	assert_true(f->n_laters < MAX_LATERS);
	assert_int_equal(http_call_later(call, &f->laters[f->n_laters]), 0);
	assert_int_equal(http_call_later(call, &again), -EALREADY);
	assert_null(again);
	(void)buf_append_str(&answer->body, "not this");
	(void)buf_printf(&http_later_answer(f->laters[f->n_laters++])->body, "later %.*s", (int)n,
			 body);
}

static void on_at_once(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct http_later *later = NULL;

	(void)answer;
	(void)data;
	assert_int_equal(http_call_later(call, &later), 0);
	http_later_answer(later)->status = 202;
	(void)buf_append_str(&http_later_answer(later)->body, "at once");
	http_later_send(later);
}

static void on_text(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *type = http_call_query(call, "type");

	(void)data;
	answer->content_type = type ? type : "text/plain";
	http_answer_add_header(answer, "ETag", "W/\"1\"");
	http_answer_add_header(answer, "Cache-Control", "no-cache");
	if (http_call_query(call, "encoded"))
		http_answer_add_header(answer, "Content-Encoding",
				       http_call_query(call, "encoded"));
	for (int i = 0; i < 1000; i++)
		(void)buf_append_str(&answer->body, "as before, ");
}

static void on_many_headers(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	for (int i = 0; i <= HTTP_ANSWER_MAX_HEADERS; i++)
		http_answer_add_header(answer, "X-Header", "x");
}

static void on_path(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)data;
	(void)buf_printf(&answer->body, "path=%s", http_call_path(call));
}

static void add_routes(struct fixture *f)
{
	const struct http_route routes[] = {
		{ .method = "GET", .path = "/later", .fn = on_later, .data = f },
		{ .method = "POST",
		  .path = "/later",
		  .fn = on_later,
		  .data = f,
		  .max_body_bytes = 1 << 10 },
		{ .method = "GET", .path = "/at-once", .fn = on_at_once, .data = f },
		{ .method = "GET", .path = "/text", .fn = on_text, .data = f },
		{ .method = "GET", .path = "/many", .fn = on_many_headers, .data = f },
		{ .method = "GET", .path = "/path", .prefix = true, .fn = on_path, .data = f },
		{ .method = "GET", .path = "/", .fn = on_path, .data = f },
	};

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
}

static void begin(struct fixture *f, const char *prefix, unsigned int idle_timeout_s)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	options.listen = "127.0.0.1:0";
	options.prefix = prefix;
	options.idle_timeout_s = idle_timeout_s;
	if (f->max_connections)
		options.max_connections = f->max_connections;
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	add_routes(f);
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
}

static void tear_down(struct fixture *f)
{
	http_server_free(f->server);
	for (size_t i = 0; i < f->n_laters; i++)
		http_later_send(f->laters[i]);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static int dial(const struct fixture *f)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(http_server_port(f->server)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static int ask(const struct fixture *f, const char *request)
{
	int fd = dial(f);

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return fd;
}

static void wait_for_laters(struct fixture *f, size_t n)
{
	for (int i = 0; i < 1000 && f->n_laters < n; i++)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	assert_int_equal(f->n_laters, n);
}

/* Until the server closes, or has said `last`. */
static const char *hear(struct fixture *f, int fd, const char *last)
{
	size_t n = 0;

	for (int i = 0; i < 2000; i++) {
		ssize_t r = read(fd, f->text + n, sizeof(f->text) - 1 - n);

		if (r == 0 || (r < 0 && errno != EAGAIN))
			break;
		n += r > 0 ? (size_t)r : 0;
		f->text[n] = '\0';
		if (last && strstr(f->text, last))
			break;
		assert_int_equal(loop_run_once(f->loop, r > 0 ? 0 : 2), 0);
	}
	f->text[n] = '\0';
	f->n_text = n;
	return f->text;
}

static void send_later(struct fixture *f, size_t i)
{
	http_later_send(TAKE_PTR(f->laters[i]));
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

static void test_later(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, "POST /later HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
					"Content-Length: 3\r\n\r\nabc");
	wait_for_laters(f, 1);
	assert_true(http_later_is_awaited(f->laters[0]));
	/* Others are answered meanwhile. */
	_cleanup_close_ int other = ask(f, GET("/path"));
	assert_non_null(strstr(hear(f, other, NULL), "path=/path"));
	assert_int_equal(read(fd, f->text, sizeof(f->text)), -1);
	http_later_answer(f->laters[0])->status = 201;
	send_later(f, 0);
	assert_non_null(strstr(hear(f, fd, NULL), "HTTP/1.1 201 Created\r\n"));
	assert_non_null(strstr(f->text, "\r\n\r\nlater abc"));
}

static void test_at_once(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, GET("/at-once"));
	assert_non_null(strstr(hear(f, fd, NULL), "HTTP/1.1 202 Accepted\r\n"));
	assert_non_null(strstr(f->text, "\r\n\r\nat once"));
}

/* The next request of the same connection waits its turn. */
static void test_keep_alive(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n" GET("/path"));
	wait_for_laters(f, 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	assert_int_equal(read(fd, f->text, sizeof(f->text)), -1);
	send_later(f, 0);
	const char *text = hear(f, fd, NULL);
	assert_non_null(strstr(text, "later HTTP/1.1 200 OK"));
	assert_non_null(strstr(text, "path=/path"));
}

static void test_out_of_order(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int first = ask(f, GET("/later"));
	wait_for_laters(f, 1);
	_cleanup_close_ int second = ask(f, GET("/later"));
	wait_for_laters(f, 2);
	(void)buf_append_str(&http_later_answer(f->laters[0])->body, "first");
	(void)buf_append_str(&http_later_answer(f->laters[1])->body, "second");
	send_later(f, 1);
	assert_non_null(strstr(hear(f, second, NULL), "later second"));
	send_later(f, 0);
	assert_non_null(strstr(hear(f, first, NULL), "later first"));
}

static void test_client_gone(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	int fd = ask(f, GET("/later"));
	wait_for_laters(f, 1);
	(void)close(fd);
	for (int i = 0; i < 10; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	send_later(f, 0);
	_cleanup_close_ int other = ask(f, GET("/path"));
	assert_non_null(strstr(hear(f, other, NULL), "path=/path"));
}

static void test_server_freed(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, GET("/later"));
	wait_for_laters(f, 1);
	http_server_free(TAKE_PTR(f->server));
	assert_false(http_later_is_awaited(f->laters[0]));
	send_later(f, 0);
	assert_int_equal(read(fd, f->text, sizeof(f->text)), 0);
}

/* Answered, but not sent yet. */
static void test_server_freed_after_answer(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, GET("/later"));
	wait_for_laters(f, 1);
	send_later(f, 0);
	http_server_free(TAKE_PTR(f->server));
}

static void test_idle_timeout(void **state)
{
	struct fixture *f = *state;
	uint64_t end = clock_mono_ns() + 1300 * NS_PER_MS;

	begin(f, NULL, 1);
	_cleanup_close_ int fd = ask(f, GET("/later"));
	wait_for_laters(f, 1);
	while (clock_mono_ns() < end)
		assert_int_equal(loop_run_once(f->loop, 50), 0);
	assert_true(http_later_is_awaited(f->laters[0]));
	send_later(f, 0);
	assert_non_null(strstr(hear(f, fd, NULL), "\r\n\r\nlater "));
}

/* Many answers wait, and no connection is left over. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	int fds[MANY];

	begin(f, NULL, 30);
	for (size_t i = 0; i < MANY; i++)
		fds[i] = ask(f, GET("/later"));
	wait_for_laters(f, MANY);
	for (size_t i = 0; i < MANY; i++)
		send_later(f, i);
	for (size_t i = 0; i < MANY; i++) {
		assert_non_null(strstr(hear(f, fds[i], NULL), "\r\n\r\nlater "));
		(void)close(fds[i]);
	}
}

/* As many as the agent's queues take, one after the other, and more than there may be connections: others are answered all the same. */
static void test_all_wait(void **state)
{
	struct fixture *f = *state;
	int fds[MAX_LATERS];

	f->max_connections = 4;
	begin(f, NULL, 30);
	for (size_t i = 0; i < MAX_LATERS; i++) {
		fds[i] = ask(f, GET("/later"));
		wait_for_laters(f, i + 1);
	}
	_cleanup_close_ int other = ask(f, GET("/path"));
	assert_non_null(strstr(hear(f, other, NULL), "path=/path"));
	for (size_t i = 0; i < MAX_LATERS; i++) {
		send_later(f, i);
		assert_non_null(strstr(hear(f, fds[i], NULL), "\r\n\r\nlater "));
		(void)close(fds[i]);
	}
}

static void test_gzip(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, "GET /text HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
					"Connection: close\r\n\r\n");
	assert_non_null(strstr(hear(f, fd, NULL), "Content-Encoding: gzip\r\n"));
	assert_non_null(strstr(f->text, "Vary: Accept-Encoding\r\n"));
	assert_non_null(strstr(f->text, "ETag: W/\"1\"\r\nCache-Control: no-cache\r\n"));
	const char *body = strstr(f->text, "\r\n\r\n");
	assert_non_null(body);
	assert_memory_equal(body + 4, "\x1f\x8b", 2);
	assert_true(f->n_text < 1000);
}

static void test_gzip_later(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, "GET /later HTTP/1.1\r\nHost: localhost\r\n"
					"Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");
	wait_for_laters(f, 1);
	for (int i = 0; i < 1000; i++)
		(void)buf_append_str(&http_later_answer(f->laters[0])->body, "again and ");
	send_later(f, 0);
	assert_non_null(strstr(hear(f, fd, NULL), "Content-Encoding: gzip\r\n"));
}

/* Beyond what the loop does itself it goes out as it is, unless whoever made it has compressed it. */
static void test_gzip_large(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_close_ int fd =
			ask(f, "GET /later HTTP/1.1\r\nHost: localhost\r\n"
			       "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");
		wait_for_laters(f, i + 1);
		struct http_answer *answer = http_later_answer(f->laters[i]);

		while (answer->body.len <= ENCODING_MAX_LOOP_BYTES)
			(void)buf_append_str(&answer->body, "again and ");
		if (i == 1)
			http_answer_gzip(answer);
		assert_int_equal(answer->is_gzip, i == 1);
		assert_int_equal(answer->body.len > 100000, i == 0);
		send_later(f, i);
		if (i == 0)
			continue;
		assert_non_null(strstr(hear(f, fd, NULL), "Content-Encoding: gzip\r\n"));
		assert_non_null(strstr(f->text, "Vary: Accept-Encoding\r\n"));
	}
}

/* Too small to be worth it, or of a kind that is compressed already. */
static void test_gzip_not_worth(void **state)
{
	static const char *const types[] = { "text/plain", "application/zip" };
	static const size_t sizes[] = { 100, 100000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct http_answer answer = { .content_type = types[i], .body = BUF_INIT(1 << 20) };

		while (answer.body.len < sizes[i])
			(void)buf_append_str(&answer.body, "again and ");
		size_t n = answer.body.len;

		http_answer_gzip(&answer);
		assert_false(answer.is_gzip);
		assert_int_equal(answer.body.len, n);
		buf_fini(&answer.body);
	}
}

struct plain_row {
	const char *request;
	bool vary;
};

static const struct plain_row plain_rows[] = {
	{ GET("/text"), true },
	{ "GET /text?type=application/zip HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
	  "Connection: close\r\n\r\n",
	  false },
	{ "GET /text?encoded=br HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
	  "Connection: close\r\n\r\n",
	  false },
};

static void test_plain(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	for (size_t i = 0; i < ARRAY_SIZE(plain_rows); i++) {
		_cleanup_close_ int fd = ask(f, plain_rows[i].request);

		assert_null(strstr(hear(f, fd, NULL), "Content-Encoding: gzip\r\n"));
		assert_int_equal(strstr(f->text, "Vary: ") != NULL, plain_rows[i].vary);
		assert_true(f->n_text > 11000);
	}
}

static void test_many_headers(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL, 30);
	_cleanup_close_ int fd = ask(f, GET("/many"));
	assert_non_null(strstr(hear(f, fd, NULL), "HTTP/1.1 500 "));
	assert_null(strstr(f->text, "X-Header"));
}

struct prefix_row {
	const char *name, *prefix, *request, *answer;
};

static const struct prefix_row prefix_rows[] = {
	{ "below", "/agent", GET("/agent/path/x"), "path=/path/x" },
	{ "without it", "/agent", GET("/path/x"), "path=/path/x" },
	{ "slash at its end", "/agent/", GET("/agent/path"), "path=/path" },
	{ "two parts", "/a/b", GET("/a/b/path"), "path=/path" },
	{ "root", "/agent", GET("/agent/"), "path=/" },
	{ "itself", "/agent", GET("/agent"), "308 Permanent Redirect\r\n" },
	{ "where itself leads", "/agent", GET("/agent"), "Location: /agent/\r\n" },
	{ "only whole parts", "/agent", GET("/agentpath"), "404 Not Found\r\n" },
	{ "once", "/path", GET("/path/path"), "path=/path" },
	{ "just a slash", "/", GET("/path"), "path=/path" },
	{ "empty", "", GET("/path"), "path=/path" },
};

static void test_prefix(void **state)
{
	const struct prefix_row *row = *state;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	begin(own, row->prefix, 30);
	int fd = ask(own, row->request);
	assert_non_null(strstr(hear(own, fd, NULL), row->answer));
	(void)close(fd);
	(void)teardown(&own);
}

/* A password for "/path" is asked below the prefix too. */
static void test_prefix_access(void **state)
{
	static const char *const paths[] = { "/path" };
	const struct http_access access = {
		.username = "u", .password = "p", .paths = paths, .n_paths = 1
	};
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	begin(f, "/agent", 30);
	assert_int_equal(http_server_secure(f->server, &access, NULL, &why), 0);
	_cleanup_close_ int fd = ask(f, GET("/agent/path"));
	assert_non_null(strstr(hear(f, fd, NULL), "401 Unauthorized\r\n"));
	_cleanup_close_ int open = ask(f, GET("/agent/"));
	assert_non_null(strstr(hear(f, open, NULL), "path=/"));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_prefix, prefix_rows, name),
	FIXTURE_TEST(test_later),
	FIXTURE_TEST(test_at_once),
	FIXTURE_TEST(test_keep_alive),
	FIXTURE_TEST(test_out_of_order),
	FIXTURE_TEST(test_client_gone),
	FIXTURE_TEST(test_server_freed),
	FIXTURE_TEST(test_server_freed_after_answer),
	FIXTURE_TEST(test_idle_timeout),
	FIXTURE_TEST(test_many),
	FIXTURE_TEST(test_all_wait),
	FIXTURE_TEST(test_gzip),
	FIXTURE_TEST(test_gzip_later),
	FIXTURE_TEST(test_gzip_large),
	TEST(test_gzip_not_worth),
	FIXTURE_TEST(test_plain),
	FIXTURE_TEST(test_many_headers),
	FIXTURE_TEST(test_prefix_access),
};

TEST_MAIN(tests)
