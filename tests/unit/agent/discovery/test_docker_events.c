/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's stream of events: in pieces, with what changes nothing, malformed, refused, ended. */
#include <string.h>

#include "agent/discovery/docker_events.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/docker_daemon.h"

#define EVENT(type, action) "{\"Type\":\"" type "\",\"Action\":\"" action "\"}\n"
#define START EVENT("container", "start")
#define ENDED "GET /events: the stream ended"
#define NO_JSON "GET /events: that is no JSON"

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct daemon daemon;
	struct docker_server server;
	struct docker_events events;
	unsigned int n_opened, n_changes, n_ended;
};

static void on_news(enum docker_events_news news, void *data)
{
	struct fixture *f = data;

	assert_int_equal(f->n_ended, 0);
	assert_int_equal(f->n_opened, news == DOCKER_EVENTS_CHANGE ? 1 : f->n_opened);
	f->n_opened += news == DOCKER_EVENTS_OPEN;
	f->n_changes += news == DOCKER_EVENTS_CHANGE;
	f->n_ended += news == DOCKER_EVENTS_END;
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	daemon_init(&f->daemon, f->loop);
	f->server.request =
		(struct http_request_options){ .url = "http://docker",
					       .unix_socket = f->daemon.path };
	docker_events_init(&f->events, f->http, on_news, f);
}

static void tear_down(struct fixture *f)
{
	docker_events_fini(&f->events);
	http_client_free(f->http);
	daemon_fini(&f->daemon);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void ask(struct fixture *f)
{
	f->n_opened = f->n_changes = f->n_ended = 0;
	assert_int_equal(docker_events_ask(&f->events, &f->server, "/v1.41"), 0);
}

static void open_stream(struct fixture *f)
{
	ask(f);
	LOOP_WHILE(f->loop, f->n_opened == 0);
	assert_int_equal(f->n_opened, 1);
	assert_true(f->events.opened_ns > 0);
}

static void wait_end(struct fixture *f, const char *why)
{
	LOOP_WHILE(f->loop, f->n_ended == 0);
	assert_int_equal(f->n_ended, 1);
	assert_null(f->events.request);
	assert_string_equal(f->events.why, why);
}

#define MAX_PIECES 4

static const struct row {
	const char *name;
	const char *pieces[MAX_PIECES]; /* as they come, then the stream ends */
	unsigned int n_changes;
	const char *why;
} rows[] = {
	{ "nothing", { NULL }, 0, ENDED },
	{ "a start", { START }, 1, ENDED },
	{ "two in one piece", { START EVENT("container", "die") }, 2, ENDED },
	{ "one in three pieces", { "{\"Type\":\"conta", "iner\",\"Action\":\"st", "art\"}\n" }, 1,
	  ENDED },
	{ "its end comes later", { "{\"Type\":\"container\",\"Action\":\"start\"}", "\n" }, 1,
	  ENDED },
	{ "no end of its line", { "{\"Type\":\"container\",\"Action\":\"start\"}" }, 0, ENDED },
	{ "blank lines", { "\n\r\n" START "\n\n" START }, 2, ENDED },
	{ "a network", { EVENT("network", "connect") EVENT("network", "disconnect") }, 2, ENDED },
	{ "Podman's words", { EVENT("container", "died") EVENT("container", "remove") }, 2, ENDED },
	{ "health", { EVENT("container", "health_status: healthy") }, 1, ENDED },
	{ "what changes nothing",
	  { EVENT("container", "exec_start: /bin/true") EVENT("container", "attach") }, 0, ENDED },
	{ "other things", { EVENT("image", "remove") EVENT("volume", "destroy") }, 0, ENDED },
	{ "words that only begin like these", { EVENT("container", "starting") }, 0, ENDED },
	{ "no type", { "{\"Action\":\"start\"}\n" }, 0, ENDED },
	{ "no action", { "{\"Type\":\"container\"}\n" }, 0, ENDED },
	{ "members that are no texts",
	  { "{\"Type\":1,\"Action\":\"start\"}\n{\"Type\":\"container\",\"Action\":[]}\n" }, 0,
	  ENDED },
	{ "an empty object", { "{}\n" START }, 1, ENDED },
	{ "an array", { "[]\n" }, 0, NO_JSON },
	{ "text", { START "start\n" START }, 1, NO_JSON },
	{ "two on one line", { "{} {}\n" }, 0, NO_JSON },
	{ "a cut object", { "{\"Type\":\n" }, 0, NO_JSON },
	{ "bytes that are no UTF-8", { "{\"Type\":\"\xff\"}\n" }, 0, NO_JSON },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	daemon_start(&f->daemon);
	open_stream(f);
	for (size_t i = 0; i < MAX_PIECES && row->pieces[i]; i++) {
		daemon_tell(&f->daemon, row->pieces[i]);
		assert_int_equal(loop_run_once(f->loop, 0), 0);
	}
	/* Who reads no further may have gone. */
	if (f->daemon.events)
		daemon_write(f->daemon.events, "0\r\n\r\n");
	wait_end(f, row->why);
	assert_int_equal(f->n_changes, row->n_changes);
	assert_int_equal(f->events.n_changes, row->n_changes);
	assert_int_equal(f->events.status, 200);
	assert_false(f->events.refused);
	assert_int_equal(teardown(&own), 0);
}

static void test_path(void **state)
{
	struct fixture *f = *state;
	unsigned long long s, ns;
	int n = 0;

	daemon_start(&f->daemon);
	open_stream(f);
	assert_int_equal(sscanf(buf_str(&f->daemon.paths),
				"/v1.41/events?since=%llu.%9llu&filters=%n", &s, &ns, &n),
			 2);
	assert_string_equal(buf_str(&f->daemon.paths) + n,
			    "%7B%22type%22%3A%5B%22container%22%2C%22network%22%5D%7D\n");
	/* A second is told again. */
	uint64_t now_ns = clock_real_ns();
	uint64_t since_ns = s * NS_PER_S + ns;
	assert_true(since_ns <= now_ns - NS_PER_S && since_ns > now_ns - 60 * NS_PER_S);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;

	f->daemon.events_status = 403;
	daemon_start(&f->daemon);
	ask(f);
	wait_end(f, "GET /events was answered with 403: told so");
	assert_int_equal(f->n_opened, 0);
	assert_true(f->events.refused);
	assert_int_equal(f->events.status, 403);
	/* Later it is not. */
	f->daemon.events_status = 0;
	open_stream(f);
	assert_false(f->events.refused);
	assert_string_equal(f->events.why, "");
}

static void test_nobody_there(void **state)
{
	struct fixture *f = *state;

	ask(f);
	LOOP_WHILE(f->loop, f->n_ended == 0);
	assert_int_equal(f->n_ended, 1);
	assert_int_equal(f->n_opened, 0);
	assert_string_not_equal(f->events.why, "");
	assert_false(f->events.refused);
	assert_int_equal(f->events.status, 0);
}

static void test_cut(void **state)
{
	struct fixture *f = *state;

	daemon_start(&f->daemon);
	open_stream(f);
	daemon_tell(&f->daemon, START "{\"Type\":\"conta");
	LOOP_WHILE(f->loop, f->n_changes == 0);
	daemon_stop(&f->daemon);
	LOOP_WHILE(f->loop, f->n_ended == 0);
	assert_int_equal(f->n_ended, 1);
	assert_string_not_equal(f->events.why, "");
	/* What was left of that event is no part of the next stream. */
	daemon_start(&f->daemon);
	open_stream(f);
	daemon_tell(&f->daemon, START);
	LOOP_WHILE(f->loop, f->n_changes == 0);
	assert_int_equal(f->n_changes, 1);
	assert_int_equal(f->n_ended, 0);
}

/* An event without an end: 4 MiB of it are kept at most. */
static void test_too_large(void **state)
{
	struct fixture *f = *state;
	char piece[32 * 1024 + 1];

	memset(piece, 'x', sizeof(piece) - 1);
	piece[sizeof(piece) - 1] = '\0';
	daemon_start(&f->daemon);
	open_stream(f);
	for (size_t n = 0; n < ((size_t)5 << 20) && f->n_ended == 0; n += sizeof(piece) - 1) {
		if (f->daemon.events)
			daemon_tell(&f->daemon, piece);
		for (int i = 0; i < 3; i++)
			assert_int_equal(loop_run_once(f->loop, 0), 0);
	}
	wait_end(f, "GET /events: an event is too large");
}

/* Who cancels is not told. */
static void test_cancel(void **state)
{
	struct fixture *f = *state;

	daemon_start(&f->daemon);
	open_stream(f);
	docker_events_cancel(&f->events);
	assert_null(f->events.request);
	assert_int_equal(f->events.opened_ns, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	assert_int_equal(f->n_ended, 0);
	open_stream(f);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_path),
	FIXTURE_TEST(test_refused),
	FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_cut),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_cancel),
};

TEST_MAIN(tests)
