/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol around the methods: compression, time, refused pushes, many at once, and those that go away. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/store/api/api_queue.h"
#include "agent/store/api/push_receive.h"
#include "tests/support/unit.h"

#include "tests/unit/agent/store/api/api_context.h"

/* ---- Connect ---- */

static void test_compressed(void **state)
{
	struct fixture *f = *state;
	const char *text = ranged(f, ",\"name\":\"service_name\"");
	uint8_t packed[512];
	z_stream z = { .next_in = (Bytef *)text,
		       .avail_in = (uInt)strlen(text),
		       .next_out = packed,
		       .avail_out = sizeof(packed) };
	struct question q = { .path = Q "LabelValues",
			      .type = "application/json; charset=utf-8",
			      .encoding = "gzip",
			      .body = packed };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&z);
	q.n = sizeof(packed) - z.avail_out;
	assert_string_equal(ask(f, &q), "{\"names\":[\"one\",\"two\"]}");
	assert_string_equal(f->type, "application/json; charset=utf-8");
	q.n--;
	assert_non_null(strstr(ask(f, &q), "\"invalid_argument\""));
	q.encoding = "zstd";
	assert_non_null(strstr(ask(f, &q), "unknown compression \\\"zstd\\\""));
	assert_int_equal(f->status, 501);
}

static void test_connect(void **state)
{
	struct fixture *f = *state;
	struct question q = { .path = Q "LabelNames", .type = "text/plain", .body = "{}", .n = 2 };

	(void)ask(f, &q);
	assert_int_equal(f->status, 415);
	(void)get(f, Q "LabelNames");
	assert_int_equal(f->status, 405);
	q.type = JSON;
	q.timeout = "0";
	assert_non_null(strstr(ask(f, &q), "deadline_exceeded"));
	assert_int_equal(f->status, 504);
	q.timeout = "x";
	(void)ask(f, &q);
	assert_int_equal(f->status, 400);
	q.timeout = "60000";
	(void)ask(f, &q);
	assert_int_equal(f->status, 200);
	/* A text that is no UTF-8. */
	const struct question wrong = {
		.path = Q "LabelValues", .type = PROTO, .body = "\x0a\x02\xc3\x28", .n = 4
	};
	assert_non_null(strstr(ask(f, &wrong), "UTF-8"));
	assert_int_equal(f->status, 400);
}

struct push_row {
	const char *body, *words;
};

static const struct push_row push_rows[] = {
	{ "{}", "no profiles received" },
	{ "{\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":\"b\"}]}]}",
	  "no profiles received" },
	{ "{\"series\":[{\"samples\":[{\"rawProfile\":\"AA==\"}]}]}", "at least one label pair" },
	{ "{\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":\"b\"},{\"name\":\"a\",\"value\":"
	  "\"c\"}],"
	  "\"samples\":[{\"rawProfile\":\"AA==\"}]}]}",
	  "duplicate label name: 'a'" },
	{ "{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"b\"}],"
	  "\"samples\":[{\"rawProfile\":\"AAAA\"}]}]}",
	  "" },
	{ "{\"series\":[{\"samples\":[{}]},{\"samples\":[{}]}]}",
	  "push series with index 1 failed: error at least" },
};

static void test_push_refused(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(push_rows); i++) {
		const char *text = post(f, "/push.v1.PusherService/Push", push_rows[i].body);

		assert_non_null(strstr(text, push_rows[i].words));
		assert_non_null(strstr(text, "\"code\":\"invalid_argument\""));
		assert_int_equal(f->status, 400);
	}
}

/* ---- many at once ---- */

struct blocker {
	struct worker_job job;
	int fds[2];
};

static void blocker_run(struct worker_job *job)
{
	struct blocker *b = CONTAINER_OF(job, struct blocker, job);
	struct pollfd fd = { .fd = b->fds[0], .events = POLLIN };

	(void)poll(&fd, 1, 10000);
}

static void blocker_done(struct worker_job *job)
{
	(void)job;
}

/* The worker does nothing until a byte comes, or a test has failed. */
static void block(struct fixture *f, struct blocker *b)
{
	*b = (struct blocker){ .job = { .run = blocker_run, .done = blocker_done } };
	assert_int_equal(pipe2(b->fds, O_CLOEXEC), 0);
	assert_int_equal(worker_submit(f->worker, &b->job), 0);
}

static void unblock(struct blocker *b)
{
	assert_int_equal(write(b->fds[1], "x", 1), 1);
}

static void forget(struct blocker *b)
{
	(void)close(b->fds[0]);
	(void)close(b->fds[1]);
}

static void start_names(struct fixture *f, size_t n)
{
	const struct question q = { .path = Q "LabelNames", .type = JSON, .body = "{}", .n = 2 };

	f->n_done = 0;
	for (size_t i = 0; i < n; i++)
		(void)start(f, &q);
}

static void run_some(struct fixture *f)
{
	for (int i = 0; i < 50; i++)
		assert_int_equal(loop_run_once(f->loop, 2), 0);
}

static void test_too_many(void **state)
{
	struct fixture *f = *state;
	struct blocker b;

	block(f, &b);
	/* One runs, the queue is full, and two are too many. */
	start_names(f, 1 + API_MAX_WAITING + 2);
	wait_done(f, 2);
	assert_int_equal(f->n_status[429], 2);
	assert_non_null(strstr(buf_str(&f->body), "queries wait already"));
	unblock(&b);
	wait_done(f, 1 + API_MAX_WAITING + 2);
	assert_int_equal(f->n_status[200], 1 + API_MAX_WAITING + 3); /* and three pushes */
	forget(&b);
}

static void test_freed_while_asked(void **state)
{
	struct fixture *f = *state;
	struct blocker b;

	block(f, &b);
	start_names(f, 3);
	run_some(f);
	assert_int_equal(f->n_done, 0);
	unblock(&b);
	store_api_free(TAKE_PTR(f->api));
	wait_done(f, 3);
	assert_int_equal(f->n_status[503], 3);
	/* Nobody is there any more. */
	(void)post(f, Q "LabelNames", "{}");
	assert_int_equal(f->status, 404);
	forget(&b);
}

/* ---- pushes ---- */

struct push_blocker {
	struct store_task task;
	int fds[2];
};

static void push_blocker_run(struct store_task *task)
{
	struct pollfd fd = { .fd = CONTAINER_OF(task, struct push_blocker, task)->fds[0],
			     .events = POLLIN };

	(void)poll(&fd, 1, 10000);
}

static void push_blocker_done(struct store_task *task)
{
	struct push_blocker *b = CONTAINER_OF(task, struct push_blocker, task);

	(void)close(b->fds[0]);
	(void)close(b->fds[1]);
}

/* The ingest thread does nothing until a byte comes. */
static void block_pushes(struct fixture *f, struct push_blocker *b)
{
	*b = (struct push_blocker){
		.task = { .run = push_blocker_run, .done = push_blocker_done },
	};
	assert_int_equal(pipe2(b->fds, O_CLOEXEC), 0);
	store_task_submit(f->store, &b->task, STORE_TASK_FOREIGN);
}

static void start_pushes(struct fixture *f, size_t n)
{
	const struct question q = {
		.path = "/push.v1.PusherService/Push", .type = JSON, .body = "{}", .n = 2
	};

	f->n_done = 0;
	for (size_t i = 0; i < n; i++)
		(void)start(f, &q);
}

/* All are of one address: there is room for half of what there is. Queries and probes go on. */
static void test_too_many_pushes(void **state)
{
	struct fixture *f = *state;
	struct push_blocker b;

	block_pushes(f, &b);
	start_pushes(f, PUSH_MAX_OF_ONE_PEER + 3);
	wait_done(f, 3);
	assert_int_equal(f->n_status[429], 3);
	assert_non_null(strstr(buf_str(&f->body), "16 pushes of this address wait already"));
	assert_string_equal(f->retry_after, "1");
	f->n_done = 0;
	(void)start(f, &(struct question){ .path = "/ready" });
	wait_done(f, 1);
	assert_int_equal(f->status, 200);
	assert_int_equal(write(b.fds[1], "x", 1), 1);
	wait_done(f, 1 + PUSH_MAX_OF_ONE_PEER);
	assert_int_equal(f->n_status[400], PUSH_MAX_OF_ONE_PEER);
}

static void test_freed_while_pushed(void **state)
{
	struct fixture *f = *state;
	struct push_blocker b;

	block_pushes(f, &b);
	start_pushes(f, 5);
	run_some(f);
	assert_int_equal(f->n_done, 0);
	assert_int_equal(write(b.fds[1], "x", 1), 1);
	store_api_free(TAKE_PTR(f->api));
	wait_done(f, 5);
	assert_int_equal(f->n_status[503], 5);
}

static void test_client_gone(void **state)
{
	struct fixture *f = *state;
	const struct question q = { .path = Q "LabelNames", .type = JSON, .body = "{}", .n = 2 };
	struct blocker b;

	block(f, &b);
	struct http_request *first = start(f, &q), *second = start(f, &q);
	run_some(f);
	http_request_cancel(first);
	http_request_cancel(second);
	run_some(f);
	unblock(&b);
	(void)post(f, Q "LabelNames", "{}");
	assert_int_equal(f->status, 200);
	forget(&b);
}

static void test_twice(void **state)
{
	struct fixture *f = *state;
	struct store_api *second = NULL;

	assert_int_equal(store_api_new(f->store, f->worker, f->server, "x", &second), -EEXIST);
	assert_null(second);
	assert_non_null(strstr(get(f, "/api/v1/status/buildinfo"), "1.2.3"));
	(void)post(f, Q "LabelNames", "{}");
	assert_int_equal(f->status, 200);
}

static const struct unit_test tests[] = {
	FILLED(test_compressed),
	FILLED(test_connect),
	FIXTURE_TEST(test_push_refused),
	FILLED(test_too_many),
	FILLED(test_freed_while_asked),
	FILLED(test_client_gone),
	FIXTURE_TEST(test_twice),
	FIXTURE_TEST(test_too_many_pushes),
	FIXTURE_TEST(test_freed_while_pushed),
};

TEST_MAIN(tests)
