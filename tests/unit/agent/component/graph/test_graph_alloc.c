/* SPDX-License-Identifier: Apache-2.0 */
/* Wherever memory runs out in a load, the graph is as before. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#include "tests/support/alloc_fail.h"

#define BEFORE                                                                                  \
	"declare \"m\" {\n\targument \"a\" { }\n\ttest.any \"x\" { text = argument.a.value }\n" \
	"\texport \"e\" { value = test.any.x.text }\n}\n"                                       \
	"m \"m\" { a = \"1\" }\n"                                                               \
	"test.any \"old\" { text = m.m.e }\n"
#define AFTER                                                                                   \
	"declare \"m\" {\n\targument \"a\" { }\n\ttest.any \"x\" { text = argument.a.value }\n" \
	"\ttest.any \"y\" { }\n\texport \"e\" { value = test.any.x.text }\n}\n"                 \
	"m \"m\" { a = \"2\" }\n"                                                               \
	"foreach \"f\" {\n\tcollection = [1, \"a\", { b = 2 }]\n\tvar = \"v\"\n\ttemplate {\n"  \
	"\t\ttest.any \"z\" { value = [v, m.m.e] }\n\t}\n}\n"                                   \
	"import.string \"i\" { content = \"declare \\\"n\\\" { test.any \\\"x\\\" { } }\" }\n"  \
	"i.n \"n\" { }\n"                                                                       \
	"test.any \"new\" { text = m.m.e }\n"

static void assert_as_before(struct fixture *f)
{
	assert_int_equal(graph_n(f->graph), 3);
	assert_string_equal(text_of(find(f, "test.any.old")), "1");
	assert_string_equal(text_of(find(f, "m.m/test.any.x")), "1");
}

/* A name that could not be looked up for want of memory is one that does not exist: a mistake, too. */
static void test_load(void **state)
{
	struct fixture *f = *state;
	size_t nth = 0;

	/* What the test itself notes takes none. */
	assert_int_equal(buf_reserve(&f->events, 65536), 0);
	assert_int_equal(buf_reserve(&f->messages, 65536), 0);
	assert_runs(f, BEFORE);
	for (;;) {
		alloc_fail_arm(++nth);
		int r = load(f, AFTER);
		if (!alloc_fail_disarm())
			break;
		assert_int_not_equal(r, RIVER_OK);
		buf_reset(&f->events);
		assert_as_before(f);
	}
	assert_true(nth > 50);
	assert_int_equal(graph_n(f->graph), 11);
	spin(f);
	assert_string_equal(text_of(find(f, "test.any.new")), "2");
}

static const struct unit_test tests[] = {
	TEST_WITH(test_load, setup_experimental, teardown),
};

TEST_MAIN(tests)
