/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.docker: its arguments, what they become, and targets in a graph. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/discovery/discovered.h"

#include "agent/component/discovery/docker_args.h"
#include "tests/unit/agent/component/decode.h"
#include "tests/unit/agent/discovery/docker_daemon.h"

#define NAME "discovery.docker.x"
#define CONTAINER(id, address)                                                             \
	"{\"Id\":\"" id "\",\"Names\":[\"/n\"],\"NetworkSettings\":{\"Networks\":{\"b\":{" \
	"\"IPAddress\":\"" address "\"}}}}"

struct host_row {
	const char *name, *text;
	const char *url, *unix_socket;
};

static const struct host_row host_rows[] = {
	{ "socket", "host = \"unix:///var/run/docker.sock\"", "http://docker",
	  "/var/run/docker.sock" },
	{ "tcp", "host = \"tcp://h:99\"", "http://h:99", NULL },
	{ "tcp without port", "host = \"tcp://h/\"", "http://h:2375", NULL },
	{ "tcp with TLS", "host = \"tcp://h\"\ntls_config {}", "https://h:2376", NULL },
	{ "tcp to an IPv6 address", "host = \"tcp://[::1]/a/\"", "http://[::1]:2375/a", NULL },
	{ "http", "host = \"http://h:1//\"", "http://h:1", NULL },
	{ "https", "host = \"https://h/docker\"", "https://h/docker", NULL },
};

static void test_host(void **state)
{
	const struct host_row *row = *state;
	const struct http_oauth2_options *oauth2;
	struct docker_watch_options o;
	struct docker_args args;
	struct decoded d;

	decode(&d, &docker_schema, NULL, row->text, &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(docker_args_options(&args, &d.arena, &o, &oauth2), 0);
	assert_string_equal(o.server.request.url, row->url);
	if (row->unix_socket)
		assert_string_equal(o.server.request.unix_socket, row->unix_socket);
	else
		assert_null(o.server.request.unix_socket);
	assert_string_equal(o.filters, "");
	assert_null(oauth2);
	assert_int_equal(o.targets.port, 80);
	assert_string_equal(o.targets.host_networking_host, "localhost");
	assert_true(o.targets.match_first_network);
	assert_int_equal(o.refresh_interval_ns, 60 * NS_PER_S);
	decoded_fini(&d);
}

static void test_all_arguments(void **state)
{
	const struct http_oauth2_options *oauth2;
	struct docker_watch_options o;
	struct docker_args args;
	struct decoded d;

	(void)state;
	decode(&d, &docker_schema, NULL,
	       "host = \"tcp://h:1\"\nport = 8080\nhost_networking_host = \"me\"\n"
	       "refresh_interval = \"5s\"\nmatch_first_network = false\n"
	       "filter {\nname = \"label\"\nvalues = [\"a=\\\"b\\\"\", \"c\"]\n}\n"
	       "filter {\nname = \"status\"\nvalues = [\"running\"]\n}\n"
	       "filter {\nname = \"label\"\nvalues = [\"d\"]\n}\n"
	       "bearer_token = \"t\"\nfollow_redirects = false\nenable_http2 = false\n"
	       "proxy_url = \"http://p\"\nhttp_headers = {\"X-A\" = [\"1\"]}\n"
	       "tls_config {\nserver_name = \"s\"\n}\n",
	       &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(docker_args_options(&args, &d.arena, &o, &oauth2), 0);
	assert_string_equal(o.filters,
			    "{\"label\":[\"a=\\\"b\\\"\",\"c\",\"d\"],\"status\":[\"running\"]}");
	assert_int_equal(o.targets.port, 8080);
	assert_string_equal(o.targets.host_networking_host, "me");
	assert_false(o.targets.match_first_network);
	assert_int_equal(o.refresh_interval_ns, 5 * NS_PER_S);
	assert_string_equal(o.server.request.url, "https://h:1");
	assert_string_equal(o.server.request.tls.server_name, "s");
	assert_string_equal(o.server.request.proxy.url, "http://p");
	assert_int_equal(o.server.request.n_headers, 1);
	assert_false(o.server.request.follow_redirects);
	assert_false(o.server.request.enable_http2);
	assert_string_equal(o.server.credentials.bearer_token, "t");
	decoded_fini(&d);
}

#define BLOCK(body) "discovery.docker \"x\" {\n" body "\n}\n"
#define SOCKET "host = \"unix:///s\"\n"

static const struct mistake mistakes[] = {
	{ "no host", BLOCK(""), "a:1:1: missing required attribute \"host\"\n" },
	{ "empty host", BLOCK("host = \"\""), "a:1:1: host missing\n" },
	{ "npipe", BLOCK("host = \"npipe:////./pipe/docker_engine\""),
	  "a:1:1: host: npipe:// is a socket of Windows; use unix:///var/run/docker.sock\n" },
	{ "ssh", BLOCK("host = \"ssh://me@h\""),
	  "a:1:1: host: ssh:// and fd:// are not supported; use unix://, tcp://, http:// or "
	  "https://\n" },
	{ "no scheme", BLOCK("host = \"/var/run/docker.sock\""),
	  "a:1:1: unable to parse docker host: it must begin with unix://, tcp://, http:// or "
	  "https://, for example unix:///var/run/docker.sock\n" },
	{ "relative socket", BLOCK("host = \"unix://s\""),
	  "a:1:1: host: unix:// is followed by the absolute path of a socket, of at most 107 "
	  "bytes: unix:///var/run/docker.sock\n" },
	{ "refresh_interval", BLOCK(SOCKET "refresh_interval = \"0s\""),
	  "a:1:1: refresh_interval must be greater than 0\n" },
	{ "port", BLOCK(SOCKET "port = 65536"), "a:1:1: port must be between 0 and 65535\n" },
	{ "filter", BLOCK(SOCKET "filter {\nname = \"a\"\n}"),
	  "a:3:1: missing required attribute \"values\"\n" },
	{ "credentials", BLOCK(SOCKET "bearer_token = \"a\"\nbasic_auth {\nusername = \"b\"\n}"),
	  "a:1:1: at most one of basic_auth, authorization, oauth2, bearer_token & "
	  "bearer_token_file must be configured\n" },
};

struct place {
	struct fixture *f;
	struct daemon daemon;
};

static int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	void *f = NULL;

	assert_non_null(p);
	assert_int_equal(setup(&f), 0);
	p->f = f;
	daemon_init(&p->daemon, p->f->env.loop);
	*state = p;
	return 0;
}

static int place_teardown(void **state)
{
	struct place *p = *state;
	void *f = p->f;

	graph_free(TAKE_PTR(p->f->graph));
	daemon_fini(&p->daemon);
	(void)teardown(&f);
	free(p);
	return 0;
}

static void load_docker(struct place *p, const char *path, const char *more)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "discovery.docker \"x\" {\n\thost = \"unix://%s\"\n%s\n}\n", path,
			 more);
	assert_loads(p->f, buf_str(&text));
}

static void begin(struct place *p, const char *more)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	load_docker(p, p->daemon.path, more);
	assert_addresses(p->f, NAME, "");
	assert_int_equal(graph_run(p->f->graph, &why), 0);
}

static void test_found(void **state)
{
	struct place *p = *state;

	p->daemon.containers = "[" CONTAINER("1", "10.0.0.1") ",{\"Names\":[\"/none\"]}]";
	daemon_start(&p->daemon);
	begin(p, "");
	wait_found(p->f, NAME, "10.0.0.1:80",
		   "1 targets of 2 containers, 1 without a network have none");
	p->daemon.containers = "[]";
	daemon_tell(&p->daemon, "{\"Type\":\"container\",\"Action\":\"die\"}\n");
	wait_found(p->f, NAME, "", "0 targets of 0 containers");
}

static void test_not_there(void **state)
{
	struct place *p = *state;
	char message[COMPONENT_MESSAGE_MAX];

	begin(p, "");
	(void)snprintf(message, sizeof(message),
		       "cannot connect to unix socket %s: No such file or directory; is Docker "
		       "running? In a container the socket must be mounted",
		       p->daemon.path);
	wait_found(p->f, NAME, "", message);
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_UNHEALTHY);
	daemon_start(&p->daemon);
	wait_found(p->f, NAME, "", "0 targets of 0 containers");
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_HEALTHY);
}

static void test_events_are_not_allowed(void **state)
{
	struct place *p = *state;

	p->daemon.events_status = p->daemon.networks_status = 403;
	daemon_start(&p->daemon);
	begin(p, "refresh_interval = \"30s\"");
	wait_found(p->f, NAME, "",
		   "0 targets of 0 containers; changes are seen every 30 s only: GET /events was "
		   "answered with 403: told so; no labels of networks: GET /networks was answered "
		   "with 403: told so");
	assert_int_equal(find(p->f, NAME)->health.state, HEALTH_HEALTHY);
}

static void test_update(void **state)
{
	struct place *p = *state;
	struct daemon other;

	p->daemon.containers = "[" CONTAINER("1", "10.0.0.1") "]";
	daemon_start(&p->daemon);
	begin(p, "");
	wait_found(p->f, NAME, "10.0.0.1:80", "1 targets of 1 containers");
	load_docker(p, p->daemon.path, "port = 9");
	wait_found(p->f, NAME, "10.0.0.1:9", "1 targets of 1 containers");
	assert_int_equal(p->daemon.n_events, 1);
	daemon_init(&other, p->f->env.loop);
	other.containers = "[" CONTAINER("2", "10.0.0.2") "]";
	load_docker(p, other.path, "port = 9");
	assert_addresses(p->f, NAME, "10.0.0.1:9");
	daemon_start(&other);
	wait_found(p->f, NAME, "10.0.0.2:9", "1 targets of 1 containers");
	graph_free(TAKE_PTR(p->f->graph));
	daemon_fini(&other);
}

/* Before it runs, and with everything under way. */
static void test_end(void **state)
{
	struct place *p = *state;

	daemon_start(&p->daemon);
	load_docker(p, p->daemon.path, "");
	load_docker(p, p->daemon.path, "port = 9");
	begin(p, "");
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(p->f->env.loop, 1), 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_host, host_rows, name),
	TEST_ROWS(test_mistake, mistakes, name),
	TEST(test_all_arguments),
	TEST_WITH(test_found, place_setup, place_teardown),
	TEST_WITH(test_not_there, place_setup, place_teardown),
	TEST_WITH(test_events_are_not_allowed, place_setup, place_teardown),
	TEST_WITH(test_update, place_setup, place_teardown),
	TEST_WITH(test_end, place_setup, place_teardown),
};

TEST_MAIN(tests)
