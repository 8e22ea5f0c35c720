/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever was loaded before: a graph is as if the last good text had been the only one. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#define N_LOADS 250
#define N_BLOCKS 8

static uint64_t next(uint64_t *seed)
{
	/* Marsaglia 2003, xorshift64. */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static unsigned int below(uint64_t *seed, unsigned int n)
{
	return (unsigned int)(next(seed) % n);
}

/* Of a block before it, mostly: now and then what comes out is a cycle, or does not exist. */
static void put_reference(struct buf *text, uint64_t *seed, unsigned int i)
{
	unsigned int to = below(seed, 30) == 0 ? below(seed, N_BLOCKS) : i ? below(seed, i) : i;

	if (i == 0)
		(void)buf_printf(text, "\"%u\"", below(seed, 3));
	else if (to % 3 == 1)
		(void)buf_printf(text, "m%u.u%u.e", to % 2, to);
	else
		(void)buf_printf(text, "test.any.u%u.text", to);
}

static void put_block(struct buf *text, uint64_t *seed, unsigned int i)
{
	static const char *const items[] = { "[]", "[1]", "[1, 2]", "[2, 1, 1]" };

	if (below(seed, 40) == 0)
		return;
	if (i % 3 == 1)
		(void)buf_printf(text, "m%u \"u%u\" { a = ", i % 2, i);
	else
		(void)buf_printf(text, "test.any \"u%u\" { text = ", i);
	put_reference(text, seed, i);
	(void)buf_append_str(text, " }\n");
	if (i % 4 != 3)
		return;
	(void)buf_printf(text,
			 "foreach \"f%u\" {\ncollection = %s\nvar = \"v\"\ntemplate {\ntest.any "
			 "\"x\" { text = string.join([v, ",
			 i, items[below(seed, 4)]);
	put_reference(text, seed, i);
	(void)buf_append_str(text, "], \"-\") }\n}\n}\n");
}

static void put_declare(struct buf *text, uint64_t *seed, unsigned int i)
{
	(void)buf_printf(text,
			 "declare \"m%u\" {\nargument \"a\" { }\ntest.any \"x\" { text = "
			 "argument.a.value + \"%u\" }\n",
			 i, below(seed, 3));
	if (below(seed, 2))
		(void)buf_append_str(text, "test.any \"y\" { text = test.any.x.text }\n");
	if (i == 0 && below(seed, 2))
		(void)buf_append_str(text, "m1 \"z\" { a = test.any.x.text }\n");
	(void)buf_append_str(text, "export \"e\" { value = test.any.x.text }\n}\n");
}

static void put_config(struct buf *text, uint64_t *seed)
{
	buf_reset(text);
	for (unsigned int i = 0; i < 2; i++)
		put_declare(text, seed, i);
	for (unsigned int i = 0; i < N_BLOCKS; i++)
		put_block(text, seed, i);
}

static void put_state(const struct fixture *f, struct buf *out)
{
	for (size_t i = 0; i < graph_n(f->graph); i++) {
		struct graph_view view;

		graph_view(f->graph, i, &view);
		(void)buf_printf(out, "%s %s %s\n", view.c->id,
				 view.schema == &any_schema ? text_of(view.c) : "",
				 health_state_text(view.c->health.state));
	}
}

static void run(struct fixture *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(graph_run(f->graph, &why), 0);
	spin(f);
}

static void compare_with_fresh(struct fixture *f, const char *text, bool ok)
{
	_cleanup_buf_ struct buf have = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
	struct fixture *fresh;
	void *state;

	assert_int_equal(setup_experimental(&state), 0);
	fresh = state;
	assert_int_equal(load(fresh, text), ok ? RIVER_OK : RIVER_INVALID);
	assert_string_equal(buf_str(&fresh->messages), buf_str(&f->messages));
	if (ok) {
		run(fresh);
		put_state(fresh, &want);
		put_state(f, &have);
		assert_string_equal(buf_str(&have), buf_str(&want));
	}
	assert_int_equal(teardown(&state), 0);
}

static void test_random(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	uint64_t seed = 88172645463325252ULL;
	int n_good = 0;

	for (int i = 0; i < N_LOADS; i++) {
		_cleanup_buf_ struct buf before = BUF_INIT(1 << 20), after = BUF_INIT(1 << 20);

		put_config(&text, &seed);
		put_state(f, &before);
		bool ok = load(f, buf_str(&text)) == RIVER_OK;
		if (ok)
			run(f);
		else
			put_state(f, &after);
		if (!ok)
			assert_string_equal(buf_str(&after), buf_str(&before));
		compare_with_fresh(f, buf_str(&text), ok);
		n_good += ok;
	}
	/* Neither kind is rare. */
	assert_in_range(n_good, N_LOADS / 10, N_LOADS * 9 / 10);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_random, setup_experimental, teardown),
};

TEST_MAIN(tests)
