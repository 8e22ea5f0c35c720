/* SPDX-License-Identifier: Apache-2.0 */
/* Containers followed: a daemon that comes, goes, and answers well or badly. */
#include "agent/discovery/docker_watch.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/docker_daemon.h"

#define CONTAINER(id)                                                                         \
	"{\"Id\":\"" id "\",\"Names\":[\"/n" id "\"],\"HostConfig\":{\"NetworkMode\":\"b\"}," \
	"\"NetworkSettings\":{\"Networks\":{\"b\":{\"NetworkID\":\"b\",\"IPAddress\":"        \
	"\"10.0.0.1\"}}}}"
#define NETWORKS "[{\"Id\":\"b\",\"Name\":\"bridge\"}]"
#define STARTED "{\"Type\":\"container\",\"Action\":\"start\",\"Actor\":{\"ID\":\"x\"}}\n"
#define EXECUTED "{\"Type\":\"container\",\"Action\":\"exec_start: /health\"}\n"

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct daemon daemon;
	struct docker_watch *watch;
	struct docker_watch_options o;
	unsigned int n_news, n_changes;
};

static void on_news(bool other_targets, void *data)
{
	struct fixture *f = data;

	f->n_news++;
	f->n_changes += other_targets;
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	assert_int_equal(docker_watch_new(f->loop, f->http, on_news, f, &f->watch), 0);
	daemon_init(&f->daemon, f->loop);
	f->o = (struct docker_watch_options){
		.server.request = { .url = "http://docker", .unix_socket = f->daemon.path },
		.filters = "",
		.refresh_interval_ns = 3600 * NS_PER_S,
		.targets = { .port = 80, .host_networking_host = "localhost" },
		.retry = { .min_ns = 10 * NS_PER_MS, .max_ns = 20 * NS_PER_MS },
	};
}

static void tear_down(struct fixture *f)
{
	docker_watch_free(f->watch);
	http_client_free(f->http);
	daemon_fini(&f->daemon);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static const struct docker_watch_status *status(const struct fixture *f)
{
	return docker_watch_status(f->watch);
}

#define UNTIL(f, condition)                          \
	do {                                         \
		LOOP_WHILE((f)->loop, !(condition)); \
		assert_true(condition);              \
	} while (0)

static void begin(struct fixture *f)
{
	daemon_start(&f->daemon);
	docker_watch_open(f->watch, &f->o);
	UNTIL(f, status(f)->n_lists == 1);
}

static void assert_targets(const struct fixture *f, const char *names)
{
	const struct target_list *list = docker_watch_targets(f->watch);
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	for (size_t i = 0; i < list->n; i++)
		(void)buf_printf(&text, "%s ",
				 labels_get(list->items[i], "__meta_docker_container_name"));
	assert_string_equal(buf_str(&text), names);
}

/* The list is asked for when the stream is open: what happens in between is seen by one or the other. */
static void test_first_look(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers = "[" CONTAINER("1") "]";
	f->daemon.networks = NETWORKS;
	begin(f);
	assert_targets(f, "/n1 ");
	assert_string_equal(
		labels_get(docker_watch_targets(f->watch)->items[0], "__meta_docker_network_name"),
		"bridge");
	assert_int_equal(status(f)->state, DOCKER_KNOWN);
	assert_true(status(f)->follows_events);
	assert_string_equal(status(f)->version, "/v1.41");
	assert_int_equal(f->n_changes, 1);
	const char *paths = buf_str(&f->daemon.paths);
	assert_int_equal(strncmp(paths, "/_ping\n/v1.41/events?since=", 27), 0);
	assert_non_null(strstr(paths, "&filters=%7B%22type%22%3A%5B%22container%22%2C%22network"
				      "%22%5D%7D\n/v1.41/containers/json\n/v1.41/networks\n"));
}

static void test_filters_are_asked_for(void **state)
{
	struct fixture *f = *state;

	f->o.filters = "{\"label\":[\"a=b\"]}";
	f->daemon.api_version = NULL;
	begin(f);
	assert_non_null(strstr(buf_str(&f->daemon.paths),
			       "\n/containers/json?filters="
			       "%7B%22label%22%3A%5B%22a%3Db%22%5D%7D\n"));
}

static void test_event(void **state)
{
	struct fixture *f = *state;

	begin(f);
	assert_targets(f, "");
	assert_int_equal(f->n_changes, 0);
	f->daemon.containers = "[" CONTAINER("2") "," CONTAINER("1") "]";
	daemon_tell(&f->daemon, EXECUTED STARTED "\n");
	UNTIL(f, status(f)->n_lists == 2);
	assert_targets(f, "/n2 /n1 ");
	assert_int_equal(status(f)->n_events, 1);
	assert_int_equal(f->n_changes, 1);
	daemon_tell(&f->daemon, "{\"Type\":\"network\",");
	daemon_tell(&f->daemon, "\"Action\":\"connect\"}\n");
	UNTIL(f, status(f)->n_lists == 3);
	assert_int_equal(f->n_changes, 1);
}

/* One after the other: neither a look for each of them, nor none until they end. */
static void test_many_events(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns;

	begin(f);
	begin_ns = clock_mono_ns();
	while (clock_mono_ns() - begin_ns < NS_PER_S / 5) {
		daemon_tell(&f->daemon, STARTED);
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	}
	uint64_t quarters = (clock_mono_ns() - begin_ns) / (NS_PER_S / 4);
	assert_true(status(f)->n_lists >= 3);
	assert_true(status(f)->n_lists <= 6 + quarters);
}

/* What is told while a list is under way may not be in it. */
static void test_event_during_a_look(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->daemon.slow = true;
	daemon_tell(&f->daemon, STARTED);
	UNTIL(f, f->daemon.waiting);
	daemon_tell(&f->daemon, STARTED);
	UNTIL(f, status(f)->n_events == 2);
	f->daemon.slow = false;
	daemon_answer(f->daemon.waiting, 200, "", "[]");
	f->daemon.containers = "[" CONTAINER("1") "]";
	UNTIL(f, status(f)->n_lists == 3);
	assert_targets(f, "/n1 ");
}

static void test_not_there_at_start(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers = "[" CONTAINER("1") "]";
	docker_watch_open(f->watch, &f->o);
	UNTIL(f, status(f)->state == DOCKER_AWAY);
	assert_non_null(strstr(status(f)->why, "cannot connect to unix socket "));
	assert_non_null(strstr(status(f)->why, f->daemon.path));
	assert_non_null(strstr(status(f)->why, "No such file or directory"));
	daemon_start(&f->daemon);
	UNTIL(f, status(f)->state == DOCKER_KNOWN);
	assert_targets(f, "/n1 ");
	assert_string_equal(status(f)->why, "");
}

static void test_goes_and_comes_back(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers = "[" CONTAINER("1") "]";
	begin(f);
	daemon_stop(&f->daemon);
	UNTIL(f, status(f)->state == DOCKER_AWAY);
	assert_false(status(f)->follows_events);
	assert_targets(f, "/n1 ");
	assert_int_equal(f->n_changes, 1);
	f->daemon.containers = "[" CONTAINER("2") "]";
	daemon_start(&f->daemon);
	UNTIL(f, status(f)->state == DOCKER_KNOWN);
	assert_targets(f, "/n2 ");
	assert_int_equal(f->n_changes, 2);
	assert_true(status(f)->follows_events);
}

/* Then nobody waits for it. */
static void test_stream_does_not_open(void **state)
{
	struct fixture *f = *state;

	f->daemon.no_events = true;
	f->daemon.containers = "[" CONTAINER("1") "]";
	begin(f);
	assert_targets(f, "/n1 ");
	assert_false(status(f)->follows_events);
	assert_int_equal(status(f)->state, DOCKER_KNOWN);
}

/* Opened again, and looked at again. */
static void test_stream_ends(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->daemon.containers = "[" CONTAINER("1") "]";
	daemon_write(f->daemon.events, "0\r\n\r\n");
	UNTIL(f, f->daemon.n_events == 2 && status(f)->n_lists == 2);
	assert_targets(f, "/n1 ");
	assert_string_equal(status(f)->events_why, "GET /events: the stream ended");
	daemon_tell(&f->daemon, STARTED);
	UNTIL(f, status(f)->n_lists == 3);
}

static void test_stream_is_cut(void **state)
{
	struct fixture *f = *state;

	begin(f);
	(void)shutdown(f->daemon.events->fd, SHUT_WR);
	UNTIL(f, f->daemon.n_events == 2 && status(f)->n_lists == 2);
	assert_non_null(strstr(status(f)->events_why, "broken connection to unix socket"));
}

static void test_stream_is_no_json(void **state)
{
	struct fixture *f = *state;

	begin(f);
	daemon_tell(&f->daemon, "{\"Type\":\"contai\n");
	UNTIL(f, f->daemon.n_events == 2 && status(f)->n_lists == 2);
	assert_string_equal(status(f)->events_why, "GET /events: that is no JSON");
	assert_int_equal(status(f)->state, DOCKER_KNOWN);
}

/* Somebody in between allows the list only: then it is asked for again and again, and the events with it. */
static void test_only_containers_allowed(void **state)
{
	struct fixture *f = *state;

	f->daemon.ping_status = f->daemon.events_status = f->daemon.networks_status = 403;
	f->daemon.containers = "[" CONTAINER("1") "]";
	f->o.refresh_interval_ns = NS_PER_S / 10;
	begin(f);
	assert_targets(f, "/n1 ");
	assert_int_equal(status(f)->state, DOCKER_KNOWN);
	assert_true(status(f)->events_refused);
	assert_string_equal(status(f)->events_why, "GET /events was answered with 403: told so");
	assert_string_equal(status(f)->networks_why,
			    "GET /networks was answered with 403: told so");
	assert_int_equal(f->daemon.n_events, 1);
	f->daemon.containers = "[]";
	f->daemon.events_status = 0;
	UNTIL(f, status(f)->follows_events);
	assert_int_equal(f->daemon.n_events, 2);
	assert_targets(f, "");
	assert_false(status(f)->events_refused);
}

/* A poll finds what no event told: the stream's other end is gone, a new one is opened. */
static void test_deaf_stream(void **state)
{
	struct fixture *f = *state;

	f->o.refresh_interval_ns = NS_PER_S / 4;
	begin(f);
	assert_int_equal(f->daemon.n_events, 1);
	f->daemon.containers = "[" CONTAINER("1") "]";
	UNTIL(f, f->daemon.n_events == 2 && status(f)->follows_events);
	assert_targets(f, "/n1 ");
}

static void test_refused_list(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers_status = 400;
	f->daemon.api_version = "1.99";
	daemon_start(&f->daemon);
	docker_watch_open(f->watch, &f->o);
	UNTIL(f, status(f)->state == DOCKER_AWAY);
	assert_string_equal(status(f)->why, "GET /containers/json was answered with 400: told so");
	/* The version that we know was tried first, then the daemon's own. */
	assert_non_null(strstr(buf_str(&f->daemon.paths), "\n/v1.44/containers/json\n"));
	assert_non_null(strstr(buf_str(&f->daemon.paths), "\n/v1.99/containers/json\n"));
	f->daemon.containers_status = 0;
	UNTIL(f, status(f)->state == DOCKER_KNOWN);
}

static void test_broken_answers(void **state)
{
	static const char *const bodies[] = { "[{\"Id\":", "{\"message\":\"x\"}", "", "[]x", "3" };
	struct fixture *f = *state;

	f->daemon.containers = "[" CONTAINER("1") "]";
	begin(f);
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct docker_watch_options o = f->o;

		f->daemon.containers = bodies[i];
		docker_watch_open(f->watch, &o);
		f->n_news = 0;
		UNTIL(f, f->n_news > 0);
		assert_int_equal(status(f)->state, DOCKER_AWAY);
		assert_non_null(
			strstr(status(f)->why, "GET /containers/json was not answered with"));
		assert_targets(f, "/n1 ");
	}
	f->daemon.containers = "[]";
	UNTIL(f, status(f)->state == DOCKER_KNOWN);
	assert_targets(f, "");
}

static void test_other_server(void **state)
{
	struct fixture *f = *state;
	struct daemon other;

	f->daemon.containers = "[" CONTAINER("1") "]";
	begin(f);
	daemon_init(&other, f->loop);
	other.containers = "[" CONTAINER("2") "]";
	struct docker_watch_options o = f->o;
	o.server.request.unix_socket = other.path;
	docker_watch_open(f->watch, &o);
	UNTIL(f, status(f)->state == DOCKER_AWAY);
	assert_targets(f, "/n1 ");
	daemon_start(&other);
	UNTIL(f, status(f)->state == DOCKER_KNOWN);
	assert_targets(f, "/n2 ");
	docker_watch_free(f->watch);
	f->watch = NULL;
	daemon_fini(&other);
}

static void test_other_options(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers = "[" CONTAINER("1") "]";
	begin(f);
	struct docker_watch_options o = f->o;
	o.targets.port = 9;
	docker_watch_adjust(f->watch, &o);
	UNTIL(f, status(f)->n_lists == 2);
	assert_string_equal(labels_get(docker_watch_targets(f->watch)->items[0], "__address__"),
			    "10.0.0.1:9");
	assert_int_equal(f->daemon.n_events, 1);
}

/* With everything under way. */
static void test_end_at_any_time(void **state)
{
	struct fixture *f = *state;

	daemon_start(&f->daemon);
	f->daemon.slow = true;
	for (int n = 0; n < 12; n++) {
		docker_watch_open(f->watch, &f->o);
		for (int i = 0; i < n; i++)
			assert_int_equal(loop_run_once(f->loop, 1), 0);
	}
	docker_watch_free(f->watch);
	f->watch = NULL;
}

struct version_row {
	const char *name;
	bool newest;
	const char *path;
};

static void test_versions(void **state)
{
	static const struct version_row rows[] = {
		{ "1.41", false, "/v1.41" }, { "1.24", true, "/v1.24" },
		{ "1.52", false, "/v1.44" }, { "1.52", true, "/v1.52" },
		{ "", false, "" },	     { "2.0", false, "" },
		{ "1.", false, "" },	     { "1.x", false, "" },
		{ "1.99999", false, "" },    { "1.41/../x", false, "" },
	};
	char path[DOCKER_VERSION_MAX_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		docker_api_version(rows[i].name, rows[i].newest, path);
		assert_string_equal(path, rows[i].path);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_first_look),
	FIXTURE_TEST(test_filters_are_asked_for),
	FIXTURE_TEST(test_event),
	FIXTURE_TEST(test_many_events),
	FIXTURE_TEST(test_event_during_a_look),
	FIXTURE_TEST(test_not_there_at_start),
	FIXTURE_TEST(test_goes_and_comes_back),
	FIXTURE_TEST(test_stream_does_not_open),
	FIXTURE_TEST(test_stream_ends),
	FIXTURE_TEST(test_stream_is_cut),
	FIXTURE_TEST(test_stream_is_no_json),
	FIXTURE_TEST(test_only_containers_allowed),
	FIXTURE_TEST(test_deaf_stream),
	FIXTURE_TEST(test_refused_list),
	FIXTURE_TEST(test_broken_answers),
	FIXTURE_TEST(test_other_server),
	FIXTURE_TEST(test_other_options),
	FIXTURE_TEST(test_end_at_any_time),
	TEST(test_versions),
};

TEST_MAIN(tests)
