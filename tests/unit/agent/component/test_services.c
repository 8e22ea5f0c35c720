/* SPDX-License-Identifier: Apache-2.0 */
/* http, logging, tracing, livedebugging, remotecfg: what their files may say, and names that other agents have. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/unsupported.h"

static const struct row {
	const char *name, *text, *expected;
} rows[] = {
	{ "http, empty", "http { }\n", "" },
	{ "http, password",
	  "http {\n\tauth {\n\t\tbasic {\n\t\t\tusername = \"u\"\n\t\t\tpassword = "
	  "\"p\"\n\t\t}\n\t}\n}\n",
	  "" },
	{ "http, filter",
	  "http {\n\tauth {\n\t\tfilter {\n\t\t\tpaths = [\"/m\"]\n\t\t\t"
	  "authenticate_matching_paths = false\n\t\t}\n\t}\n}\n",
	  "" },
	{ "http, no user", "http {\n\tauth {\n\t\tbasic {\n\t\t\tpassword = \"p\"\n\t\t}\n\t}\n}\n",
	  "a:3:3: missing required attribute \"username\"\n" },
	{ "http, nothing in basic", "http {\n\tauth {\n\t\tbasic { }\n\t}\n}\n",
	  "a:3:3: missing required attribute \"username\"\n"
	  "a:3:3: missing required attribute \"password\"\n" },
	{ "http, auth twice", "http {\n\tauth { }\n\tauth { }\n}\n",
	  "a:2:2: block \"auth\" may only be specified once\n" },
	{ "http, unknown", "http {\n\tport = 1\n}\n",
	  "a:2:2: unrecognized attribute name \"port\"\n" },
	{ "http, label", "http \"x\" { }\n", "a:1:1: block \"http\" requires empty label\n" },
	{ "tls, nothing", "http {\n\ttls { }\n}\n",
	  "a:2:2: missing one of cert_pem or cert_file\n" },
	{ "tls, no key", "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t}\n}\n",
	  "a:2:2: missing one of key_pem or key_file\n" },
	{ "tls, certificate twice",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tcert_pem = \"c\"\n\t\tkey_pem = "
	  "\"k\"\n\t}\n}\n",
	  "a:2:2: cert_file and cert_pem are mutually exclusive\n" },
	{ "tls, key twice",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tkey_file = \"c\"\n\t\tkey_pem = "
	  "\"k\"\n\t}\n}\n",
	  "a:2:2: key_file and key_pem are mutually exclusive\n" },
	{ "tls, CA twice",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tkey_file = \"c\"\n\t\tclient_ca_file = "
	  "\"a\"\n"
	  "\t\tclient_ca_pem = \"a\"\n\t}\n}\n",
	  "a:2:2: client_ca_file and client_ca_pem are mutually exclusive\n" },
	{ "tls, CA for nobody",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tkey_file = \"c\"\n\t\tclient_ca_file = "
	  "\"a\"\n\t}\n}\n",
	  "a:2:2: client CAs have been configured without a client auth policy\n" },
	{ "tls, client auth",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tkey_file = \"c\"\n\t\tclient_auth_type = "
	  "\"All\"\n\t}\n}\n",
	  "a:5:22: \"All\" unknown client auth type \"All\"\n" },
	{ "tls, suites, curves, versions",
	  "http {\n\ttls {\n\t\tcert_file = \"c\"\n\t\tkey_file = \"c\"\n\t\tcipher_suites = "
	  "[\"TLS_AES_128_GCM_SHA256\", \"X\"]\n\t\tcurve_preferences = [\"X25519\", \"Y\"]\n"
	  "\t\tmin_version = \"TLS9\"\n\t\tmax_version = \"TLS13\"\n\t}\n}\n",
	  "a:5:3: unknown cipher \"X\"\n"
	  "a:6:3: unknown TLS curve \"Y\"\n"
	  "a:7:3: min_version must be one of TLS10, TLS11, TLS12, TLS13\n" },
	{ "logging",
	  "logging {\n\tlevel = \"warn\"\n\tformat = \"json\"\n\tdestination = \"stderr\"\n"
	  "\twrite_to = []\n}\n",
	  "" },
	{ "logging, empty texts", "logging {\n\tlevel = \"\"\n\tformat = \"\"\n}\n", "" },
	{ "logging, mistakes",
	  "logging {\n\tlevel = \"loud\"\n\tformat = \"xml\"\n\tdestination = \"printer\"\n}\n",
	  "a:2:10: \"loud\" unrecognized log level \"loud\"\n"
	  "a:3:11: \"xml\" unrecognized log format \"xml\"\n"
	  "a:4:16: \"printer\" unrecognized log destination \"printer\"\n" },
	{ "tracing",
	  "tracing {\n\tsampling_fraction = 0.5\n\twrite_to = []\n\tsampler {\n\t\t"
	  "jaeger_remote {\n\t\t\turl = \"http://h\"\n\t\t\tmax_operations = 1\n\t\t\t"
	  "refresh_interval = \"1m\"\n\t\t}\n\t}\n}\n",
	  "" },
	{ "tracing, fraction", "tracing {\n\tsampling_fraction = 2\n}\n",
	  "a:2:2: sampling_fraction must be between 0 and 1\n" },
	{ "tracing, unknown", "tracing {\n\tsampler {\n\t\tx { }\n\t}\n}\n",
	  "a:3:3: unrecognized block name \"x\"\n" },
	{ "livedebugging", "livedebugging {\n\tenabled = true\n}\n", "" },
	{ "livedebugging, wrong", "livedebugging {\n\tenabled = \"true\"\n}\n",
	  "a:2:12: \"true\" should be bool, got string\n" },
	{ "remotecfg",
	  "remotecfg {\n\turl = \"https://h\"\n\tid = \"i\"\n\tname = \"n\"\n\tattributes "
	  "= { \"a\" = \"b\" }\n\tpoll_frequency = \"5m\"\n\tbasic_auth {\n\t\tusername "
	  "= \"u\"\n\t\tpassword = \"p\"\n\t}\n}\n",
	  "" },
	{ "remotecfg, two ways in", "remotecfg {\n\tbearer_token = \"t\"\n\tbasic_auth { }\n}\n",
	  "a:1:1: at most one of basic_auth, authorization, oauth2, bearer_token & "
	  "bearer_token_file must be configured\n" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	int r = load(f, row->text);
	assert_string_equal(buf_str(&f->messages), row->expected);
	assert_int_equal(r, *row->expected ? RIVER_INVALID : RIVER_OK);
	(void)teardown(&own);
}

/* Whatever wraps it, the reason stands at the end of the line. */
static void assert_ends_with(const struct fixture *f, const char *end)
{
	size_t n = strlen(end);

	if (f->messages.len < n || strcmp(buf_str(&f->messages) + f->messages.len - n, end) != 0)
		fail_msg("%s does not end with %s", buf_str(&f->messages), end);
}

static void test_certificate_files(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "http {\n\ttls {\n\t\tcert_file = \"/nowhere/c\"\n\t\tkey_file = "
				 "\"/nowhere/k\"\n\t}\n}\n"),
			 RIVER_INVALID);
	assert_ends_with(f, "open /nowhere/c: no such file or directory\n");
	assert_int_equal(load(f, "http {\n\ttls {\n\t\tcert_pem = \"c\"\n\t\tkey_file = \"/dev\"\n"
				 "\t}\n}\n"),
			 RIVER_INVALID);
	assert_ends_with(f, "read /dev: is a directory\n");
	assert_int_equal(load(f, "http {\n\ttls {\n\t\tcert_pem = \"c\"\n\t\tkey_file = "
				 "\"/dev/zero\"\n\t}\n}\n"),
			 RIVER_INVALID);
	assert_ends_with(f, "open /dev/zero: not a regular file\n");
	assert_int_equal(
		load(f, "http {\n\ttls {\n\t\tcert_pem = \"c\"\n\t\tkey_pem = \"k\"\n\t}\n}\n"),
		RIVER_INVALID);
	assert_ends_with(f, "tls: failed to find any PEM data in certificate input\n");
	assert_int_equal(graph_n(f->graph), 0);
}

static void answer(const struct http_call *call, struct http_answer *ret, void *data)
{
	(void)call;
	(void)ret;
	(void)data;
}

struct asked {
	bool done;
	unsigned int status;
};

static void on_done(const struct http_result *result, void *data)
{
	struct asked *a = data;

	a->done = true;
	a->status = result->status;
}

static bool server_asks_for_password(struct fixture *f)
{
	struct http_request_options o = { 0 };
	struct http_request *request;
	struct asked a = { 0 };
	char url[64];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/x", http_server_port(f->env.server));
	o.url = url;
	assert_int_equal(http_request_start(f->env.http, &o, on_done, &a, &request), 0);
	while (!a.done)
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
	assert_true(a.status == 200 || a.status == 401);
	return a.status == 401;
}

static void run(struct fixture *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(graph_run(f->graph, &why), 0);
}

#define PASSWORD                                                                          \
	"http {\n\tauth {\n\t\tbasic {\n\t\t\tusername = \"u\"\n\t\t\tpassword = \"p\"\n" \
	"\t\t}\n\t}\n}\n"

/* It holds from the end of a load on, through loads that fail, until a load does without. */
static void test_password_comes_and_goes(void **state)
{
	const struct http_route route = { .method = "GET", .path = "/x", .fn = answer };
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct fixture *f = *state;

	options.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->env.loop, &options, &f->env.server, error),
			 HTTP_LISTENING);
	assert_int_equal(http_server_add_route(f->env.server, &route), 0);
	assert_loads(f, PASSWORD);
	assert_false(server_asks_for_password(f));
	run(f);
	assert_true(server_asks_for_password(f));
	assert_int_equal(load(f, "http { x = 1 }\n"), RIVER_INVALID);
	assert_true(server_asks_for_password(f));
	assert_loads(f, "http { }\n");
	run(f);
	assert_false(server_asks_for_password(f));
	assert_loads(f, PASSWORD);
	run(f);
	assert_true(server_asks_for_password(f));
	assert_loads(f, "");
	run(f);
	assert_false(server_asks_for_password(f));
	struct http_server *server = f->env.server;
	f->env.server = NULL;
	http_server_free(server);
}

static void test_names_of_others(void **state)
{
	static const char *const known[] = { "prometheus.scrape",
					     "prometheus.remote_write",
					     "prometheus.exporter.unix",
					     "loki.write",
					     "loki.source.kubernetes_events",
					     "otelcol.receiver.jaeger",
					     "otelcol.storage.file",
					     "discovery.consul",
					     "discovery.uyuni",
					     "pyroscope.enrich",
					     "pyroscope.java",
					     "mimir.rules.kubernetes",
					     "beyla.ebpf",
					     "faro.receiver",
					     "database_observability.mysql",
					     "remote.s3" };
	static const char *const unknown[] = { "",
					       "prometheus",
					       "prometheus.",
					       "prometheus.scrap",
					       "prometheus.scrape ",
					       "prometheus.scrape.x",
					       "prometheus.exporter",
					       "prometheus.scrape static",
					       "pyroscope.ebpf2",
					       "banana.split",
					       ".scrape" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!component_is_known_elsewhere(known[i]))
			fail_msg("%s is not known", known[i]);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		if (component_is_known_elsewhere(unknown[i]))
			fail_msg("\"%s\" is known", unknown[i]);
}

static const struct unit_test tests[] = {
	TEST(test_names_of_others),
	FIXTURE_TEST(test_certificate_files),
	FIXTURE_TEST(test_password_comes_and_goes),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
