/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.write with a server of our own: what is queued survives reloads and the end, and sums only grow. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/receiver.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "tests/support/small_profile.h"

struct server {
	struct fixture *f;
	struct http_server *http;
	unsigned int n_pushes;
	const struct http_call *under_way;
	bool reload; /* within the answer */
};

static void write_config(const struct server *s, const char *name, struct buf *text)
{
	(void)buf_printf(text,
			 "pyroscope.write \"w\" { endpoint {\nurl = \"http://127.0.0.1:%u\"\nname "
			 "= \"%s\"\n} }",
			 http_server_port(s->http), name);
}

static void load_named(struct server *s, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	write_config(s, name, &text);
	assert_loads(s->f, buf_str(&text));
	assert_int_equal(graph_run(s->f->graph, &s->f->messages), 0);
}

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct server *s = data;

	/* The loop is not run from within a reload, so nobody comes in while we are here. */
	assert_null(s->under_way);
	s->under_way = call;
	s->n_pushes++;
	answer->content_type = "application/proto";
	if (s->reload) {
		s->reload = false;
		load_named(s, "reloaded");
	}
	s->under_way = NULL;
}

static void server_init(struct server *s, struct fixture *f)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	*s = (struct server){ .f = f };
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

/* What others get as pyroscope.write.w.receiver. */
static struct receiver *receiver_of(const struct fixture *f)
{
	const struct component *c = find(f, "pyroscope.write.w");
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

static void push_one(struct receiver *r, bool encoded)
{
	const struct label items[] = { { "service_name", "s" } };
	struct labels *labels = NULL;

	assert_int_equal(labels_new(items, 1, &labels), 0);
	struct profile *p = small_profile(labels);
	assert_int_equal(encoded ? profile_make(p, FORM_PPROF) : 0, 0);
	r->receive(r, p, p->time_ns + RECEIVER_DEADLINE_NS);
	profile_unref(p);
	labels_unref(labels);
}

static void push(struct receiver *r)
{
	push_one(r, true);
}

static struct receiver_stats stats_of(const struct receiver *r)
{
	struct receiver_stats stats;

	r->stats(r, &stats);
	return stats;
}

/* Until so many have been accepted; a test that takes 10 s has failed. */
static void wait_sent(struct fixture *f, const struct receiver *r, uint64_t n)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (stats_of(r).sent_profiles < n) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
	}
}

static void test_sums_survive_reloads(void **state)
{
	struct fixture *f = *state;
	struct receiver *r;
	struct server s;

	server_init(&s, f);
	load_named(&s, "a");
	r = receiver_of(f);
	push(r);
	assert_int_equal(stats_of(r).waiting_profiles, 1);
	wait_sent(f, r, 1);
	/* One that has ended, one that is about to, and one that begins. */
	load_named(&s, "b");
	assert_ptr_equal(receiver_of(f), r);
	assert_int_equal(stats_of(r).sent_profiles, 1);
	push(r);
	load_named(&s, "c");
	push(r);
	assert_int_equal(stats_of(r).waiting_profiles, 2);
	wait_sent(f, r, 3);
	assert_int_equal(stats_of(r).waiting_profiles, 0);
	assert_int_equal(stats_of(r).dropped_profiles, 0);
	assert_int_equal(s.n_pushes, 3);
	http_server_free(s.http);
}

static void test_nothing_is_lost_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct server s;

	server_init(&s, f);
	load_named(&s, "a");
	push(receiver_of(f));
	load_named(&s, "b");
	push(receiver_of(f));
	/* Gone from the configuration with something queued. */
	assert_loads(f, LOGGING);
	assert_int_equal(s.n_pushes, 0);
	graph_free(f->graph);
	f->graph = NULL;
	assert_int_equal(s.n_pushes, 2);
	http_server_free(s.http);
}

/* A load may come from a request; the server must not be entered again while it answers. */
static void test_reload_from_within_the_server(void **state)
{
	struct fixture *f = *state;
	struct receiver *r;
	struct server s;

	server_init(&s, f);
	load_named(&s, "a");
	r = receiver_of(f);
	s.reload = true;
	push(r);
	push(r);
	wait_sent(f, r, 2);
	assert_false(s.reload);
	assert_int_equal(s.n_pushes, 2);
	http_server_free(s.http);
}

/* Nobody makes bytes for who sends them nowhere. */
static void test_wants_bytes_for_endpoints(void **state)
{
	struct fixture *f = *state;
	struct receiver *r;
	struct server s;

	server_init(&s, f);
	assert_loads(f, "pyroscope.write \"w\" { }");
	r = receiver_of(f);
	assert_int_equal(r->wants, 0);
	push(r);
	load_named(&s, "a");
	assert_ptr_equal(receiver_of(f), r);
	assert_int_equal(r->wants, PROFILE_WANT(FORM_PPROF));
	/* Made when nobody wanted bytes: it is counted, and the loop encodes nothing. */
	push_one(r, false);
	assert_int_equal(stats_of(r).dropped_profiles, 1);
	push(r);
	wait_sent(f, r, 1);
	assert_int_equal(s.n_pushes, 1);
	http_server_free(s.http);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_sums_survive_reloads),
	FIXTURE_TEST(test_nothing_is_lost_at_the_end),
	FIXTURE_TEST(test_reload_from_within_the_server),
	FIXTURE_TEST(test_wants_bytes_for_endpoints),
};

TEST_MAIN(tests)
