/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.receiver.otlp: its arguments, and a server that comes and goes with them. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/receivers/otlp_receiver_args.h"
#include "agent/component/receivers/receive_component.h"

#define ID_IN "otelcol.receiver.otlp.in"

struct row {
	const char *name, *body;
	const char *words; /* NULL: it loads */
};

static const struct row rows[] = {
	{ "http alone", "http { }\noutput { }", NULL },
	{ "all of http",
	  "http {\nendpoint = \"127.0.0.1:0\"\nmax_request_body_size = \"1MiB\"\n"
	  "include_metadata = true\ntraces_url_path = \"/v1/traces\"\n"
	  "metrics_url_path = \"/v1/metrics\"\nlogs_url_path = \"/v1/logs\"\n"
	  "compression_algorithms = [\"gzip\"]\nkeep_alives_enabled = true\n"
	  "cors {\nallowed_origins = [\"*\"]\nallowed_headers = []\nmax_age = 7\n}\n}\n"
	  "output {\nprofiles = []\n}",
	  NULL },
	{ "grpc",
	  "grpc {\nendpoint = \"0.0.0.0:4317\"\nmax_recv_msg_size = \"4MiB\"\n}\nhttp { }\n"
	  "output { }",
	  "profiles are received over HTTP only: use an http block in place of grpc" },
	{ "no protocol", "output { }", "an http block is missing" },
	{ "no output", "http { }", "missing required block \"output\"" },
	{ "other signals", "http { }\noutput {\ntraces = []\n}", "traces" },
	{ "no profiles receiver", "http { }\noutput {\nprofiles = [1]\n}", "" },
	{ "an address without a port", "http {\nendpoint = \"localhost\"\n}\noutput { }",
	  "an endpoint is an address and a port" },
	{ "a body of nothing", "http {\nmax_request_body_size = \"0\"\n}\noutput { }",
	  "between 1KiB and 32MiB" },
	{ "a body of too much", "http {\nmax_request_body_size = \"33MiB\"\n}\noutput { }",
	  "between 1KiB and 32MiB" },
	{ "a body of words", "http {\nmax_request_body_size = \"much\"\n}\noutput { }",
	  "between 1KiB and 32MiB" },
	{ "TLS without a certificate", "http {\ntls { }\n}\noutput { }",
	  "missing one of cert_pem" },
	{ "a wrong certificate",
	  "http {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\n}\n}\noutput { }", "" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;

	(void)buf_printf(&text, "otelcol.receiver.otlp \"in\" {\n%s\n}\n", row->body);
	if (row->words) {
		assert_int_not_equal(load(f, buf_str(&text)), RIVER_OK);
		assert_non_null(strstr(buf_str(&f->messages), row->words));
		assert_true(f->messages.len > 0);
	} else {
		assert_loads(f, buf_str(&text));
	}
	(void)teardown(&own);
}

/* 0: no server. */
static unsigned int port_of(struct fixture *f)
{
	struct component *c = (struct component *)find(f, ID_IN);
	const struct river_value *info = NULL;
	struct river_arena arena;

	river_arena_init(&arena, 65536);
	assert_int_equal(c->kind->debug_info(c, &arena, &info), 0);
	unsigned int port =
		info ? (unsigned int)river_value_get_int(river_value_find(info, "port")) : 0;
	river_arena_fini(&arena);
	return port;
}

static void load_http(struct fixture *f, const char *http)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(
		&text,
		"otelcol.receiver.otlp \"in\" {\nhttp {\nendpoint = \"127.0.0.1:0\"\n%s\n}\n"
		"output { }\n}\n",
		http);
	assert_loads(f, buf_str(&text));
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
}

/* Other limits are those of another server; what is accepted without effect changes none. */
static void test_update(void **state)
{
	struct fixture *f = *state;

	load_http(f, "");
	unsigned int first = port_of(f);

	assert_int_not_equal(first, 0);
	load_http(f, "keep_alives_enabled = false");
	assert_int_equal(port_of(f), first);
	load_http(f, "max_request_body_size = \"1MiB\"");
	unsigned int second = port_of(f);

	assert_int_not_equal(second, 0);
	assert_int_not_equal(second, first);
	graph_check(f->graph);
	assert_int_equal(find(f, ID_IN)->health.state, HEALTH_HEALTHY);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_update),
};

TEST_MAIN(tests)
