/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with one small kind of component, `test.any`: what modules are about is in the graph. */
#ifndef XAGENT_TESTS_UNIT_AGENT_COMPONENT_GRAPH_TINY_GRAPH_H
#define XAGENT_TESTS_UNIT_AGENT_COMPONENT_GRAPH_TINY_GRAPH_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct fixture {
	struct component_env env;
	struct graph *graph;
	struct buf messages; /* file:line:column: text, one a line */
	struct buf events;   /* "build a.b, run a.b=text, " */
};

struct any_args {
	const struct river_value *value;
	const char *text;
};

/* What it exports: its arguments, until a test changes it. */
struct any {
	const struct river_value *value;
	const char *text;
};

static const struct river_field any_fields[] = {
	RIVER_FIELD_VALUE(struct any_args, value, "value"),
	RIVER_FIELD_STRING(struct any_args, text, "text"),
};

static const struct river_schema any_schema = RIVER_SCHEMA(struct any_args, "test.any", any_fields);

static inline struct fixture *fixture_of(const struct component *c)
{
	return CONTAINER_OF((struct component_env *)c->env, struct fixture, env);
}

static inline int any_build(struct component *c, const void *args, struct buf *why)
{
	const struct any_args *a = args;
	struct any *any = calloc(1, sizeof(*any));

	if (!any)
		return -ENOMEM;
	*any = (struct any){ a->value, a->text };
	c->state = any;
	(void)buf_printf(&fixture_of(c)->events, "build %s, ", c->id);
	if (strcmp(a->text, "unknown") == 0)
		return COMPONENT_UNKNOWN;
	if (strcmp(a->text, "fail") != 0)
		return 0;
	(void)buf_append_str(why, "it was told to");
	return -1;
}

static inline int any_run(struct component *c, struct buf *why)
{
	const struct any *a = c->state;

	(void)why;
	(void)buf_printf(&fixture_of(c)->events, "run %s=%s, ", c->id, a->text);
	component_set_health(c, HEALTH_HEALTHY, "fine");
	return 0;
}

static inline int any_update(struct component *c, const void *args, struct buf *why)
{
	const struct any_args *a = args;

	(void)why;
	*(struct any *)c->state = (struct any){ a->value, a->text };
	(void)buf_printf(&fixture_of(c)->events, "update %s=%s, ", c->id, a->text);
	component_exports_changed(c);
	return 0;
}

static inline void any_stop(struct component *c)
{
	(void)buf_printf(&fixture_of(c)->events, "stop %s, ", c->id);
	free(c->state);
}

static inline int any_exports(struct component *c, struct river_arena *arena,
			      const struct river_value **ret_exports)
{
	const struct any *a = c->state;
	struct river_member members[] = {
		{ "text", river_value_string(arena, a->text, strlen(a->text)) },
		{ "value", a->value },
	};

	*ret_exports = river_value_object(arena, members, ARRAY_SIZE(members));
	return 0;
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
};

static const struct component_kind silent_kind = {
	.name = "test.silent",
	.schema = &any_schema,
	.wants_label = true,
	.build = any_build,
	.run = any_run,
	.update = any_update,
	.stop = any_stop,
};

static const struct component_kind new_kind = {
	.name = "test.new",
	.schema = &any_schema,
	.wants_label = true,
	.stability = STABILITY_EXPERIMENTAL,
	.build = any_build,
	.run = any_run,
	.update = any_update,
	.stop = any_stop,
};

/* A service and a configuration block are known by their names. */
static const struct component_kind http_kind = {
	.name = "http",
	.schema = &any_schema,
	.build = any_build,
	.run = any_run,
	.update = any_update,
	.stop = any_stop,
};

static const struct component_kind logging_kind = {
	.name = "logging",
	.schema = &any_schema,
	.build = any_build,
	.run = any_run,
	.update = any_update,
	.stop = any_stop,
};

/* In the place of the registry. */
const struct component_kind *component_kind_find(const char *name)
{
	static const struct component_kind *const kinds[] = { &any_kind, &silent_kind, &new_kind,
							      &http_kind, &logging_kind };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

const char *component_kind_suggest(const char *name)
{
	(void)name;
	return NULL;
}

static inline void set_up(struct fixture *f)
{
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	buf_init(&f->messages, (size_t)1 << 20);
	buf_init(&f->events, (size_t)1 << 20);
	assert_int_equal(loop_new(&f->env.loop), 0);
	assert_int_equal(graph_new(&f->env, &f->graph), 0);
}

static inline void tear_down(struct fixture *f)
{
	graph_free(f->graph);
	loop_free(f->env.loop);
	buf_fini(&f->messages);
	buf_fini(&f->events);
}

FIXTURE(struct fixture, set_up, tear_down)

static inline int setup_experimental(void **state)
{
	assert_int_equal(setup(state), 0);
	((struct fixture *)*state)->env.stability = STABILITY_EXPERIMENTAL;
	return 0;
}

static inline void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static inline int load_as(struct fixture *f, const char *file, const char *text)
{
	struct river_source source = { .file = file, .text = text, .len = strlen(text) };
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)16 << 20);
	river_diags_init(&diags, &arena);
	buf_reset(&f->messages);
	int r = graph_load(f->graph, &source, 1, &diags);
	for (size_t i = 0; i < diags.n_items; i++) {
		river_diag_write(&diags.items[i], write_buf, &f->messages);
		(void)buf_append_char(&f->messages, '\n');
	}
	river_arena_fini(&arena);
	return r;
}

static inline int load(struct fixture *f, const char *text)
{
	return load_as(f, "a", text);
}

static inline void assert_loads(struct fixture *f, const char *text)
{
	int r = load(f, text);

	assert_string_equal(buf_str(&f->messages), "");
	assert_int_equal(r, RIVER_OK);
}

static inline void assert_runs(struct fixture *f, const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_loads(f, text);
	assert_int_equal(graph_run(f->graph, &why), 0);
}

static inline void assert_events(struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->events), expected);
	buf_reset(&f->events);
}

static inline struct component *find(const struct fixture *f, const char *id)
{
	size_t i = 0;

	if (!graph_find(f->graph, id, &i))
		fail_msg("no component %s", id);
	return (struct component *)graph_component(f->graph, i);
}

static inline const char *text_of(const struct component *c)
{
	return ((const struct any *)c->state)->text;
}

/* As if the component had changed by itself. */
static inline void set_text(struct component *c, const char *text)
{
	((struct any *)c->state)->text = text;
	component_exports_changed(c);
}

static inline void spin(struct fixture *f)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(loop_run_once(f->env.loop, 0), 0);
}

#endif
