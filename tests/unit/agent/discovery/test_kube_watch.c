/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and watches against a server that follows a script. */
#include "agent/discovery/kube_watch.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/kube_server.h"

#define POD(name, version) \
	"{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(version, more, items) \
	"{\"metadata\":{\"resourceVersion\":\"" version "\"" more "},\"items\":[" items "]}"
#define NEXT(token) ",\"continue\":\"" token "\""
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define FAILURE(code, reason, message)                                                            \
	"{\"kind\":\"Status\",\"code\":" code ",\"reason\":\"" reason "\",\"message\":\"" message \
	"\"}"

#define ASKS_FIRST_LIST "GET /api/v1/pods?limit=500&resourceVersion=0 "
#define ASKS_NEWEST_LIST "GET /api/v1/pods?limit=500 "
#define ASKS_WATCH(version) "&resourceVersion=" version " "
#define HANGS OK "", THEN_HOLD

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct kube_server server;
	struct kube_api api;
	struct kube_watch *watch;
	struct buf said; /* what the watch called, in order */
	bool was_failed;
	char error[KUBE_WATCH_MAX_ERROR];
};

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	kube_server_start(&f->server, f->loop);
	buf_init(&f->said, 65536);
	f->api = (struct kube_api){ .loop = f->loop, .http = f->http, .server = f->server.url };
}

static void tear_down(struct fixture *f)
{
	kube_watch_free(f->watch);
	kube_server_stop(&f->server);
	http_client_free(f->http);
	loop_free(f->loop);
	buf_fini(&f->said);
}

FIXTURE(struct fixture, set_up, tear_down)

static void say(struct fixture *f, char what, const json_t *object)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *name = json_string_value(json_object_get(metadata, "name"));

	(void)buf_printf(&f->said, "%c%s ", what, name ? name : "");
}

static void on_begin(void *data)
{
	say(data, '(', NULL);
}

static void on_listed(json_t *object, void *data)
{
	say(data, '.', object);
}

static void on_replace(void *data)
{
	say(data, ')', NULL);
}

static void on_changed(json_t *object, void *data)
{
	/* As those do that keep objects. */
	say(data, '+', object);
	(void)json_object_clear(object);
}

static void on_deleted(json_t *object, void *data)
{
	say(data, '-', object);
}

static void on_told(void *data)
{
	struct fixture *f = data;
	struct kube_watch_status status = kube_watch_status(f->watch);

	say(f, status.failed ? '!' : '=', NULL);
	if (status.failed)
		(void)snprintf(f->error, sizeof(f->error), "%s", status.error);
}

static const struct kube_watch_ops ops = { on_begin,   on_listed,  on_replace,
					   on_changed, on_deleted, on_told };

static void begin(struct fixture *f, const struct kube_step *steps, size_t n)
{
	struct kube_watch_options o = { .api = &f->api, .ops = &ops, .data = f };

	f->server.steps = steps;
	f->server.n_steps = n;
	o.timing = KUBE_WATCH_TIMING_INIT;
	o.timing.retry = (struct retry_options){ 1 * NS_PER_MS, 5 * NS_PER_MS };
	o.timing.idle_timeout_ns = 10 * NS_PER_S;
	assert_int_equal(kube_watch_new(&o, &f->watch), 0);
	assert_string_equal(buf_str(&f->said), "");
}

static void wait_said(struct fixture *f, const char *expected)
{
	LOOP_WHILE(f->loop, strcmp(buf_str(&f->said), expected) != 0);
	assert_string_equal(buf_str(&f->said), expected);
}

static void wait_steps(struct fixture *f)
{
	LOOP_WHILE(f->loop, f->server.at < f->server.n_steps);
	assert_int_equal(f->server.at, f->server.n_steps);
}

/* What is called, for what the server does. */
struct row {
	const char *name;
	struct kube_step steps[8];
	const char *said;
	const char *error; /* stands in the last one; NULL: there was none */
};

static const struct row rows[] = {
	{ "list, then watch from its version",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", POD("a", "3") "," POD("b", "4")), THEN_CLOSE },
	    { ASKS_WATCH("7"),
	      OK EVENT("ADDED", POD("c", "8")) EVENT("MODIFIED", POD("a", "9"))
		      EVENT("DELETED", POD("b", "10")),
	      THEN_HOLD } },
	  "( .a .b ) +c +a -b ",
	  NULL },
	{ "pages",
	  { { ASKS_FIRST_LIST, OK LIST("7", NEXT("t/1"), POD("a", "3")), THEN_CLOSE },
	    { "GET /api/v1/pods?limit=500&continue=t%2F1 ", OK LIST("7", NEXT("t2"), POD("b", "3")),
	      THEN_CLOSE },
	    { "&continue=t2 ", OK LIST("7", "", POD("c", "4")), THEN_CLOSE },
	    { ASKS_WATCH("7"), HANGS } },
	  "( .a .b .c ) ",
	  NULL },
	{ "a page's token has expired: from the first page on",
	  { { ASKS_FIRST_LIST, OK LIST("7", NEXT("t1"), POD("a", "3")), THEN_CLOSE },
	    { "&continue=t1 ", STATUS("410", FAILURE("410", "Expired", "too old")), THEN_CLOSE },
	    { ASKS_FIRST_LIST, OK LIST("9", "", POD("b", "4")), THEN_CLOSE },
	    { ASKS_WATCH("9"), HANGS } },
	  "( .a ( .b ) ",
	  NULL },
	{ "a watch that ends in order goes on from the last version",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), OK EVENT("ADDED", POD("a", "8")), THEN_CLOSE },
	    { ASKS_WATCH("8"), OK EVENT("BOOKMARK", POD("", "20")), THEN_CLOSE },
	    { ASKS_WATCH("20"), HANGS } },
	  "( ) +a ",
	  NULL },
	{ "a connection that is cut, too, and nobody is bothered the first time",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), CUT EVENT("ADDED", POD("a", "8")) "{\"type\":\"ADDED\",\"obj",
	      THEN_CLOSE },
	    { ASKS_WATCH("8"), HANGS } },
	  "( ) +a ",
	  NULL },
	{ "the version is too old, said by the status",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", POD("a", "3")), THEN_CLOSE },
	    { ASKS_WATCH("7"), STATUS("410", FAILURE("410", "Expired", "too old")), THEN_CLOSE },
	    { ASKS_NEWEST_LIST, OK LIST("9", "", POD("b", "8")), THEN_CLOSE },
	    { ASKS_WATCH("9"), HANGS } },
	  "( .a ) ( .b ) ",
	  NULL },
	{ "the version is too old, said within the watch",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"),
	      OK EVENT("ADDED", POD("a", "8")) EVENT("ERROR", FAILURE("410", "Expired", "too old")),
	      THEN_HOLD },
	    { ASKS_NEWEST_LIST, OK LIST("9", "", POD("a", "8")), THEN_CLOSE },
	    { ASKS_WATCH("9"), HANGS } },
	  "( ) +a ( .a ) ",
	  NULL },
	{ "too old again and again is a failure",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), STATUS("410", ""), THEN_CLOSE },
	    { ASKS_NEWEST_LIST, OK LIST("8", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("8"), OK EVENT("ERROR", FAILURE("410", "", "")), THEN_CLOSE },
	    { ASKS_NEWEST_LIST, OK LIST("9", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("9"), HANGS } },
	  "( ) ( ) ! ( = ) ",
	  "has forgotten version 8 of pods (410)" },
	{ "another error within the watch: waits, then lists",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), OK EVENT("ERROR", FAILURE("500", "InternalError", "etcd is away")),
	      THEN_CLOSE },
	    { ASKS_NEWEST_LIST, OK LIST("9", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("9"), HANGS } },
	  "( ) ! ( = ) ",
	  "cannot watch pods (500): etcd is away" },
	{ "refused twice, then let in: the version is still good",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), STATUS("401", FAILURE("401", "Unauthorized", "Unauthorized")),
	      THEN_CLOSE },
	    { ASKS_WATCH("7"), STATUS("503", "down"), THEN_CLOSE },
	    { ASKS_WATCH("7"), HANGS } },
	  "( ) ! ! = ",
	  "cannot watch pods (503)" },
	{ "a list that is refused is asked for again",
	  { { ASKS_FIRST_LIST, STATUS("403", FAILURE("403", "Forbidden", "pods is forbidden")),
	      THEN_CLOSE },
	    { ASKS_FIRST_LIST, STATUS("429", ""), THEN_CLOSE },
	    { ASKS_FIRST_LIST, OK LIST("7", "", POD("a", "1")), THEN_CLOSE },
	    { ASKS_WATCH("7"), HANGS } },
	  "( ! ( ! ( .a = ) ",
	  "cannot list pods (429)" },
	{ "a version that is refused for another reason leads to a list",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"),
	      STATUS("504", FAILURE("504", "Timeout", "Too large resource version")), THEN_CLOSE },
	    { ASKS_NEWEST_LIST, OK LIST("2", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("2"), HANGS } },
	  "( ) ! ( = ) ",
	  "Too large resource version" },
	{ "what is no list",
	  { { ASKS_FIRST_LIST, OK "<html>", THEN_CLOSE },
	    { ASKS_FIRST_LIST, OK "{\"items\":[]}", THEN_CLOSE },
	    { ASKS_FIRST_LIST, OK "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[5",
	      THEN_HOLD },
	    { ASKS_FIRST_LIST, CUT "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[",
	      THEN_CLOSE },
	    { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), HANGS } },
	  "( ! ( ! ( ! ( ! ( = ) ",
	  "broken connection" },
	{ "what is no event",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), OK "[]\n", THEN_HOLD },
	    { ASKS_NEWEST_LIST, OK LIST("8", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("8"),
	      OK EVENT("NEWS", POD("a", "9")) EVENT("ADDED", "5") EVENT("ADDED", POD("b", "10")),
	      THEN_HOLD } },
	  "( ) ! ( = ) +b ",
	  "the watch of pods makes no sense" },
	{ "watches that end at once are slowed down",
	  { { ASKS_FIRST_LIST, OK LIST("7", "", ""), THEN_CLOSE },
	    { ASKS_WATCH("7"), OK, THEN_CLOSE },
	    { ASKS_WATCH("7"), OK, THEN_CLOSE },
	    { ASKS_WATCH("7"), HANGS } },
	  "( ) ! = ",
	  "ends each watch of pods at once" },
};

static size_t n_steps(const struct row *row)
{
	size_t n = 0;

	while (n < ARRAY_SIZE(row->steps) && row->steps[n].answer)
		n++;
	return n;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	begin(f, row->steps, n_steps(row));
	wait_steps(f);
	wait_said(f, row->said);
	if (row->error)
		assert_non_null(strstr(f->error, row->error));
	else
		assert_string_equal(f->error, "");
	assert_int_equal(kube_watch_status(f->watch).state, KUBE_WATCHING);
	assert_true(kube_watch_status(f->watch).known);
	assert_false(kube_watch_status(f->watch).failed);
	(void)teardown(&own);
}

static void test_status(void **state)
{
	static const struct kube_step steps[] = {
		{ NULL, OK LIST("7", "", ""), THEN_CLOSE },
		{ NULL, OK EVENT("BOOKMARK", POD("", "77")), THEN_HOLD },
	};
	struct fixture *f = *state;

	begin(f, steps, ARRAY_SIZE(steps));
	assert_int_equal(kube_watch_status(f->watch).state, KUBE_LISTING);
	assert_false(kube_watch_status(f->watch).known);
	for (int i = 0; i < 2000 && strcmp(kube_watch_status(f->watch).version, "77") != 0; i++)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_string_equal(kube_watch_status(f->watch).version, "77");
	struct kube_watch_status status = kube_watch_status(f->watch);
	assert_int_equal(status.n_lists, 1);
	assert_int_equal(status.n_watches, 1);
	assert_true(clock_mono_ns() - status.event_ns < 20 * NS_PER_S);
}

/* Half-closed: nothing comes, and nobody says that nothing will. */
static void test_silence(void **state)
{
	static const struct kube_step steps[] = {
		{ NULL, OK LIST("7", "", ""), THEN_CLOSE },
		{ ASKS_WATCH("7"), HANGS },
		{ ASKS_WATCH("7"), OK EVENT("ADDED", POD("a", "8")), THEN_HOLD },
	};
	struct fixture *f = *state;
	struct kube_watch_options o = { .api = &f->api, .ops = &ops, .data = f };

	f->server.steps = steps;
	f->server.n_steps = ARRAY_SIZE(steps);
	o.timing = KUBE_WATCH_TIMING_INIT;
	o.timing.retry = (struct retry_options){ 1 * NS_PER_MS, 5 * NS_PER_MS };
	o.timing.idle_timeout_ns = 50 * NS_PER_MS;
	assert_int_equal(kube_watch_new(&o, &f->watch), 0);
	wait_said(f, "( ) +a ");
}

/* The server's wait is kept, whatever ours would be: nothing is asked meanwhile. */
static void test_retry_after(void **state)
{
	static const struct kube_step steps[] = {
		{ NULL, "HTTP/1.1 429 X\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n",
		  THEN_CLOSE },
	};
	struct fixture *f = *state;

	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "( ! ");
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_run_once(f->loop, 5), 0);
	assert_string_equal(buf_str(&f->said), "( ! ");
}

static void test_token_is_read_anew(void **state)
{
	static const struct kube_step steps[] = {
		{ "Authorization: Bearer old\r\n", OK LIST("7", "", ""), THEN_CLOSE },
		{ "Authorization: Bearer old\r\n", OK EVENT("ADDED", POD("a", "8")), THEN_HOLD },
		{ "Authorization: Bearer new\r\n", HANGS },
	};
	struct fixture *f = *state;
	char path[] = "/tmp/kube-token-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "old\n", 4), 4);
	f->api.credentials.bearer_token_file = path;
	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "( ) +a ");
	assert_int_equal(pwrite(fd, "new\n", 4, 0), 4);
	kube_connection_close(f->server.held);
	wait_steps(f);
	(void)unlink(path);
	(void)close(fd);
}

static void test_no_token(void **state)
{
	struct fixture *f = *state;

	f->api.credentials.bearer_token_file = "/nowhere/token";
	begin(f, NULL, 0);
	wait_said(f, "( ! ");
	assert_non_null(strstr(f->error, "/nowhere/token: No such file or directory"));
}

static void test_nobody_listens(void **state)
{
	struct fixture *f = *state;

	loop_io_free(f->server.io);
	f->server.io = NULL;
	(void)close(f->server.fd);
	f->server.fd = -1;
	begin(f, NULL, 0);
	wait_said(f, "( ! ( ! ( ! ");
	assert_non_null(strstr(f->error, "Connection refused"));
	assert_int_equal(kube_watch_status(f->watch).state, KUBE_WAITING);
}

/* An object that no buffer takes is left out of a list, and makes a watch list again. */
static void test_too_large(void **state)
{
	_cleanup_free_ char *pad = malloc(KUBE_MAX_OBJECT_BYTES + 1);
	_cleanup_buf_ struct buf list = BUF_INIT(3 * KUBE_MAX_OBJECT_BYTES);
	_cleanup_buf_ struct buf event = BUF_INIT(3 * KUBE_MAX_OBJECT_BYTES);
	struct fixture *f = *state;

	assert_non_null(pad);
	memset(pad, 'x', KUBE_MAX_OBJECT_BYTES);
	pad[KUBE_MAX_OBJECT_BYTES] = '\0';
	assert_int_equal(
		buf_printf(&list, OK LIST("7", "", POD("a", "1") ",{\"x\":\"%s\"}," POD("b", "2")),
			   pad),
		0);
	assert_int_equal(buf_printf(&event, OK EVENT("ADDED", "\"%s\""), pad), 0);
	const struct kube_step steps[] = {
		{ ASKS_FIRST_LIST, OK LIST("6", "", ""), THEN_CLOSE },
		{ ASKS_WATCH("6"), buf_str(&event), THEN_CLOSE },
		{ ASKS_NEWEST_LIST, buf_str(&list), THEN_CLOSE },
		{ ASKS_WATCH("7"), HANGS },
	};
	begin(f, steps, ARRAY_SIZE(steps));
	wait_said(f, "( ) ! ( .a .b = ) ");
	assert_non_null(strstr(f->error, "an object larger than 4194304 bytes"));
	assert_int_equal(kube_watch_status(f->watch).n_too_large, 2);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_status),
	FIXTURE_TEST(test_silence),
	FIXTURE_TEST(test_retry_after),
	FIXTURE_TEST(test_token_is_read_anew),
	FIXTURE_TEST(test_no_token),
	FIXTURE_TEST(test_nobody_listens),
	FIXTURE_TEST(test_too_large),
};

TEST_MAIN(tests)
