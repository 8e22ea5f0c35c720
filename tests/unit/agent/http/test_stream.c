/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that come in pieces, over a unix socket: a server whose every byte the test decides. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/http/client.h"
#include "agent/util/clock.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define OK_CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define LAST_CHUNK "0\r\n\r\n"

struct fixture {
	struct loop *loop;
	struct http_client *client;
	char dir[64];
	char path[96];
	int listener, connection; /* -1: none */
	unsigned int n_done;
	enum http_outcome outcome;
	unsigned int status;
	char body[256];
	char error[HTTP_MAX_ERROR_BYTES];
	char pieces[256];
	unsigned int n_pieces, n_opened;
	char header[32];
	unsigned int stop_at; /* on_data says no at this piece; 0: never */
	struct http_request *request;
};

static int unix_listener(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void set_up(struct fixture *f)
{
	temp_dir_make(f->dir);
	(void)snprintf(f->path, sizeof(f->path), "%s/socket", f->dir);
	f->listener = unix_listener(f->path);
	f->connection = -1;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
}

static void hang_up(struct fixture *f)
{
	if (f->connection >= 0)
		(void)close(f->connection);
	f->connection = -1;
}

static void tear_down(struct fixture *f)
{
	hang_up(f);
	(void)close(f->listener);
	http_client_free(f->client);
	loop_free(f->loop);
	assert_int_equal(temp_dir_remove(f->dir), 0);
}

FIXTURE(struct fixture, set_up, tear_down)

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->n_done++;
	f->request = NULL;
	f->outcome = result->outcome;
	f->status = result->status;
	(void)snprintf(f->body, sizeof(f->body), "%s", result->body);
	(void)snprintf(f->error, sizeof(f->error), "%s", result->error);
	(void)snprintf(f->header, sizeof(f->header), "%s",
		       http_result_header(result, "API-Version"));
	assert_int_equal(result->error[0] == '\0', result->outcome == HTTP_DONE);
}

static bool on_data(const char *bytes, size_t n, void *data)
{
	struct fixture *f = data;
	size_t len = strlen(f->pieces);

	f->n_pieces++;
	(void)snprintf(f->pieces + len, sizeof(f->pieces) - len, "[%.*s]", (int)n, bytes);
	return f->n_pieces != f->stop_at;
}

static void on_open(void *data)
{
	struct fixture *f = data;

	f->n_opened++;
	assert_int_equal(f->n_pieces, 0);
}

static void start(struct fixture *f, struct http_request_options *o)
{
	o->url = o->url ? o->url : "http://docker/events?x=1";
	o->unix_socket = o->unix_socket ? o->unix_socket : f->path;
	o->on_open = o->on_data ? on_open : NULL;
	f->n_done = f->n_pieces = f->n_opened = 0;
	f->pieces[0] = '\0';
	assert_int_equal(http_request_start(f->client, o, on_done, f, &f->request), 0);
}

static void turn(struct fixture *f, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
}

static void run_until_done(struct fixture *f)
{
	for (int i = 0; i < 1000 && f->n_done == 0; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_int_equal(f->n_done, 1);
}

/* Takes the connection if there is none, and reads what is asked. */
static void hear(struct fixture *f, char *request, size_t size)
{
	size_t n = 0;

	turn(f, 3);
	if (f->connection < 0)
		f->connection = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(f->connection >= 0);
	for (int i = 0; i < 1000 && (n < 4 || memcmp(request + n - 4, "\r\n\r\n", 4) != 0); i++) {
		ssize_t r = read(f->connection, request + n, size - 1 - n);

		n += r > 0 ? (size_t)r : 0;
		turn(f, 1);
	}
	request[n] = '\0';
	assert_non_null(strstr(request, "\r\n\r\n"));
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(write(f->connection, text, strlen(text)), (ssize_t)strlen(text));
	turn(f, 3);
}

static void until_pieces(struct fixture *f, unsigned int n)
{
	for (int i = 0; i < 1000 && f->n_pieces < n; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_int_equal(f->n_pieces, n);
}

static void begin(struct fixture *f, struct http_request_options *o, const char *answer)
{
	char request[1024];

	start(f, o);
	hear(f, request, sizeof(request));
	say(f, answer);
}

static void test_whole_answer(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .url = "http://localhost/v1.41/info" };
	char request[1024];

	start(f, &o);
	hear(f, request, sizeof(request));
	assert_int_equal(strncmp(request, "GET /v1.41/info HTTP/1.1\r\nHost: localhost\r\n", 43),
			 0);
	say(f, "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\n{}");
	run_until_done(f);
	assert_string_equal(f->header, "1.41");
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body, "{}");
}

/* The second request comes by the first one's connection, or hear() would not find it. */
static void test_connection_is_kept(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data };

	begin(f, &o, OK_CHUNKED "1\r\na\r\n" LAST_CHUNK);
	run_until_done(f);
	assert_string_equal(f->pieces, "[a]");
	begin(f, &o, OK_CHUNKED "1\r\nb\r\n" LAST_CHUNK);
	run_until_done(f);
	assert_string_equal(f->pieces, "[b]");
}

static void test_pieces(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data, .max_response_bytes = 4 };

	begin(f, &o, OK_CHUNKED);
	for (int i = 0; i < 1000 && f->n_opened == 0; i++)
		turn(f, 1);
	say(f, "5\r\nfirst\r\n");
	until_pieces(f, 1);
	assert_string_equal(f->pieces, "[first]");
	say(f, "6\r\nsec");
	until_pieces(f, 2);
	assert_string_equal(f->pieces, "[first][sec]");
	assert_int_equal(f->n_done, 0);
	say(f, "ond\r\n" LAST_CHUNK);
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_string_equal(f->pieces, "[first][sec][ond]");
	assert_int_equal(f->n_opened, 1);
	assert_string_equal(f->body, "");
}

static void test_stopped(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data };
	char expected[256], byte;

	f->stop_at = 2;
	begin(f, &o, OK_CHUNKED "1\r\na\r\n");
	until_pieces(f, 1);
	say(f, "1\r\nb\r\n");
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_STOPPED);
	assert_int_equal(f->status, 200);
	(void)snprintf(expected, sizeof(expected), "no more wanted from unix socket %s", f->path);
	assert_string_equal(f->error, expected);
	assert_int_equal(read(f->connection, &byte, 1), 0);
}

static void test_refusal_is_kept(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data, .max_response_bytes = 10 };

	begin(f, &o, "HTTP/1.1 410 Gone\r\nContent-Length: 7\r\n\r\ntoo old");
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_int_equal(f->status, 410);
	assert_string_equal(f->body, "too old");
	assert_int_equal(f->n_pieces + f->n_opened, 0);
	begin(f, &o, "HTTP/1.1 500 No\r\nContent-Length: 11\r\n\r\n01234567890");
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_TOO_LARGE);
	assert_int_equal(f->n_pieces, 0);
}

static void test_redirect(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data, .follow_redirects = true };
	char request[1024];

	begin(f, &o, "HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nno");
	hear(f, request, sizeof(request));
	assert_int_equal(strncmp(request, "GET /there ", 11), 0);
	say(f, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
	run_until_done(f);
	assert_string_equal(f->pieces, "[yes]");
	assert_int_equal(f->n_opened, 1);
	assert_string_equal(f->header, "");
	o.follow_redirects = false;
	begin(f, &o, "HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nno");
	run_until_done(f);
	assert_int_equal(f->status, 307);
	assert_string_equal(f->pieces, "");
	assert_string_equal(f->body, "no");
}

static void test_cut(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data };
	char expected[256];

	begin(f, &o, OK_CHUNKED "9\r\nhalf");
	until_pieces(f, 1);
	hang_up(f);
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_BROKEN);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->pieces, "[half]");
	(void)snprintf(expected, sizeof(expected),
		       "broken connection to unix socket %s: ", f->path);
	assert_int_equal(strncmp(f->error, expected, strlen(expected)), 0);
}

/* From the last byte on, not from the first. */
static void test_silence(void **state)
{
	struct fixture *f = *state;
	const uint64_t idle_ns = 4 * NS_PER_S / 10;
	struct http_request_options o = { .on_data = on_data, .idle_timeout_ns = idle_ns };
	char expected[256];
	uint64_t begin_ns = clock_mono_ns();

	begin(f, &o, OK_CHUNKED);
	while (clock_mono_ns() < begin_ns + idle_ns / 2)
		turn(f, 1);
	uint64_t last_ns = clock_mono_ns();
	say(f, "1\r\nx\r\n");
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_TIMEOUT);
	assert_true(clock_mono_ns() - last_ns >= idle_ns);
	(void)snprintf(expected, sizeof(expected), "nothing came from unix socket %s for 0.4 s",
		       f->path);
	assert_string_equal(f->error, expected);
}

/* One that accepts nobody, too. */
static void test_silence_from_the_start(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .idle_timeout_ns = NS_PER_S / 100 };

	start(f, &o);
	run_until_done(f);
	assert_int_equal(f->outcome, HTTP_TIMEOUT);
	assert_int_equal(f->status, 0);
}

static void test_cancel_a_stream(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .on_data = on_data, .idle_timeout_ns = NS_PER_S / 2 };
	char byte;

	begin(f, &o, OK_CHUNKED "1\r\nx\r\n");
	until_pieces(f, 1);
	http_request_cancel(f->request);
	/* Longer than the silence that would have ended it. */
	turn(f, 600);
	assert_int_equal(f->n_done, 0);
	assert_int_equal(read(f->connection, &byte, 1), 0);
}

static void expect_no_connection(struct fixture *f, const char *path, const char *reason)
{
	struct http_request_options o = { .unix_socket = path };
	char expected[256];

	start(f, &o);
	run_until_done(f);
	(void)snprintf(expected, sizeof(expected), "cannot connect to unix socket %s: %s", path,
		       reason);
	assert_int_equal(f->outcome, HTTP_CONNECT_FAILED);
	assert_string_equal(f->error, expected);
}

static void test_no_connection(void **state)
{
	struct fixture *f = *state;

	expect_no_connection(f, "/nonexistent/docker.sock", "No such file or directory");
	(void)close(f->listener);
	expect_no_connection(f, f->path, "Connection refused");
	f->listener = -1;
}

static void test_no_permission(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0) {
		print_message("not root, cannot become somebody else\n");
		skip();
	}
	assert_int_equal(chmod(f->path, 0600), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	expect_no_connection(f, f->path, "Permission denied");
	assert_int_equal(seteuid(0), 0);
}

/* Nor is the proxy asked that the environment names. */
static void test_no_proxy(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .proxy = { .url = "http://127.0.0.1:1" } };

	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	begin(f, &o, "HTTP/1.1 204 Nothing\r\n\r\n");
	run_until_done(f);
	assert_int_equal(unsetenv("http_proxy"), 0);
	assert_int_equal(f->outcome, HTTP_DONE);
	assert_int_equal(f->status, 204);
}

static void test_paths(void **state)
{
	struct fixture *f = *state;
	struct http_request_options o = { .url = "http://docker/" };
	char longest[108] = "/";

	memset(longest + 1, 'a', sizeof(longest) - 2);
	assert_true(http_unix_socket_ok(longest));
	assert_true(http_unix_socket_ok("/var/run/docker.sock"));
	assert_false(http_unix_socket_ok(""));
	assert_false(http_unix_socket_ok("docker.sock"));
	o.unix_socket = "docker.sock";
	assert_int_equal(http_request_start(f->client, &o, on_done, f, &f->request), -EINVAL);
	char longer[110] = "/";
	memset(longer + 1, 'a', 107);
	assert_false(http_unix_socket_ok(longer));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_whole_answer),
	FIXTURE_TEST(test_connection_is_kept),
	FIXTURE_TEST(test_pieces),
	FIXTURE_TEST(test_stopped),
	FIXTURE_TEST(test_refusal_is_kept),
	FIXTURE_TEST(test_redirect),
	FIXTURE_TEST(test_cut),
	FIXTURE_TEST(test_silence),
	FIXTURE_TEST(test_silence_from_the_start),
	FIXTURE_TEST(test_cancel_a_stream),
	FIXTURE_TEST(test_no_connection),
	FIXTURE_TEST(test_no_permission),
	FIXTURE_TEST(test_no_proxy),
	FIXTURE_TEST(test_paths),
};

TEST_MAIN(tests)
