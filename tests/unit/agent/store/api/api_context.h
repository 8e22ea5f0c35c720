/* SPDX-License-Identifier: Apache-2.0 */
/* A store with its read API behind a real socket, and somebody who asks. After cmocka.h. */
#ifndef XAGENT_TESTS_UNIT_AGENT_STORE_API_API_CONTEXT_H
#define XAGENT_TESTS_UNIT_AGENT_STORE_API_API_CONTEXT_H

#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/api.h"
#include "agent/store/connect/base64.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define Q "/querier.v1.QuerierService/"
#define JSON "application/json"
#define PROTO "application/proto"

struct fixture {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	struct http_server *server;
	struct store_api *api;
	struct http_client *client;
	int64_t now_ms;
	struct buf text; /* a request in the making */
	/* of the last answer */
	size_t n_done;
	unsigned int status;
	char type[64], retry_after[64];
	struct buf body;
	size_t n_status[600];
};

static inline void set_up(struct fixture *f)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	struct store_options store_options = STORE_OPTIONS_INIT;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->now_ms = (int64_t)(clock_real_ns() / NS_PER_MS);
	buf_init(&f->body, 1 << 20);
	buf_init(&f->text, 1 << 20);
	options.listen = "127.0.0.1:0";
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(worker_new(f->loop, 64, &f->worker), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	assert_int_equal(
		store_new(f->loop, f->worker, f->telemetry, &store_options, &why, &f->store), 0);
	assert_int_equal(store_api_new(f->store, f->worker, f->server, "1.2.3", &f->api), 0);
}

static inline void tear_down(struct fixture *f)
{
	store_api_free(f->api);
	http_client_free(f->client);
	http_server_free(f->server);
	store_free(f->store);
	worker_free(f->worker);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
	buf_fini(&f->body);
	buf_fini(&f->text);
}

FIXTURE(struct fixture, set_up, tear_down)

static inline void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->n_done++;
	f->status = result->outcome == HTTP_DONE ? result->status : 0;
	f->n_status[f->status]++;
	(void)snprintf(f->type, sizeof(f->type), "%s", result->content_type);
	(void)snprintf(f->retry_after, sizeof(f->retry_after), "%s", result->retry_after);
	buf_reset(&f->body);
	assert_int_equal(buf_append(&f->body, result->body, result->n_body), 0);
}

struct question {
	const char *path, *type, *encoding, *timeout;
	const void *body; /* NULL: GET */
	size_t n;
};

static inline struct http_request *start(struct fixture *f, const struct question *q)
{
	const struct http_header headers[] = { { "Content-Type", q->type },
					       { "Content-Encoding", q->encoding },
					       { "Connect-Timeout-Ms", q->timeout } };
	struct http_header used[ARRAY_SIZE(headers)];
	struct http_request_options o = { .headers = used, .timeout_ns = 20 * NS_PER_S };
	struct http_request *request = NULL;
	_cleanup_buf_ struct buf url = BUF_INIT(4096);

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (headers[i].value)
			used[o.n_headers++] = headers[i];
	(void)buf_printf(&url, "http://127.0.0.1:%u%s", http_server_port(f->server), q->path);
	o.url = buf_str(&url);
	o.body = q->body;
	o.n_body = q->n;
	o.method = q->body ? "POST" : NULL;
	assert_int_equal(http_request_start(f->client, &o, on_done, f, &request), 0);
	return request;
}

static inline void wait_done(struct fixture *f, size_t n)
{
	LOOP_WHILE(f->loop, f->n_done < n);
	assert_int_equal(f->n_done, n);
}

static inline const char *ask(struct fixture *f, const struct question *q)
{
	f->n_done = 0;
	(void)start(f, q);
	wait_done(f, 1);
	return buf_str(&f->body);
}

static inline const char *post(struct fixture *f, const char *path, const char *json)
{
	return ask(f, &(struct question){
			      .path = path, .type = JSON, .body = json, .n = strlen(json) });
}

static inline const char *get(struct fixture *f, const char *path)
{
	return ask(f, &(struct question){ .path = path });
}

/* {"start":…,"end":…,…}: the last half hour, and what is in `rest`. */
static inline const char *ranged(struct fixture *f, const char *rest)
{
	buf_reset(&f->text);
	(void)buf_printf(&f->text, "{\"start\":%lld,\"end\":\"%lld\"%s}",
			 (long long)f->now_ms - 1800000, (long long)f->now_ms, rest);
	return buf_str(&f->text);
}

/* ---- profiles ---- */

static inline void add_stack(struct pprof_builder *b, const char *text, int64_t value)
{
	uint64_t ids[8], function;
	struct str rest = str_from(text), name;
	size_t n = 0;

	while (str_split(&rest, ';', &name)) {
		_cleanup_free_ char *copy = strndup(name.p, name.n);
		const struct pprof_function f = { .name = copy, .filename = "a.c" };

		memmove(ids + 1, ids, n * sizeof(*ids));
		assert_int_equal(pprof_builder_function(b, &f, &function), 0);
		const struct pprof_line line = { function, 7, 0 };
		assert_int_equal(pprof_builder_location(b, 0, 0, &line, 1, ids), 0);
		n++;
	}
	assert_int_equal(pprof_builder_sample(b, ids, n, &value, NULL, 0), 0);
}

/* Its time is some seconds before now. */
static inline struct pprof_bytes make_profile(const struct fixture *f, int64_t seconds_ago)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;
	_cleanup_(pprof_builder_freep) struct pprof_builder *b = NULL;
	struct pprof_bytes bytes;

	options.period = 10000000;
	options.time_ns = (f->now_ms - seconds_ago * 1000) * 1000000;
	assert_int_equal(pprof_builder_new(&options, &b), 0);
	add_stack(b, "main;work;hot", 60);
	add_stack(b, "main;work", 30);
	add_stack(b, "main;idle", 10);
	assert_int_equal(pprof_builder_encode(b, &bytes), 0);
	return bytes;
}

static inline void push_named_json(struct fixture *f, const char *name, const char *service,
				   const uint8_t *pprof, size_t n)
{
	buf_reset(&f->text);
	(void)buf_printf(&f->text,
			 "{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"%s\"},"
			 "{\"name\":\"service_name\",\"value\":\"%s\"}],\"samples\":[{\"ID\":\"x\","
			 "\"rawProfile\":\"",
			 name, service);
	(void)base64_put(&f->text, pprof, n);
	(void)buf_append_str(&f->text, "\"}]}]}");
	assert_string_equal(post(f, "/push.v1.PusherService/Push", buf_str(&f->text)), "{}");
	assert_int_equal(f->status, 200);
}

static inline void push_bytes_json(struct fixture *f, const char *service, const uint8_t *pprof,
				   size_t n)
{
	push_named_json(f, "process_cpu", service, pprof, n);
}

static inline void push_json(struct fixture *f, const char *service, int64_t seconds_ago)
{
	struct pprof_bytes pprof = make_profile(f, seconds_ago);

	push_bytes_json(f, service, pprof.data, pprof.n);
	pprof_bytes_fini(&pprof);
}

static inline void push_proto(struct fixture *f, const char *service, int64_t seconds_ago)
{
	struct pprof_bytes pprof = make_profile(f, seconds_ago);
	Push__V1__LabelPair pairs[2] = { PUSH__V1__LABEL_PAIR__INIT, PUSH__V1__LABEL_PAIR__INIT };
	Push__V1__LabelPair *labels[2] = { &pairs[0], &pairs[1] };
	Push__V1__RawSample sample = PUSH__V1__RAW_SAMPLE__INIT, *samples[1] = { &sample };
	Push__V1__RawProfileSeries one = PUSH__V1__RAW_PROFILE_SERIES__INIT, *series[1] = { &one };
	Push__V1__PushRequest request = PUSH__V1__PUSH_REQUEST__INIT;
	uint8_t bytes[4096];

	pairs[0].name = (char *)"service_name";
	pairs[0].value = (char *)service;
	pairs[1].name = (char *)"__name__";
	pairs[1].value = (char *)"process_cpu";
	sample.raw_profile = (ProtobufCBinaryData){ pprof.n, pprof.data };
	one.labels = labels;
	one.n_labels = 2;
	one.samples = samples;
	one.n_samples = 1;
	request.series = series;
	request.n_series = 1;
	assert_true(push__v1__push_request__get_packed_size(&request) <= sizeof(bytes));
	size_t n = push__v1__push_request__pack(&request, bytes);
	pprof_bytes_fini(&pprof);
	assert_string_equal(ask(f, &(struct question){ .path = "/push.v1.PusherService/Push",
						       .type = PROTO,
						       .body = bytes,
						       .n = n }),
			    "");
	assert_int_equal(f->status, 200);
	assert_string_equal(f->type, PROTO);
}

static inline int setup_filled(void **state)
{
	struct fixture *f;

	(void)setup(state);
	f = *state;
	push_json(f, "one", 120);
	push_json(f, "one", 60);
	push_proto(f, "two", 60);
	return 0;
}

#define FILLED(f) TEST_WITH(f, setup_filled, teardown)

#endif
