/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.store: one in all, answers while it runs, takes other bounds and another place without stopping. */
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <errno.h>
#include <unistd.h>

#include "agent/component/receiver.h"
#include "agent/component/receivers/pyroscope_store.h"
#include "agent/http/server.h"
#include "agent/util/clock.h"
#include "tests/support/small_profile.h"

#define STORE "pyroscope.store \"s\" { }\n"
/* One of the store's routes: there while it answers. */
#define ROUTE "/ready"

struct context {
	struct fixture *f;
	char dir[64];
};

static int setup_context(void **state)
{
	struct context *w = calloc(1, sizeof(*w));
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	void *fixture = NULL;

	assert_non_null(w);
	assert_int_equal(setup(&fixture), 0);
	w->f = fixture;
	temp_dir_make(w->dir);
	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(w->f->env.loop, &o, &w->f->env.server, error),
			 HTTP_LISTENING);
	w->f->env.storage_path = w->dir;
	*state = w;
	return 0;
}

static int teardown_context(void **state)
{
	struct context *w = *state;
	struct http_server *server = w->f->env.server;
	void *fixture = w->f;

	graph_free(w->f->graph);
	w->f->graph = NULL;
	http_server_free(server);
	(void)teardown(&fixture);
	(void)temp_dir_remove(w->dir);
	free(w);
	return 0;
}

static void run(struct context *w, const char *text)
{
	assert_loads(w->f, text);
	assert_int_equal(graph_run(w->f->graph, &w->f->messages), 0);
}

static void nothing(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)answer;
	(void)data;
}

static int add_route(const struct context *w)
{
	return http_server_add_route(
		w->f->env.server,
		&(struct http_route){ .method = "GET", .path = ROUTE, .fn = nothing });
}

static void remove_route(const struct context *w)
{
	http_server_remove_route(w->f->env.server, "GET", ROUTE, false);
}

static bool answers(const struct context *w)
{
	if (add_route(w) == -EEXIST)
		return true;
	remove_route(w);
	return false;
}

static struct receiver *receiver_of(const struct context *w, const char *id)
{
	const struct component *c = find(w->f, id);
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

/* Until the store has it. */
static void give_by(struct context *w, struct receiver *r, struct profile *p, uint64_t deadline_ns)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;
	struct receiver_stats stats;

	r->receive(r, p, deadline_ns);
	for (r->stats(r, &stats); stats.waiting_profiles > 0; r->stats(r, &stats)) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
	assert_int_equal(p->n_refs, 1);
	profile_unref(p);
}

static void give(struct context *w, struct receiver *r, struct profile *p)
{
	give_by(w, r, p, p->time_ns + RECEIVER_DEADLINE_NS);
}

/* A server's store refuses one without a name. */
static struct profile *profile_with(bool name)
{
	const struct label items[] = { { "service_name", "s" }, { "__name__", "process_cpu" } };
	struct labels *labels = NULL;

	assert_int_equal(labels_new(items, name ? 2 : 1, &labels), 0);
	struct profile *p = small_profile(labels);
	labels_unref(labels);
	return p;
}

static void give_profile(struct context *w, struct receiver *r)
{
	give(w, r, profile_with(true));
}

/* One whose tables found no room comes as bytes. */
static void give_bytes(struct context *w, struct receiver *r)
{
	struct profile *p = profile_with(true);

	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	profile_drop_tables(p);
	give(w, r, p);
}

static struct store_status status_of(const struct context *w, const char *id)
{
	struct store_status status;

	assert_true(pyroscope_store_status(find(w->f, id), &status));
	return status;
}

/* Files are read while everything else goes on. */
static void wait_profiles(struct context *w, uint64_t n)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (status_of(w, "pyroscope.store.s").stats.n_profiles != n) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
}

static const char *message_of(const struct context *w, const char *id)
{
	graph_check(w->f->graph);
	return find(w->f, id)->health.message;
}

static void test_keeps_and_refuses(void **state)
{
	struct context *w = *state;
	struct receiver_stats stats;
	struct receiver *r;

	run(w, STORE);
	r = receiver_of(w, "pyroscope.store.s");
	assert_int_equal(r->wants, PROFILE_WANT_TABLES);
	give_profile(w, r);
	give(w, r, profile_with(false));
	r->stats(r, &stats);
	assert_int_equal(stats.sent_profiles, 1);
	assert_int_equal(stats.dropped_profiles, 1);
	assert_int_equal(stats.waiting_profiles, 0);
	assert_true(stats.sent_bytes > 0);
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
	assert_non_null(strstr(message_of(w, "pyroscope.store.s"), "1 profile in "));
	assert_non_null(strstr(message_of(w, "pyroscope.store.s"), "; 1 refused, the last: "));
	assert_null(strstr(message_of(w, "pyroscope.store.s"), "everybody"));
}

static void test_keeps_what_comes_as_bytes(void **state)
{
	struct context *w = *state;

	run(w, STORE);
	give_bytes(w, receiver_of(w, "pyroscope.store.s"));
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
}

static bool has_metric(const struct context *w, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 << 20);

	assert_int_equal(telemetry_text(w->f->env.telemetry, &out), 0);
	return strstr(buf_str(&out), text);
}

#define REFUSED(reason, n)                                                                \
	"xagent_store_refused_profiles_total{reason=\"" reason "\",component_path=\"/\"," \
	"component_id=\"pyroscope.store.s\"} " n "\n"

static void test_deadline(void **state)
{
	struct context *w = *state;
	struct receiver_stats stats;
	struct receiver *r;

	run(w, STORE);
	r = receiver_of(w, "pyroscope.store.s");
	give_by(w, r, profile_with(true), clock_real_ns() - 1);
	r->stats(r, &stats);
	assert_int_equal(stats.dropped_profiles, 1);
	assert_int_equal(stats.sent_profiles, 0);
	assert_true(has_metric(w, REFUSED("too_late", "1")));
}

/* The loop gives and never waits: nothing comes in before it goes on, and what finds no room is counted. */
static void test_waiting_has_a_ceiling(void **state)
{
	struct context *w = *state;
	struct profile *p = profile_with(true);
	size_t n_bytes = profile_memory_bytes(p);
	struct receiver_stats stats;
	struct receiver *r;
	uint64_t n = 0;

	run(w, STORE);
	r = receiver_of(w, "pyroscope.store.s");
	do {
		r->receive(r, p, UINT64_MAX);
		r->stats(r, &stats);
		n++;
	} while (stats.dropped_profiles == 0 && n * n_bytes < ((size_t)16 << 20));
	assert_int_equal(stats.sent_profiles, 0);
	assert_int_equal(stats.dropped_profiles, 1);
	assert_true(stats.waiting_bytes <= (size_t)8 << 20);
	assert_true(stats.waiting_bytes + n_bytes > (size_t)8 << 20);
	assert_true(has_metric(w, REFUSED("queue_full", "1")));
	give(w, r, p);
	r->stats(r, &stats);
	assert_int_equal(stats.sent_profiles + stats.dropped_profiles, n + 1);
}

static void test_answers_while_it_runs(void **state)
{
	struct context *w = *state;

	assert_loads(w->f, STORE);
	assert_false(answers(w));
	assert_int_equal(graph_run(w->f->graph, &w->f->messages), 0);
	assert_true(answers(w));
	assert_loads(w->f, LOGGING);
	assert_false(answers(w));
}

static void test_runs_without_a_server(void **state)
{
	struct context *w = *state;
	struct http_server *server = w->f->env.server;

	w->f->env.server = NULL;
	run(w, STORE);
	give_profile(w, receiver_of(w, "pyroscope.store.s"));
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
	assert_loads(w->f, LOGGING);
	w->f->env.server = server;
}

static const struct row {
	const char *name, *text;
} second[] = {
	{ "beside", STORE "pyroscope.store \"t\" { }\n" },
	{ "in a module", STORE "declare \"d\" {\n\tpyroscope.store \"t\" { }\n}\nd \"x\" { }\n" },
	{ "in two modules",
	  "declare \"d\" {\n\tpyroscope.store \"t\" { }\n}\nd \"x\" { }\nd \"y\" { }\n" },
};

static void test_second(void **state)
{
	const struct row *row = *state;
	struct context *w;
	void *place = NULL;

	assert_int_equal(setup_context(&place), 0);
	w = place;
	assert_int_equal(load(w->f, row->text), RIVER_INVALID);
	assert_non_null(
		strstr(buf_str(&w->f->messages), "there may be one pyroscope.store in all"));
	assert_loads(w->f, "declare \"d\" {\n\tpyroscope.store \"t\" { }\n}\nd \"x\" { }\n");
	(void)teardown_context(&place);
}

static void test_bounds_change_live(void **state)
{
	struct context *w = *state;
	struct receiver *r;

	run(w, STORE);
	r = receiver_of(w, "pyroscope.store.s");
	give_profile(w, r);
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.max_bytes, 64 << 20);
	run(w, "pyroscope.store \"s\" {\n\tmax_bytes = \"8MiB\"\n\tmax_age = \"1h\"\n}\n");
	assert_ptr_equal(receiver_of(w, "pyroscope.store.s"), r);
	const struct store_status status = status_of(w, "pyroscope.store.s");
	assert_int_equal(status.stats.max_bytes, 8 << 20);
	assert_int_equal(status.stats.n_profiles, 1);
	assert_int_equal(status.max_age_ns, 3600 * NS_PER_S);
	assert_true(answers(w));
}

#define WITH_PATH(path) "pyroscope.store \"s\" {\n\tpath = \"" path "\"\n}\n"

static bool exists(const struct context *w, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	return access(path, F_OK) == 0;
}

static void test_is_found_again(void **state)
{
	struct context *w = *state;

	assert_loads(w->f, WITH_PATH("kept"));
	assert_false(exists(w, "kept"));
	assert_int_equal(graph_run(w->f->graph, &w->f->messages), 0);
	assert_true(exists(w, "kept"));
	give_profile(w, receiver_of(w, "pyroscope.store.s"));
	assert_loads(w->f, LOGGING);
	run(w, WITH_PATH("kept"));
	wait_profiles(w, 1);
	/* Another place is another store, and the first one is still there. */
	run(w, WITH_PATH("other"));
	assert_true(answers(w));
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 0);
	run(w, WITH_PATH("kept"));
	wait_profiles(w, 1);
}

/* No directory can be made there: what runs goes on. */
static void test_place_that_cannot_be(void **state)
{
	struct context *w = *state;

	run(w, STORE);
	give_profile(w, receiver_of(w, "pyroscope.store.s"));
	run(w, WITH_PATH("/proc/none"));
	assert_int_equal(find(w->f, "pyroscope.store.s")->health.state, HEALTH_UNHEALTHY);
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
	assert_true(answers(w));
	/* From the beginning it is a reason not to begin. */
	assert_loads(w->f, LOGGING);
	assert_loads(w->f, WITH_PATH("/proc/none"));
	assert_true(graph_run(w->f->graph, &w->f->messages) < 0);
	assert_non_null(strstr(buf_str(&w->f->messages), "pyroscope.store.s: "));
	assert_false(answers(w));
}

/* The one before it has not ended yet. */
static void test_waits_for_its_place(void **state)
{
	struct context *w = *state;
	struct receiver_stats stats;
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	assert_int_equal(add_route(w), 0);
	run(w, STORE);
	assert_int_equal(find(w->f, "pyroscope.store.s")->health.state, HEALTH_UNHEALTHY);
	assert_non_null(strstr(message_of(w, "pyroscope.store.s"), "another pyroscope.store"));
	give_profile(w, receiver_of(w, "pyroscope.store.s"));
	receiver_of(w, "pyroscope.store.s")->stats(receiver_of(w, "pyroscope.store.s"), &stats);
	assert_int_equal(stats.dropped_profiles, 1);
	/* Other bounds meanwhile. */
	run(w, "pyroscope.store \"s\" {\n\tmax_bytes = \"8MiB\"\n}\n");
	remove_route(w);
	while (find(w->f, "pyroscope.store.s")->health.state != HEALTH_HEALTHY) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.max_bytes, 8 << 20);
}

static void test_tells_about_itself(void **state)
{
	struct context *w = *state;
	const struct river_value *info = NULL;
	const struct component *c;
	struct river_arena arena;

	run(w, STORE);
	give_profile(w, receiver_of(w, "pyroscope.store.s"));
	c = find(w->f, "pyroscope.store.s");
	river_arena_init(&arena, 65536);
	assert_int_equal(c->kind->debug_info((struct component *)c, &arena, &info), 0);
	assert_int_equal(river_value_get_int(river_value_find(info, "profiles")), 1);
	assert_int_equal(river_value_get_int(river_value_find(info, "max_bytes")), 64 << 20);
	assert_true(river_value_get_int(river_value_find(info, "newest")) > 0);
	assert_string_equal(river_value_get_string(river_value_find(info, "max_age"), NULL),
			    "6h0m0s");
	river_arena_fini(&arena);
}

/* ---- from outside ---- */

static struct profile *foreign(const void *bytes, size_t n)
{
	const struct label items[] = { { "__name__", "process_cpu" }, { "service_name", "s" } };
	struct shared_bytes *shared = NULL;
	struct labels *labels = NULL;
	struct profile *p = NULL;
	uint8_t *copy = malloc(n);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	assert_int_equal(shared_bytes_new(copy, n, &shared), 0);
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	assert_int_equal(profile_of_pprof(shared, labels, clock_real_ns(), &p), 0);
	shared_bytes_unref(shared);
	labels_unref(labels);
	return p;
}

static struct profile *foreign_profile(void)
{
	struct profile *own = small_profile(NULL), *p;

	assert_int_equal(profile_make(own, FORM_PPROF), 0);
	const struct shared_bytes *bytes = profile_form(own, FORM_PPROF);
	p = foreign(bytes->data, bytes->n);
	profile_unref(own);
	return p;
}

static void test_checks_what_is_foreign(void **state)
{
	struct context *w = *state;
	struct receiver_stats stats;

	run(w, STORE);
	struct receiver *r = receiver_of(w, "pyroscope.store.s");
	give_by(w, r, foreign_profile(), 0);
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
	give_by(w, r, foreign("nonsense", 8), 0);
	r->stats(r, &stats);
	assert_int_equal(stats.sent_profiles, 1);
	assert_int_equal(stats.dropped_profiles, 1);
	assert_true(has_metric(w, REFUSED("malformed_profile", "1")));
}

/* However many of these wait: there is room for this agent's own. */
static void test_foreign_have_room_of_their_own(void **state)
{
	struct context *w = *state;
	struct receiver_stats stats;
	size_t n = (size_t)1 << 20;
	char *bytes = calloc(1, n);

	run(w, STORE);
	struct receiver *r = receiver_of(w, "pyroscope.store.s");
	assert_true(r->has_room(r, n));
	for (int i = 0; i < 8; i++) {
		struct profile *p = foreign(bytes, n);

		r->receive(r, p, 0);
		profile_unref(p);
	}
	free(bytes);
	assert_false(r->has_room(r, n));
	r->stats(r, &stats);
	assert_int_equal(stats.waiting_profiles, 3);
	assert_int_equal(stats.dropped_profiles, 5);
	give_profile(w, r);
	assert_int_equal(status_of(w, "pyroscope.store.s").stats.n_profiles, 1);
	assert_true(r->has_room(r, n));
}

static const struct unit_test tests[] = {
	TEST_WITH(test_keeps_and_refuses, setup_context, teardown_context),
	TEST_WITH(test_keeps_what_comes_as_bytes, setup_context, teardown_context),
	TEST_WITH(test_deadline, setup_context, teardown_context),
	TEST_WITH(test_waiting_has_a_ceiling, setup_context, teardown_context),
	TEST_WITH(test_answers_while_it_runs, setup_context, teardown_context),
	TEST_WITH(test_runs_without_a_server, setup_context, teardown_context),
	TEST_WITH(test_bounds_change_live, setup_context, teardown_context),
	TEST_WITH(test_is_found_again, setup_context, teardown_context),
	TEST_WITH(test_place_that_cannot_be, setup_context, teardown_context),
	TEST_WITH(test_waits_for_its_place, setup_context, teardown_context),
	TEST_WITH(test_checks_what_is_foreign, setup_context, teardown_context),
	TEST_WITH(test_foreign_have_room_of_their_own, setup_context, teardown_context),
	TEST_WITH(test_tells_about_itself, setup_context, teardown_context),
	TEST_ROWS(test_second, second, name),
};

TEST_MAIN(tests)
