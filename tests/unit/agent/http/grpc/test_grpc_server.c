/* SPDX-License-Identifier: Apache-2.0 */
/* A server of gRPC: calls and their answers, and what ends calls and connections that cost more than they bring. */
#include <string.h>

#include "agent/http/grpc/grpc_server.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/h2_client.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"

#define PATH "/known.Service/Export"
#define MAX_BYTES 4096
#define MAX_BODIES ((size_t)64 << 10)
#define MANY 100
#define CALLS_MAX 64

enum { AT_ONCE, LATER, REFUSING };

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct grpc_server *server;
	struct grpc_server_options options;
	int mode;
	unsigned int n_calls;
	struct grpc_call *waiting[CALLS_MAX];
	size_t n_waiting;
	bool is_gzip;
	struct buf message; /* of the last call */
};

static const char *refusal(const char *path, void *data)
{
	(void)data;
	return strcmp(path, PATH) == 0 ? NULL : "no such \"method\" at 100 % \xc3\xa4";
}

static void on_call(struct grpc_call *call, void *data)
{
	static const struct grpc_answer well = { .code = GRPC_OK };
	static const struct grpc_answer full = { .code = GRPC_RESOURCE_EXHAUSTED,
						 .message = "no room\n",
						 .details = "abc",
						 .n_details = 3 };
	struct fixture *f = data;

	f->n_calls++;
	f->is_gzip = grpc_call_is_gzip(call);
	buf_fini(&f->message);
	grpc_call_take_message(call, &f->message);
	if (f->mode != LATER) {
		grpc_call_answer(call, f->mode == REFUSING ? &full : &well);
		return;
	}
	assert_true(f->n_waiting < CALLS_MAX);
	f->waiting[f->n_waiting++] = call;
}

static void start(struct fixture *f)
{
	const struct grpc_service service = { refusal, on_call, f };
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	assert_int_equal(grpc_server_new(f->loop, &f->options, &service, &f->server, error),
			 HTTP_LISTENING);
}

static void restart(struct fixture *f)
{
	grpc_server_free(f->server);
	start(f);
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->options = GRPC_SERVER_OPTIONS_INIT;
	f->options.listen = "127.0.0.1:0";
	f->options.max_message_bytes = MAX_BYTES;
	f->options.max_bodies_bytes = MAX_BODIES;
	f->options.telemetry = f->telemetry;
	f->message = BUF_INIT(0);
	start(f);
}

static void answer_all(struct fixture *f)
{
	static const struct grpc_answer well = { .code = GRPC_OK };

	while (f->n_waiting > 0)
		grpc_call_answer(f->waiting[--f->n_waiting], &well);
}

static void tear_down(struct fixture *f)
{
	grpc_server_free(f->server);
	answer_all(f);
	buf_fini(&f->message);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static uint64_t ended(struct fixture *f, const char *reason)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	char want[128];

	(void)telemetry_text(f->telemetry, &text);
	(void)snprintf(want, sizeof(want), "xagent_http_connections_ended_total{reason=\"%s\"} ",
		       reason);
	const char *at = strstr(buf_str(&text), want);
	assert_non_null(at);
	return strtoull(at + strlen(want), NULL, 10);
}

static void open_client(struct fixture *f, struct h2_client *c)
{
	h2_client_open(c, f->loop, grpc_server_port(f->server));
}

/* Sends it and waits for its end. */
static void call(struct h2_client *c, const struct h2_call *of)
{
	unsigned int before = c->n_answers;

	(void)h2_client_call(c, of);
	h2_client_flush(c);
	LOOP_WHILE(c->loop, c->n_answers == before && !c->is_closed);
	assert_int_equal(c->n_answers, before + 1);
}

static void call_message(struct h2_client *c, const void *bytes, size_t n)
{
	_cleanup_buf_ struct buf body = BUF_INIT(1 << 24);

	h2_put_message(&body, bytes, n, false);
	call(c, &(struct h2_call){ .path = PATH, .body = body.data, .n_body = body.len });
}

/* ---- calls ---- */

static void test_taken(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	open_client(f, &c);
	for (unsigned int i = 1; i <= 3; i++) {
		call_message(&c, "profile", 7);
		assert_int_equal(c.http_status, 200);
		assert_int_equal(c.grpc_status, 0);
		assert_int_equal(c.reset, NGHTTP2_NO_ERROR);
		assert_int_equal(c.n_body, 5);
		assert_memory_equal(c.body, "\0\0\0\0\0", 5);
		assert_int_equal(f->n_calls, i);
		assert_int_equal(f->message.len, 7);
		assert_memory_equal(f->message.data, "profile", 7);
	}
	assert_false(f->is_gzip);
	h2_client_close(&c);
}

/* An empty message is one, too. */
static void test_empty_message(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	open_client(f, &c);
	call_message(&c, "", 0);
	assert_int_equal(c.grpc_status, 0);
	assert_int_equal(f->message.len, 0);
	h2_client_close(&c);
}

static void test_details(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->mode = REFUSING;
	open_client(f, &c);
	call_message(&c, "x", 1);
	assert_int_equal(c.http_status, 200);
	assert_int_equal(c.grpc_status, GRPC_RESOURCE_EXHAUSTED);
	assert_string_equal(c.message, "no room%0A");
	assert_string_equal(c.details, "YWJj");
	assert_int_equal(c.n_body, 0);
	h2_client_close(&c);
}

struct row {
	const char *name;
	struct h2_call call;
	int http_status, grpc_status;
	const char *words;
};

#define BODY(bytes) .body = (bytes), .n_body = sizeof(bytes) - 1
#define SOUND BODY("\0\0\0\0\1a")

static const struct row rows[] = {
	{ "another path",
	  { .path = "/other", SOUND },
	  200,
	  GRPC_UNIMPLEMENTED,
	  "no such \"method\" at 100 %25 %C3%A4" },
	{ "GET", { .path = PATH, .method = "GET", SOUND }, 405, -1, "" },
	{ "another type", { .path = PATH, .type = "application/grpc-web", SOUND }, 415, -1, "" },
	{ "JSON in gRPC", { .path = PATH, .type = "application/grpc+json", SOUND }, 415, -1, "" },
	{ "a type with its codec",
	  { .path = PATH, .type = "application/grpc+proto", SOUND },
	  200,
	  0,
	  "" },
	{ "a type with parameters",
	  { .path = PATH, .type = "application/grpc;x=1", SOUND },
	  200,
	  0,
	  "" },
	{ "another encoding",
	  { .path = PATH, .encoding = "zstd", SOUND },
	  200,
	  GRPC_UNIMPLEMENTED,
	  "gzip or identity" },
	{ "identity", { .path = PATH, .encoding = "identity", SOUND }, 200, 0, "" },
	{ "gzip", { .path = PATH, .encoding = "gzip", BODY("\1\0\0\0\1a") }, 200, 0, "" },
	{ "a plain message where gzip may be",
	  { .path = PATH, .encoding = "gzip", SOUND },
	  200,
	  0,
	  "" },
	{ "compressed by what",
	  { .path = PATH, BODY("\1\0\0\0\1a") },
	  200,
	  GRPC_INTERNAL,
	  "without grpc-encoding" },
	{ "no body", { .path = PATH, BODY("") }, 200, GRPC_INVALID_ARGUMENT, "within its message" },
	{ "a part of a head",
	  { .path = PATH, BODY("\0\0\0") },
	  200,
	  GRPC_INVALID_ARGUMENT,
	  "within its message" },
	{ "a part of a message",
	  { .path = PATH, BODY("\0\0\0\0\3ab") },
	  200,
	  GRPC_INVALID_ARGUMENT,
	  "within its message" },
	{ "two messages",
	  { .path = PATH, BODY("\0\0\0\0\1a\0\0\0\0\1a") },
	  200,
	  GRPC_INTERNAL,
	  "one message" },
	{ "a wrong first byte",
	  { .path = PATH, BODY("\2\0\0\0\1a") },
	  200,
	  GRPC_INTERNAL,
	  "0 or 1" },
	{ "a length of 4 GiB",
	  { .path = PATH, BODY("\0\xff\xff\xff\xff") },
	  200,
	  GRPC_RESOURCE_EXHAUSTED,
	  "at most 4096 bytes" },
	{ "one byte too many",
	  { .path = PATH, BODY("\0\0\0\x10\1") },
	  200,
	  GRPC_RESOURCE_EXHAUSTED,
	  "at most 4096 bytes" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture f = { 0 };
	struct h2_client c;

	set_up(&f);
	open_client(&f, &c);
	call(&c, &row->call);
	assert_int_equal(c.http_status, row->http_status);
	assert_int_equal(c.grpc_status, row->grpc_status);
	assert_non_null(strstr(c.message, row->words));
	assert_int_equal(f.n_calls, row->grpc_status == 0);
	/* The connection goes on. */
	call_message(&c, "x", 1);
	assert_int_equal(c.grpc_status, 0);
	h2_client_close(&c);
	tear_down(&f);
}

/* Many at once in one connection, answered in another order; those beyond the limit wait at the client. */
static void test_streams(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->options.max_streams = 8;
	restart(f);
	open_client(f, &c);
	call_message(&c, "x", 1); /* its settings have come by then */
	f->mode = LATER;
	for (unsigned int i = 0; i < 20; i++)
		(void)h2_client_call(&c, &(struct h2_call){ .path = PATH, SOUND });
	h2_client_flush(&c);
	LOOP_WHILE(f->loop, f->n_waiting < 8);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	assert_int_equal(f->n_waiting, 8);
	f->mode = AT_ONCE;
	answer_all(f);
	LOOP_WHILE(f->loop, c.n_answers < 21);
	assert_int_equal(c.n_ok, 21);
	h2_client_close(&c);
}

/* A hundred clients, a call each, all at once. */
static void test_many_clients(void **state)
{
	static struct h2_client clients[MANY];
	struct fixture *f = *state;
	size_t n_answered = 0;

	for (size_t i = 0; i < MANY; i++) {
		open_client(f, &clients[i]);
		(void)h2_client_call(&clients[i], &(struct h2_call){ .path = PATH, SOUND });
	}
	for (size_t i = 0; i < MANY; i++)
		h2_client_flush(&clients[i]);
	LOOP_WHILE(f->loop, f->n_calls < MANY);
	for (size_t i = 0; i < MANY; i++) {
		LOOP_WHILE(f->loop, clients[i].n_answers == 0);
		n_answered += clients[i].n_ok;
		h2_client_close(&clients[i]);
	}
	assert_int_equal(n_answered, MANY);
	LOOP_WHILE(f->loop, grpc_server_n_connections(f->server) > 0);
	assert_int_equal(grpc_server_n_connections(f->server), 0);
}

/* ---- who goes away ---- */

static void test_client_leaves(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->mode = LATER;
	open_client(f, &c);
	(void)h2_client_call(&c, &(struct h2_call){ .path = PATH, SOUND });
	h2_client_flush(&c);
	LOOP_WHILE(f->loop, f->n_waiting == 0);
	h2_client_close(&c);
	LOOP_WHILE(f->loop, grpc_server_n_connections(f->server) > 0);
	assert_int_equal(grpc_server_n_connections(f->server), 0);
	answer_all(f);
}

static void test_server_leaves(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->mode = LATER;
	open_client(f, &c);
	(void)h2_client_call(&c, &(struct h2_call){ .path = PATH, SOUND });
	h2_client_flush(&c);
	LOOP_WHILE(f->loop, f->n_waiting == 0);
	restart(f);
	answer_all(f);
	LOOP_WHILE(f->loop, !c.is_closed);
	assert_true(c.is_closed);
	h2_client_close(&c);
}

/* A call that is cancelled while it waits is answered to nobody, and the connection goes on. */
static void test_reset(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->mode = LATER;
	open_client(f, &c);
	int32_t id = h2_client_call(&c, &(struct h2_call){ .path = PATH, SOUND });
	h2_client_flush(&c);
	LOOP_WHILE(f->loop, f->n_waiting == 0);
	assert_int_equal(nghttp2_submit_rst_stream(c.session, 0, id, NGHTTP2_CANCEL), 0);
	h2_client_flush(&c);
	LOOP_WHILE(f->loop, c.n_answers == 0);
	assert_int_equal(loop_run_once(f->loop, 10), 0);
	answer_all(f);
	f->mode = AT_ONCE;
	call_message(&c, "x", 1);
	assert_int_equal(c.grpc_status, 0);
	assert_int_equal(c.n_ok, 1);
	h2_client_close(&c);
}

/* ---- who costs more than they bring ---- */

static void assert_calmed(struct fixture *f, struct h2_client *c)
{
	LOOP_WHILE(f->loop, !c->is_closed);
	assert_true(c->is_closed);
	LOOP_WHILE(f->loop, grpc_server_n_connections(f->server) > 0);
	assert_int_equal(grpc_server_n_connections(f->server), 0);
}

static void test_rapid_reset(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	open_client(f, &c);
	for (unsigned int i = 0; i < 5000 && !c.is_closed; i++) {
		int32_t id = h2_client_call(
			&c, &(struct h2_call){ .path = PATH, SOUND, .is_open = true });

		h2_client_flush(&c);
		(void)nghttp2_submit_rst_stream(c.session, 0, id, NGHTTP2_CANCEL);
		h2_client_flush(&c);
		assert_int_equal(loop_run_once(f->loop, 0), 0);
	}
	assert_calmed(f, &c);
	assert_int_equal(f->n_calls, 0);
	assert_int_equal(ended(f, "flooding"), 1);
	h2_client_close(&c);
}

struct flood {
	const char *name;
	const char *frame; /* sent again and again, behind the preface and settings */
	size_t n;
};

#define FRAME(bytes) bytes, sizeof(bytes) - 1

static const struct flood floods[] = {
	{ "PING", FRAME("\0\0\10\6\0\0\0\0\0abcdefgh") },
	{ "SETTINGS", FRAME("\0\0\0\4\0\0\0\0\0") },
	{ "PRIORITY", FRAME("\0\0\5\2\0\0\0\0\1\0\0\0\0\20") },
	{ "WINDOW_UPDATE", FRAME("\0\0\4\10\0\0\0\0\0\0\0\0\1") },
};

static void test_flood(void **state)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
	const struct flood *flood = *state;
	struct fixture f = { 0 };
	struct h2_client c;

	set_up(&f);
	h2_client_open_raw(&c, f.loop, grpc_server_port(f.server));
	assert_int_equal(h2_client_send(&c, FRAME(preface)), sizeof(preface) - 1);
	for (unsigned int i = 0; i < 1000000 && !c.is_closed; i++) {
		(void)h2_client_send(&c, flood->frame, flood->n);
		if (i % 64 == 0)
			assert_int_equal(loop_run_once(f.loop, 0), 0);
	}
	assert_calmed(&f, &c);
	h2_client_close(&c);
	tear_down(&f);
}

/* A block of headers that never ends: CONTINUATION frames without an end, first with nothing in them. */
static void test_continuations(void **state)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
	static const char headers[] = "\0\0\1\1\0\0\0\0\1\x82";
	static const char more[] = "\0\0\1\11\0\0\0\0\1\x82";
	struct fixture *f = *state;
	struct h2_client c;

	h2_client_open_raw(&c, f->loop, grpc_server_port(f->server));
	(void)h2_client_send(&c, FRAME(preface));
	(void)h2_client_send(&c, FRAME(headers));
	for (unsigned int i = 0; i < 100000 && !c.is_closed; i++) {
		(void)h2_client_send(&c, FRAME(more));
		if (i % 64 == 0)
			assert_int_equal(loop_run_once(f->loop, 0), 0);
	}
	assert_calmed(f, &c);
	h2_client_close(&c);
}

static void test_headers_too_long(void **state)
{
	static char padding[20000];
	struct fixture *f = *state;
	struct h2_client c;

	memset(padding, 'a', sizeof(padding) - 1);
	open_client(f, &c);
	call(&c, &(struct h2_call){ .path = PATH, SOUND, .padding = padding });
	assert_int_equal(c.grpc_status, -1);
	assert_int_not_equal(c.reset, NGHTTP2_NO_ERROR);
	call_message(&c, "x", 1);
	assert_int_equal(c.grpc_status, 0);
	assert_int_equal(f->n_calls, 1);
	h2_client_close(&c);
}

static void test_no_http2(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct fixture *f = *state;
	struct h2_client c;

	h2_client_open_raw(&c, f->loop, grpc_server_port(f->server));
	assert_int_equal(h2_client_send(&c, FRAME(text)), sizeof(text) - 1);
	assert_calmed(f, &c);
	h2_client_close(&c);
}

/* Bodies together: who comes when they are full is told so, and may come again. */
static void test_bodies_full(void **state)
{
	static char body[MAX_BYTES];
	struct fixture *f = *state;
	struct h2_client holder, c;

	f->options.max_bodies_bytes = MAX_BYTES + 100;
	restart(f);
	f->mode = LATER;
	open_client(f, &holder);
	open_client(f, &c);
	memcpy(body, "\0\0\0\xf\0", 5);
	(void)h2_client_call(&holder, &(struct h2_call){ .path = PATH, BODY("\0\0\0\0\1a") });
	(void)h2_client_call(&holder,
			     &(struct h2_call){ .path = PATH, .body = body, .n_body = 0xf00 + 5 });
	h2_client_flush(&holder);
	LOOP_WHILE(f->loop, f->n_waiting < 2);
	call_message(&c, body, 1000);
	assert_int_equal(c.grpc_status, GRPC_UNAVAILABLE);
	assert_non_null(strstr(c.message, "send it again later"));
	answer_all(f);
	f->mode = AT_ONCE;
	call_message(&c, body, 1000);
	assert_int_equal(c.grpc_status, 0);
	h2_client_close(&holder);
	h2_client_close(&c);
}

/* ---- time ---- */

/* Nothing is sent after the connection. */
static void test_hangs_at_first(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->options.request_timeout_s = 0;
	restart(f);
	h2_client_open_raw(&c, f->loop, grpc_server_port(f->server));
	assert_calmed(f, &c);
	assert_int_equal(ended(f, "late_request"), 1);
	h2_client_close(&c);
}

/* A call that does not end is reset; the connection goes on. */
static void test_hangs_within_a_call(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->options.body_timeout_s = 1;
	restart(f);
	open_client(f, &c);
	call(&c, &(struct h2_call){ .path = PATH, BODY("\0\0\0\0\3a"), .is_open = true });
	assert_int_equal(c.reset, NGHTTP2_CANCEL);
	assert_int_equal(ended(f, "late_body"), 1);
	call_message(&c, "x", 1);
	assert_int_equal(c.grpc_status, 0);
	h2_client_close(&c);
}

/* It answers no PING. */
static void test_hangs_later(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;

	f->options.ping_ns = f->options.pong_ns = NS_PER_MS;
	restart(f);
	open_client(f, &c);
	call_message(&c, "x", 1);
	c.is_silent = true;
	assert_calmed(f, &c);
	assert_int_equal(ended(f, "gone"), 1);
	h2_client_close(&c);
}

static void test_answers_pings(void **state)
{
	struct fixture *f = *state;
	struct h2_client c;
	uint64_t end_ns = clock_mono_ns() + 3 * NS_PER_S;

	f->options.ping_ns = NS_PER_MS;
	f->options.pong_ns = 20 * NS_PER_S;
	restart(f);
	open_client(f, &c);
	LOOP_WHILE(f->loop, clock_mono_ns() < end_ns);
	assert_false(c.is_closed);
	call_message(&c, "x", 1);
	assert_int_equal(c.grpc_status, 0);
	h2_client_close(&c);
}

static void test_idle_and_old(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct h2_client c;

		f->options.max_idle_ns = i == 0 ? NS_PER_MS : UINT64_MAX;
		f->options.max_age_ns = i == 1 ? NS_PER_MS : UINT64_MAX;
		restart(f);
		open_client(f, &c);
		call_message(&c, "x", 1);
		assert_calmed(f, &c);
		assert_int_equal(c.goaway, NGHTTP2_NO_ERROR);
		h2_client_close(&c);
	}
}

/* One more than may be: who asks nothing goes, who waits for an answer stays. */
static void test_crowded(void **state)
{
	struct fixture *f = *state;
	struct h2_client waits, idle, last;

	f->options.max_connections = 2;
	restart(f);
	f->mode = LATER;
	open_client(f, &waits);
	(void)h2_client_call(&waits, &(struct h2_call){ .path = PATH, SOUND });
	h2_client_flush(&waits);
	LOOP_WHILE(f->loop, f->n_waiting == 0);
	open_client(f, &idle);
	LOOP_WHILE(f->loop, grpc_server_n_connections(f->server) < 2);
	open_client(f, &last);
	LOOP_WHILE(f->loop, !idle.is_closed);
	assert_true(idle.is_closed);
	assert_false(waits.is_closed || last.is_closed);
	answer_all(f);
	LOOP_WHILE(f->loop, waits.n_answers == 0);
	assert_int_equal(waits.n_ok, 1);
	h2_client_close(&waits);
	h2_client_close(&idle);
	h2_client_close(&last);
}

static void test_wrong_address(void **state)
{
	struct fixture *f = *state;
	const struct grpc_service service = { refusal, on_call, f };
	struct grpc_server_options o = f->options;
	struct grpc_server *server = NULL;
	char error[HTTP_SERVER_MAX_ERROR_BYTES], taken[32];

	o.listen = "nowhere";
	assert_int_equal(grpc_server_new(f->loop, &o, &service, &server, error),
			 HTTP_LISTEN_REFUSED);
	assert_non_null(strstr(error, "not an address and a port"));
	(void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", grpc_server_port(f->server));
	o.listen = taken;
	assert_int_equal(grpc_server_new(f->loop, &o, &service, &server, error),
			 HTTP_LISTEN_REFUSED);
	assert_non_null(strstr(error, "Address already in use"));
	assert_null(server);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_taken),
	FIXTURE_TEST(test_empty_message),
	FIXTURE_TEST(test_details),
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_streams),
	FIXTURE_TEST(test_many_clients),
	FIXTURE_TEST(test_client_leaves),
	FIXTURE_TEST(test_server_leaves),
	FIXTURE_TEST(test_reset),
	FIXTURE_TEST(test_rapid_reset),
	TEST_ROWS(test_flood, floods, name),
	FIXTURE_TEST(test_continuations),
	FIXTURE_TEST(test_headers_too_long),
	FIXTURE_TEST(test_no_http2),
	FIXTURE_TEST(test_bodies_full),
	FIXTURE_TEST(test_hangs_at_first),
	FIXTURE_TEST(test_hangs_within_a_call),
	FIXTURE_TEST(test_hangs_later),
	FIXTURE_TEST(test_answers_pings),
	FIXTURE_TEST(test_idle_and_old),
	FIXTURE_TEST(test_crowded),
	FIXTURE_TEST(test_wrong_address),
};

TEST_MAIN(tests)
