/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords and TLS that come and go while the server runs, with certificates made by openssl. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/http/raw_server.h"

extern char **environ;

struct pair {
	char cert_path[64], key_path[64];
	struct buf cert, key;
};

/* Made once: a key takes some milliseconds. */
struct material {
	bool there;
	char dir[32];
	struct pair server, client, other; /* the latter two sign themselves */
};

struct fixture {
	const struct material *m;
	struct loop *loop;
	struct http_server *server;
	struct http_client *client;
	struct http_server_tls tls; /* what a handler switches to */
	struct http_later *later;   /* what somebody waits for while TLS changes */
	struct loop_timer *timer;
	unsigned int n_calls;
	/* of the last request */
	bool done;
	enum http_outcome outcome;
	unsigned int status;
	size_t n_body;
	char error[HTTP_MAX_ERROR_BYTES];
	char away[64]; /* where /away leads */
};

static const struct http_access everybody = { 0 };

static bool run(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	for (int fd = 0; fd < 3; fd++)
		assert_int_equal(
			posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0), 0);
	int r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return r == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static bool make_pair(const char *dir, const char *name, struct pair *p)
{
	(void)snprintf(p->cert_path, sizeof(p->cert_path), "%s/%s.cert", dir, name);
	(void)snprintf(p->key_path, sizeof(p->key_path), "%s/%s.key", dir, name);
	buf_init(&p->cert, 1 << 16);
	buf_init(&p->key, 1 << 16);
	return run((char *const[]){ "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
				    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
				    "/CN=localhost", "-addext",
				    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
				    p->key_path, "-out", p->cert_path, NULL }) &&
	       file_read(AT_FDCWD, p->cert_path, &p->cert) == 0 &&
	       file_read(AT_FDCWD, p->key_path, &p->key) == 0;
}

static int make_material(void **state)
{
	struct material *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	*state = m;
	temp_dir_make(m->dir);
	m->there = make_pair(m->dir, "server", &m->server) &&
		   make_pair(m->dir, "client", &m->client) && make_pair(m->dir, "other", &m->other);
	return 0;
}

static void forget_pair(struct pair *p)
{
	buf_fini(&p->cert);
	buf_fini(&p->key);
}

static int forget_material(void **state)
{
	struct material *m = *state;

	forget_pair(&m->server);
	forget_pair(&m->client);
	forget_pair(&m->other);
	(void)temp_dir_remove(m->dir);
	free(m);
	return 0;
}

static void answer_plain(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	((struct fixture *)data)->n_calls++;
	(void)buf_append_str(&answer->body, "here");
}

static void answer_away(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	answer->status = 307;
	answer->location = ((struct fixture *)data)->away;
}

/* As a reload does. */
static void answer_switch(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)call;
	assert_int_equal(
		http_server_secure(f->server, &everybody, f->tls.cert_pem ? &f->tls : NULL, &why),
		0);
	(void)buf_append_str(&answer->body, "switched");
}

/* TLS changes while the client waits, and the answer comes still later. */
static void on_later_timer(void *data)
{
	struct fixture *f = data;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (f->n_calls++ == 0) {
		assert_int_equal(http_server_secure(f->server, &everybody,
						    f->tls.cert_pem ? &f->tls : NULL, &why),
				 0);
		loop_timer_arm(f->timer, clock_mono_ns() + 150 * NS_PER_MS);
		return;
	}
	assert_true(http_later_is_awaited(f->later));
	http_later_send(TAKE_PTR(f->later));
}

static void answer_later(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;

	(void)answer;
	f->n_calls = 0;
	assert_int_equal(http_call_later(call, &f->later), 0);
	loop_timer_arm(f->timer, clock_mono_ns());
}

static struct http_server_tls tls_of(const struct pair *p)
{
	return (struct http_server_tls){ .cert_pem = buf_str(&p->cert),
					 .key_pem = buf_str(&p->key) };
}

static void open_server(struct fixture *f, const char *listen)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	const struct http_route routes[] = { { .method = "GET",
					       .path = "/metrics",
					       .fn = answer_plain,
					       .data = f },
					     { .method = "GET",
					       .path = "/switch",
					       .fn = answer_switch,
					       .data = f },
					     { .method = "GET",
					       .path = "/away",
					       .fn = answer_away,
					       .data = f },
					     { .method = "GET",
					       .path = "/later",
					       .fn = answer_later,
					       .data = f },
					     { .method = "POST",
					       .path = "/metrics",
					       .fn = answer_plain,
					       .data = f,
					       .max_body_bytes = 1 } };

	options.listen = listen;
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server, &routes[i]), 0);
}

static void begin(struct fixture *f, void **state)
{
	*f = (struct fixture){ .m = *state };
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	open_server(f, "127.0.0.1:0");
	if (f->m->there)
		f->tls = tls_of(&f->m->server);
}

static void end(struct fixture *f)
{
	http_client_free(f->client);
	http_server_free(f->server);
	loop_free(f->loop);
}

static bool without_openssl(struct fixture *f)
{
	if (f->m->there)
		return false;
	print_message("SKIP openssl cannot make a certificate here\n");
	end(f);
	skip();
	return true;
}

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->done = true;
	f->outcome = result->outcome;
	f->status = result->status;
	f->n_body = result->n_body;
	(void)snprintf(f->error, sizeof(f->error), "%s", result->error);
}

/* The status, or 0 when there was no answer. Connections are kept from one to the next. */
static unsigned int ask(struct fixture *f, const char *scheme, struct http_request_options o)
{
	uint64_t give_up = clock_mono_ns() + 20 * NS_PER_S;
	struct http_request *request;
	char url[64];

	(void)snprintf(url, sizeof(url), "%s://127.0.0.1:%u%s", scheme, http_server_port(f->server),
		       o.url ? o.url : "/metrics");
	o.url = url;
	o.timeout_ns = 10 * NS_PER_S;
	f->done = false;
	assert_int_equal(http_request_start(f->client, &o, on_done, f, &request), 0);
	while (!f->done && clock_mono_ns() < give_up)
		assert_int_equal(loop_run_once(f->loop, 100), 0);
	assert_true(f->done);
	return f->outcome == HTTP_DONE ? f->status : 0;
}

static unsigned int ask_plain(struct fixture *f)
{
	return ask(f, "http", (struct http_request_options){ 0 });
}

static unsigned int ask_tls(struct fixture *f, const struct pair *ca, const struct pair *client)
{
	return ask(f, "https",
		   (struct http_request_options){
			   .tls = { .ca_pem = buf_str(&ca->cert),
				    .cert_file = client ? client->cert_path : NULL,
				    .key_file = client ? client->key_path : NULL } });
}

static void secure(struct fixture *f, const struct http_access *access,
		   const struct http_server_tls *tls)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = http_server_secure(f->server, access, tls, &why);

	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
}

static void test_password(void **state)
{
	const struct http_access access = { .username = "u", .password = "p" };
	struct fixture f;

	begin(&f, state);
	assert_int_equal(ask_plain(&f), 200);
	secure(&f, &access, NULL);
	assert_int_equal(ask_plain(&f), 401);
	assert_int_equal(ask(&f, "http", (struct http_request_options){ .body = "x", .n_body = 1 }),
			 401);
	assert_int_equal(ask(&f, "http", (struct http_request_options){ .url = "/nowhere" }), 401);
	assert_int_equal(f.n_calls, 1);
	assert_int_equal(
		ask(&f, "http",
		    (struct http_request_options){ .basic_user = "u", .basic_password = "p" }),
		200);
	assert_int_equal(
		ask(&f, "http",
		    (struct http_request_options){ .basic_user = "u", .basic_password = "q" }),
		401);
	secure(&f, &everybody, NULL);
	assert_int_equal(ask_plain(&f), 200);
	end(&f);
}

static void test_tls_on_and_off(void **state)
{
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	uint16_t port = http_server_port(f.server);
	assert_int_equal(ask_plain(&f), 200);
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	/* Who still comes without is not answered; nor is another certificate taken for this one. */
	assert_int_equal(ask_tls(&f, &f.m->other, NULL), 0);
	assert_int_equal(f.outcome, HTTP_TLS_FAILED);
	f.tls = tls_of(&f.m->other);
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->other, NULL), 200);
	secure(&f, &everybody, NULL);
	assert_int_equal(ask_plain(&f), 200);
	assert_int_equal(http_server_port(f.server), port);
	end(&f);
}

/* What was to be encrypted is not sent in clear because a server says so. */
static void test_no_redirect_from_tls(void **state)
{
	struct fixture f;
	struct raw_server raw;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	const struct http_request_options o = { .url = "/away",
						.follow_redirects = true,
						.tls = { .ca_pem = buf_str(&f.m->server.cert) } };
	raw_server_start(&raw, f.loop, RAW_TEXT, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	secure(&f, &everybody, &f.tls);
	(void)snprintf(f.away, sizeof(f.away), "http://127.0.0.1:%u/", raw.port);
	assert_int_equal(ask(&f, "https", o), 0);
	assert_int_equal(f.outcome, HTTP_FAILED);
	assert_non_null(strstr(f.error, "where nothing is encrypted: not followed"));
	/* To itself it may lead. */
	(void)snprintf(f.away, sizeof(f.away), "/metrics");
	assert_int_equal(ask(&f, "https", o), 200);
	raw_server_stop(&raw);
	end(&f);
}

static void test_plain_text_to_tls(void **state)
{
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	secure(&f, &everybody, &f.tls);
	/* One round, in which the old daemon lets go of the socket. */
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	assert_int_equal(ask_plain(&f), 0);
	end(&f);
}

/* The answer to the request that switches goes the way the request came. */
static void test_switch_within_a_handler(void **state)
{
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	assert_int_equal(ask(&f, "http", (struct http_request_options){ .url = "/switch" }), 200);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	const struct http_request_options back = { .url = "/switch",
						   .tls = { .ca_pem = f.tls.cert_pem } };
	f.tls.cert_pem = NULL;
	assert_int_equal(ask(&f, "https", back), 200);
	assert_int_equal(ask_plain(&f), 200);
	end(&f);
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

/* The old daemon sends what is owed, and ends. */
static void test_switch_before_a_later_answer(void **state)
{
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	assert_int_equal(loop_timer_new(f.loop, on_later_timer, &f, &f.timer), 0);
	assert_int_equal(ask(&f, "http", (struct http_request_options){ .url = "/later" }), 200);
	const struct http_request_options back = { .url = "/later",
						   .tls = { .ca_pem = f.tls.cert_pem } };
	f.tls.cert_pem = NULL;
	assert_int_equal(ask(&f, "https", back), 200);
	assert_int_equal(ask_plain(&f), 200);
	loop_timer_free(f.timer);
	end(&f);
}

static void test_nothing_is_left(void **state)
{
	uint64_t give_up = clock_mono_ns() + 20 * NS_PER_S;
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	size_t before = count_fds();
	for (int i = 0; i < 20; i++)
		secure(&f, &everybody, i % 2 ? NULL : &f.tls);
	while (count_fds() > before && clock_mono_ns() < give_up)
		assert_int_equal(loop_run_once(f.loop, 50), 0);
	assert_int_equal(count_fds(), before);
	assert_int_equal(ask_plain(&f), 200);
	end(&f);
}

/* Somebody who begins a handshake and goes no further costs next to nothing, and holds up nobody. */
static void test_half_a_handshake(void **state)
{
	static const char half[] = "\x16\x03\x01\x02\x00";
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned int n_rounds = 0;
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	secure(&f, &everybody, &f.tls);
	address.sin_port = htons(http_server_port(f.server));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, half, 5, 0), 5);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	uint64_t begin_ns = clock_mono_ns();
	while (clock_mono_ns() < begin_ns + 100 * NS_PER_MS) {
		assert_int_equal(loop_run_once(f.loop, 10), 0);
		n_rounds++;
	}
	assert_true(n_rounds < (clock_mono_ns() - begin_ns) / NS_PER_MS + 50);
	end(&f);
}

static void answer_large(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const char zeros[1 << 20];

	(void)call;
	(void)data;
	for (int i = 0; i < 3; i++)
		(void)buf_append(&answer->body, zeros, sizeof(zeros));
}

static void test_large_answer(void **state)
{
	const struct http_route route = { .method = "GET", .path = "/large", .fn = answer_large };
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	assert_int_equal(http_server_add_route(f.server, &route), 0);
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask(&f, "https",
			     (struct http_request_options){ .url = "/large",
							    .tls = { .ca_pem = f.tls.cert_pem } }),
			 200);
	assert_int_equal(f.n_body, 3 << 20);
	end(&f);
}

static const struct client_row {
	const char *name;
	enum http_client_auth auth;
	unsigned int without, with, with_other;
} client_rows[] = {
	{ "NoClientCert", HTTP_CLIENT_AUTH_NONE, 200, 200, 200 },
	{ "RequestClientCert", HTTP_CLIENT_AUTH_REQUEST, 200, 200, 200 },
	{ "RequireAnyClientCert", HTTP_CLIENT_AUTH_REQUIRE_ANY, 0, 200, 200 },
	{ "VerifyClientCertIfGiven", HTTP_CLIENT_AUTH_VERIFY_IF_GIVEN, 200, 200, 0 },
	{ "RequireAndVerifyClientCert", HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY, 0, 200, 0 },
};

static void test_client_certificates(void **state)
{
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(client_rows); i++) {
		const struct client_row *row = &client_rows[i];

		print_message("%s\n", row->name);
		f.tls.client_auth = row->auth;
		f.tls.client_ca_pem = row->auth ? buf_str(&f.m->client.cert) : NULL;
		secure(&f, &everybody, &f.tls);
		assert_int_equal(ask_tls(&f, &f.m->server, NULL), row->without);
		assert_int_equal(ask_tls(&f, &f.m->server, &f.m->client), row->with);
		assert_int_equal(ask_tls(&f, &f.m->server, &f.m->other), row->with_other);
	}
	end(&f);
}

static void test_versions_and_suites(void **state)
{
	static const char *const suites[] = { "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256" };
	static const char *const modern[] = { "TLS_AES_128_GCM_SHA256" };
	static const char *const old[] = { "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA" };
	static const char *const curves[] = { "CurveP256", "X25519" };
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	f.tls.cipher_suites = suites;
	f.tls.n_cipher_suites = 1;
	f.tls.curves = curves;
	f.tls.n_curves = 2;
	f.tls.max_version = HTTP_TLS12;
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	/* The client wants at least 1.3. */
	assert_int_equal(
		ask(&f, "https",
		    (struct http_request_options){ .tls = { .ca_pem = buf_str(&f.m->server.cert),
							    .min_version = HTTP_TLS13 } }),
		0);
	f.tls.cipher_suites = old;
	f.tls.max_version = HTTP_TLS_DEFAULT;
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	f.tls.min_version = HTTP_TLS10;
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	f.tls.cipher_suites = modern;
	f.tls.min_version = f.tls.max_version = HTTP_TLS13;
	secure(&f, &everybody, &f.tls);
	assert_int_equal(ask_tls(&f, &f.m->server, NULL), 200);
	end(&f);
}

static void refuse(struct fixture *f, const struct http_server_tls *tls, const char *expected)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf again = BUF_INIT(4096);

	assert_int_equal(http_server_check_tls(tls, &why), -EINVAL);
	assert_int_equal(http_server_secure(f->server, &everybody, tls, &again), -EINVAL);
	assert_string_equal(buf_str(&why), expected);
	assert_string_equal(buf_str(&again), expected);
}

static void test_wrong_material(void **state)
{
	const struct http_access access = { .username = "u", .password = "p" };
	struct fixture f;

	begin(&f, state);
	if (without_openssl(&f))
		return;
	secure(&f, &access, NULL);
	struct http_server_tls tls = f.tls;
	tls.key_pem = buf_str(&f.m->other.key);
	refuse(&f, &tls, "tls: private key does not match public key");
	tls.cert_pem = "nonsense";
	refuse(&f, &tls, "tls: failed to find any PEM data in certificate input");
	tls = f.tls;
	tls.key_pem = "";
	refuse(&f, &tls, "tls: failed to find any PEM data in key input");
	tls = f.tls;
	tls.client_ca_pem = "nonsense";
	tls.client_auth = HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY;
	refuse(&f, &tls, "the client CA holds no certificate");
	tls = f.tls;
	tls.min_version = HTTP_TLS13;
	tls.max_version = HTTP_TLS12;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	assert_int_equal(http_server_check_tls(&tls, &why), -EINVAL);
	assert_non_null(strstr(buf_str(&why), "versions and cipher suites do not go together"));
	/* Everything is as before, the password included. */
	assert_int_equal(ask_plain(&f), 401);
	end(&f);
}

static void test_open(void **state)
{
	const struct http_access access = { .username = "u", .password = "p" };
	static const struct {
		const char *listen;
		bool open;
	} rows[] = { { "127.0.0.1:0", false }, { "localhost:0", false }, { "127.1.2.3:0", false },
		     { "[::1]:0", false },     { "0.0.0.0:0", true },	 { ":0", true } };
	struct fixture f;

	begin(&f, state);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
		char error[HTTP_SERVER_MAX_ERROR_BYTES];

		http_server_free(TAKE_PTR(f.server));
		options.listen = rows[i].listen;
		/* A kernel without IPv6 refuses it. */
		if (http_server_new(f.loop, &options, &f.server, error) != HTTP_LISTENING)
			continue;
		assert_int_equal(http_server_is_open(f.server), rows[i].open);
		secure(&f, &access, NULL);
		assert_false(http_server_is_open(f.server));
	}
	end(&f);
}

static const struct unit_test tests[] = {
	TEST(test_password),
	TEST(test_tls_on_and_off),
	TEST(test_no_redirect_from_tls),
	TEST(test_plain_text_to_tls),
	TEST(test_switch_within_a_handler),
	TEST(test_switch_before_a_later_answer),
	TEST(test_nothing_is_left),
	TEST(test_half_a_handshake),
	TEST(test_large_answer),
	TEST(test_client_certificates),
	TEST(test_versions_and_suites),
	TEST(test_wrong_material),
	TEST(test_open),
};

TEST_MAIN_WITH(tests, make_material, forget_material)
