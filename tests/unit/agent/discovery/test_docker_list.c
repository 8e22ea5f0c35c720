/* SPDX-License-Identifier: Apache-2.0 */
/* One look at Docker: both answers, one of them, neither, and bodies that are something else. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/docker_list.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/docker_daemon.h"

#define REFUSED "was answered with 403: told so"

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct daemon daemon;
	struct docker_server server;
	struct docker_list list;
	unsigned int n_looks;
};

static void on_look(struct docker_list *list, void *data)
{
	struct fixture *f = data;

	assert_ptr_equal(list, &f->list);
	assert_false(docker_list_is_busy(list));
	f->n_looks++;
}

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	daemon_init(&f->daemon, f->loop);
	f->server.request =
		(struct http_request_options){ .url = "http://docker",
					       .unix_socket = f->daemon.path };
	docker_list_init(&f->list, f->http, on_look, f);
}

static void tear_down(struct fixture *f)
{
	docker_list_cancel(&f->list);
	http_client_free(f->http);
	daemon_fini(&f->daemon);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static void ask(struct fixture *f)
{
	f->n_looks = 0;
	assert_int_equal(docker_list_ask(&f->list, &f->server, "/v1.41", ""), 0);
	assert_true(docker_list_is_busy(&f->list));
	LOOP_WHILE(f->loop, f->n_looks == 0);
	assert_int_equal(f->n_looks, 1);
}

static const struct row {
	const char *name;
	unsigned int containers_status;
	const char *containers;
	unsigned int networks_status;
	const char *networks;
	int n_containers, n_networks; /* −1: there is no list, and … */
	const char *why, *networks_why; /* … a part of the sentence */
	bool networks_refused;
} rows[] = {
	{ "both", 0, "[{},{}]", 0, "[{}]", 2, 1, "", "", false },
	{ "none of either", 0, "[]", 0, "[]", 0, 0, "", "", false },
	{ "blanks around", 0, " \r\n[{}]\n ", 0, "[]\n", 1, 0, "", "", false },
	{ "containers refused", 403, "", 0, "[{}]", -1, 1, "GET /containers/json " REFUSED, "",
	  false },
	{ "networks refused", 0, "[{}]", 403, "", 1, -1, "", "GET /networks " REFUSED, true },
	{ "networks not found", 0, "[{}]", 404, "", 1, -1, "", "answered with 404: told so", true },
	{ "networks fail", 0, "[{}]", 500, "", 1, -1, "", "answered with 500: told so", false },
	{ "all refused", 403, "", 403, "", -1, -1, "GET /containers/json " REFUSED,
	  "GET /networks " REFUSED, true },
	{ "moved", 301, "", 0, "[]", -1, 0, "GET /containers/json was answered with 301", "",
	  false },
	{ "empty answers", 0, "", 0, "", -1, -1, "GET /containers/json was not answered with JSON",
	  "GET /networks was not answered with JSON", false },
	{ "a cut answer", 0, "[{\"Id\":\"a", 0, "[{}", -1, -1, "was not answered with JSON",
	  "was not answered with JSON", false },
	{ "a page", 0, "<html>", 0, "[]", -1, 0, "was not answered with JSON", "", false },
	{ "bytes that are no UTF-8", 0, "[\"\xff\"]", 0, "[\"\xc0\x80\"]", -1, -1,
	  "was not answered with JSON", "was not answered with JSON", false },
	{ "more behind it", 0, "[] []", 0, "[]x", -1, -1, "was not answered with JSON",
	  "was not answered with JSON", false },
	{ "a number alone", 0, "7", 0, "null", -1, -1, "was not answered with JSON",
	  "was not answered with JSON", false },
	{ "objects", 0, "{\"message\":\"x\"}", 0, "{}", 0, 0, "", "", false },
};

static void assert_list(const json_t *list, int n, const char *why, const char *part)
{
	assert_int_equal(list ? (int)json_array_size(list) : -1, n);
	if (n < 0)
		assert_non_null(strstr(why, part));
	else
		assert_string_equal(why, "");
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	f->daemon.containers = row->containers;
	f->daemon.containers_status = row->containers_status;
	f->daemon.networks = row->networks;
	f->daemon.networks_status = row->networks_status;
	daemon_start(&f->daemon);
	ask(f);
	assert_list(f->list.containers, row->n_containers, f->list.why, row->why);
	assert_list(f->list.networks, row->n_networks, f->list.networks_why, row->networks_why);
	assert_int_equal(f->list.status, row->containers_status ? row->containers_status : 200);
	assert_int_equal(f->list.networks_refused, row->networks_refused);
	assert_int_equal(teardown(&own), 0);
}

static void test_nobody_there(void **state)
{
	struct fixture *f = *state;

	ask(f);
	assert_null(f->list.containers);
	assert_null(f->list.networks);
	assert_string_not_equal(f->list.why, "");
	assert_string_not_equal(f->list.networks_why, "");
	assert_int_equal(f->list.status, 0);
	assert_false(f->list.networks_refused);
}

/* Nothing of the look before is left. */
static void test_ask_again(void **state)
{
	struct fixture *f = *state;

	f->daemon.containers_status = 500;
	f->daemon.networks_status = 403;
	daemon_start(&f->daemon);
	ask(f);
	f->daemon.containers_status = f->daemon.networks_status = 0;
	ask(f);
	assert_string_equal(f->list.why, "");
	assert_string_equal(f->list.networks_why, "");
	assert_false(f->list.networks_refused);
	assert_int_equal(f->list.status, 200);
	assert_non_null(f->list.containers);
	f->daemon.containers_status = 500;
	ask(f);
	assert_null(f->list.containers);
}

static void test_filters(void **state)
{
	struct fixture *f = *state;

	daemon_start(&f->daemon);
	assert_int_equal(docker_list_ask(&f->list, &f->server, "", "{\"name\":[\"a b&c\"]}"), 0);
	LOOP_WHILE(f->loop, f->n_looks == 0);
	const char *paths = buf_str(&f->daemon.paths);
	assert_non_null(strstr(paths, "/containers/json?filters="
				      "%7B%22name%22%3A%5B%22a%20b%26c%22%5D%7D\n"));
	assert_non_null(strstr(paths, "/networks\n"));
}

static void test_filters_too_long(void **state)
{
	struct fixture *f = *state;
	const size_t n = (size_t)2 << 20;
	char *filters = malloc(n);

	assert_non_null(filters);
	memset(filters, 'x', n - 1);
	filters[n - 1] = '\0';
	assert_true(docker_list_ask(&f->list, &f->server, "", filters) < 0);
	assert_string_equal(f->list.why, "cannot ask Docker: the filters are too long");
	assert_false(docker_list_is_busy(&f->list));
	free(filters);
}

/* Who cancels is not told, whatever was under way. */
static void test_cancel(void **state)
{
	struct fixture *f = *state;

	f->daemon.slow = true;
	daemon_start(&f->daemon);
	assert_int_equal(docker_list_ask(&f->list, &f->server, "", ""), 0);
	LOOP_WHILE(f->loop, !f->daemon.waiting || f->list.networks_request);
	assert_non_null(f->list.networks);
	assert_true(docker_list_is_busy(&f->list));
	docker_list_cancel(&f->list);
	assert_false(docker_list_is_busy(&f->list));
	assert_null(f->list.networks);
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->loop, 1), 0);
	assert_int_equal(f->n_looks, 0);
	f->daemon.slow = false;
	ask(f);
	assert_non_null(f->list.containers);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_ask_again),
	FIXTURE_TEST(test_filters),
	FIXTURE_TEST(test_filters_too_long),
	FIXTURE_TEST(test_cancel),
};

TEST_MAIN(tests)
