/* SPDX-License-Identifier: Apache-2.0 */
/* The pusher against real sockets on 127.0.0.1. What is asserted are counts and texts, never times.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/http/server.h"
#include "agent/push/push.h"
#include "agent/push/push.pb-c.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/http/raw_server.h"

#define MAX_ENDPOINTS 2
#define HOUR_NS (3600 * NS_PER_S)

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server; /* "Pyroscope" */
	struct pusher *pusher;
	struct push_endpoint_options endpoints[MAX_ENDPOINTS];
	struct pusher_options options;
	char urls[MAX_ENDPOINTS][64];
	/* What the server answers and has seen. */
	unsigned int status;
	const char *retry_after;
	unsigned int n_requests;
	size_t n_body;		 /* of all */
	unsigned int fail_first; /* so many are answered 503 first */
	char last_labels[512];
	char last_pprof[64];
	char last_headers[512];
	bool flushed;
};

static void note_request(struct fixture *f, const struct http_call *call)
{
	static const char *const names[] = { "Content-Type",	   "Connect-Protocol-Version",
					     "Connect-Timeout-Ms", "User-Agent",
					     "X-Scope-OrgID",	   "X-Other",
					     "Authorization",	   "Accept-Encoding",
					     "Content-Encoding" };
	struct buf out = BUF_INIT(sizeof(f->last_headers) - 1);
	size_t n;
	const void *body = http_call_body(call, &n);
	Push__V1__PushRequest *rq = push__v1__push_request__unpack(NULL, n, body);

	f->n_body += n;
	assert_non_null(rq);
	assert_int_equal(rq->n_series, 1);
	assert_int_equal(rq->series[0]->n_samples, 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (http_call_header(call, names[i]))
			(void)buf_printf(&out, "%s: %s\n", names[i],
					 http_call_header(call, names[i]));
	(void)snprintf(f->last_headers, sizeof(f->last_headers), "%s", buf_str(&out));
	buf_reset(&out);
	for (size_t i = 0; i < rq->series[0]->n_labels; i++)
		(void)buf_printf(&out, "%s=%s;", rq->series[0]->labels[i]->name,
				 rq->series[0]->labels[i]->value);
	(void)snprintf(f->last_labels, sizeof(f->last_labels), "%s", buf_str(&out));
	buf_fini(&out);
	const ProtobufCBinaryData *pprof = &rq->series[0]->samples[0]->raw_profile;
	(void)snprintf(f->last_pprof, sizeof(f->last_pprof), "%.*s", (int)pprof->len,
		       (const char *)pprof->data);
	push__v1__push_request__free_unpacked(rq, NULL);
}

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;

	f->n_requests++;
	note_request(f, call);
	answer->status = f->fail_first > 0 ? 503 : f->status;
	answer->retry_after = f->retry_after;
	answer->content_type = answer->status == 200 ? "application/proto" : "application/json";
	if (f->fail_first > 0)
		f->fail_first--;
	if (answer->status != 200)
		(void)buf_append_str(&answer->body,
				     "{\"code\":\"unknown\",\"message\":\"because\"}");
}

static void start_server(struct fixture *f, const char *listen)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	const struct http_route route = { .method = "POST",
					  .path = "/push.v1.PusherService/Push",
					  .fn = answer_push,
					  .data = f,
					  .max_body_bytes = 1 << 20 };
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	options.listen = listen;
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	assert_int_equal(http_server_add_route(f->server, &route), 0);
}

static void set_url(struct fixture *f, size_t endpoint, uint16_t port)
{
	(void)snprintf(f->urls[endpoint], sizeof(f->urls[endpoint]), "http://127.0.0.1:%u/", port);
	f->endpoints[endpoint].url = f->urls[endpoint];
}

static void set_up(struct fixture *f)
{
	f->status = 200;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	start_server(f, "127.0.0.1:0");
	f->options = PUSHER_OPTIONS_INIT;
	f->options.endpoints = f->endpoints;
	f->options.n_endpoints = 1;
	f->options.component_id = "pyroscope.write.x";
	for (size_t i = 0; i < MAX_ENDPOINTS; i++) {
		f->endpoints[i] = PUSH_ENDPOINT_OPTIONS_INIT;
		f->endpoints[i].backoff.min_ns = NS_PER_MS;
		f->endpoints[i].backoff.max_ns = 4 * NS_PER_MS;
		set_url(f, i, http_server_port(f->server));
	}
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

static void make_pusher(struct fixture *f)
{
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher), 0);
}

static void push_bytes(struct fixture *f, const void *bytes, size_t n, uint64_t deadline_ns,
		       int expected)
{
	static const struct push_label labels[] = { { "service_name", "s" },
						    { "__name__", "process_cpu" },
						    { "__container_id__", "c" } };
	uint8_t *copy = malloc(n);
	struct push_item item = { .labels = labels,
				  .n_labels = ARRAY_SIZE(labels),
				  .deadline_ns = deadline_ns,
				  .n_samples = 3 };

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	assert_int_equal(shared_bytes_new(copy, n, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), expected);
	shared_bytes_unref(item.bytes);
}

static void push_by(struct fixture *f, const char *pprof, uint64_t deadline_ns)
{
	push_bytes(f, pprof, strlen(pprof), deadline_ns, 0);
}

static void push(struct fixture *f, const char *pprof)
{
	push_by(f, pprof, clock_real_ns() + HOUR_NS);
}

static struct push_endpoint_stats stats(struct fixture *f, size_t endpoint)
{
	struct push_endpoint_stats s;

	pusher_stats(f->pusher, endpoint, &s);
	return s;
}

static void run_a_while(struct fixture *f)
{
	uint64_t end = clock_mono_ns() + 100 * NS_PER_MS;

	while (clock_mono_ns() < end)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
}

#define RUN_UNTIL(f, condition)                                           \
	do {                                                              \
		uint64_t end_ = clock_mono_ns() + 20 * NS_PER_S;          \
		while (!(condition) && clock_mono_ns() < end_)            \
			assert_int_equal(loop_run_once((f)->loop, 5), 0); \
		assert_true(condition);                                   \
	} while (0)

static void assert_metric(struct fixture *f, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 << 20);

	assert_int_equal(telemetry_text(f->telemetry, &out), 0);
	if (!strstr(buf_str(&out), expected))
		fail_msg("no \"%s\" in:\n%s", expected, strstr(buf_str(&out), "pyroscope"));
}

static void test_sent(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	make_pusher(f);
	push(f, "profile-1");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_int_equal(f->n_requests, 1);
	assert_string_equal(f->last_labels, "__name__=process_cpu;service_name=s;");
	assert_string_equal(f->last_pprof, "profile-1");
	struct push_endpoint_stats s = stats(f, 0);
	assert_int_equal(s.sent_bytes, 9);
	assert_int_equal(s.sent_samples, 3);
	assert_int_equal(s.dropped_profiles + s.queued_profiles + s.queued_bytes + s.n_failures, 0);
	assert_string_equal(s.last_error, "");
	(void)snprintf(expected, sizeof(expected),
		       "\npyroscope_write_sent_bytes_total{endpoint=\"%s\",component_path=\"/"
		       "\",component_id=\"pyroscope.write.x\"} 9\n",
		       f->urls[0]);
	assert_metric(f, expected);
	(void)snprintf(expected, sizeof(expected),
		       "\npyroscope_write_latency_count{endpoint=\"%s\",type=\"push_endpoint\","
		       "component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n",
		       f->urls[0]);
	assert_metric(f, expected);
	assert_metric(f, "\npyroscope_write_latency_count{endpoint=\"-\",type=\"push_total\","
			 "component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n");
}

static void test_headers(void **state)
{
	struct fixture *f = *state;
	static const struct http_header headers[] = { { "X-Scope-OrgID", "tenant" },
						      { "content-type", "text/plain" },
						      { "User-Agent", "curl" } };
	static const struct http_header more[] = { { "X-Other", "b" },
						   { "Connect-Timeout-Ms", "1" } };

	f->endpoints[0].headers = headers;
	f->endpoints[0].n_headers = ARRAY_SIZE(headers);
	f->endpoints[0].http_headers = more;
	f->endpoints[0].n_http_headers = ARRAY_SIZE(more);
	f->endpoints[0].bearer_token = "t0ken";
	f->options.user_agent = "xagent/1.0 (linux)";
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, f->n_requests == 1);
	assert_string_equal(f->last_headers,
			    "Content-Type: application/proto\nConnect-Protocol-Version: 1\n"
			    "Connect-Timeout-Ms: 10000\nUser-Agent: xagent/1.0 (linux)\n"
			    "X-Scope-OrgID: tenant\nX-Other: b\nAuthorization: Bearer t0ken\n");
}

static void make_secret(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static void test_secret_files(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test_push_secret.XXXXXX";

	make_secret(path, "pass\n");
	f->endpoints[0].basic_auth_username = "user";
	f->endpoints[0].basic_auth_password_file = path;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, f->n_requests == 1);
	assert_non_null(strstr(f->last_headers, "Authorization: Basic dXNlcjpwYXNz\n"));
	assert_int_equal(unlink(path), 0);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).dropped_profiles == 1);
	assert_int_equal(f->n_requests, 1);
	assert_non_null(
		strstr(stats(f, 0).last_error, "cannot read the secret in /tmp/test_push_secret."));
	assert_non_null(strstr(stats(f, 0).last_error, "No such file or directory"));
}

static void answer_token(const struct http_call *call, struct http_answer *answer, void *data)
{
	unsigned int *n_refused = data;

	(void)call;
	answer->status = *n_refused > 0 ? 503 : 200;
	*n_refused -= *n_refused > 0;
	(void)buf_append_str(&answer->body, "{\"access_token\":\"tok\"}");
}

/* A token server that is away is an outage like any other: nothing is lost. */
static void test_oauth2(void **state)
{
	struct fixture *f = *state;
	unsigned int n_refused = 3;
	char url[64];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/token", http_server_port(f->server));
	const struct http_oauth2_options oauth2 = { .client_id = "i",
						    .client_secret = "s",
						    .token_url = url };
	const struct http_route route = { .method = "POST",
					  .path = "/token",
					  .fn = answer_token,
					  .data = &n_refused,
					  .max_body_bytes = 1 << 10 };
	assert_int_equal(http_server_add_route(f->server, &route), 0);
	f->endpoints[0].oauth2 = &oauth2;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_int_equal(n_refused, 0);
	assert_int_equal(f->n_requests, 1);
	assert_non_null(strstr(f->last_headers, "Authorization: Bearer tok\n"));
	/* What still waits for a token when it ends is dropped with the rest. */
	pusher_free(TAKE_PTR(f->pusher));
	make_pusher(f);
	push(f, "p");
	pusher_free(TAKE_PTR(f->pusher));
}

static void test_external_labels(void **state)
{
	struct fixture *f = *state;
	static const struct push_label external[] = { { "zone", "z" },
						      { "service_name", "other" } };

	f->options.external_labels = external;
	f->options.n_external_labels = ARRAY_SIZE(external);
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, f->n_requests == 1);
	assert_string_equal(f->last_labels, "__name__=process_cpu;service_name=other;zone=z;");
}

static void test_bad_labels_are_counted(void **state)
{
	struct fixture *f = *state;
	static const struct push_label label = { "a.b", "x" };
	struct push_item item = { .labels = &label,
				  .n_labels = 1,
				  .deadline_ns = clock_real_ns() + HOUR_NS };

	make_pusher(f);
	assert_int_equal(shared_bytes_new((uint8_t *)strdup("p"), 1, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), 0);
	shared_bytes_unref(item.bytes);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_labels_dropped), 1);
	RUN_UNTIL(f, f->n_requests == 1);
	assert_string_equal(f->last_labels, "");
}

static void test_no_endpoint(void **state)
{
	struct fixture *f = *state;

	f->options.n_endpoints = 0;
	make_pusher(f);
	push(f, "p");
	assert_int_equal(pusher_n_endpoints(f->pusher), 0);
	run_a_while(f);
	assert_int_equal(f->n_requests, 0);
}

static void test_refused_once(void **state)
{
	struct fixture *f = *state;
	static const unsigned int statuses[] = { 400, 401, 403, 404, 413, 422 };

	make_pusher(f);
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		f->status = statuses[i];
		push(f, "12345");
		RUN_UNTIL(f, stats(f, 0).dropped_profiles == i + 1);
	}
	run_a_while(f);
	assert_int_equal(f->n_requests, ARRAY_SIZE(statuses));
	assert_int_equal(stats(f, 0).dropped_bytes, 5 * ARRAY_SIZE(statuses));
	assert_int_equal(stats(f, 0).n_failures, 0);
	assert_string_equal(stats(f, 0).last_error, "422 unknown: because");
	assert_metric(
		f,
		"cause=\"refused\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 6\n");
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_push_queue_dropped_profiles), 0);
}

static void test_retried_until_taken(void **state)
{
	struct fixture *f = *state;

	f->fail_first = 5;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_int_equal(f->n_requests, 6);
	assert_int_equal(stats(f, 0).n_failures, 0);
	assert_metric(f, "pyroscope_write_retries_total");
	/* Each attempt is on the wire. */
	char expected[256];
	(void)snprintf(expected, sizeof(expected),
		       "\nxagent_push_request_bytes_total{endpoint=\"%s\",component_path=\"/"
		       "\",component_id=\"pyroscope.write.x\"} %zu\n",
		       f->urls[0], f->n_body);
	assert_metric(f, expected);
}

static void test_ten_attempts(void **state)
{
	struct fixture *f = *state;

	f->status = 500;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).dropped_profiles == 1);
	run_a_while(f);
	assert_int_equal(f->n_requests, 10);
	assert_string_equal(stats(f, 0).last_error, "500 unknown: because");
	assert_metric(
		f,
		"cause=\"attempts\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n");
}

static void test_unlimited_attempts(void **state)
{
	struct fixture *f = *state;

	f->endpoints[0].backoff.max_attempts = 0;
	f->fail_first = 25;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_int_equal(f->n_requests, 26);
}

static void test_429(void **state)
{
	struct fixture *f = *state;

	f->status = 429;
	f->retry_after = "100"; /* cut to max_backoff_period */
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, f->n_requests == 2);
	f->status = 200;
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	pusher_free(f->pusher);
	f->endpoints[0].retry_on_http_429 = false;
	f->status = 429;
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).dropped_profiles == 1);
}

static void test_retry_after_is_honoured(void **state)
{
	struct fixture *f = *state;

	f->endpoints[0].backoff.max_ns = 3600 * NS_PER_S;
	f->status = 429;
	f->retry_after = "3000";
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).n_failures == 1);
	run_a_while(f);
	assert_int_equal(f->n_requests, 1);
	assert_int_equal(stats(f, 0).queued_profiles, 1);
}

/* The answer to a request that was under way already does not end the wait. */
static void test_wait_outlasts_older_requests(void **state)
{
	struct fixture *f = *state;

	f->endpoints[0].backoff =
		(struct backoff_options){ .min_ns = 3600 * NS_PER_S, .max_ns = 3600 * NS_PER_S };
	f->fail_first = 1;
	make_pusher(f);
	push(f, "a");
	push(f, "b");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	push(f, "c");
	run_a_while(f);
	assert_int_equal(f->n_requests, 2);
	assert_int_equal(stats(f, 0).queued_profiles, 2);
	assert_int_equal(stats(f, 0).n_failures, 1);
}

static void test_poison_does_not_block(void **state)
{
	struct fixture *f = *state;

	f->fail_first = 1;
	f->options.max_in_flight = 1;
	make_pusher(f);
	push(f, "poison");
	push(f, "good");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_string_equal(f->last_pprof, "good");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 2);
	assert_string_equal(f->last_pprof, "poison");
}

/* One answer of a broken server each; then the real one takes its place on the same port. */
struct fault_row {
	const char *name;
	bool refuse;
	enum raw_mode mode;
	const char *text;
	const char *error;
};

static const struct fault_row fault_rows[] = {
	{ "refused", true, RAW_HANG, NULL, "Connection refused" },
	{ "hang", false, RAW_HANG, NULL, "no complete answer" },
	{ "reset", false, RAW_RESET, NULL, "broken connection" },
	{ "half", false, RAW_TEXT,
	  "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 100\r\n\r\nab",
	  "broken connection" },
	{ "cut headers", false, RAW_TEXT, "HTTP/1.1 200 OK\r\nContent-", "not Pyroscope's" },
	{ "503 html", false, RAW_TEXT,
	  "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\nContent-Length: "
	  "6\r\nConnection: close\r\n\r\n<html>",
	  "503 (content type \"text/html\")" },
};

static void test_fault(void **state)
{
	const struct fault_row *row = *state;
	void *own = NULL;
	struct raw_server raw;
	char listen[32];

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	uint16_t port = raw_free_port(f->loop);
	if (!row->refuse) {
		raw_server_start(&raw, f->loop, row->mode, row->text);
		port = raw.port;
	}
	set_url(f, 0, port);
	f->endpoints[0].backoff.max_attempts = 0;
	f->endpoints[0].remote_timeout_ns = 500 * NS_PER_MS;
	make_pusher(f);
	for (int i = 0; i < 3; i++)
		push(f, "12345");
	RUN_UNTIL(f, stats(f, 0).n_failures >= 2);
	assert_int_equal(stats(f, 0).sent_profiles, 0);
	assert_int_equal(stats(f, 0).dropped_profiles, 0);
	assert_int_equal(stats(f, 0).queued_profiles, 3);
	if (!strstr(stats(f, 0).last_error, row->error))
		fail_msg("\"%s\" does not say \"%s\"", stats(f, 0).last_error, row->error);
	if (!row->refuse)
		raw_server_stop(&raw);
	http_server_free(f->server);
	(void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	start_server(f, listen);
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 3);
	assert_int_equal(f->n_requests, 3);
	assert_int_equal(stats(f, 0).n_failures, 0);
	assert_int_equal(stats(f, 0).queued_bytes, 0);
	(void)teardown(&own);
}

static void test_outage_is_probed_by_one(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;

	raw_server_start(&raw, f->loop, RAW_HANG, NULL);
	set_url(f, 0, raw.port);
	f->endpoints[0].remote_timeout_ns = 200 * NS_PER_MS;
	f->endpoints[0].backoff.max_attempts = 0;
	f->options.max_in_flight = 4;
	make_pusher(f);
	for (int i = 0; i < 10; i++)
		push(f, "p");
	RUN_UNTIL(f, raw.n_connections == 4);
	RUN_UNTIL(f, stats(f, 0).n_failures == 1);
	unsigned int before = raw.n_connections;
	RUN_UNTIL(f, stats(f, 0).n_failures == 4);
	assert_int_equal(raw.n_connections, before + 3);
	assert_int_equal(stats(f, 0).queued_profiles, 10);
	pusher_free(f->pusher);
	f->pusher = NULL;
	raw_server_stop(&raw);
}

static void test_dead_endpoint_blocks_nobody(void **state)
{
	struct fixture *f = *state;

	f->options.n_endpoints = 2;
	set_url(f, 0, raw_free_port(f->loop));
	f->endpoints[0].backoff.max_attempts = 0;
	make_pusher(f);
	for (int i = 0; i < 5; i++)
		push(f, "12345");
	RUN_UNTIL(f, stats(f, 1).sent_profiles == 5 && stats(f, 0).n_failures > 0);
	assert_int_equal(stats(f, 0).queued_profiles, 5);
	assert_int_equal(f->n_requests, 5);
}

static void test_queue_items(void **state)
{
	struct fixture *f = *state;

	set_url(f, 0, raw_free_port(f->loop));
	f->endpoints[0].backoff =
		(struct backoff_options){ .min_ns = 3600 * NS_PER_S, .max_ns = 3600 * NS_PER_S };
	f->options.max_queue_items = 3;
	f->options.max_in_flight = 1;
	make_pusher(f);
	push(f, "12345");
	RUN_UNTIL(f, stats(f, 0).n_failures == 1);
	for (int i = 0; i < 6; i++)
		push(f, "12345");
	assert_int_equal(stats(f, 0).queued_profiles, 3);
	assert_int_equal(stats(f, 0).dropped_profiles, 4);
	assert_int_equal(stats(f, 0).dropped_bytes, 20);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_push_queue_dropped_profiles), 4);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_push_queue_dropped_bytes), 20);
	assert_metric(f, "cause=\"queue_full\",component_path=\"/"
			 "\",component_id=\"pyroscope.write.x\"} 4\n");
}

static void test_queue_bytes(void **state)
{
	struct fixture *f = *state;
	char big[301];

	set_url(f, 0, raw_free_port(f->loop));
	f->endpoints[0].backoff =
		(struct backoff_options){ .min_ns = 3600 * NS_PER_S, .max_ns = 3600 * NS_PER_S };
	f->options.max_queue_bytes = 200;
	make_pusher(f);
	push(f, "small");
	RUN_UNTIL(f, stats(f, 0).n_failures == 1);
	memset(big, 'x', sizeof(big) - 1);
	big[300] = '\0';
	push(f, big);
	/* One that never fits does not push the others out. */
	assert_int_equal(stats(f, 0).queued_profiles, 1);
	assert_int_equal(stats(f, 0).dropped_profiles, 1);
	assert_int_equal(stats(f, 0).dropped_bytes, 300);
	big[100] = '\0';
	push(f, big);
	push(f, big);
	assert_true(stats(f, 0).queued_bytes <= 200);
	assert_int_equal(stats(f, 0).dropped_profiles, 3);
}

static void test_too_large_to_encode(void **state)
{
	struct fixture *f = *state;
	const size_t n = (16 << 20) + 1;
	_cleanup_free_ void *pprof = calloc(1, n);

	make_pusher(f);
	push_bytes(f, pprof, n, clock_real_ns() + HOUR_NS, -EMSGSIZE);
	assert_int_equal(stats(f, 0).dropped_profiles, 1);
	assert_metric(
		f, "cause=\"encode\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n");
}

static void test_no_bytes(void **state)
{
	struct fixture *f = *state;

	f->options.n_endpoints = 2;
	make_pusher(f);
	pusher_lost(f->pusher);
	assert_int_equal(stats(f, 0).dropped_profiles, 1);
	assert_int_equal(stats(f, 1).dropped_profiles, 1);
	assert_metric(f, "cause=\"not_encoded\",component_path=\"/\","
			 "component_id=\"pyroscope.write.x\"} 2\n");
}

/* Two endpoints and all attempts send the same bytes, which are nobody's any more afterwards. */
static void test_bytes_are_shared(void **state)
{
	struct fixture *f = *state;
	struct push_item item = { .deadline_ns = clock_real_ns() + HOUR_NS };

	f->options.n_endpoints = 2;
	f->fail_first = 5;
	make_pusher(f);
	assert_int_equal(shared_bytes_new((uint8_t *)strdup("shared"), 6, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), 0);
	assert_int_equal(item.bytes->n_refs, 2);
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1 && stats(f, 1).sent_profiles == 1);
	assert_int_equal(f->n_requests, 7);
	assert_string_equal(f->last_pprof, "shared");
	assert_int_equal(item.bytes->n_refs, 1);
	shared_bytes_unref(item.bytes);
}

static void test_deadline(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_by(f, "old", clock_real_ns() - 1);
	push_by(f, "young", clock_real_ns() + 600 * NS_PER_S);
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_string_equal(f->last_pprof, "young");
	assert_int_equal(stats(f, 0).dropped_profiles, 1);
	assert_metric(
		f,
		"cause=\"too_old\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n");
}

/* It passes while the server is away: the next attempt does not come. */
static void test_deadline_in_an_outage(void **state)
{
	struct fixture *f = *state;

	f->status = 503;
	f->endpoints[0].backoff.max_attempts = 0;
	make_pusher(f);
	push_by(f, "late", clock_real_ns() + 20 * NS_PER_MS);
	RUN_UNTIL(f, stats(f, 0).dropped_profiles == 1);
	assert_int_equal(stats(f, 0).sent_profiles, 0);
	assert_int_equal(stats(f, 0).queued_profiles, 0);
	assert_metric(
		f,
		"cause=\"too_old\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 1\n");
}

static void on_flushed(void *data)
{
	struct fixture *f = data;

	assert_false(f->flushed);
	f->flushed = true;
	pusher_free(f->pusher);
	f->pusher = NULL;
}

static void flush(struct fixture *f, uint64_t ns)
{
	pusher_flush(f->pusher, clock_mono_ns() + ns, on_flushed, f);
	assert_false(f->flushed);
	RUN_UNTIL(f, f->flushed);
}

static void test_flush_sends_all(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	for (int i = 0; i < 20; i++)
		push(f, "p");
	flush(f, 20 * NS_PER_S);
	assert_int_equal(f->n_requests, 20);
}

static void push_spread(struct fixture *f, const char *service, uint64_t spread_ns)
{
	const struct push_label label = { "service_name", service };
	struct push_item item = { .labels = &label,
				  .n_labels = 1,
				  .deadline_ns = clock_real_ns() + HOUR_NS,
				  .spread_ns = spread_ns,
				  .n_samples = 1 };

	assert_int_equal(shared_bytes_new((uint8_t *)strdup("p"), 1, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), 0);
	shared_bytes_unref(item.bytes);
}

static void push_services(struct fixture *f, unsigned int n, uint64_t spread_ns)
{
	for (unsigned int i = 0; i < n; i++) {
		char service[16];

		(void)snprintf(service, sizeof(service), "s%u", i);
		push_spread(f, service, spread_ns);
	}
}

/* The moments of 200 series lie anywhere in a second; none is later, and none is forgotten. */
static void test_spread(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = clock_mono_ns();

	make_pusher(f);
	push_services(f, 200, NS_PER_S);
	while (clock_mono_ns() < begin_ns + NS_PER_S / 10)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	/* 20 at the mean. A machine that stands still in this time sees them all. */
	if (clock_mono_ns() < begin_ns + NS_PER_S / 5)
		assert_in_range(f->n_requests, 1, 100);
	RUN_UNTIL(f, f->n_requests == 200);
	assert_true(clock_mono_ns() - begin_ns > NS_PER_S / 2);
	run_a_while(f);
	assert_int_equal(f->n_requests, 200);
}

/* A day is beyond the patience of RUN_UNTIL. */
static void test_flush_does_not_wait_for_the_spread(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_services(f, 50, 24 * HOUR_NS);
	run_a_while(f);
	assert_int_equal(f->n_requests, 0);
	assert_int_equal(stats(f, 0).queued_profiles, 50);
	flush(f, 20 * NS_PER_S);
	assert_int_equal(f->n_requests, 50);
}

static void test_no_spread_where_room_is_short(void **state)
{
	struct fixture *f = *state;

	f->options.max_queue_items = 10;
	make_pusher(f);
	push_services(f, 12, 24 * HOUR_NS);
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 7);
	run_a_while(f);
	assert_int_equal(f->n_requests, 7);
	assert_int_equal(stats(f, 0).queued_profiles, 5);
	assert_int_equal(stats(f, 0).dropped_profiles, 0);
}

/* What is sent at once does not wait behind what is not. */
static void test_spread_holds_nobody_back(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_services(f, 50, 24 * HOUR_NS);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).sent_profiles == 1);
	assert_int_equal(f->n_requests, 1);
}

static void test_flush_of_nothing(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	flush(f, 3600 * NS_PER_S);
	assert_int_equal(f->n_requests, 0);
}

static void test_flush_tries_in_a_wait(void **state)
{
	struct fixture *f = *state;

	f->fail_first = 1;
	f->endpoints[0].backoff =
		(struct backoff_options){ .min_ns = 3600 * NS_PER_S, .max_ns = 3600 * NS_PER_S };
	make_pusher(f);
	push(f, "p");
	RUN_UNTIL(f, stats(f, 0).n_failures == 1);
	flush(f, 20 * NS_PER_S);
	assert_int_equal(f->n_requests, 2);
	assert_metric(
		f,
		"cause=\"shutdown\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 0\n");
}

static void test_flush_gives_up_at_once(void **state)
{
	struct fixture *f = *state;

	set_url(f, 0, raw_free_port(f->loop));
	f->endpoints[0].backoff =
		(struct backoff_options){ .min_ns = 3600 * NS_PER_S, .max_ns = 3600 * NS_PER_S };
	make_pusher(f);
	push(f, "p");
	push(f, "p");
	/* The deadline is beyond the patience of RUN_UNTIL. */
	flush(f, 1000 * NS_PER_S);
	assert_metric(
		f,
		"cause=\"shutdown\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 2\n");
}

static void test_flush_ends_at_the_deadline(void **state)
{
	struct fixture *f = *state;
	struct raw_server raw;

	raw_server_start(&raw, f->loop, RAW_HANG, NULL);
	set_url(f, 0, raw.port);
	make_pusher(f);
	for (int i = 0; i < 20; i++)
		push(f, "p");
	flush(f, 100 * NS_PER_MS);
	assert_metric(
		f,
		"cause=\"shutdown\",component_path=\"/\",component_id=\"pyroscope.write.x\"} 20\n");
	raw_server_stop(&raw);
}

static void test_bad_options(void **state)
{
	struct fixture *f = *state;

	f->endpoints[0].url = "h:4040";
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher),
			 -EINVAL);
	set_url(f, 0, 1);
	f->options.max_in_flight = 0;
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher),
			 -EINVAL);
	f->options.max_in_flight = 1;
	f->options.n_endpoints = PUSH_MAX_ENDPOINTS + 1;
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher),
			 -EINVAL);
	assert_null(f->pusher);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_sent),
	FIXTURE_TEST(test_headers),
	FIXTURE_TEST(test_secret_files),
	FIXTURE_TEST(test_oauth2),
	FIXTURE_TEST(test_external_labels),
	FIXTURE_TEST(test_bad_labels_are_counted),
	FIXTURE_TEST(test_no_endpoint),
	FIXTURE_TEST(test_refused_once),
	FIXTURE_TEST(test_retried_until_taken),
	FIXTURE_TEST(test_ten_attempts),
	FIXTURE_TEST(test_unlimited_attempts),
	FIXTURE_TEST(test_429),
	FIXTURE_TEST(test_retry_after_is_honoured),
	FIXTURE_TEST(test_wait_outlasts_older_requests),
	FIXTURE_TEST(test_poison_does_not_block),
	FIXTURE_TEST(test_outage_is_probed_by_one),
	FIXTURE_TEST(test_dead_endpoint_blocks_nobody),
	FIXTURE_TEST(test_queue_items),
	FIXTURE_TEST(test_queue_bytes),
	FIXTURE_TEST(test_too_large_to_encode),
	FIXTURE_TEST(test_no_bytes),
	FIXTURE_TEST(test_bytes_are_shared),
	FIXTURE_TEST(test_deadline),
	FIXTURE_TEST(test_deadline_in_an_outage),
	FIXTURE_TEST(test_flush_sends_all),
	FIXTURE_TEST(test_spread),
	FIXTURE_TEST(test_flush_does_not_wait_for_the_spread),
	FIXTURE_TEST(test_spread_holds_nobody_back),
	FIXTURE_TEST(test_no_spread_where_room_is_short),
	FIXTURE_TEST(test_flush_of_nothing),
	FIXTURE_TEST(test_flush_tries_in_a_wait),
	FIXTURE_TEST(test_flush_gives_up_at_once),
	FIXTURE_TEST(test_flush_ends_at_the_deadline),
	FIXTURE_TEST(test_bad_options),
	TEST_ROWS(test_fault, fault_rows, name),
};

TEST_MAIN(tests)
