/* SPDX-License-Identifier: Apache-2.0 */
/* The client's TLS options against `openssl s_server` with a certificate of its own making. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "agent/http/client.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "tests/support/loop_while.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/http/raw_server.h"

#define NAME "profiles.example"

extern char **environ;

struct fixture {
	struct loop *loop;
	struct http_client *client;
	bool have_openssl;
	pid_t server;
	char dir[32];
	char cert[64], key[64];
	struct buf cert_pem;
	char url[64];
	bool done;
	enum http_outcome outcome;
	unsigned int status;
	char error[HTTP_MAX_ERROR_BYTES];
};

static pid_t spawn(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	for (int fd = 0; fd < 3; fd++)
		assert_int_equal(
			posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0), 0);
	int r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return r == 0 ? pid : -1;
}

static bool run(char *const argv[])
{
	pid_t pid = spawn(argv);
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static bool make_certificate(struct fixture *f)
{
	(void)snprintf(f->cert, sizeof(f->cert), "%s/cert.pem", f->dir);
	(void)snprintf(f->key, sizeof(f->key), "%s/key.pem", f->dir);
	buf_init(&f->cert_pem, 1 << 16);
	return run((char *const[]){ "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
				    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
				    "/CN=" NAME, "-addext", "subjectAltName=DNS:" NAME, "-keyout",
				    f->key, "-out", f->cert, NULL }) &&
	       file_read(AT_FDCWD, f->cert, &f->cert_pem) == 0;
}

static bool server_answers(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static void start_server(struct fixture *f)
{
	uint16_t port = raw_free_port(f->loop);
	char listen[32];

	(void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	(void)snprintf(f->url, sizeof(f->url), "https://%s/", listen);
	f->server = spawn((char *const[]){ "openssl", "s_server", "-accept", listen, "-cert",
					   f->cert, "-key", f->key, "-www", "-tls1_2", NULL });
	assert_true(f->server > 0);
	LOOP_WHILE(f->loop, !server_answers(port));
}

static void set_up(struct fixture *f)
{
	temp_dir_make(f->dir);
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->client), 0);
	f->have_openssl = make_certificate(f);
	if (f->have_openssl)
		start_server(f);
}

static void tear_down(struct fixture *f)
{
	if (f->server > 0) {
		(void)kill(f->server, SIGKILL);
		(void)waitpid(f->server, NULL, 0);
	}
	assert_int_equal(temp_dir_remove(f->dir), 0);
	buf_fini(&f->cert_pem);
	http_client_free(f->client);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void on_done(const struct http_result *result, void *data)
{
	struct fixture *f = data;

	f->done = true;
	f->outcome = result->outcome;
	f->status = result->status;
	(void)snprintf(f->error, sizeof(f->error), "%s", result->error);
}

static void get(struct fixture *f, const struct http_tls_options *tls)
{
	const struct http_request_options options = { .url = f->url,
						      .timeout_ns = 20 * NS_PER_S,
						      .tls = *tls };
	struct http_request *request;

	f->done = false;
	assert_int_equal(http_request_start(f->client, &options, on_done, f, &request), 0);
	while (!f->done)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
}

struct row {
	const char *name;
	bool ca_file, ca_pem, client_cert;
	struct http_tls_options tls;
	enum http_outcome outcome;
};

static const struct row rows[] = {
	{ "unknown authority", false, false, false, { .server_name = NAME }, HTTP_TLS_FAILED },
	{ "authority from a file", true, false, false, { .server_name = NAME }, HTTP_DONE },
	{ "authority from text", false, true, false, { .server_name = NAME }, HTTP_DONE },
	{ "wrong name", false, true, false, { .server_name = "other.example" }, HTTP_TLS_FAILED },
	{ "no name", false, true, false, { 0 }, HTTP_TLS_FAILED },
	{ "not verified", false, false, false, { .insecure_skip_verify = true }, HTTP_DONE },
	{ "version too old",
	  false,
	  true,
	  false,
	  { .server_name = NAME, .min_version = HTTP_TLS13 },
	  HTTP_TLS_FAILED },
	{ "version fine",
	  false,
	  true,
	  false,
	  { .server_name = NAME, .min_version = HTTP_TLS12 },
	  HTTP_DONE },
	{ "client certificate", false, true, true, { .server_name = NAME }, HTTP_DONE },
	{ "authority is garbage",
	  false,
	  false,
	  false,
	  { .server_name = NAME, .ca_pem = "x" },
	  HTTP_TLS_FAILED },
	{ "authority is missing",
	  false,
	  false,
	  false,
	  { .server_name = NAME, .ca_file = "/nowhere" },
	  HTTP_TLS_FAILED },
};

static void test_row(void **state)
{
	/* The fixture is made here: the row is the state. */
	const struct row *row = *state;
	struct http_tls_options tls = row->tls;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	if (!f->have_openssl) {
		print_message("the openssl command is missing or too old: TLS is not tested\n");
		(void)teardown(&own);
		skip();
	}
	if (row->ca_file)
		tls.ca_file = f->cert;
	if (row->ca_pem)
		tls.ca_pem = buf_str(&f->cert_pem);
	if (row->client_cert) {
		tls.cert_pem = buf_str(&f->cert_pem);
		tls.key_file = f->key;
	}
	get(f, &tls);
	if (f->outcome != row->outcome)
		fail_msg("outcome %d, status %u: %s", f->outcome, f->status, f->error);
	assert_int_equal(f->status, row->outcome == HTTP_DONE ? 200 : 0);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
