/* SPDX-License-Identifier: Apache-2.0 */
/* The life of components in their graph: loads, reloads, exports that change. With kinds of our own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define CAPSULE "TestReceiver"

struct fixture {
	struct component_env env;
	struct graph *graph;
	struct buf events; /* "build a, run a, " */
	struct buf errors;
	const char *fail_run; /* labels */
	const char *later;
	const char *load_in_update;
	const char *dirty_in_update; /* its update marks the exports of `other` */
	const char *dirty_in_run;    /* its run marks its own */
	const char *seen_in_update;
	const char *rest_in_stop;
	struct component *other;
	bool seen_changes;
	int nested_load;
	int n_abandoned;
};

static struct fixture *fixture_of(const struct component *c)
{
	return CONTAINER_OF((struct component_env *)c->env, struct fixture, env);
}

static bool is(const struct component *c, const char *label)
{
	return label && strcmp(c->label, label) == 0;
}

static void note(const struct component *c, const char *what)
{
	(void)buf_printf(&fixture_of(c)->events, "%s %s, ", what, c->label);
}

struct any_args {
	const char *text;
	struct river_capsules to;
	bool fail_build, fail_update;
};

/* What others point to. */
struct any {
	const struct any_args *args;
	uint64_t n_received;
	char exported[64];
};

static const struct river_field any_fields[] = {
	RIVER_FIELD_STRING(struct any_args, text, "text"),
	RIVER_FIELD_CAPSULE_LIST(struct any_args, to, "to", CAPSULE),
	RIVER_FIELD_BOOL(struct any_args, fail_build, "fail_build"),
	RIVER_FIELD_BOOL(struct any_args, fail_update, "fail_update"),
};

static const struct river_schema any_schema = RIVER_SCHEMA(struct any_args, "test.any", any_fields);

static void export_text(struct any *a, const char *text)
{
	(void)snprintf(a->exported, sizeof(a->exported), "%s", text);
}

static int any_build(struct component *c, const void *args, struct buf *why)
{
	struct any *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	note(c, "build");
	a->args = args;
	export_text(a, a->args->text);
	c->state = a;
	if (!a->args->fail_build)
		return 0;
	(void)buf_append_str(why, "it was told to");
	return -EIO;
}

static int any_run(struct component *c, struct buf *why)
{
	struct fixture *f = fixture_of(c);
	struct any *a = c->state;

	if (is(c, f->fail_run)) {
		(void)buf_append_str(why, "no");
		return -EPERM;
	}
	(void)buf_printf(&f->events, "run %s(%s), ", c->label, a->args->text);
	component_set_health(c, HEALTH_HEALTHY, "fine");
	if (is(c, f->dirty_in_run)) {
		export_text(a, "running");
		component_exports_changed(c);
	}
	return 0;
}

static bool see_process(struct fixture *f)
{
	struct process p = { .pid = 7 };

	return graph_process_seen(f->graph, NULL, &p);
}

static void load_again(struct component *c)
{
	struct fixture *f = fixture_of(c);
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)1 << 20);
	river_diags_init(&diags, &arena);
	f->nested_load = graph_load(f->graph, NULL, 0, &diags);
	river_arena_fini(&arena);
}

static void disturb(struct component *c)
{
	struct fixture *f = fixture_of(c);

	if (is(c, f->load_in_update))
		load_again(c);
	if (is(c, f->dirty_in_update)) {
		f->dirty_in_update = NULL;
		export_text(f->other->state, "late");
		component_exports_changed(f->other);
	}
	if (is(c, f->seen_in_update)) {
		f->seen_in_update = NULL;
		assert_true(see_process(f));
	}
}

static int any_update(struct component *c, const void *new_args, struct buf *why)
{
	struct fixture *f = fixture_of(c);
	const struct any_args *args = new_args;
	struct any *a = c->state;

	(void)why;
	(void)buf_printf(&f->events, "update %s(%s), ", c->label, args->text);
	if (args->fail_update)
		return -EIO;
	if (is(c, f->later)) {
		f->later = NULL;
		return COMPONENT_LATER;
	}
	a->args = args;
	disturb(c);
	if (strcmp(a->exported, args->text) != 0) {
		export_text(a, args->text);
		component_exports_changed(c);
	}
	return 0;
}

struct any_rest {
	struct deferred_cleanup rest;
	struct fixture *f;
	struct loop_timer *timer;
};

static void on_rest(void *data)
{
	struct any_rest *r = data;

	(void)buf_printf(&r->f->events, "rest of %zu, ", graph_n(r->f->graph));
	deferred_cleanup_done(&r->rest);
	loop_timer_free(r->timer);
	free(r);
}

static void abandon(struct deferred_cleanup *rest)
{
	struct any_rest *r = CONTAINER_OF(rest, struct any_rest, rest);

	r->f->n_abandoned++;
	loop_timer_free(r->timer);
	free(r);
}

static void leave_rest(struct component *c)
{
	struct any_rest *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	*r = (struct any_rest){ .rest.abandon = abandon, .f = fixture_of(c) };
	assert_int_equal(loop_timer_new(c->env->loop, on_rest, r, &r->timer), 0);
	loop_timer_arm(r->timer, clock_mono_ns() + 20 * NS_PER_MS);
	component_defer_cleanup(c, &r->rest);
}

/* Hands on what it has left, as a real one does: its receivers must still be there. */
static void any_send(struct component *c)
{
	struct any *a = c->state;

	for (size_t i = 0; i < a->args->to.n_items; i++)
		((struct any *)a->args->to.items[i])->n_received++;
}

static void any_stop(struct component *c)
{
	note(c, "stop");
	any_send(c);
	if (is(c, fixture_of(c)->rest_in_stop))
		leave_rest(c);
	free(c->state);
	c->state = NULL;
}

static int any_exports(struct component *c, struct river_arena *arena,
		       const struct river_value **ret_exports)
{
	struct any *a = c->state;
	struct river_member members[] = {
		{ "receiver", river_value_capsule(arena, CAPSULE, a) },
		{ "text", river_value_string(arena, a->exported, strlen(a->exported)) },
	};

	*ret_exports = river_value_object(arena, members, ARRAY_SIZE(members));
	return 0;
}

static bool any_seen(struct component *c, struct process_table *processes, struct process *p)
{
	struct fixture *f = fixture_of(c);

	assert_null(processes);
	assert_int_equal(p->pid, 7);
	if (!f->seen_changes || c != f->other)
		return false;
	export_text(c->state, "seen");
	return true;
}

static void any_gone(struct component *c, uint32_t pid)
{
	assert_int_equal(pid, 8);
	note(c, "gone");
}

static const struct component_kind any_kind = {
	.name = "test.any",
	.schema = &any_schema,
	.wants_label = true,
	.build = any_build,
	.run = any_run,
	.update = any_update,
	.stop = any_stop,
	.exports = any_exports,
	.process_seen = any_seen,
	.process_gone = any_gone,
};

const struct component_kind *component_kind_find(const char *name)
{
	return strcmp(name, any_kind.name) == 0 ? &any_kind : NULL;
}

const char *component_kind_suggest(const char *name)
{
	(void)name;
	return NULL;
}

static void set_up(struct fixture *f)
{
	buf_init(&f->events, (size_t)1 << 20);
	buf_init(&f->errors, (size_t)1 << 20);
	f->env.hostname = "h";
	assert_int_equal(loop_new(&f->env.loop), 0);
	assert_int_equal(graph_new(&f->env, &f->graph), 0);
}

static void tear_down(struct fixture *f)
{
	graph_free(f->graph);
	assert_int_equal(f->n_abandoned, 0);
	loop_free(f->env.loop);
	buf_fini(&f->events);
	buf_fini(&f->errors);
}

FIXTURE(struct fixture, set_up, tear_down)

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static int load(struct fixture *f, const char *text)
{
	struct river_source source = { .file = "a", .text = text, .len = strlen(text) };
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)16 << 20);
	river_diags_init(&diags, &arena);
	buf_reset(&f->errors);
	int r = graph_load(f->graph, &source, 1, &diags);
	for (size_t i = 0; i < diags.n_items; i++) {
		river_diag_write(&diags.items[i], write_buf, &f->errors);
		(void)buf_append_char(&f->errors, '\n');
	}
	river_arena_fini(&arena);
	return r;
}

static void run(struct fixture *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(graph_run(f->graph, &why), 0);
	assert_string_equal(buf_str(&why), "");
}

static void load_and_run(struct fixture *f, const char *text)
{
	assert_int_equal(load(f, text), RIVER_OK);
	run(f);
}

static void assert_events(struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->events), expected);
	buf_reset(&f->events);
}

static struct component *find(struct fixture *f, const char *label)
{
	for (size_t i = 0; i < graph_n(f->graph); i++)
		if (strcmp(graph_component(f->graph, i)->label, label) == 0)
			return (struct component *)graph_component(f->graph, i);
	fail_msg("no component %s", label);
	return NULL;
}

/* A round of the loop, in which the settle timer fires if it is armed. */
static void spin(struct fixture *f)
{
	assert_int_equal(loop_run_once(f->env.loop, 0), 0);
}

#define SINK \
	"test.any \"sink\" {\n text = test.any.source.text\n to = [test.any.source.receiver]\n}\n"
#define SOURCE(text) "test.any \"source\" { text = \"" text "\" }\n"

static void test_order_and_life(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1"));
	assert_events(f, "build source, build sink, run source(1), run sink(1), ");
	assert_string_equal(graph_component(f->graph, 0)->id, "test.any.source");
	graph_process_gone(f->graph, 8);
	assert_events(f, "gone source, gone sink, ");
	graph_free(f->graph);
	f->graph = NULL;
	assert_events(f, "stop sink, stop source, ");
}

static void test_unchanged_is_not_touched(void **state)
{
	struct fixture *f = *state;
	void *before[2];

	load_and_run(f, SINK SOURCE("1"));
	before[0] = find(f, "source")->state;
	before[1] = find(f, "sink")->state;
	buf_reset(&f->events);
	/* Other text, same meaning, other order. */
	load_and_run(f, "// comment\n" SOURCE("1") "\n\n" SINK);
	assert_events(f, "");
	assert_ptr_equal(find(f, "source")->state, before[0]);
	assert_ptr_equal(find(f, "sink")->state, before[1]);
}

static void test_changed_added_removed(void **state)
{
	struct fixture *f = *state;
	void *source;

	load_and_run(f, SINK SOURCE("1") "test.any \"old\" { to = [test.any.source.receiver] }\n");
	source = find(f, "source")->state;
	buf_reset(&f->events);
	load_and_run(f, SOURCE("2") "test.any \"new\" { text = test.any.source.text }\n");
	assert_ptr_equal(find(f, "source")->state, source);
	assert_int_equal(graph_n(f->graph), 2);
	/* What depends is evaluated with what the source exported before; the new text comes before it begins. */
	assert_events(
		f, "build new, update source(2), stop old, stop sink, update new(2), run new(2), ");
}

static void test_a_load_is_all_or_nothing(void **state)
{
	struct fixture *f = *state;
	void *sink;

	load_and_run(f, SINK SOURCE("1"));
	sink = find(f, "sink")->state;
	buf_reset(&f->events);
	assert_int_equal(
		load(f, SOURCE("2") "test.any \"new\" { }\n"
				    "test.any \"sink\" {\n text = test.any.new.text\n to = 1\n}"),
		RIVER_INVALID);
	assert_events(f, "build new, stop new, ");
	assert_ptr_equal(find(f, "sink")->state, sink);
	assert_int_equal(graph_n(f->graph), 2);
	/* Edges are those of the configuration that runs. */
	export_text(find(f, "source")->state, "x");
	component_exports_changed(find(f, "source"));
	spin(f);
	assert_events(f, "update sink(x), ");
	assert_int_equal(load(f, SINK), RIVER_INVALID);
	assert_int_equal(load(f, "test.any \"sink\" {"), RIVER_INVALID);
	export_text(find(f, "source")->state, "y");
	component_exports_changed(find(f, "source"));
	spin(f);
	assert_events(f, "update sink(y), ");
}

static void test_build_that_fails(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "test.any \"a\" { fail_build = true }\ntest.any \"b\" { text = "
				 "test.any.a.text }"),
			 RIVER_INVALID);
	assert_string_equal(buf_str(&f->errors),
			    "a:1:1: Failed to build component: it was told to\n");
	assert_events(f, "build a, stop a, ");
	assert_int_equal(graph_n(f->graph), 0);
	load_and_run(f, SOURCE("1"));
}

static void test_exports_change_once(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, "test.any \"a\" { text = \"a\" }\ntest.any \"b\" { text = \"b\" }\n"
			"test.any \"sink\" { text = test.any.a.text + test.any.b.text }\n");
	buf_reset(&f->events);
	export_text(find(f, "a")->state, "1");
	export_text(find(f, "b")->state, "2");
	component_exports_changed(find(f, "a"));
	component_exports_changed(find(f, "b"));
	component_exports_changed(find(f, "a"));
	assert_events(f, "");
	spin(f);
	assert_events(f, "update sink(12), ");
	spin(f);
	/* Said to have changed, and the same: nobody is disturbed. */
	component_exports_changed(find(f, "a"));
	spin(f);
	assert_events(f, "");
}

static void test_exports_change_along_a_chain(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, "test.any \"sink\" { text = test.any.relay.text }\n"
			"test.any \"relay\" { text = test.any.source.text }\n" SOURCE("1"));
	buf_reset(&f->events);
	export_text(find(f, "source")->state, "2");
	component_exports_changed(find(f, "source"));
	spin(f);
	assert_events(f, "update relay(2), update sink(2), ");
}

/* While a dependant is updated, what it depends on changes again. */
static void test_a_change_during_a_pass_is_not_lost(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1"));
	buf_reset(&f->events);
	f->other = find(f, "source");
	f->dirty_in_update = "sink";
	export_text(f->other->state, "2");
	component_exports_changed(f->other);
	spin(f);
	assert_events(f, "update sink(2), ");
	spin(f);
	assert_events(f, "update sink(late), ");
}

/* The same while a configuration is taken. */
static void test_a_change_during_a_load_is_not_lost(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1") "test.any \"x\" { text = \"1\" }\n");
	buf_reset(&f->events);
	f->other = find(f, "source");
	f->dirty_in_update = "x";
	assert_int_equal(load(f, SINK SOURCE("1") "test.any \"x\" { text = \"2\" }\n"), RIVER_OK);
	assert_events(f, "update x(2), ");
	spin(f);
	assert_events(f, "update sink(late), ");
}

static void test_process_seen(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1"));
	buf_reset(&f->events);
	f->other = find(f, "source");
	assert_false(see_process(f));
	f->seen_changes = true;
	assert_true(see_process(f));
	/* With all others that come within the next seconds, or when somebody wants to know. */
	spin(f);
	assert_events(f, "");
	graph_settle_for(find(f, "sink"));
	assert_events(f, "update sink(seen), ");
	graph_settle_for(find(f, "sink"));
	assert_events(f, "");
}

/* A session that is being updated takes samples, too. */
static void test_process_seen_during_a_pass_is_not_lost(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1") "test.any \"x\" { text = \"1\" }\n");
	buf_reset(&f->events);
	f->other = find(f, "source");
	f->seen_changes = true;
	f->seen_in_update = "x";
	assert_int_equal(load(f, SINK SOURCE("1") "test.any \"x\" { text = \"2\" }\n"), RIVER_OK);
	assert_events(f, "update x(2), ");
	spin(f);
	assert_events(f, "update sink(seen), ");
}

/* Otherwise a profiler would begin with no targets and warn that nothing is profiled. */
static void test_exports_of_run_come_before_dependants_run(void **state)
{
	struct fixture *f = *state;

	f->dirty_in_run = "source";
	load_and_run(f, SINK SOURCE("1"));
	assert_events(f, "build source, build sink, run source(1), update sink(running), run "
			 "sink(running), ");
	spin(f);
	assert_events(f, "");
}

/* The same for one that runs already and now depends on one that is new; what it had before stays until then. */
static void test_exports_of_run_come_before_an_update(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, "test.any \"old\" { }\n"
			"test.any \"sink\" {\n text = \"x\"\n to = [test.any.old.receiver]\n}\n");
	buf_reset(&f->events);
	f->dirty_in_run = "source";
	load_and_run(f, SINK SOURCE("1"));
	assert_events(f, "build source, run source(1), update sink(running), stop old, ");
	spin(f);
	assert_events(f, "");
}

static void test_run_that_fails(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(load(f, "test.any \"a\" { }\ntest.any \"b\" { }\n"), RIVER_OK);
	buf_reset(&f->events);
	f->fail_run = "a";
	assert_int_equal(graph_run(f->graph, &why), -EPERM);
	assert_string_equal(buf_str(&why), "test.any.a: no");
	assert_events(f, "run b(), ");
	assert_int_equal(find(f, "a")->health.state, HEALTH_EXITED);
	assert_string_equal(find(f, "a")->health.message, "no");
	assert_int_equal(find(f, "b")->health.state, HEALTH_HEALTHY);
	f->fail_run = NULL;
	run(f);
	assert_events(f, "run a(), ");
	assert_int_equal(find(f, "a")->health.state, HEALTH_HEALTHY);
}

/* The sink keeps its old arguments, which name a receiver that the new configuration does not have. */
static void test_update_that_fails_keeps_what_it_needs(void **state)
{
	struct fixture *f = *state;
	struct any *source;

	load_and_run(f, SINK SOURCE("1"));
	source = find(f, "source")->state;
	buf_reset(&f->events);
	assert_int_equal(load(f, "test.any \"sink\" {\n text = \"2\"\n fail_update = true\n}"),
			 RIVER_OK);
	assert_events(f, "update sink(2), ");
	assert_int_equal(graph_n(f->graph), 1);
	assert_int_equal(find(f, "sink")->health.state, HEALTH_UNHEALTHY);
	any_send(find(f, "sink"));
	assert_int_equal(source->n_received, 1);
	/* The same id again is another component. */
	assert_int_equal(
		load(f, SOURCE("3") "test.any \"sink\" {\n text = \"2\"\n fail_update = true\n}"),
		RIVER_OK);
	any_send(find(f, "sink"));
	assert_int_equal(source->n_received, 2);
	buf_reset(&f->events);
	assert_int_equal(load(f, "test.any \"sink\" { text = \"4\" }"), RIVER_OK);
	assert_events(f, "update sink(4), stop source, stop source, ");
	any_send(find(f, "sink"));
}

static void test_update_that_fails_until_the_end(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1"));
	assert_int_equal(load(f, "test.any \"sink\" {\n text = \"2\"\n fail_update = true\n}"),
			 RIVER_OK);
	buf_reset(&f->events);
	graph_free(f->graph);
	f->graph = NULL;
	assert_events(f, "stop sink, stop source, ");
}

static void test_update_later(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SINK SOURCE("1"));
	buf_reset(&f->events);
	f->later = "sink";
	export_text(find(f, "source")->state, "2");
	component_exports_changed(find(f, "source"));
	spin(f);
	assert_events(f, "update sink(2), ");
	spin(f);
	assert_events(f, "update sink(2), ");
	spin(f);
	assert_events(f, "");
}

static void test_load_within_a_load_is_refused(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SOURCE("1"));
	f->load_in_update = "source";
	load_and_run(f, SOURCE("2"));
	assert_int_equal(f->nested_load, -EBUSY);
	assert_int_equal(graph_n(f->graph), 1);
}

static void test_what_is_left_behind(void **state)
{
	struct fixture *f = *state;

	load_and_run(f, SOURCE("1"));
	f->rest_in_stop = "source";
	load_and_run(f, "test.any \"b\" { }");
	buf_reset(&f->events);
	/* The load did not wait for it, the end does; who looks at the graph meanwhile finds nothing that was freed. */
	graph_free(f->graph);
	f->graph = NULL;
	assert_events(f, "stop b, rest of 0, ");
}

static void test_many_reloads(void **state)
{
	struct fixture *f = *state;
	void *sink;

	load_and_run(f, SINK SOURCE("0"));
	sink = find(f, "sink")->state;
	for (int i = 0; i < 50; i++) {
		load_and_run(f, i % 2 ? SINK SOURCE("0") : SOURCE("1") SINK "test.any \"x\" { }\n");
		assert_int_equal(load(f, i % 3 ? "test.any \"y\" { }\ntest.any \"y\" { }"
					       : "test.any \"sink\" { a = b }"),
				 RIVER_INVALID);
		spin(f);
	}
	assert_ptr_equal(find(f, "sink")->state, sink);
	assert_int_equal(graph_n(f->graph), 2);
}

/* Also a chain as deep as there are components. */
static void test_limit(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);

	(void)buf_append_str(&text, "test.any \"c0\" { }\n");
	for (int i = 1; i < GRAPH_MAX_COMPONENTS; i++)
		(void)buf_printf(&text, "test.any \"c%d\" { text = test.any.c%d.text }\n", i,
				 i - 1);
	assert_int_equal(load(f, buf_str(&text)), RIVER_OK);
	assert_int_equal(graph_n(f->graph), GRAPH_MAX_COMPONENTS);
	(void)buf_append_str(&text, "test.any \"more\" { }\n");
	assert_int_equal(load(f, buf_str(&text)), RIVER_INVALID);
	assert_string_equal(buf_str(&f->errors), "a:3001:1: there are more than 3000 components\n");
	assert_int_equal(graph_n(f->graph), GRAPH_MAX_COMPONENTS);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_order_and_life),
	FIXTURE_TEST(test_unchanged_is_not_touched),
	FIXTURE_TEST(test_changed_added_removed),
	FIXTURE_TEST(test_a_load_is_all_or_nothing),
	FIXTURE_TEST(test_build_that_fails),
	FIXTURE_TEST(test_exports_change_once),
	FIXTURE_TEST(test_exports_change_along_a_chain),
	FIXTURE_TEST(test_a_change_during_a_pass_is_not_lost),
	FIXTURE_TEST(test_a_change_during_a_load_is_not_lost),
	FIXTURE_TEST(test_process_seen),
	FIXTURE_TEST(test_process_seen_during_a_pass_is_not_lost),
	FIXTURE_TEST(test_exports_of_run_come_before_dependants_run),
	FIXTURE_TEST(test_exports_of_run_come_before_an_update),
	FIXTURE_TEST(test_run_that_fails),
	FIXTURE_TEST(test_update_that_fails_keeps_what_it_needs),
	FIXTURE_TEST(test_update_that_fails_until_the_end),
	FIXTURE_TEST(test_update_later),
	FIXTURE_TEST(test_load_within_a_load_is_refused),
	FIXTURE_TEST(test_what_is_left_behind),
	FIXTURE_TEST(test_many_reloads),
	FIXTURE_TEST(test_limit),
};

TEST_MAIN(tests)
