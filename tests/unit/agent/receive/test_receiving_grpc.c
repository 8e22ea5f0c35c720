/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP by gRPC: what a sender is answered, and what becomes of its profiles. */
#include <string.h>

#include "agent/receive/receiving.h"
#include "agent/store/connect/base64.h"
#include "agent/push/otlp_request.pb-c.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"
#include "tests/support/h2_client.h"
#include "tests/support/loop_while.h"
#include "tests/support/made_otlp.h"
#include "tests/support/unit.h"

#define EXPORT "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define MAX_BYTES 4096

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct grpc_server *server;
	struct receiving *receiving;
	struct h2_client client;
	size_t room; /* of who takes profiles */
	unsigned int n_items;
	char service[64]; /* of the last one */
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
}

static void set_up(struct fixture *f)
{
	const struct receiving_callbacks callbacks = { has_room, NULL, deliver, f };
	struct grpc_server_options o = GRPC_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->room = SIZE_MAX;
	o.listen = "127.0.0.1:0";
	o.max_message_bytes = MAX_BYTES;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(receiving_new(f->loop, f->telemetry, "/", "otelcol.receiver.otlp.in",
				       &callbacks, &f->receiving),
			 0);
	const struct grpc_service service = receiving_grpc_service(f->receiving, MAX_BYTES);
	assert_int_equal(grpc_server_new(f->loop, &o, &service, &f->server, error), HTTP_LISTENING);
	h2_client_open(&f->client, f->loop, grpc_server_port(f->server));
}

static void tear_down(struct fixture *f)
{
	h2_client_close(&f->client);
	grpc_server_free(f->server);
	receiving_free(f->receiving);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

/* grpc-status. */
static int send(struct fixture *f, const char *path, const void *bytes, size_t n, bool is_gzip)
{
	_cleanup_buf_ struct buf body = BUF_INIT(1 << 20);
	struct h2_client *c = &f->client;
	unsigned int before = c->n_answers;

	h2_put_message(&body, bytes, n, is_gzip);
	(void)h2_client_call(c, &(struct h2_call){ .path = path,
						   .encoding = is_gzip ? "gzip" : NULL,
						   .body = body.data,
						   .n_body = body.len });
	h2_client_flush(c);
	LOOP_WHILE(f->loop, c->n_answers == before);
	assert_int_equal(c->n_answers, before + 1);
	assert_int_equal(c->http_status, 200);
	return c->grpc_status;
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

static void assert_counted(struct fixture *f, const char *series)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	assert_non_null(strstr(buf_str(&text), series));
}

static void test_taken(void **state)
{
	struct fixture *f = *state;
	struct pprof_bytes gz;
	size_t n;
	uint8_t *body = make_body("svc", &n);

	assert_int_equal(pprof_gzip(body, n, 1, &gz), 0);
	assert_int_equal(send(f, EXPORT, body, n, false), 0);
	assert_int_equal(send(f, EXPORT, gz.data, gz.n, true), 0);
	assert_string_equal(f->service, "svc");
	assert_int_equal(f->n_items, 2);
	assert_counted(f, "xagent_received_profiles_total{format=\"otlp\",transport=\"grpc\","
			  "component_path=\"/\",component_id=\"otelcol.receiver.otlp.in\"} 2\n");
	pprof_bytes_fini(&gz);
	free(body);
}

static void test_other_signals(void **state)
{
	static const char *const services[] = { "trace.v1.TraceService",
						"metrics.v1.MetricsService",
						"logs.v1.LogsService" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "/opentelemetry.proto.collector.%s/Export",
			       services[i]);
		assert_int_equal(send(f, path, "", 0, false), GRPC_UNIMPLEMENTED);
		assert_non_null(strstr(f->client.message, "profiles are taken here, no "));
	}
	assert_int_equal(send(f, "/grpc.health.v1.Health/Check", "", 0, false), GRPC_UNIMPLEMENTED);
	assert_non_null(strstr(f->client.message, EXPORT));
}

static void test_refused(void **state)
{
	static uint8_t zeros[MAX_BYTES + 1];
	struct fixture *f = *state;
	struct receiving_stats stats;
	struct pprof_bytes gz;

	assert_int_equal(send(f, EXPORT, "\xff\xff", 2, false), GRPC_INVALID_ARGUMENT);
	assert_string_equal(f->client.message, "not a request for profiles");
	assert_string_equal(f->client.details, "");
	assert_int_equal(send(f, EXPORT, "abc", 3, true), GRPC_INVALID_ARGUMENT);
	assert_non_null(strstr(f->client.message, "not gzip"));
	assert_int_equal(pprof_gzip(zeros, sizeof(zeros), 9, &gz), 0);
	assert_int_equal(send(f, EXPORT, gz.data, gz.n, true), GRPC_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(f->client.message, "too large"));
	assert_string_equal(f->client.details, ""); /* it would be as large again */
	receiving_stats(f->receiving, &stats);
	assert_int_equal(stats.n_refused, 3);
	assert_int_equal(f->n_items, 0);
	assert_counted(f, "refused_total{reason=\"malformed\",transport=\"grpc\",component_path=\"/"
			  "\",component_id=\"otelcol.receiver.otlp.in\"} 2\n");
	pprof_bytes_fini(&gz);
}

static void assert_retry(const struct fixture *f, int seconds)
{
	struct str text = str_from(f->client.details);
	uint8_t bytes[1024];
	size_t n;

	assert_true(base64_room(text.n) <= sizeof(bytes) && base64_parse(text, bytes, &n));
	Otlp__Push__Status *s = otlp__push__status__unpack(NULL, n, bytes);
	assert_non_null(s);
	assert_int_equal(s->code, f->client.grpc_status);
	assert_string_equal(s->message, f->client.message);
	assert_int_equal(s->n_details, 1);
	assert_string_equal(s->details[0]->type_url, "type.googleapis.com/google.rpc.RetryInfo");
	Otlp__Push__RetryInfo *info = otlp__push__retry_info__unpack(NULL, s->details[0]->value.len,
								     s->details[0]->value.data);
	assert_non_null(info);
	assert_int_equal(info->retry_delay->seconds, seconds);
	otlp__push__retry_info__free_unpacked(info, NULL);
	otlp__push__status__free_unpacked(s, NULL);
}

/* Nobody has room: nothing is taken, and the sender is told when to come again. */
static void test_no_room(void **state)
{
	struct fixture *f = *state;
	size_t n;
	uint8_t *body = make_body("svc", &n);

	f->room = 10;
	assert_int_equal(send(f, EXPORT, body, n, false), GRPC_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(f->client.message, "no room"));
	assert_retry(f, 5);
	assert_int_equal(f->n_items, 0);
	f->room = SIZE_MAX;
	assert_int_equal(send(f, EXPORT, body, n, false), 0);
	assert_int_equal(f->n_items, 1);
	free(body);
}

/* A call that is read when the server is gone is answered to nobody. */
static void test_server_ends(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf body = BUF_INIT(1 << 20);
	struct receiving_stats stats;
	size_t n;
	uint8_t *message = make_body("svc", &n);

	h2_put_message(&body, message, n, false);
	(void)h2_client_call(
		&f->client,
		&(struct h2_call){ .path = EXPORT, .body = body.data, .n_body = body.len });
	h2_client_flush(&f->client);
	do {
		assert_int_equal(loop_run_once(f->loop, 10), 0);
		receiving_stats(f->receiving, &stats);
	} while (stats.n_requests == 0);
	grpc_server_free(f->server);
	f->server = NULL;
	LOOP_WHILE(f->loop, !f->client.is_closed);
	LOOP_WHILE(f->loop, (receiving_stats(f->receiving, &stats), stats.n_waiting > 0));
	assert_int_equal(stats.n_waiting, 0);
	free(message);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_taken),   FIXTURE_TEST(test_other_signals), FIXTURE_TEST(test_refused),
	FIXTURE_TEST(test_no_room), FIXTURE_TEST(test_server_ends),
};

TEST_MAIN(tests)
