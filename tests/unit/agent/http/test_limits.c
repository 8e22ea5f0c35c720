/* SPDX-License-Identifier: Apache-2.0 */
/* What one client may take of the server, over raw sockets: connections, time, memory for bodies and answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_CONNECTIONS 8
#define MAX_HOSTILE 200
/* More than the sockets between take for somebody who reads nothing. */
#define LARGE_BYTES (8 << 20)
#define MAX_BODIES_BYTES 10000
/* The server looks once a second, so a second of time may take two; a step is a millisecond, and this a ceiling. */
#define MAX_STEPS 10000

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_server *server;
	int hostile[MAX_HOSTILE];
	size_t n_hostile;
	char text[4096];
};

static void answer_length(const struct http_call *call, struct http_answer *answer, void *data)
{
	size_t n;

	(void)data;
	(void)http_call_body(call, &n);
	(void)buf_printf(&answer->body, "%zu bytes", n);
}

static void answer_large(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	assert_int_equal(buf_reserve(&answer->body, LARGE_BYTES), 0);
	memset(answer->body.data, 'x', LARGE_BYTES);
	answer->body.len = LARGE_BYTES;
}

static void set_up(struct fixture *f)
{
	static const struct http_route routes[] = {
		{ .method = "GET", .path = "/-/ready", .fn = answer_length },
		{ .method = "GET", .path = "/large", .fn = answer_large },
		{ .method = "POST", .path = "/push", .fn = answer_length, .max_body_bytes = 8000 },
	};
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	options.listen = "127.0.0.1:0";
	options.max_connections = MAX_CONNECTIONS;
	options.max_bodies_bytes = MAX_BODIES_BYTES;
	options.max_answers_bytes = LARGE_BYTES;
	options.request_timeout_s = options.idle_timeout_s = options.body_timeout_s = 1;
	options.telemetry = f->telemetry;
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
}

static void tear_down(struct fixture *f)
{
	for (size_t i = 0; i < f->n_hostile; i++)
		(void)close(f->hostile[i]);
	http_server_free(f->server);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static int dial(const struct fixture *f)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(http_server_port(f->server)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int small = 4096;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void step(const struct fixture *f, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
}

/* One that is left open. */
static int begin(struct fixture *f, const char *request)
{
	int fd = dial(f);

	assert_true(f->n_hostile < MAX_HOSTILE);
	f->hostile[f->n_hostile++] = fd;
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	step(f, 5);
	return fd;
}

/* Until there is something, or the end. */
static const char *hear(struct fixture *f, int fd)
{
	ssize_t n = -1;

	for (int i = 0; i < MAX_STEPS && n < 0; i++) {
		step(f, 1);
		n = recv(fd, f->text, sizeof(f->text) - 1, 0);
		assert_true(n >= 0 || errno == EAGAIN || errno == ECONNRESET);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	assert_true(n >= 0);
	f->text[n] = '\0';
	return f->text;
}

static const char *ask(struct fixture *f, const char *request)
{
	_cleanup_close_ int fd = dial(f);

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return hear(f, fd);
}

static void assert_status(const char *answer, const char *status)
{
	assert_int_equal(strncmp(answer, "HTTP/1.1 ", 9), 0);
	assert_int_equal(strncmp(answer + 9, status, 3), 0);
}

static void assert_ready(struct fixture *f)
{
	assert_status(ask(f, "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200");
}

static void assert_counted(struct fixture *f, const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	if (!strstr(buf_str(&text), line))
		fail_msg("%s is not in\n%s", line, buf_str(&text));
}

static void test_idle_connections(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < MAX_HOSTILE; i++)
		(void)begin(f, "");
	assert_ready(f);
	assert_counted(f, "xagent_http_connections_ended_total{reason=\"crowded\"} 193\n");
}

/* All at once: nobody is accepted in between. */
static void test_a_crowd(void **state)
{
	struct fixture *f = *state;

	for (; f->n_hostile < 100; f->n_hostile++)
		f->hostile[f->n_hostile] = dial(f);
	assert_ready(f);
}

static void test_slow_headers(void **state)
{
	struct fixture *f = *state;
	int fd = begin(f, "GET /-/ready HTTP/1.1\r\n");
	ssize_t n = -1;

	for (int i = 0; i < MAX_STEPS && n != 0; i++) {
		(void)send(fd, "A: b\r\n", 6, MSG_NOSIGNAL);
		step(f, 5);
		n = recv(fd, f->text, 1, 0);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	assert_int_equal(n, 0);
	assert_counted(f, "xagent_http_connections_ended_total{reason=\"late_request\"} 1\n");
}

static void test_slow_body(void **state)
{
	struct fixture *f = *state;
	int fd = begin(f, "POST /push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000\r\n\r\n");
	ssize_t n = -1;

	for (int i = 0; i < MAX_STEPS && n != 0; i++) {
		(void)send(fd, "x", 1, MSG_NOSIGNAL);
		step(f, 5);
		n = recv(fd, f->text, 1, 0);
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	assert_int_equal(n, 0);
	assert_counted(f, "xagent_http_connections_ended_total{reason=\"late_body\"} 1\n");
	assert_ready(f);
}

static void test_idle_after_an_answer(void **state)
{
	struct fixture *f = *state;
	int fd = begin(f, "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n");

	assert_status(hear(f, fd), "200");
	assert_string_equal(hear(f, fd), "");
	assert_counted(f, "xagent_http_connections_ended_total{reason=\"idle\"} 1\n");
}

/* What others have begun to send is held; there is no room for one more until it is gone. */
static void test_bodies_together(void **state)
{
	static const char push[] =
		"POST /push HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4000\r\n\r\n%04000d";
	struct fixture *f = *state;
	char request[4200], head[4200];
	int n = snprintf(request, sizeof(request), push, 0);

	(void)snprintf(head, sizeof(head), "%.*s", n - 1, request);
	(void)begin(f, head);
	(void)begin(f, head);
	const char *answer = ask(f, request);
	assert_status(answer, "503");
	assert_non_null(strstr(answer, "Retry-After: 1\r\n"));
	assert_counted(f, "xagent_http_requests_refused_total{reason=\"bodies_full\"} 1\n");
	(void)close(f->hostile[--f->n_hostile]);
	step(f, 20);
	answer = ask(f, request);
	assert_status(answer, "200");
	assert_non_null(strstr(answer, "4000 bytes"));
}

/* A length that is not announced counts as it comes. */
static void test_unannounced_bodies(void **state)
{
	struct fixture *f = *state;
	char request[4200];

	(void)snprintf(request, sizeof(request),
		       "POST /push HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfa0\r\n%04000d\r\n",
		       0);
	(void)begin(f, request);
	(void)begin(f, request);
	assert_string_equal(ask(f, request), "");
	assert_counted(f, "xagent_http_requests_refused_total{reason=\"bodies_full\"} 1\n");
	assert_ready(f);
}

static void test_answers_together(void **state)
{
	struct fixture *f = *state;

	(void)begin(f, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
	const char *answer = ask(f, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_status(answer, "503");
	assert_non_null(strstr(answer, "Retry-After: 1\r\n"));
	assert_counted(f, "xagent_http_requests_refused_total{reason=\"answers_full\"} 1\n");
	assert_ready(f);
	(void)close(f->hostile[--f->n_hostile]);
	step(f, 20);
	assert_status(ask(f, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200");
}

static void test_refused_lengths_are_counted(void **state)
{
	struct fixture *f = *state;

	assert_status(ask(f, "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n"), "413");
	assert_counted(f, "xagent_http_requests_refused_total{reason=\"body_too_long\"} 1\n");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_idle_connections),
	FIXTURE_TEST(test_a_crowd),
	FIXTURE_TEST(test_slow_headers),
	FIXTURE_TEST(test_slow_body),
	FIXTURE_TEST(test_idle_after_an_answer),
	FIXTURE_TEST(test_bodies_together),
	FIXTURE_TEST(test_unannounced_bodies),
	FIXTURE_TEST(test_answers_together),
	FIXTURE_TEST(test_refused_lengths_are_counted),
};

TEST_MAIN(tests)
