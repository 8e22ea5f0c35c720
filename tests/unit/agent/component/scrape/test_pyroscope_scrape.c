/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.scrape between a target and a server of our own. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/http/server.h"
#include "tests/support/loop_while.h"
#include "tests/support/made_profile.h"

#define MAX_PUSHES 32

struct peers {
	struct http_server *http;
	int64_t count;
	unsigned int n_asked, n_pushes;
	char pushes[MAX_PUSHES][512]; /* texts of each, without what is not printable */
};

static void answer_profile(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct peers *p = data;
	struct made_profile m;
	size_t n;

	(void)call;
	p->n_asked++;
	p->count += 5;
	made_profile_init(&m, "contentions/count delay/nanoseconds", "contentions/count",
			  1700000000000);
	made_profile_sample(&m, "main;f", (const int64_t[]){ p->count, p->count }, NULL);
	uint8_t *bytes = made_profile_gzip(&m, &n);
	answer->content_type = "application/octet-stream";
	assert_int_equal(buf_append(&answer->body, bytes, n), 0);
	free(bytes);
	made_profile_fini(&m);
}

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct peers *p = data;
	size_t n, n_text = 0;
	const char *body = http_call_body(call, &n);

	for (size_t i = 0; p->n_pushes < MAX_PUSHES && i < n && n_text < 511; i++)
		if (body[i] > ' ' && body[i] < 0x7f)
			p->pushes[p->n_pushes][n_text++] = body[i];
	p->n_pushes += p->n_pushes < MAX_PUSHES;
	answer->content_type = "application/proto";
}

static void peers_init(struct peers *p, struct fixture *f)
{
	const struct http_route routes[] = {
		{ .method = "GET", .path = "/debug/pprof/mutex", .fn = answer_profile, .data = p },
		{ .method = "POST",
		  .path = "/push.v1.PusherService/Push",
		  .fn = answer_push,
		  .data = p,
		  .max_body_bytes = 1 << 20 },
	};
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->env.loop, &o, &p->http, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(p->http, &routes[i]), 0);
}

#define OFF(name) "profile." name " { enabled = false }\n"
#define MUTEX_ALONE                                                                               \
	"profiling_config {\n" OFF("memory") OFF("block") OFF("goroutine") OFF("process_cpu") "}" \
											      "\n"

static void load_scrape(struct fixture *f, const struct peers *p, const char *targets,
			const char *more)
{
	_cleanup_buf_ struct buf text = BUF_INIT(8192);

	(void)buf_printf(&text,
			 "pyroscope.write \"w\" { endpoint {\nurl = \"http://127.0.0.1:%u\"\n} }\n"
			 "pyroscope.scrape \"s\" {\ntargets = [%s]\nforward_to = "
			 "[pyroscope.write.w.receiver]\nscrape_interval = \"100ms\"\n" MUTEX_ALONE
			 "%s}\n",
			 http_server_port(p->http), targets, more);
	assert_loads(f, buf_str(&text));
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
}

static void target_text(const struct peers *p, const char *service, char *out, size_t n)
{
	(void)snprintf(out, n,
		       "{\"__address__\" = \"127.0.0.1:%u\", \"service_name\" = \"%s\", "
		       "\"__meta_x\" = \"y\"}",
		       http_server_port(p->http), service);
}

static bool pushed(const struct peers *p, unsigned int i, const char *text)
{
	return strstr(p->pushes[i], text) != NULL;
}

static void test_series(void **state)
{
	struct peers p = { .count = 0 };
	struct fixture *f = *state;
	char target[256], instance[64];

	peers_init(&p, f);
	target_text(&p, "shop", target, sizeof(target));
	(void)snprintf(instance, sizeof(instance), "127.0.0.1:%u", http_server_port(p.http));
	load_scrape(f, &p, target, "");
	LOOP_WHILE(f->env.loop, p.n_pushes < 3);
	assert_in_range(p.n_pushes, 3, MAX_PUSHES);
	for (unsigned int i = 0; i < p.n_pushes; i++) {
		assert_true(pushed(&p, i, "__name__") && pushed(&p, i, "mutex"));
		assert_true(pushed(&p, i, "service_name") && pushed(&p, i, "shop"));
		assert_true(pushed(&p, i, "__delta__") && pushed(&p, i, "false"));
		assert_true(pushed(&p, i, "job") && pushed(&p, i, "pyroscope.scrape.s"));
		assert_true(pushed(&p, i, "instance") && pushed(&p, i, instance));
		assert_false(pushed(&p, i, "__meta_x") || pushed(&p, i, "__address__"));
	}
	http_server_free(p.http);
}

/* A target that stays goes on over a reload: no profile is its first one again. */
static void test_reload(void **state)
{
	struct peers p = { .count = 0 };
	struct fixture *f = *state;
	char target[256];

	peers_init(&p, f);
	target_text(&p, "shop", target, sizeof(target));
	load_scrape(f, &p, target, "");
	LOOP_WHILE(f->env.loop, p.n_pushes < 2);
	load_scrape(f, &p, target, "scrape_timeout = \"9s\"\n");
	LOOP_WHILE(f->env.loop, p.n_pushes < 5);
	LOOP_WHILE(f->env.loop, p.n_pushes + 1 < p.n_asked);
	assert_int_equal(p.n_pushes + 1, p.n_asked);
	http_server_free(p.http);
}

static struct health health_of(struct fixture *f)
{
	struct component *c = (struct component *)find(f, "pyroscope.scrape.s");

	c->kind->check(c);
	return c->health;
}

static void test_health(void **state)
{
	struct peers p = { .count = 0 };
	struct fixture *f = *state;
	char target[256], targets[1024];

	peers_init(&p, f);
	target_text(&p, "shop", target, sizeof(target));
	load_scrape(f, &p, "{\"service_name\" = \"x\"}", "");
	assert_int_equal(health_of(f).state, HEALTH_UNHEALTHY);
	assert_string_equal(health_of(f).message,
			    "0 of 0 addresses are scraped; 1 targets are left out: no address: the "
			    "target has no label __address__ with host:port");
	(void)snprintf(targets, sizeof(targets), "%s, {\"__address__\" = \"127.0.0.1:1\"}", target);
	load_scrape(f, &p, targets, "");
	LOOP_WHILE(f->env.loop,
		   !strstr(health_of(f).message, "1 of 2") || strstr(health_of(f).message, "wait"));
	assert_int_equal(health_of(f).state, HEALTH_HEALTHY);
	assert_non_null(
		strstr(health_of(f).message,
		       "1 of 2 addresses are scraped; 1 are down: "
		       "http://127.0.0.1:1/debug/pprof/mutex: cannot connect to 127.0.0.1:1"));
	load_scrape(f, &p, "{\"__address__\" = \"127.0.0.1:1\"}", "");
	LOOP_WHILE(f->env.loop, health_of(f).state != HEALTH_UNHEALTHY);
	assert_int_equal(health_of(f).state, HEALTH_UNHEALTHY);
	http_server_free(p.http);
}

static const char *member(const struct river_value *object, const char *key)
{
	size_t n;

	return river_value_get_string(river_value_find(object, key), &n);
}

static void test_debug_info(void **state)
{
	struct peers p = { .count = 0 };
	struct fixture *f = *state;
	const struct river_value *info = NULL;
	struct river_arena arena;
	char target[256], url[128];

	peers_init(&p, f);
	target_text(&p, "shop", target, sizeof(target));
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/debug/pprof/mutex",
		       http_server_port(p.http));
	load_scrape(f, &p, target, "job_name = \"j\"\n");
	LOOP_WHILE(f->env.loop, p.n_pushes < 1);
	struct component *c = (struct component *)find(f, "pyroscope.scrape.s");
	river_arena_init(&arena, 1 << 20);
	assert_int_equal(c->kind->debug_info(c, &arena, &info), 0);
	const struct river_value *rows = river_value_find(info, "target");
	assert_int_equal(river_value_len(rows), 1);
	const struct river_value *row = river_value_item(rows, 0);
	assert_string_equal(member(row, "job"), "j");
	assert_string_equal(member(row, "url"), url);
	assert_string_equal(member(row, "health"), "up");
	assert_string_equal(member(row, "last_error"), "");
	assert_string_equal(member(river_value_find(row, "labels"), "service_name"), "shop");
	assert_int_equal(strlen(member(row, "last_scrape")), strlen("2026-01-01T00:00:00.000Z"));
	river_arena_fini(&arena);
	http_server_free(p.http);
}

/* The end comes while a profile is on its way. */
static void test_end(void **state)
{
	struct peers p = { .count = 0 };
	struct fixture *f = *state;
	char target[256];

	peers_init(&p, f);
	target_text(&p, "shop", target, sizeof(target));
	load_scrape(f, &p, target, "");
	LOOP_WHILE(f->env.loop, p.n_asked < 1);
	assert_loads(f, "");
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
	assert_int_equal(graph_n(f->graph), 0);
	http_server_free(p.http);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_series),     FIXTURE_TEST(test_reload), FIXTURE_TEST(test_health),
	FIXTURE_TEST(test_debug_info), FIXTURE_TEST(test_end),
};

TEST_MAIN(tests)
