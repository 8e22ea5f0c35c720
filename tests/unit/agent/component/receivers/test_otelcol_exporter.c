/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.exporter.otlphttp with a server of our own: what it sends, who it says it is, and its arguments; those of otelcol.exporter.otlp. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <unistd.h>

#include "agent/component/receiver.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "tests/support/small_profile.h"
#include "tests/support/temp_dir.h"

struct server {
	struct fixture *f;
	struct http_server *http;
	unsigned int n_requests, fail_first;
	unsigned int status;
	const char *content_type;
	char encoding[16], authorization[64], tenant[32], key[32];
	size_t n_body;
	char url[64];
};

static void copy_header(const struct http_call *call, const char *name, char *out, size_t n)
{
	const char *value = http_call_header(call, name);

	(void)snprintf(out, n, "%s", value ? value : "");
}

static void answer(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct server *s = data;

	s->n_requests++;
	assert_string_equal(http_call_header(call, "Content-Type"), "application/x-protobuf");
	copy_header(call, "Content-Encoding", s->encoding, sizeof(s->encoding));
	copy_header(call, "Authorization", s->authorization, sizeof(s->authorization));
	copy_header(call, "X-Scope-OrgID", s->tenant, sizeof(s->tenant));
	copy_header(call, "X-Key", s->key, sizeof(s->key));
	(void)http_call_body(call, &s->n_body);
	answer->content_type = s->content_type;
	answer->status = s->fail_first > 0 ? 503 : s->status;
	s->fail_first -= s->fail_first > 0;
}

static void server_init(struct server *s, struct fixture *f)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	*s = (struct server){ .f = f, .status = 200, .content_type = "application/x-protobuf" };
	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->env.loop, &o, &s->http, error), HTTP_LISTENING);
	assert_int_equal(
		http_server_add_route(s->http,
				      &(struct http_route){ .method = "POST",
							    .path = "/otlp/v1development/profiles",
							    .fn = answer,
							    .data = s,
							    .max_body_bytes = 1 << 20 }),
		0);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/otlp",
		       http_server_port(s->http));
}

static void load_exporter(struct server *s, const char *client, const char *rest)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(
		&text,
		"otelcol.exporter.otlphttp \"o\" {\n client {\n endpoint = \"%s\"\n%s\n}\n"
		"retry_on_failure { initial_interval = \"1ms\"\n max_interval = \"2ms\" }\n"
		"%s\n}\n",
		s->url, client, rest);
	assert_loads(s->f, buf_str(&text));
	assert_int_equal(graph_run(s->f->graph, &s->f->messages), 0);
}

/* With a component of otelcol.auth, which comes behind who uses it. */
static void load_with_auth(struct server *s, const char *client, const char *auth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text,
			 "otelcol.exporter.otlphttp \"o\" {\n client {\n endpoint = \"%s\"\n"
			 "%s\n}\n}\n%s",
			 s->url, client, auth);
	assert_loads(s->f, buf_str(&text));
	assert_int_equal(graph_run(s->f->graph, &s->f->messages), 0);
}

static struct receiver *of_component(const struct fixture *f, const char *id, const char *name)
{
	const struct component *c = find(f, id);
	const struct river_value *exports = NULL;
	struct river_arena arena;

	river_arena_init(&arena, 65536);
	assert_int_equal(c->kind->exports((struct component *)c, &arena, &exports), 0);
	struct receiver *r =
		river_value_get_capsule(river_value_find(exports, name), RECEIVER_CAPSULE);
	river_arena_fini(&arena);
	assert_non_null(r);
	return r;
}

static struct receiver *exported(const struct fixture *f, const char *name)
{
	return of_component(f, "otelcol.exporter.otlphttp.o", name);
}

static void push_within(struct receiver *r, enum profile_form form, uint64_t spread_ns)
{
	const struct label items[] = { { "service_name", "s" } };
	struct labels *labels = NULL;

	assert_int_equal(labels_new(items, 1, &labels), 0);
	struct profile *p = small_profile(labels);
	assert_int_equal(profile_make(p, form), 0);
	p->spread_ns = spread_ns;
	r->receive(r, p, p->time_ns + RECEIVER_DEADLINE_NS);
	profile_unref(p);
	labels_unref(labels);
}

static void push(struct receiver *r, enum profile_form form)
{
	push_within(r, form, 0);
}

static struct receiver_stats settle(struct fixture *f, const struct receiver *r)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;
	struct receiver_stats stats;

	for (r->stats(r, &stats); stats.waiting_profiles > 0; r->stats(r, &stats)) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
	}
	return stats;
}

static void test_sends(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	load_exporter(&s,
		      "headers = { \"X-Scope-OrgID\" = \"t\" }\n basic_auth { username = \"u\"\n "
		      "password = "
		      "\"p\" }",
		      "");
	struct receiver *r = exported(f, "input");
	assert_ptr_equal(exported(f, "receiver"), r);
	assert_int_equal(r->wants, PROFILE_WANT(FORM_OTLP_GZIP));
	push(r, FORM_OTLP_GZIP);
	assert_int_equal(settle(f, r).sent_profiles, 1);
	assert_int_equal(s.n_requests, 1);
	assert_string_equal(s.encoding, "gzip");
	assert_string_equal(s.authorization, "Basic dTpw");
	assert_string_equal(s.tenant, "t");
	http_server_free(s.http);
}

static void test_without_compression(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	load_exporter(&s, "compression = \"none\"", "");
	struct receiver *r = exported(f, "input");
	assert_int_equal(r->wants, PROFILE_WANT(FORM_OTLP));
	push(r, FORM_OTLP);
	assert_int_equal(settle(f, r).sent_profiles, 1);
	assert_string_equal(s.encoding, "");
	assert_true(s.n_body > 0);
	http_server_free(s.http);
}

static void test_tries_again(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	s.fail_first = 3;
	load_exporter(&s, "", "");
	push(exported(f, "input"), FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	assert_int_equal(s.n_requests, 4);
	http_server_free(s.http);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	s.status = 400;
	s.content_type = "text/plain";
	load_exporter(&s, "", "");
	push(exported(f, "input"), FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).dropped_profiles, 1);
	assert_int_equal(s.n_requests, 1);
	http_server_free(s.http);
}

static void run_until(struct fixture *f, const unsigned int *n, unsigned int at_least)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (*n < at_least) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
	}
}

static void run_a_while(struct fixture *f)
{
	uint64_t end_ns = clock_mono_ns() + NS_PER_S / 5;

	while (clock_mono_ns() < end_ns)
		assert_int_equal(loop_run_once(f->env.loop, 10), 0);
}

/* The moment of a profile is somewhere in a day. */
static void test_spread(void **state)
{
	struct fixture *f = *state;
	struct receiver_stats stats;
	struct server s;

	server_init(&s, f);
	load_exporter(&s, "", "");
	struct receiver *r = exported(f, "input");
	push_within(r, FORM_OTLP_GZIP, 24 * 3600 * NS_PER_S);
	run_a_while(f);
	r->stats(r, &stats);
	assert_int_equal(stats.waiting_profiles, 1);
	assert_int_equal(s.n_requests, 0);
	http_server_free(s.http);
}

/* What an exporter left on disk is sent by the next that has the same server and the same bytes; gzip'd ones are no others' form. */
static void test_waits_on_disk(void **state)
{
	struct fixture *f = *state;
	char directory[TEMP_DIR_BYTES];
	struct server s;

	temp_dir_make(directory);
	f->env.storage_path = directory;
	server_init(&s, f);
	s.fail_first = 1000000;
	load_exporter(&s, "", "");
	push(exported(f, "input"), FORM_OTLP_GZIP);
	run_until(f, &s.n_requests, 2);
	load_exporter(&s, "compression = \"none\"", "");
	run_a_while(f);
	s.fail_first = 0;
	unsigned int before = s.n_requests;
	run_a_while(f);
	assert_int_equal(s.n_requests, before);
	load_exporter(&s, "", "");
	run_until(f, &s.n_requests, before + 1);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	assert_string_equal(s.encoding, "gzip");
	f->env.storage_path = NULL;
	http_server_free(s.http);
	assert_int_equal(temp_dir_remove(directory), 0);
}

static const char *const without_spool[] = {
	"spool { enabled = false }",
	"sending_queue { enabled = false }",
};

static void test_nothing_waits_on_disk(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(without_spool); i++) {
		char directory[TEMP_DIR_BYTES];
		struct server s;

		temp_dir_make(directory);
		f->env.storage_path = directory;
		server_init(&s, f);
		s.fail_first = 1000000;
		load_exporter(&s, "", without_spool[i]);
		push(exported(f, "input"), FORM_OTLP_GZIP);
		run_until(f, &s.n_requests, 2);
		run_a_while(f);
		/* It is empty. */
		assert_int_equal(rmdir(directory), 0);
		f->env.storage_path = NULL;
		http_server_free(s.http);
	}
}

static const struct mistake {
	const char *name, *text, *said;
} mistakes[] = {
	{ "no client", "", "client" },
	{ "no endpoint", "client { }", "endpoint" },
	{ "no url", "client { endpoint = \"host:4318\" }", "http" },
	{ "compression", "client { endpoint = \"http://h\"\n compression = \"zstd\" }",
	  "compression must be gzip or none" },
	{ "encoding", "encoding = \"json\"\n client { endpoint = \"http://h\" }",
	  "encoding must be proto" },
	{ "version of TLS", "client { endpoint = \"http://h\"\n tls { min_version = \"TLS12\" } }",
	  "TLS versions are 1.0, 1.1, 1.2 and 1.3" },
	{ "consumers", "client { endpoint = \"http://h\" }\n sending_queue { num_consumers = 0 }",
	  "num_consumers must be between 1 and 64" },
	{ "intervals",
	  "client { endpoint = \"http://h\" }\n retry_on_failure { initial_interval = \"2m\" }",
	  "max_interval must not be less than initial_interval" },
	{ "spool", "client { endpoint = \"http://h\" }\n spool { max_bytes = \"1KiB\" }",
	  "max_bytes must be between 1MiB and 64GiB" },
	{ "half a certificate", "client { endpoint = \"http://h\"\n tls { cert_pem = \"x\" } }",
	  "key_pem" },
};

static void test_mistake(void **state)
{
	const struct mistake *row = *state;
	struct fixture fixture = { 0 }, *f = &fixture;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	set_up(f);
	(void)buf_printf(&text, "otelcol.exporter.otlphttp \"o\" {\n%s\n}\n", row->text);
	assert_int_not_equal(load(f, buf_str(&text)), RIVER_OK);
	if (!strstr(buf_str(&f->messages), row->said))
		assert_string_equal(buf_str(&f->messages), row->said);
	tear_down(f);
}

/* All that the collector has, and that has no meaning here. */
static void test_arguments_of_the_collector(void **state)
{
	struct fixture *f = *state;

	assert_loads(f,
		     "otelcol.exporter.otlphttp \"o\" {\n"
		     "traces_endpoint = \"http://t\"\n"
		     "client {\nendpoint = \"https://h:4318\"\ntimeout = \"5s\"\n"
		     "read_buffer_size = \"0\"\nmax_idle_conns = 3\n"
		     "tls {\ninsecure_skip_verify = true\nmin_version = \"1.3\"\n"
		     "cipher_suites = [\"x\"]\n}\ncookies { enabled = true }\n"
		     "compression_params { level = 3 }\n}\n"
		     "retry_on_failure {\nenabled = false\nmultiplier = 1.5\n"
		     "randomization_factor = 0.5\nmax_elapsed_time = \"5m\"\n}\n"
		     "sending_queue {\nenabled = false\nqueue_size = 10\nblock_on_overflow = true\n"
		     "batch {\nflush_timeout = \"1s\"\nmin_size = 1\nmax_size = 2\nsizer = "
		     "\"items\"\n}\n}\n"
		     "debug_metrics {\nlevel = \"detailed\"\n}\n}\n");
}

/* An address out of an environment that does not have it. */
static void test_empty_endpoint(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, "otelcol.exporter.otlphttp \"o\" { client { endpoint = \"\" } }");
	assert_int_equal(exported(f, "input")->wants, 0);
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
	assert_int_equal(find(f, "otelcol.exporter.otlphttp.o")->health.state, HEALTH_UNHEALTHY);
}

/* Over gRPC an address has no scheme, or one. */
static void test_grpc(void **state)
{
	static const struct {
		const char *client, *url;
		enum profile_form form;
	} rows[] = {
		{ "endpoint = \"h:4317\"", "https://h:4317", FORM_OTLP_GZIP },
		{ "endpoint = \"h:4317\"\n tls { insecure = true }", "http://h:4317",
		  FORM_OTLP_GZIP },
		{ "endpoint = \"http://h:4317\"\n compression = \"none\"", "http://h:4317",
		  FORM_OTLP },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096), metrics = BUF_INIT(1 << 20);

		(void)buf_printf(&text, "otelcol.exporter.otlp \"o\" {\n client {\n%s\n}\n}\n",
				 rows[i].client);
		assert_loads(f, buf_str(&text));
		assert_int_equal(of_component(f, "otelcol.exporter.otlp.o", "input")->wants,
				 PROFILE_WANT(rows[i].form));
		assert_int_equal(telemetry_text(f->env.telemetry, &metrics), 0);
		buf_reset(&text);
		(void)buf_printf(&text, "endpoint=\"%s\"", rows[i].url);
		assert_non_null(strstr(buf_str(&metrics), buf_str(&text)));
	}
	assert_loads(f, "otelcol.exporter.otlp \"o\" {\ntimeout = \"3s\"\n"
			"client {\nendpoint = \"h:4317\"\nwait_for_ready = true\n"
			"keepalive { ping_wait = \"1s\" }\n}\n}\n");
	assert_int_not_equal(
		load(f, "otelcol.exporter.otlp \"o\" {\n client {\n endpoint = \"h h\"\n}\n}\n"),
		RIVER_OK);
}

static const struct auth_row {
	const char *name, *client, *auth;
	const char *authorization, *tenant, *key;
} auth_rows[] = {
	{ "basic", "auth = otelcol.auth.basic.a.handler",
	  "otelcol.auth.basic \"a\" {\n username = \"u\"\n password = \"p\"\n}\n", "Basic dTpw", "",
	  "" },
	{ "basic in a block, which wins", "auth = otelcol.auth.basic.a.handler",
	  "otelcol.auth.basic \"a\" {\n username = \"x\"\n password = \"y\"\n"
	  "client_auth {\n username = \"u\"\n password = \"p\"\n}\n"
	  "htpasswd { inline = \"a:b\" }\n debug_metrics { level = \"basic\" }\n}\n",
	  "Basic dTpw", "", "" },
	{ "bearer", "auth = otelcol.auth.bearer.a.handler",
	  "otelcol.auth.bearer \"a\" { token = \"t\" }\n", "Bearer t", "", "" },
	{ "another scheme", "auth = otelcol.auth.bearer.a.handler",
	  "otelcol.auth.bearer \"a\" {\n token = \"t\"\n scheme = \"Mine\"\n}\n", "Mine t", "",
	  "" },
	{ "no scheme", "auth = otelcol.auth.bearer.a.handler",
	  "otelcol.auth.bearer \"a\" {\n token = \"t\"\n scheme = \"\"\n}\n", "t", "", "" },
	{ "another header", "auth = otelcol.auth.bearer.a.handler",
	  "otelcol.auth.bearer \"a\" {\n token = \"t\"\n header = \"x-key\"\n}\n", "", "",
	  "Bearer t" },
	{ "headers", "auth = otelcol.auth.headers.a.handler\n headers = { \"X-Key\" = \"k\" }",
	  "otelcol.auth.headers \"a\" {\n header {\n key = \"x-scope-orgid\"\n value = \"t\"\n}\n"
	  "header {\n key = \"x-key\"\n value = \"other\"\n}\n}\n",
	  "", "t", "other" },
	{ "headers that are there",
	  "auth = otelcol.auth.headers.a.handler\n headers = { \"X-Key\" = \"k\" }",
	  "otelcol.auth.headers \"a\" {\n"
	  "header {\n key = \"X-Key\"\n value = \"n\"\n action = \"insert\"\n}\n"
	  "header {\n key = \"X-Scope-OrgID\"\n value = \"n\"\n action = \"update\"\n}\n}\n",
	  "", "", "k" },
	{ "headers that go",
	  "auth = otelcol.auth.headers.a.handler\n"
	  "headers = { \"X-Key\" = \"k\", \"X-Scope-OrgID\" = \"k\" }",
	  "otelcol.auth.headers \"a\" {\n header {\n key = \"X-Key\"\n action = \"Delete\"\n}\n"
	  "header {\n key = \"X-Scope-OrgID\"\n value = \"n\"\n action = \"update\"\n}\n}\n",
	  "", "n", "" },
	{ "none", "auth = null", "", "", "", "" },
};

static void test_auth(void **state)
{
	const struct auth_row *row = *state;
	struct fixture fixture = { 0 }, *f = &fixture;
	struct server s;

	set_up(f);
	server_init(&s, f);
	load_with_auth(&s, row->client, row->auth);
	push(exported(f, "input"), FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	assert_string_equal(s.authorization, row->authorization);
	assert_string_equal(s.tenant, row->tenant);
	assert_string_equal(s.key, row->key);
	http_server_free(s.http);
	tear_down(f);
}

/* Who it is changes while the exporter stays as it is. */
static void test_auth_changes(void **state)
{
	static const char *const tokens[] = { "one", "two", "three" };
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	for (unsigned int i = 0; i < ARRAY_SIZE(tokens); i++) {
		char auth[64], expected[64];

		(void)snprintf(auth, sizeof(auth), "otelcol.auth.bearer \"a\" { token = \"%s\" }\n",
			       tokens[i]);
		(void)snprintf(expected, sizeof(expected), "Bearer %s", tokens[i]);
		load_with_auth(&s, "auth = otelcol.auth.bearer.a.handler", auth);
		run_a_while(f);
		push(exported(f, "input"), FORM_OTLP_GZIP);
		assert_int_equal(settle(f, exported(f, "input")).sent_profiles, i + 1);
		assert_string_equal(s.authorization, expected);
	}
	http_server_free(s.http);
}

/* Both at once: the exporter is updated with what it named before, and then with what it names now. */
static void test_both_change(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	for (unsigned int i = 0; i < 4; i++) {
		char auth[256], client[128];

		(void)snprintf(auth, sizeof(auth),
			       "otelcol.auth.headers \"a\" { header {\n key = \"X-Key\"\n value = "
			       "\"%u\"\n} }\n",
			       i);
		(void)snprintf(client, sizeof(client),
			       "auth = otelcol.auth.headers.a.handler\n timeout = \"%us\"", i + 1);
		load_with_auth(&s, client, auth);
	}
	run_a_while(f);
	push(exported(f, "input"), FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	assert_string_equal(s.key, "3");
	http_server_free(s.http);
}

static void answer_token(const struct http_call *call, struct http_answer *answer, void *data)
{
	size_t n;
	const char *body = http_call_body(call, &n);

	(void)data;
	assert_non_null(memmem(body, n, "grant_type=client_credentials", 29));
	assert_non_null(memmem(body, n, "scope=a+b", 9) ? body
							: memmem(body, n, "scope=a%20b", 11));
	assert_non_null(memmem(body, n, "audience=us", 11));
	answer->content_type = "application/json";
	(void)buf_append_str(&answer->body,
			     "{\"access_token\":\"fetched\",\"token_type\":\"Bearer\"}");
}

static void test_auth_by_token(void **state)
{
	_cleanup_buf_ struct buf auth = BUF_INIT(4096);
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	assert_int_equal(
		http_server_add_route(s.http, &(struct http_route){ .method = "POST",
								    .path = "/token",
								    .fn = answer_token,
								    .max_body_bytes = 1 << 20 }),
		0);
	(void)buf_printf(&auth,
			 "otelcol.auth.oauth2 \"a\" {\n client_id = \"i\"\n client_secret = \"s\"\n"
			 "token_url = \"http://127.0.0.1:%u/token\"\n timeout = \"3s\"\n"
			 "scopes = [\"a\", \"b\"]\n endpoint_params = { audience = [\"us\"] }\n"
			 "tls { insecure_skip_verify = true }\n}\n",
			 http_server_port(s.http));
	load_with_auth(&s, "auth = otelcol.auth.oauth2.a.handler", buf_str(&auth));
	push(exported(f, "input"), FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	assert_string_equal(s.authorization, "Bearer fetched");
	http_server_free(s.http);
}

/* As others' configurations have it: something between who makes profiles and exporters, of which one takes another form. */
static void test_through_a_bridge(void **state)
{
	struct fixture *f = *state;
	struct receiver_stats stats;
	struct server s;

	server_init(&s, f);
	load_with_auth(&s, "",
		       "otelcol.receiver.pyroscope \"b\" { output {\n profiles = ["
		       "otelcol.exporter.otlphttp.o.input, pyroscope.relabel.r.receiver]\n} }\n"
		       "pyroscope.relabel \"r\" { forward_to = [] }\n");
	struct receiver *r = of_component(f, "otelcol.receiver.pyroscope.b", "receiver");
	assert_int_equal(receiver_wants(r), PROFILE_WANT(FORM_OTLP_GZIP));
	assert_true(r->has_room(r, 1000));
	push(r, FORM_OTLP_GZIP);
	assert_int_equal(settle(f, exported(f, "input")).sent_profiles, 1);
	r->stats(r, &stats);
	assert_int_equal(stats.sent_profiles, 1);
	/* Where it goes is another thing after a load. */
	load_with_auth(&s, "",
		       "otelcol.receiver.pyroscope \"b\" { output {\n profiles = ["
		       "pyroscope.relabel.r.receiver]\n} }\n"
		       "pyroscope.relabel \"r\" { forward_to = [] }\n");
	assert_ptr_equal(of_component(f, "otelcol.receiver.pyroscope.b", "receiver"), r);
	assert_int_equal(receiver_wants(r), 0);
	assert_int_not_equal(load(f, "otelcol.receiver.pyroscope \"b\" { output { } }"), RIVER_OK);
	assert_non_null(strstr(buf_str(&f->messages), "profiles of output must name a receiver"));
	http_server_free(s.http);
}

/* A file is right without the environment that it will run in; who runs it there is told. */
static void test_empty_auth(void **state)
{
	static const struct {
		const char *id, *text, *said;
	} rows[] = {
		{ "otelcol.auth.basic.a",
		  "otelcol.auth.basic \"a\" {\n username = sys.env(\"NO_SUCH\")\n password = "
		  "\"p\"\n}",
		  "username is empty" },
		{ "otelcol.auth.basic.a",
		  "otelcol.auth.basic \"a\" {\n username = \"u\"\n password = "
		  "sys.env(\"NO_SUCH\")\n}",
		  "password is empty" },
		{ "otelcol.auth.bearer.a",
		  "otelcol.auth.bearer \"a\" { token = sys.env(\"NO_SUCH\") }", "token is empty" },
		{ "otelcol.auth.oauth2.a",
		  "otelcol.auth.oauth2 \"a\" {\n client_id = \"i\"\n token_url = \"http://h/t\"\n}",
		  "client_secret is empty" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_loads(f, rows[i].text);
		assert_int_equal(graph_run(f->graph, &f->messages), 0);
		const struct component *c = find(f, rows[i].id);
		assert_int_equal(c->health.state, HEALTH_UNHEALTHY);
		assert_non_null(strstr(c->health.message, rows[i].said));
	}
	assert_loads(f, "otelcol.auth.bearer \"a\" { token = \"t\" }");
	assert_int_equal(find(f, "otelcol.auth.bearer.a")->health.state, HEALTH_UNKNOWN);
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
	assert_int_equal(find(f, "otelcol.auth.bearer.a")->health.state, HEALTH_HEALTHY);
}

static const struct mistake auth_mistakes[] = {
	{ "no token", "otelcol.auth.bearer \"a\" { }", "token" },
	{ "no key", "otelcol.auth.headers \"a\" { header { value = \"v\" } }", "key" },
	{ "no value", "otelcol.auth.headers \"a\" { header { key = \"k\" } }",
	  "value must be configured" },
	{ "what came with a request",
	  "otelcol.auth.headers \"a\" { header {\n key = \"k\"\n from_context = \"c\"\n} }",
	  "from_context" },
	{ "action",
	  "otelcol.auth.headers \"a\" { header {\n key = \"k\"\n value = \"v\"\n action = \"x\"\n} "
	  "}",
	  "insert, update, upsert or delete" },
	{ "no address",
	  "otelcol.auth.oauth2 \"a\" {\n client_id = \"i\"\n client_secret = \"s\"\n"
	  "token_url = \"h/t\"\n}",
	  "token_url must be" },
	{ "two at once",
	  "otelcol.auth.bearer \"a\" { token = \"t\" }\n"
	  "otelcol.exporter.otlphttp \"o\" {\n client {\n endpoint = \"http://h\"\n"
	  "auth = otelcol.auth.bearer.a.handler\n bearer_token = \"t\"\n}\n}",
	  "at most one of auth, basic_auth" },
	{ "a receiver",
	  "otelcol.exporter.otlphttp \"p\" {\n client { endpoint = \"http://h\" }\n}\n"
	  "otelcol.exporter.otlphttp \"o\" {\n client {\n endpoint = \"http://h\"\n"
	  "auth = otelcol.exporter.otlphttp.p.input\n}\n}",
	  "otelcol.Handler" },
	{ "a handler",
	  "otelcol.auth.bearer \"a\" { token = \"t\" }\n"
	  "pyroscope.relabel \"r\" { forward_to = [otelcol.auth.bearer.a.handler] }",
	  "ProfilesReceiver" },
};

static void test_auth_mistake(void **state)
{
	const struct mistake *row = *state;
	struct fixture fixture = { 0 }, *f = &fixture;

	set_up(f);
	assert_int_not_equal(load(f, row->text), RIVER_OK);
	if (!strstr(buf_str(&f->messages), row->said))
		assert_string_equal(buf_str(&f->messages), row->said);
	tear_down(f);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_sends),
	FIXTURE_TEST(test_without_compression),
	FIXTURE_TEST(test_tries_again),
	FIXTURE_TEST(test_refused),
	FIXTURE_TEST(test_spread),
	FIXTURE_TEST(test_waits_on_disk),
	FIXTURE_TEST(test_nothing_waits_on_disk),
	TEST_ROWS(test_mistake, mistakes, name),
	FIXTURE_TEST(test_arguments_of_the_collector),
	FIXTURE_TEST(test_empty_endpoint),
	FIXTURE_TEST(test_grpc),
	TEST_ROWS(test_auth, auth_rows, name),
	FIXTURE_TEST(test_auth_changes),
	FIXTURE_TEST(test_both_change),
	FIXTURE_TEST(test_auth_by_token),
	FIXTURE_TEST(test_empty_auth),
	FIXTURE_TEST(test_through_a_bridge),
	TEST_ROWS(test_auth_mistake, auth_mistakes, name),
};

TEST_MAIN(tests)
