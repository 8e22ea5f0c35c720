/* SPDX-License-Identifier: Apache-2.0 */
/* The server over raw sockets, so that the bytes on the wire are judged and not what a client makes
 * of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/http/server.h"
#include "agent/util/macro.h"

#define MAX_BODY 1000

struct fixture {
	struct loop *loop;
	struct http_server *server;
	char text[8192];
};

static void answer_echo(const struct http_call *call, struct http_answer *answer, void *data)
{
	size_t n;
	const char *body = http_call_body(call, &n);
	const char *q = http_call_query(call, "q");

	(void)buf_printf(&answer->body, "%s|%s|%s|%s|%.*s", (const char *)data,
			 http_call_method(call), http_call_path(call), q ? q : "(none)", (int)n,
			 body);
}

static void answer_endless(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const char zeros[1 << 20];

	(void)call;
	(void)data;
	while (buf_append(&answer->body, zeros, sizeof(zeros)) == 0)
		;
}

struct waiting {
	struct loop *loop;
	int other;
};

/* As a reload does that waits for something; meanwhile somebody else asks. */
static void answer_waiting(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
	struct waiting *w = data;
	char c;

	(void)call;
	assert_int_equal(send(w->other, request, sizeof(request) - 1, MSG_NOSIGNAL),
			 sizeof(request) - 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_run_once(w->loop, 1), 0);
	assert_int_equal(recv(w->other, &c, 1, MSG_PEEK), -1);
	(void)buf_append_str(&answer->body, "waited");
}

static int setup(void **state)
{
	static const struct http_route routes[] = {
		{ .method = "GET",
		  .path = "/metrics",
		  .fn = answer_echo,
		  .data = (void *)"metrics" },
		{ .method = "GET",
		  .path = "/-/reload",
		  .fn = answer_echo,
		  .data = (void *)"reload" },
		{ .method = "POST",
		  .path = "/-/reload",
		  .fn = answer_echo,
		  .data = (void *)"reload",
		  .max_body_bytes = MAX_BODY },
		{ .method = "GET",
		  .path = "/api",
		  .prefix = true,
		  .fn = answer_echo,
		  .data = (void *)"api" },
		{ .method = "GET",
		  .path = "/api/v0/",
		  .prefix = true,
		  .fn = answer_echo,
		  .data = (void *)"v0" },
		{ .method = "GET",
		  .path = "/api/v0/exact",
		  .fn = answer_echo,
		  .data = (void *)"exact" },
		{ .method = "GET", .path = "/endless", .fn = answer_endless },
	};
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	options.listen = "127.0.0.1:0";
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	http_server_free(f->server);
	loop_free(f->loop);
	free(f);
	return 0;
}

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

/* Sends, then reads until the server closes. */
static const char *talk(struct fixture *f, const char *request)
{
	_cleanup_close_ int fd = dial(f);
	size_t n = 0, sent = 0, n_request = strlen(request);

	for (int i = 0; i < 1000; i++) {
		ssize_t r = sent < n_request
				    ? send(fd, request + sent, n_request - sent, MSG_NOSIGNAL)
				    : 0;

		sent += r > 0 ? (size_t)r : 0;
		assert_int_equal(loop_run_once(f->loop, 5), 0);
		r = read(fd, f->text + n, sizeof(f->text) - 1 - n);
		if (r == 0 || (r < 0 && errno != EAGAIN))
			break;
		n += r > 0 ? (size_t)r : 0;
	}
	f->text[n] = '\0';
	return f->text;
}

static const char *talk_simple(struct fixture *f, const char *method, const char *target)
{
	char request[512];

	(void)snprintf(request, sizeof(request),
		       "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, target);
	return talk(f, request);
}

static const char *after_head(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

static void assert_status(const char *answer, const char *status)
{
	assert_int_equal(strncmp(answer, "HTTP/1.1 ", 9), 0);
	assert_int_equal(strncmp(answer + 9, status, strlen(status)), 0);
}

struct row {
	const char *method, *target, *status, *body, *header;
};

static const struct row rows[] = {
	{ "GET", "/metrics", "200", "metrics|GET|/metrics|(none)|",
	  "Content-Type: text/plain; charset=utf-8\r\n" },
	{ "GET", "/metrics?q=a%20b&x=1", "200", "metrics|GET|/metrics|a b|", NULL },
	{ "HEAD", "/metrics", "200", "", "Content-Length: 28\r\n" },
	{ "POST", "/-/reload", "200", "reload|POST|/-/reload|(none)|", NULL },
	{ "GET", "/api", "200", "api|GET|/api|(none)|", NULL },
	{ "GET", "/api/x/y", "200", "api|GET|/api/x/y|(none)|", NULL },
	{ "GET", "/api/v0/x", "200", "v0|GET|/api/v0/x|(none)|", NULL },
	{ "GET", "/api/v0/exact", "200", "exact|GET|/api/v0/exact|(none)|", NULL },
	{ "GET", "/apix", "404", "not found\n", NULL },
	{ "GET", "/", "404", "not found\n", NULL },
	{ "GET", "/metrics/", "404", "not found\n", NULL },
	{ "DELETE", "/metrics", "405", "method not allowed\n", "Allow: GET, HEAD\r\n" },
	{ "PUT", "/-/reload", "405", "method not allowed\n", "Allow: GET, HEAD, POST\r\n" },
	{ "POST", "/api/v0/exact", "405", "method not allowed\n", "Allow: GET, HEAD\r\n" },
	{ "GET", "/endless", "500", "the answer is too large\n", NULL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	const char *answer = talk_simple(own, row->method, row->target);
	assert_status(answer, row->status);
	assert_string_equal(after_head(answer), row->body);
	if (row->header)
		assert_non_null(strstr(answer, row->header));
	(void)teardown(&own);
}

static void test_body(void **state)
{
	struct fixture *f = *state;
	const char *answer = talk(f, "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nConnection: "
				     "close\r\nContent-Length: 3\r\n\r\nabc");

	assert_status(answer, "200");
	assert_string_equal(after_head(answer), "reload|POST|/-/reload|(none)|abc");
}

static void test_body_ceiling(void **state)
{
	struct fixture *f = *state;
	char request[MAX_BODY + 512];
	int n = snprintf(request, sizeof(request),
			 "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nConnection: "
			 "close\r\nContent-Length: %d\r\n\r\n",
			 MAX_BODY);

	memset(request + n, 'x', MAX_BODY);
	request[n + MAX_BODY] = '\0';
	assert_status(talk(f, request), "200");
	assert_status(talk(f, "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"),
		      "413");
}

static void test_unannounced_body_ceiling(void **state)
{
	struct fixture *f = *state;
	char request[4096] =
		"POST /-/reload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n";
	size_t n = strlen(request);

	memset(request + n, 'x', 0x400);
	memcpy(request + n + 0x400, "\r\n0\r\n\r\n", 8);
	assert_null(strstr(talk(f, request), "200 OK"));
	assert_status(talk_simple(f, "GET", "/metrics"), "200");
}

struct refused_row {
	const char *name, *head, *status, *body;
};

/* Nothing of these bodies is sent: the answer does not wait for it. */
static const struct refused_row refused_rows[] = {
	{ "body nobody takes", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4194304\r\n\r\n",
	  "413", "no body is taken here\n" },
	{ "body nobody takes, of unknown length",
	  "GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "413",
	  "no body is taken here\n" },
	{ "body too long", "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n",
	  "413", "a body of at most 1000 bytes is taken here\n" },
	{ "body longer than any number",
	  "POST /-/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n",
	  "413", "a body of at most 1000 bytes is taken here\n" },
	{ "body to nowhere", "POST /no HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4194304\r\n\r\n", "404",
	  "not found\n" },
	{ "body for another method", "PUT /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n",
	  "405", "method not allowed\n" },
};

static void test_refused_body(void **state)
{
	const struct refused_row *row = *state;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	const char *answer = talk(own, row->head);
	assert_status(answer, row->status);
	assert_string_equal(after_head(answer), row->body);
	assert_non_null(strstr(answer, "Connection: close\r\n"));
	(void)teardown(&own);
}

static void test_header_ceiling(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *request = calloc(1, 100000);

	assert_non_null(request);
	(void)snprintf(request, 100000, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: %060000d\r\n\r\n",
		       0);
	assert_null(strstr(talk(f, request), "200 OK"));
	assert_status(talk_simple(f, "GET", "/metrics"), "200");
}

static void test_garbage(void **state)
{
	struct fixture *f = *state;

	assert_null(strstr(talk(f, "\x16\x03\x01\x02garbage\r\n\r\n"), "200 OK"));
	assert_status(talk_simple(f, "GET", "/metrics"), "200");
}

static void test_keep_alive(void **state)
{
	struct fixture *f = *state;
	const char *answer = talk(f, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api "
				     "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

	assert_non_null(strstr(answer, "metrics|GET|/metrics|(none)|HTTP/1.1 200 OK"));
	assert_non_null(strstr(answer, "api|GET|/api|(none)|"));
}

static void test_handler_runs_the_loop(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int other = dial(f);
	struct waiting waiting = { f->loop, other };
	struct http_route route = { .method = "GET",
				    .path = "/wait",
				    .fn = answer_waiting,
				    .data = &waiting };
	char text[512] = "";
	ssize_t n = -1;

	assert_int_equal(http_server_add_route(f->server, &route), 0);
	assert_string_equal(after_head(talk_simple(f, "GET", "/wait")), "waited");
	for (int i = 0; i < 1000 && n < 0; i++) {
		assert_int_equal(loop_run_once(f->loop, 5), 0);
		n = read(other, text, sizeof(text) - 1);
	}
	assert_status(text, "200");
	assert_status(talk_simple(f, "GET", "/metrics"), "200");
}

static void test_routes(void **state)
{
	struct fixture *f = *state;
	struct http_route route = { .method = "GET",
				    .path = "/metrics",
				    .fn = answer_echo,
				    .data = (void *)"again" };

	assert_int_equal(http_server_add_route(f->server, &route), -EEXIST);
	http_server_remove_route(f->server, "GET", "/metrics", true);
	assert_status(talk_simple(f, "GET", "/metrics"), "200");
	http_server_remove_route(f->server, "GET", "/metrics", false);
	assert_status(talk_simple(f, "GET", "/metrics"), "404");
	assert_int_equal(http_server_add_route(f->server, &route), 0);
	assert_string_equal(after_head(talk_simple(f, "GET", "/metrics")),
			    "again|GET|/metrics|(none)|");
}

static void test_too_many_routes(void **state)
{
	struct fixture *f = *state;
	char path[32];
	struct http_route route = { .method = "GET", .path = path, .fn = answer_echo };
	int r = 0;

	for (int i = 0; i < HTTP_SERVER_MAX_ROUTES && r == 0; i++) {
		(void)snprintf(path, sizeof(path), "/route/%d", i);
		r = http_server_add_route(f->server, &route);
	}
	assert_int_equal(r, -ENOBUFS);
}

static void test_port_in_use(void **state)
{
	struct fixture *f = *state;
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	struct http_server *second = NULL;
	char address[64], expected[128], error[HTTP_SERVER_MAX_ERROR_BYTES] = "";

	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", http_server_port(f->server));
	(void)snprintf(expected, sizeof(expected), "cannot listen on %s: Address already in use",
		       address);
	options.listen = address;
	assert_int_equal(http_server_new(f->loop, &options, &second, error), HTTP_LISTEN_REFUSED);
	assert_string_equal(error, expected);
	assert_null(second);
}

struct listen_row {
	const char *name;
	const char *address;
	int outcome;
};

static const struct listen_row listen_rows[] = {
	{ "listen v4", "127.0.0.1:0", HTTP_LISTENING },
	{ "listen any", ":0", HTTP_LISTENING },
	{ "listen localhost", "localhost:0", HTTP_LISTENING },
	{ "listen empty", "", HTTP_LISTEN_REFUSED },
	{ "listen no port", "127.0.0.1", HTTP_LISTEN_REFUSED },
	{ "listen name", "example.org:80", HTTP_LISTEN_REFUSED },
	{ "listen port too big", ":65536", HTTP_LISTEN_REFUSED },
	{ "listen port not a number", ":http", HTTP_LISTEN_REFUSED },
	{ "listen bare v6", "::1:80", HTTP_LISTEN_REFUSED },
	{ "listen open bracket", "[::1:80", HTTP_LISTEN_REFUSED },
	{ "listen foreign address", "192.0.2.1:0", HTTP_LISTEN_REFUSED },
};

static void test_listen(void **state)
{
	const struct listen_row *row = *state;
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES] = "";
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_(http_server_freep) struct http_server *server = NULL;

	assert_int_equal(loop_new(&loop), 0);
	options.listen = row->address;
	assert_int_equal(http_server_new(loop, &options, &server, error), row->outcome);
	if (row->outcome == HTTP_LISTENING)
		assert_true(http_server_port(server) > 0);
	else
		assert_int_equal(strncmp(error, "cannot listen on ", 17), 0);
}

static void test_listen_v6(void **state)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES] = "";
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_(http_server_freep) struct http_server *server = NULL;
	_cleanup_close_ int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					.sin6_addr = IN6ADDR_LOOPBACK_INIT };

	(void)state;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		print_message("no IPv6 loopback here\n");
		skip();
	}
	options.listen = "[::1]:0";
	assert_int_equal(loop_new(&loop), 0);
	assert_int_equal(http_server_new(loop, &options, &server, error), HTTP_LISTENING);
	assert_true(http_server_port(server) > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
static const struct CMUnitTest plain_tests[] = {
	TEST(test_body),
	TEST(test_body_ceiling),
	TEST(test_unannounced_body_ceiling),
	TEST(test_header_ceiling),
	TEST(test_garbage),
	TEST(test_keep_alive),
	TEST(test_handler_runs_the_loop),
	TEST(test_routes),
	TEST(test_too_many_routes),
	TEST(test_port_in_use),
	cmocka_unit_test(test_listen_v6),
};

int main(void)
{
	struct CMUnitTest
		tests[ARRAY_SIZE(rows) + ARRAY_SIZE(refused_rows) + ARRAY_SIZE(listen_rows) +
		      ARRAY_SIZE(plain_tests)];
	char names[ARRAY_SIZE(rows)][64];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%s %s", rows[i].method, rows[i].target);
		tests[n++] = (struct CMUnitTest){ .name = names[i],
						  .test_func = test_row,
						  .initial_state = (void *)&rows[i] };
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = refused_rows[i].name,
						  .test_func = test_refused_body,
						  .initial_state = (void *)&refused_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(listen_rows); i++)
		tests[n++] = (struct CMUnitTest){ .name = listen_rows[i].name,
						  .test_func = test_listen,
						  .initial_state = (void *)&listen_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(plain_tests); i++)
		tests[n++] = plain_tests[i];
	return cmocka_run_group_tests_name("agent/http/server", tests, NULL, NULL);
}
