/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are made on a thread of their own: in turns, one after the other, so many and no more. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/http/answer_queue.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_CLIENTS (ANSWER_QUEUE_MAX_WAITING + 8)
/* A step is a millisecond, and this a ceiling. */
#define MAX_STEPS 20000
#define LARGE_BYTES 100000

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_server *server;
	struct answer_queue *queue;
	int gate[2]; /* made() waits for a byte where it is asked to */
	int clients[MAX_CLIENTS];
	size_t n_clients;
	unsigned int n_jobs; /* that were not freed */
	uint64_t turns;	     /* of the loop */
	atomic_uint n_begun; /* pieces made, or being made */
	char text[65536];
};

struct job {
	struct answer_job job;
	struct fixture *f;
	bool waits;
	bool headers;
	size_t n_bytes;
	unsigned int n_looks, n_makes;
	uint64_t turn; /* of the last look */
};

/* Two pieces, made; one piece, made; sent. */
static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct job *j = CONTAINER_OF(job, struct job, job);

	assert_true(j->turn < j->f->turns);
	j->turn = j->f->turns;
	if (!answer->is_gzip)
		(void)buf_append_str(&answer->body, "l");
	switch (++j->n_looks) {
	case 1:
		answer->content_type = "application/json";
		if (j->headers)
			http_answer_add_header(answer, "X-Made", "yes");
		return ANSWER_LOOK;
	case 2:
	case 3:
		return ANSWER_MAKE;
	default:
		return ANSWER_SEND;
	}
}

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct job *j = CONTAINER_OF(job, struct job, job);
	char byte;

	atomic_fetch_add(&j->f->n_begun, 1);
	if (j->waits && j->n_makes == 0)
		(void)!read(j->f->gate[0], &byte, 1);
	(void)buf_append_str(&answer->body, "m");
	for (size_t i = 0; j->n_makes == 1 && i < j->n_bytes; i++)
		(void)buf_append_char(&answer->body, 'x');
	j->n_makes++;
}

static void job_free(struct answer_job *job)
{
	struct job *j = CONTAINER_OF(job, struct job, job);

	j->f->n_jobs--;
	free(j);
}

static void on_made(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	struct job *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	f->n_jobs++;
	j->job = (struct answer_job){ .look = look, .make = make, .free = job_free };
	j->f = f;
	j->waits = http_call_query(call, "waits");
	j->n_bytes = http_call_query(call, "large") ? LARGE_BYTES : 0;
	j->headers = http_call_query(call, "headers");
	answer_queue_put(f->queue, &j->job, call, answer);
}

static void on_ready(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	(void)buf_append_str(&answer->body, "ready");
}

static void set_up(struct fixture *f)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	assert_int_equal(pipe2(f->gate, O_CLOEXEC), 0);
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(answer_queue_new(f->loop, f->telemetry, &f->queue), 0);
	options.listen = "127.0.0.1:0";
	options.telemetry = f->telemetry;
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	const struct http_route routes[] = {
		{ .method = "GET", .path = "/made", .fn = on_made, .data = f },
		{ .method = "GET", .path = "/-/ready", .fn = on_ready },
	};
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
}

static void tear_down(struct fixture *f)
{
	(void)close(f->gate[1]);
	answer_queue_free(f->queue);
	assert_int_equal(f->n_jobs, 0);
	for (size_t i = 0; i < f->n_clients; i++)
		(void)close(f->clients[i]);
	http_server_free(f->server);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
	(void)close(f->gate[0]);
}

FIXTURE(struct fixture, set_up, tear_down)

static void step(struct fixture *f)
{
	f->turns++;
	assert_int_equal(loop_run_once(f->loop, 1), 0);
}

static int begin(struct fixture *f, const char *target, const char *headers)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(http_server_port(f->server)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char request[512];
	int n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
			 target, headers);

	assert_true(fd >= 0 && f->n_clients < MAX_CLIENTS);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, request, (size_t)n), n);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	f->clients[f->n_clients++] = fd;
	return fd;
}

/* All that came, when `end` is in it. */
static const char *await(struct fixture *f, int fd, const char *end)
{
	size_t n = 0;

	f->text[0] = '\0';
	for (int i = 0; i < MAX_STEPS && !strstr(f->text, end); i++) {
		step(f);
		ssize_t got = read(fd, f->text + n, sizeof(f->text) - 1 - n);
		n += got > 0 ? (size_t)got : 0;
		f->text[n] = '\0';
	}
	assert_non_null(strstr(f->text, end));
	return f->text;
}

/* All that comes until the last byte that the header announces. */
static char *await_body(struct fixture *f, int fd, size_t *ret_n)
{
	size_t n = 0, n_all = SIZE_MAX;

	for (int i = 0; i < MAX_STEPS && n < n_all; i++) {
		step(f);
		ssize_t got = read(fd, f->text + n, sizeof(f->text) - 1 - n);
		n += got > 0 ? (size_t)got : 0;
		f->text[n] = '\0';
		const char *length = strstr(f->text, "Content-Length: ");
		const char *body = strstr(f->text, "\r\n\r\n");
		if (length && body)
			n_all = (size_t)(body + 4 - f->text) + strtoul(length + 16, NULL, 10);
	}
	assert_int_equal(n, n_all);
	*ret_n = n;
	return f->text;
}

static void await_jobs(struct fixture *f, unsigned int n)
{
	for (int i = 0; i < MAX_STEPS && f->n_jobs != n; i++)
		step(f);
	assert_int_equal(f->n_jobs, n);
}

/* Never two pieces in one turn, see look(). */
static void test_steps(void **state)
{
	struct fixture *f = *state;

	assert_non_null(strstr(await(f, begin(f, "/made", ""), "llmlml"), "HTTP/1.1 200"));
	assert_non_null(strstr(await(f, begin(f, "/made", ""), "llmlml"), "HTTP/1.1 200"));
	assert_int_equal(f->n_jobs, 0);
}

static void test_others_meanwhile(void **state)
{
	struct fixture *f = *state;
	int slow = begin(f, "/made?waits=1", "");

	await_jobs(f, 1);
	int next = begin(f, "/made", "");
	await_jobs(f, 2);
	(void)await(f, begin(f, "/-/ready", ""), "ready");
	assert_int_equal(f->n_jobs, 2);
	assert_int_equal(write(f->gate[1], "x", 1), 1);
	(void)await(f, slow, "llmlml");
	(void)await(f, next, "llmlml");
}

static void test_so_many_wait(void **state)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT(1 << 20);

	(void)begin(f, "/made?waits=1", "");
	await_jobs(f, 1);
	for (unsigned int i = 0; i < ANSWER_QUEUE_MAX_WAITING; i++)
		(void)begin(f, "/made", "");
	await_jobs(f, 1 + ANSWER_QUEUE_MAX_WAITING);
	const char *answer = await(f, begin(f, "/made", ""), "ask again later");
	assert_non_null(strstr(answer, "HTTP/1.1 503"));
	assert_non_null(strstr(answer, "Retry-After: 1\r\n"));
	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	assert_non_null(strstr(buf_str(&text),
			       "xagent_http_requests_refused_total{reason=\"queue_full\"} 1\n"));
	buf_fini(&text);
	(void)await(f, begin(f, "/-/ready", ""), "ready");
	assert_int_equal(write(f->gate[1], "x", 1), 1);
	(void)await(f, f->clients[ANSWER_QUEUE_MAX_WAITING], "llmlml");
	await_jobs(f, 0);
}

static void test_compressed(void **state)
{
	struct fixture *f = *state;
	static char plain[200000];
	z_stream z = { 0 };
	size_t n;
	int fd = begin(f, "/made?large=1", "Accept-Encoding: gzip\r\n");
	char *body = strstr(await_body(f, fd, &n), "\r\n\r\n") + 4;

	assert_non_null(strstr(f->text, "Content-Encoding: gzip\r\n"));
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (Bytef *)body;
	z.avail_in = (uInt)(n - (size_t)(body - f->text));
	z.next_out = (Bytef *)plain;
	z.avail_out = sizeof(plain);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	/* Nothing follows. */
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, strlen("llmlm") + LARGE_BYTES);
	assert_memory_equal(plain, "llmlmxxx", 8);
	assert_int_equal(plain[z.total_out - 1], 'x');
	(void)inflateEnd(&z);
}

static void test_end(void **state)
{
	struct fixture *f = *state;
	int made = begin(f, "/made?waits=1", "");

	await_jobs(f, 1);
	int waits = begin(f, "/made", "");
	await_jobs(f, 2);
	assert_int_equal(write(f->gate[1], "x", 1), 1);
	answer_queue_free(TAKE_PTR(f->queue));
	assert_int_equal(f->n_jobs, 0);
	assert_non_null(strstr(await(f, made, "is ending"), "HTTP/1.1 503"));
	assert_non_null(strstr(await(f, waits, "is ending"), "HTTP/1.1 503"));
}

/* Made and compressed, and not looked at again: what is said instead is a text as it is. */
static void test_end_of_a_compressed_one(void **state)
{
	struct fixture *f = *state;
	int made = begin(f, "/made?headers=1&large=1", "Accept-Encoding: gzip\r\n");

	await_jobs(f, 1);
	/* Until the second piece is being made, and no turn more. */
	for (int i = 0; i < MAX_STEPS && atomic_load(&f->n_begun) < 2; i++)
		step(f);
	answer_queue_free(TAKE_PTR(f->queue));
	const char *answer = await(f, made, "is ending");
	assert_non_null(strstr(answer, "HTTP/1.1 503"));
	assert_non_null(strstr(answer, "Content-Type: text/plain"));
	assert_null(strstr(answer, "Content-Encoding"));
	assert_null(strstr(answer, "X-Made"));
}

/* Whoever left before his turn costs nothing. */
static void test_gone(void **state)
{
	struct fixture *f = *state;

	(void)begin(f, "/made?waits=1", "");
	await_jobs(f, 1);
	(void)begin(f, "/made", "");
	await_jobs(f, 2);
	http_server_free(TAKE_PTR(f->server));
	assert_int_equal(write(f->gate[1], "x", 1), 1);
	await_jobs(f, 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_steps),
	FIXTURE_TEST(test_others_meanwhile),
	FIXTURE_TEST(test_so_many_wait),
	FIXTURE_TEST(test_compressed),
	FIXTURE_TEST(test_end),
	FIXTURE_TEST(test_gone),
	FIXTURE_TEST(test_end_of_a_compressed_one),
};

TEST_MAIN(tests)
