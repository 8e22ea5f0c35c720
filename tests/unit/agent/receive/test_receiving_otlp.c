/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over HTTP: what a sender is answered, and what becomes of its profiles. */
#include <string.h>

#include "agent/http/client.h"
#include "agent/push/otlp_request.pb-c.h"
#include "agent/receive/receiving.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"
#include "tests/support/loop_while.h"
#include "tests/support/made_otlp.h"
#include "tests/support/unit.h"

#define PATH "/v1development/profiles"
#define PROTO "application/x-protobuf"
#define MAX_BYTES 4096

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_server *server;
	struct http_client *client;
	struct receiving *receiving;
	size_t room; /* of who takes profiles */
	unsigned int n_items;
	char service[64]; /* of the last one */
	/* of the last answer */
	unsigned int n_done, status;
	char type[64], retry_after[16];
	struct buf body;
};

static bool has_room(void *data, size_t n_bytes)
{
	return n_bytes <= ((struct fixture *)data)->room;
}

static void deliver(void *data, const struct receive_item *item)
{
	struct fixture *f = data;

	f->n_items++;
	assert_string_equal(labels_get(item->labels, "__name__"), "process_cpu");
	(void)snprintf(f->service, sizeof(f->service), "%s",
		       labels_get(item->labels, "service_name"));
	assert_int_equal(item->time_ns, MADE_OTLP_TIME_NS + MADE_OTLP_DURATION_NS);
	assert_true(item->pprof->n > 20 && item->pprof->data[0] == 0x1f);
}

static void set_up(struct fixture *f)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	const struct receiving_callbacks callbacks = { has_room, NULL, deliver, f };
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->room = SIZE_MAX;
	buf_init(&f->body, 65536);
	o.listen = "127.0.0.1:0";
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	assert_int_equal(http_server_new(f->loop, &o, &f->server, error), HTTP_LISTENING);
	assert_int_equal(receiving_new(f->loop, f->telemetry, "/", "otelcol.receiver.otlp.in",
				       &callbacks, &f->receiving),
			 0);
	assert_int_equal(receiving_add_otlp_route(f->receiving, f->server, MAX_BYTES), 0);
}

static void tear_down(struct fixture *f)
{
	http_server_free(f->server);
	receiving_free(f->receiving);
	http_client_free(f->client);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
	buf_fini(&f->body);
}

FIXTURE(struct fixture, set_up, tear_down)

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->n_done++;
	f->status = result->outcome == HTTP_DONE ? result->status : 0;
	(void)snprintf(f->type, sizeof(f->type), "%s", result->content_type);
	(void)snprintf(f->retry_after, sizeof(f->retry_after), "%s", result->retry_after);
	buf_reset(&f->body);
	assert_int_equal(buf_append(&f->body, result->body, result->n_body), 0);
}

struct question {
	const char *path, *type, *encoding;
};

static unsigned int send(struct fixture *f, const struct question *q, const void *body, size_t n)
{
	const struct http_header headers[] = { { "Content-Type", q->type ? q->type : PROTO },
					       { "Content-Encoding",
						 q->encoding ? q->encoding : "identity" } };
	struct http_request_options o = { .method = "POST",
					  .headers = headers,
					  .n_headers = ARRAY_SIZE(headers),
					  .body = body,
					  .n_body = n,
					  .max_response_bytes = 4096,
					  .timeout_ns = 20 * NS_PER_S };
	struct http_request *request = NULL;
	char url[256];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", http_server_port(f->server),
		       q->path ? q->path : PATH);
	o.url = url;
	f->n_done = 0;
	assert_int_equal(http_request_start(f->client, &o, on_done, f, &request), 0);
	LOOP_WHILE(f->loop, f->n_done == 0);
	return f->status;
}

static uint8_t *make_body(const char *service, size_t *ret_n)
{
	struct made_otlp m;

	made_otlp_init(&m);
	(void)made_otlp_resource(&m, "service.name", service);
	uint8_t *packed = made_otlp_pack(&m, ret_n);

	made_otlp_fini(&m);
	return packed;
}

/* A google.rpc.Status in the answer. */
static void assert_says(const struct fixture *f, int code, const char *words)
{
	Otlp__Push__Status *s =
		otlp__push__status__unpack(NULL, f->body.len, (const uint8_t *)buf_str(&f->body));

	assert_non_null(s);
	assert_string_equal(f->type, PROTO);
	assert_int_equal(s->code, code);
	assert_non_null(strstr(s->message, words));
	otlp__push__status__free_unpacked(s, NULL);
}

static void test_taken(void **state)
{
	static const struct question questions[] = { { 0 },
						     { .type = "application/protobuf" },
						     { .type = "Application/X-Protobuf; v=1" } };
	struct fixture *f = *state;
	struct receiving_stats stats;
	size_t n;
	uint8_t *body = make_body("svc", &n);

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		assert_int_equal(send(f, &questions[i], body, n), 200);
		assert_string_equal(f->type, PROTO);
		assert_int_equal(f->body.len, 0);
		assert_int_equal(f->n_items, i + 1);
	}
	assert_string_equal(f->service, "svc");
	receiving_stats(f->receiving, &stats);
	assert_int_equal(stats.n_profiles, ARRAY_SIZE(questions));
	assert_int_equal(stats.n_refused, 0);
	free(body);
}

static void test_gzip(void **state)
{
	struct fixture *f = *state;
	struct pprof_bytes gz;
	size_t n;
	uint8_t *body = make_body("zipped", &n);

	assert_int_equal(pprof_gzip(body, n, 1, &gz), 0);
	assert_int_equal(send(f, &(struct question){ .encoding = "gzip" }, gz.data, gz.n), 200);
	assert_string_equal(f->service, "zipped");
	assert_int_equal(send(f, &(struct question){ .encoding = "gzip" }, gz.data, gz.n - 4), 400);
	assert_says(f, 3, "not gzip");
	assert_int_equal(send(f, &(struct question){ .encoding = "zstd" }, gz.data, gz.n), 415);
	assert_says(f, 12, "gzip or identity");
	assert_int_equal(f->n_items, 1);
	pprof_bytes_fini(&gz);
	free(body);
}

/* What inflates to more than a request may have. */
static void test_bomb(void **state)
{
	static uint8_t zeros[MAX_BYTES + 1];
	struct fixture *f = *state;
	struct pprof_bytes gz;

	assert_int_equal(pprof_gzip(zeros, sizeof(zeros), 9, &gz), 0);
	assert_int_equal(send(f, &(struct question){ .encoding = "gzip" }, gz.data, gz.n), 413);
	assert_says(f, 8, "too large");
	pprof_bytes_fini(&gz);
	assert_int_equal(send(f, &(struct question){ 0 }, zeros, sizeof(zeros)), 413);
	assert_int_equal(f->n_items, 0);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;
	struct receiving_stats stats;
	size_t n;
	uint8_t *body = make_body("svc", &n);

	assert_int_equal(send(f, &(struct question){ 0 }, "\xff\xff", 2), 400);
	assert_says(f, 3, "not a request for profiles");
	assert_int_equal(send(f, &(struct question){ .type = "text/json" }, "{}", 2), 415);
	assert_says(f, 12, "Content-Type must be application/x-protobuf or application/json");
	assert_int_equal(send(f, &(struct question){ .type = "application/x-protobufs" }, body, n),
			 415);
	assert_int_equal(send(f, &(struct question){ .path = "/v1/traces" }, body, n), 404);
	receiving_stats(f->receiving, &stats);
	assert_int_equal(stats.n_refused, 3);
	assert_int_equal(stats.n_profiles, 0);
	free(body);
}

static void assert_answers(const struct fixture *f, const char *body)
{
	assert_string_equal(f->type, "application/json");
	assert_string_equal(buf_str(&f->body), body);
}

static void test_json(void **state)
{
	static const char text[] =
		"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{"
		"\"values\":"
		"[\"5\"]}],\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},"
		"\"timeUnixNano\":\"1700000000000000000\",\"durationNano\":\"1000000000\","
		"\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":4},\"period\":\"1\"}]}]}],"
		"\"dictionary\":{\"stringTable\":[\"\",\"samples\",\"count\",\"cpu\","
		"\"nanoseconds\"]}}";
	const struct question json = { .type = "application/json; charset=utf-8" };
	struct fixture *f = *state;
	struct pprof_bytes gz;

	assert_int_equal(send(f, &json, text, sizeof(text) - 1), 200);
	assert_answers(f, "{}");
	assert_int_equal(f->n_items, 1);
	assert_string_equal(f->service, "unknown_service");
	assert_int_equal(pprof_gzip(text, sizeof(text) - 1, 1, &gz), 0);
	assert_int_equal(send(f,
			      &(struct question){ .type = "application/json", .encoding = "gzip" },
			      gz.data, gz.n),
			 200);
	assert_int_equal(f->n_items, 2);
	assert_int_equal(send(f, &json, "{\"dictionary\":\"\"}", 17), 400);
	assert_answers(f, "{\"code\":3,\"message\":\"ProfilesDictionary is not an object\"}");
	f->room = 10;
	assert_int_equal(send(f, &json, text, sizeof(text) - 1), 429);
	assert_string_equal(f->retry_after, "5");
	pprof_bytes_fini(&gz);
}

/* Nobody has room: nothing is taken, and the sender comes again. */
static void test_no_room(void **state)
{
	struct fixture *f = *state;
	size_t n;
	uint8_t *body = make_body("svc", &n);

	f->room = 10;
	assert_int_equal(send(f, &(struct question){ 0 }, body, n), 429);
	assert_says(f, 8, "no room");
	assert_string_equal(f->retry_after, "5");
	assert_int_equal(f->n_items, 0);
	f->room = SIZE_MAX;
	assert_int_equal(send(f, &(struct question){ 0 }, body, n), 200);
	assert_int_equal(f->n_items, 1);
	free(body);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_taken), FIXTURE_TEST(test_json),    FIXTURE_TEST(test_gzip),
	FIXTURE_TEST(test_bomb),  FIXTURE_TEST(test_refused), FIXTURE_TEST(test_no_room),
};

TEST_MAIN(tests)
