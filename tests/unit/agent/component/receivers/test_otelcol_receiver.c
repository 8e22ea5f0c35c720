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
	{ "grpc alone", "grpc { }\noutput { }", NULL },
	{ "both", "grpc { }\nhttp { }\noutput { }", NULL },
	{ "all of grpc",
	  "grpc {\nendpoint = \"127.0.0.1:0\"\ntransport = \"tcp\"\nmax_recv_msg_size = \"8MiB\"\n"
	  "max_concurrent_streams = 16\nread_buffer_size = \"512KiB\"\n"
	  "write_buffer_size = \"32KiB\"\ninclude_metadata = true\nkeepalive {\n"
	  "server_parameters {\nmax_connection_idle = \"1m\"\nmax_connection_age = \"1h\"\n"
	  "max_connection_age_grace = \"5s\"\ntime = \"1m\"\ntimeout = \"10s\"\n}\n"
	  "enforcement_policy {\nmin_time = \"1m\"\npermit_without_stream = true\n}\n}\n}\n"
	  "output { }",
	  NULL },
	{ "another transport", "grpc {\ntransport = \"unix\"\n}\noutput { }",
	  "transport must be tcp" },
	{ "a message of nothing", "grpc {\nmax_recv_msg_size = \"0\"\n}\noutput { }",
	  "max_recv_msg_size must be between 1KiB and 32MiB" },
	{ "a message of too much", "grpc {\nmax_recv_msg_size = \"1GiB\"\n}\noutput { }",
	  "max_recv_msg_size must be between 1KiB and 32MiB" },
	{ "too many streams", "grpc {\nmax_concurrent_streams = 1001\n}\noutput { }",
	  "between 0 and 1000" },
	{ "a time before",
	  "grpc {\nkeepalive {\nserver_parameters {\ntime = \"-1s\"\n}\n}\n}\noutput { }",
	  "must not be negative" },
	{ "a wrong certificate of grpc",
	  "grpc {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\n}\n}\noutput { }",
	  "failed to find any PEM data" },
	{ "no protocol", "output { }", "a block http or grpc is missing" },
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
	{ "a password",
	  "http {\nauth = otelcol.auth.basic.a.handler\n}\noutput { }\n}\n"
	  "otelcol.auth.basic \"a\" {\nusername = \"u\"\npassword = \"p\"",
	  NULL },
	{ "a token",
	  "grpc {\nauth = otelcol.auth.bearer.a.handler\n}\noutput { }\n}\n"
	  "otelcol.auth.bearer \"a\" {\ntoken = \"t\"",
	  NULL },
	{ "no handler", "grpc {\nauth = null\n}\noutput { }", NULL },
	{ "headers, which ask nobody",
	  "http {\nauth = otelcol.auth.headers.a.handler\n}\noutput { }\n}\n"
	  "otelcol.auth.headers \"a\" {",
	  "this handler asks nobody" },
	{ "a password of a client",
	  "grpc {\nauth = otelcol.auth.basic.a.handler\n}\noutput { }\n}\n"
	  "otelcol.auth.basic \"a\" {\nclient_auth {\nusername = \"u\"\npassword = \"p\"\n}",
	  "this handler asks nobody" },
	{ "a token that is empty",
	  "grpc {\nauth = otelcol.auth.bearer.a.handler\n}\noutput { }\n}\n"
	  "otelcol.auth.bearer \"a\" {\ntoken = \"\"",
	  "this handler asks nobody" },
	{ "a version of TLS",
	  "http {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\nmin_version = \"1.4\"\n}\n}\noutput { "
	  "}",
	  "TLS versions are 1.0, 1.1, 1.2 and 1.3" },
	{ "a policy of certificates",
	  "http {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\nclient_auth_type = "
	  "\"x\"\n}\n}\noutput { }",
	  "unknown client auth type" },
	{ "certificates that nobody asks for",
	  "http {\ntls {\ncert_pem = \"x\"\nkey_pem = \"y\"\nclient_ca_pem = \"z\"\n"
	  "client_auth_type = \"NoClientCert\"\n}\n}\noutput { }",
	  "without a client auth policy" },
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

/* "port" or "grpc_port"; 0: no server. */
static unsigned int port_of(struct fixture *f, const char *which)
{
	struct component *c = (struct component *)find(f, ID_IN);
	const struct river_value *info = NULL;
	struct river_arena arena;

	river_arena_init(&arena, 65536);
	assert_int_equal(c->kind->debug_info(c, &arena, &info), 0);
	unsigned int port =
		info ? (unsigned int)river_value_get_int(river_value_find(info, which)) : 0;
	river_arena_fini(&arena);
	return port;
}

static void load_doors(struct fixture *f, const char *blocks)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "otelcol.receiver.otlp \"in\" {\n%s\noutput { }\n}\n", blocks);
	assert_loads(f, buf_str(&text));
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
}

static void load_http(struct fixture *f, const char *http)
{
	char block[256];

	(void)snprintf(block, sizeof(block), "http {\nendpoint = \"127.0.0.1:0\"\n%s\n}", http);
	load_doors(f, block);
}

/* Other limits are those of another server; what is accepted without effect changes none. */
static void test_update(void **state)
{
	struct fixture *f = *state;

	load_http(f, "");
	unsigned int first = port_of(f, "port");

	assert_int_not_equal(first, 0);
	load_http(f, "keep_alives_enabled = false");
	assert_int_equal(port_of(f, "port"), first);
	load_http(f, "max_request_body_size = \"1MiB\"");
	unsigned int second = port_of(f, "port");

	assert_int_not_equal(second, 0);
	assert_int_not_equal(second, first);
	graph_check(f->graph);
	assert_int_equal(find(f, ID_IN)->health.state, HEALTH_HEALTHY);
}

#define HTTP "http {\nendpoint = \"127.0.0.1:0\"\n}\n"
#define GRPC(limit) "grpc {\nendpoint = \"127.0.0.1:0\"\nmax_recv_msg_size = \"" limit "\"\n}\n"

/* Each server comes, stays and goes by its own block. */
static void test_doors(void **state)
{
	struct fixture *f = *state;

	load_doors(f, HTTP);
	unsigned int http = port_of(f, "port");
	assert_int_equal(port_of(f, "grpc_port"), 0);
	load_doors(f, HTTP GRPC("1MiB"));
	unsigned int grpc = port_of(f, "grpc_port");
	assert_int_not_equal(grpc, 0);
	assert_int_equal(port_of(f, "port"), http);
	load_doors(f, HTTP GRPC("2MiB"));
	assert_int_not_equal(port_of(f, "grpc_port"), 0);
	assert_int_not_equal(port_of(f, "grpc_port"), grpc);
	assert_int_equal(port_of(f, "port"), http);
	load_doors(f, GRPC("2MiB"));
	assert_int_not_equal(port_of(f, "grpc_port"), 0);
	assert_int_equal(port_of(f, "port"), 0);
	graph_check(f->graph);
	assert_int_equal(find(f, ID_IN)->health.state, HEALTH_HEALTHY);
}

/* An address that is taken: both servers stay as they are. */
static void test_taken_address(void **state)
{
	struct fixture *f = *state;
	char block[256];

	load_doors(f, HTTP GRPC("1MiB"));
	unsigned int http = port_of(f, "port"), grpc = port_of(f, "grpc_port");
	(void)snprintf(block, sizeof(block),
		       "otelcol.receiver.otlp \"in\" {\nhttp {\nendpoint = \"127.0.0.1:%u\"\n}\n"
		       "grpc {\nendpoint = \"127.0.0.1:%u\"\n}\noutput { }\n}\n",
		       http, http);
	assert_int_equal(load(f, block), RIVER_OK);
	assert_int_equal(find(f, ID_IN)->health.state, HEALTH_UNHEALTHY);
	assert_int_equal(port_of(f, "port"), http);
	assert_int_equal(port_of(f, "grpc_port"), grpc);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_update),
	FIXTURE_TEST(test_doors),
	FIXTURE_TEST(test_taken_address),
};

TEST_MAIN(tests)
