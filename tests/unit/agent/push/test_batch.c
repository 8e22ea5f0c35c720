/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second protocol, made by the lines of agent/encode/README.md's recipe, which takes four profiles in a request: a text, "service N bytes" and
 * the bytes of each. Queue, back-off and numbers are those of every protocol.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/server.h"
#include "agent/push/push.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define BATCH 4
#define POISON "poison"

static void lines_headers(uint64_t timeout_ns, struct push_headers *h)
{
	(void)timeout_ns;
	h->n = 0;
	h->items[h->n++] = (struct http_header){ "Content-Type", "text/x-profiles" };
}

static int lines_encode(const struct push_profile *const *profiles, size_t n,
			struct push_body *body)
{
	for (size_t i = 0; i < n; i++) {
		char head[64];
		int n_head = snprintf(head, sizeof(head), "%s %zu bytes\n",
				      profiles[i]->labels[0].value, profiles[i]->bytes->n);

		push_body_add(body, head, (size_t)n_head);
		push_body_add_shared(body, profiles[i]->bytes);
		push_body_add(body, "\n", 1);
	}
	return 0;
}

static enum push_verdict lines_judge(const struct http_result *result, bool retry_on_http_429,
				     struct push_reason *ret_reason)
{
	(void)retry_on_http_429;
	(void)snprintf(ret_reason->text, sizeof(ret_reason->text), "%u", result->status);
	if (!push_has_answer(result) || result->status >= 500)
		return PUSH_RETRY;
	return result->status == 200 ? PUSH_SENT : PUSH_DROP;
}

static const struct push_protocol push_lines = {
	.server = "the line server",
	.path = "/lines",
	.headers = lines_headers,
	.batch = BATCH,
	.encode = lines_encode,
	.judge = lines_judge,
};

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server;
	struct pusher *pusher;
	char url[64];
	struct push_endpoint_options endpoint;
	struct pusher_options options;
	/* What the server answers and has seen. */
	unsigned int status;
	unsigned int fail_first;
	bool hates_poison; /* 503 to a request that it is in */
	unsigned int n_requests;
	char bodies[16][256];
};

static void answer_lines(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	size_t n;
	const char *body = http_call_body(call, &n);

	assert_string_equal(http_call_header(call, "Content-Type"), "text/x-profiles");
	assert_in_range(f->n_requests, 0, ARRAY_SIZE(f->bodies) - 1);
	char *copy = f->bodies[f->n_requests++];
	(void)snprintf(copy, sizeof(f->bodies[0]), "%.*s", (int)n, body);
	answer->status = f->fail_first > 0 ? 503 : f->status;
	f->fail_first -= f->fail_first > 0;
	if (f->hates_poison && strstr(copy, POISON))
		answer->status = 503;
}

static void set_up(struct fixture *f)
{
	struct http_server_options server = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->status = 200;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	server.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->loop, &server, &f->server, error), HTTP_LISTENING);
	assert_int_equal(
		http_server_add_route(f->server, &(struct http_route){ .method = "POST",
								       .path = "/lines",
								       .fn = answer_lines,
								       .data = f,
								       .max_body_bytes = 8 << 20 }),
		0);
	(void)snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u", http_server_port(f->server));
	f->endpoint = PUSH_ENDPOINT_OPTIONS_INIT;
	f->endpoint.url = f->url;
	f->endpoint.backoff.min_ns = NS_PER_MS;
	f->endpoint.backoff.max_ns = 4 * NS_PER_MS;
	f->options = PUSHER_OPTIONS_INIT;
	f->options.protocol = &push_lines;
	f->options.endpoints = &f->endpoint;
	f->options.n_endpoints = 1;
	f->options.max_in_flight = 1;
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher), 0);
}

static void tear_down(struct fixture *f)
{
	pusher_free(f->pusher);
	http_client_free(f->http);
	http_server_free(f->server);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void push_bytes(struct fixture *f, const char *service, uint8_t *bytes, size_t n)
{
	const struct push_label label = { "service_name", service };
	struct push_item item = { .labels = &label,
				  .n_labels = 1,
				  .deadline_ns = clock_real_ns() + 3600 * NS_PER_S };

	assert_int_equal(shared_bytes_new(bytes, n, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), 0);
	shared_bytes_unref(item.bytes);
}

static void push(struct fixture *f, const char *service)
{
	push_bytes(f, service, (uint8_t *)strdup("xyz"), 3);
}

static struct push_endpoint_stats stats(const struct fixture *f)
{
	struct push_endpoint_stats s;

	pusher_stats(f->pusher, 0, &s);
	return s;
}

/* Until all that were pushed have ended. */
static void run(struct fixture *f)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;

	while (stats(f).queued_profiles > 0) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	}
	assert_int_equal(stats(f).queued_bytes, 0);
}

/* What comes in one turn of the loop shares requests, in its order. */
static void test_several_in_a_request(void **state)
{
	static const char *const services[] = { "a", "b", "c", "d", "e", "f" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		push(f, services[i]);
	assert_int_equal(stats(f).queued_profiles, 6);
	run(f);
	assert_int_equal(f->n_requests, 2);
	assert_string_equal(f->bodies[0], "a 3 bytes\nxyz\nb 3 bytes\nxyz\nc 3 bytes\nxyz\n"
					  "d 3 bytes\nxyz\n");
	assert_string_equal(f->bodies[1], "e 3 bytes\nxyz\nf 3 bytes\nxyz\n");
	assert_int_equal(stats(f).sent_profiles, 6);
	assert_int_equal(stats(f).sent_bytes, 18);
}

/* Who never passes goes alone from the second attempt on, and fails alone. */
static void test_poison_fails_alone(void **state)
{
	struct fixture *f = *state;

	f->hates_poison = true;
	f->endpoint.backoff.max_attempts = 3;
	pusher_free(f->pusher);
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher), 0);
	push(f, "a");
	push(f, POISON);
	push(f, "b");
	run(f);
	assert_int_equal(stats(f).sent_profiles, 2);
	assert_int_equal(stats(f).dropped_profiles, 1);
	/* All three, each alone, the bad one once more. */
	assert_int_equal(f->n_requests, 5);
}

static void test_refused_together(void **state)
{
	struct fixture *f = *state;

	f->status = 400;
	push(f, "a");
	push(f, "b");
	run(f);
	assert_int_equal(f->n_requests, 1);
	assert_int_equal(stats(f).dropped_profiles, 2);
	assert_int_equal(stats(f).dropped_bytes, 6);
}

/* Requests have a ceiling in bytes, too. */
static void test_batch_bytes(void **state)
{
	struct fixture *f = *state;
	const size_t n = PUSH_MAX_BATCH_BYTES / 5 * 2;

	for (size_t i = 0; i < 3; i++)
		push_bytes(f, "large", calloc(1, n), n);
	run(f);
	assert_int_equal(f->n_requests, 2);
	assert_int_equal(stats(f).sent_profiles, 3);
}

static void on_flushed(void *data)
{
	*(bool *)data = true;
}

/* The end sends what has not begun, and counts what is under way. */
static void test_flush(void **state)
{
	struct fixture *f = *state;
	bool flushed = false;

	for (size_t i = 0; i < 2 * BATCH; i++)
		push(f, "a");
	pusher_flush(f->pusher, clock_mono_ns() + 20 * NS_PER_S, on_flushed, &flushed);
	while (!flushed)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	assert_int_equal(f->n_requests, 2);
	assert_int_equal(stats(f).sent_profiles, 2 * BATCH);
}

static void test_end_under_way(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < BATCH + 1; i++)
		push(f, "a");
	assert_int_equal(loop_run_once(f->loop, 5), 0);
	assert_int_equal(stats(f).queued_profiles, BATCH + 1);
	pusher_free(TAKE_PTR(f->pusher));
	_cleanup_buf_ struct buf text = BUF_INIT(8 << 20);
	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	assert_non_null(strstr(buf_str(&text), "cause=\"shutdown\",component_path=\"/\","
					       "component_id=\"pyroscope.write\"} 5\n"));
}

/* None, or more than a body has room for. */
static void test_bad_batch(void **state)
{
	struct fixture *f = *state;
	struct push_protocol other = push_lines;

	f->options.protocol = &other;
	pusher_free(TAKE_PTR(f->pusher));
	for (other.batch = 0; other.batch <= PUSH_MAX_BATCH + 1; other.batch += PUSH_MAX_BATCH + 1)
		assert_int_equal(
			pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher),
			-EINVAL);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_several_in_a_request),
	FIXTURE_TEST(test_poison_fails_alone),
	FIXTURE_TEST(test_refused_together),
	FIXTURE_TEST(test_batch_bytes),
	FIXTURE_TEST(test_flush),
	FIXTURE_TEST(test_end_under_way),
	FIXTURE_TEST(test_bad_batch),
};

TEST_MAIN(tests)
