/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.relabel between who makes profiles and servers of our own. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/receiver.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "tests/support/small_profile.h"

#define N_SERVERS 2

struct server {
	struct http_server *http;
	unsigned int n_pushes;
	unsigned int status;
	char body[1024]; /* of the last push */
	size_t n_body;
};

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct server *s = data;
	const char *body = http_call_body(call, &s->n_body);

	assert_in_range(s->n_body, 1, sizeof(s->body));
	memcpy(s->body, body, s->n_body);
	s->n_pushes++;
	answer->status = s->status;
	answer->content_type = "application/proto";
}

static void server_init(struct server *s, struct fixture *f)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	*s = (struct server){ .status = 200 };
	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->env.loop, &o, &s->http, error), HTTP_LISTENING);
	assert_int_equal(
		http_server_add_route(s->http,
				      &(struct http_route){ .method = "POST",
							    .path = "/push.v1.PusherService/Push",
							    .fn = answer_push,
							    .data = s,
							    .max_body_bytes = 1 << 20 }),
		0);
}

static bool has(const struct server *s, const char *text)
{
	return memmem(s->body, s->n_body, text, strlen(text)) != NULL;
}

/* Rules, and two servers behind them. */
static void load_rules(struct fixture *f, const struct server servers[N_SERVERS], const char *rules)
{
	_cleanup_buf_ struct buf text = BUF_INIT(8192);

	for (size_t i = 0; i < N_SERVERS; i++)
		(void)buf_printf(
			&text,
			"pyroscope.write \"w%zu\" { endpoint {\nurl = \"http://127.0.0.1:%u\"\n"
			"min_backoff_period = \"10s\"\nmax_backoff_period = \"10s\"\n} }\n",
			i, http_server_port(servers[i].http));
	(void)buf_printf(
		&text,
		"pyroscope.relabel \"r\" {\nforward_to = [pyroscope.write.w0.receiver, null, "
		"pyroscope.write.w1.receiver]\n%s}\n",
		rules);
	assert_loads(f, buf_str(&text));
	assert_int_equal(graph_run(f->graph, &f->messages), 0);
}

static struct receiver *receiver_of(const struct fixture *f)
{
	const struct component *c = find(f, "pyroscope.relabel.r");
	const struct river_value *exports = NULL;
	struct river_arena arena;

	river_arena_init(&arena, 65536);
	assert_int_equal(c->kind->exports((struct component *)c, &arena, &exports), 0);
	struct receiver *r =
		river_value_get_capsule(river_value_find(exports, "receiver"), RECEIVER_CAPSULE);
	river_arena_fini(&arena);
	assert_non_null(r);
	return r;
}

static struct receiver_stats push(struct fixture *f, const char *service)
{
	const struct label items[] = { { "__name__", "process_cpu" },
				       { "service_name", service },
				       { "region", "north" } };
	struct receiver *r = receiver_of(f);
	struct labels *labels = NULL;
	struct receiver_stats stats;

	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	struct profile *p = small_profile(labels);
	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	r->receive(r, p, p->time_ns + RECEIVER_DEADLINE_NS);
	profile_unref(p);
	labels_unref(labels);
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_run_once(f->env.loop, 10), 0);
	r->stats(r, &stats);
	return stats;
}

static double metric(struct fixture *f, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf line = BUF_INIT(256);

	assert_int_equal(telemetry_text(f->env.telemetry, &text), 0);
	(void)buf_printf(&line,
			 "\npyroscope_relabel_profiles_%s{component_path=\"/"
			 "\",component_id=\"pyroscope.relabel.r\"} ",
			 name);
	const char *at = strstr(buf_str(&text), buf_str(&line));
	assert_non_null(at);
	return strtod(at + line.len, NULL);
}

#define RULE(text) "rule {\n" text "\n}\n"

static void servers_init(struct server servers[N_SERVERS], struct fixture *f)
{
	for (size_t i = 0; i < N_SERVERS; i++)
		server_init(&servers[i], f);
}

static void servers_fini(struct server servers[N_SERVERS])
{
	for (size_t i = 0; i < N_SERVERS; i++)
		http_server_free(servers[i].http);
}

static void test_other_labels(void **state)
{
	struct server servers[N_SERVERS];
	struct fixture *f = *state;

	servers_init(servers, f);
	load_rules(f, servers,
		   RULE("source_labels = [\"service_name\"]\ntarget_label = \"team\"\n"
			"replacement = \"of-$1\"")
			   RULE("action = \"labeldrop\"\nregex = \"region\""));
	/* What rules make one series has times of its own. */
	assert_int_equal(receiver_wants(receiver_of(f)),
			 PROFILE_WANT(FORM_PPROF) | PROFILE_WANT_APART);
	assert_int_equal(push(f, "web").sent_profiles, 2);
	for (size_t i = 0; i < N_SERVERS; i++) {
		assert_int_equal(servers[i].n_pushes, 1);
		assert_true(has(&servers[i], "of-web") && has(&servers[i], "process_cpu"));
		assert_false(has(&servers[i], "north"));
	}
	servers_fini(servers);
}

static void test_dropped(void **state)
{
	struct server servers[N_SERVERS];
	struct fixture *f = *state;

	servers_init(servers, f);
	load_rules(
		f, servers,
		RULE("source_labels = [\"service_name\"]\nregex = \"sh|bash\"\naction = \"drop\""));
	assert_int_equal(push(f, "bash").sent_profiles, 0);
	assert_int_equal(push(f, "web").sent_profiles, 2);
	assert_int_equal(metric(f, "processed"), 2);
	assert_int_equal(metric(f, "dropped"), 1);
	assert_int_equal(metric(f, "written"), 1);
	struct component *c = (struct component *)find(f, "pyroscope.relabel.r");
	c->kind->check(c);
	assert_string_equal(c->health.message, "1 profiles handed on, 1 dropped");
	/* Other rules take the place of these, and the receiver stays. */
	const struct receiver *before = receiver_of(f);
	load_rules(f, servers, RULE("action = \"labeldrop\"\nregex = \".*\""));
	assert_ptr_equal(receiver_of(f), before);
	assert_int_equal(push(f, "web").waiting_profiles, 0);
	assert_int_equal(metric(f, "dropped"), 2);
	servers_fini(servers);
}

/* Without rules all goes through; a server that is away keeps nothing from the other. */
static void test_one_fails(void **state)
{
	struct server servers[N_SERVERS];
	struct fixture *f = *state;

	servers_init(servers, f);
	servers[0].status = 503;
	load_rules(f, servers, "max_cache_size = 3\n");
	for (int i = 0; i < 3; i++)
		(void)push(f, "web");
	struct receiver_stats stats = push(f, "web");
	assert_int_equal(stats.sent_profiles, 4);
	assert_int_equal(stats.waiting_profiles, 4);
	assert_int_equal(servers[1].n_pushes, 4);
	assert_true(has(&servers[1], "north"));
	servers_fini(servers);
}

static void test_mistakes(void **state)
{
	static const char *const texts[] = {
		"pyroscope.relabel \"r\" { }",
		"pyroscope.relabel \"r\" {\nforward_to = [1]\n}",
		"pyroscope.relabel \"r\" {\nforward_to = []\nrule {\nregex = \"(\"\n}\n}",
		"pyroscope.relabel \"r\" {\nforward_to = []\nrule {\naction = \"x\"\n}\n}",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_not_equal(load(f, texts[i]), RIVER_OK);
	assert_loads(f, "pyroscope.relabel \"r\" {\nforward_to = []\n}");
	assert_int_equal(receiver_wants(receiver_of(f)), 0);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_other_labels),
	FIXTURE_TEST(test_dropped),
	FIXTURE_TEST(test_one_fails),
	FIXTURE_TEST(test_mistakes),
};

TEST_MAIN(tests)
