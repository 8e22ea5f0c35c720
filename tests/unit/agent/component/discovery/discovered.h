/* SPDX-License-Identifier: Apache-2.0 */
/* What a discovery in a real graph has found. */
#ifndef XAGENT_TESTS_UNIT_AGENT_COMPONENT_DISCOVERY_DISCOVERED_H
#define XAGENT_TESTS_UNIT_AGENT_COMPONENT_DISCOVERY_DISCOVERED_H

#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/util/clock.h"

/* The addresses of a component's exported targets: "a b". */
static inline void write_addresses(const struct component *c, struct buf *text)
{
	const struct river_value *exports, *targets;
	struct river_arena arena;

	buf_reset(text);
	river_arena_init(&arena, (size_t)16 << 20);
	assert_int_equal(c->kind->exports((struct component *)c, &arena, &exports), 0);
	targets = river_value_find(exports, "targets");
	assert_non_null(targets);
	for (size_t i = 0; i < river_value_len(targets); i++) {
		const struct river_value *target = river_value_item(targets, i);

		(void)buf_printf(
			text, "%s%s", i > 0 ? " " : "",
			river_value_get_string(river_value_find(target, "__address__"), NULL));
	}
	river_arena_fini(&arena);
}

static inline void assert_addresses(const struct fixture *f, const char *id, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT(10000);

	write_addresses(find(f, id), &text);
	assert_string_equal(buf_str(&text), expected);
}

/* Until it has these targets, and then until it has this health and message. */
static inline void wait_found(const struct fixture *f, const char *id, const char *expected,
			      const char *message)
{
	uint64_t end = clock_mono_ns() + 20 * NS_PER_S;
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	const struct component *c = find(f, id);

	for (;;) {
		write_addresses(c, &text);
		if ((strcmp(buf_str(&text), expected) == 0 &&
		     strcmp(c->health.message, message) == 0) ||
		    clock_mono_ns() > end)
			break;
		assert_int_equal(loop_run_once(f->env.loop, 20), 0);
	}
	assert_string_equal(buf_str(&text), expected);
	assert_string_equal(c->health.message, message);
}

/* How a discovery's mistakes are told. */
struct mistake {
	const char *name, *text, *expected;
};

static inline void test_mistake(void **state)
{
	const struct mistake *row = *state;
	struct fixture *f;
	void *own;

	assert_int_equal(setup(&own), 0);
	f = own;
	assert_int_equal(load(f, row->text), RIVER_INVALID);
	assert_string_equal(buf_str(&f->messages), row->expected);
	(void)teardown(&own);
}

#endif
